"""Ours: factors of the mean square of FedADMM as printed, FedDyn and A-FedPD, and when it dies out or grows, for every C and P, with r = rho/a:

    M = a^2 E ||x||^2 + E mean ||d_i||^2,        V[t+1] = V[t] - D M[t].

The weights of V, a sum of second moments, and D are polynomials in r, C and P. V is a positive semidefinite form of (x, d_i), and at most a multiple
of M: so M dies out where D > 0, and grows geometrically where D < 0. For FedADMM as printed D = P r^2 F(r), and F rises from below 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from fedtheory.claims import Claim, Clause, Context, Finding, Picture, Table, Theorem, draw_bound
from fedtheory.core.errors import require
from paper_checks.afedpd.moments import FAMILIES, RATE, Family, factor
from paper_checks.afedpd.notation import FAMILY, derived, of_numbers
from paper_checks.steps import Step
from problems.dual_drift import drift_radius

CLAIMS: list[Claim] = []

# ---- D10: factors of the three methods -------------------------------------------------------------------------------
METHODS = {"equal fedadmm": "FedADMM as printed", "feddyn": "FedDyn", "a-fedpd": "A-FedPD"}
#: catalogue of the paper's claims: (FedADMM as printed, FedDyn, A-FedPD) for C = 100, exact solves
RADII = {
    ("1/50", 5): ("1.0469", "0.9981", "0.9984"),
    ("1/50", 20): ("1.0153", "0.9922", "0.9925"),
    ("1/10", 5): ("1.0054", "0.9914", "0.9930"),
    ("1/10", 50): ("0.9165", "0.9132", "0.9141"),
    ("1", 10): ("0.9250", "0.9258", "0.9318"),
    ("10", 20): ("0.8839", "0.8276", "0.8264"),
}


def to_four_digits(methods: Iterable[str], printed: Mapping[tuple[str, int], Iterable[str]]) -> list[Step]:
    """The methods' factors for C = 100, by rho/a and P, to half of their last digit."""
    steps, half = list[Step](), Fraction(1, 20000)
    for (r, P), values in printed.items():
        for name, value in zip(methods, values, strict=True):
            shown = f"{name.removeprefix('equal ')}, rho = {r} a, P = {P}: {value}"
            theorem = factor(name, Fraction(r), 100, P, Fraction(value) - half, Fraction(value) + half)
            steps.append(Step(shown, theorem))
    return steps


def in_floats(context: Context, *, methods: Mapping[str, str], printed: Iterable[tuple[str, int]]) -> Iterator[Finding]:
    """The same factors in floats."""
    names = [name.removeprefix("equal ") for name in methods]
    rows = [
        [f"rho = {r} a, P = {P}", *(drift_radius(name, float(Fraction(r)), 100, P) for name in names)]
        for r, P in printed
    ]
    yield Table("Mean-square factor a round, C = 100", ["", *methods.values()], rows)


def draw_radii() -> Picture:
    """Mean-square factors of the three methods by the number of active clients."""
    active = [1, 2, 5, *range(10, 101, 10)]
    names = ("fedadmm", "feddyn", "a-fedpd")
    return draw_bound(
        "Mean-square factor a round: stable below one",
        active,
        [1.0] * len(active),
        xlabel="active clients P of 100",
        ylabel="factor",
        about=f"{FAMILY}; rho = a/10; spectral radii of moment maps, no seeds; dashed: the edge of stability",
        more=[(name, [drift_radius(name, 0.1, 100, P) for P in active]) for name in names],
    )


CLAIMS += [
    derived(
        "AFEDPD-D10",
        "dual drift",
        "Mean-square factors of the three methods for C = 100, to four digits.",
        to_four_digits(METHODS, RADII),
        assumptions=[FAMILY, "FedADMM as printed: equal clients"],
        besides=partial(in_floats, methods=METHODS, printed=RADII),
        picture=lambda context: draw_radii(),
        kind="rate",
    )
]

