"""Which engine runs a listed method, and why another does not."""

from __future__ import annotations

from fedtheory.algorithms.listing import Listed
from fedtheory.proofs.function_class import why_no_worst_case
from fedtheory.proofs.spectrum import why_not_traceable

ENGINES = ("numeric", "spectrum", "symbolic", "worst case")


def why_not(entry: Listed) -> dict[str, str]:
    """Engines that do not run the method with the defaults of its options, and the reason of each."""
    algorithm = entry.build()
    reasons = {
        "spectrum": why_not_traceable(algorithm),
        "symbolic": why_not_traceable(algorithm),
        "worst case": why_no_worst_case(algorithm),
    }
    return {engine: reason for engine, reason in reasons.items() if reason is not None}
