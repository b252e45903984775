"""SAFARI's Theorems 4 and 5 and what follows from them, where the clients that take part are biased, by exact moments.

The instance throughout: f_1 = (lam/2)(x - 1)^2 takes part, f_2 = (lam/2)(x + 1)^2 never does (`problems.biased_participation`), K = 1, no noise.
With eta_c = 2 eta_s (Theorem 4) and with eta_c = 2 etabar/lam (Theorem 5) a round takes E x to (1 - h (1 + q)) E x + 2 q h, h = lam eta_s,
so that E x^r -> 2q/(1+q) for every step, and E x^2 >= (E x)^2 never falls below 4 q^2/(1+q)^2 from a start at or beyond that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from fedtheory.algorithms import Safari
from fedtheory.claims import (
    Assumption,
    Claim,
    Context,
    Fault,
    Finding,
    Picture,
    Reading,
    Replay,
    Theorem,
    assume,
    assume_constant,
    disproved,
    draw_bound,
    holds,
    refute,
    state,
)
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local.solvers import GradientSteps
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.safari import transcribed
from paper_checks.safari.convergence import RATE_4, ROOT_RATE_4, THEOREM_4
from paper_checks.safari.optimisation import ASSUMED, INDEPENDENT, PAPER, claim
from paper_checks.safari.theorems import (
    BOUND_4,
    BRACKET_4,
    NOISE_C1B,
    ORDER_C1A,
    ORDER_C1B,
    PULL_4,
    SLOPES_4,
    STEP_4,
    STEP_FOUR,
    THRESHOLD_4,
    of_rounds,
    value,
)
from paper_checks.safari.transcribed import assume_transcribed
from paper_checks.steps import Step
from problems.biased_participation import FIRST_ONLY, moments, one_sided_pair, round_down, round_maps

CORRECTED = "with 4 q sigma_G^2"
#: Theorem 4's instance
FOUR = {"q": "1/2", "eta_s": "1/50", "x0": "12/5", "rounds": 2500}
FIXED = "0 < q <= 1 is fixed; participation is arbitrary, as the assumptions allow"


def read(instance: Mapping[str, Any]) -> dict[str, Any]:
    """An instance in fractions; rounds stay a whole number."""
    return {name: value if name == "rounds" else Fraction(value) for name, value in instance.items()}


def in_floats(i: Mapping[str, Any]) -> dict[str, Any]:
    """The same instance with floats for fractions."""
    return {name: float(v) if isinstance(v, Fraction) else v for name, v in i.items()}


def floor_holds(ratio: int = 2) -> bool:
    """E x^{r+1} - m = (1 - h (1+q)) (E x^r - m), m = 2q/(1+q) > 0, for every h and q: with h (1+q) <= 1, E x^r >= m from x0 >= m on."""
    q, h, x = symbols("q h x", positive=True)
    s, w, b = round_maps(ratio * h, h, 1)
    m = 2 * q / (1 + q)
    return is_zero((1 - q) * s * x + q * (w * x + b) - m - (1 - h * (1 + q)) * (x - m)) and is_positive(m)


def played(
    q: Fraction,
    eta_c: Fraction,
    eta_s: Fraction,
    steps: int,
    x0: Fraction,
    rounds: int,
    lam: Fraction,
) -> tuple[Any, Any]:
    """E x^R and E (x^R)^2 by the library's method: all sequences of coins, in fractions."""
    problem = one_sided_pair(Fraction(1), lam)
    method = Safari(q, GradientSteps(steps, eta_c), GradientSteps(1, eta_s))
    first = second = Fraction(0)
    for path in product([(True, q), (False, 1 - q)], repeat=rounds):
        state, weight = method.init(problem, np.array([[x0]], dtype=object)), Fraction(1)
        for r, (coin, chance) in enumerate(path):
            key: Any = ScriptedKey(r, {"communicate": coin})
            state, weight = method.round(problem, state, FIRST_ONLY.draw(2, key), key), weight * chance
        x = state.x.item()
        first, second = first + weight * x, second + weight * x * x
    return first, second


