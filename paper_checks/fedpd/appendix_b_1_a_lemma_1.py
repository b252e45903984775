"""Appendix B.1: Lemma 1, with its proof of Appendix C.1.

The origin is x_0 where nothing depends on it. Vectors of every client stand for any number of clients, and ||.||^2 of them is the mean over clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Claim, Inequality, Lemma, bar, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.arrays import along_batch, inner, is_array, mean_of_clients, squared_norm
from fedtheory.core.problem import objective
from paper_checks.fedpd.notation import A1, INEXACT, SMOOTH, claim, lagrangian
from paper_checks.fedpd.played import HalfDualStep
from paper_checks.steps import Runs, Step

CLAIMS: list[Claim] = []


# ---- Quantities of rounds --------------------------------------------------------------------------------------------
def levels(problem: Any, x: Any, x0: Any, lam: Any, eta: Any) -> Any:
    """L_i(x_i, x_{0,i}, lam_i) of every client on numbers; eta is a number, or one a run ``(count,)``."""
    step = x - x0
    penalty = squared_norm(step) / (2 * (eta[..., None] if is_array(eta) else eta))
    return problem.value(x) + inner(lam, step) + penalty


def quantities_of_round(problem: Any, before: Any, after: Any, given: Mapping[str, Any]) -> SimpleNamespace:
    """What Lemmas 1 and 4 speak of, in a round of the method itself: L_i, values and squares are means over clients."""
    eta = given["eta"]
    uploads = after.x_i + (along_batch(eta) if is_array(eta) else eta) * after.lam_i

    def level(state: Any, x0: Any) -> Any:
        return mean_of_clients(levels(problem, state.x_i, x0, state.lam_i, eta))

    return SimpleNamespace(
        change=level(after, uploads) - level(before, before.x0_i),
        dx2=mean_of_clients(squared_norm(after.x_i - before.x_i)),
        d0_2=mean_of_clients(squared_norm(uploads - before.x0_i)),
        dual2=mean_of_clients(squared_norm(after.lam_i - before.lam_i)),
        level=level(after, after.x),
        value=objective(problem, after.x),
        w2=mean_of_clients(squared_norm(after.x_i - after.x)),
    )


def in_rounds(claimed: str, name: str, *, bounded_below: bool = False) -> Inequality:
    """An inequality between `quantities_of_round`, in rounds of FedPD with exact solves that all communicate."""
    return Inequality(
        "fedpd",
        "eta, init_dual = grad, exact, p = 0",
        quantities=quantities_of_round,
        claimed=claimed,
        region="1/2 <= L <= 2, 1/(50*L) <= eta <= 3/(10*L)",
        curvatures="-L, L",
        bounded_below=bounded_below,
        name=name,
    )


# ---- Lemma 1, (21) ---------------------------------------------------------------------------------------------------
def local_round(w: World, p: Parameters) -> SimpleNamespace:
    """One client's round with an error e, ||e||^2 <= eps, and its three changes of L_i: by x, by the dual, by the upload."""
    f = w.function(p.L, -p.L)
    x, lam, slope, e = (w.vector(name) for name in ("x", "lam", "g+", "e"))
    x0 = x * 0
    _, value = w.at(f, x, "g")
    moved = x0 + (e - slope - lam) * p.eta
    _, new_value = w.at(f, moved, "g+", g=slope)
    w.assume("solved to eps", norm2(e) - p.eps)
    dual = lam + (moved - x0) / p.eta
    upload = moved + dual * p.eta
    stages = [
        (value, x, x0, lam),
        (new_value, moved, x0, lam),
        (new_value, moved, x0, dual),
        (new_value, moved, upload, dual),
    ]
    levels = [lagrangian(*stage, p.eta) for stage in stages]
    return SimpleNamespace(
        changes=[after - before for before, after in zip(levels, levels[1:], strict=False)],
        dx2=norm2(moved - x),
        d0_2=norm2(upload - x0),
        dual2=norm2(dual - lam),
    )


def change_by_x(dx2: Any, eps: Any, L: Any, eta: Any, drift: Any = 2, error: Any = 1) -> Any:
    """What a local step changes L_i by at most, (46)."""
    return dx2 * ((drift * L * eta - 1) / (2 * eta)) + eps / (2 * L) * error


def change_by_dual(dual2: Any, eta: Any, share: Any = 1) -> Any:
    """What the dual step changes L_i by, (47)."""
    return dual2 * eta * share


def change_by_upload(d0_2: Any, eta: Any, share: Any = 1) -> Any:
    """What the step in x_0 changes L_i by, (48)."""
    return d0_2 * (-share / (2 * eta))


def change_of_round(dx2: Any, d0_2: Any, dual2: Any, eps: Any, L: Any, eta: Any, drift: Any = 2, error: Any = 1) -> Any:
    """Lemma 1's right side, (21)."""
    return change_by_x(dx2, eps, L, eta, drift, error) + change_by_upload(d0_2, eta) + change_by_dual(dual2, eta)


def _lemma_one(w: World, p: Parameters, c: LemmaConstants) -> Any:
    r = local_round(w, p)
    return sum(r.changes) - change_of_round(r.dx2, r.d0_2, r.dual2, p.eps, p.L, p.eta, c.drift, c.error)


def _local_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    r = local_round(w, p)
    return r.changes[0] - change_by_x(r.dx2, p.eps, p.L, p.eta, c.drift, c.error)


def _dual_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    r = local_round(w, p)
    return r.changes[1] - change_by_dual(r.dual2, p.eta, c.share)


def _server_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The step in x_0 of any number of clients; of one alone it is its upload."""
    x, lam = w.vector("x", True), w.vector("lam", True)
    x0 = bar(x * 0)
    new = bar(x + lam * p.eta)
    change = lagrangian(0, x, new, lam, p.eta) - lagrangian(0, x, x0, lam, p.eta)
    return change - change_by_upload(norm2(new - x0), p.eta, c.share)


LEMMA_ONE = Lemma("Lemma 1", "(21)", INEXACT, _lemma_one, {"drift": 2, "error": 1})
LOCAL_STEP = Lemma("local step", "(46)", INEXACT, _local_step, {"drift": 2, "error": 1})
DUAL_STEP = Lemma("dual step", "(47)", INEXACT, _dual_step, {"share": 1})
SERVER_STEP = Lemma("step in x_0, every number of clients", "(48)", SMOOTH, _server_step, {"share": 1})
CLAIMS += [
    claim(
        "FEDPD-L1",
        "Lemma 1, (21)",
        "A round changes L_i by at most -((1-2u)/(2 eta))||dx_i||^2 - (1/(2 eta))||x_{0,i}^{r+} - x_{0,i}^r||^2 + eta ||dlam_i||^2 "
        "+ epsilon_1/(2L).",
        [Step("Lemma 1", LEMMA_ONE), Step("(46)", LOCAL_STEP), Step("(47)", DUAL_STEP), Step("(48)", SERVER_STEP)],
        runs=[
            Runs(
                "rounds with exact solves, 1 - u in the place of 1 - 2u",
                in_rounds("change <= eta*dual2 - (1 - L*eta)/(2*eta)*dx2 - d0_2/(2*eta)", "Lemma 1"),
                {"half a dual step": lambda eta: HalfDualStep(eta)},
            )
        ],
        assumptions=(A1, "local solves satisfy (16)"),
    )
]
