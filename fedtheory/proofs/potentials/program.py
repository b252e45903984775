"""The semidefinite program behind a search for potentials, and exact proofs of what it finds (`fedtheory.proofs.potentials.smallest_rate`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.proofs.certificates.faces import read_faces
from fedtheory.proofs.certificates.questions import store_class, store_object, store_participation
from fedtheory.proofs.certificates.upper_bounds import (
    FACE_ACCURACY,
    MARGINS,
    Certificate,
    balance_multipliers,
    certify,
    without_vanishing,
)
from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.conditions import interpolate_clients
from fedtheory.proofs.every_n.model import Function, Model
from fedtheory.proofs.every_n.oracles import Evaluation
from fedtheory.proofs.every_n.vectors import Form, Number, square
from fedtheory.proofs.potentials.invariants import ErrorModel, TracedRound
from fedtheory.proofs.potentials.terms import GRADIENT, Terms, name_parts, terms_of
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.semidefinite.bounded import solve_in_its_unit
from fedtheory.proofs.semidefinite.program import Matrix, Program

#: coefficients of some forms: blocks S and Q ``(forms, size, size)``, values ``(forms, v)``
Stack = tuple[Matrix, Matrix, Matrix]


@dataclass(frozen=True, eq=False)
class Condition:
    """Evaluations, and their interpolation conditions ``form <= 0``, that a condition on V may use."""

    evaluations: tuple[Evaluation, ...]
    inequalities: tuple[tuple[str, Form], ...]

    @property
    def forms(self) -> list[Form]:
        """The interpolation conditions without names."""
        return [form for _, form in self.inequalities]


@dataclass(frozen=True, eq=False)
class PotentialUnits:
    """A change of scale that makes programs of any L alike: sizes of the leaves, and L to a power of two."""

    leaves: Mapping[tuple[str, int], Fraction]
    steepness: Fraction

    def dense(self, coordinates: Coordinates, forms: Sequence[Form], scales: Sequence[Fraction]) -> Stack:
        """Coefficients of ``scale * form`` on leaves and values in units, as floats, in symmetric matrices."""
        blocks = [np.zeros((len(forms), len(leaves), len(leaves))) for leaves in coordinates.leaves]
        linear = np.zeros((len(forms), len(coordinates.values)))
        at = {leaf: k for k, leaf in enumerate(coordinates.values)}
        where = [{leaf: k for k, leaf in enumerate(leaves)} for leaves in coordinates.leaves]
        for k, (form, scale) in enumerate(zip(forms, scales, strict=True)):
            for (matrix, i, j), value in form.gram.items():
                b = "SQ".index(matrix)
                u, v = where[b][i], where[b][j]
                share = float(value * scale * self.leaves[matrix, i] * self.leaves[matrix, j]) / 2
                blocks[b][k, u, v] += share
                blocks[b][k, v, u] += share
            for t, value in form.values.items():
                if t in at:
                    linear[k, at[t]] += float(value * scale * self.steepness)
        return blocks[0], blocks[1], linear


@dataclass(frozen=True)
class Coordinates:
    """The leaves of both blocks and the values that occur in some forms."""

    leaves: tuple[tuple[int, ...], tuple[int, ...]]
    values: tuple[int, ...]

    @classmethod
    def of(cls, forms: Sequence[Form], star: int) -> Coordinates:
        """Read them off; the value at x* is left out, because its balance follows from the others."""
        found: dict[str, set[int]] = {"S": set(), "Q": set()}
        for form in forms:
            for matrix, i, j in form.gram:
                found[matrix] |= {i, j}
        values = {t for form in forms for t in form.values} - {star}
        return cls((tuple(sorted(found["S"])), tuple(sorted(found["Q"]))), tuple(sorted(values)))


@dataclass(frozen=True, eq=False)
class PotentialSearch:
    """The conditions *decrease* and *floor* on V (`fedtheory.proofs.potentials.smallest_rate`), in fractions for proofs and in floats for the solver.

    ``scales``: what the multipliers of a program are to be multiplied with; they come in units.
    """

    model: ErrorModel
    step: TracedRound
    terms: Terms
    decrease: Condition
    floor: Condition
    goal: Form  # ||x - x*||^2
    units: PotentialUnits
    scales: tuple[Fraction, ...]
    floats: Mapping[str, Stack]

    @classmethod
    def of(cls, model: ErrorModel) -> PotentialSearch:
        """Trace a round, and collect the forms."""
        step = model.step()
        terms = terms_of(model, step)
        found = step.problem.evaluations
        near = [found[0], step.problem.at(step.before["x"])] if terms.has_gap else []
        promised = [(f"{name} {k}", form) for k, (name, form) in enumerate(step.problem.conditions)]
        decrease = Condition(tuple(found), (*interpolate_clients(found, model.function_class), *promised))
        floor = Condition(tuple(near), tuple(interpolate_clients(near, model.function_class)))
        goal = square(step.before["x"])

        units = PotentialUnits(model.leaf_units(step), model.steepness)
        free, sizes_of = name_parts(model, step), {**model.units, GRADIENT: model.steepness}
        sizes = [sizes_of[free[kind][j]] * sizes_of[free[kind][k]] for kind, j, k in terms.entries]
        of_terms = [1 / size for size in sizes] + [1 / model.steepness] * terms.has_gap
        of_first, of_second = ([1 / model.steepness] * len(c.inequalities) for c in (decrease, floor))
        star = found[0].value
        both = Coordinates.of([*terms.now, *terms.then, *decrease.forms], star)
        low = Coordinates.of([goal, *terms.now, *floor.forms], star)
        floats = {
            "now": units.dense(both, terms.now, of_terms),
            "then": units.dense(both, terms.then, of_terms),
            "decrease": units.dense(both, decrease.forms, of_first),
            "V": units.dense(low, terms.now, of_terms),
            "floor": units.dense(low, floor.forms, of_second),
            "goal": units.dense(low, [goal], [Fraction(1)]),
        }
        scales = (*of_terms, *of_first, *of_second)
        return cls(model, step, terms, decrease, floor, goal, units, scales, floats)

    def size(self) -> dict[str, int]:
        """Sizes of the program."""
        return {
            "mean": self.step.leaves.mean,
            "deviation": self.step.leaves.deviation,
            "constraints": len(self.decrease.inequalities) + len(self.floor.inequalities),
            "coefficients": len(self.terms.now),
        }

    def program(self, rate: float) -> Program:
        """Its multipliers are V's coefficients, then those of the inequalities of both conditions; a small V is asked for."""
        data = self.floats
        unknown = len(self.terms.now)
        first, second = len(self.decrease.inequalities), len(self.floor.inequalities)
        upper = [
            np.concatenate([rate * now - then, own, np.zeros((second, *now.shape[1:]))])
            for now, then, own in zip(data["now"], data["then"], data["decrease"], strict=True)
        ]
        lower = [
            np.concatenate([now, np.zeros((first, *now.shape[1:])), own])
            for now, own in zip(data["V"], data["floor"], strict=True)
        ]
        blocks = [(rows, np.zeros(rows.shape[1:])) for rows in upper[:2]]
        blocks += [(rows, goal[0]) for rows, goal in zip(lower[:2], data["goal"][:2], strict=True)]
        values = np.concatenate([upper[2], lower[2]], axis=1)
        bounds = np.zeros(len(values))
        for k, (_, i, j) in enumerate(self.terms.entries):
            bounds[k] = float(i == j)
        # the gap costs between mu/2 and L/2, so that a V above ||x - x*||^2 has a least cost, and the gap is not used in vain
        function_class = self.model.function_class
        bounds[len(self.terms.entries) : unknown] = (
            float((function_class.L + function_class.mu) / self.units.steepness) / 4
        )
        return _program(blocks, values, np.zeros(values.shape[1]), bounds, unknown)

    def weights(self, multipliers: NDArray[Any]) -> list[float]:
        """V's coefficients, from a program's multipliers."""
        return [
            float(y) * float(scale) for y, scale in zip(multipliers, self.scales[: len(self.terms.now)], strict=False)
        ]

    def prove(self, rate: Fraction) -> tuple[list[Fraction], Certificate, Certificate] | None:
        """V's coefficients as fractions with exact certificates of decrease and floor; None if no margin leads to proofs."""
        program = self.program(float(rate))
        unknown, split = len(self.terms.now), len(self.terms.now) + len(self.decrease.inequalities)
        for margin in MARGINS:
            try:
                answer = conic.find_multipliers(
                    _strengthened(program, margin), solvers=("CLARABEL",), tolerance=max(1e-7, margin)
                )
                if isinstance(answer, conic.Ray):
                    return None
                found = _fractions(answer.multipliers, self.scales)
                before, after = self.terms.combined(found[:unknown])
                about = self._about(dict(zip(self.names(), found[:unknown], strict=True)))
                decrease = self._certificate(
                    self.decrease,
                    after - before * rate,
                    found[unknown:split],
                    {"kind": "decrease", "rate": str(rate), **about},
                )
                floor = self._certificate(self.floor, self.goal - before, found[split:], {"kind": "floor", **about})
            except (Refused, SolverFailed):
                continue
            return found[:unknown], decrease, floor
        return None

    def rate_of(self, before: Form, after: Form, *, time_limit: float | None = None) -> float:
        """The largest ``after / before``, of a given V before a round and after it."""
        return self.solve_ratio(before, after, time_limit=time_limit).value

    def solve_ratio(self, before: Form, after: Form, *, time_limit: float | None = None) -> conic.Solution:
        """The same with what the solver returned."""
        return solve_in_its_unit(self._ratio(before, after)[0], time_limit=time_limit)

    def prove_rate_of(self, potential: Mapping[str, Fraction]) -> tuple[Fraction, Certificate]:
        """The exact rate of a stated potential (`stated`), or slightly more where it is no simple fraction, with its proof.

        Raises
        ------
        SolverFailed
            No margin led to a proof.
        """
        before, after = self.stated(potential)
        program, scales = self._ratio(before, after)
        try:
            return self._prove_exact_rate(potential, before, after)
        except (Refused, SolverFailed) as error:
            reasons = [f"without margin: {error}"]
        for margin in MARGINS:
            try:
                answer = conic.solve_program(_strengthened(program, margin), tolerance=max(1e-7, margin))
                found = _fractions(answer.multipliers, scales)
                question = {"kind": "decrease", "rate": str(found[0]), **self._about(potential)}
                return found[0], self._certificate(self.decrease, after - before * found[0], found[1:], question)
            except (Refused, SolverFailed) as error:
                reasons.append(f"margin {margin:g}: {error}")
        raise SolverFailed("no exact certificate was found: " + "; ".join(reasons))

    def _prove_exact_rate(
        self, potential: Mapping[str, Fraction], before: Form, after: Form
    ) -> tuple[Fraction, Certificate]:
        """The rate itself: the slack vanishes on the range of the Gram matrices that attain it (`fedtheory.proofs.certificates.faces`).

        Raises
        ------
        Refused, SolverFailed
            That range is not rational, or was not read off well enough.
        """
        program, scales = self._ratio(before, after)
        answer = conic.solve_program(program, tolerance=FACE_ACCURACY, solvers=("CLARABEL",))
        near = without_vanishing(answer.multipliers, _fractions(answer.multipliers, scales))
        blocks, sizes = self._whole_blocks(
            Coordinates.of([before, after, *self.decrease.forms], self._star), answer.blocks
        )
        model = dataclasses.replace(
            self.system(self.decrease, after), inequalities=(("V", before), *self.decrease.inequalities)
        )
        reason = Refused("no range was read off")
        for face in read_faces(blocks, (), sizes, (Fraction(self.model.function_class.L),)):
            try:
                _, (rate, *multipliers) = balance_multipliers(model, near, face)
                if abs(float(rate) - answer.value) > FACE_ACCURACY * abs(answer.value):
                    raise Refused("the range is another")
                question = {"kind": "decrease", "rate": str(rate), **self._about(potential)}
                return rate, self._certificate(self.decrease, after - before * rate, multipliers, question)
            except Refused as error:
                reason = error
        raise reason

    def _whole_blocks(
        self, coordinates: Coordinates, blocks: Sequence[Matrix]
    ) -> tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]:
        """Gram matrices of all leaves in units, zero where leaves do not occur, and the sizes of the leaves."""
        waiting, whole, sizes = list(blocks), [], []
        counts = (self.step.leaves.mean, self.step.leaves.deviation)
        for m, own, count in zip(("S", "Q"), coordinates.leaves, counts, strict=True):
            block = np.zeros((count, count))
            if own:
                block[np.ix_(own, own)] = waiting.pop(0)
            whole.append(block)
            sizes.append(np.array([float(self.units.leaves.get((m, k), 1)) for k in range(count)]))
        return (whole[0], whole[1]), (sizes[0], sizes[1])

    @property
    def _star(self) -> int:
        """The number of the value at x*."""
        return self.decrease.evaluations[0].value

    def _ratio(self, before: Form, after: Form) -> tuple[Program, tuple[Fraction, ...]]:
        """Maximise ``after`` where ``before`` is one; the multipliers are the ratio and those of the inequalities."""
        forms = self.decrease.forms
        coordinates = Coordinates.of([before, after, *forms], self._star)
        sizes = [abs(c) * self.units.leaves[m, i] * self.units.leaves[m, j] for (m, i, j), c in before.gram.items()]
        size = max(sizes, default=Fraction(1))
        rows = self.units.dense(coordinates, [before, *forms], [1 / size] + [1 / self.units.steepness] * len(forms))
        goal = self.units.dense(coordinates, [after], [1 / size])
        blocks = [(block, top[0]) for block, top in zip(rows[:2], goal[:2], strict=True)]
        bounds = np.zeros(1 + len(forms))
        bounds[0] = 1
        scales = (Fraction(1), *[size / self.units.steepness] * len(forms))
        return _program(blocks, rows[2], goal[2][0], bounds, 1), scales

    def names(self) -> list[str]:
        """The terms of V: ``mean u v``, ``deviation u v`` and, where V has it, ``gap``."""
        free = name_parts(self.model, self.step)
        found = [f"{kind} {free[kind][j]} {free[kind][k]}" for kind, j, k in self.terms.entries]
        return [*found, "gap"] if self.terms.has_gap else found

    def stated(self, weights: Mapping[str, Number]) -> tuple[Form, Form]:
        """V before the round and its expectation after it, of its terms by name (`names`); ``field u`` is mean_i ||error of u||^2.

        Raises
        ------
        InvalidInput
            There is no such term.
        """
        now, then = (dict(zip(self.names(), forms, strict=True)) for forms in (self.terms.now, self.terms.then))
        who, fields = self.model.participation, self.model.space.fields
        before, after = Form(), Form()
        for name, weight in weights.items():
            field = name.removeprefix("field ")
            if field != name and field in fields:
                before = before + square(self.step.before[field]) * weight
                for chance, errors in self.step.after:
                    after = after + square(errors[field], who) * (weight * chance)
            elif name in now:
                before, after = before + now[name] * weight, after + then[name] * weight
            else:
                raise InvalidInput(f"a potential of this method has no term {name!r}; it has {', '.join(now)}")
        return before, after

    def _about(self, potential: Mapping[str, Fraction]) -> dict[str, Any]:
        model = self.model
        return {
            "method": store_object(model.algorithm),
            "functions": store_class(model.function_class),
            "participation": store_participation(model.participation),
            "potential": {name: str(weight) for name, weight in potential.items()},
            "relations": store_relations(model),
            "first": model.first,
        }

    def system(self, condition: Condition, claim: Form) -> Model:
        """What is to be shown: the claim is at most zero whenever the interpolation conditions hold."""
        given, who = self.model.function_class, self.model.participation
        clients = Function("interpolation", condition.evaluations, given.L, given.mu)
        n = None if who is None else who.n
        return Model(self.step.leaves, condition.inequalities, (claim,), functions=(clients,), clients=n)

    def _certificate(
        self, condition: Condition, claim: Form, multipliers: Sequence[Fraction], question: Mapping[str, Any]
    ) -> Certificate:
        bound, data = certify(self.system(condition, claim), multipliers)
        if bound > 0:
            raise Refused(f"the multipliers prove {bound} only")
        return Certificate(bound, {"format": CERTIFICATE_FORMAT, "question": dict(question), **data})


