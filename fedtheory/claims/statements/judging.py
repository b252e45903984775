"""Judge a statement: what is computed of it decides the word, and no one else does.

*refuted*: functions in fractions, checked and run exactly, do what the statement says they cannot. *proved*: there is a derivation for all
parameters, or the region is finitely many points and each has an exact certificate. *supported*: worst cases over the whole class at enough points of
the region, and runs, are all within the claim; the scope says at how many points, and how many of them have certificates. *inconclusive*: everything
else, with the reason: too little was solved, or a worst case exceeds the claim and no instance reproduces it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.client_counts import describe_clients
from fedtheory.claims.statements.lines import survey_line
from fedtheory.claims.statements.named_methods import ParameterPoint
from fedtheory.claims.statements.outcomes import (
    ConstantSensitivity,
    Line,
    OutcomeWord,
    PointProof,
    StatementOutcome,
    StatementScope,
    show_point,
)
from fedtheory.claims.statements.parametric import ParametricProof, prove_for_all
from fedtheory.claims.statements.refuting import prove_near, refute_near, simplest_failing
from fedtheory.claims.statements.sensitivity import ALIKE_RATIOS, find_sensitivity
from fedtheory.claims.statements.survey import PointValue, Survey
from fedtheory.claims.statements.unstated import find_hanging, tell_unstated
from fedtheory.claims.verdict import LEAST_COVERED
from fedtheory.core.errors import EnginesDisagree, FedtheoryError, require
from fedtheory.proofs.guard import NUMBERS, RUNS, Runs
from fedtheory.proofs.refutations.asked import AskedBound
from fedtheory.proofs.refutations.refute import Refutation
from fedtheory.proofs.semidefinite.solvers import require_solvers
from fedtheory.proofs.stated_bounds import ERROR

#: searches over functions at a point: the question, what is claimed, a seed; the largest measured / claimed, None where they do not apply
InstanceSearch = Callable[[AskedBound, float, int], float | None]

#: least share of the points of a region that were tried that have to be solved, besides at least `LEAST_COVERED`
LEAST_SHARE = 0.8
#: claimed / worst case below which a claim clearly fails, and how many such points are looked at again with another option
CLEARLY, MOST_FAILING = 0.99, 12
#: points that are solved of a statement that is proved for all parameters, to see the room that it leaves
FEW_POINTS = 4


@dataclass(frozen=True)
class Effort:
    """How much is spent.

    ``derivation``: seconds for a piece of a proof for all parameters. ``cases``: choices of whole numbers whose corners are visited.
    ``random`` points, ``local`` points of the local search, ``proofs`` at the worst points. ``runs``: candidates of a search over functions.
    ``searches`` for each constant. ``patience``: seconds for an exact instance; ``time_limit``: for one program.
    """

    derivation: float
    cases: int
    random: int
    local: int
    proofs: int
    runs: int
    searches: int
    patience: float
    time_limit: float


EFFORTS: dict[str, Effort] = {
    "quick": Effort(
        derivation=5.0, cases=4, random=24, local=40, proofs=3, runs=4_000, searches=1, patience=10.0, time_limit=10.0
    ),
    "full": Effort(
        derivation=40.0,
        cases=12,
        random=150,
        local=200,
        proofs=10,
        runs=40_000,
        searches=3,
        patience=60.0,
        time_limit=60.0,
    ),
}


def judge_statement(
    statement: Bound | Contraction,
    *,
    seed: int = 0,
    budget: Literal["quick", "full"] = "quick",
    searches: Sequence[InstanceSearch] = (),
) -> StatementOutcome:
    """Say what is known of a statement, and what that rests on.

    Parameters
    ----------
    seed : of random points and functions
    budget : how much is spent (`EFFORTS`)
    searches : of measured / claimed over functions, at a point, beside those over separable quadratics

    Raises
    ------
    MissingExtra
        A package is not installed, so that the statement cannot be judged.
    """
    require_solvers()
    require("sympy", "proofs for all parameters")
    effort = EFFORTS[budget]
    judgement = _Judgement(statement, effort, seed, searches)
    found = replace(judgement.outcome(), unstated=tell_unstated(statement))
    if found.word != "refuted" or not found.unstated:
        return found
    failing = [value.point for value in judgement.survey.solved if value.ratio < CLEARLY][:MOST_FAILING]
    hangs = find_hanging(statement, lambda other: _fails_at(other, [found.refuted_at or {}, *failing], effort))
    if not hangs:
        return found
    seen = f"as the statement stands, at {show_point(found.refuted_at)}: {found.refutation}"
    return replace(found, word="inconclusive", reasons=(hangs, seen, *found.reasons))


def _fails_at(statement: Bound | Contraction, points: Sequence[Mapping[str, Fraction]], effort: Effort) -> bool:
    """Whether a claim clearly fails at one of these points, by the worst case over the class.

    Raises
    ------
    FedtheoryError
        The worst case is known at none of them.
    """
    survey, unknown = Survey(statement, effort.time_limit), 0
    for point in points:
        try:
            if survey.solve(point).ratio < CLEARLY:
                return True
        except FedtheoryError:
            unknown += 1
            if unknown == len(points):
                raise
    return False


class _Judgement:
    """One statement's way to its outcome."""

    def __init__(
        self, statement: Bound | Contraction, effort: Effort, seed: int, searches: Sequence[InstanceSearch]
    ) -> None:
        self.statement, self.effort, self.seed = statement, effort, seed
        self.searches = searches
        self.survey = Survey(statement, effort.time_limit)
        self.seconds: dict[str, float] = {}
        self.everywhere: ParametricProof | None = None
        self._begun = time.perf_counter()

    def outcome(self) -> StatementOutcome:
        """The word and its evidence. A derivation is looked for first: where there is one, a few points show how much room the statement leaves."""
        if not self.survey.is_whole():
            self.everywhere = prove_for_all(self.statement, self.effort.derivation)
            self._clock("proof for all parameters")
        self._visit(few=self.everywhere is not None and not self.statement.constants)
        solved = self.survey.solved
        if not solved and self.everywhere is not None:
            return self._proved_without_points()
        if not solved:
            why = next((reason for _, reason in self.survey.unsolved.values()), "no point satisfies its conditions")
            return self._say("inconclusive", [f"no point of the region was solved: {why}"])
        against = self._against(solved[0]) if solved[0].ratio < 1 - ALIKE_RATIOS else None
        if self.everywhere is not None and against is not None:
            if against.word == "refuted":
                raise EnginesDisagree(
                    f"a derivation proves what an exact instance refutes: {against}; one of the two engines is wrong"
                )
            against = None  # a proof overrules what floats suspect
        return self._for(solved) if against is None else against

    def _visit(self, few: bool) -> None:
        """Corners, random points, local search; random points are spared where nothing bounds the worst case, most where there is a proof."""
        if few:
            rng = np.random.default_rng(self.seed)
            for _ in range(FEW_POINTS):
                self.survey.at(self.survey.draw(rng))
            self._clock("search")
            return
        for place in self.survey.corners(self.effort.cases):
            self.survey.at(place)
        rng = np.random.default_rng(self.seed)
        hopeless = any(value.ratio == 0 for value in self.survey.found.values())
        if self.statement.parameters.parameters and not hopeless:
            for _ in range(self.effort.random):
                self.survey.at(self.survey.draw(rng))
            self.survey.descend(self.effort.local)
        self._clock("search")

    def _clock(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name], self._begun = now - self._begun, now

    def _against(self, worst: PointValue) -> StatementOutcome | None:
        """The claim is less than the worst case somewhere; only an exact instance makes that a refutation.

        None where there is no instance and the excess is what a solver's value may be off.
        """
        reason = ""
        for value in simplest_failing(self.survey)[:3]:
            try:
                point, found = refute_near(self.survey, value, self.effort.patience)
            except FedtheoryError as error:
                reason = reason or str(error)
                continue
            self._clock("refutation")
            return self._say("refuted", [], refutation=found, refuted_at=point, line=self._line(point, found))
        self._clock("refutation")
        if worst.ratio >= 1 - ERROR:
            return None
        over = "any factor" if worst.ratio <= 0 else f"the factor {1 / worst.ratio:.6g}"
        at = show_point(worst.point)
        return self._say(
            "inconclusive",
            [f"at {at} the worst case exceeds the claim by {over}, but no instance reproduces it: {reason}"],
        )

    def _for(self, solved: Sequence[PointValue]) -> StatementOutcome:
        everywhere = self.everywhere
        proofs = self._prove(solved) if everywhere is None else ()
        self._clock("proofs")
        reached = self._run(solved)
        self._clock("runs")
        line = self._line(solved[0].point)
        if self.survey.beside and everywhere is None:
            against = self._against(self.survey.solved[0])
            if against is not None:
                return against
        if reached.exceeds:
            return self._exceeded(reached, proofs)
        options = {"searches": self.effort.searches, "patience": self.effort.patience}
        moved = tuple(find_sensitivity(self.survey, name, **options) for name in self.statement.constants)  # type: ignore[arg-type]
        self._clock("sensitivity")
        word, reasons = self._word(solved, proofs, moved)
        return self._say(
            word,
            reasons,
            proofs=proofs,
            everywhere=everywhere,
            runs=reached,
            sensitivity=moved,
            line=line,
        )

    def _prove(self, solved: Sequence[PointValue]) -> tuple[PointProof, ...]:
        """Certificates at the worst points; at all of a region that is finitely many."""
        most = len(solved) if self.survey.is_whole() else self.effort.proofs
        found: list[PointProof] = []
        for value in solved[:most]:
            proof = prove_near(self.survey, value)
            if proof is not None and proof.point not in [p.point for p in found]:
                found.append(proof)
        return tuple(found)

    def _proved_without_points(self) -> StatementOutcome:
        """There is a derivation, and at no point a worst case to hold against it: runs are."""
        reached = self._run_at([point for point, _ in self.survey.unsolved.values()], ())
        if reached.exceeds:
            return self._exceeded(reached, ())
        return self._say("proved", [self.survey.left_out()], everywhere=self.everywhere, runs=reached)

    def _exceeded(self, reached: Runs, proofs: Sequence[PointProof]) -> StatementOutcome:
        """A run is larger than the claim, which the worst case over the class is not.

        Raises
        ------
        EnginesDisagree
            The claim was proved for all parameters.
        """
        if self.everywhere is not None:
            raise EnginesDisagree(
                f"a derivation proves the claim for all parameters, and {reached}; one of the two engines is wrong"
            )
        return self._say(
            "inconclusive", [f"{reached}, and the worst case over the class does not"], runs=reached, proofs=proofs
        )

    def _run(self, solved: Sequence[PointValue]) -> Runs:
        """Runs at the worst and the middling point, a few at those with the smallest and the largest units."""
        first = self.statement.parameters.names[:1]
        by_unit = sorted((value.point for value in solved), key=lambda point: [point[name] for name in first])
        long = [solved[0].point, solved[len(solved) // 2].point]
        return self._run_at([*long, by_unit[0], by_unit[-1]], long)

    def _run_at(self, points: Sequence[ParameterPoint], long: Sequence[ParameterPoint]) -> Runs:
        found: list[Runs] = []
        for point in self._with_numbers_of_clients(points):
            asked, claimed = self.statement.asked_at(point), float(self.statement.claim_at(point))
            found.append(asked.runs(claimed, self.effort.runs if point in long else 5 * RUNS, self.seed))
            if isinstance(asked, AskedBound) and point in long:
                own = [search(asked, claimed, self.seed) for search in self.searches]
                found += [Runs(value, None, ()) for value in own if value is not None]
        return Runs.together(found)

    def _with_numbers_of_clients(self, points: Sequence[ParameterPoint]) -> list[ParameterPoint]:
        """Where the number of clients is a parameter, each point with several of them."""
        n = self.statement.client_numbers.get("n")
        wanted = [*points]
        if n is not None and n.kind == "name":
            wanted += [{**point, str(n): Fraction(k)} for point in points for k in NUMBERS]
        found: list[ParameterPoint] = []
        for point in wanted:
            if point not in found and self.statement.inside(point):
                found.append(point)
        return found

    def _word(
        self, solved: Sequence[PointValue], proofs: Sequence[PointProof], moved: Sequence[ConstantSensitivity]
    ) -> tuple[OutcomeWord, list[str]]:
        """Proved where every point is; supported where enough of them were solved."""
        reasons = [text for text in (self.survey.left_out(),) if text]
        if solved[0].ratio > 2:
            reasons.append(
                f"the bound is loose: it is at least {solved[0].ratio:.4g} times the worst case at every point"
            )
        elif solved[0].ratio < 1 + ERROR:
            reasons.append("the bound is tight, up to what solvers tell apart")
        reasons += [f"{s.constant} could be moved by more than a factor of 2" for s in moved if s.loose]
        if self.everywhere is not None:
            return "proved", reasons
        if self.survey.is_whole():
            points = [dict(value.point) for value in solved]
            if all(point in [dict(proof.point) for proof in proofs] for point in points):
                return "proved", reasons
            return "supported", reasons
        unsolved = 0 if self.survey.least_ratio_left_out() is not None else len(self.survey.unsolved)
        if len(solved) < LEAST_COVERED or len(solved) < LEAST_SHARE * (len(solved) + unsolved):
            return "inconclusive", [
                f"only {len(solved)} of {len(solved) + len(self.survey.unsolved)} points were solved",
                *reasons,
            ]
        return "supported", reasons

    def _line(self, point: Mapping[str, Fraction], refutation: Refutation | None = None) -> Line | None:
        """Data of the picture; where the claim turns out to be exceeded on it, the survey has these points, too."""
        drawn = survey_line(self.survey, point, self.seed, refutation)
        self._clock("line")
        if drawn is None:
            return None
        self.survey.beside += [value for value in drawn[1] if value.ratio < 1 - ALIKE_RATIOS]
        return drawn[0]

    def _say(self, word: OutcomeWord, reasons: Sequence[str], **evidence: Any) -> StatementOutcome:
        solved = self.survey.solved
        proofs = evidence.get("proofs", ())
        return StatementOutcome(
            self.statement.name,
            word,
            self._scope(solved, proofs, evidence.get("everywhere") is not None, evidence.get("runs")),
            tuple(reasons),
            least=solved[0].ratio if solved else None,
            most=solved[-1].ratio if solved else None,
            worst_point=solved[0].point if solved else None,
            unsolved=tuple(self.survey.unsolved.values()),
            seconds=self.seconds,
            **evidence,
        )

    def _scope(
        self, solved: Sequence[PointValue], proofs: Sequence[PointProof], everywhere: bool, runs: Runs | None
    ) -> StatementScope:
        statement = self.statement
        clients = describe_clients(statement.client_numbers)
        functions = statement.functions if isinstance(statement.functions, str) else "the stated class"
        rounds = f"rounds = {statement.rounds}" if isinstance(statement, Bound) else "every round"
        return StatementScope(
            functions=f"functions with {functions}",
            clients=clients,
            dimension="every dimension",
            rounds=rounds,
            region=str(statement.parameters),
            points=len(solved),
            proved_at=tuple(proof.point for proof in proofs),
            whole=self.survey.is_whole(),
            everywhere=everywhere,
            runs=runs,
        )
