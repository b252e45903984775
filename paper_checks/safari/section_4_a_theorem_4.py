"""Section 4: that FedAvg may fail, Theorem 4 as printed and corrected, Remark 3 and Corollary 1.

Read throughout: Assumptions 3 (L-smooth F_i), 4 (unbiased gradients of bounded variance) and 5 (||grad F_i - grad F|| <= sigma_G); who takes
part in a client round is arbitrary. For K local steps and m clients every statement holds for all K and m.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.claims import Context, Inside, Theorem, draw_bound, run_on_quadratics
from fedtheory.claims.claim import Assumption, Claim, Fault, Finding, Picture, Reading, Replay
from fedtheory.claims.parts import assume, assume_constant, disproved, refute
from fedtheory.claims.statements.worlds import Parameters
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.safari import transcribed
from paper_checks.safari.appendix_a_0_c_proof_of_theorem_4 import CLIENT_ROUND_4
from paper_checks.safari.biased_pair import BIASED, assume_moments, floor_holds, in_floats, in_fractions, moments_part
from paper_checks.safari.notation import (
    ASSUMED,
    BOUND_4,
    BRACKET_4,
    CLIENT_4,
    DELTA,
    INDEPENDENT,
    NOISE_C1B,
    ORDER_C1A,
    ORDER_C1B,
    SERVER_4,
    STEP_4,
    STEP_FOUR,
    THRESHOLD_4,
    claim,
    of_rounds,
    value,
)
from paper_checks.safari.rounds import ENDS, OF_NOISE, OF_SERVER, SLOPE, rounds_of
from paper_checks.safari.transcribed import assume_transcribed
from paper_checks.steps import Step
from problems.biased_participation import moments, one_sided_pair, round_down

CLAIMS: list[Claim] = []

# ---- FedAvg ----------------------------------------------------------------------------------------------------------
#: x of the client ||x - c||^2/2 that takes part in every round; with the absent one, ||x + c||^2/2, it is grad F(x)
FIRST_ALONE = Theorem(
    name="FedAvg with one of two clients",
    region="0 < lr < 2",
    states=run_on_quadratics("safari", "q = 1, lr, steps = 2", curvatures=("1",), centres=("c",)),
    rounds={"t": 0, "T": 0},
    quantities={"S": "norm2(x)", "D": "norm2(x - c)", "E": "dot(x - c, c)", "C": "norm2(c)"},
    claim="S[T] -> C[0] as T",
    proof="""
      far:     D[t+1] == (1 - lr)**4*D[t]                   by identity
      cross:   E[t+1] == (1 - lr)**2*E[t]                   by identity
      same:    C[t+1] == C[t]                               by identity
      parts:   S[t] == D[t] + 2*E[t] + C[t]                 by identity
      fars:    D[T] == (1 - lr)**(4*T)*D[0]                 by induction T: base combine; step combine (1 - lr)**4*ih, far(t=T)
      crosses: E[T] == (1 - lr)**(2*T)*E[0]                 by induction T: base combine; step combine (1 - lr)**2*ih, cross(t=T)
      one:     C[T] == C[0]                                 by induction T: base combine; step combine ih, same(t=T)
      low:     C[0] + (1 - lr)**(4*T)*D[0] + 2*(1 - lr)**(2*T)*E[0] <= S[T]
                 by combine (-1)*parts(t=T), (-1)*fars, (-2)*crosses, (-1)*one
      high:    S[T] <= C[0] + (1 - lr)**(4*T)*D[0] + 2*(1 - lr)**(2*T)*E[0]
                 by combine parts(t=T), fars, 2*crosses, one
      done:    claim                                        by squeeze low, high
    """,
)
CLAIMS += [
    claim(
        "SAFARI-Q1",
        "Section 4",
        "FedAvg under incomplete participation may fail to converge to a stationary point.",
        [Step("limit", FIRST_ALONE)],
        kind="divergence",
        assumptions=["f_i smooth, some clients never take part, a constant step"],
        readings=[
            "SAFARI with q = 1 is FedAvg. ||grad F||^2 tends to ||c||^2, which is sigma_G^2, for every c and every step below 2."
        ],
    )
]

# ---- Theorem 4 -------------------------------------------------------------------------------------------------------
#: L eta_c K <= 1/11, which holds where eta_c <= 1/(4 sqrt(30) L K)
REGION_4 = "0 < L, 0 < eta_s <= 1/(22*L), 1 <= K, 1 <= m, 0 <= sigma2, 0 <= sigma_G2, 0 <= sigma_s2, 0 <= q <= 1"


def steps_4(p: Parameters) -> tuple[Any, Any]:
    """eta_c = 2 eta_s/K."""
    return 2 * p.eta_s / p.K, p.eta_s


SERVER_4_STEPS = f"""
  server_descent: B[r] <= V[r] - eta_s*S[r] - eta_s*Z[r] + L*eta_s**2/2*W[r]             by derivation
  server_moment:  W[r] == S[r] + 2*Z[r] + U[r]                                           by identity
  server:  S[r] <= {of_rounds(SERVER_4, change="(V[r] - B[r])", slope="S[r]")}
             by combine server_descent, server_moment, {", ".join(OF_NOISE)}
