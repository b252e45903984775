"""Second moments of A-FedPD, FedDyn and FedADMM as printed, as theorems of their own rounds; A-FedPD's momentum and its rates.

The family: f_i(x) = (a/2)||x - c_i||^2 with one curvature, exact solves unless said; P of C clients are drawn uniformly each round. The moments obey
a linear map (`problems.dual_drift.moment_map`), from which theorems are written; what they say is proved of the library's methods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.claims import Claim, Context, Fault, Finding, Theorem, proved
from fedtheory.claims.protocol import Clause
from fedtheory.claims.statements.theorems.runs import run_on_equal_curvatures
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.core.errors import require
from fedtheory.proofs.facts import compare
from paper_checks.afedpd.moment_pictures import FAMILY, draw_equal_clients, draw_spread
from paper_checks.afedpd.structure import DERIVED
from paper_checks.formulas import formula
from paper_checks.steps import Step, claim_steps
from problems.dual_drift import active_average_row, moment_map

EVERY = "0 < a, 0 < rho, C in 2.., 1 <= P <= C"
TIED = "x - x_bar - lam/({rho})"
#: lambda_i^* = -grad f_i(x^*)
OPTIMAL = "a*(c_i - bar(c_i))"


@dataclass(frozen=True)
class Family:
    """A listed method on the family: its model less x^*, what a dual lacks, what every state keeps, and whether clients have one centre c."""

    method: str
    model: str
    dual: str
    ties: tuple[str, ...] = ()
    alike: bool = False

    def states(self, rho: str = "rho", clients: str = "n = C, s = P", local: str = "exact = true") -> PlayedStates:
        """Its rounds from any state."""
        ties, options = tuple(tie.format(rho=rho) for tie in self.ties), f"rho = {rho}, {local}"
        return run_on_equal_curvatures(
            self.method, options, curvature="a", clients=clients, ties=ties, alike=self.alike
        )

    @property
    def moments(self) -> dict[str, str]:
        """E ||x||^2, E <x, h>, E ||h||^2 and E s, with h the mean of d_i and s that of their squares."""
        return {
            "X": f"norm2({self.model})",
            "Y": f"dot({self.model}, bar({self.dual}))",
            "H": f"norm2(bar({self.dual}))",
            "S": f"mean(norm2({self.dual}))",
        }

    def quadratic(self, weights: Sequence[Any]) -> str:
        """A sum of moments, a^2, a, 1 and 1 times these."""
        scaled = zip(weights, ("*a**2", "*a", "", ""), self.moments.values(), strict=True)
        return " + ".join(f"({weight}){scale}*{moment}" for weight, scale, moment in scaled if weight)


FAMILIES = {
    "a-fedpd": Family("a-fedpd", "x_bar - bar(c_i)", f"mu_i - {OPTIMAL}", ("bar(mu_i)", TIED)),
    "feddyn": Family("feddyn", "x - bar(c_i)", f"lam_i - {OPTIMAL}"),
    "feddyn-printed": Family("feddyn-printed", "x - bar(c_i)", f"lam_i - {OPTIMAL}", ("lam - bar(lam_i)",)),
    "fedadmm": Family("fedadmm-active", "x - bar(c_i)", f"lam_i - {OPTIMAL}"),
    "equal a-fedpd": Family("a-fedpd", "x_bar - c", "mu_i", ("mu_i", TIED), alike=True),
    "equal fedadmm": Family("fedadmm-active", "x - c", "lam_i", alike=True),
}


# ---- moments ----------------------------------------------------------------------------------------------------------


def noise_of_fedadmm(rho: Any, C: Any, P: Any, squares: Any, products: Any, a: Any = 1) -> tuple[Any, Any, Any, Any]:
    """What FedADMM as printed adds a round to (E x^2, E x h, E h^2, E s) besides its map: through the drawn mean of optimal duals.

    ``squares`` = mean (lambda_i^*)^2 and ``products`` = mean d_i lambda_i^*, which a round multiplies by `products_fall`.
    """
    b, v = rho / (a + rho), (C - P) / (P * (C - 1))
    return v * (squares + 2 * (1 - 2 * b) * products) / rho**2, -P / C * b * v * products / rho, 0 * rho, 0 * rho


def products_fall(rho: Any, C: Any, P: Any, a: Any = 1) -> Any:
    """Factor of mean d_i lambda_i^* a round."""
    return 1 - P / C * rho / (a + rho)


GIVEN = {"rho": "rho", "C": "C", "P": "P", "a": "a"}


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


def rational_matrix(rows: Any) -> Any:
    """Rows of fractions as SymPy's matrix of rationals."""
    sympy = require("sympy", "matrices of rationals")
    return sympy.Matrix(rows).applyfunc(lambda e: sympy.Rational(Fraction(e).numerator, Fraction(e).denominator))


# ---- A-FedPD --------------------------------------------------------------------------------------------------------


