"""Ours: the lower bound corrected (D11), FedAvg's divergence on less degenerate problems (D9, D10), and FedPD there (D14)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Context, Fault, Finding, Limit, Part, PlayedStates, Theorem, run_on_quadratics
from fedtheory.claims.parts import at_most, disproved
from fedtheory.claims.statements.limit import Divergence
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.core.arrays import squared_norm
from fedtheory.core.problem import constant, gradient
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import symbols
from fedtheory.running.falsifier import Search, falsify
from paper_checks.fedpd.notation import A1, A2, checked, derived
from paper_checks.fedpd.section_2_1_lower_bound import CTA, LINEAR, link, lower_bound_holds, one_coordinate
from paper_checks.fedpd.section_2_2_fedavg_diverges import GROWS_FROM_AFAR
from paper_checks.fedpd.section_4_3_other_algorithms import gradients_vanish
from paper_checks.fedpd.z_ours_theorem_1 import corrected_theorem_one
from paper_checks.steps import Step
from problems.fedavg_divergence import curved_counterexample
from problems.lower_bound import ZeroChain, two_group_chain

CLAIMS: list[Claim] = []


# ---- D11: the lower bound corrected ----------------------------------------------------------------------------------
def _gradient_while_closed(ctx: Context, limit: float) -> Part:
    """Search for the smallest ||grad g||^2 among points with x[T+1] = 0, on the chain in units of its own, T = 6."""
    chain = two_group_chain(6, L=19 * np.pi, epsilon=1.0)

    def sample(rng: np.random.Generator, count: int) -> dict[str, NDArray[np.float64]]:
        scale = 10 ** rng.uniform(-2, 2, (count, 1))
        return {"y": scale * rng.standard_normal((count, 6)) * rng.choice([0.01, 1, 1], (count, 6))}

    def ratio(c: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        x = np.concatenate([c["y"], np.zeros((len(c["y"]), 1))], axis=-1)[:, None, :]
        return np.asarray(limit / squared_norm(gradient(chain, x))[:, 0])

    found = falsify(Search(sample, ratio), ctx.pick(20_000, 400_000), seed=ctx.seed)
    text = f"smallest ||grad g||^2 found over {found.evaluations} points with x[T+1] = 0: {limit / found.ratio:.4f} (proved: above 1)"
    return at_most("gradient while x[T+1] = 0", found.ratio, 1.0, "falsifier", text)


def lipschitz_ratio(chain: ZeroChain, client_smoothness: float, count: int, seed: int) -> float:
    """Largest sampled ||grad f_i(x) - grad f_i(y)|| / ||x - y||, over the stated constant; some points near the kinks."""
    rng = np.random.default_rng(seed)
    scale = 1 / chain.scale
    x = scale * rng.choice([1e-8, 0.3, 1.0, 5.0, 300.0], (count, 1, chain.d)) * rng.standard_normal((count, 1, chain.d))
    step = scale * 10 ** rng.uniform(-5, 0, (count, 1, 1)) * rng.standard_normal((count, 1, chain.d))
    difference = chain.grad(x + step) - chain.grad(x)
    return float(np.sqrt(squared_norm(difference) / squared_norm(step)).max() / client_smoothness)


def a_linear_map_arrives(T: int, v: int) -> bool:
    """Whether the map -c 1 e_1^T, which takes the clients' first gradient c' e_1 to v 1, leaves ||grad g||^2 < 1 on the chain of T links.

    At v 1 the derivative by the first coordinate is -psi(1) phi'(v) - psi'(v) phi(v), by the next ones -psi(v) phi'(v) - psi'(v) phi(v), without
    the second term at the last.
    """
    psi_, phi_ = link(symbols("v", positive=True))
    w = symbols("v", positive=True)
    along, across = (psi_ * phi_.diff(w)).subs(w, v), (psi_.diff(w) * phi_).subs(w, v)
    first = psi_.subs(w, 1) * phi_.diff(w).subs(w, v) + across
    return compare(first**2 + (T - 1) * (along + across) ** 2 + along**2, "<", 1)


def check_d11(
    ctx: Context, *, gradient_bound: float = 1.0, links: float = 1.0, shared: int = 0, reach: int = 100
) -> Iterator[Finding]:
    """Zero-chain property, smoothness, gradient bound, and the argument."""
    yield LINEAR
    yield disproved(
        "reading: any linear maps",
        a_linear_map_arrives(20, reach),
        f"T = 20: clients start at 0, where their gradients are multiples of e_1; a matrix -c 1 e_1^T takes them to {reach} times the vector of "
        "ones, where ||grad g||^2 < 1, after one communication",
        role="reading",
    )
    yield from map(one_coordinate, ctx.pick((8, 20), (8, 20, 60)))
    yield lower_bound_holds(gradient_bound, links, shared)
    chain = two_group_chain(6, L=1.0)
    ratio = lipschitz_ratio(chain, links * float(constant(chain, "L")), ctx.pick(20_000, 500_000), ctx.seed)
    text = (
        f"largest sampled Lipschitz ratio of a client's gradient is {ratio:.4f} L (16/19 = 0.842 is the known supremum)"
    )
    yield at_most("each client is L-smooth", ratio, 1.0, "falsifier", text)
    yield _gradient_while_closed(ctx, gradient_bound)


CLAIMS += [
    checked(
        "FEDPD-D11",
        "divergence",
        "correction of the supplement's Theorem 4",
        "On the two-group chain ||grad f||^2 > epsilon at the server's model until communication T >= L D_0/(76 pi^2 epsilon) - 0.32, "
        "for any method that takes linear combinations and any number of local steps, on the same chain.",
        check_d11,
        Fault("gradient bound 10", "gradient while x[T+1] = 0", {"gradient_bound": 10.0}),
        Fault("smoothness constant 10 pi", "each client is L-smooth", {"links": 10 / 19}),
        Fault("smoothness constant 18.7 pi", "argument", {"links": 18.7 / 19}),
        Fault("gradient bound 1.6", "argument", {"gradient_bound": 1.6}),
        Fault("one client holds every link", "argument", {"shared": 1}),
        Fault("a map that stays near", "reading: any linear maps", {"reach": 1}, holds=True),
        assumes=(A1, A2, CTA),
    )
]


# ---- D9: one step at a time ------------------------------------------------------------------------------------------
THRESHOLD_OF_TWO_STEPS = "2*(a - b)/(a**2 + b**2)"


def _curved(kind: Any, lr: str, region: str = "0 < b < a", Q: int = 2, **more: Any) -> Any:
    given = {"point": 0, **more} if kind is Limit else more
    return kind("fedavg", f"lr = {lr}, steps = {Q}", problem=curved_counterexample, region=region, **given)


def _beyond(threshold: str) -> Divergence:
    multiplier = "((1 - lr*a)**2 + (1 + lr*b)**2)/2"
    return _curved(Divergence, "lr", f"0 < b < a, {threshold} < lr", multiplier=multiplier)  # type: ignore[no-any-return]


#: with a = 2, b = 1: local steps, and step sizes on both sides of their threshold
OF_MORE_STEPS = [
    Step(f"reading: Q = {Q}, lr = {lr}", _curved(kind, lr, "a in 2..2, b in 1..1", Q), "reading")
    for Q, ends in {4: ("153201/10**6", "153203/10**6"), 8: ("675359/10**7", "675361/10**7")}.items()
    for kind, lr in zip((Limit, Divergence), ends, strict=True)
]
CLAIMS += [
    derived(
        "FEDPD-D9",
        "non-degenerate version of Claim II.2, one step at a time",
        "On f_1 = (a/2)x^2, f_2 = -(b/2)x^2 with a > b > 0 (f strongly convex) FedAvg with Q = 2 diverges iff "
        "eta > 2(a-b)/(a^2+b^2).",
        [
            Step(
                "above the threshold",
                _beyond(THRESHOLD_OF_TWO_STEPS),
                wrong={
                    "threshold (a-b)/(a^2+b^2)": _beyond("(a - b)/(a**2 + b**2)"),
                    "a threshold 1 % too low": _beyond(f"99/100*{THRESHOLD_OF_TWO_STEPS}"),
                },
            ),
            Step("below the threshold", _curved(Limit, "lr", f"0 < b < a, 0 < lr < {THRESHOLD_OF_TWO_STEPS}")),
            Step(
                "at the threshold",
                _curved(Limit, THRESHOLD_OF_TWO_STEPS, point=1),
                wrong={"one 1 % too high": _curved(Limit, f"101/100*{THRESHOLD_OF_TWO_STEPS}", point=1)},
            ),
            *OF_MORE_STEPS,
        ],
        kind="divergence",
        assumptions=(A1, A2),
        readings=("A3 holds with D^2 = 2(a^2+b^2)/(a-b)^2, a large dissimilarity: no instance of Claim II.2 itself.",),
    )
]


# ---- D10: all constant steps at once ---------------------------------------------------------------------------------
@cache
def reaches_the_minimiser() -> Theorem:
    """x_0^t -> 0 where f(x) = sqrt(1 + ||x||^2), whose gradient is x/f(x)."""
    own = gradients_vanish()
    return replace(
        own,
        name="FedPD on sqrt(1 + ||x||^2)",
        units="value = 1, length = 1",
        quantities={**own.quantities, "X": "norm2(x)"},
        rounds={"t": 1, "T": 1},
        rests={"sums": corrected_theorem_one(), "vanish": own},
        given={
            **own.given,
            "least": "1 <= f[t]",
            "value": "f[t]**2 == 1 + X[t]",
            "slope": "grad2[t]*(1 + X[t]) == X[t]",
        },
        claim="X[t] -> 0 as t",
        proof="""
      pos:   0 <= grad2[t]                        by derivation
      far:   0 <= X[t]                            by derivation
      sign:  0 <= f[t]                            by combine 1*least
      falls: f[T] <= f[0]                         by combine (1/K)*sums
      near:  X[t] <= grad2[t]*f[0]**2
               by combine (-1)*slope, (-grad2[t])*value, (2*grad2[t]*f[t])*falls(T=t), grad2[t]*square(f[0] - f[t])
      done:  claim                                by squeeze far, near, vanish
    """,
    )


CLAIMS += [
    derived(
        "FEDPD-D10",
        "non-degenerate version of Claim II.2, all constant steps at once",
        "On f_{1,2} = +-x^2 + sqrt(1+x^2) (f convex, coercive, unique minimiser; A3 fails) FedAvg diverges for every constant "
        "eta > 0 and Q >= 2 from every sufficiently large |x^0|, while FedPD with exact solves and u < 1/2 converges to the minimiser.",
        [
            Step(
                "FedAvg diverges",
                GROWS_FROM_AFAR,
                wrong={
                    "any numbers of local steps": replace(
                        GROWS_FROM_AFAR, given={**GROWS_FROM_AFAR.given, "local": "d[t] + d[t+1] == e[t]"}
                    )
                },
            ),
            Step("FedPD converges", reaches_the_minimiser()),
        ],
        kind="divergence",
        assumptions=(A1, A2, "A3 fails"),
        readings=(
            "a = 2. A slope of sqrt(1+x^2) is at most one; y_1 and y_2 are the clients' models after t local steps, u is 1 or -1, the sign of x^0. "
            "With Q >= 2 steps a round d_t is 0 after every Q-th and 1 after the others; every third round ends at some t = 3k, with |x| >= p.",
            "L = 3, and mean ||grad f_i||^2 >= 4x^2, where |f'| < 1. The minimiser is 0.",
        ),
    )
]


# ---- D14: FedPD there ------------------------------------------------------------------------------------------------
_FIELDS = ("x", "x_1", "x_2", "x0_1", "x0_2", "lam_1", "lam_2")


def fedpd_stands_still(second: str = "-a") -> Theorem:
    """FedPD with exact solves on curvatures a and ``second``: from any state, the third round changes nothing that the second left."""
    run = run_on_quadratics(
        "fedpd", "eta, init_dual = grad, exact, p = 0", curvatures=("a", second), centres=("0", "0")
    )

    def play_ahead(world: World, p: Parameters, last: int) -> list[Any]:
        played = run.play(world, p, last + 3)
        for k in range(last + 1):
            ((_, now),), *later = played[k : k + 4]
            for name in _FIELDS:
                second, third = (getattr(state, name) for ((_, state),) in later[1:])
                setattr(now, f"{name}_moved", third - second)
        return list(played[: last + 1])

    return Theorem(
        name="FedPD on +-(a/2)||x||^2",
        region="0 < a, 0 < eta < 1/a",
        states=PlayedStates(play_ahead),
        rounds={"t": 0},
        quantities={f"{name}_moves": f"norm2({name}_moved)" for name in _FIELDS},
        claim=tuple(f"{name}_moves[t] == 0" for name in _FIELDS),
        proof="\n".join(f"{name}: claim {k} by identity" for k, name in enumerate(_FIELDS, start=1)),
    )


CLAIMS += [
    derived(
        "FEDPD-D14",
        "FedPD on the instance of Claim II.2",
        "On f_1 = x^2, f_2 = -x^2 a round M of FedPD with exact solves has the multipliers 0 and 1 only, as M^3 = M^2, for every u < 1: from any "
        "state nothing changes after two rounds.",
        [
            Step(
                "the third round is the second",
                fedpd_stands_still(),
                wrong={"second client flatter by a hundredth": fedpd_stands_still("-99/100*a")},
            )
        ],
        kind="identity",
        assumptions=(A1, "u < 1", "exact local solves"),
    )
]
