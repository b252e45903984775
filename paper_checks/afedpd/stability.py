"""A-FedPD's stability over one round (Eq. 10, Lemmas 5 and 6); `recursion` has that over rounds.

A hat marks a run on data of which one sample was exchanged, with the same draws; V, W and M are the norms of (theta_{i,k}^t - theta^t) -
(its hat), of theta^t - its hat, and of lambda_i^t - its hat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims import (
    Assumption,
    Claim,
    Context,
    Fault,
    Finding,
    Picture,
    PlayedStates,
    Replay,
    Theorem,
    assume,
    decided,
    draw_bound,
    refute,
    state,
)
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.afedpd import local_steps
from paper_checks.afedpd.local_steps import allowed_apart, geometric
from paper_checks.afedpd.theory import PAPER, claim
from paper_checks.formulas import formula
from paper_checks.steps import Step

Slope = Callable[[Any], Any]
Number = Callable[[Any], Any]  # makes a float, or a fraction, of a number as an instance has it


def replay_twice(
    what: str, play: Callable[[Number], tuple[Any, Any]], met: tuple[Assumption, ...], arithmetic: str = "fractions"
) -> Replay:
    """A replay that plays the instance in floats, and again in fractions: ``play`` returns what is measured and its bound."""
    numeric, exact = play(lambda value: float(Fraction(value))), play(Fraction)
    return Replay(what, *numeric, *exact, arithmetic, met)


def local_model(slopes: Sequence[Slope], theta: Any, lam: Any, rho: Any, eta: Any) -> Any:
    """Algorithm 1's local training, one stochastic gradient after the other; FedAvg's with rho = lam = 0."""
    x = theta
    for slope in slopes:
        x = local_step(x, theta, slope(x), lam, rho, eta)
    return x


def local_step(x: Any, theta: Any, g: Any, lam: Any, rho: Any, eta: Any) -> Any:
    """Algorithm 1's local step, (13), with the stochastic gradient g."""
    return x - eta * (g + lam + rho * (x - theta))


def displaced(x: Any, g: Any, lam: Any, rho: Any, eta: Any, sign: Any = 1) -> Any:
    """theta_{i,k+1} - theta^t by Eq. (10), from x = theta_{i,k} - theta^t; as printed ``sign`` is +."""
    return (1 - eta * rho) * x + sign * eta * (g + lam)


# ---- lemmas ---------------------------------------------------------------------------------------------------------


def bernoulli_step(shift: int = 1) -> bool:
    """(1 - x)(1 - k x) = 1 - (k + 1) x + k x^2, so that (1 - x)^k >= 1 - k x on [0, 1] by induction."""
    x, k = symbols("x k", positive=True)
    return is_zero((1 - x) * (1 - k * x) - (1 - (k + shift) * x) - k * x**2)


# ---- Eq. (10) -------------------------------------------------------------------------------------------------------


def play_steps(w: World, p: Parameters, last: int) -> list[Any]:
    """A client's local steps (13) from any model, with any stochastic gradients g, and FedAvg's beside them, without rho and the dual."""
    theta, lam, x, y, states = w.vector("theta"), w.vector("lam"), w.vector("x"), w.vector("y"), []
    for k in range(last + 1):
        g = w.vector(f"g {k}")
        after, fedavg = local_step(x, theta, g, lam, p.rho, p.eta), local_step(y, theta, g, lam * 0, 0, p.eta)
        states.append(SimpleNamespace(theta=theta, lam=lam, g=g, x=x, y=y, x_next=after, y_next=fedavg))
        x, y = after, fedavg
    return states


def equation_10(sign: int | Fraction) -> Theorem:
    """Eq. (10) with this sign before eta."""
    texts = {"g": "g", "eta": "eta"}
    ours = formula(partial(displaced, sign=sign), x="x - theta", lam="lam", rho="rho", **texts)
    fedavg = formula(partial(displaced, sign=sign, lam=0, rho=0), x="y - theta", **texts)
    return Theorem(
        "0 < rho, 0 < eta",
        ("off[k] == 0", "fedavg[k] == 0"),
        "one: claim 1 by identity\ntwo: claim 2 by identity",
        states=PlayedStates(play_steps),
        rounds={"k": 0},
        quantities={"off": f"norm2(x_next - theta - ({ours}))", "fedavg": f"norm2(y_next - theta - ({fedavg}))"},
    )


