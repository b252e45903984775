"""The command ``worst-case``."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from fedtheory.command_line.completing import complete_methods
from fedtheory.command_line.method_options import PREFIX, MethodCommand, say_given
from fedtheory.command_line.options import (
    FiniteNumber,
    OutputFile,
    answer_option,
    convexity_option,
    smoothness_option,
    write_answer,
)
from fedtheory.command_line.worst_case_answers import answer_for_every_n, answer_for_one_n
from fedtheory.command_line.worst_case_weights import read_weights_of_clients, say_for_all_weights
from fedtheory.tools.digits import known_digits

#: exit status by the verdict on --bound
EXITS = {"holds": 0, "violated": 3, "undecided": 4}


class ClientCount(click.ParamType[int | None]):
    """A number of clients, or ``any``."""

    name = "number or any"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """Read it; None stands for any."""
        if isinstance(value, str) and value.lower() == "any":
            return None
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor 'any'", param, ctx)


def _class_options(function: Any) -> Any:
    for option in (
        click.option(
            "--sigma",
            type=float,
            help="Gradient noise E||h_i - grad f_i||^2 <= SIGMA^2 (with --batch; --clients N says how many draw).",
        ),
        click.option("--similarity", type=float, metavar="DELTA", help="Every f_i - f is DELTA-smooth."),
        click.option("--indicator", is_flag=True, help="As --composite, h the indicator of any convex set."),
        click.option("--composite", is_flag=True, help="f + h with any convex h, used through its proximal operator."),
        click.option("--dissimilarity", type=float, metavar="G", help="Pairwise gradient dissimilarity (A4)."),
        click.option("--bgd", type=(float, float), metavar="G D", help="(G, D)-bounded gradient dissimilarity."),
        click.option("--zeta", type=float, help="Root mean square of the clients' gradients at x*."),
        click.option("--nonconvex", is_flag=True, help="Smooth functions, not necessarily convex."),
        convexity_option("; 0 for convex", default=0.0),
        smoothness_option,
    ):
        function = option(function)
    return function


@click.command("worst-case", cls=MethodCommand)
@click.argument("algorithm", shell_complete=complete_methods)
@click.option(
    "--clients",
    type=ClientCount(),
    default="2",
    show_default=True,
    help="Number of clients n, or 'any': every n >= 2 at once.",
)
@click.option(
    "--participants", type=int, metavar="S", help="S of the n clients take part, uniformly at random (one round)."
)
@click.option(
    "--weights",
    metavar="P1,...,PN",
    help="Weights of the clients, with the sum 1, one by one: f is sum_i p_i f_i, averages and zeta are by them [default: all alike].",
)
@click.option("--rounds", type=int, default=1, show_default=True)
@_class_options
@click.option(
    "--radius", type=float, default=1.0, show_default=True, help="||x0 - x*||, or f(x0) - inf f when non-convex."
)
@click.option(
    "--measure",
    type=click.Choice(["squared_distance", "gap", "stationarity", "sum_stationarity", "min_stationarity"]),
    metavar="MEASURE",
    help="What is maximised: squared_distance, gap, stationarity, sum_stationarity or min_stationarity "
    "[default: squared_distance, or sum_stationarity when non-convex].",
)
@click.option("--bound", type=float, help="A stated bound, which holds, is violated, or is undecided.")
@click.option(
    "--certificate",
    type=OutputFile(terminal=False),
    help="Write an exact proof of the value (with --clients any, or with --weights).",
)
@click.option(
    "--largest",
    type=(str, float, float),
    metavar="NAME LOW HIGH",
    help="The largest NAME (such as lr) for which --bound holds, by bisection, both sides certified (with --clients any).",
)
@click.option(
    "--along",
    type=(str, float, float, int),
    metavar="NAME LOW HIGH COUNT",
    help="Worst cases for a range of a parameter (with --clients any).",
)
@click.option("--figure", type=OutputFile(terminal=False), help="Draw --along, or else the worst-case functions.")
@click.option(
    "--time-limit",
    type=FiniteNumber(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up after this time, or at once where it would take much longer.",
)
@click.option("--agree", is_flag=True, help="Solve with two solvers, which must agree (with --clients any).")
@answer_option
def worst_case_command(algorithm: str, **options: Any) -> None:
    """Exact worst case of ALGORITHM over a class of functions, by a semidefinite program.

    With --bound the exit status is 0 where the bound holds (proved in exact arithmetic, or numerically with the error), 3 where it is
    violated (functions of the class that exceed it were checked), 4 where neither was shown, or that hangs on an option which is not given;
    1 and 2 stand for no answer.
    """
    from fedtheory.claims.statements.unstated import OneMethod, find_hanging, tell_unstated
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.tools.pictures import require_picture_name

    if options["figure"] is not None:
        require_picture_name(options["figure"])
    nonconvex = options["nonconvex"]
    function_class = FunctionClass(
        L=options["big_l"],
        mu=-options["big_l"] if nonconvex else options["mu"],
        zeta=options["zeta"],
        bgd=options["bgd"],
        dissimilarity=options["dissimilarity"],
        composite=options["composite"] or options["indicator"],
        indicator=options["indicator"],
        similarity=options["similarity"],
        sigma=options["sigma"],
    )
    options["measure"] = options["measure"] or ("sum_stationarity" if nonconvex else "squared_distance")
    options = _read_clients(options)
    answer_for = answer_for_every_n if _are_exchangeable(options) else answer_for_one_n
    answer = answer_for(algorithm, function_class, options)
    given = say_given(algorithm, click.get_current_context())
    answer["unstated"] = tell_unstated(given)
    if answer.get("verdict") == "violated":

        def is_violated(other: OneMethod) -> bool:
            changed = options | _list_words(algorithm, other.settings) | {"certificate": None, "figure": None}
            found = answer_for(algorithm, function_class, changed)
            return bool(found["unbounded"]) or found["verdict"] == "violated"

        hangs = find_hanging(given, is_violated)
        if hangs:
            answer |= {"verdict": "undecided", "reason": f"{hangs}; {answer['reason']}"}
    _report(answer, options["json_file"])
    sys.exit(EXITS[answer.get("verdict", "holds")])


def _read_clients(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the clients' weights as numbers; what is drawn needs their number."""
    from fedtheory.core.errors import InvalidInput

    if options["clients"] is None and _counted(options) is not None:
        raise InvalidInput(f"--{_counted(options)} needs the number of clients; pass --clients N with it")
    return options if options["weights"] is None else options | read_weights_of_clients(options)


