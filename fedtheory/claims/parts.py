"""Parts of a check: a bound, an equality, a truth, a refutation, an assumption."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.claims.claim import Counterexample, Engine, Part, Replay, Role


def at_most(name: str, value: Any, limit: Any, engine: Engine, text: str, *, error: float = 0.0, **more: Any) -> Part:
    """Part: value <= limit + error, where ``error`` is a certified error, not a tolerance.

    Arrays are compared entry by entry; the margin is the smallest (limit - value) / |limit|.
    """
    value, limit = np.broadcast_arrays(np.asarray(value, dtype=float), np.asarray(limit, dtype=float))
    if np.isnan(value).any() or np.isnan(limit).any():
        return Part(name, None, engine, text + " (not a number: could not be compared)", **more)
    with np.errstate(over="ignore", invalid="ignore"):
        slack = limit - value
        relative = np.clip(slack / np.maximum(np.abs(limit), np.finfo(float).tiny), -1e300, 1e300)
    if np.isnan(slack).any():
        return Part(name, None, engine, text + " (both sides infinite: could not be compared)", **more)
    worst = int(np.argmin(relative))
    data = {
        "value": float(value.ravel()[worst]),
        "limit": float(limit.ravel()[worst]),
        "compared": int(value.size),
    }
    return Part(
        name,
        bool(np.all(slack >= -error)),
        engine,
        text,
        margin=float(relative.min()),
        data=data | more.pop("data", {}),
        **more,
    )


def equal(name: str, left: Any, right: Any, engine: Engine, text: str, *, rtol: float, **more: Any) -> Part:
    """Part: left = right up to ``rtol`` times the size of the largest entry; the margin is 1 - difference / allowed."""
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    scale = max(float(np.abs(left).max(initial=0)), float(np.abs(right).max(initial=0)), np.finfo(float).tiny)
    with np.errstate(invalid="ignore"):
        difference = float(np.abs(left - right).max(initial=0))
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
