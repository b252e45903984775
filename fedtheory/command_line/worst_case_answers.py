"""What the command ``worst-case`` answers, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.command_line.method_options import PREFIX, build_algorithm
from fedtheory.command_line.worst_case_weights import tell_weights

if TYPE_CHECKING:
    from fedtheory.proofs.every_n.worst_case import WorstCaseForEveryN
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.one_n.worst_case import WorstCaseForOneN


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


def _tell_value(found: WorstCaseForEveryN | WorstCaseForOneN) -> dict[str, Any]:
    """What both programs answer."""
    return {
        "rounds": found.rounds,
        "measure": found.measure,
        "radius": found.radius,
        "value": None if found.unbounded else found.value,
        "lower": None if found.unbounded else found.lower,
        "unbounded": found.unbounded,
        "residuals": None if found.residuals is None else dataclasses.asdict(found.residuals),
    }


def answer_for_one_n(algorithm: str, function_class: FunctionClass, options: dict[str, Any]) -> dict[str, Any]:
    """Answer by the program with n functions (PEPit)."""
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
    certified = {} if options["certificate"] is None else _certify_weights(found, function_class, options)
    return {
        "algorithm": repr(found.algorithm),
        "class": str(function_class),
        "clients": found.n,
        **certified,
        **tell_weights(found, options),
        **_tell_value(found),
        "solver": found.solver,
        "attempts": [dataclasses.asdict(attempt) for attempt in found.attempts],
        "seconds": round(found.seconds, 4),
        "size": found.size,
        "relaxations": list(function_class.relaxations(found.measure)),
        "replayed": None if found.why_not_replayed() else found.replay(),
        **_judged(found, options),
    }


def answer_for_every_n(algorithm: str, function_class: FunctionClass, options: dict[str, Any]) -> dict[str, Any]:
    """Answer by the program of exchangeable clients, and with what was asked for besides the value."""
    from fedtheory.core.errors import InvalidInput
    from fedtheory.proofs.every_n.vectors import Sampling
    from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n

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
        **_tell_value(found),
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
        answer |= _certify(found, function_class, options["certificate"], common)
    if options["largest"] is not None:
        answer["largest"] = _largest(algorithm, function_class, options, common)
    if options["along"] is not None:
        answer["along"] = _along(algorithm, function_class, options, common)
    elif options["figure"] is not None:
        from fedtheory.proofs.every_n.picture import draw_functions
        from fedtheory.tools.pictures import save_figure

        save_figure(draw_functions(found), options["figure"])
    return answer


def _certify(
    found: WorstCaseForEveryN, function_class: FunctionClass, file: Path, common: dict[str, Any]
) -> dict[str, Any]:
    """Write an exact proof of the value; both must agree."""
    from fedtheory.proofs.agreement import hold_together
    from fedtheory.proofs.certificates.upper_bounds import prove
    from fedtheory.proofs.measures import find_measure
    from fedtheory.proofs.sizes import sizes_of

    proof = prove(found.algorithm, function_class, **common)
    size = sizes_of(function_class, find_measure(found.measure), found.radius).goal
    hold_together("the value", found.value, "its certificate", float(proof.bound), size=size)
    proof.write(file)
    held_against = "" if proof.runs is None else proof.runs.told()
    return {"proved": str(proof.bound), "certificate": str(file), "held_against": held_against}


def _certify_weights(found: WorstCaseForOneN, function_class: FunctionClass, options: dict[str, Any]) -> dict[str, Any]:
    """Write an exact proof of the value for the clients' own weights; both must agree.

    Raises
    ------
    InvalidInput
        Some of them are drawn.
    """
    from fedtheory.core.errors import InvalidInput
    from fedtheory.proofs.agreement import hold_together
    from fedtheory.proofs.certificates.upper_bounds import prove_for_weights
    from fedtheory.proofs.measures import find_measure
    from fedtheory.proofs.sizes import sizes_of

    if options["participants"] is not None:
        raise InvalidInput(
            "--certificate with --weights is for clients all of which take part; leave --participants out, or --weights and ask --clients any"
        )
    asked = {name: options[name] for name in ("rounds", "measure", "radius", "time_limit")}
    proof = prove_for_weights(found.algorithm, function_class, options["weights"], **asked)
    size = sizes_of(function_class, find_measure(found.measure), found.radius).goal
    hold_together("the value", found.value, "its certificate", float(proof.bound), size=size)
    proof.write(options["certificate"])
    return {
        "proved": str(proof.bound),
        "certificate": str(options["certificate"]),
        "held_against": "the value of the program",
    }


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
    from fedtheory.tools.pictures import save_picture

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
        save_picture(picture, options["figure"])
    best = min(range(count), key=lambda k: found[k])
    return {"parameter": name, "values": shown, "worst": found, "best": {"value": shown[best], "worst": found[best]}}
