"""Section 4: Phase I (footnote 2 and Remark 2), Phase II (Remark 3), and line 20 of Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims import Claim, Clause, Context, Covered, Fault, Finding, Reading, Replay, Setting, Theorem, lemma
from fedtheory.claims.parts import assume, at_most, holds, refute
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, bar, norm2
from fedtheory.core.layers import Layer
from fedtheory.core.regularisers import L1, NuclearNorm
from paper_checks.fedslr import printed
from paper_checks.fedslr.appendix_c_2_facts import same_states
from paper_checks.fedslr.appendix_c_3_proof_of_theorem_1 import lemma_1
from paper_checks.fedslr.networks import gigabytes, numbers, resnet18, sent
from paper_checks.fedslr.notation import PAPER, claim
from paper_checks.fedslr.played import changed, fractions_of
from paper_checks.fedslr.rounds import ROUNDS, play_rounds
from paper_checks.fedslr.timing import takes_at_most
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- Footnote 2 ------------------------------------------------------------------------------------------------------
def check_uplink(ctx: Context, *, method: str = "fedslr-global") -> Iterator[Finding]:
    """The uplink is a whole model, however low the rank; and no total of the tables is below it."""
    (up, _), d = sent(method, resnet18(10, 3)), numbers(resnet18(10, 3))
    said = f"{up:,} numbers up from every active client, the network has {d:,}"
    yield holds("uplink", up == d, "count", said, covered=Covered(1, "cases", whole=True))
    totals = [row[1] for tab in (printed.TABLE_3, printed.TABLE_4, printed.TABLE_5) for row in tab.values()]
    totals += list(printed.TABLE_2["FedSLR (GKR)"][::2])
    least, every = float(gigabytes(d)), Covered(len(totals), "cases", whole=True)
    text = f"the uplink alone is {least:.2f} GB, the smallest printed total {min(totals)}"
    yield at_most("printed totals", least, totals, "count", text, covered=every)


CLAIMS += [
    Claim(
        "FEDSLR-C3",
        PAPER,
        "identity",
        "Footnote 2; Table 2",
        "The uplink is not reduced.",
        check_uplink,
        (Fault("the last layer alone goes up", "uplink", {"method": "lg-fedavg"}),),
    ),
]


# ---- Remark 2 --------------------------------------------------------------------------------------------------------
def play_beside_proximal_gradient(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds, and where a step of proximal gradient descent goes from w_t."""
    states = play_rounds(w, p, last)
    for k, state in enumerate(states):
        slope, _ = w.at(state.f_i, state.w + state.gamma_i * 0, f"f_i(w) {k}")
        z = w.vector(f"z {k}")
        state.plain = state.w - (bar(slope) + z) * p.eta
        w.at(state.R, state.plain, f"R plain {k}", g=z)
    return states


REDUCES = Theorem(
    "0 < L, 0 < eta",
    "far[t] -> 0 as t",
    """
      size:  0 <= far[t]                           by derivation
      near:  far[t] <= (1 + L*eta)**2*step[t]      by derivation
      done:  claim                                 by squeeze size, near, steps
    """,
    states=replace(ROUNDS, play=play_beside_proximal_gradient),
    rounds={"t": 1},
    quantities={"far": "norm2(w_next - plain)", "step": "mean(norm2(w_i_next - w))"},
    given={"steps": "step[t] -> 0 as t"},
)
CLAIMS += [
    claim(
        "FEDSLR-R2",
        "Remark 2",
        (
            Clause("gamma_{i,t+1} = grad f_i(w_{i,t+1}),", ("the duals",)),
            Clause(
                "and as w_{i,t+1} - w_t -> 0 a round reduces to w_{t+1} = Prox(w_t - eta_g grad f(w_t)).",
                ("the limit",),
            ),
        ),
        [
            Step(
                "the duals",
                same_states(),
                wrong={"duals of the other sign": same_states(changed("sign of the dual step"))},
            ),
            Step("the limit", REDUCES),
            Step("w_{i,t+1} and w_t", lemma_1),
        ],
        assumptions=["exact local solves", "the limit: A1, and Lemma 1 for t >= 1"],
        readings=[
            "By Lemma 1 w_{i,t+1} - w_t -> 0 whenever w_{i,t+1} - w_{i,t} -> 0. One decomposition a round in place of M K is Algorithm 1 itself."
        ],
    ),
]