"""
SERVER_4_QUANTITIES = {
    "V": "mean(F(x))",
    **OF_SERVER,
    "B": "mean(F(x_server))",
    "W": "mean(norm2(g + xi))",
    "low": "least",
}
DESCENDS = """
  same:    low[r+1] == low[r]                                                            by identity
  bottom:  low[R] == low[0]                     by induction R: base combine same(r=0); step combine ih, same(r=R)
"""
BOUNDED = {"bounded_below": "low[r] <= V[r]"}
GAP = "(V[0] - low[0])"
THEOREM_4 = Theorem(
    name="Theorem 4, corrected",
    region=REGION_4,
    states=rounds_of(steps_4, convex=False, who="coin"),
    rounds={"r": 0, "R": 1},
    quantities={**SLOPE, "N": "mean(norm2(G))", "A": "mean(F(x_clients))", **SERVER_4_QUANTITIES},
    given={"clients": f"S[r] <= {of_rounds(CLIENT_4, change='(V[r] - A[r])', G='N[r]')}", **OF_NOISE, **BOUNDED},
    inside={"clients": Inside(CLIENT_ROUND_4, "E", {**ENDS, "G": "s_bar"})},
    claim=f"sum(S[r], r, 0, R-1)/R <= {of_rounds(BOUND_4, gap=GAP)} + 4*q*sigma_G2",
    proof=SERVER_4_STEPS
    + DESCENDS
    + f"""
  size:    0 <= S[r]                                                                     by derivation
  pull:    0 <= N[r]                                                                     by derivation
  coin:    V[r+1] == q*A[r] + (1 - q)*B[r]                                               by identity
  step:    S[r] <= 2/eta_s*(V[r] - V[r+1]) + {DELTA} + 4*q*sigma_G2
             by combine (2/eta_s)*coin, q*clients, (1 - q)*server, (1 - q)*(1 - L*eta_s)*size, (q*(2 - 8*L*eta_s)/K**2)*pull
  all:     sum(S[r], r, 0, R-1) <= 2/eta_s*(V[0] - V[R]) + R*({DELTA} + 4*q*sigma_G2)
             by induction R: base combine step(r=0); step combine ih, step(r=R)
  done:    claim                                by combine (1/R)*all, (2/(R*eta_s))*bounded_below(r=R), (-2/(R*eta_s))*bottom