# ---- Lemmas 5 and 6 -------------------------------------------------------------------------------------------------

APART = {"L": "1", "R": "1", "rho": "1/10", "eta": "1", "K": 2, "S": 0, "theta": "1/8", "hat": "-1/8"}
APART_SAMPLE = APART | {"S": 100}


BELOW = "Where rho < L, -x^2/2 drives two models apart."
SIGN_OF_RHO_L = (
    "Nothing is said of the sign of rho_L = rho - L; below L the last inequality turns round. With rho > L and eta rho <= 1 the printed lemma "
    "is true, and its factor before that inequality does not grow with K. 'k + 1' is read as K, 's' as S; draws are with replacement."
)
OUTCOMES = (
    "In expectation over any m + 1 outcomes of all that is drawn, this round and before, with the probabilities p[w]: D, W and N are the squared "
    "lengths of Delta_i - hat Delta_i, theta^t - hat theta^t and lambda_i^t - hat lambda_i^t."
)


#: one step, after which the repaired bound is reached
REACHED = APART | {"K": 1}
REACHED_SAMPLE = APART_SAMPLE | {"K": 1, "theta": "1", "hat": "1"}


def replay_local(instance: Mapping[str, Any]) -> Replay:
    """Local training from two models, f(x) = -(L/2) x^2 up to |x| = R and straight beyond; S > 0: one of S samples has -f in the mirror."""
    L, R, rho, eta, theta, hat = (Fraction(instance[name]) for name in ("L", "R", "rho", "eta", "theta", "hat"))
    K, S = int(instance["K"]), int(instance["S"])

    def play(number: Number) -> tuple[Any, Any]:
        smooth, end, weight, step, start, other_start = map(number, (L, R, rho, eta, theta, hat))
        slope: Slope = lambda x: -smooth * min(max(x, -end), end)  # noqa: E731
        other: Slope = lambda x: -slope(x)  # noqa: E731
        apart = number(0)
        for drawn in product((0, 1) if S else (0,), repeat=K):
            chance = number(S - 1) ** (K - sum(drawn)) / number(S) ** K if S else number(1)
            first = local_model([slope] * K, start, number(0), weight, step) - start
            second = local_model([other if j else slope for j in drawn], other_start, number(0), weight, step)
            apart += chance * abs(first - (second - other_start))
        return apart, allowed_apart(step, K, smooth, abs(start - other_start), number(0), smooth * end, S)

    met = (
        assume("f and -f are L-smooth and L R-Lipschitz", "0 < L*R", L=L, R=R),
        assume("rho, eta", "0 < e*r <= 1", e=eta, r=rho),
    )
    what = f"E ||(theta_i^(t+1) - theta^t) - hat|| for K = {K}, rho = {rho} below L = {L}"
    return replay_twice(what, play, met)


def check_apart(ctx: Context, *, of: Mapping[str, Any], at: Mapping[str, Any]) -> Iterator[Finding]:
    """Lemmas 5 and 6 below L, and where one step reaches them."""
    yield refute("every rho > 0", replay_local, dict(of), text=BELOW)
    seen = replay_local(at)
    yield decided(
        "reached by one step",
        seen.admissible and compare(seen.exact_measured, "==", seen.exact_bound),
        f"{seen.what}: {seen.exact_measured}, which is the bound",
        role="reading",
    )


BELOW_L = "rho > L and eta rho <= 1, which the statement does not say"


def stated(id: str, source: str, statement: str, check: Any, *faults: Fault, **more: Any) -> Claim:
    """A claim on the theory, a proof step of the paper unless ``kind`` and ``paper`` say otherwise."""
    more = {"paper": PAPER, "kind": "proof step"} | more
    return Claim(id=id, source=source, statement=statement, check=check, faults=faults, **more)


APART_TEXT = (
    "E ||Delta_i - hat Delta_i|| <= eta K L E ||theta^t - hat theta^t|| + eta K E ||lambda_i^t - hat lambda_i^t||{}, "
    "Delta_i = theta_i^{{t+1}} - theta^t."
).format


