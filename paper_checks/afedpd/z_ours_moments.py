"""Ours: A-FedPD's momentum, the maps of the three methods' second moments, and A-FedPD's rates."""

from __future__ import annotations

from fractions import Fraction

from fedtheory.claims import Claim, Clause, Picture, Theorem, draw_bound
from fedtheory.claims.statements.theorems.runs import run_on_equal_curvatures
from fedtheory.core.errors import require
from paper_checks.afedpd.moments import (
    EQUAL,
    EVERY,
    FAMILIES,
    GIVEN,
    OPTIMAL,
    RATE,
    follow_moments,
    gossip_rate,
    noise_of_fedadmm,
    products_fall,
    rational_matrix,
)
from paper_checks.afedpd.notation import FAMILY, derived
from paper_checks.formulas import formula
from paper_checks.steps import Step
from problems.dual_drift import active_average_row, moment_map

CLAIMS: list[Claim] = []

# ---- D6: momentum ----------------------------------------------------------------------------------------------------
#: K gradient steps on a local problem, whose curvature is a + rho: what is left of the way to its solution
LOCAL_STEPS = Theorem(
    "0 < a, 0 < rho, 0 < eta < 1/(a + rho)",
    "away[K] == (1 - eta*(a + rho))**K*away[0]",
    """
      step: away[k+1] == (1 - eta*(a + rho))*away[k]   by identity
      done: claim   by induction K: base combine; step combine (1 - eta*(a + rho))*ih, step(k=K)
    """,
    states=run_on_equal_curvatures("gd", "lr = eta", curvature="a + rho", alike=True),
    rounds={"k": 0, "K": 0},
    quantities={"away": "dot(x - c, z)"},
)
#: local steps that leave q of the way, as one of size (1 - q)/(a + rho) does
MOMENTUM = Theorem(
    f"{EVERY}, 0 < q < 1",
    "m[t+2] == ((1 - q)*rho/(a + rho) + q)*m[t+1] + q*(m[t+1] - m[t])",
    """
      round: m[t+1] == ((1 - q)*rho/(a + rho) + q)*m[t] + q*(m[t] - before[t])   by identity
      back:  before[t+1] == m[t]                                                 by identity
      done:  claim                                                               by combine 1*round(t=t+1), (-q)*back
    """,
    states=FAMILIES["equal a-fedpd"].states(local="steps = 1, lr = (1 - q)/(a + rho)"),
    rounds={"t": 0},
    quantities={"m": "dot(x_bar - c, z)", "before": "dot(2*x_bar - x - c, z)"},
)
CLAIMS += [
    derived(
        "AFEDPD-D6",
        "Algorithm 1, inexact solves",
        (
            Clause(
                "K gradient steps on a local problem of equal quadratics leave c = (1 - eta (a + rho))^K of the way to its solution,",
                ("local steps",),
            ),
            Clause(
                "and such solves make heavy-ball momentum of thetabar with the coefficient c: with x = thetabar - x^*, x^{t+1} = ((1 - c) "
                "rho/(a + rho) + c) x^t + c (x^t - x^{t-1}).",
                ("momentum",),
            ),
        ),
        [Step("local steps", LOCAL_STEPS), Step("momentum", MOMENTUM)],
        kind="identity",
    )
]


# ---- D7: maps of the moments -----------------------------------------------------------------------------------------
def moved(name: str, k: int) -> str:
    """A moment after a round, k of (X, Y, H, S), as the map has it."""
    factor = require("sympy", "factors of entries").factor
    entries = [
        formula(lambda rho, C, P, a, j=j: factor(moment_map(name, rho, C, P, a)[k][j]), **GIVEN) for j in range(4)
    ]
    return " + ".join(f"({e})*{moment}[t]" for e, moment in zip(entries, "XYHS", strict=True) if e != "0")


def theorem_of(name: str, moment: str, added: str = "") -> Theorem:
    """A moment after a round; ``added``: what it has besides the map."""
    family = FAMILIES[name]
    known = family.moments | {"N": f"mean(norm2({OPTIMAL}))", "K": f"mean(dot({family.dual}, {OPTIMAL}))"}
    said = " + ".join(filter(None, (moved(name, "XYHS".index(moment)) if moment != "K" else "", added)))
    return Theorem(
        EVERY,
        f"{moment}[t+1] == {said}",
        "done: claim by identity",
        states=family.states(),
        rounds={"t": 0},
        quantities={k: v for k, v in known.items() if k == moment or f"{k}[t]" in said},
    )


