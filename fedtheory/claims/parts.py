"""Parts of a check: a bound, an equality, a truth, a refutation, an assumption."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.claims.claim import Counterexample, Engine, Part, Replay, Role
from fedtheory.core.errors import InvalidInput


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
    data = {
        "value": float(value.ravel()[worst]),
        "limit": float(limit.ravel()[worst]),
        "compared": int(compared.sum()),
    }
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
        missing = "; ".join(said for said, met in seen.assumptions if not met)
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
            refutes=True,
            counterexample=Counterexample(instance, seen),
        )
    return Part(
        name, True, engine, said + "; no violation, which says nothing of the statement", role=role, refutes=True
    )


def assume(text: str, met: Any) -> tuple[str, bool]:
    """Return one certified assumption, for a replay."""
    return text, bool(met)


def proved(name: str, condition: Any, text: str, engine: Engine = "symbolic", role: Role = "printed") -> Part:
    """Part: a proof of the whole statement. Where its algebra fails to go through nothing is shown, neither way."""
    return holds(name, condition, engine, text, role=role, proves=bool(condition))