def store_relations(model: ErrorModel) -> list[dict[str, Any]]:
    """The proved relations between fields that a potential rests on, as plain data; they hold from round ``first`` on."""
    return [
        {"part": relation.kind, "weights": {name: str(weight) for name, weight in relation.weights}}
        for relation in model.space.named()
    ]


def _program(
    blocks: Sequence[tuple[Matrix, Matrix]], values: Matrix, goal: Matrix, bounds: Matrix, equations: int
) -> Program:
    """A program without its empty blocks."""
    blocks = [(rows, top) for rows, top in blocks if len(top)]
    return Program(
        sizes=tuple(len(top) for _, top in blocks),
        objective=tuple(top for _, top in blocks),
        objective_values=goal,
        rows=tuple(rows for rows, _ in blocks),
        rows_values=values,
        bounds=bounds,
        equations=equations,
    )


def _strengthened(program: Program, margin: float) -> Program:
    """The same with slacks of at least ``margin``, which survive rounding."""
    objective = tuple(top + margin * np.eye(len(top)) for top in program.objective)
    return dataclasses.replace(program, objective=objective)


def _fractions(multipliers: NDArray[Any], scales: Sequence[Fraction]) -> list[Fraction]:
    """Multipliers rounded in units, to nine digits behind the point."""
    return [Fraction(round(float(y) * 10**9), 10**9) * scale for y, scale in zip(multipliers, scales, strict=True)]