# ---- D11: thresholds -------------------------------------------------------------------------------------------------
#: weights of a^2 X, a Y, H and S in V for FedADMM as printed
OF_FEDADMM = {
    "v1": "4*C*P**2*r**3*(C - 1) + 2*P**3*r**7*(2*C - P - 1) + 2*P**2*r**6*(2*C**2 + 2*C*P - 2*C - P**2 - P)"
    " + 2*P**2*r**5*(6*C**2 - 5*C*P - 3*C + 2*P**2) + 2*P**2*r**4*(6*C**2 - 3*C*P - 5*C + 2*P)",
    "v2": "-4*C*P**2*r**6*(2*C - P - 1) - 4*C*P**2*r**2*(C - 1) - 4*C*P*r**5*(3*C*P - C - P**2 - P)"
    " + 2*C*P*r**4*(6*C*P - 4*C - 5*P**2 + 3*P) - 2*C*P*r**3*(2*C - 3*P)*(P - 1)",
    "v3": "2*C**2*P*r**5*(2*C - P - 1) + 2*C**2*r**4*(2*C - P)*(P - 1) - 2*C**2*r**3*(6*C*P - 3*C - 4*P**2 + P)"
    " + 2*C**2*r**2*(2*C*P - C - 3*P**2 + 2*P) + 2*C**2*r*(C + P**2 - 2*P) - 2*C**2*(C - P)",
    "v4": "2*C**2*(C - P) + 2*C*P**2*r**6*(2*C - P - 1) + C*P*r**5*(8*C**2 - 6*C - P**2 - P) + C*P*r**3*(8*C**2 - 4*C*P - 6*C + P**2 + P) + "
    "C*r**4*(16*C**2*P + 2*C**2 - 10*C*P**2 - 14*C*P + 3*P**3 + 3*P**2) - C*r**2*(2*C - P)*(2*C - P**2 - P)",
}
#: the same for FedDyn, and D
OF_FEDDYN = {
    "v1": "4*C*P**2*r**2*(C - 1) + 2*P**3*r**6*(2*C - P - 1) + 2*P**2*r**5*(2*C**2 + 3*C*P - 3*C - 2*P**2)"
    " + 2*P**2*r**4*(6*C**2 - 3*C*P - 5*C + 2*P) + 2*P**2*r**3*(6*C**2 - 3*C*P - 5*C + 2*P)",
    "v2": "2*C*P**2*r**3*(2*C - P - 1) - 4*C*P**2*r*(C - 1) - 4*P**3*r**5*(2*C - P - 1)"
    " - 2*P**2*r**2*(2*C**2 - 3*C*P - C + 2*P) + 4*P*r**4*(C**2 - 4*C*P**2 + 2*P**3 + P**2)",
    "v3": "2*C**2*P*(C - 1) + 2*C*r*(2*C**2*P - C**2 - 3*C*P**2 - 2*C*P + 4*P**2) - 2*P*r**4*(C**2 - 2*C*P**2 - C*P + P**3 + P**2) - 2*r**3*(C**3 + "
    "2*C**2*P**2 + 3*C**2*P - 5*C*P**3 - 5*C*P**2 + 2*P**4 + 2*P**3) - 2*r**2*(C**3 + 6*C**2*P**2 + 2*C**2*P - 4*C*P**3 - 7*C*P**2 + 2*P**3)",
    "v4": "2*C*P**2*r**5*(2*C - P - 1) + C*r*(2*C**2*P + 2*C**2 - C*P**2 - C*P - 2*P**2) + P*r**4*(4*C**3 + 8*C**2*P - 2*C**2 - 5*C*P**2 - 7*C*P + "
    "2*P**2) + r**3*(10*C**3*P + 2*C**3 + 3*C**2*P**2 - 5*C**2*P - 4*C*P**3 - 10*C*P**2 + 4*P**3) + r**2*(8*C**3*P + 4*C**3 - 2*C**2*P**2 - "
    "4*C**2*P - C*P**3 - 7*C*P**2 + 2*P**3)",
    "D": "2*P**3*r**5*(2*C - P - 1) + P**2*r**4*(4*C**2 + 8*C*P - 6*C - 5*P**2 - P) + 2*P**2*r**2*(C - 1)*(2*C - P)"
    " + P*r**3*(10*C**2*P - 2*C**2 - C*P**2 - 7*C*P - 2*P**3 + 2*P**2)",
}
#: F
THRESHOLD = (
    "2*P**2*(2*C - P - 1)*r**4 + P*(8*C**2 - 6*C - P**2 - P)*r**3"
    " + (16*C**2*P - 2*C**2 - 14*C*P**2 - 6*C*P + 5*P**3 + P**2)*r**2 + 2*(2*C - P)*(C + P**2 - 2*P)*r - 2*(C - P)**2"
)


