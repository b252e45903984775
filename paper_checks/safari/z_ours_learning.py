"""Ours: on Section 3, Theorem 1 sharper and for clients, Assumption 2 for mixtures and without the right rule, data that is never seen."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from fedtheory.claims import Claim, Context, Picture, Theorem, draw_bound
from paper_checks.formulas import over_outcomes
from paper_checks.safari.learners import (
    DRAWN_BY_SERVER,
    DRAWS,
    ERRS_UNSEEN,
    FLAGS,
    LEARNER,
    OF_CLIENTS,
    OF_CLIENTS_SHOWN,
    OF_DRAWS,
    OF_SAMPLES_SHOWN,
    UNSEEN,
    WEIGHTS,
    risk,
)
from paper_checks.safari.notation import DOMAIN, derived
from paper_checks.safari.published import FEDAVG, TEST_IMAGES, pick
from paper_checks.safari.section_3_1_impossibility import RISES, draw_hidden, samples_selected
from paper_checks.safari.section_3_2_a_assumption_2 import MISSPECIFIED, RELATED, RULES, TARGET
from paper_checks.steps import Step
from problems.thresholds import mixture, relatedness, uniform

CLAIMS: list[Claim] = []

# ---- X1: Theorem 1, sharper ------------------------------------------------------------------------------------------
SHARPER = samples_selected("theta", f"1/4 <= {RISES}")
CLAIMS += [
    derived(
        "SAFARI-X1",
        "Theorem 1, sharper",
        "With theta (1-omega)/2, for any theta < 1, in the place of (1-omega)/8, and 1/4 in that of 1/20 Theorem 1 holds, too: P[R_P > theta "
        "(1-omega)/2] >= 1/4.",
        [Step("samples are selected", SHARPER)],
        kind="bound",
        picture=partial(draw_hidden, claimed="1/4"),
        assumptions=[DOMAIN],
        readings=[LEARNER, OF_SAMPLES_SHOWN],
    )
]

# ---- X1': Theorem 1 for clients --------------------------------------------------------------------------------------
_RISKS = [risk(OF_CLIENTS, f"j_{label}[r]", f"k_{label}[r]", label) for label in (0, 1)]
_MEANS = [over_outcomes(number) for number in _RISKS]
_WORSE = f"max({_MEANS[0]}, {_MEANS[1]})"
#: h_1 and h_2 are what a deterministic learner returns
WORSE_RISK = Theorem(
    name="Theorem 1 for clients",
    region="0 <= omega < 1, h_1 in 0..1, h_2 in 0..1",
    rounds={"r": 0, "N": 0},
    sequences={"w": "0", **dict.fromkeys(FLAGS[:4], "0..1")},
    given={**WEIGHTS, "same": "k_0[r] == k_1[r]"},
    claim=(
        f"1 - omega <= max({risk(OF_CLIENTS, 'h_1', 'h_2', 0)}, {risk(OF_CLIENTS, 'h_1', 'h_2', 1)})",
        f"(1 - omega)/2 <= {_WORSE}",
    ),
    proof=f"""
      one:     claim 1                     by values h_1: (values h_2: combine; combine); (values h_2: combine; combine)
      size_0:  0 <= abs(j_0[r] - 1)        by combine
      size_1:  0 <= abs(j_1[r] - 1)        by combine
      wide_0:  k_0[r] <= abs(k_0[r] - 0)   by combine
      wide_1:  1 - k_1[r] <= abs(k_1[r] - 1)                    by combine
      both:    1 - omega <= {_RISKS[0]} + {_RISKS[1]}
                 by combine omega*size_0, omega*size_1, (1 - omega)*wide_0, (1 - omega)*wide_1, (omega - 1)*same
      all:     (1 - omega)*{over_outcomes("1")} <= {_MEANS[0]} + {_MEANS[1]}
                 by induction N: base combine w[0]*both(r=0); step combine ih, w[N+1]*both(r=N+1)
      worse_0: {_MEANS[0]} <= {_WORSE}     by combine
      worse_1: {_MEANS[1]} <= {_WORSE}     by combine
      tossed:  claim 2                     by combine (1/2)*worse_0, (1/2)*worse_1, (1/2)*all, (omega - 1)/2*weights
