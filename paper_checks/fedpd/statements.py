"""FedPD's statements as data: lemmas on its augmented Lagrangian, and the worst case of its first round.

L_i(x, x_0, lam) = f_i(x) + <lam, x - x_0> + ||x - x_0||^2/(2 eta), u = L eta, and x_0 is the origin where nothing depends on it. Vectors of every
client stand for any number of clients, and ||.||^2 of them is the mean over clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Bound, Inequality, Lemma, bar, dot, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.arrays import along_batch, inner, is_array, mean_of_clients, squared_norm
from fedtheory.core.problem import objective

SMOOTH = "0 < L, 0 < eta"
#: local solves up to ||grad L_i||^2 <= eps, as in (16); an exact one is one for every eps > 0
INEXACT = "0 < L, 0 < eta, 0 < eps"


def lagrangian(value: Any, x: Any, x0: Any, lam: Any, eta: Any) -> Any:
    """L_i, with ``value`` for f_i(x)."""
    return value + dot(lam, x - x0) + norm2(x - x0) / (2 * eta)


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


def uploads_above_mean(spread2: Any, n: Any, eta: Any, share: Any = 1) -> Any:
    """Lemma 3's right side, (23): mean_i L_i at the uploads minus at their average is at least this."""
    return spread2 * (-share * (n - 1) / (2 * n * eta))


def _averaging(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """mean_i L_i at the uploads v_i minus at their average is at least -share (n-1)/(2 n eta) spread^2, from what pairs have on average."""
    v, lam, spread2 = w.vector("v", True), w.vector("lam", True), w.value("spread2")
    w.assume("pairs on average", norm2(v - bar(v)) - spread2 * ((p.n - 1) / (2 * p.n)))
    x = v - lam * p.eta
    falls = lagrangian(0, x, bar(v), lam, p.eta) - lagrangian(0, x, v, lam, p.eta)
    return falls + uploads_above_mean(spread2, p.n, p.eta, c.share)


LEMMA_THREE_ON_AVERAGE = Lemma(
    "Lemma 3 from what pairs have on average", "(23)", "0 < eta, 2 <= n", _averaging, {"share": "1/2"}
)


def _one_upload(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """L_i at the upload v_i of a client minus at the average of all n, where no other is farther from it than the spread."""
    v, lam, others, spread2 = w.vector("v_i"), w.vector("lam_i"), w.vector("v_j", True), w.value("spread2")
    w.assume("spread of uploads", norm2(others - v) - spread2)
    x, average = v - lam * p.eta, (v + bar(others) * (p.n - 1)) / p.n
    falls = lagrangian(0, x, average, lam, p.eta) - lagrangian(0, x, v, lam, p.eta)
    return falls + uploads_above_mean(spread2, p.n, p.eta, c.share)


LEMMA_THREE = Lemma("Lemma 3 for each client", "(23)", "0 < eta, 2 <= n", _one_upload, {"share": 1})


def below_level(level: Any, w2: Any, eps: Any, L: Any, eta: Any, factor: Any) -> Any:
    """Lemma 4's right side, (24), from L(x_{0:N}, lam) and mean ||x_i - x_0||^2: f(x_0) is at most this."""
    return level - w2 * (factor * (1 - 2 * L * eta) / eta) + eps / (2 * L)


def _value_below(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """f(x_0) <= mean L_i - factor ((1 - 2u)/eta) mean ||x_i - x_0||^2 + eps/(2L), where lam_i = -grad f_i(x_i) + e_i."""
    f = w.function(p.L, -p.L, client=True)
    x, e, x0 = w.vector("x", True), w.vector("e", True), bar(w.vector("x0"))
    g, value = w.at(f, x, "g")
    _, at_x0 = w.at(f, x0, "g0")
    w.assume("solved to eps", norm2(e) - p.eps)
    return at_x0 - below_level(lagrangian(value, x, x0, e - g, p.eta), norm2(x - x0), p.eps, p.L, p.eta, c.factor)


def _value_below_after_one_round(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The same after the first round from x^0 = 0, x_i^1 = x^0 and x_0^1 = x^0 - eta grad f(x^0) (D13), of functions that A2 holds for anyway."""
    f = w.function(p.L, p.L / 2, client=True)
    x = bar(w.vector("x0") * 0)
    g, value = w.at(f, x, "g")
    x0 = x - bar(g) * p.eta
    _, at_x0 = w.at(f, x0, "g0")
    return at_x0 - below_level(lagrangian(value, x, x0, -g, p.eta), norm2(x - x0), 0, p.L, p.eta, c.factor)


LEMMA_FOUR_PRINTED = Lemma(
    "Lemma 4 as printed, r = 1, exact solves",
    "(24)",
    "0 < L, 0 < eta <= 3/(10*L)",
    _value_below_after_one_round,
    {"factor": 1},
)
LEMMA_FOUR = Lemma("Lemma 4 with half the constant", "(24)", INEXACT, _value_below, {"factor": "1/2"})


def _uploads_apart(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """Lemma 3 with the uploads v_i on its left side and the spread of the common x_0 = 0 on its right, at a fixed point (mean lam_i = 0)."""
    lam = w.vector("lam", True)
    lam = lam - bar(lam)
    v = lam * p.eta
    falls = lagrangian(0, v * 0, bar(v), lam, p.eta) - lagrangian(0, v * 0, v, lam, p.eta)
    return falls * c.share


UPLOADS_APART = Lemma("Lemma 3 at a fixed point, uploads on its left", "(37)", "0 < eta", _uploads_apart, {"share": 1})


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


#: the worst ||grad f(x_0^1)||^2 for f(x^0) - inf f <= 1
FIRST_ROUND = "2*L*(1+L*eta)**2/(1+4*L*eta+2*L**2*eta**2)"


def first_round(claimed: str = FIRST_ROUND) -> Bound:
    """D2 for T = 1: after one round with u < 1, exact solves and lam_i^0 = -grad f_i(x^0), ||grad f||^2 <= ``claimed``."""
    return Bound(
        "fedpd",
        "eta, init_dual = grad, exact, p = 0",
        region="0 < L, 0 < eta < 1/L",
        functions="L, mu = -L",
        measure="stationarity",
        claimed=claimed,
        name="FedPD's first round",
    )