def threshold_at(**numbers: object) -> str:
    """F with these in the place of r, C and P."""
    return re.sub(r"\b[rCP]\b", lambda found: f"({numbers.get(found[0], found[0])})", THRESHOLD)


def _spelt(script: str, formulas: Mapping[str, str] | None = None) -> str:
    """A script in which V(t) stands for the sum of moments, and names for formulas."""
    said = re.sub(r"V\((\w+(?:\+1)?)\)", r"(v1*a**2*X[\1] + v2*a*Y[\1] + v3*H[\1] + v4*S[\1])", script)
    known = formulas or {}
    return re.sub(r"\b[vDF]\d?\b", lambda found: f"({known[found[0]]})" if found[0] in known else found[0], said)


def _quantities(family: Family, square: str, weights: Mapping[str, str]) -> dict[str, str]:
    """Moments, M, and a square."""
    known = {"x": family.model, "h": f"bar({family.dual})", **weights}
    spelt = re.sub(r"\b(v1|v2|x|h)\b", lambda found: f"({known[found[0]]})", square)
    return {**family.moments, "M": family.quadratic([1, 0, 0, 1]), "Q": f"norm2({spelt})"}


DIES_OUT = """
  h_pos: 0 <= H[t]                                               by derivation
  s_pos: 0 <= S[t] - H[t]                                        by derivation
  q_pos: 0 <= Q[t]                                               by derivation
  m_pos: 0 <= M[t]                                               by derivation
  form:  Q[t] == 4*v1**2*a**2*X[t] + 4*v1*v2*a*Y[t] + v2**2*H[t] by identity
  v_pos: 0 <= V(t)   by combine 1*q_pos, 1*form, (4*v1*(v3 + v4) - v2**2)*h_pos, (4*v1*v4)*s_pos times 4*v1
  step:  V(t+1) == V(t) - SHARE*M[t]                             by identity
  fall:  V(t+1) <= V(t) - FALL*M[t]                              by combine 1*step ROOT
  all:   sum(FALL*M[t], t, 0, T) <= V(0) - V(T+1)
           by induction T: base combine 1*fall(t=0); step combine 1*ih, 1*fall(t=T+1)
  sums:  sum(FALL*M[t], t, 0, T) <= V(0)                         by combine 1*all, 1*v_pos(t=T+1)
  done:  claim                                                   by series m_pos, sums
"""
_DYN, _ADMM, _OWN = FAMILIES["feddyn"], FAMILIES["equal fedadmm"], FAMILIES["a-fedpd"]
FEDDYN = Theorem(
    "0 < a, 0 < r, C in 2.., 1 <= P <= C",
    "M[t] -> 0 as t",
    _spelt(DIES_OUT.replace("SHARE", "D").replace("FALL", "D").replace(" ROOT", ""), OF_FEDDYN),
    states=_DYN.states("r*a"),
    rounds={"t": 0, "T": 0},
    quantities=_quantities(_DYN, "2*v1*a*x + v2*h", OF_FEDDYN),
)
_NAMES = {**OF_FEDADMM, "F": THRESHOLD, "F0": threshold_at(r="e")}
STABLE = Theorem(
    "0 < a, 0 < e < r, C in 2.., 1 <= P < C",
    "M[t] -> 0 as t",
    _spelt(
        DIES_OUT.replace("SHARE", "P*r**2*F")
        .replace("FALL", "P*r**2*(F - F0)")
        .replace(" ROOT", ", (-P*r**2*M[t])*root"),
        _NAMES,
    ),
    states=_ADMM.states("r*a"),
    rounds={"t": 0, "T": 0},
    given={"root": f"{_NAMES['F0']} == 0"},
    quantities=_quantities(_ADMM, "2*v1*a*x + v2*h", OF_FEDADMM),
)
UNSTABLE = Theorem(
    "0 < a, 0 < r < e, C in 2.., 1 <= P < C",
    ("0 < g", "0 < v1", "0 < B", "v1*(1 + g)**T*M[0] <= B*M[T]"),
    _spelt(
        """
      x_pos: 0 <= X[t]                                                   by derivation
      h_pos: 0 <= H[t]                                                   by derivation
      s_pos: 0 <= S[t] - H[t]                                            by derivation
      q_pos: 0 <= Q[t]                                                   by derivation
      form:  Q[t] == v2**2*a**2*X[t] - 4*v1*v2*a*Y[t] + 4*v1**2*H[t]     by identity
      size:  M[t] == a**2*X[t] + S[t]                                    by identity
      first: claim 1                                                     by combine
      two:   claim 2                                                     by combine
      three: claim 3                                                     by combine
      step:  V(t+1) == V(t) - P*r**2*F*M[t]                              by identity
      high:  V(t) <= B*M[t]
               by combine 1*q_pos, 1*form, (-4*v1*B)*size, (a**2*(4*v1*(v3 + v4) - v2**2))*x_pos, (4*v1*v4*a**2)*x_pos,
                 (4*v1*(v1 + v3 + v4))*s_pos, (4*v1*v4)*h_pos times 4*v1
      up:    (1 + g)*V(t) <= V(t+1)   by combine (-1)*step, g*high, (P*r**2*M[t])*root
      ups:   (1 + g)**T*V(0) <= V(T)  by induction T: base combine; step combine (1 + g)*ih, 1*up(t=T)
      start: V(0) == v1*M[0]                                             by identity
      done:  claim 4   by combine 1*ups, 1*high(t=T), (-(1 + g)**T)*start
    """
    ),
    states=_ADMM.states("r*a"),
    rounds={"t": 0, "T": 0},
    where={**_NAMES, "B": "v1 + v3 + 2*v4", "g": "P*r**2*(F0 - F)/B"},
    given={"root": "F0 == 0"},
    quantities=_quantities(_ADMM, "v2*a*x - 2*v1*h", OF_FEDADMM),
)
#: with the laws of AFEDPD-D8; W = a^2 X + w S
A_FEDPD = Theorem(
    "0 < a, 0 < rho, C in 2.., 2 <= P <= C",
    "M[t] -> 0 as t",
    """
      m_pos: 0 <= M[t]                                               by derivation
      x_pos: 0 <= X[t]                                               by derivation
      s_pos: 0 <= S[t]                                               by derivation
      size:  M[t] == a**2*X[t] + S[t]                                by identity
      duals: S[t+1] == (1 - lost)*S[t]                               by identity
      model: X[t+1] == (1 - p)*X[t] + v/(a + rho)**2*S[t]            by identity
      fall:  a**2*X[t+1] + w*S[t+1] <= a**2*X[t] + w*S[t] - p*M[t]   by combine a**2*model, w*duals, p*size, (1 - p)*s_pos
      all:   sum(p*M[t], t, 0, T) <= a**2*X[0] + w*S[0] - (a**2*X[T+1] + w*S[T+1])
               by induction T: base combine 1*fall(t=0); step combine 1*ih, 1*fall(t=T+1)
      sums:  sum(p*M[t], t, 0, T) <= a**2*X[0] + w*S[0]              by combine 1*all, a**2*x_pos(t=T+1), w*s_pos(t=T+1)
      done:  claim                                                   by series m_pos, sums
    """,
    states=_OWN.states(),
    rounds={"t": 0, "T": 0},
    where={
        "p": "1 - (rho/(a + rho))**2",
        "v": "(C - P)/(P*(C - 1))",
        "lost": f"1 - ({RATE})",
        "w": "(1 + v*a**2/(a + rho)**2)/lost",
    },
    quantities={**{k: _OWN.moments[k] for k in "XS"}, "M": _OWN.quadratic([1, 0, 0, 1])},
)
#: rho/a below which FedADMM as printed is unstable with equal clients
THRESHOLDS = {
    (100, 1): Fraction("0.24906"),
    (100, 2): Fraction("0.19004"),
    (100, 5): Fraction("0.12525"),
    (100, 10): Fraction("0.08347"),
    (100, 20): Fraction("0.04461"),
    (10, 1): Fraction("0.24013"),
    (10, 5): Fraction("0.05034"),
}


