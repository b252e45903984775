"""Section 3.2: FedPD (5), FedADMM (6) and FedDyn (7) as they are printed, and when dual drift makes FedADMM unstable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.algorithms import AFedPD, FedADMM, FedDyn, FedPD
from fedtheory.claims import Claim, Equivalence, Lemma, PlayedStates, Theorem, bar, dot, norm2, state
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.afedpd.moments import factor_between
from paper_checks.afedpd.notation import FAMILY, PAPER, claim
from paper_checks.afedpd.played import OLD_DUAL, identity
from paper_checks.afedpd.rounds import OF_SUMS, always_zero, play_rounds
from paper_checks.formulas import formula

CLAIMS: list[Claim] = []


# ---- FedPD, (5) ------------------------------------------------------------------------------------------------------
def play_all(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds in which all clients take part."""
    return play_rounds(w, SimpleNamespace(rho=p.rho, C=1, P=1), last)  # type: ignore[arg-type]


def lagrangian_at(theta: str) -> str:
    """The augmented Lagrangian (4) of the new models and duals, less the mean of f_i(theta_i^{t+1}), which theta does not change."""
    return f"mean(dot(lam_i_next, theta_i_next - {theta})) + rho/2*mean(norm2(theta_i_next - {theta}))"


SERVER = Theorem(
    "0 < rho",
    ("off[t] == 0", "other[t] == least[t] + rho/2*away[t]", "least[t] <= other[t]"),
    """
      mean: claim 1          by identity
      over: claim 2          by identity
      size: 0 <= away[t]     by derivation
      done: claim 3          by combine over, rho/2*size
    """,
    states=PlayedStates(play_all),
    rounds={"t": 0},
    quantities={
        "off": "norm2(theta_next - bar(theta_i_next + lam_i_next/rho))",
        "least": lagrangian_at("theta_next"),
        "other": lagrangian_at("y"),
        "away": "norm2(y - theta_next)",
    },
)
CLAIMS += [
    identity(
        "AFEDPD-S5",
        "Eq. (5)",
        "theta^{t+1} = mean (theta_i^{t+1} + lambda_i^{t+1}/rho) minimises the augmented Lagrangian over theta.",
        SERVER,
        ("lam_i_next/rho", "lam_i/rho"),
        sizes=(4,),
        methods=(AFedPD, OLD_DUAL),
        readings=["The paragraph on dual drift writes lambda_i^t there."],
    )
]


# ---- FedADMM's server, (6) -------------------------------------------------------------------------------------------
def server_minimises(weight: Callable[[Any], Any]) -> Callable[[World, Parameters, LemmaConstants], Any]:
    """argmin g(theta) + (weight/2) ||theta - thetabar^{t+1}||^2 against any y, in mean_P [<lambda_i, theta_i - theta> + (rho/2) ||.||^2] + g(theta).

    thetabar^{t+1} = mean_P (theta_i + lambda_i/rho), the means over the active clients; g is convex, with the subgradient s there.
    """

    def build(w: World, p: Parameters, c: LemmaConstants) -> Any:
        g = w.function(None, 0, name="g")
        theta_i, lam_i = w.vector("theta_i", True), w.vector("lambda_i", True)
        s, y = w.vector("s"), w.vector("y")
        reached = bar(theta_i + lam_i / p.rho) - s * (c.c / weight(p.rho))
        (_, value), (_, other) = w.at(g, reached, "theta", g=s), w.at(g, y, "g at y")

        def lagrangian(theta: Any) -> Any:
            return dot(lam_i, theta_i - theta) + norm2(theta_i - theta) * (p.rho / 2)

        return value + lagrangian(reached) - other - lagrangian(y)

    return build


def server_step(name: str, weight: Callable[[Any], Any], units: str = "") -> Lemma:
    """The server's step with this weight minimises the augmented Lagrangian with g."""
    return Lemma(name, "Eq. (6), last line", "0 < rho", server_minimises(weight), {"c": 1}, units=units)


WEIGHT_PRINTED = server_step("weight 1/rho", lambda rho: 1 / rho, "as printed")
WEIGHT = server_step("weight rho", lambda rho: rho)
CLAIMS += [
    state(
        "AFEDPD-EQ6",
        PAPER,
        "Section 3.2, Eq. (6)",
        "FedADMM's server minimises the augmented Lagrangian with g: theta^{t+1} = argmin g(theta) + (1/(2 rho)) ||theta - thetabar^{t+1}||^2.",
        WEIGHT_PRINTED,
        repaired=WEIGHT,
        repaired_text="(rho/2) for 1/(2 rho), for every convex g and rho > 0; without g both are one.",
        assumptions=("the means of the augmented Lagrangian are over the active clients, as thetabar^{t+1} is",),
    )
]