""",
)
#: Theorem 4's instance
FOUR = {"q": "1/2", "eta_s": "1/50", "x0": "12/5", "rounds": 2500}


def values_four(i: Mapping[str, Any]) -> dict[str, Any]:
    """What Theorem 4 speaks of on the pair: L = sigma_G = 1, no noise, K = m = 1, F(x_0) - F* = x_0^2/2."""
    constants = {"L": 1, "K": 1, "m": 1, "sigma2": 0, "sigma_s2": 0, "sigma_G2": 1}
    return {**constants, "q": i["q"], "eta_s": i["eta_s"], "R": i["rounds"], "gap": i["x0"] ** 2 / 2}


def assumed_four(i: Mapping[str, Any]) -> tuple[Assumption, ...]:
    """Every assumption of Theorem 4, the condition on q on every path, with eta_s^2 as printed and with eta_s (see SAFARI-T4f)."""
    values, problem = values_four(i), one_sided_pair()
    x0, near = i["x0"], (i["x0"] - 1) ** 2
    firsts = {"the server": {"G_1": x0**2, "G_2": 0}, "clients": {"G_1": 1, "G_2": near}}
    return (
        assume_moments(1),
        assume_transcribed("the bound", transcribed.T4_BOUND),
        assume_transcribed("the condition on q", transcribed.T4_CONDITION),
        assume_constant("Assumption 3", problem, "L", "<=", 1),
        assume_constant("Assumption 5", problem, "G_centred", "<=", 1),
        assume("step condition, squared, with eta_c = 2 eta_s", STEP_4, **values, eta_c=2 * i["eta_s"]),
        assume("start beyond the client's minimiser", "1 <= x", x=x0),
        *(
            assume("the bracket is not negative on any path", f"0 <= {BRACKET_4.format(power=k)}", **values, G_2=near)
            for k in (2, 1)
        ),
        *(
            assume(
                f"q-condition if {who} have the first round: G_1 and G_2 at least as here",
                f"q <= {THRESHOLD_4.format(power=k)}",
                **values,
                **slopes,
            )
            for who, slopes in firsts.items()
            for k in (2, 1)
        ),
    )


def replay_four(instance: Mapping[str, Any]) -> Replay:
    """The average of E ||grad F(x_r)||^2 over r = 1..R against the printed bound."""
    i = in_fractions(instance)
    numeric = in_floats(i)
    exact, floats = (
        moments(v["q"], 2 * v["eta_s"], v["eta_s"], 1, v["rounds"], v["x0"], **more)[1][1:]
        for v, more in ((i, {"tidy": round_down}), (numeric, {}))
    )
    return Replay(
        f"(1/R) sum_r E ||grad F(x_r)||^2 against 2 (F(x_0) - F*)/(R eta_s) + delta, R = {i['rounds']}, eta_s = {i['eta_s']}, q = {i['q']}",
        float(np.mean(floats)),
        float(value(BOUND_4, values_four(numeric))),
        sum(exact, Fraction(0)) / i["rounds"],
        value(BOUND_4, values_four(i)),
        "fractions, each moment rounded down",
        assumed_four(i),
    )


def draw_four(i: Mapping[str, Any]) -> Picture:
    """Theorem 4 with eta_s = 1/sqrt(R): printed and corrected bound, the exact left side, and what no step size gets below."""
    q, x0 = float(i["q"]), float(i["x0"])
    counts, found, printed = [2000 * 2**k for k in range(6)], [], []
    for rounds in counts:
        eta = rounds**-0.5
        found.append(np.mean(moments(q, 2 * eta, eta, 1, rounds, x0)[1][1:]))
        printed.append(float(value(BOUND_4, values_four({"q": q, "eta_s": eta, "x0": x0, "rounds": rounds}))))
    return draw_bound(
        "Theorem 4 as printed, with eta_s = 1/sqrt(R), and the method on the biased pair",
        counts,
        printed,
        xlabel="rounds R",
        ylabel="mean of E ||grad F||^2",
        about=f"SAFARI, q = {q:g}, x_0 = {x0:g}, L = sigma_G = K = 1, no noise, eta_c = 2 eta_s; exact moments, no seeds",
        more=[
            ("exact", found),
            ("corrected: 4 q sigma_G^2 more", [bound + 4 * q for bound in printed]),
            ("4 q^2/(1+q)^2", np.full(len(counts), 4 * q**2 / (1 + q) ** 2)),
        ],
        logx=True,
    )


def check_t4(ctx: Context, *, instance: Mapping[str, Any] = FOUR, bias: Fraction = Fraction(0)) -> Iterator[Finding]:
    """The printed bound on the biased pair."""
    yield refute(
        "printed bound", replay_four, dict(instance), text="The one client that takes part pulls to its own minimiser."
    )
    yield moments_part(1, bias)
    yield Reading(
        "G_1 and G_2 are maxima over the rounds of a path; on the two paths without a round of one kind, of probability 2^(1-R), they are maxima "
        "over nothing. The proof sums over r = 0, ..., R - 1, where the left side is larger still on this instance. The theorem is true where (54) "
        "itself is the hypothesis, for q = 0, and for sigma_G = 0. What is refuted is that the condition on q with maxima gives the bound."
    )
    yield draw_four(in_fractions(instance))


CLAIMS += [
    claim(
        "SAFARI-T4",
        "Theorem 4",
        "(1/R) sum_{r=1}^R E ||grad F(x_r)||^2 <= 2 (F(x_0) - F*)/(R eta_s) + delta, delta = L eta_s (1-q) sigma_s^2 + (80 q L^2 eta_s^2/K)(sigma^2 "
        "+ 6 K sigma_G^2) + (8 L q eta_s/(mK)) sigma^2, for q at most a threshold in maxima G_1, G_2 of slopes along the path.",
        [Step("with 4 q sigma_G^2", THEOREM_4, "repaired")],
        kind="rate",
        besides=check_t4,
        faults=(Fault("no client rounds", "printed bound", {"instance": FOUR | {"q": "0"}}, holds=True), BIASED),
        assumptions=(*ASSUMED, INDEPENDENT, STEP_FOUR, "eta_c = 2 eta_s/K", "q at most the printed threshold"),
        readings=(
            "eta_s <= 1/(22 L) is wider than the printed condition on eta_c = 2 eta_s/K.",
            "G_1 and G_2 of the printed condition on q are those of the run itself, which depends on q: it cannot be used to choose q beforehand.",
        ),
        repaired="The mean over r = 0, ..., R - 1 has the bound with 4 q sigma_G^2 besides, and no condition on q.",
        replay=replay_four,
    )
]

# ---- Remark 3 --------------------------------------------------------------------------------------------------------
#: at most delta/eta_s, for eta_s <= 1/(22 L)
OF_ORDER_4 = "L*(1 - q)*sigma_s2 + 40*q*L/(11*K)*(sigma2 + 6*K*sigma_G2) + 8*L*q/(m*K)*sigma2"
RATE_4 = replace(
    THEOREM_4,
    name="Corollary 1, corrected",
    claim=f"sum(S[r], r, 0, R-1)/R <= 2*{GAP}/(R*eta_s) + eta_s*({OF_ORDER_4}) + 4*q*sigma_G2",
    proof=THEOREM_4.proof.replace("done:    claim ", f"four:    {THEOREM_4.claim} ")
    + """
  done:    claim                                by combine four