# ---- Remark 3 --------------------------------------------------------------------------------------------------------
def check_cost(ctx: Context, *, regulariser: Any = None) -> Iterator[Finding]:
    """Time of both operators on one layer, in turns."""
    side = 192
    layer = (Layer("matrix", (side, side)),)
    x = ctx.rng().standard_normal((1, side * side))
    entrywise, spectral = L1(0.1) if regulariser is None else regulariser(layer), NuclearNorm(0.1, layer)
    text = f"CPU time of soft thresholding {side} x {side} entries, in times that of thresholding the singular values"
    yield takes_at_most("one operator", 0.2, lambda: entrywise.prox(x, 0.1), lambda: spectral.prox(x, 0.1), text)
    yield Reading(
        "Soft thresholding takes a few operations an entry, a decomposition of a d x d matrix of the order of d of them. What 'not large' means is "
        "read as a fifth at most; ResNet-18's layers are larger than the one here, which favours soft thresholding further."
    )


CLAIMS += [
    Claim(
        "FEDSLR-R3",
        PAPER,
        "ordering",
        "Remark 3",
        "The operator of the l1 norm costs little beside that of the nuclear norm.",
        check_cost,
        (Fault("a nuclear norm in its place", "one operator", {"regulariser": lambda layer: NuclearNorm(0.1, layer)}),),
        setting=lambda ctx: Setting("random points", "this machine's processor", False),
    ),
]


# ---- Algorithm 1, line 20 --------------------------------------------------------------------------------------------
@lemma("a solution of (P2) stays", "(7); Algorithm 1, line 20", "0 < lr, 0 < mu", c=1)
def stays(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """Where 0 = g + mu s, s a subgradient of h at p, no z is better than p in the proximal problem of p - lr g with the threshold mu lr."""
    h = w.function(None, 0, name="h")
    here, s, z = w.vector("p"), w.vector("s"), w.vector("z")
    g = s * -p.mu
    _, value = w.at(h, here, "at p", g=s)
    _, other = w.at(h, z, "at z")
    near = norm2(here - z) * c.c  # by strong convexity
    return (value - other) * (p.lr * p.mu) + norm2(g) * p.lr**2 / 2 + near / 2 - norm2(z - here + g * p.lr) / 2


def replay_line_20(instance: Mapping[str, Any]) -> Replay:
    """How far line 20 moves the solution b - mu of min_p (p - b)^2/2 + mu |p|."""
    exact = fractions_of(instance, ("b", "mu", "lr", "eta"))
    b, mu, lr, eta = exact
    floats = [float(v) for v in exact]

    def moved(b: Any, mu: Any, lr: Any, eta: Any) -> Any:
        solution = b - mu
        kind = object if isinstance(b, Fraction) else float
        new = L1(mu).prox(np.array([[solution - lr * (solution - b)]], dtype=kind), eta)[0, 0]
        return abs(new - solution)

    assumptions = [
        assume("b - mu is the solution: b > mu > 0", "0 < mu < b", mu=mu, b=b),
        assume("A1 with L = 1, step size", "0 < lr <= 1", lr=lr),
        assume("a step size in the threshold", "0 < eta", eta=eta),
    ]
    what = "|p_{i,t,k+1} - p*| where p_{i,t,k} = p* solves (P2), against 0"
    return Replay(what, float(moved(*floats)), 0.0, moved(*exact), 0, "fractions", tuple(assumptions))


def line_20(ctx: Context, *, eta: str = "1/4") -> Iterator[Finding]:
    """A solution of (P2) that line 20 moves, where the threshold has another step than the gradient."""
    yield refute("a solution moves", replay_line_20, {"b": "3", "mu": "1", "lr": "1/2", "eta": eta})


CLAIMS += [
    claim(
        "FEDSLR-LINE20",
        "Algorithm 1, line 20; Algorithm 2, line 23; Algorithm 3, line 20",
        "p_{i,t,k+1} = Prox_{mu eta ||.||_1}(p_{i,t,k} - eta_l grad_2 f_i(w_t + p_{i,t,k}; xi)) keeps the solutions of (P2), for full gradients.",
        [Step("threshold mu eta_l", stays, "repaired")],
        assumptions=["A1", "full gradients"],
        repaired="Prox_{mu eta_l ||.||_1}(p_{i,t,k} - eta_l grad_2 f_i(w_t + p_{i,t,k})) keeps them, as (7) has it.",
        readings=[
            "eta is defined nowhere in the algorithms: a misprint for eta_l, as (7) shows, and all other claims read it so. Printed, it is any other "
            "step size, such as eta_g. Of ||.||_1 the corrected statement uses that it is convex."
        ],
        kind="identity",
        besides=line_20,
        faults=(Fault("eta = eta_l", "a solution moves", {"eta": "1/2"}, holds=True),),
        replay=replay_line_20,
    ),
]
