"""The command that lists claims, algorithms, problems and metrics."""

from __future__ import annotations

import json
from typing import Any

import click

from fedtheory.tools.terminal import make_console


def _claims() -> list[dict[str, Any]]:
    from fedtheory.claims.checking import find_papers, load_claims

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


def _algorithm_tables(rows: list[dict[str, Any]]) -> list[Any]:
    """One table a family, with a line below for what an engine cannot run, and how methods depart from their sources."""
    from rich.table import Table

    tables: list[Any] = []
    for family in dict.fromkeys(row["family"] for row in rows):
        view = Table(title=f"algorithms: {family}", expand=True)
        for column in ("name", "source", "options", "partial participation", "engines"):
            view.add_column(column, overflow="fold")
        for row in (row for row in rows if row["family"] == family):
            grouped: dict[str, list[str]] = {}
            for engine, reason in row["not_run_by"].items():
                grouped.setdefault(reason, []).append(engine)
            refused = [f"not {', '.join(engines)}: {reason}" for reason, engines in grouped.items()]
            view.add_row(
                row["name"],
                row["source"],
                " ".join(row["options"]),
                "yes" if row["partial_participation"] else "no",
                "\n".join([", ".join(row["engines"]), *refused]),
            )
        tables.append(view)
        departing: dict[str, list[str]] = {}
        for row in (row for row in rows if row["family"] == family and row["departures"]):
            departing.setdefault(row["departures"], []).append(row["name"])
        tables += [f"{', '.join(names)} departs: {text}" for text, names in departing.items()]
    return tables


def _problems() -> list[dict[str, Any]]:
    from fedtheory.running.families import load_families

    return [{"name": name, "description": family.description} for name, (family, _) in load_families().items()]


def _metrics() -> list[dict[str, Any]]:
    from fedtheory.measures.catalogue import METRICS

    return [{"name": name, "formula": metric.label, "needs": metric.needs} for name, metric in METRICS.items()]


_LISTS = {"claims": _claims, "algorithms": _algorithms, "problems": _problems, "metrics": _metrics}


@click.command("list")
@click.argument("what", type=click.Choice([*_LISTS]), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(what: str | None, as_json: bool) -> None:
    """List claims, algorithms, problems and metrics."""
    shown = {name: rows() for name, rows in _LISTS.items() if what in (None, name)}
    if as_json:
        click.echo(json.dumps(shown, indent=1))
        return
    from rich.table import Table

    for name, rows in shown.items():
        if name == "algorithms":
            for table in _algorithm_tables(rows):
                make_console().print(table)
            continue
        view = Table(title=name, expand=True)
        for column in rows[0]:
            view.add_column(column, overflow="fold")
        for row in rows:
            view.add_row(*(str(v) for v in row.values()))
        make_console().print(view)