def gossip_rate(rho: Any, C: Any, P: Any, a: Any = 1) -> Any:
    """Factor of E s a round for A-FedPD: 1 - (1 - kappa^2)(P-1)/(C-1), kappa = a/(a + rho)."""
    return 1 - (1 - (a / (a + rho)) ** 2) * (P - 1) / (C - 1)


RATE = formula(gossip_rate, **GIVEN)
SPREAD = Theorem(
    EVERY,
    (
        f"S[T] == ({RATE})**T*S[0]",
        "X[t+1] == (rho/(a + rho))**2*X[t] + (C - P)/(P*(C - 1))*S[t]/(a + rho)**2",
    ),
    f"""
      step:  S[t+1] == ({RATE})*S[t]    by identity
      rate:  claim 1                    by induction T: base combine; step combine ({RATE})*ih, step(t=T)
      model: claim 2                    by identity
    """,
    states=FAMILIES["a-fedpd"].states(),
    rounds={"t": 0, "T": 0},
    quantities={name: FAMILIES["a-fedpd"].moments[name] for name in "XS"},
)
#: along any vector z
EQUAL = Theorem(
    EVERY,
    "m[T] == (rho/(a + rho))**T*m[0]",
    """
      step: m[t+1] == rho/(a + rho)*m[t]   by identity
      done: claim                          by induction T: base combine; step combine rho/(a + rho)*ih, step(t=T)
    """,
    states=FAMILIES["equal a-fedpd"].states(),
    rounds={"t": 0, "T": 0},
    quantities={"m": "dot(x_bar - c, z)"},
)
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


def rounds_to_a_millionth(context: Context, *, C: int = 100) -> Iterator[Finding]:
    """Rounds until E (thetabar^t)^2 of equal clients has fallen to a millionth, P = 10, rho = a/2, by the maps of AFEDPD-D7."""
    counts = {name: _rounds_to(name, Fraction(1, 2), C, 10, Fraction(1, 10**6)) for name in ("a-fedpd", "feddyn")}
    yield proved(
        "rounds to 1e-6",
        compare(counts["a-fedpd"], "==", 7) and compare(counts["feddyn"], "==", 114),
        f"C = {C}, P = 10, rho = a/2: by the maps of AFEDPD-D7 {counts['a-fedpd']} rounds, and {counts['feddyn']} of FedDyn",
    )


def _rounds_to(name: str, rho: Fraction, C: int, P: int, target: Fraction) -> int:
    """Rounds until E (thetabar^t)^2 of equal clients has fallen from 1 to the target, in fractions; at most 500."""
    matrix, moments = moment_map(name, rho, C, P), [Fraction(1), Fraction(0), Fraction(0), Fraction(0)]
    row = matrix[0] if name == "a-fedpd" else active_average_row(rho, C, P)
    for r in range(1, 501):
        if compare(sum(a * m for a, m in zip(row, moments, strict=True)), "<=", target):
            return r
        moments = [sum((a * m for a, m in zip(line, moments, strict=True)), Fraction(0)) for line in matrix]
    return 501


CLAIMS: list[Claim] = [
    claim_steps(
        "AFEDPD-D6",
        DERIVED,
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
    ),
    claim_steps(
        "AFEDPD-D7",
        DERIVED,
        "Eqs. (6), (7), Algorithm 1",
        "The moments (E x^2, E x h, E h^2, E s) obey a linear map for FedDyn and A-FedPD, for every C and P. For FedADMM as printed they obey one "
        "plus v (mean (lambda_i^*)^2 + 2 (1 - 2 b) c)/rho^2 in E x^2 and -(P/C) b v c/rho in E x h, b = rho/(a + rho), where c = mean d_i lambda_i^* "
        "falls by 1 - (P/C) b a round: a linear map alone where clients are equal.",
        [Step(f"{name}: {NAMES[k]}", theorem) for (name, _), of in MAPS.items() for k, theorem in of.items()],
        assumptions=[FAMILY],
        kind="identity",
    ),
    claim_steps(
        "AFEDPD-D8",
        DERIVED,
        "Algorithm 1",
        "E s^t = s^0 (1 - (1 - kappa^2)(P-1)/(C-1))^t, kappa = a/(a + rho), and E x^2 is driven by v E s/(a + rho)^2.",
        [Step("rates", SPREAD)],
        assumptions=[FAMILY],
        picture=lambda context: draw_spread(float(gossip_rate(0.5, 100, 10))),
        kind="rate",
    ),
    claim_steps(
        "AFEDPD-D9",
        DERIVED,
        "Algorithm 1, equal clients",
        (
            Clause("x^t = (rho/(a + rho))^t x^0 for every P;", ("every P",)),
            Clause("to 1e-6 at C = 100, P = 10, rho = a/2 in 7 rounds against 114 of FedDyn.", ("rounds to 1e-6",)),
        ),
        [Step("every P", EQUAL)],
        besides=rounds_to_a_millionth,
        faults=[Fault("C = 50", "rounds to 1e-6", {"C": 50})],
        assumptions=[FAMILY, "equal clients"],
        picture=lambda context: draw_equal_clients(100),
        kind="rate",
    ),
]
