"""Parts of a check: a bound, an equality, a truth, a refutation, an assumption."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims.claim import Assumption, Counterexample, Engine, Part, Picture, Replay, Role
from fedtheory.claims.proof_objects import Argument, make_proof, write_argument
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.problem import Problem, constant, constants
from fedtheory.local.solvers import Exact
from fedtheory.proofs.checker.check import Proved
from fedtheory.proofs.facts import facts_are_collected, take_facts, write_fact
from fedtheory.proofs.regions.expressions import Comparison

QUANTILES = 21  #: of measured over claimed that a part keeps for its picture
VOUCHED = "the author vouches for it"  #: what stands before an argument that no checker confirmed anything of


def at_most(name: str, value: Any, limit: Any, engine: Engine, text: str, *, error: float = 0.0, **more: Any) -> Part:
    """Part: value <= limit + error, where ``error`` is a certified error, not a tolerance.

    Arrays are compared entry by entry. One entry above its limit makes the part fail, whatever the others are; otherwise one
    that cannot be compared (not a number, or a limit of +inf, below which everything lies) leaves it undecided, and so does
    nothing at all. The margin is the smallest (limit - value) / |limit| of those that were compared.

    Raises
    ------
    InvalidInput
        The error is no finite number >= 0.
    """
    if not (np.isfinite(error) and error >= 0):
        raise InvalidInput(f"{name}: the error {error} is no certified error; expected a finite number >= 0")
    value, limit = np.broadcast_arrays(np.asarray(value, dtype=float), np.asarray(limit, dtype=float))
    with np.errstate(over="ignore", invalid="ignore"):
        slack = limit - value
        relative = np.clip(slack / np.maximum(np.abs(limit), np.finfo(float).tiny), -1e300, 1e300)
    compared = ~np.isnan(slack) & (limit < np.inf)
    left_out = int(compared.size - compared.sum())
    if left_out or not compared.size:
        text += f" ({left_out} of {compared.size} entries could not be compared)"
    if not compared.any():
        return Part(name, None, engine, text, **more)
    worst = int(np.argmin(np.where(compared, relative, np.inf)))
    data: dict[str, Any] = {
        "value": float(value.ravel()[worst]),
        "limit": float(limit.ravel()[worst]),
        "compared": int(compared.sum()),
    }
    if (shares := _shares(value[compared], limit[compared])) is not None:
        data["shares"] = shares
    violated = bool((slack[compared] < -error).any())
    return Part(
        name,
        False if violated else None if left_out else True,
        engine,
        text,
        margin=float(relative[compared].min()),
        data=data | more.pop("data", {}),
        **more,
    )


def _shares(value: NDArray[np.float64], limit: NDArray[np.float64]) -> list[float] | None:
    """Value over limit, from the smallest to the largest of what was compared; None where that is too little, or a limit not positive."""
    if value.size < QUANTILES or not (limit > 0).all() or not np.isfinite(value).all():
        return None
    return [float(f"{share:.4g}") for share in np.quantile(value / limit, np.linspace(0, 1, QUANTILES))]


def equal(name: str, left: Any, right: Any, engine: Engine, text: str, *, rtol: float, **more: Any) -> Part:
    """Part: left = right up to ``rtol`` times the size of the largest entry; the margin is 1 - difference / allowed.

    What is not finite is not equal; where there is nothing to compare the part is undecided.

    Raises
    ------
    InvalidInput
        ``rtol`` is no finite number > 0.
    """
    if not (np.isfinite(rtol) and rtol > 0):
        raise InvalidInput(
            f"{name}: the tolerance {rtol} lets nothing or everything pass; expected a finite number > 0"
        )
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    scale = max(float(np.abs(left).max(initial=0)), float(np.abs(right).max(initial=0)), np.finfo(float).tiny)
    with np.errstate(invalid="ignore"):
        differences = np.abs(left - right)
    if not differences.size:
        return Part(name, None, engine, text + " (there is nothing to compare)", **more)
    difference = float(differences.max())
    if not np.isfinite(difference):
        return Part(name, False, engine, text + " (not finite)", margin=-1.0, **more)
    return Part(
        name,
        difference <= rtol * scale,
        engine,
        text,
        margin=1 - difference / (rtol * scale),
        data={"difference": difference, "scale": scale, "rtol": rtol} | more.pop("data", {}),
        **more,
    )


def holds(name: str, condition: Any, engine: Engine, text: str, **more: Any) -> Part:
    """Part: a plain statement, true or false."""
    return Part(name, bool(condition), engine, text, **more)


def refute(
    name: str,
    replay: Callable[[dict[str, Any]], Replay],
    instance: dict[str, Any],
    *,
    engine: Engine = "exact",
    role: Role = "printed",
    text: str = "",
) -> Part:
    """Part: the statement fails on this instance, if its replay says so in both arithmetics.

    Where the replay shows no violation the part holds, which is no evidence for the statement; where an assumption is not
    certified it is undecided.
    """
    seen = replay(instance)
    if not seen.admissible:
        missing = "; ".join(assumption.text for assumption in seen.assumptions if not assumption.met)
        return Part(name, None, engine, f"assumption not met on the instance: {missing}", role=role)
    said = f"{text}{' ' if text else ''}{seen.what}: measured {seen.measured:.6g}, bound {seen.bound:.6g}"
    if seen.violated:
        size = max(abs(seen.bound), abs(seen.measured), np.finfo(float).tiny)
        margin = (seen.bound - seen.measured) / size
        return Part(
            name,
            False,
            engine,
            said + f"; confirmed in {seen.arithmetic}",
            role=role,
            margin=margin,
            counterexample=Counterexample(instance, seen),
        )
    return Part(
        name, True, engine, said + "; no violation, which says nothing of the statement", role=role, against=True
    )


def proved(
    name: str,
    condition: Any,
    argument: Argument,
    engine: Engine = "symbolic",
    role: Role = "printed",
    *,
    resting_on: Sequence[Part] = (),
    scope: str = "",
    **more: Any,
) -> Part:
    """Part: facts, and an argument in words from them to the statement, which is then argued; where algebra fails nothing is shown, neither way.

    Parameters
    ----------
    condition : truth value
        What checkers (`is_zero`, `compare`, ...) answered, put together. What they confirmed in this check since the last proof is what
        this one rests on. Where they confirmed nothing the part holds by its author's word, which is no proof.
    argument : str, or lines
        Why the statement follows from that: numbered lines, each a text with its ground, ``("both sides are rational", "fact 1")``, where facts and
        lines are numbered from 1. A text is split into its sentences, and their grounds are words.
    resting_on : parts
        Earlier ones, all of which must hold; the facts of their proofs are facts of this one.
    scope : str
        What the proof is narrower than the statement in, such as ``n = 2, 3, 4``; such a proof supports, and does not prove.
    """
    before = [fact for part in resting_on if part.proof is not None for fact in part.proof.facts]
    text = write_argument(argument)
    if not (condition and all(part.holds for part in resting_on)):
        take_facts()
        return Part(name, False, engine, f"the proof does not go through: {text}", role=role, **more)
    proof = make_proof(argument, resting_on=before, scope=scope)
    if proof is None:
        return Part(name, True, engine, f"{VOUCHED}: {text}", role=role, vouched=True, **more)
    return Part(name, True, engine, text, role=role, proof=proof, **more)


def proved_from_statement(
    name: str, argument: str, engine: Engine = "symbolic", role: Role = "printed", *, scope: str = "", **more: Any
) -> Part:
    """Part: a proof whose facts and sentence an engine made of one statement as data, with nothing in words between them. For engines alone.

    Where nobody collects facts, as in a statement that is asked by hand, it is no proof.
    """
    proof = make_proof(argument, scope=scope, closed=True)
    if proof is None and scope:
        return Part(name, True, engine, argument, role=role, **more)
    if proof is None and facts_are_collected():
        raise FedtheoryError(f"{name}: an engine says that a statement is proved, and no checker confirmed anything")
    if proof is None:
        return Part(name, True, engine, f"{VOUCHED}: {argument}", role=role, vouched=True, **more)
    return Part(name, True, engine, argument, role=role, proof=proof, **more)


def proved_by_term(
    name: str, data: Mapping[str, Any], found: Proved, claims: Sequence[str], text: str, role: Role = "printed"
) -> Part:
    """Part: a proof term, and what the checker said of it when it accepted it; its claims must be these."""
    write_fact("term", f"a proof term of {len(data['lines'])} lines", data=data)
    if list(found.claims) != list(claims):
        raise FedtheoryError(f"{name}: the term proves {'; '.join(found.claims)}, and not {'; '.join(claims)}")
    proof = make_proof(text, closed=True, term=data, given=found.cited)
    return Part(name, True, "symbolic", text, role=role, proof=proof)


def disproved(
    name: str, condition: Any, argument: Argument, engine: Engine = "symbolic", role: Role = "printed"
) -> Part:
    """Part: a disproof, by which the part fails. Where it does not go through, or rests on no fact, nothing is shown. See `proved`."""
    text = write_argument(argument)
    proof = make_proof(argument) if condition else None
    take_facts()
    if proof is not None:
        return Part(name, False, engine, text, role=role, disproof=proof)
    why = VOUCHED if condition else "the disproof does not go through"
    outcome = None if condition else True
    return Part(name, outcome, engine, f"{why}: {text}", role=role, against=True, vouched=bool(condition))


def decided(
    name: str, condition: Any, text: str, engine: Engine = "exact", role: Role = "printed", **more: Any
) -> Part:
    """Part: a statement that comparisons of exact numbers decide either way: proved where they hold, disproved where they do not."""
    proof = make_proof(text)
    outcome = bool(condition)
    if proof is None:
        return Part(name, outcome, engine, f"{VOUCHED}: {text}", role=role, vouched=True, **more)
    if outcome:
        return Part(name, True, engine, text, role=role, proof=proof, **more)
    return Part(name, False, engine, text, role=role, disproof=proof, **more)


def assume(text: str, condition: str, **values: Any) -> Assumption:
    """An assumption that exact arithmetic decides: a comparison in named exact numbers, ``assume("step size", "2*u < 1", u=u)``.

    Raises
    ------
    InvalidInput
        The condition is no comparison, or a value is not exact.
    """
    if not isinstance(condition, str):
        raise InvalidInput(
            f"{text}: {condition!r} is no comparison; write one as text, such as '2*u < 1', or use 'vouch'"
        )
    comparison = Comparison.parse(condition)
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | Fraction):
            raise InvalidInput(f"{text}: {name} = {value!r} is no exact number; expected a whole number or a fraction")
    shown = ", ".join(f"{name} = {values[name]}" for name in sorted(comparison.names & values.keys()))
    return Assumption(
        f"{text}: {comparison}{f' with {shown}' if shown else ''}", comparison.holds(values), "exact arithmetic"
    )


def assume_constant(text: str, problem: Problem, name: str, sign: Literal["<=", ">=", "<"], limit: Any) -> Assumption:
    """An assumption on a constant such as L, mu or G, by the instance's own certificate: ``assume_constant("A1", problem, "L", "<=", 1)``.

    With ``"<", math.inf`` any finite constant will do.
    """
    if name not in constants(problem):
        return Assumption(f"{text}: the instance certifies no {name}", False, "the problem's certificate")
    certified = constant(problem, name)
    met = {"<=": operator.le, ">=": operator.ge, "<": operator.lt}[sign](certified.value, float(limit))
    stands = "is finite" if sign == "<" and float(limit) == math.inf else f"{sign} {limit}"
    how = f"{name} = {certified.value:g} {stands}, {certified.how}"
    return Assumption(f"{text}: {how}", bool(np.all(met)), "the problem's certificate")


def assume_exact_solves(text: str, method: Algorithm) -> Assumption:
    """The assumption that a method's local problems are solved exactly, by the method's own definition."""
    met = isinstance(getattr(method, "local", None), Exact)
    return Assumption(
        f"{text}: the local work of {type(method).__name__} is {getattr(method, 'local', None)!r}",
        met,
        "the method's definition",
    )


def vouch(text: str) -> Assumption:
    """An assumption that a person vouches for; the verdict says so."""
    return Assumption(text, True, "vouched for")


def draw_shares(parts: Sequence[Part], seed: int) -> Picture | None:
    """Return how much of a bound was reached, part by part, from the tamest to the worst of what `at_most` compared; None where nothing was.

    An instance that exceeds a bound is a point at the worst end.
    """
    across = [100 * k / (QUANTILES - 1) for k in range(QUANTILES)]
    drawn = [part for part in parts if "shares" in part.data]
    if not drawn:
        return None
    series: list[dict[str, Any]] = [{"label": "claimed", "x": [0, 100], "y": [1, 1], "style": "dashed"}]
    series += [{"label": part.name, "x": across, "y": part.data["shares"]} for part in drawn]
    refuting = [(part.name, part.counterexample.replay) for part in parts if part.counterexample is not None]
    exceeded = {name: seen.measured / seen.bound for name, seen in refuting if seen.bound > 0}
    series += [
        {"label": f"the instance of {n!r}", "x": [100], "y": [y], "style": "points"} for n, y in exceeded.items()
    ]
    smallest = [part.data["shares"][0] for part in drawn]
    spread = max([part.data["shares"][-1] for part in drawn] + [*exceeded.values()]) > 20 * min(smallest) > 0
    about = "; ".join(f"{part.name}: {part.data['compared']} values" for part in drawn) + f"; seed {seed}"
    label = "% of what was compared, from the tamest to the worst"
    return Picture("Measured over claimed", label, "share of the bound", series, logy=spread, about=about)