def thresholds() -> Iterator[str]:
    """F is negative 0.00002 below each, and positive 0.00002 above; they rise as P falls."""
    near = Fraction(2, 10**5)
    for (C, P), value in THRESHOLDS.items():
        of_r = str(require("sympy", "polynomials in r").expand(threshold_at(C=C, P=P)))
        yield f"{of_r.replace('r', f'({value - near})')} < 0"
        yield f"0 < {of_r.replace('r', f'({value + near})')}"
        yield from (
            f"{THRESHOLDS[C, more]} + {near} < {value} - {near}" for c, more in THRESHOLDS if c == C and more > P
        )


def _draw_factors(title: str, names: Mapping[str, str], styles: Mapping[int, str], low: float, high: float) -> Picture:
    grid = [float(r) for r in np.geomspace(low, high, 50)]
    series = [
        {
            "label": f"{label}, P = {P} of 100",
            "x": grid,
            "y": [drift_radius(name, r, 100, P) for r in grid],
            "style": style,
        }
        for P, style in styles.items()
        for name, label in names.items()
    ]
    return Picture(title, "rho/a", "spectral radius", series, logx=True)


def draw_thresholds() -> Picture:
    """Factors by rho/a, where FedADMM as printed passes 1."""
    names = {"fedadmm": "FedADMM as printed", "feddyn": "FedDyn", "a-fedpd": "A-FedPD"}
    return _draw_factors("Dual drift: factor of the mean square a round", names, {5: "line", 50: "dashed"}, 0.005, 10)


