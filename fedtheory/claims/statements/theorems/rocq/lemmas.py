"""A lemma's own statement as theorems of Rocq: about any vectors, and functions of their classes at any points, as its text says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fedtheory.claims.statements.lemma import Case, Lemma
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.parameters.derivation import states
from fedtheory.proofs.rocq.derivations import Derivation, LeafNames
from fedtheory.proofs.rocq.expressions import identifier
from fedtheory.proofs.rocq.folders import RocqTheorem


def write_lemma_for_rocq(
    lemma: Lemma, derivations: Sequence[Mapping[str, Any]], name: str, title: str = ""
) -> list[RocqTheorem]:
    """One theorem for each value of its whole numbers, in the names of its text.

    Raises
    ------
    NotAvailable
        The derivations prove something else, or not every case.
    """
    if len(derivations) != len(lemma.cases):
        raise NotAvailable(f"{len(derivations)} derivations, and {len(lemma.cases)} cases, are no statement for Rocq")
    found = []
    for k, (case, data) in enumerate(zip(lemma.cases, derivations, strict=True), 1):
        if not states(case.field, case.system, data):
            raise NotAvailable("a derivation of something stronger than the lemma is not written as the lemma's own")
        at = ", ".join(f"{word} = {value}" for word, value in case.fixed.items())
        own = f"{name}_{k}" if len(lemma.cases) > 1 else name
        found.append(Derivation(data, _leaves(case)).theorem(own, f"{title}{f' ({at})' if at else ''}"))
    return found


def _leaves(case: Case) -> LeafNames:
    """Vectors by the names of the text; of a vector of each client its average, and what it differs from it by."""
    taken = {*map(identifier, case.field.names), *(identifier(f.name) for f in case.system.functions)}
    taken |= {f"{word}_grad" for word in taken}

    def new(words: Sequence[str], shown: str) -> Iterator[str]:
        for word in words:
            own = identifier(shown.format(word))
            while own in taken:
                own += "'"
            taken.add(own)
            yield own

    mean = list(new(case.system.mean, "{}"))
    return LeafNames(mean, list(new(case.system.deviation, "{}_less_mean")))
