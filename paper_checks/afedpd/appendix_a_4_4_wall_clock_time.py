"""Appendix A.4.4: what a round costs, in gradients and in time (Tables 5 and 6)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import listed
from fedtheory.claims import Claim, Clause, Context, Fault, Finding, PrintedCell, Reading, Role, compare_cells, holds
from fedtheory.claims.experiments import claim_ordering
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered
from fedtheory.core.participation import Uniform
from fedtheory.core.randomness import Key
from fedtheory.core.wrapped import Wrapped
from fedtheory.running.families import build_problem, make_first_model
from fedtheory.running.runner import shape_start
from paper_checks.afedpd.protocol import PROTOCOL
from paper_checks.afedpd.published import SECONDS
from paper_checks.afedpd.runs import gradients_a_step, scale, setting_of, training

CLAIMS: list[Claim] = []

# ---- Tables 5 and 6 --------------------------------------------------------------------------------------------------
TIMED = tuple(SECONDS["LeNet"])
STEPS = 100  # of Tables 5 and 6
TAKES_LONGER = (("A-FedPDSAM", "A-FedPD"), ("FedSpeed", "FedDyn"), ("FedSAM", "FedAvg"))


@dataclass(frozen=True, eq=False)
class CountedGradients(Wrapped):
    """A problem that counts the minibatch gradients of clients that are taken through it, all restrictions together."""

    total: list[int]

    def changed_sample_grad(self, given: Any, x: Any, samples: Any) -> Any:
        """Return minibatch gradients, one a client."""
        self.total[0] += self.n
        return given(x, samples)


@dataclass
class Played:
    """One method on one problem, round after round."""

    method: Any
    problem: Any
    state: Any
    participants: int
    rounds: int = 0

    def round(self) -> None:
        """Play a round."""
        key = Key(0, self.rounds)
        clients = Uniform(self.participants).draw(self.problem.n, key)
        self.state = self.method.round(self.problem, self.state, clients, key)
        self.rounds += 1


def played(
    ctx: Context, labels: tuple[str, ...], network: str, steps: int, count: list[int] | None = None
) -> dict[str, Played]:
    """Return the methods, ready to play on one and the same problem."""
    base = training(ctx, "FedAvg", "IID", network=network)
    device = {} if ctx.size == "laptop" else {"device": ctx.device}
    problem = build_problem(base.problem, **base.options, seed=ctx.seed, data=ctx.data, **device)
    x0 = shape_start(problem, make_first_model(problem, None, ctx.seed))
    if count is not None:
        problem = CountedGradients(problem, count)
    found = {}
    for label in labels:
        one = training(ctx, label, "IID", network=network, steps=steps)
        method = listed(one.method).build(**one.settings)
        found[label] = Played(method, problem, method.init(problem, x0), scale(ctx).participants)
    return found


def seconds(ctx: Context, methods: Mapping[str, Played], turns: int) -> dict[str, NDArray[np.float64]]:
    """Time rounds in turns, after one that is not counted: processor time on a CPU, wall-clock time on a GPU."""
    clock = time.process_time if ctx.device == "cpu" else time.perf_counter
    found: dict[str, list[float]] = {label: [] for label in methods}
    for turn in range(turns + 1):
        for label, one in methods.items():
            begun = clock()
            one.round()
            float(abs(one.state.x).max())  # on a GPU: wait for it
            if turn:
                found[label].append(clock() - begun)
    return {label: np.array(values) for label, values in found.items()}


def timed_networks(ctx: Context) -> tuple[str, ...]:
    """Return the networks whose rounds are timed."""
    return ("LeNet", "ResNet-18") if ctx.size == "paper" else ("LeNet",)


def timed(ctx: Context, network: str) -> Iterator[Finding]:
    """Seconds of rounds, ratios to FedAvg's, and what takes longer than what."""
    found = seconds(ctx, played(ctx, TIMED, network, STEPS), ctx.sized(8, 5, 12))
    unit = np.median(found["FedAvg"])
    for slow, quick in (*TAKES_LONGER, ("A-FedPD", "FedAvg"), ("SCAFFOLD", "FedAvg")):
        text = f"{network}'s task, seconds of a round of {STEPS} steps over FedAvg's median, {slow} minus {quick}"
        role: Role = "printed" if (slow, quick) in TAKES_LONGER else "reading"
        name = f"{slow} takes longer than {quick}, {network}"
        yield ordered(name, found[slow] / unit, found[quick] / unit, text, role=role, engine="numeric")
    rows = []
    for label in TIMED:
        ratio = float(np.median(found[label]) / np.median(found["FedAvg"]))
        paper = [
            entry
            for of in ("LeNet", "ResNet-18")
            for entry in (SECONDS[of][label], f"{SECONDS[of][label] / SECONDS[of]['FedAvg']:.2f}x")
        ]
        rows.append([label, gradients_a_step(label), *paper, mean_and_deviation(found[label], 3, 1), f"{ratio:.2f}x"])
    columns = [
        "method",
        "gradients a step",
        "paper: LeNet, s",
        "ratio",
        "paper: ResNet-18, s",
        "ratio",
        "ours, s",
        "ratio of medians",
    ]
    yield make_table(
        f"Tables 5 and 6: a round of {STEPS} steps ({ctx.size} size, in place of {network})", columns, rows
    )
    if ctx.size == "paper":
        printed = {label: SECONDS[network][label] / SECONDS[network]["FedAvg"] for label in TIMED}
        cells = [PrintedCell(label, printed[label], found[label] / found["FedAvg"]) for label in TIMED[1:]]
        yield compare_cells(f"Tables 5 and 6, {network}: seconds over FedAvg's", cells, unit="")


