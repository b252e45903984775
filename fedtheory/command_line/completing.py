"""What a shell proposes after a word was begun: claims, papers, methods, problems, metrics. Click's own completion asks."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def complete_targets(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Papers, the claims of those papers whose ids may begin so, and files."""
    from fedtheory.claims.references import find_papers, load_claims

    papers = find_papers()
    found = [CompletionItem(name, help="a paper") for name in papers if name.startswith(begun)]
    for name, source in papers.items():
        prefix = re.sub(r"\W", "", name).upper() + "-"
        if begun and begun.upper().startswith(prefix):  # ledgers take a second to read: only the one that is meant
            ids = (id for id in load_claims(source) if id.startswith(begun.upper()))
            found += [CompletionItem(id, help=load_claims(source)[id].source) for id in ids]
        elif prefix.startswith(begun.upper()):
            found.append(CompletionItem(prefix, help=f"claims of {name}"))
    return [*found, CompletionItem(begun, type="file")]


def complete_methods(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Listed methods, after commas as well."""
    from fedtheory.algorithms import ALGORITHMS

    return _after_commas(begun, ((entry.name, entry.family) for entry in ALGORITHMS))


def complete_problems(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Families of problems, after commas as well."""
    from fedtheory.running.families import load_families

    return _after_commas(begun, ((name, family.description) for name, (family, _) in load_families().items()))


def complete_metrics(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Metrics, after commas as well."""
    from fedtheory.measures.catalogue import METRICS

    return _after_commas(begun, ((name, metric.label) for name, metric in METRICS.items()))


def _after_commas(begun: str, known: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    """Names that the last word of a list with commas may become, with the words before it."""
    before, comma, last = begun.rpartition(",")
    taken = {*before.split(",")} if comma else set()
    return [
        CompletionItem(f"{before}{comma}{name}", help=about)
        for name, about in known
        if name.startswith(last) and name not in taken
    ]
