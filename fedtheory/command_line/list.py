"""The command that lists claims, algorithms, problems and metrics."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from fedtheory.core.errors import NotAvailable
from fedtheory.tools.terminal import make_console, make_plain_table, print_table

if TYPE_CHECKING:
    from rich.console import Console


def _claims() -> list[dict[str, Any]]:
    from fedtheory.claims.references import find_papers, load_claims

    return [
        {"id": c.id, "paper": name, "kind": c.kind, "source": c.source, "statement": c.statement}
        for name, source in find_papers().items()
        for c in load_claims(source).values()
    ]


def _algorithms() -> list[dict[str, Any]]:
    from fedtheory.algorithms import ALGORITHMS
    from fedtheory.proofs.engines import ENGINES, why_not

    rows = []
    for entry in ALGORITHMS:
        reasons = why_not(entry)
        rows.append(
            {
                "name": entry.name,
                "family": entry.family,
                "source": entry.source,
                "departures": entry.departures,
                "settings": list(entry.uses),
                "options": [option.flag for option in entry.options],
                "partial_participation": entry.partial,
                "engines": [engine for engine in ENGINES if engine not in reasons],
                "not_run_by": reasons,
            }
        )
    return rows


def _show_claims(rows: list[dict[str, Any]], console: Console, verbose: bool) -> None:
    """A line a claim, by paper; the statements whole below their lines on demand."""
    for paper in dict.fromkeys(row["paper"] for row in rows):
        chosen = [row for row in rows if row["paper"] == paper]
        title = f"claims: {paper} ({len(chosen)})"
        if verbose:
            console.print(title)
            for row in chosen:
                _print_block(console, f"{row['id']}  {row['kind']}, {row['source']}", [row["statement"]])
            continue
        view = make_plain_table("id", "kind", "statement...", title=title)
        for row in chosen:
            view.add_row(row["id"], row["kind"], row["statement"])
        print_table(console, view)


def _show_algorithms(rows: list[dict[str, Any]], console: Console, verbose: bool) -> None:
    """A line a method, by family; on demand its options, which engines cannot run it and why, and how it departs from its source."""
    for family in dict.fromkeys(row["family"] for row in rows):
        chosen, title = [row for row in rows if row["family"] == family], f"algorithms: {family}"
        if verbose:
            console.print(title)
            for row in chosen:
                _print_block(console, f"{row['name']}  {row['source']}", _describe_algorithm(row))
            continue
        view = make_plain_table("name", "clients a round", "source...", title=title)
        for row in chosen:
            view.add_row(row["name"], "some or all" if row["partial_participation"] else "all", row["source"])
        print_table(console, view)


def _describe_algorithm(row: dict[str, Any]) -> list[str]:
    refused: dict[str, list[str]] = {}
    for engine, reason in row["not_run_by"].items():
        refused.setdefault(reason, []).append(engine)
    lines = [
        f"clients a round: {'some or all' if row['partial_participation'] else 'all'}",
        f"options: {' '.join(row['options'])}",
        f"engines: {', '.join(row['engines'])}",
        *(f"not {', '.join(engines)}: {reason}" for reason, engines in refused.items()),
    ]
    return [*lines, f"departs: {row['departures']}"] if row["departures"] else lines


def _print_block(console: Console, heading: str, lines: list[str]) -> None:
    from rich.padding import Padding

    console.print(heading, style="bold")
    for line in lines:
        console.print(Padding(line, (0, 0, 0, 4)))


def _problems() -> list[dict[str, Any]]:
    from fedtheory.running.families import load_families

    return [{"name": name, "description": family.description} for name, (family, _) in load_families().items()]


def _metrics() -> list[dict[str, Any]]:
    from fedtheory.measures.catalogue import METRICS

    return [{"name": name, "formula": metric.label, "needs": metric.needs} for name, metric in METRICS.items()]


_SHOWN = {"claims": _show_claims, "algorithms": _show_algorithms}
_LISTS = {"claims": _claims, "algorithms": _algorithms, "problems": _problems, "metrics": _metrics}


class _What(click.Choice[str]):
    """What is listed; algorithms are called methods, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert("algorithms" if value == "methods" else value, param, ctx)


@click.command("list")
@click.argument("what", type=_What([*_LISTS]), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--verbose", "-v", is_flag=True, help="Show statements whole, and all that is known of methods.")
def list_command(what: str | None, as_json: bool, verbose: bool) -> None:
    """List claims, algorithms, problems and metrics."""
    shown = {}
    for name in [*_LISTS] if what is None else [what]:
        try:
            shown[name] = _LISTS[name]()
        except NotAvailable as missing:
            if what is not None:
                raise
            click.echo(f"{name} are left out: {missing}", err=True)
    if as_json:
        click.echo(json.dumps(shown, indent=1))
        return
    console = make_console()
    for name, rows in shown.items():
        if name in _SHOWN:
            _SHOWN[name](rows, console, verbose)
        else:
            view = make_plain_table(*rows[0], title=name)
            for row in rows:
                view.add_row(*(str(v) for v in row.values()))
            print_table(console, view)
    if not verbose and any(name in _SHOWN for name in shown):
        console.print("--verbose shows what is cut, and more; --json is for programs")
