"""What a potential is a combination of: products of the parts of errors, of the clients' gradients where they help, and the objective gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fedtheory.proofs.every_n.vectors import Form, Number, Vector, inner_product
from fedtheory.proofs.potentials.invariants import KINDS, ErrorModel, Errors, PartKind, TracedRound

#: the gradients grad f_i(x) among the parts of V
GRADIENT = "grad"


@dataclass(frozen=True, eq=False)
class Terms:
    """What V is a combination of: its terms before a round, and their expectations after it.

    ``entries`` names the terms: those of the matrices as (kind, row, column), row <= column, an entry off the diagonal once; the objective
    gap, where V has it, is one more term and the last.
    """

    entries: tuple[tuple[PartKind, int, int], ...]
    now: tuple[Form, ...]
    then: tuple[Form, ...]

    @property
    def has_gap(self) -> bool:
        """Whether the last term is the objective gap."""
        return len(self.now) > len(self.entries)

    def combined(self, weights: Sequence[Number]) -> tuple[Form, Form]:
        """V before the round and its expectation after it."""
        before, after = Form(), Form()
        for weight, now, then in zip(weights, self.now, self.then, strict=True):
            before, after = before + now * weight, after + then * weight
        return before, after


def name_parts(model: ErrorModel, step: TracedRound) -> dict[PartKind, tuple[str, ...]]:
    """What V is quadratic in: the free parts of the fields, and, where that is asked for or oracles promise something, of the gradients at x.

    Compressors are oracles that promise something of their answers: what they leave out is compared with gradients. Where clients have nothing of
    their own, how gradients differ between them says nothing of the state, and V has their average alone.
    """
    free, promised = model.space.free, bool(step.problem.conditions)
    if not (promised or model.gradients) or not all(e["x"].certain for _, e in step.after):
        return dict(free)
    return {kind: (*free[kind], *((GRADIENT,) if promised or kind == "mean" or free[kind] else ())) for kind in KINDS}


def _parts_of(model: ErrorModel, step: TracedRound, errors: Errors) -> dict[PartKind, list[Vector]]:
    """These parts of some errors."""
    found = model.space.free_parts(errors)
    for kind, names in name_parts(model, step).items():
        if GRADIENT in names:
            g = step.problem.at(errors["x"]).g
            found[kind].append(g.averaged(None) if kind == "mean" else g - g.averaged(None))
    return found


def terms_of(model: ErrorModel, step: TracedRound) -> Terms:
    """All terms that V may have; the objective gap only where the server's next model does not depend on who takes part."""
    free = name_parts(model, step)
    entries = tuple((kind, j, k) for kind in KINDS for j in range(len(free[kind])) for k in range(j, len(free[kind])))
    before = _parts_of(model, step, step.before)
    outcomes = [(weight, _parts_of(model, step, errors)) for weight, errors in step.after]
    now = [inner_product(before[kind][j], before[kind][k]) for kind, j, k in entries]
    then = [
        _sum(inner_product(parts[kind][j], parts[kind][k], model.participation) * weight for weight, parts in outcomes)
        for kind, j, k in entries
    ]
    if all(errors["x"].certain for _, errors in step.after):
        star = step.problem.evaluations[0].value
        now.append(Form(values={step.problem.at(step.before["x"]).value: 1, star: -1}))
        reached = [(weight, step.problem.at(errors["x"]).value) for weight, errors in step.after]
        then.append(_sum(Form(values={value: weight}) for weight, value in reached) + Form(values={star: -1}))
    return Terms(entries, tuple(now), tuple(then))


def _sum(forms: Any) -> Form:
    total = Form()
    for form in forms:
        total = total + form
    return total