def method_has_these_moments(lam: int = 1, bias: Fraction = Fraction(0)) -> bool:
    """Whether `played` is `moments` after five rounds, K = 3, in fractions; ``bias`` is a fault."""
    q, eta_c, eta_s, x0, scale = (
        Fraction(2, 5),
        Fraction(1, 7 * lam),
        Fraction(1, 11 * lam),
        Fraction(5, 2),
        Fraction(lam),
    )
    first, second = moments(q + bias, eta_c, eta_s, 3, 5, x0, Fraction(1), scale)
    return played(q, eta_c, eta_s, 3, x0, 5, scale) == (first[-1], second[-1])


def assume_moments(lam: int) -> Assumption:
    """The recursion that a counterexample rests on is that of the library's method."""
    text = "E x and E x^2 of the recursion are those of the method, over all sequences of coins of five rounds"
    return Assumption(text, method_has_these_moments(lam), "exact arithmetic")


def moments_part(lam: int, bias: Fraction) -> Finding:
    """Part: the moments are those of the library's method."""
    return holds(
        "the method's moments",
        method_has_these_moments(lam, bias),
        "exact",
        "all 32 sequences of coins over five rounds, K = 3, played by the library's method in fractions, have the mean and the mean square of "
        "the recursion",
    )


# ---- Theorem 4 ------------------------------------------------------------------------------------------------------


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
    i = read(instance)
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
        "G_1 and G_2 are maxima over the rounds of a path; on the two paths without a round of one kind, of probability 2^(1-R), they are "
        "maxima over nothing. The proof sums over r = 0, ..., R - 1, where the left side is larger still on this instance. The "
        "theorem is true where (54) itself is the hypothesis, for q = 0, and for sigma_G = 0. What is refuted is that the condition "
        "on q with maxima gives the bound."
    )
    yield draw_four(read(instance))


#: of (54) and (55), of both kinds of rounds together
RIGHT_OF_54 = "(1 - L*eta_s)*slope + (2/K**2 - 8*L*eta_s/K**2)*G"
ALTERNATING = {"eta_s": "1/50", "x0": "12/5", "rounds": 400}


def replay_54(instance: Mapping[str, Any]) -> Replay:
    """4 R_c sigma_G^2 against the right side of (54) on the path that alternates, a server round first, K = 1."""
    i = read(instance)
    h = i["eta_s"]
    sides: list[tuple[Any, Any]] = []
    assumptions: tuple[Assumption, ...] = ()
    for number in (float, Fraction):
        step = number(h)
        s, w, b = round_maps(2 * step, step, 1)
        x, right, largest = number(i["x0"]), number(0), [number(0), number(0)]
        for r in range(i["rounds"]):
            client = r % 2
            slope = (x - client) ** 2
            largest[client] = max(largest[client], slope)
            place = {"L": 1, "K": 1, "eta_s": step, "q": client, "slope": slope, "G": slope}
            right -= value(SLOPES_4, place)
            x = w * x + b if client else s * x
            x = round_down(x) if isinstance(x, Fraction) else x
        half = {"L": 1, "K": 1, "eta_s": step, "q": number(1) / 2, "sigma_G2": 1, "slope": largest[0], "G": largest[1]}
        sides.append((i["rounds"] * value(PULL_4, half), right))
        if number is Fraction:
            assumptions = (
                assume("step condition, squared", "480*(2*h)**2 <= 1", h=h),
                assume("(55) is at least 4 R_c sigma_G^2, R_c = R_s, over R", f"{PULL_4} <= -({SLOPES_4})", **half),
            )
    (left, right), (_, rounded) = sides
    exact = rounded + Fraction(1, 1 << 60)  # x is off by at most rounds/2^100, and each of the slopes by six times that
    return Replay(
        f"4 R_c sigma_G^2 against the right side of (54), {i['rounds']} rounds in turn",
        float(left),
        float(right),
        Fraction(left),
        exact,
        "fractions, the path rounded to 2^-100 and what that may change added",
        assumptions,
    )