# ---- FedADMM without a regulariser -----------------------------------------------------------------------------------
def is_fedpd_of_all(method: Any, states: Mapping[str, Any], factor: Any) -> Equivalence:
    """With all clients and exact solves a method has the states of FedPD that starts with zero duals, eta = 1/(factor rho)."""
    return Equivalence(
        lambda rho: FedPD(1 / (factor * rho), init_dual="zero"),
        lambda rho: method(rho),
        region="0 < rho",
        states={"x": "x", "x_i": "x_i", "x_bar": "mean_x_i", **states},
        kept={"x0_i": "x"},
    )


def as_fedpd(id: str, source: str, text: str, method: Any, states: Mapping[str, Any], **given: Any) -> Claim:
    """A claim that a method is FedPD where all take part."""
    near = {"a penalty a hundredth larger": is_fedpd_of_all(method, states, Fraction(101, 100))}
    return state(id, PAPER, source, text, is_fedpd_of_all(method, states, 1), wrong=near, kind="identity", **given)


#: Eq. (6) as printed
ACTIVE_ADMM = partial(FedADMM, averages="active")
CLAIMS += [
    as_fedpd(
        "AFEDPD-S4",
        "Section 3.2",
        "FedADMM (Eq. 6) without a regulariser is FedPD with some of the clients.",
        ACTIVE_ADMM,
        {"lam_i": "lam_i"},
        assumptions=(
            "of the active clients a round of Eq. (6) is a round of all of them on their own problem, from the model and duals that they have, and "
            "such a round is FedPD's, of any number of clients; the others keep what they have",
        ),
    )
]

# ---- FedDyn's server, (7) --------------------------------------------------------------------------------------------
CLAIMS += [
    state(
        "AFEDPD-EQ7",
        PAPER,
        "Section 3.2, Eq. (7)",
        "FedDyn's server (Acar et al.) has theta^{t+1} = (1/P) sum_active theta_i^{t+1} + lambda^t/rho.",
        Equivalence(
            "feddyn-printed", "feddyn", "rho, exact = true", "rho, exact = true", region="0 < rho", states={"x": "x"}
        ),
        repaired=is_fedpd_of_all(FedDyn, {"lam_i": "lam_i", "lam": "mean_lam_i"}, 1),
        repaired_text="lambda^{t+1} for lambda^t; then FedDyn with all clients is FedPD, Eq. (5), from zero duals.",
    )
]


# ---- FedDyn's mean dual ----------------------------------------------------------------------------------------------
def active_dual_step(models: Any, theta: Any, rho: Any, C: Any, P: Any) -> Any:
    """How FedDyn's mean dual moves, from the sum of the active clients' models."""
    return rho * (models - P * theta) / C


MEAN_DUAL_OF_FEDDYN = always_zero(
    "norm2(lam_bar_next - lam_bar - P/C*rho*(theta_bar_next - theta))",
    f"norm2(lam_bar_next - lam_bar - ({formula(active_dual_step, **OF_SUMS)}))",
    states=PlayedStates(partial(play_rounds, virtual=False)),
)
CLAIMS += [
    identity(
        "AFEDPD-S7",
        "Section 3.2",
        "FedDyn's mean dual moves by P/C of what A-FedPD's does, (P/C) rho (thetabar^{t+1} - theta^t).",
        MEAN_DUAL_OF_FEDDYN,
        ("P/C*rho", "rho"),
        sizes=(1, 2, 3),
        methods=(FedDyn, AFedPD),
    )
]

# ---- Dual drift ------------------------------------------------------------------------------------------------------
#: active clients of 100, and numbers between which the factors at rho = a/20 are
FEWER = {
    1: ("1.031", ""),
    2: ("1.027", "1.031"),
    5: ("1.02", "1.027"),
    10: ("1.01", "1.02"),
    20: ("0.98", "0.999"),
    50: ("0.93", "0.98"),
    100: ("", "0.93"),
}
CLAIMS += [
    claim(
        "AFEDPD-Q1",
        "Fig. 1, Sections 1 and 3.2",
        "Under partial participation the classical primal-dual method, FedADMM as Eq. (6) writes it, can become unstable; the lower P/C the worse.",
        [factor_between(f"P = {P}", "1/20", P, *ends) for P, ends in FEWER.items()],
        assumptions=[FAMILY, "equal clients, C = 100, rho = a/20"],
        readings=[
            "'Becomes unstable' is read as: it can, which one penalty shows; AFEDPD-D11 has all. The method is Eq. (6) as the paper writes it, "
            "whose server averages active clients alone. That average is the paper's own: Wang et al.'s server averages what all clients sent last.",
            "The factor of the mean square is above 1 for P = 1, 2, 5 and 10, below 1 for 20 and more, and smaller for each P than for the one "
            "before.",
        ],
        kind="divergence",
    )
]
