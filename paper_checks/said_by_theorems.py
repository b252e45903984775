"""What theorems that are data say of runs: which fields of FedPD's and FedSLR's states their names are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import FedPD, FedSLR
from fedtheory.claims import Claim, Theorem
from fedtheory.claims.contradictions import Saying, StoredRun
from fedtheory.claims.said_by_data import FunctionOfRun, StateNames, say_theorem, why_not_said
from fedtheory.core.arrays import average
from fedtheory.core.errors import InvalidInput
from fedtheory.core.states import arrays_of
from fedtheory.local.solvers import Exact
from paper_checks.fedpd import rounds as fedpd_rounds
from paper_checks.fedslr.rounds import play_rounds
from paper_checks.fedslr.z_ours_descent import play_convex
from problems.quadratics import Quadratic


def bends_of(run: StoredRun) -> Any:
    """The curvatures of a run's functions, which are separable; of pieces, all of them.

    Raises
    ------
    InvalidInput
        They are not known in fractions.
    """
    problem: Any = getattr(run.problem, "inner", run.problem)
    problem = getattr(problem, "inner", problem)
    if isinstance(problem, Quadratic) and problem.d == 1:
        return problem.A.ravel()
    for name in ("curvature", "curvatures"):
        if hasattr(problem, name):
            return np.ravel(getattr(problem, name))
    raise InvalidInput(f"L of {problem.name!r} is not known in fractions")


def smoothness(run: StoredRun) -> Any:
    """L."""
    return max(abs(bends_of(run)))


def starts_as(run: StoredRun, first: Any) -> bool:
    """Whether a run begins where its method does."""
    own = run.method.init(run.problem, run.start)
    return all(np.array_equal(value, arrays_of(first)[name]) for name, value in arrays_of(own).items())


def is_exact(run: StoredRun) -> bool:
    """Exact local solves."""
    return isinstance(getattr(run.method, "local", None), Exact)


def clients_of(run: StoredRun) -> FunctionOfRun:
    """f_i."""
    return FunctionOfRun(run.problem.value, run.problem.grad)


# ---- FedPD -----------------------------------------------------------------------------------------------------------------


def is_plain_fedpd(run: StoredRun) -> bool:
    """All clients, exact solves, communication in every round, first duals as the proof has them."""
    method: Any = run.method
    from_start = method.init_dual == "grad" and starts_as(run, run.play(0)[0])
    return from_start and is_exact(run) and method.p == 0 and run.clients is None


def names_of_fedpd(run: StoredRun, states: Sequence[Any], k: int) -> Mapping[str, Any]:
    """x_0 is x, and what the next round makes of it."""
    now, after = states[k], states[k + 1]
    found = {"x": now.x, "x_i": now.x_i, "lam_i": now.lam_i, "f_i": clients_of(run)}
    return found | {"x_next": after.x, "x_i_next": after.x_i}


FEDPD = StateNames(
    (FedPD,),
    is_plain_fedpd,
    lambda run: {"L": smoothness(run), "eta": run.method.eta},  # type: ignore[attr-defined]
    names_of_fedpd,
)

# ---- FedSLR ----------------------------------------------------------------------------------------------------------------


def is_phase_one(run: StoredRun) -> bool:
    """Algorithm 1 with exact solves and gamma_{i,0} = grad f_i(w_0)."""
    method: Any = run.method
    plain = method.personal is None and not method.printed and method.server == "duals" and run.clients is None
    return plain and is_exact(run) and method.init_dual == "grad" and starts_as(run, run.play(0)[0])


def is_convex(run: StoredRun) -> bool:
    """The same for convex f_i."""
    return is_phase_one(run) and min(bends_of(run)) >= 0


def shared(run: StoredRun) -> FunctionOfRun:
    """R, which is zero where there is none."""
    h = getattr(run.problem, "regulariser", None)
    return FunctionOfRun((lambda x: np.array([Fraction(0)])) if h is None else h.value, None, client=False)


def names_of_fedslr(run: StoredRun, states: Sequence[Any], k: int) -> Mapping[str, Any]:
    """w is x; s is the subgradient of R that the server's step leaves."""
    now, after = states[k], states[k + 1]
    found = {"w": now.x, "w_i": now.x_i, "gamma_i": now.gamma_i, "f_i": clients_of(run), "R": shared(run)}
    if k >= 1:
        eta: Any = run.method.eta  # type: ignore[attr-defined]
        found["s"] = (average(now.x_i) - eta * average(now.gamma_i) - now.x) / eta
    return found | {"w_next": after.x, "w_i_next": after.x_i}


FEDSLR = {
    play: StateNames(
        (FedSLR,),
        is_convex if play is play_convex else is_phase_one,
        lambda run: {"L": smoothness(run), "eta": run.method.eta},  # type: ignore[attr-defined]
        names_of_fedslr,
        least=1,
    )
    for play in (play_rounds, play_convex)
}
STATES: dict[Any, StateNames] = {fedpd_rounds.play_exact: FEDPD, **FEDSLR}


def list_theorems(claim: Claim) -> Iterator[Theorem]:
    """The theorems of a claim's steps that are called true: as printed, or those that stand in the place of what is printed."""
    for step in getattr(claim.check, "keywords", {}).get("steps", ()):
        if isinstance(step.statement, Theorem) and step.role in ("printed", "repaired"):
            yield step.statement


def list_theorem_sayings(claim: Claim) -> tuple[list[Saying], dict[str, str]]:
    """What a claim's theorems say of runs, and why the others say nothing."""
    sayings, silent = [], {}
    for theorem in list_theorems(claim):
        play = getattr(theorem.states, "play", None)
        why = why_not_said(theorem)
        if not why and play not in STATES:
            why = f"its states, played by {getattr(play, '__name__', 'nothing')}, are not those of a listed method's rounds"
        if why:
            silent[f"{claim.id}: {theorem.name or theorem.claims[0]}"] = why
        else:
            sayings.append(say_theorem(theorem, STATES[play]))
    return sayings, silent