def check_t4f(ctx: Context, *, instance: Mapping[str, Any] = ALTERNATING) -> Iterator[Finding]:
    """The condition imposed on (55) does not give (54)."""
    yield refute(
        "the condition on (55) gives (54)", replay_54, dict(instance), text="x settles where both slopes are small."
    )
    yield Reading(
        "(55) bounds the right side of (54) from above; a condition that it be large says nothing of (54). A minimum in the place of each "
        "maximum would, but see SAFARI-X4."
    )


#: of server and client rounds, one after the other: slopes that are at least G_1 and G_2
LEAST_SLOPES = Theorem(
    name="(54) by the least slopes",
    region="0 < u, 0 < v, 0 <= G_1, 0 <= G_2",
    rounds={"R_s": 1, "R_c": 1, "r": 0},
    sequences={"S": "G_1", "N": "G_2"},
    claim="u*R_s*G_1 + v*R_c*G_2 <= u*sum(S[r], r, 0, R_s-1) + v*sum(N[r], r, 0, R_c-1)",
    proof="""
      server:  R_s*G_1 <= sum(S[r], r, 0, R_s-1)     by induction R_s: base combine; step combine 1*ih
      clients: R_c*G_2 <= sum(N[r], r, 0, R_c-1)     by induction R_c: base combine; step combine 1*ih
      done:    claim                                 by combine u*server, v*clients
    """,
)


