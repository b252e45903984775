"""The command ``design``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.completing import complete_methods
from fedtheory.command_line.largest import find_option, show_value
from fedtheory.command_line.lyapunov import write_proofs
from fedtheory.command_line.method_options import MethodCommand, read_values
from fedtheory.command_line.options import (
    OutputFile,
    answer_option,
    convexity_option,
    fresh_option,
    leave_interrupted,
    open_journal,
    proofs_option,
    smoothness_option,
    solver_limit_option,
    write_answer,
)
from fedtheory.command_line.weights_of_every_n import (
    describe_weights_of_every_n,
    read_weights_of_every_n,
    tell_weights_of_every_n,
    weights_of_every_n_option,
)
from fedtheory.tools.terminal import show_progress

if TYPE_CHECKING:
    from fedtheory.proofs.potentials.design import Design, Designed
    from fedtheory.tools.journal import Journal

CELLS = 9  #: a side of a map, from a third of the values found to three times them
MATCHING = 1e-5  #: a gap that is put down to the digits of both sides


@click.command(cls=MethodCommand)
@click.argument("algorithm", shell_complete=complete_methods)
@click.option(
    "--free",
    required=True,
    metavar="NAMES",
    help="The options that are chosen, with commas between: lr,rho. They start at their values.",
)
@smoothness_option
@convexity_option()
@click.option(
    "--most", type=click.IntRange(min=1), default=1000, show_default=True, help="Parameters that are tried at most."
)
@click.option(
    "--map",
    "map_file",
    type=OutputFile(terminal=False),
    help="Draw rates over the two free options around the answer; a dot: proved.",
)
@click.option(
    "--gradients/--no-gradients",
    default=None,
    help="Whether V may have the gradients at x among its terms; larger programs.  [default: where clients have nothing of their own]",
)
@weights_of_every_n_option
@proofs_option
@solver_limit_option
@answer_option
@fresh_option
def design_command(algorithm: str, **options: Any) -> None:
    """Parameters of ALGORITHM with a small proved rate over a class, for every number of clients.

    Nelder and Mead's search over the rates of potentials, begun at the values of the free options; the rate where it ends is proved in exact
    arithmetic. An exact instance says how much better the rate at these parameters could be. That other parameters are worse is not shown.

    Interrupted, the same command goes on where it was.
    """
    from fedtheory.algorithms import listed
    from fedtheory.core.errors import InvalidInput
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.potentials.design import Design
    from fedtheory.tools.journal import Journal
    from fedtheory.tools.pictures import require_picture_name

    entry = listed(algorithm)
    free = [find_option(entry, name) for name in dict.fromkeys(options["free"].split(","))]
    for option in free:
        if option.kind is not float:
            raise InvalidInput(f"{option.name} is a whole number; for these there is 'fedtheory largest'")
    if options["map_file"] is not None:
        require_picture_name(options["map_file"])
        if len(free) != 2:
            raise InvalidInput(f"a map has two free options, got {len(free)}")
    values = read_values(entry, options)
    method = entry.build(**values)  # what is wrong with a start is told in the method's words
    said = tell_weights_of_every_n(read_weights_of_every_n(options), [method])
    names = [option.name for option in free]
    given = {name: value for name, value in values.items() if name not in names}
    start = {name: float(values[name] or 0.0) for name in names}
    function_class = FunctionClass(options["big_l"], options["mu"])
    identity = [entry.name, given, start, str(function_class), options["time_limit"], options["gradients"]]
    journal = Journal("design", json.loads(json.dumps(identity, default=str)))
    open_journal(journal, options["fresh"], options["most"], "parameters")
    search = Design(
        lambda chosen: entry.build(**given, **chosen),
        function_class,
        options["time_limit"],
        options["gradients"],
        memory=journal,
    )
    found = _search(search, start, options["most"], journal)
    if options["map_file"] is not None:
        _draw(search, found.parameters, algorithm, options["map_file"], journal)
    journal.close()
    answer = _summary(found, algorithm, search) | said
    if options["certificate"] is not None and found.found.decrease is not None and found.found.floor is not None:
        answer["certificates"] = write_proofs((found.found.decrease, found.found.floor), options["certificate"])
    _report(answer, options["json_file"])


def _search(search: Design, start: Mapping[str, float], most: int, journal: Journal) -> Designed:
    try:
        with show_progress("trying parameters", most, late=True, lines=True) as advance:
            search.tell = advance
            found = search.search(start, most)
    except KeyboardInterrupt:
        leave_interrupted(f"{len(journal.read())} parameters")
    search.tell = lambda _: None
    return found


def _summary(found: Designed, algorithm: str, search: Design) -> dict[str, Any]:
    return {
        "algorithm": algorithm,
        "class": str(search.function_class),
        "parameters": {name: show_value(value) for name, value in found.parameters.items()},
        "rate": str(found.found.proved),
        "potential": str(found.found.potential),
        "from_round": found.found.first,
        "not_below": None if found.not_below is None else str(found.not_below),
        "no_instance": found.why_none,
        "tight": found.gap is not None and found.gap <= MATCHING,
        "tried": found.tried,
    }


def _report(answer: dict[str, Any], json_file: Path | None) -> None:
    if write_answer(answer, json_file):
        return
    shown = ", ".join(f"{name} = {value}" for name, value in answer["parameters"].items())
    since = f" from round {answer['from_round']} on" if answer["from_round"] else ""
    click.echo(
        f"{answer['algorithm']} over {answer['class']}, every n >= 2: {shown}, the best of {answer['tried']} that were tried"
    )
    click.echo(
        f"E V(after) <= {float(Fraction(answer['rate'])):.6g} V(before){since}, proved in exact arithmetic: {answer['rate']}"
    )
    click.echo(f"V = {answer['potential']}   (differences to the fixed point; V >= ||x - x*||^2)")
    if answer["not_below"] is None:
        click.echo(f"how much better the rate at these parameters may be is not known: {answer['no_instance']}")
    else:
        low = f"{float(Fraction(answer['not_below'])):.6g}"
        close = (
            f"within {MATCHING:g} of the proved one"
            if answer["tight"]
            else "below the proved one; what is true of these parameters is between"
        )
        click.echo(f"at these parameters an exact instance contradicts the rate {low}, {close}")
    for line in describe_weights_of_every_n(answer):
        click.echo(line)
    click.echo("that no other parameters are better is not shown")
    if "certificates" in answer:
        click.echo(f"the proof is in {' and '.join(answer['certificates'])}")


def _draw(search: Design, parameters: Mapping[str, Fraction], algorithm: str, file: Path, journal: Journal) -> None:
    """Rates over a grid around the parameters found, in even ratios (around 0: from 0 to 1)."""
    import numpy as np

    from fedtheory.tools.pictures import save_picture

    axes = {
        name: np.geomspace(float(value) / 3, 3 * float(value), CELLS).tolist()
        if value > 0
        else np.linspace(0, 1, CELLS).tolist()
        for name, value in parameters.items()
    }
    try:
        with show_progress("proving", CELLS**2, late=True, lines=True) as advance:
            search.tell = advance
            rates, proved = search.map(axes)
    except KeyboardInterrupt:
        leave_interrupted(f"{len(journal.read())} parameters")
    (first, across), (second, up) = axes.items()
    picture = {
        "title": f"Rates of {algorithm}; dots: proved, crosses: no potential",
        **{"xlabel": first, "ylabel": second, "zlabel": "rate a round", "logz": False},
        **{"x": across, "y": up, "z": rates, "dots": proved},
    }
    save_picture(picture, file)