def _counted(options: Mapping[str, Any]) -> str | None:
    """The first option that is there and for which the number of clients counts."""
    return next((name for name in ("participants", "sigma") if options[name] is not None), None)


def _are_exchangeable(options: Mapping[str, Any]) -> bool:
    """Whether the program is that of exchangeable clients; options that do not go together are refused."""
    from fedtheory.core.errors import InvalidInput

    weights, similarity = options["weights"] is not None, options["similarity"] is not None
    unlike = weights and not similarity and options["sigma"] is None
    exchangeable = not unlike and (options["clients"] is None or _counted(options) is not None or similarity)
    if exchangeable and weights:
        raise InvalidInput(
            "--weights are of clients one by one, and --sigma and --similarity are stated for equal ones; leave one out"
        )
    if options["bound"] is not None and not 0 < options["bound"] < math.inf:
        raise InvalidInput(f"--bound must be positive and finite, got {options['bound']}")
    names: tuple[str, ...] = ("certificate", "largest", "along", "figure", "agree")
    names = names[1:] if unlike else names  # of clients with weights there is a proof, too
    only = [f"--{name}" for name in names if options[name] not in (None, False)]
    if not exchangeable and only:
        without = "without --weights" if unlike else "(or with --participants)"
        raise InvalidInput(f"{only[0].replace('_', '-')} goes with --clients any {without}")
    if options["along"] is not None and not (options["along"][1] < options["along"][2] and options["along"][3] >= 2):
        raise InvalidInput(f"--along takes NAME LOW HIGH COUNT with LOW < HIGH and COUNT >= 2, got {options['along']}")
    return exchangeable


def _list_words(algorithm: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a method that are words or flags, as the command line has them, with these settings."""
    from fedtheory.algorithms import listed

    words = [o for o in listed(algorithm).options if o.kind is bool or o.choices]
    return {PREFIX + o.key: settings[o.name] for o in words if o.name in settings}


def _report(answer: dict[str, Any], json_file: Path | None) -> None:
    if write_answer(answer, json_file):
        return
    who = "every n >= 2" if answer["clients"] == "any" else f"n={answer['clients']}"
    if answer.get("participants"):
        who += f", {answer['participants']} of them a round, in expectation"
    click.echo(f"{answer['algorithm']} over {answer['class']}, {who}, {answer['rounds']} rounds")
    if answer.get("weights"):
        click.echo(f"weights {', '.join(answer['weights'])}")
    if answer["unstated"]:
        click.echo(answer["unstated"])
    _report_value(answer)
    if "proved" in answer:
        click.echo(f"proved in exact arithmetic: <= {answer['proved']}; the certificate is in {answer['certificate']}")
        click.echo(f"held against {answer['held_against']}")
    if "verdict" in answer:
        said = {"holds": "holds", "violated": "is violated", "undecided": "is undecided"}[answer["verdict"]]
        ratio = "" if answer["ratio"] is None else f"worst case / bound = {answer['ratio']:.6g}; "
        click.echo(f"the stated bound {answer['bound']:.9g} {said}: {ratio}{answer['reason']}")
    _report_other_parameters(answer)


def _report_value(answer: dict[str, Any]) -> None:
    measure, residuals = answer["measure"], answer["residuals"]
    if answer["unbounded"]:
        click.echo(f"{measure}: unbounded; no bound of this kind holds over the class ({answer['solver']})")
    else:
        largest = max(abs(v) for v in residuals.values())
        worst = known_digits(answer["value"], largest * max(1.0, abs(answer["value"])))
        click.echo(f"{measure} <= {worst} (worst case; {answer['solver']}, {answer['seconds']:.2f} s)")
        click.echo(f"residuals: largest {largest:.2g}, duality gap {residuals['gap']:.2g}")
    if answer.get("relaxations"):
        click.echo(f"an upper bound of the worst case: {'; '.join(answer['relaxations'])}")
    say_for_all_weights(answer)
    if answer.get("difference") is not None:
        click.echo(f"two solvers agree up to {answer['difference']:.2g}")
    if answer["replayed"] is not None:
        click.echo(f"replayed on the worst-case functions: {answer['replayed']:.9g}")


def _report_other_parameters(answer: Mapping[str, Any]) -> None:
    if "largest" in answer:
        edge = answer["largest"]
        click.echo(f"the bound holds at {edge['parameter']} = {edge['holds']:.6g} (proved: <= {edge['proved']})")
        click.echo(
            f"and fails at {edge['parameter']} = {edge['fails']:.6g}, where functions of the class reach {edge['reached']:.9g}"
        )
    if "along" in answer:
        for value, worst in zip(answer["along"]["values"], answer["along"]["worst"], strict=True):
            click.echo(f"  {answer['along']['parameter']} = {value:<12.6g} {worst:.6g}")