CLAIMS += [
    derived(
        "AFEDPD-D11",
        "dual drift",
        (
            Clause(
                "FedADMM as printed with equal clients, 1 <= P < C, is unstable in mean square below a threshold e of r = rho/a,",
                ("below",),
            ),
            Clause("and stable above, where F(e) = 0;", ("above",)),
            Clause(
                "for C = 100 and P = 1, 2, 5, 10, 20, C = 10 and P = 1, 5 F changes its sign within 0.00002 of a number that rises, for each C, as "
                "P falls.",
                ("thresholds",),
            ),
            Clause("FedDyn and A-FedPD (P >= 2) are stable for every rho.", ("FedDyn", "A-FedPD")),
        ),
        [
            Step("below", UNSTABLE),
            Step("above", STABLE),
            Step("thresholds", of_numbers(thresholds())),
            Step("FedDyn", FEDDYN),
            Step("A-FedPD", A_FEDPD),
        ],
        assumptions=[FAMILY],
        readings=["F rises in r from F(0) = -2 (C - P)^2, so that it has one positive root."],
        picture=lambda context: draw_thresholds(),
        kind="divergence",
    )
]

# ---- EQ7-RATE: FedDyn's server with its previous dual ----------------------------------------------------------------
SERVERS = {"feddyn": "FedDyn", "feddyn-printed": "Eq. (7) as printed"}
#: for C = 100: rho/a and P, the factors of FedDyn, and of Eq. (7) as printed, a round
SERVER_DUAL_RADII = {
    ("1/20", 20): ("0.9814", "0.9814"),
    ("1", 50): ("0.6256", "0.6259"),
    ("10", 20): ("0.8276", "0.8082"),
    ("1/20", 100): ("0.9070", "0.9524"),
    ("1", 100): ("0.2500", "0.5000"),
}


def _instead(rho: str, P: int) -> str:
    own, printed = SERVER_DUAL_RADII[rho, P]
    return f"{printed} for {own}"


def draw_server_duals() -> Picture:
    """Factors by rho/a, of FedDyn with its new and its previous dual at the server."""
    return _draw_factors("Factor of the mean square a round, C = 100", SERVERS, {20: "line", 100: "dashed"}, 0.02, 20)


CLAIMS += [
    derived(
        "AFEDPD-EQ7-RATE",
        "Eq. (7) as printed",
        "With lambda^t the mean-square factor a round of FedDyn on equal quadratics, C = 100, is larger with all clients "
        f"({_instead('1/20', 100)} at rho = a/20, {_instead('1', 100)} at rho = a), about the same with P = 20 at rho = a/20 and P = 50 at rho = a, "
        f"and smaller with P = 20 at rho = 10 a ({_instead('10', 20)}).",
        to_four_digits(SERVERS, SERVER_DUAL_RADII),
        assumptions=[FAMILY],
        besides=partial(in_floats, methods=SERVERS, printed=SERVER_DUAL_RADII),
        picture=lambda context: draw_server_duals(),
        kind="rate",
    )
]
