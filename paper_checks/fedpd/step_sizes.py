"""Which step sizes are stable: how tight Theorem 1's range is (D7)."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.claims import Context, Divergence, Picture, Theorem, draw_bound, run_on_quadratics
from paper_checks.fedpd.common import A1, A2, derived, fractions
from paper_checks.fedpd.theorems import corrected
from paper_checks.steps import Step
from problems.quadratics import Quadratic

BELOW = Theorem(
    name="FedPD's steps below u = 1/2",
    region="0 < L, 0 < eta < 1/(2*L), 0 <= D_0",
    states=corrected().states,
    quantities={name: text for name, text in corrected().quantities.items() if name != "grad2"},
    rounds={"t": 0, "T": 0},
    where={"c": "(1 - 2*L*eta)*(1 + L*eta)/(2*eta)"},
    given={"below": "f[0] - D_0 <= f[t]"},
    claim=("moved[t] -> 0 as t", "server[t] -> 0 as t"),
    proof="""
      some:   0 <= moved[t]                                          by derivation
      far:    0 <= server[t]                                         by derivation
      round:  c*moved[t] + server[t]/(2*eta) <= level[t] - level[t+1] by derivation
      lies:   f[t] <= level[t]                                       by derivation
      start:  level[0] == f[0]                                       by identity
      models: c*sum(moved[t], t, 0, T) <= level[0] - level[T+1]
                by induction T: base combine 1*round(t=0), (1/(2*eta))*far(t=0); step combine ih, 1*round(t=T+1), (1/(2*eta))*far(t=T+1)
      copies: sum(server[t], t, 0, T)/(2*eta) <= level[0] - level[T+1]
                by induction T: base combine 1*round(t=0), c*some(t=0); step combine ih, 1*round(t=T+1), c*some(t=T+1)
      least:  level[0] - level[T+1] <= D_0                           by combine 1*start, 1*lies(t=T+1), 1*below(t=T+1)
      all:    sum(moved[t], t, 0, T) <= D_0/c                        by combine (1/c)*models, (1/c)*least
      each:   sum(server[t], t, 0, T) <= 2*eta*D_0                   by combine (2*eta)*copies, (2*eta)*least
      first:  claim 1                                                by series some, all
      second: claim 2                                                by series far, each
    """,
)
#: f has curvature (c - a)/2; with L = c any u > 1/2 is c eta for some a < c
BEYOND = Theorem(
    name="FedPD's duals beyond u = 1/2",
    region="0 < a < c, 1/(2*a) < eta < 1/a",
    states=run_on_quadratics(
        "fedpd",
        "eta, init_dual = grad, exact, p = 0",
        curvatures=("c", "c", "-a", "-a"),
        centres=("0", "0", "0", "0"),
        ties=("x0_3 - x0_4",),
    ),
    quantities={"X": "norm2(lam_3 - lam_4)"},
    rounds={"T": 0, "t": 0},
    where={"m": "eta*a/(1 - eta*a)"},
    claim=("X[t+T] == m**(2*T)*X[t]", "1 < m"),
    proof="""
      round: X[t+1] == m**2*X[t]      by identity
      done:  claim 1                  by induction T: base combine; step combine m**2*ih, 1*round(t=t+T)
      grows: claim 2                  by combine
    """,
)
#: the same from FedPD's own start, where the two clients differ a little


def four_quadratics() -> Quadratic:
    """Two clients of curvature 1 and two of curvature nearly -1, apart from each other a little."""
    return Quadratic(
        fractions(["1", "1", "-99967/100000", "-9998/10000"])[:, None, None],
        fractions(["3/10", "-1/10", "1", "-1"])[:, None],
    )


JUST_BEYOND = Divergence("fedpd", "eta = 501/1000, init_dual = grad, exact, p = 0", problem=four_quadratics)


def draw_multipliers(context: Context) -> Picture:
    """The multiplier of the difference of two clients of curvature -h, by u."""
    steps = [k / 100 for k in range(1, 76)]
    return draw_bound(
        "FedPD's multiplier on curvatures (1, 1, -h, -h): stable below one",
        steps,
        [1.0] * len(steps),
        xlabel="u = L eta (the paper allows 0.309, stable up to 1/2)",
        ylabel="modulus u h/(1 - u h)",
        about="exact local solves, all clients, quadratics; closed form, no seeds; dashed: the edge of stability",
        more=[(f"h = {h:g}", [u * h / (1 - u * h) for u in steps]) for h in (0.5, 0.9, 0.999)],
    )


CLAIMS = [
    derived(
        "FEDPD-D7",
        "how tight the step-size range of Theorem 1 is",
        "With exact solves and f bounded below the steps of FedPD's models vanish for every u = L eta < 1/2, and for every u > 1/2 there are "
        "quadratics, f strongly convex, on which differences of its duals grow geometrically; the paper's 0.309 is conservative.",
        [
            Step("up to 1/2", BELOW, wrong={"beyond 1/2": replace(BELOW, region="0 < L, 0 < eta < 1/L, 0 <= D_0")}),
            Step("beyond it", BEYOND, wrong={"before 1/2": replace(BEYOND, region="0 < a < c, 0 < eta < 1/a")}),
            Step(
                "u = 501/1000, L = 1",
                JUST_BEYOND,
                wrong={"u = 499/1000": replace(JUST_BEYOND, options=JUST_BEYOND.options.replace("501", "499"))},
            ),
        ],
        kind="bound",
        assumptions=(A1, A2, "exact local solves", "lam_i^0 = -grad f_i(x^0)", "p = 0"),
        readings=(
            "L = c: for every u = c eta > 1/2 there is a curvature a < c with 1/2 < a eta < 1. From FedPD's own start clients of one curvature do "
            "not differ; where their curvatures differ a little they do, as in the last step.",
        ),
        picture=draw_multipliers,
    )
]