""",
)
#: for eta_s = c/sqrt(R), which is in the region from R = (22 L c)^2 on
ROOT_RATE_4 = replace(
    RATE_4,
    region=f"{REGION_4}, 0 < c",
    given={**RATE_4.given, "steps": "eta_s**2*R == c**2"},
    claim=f"sum(S[r], r, 0, R-1)/R <= (2*{GAP}/c + c*({OF_ORDER_4}))/sqrt(R) + 4*q*sigma_G2",
    proof=RATE_4.proof.replace("done:    claim ", f"any:     {RATE_4.claim} ")
    + f"""
  root:    eta_s == c/sqrt(R)                   by combine (1/(R*(eta_s + c/sqrt(R))))*steps
  back:    1/(R*eta_s) == 1/(c*sqrt(R))         by combine (-1/(R*eta_s*c/sqrt(R)))*root
  done:    claim                                by combine any, (2*{GAP})*back, ({OF_ORDER_4})*root
""",
)


def draw_floor(rounds: int = 3000) -> Picture:
    """Exact moments for several step sizes, averaged over the rounds, and what none of them gets below."""
    r, curves = np.arange(1, rounds + 1), []
    for eta in (0.02, 0.01, 0.005):
        squares = np.array(moments(0.5, 2 * eta, eta, 1, rounds, 2.4)[1])
        curves.append((f"eta_s = {eta:g}", np.cumsum(squares[1:]) / r))
    return draw_bound(
        "No step size gets below 4 q^2/(1+q)^2",
        r,
        1 / np.sqrt(r),
        xlabel="rounds R",
        ylabel="mean of E ||grad F||^2",
        about="SAFARI on the biased pair, lam = 1, q = 1/2, x_0 = 2.4, eta_c = 2 eta_s, K = 1; exact moments, no seeds; claimed: the order 1/sqrt(R)",
        more=[("4 q^2/(1+q)^2", np.full(rounds, 4 / 9)), *curves],
        logx=True,
    )


def tends_to_zero(order: str) -> bool:
    """Whether an order in R (m and K are fixed) tends to 0, by SymPy."""
    import sympy

    names = {name: symbols(name, positive=True) for name in ("R", "m", "K")}
    return compare(sympy.limit(sympy.sympify(order, locals=names), names["R"], sympy.oo), "==", 0)


def check_floor(
    ctx: Context,
    *,
    instance: Mapping[str, Any] = FOUR,
    order: str = "1/sqrt(R)",
    besides: str = "",
    ratio: int = 2,
    bias: Fraction = Fraction(0),
) -> Iterator[Finding]:
    """Theorem 4's assumptions are met, and those ``besides``, and no gradient gets small; a claimed ``order`` that tends to 0 is exceeded."""
    yield moments_part(1, bias)
    values = values_four(in_fractions(instance))
    met = [*assumed_four(in_fractions(instance)), *([assume("besides", besides, **values)] if besides else [])]
    yield disproved(
        "a bound that tends to 0",
        all(assumption.met for assumption in met) and floor_holds(ratio) and tends_to_zero(order),
        "from x_0 at or beyond 2q/(1+q) and for lam eta_s (1+q) <= 1, E x_r >= 2q/(1+q) in every round, so E ||grad F(x_r)||^2 = E x_r^2 >= (E "
        f"x_r)^2 >= 4 q^2/(1+q)^2 for every eta_s and R, with every gradient exact, while {order} tends to 0. Theorem 4's condition on q is met for "
        "q = 1/2, x_0 = 12/5 and eta_s = 1/50, and so for every smaller eta_s, on every path that has rounds of both kinds",
    )
    yield draw_floor()
    yield Reading(
        "For q = 0 or q -> 0, for sigma_G = 0, and for participation without bias (SAFARI-X10) the rate is not denied. SAFARI-C1a, -C1b, -R3 and "
        "-R6 draw one conclusion from Theorem 4, and are decided together; they inherit its condition on q."
    )