def _added(k: int) -> str:
    return formula(
        lambda N, K, **given: noise_of_fedadmm(squares=N, products=K, **given)[k], N="N[t]", K="K[t]", **GIVEN
    )


OF_FEDADMM = {"X": _added(0), "Y": _added(1), "K": f"({formula(products_fall, **GIVEN)})*K[t]"}
NAMES = {"X": "E x^2", "Y": "E x h", "H": "E h^2", "S": "E s", "K": "c"}
MAPS = {
    ("FedDyn", "feddyn"): {k: theorem_of("feddyn", k) for k in "XYHS"},
    ("A-FedPD", "a-fedpd"): {k: theorem_of("a-fedpd", k) for k in "XS"},
    ("FedADMM as printed", "fedadmm"): {k: theorem_of("fedadmm", k, OF_FEDADMM.get(k, "")) for k in "XYHSK"},
}
CLAIMS += [
    derived(
        "AFEDPD-D7",
        "Eqs. (6), (7), Algorithm 1",
        "The moments (E x^2, E x h, E h^2, E s) obey a linear map for FedDyn and A-FedPD, for every C and P. For FedADMM as printed they obey one "
        "plus v (mean (lambda_i^*)^2 + 2 (1 - 2 b) c)/rho^2 in E x^2 and -(P/C) b v c/rho in E x h, b = rho/(a + rho), where c = mean d_i lambda_i^* "
        "falls by 1 - (P/C) b a round: a linear map alone where clients are equal.",
        [Step(f"{name}: {NAMES[k]}", theorem) for (name, _), of in MAPS.items() for k, theorem in of.items()],
        assumptions=[FAMILY],
        kind="identity",
    )
]

# ---- D8: the duals' spread -------------------------------------------------------------------------------------------
SPREAD = Theorem(
    EVERY,
    (f"S[T] == ({RATE})**T*S[0]", "X[t+1] == (rho/(a + rho))**2*X[t] + (C - P)/(P*(C - 1))*S[t]/(a + rho)**2"),
    f"""
      step:  S[t+1] == ({RATE})*S[t]    by identity
      rate:  claim 1                    by induction T: base combine; step combine ({RATE})*ih, step(t=T)
      model: claim 2                    by identity
    """,
    states=FAMILIES["a-fedpd"].states(),
    rounds={"t": 0, "T": 0},
    quantities={name: FAMILIES["a-fedpd"].moments[name] for name in "XS"},
)


def draw_spread() -> Picture:
    """E s^t of A-FedPD as claimed, rate^t, and by the moments of the rounds."""
    rate = float(gossip_rate(0.5, 100, 10))
    spread = follow_moments("a-fedpd", 0.5, 100, 10, (0, 0, 0, 1), 100)
    return draw_bound(
        "The duals' spread, as claimed and by the moments of the rounds",
        range(101),
        [rate**t for t in range(101)],
        ylabel="moment, s^0 = 1",
        about=f"{FAMILY}; A-FedPD, C = 100, P = 10, rho = a/2, x^0 = x*; moments, no seeds",
        more=[("E s", spread[:, 3]), ("E x^2", spread[:, 0])],
    )


CLAIMS += [
    derived(
        "AFEDPD-D8",
        "Algorithm 1",
        "E s^t = s^0 (1 - (1 - kappa^2)(P-1)/(C-1))^t, kappa = a/(a + rho), and E x^2 is driven by v E s/(a + rho)^2.",
        [Step("rates", SPREAD)],
        assumptions=[FAMILY],
        picture=lambda context: draw_spread(),
        kind="rate",
    )
]

# ---- D9: equal clients -----------------------------------------------------------------------------------------------
FALLS = Theorem(
    "0 < a",
    ("X[7] <= X[0]/10**6", "1.8*X[0]/10**6 <= X[6]"),
    """
      step: X[t+1] == X[t]/9    by identity
      all:  X[T] == X[0]/9**T   by induction T: base combine; step combine 1/9*ih, step(t=T)
      pos:  0 <= X[t]           by derivation
      one:  claim 1             by combine all(T=7), (1/10**6 - 1/9**7)*pos(t=0)
      two:  claim 2             by combine (-1)*all(T=6), (1/9**6 - 1.8/10**6)*pos(t=0)
    """,
    states=FAMILIES["equal a-fedpd"].states("a/2", "n = 100, s = 10"),
    rounds={"t": 0, "T": 0},
    quantities={"X": FAMILIES["equal a-fedpd"].moments["X"]},
)