""",
)
CLAIMS += [
    derived(
        "SAFARI-X1'",
        "Theorem 1 for clients",
        "Clients i <= m with P_i = delta_{x_1}, the others delta_{x_2}: where the first m take part a deterministic learner has R_P >= 1 - "
        "omega for some target, and a randomised one (1 - omega)/2 or more in the mean.",
        [Step("risk of the worse target", WORSE_RISK)],
        kind="divergence",
        readings=[
            LEARNER.replace(" F_f[r] is 1 where R_P is above the level under f(x_2) = f.", ""),
            OF_CLIENTS_SHOWN,
            "h_1 and h_2 are the labels that a deterministic learner gives to x_1 and x_2.",
        ],
    )
]


# ---- X5: Assumption 2 for mixtures -----------------------------------------------------------------------------------
def uniform_mass(low: str, high: str, a: str, b: str) -> str:
    """What U[a, b] has between low and high, as a formula: the excess of one threshold over the other, which is the right one."""
    return f"max(0, min({high}, {b}) - max({low}, {a}))/({b} - {a})"


#: of P = U[0, 1], D = U[3/10, 7/10], t* = 9/10 the threshold t, and of P = U[0, 1/2], D = U[0, 1], t* = 1/2 the threshold u
NO_LESS = Theorem(
    name="no less alpha",
    region="0 < l < 1, 7/10 <= t < 9/10, 1/2 < u <= 1, 0 <= alpha",
    where={
        "t_P": uniform_mass("t", "9/10", "0", "1"),
        "t_D": uniform_mass("t", "9/10", "3/10", "7/10"),
        "t_Q": "l*t_P + (1 - l)*t_D",
        "u_P": uniform_mass("1/2", "u", "0", "1/2"),
        "u_D": uniform_mass("1/2", "u", "0", "1"),
        "u_Q": "l*u_P + (1 - l)*u_D",
    },
    given={"related_t": "t_P - t_Q <= alpha*t_Q", "related_u": "u_Q - u_P <= alpha*u_Q"},
    claim=("1 - l <= alpha*l", "1 <= alpha"),
    proof="""
      inside:  max(t, 0) <= t                                         by larger of: combine; combine
      least_P: 9/10 - t <= t_P                                        by combine 1*inside
      most_1:  max(0, min(9/10, 1) - max(t, 0)) <= 9/10 - t           by larger of: combine; combine
      most_P:  t_P <= 9/10 - t                                        by combine 1*most_1
      none_1:  max(0, min(9/10, 7/10) - max(t, 3/10)) <= 0            by larger of: combine; combine
      none_D:  t_D <= 0                                               by combine 5/2*none_1
      both_t:  (1 - l)*(9/10 - t) <= alpha*l*(9/10 - t)
                 by combine 1*related_t, (1 - l)*least_P, (alpha*l)*most_P, ((1 + alpha)*(1 - l))*none_D
      one:     claim 1                                                by combine (1/(9/10 - t))*both_t
      none_2:  max(0, min(u, 1/2) - max(1/2, 0)) <= 0                 by larger of: combine; combine
      none_P:  u_P <= 0                                               by combine 2*none_2
      most_2:  max(0, min(u, 1) - max(1/2, 0)) <= u - 1/2             by larger of: combine; combine
      most_D:  u_D <= u - 1/2                                         by combine 1*most_2
      below:   max(-u, -1) <= -u                                      by larger of: combine; combine
      least_D: u - 1/2 <= u_D                                         by combine 1*below
      both_u:  (1 - l)*(u - 1/2) <= alpha*(1 - l)*(u - 1/2)
                 by combine 1*related_u, (1 - l)*least_D, (alpha*(1 - l))*most_D, (alpha*l + 1 - l)*none_P
      two:     claim 2                                                by combine (1/((1 - l)*(u - 1/2)))*both_u