UP_TO_BIAS = (
    "Up to 4 q sigma_G^2: the mean over r = 0, ..., R - 1 is at most that and a term of the order 1/(R eta_s) and one of the order eta_s, which is "
    "4 q sigma_G^2 + O(1/sqrt(R)) for eta_s = c/sqrt(R), from R >= (22 L c)^2 on."
)
FALLS = "(1/R) sum_r E ||grad F(x_r)||^2"


def check_speed(ctx: Context, *, slowest: int = 2, **subject: Any) -> Iterator[Finding]:
    """Besides `check_floor`: equal clients, where Theorem 4's bias is 0, have no speed-up with eta_s = 1/sqrt(R)."""
    yield from check_floor(ctx, **subject)
    h = symbols("h", positive=True)
    yield disproved(
        "a speed-up, for equal clients",
        is_zero(1 - (1 - slowest * h) ** 2 - 4 * h * (1 - h))
        and compare(Fraction(1, 4) * (1 - Fraction(1, 16)) / 4, ">=", Fraction(1, 20)),
        [
            (
                "F_i = F = x^2/2, no noise, eta_s = h = 1/sqrt(R), R >= 16: the server's step takes x to (1 - h) x, K steps of a client to "
                "(1 - 2h/K)^K x, which is at least (1 - 2h) x by Bernoulli's inequality, for all K and m.",
                "words",
            ),
            (
                "So ||grad F(x_r)||^2 >= (1 - 2h)^{2r} x_0^2 on every path, and their sum over r = 1, ..., R is at least (1 - 2h)^2 (1 - "
                "(1 - 2h)^{2R})/(4h) x_0^2.",
                "fact 1; line 1",
            ),
            (
                "With (1 - 2h)^2 >= 1/4 and (1 - 2h)^{2R} <= e^{-4 sqrt(R)} <= 1/16 the mean is at least x_0^2/(20 sqrt(R)), whatever "
                "mK is: no constant makes it O(1/sqrt(mKR)).",
                "fact 2; line 2",
            ),
        ],
    )


