"""The commands ``prove`` and ``new``: a theorem about a listed method from the terminal, and a file of claims to start from."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.completing import complete_methods
from fedtheory.command_line.options import (
    EXIT_FAILED,
    EXIT_MISTAKEN,
    OutputFile,
    budget_option,
    interrupt_option,
    seed_option,
)

if TYPE_CHECKING:
    from fedtheory.claims.statements.bound import Bound, Contraction

#: exit status by verdict, as of ``worst-case --bound``
VERDICT_EXITS = {"proved": 0, "argued": 0, "supported": 0, "refuted": 3, "inconclusive": 4, "empty": 4}


@click.command()
@click.argument("method", shell_complete=complete_methods)
@click.option("--region", required=True, help='Parameters and their ranges: "0 < mu < L, 0 < lr < 2/L, N in 1..3".')
@click.option(
    "--bound",
    help="What is claimed: the bound, or with --potential the factor of a round [default: look for a potential and its factor].",
)
@click.option("--options", help='Options of the method: "lr = 1/L, steps = 2" [default: those that are parameters].')
@click.option(
    "--functions", help='Constants of the class: "L, mu", "L, mu = -L", "L, zeta" [default: those that are parameters].'
)
@click.option("--measure", default="squared_distance", show_default=True, help="What the bound is of.")
@click.option("--rounds", default="1", show_default=True, help="After how many rounds.")
@click.option("--radius", show_default="1", help="||x^0 - x*||, or f(x^0) - inf f for measures of stationarity.")
@click.option(
    "--potential", help='Weights by fields of the state: "x_i = 1, h_i = (lr/p)**2"; the bound is then E V+ <= BOUND V.'
)
@click.option("--clients", default="", help='"n = 8, s = 3" for s of n in expectation [default: all clients, every n].')
@click.option(
    "--units",
    default="",
    help='Units that do not follow, or in which the statement is: "value = 1", "c = value/length".',
)
@budget_option
@seed_option
@interrupt_option
@click.option(
    "--json",
    "file",
    type=OutputFile(),
    help="Write the verdict with derivations, certificates or the instance.",
)
def prove_command(
    method: str, region: str, bound: str, budget: Any, seed: int, file: Path | None, **texts: Any
) -> None:
    """Prove or refute a theorem about a listed METHOD over a class of functions: for all parameters, every n and every dimension if it can be had.

    Without --bound a potential with simple weights is looked for whose rate is a maximum of simple factors, and judged.

    Exit status: 0 proved or supported, 3 refuted, 4 inconclusive, 1 not run, as where a package is missing, 2 for mistakes in the statement.
    """
    from fedtheory.claims.checking import judge_claim
    from fedtheory.claims.context import Context
    from fedtheory.claims.report import as_json
    from fedtheory.claims.statements.as_claims import state

    statement = (
        find_statement(method, region, **texts) if bound is None else read_statement(method, region, bound, **texts)
    )
    sentence = write_sentence(statement, method)
    claim = state("statement", "the command line", "the command line", sentence, statement)
    verdict = judge_claim(claim, "the command line", Context(budget, seed))
    click.echo(f"{sentence}, for {statement.parameters}")
    click.echo(f"  options: {statement.options or 'none'}")
    click.echo("NOT RUN" if verdict.error else verdict.status.upper())
    for part in verdict.evidence:
        click.echo(f"  {part['text']}")
    for reading in verdict.readings:
        click.echo(f"  {reading}")
    if verdict.error:
        click.echo(f"error: {verdict.error}", err=True)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        document = json.loads(as_json([verdict]))
        if verdict.counterexample is not None:
            document["counterexample"] = verdict.counterexample
        file.write_text(json.dumps(document, indent=1) + "\n")
    sys.exit(EXIT_MISTAKEN if verdict.mistaken else EXIT_FAILED if verdict.error else VERDICT_EXITS[verdict.status])


def read_statement(method: str, region: str, bound: str, **texts: Any) -> Bound | Contraction:
    """The statement that the options make; what is left out is what has the same name as a parameter.

    Raises
    ------
    InvalidInput
        A parameter is neither an option's name nor in any text, so that it would mean nothing.
    """
    from fedtheory.algorithms.catalogue import listed
    from fedtheory.claims.statements.bound import Bound, Contraction
    from fedtheory.claims.statements.named_methods import read_settings
    from fedtheory.core.errors import InvalidInput
    from fedtheory.proofs.regions.region import Region

    names = Region.parse(region).names
    options = texts["options"]
    if options is None:
        options = ", ".join(option.name for option in listed(method).options if option.name in names)
    functions = texts["functions"] or ", ".join(name for name in ("L", "mu", "zeta") if name in names)
    common = {
        "region": region,
        "functions": functions,
        "claimed": bound,
        "clients": texts["clients"],
        "units": texts["units"],
    }
    made: Bound | Contraction
    if texts["potential"]:
        made = Contraction(method, options, potential=read_settings(texts["potential"]), **common)
    else:
        made = Bound(
            method, options, measure=texts["measure"], rounds=texts["rounds"], radius=texts["radius"] or 1, **common
        )
    read = {*made.claim_text.names}.union(*(text.names for text in made.expressions.values()))
    used = made.parameters.only(read).names
    if idle := [name for name in names if name not in used]:
        known = ", ".join(option.name for option in listed(method).options) or "none"
        raise InvalidInput(
            f"{idle[0]!r} is in the region, and nothing reads it: the options of {method} are {known}, and the constants of a class L, mu and zeta; "
            f"if one of them has this value, say so, as in --options 'lr = {idle[0]}'"
        )
    return made


def find_statement(method: str, region: str, **texts: Any) -> Bound | Contraction:
    """A contraction with simple weights and a simple factor.

    Raises
    ------
    SolverFailed
        None of those that are tried agrees with the exact rates.
    """
    from fedtheory.claims.statements.bound import Contraction
    from fedtheory.claims.statements.discovery import discover_contraction
    from fedtheory.core.errors import SolverFailed

    asked = read_statement(method, region, "1", **{**texts, "potential": texts["potential"] or "x = 1"})
    assert isinstance(asked, Contraction)
    found = discover_contraction(asked)
    if found is None:
        raise SolverFailed(
            f"no potential of {method} with simple weights and a simple rate was found; state one with --potential and --bound"
        )
    return found


def write_sentence(statement: Bound | Contraction, method: str) -> str:
    """The statement in a line."""
    from fedtheory.claims.statements.bound import Contraction

    if isinstance(statement, Contraction):
        weights = ", ".join(f"{name} = {weight}" for name, weight in statement.potential.items())
        return f"{method}: E V+ <= {statement.claim_text} V with the weights {weights}"
    return f"{method}: {statement.measure} after {statement.rounds} rounds <= {statement.claim_text}"


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def new_command(file: Path) -> None:
    """Write FILE.py with a bound, a lemma and a false statement, to start your own claims from."""
    from importlib.resources import files

    if file.suffix != ".py":
        raise click.BadParameter(f"{file} is not a Python file; expected a name that ends in .py", param_hint="FILE")
    if file.exists():
        raise click.BadParameter(f"{file} is there already; it is not overwritten", param_hint="FILE")
    template = files("fedtheory.claims") / "templates" / "new_paper.py.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(template.read_text())
    click.echo(f"{file} has claims to start from; 'fedtheory check {file}' judges them")