def fall_of_feddyn() -> Theorem:
    """FedDyn's active models from duals 0: above a millionth in round 113, and below in round 114.

    A[t+k] is a sum of moments of round t. The proof squares the map of the moments five times, with which k goes from 1 to 33, 65, 81 and 82.
    """
    family, half, moments, lines = FAMILIES["equal feddyn"], Fraction(1, 2), "XYHS", list[str]()
    given = dict(zip("XYHSA", [*moment_map("feddyn", half, 100, 10), active_average_row(half, 100, 10)], strict=True))
    weights = {(name, 1): rational_matrix([row]) for name, row in given.items()}

    def sum_of(name: str, k: int, of: str, between: str) -> str:
        return between.join(f"({w})*{of.format(m)}" for w, m in zip(weights[name, k], moments, strict=True))

    def line(name: str, k: int, rule: str) -> None:
        lines.append(f"{name}{k}: {name}[t+{k}] == {sum_of(name, k, '{}[t]', ' + ')} by {rule}")

    def go_on(name: str, k: int, more: int) -> None:
        """The line of k rounds, after so many more."""
        weights[name, k + more] = weights[name, k] * rational_matrix([list(weights[m, more]) for m in moments])
        line(name, k + more, f"combine {name}{k}(t=t+{more}), {sum_of(name, k, '{}' + str(more), ', ')}")

    for name in given:
        line(name, 1, "identity")
    for k in (1, 2, 4, 8, 16):
        for name in moments:
            go_on(name, k, k)
    for k, more in ((1, 32), (33, 32), (65, 16), (81, 1)):
        go_on("A", k, more)
    started = {name: weights[name, 32][0] for name in moments}
    for name in moments:
        zeros = ", ".join(
            f"({w})*{zero}" for w, zero in zip(weights[name, 32][1:], ("product", "mean", "duals"), strict=True)
        )
        lines.append(f"{name}: {name}[32] == ({started[name]})*X[0] by combine {name}32(t=0), {zeros}")
    below, above = (
        " + ".join(f"({w})*({started[m]})" for w, m in zip(weights["A", k], moments, strict=True)) for k in (82, 81)
    )
    return Theorem(
        "0 < a",
        ("A[114] <= X[0]/10**6", "1.007*X[0]/10**6 <= A[113]"),
        "\n".join(
            [
                *lines,
                "pos: 0 <= X[t] by derivation",
                f"one: claim 1 by combine A82(t=32), {sum_of('A', 82, '{}', ', ')}, (1/10**6 - ({below}))*pos(t=0)",
                f"two: claim 2 by combine (-1)*A81(t=32), {sum_of('A', 81, '(-1)*{}', ', ')}, ({above} - 1.007/10**6)*pos(t=0)",
            ]
        ),
        states=family.states("a/2", "n = 100, s = 10"),
        rounds={"t": 0},
        quantities={
            "A": "norm2(x_bar - c)",
            "X": "norm2(x - c)",
            "Y": "dot(x - c, bar(lam_i)/a)",
            "H": "norm2(bar(lam_i)/a)",
            "S": "mean(norm2(lam_i/a))",
        },
        given={"product": "Y[0] == 0", "mean": "H[0] == 0", "duals": "S[0] == 0"},
    )


def draw_equal_clients(C: int) -> Picture:
    """E x^2 of A-FedPD and FedDyn where clients are equal, against (rho/(a + rho))^{2t}."""
    curves = [(name, follow_moments(name, 0.5, C, 10, (1, 0, 0, 0), 60)[:, 0]) for name in ("a-fedpd", "feddyn")]
    return draw_bound(
        "Without heterogeneity: the claimed (rho/(a + rho))^{2t}, and the methods",
        range(61),
        [(1 / 9) ** t for t in range(61)],
        ylabel="E x^2, x^0 = 1",
        about=f"{FAMILY}; C = {C}, P = 10, rho = a/2, equal clients; moments, no seeds",
        more=curves,
    )


CLAIMS += [
    derived(
        "AFEDPD-D9",
        "Algorithm 1, equal clients",
        (
            Clause("x^t = (rho/(a + rho))^t x^0 for every P;", ("every P",)),
            Clause(
                "at C = 100, P = 10, rho = a/2 E ||x^t||^2 is at most 1e-6 of ||x^0||^2 in round 7, and not in round 6;",
                ("7 rounds",),
            ),
            Clause(
                "that of FedDyn's active models, from duals 0, is in round 114, and not in round 113.", ("114 rounds",)
            ),
        ),
        [Step("every P", EQUAL), Step("7 rounds", FALLS), Step("114 rounds", fall_of_feddyn())],
        assumptions=[FAMILY, "equal clients"],
        picture=lambda context: draw_equal_clients(100),
        kind="rate",
    )
]