def check_round_costs(ctx: Context, *, plain: bool = False) -> Iterator[Finding]:
    """Count gradients of a round, time rounds of 100 steps in turns; ``plain`` turns SAM off in the methods that have it."""
    labels = tuple("A-FedPD" if plain and label == "A-FedPDSAM" else label for label in TIMED)
    total = [0]
    for label, asked in zip(TIMED, labels, strict=True):
        total[0] = 0
        played(ctx, (asked,), "LeNet", scale(ctx).steps, total)[asked].round()
        expected = gradients_a_step(label) * scale(ctx).steps * scale(ctx).participants
        text = f"{total[0]} minibatch gradients in a round of {scale(ctx).steps} steps on {scale(ctx).participants} clients; {expected} expected"
        yield holds(f"gradients of {label}", total[0] == expected, "count", text)
    for network in timed_networks(ctx):
        yield from timed(ctx, network)
    yield Reading(
        "Counts are exact. Seconds are measured in turns, one round of every method after the other, so that a busy machine slows all "
        "alike; they are of this implementation on this machine, and the ratios of Tables 5 and 6 are of the authors' on theirs."
    )


CLAIMS += [
    claim_ordering(
        "AFEDPD-Q12",
        PROTOCOL,
        "Appendix A.4.4, Tables 5 and 6",
        (
            Clause(
                "A round of the methods with SAM costs two gradients a step",
                tuple(f"gradients of {label}" for label in TIMED if gradients_a_step(label) == 2),
            ),
            Clause(
                "and takes longer than without;",
                tuple(f"{slow} takes longer than {quick}" for slow, quick in TAKES_LONGER),
            ),
            Clause(
                "all others cost one.",
                tuple(f"gradients of {label}" for label in TIMED if gradients_a_step(label) == 1),
            ),
        ),
        check_round_costs,
        (Fault("no ascent in A-FedPDSAM", "gradients of A-FedPDSAM", {"plain": True}),),
        lambda ctx: (),
        lambda ctx: setting_of(*timed_networks(ctx))(ctx),
    )
]