""",
)


def draw_needed_alpha(ctx: Context) -> Picture:
    """Least alpha of thresholds by the share of clients' data, where they cover t* and where they do not, against max(1, lambda_1/lambda_2)."""
    P, D = uniform(Fraction(0), Fraction(1)), uniform(Fraction(3, 10), Fraction(7, 10))
    shares = [Fraction(k, 40) for k in range(1, 40)]
    return draw_bound(
        "What Assumption 2 costs with beta = 1",
        shares,
        [max(Fraction(1), share / (1 - share)) for share in shares],
        xlabel="lambda_1, share of the clients' law D",
        ylabel="least alpha",
        about="P uniform on [0, 1], D on [3/10, 7/10], labels without noise; suprema over all thresholds in fractions, no seeds",
        more=[
            (f"t* = {star}", [relatedness(P, mixture(share, D, P), star, Fraction(0), Fraction(1)) for share in shares])
            for star in (Fraction(1, 2), Fraction(9, 10))
        ],
    )


CLAIMS += [
    derived(
        "SAFARI-X5",
        "Assumption 2 for mixtures",
        "If the right rule is in H and labels given x have one law, Q = lambda_1 D + lambda_2 P satisfies Assumption 2 with beta = 1, "
        "alpha = max(1, lambda_1/lambda_2), and no less serves in general.",
        [Step("with this alpha", RELATED), Step("with no less", NO_LESS)],
        kind="bound",
        picture=draw_needed_alpha,
        readings=[
            "l = lambda_2. Every alpha that is at least 1 and at least lambda_1/lambda_2 serves.",
            "'No less in general': for every l there are laws P and D under which alpha is at least lambda_1/lambda_2, and others under which it is "
            "at least 1; a threshold's excess is the mass between it and t*.",
        ],
    )
]


# ---- X7: Assumption 2 without the right rule -------------------------------------------------------------------------
def mass_apart(law: Sequence[str], of: Sequence[int], apart_from: Sequence[int]) -> str:
    """P[h != g] of two rules, by their labels of the three points, as a formula."""
    return f"({' + '.join(p for p, a, b in zip(law, of, apart_from, strict=True) if a != b) or '0'})"


def without_the_right_rule(d: Sequence[str], weight: str) -> Theorem:
    """Every rule against the best ones: those that label all points 1 under Q = weight D + (1 - weight) P, and the last point alone under P."""
    P = [str(p) for p in TARGET]
    Q = [f"({weight}*{v} + (1 - {weight})*{p})" for v, p in zip(d, P, strict=True)]
    right, best_q, best_p = (1, 0, 1), (1, 1, 1), (0, 0, 1)
    excess = {h: f"({mass_apart(P, h, right)} - {mass_apart(P, best_p, right)})" for h in RULES.hypotheses}
    return Theorem(
        name="thresholds without the right rule",
        region="",
        claim=(
            *(f"{mass_apart(Q, best_q, right)} <= {mass_apart(Q, h, right)}" for h in RULES.hypotheses if h != best_q),
            *(f"{mass_apart(P, h, best_p)} <= 7/3*{excess[h]}" for h in RULES.hypotheses if h != best_p),
            f"{excess[best_q]} == 3/10",
        ),
        proof="\n".join(f"line{k}: claim {k} by combine" for k in range(1, 8)),
    )


CLAIMS += [
    derived(
        "SAFARI-X7",
        "Assumption 2 without the right rule",
        "Thresholds on {1, 2, 3} with labels 1, 0, 1: the best rule under a mixture Q has eps_P = 3/10, though Assumption 1 holds and "
        "labels given x have one law.",
        [Step("risks", without_the_right_rule(**MISSPECIFIED))],
        kind="divergence",
        readings=[
            "The rule that labels all points 1 is the best one under Q; under P the best one labels point 3 alone 1, beside which the others meet "
            "Assumption 1 with beta_P = 1, alpha_P = 7/3."
        ],
    )
]

