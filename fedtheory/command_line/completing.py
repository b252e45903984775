"""What a shell proposes after a word was begun: claims, papers, methods, problems, metrics. Click's own completion asks."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def complete_targets(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Papers, the claims of those papers whose ids may begin so, and files."""
    from fedtheory.claims.references import find_papers, load_claims, may_have

    papers = find_papers()
    found = [CompletionItem(name, help="a paper") for name in papers if name.startswith(begun)]
    meant = [name for name in papers if begun and may_have(name, begun)]
    if "-" in begun or len(meant) == 1:  # ledgers take a second to read
        claims = {id: claim for name in meant for id, claim in load_claims(papers[name]).items()}
        found += [CompletionItem(id, help=claims[id].source) for id in claims if id.startswith(begun.upper())]
    else:
        found += [CompletionItem(f"{name.replace('-', '').upper()}-", help=f"claims of {name}") for name in meant]
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