def claim_denied(id: str, source: str, statement: str, order: str, besides: str = "", repaired: str = "") -> Claim:
    """A claim that the biased pair denies for every step size, Theorem 4's assumptions met, and those ``besides``; ``repaired``: from Theorem 4's."""
    not_doubled = Fault("the client's step not doubled", "a bound that tends to 0", {"ratio": 1}, holds=True)
    slower = Fault("three times the server's step", "a speed-up, for equal clients", {"slowest": 3}, holds=True)
    beyond = Fault("q = 9/10", "a bound that tends to 0", {"instance": FOUR | {"q": "9/10"}}, holds=True)
    bounded = Fault("an order that does not tend to 0", "a bound that tends to 0", {"order": "1"}, holds=True)
    speed = order == ORDER_C1B
    check = partial(check_speed if speed else check_floor, order=order, besides=besides)
    fixed = "0 < q <= 1 is fixed; participation is arbitrary, as the assumptions allow"
    assumed = (*ASSUMED, STEP_FOUR, fixed, "Theorem 4's condition on q", *([besides] if besides else []))
    steps = Step("up to 4 q sigma_G^2", RATE_4, "repaired"), Step("eta_s = c/sqrt(R)", ROOT_RATE_4, "repaired")
    return claim(
        id,
        source,
        statement,
        steps if repaired else (),
        kind="rate",
        besides=check,
        faults=(BIASED, not_doubled, beyond, bounded, *([slower] if speed else [])),
        assumptions=assumed,
        repaired=repaired,
    )


CLAIMS += [
    claim_denied(
        "SAFARI-R3",
        "Remark 3",
        "With a suitable q > 0 SAFARI reaches a stationary point although participation is incomplete.",
        ORDER_C1A,
        repaired=UP_TO_BIAS,
    )
]

# ---- Corollary 1 -----------------------------------------------------------------------------------------------------
CLAIMS += [
    claim_denied(
        "SAFARI-C1a",
        "Corollary 1, first part",
        f"With eta_s = 1/sqrt(R), {FALLS} = O(1/sqrt(R)).",
        ORDER_C1A,
        repaired=UP_TO_BIAS,
    ),
    claim_denied(
        "SAFARI-C1b",
        "Corollary 1, second part",
        f"If besides sigma_s^2 = O(sigma^2/(mK)) or q = Omega(1 - 1/(mK)), {FALLS} = O(1/sqrt(mKR)).",
        ORDER_C1B,
        NOISE_C1B,
    ),
]