# ---- X6: more data of clients ----------------------------------------------------------------------------------------
#: n_S samples of clients are x_1; the worst minimiser, which is right on x_1, errs on x_2 where worst[r] is 1
WORST_POOLED = Theorem(
    name="the worst pooled minimiser",
    region="0 <= p <= 1, 0 <= n_S",
    states=DRAWS,
    rounds={"k": 0, "n_T": 0, "r": 0, "N": 0},
    quantities=UNSEEN,
    sequences={"w": "0", "c": "0", **dict.fromkeys(("unseen", "off", "errs", "worst"), "0..1")},
    given={
        **DRAWN_BY_SERVER,
        "most": "c[r] <= n_T",
        "minimiser": "(n_S + n_T - c[r])*off[r] + c[r]*errs[r] <= 0",
        "not_drawn": "unseen[r]*c[r] == 0",
        "worst": "worst[r] == unseen[r]",
    },
    fixed=("n_T",),
    claim=(
        f"{over_outcomes('errs[r]')} <= (1 - p)**n_T",
        "c[r]*worst[r] <= 0",
        f"{over_outcomes('worst[r]')} == (1 - p)**n_T",
    ),
    proof=f"""
      none:    c[r]*errs[r] <= 0                                by combine 1*minimiser, off[r]*most
{ERRS_UNSEEN}
      all:     {over_outcomes("errs[r]")} <= {over_outcomes("unseen[r]")}
                 by induction N: base combine w[0]*missed(r=0); step combine ih, w[N+1]*missed(r=N+1)
      one:     claim 1                                          by combine 1*all, 1*law, 1*hidden
      two:     claim 2                                          by combine not_drawn, c[r]*worst
      same:    {over_outcomes("worst[r]")} == {over_outcomes("unseen[r]")}
                 by induction N: base combine w[0]*worst(r=0); step combine ih, w[N+1]*worst(r=N+1)
      three:   claim 3                                          by combine 1*same, 1*law, 1*hidden
""",
)
CLAIMS += [
    derived(
        "SAFARI-X6",
        "Theorem 2, fixed n_T",
        "D = delta_{x_1}, P(x_2) = p: the worst pooled minimiser errs by p with probability (1-p)^{n_T}, whatever n_S is.",
        [Step("probability of an error", WORST_POOLED)],
        kind="identity",
        readings=[
            OF_DRAWS,
            "The worst minimiser is right on x_1 and errs on x_2 where no sample shows it: worst[r] is 1. It makes no error on the pool, errs by p "
            "there, and no minimiser errs on x_2 more often.",
        ],
    )
]

# ---- X8: a class that is never seen ----------------------------------------------------------------------------------
#: classes that take part have the shares P[j], and of each a share a[j] is recognised
RECOGNISED = Theorem(
    name="classes that are seen",
    region="",
    rounds={"S": 0, "j": 0},
    sequences={"P": "0..1", "a": "0..1"},
    claim="sum(P[j]*a[j], j, 0, S-1) <= sum(P[j], j, 0, S-1)",
    proof="""
      less:   P[j]*a[j] <= P[j]     by combine
      done:   claim                 by induction S: base combine; step combine 1*ih, 1*less(j=S)
    """,
)


def below_the_least_share() -> Theorem:
    """Accuracies of Table 1 at p = 1 and the least share of the test images in as many classes, in percent."""
    claims = tuple(
        f"{pick(FEDAVG[data][absent], 1)} <= 100*({' + '.join(map(str, sorted(images)[: 10 - absent]))})/{sum(images)}"
        for absent in (4, 2)
        for data, images in TEST_IMAGES.items()
    )
    return Theorem(
        name="Table 1 at p = 1",
        region="",
        claim=claims,
        proof="\n".join(f"line{k + 1}: claim {k + 1} by combine" for k in range(len(claims))),
    )


CLAIMS += [
    derived(
        "SAFARI-X8",
        "Table 1, p = 1",
        "A model that never outputs an unseen class has at most the accuracy P(class seen); Table 1's FedAvg at p = 1 lies below, whichever "
        "classes the absent clients hold.",
        [Step("accuracy", RECOGNISED), Step("Table 1", below_the_least_share())],
        kind="identity",
        readings=[
            "Of unseen classes nothing is recognised. Against the six or eight classes with the fewest test images, MNIST before CIFAR-10."
        ],
    )
]
