"""Time that a factored layer takes against the layer itself: Table 9."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.chance import chance_of_signs
from fedtheory.claims.claim import Claim, Fault, Finding, Part, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.orderings import make_table
from fedtheory.claims.parts import at_most
from fedtheory.claims.protocol import Clause, Setting, join_clauses
from paper_checks.fedslr import printed
from paper_checks.fedslr.exact_runs import PAPER

SIDE, RANK, BATCH = 1024, 64, 512
TURNS, CALLS = 40, 3


def compare_times(first: Callable[[], Any], second: Callable[[], Any]) -> NDArray[np.float64]:
    """Return for each turn how many times the second's CPU time the first takes; both in every turn, so load falls on both."""
    found = []
    for turn in range(TURNS + 2):
        spent = []
        for work in (first, second):
            begun = time.process_time()
            for _ in range(CALLS):
                work()
            spent.append(time.process_time() - begun)
        if turn >= 2:  # the first calls are not counted
            found.append(spent[0] / max(spent[1], 1e-9))
    return np.array(found)


def takes_at_most(name: str, limit: float, first: Callable[[], Any], second: Callable[[], Any], text: str) -> Part:
    """Part: the first takes at most ``limit`` times the second's CPU time, in the median of turns; ``text`` tells that number."""
    turns = compare_times(first, second)
    found = float(np.median(turns))
    chance = chance_of_signs(int((turns > limit).sum()), TURNS)
    return at_most(name, found, limit, "numeric", f"{text}, median of {TURNS} turns: {found:.3f}", chance=chance)


def check_latency(ctx: Context, *, rank: int = RANK) -> Iterator[Finding]:
    """Apply a linear layer and its factors to a batch, in turns."""
    rng = ctx.rng()
    x, u, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((BATCH, SIDE), (SIDE, rank), (SIDE, rank)))
    w: NDArray[np.float32] = v @ u.T
    text = (
        f"CPU time of a {SIDE} x {SIDE} layer by factors of rank {rank} on {BATCH} samples, with {2 * rank / SIDE:.3f} times the layer's "
        "multiplications, in times the layer's"
    )
    yield takes_at_most("factored layer", 1.0, lambda: (x @ v) @ u.T, lambda: x @ w, text)
    yield make_table(
        "Table 9 (Tesla M60, batch of 20, CIFAR-100)",
        ["lam", "GKR parameters (M)", "latency (ms)", "parameters, of all", "latency, of lam = 0"],
        [[lam, size, ms, round(size / 11.17, 3), round(ms / 10.98, 3)] for lam, (size, ms) in printed.TABLE_9.items()],
    )
    yield Reading(
        "Times are a machine's own, so the paper's milliseconds are not compared. Its latencies fall much less than its parameters (6.53 of "
        "10.98 ms at 11 % of the parameters): layers of low rank are two convolutions in place of one."
    )


CLAUSES = (Clause("Layers of low rank compute faster by their factors.", ("factored layer",)),)
CLAIMS = [
    Claim(
        "FEDSLR-C7",
        PAPER,
        "ordering",
        "Appendix B.3.5; Table 9",
        join_clauses(CLAUSES),
        check_latency,
        (Fault("factors of full rank", "factored layer", {"rank": SIDE}),),
        setting=lambda ctx: Setting("random batches", f"a layer of {SIDE} x {SIDE} on this machine's processor", False),
        clauses=CLAUSES,
    ),
]
