"""What is said of DualFL's complexities: total work, the lower bound without strong convexity, and acceleration in the general convex case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.claims import Context, Fault, Finding, Reading, Table, at_most, draw_bound, holds
from fedtheory.claims.protocol import Clause
from fedtheory.core.arrays import squared_norm
from fedtheory.core.problem import gradient
from fedtheory.local.solvers import Exact
from paper_checks.dualfl import bounds, complexity, rates
from paper_checks.dualfl.acceleration import (
    FLAT_CHAIN,
    FLAT_LINKS,
    GRADIENTS,
    LENGTHS,
    LINKS,
    SQRT,
    WITHOUT_MOMENTUM,
    below,
    check_table,
    exponent,
    flat,
    flat_readings,
    local_gradients,
    nonsmooth,
    smooth,
)
from paper_checks.dualfl.character import server_models
from paper_checks.dualfl.common import CONVEX, claim
from paper_checks.dualfl.equivalences import dualfl_is_ascent
from paper_checks.dualfl.regularised import ORDER
from paper_checks.dualfl.theory import OF_SMOOTH
from paper_checks.steps import Step
from problems.chains import nesterov_chain

# ---- C4 --------------------------------------------------------------------------------------------------------------------


#: condition numbers, from the least to the largest of Table 1's measurement
FINER = (10, 16, 26, 42, 68, 110, 180, 300)


def check_c4(ctx: Context, *, slower: float = 0.0) -> Iterator[Finding]:
    """Local gradients a round against kappa; all gradients against those of accelerated gradient descent and Scaffnew."""
    local = [local_gradients("DualFL", k) * k**slower for k in FINER]
    yield below("local iterations", FINER, local, SQRT, f"local gradients a client and round for kappa = {FINER}")
    total = {
        "DualFL": [smooth("DualFL", k) * work for k, work in zip(FINER, local, strict=True)],
        "Scaffnew": [smooth("Scaffnew", k) * local_gradients("Scaffnew", k) for k in FINER],
        "accelerated gradient": [smooth("accelerated gradient", k) for k in FINER],
    }
    ratio = exponent(FINER, total["DualFL"]) - exponent(FINER, total["Scaffnew"])
    text = f"its exponent of all gradients in kappa is larger than Scaffnew's by {ratio:.3f}, allowed is 0.1"
    yield at_most("total like Scaffnew's", ratio, 0.1, "numeric", text)
    more = total["DualFL"][-1] / total["accelerated gradient"][-1]
    text = f"accelerated gradient descent, one gradient a round, needs {more:.0f} times fewer gradients at kappa = {FINER[-1]}, and no more rounds"
    yield holds("fewest gradients of all", more <= 1, "numeric", text, role="reading")
    rows = [[name, *(round(v) for v in values), round(exponent(FINER, values), 3)] for name, values in total.items()]
    about = f"DualFL with nu = rho = mu on Nesterov's chain with {LINKS} links, mu = 1/kappa, L = 1, two clients; claimed: the order sqrt(kappa)"
    order, title = [local[0] * (k / FINER[0]) ** 0.5 for k in FINER], "Local gradients a client and round"
    curves = [("DualFL, optimised gradient method", local)]
    yield draw_bound(title, FINER, order, xlabel="kappa", ylabel="gradients", about=about, more=curves, logx=True)
    yield Table("gradients a client", ["method", *(f"kappa = {k}" for k in FINER), "exponent"], rows)
    yield Reading(
        "Efficient in total complexity is read as: of the order of the methods that the sentence names, which is kappa; it is not the least "
        "possible, sqrt(kappa), which one gradient a round reaches in as few rounds."
    )


FLAT = nesterov_chain(FLAT_LINKS, L=1.0, mu=0.0)
POOLED = replace(FLAT, **{name: getattr(FLAT, name).mean(axis=0, keepdims=True).repeat(2, 0) for name in ("A", "b")})

# ---- C5 --------------------------------------------------------------------------------------------------------------------


def check_c5(ctx: Context, *, problem: Any = None) -> Iterator[Finding]:
    """That DualFL obeys the lower bound, and its rounds against (15) without the constant."""
    rounds = FLAT_LINKS // 2
    models = server_models(DualFL.regularised(1e-3, 1.0), problem or FLAT, rounds)
    late = max(float(np.abs(x[n:]).max()) for n, x in enumerate(models, 1))
    text = f"DualFL's coordinates after the n-th, {rounds} rounds"
    yield at_most("one coordinate a round", late, 1e-12, "numeric", text)
    least = [bounds.least_gradient_squared(n) for n in range(1, rounds + 1)]
    found = squared_norm(gradient(FLAT, models[:, None, :]))[:, 0]
    yield at_most("DualFL obeys it", least, found, "numeric", "1/(16 S) against its ||grad E||^2", error=1e-15)
    about = f"nu = alpha = 1/1000, rho = alpha/(1 + alpha), chain with {FLAT_LINKS} links; claimed: the least that one coordinate a round allows"
    title, more = "The lower bound and DualFL", [("DualFL", found)]
    yield draw_bound(title, range(1, rounds + 1), least, ylabel="||grad E||^2", about=about, more=more, logx=True)
    used = np.array(flat("DualFL"))
    eps, radius = np.array(GRADIENTS), FLAT_LINKS**0.5
    allowed = (1 + 2 * np.sqrt(1 + 2 * radius / eps)) * np.log(1 / eps)
    text = f"rounds to ||grad E|| = {GRADIENTS} against (1 + 2 sqrt(1 + 2 L R_0/eps)) log(1/eps)"
    yield at_most("upper bound, on the chain", used, allowed, "numeric", text)
    yield Reading(
        "Optimal is read among methods whose models gain one coordinate of the chain a communication, which all methods of Table 1 do from zero, "
        "whatever their local work. On the chain with n + 1 links, of which such a model has n, n > 0.28 sqrt(L R_0/eps) rounds are needed to eps, "
        "by (L R_0/eps)^2 = 16 (n + 1) S < 161 n^4. The upper half is (15), shown with 3/2 log(1/eps): DUALFL-T4.3b."
    )


# ---- C6 --------------------------------------------------------------------------------------------------------------------


def check_c6(ctx: Context, *, fast: Any = DualFL.__name__) -> Iterator[Finding]:
    """Rounds on both chains, beside plain dual ascent and gradient descent."""
    slow = [nonsmooth(False, k) for k in LENGTHS]
    times = [nonsmooth(fast == "DualFL", k) for k in LENGTHS]
    limit = SQRT * exponent(LENGTHS, slow)
    text = f"rounds on total variation chains of {LENGTHS}"
    yield below("reading: nonsmooth", LENGTHS, times, limit, text, role="reading")
    order = [times[0] * k / LENGTHS[0] for k in LENGTHS]
    about = "DualFL with nu = mu = 1, rho = 0 on total variation chains, to 1/100 of the first squared distance; claimed: the order of the length"
    title, more = "Rounds without smoothness", [("DualFL", times), ("plain dual ascent", slow)]
    yield draw_bound(title, LENGTHS, order, xlabel="length", ylabel="rounds", about=about, more=more, logx=True)
    for name in ("DualFL", "gradient descent"):
        yield from flat_readings(name)
    yield Reading(FLAT_CHAIN)
    yield Reading(
        "'Accelerates' is read as: O(eps^{-1/2}) rounds up to a logarithm, which the theorems give; the chains stand beside it. "
        "That it is the first, and that the duality technique is new to the area, is a matter of literature, which no check decides; judged is "
        "that it accelerates. With exact local solves it is accelerated dual ascent for consensus, which is known from distributed "
        "optimisation. 'General convex' is proved for nonsmooth or not strongly convex costs, not for both at once."
    )


#: what DualFL has without smoothness and without strong convexity, by Theorems 3.2 and 4.3
WITHOUT_SMOOTHNESS = Step("without smoothness", rates.T32)
REGIMES = [WITHOUT_SMOOTHNESS, *ORDER, OF_SMOOTH]
CLAIMS = [
    claim(
        "DUALFL-C4",
        "end of Section 3.3",
        "The local iteration complexity of DualFL scales with sqrt(kappa), similar to other methods, so that it is efficient in total "
        "complexity, too.",
        kind="rate",
        besides=check_c4,
        faults=(Fault("local work of the order kappa", "local iterations", {"slower": 0.5}),),
        assumptions=("chain with L = 1, mu = 1/kappa, two clients; local solves by the optimised gradient method",),
    ),
    claim(
        "DUALFL-C5",
        "after Theorem 4.3",
        "The communication complexity (15) matches the optimal one for the gradient norm up to a logarithm.",
        [Step("lower bound", complexity.LEAST_GRADIENT), *ORDER, OF_SMOOTH],
        kind="bound",
        besides=check_c5,
        faults=(Fault("all links on both clients", "one coordinate a round", {"problem": POOLED}),),
        assumptions=("f_j convex and L-smooth, not strongly convex", "start 0"),
    ),
    claim(
        "DUALFL-C6",
        "Sections 1, 5 and 8",
        [
            Clause("DualFL accelerates communication for costs that are nonsmooth,", (WITHOUT_SMOOTHNESS.name,)),
            Clause(
                "or not strongly convex; that it is the first to do so is not judged.",
                tuple(step.name for step in ORDER),
            ),
        ],
        [*REGIMES, Step("accelerated dual ascent", dualfl_is_ascent(DualFL, Exact()), "reading")],
        kind="rate",
        besides=check_c6,
        faults=(Fault("plain dual ascent", "reading: nonsmooth", {"fast": "none"}),),
        assumptions=(CONVEX, "(8), or (9) and f_j L-smooth where they are not strongly convex"),
    ),
    claim(
        "DUALFL-TAB1",
        "Table 1",
        [
            Clause(
                "Scaffnew, APDA-Inexact, 5GCS, RandProx and DualFL have communications of order sqrt(kappa),",
                ("rounds: ",),
            ),
            Clause("local iterations of order sqrt(kappa) or better, up to logarithms;", ("local: ",)),
            Clause("DualFL accelerates also without smoothness", (WITHOUT_SMOOTHNESS.name,)),
            Clause("or without strong convexity.", tuple(step.name for step in ORDER)),
        ],
        REGIMES,
        kind="rate",
        besides=check_table,
        faults=(
            Fault("no momentum", "rounds: DualFL", {"change": lambda method: WITHOUT_MOMENTUM(method.nu, method.rho)}),
            Fault("a coin of 1/kappa", "local: Scaffnew", {"coin": lambda method: replace(method, p=method.p**2)}),
        ),
        assumptions=(
            "smooth and strongly convex: chain with L = 1, mu = 1/kappa, two clients",
            "parameters as each theory sets them",
        ),
    ),
]
