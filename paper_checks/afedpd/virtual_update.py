"""Algorithm 1's round for every draw, as theorems: what the virtual update does to the duals, of every number C of clients and P of active ones.

A state is that of any round t: thetabar^t, theta^t = thetabar^t + lambdabar^t/rho, any duals with the average lambdabar^t, and any draw. ``lam_i`` are
the duals of the P active clients, ``lam_absent`` is the average of the other C - P, and ``lam_j`` is one of these. What active clients return may
be anything, so that nothing is supposed of local training; duals move by `dual_after`, and the server's model is `broadcast`.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import bar
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.formulas import formula


def dual_after(dual: Any, rho: Any, point: Any, theta: Any) -> Any:
    """Algorithm 1's D-Update, with a client's own model or, for an absent client, thetabar^{t+1} for the point."""
    return dual + (point - theta) * rho


def broadcast(bar: Any, mean_dual: Any, rho: Any) -> Any:
    """The server's model, from an average of models and one of duals."""
    return bar + mean_dual / rho


def mean_dual_step(models: Any, theta: Any, bar: Any, rho: Any, C: Any, P: Any) -> Any:
    """How the mean of the duals moves, from the sum of the active clients' models and thetabar^{t+1}."""
    return (rho * (models - P * theta) + rho * (C - P) * (bar - theta)) / C


def active_dual_step(models: Any, theta: Any, rho: Any, C: Any, P: Any) -> Any:
    """How FedDyn's mean dual moves, from the sum of the active clients' models."""
    return rho * (models - P * theta) / C


# ---- rounds ---------------------------------------------------------------------------------------------------------


def any_duals(w: World, p: Parameters, k: int, theta_bar: Any, lam_bar: Any) -> Any:
    """Duals with this average, of the clients that round k draws and of the others."""
    own, absent = w.vector(f"own_i {k}", True), w.vector(f"absent {k}")
    return SimpleNamespace(
        theta_bar=theta_bar,
        lam_bar=lam_bar,
        theta=broadcast(theta_bar, lam_bar, p.rho),
        lam_i=own - bar(own) + (lam_bar * p.C - absent * (p.C - p.P)) / p.P,
        lam_absent=absent,
        lam_j=w.vector(f"lam_j {k}"),
        y=w.vector(f"y {k}"),
    )


def play_rounds(w: World, p: Parameters, last: int, virtual: bool = True) -> list[Any]:
    """Any state and the ``last`` ones after it, each with what Algorithm 1 makes of it; FedDyn's duals without ``virtual``."""
    states = [any_duals(w, p, 0, w.vector("thetabar"), w.vector("lambdabar"))]
    for k in range(last + 1):
        old = states[-1]
        old.theta_i_next = w.vector(f"theta_i {k + 1}", True)
        old.theta_j = w.vector(f"theta_j {k + 1}")
        old.theta_bar_next = bar(old.theta_i_next)
        old.lam_i_next = dual_after(old.lam_i, p.rho, old.theta_i_next, old.theta)
        for name in ("lam_absent", "lam_j"):
            dual = getattr(old, name)
            moved = dual_after(dual, p.rho, old.theta_bar_next, old.theta) if virtual else dual
            setattr(old, f"{name}_next", moved)
        old.lam_bar_next = (bar(old.lam_i_next) * p.P + old.lam_absent_next * (p.C - p.P)) / p.C
        old.theta_next = broadcast(old.theta_bar_next, old.lam_bar_next, p.rho)
        states.append(any_duals(w, p, k + 1, old.theta_bar_next, old.lam_bar_next))
    return states[: last + 1]


def play_solves(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds in which active clients solve: grad f_i(theta_i^{t+1}) + lambda_i^t + rho (theta_i^{t+1} - theta^t) = e_i."""
    f = w.function(p.L, -p.L, client=True, name="f_i")
    states = play_rounds(w, p, last)
    for k, old in enumerate(states):
        g, old.e_i = w.vector(f"grad {k}", True), w.vector(f"e_i {k}", True)
        old.theta_i_next = old.theta - (g + old.lam_i - old.e_i) / p.rho
        w.at(f, old.theta_i_next, f"f_i {k}", g=g)
        old.lam_i_next, old.f_i = dual_after(old.lam_i, p.rho, old.theta_i_next, old.theta), f
    return states


ROUNDS = PlayedStates(play_rounds)
REGION = "0 < rho, 1 <= P <= C"


def always_zero(*formulas: str, states: PlayedStates = ROUNDS, region: str = REGION) -> Theorem:
    """In every round, for every draw, these are zero."""
    names = [f"off_{k + 1}" for k in range(len(formulas))] if len(formulas) > 1 else ["off"]
    return Theorem(
        region,
        tuple(f"{name}[t] == 0" for name in names),
        "\n".join(f"{name}: claim {k + 1} by identity" for k, name in enumerate(names)),
        states=states,
        rounds={"t": 0},
        quantities=dict(zip(names, formulas, strict=True)),
    )


_OF_SUMS = {"models": "P*theta_bar_next", "theta": "theta", "rho": "rho", "C": "C", "P": "P"}
MEAN_DUAL = always_zero(
    "norm2(lam_bar_next - lam_bar - rho*(theta_bar_next - theta))",
    f"norm2(lam_bar_next - lam_bar - ({formula(mean_dual_step, bar='theta_bar_next', **_OF_SUMS)}))",
)
EXTRAPOLATES = always_zero(
    "norm2(lam_bar_next - rho*(theta_bar_next - theta_bar))",
    "norm2(theta_next - (2*theta_bar_next - theta_bar))",
)
DEVIATIONS = always_zero(
    "norm2(P*bar(lam_i - lam_bar) + (C - P)*(lam_absent - lam_bar))",
    "mean(norm2(lam_i_next - lam_bar_next - (lam_i - lam_bar) - rho*(theta_i_next - theta_bar_next)))",
    "norm2(lam_j_next - lam_bar_next - (lam_j - lam_bar))",
)
LOCAL_PROBLEM = always_zero("mean(norm2(lam_i + rho*(y - theta) - (lam_i - lam_bar + rho*(y - theta_bar))))")
ABSENT_ALIKE = always_zero("norm2(lam_j_next - lam_j - (lam_bar_next - lam_bar))")
FEDDYN = always_zero(
    "norm2(lam_bar_next - lam_bar - P/C*rho*(theta_bar_next - theta))",
    f"norm2(lam_bar_next - lam_bar - ({formula(active_dual_step, **_OF_SUMS)}))",
    states=PlayedStates(partial(play_rounds, virtual=False)),
)
STALE = always_zero(
    "mean(norm2(lam_i_next - (e_i - grad(f_i, theta_i_next))))",
    "norm2(lam_j_next - lam_j - rho*(theta_bar_next - theta))",
    states=PlayedStates(play_solves),
    region=f"0 < L, {REGION}",
)
ERRORS = Theorem(
    REGION,
    ("off[t] == 0", "error[t] -> 0 as t"),
    """
      step: claim 1                          by identity
      low:  0 <= error[t]                    by derivation
      high: error[t] <= rho**2*apart[t]      by derivation
      done: claim 2                          by squeeze low, high, consensus
    """,
    states=ROUNDS,
    rounds={"t": 0},
    quantities={
        "off": "norm2(lam_j_next - (lam_j + rho*(theta_j - theta)) - rho*(theta_bar_next - theta_j))",
        "error": "norm2(lam_j_next - (lam_j + rho*(theta_j - theta)))",
        "apart": "norm2(theta_bar_next - theta_j)",
    },
    given={"consensus": "apart[t] -> 0 as t"},
)
