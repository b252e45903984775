"""Algorithm 1's rounds as theorems and lemmas speak of them: of any state, of every number C of clients and P of active ones, for every draw.

In theorems thetabar^t is any, theta^t = thetabar^t + lambdabar^t/rho, and duals are any with the average lambdabar^t. `lam_i` are the duals of the P
active clients. What these return may be anything, so that nothing is supposed of local training; duals move by `dual_after`, and the server's model
is `broadcast`. In lemmas all clients take part and t >= 1, so that lambda_i^t = e_i^t - grad f_i(theta_i^t), and points are seen from thetabar^t = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import PlayedStates, Theorem, bar, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World


# ---- Algorithm 1, line by line ---------------------------------------------------------------------------------------
def local_step(x: Any, theta: Any, g: Any, lam: Any, rho: Any, eta: Any) -> Any:
    """Algorithm 1's local step, (13), with the stochastic gradient g."""
    return x - eta * (g + lam + rho * (x - theta))


def dual_after(dual: Any, rho: Any, point: Any, theta: Any) -> Any:
    """Algorithm 1's D-Update, with a client's own model or, for an absent client, thetabar^{t+1} for the point."""
    return dual + (point - theta) * rho


def broadcast(bar: Any, mean_dual: Any, rho: Any) -> Any:
    """The server's model, from an average of models and one of duals."""
    return bar + mean_dual / rho


def mean_dual_step(models: Any, theta: Any, bar: Any, rho: Any, C: Any, P: Any) -> Any:
    """How the mean of the duals moves, from the sum of the active clients' models and thetabar^{t+1}."""
    return (rho * (models - P * theta) + rho * (C - P) * (bar - theta)) / C


# ---- Rounds of some clients, in theorems -----------------------------------------------------------------------------
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


def play_rounds(w: World, p: Parameters, last: int, virtual: bool = True, start: bool = False) -> list[Any]:
    """Any state and the ``last`` ones after it, each with what Algorithm 1 makes of it; FedDyn's duals without ``virtual``."""
    theta_bar = w.vector("thetabar")
    states = [any_duals(w, p, 0, theta_bar, theta_bar * 0 if start else w.vector("lambdabar"))]
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


OF_SUMS = {"models": "P*theta_bar_next", "theta": "theta", "rho": "rho", "C": "C", "P": "P"}


# ---- A round of all clients, in lemmas -------------------------------------------------------------------------------
def play_round_of_all(w: World, p: Parameters, inexact: bool) -> SimpleNamespace:
    """Round t >= 1 of all clients: lambda_i^t = e_i^t - grad f_i(theta_i^t); mean theta_i^t = thetabar^t = 0."""
    f = w.function(p.L, -p.L, client=True)
    th = w.vector("theta_i", True)
    th = th - bar(th)
    x = bar(th)
    g, _ = w.at(f, th, "f_i")
    gx, v = w.at(f, x + th * 0, "f_i(thetabar)")
    gn = w.vector("grad f_i+", True)
    e = w.vector("e_i", True) if inexact else th * 0
    en = w.vector("e_i+", True) if inexact else th * 0
    if inexact:
        w.assume("inexact solves before", norm2(e) - p.epsilon)
        w.assume("inexact solves", norm2(en) - p.epsilon)
    xn_i = x - (gn - (g - bar(g)) + (e - bar(e)) - en) / p.rho
    w.at(f, xn_i, "f_i+", g=gn)
    return SimpleNamespace(**locals())


def potential_falls(
    weight: Callable[[Any], Any], lost: Callable[[Any], Any], inexact: bool
) -> Callable[[Any, Any, Any], Any]:
    """f(thetabar+) + weight R_t <= f(thetabar) + weight R_{t-1} - c lost ||grad f(thetabar)||^2 (+ 2 epsilon/rho with inexact solves)."""

    def build(w: World, p: Parameters, c: LemmaConstants) -> Any:
        r = play_round_of_all(w, p, inexact)
        before = w.vector("thetabar before")
        _, vn = w.at(r.f, bar(r.xn_i) + r.th * 0, "f_i(thetabar+)")
        k = weight(p)
        change = vn + norm2(r.xn_i - r.x) * k - r.v - norm2(r.th - before) * k
        return change + norm2(bar(r.gx)) * (c.c * lost(p)) - (2 * p.epsilon / p.rho if inexact else 0)

    return build