def undivided(power: int) -> Theorem:
    """Theorem 4's condition on q, undivided, is that (55) be at least 4 q sigma_G^2; ``power``: of eta_s in it."""
    right = of_rounds(RIGHT_OF_54, slope="(1 - q)*G_1", G="q*G_2")
    return Theorem(
        name="the condition on q",
        region="0 < L, 0 < eta_s <= 1/(4*L), 1 <= K, 0 <= q <= 1, 0 <= G_1, 0 <= G_2, 0 <= sigma_G2",
        claim=f"q*({BRACKET_4.format(power=power)}) - (1 - q)*(1 - L*eta_s)*G_1 == 4*q*sigma_G2 - ({right})",
        proof="done: claim by combine",
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
    values = values_four(read(instance))
    met = [*assumed_four(read(instance)), *([assume("besides", besides, **values)] if besides else [])]
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


#: a fault that the method's own moments show
BIASED = Fault("another probability in the recursion", "the method's moments", {"bias": Fraction(1, 100)})
NOT_DOUBLED = Fault("the client's step not doubled", "a bound that tends to 0", {"ratio": 1}, holds=True)
SLOWER = Fault("three times the server's step", "a speed-up, for equal clients", {"slowest": 3}, holds=True)
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


def denied(id: str, source: str, statement: str, order: str, besides: str = "", repaired: str = "") -> Claim:
    """A claim that the biased pair denies for every step size, Theorem 4's assumptions met, and those ``besides``; ``repaired``: from Theorem 4's."""
    beyond = Fault("q = 9/10", "a bound that tends to 0", {"instance": FOUR | {"q": "9/10"}}, holds=True)
    bounded = Fault("an order that does not tend to 0", "a bound that tends to 0", {"order": "1"}, holds=True)
    speed = order == ORDER_C1B
    check = partial(check_speed if speed else check_floor, order=order, besides=besides)
    assumed = (*ASSUMED, STEP_FOUR, FIXED, "Theorem 4's condition on q", *([besides] if besides else []))
    return claim(
        id,
        source,
        statement,
        [
            Step("up to 4 q sigma_G^2", RATE_4, "repaired"),
            Step("eta_s = c/sqrt(R)", ROOT_RATE_4, "repaired"),
        ]
        if repaired
        else (),
        kind="rate",
        besides=check,
        faults=(BIASED, NOT_DOUBLED, beyond, bounded, *([SLOWER] if speed else [])),
        assumptions=assumed,
        repaired=repaired,
    )


CLAIMS: list[Claim] = [
    claim(
        "SAFARI-T4",
        "Theorem 4",
        "(1/R) sum_{r=1}^R E ||grad F(x_r)||^2 <= 2 (F(x_0) - F*)/(R eta_s) + delta, delta = L eta_s (1-q) sigma_s^2 + (80 q L^2 "
        "eta_s^2/K)(sigma^2 + 6 K sigma_G^2) "
        "+ (8 L q eta_s/(mK)) sigma^2, for q at most a threshold in maxima G_1, G_2 of slopes along the path.",
        [Step(CORRECTED, THEOREM_4, "repaired")],
        kind="rate",
        besides=check_t4,
        faults=(
            Fault("no client rounds", "printed bound", {"instance": FOUR | {"q": "0"}}, holds=True),
            BIASED,
        ),
        assumptions=(*ASSUMED, INDEPENDENT, STEP_FOUR, "eta_c = 2 eta_s/K", "q at most the printed threshold"),
        readings=(
            "eta_s <= 1/(22 L) is wider than the printed condition on eta_c = 2 eta_s/K.",
            "G_1 and G_2 of the printed condition on q are those of the run itself, which depends on q: it cannot be used to choose q beforehand.",
        ),
        repaired="The mean over r = 0, ..., R - 1 has the bound with 4 q sigma_G^2 besides, and no condition on q.",
        replay=replay_four,
    ),
    claim(
        "SAFARI-T4f",
        "(51)-(55)",
        "With G_1, G_2 the largest slopes of server and client rounds, R_s (1 - L eta_s) G_1 + R_c (2/K^2 - 8 L eta_s/K^2) G_2 >= 4 R_c "
        "sigma_G^2 gives (54), "
        "the same with sums of the slopes.",
        [Step("with the least slopes", LEAST_SLOPES, "repaired")],
        besides=check_t4f,
        faults=(
            Fault(
                "two rounds, where (54) holds",
                "the condition on (55) gives (54)",
                {"instance": ALTERNATING | {"rounds": 2}},
                holds=True,
            ),
        ),
        assumptions=(*ASSUMED, STEP_FOUR),
        readings=(
            "u = 1 - L eta_s and v = 2/K^2 - 8 L eta_s/K^2. The left side of the corrected statement is (55) with the least slopes, and the right "
            "side that of (54): where the former is at least 4 R_c sigma_G^2 the latter is.",
        ),
        repaired="With the least slopes for the largest.",
        replay=replay_54,
    ),
    state(
        "SAFARI-T4g",
        PAPER,
        "Theorem 4, last line of its proof, and A.1",
        "The condition on q, with 2 L eta_s^2/K^2 in its bracket, is that (55) be at least 4 R_c sigma_G^2 for R_c = qR, R_s = (1-q)R.",
        undivided(2),
        kind="proof step",
        repaired=undivided(1),
        repaired_text="With 2 L eta_s/K^2 in the bracket, and undivided: to solve for q the bracket has to be positive.",
    ),
    denied(
        "SAFARI-R3",
        "Remark 3",
        "With a suitable q > 0 SAFARI reaches a stationary point although participation is incomplete.",
        ORDER_C1A,
        repaired=UP_TO_BIAS,
    ),
    denied(
        "SAFARI-C1a",
        "Corollary 1, first part",
        f"With eta_s = 1/sqrt(R), {FALLS} = O(1/sqrt(R)).",
        ORDER_C1A,
        repaired=UP_TO_BIAS,
    ),
    denied(
        "SAFARI-C1b",
        "Corollary 1, second part",
        f"If besides sigma_s^2 = O(sigma^2/(mK)) or q = Omega(1 - 1/(mK)), {FALLS} = O(1/sqrt(mKR)).",
        ORDER_C1B,
        NOISE_C1B,
    ),
    denied(
        "SAFARI-R6",
        "Remark 6",
        "FedAvg with incomplete participation reaches an error ball, SAFARI the rates O(1/sqrt(mKR)) and O~(1/R) of ideal participation.",
        ORDER_C1B,
        NOISE_C1B,
    ),
]
