"""The commands ``worst-case`` and ``verify-certificate``."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.completing import complete_methods
from fedtheory.command_line.method_options import PREFIX, MethodCommand, build_algorithm, say_given
from fedtheory.command_line.options import (
    EXIT_FAILED,
    FiniteNumber,
    OutputFile,
    answer_option,
    convexity_option,
    interrupt_option,
    smoothness_option,
    write_answer,
)
from fedtheory.command_line.worst_case_weights import read_weights_of_clients, say_for_all_weights, tell_weights
from fedtheory.tools.digits import known_digits

if TYPE_CHECKING:
    from fedtheory.proofs.every_n.worst_case import WorstCaseForEveryN
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.one_n.worst_case import WorstCaseForOneN


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
    help="Write an exact proof of the value (with --clients any).",
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
    from fedtheory.algorithms import listed
    from fedtheory.claims.statements.unstated import OneMethod, find_hanging, tell_unstated
    from fedtheory.core.errors import InvalidInput
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
    counted = next((name for name in ("participants", "sigma") if options[name] is not None), None)
    if options["clients"] is None and counted is not None:
        raise InvalidInput(f"--{counted} needs the number of clients; pass --clients N with it")
    if options["weights"] is not None:
        options = options | read_weights_of_clients(options)
    unlike = options["weights"] is not None and options["similarity"] is None and options["sigma"] is None
    symmetric = not unlike and (options["clients"] is None or counted is not None or options["similarity"] is not None)
    if symmetric and options["weights"] is not None:
        raise InvalidInput(
            "--weights are of clients one by one, and --sigma and --similarity are stated for equal ones; leave one out"
        )
    if options["bound"] is not None and not 0 < options["bound"] < math.inf:
        raise InvalidInput(f"--bound must be positive and finite, got {options['bound']}")
    names = ("certificate", "largest", "along", "figure", "agree")
    only = [f"--{name}" for name in names if options[name] not in (None, False)]
    if not symmetric and only:
        without = "without --weights" if unlike else "(or with --participants)"
        raise InvalidInput(f"{only[0].replace('_', '-')} goes with --clients any {without}")
    if options["along"] is not None and not (options["along"][1] < options["along"][2] and options["along"][3] >= 2):
        raise InvalidInput(f"--along takes NAME LOW HIGH COUNT with LOW < HIGH and COUNT >= 2, got {options['along']}")
    answer_for = _for_every_n if symmetric else _for_one_n
    answer = answer_for(algorithm, function_class, options)
    given = say_given(algorithm, click.get_current_context())
    answer["unstated"] = tell_unstated(given)
    if answer.get("verdict") == "violated":

        def is_violated(other: OneMethod) -> bool:
            words = [o for o in listed(algorithm).options if o.kind is bool or o.choices]
            changed = {PREFIX + o.key: other.settings[o.name] for o in words if o.name in other.settings}
            found = answer_for(algorithm, function_class, {**options, **changed, "certificate": None, "figure": None})
            return bool(found["unbounded"]) or found["verdict"] == "violated"

        hangs = find_hanging(given, is_violated)
        if hangs:
            answer |= {"verdict": "undecided", "reason": f"{hangs}; {answer['reason']}"}
    _report(answer, options["json_file"])
    sys.exit(EXITS[answer.get("verdict", "holds")])


def _judged(found: WorstCaseForEveryN | WorstCaseForOneN, options: dict[str, Any]) -> dict[str, Any]:
    """The verdict on --bound, unless it is there for other hyper-parameters (--largest, --along)."""
    from fedtheory.proofs.stated_bounds import judge_bound

    bound = options["bound"]
    if bound is None or options["largest"] is not None or options["along"] is not None:
        return {}
    judged = judge_bound(found, bound, time_limit=options["time_limit"])
    return {
        "bound": bound,
        "ratio": None if found.unbounded else found.value / bound,
        "verdict": judged.verdict,
        "reason": judged.reason,
        "at_most": None if judged.at_most is None else str(judged.at_most),
        "reached": None if judged.reached is None else float(judged.reached),
    }


def _for_one_n(algorithm: str, function_class: FunctionClass, options: dict[str, Any]) -> dict[str, Any]:
    """The program with n functions (PEPit)."""
    from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n

    found: WorstCaseForOneN = worst_case_for_one_n(
        build_algorithm(algorithm, options),
        function_class,
        n=options["clients"],
        rounds=options["rounds"],
        measure=options["measure"],
        radius=options["radius"],
        time_limit=options["time_limit"],
        participants=options["participants"],
        weights=options["weights"],
    )
    return {
        "algorithm": repr(found.algorithm),
        "class": str(function_class),
        "clients": found.n,
        **tell_weights(found, options),
        "rounds": found.rounds,
        "measure": found.measure,
        "radius": found.radius,
        "value": None if found.unbounded else found.value,
        "lower": None if found.unbounded else found.lower,
        "unbounded": found.unbounded,
        "residuals": None if found.residuals is None else dataclasses.asdict(found.residuals),
        "solver": found.solver,
        "attempts": [dataclasses.asdict(attempt) for attempt in found.attempts],
        "seconds": round(found.seconds, 4),
        "size": found.size,
        "relaxations": list(function_class.relaxations(found.measure)),
        "replayed": None if found.why_not_replayed() else found.replay(),
        **_judged(found, options),
    }


def _for_every_n(algorithm: str, function_class: FunctionClass, options: dict[str, Any]) -> dict[str, Any]:
    """The program of exchangeable clients, and what was asked for with it."""
    from fedtheory.core.errors import InvalidInput
    from fedtheory.proofs.agreement import hold_together
    from fedtheory.proofs.certificates.upper_bounds import prove
    from fedtheory.proofs.every_n.vectors import Sampling
    from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
    from fedtheory.proofs.measures import find_measure
    from fedtheory.proofs.sizes import sizes_of

    n, s = options["clients"], options["participants"]
    sampling = None if n is None else Sampling(n, n if s is None else s)
    common: dict[str, Any] = {
        "rounds": options["rounds"],
        "measure": options["measure"],
        "radius": options["radius"],
        "participation": sampling,
        "time_limit": options["time_limit"],
    }
    method = build_algorithm(algorithm, options)
    found: WorstCaseForEveryN = worst_case_for_every_n(method, function_class, agree=options["agree"], **common)
    if found.unbounded and (options["certificate"] is not None or options["largest"] is not None):
        raise InvalidInput(
            "the worst case is unbounded: no bound of this kind holds over the class, so there is nothing to prove"
        )
    answer: dict[str, Any] = {
        "algorithm": repr(method),
        "class": str(function_class),
        "clients": "any" if sampling is None else sampling.n,
        "participants": s,
        "rounds": found.rounds,
        "measure": found.measure,
        "radius": found.radius,
        "value": None if found.unbounded else found.value,
        "lower": None if found.unbounded else found.lower,
        "unbounded": found.unbounded,
        "residuals": None if found.residuals is None else dataclasses.asdict(found.residuals),
        "relaxations": list(found.model.relaxations),
        "difference": found.solution.difference,
        "solver": found.solution.solver,
        "status": found.solution.status,
        "seconds": round(found.seconds, 4),
        "size": dict(found.size),
        "replayed": None if found.why_not_replayed() else found.replay(),
        **_judged(found, options),
    }
    if options["certificate"] is not None:
        proof = prove(method, function_class, **common)
        size = sizes_of(function_class, find_measure(options["measure"]), options["radius"]).goal
        hold_together("the value", found.value, "its certificate", float(proof.bound), size=size)
        proof.write(options["certificate"])
        answer["proved"] = str(proof.bound)
        answer["certificate"] = str(options["certificate"])
        answer["held_against"] = "" if proof.runs is None else proof.runs.told()
    if options["largest"] is not None:
        answer["largest"] = _largest(algorithm, function_class, options, common)
    if options["along"] is not None:
        answer["along"] = _along(algorithm, function_class, options, common)
    elif options["figure"] is not None:
        from fedtheory.proofs.every_n.picture import draw_functions
        from fedtheory.tools.pictures import save_figure

        options["figure"].parent.mkdir(parents=True, exist_ok=True)
        save_figure(draw_functions(found), options["figure"])
    return answer


def _with_parameter(algorithm: str, name: str, options: dict[str, Any]) -> Callable[[Fraction], Any]:
    """The method as a function of one of its hyper-parameters."""
    from fedtheory.algorithms import listed
    from fedtheory.core.errors import InvalidInput

    names = {option.flag.removeprefix("--"): option.key for option in listed(algorithm).options}
    field = names.get(name)
    if field is None:
        raise InvalidInput(f"{algorithm} has no parameter {name!r}; it has {', '.join(names)}")
    return lambda value: build_algorithm(algorithm, {**options, f"{PREFIX}{field}": value})


def _largest(
    algorithm: str, function_class: FunctionClass, options: dict[str, Any], common: dict[str, Any]
) -> dict[str, Any]:
    from fedtheory.core.errors import InvalidInput
    from fedtheory.proofs.certificates.thresholds import find_threshold

    if options["bound"] is None:
        raise InvalidInput("--largest asks for how long a bound holds; state it with --bound")
    name, low, high = options["largest"]
    stated = Fraction(repr(options["bound"]))
    ends = Fraction(repr(low)), Fraction(repr(high))
    make = _with_parameter(algorithm, name, options)
    found = find_threshold(
        make, lambda value: stated, *ends, function_class, accuracy=(ends[1] - ends[0]) / 1000, **common
    )
    return {
        "parameter": name,
        "holds": float(found.holds),
        "proved": str(found.proof.bound),
        "fails": float(found.fails),
        "reached": found.reached,
    }


def _along(
    algorithm: str, function_class: FunctionClass, options: dict[str, Any], common: dict[str, Any]
) -> dict[str, Any]:
    import numpy as np

    from fedtheory.proofs.certificates.thresholds import worst_cases_along

    name, low, high, count = options["along"]
    values = [Fraction(repr(round(float(v), 12))) for v in np.linspace(low, high, count)]
    found = worst_cases_along(_with_parameter(algorithm, name, options), values, function_class, **common)
    shown = [float(v) for v in values]
    if options["figure"] is not None:
        series = [{"label": "worst case", "x": shown, "y": found, "style": "line"}]
        if options["bound"] is not None:
            series.append({"label": "stated bound", "x": shown, "y": [options["bound"]] * count, "style": "dashed"})
        title = f"{algorithm}, {options['rounds']} rounds, every n"
        picture = {
            "title": title,
            "xlabel": name,
            "ylabel": options["measure"],
            "series": series,
            "logy": True,
            "diverged": True,
        }
        _save(picture, options["figure"])
    best = min(range(count), key=lambda k: found[k])
    return {"parameter": name, "values": shown, "worst": found, "best": {"value": shown[best], "worst": found[best]}}


def _save(picture: dict[str, Any], file: Path) -> None:
    from fedtheory.tools.pictures import save_picture

    file.parent.mkdir(parents=True, exist_ok=True)
    save_picture(picture, file)


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
    measure = answer["measure"]
    if answer["unbounded"]:
        click.echo(f"{measure}: unbounded; no bound of this kind holds over the class ({answer['solver']})")
    else:
        residuals = answer["residuals"]
        error = max(abs(v) for v in residuals.values()) * max(1.0, abs(answer["value"]))
        worst = known_digits(answer["value"], error)
        click.echo(f"{measure} <= {worst} (worst case; {answer['solver']}, {answer['seconds']:.2f} s)")
        click.echo(
            f"residuals: largest {max(abs(v) for v in residuals.values()):.2g}, duality gap {residuals['gap']:.2g}"
        )
    if answer.get("relaxations"):
        click.echo(f"an upper bound of the worst case: {'; '.join(answer['relaxations'])}")
    say_for_all_weights(answer)
    if answer.get("difference") is not None:
        click.echo(f"two solvers agree up to {answer['difference']:.2g}")
    if answer["replayed"] is not None:
        click.echo(f"replayed on the worst-case functions: {answer['replayed']:.9g}")
    if "proved" in answer:
        click.echo(f"proved in exact arithmetic: <= {answer['proved']}; the certificate is in {answer['certificate']}")
        click.echo(f"held against {answer['held_against']}")
    if "verdict" in answer:
        said = {"holds": "holds", "violated": "is violated", "undecided": "is undecided"}[answer["verdict"]]
        ratio = "" if answer["ratio"] is None else f"worst case / bound = {answer['ratio']:.6g}; "
        click.echo(f"the stated bound {answer['bound']:.9g} {said}: {ratio}{answer['reason']}")
    if "largest" in answer:
        edge = answer["largest"]
        click.echo(f"the bound holds at {edge['parameter']} = {edge['holds']:.6g} (proved: <= {edge['proved']})")
        click.echo(
            f"and fails at {edge['parameter']} = {edge['fails']:.6g}, where functions of the class reach {edge['reached']:.9g}"
        )
    if "along" in answer:
        for value, worst in zip(answer["along"]["values"], answer["along"]["worst"], strict=True):
            click.echo(f"  {answer['along']['parameter']} = {value:<12.6g} {worst:.6g}")


@click.command("verify-certificate")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--system-only", is_flag=True, help="Do not ask whether the inequality system is that of the method.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="STEPS",
    help="Give up on a certificate that takes more steps to check [default: some two seconds].",
)
@interrupt_option
def verify_certificate_command(file: Path, system_only: bool, limit: int | None) -> None:
    """Check an exact certificate, a derivation or a proof term in FILE; no solver and no floating-point number takes part.

    Of a certificate first its inequality system: that the hypotheses which are listed imply the bound. Then that this system is the one of the
    method, class, measure, start and number of rounds that the file names: it is made anew from the method's round. So are the systems of a term
    whose states are those of a listed method. Exit status 1 where either fails, 2 where it could not be checked: the file is no proof, or takes
    more steps than the limit.
    """
    from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT, check, describe_system
    from fedtheory.proofs.checker.files import check_proof, read_proof
    from fedtheory.proofs.checker.reading import MOST_STEPS
    from fedtheory.proofs.checker.refusals import NotChecked, Refused
    from fedtheory.proofs.checker.terms import TERM_FORMAT

    most = MOST_STEPS if limit is None else limit
    try:
        data = read_proof(file)
        if data["format"] == TERM_FORMAT and not system_only:
            click.echo("\n".join(_check_whole_term(data, most)))
            return
        if system_only or data["format"] != CERTIFICATE_FORMAT:
            click.echo("\n".join(check_proof(data, most)))
            return
        check(data, most)
        click.echo("\n".join(describe_system(data)))
        from fedtheory.proofs.rebuilt import verify_method

        sentence = verify_method(data, most_steps=most)
    except Refused as error:
        click.echo(f"refused: {error}", err=True)
        sys.exit(2 if isinstance(error, NotChecked) else EXIT_FAILED)
    click.echo(_THAT_OF_THE_METHOD)
    click.echo(f"verified: {sentence}")


_THAT_OF_THE_METHOD = "the system is that of this method, made anew from its round in exact arithmetic"


def _check_whole_term(data: dict[str, Any], most: int) -> list[str]:
    """What a term shows, in lines; of a term about states of a listed method, that its systems are those of the method."""
    from fedtheory.claims.statements.theorems.rebuilding import verify_states
    from fedtheory.proofs.checker.files import check_proof

    *lines, unchecked = check_proof(data, most)
    return [*lines, f"  {data['states']}: {_THAT_OF_THE_METHOD}" if verify_states(data) else unchecked]