def draw_drift(context: Context, *, steps: int = 40, runs: int = 20) -> Picture:
    """A client's way from the server's model in A-FedPD's local steps without duals: a constant gradient of length G = 1, and random ones."""
    eta, rho, rng = 0.1, 1.0, np.random.default_rng(context.seed)
    moved, farthest, found, worst = np.zeros((runs, 5)), 0.0, [], []
    for _ in range(steps):
        gradient = rng.standard_normal((runs, 5)) + 1
        moved = (1 - eta * rho) * moved - eta * gradient / np.linalg.norm(gradient, axis=1, keepdims=True)
        farthest = (1 - eta * rho) * farthest + eta
        found.append(np.linalg.norm(moved, axis=1))
        worst.append(farthest)
    k = np.arange(1, steps + 1)
    return draw_bound(
        "How far a client moves in k local steps",
        k,
        geometric(rho, eta, k),
        xlabel="local steps k",
        ylabel="||theta_k - theta||",
        about=f"A-FedPD's local steps with eta = 0.1, rho = 1, G = 1; random gradients of that length in five dimensions, seed {context.seed}",
        runs=found,
        more=[("a constant gradient, the worst case", worst), ("FedAvg's eta k G", eta * k)],
    )


CLAIMS: list[Claim] = [
    state(
        "AFEDPD-EQ10",
        PAPER,
        "Eq. (10)",
        "theta_{i,k+1} - theta^t = (1 - eta rho)(theta_{i,k} - theta^t) + eta (g + lambda_i), and without rho and lambda_i for FedAvg.",
        equation_10(1),
        repaired=equation_10(-1),
        repaired_text="- eta for + eta, in both lines, as the appendix has it after (17).",
        wrong={"a half of eta": equation_10(Fraction(-1, 2))},
        assumptions=("g is the stochastic gradient; with its negative for g the second line is off by 2 eta lambda_i",),
        kind="identity",
    ),
    claim(
        "AFEDPD-Q-DRIFT",
        "Text under Eq. (10)",
        "With the duals ignored ||theta_{i,k}^t - theta^t|| is a decayed sequence with a bound for every k: it is at most (1 - (1 - eta "
        "rho)^k) G/rho <= min(eta k, 1/rho) G.",
        [Step("k steps", local_steps.DRIFT)],
        picture=draw_drift,
        readings=["With duals G + ||lambda_i|| for G. A constant gradient attains it; FedAvg then moves by eta k G."],
        kind="bound",
    ),
    claim(
        "AFEDPD-L5",
        "Lemma 5, (17)",
        APART_TEXT(""),
        [
            Step("K steps, rho > L", local_steps.COMMON_SAMPLES, "repaired"),
            Step("in expectation", local_steps.LEMMA_FIVE, "repaired"),
        ],
        besides=partial(check_apart, of=APART, at=REACHED),
        faults=[
            Fault("rho = L", "every rho > 0", {"of": APART | {"rho": "1"}}, holds=True),  # type: ignore[operator]
            Fault("two steps", "reached by one step", {"at": REACHED | {"K": 2}}, sharpness=True),  # type: ignore[operator]
        ],
        assumptions=["client i has no exchanged sample"],
        repaired=f"The same with {BELOW_L}.",
        readings=[
            SIGN_OF_RHO_L,
            OUTCOMES,
        ],
        replay=replay_local,
    ),
    claim(
        "AFEDPD-L6",
        "Lemma 6, (18)",
        APART_TEXT(" + 2 eta K G/S"),
        [
            Step("in expectation", local_steps.LEMMA_SIX, "repaired"),
            Step("draws", local_steps.EXPECTED, "repaired"),
        ],
        besides=partial(check_apart, of=APART_SAMPLE, at=REACHED_SAMPLE),
        faults=[
            Fault("rho = L", "every rho > 0", {"of": APART_SAMPLE | {"rho": "1"}}, holds=True),  # type: ignore[operator]
            Fault("two steps", "reached by one step", {"at": REACHED_SAMPLE | {"K": 2}}, sharpness=True),  # type: ignore[operator]
        ],
        assumptions=[
            "one of S samples was exchanged, all as A1 and A2 say; each step draws one of them uniformly, with replacement, so that K steps find the "
            "exchanged one K/S times in expectation",
            "how often it is found is counted in multiples of a vector e, and n[K] is the expectation of that; X[k] is any length",
        ],
        repaired=f"The same with {BELOW_L}.",
        readings=[SIGN_OF_RHO_L, f"{OUTCOMES} C[w] is how often the exchanged sample is drawn."],
        replay=replay_local,
    ),
]
