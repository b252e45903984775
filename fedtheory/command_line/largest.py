"""The command ``largest``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.completing import complete_methods
from fedtheory.command_line.lyapunov import write_proofs
from fedtheory.command_line.method_options import MethodCommand, read_values, say_given
from fedtheory.command_line.options import (
    answer_option,
    convexity_option,
    fresh_option,
    leave_interrupted,
    open_journal,
    proofs_option,
    smoothness_option,
    solver_limit_option,
    stated_option,
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
    from fedtheory.algorithms.listing import Listed
    from fedtheory.algorithms.options import Option
    from fedtheory.proofs.potentials.largest import Largest, Scan
    from fedtheory.proofs.potentials.questions import Question

EXIT_UNDECIDED = 4  # nothing was certified
#: what options are measured in by what they are: 1/L, or L; others are pure numbers
UNITS = {"lr": -1, "eta": -1, "inner_lr": -1, "rho": 1, "nu": 1}
BISECTION = 14  # steps of it that the bar expects


@click.command(cls=MethodCommand)
@click.argument("algorithm", shell_complete=complete_methods)
@click.option(
    "--option",
    "named",
    default="lr",
    show_default=True,
    metavar="NAME",
    help="Which option is made large: lr, rho, local-steps, ...",
)
@smoothness_option
@convexity_option("; 0 for convex (with --rate 1)")
@click.option(
    "--rate", metavar="RATE", help="The factor a round that is asked for [default: 1 - mu/(1000 L), for convergence]."
)
@stated_option("in the place of any")
@click.option(
    "--from", "low", metavar="VALUE", help="Where the scan starts [default: 1/64 of 1/L for steps, of L for penalties]."
)
@click.option(
    "--to", "high", metavar="VALUE", help="Where it ends [default: 4096 times its start; 16 for whole numbers]."
)
@weights_of_every_n_option
@proofs_option
@solver_limit_option
@answer_option
@fresh_option
def largest_command(algorithm: str, **options: Any) -> None:
    """Largest value of an option of ALGORITHM for which convergence, or a rate, is proved over a class, for every number of clients.

    A method that does not come to rest at x* where clients differ is asked for a linear rate to a floor, C zeta^2/(1 - rate) with zeta^2 the mean
    of ||grad f_i(x*)||^2. The value below the edge is proved in exact arithmetic. Above it the smallest value is told at which an exact instance
    contradicts the convergence, so that the gap between what is proved and what is false is known. For bounds after some rounds there is 'fedtheory
    worst-case --largest'.

    Exit status: 0 when a value is certified; 4 when none is; 2 for bad arguments; 130 when interrupted (the same command goes on).
    """
    from fedtheory.algorithms import listed
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.potentials.largest import Scan

    entry = listed(algorithm)
    option = find_option(entry, options["named"])
    function_class = FunctionClass(options["big_l"], options["mu"])
    weights = read_weights_of_every_n(options)
    low, high = _read_range(option, options)
    scan = Scan(low, high, whole=option.kind is int)
    given = {name: value for name, value in read_values(entry, options).items() if name != option.name}
    question = _read_question(function_class, options, comes_to_floor(entry, option, given, scan))
    said = tell_weights_of_every_n(weights, [entry.build(**given, **{option.name: low})] if weights else [])
    found = _search(entry, option, given, question, scan, options["fresh"])
    answer = summarise_search(found, algorithm, option, question, scan) | {"options": given} | said
    answer["unstated"] = _unstated(algorithm, option)
    if options["certificate"] is not None and found.proof is not None:
        answer["certificates"] = write_proofs(found.proof.certificates, options["certificate"])
    _report(answer, options["json_file"])
    sys.exit(0 if found.certified is not None else EXIT_UNDECIDED)


def find_option(entry: Listed, name: str) -> Option:
    """The numeric option of a method that a word names, as it is typed or as it is called in the code.

    Raises
    ------
    InvalidInput
        There is none.
    """
    from fedtheory.core.errors import InvalidInput

    word = name.removeprefix("--").replace("-", "_")
    numeric = [option for option in entry.options if option.kind in (int, float)]
    for option in numeric:
        if word in (option.key, option.name):
            return option
    known = ", ".join(option.flag.removeprefix("--") for option in numeric)
    raise InvalidInput(f"{entry.name} has no numeric option {name!r}; it has {known}")


def read_fraction(text: str, name: str) -> Fraction:
    """A number as it is typed, exactly.

    Raises
    ------
    InvalidInput
        It is none.
    """
    from fedtheory.core.errors import InvalidInput

    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidInput(f"{name} {text!r} is not a number") from error


def default_range(option: Option, big_l: float) -> tuple[Fraction, Fraction]:
    """From 1/64 to 64 units of an option, which are 1/L for steps and L for penalties; from 1 to 16 for whole numbers."""
    from fedtheory.core.exact import rational
    from fedtheory.proofs.potentials.largest import SCAN_FROM, SCAN_TO, USUAL_COUNT

    if option.kind is int:
        return Fraction(1), Fraction(USUAL_COUNT)
    unit = Fraction(rational(big_l)) ** UNITS.get(option.role, 0)
    return SCAN_FROM * unit, SCAN_TO * unit


def _read_range(option: Option, options: dict[str, Any]) -> tuple[Fraction, Fraction]:
    low, high = default_range(option, options["big_l"])
    if options["low"] is not None:
        ratio, low = high / low, read_fraction(options["low"], "--from")
        high = high if option.kind is int else low * ratio
    return low, high if options["high"] is None else read_fraction(options["high"], "--to")


def comes_to_floor(entry: Listed, option: Option, given: dict[str, Any], scan: Scan) -> bool:
    """Whether a method whose state is x alone does not come to rest at x* at the first values of a scan, so that a floor is all it can come to."""
    from fedtheory.core.errors import FedtheoryError
    from fedtheory.proofs.potentials.progress import forgets, require_alike, rests_at_solution

    try:
        methods = [entry.build(**given, **{option.name: int(v) if scan.whole else v}) for v in scan.values()[:2]]
        for method in methods:
            require_alike(method)
        return all(map(forgets, methods)) and not all(map(rests_at_solution, methods))
    except FedtheoryError:  # the search says what is wrong
        return False


def _read_question(function_class: Any, options: dict[str, Any], floor: bool) -> Question:
    from fedtheory.proofs.potentials.questions import ComesToFloor, SomePotential, StatedPotential, convergence_rate

    limit = options["time_limit"]
    rate = None if options["rate"] is None else read_fraction(options["rate"], "--rate")
    if options["stated"]:
        stated = convergence_rate(function_class) if rate is None else rate
        return StatedPotential(function_class, stated, dict(options["stated"]), limit)
    if floor:
        return ComesToFloor(function_class, rate or convergence_rate(function_class), limit, rate is None)
    if rate is None:
        return SomePotential.of_convergence(function_class, limit)
    return SomePotential(function_class, rate, limit)


def _search(
    entry: Listed, option: Option, given: dict[str, Any], question: Question, scan: Scan, fresh: bool
) -> Largest:
    """Search with a bar; what the solver said is kept until the search is complete."""
    from fedtheory.proofs.potentials.largest import largest
    from fedtheory.tools.journal import Journal

    identity = [entry.name, option.name, given, str(question), str(question.function_class), str(scan)]
    journal = Journal("largest", json.loads(json.dumps(identity, default=str)))
    expected = len(scan.values()) + (0 if scan.whole else BISECTION) + 1
    open_journal(journal, fresh, expected, "questions")
    make: Callable[[Any], Any] = lambda value: entry.build(**given, **{option.name: value})  # noqa: E731
    try:
        with show_progress("asking", expected, late=True, lines=True) as advance:
            found = largest(make, question, scan, memory=journal, tell=advance)
    except KeyboardInterrupt:
        leave_interrupted(f"{len(journal.read())} questions")
    journal.close()
    return found


def show_value(value: Fraction | None) -> str:
    """A fraction as a decimal number where it is one, else as it is."""
    if value is None:
        return "-"
    return f"{float(value):.12g}" if Fraction(f"{float(value):.12g}") == value else str(value)


def summarise_search(found: Largest, algorithm: str, option: Option, question: Question, scan: Scan) -> dict[str, Any]:
    """What was found as JSON has it: what was asked, and values as text."""
    from fedtheory.proofs.potentials.questions import ComesToFloor

    def text(value: Fraction | None) -> str | None:
        return None if value is None else show_value(value)

    return {
        "algorithm": algorithm,
        "option": option.flag.removeprefix("--"),
        "class": str(question.function_class),
        "question": str(question),
        "convergence": bool(getattr(question, "convergence", False)),
        "floor": isinstance(question, ComesToFloor),
        "scanned": [show_value(scan.low), show_value(scan.high)],
        "certified": text(found.certified),
        "rate": str(found.rate),
        "potential": None if found.proof is None else found.proof.potential,
        "held": [show_value(v) for v in found.held],
        "not_held_below": [show_value(v) for v in found.below],
        "held_again": [show_value(v) for v in found.again],
        "none_at": text(found.none_at),
        "excluded": found.excluded,
        "refused_at": text(found.refused_at),
        "refused_because": found.why,
        "false_at": text(found.false_at),
        "instance": None if found.instance is None else str(found.instance),
        "not_false_at": text(found.not_false_at),
        "no_instance": found.why_no_instance,
        "seconds": round(found.seconds, 3),
    }


def _unstated(algorithm: str, option: Option) -> str:
    """The options left to their defaults, without the one that is made large."""
    from fedtheory.claims.statements.unstated import tell_unstated

    stated = say_given(algorithm, click.get_current_context())
    sought = f"{option.name} = {option.default}"
    return tell_unstated(replace(stated, options=", ".join(filter(None, (stated.options, sought)))))


def _report(answer: dict[str, Any], json_file: Path | None) -> None:
    if write_answer(answer, json_file):
        return
    for line in describe_largest(answer):
        click.echo(line)


def describe_largest(answer: dict[str, Any]) -> list[str]:
    """The answer in lines of words."""
    name, (low, high), sought = answer["option"], answer["scanned"], "C" if answer["floor"] else "V"
    lines = [
        f"{answer['algorithm']} over {answer['class']}, every n >= 2: the largest {name} with {answer['question']}"
    ]
    lines += [answer["unstated"]] if answer["unstated"] else []
    if answer["certified"] is None:
        lines.append(f"nothing is certified between {low} and {high}")
    else:
        comes_to = "comes linearly to a floor" if answer["floor"] else "converges"
        meant = f", so that it {comes_to}" if answer["convergence"] else ""
        lines.append(
            f"{name} = {answer['certified']} is certified in exact arithmetic{meant}   ({answer['seconds']:.2f} s)"
        )
        of_fixed_point = f"V = {answer['potential']}   (differences to the fixed point)"
        lines.append(answer["potential"] if answer["floor"] else of_fixed_point)
    if answer["none_at"] is not None:
        shown = "nothing shows that none exists" if answer["excluded"] is None else f"residual {answer['excluded']:.1g}"
        lines.append(f"at {name} = {answer['none_at']} the solver finds no such {sought} ({shown})")
    elif answer["certified"] is not None and answer["refused_at"] is None:
        lines.append(f"the scan ends at {high}; larger values were not asked (--to looks further)")
    if answer["refused_at"] is not None:
        lines.append(f"{name} = {answer['refused_at']} is outside the method's definition: {answer['refused_because']}")
    lines += _describe_false(answer)
    lines += describe_weights_of_every_n(answer)
    if answer["held"]:
        lines.append(
            f"asked from {low} to {high}; the solver found a {sought} at {', '.join(answer['held'])}; between these nothing is claimed"
        )
    if answer["not_held_below"]:
        lines.append(f"below these it found none at {', '.join(answer['not_held_below'])}")
    if answer["held_again"]:
        lines.append(
            f"above the edge it found a {sought} again at {', '.join(answer['held_again'])}: the good values are no interval"
        )
    if "certificates" in answer:
        lines.append(f"the proof is in {' and '.join(answer['certificates'])}")
    return lines


def _describe_false(answer: dict[str, Any]) -> list[str]:
    name = answer["option"]
    if answer["certified"] is None:
        return []
    if answer["false_at"] is None:
        why = f": {answer['no_instance']}" if answer["no_instance"] else f" up to {name} = {answer['scanned'][1]}"
        return [f"no instance that contradicts it was found{why}"]
    return [f"at {name} = {answer['false_at']} it is false, in exact arithmetic: {answer['instance']}"]
