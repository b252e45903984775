"""Exact evidence at a point of the region: an instance against a statement, or a certificate for it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.outcomes import PointProof
from fedtheory.claims.statements.survey import PointValue, Survey
from fedtheory.core.errors import FedtheoryError, SolverFailed
from fedtheory.proofs.certificates.upper_bounds import Certificate, prove
from fedtheory.proofs.guard import NUMBERS
from fedtheory.proofs.potentials.smallest_rate import search_potentials
from fedtheory.proofs.refutations.asked import AskedDecrease
from fedtheory.proofs.refutations.programs import potential_terms
from fedtheory.proofs.refutations.refute import Refutation, refute_bound, refute_decrease

#: by what share of its distance from an end a parameter may be moved to a simpler one, tried in turn
SIMPLER = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 40), Fraction(1, 200))


def refute_statement_at(
    statement: Bound | Contraction,
    point: Mapping[str, Fraction],
    claimed: Fraction,
    *,
    patience: float,
    smallest: bool = True,
) -> Refutation:
    """Functions in fractions on which more than ``claimed`` is reached at a point.

    Raises
    ------
    FedtheoryError
        As in `fedtheory.proofs.refutations.refute`.
    """
    asked = statement.asked_at(point)
    if isinstance(asked, AskedDecrease):
        return refute_decrease(
            asked.algorithm,
            asked.function_class,
            asked.weights,
            claimed,
            participation=asked.participation,
            patience=patience,
            smallest=smallest,
        )
    return refute_bound(
        asked.algorithm,
        asked.function_class,
        claimed,
        rounds=asked.rounds,
        measure=asked.measure,
        radius=asked.radius,
        participation=asked.participation,
        patience=patience,
        smallest=smallest,
    )


def refute_near(survey: Survey, value: PointValue, patience: float) -> tuple[Mapping[str, Fraction], Refutation]:
    """A refutation at simpler parameters at which the claim still fails clearly, or else at the point itself.

    Raises
    ------
    SolverFailed
        There is none; the message says why, of the last attempt.
    """
    enough = 1 - (1 - max(value.ratio, 0.5)) / 2
    reason: FedtheoryError | None = None
    for simple in simpler_points(survey.statement, value.point):
        try:
            if simple != value.point and not survey.solve(simple).ratio < enough:
                continue
            claimed = survey.statement.claim_at(simple)
            return simple, refute_statement_at(survey.statement, simple, claimed, patience=patience)
        except FedtheoryError as error:
            reason = error
    raise SolverFailed(str(reason))


def simplest_failing(survey: Survey) -> list[PointValue]:
    """Points at which the claim fails about as clearly as anywhere, in the order of how simple their simplest neighbours are."""
    solved = survey.solved
    enough = 1 - (1 - max(solved[0].ratio, 0.5)) / 2
    clear = [value for value in solved if value.ratio < 1 and value.ratio <= enough]

    def length(value: PointValue) -> int:
        numbers = [*simpler_points(survey.statement, value.point)[0].values(), value.claimed]
        return sum(len(str(v)) for v in numbers)

    return sorted(clear, key=length)


def prove_near(survey: Survey, value: PointValue) -> PointProof | None:
    """A certificate at simpler parameters near a point, or at the point itself; None where none is at most what is claimed.

    Worst cases that are simple fractions are proved exactly, so that simple parameters may have a proof where others have none.
    """
    for simple in simpler_points(survey.statement, value.point, SIMPLER[2:], fewer_clients=False):
        try:
            claimed = survey.statement.claim_at(simple)
            bound, certificate = _certified(survey.statement, simple, claimed)
        except FedtheoryError:
            continue
        if bound <= claimed:
            return PointProof(simple, claimed, bound, certificate)
    return None


def _certified(
    statement: Bound | Contraction, point: Mapping[str, Fraction], claimed: Fraction
) -> tuple[Fraction, Certificate]:
    """A bound that is proved at a point, and its certificate."""
    asked = statement.asked_at(point)
    if isinstance(asked, AskedDecrease):
        search = search_potentials(asked.algorithm, asked.function_class, asked.participation)
        return search.prove_rate_of(potential_terms(asked.weights))
    found = prove(
        asked.algorithm,
        asked.function_class,
        rounds=asked.rounds,
        measure=asked.measure,
        radius=asked.radius,
        participation=asked.participation,
        digits=12,
    )
    return found.bound, found


def simpler_points(
    statement: Bound | Contraction,
    point: Mapping[str, Fraction],
    shares: tuple[Fraction, ...] = SIMPLER,
    *,
    fewer_clients: bool = True,
) -> list[dict[str, Fraction]]:
    """Points of the region with smaller fractions, and fewer clients, the simplest first, and the point itself at the end."""
    found: list[dict[str, Fraction]] = []
    for near in _with_fewer_clients(statement, point) if fewer_clients else [point]:
        for share in shares:
            simple = statement.parameters.simplify(near, share)
            if simple not in found and statement.inside(simple):
                found.append(simple)
    own = dict(point)
    return [*(simple for simple in found if simple != own), own]


def _with_fewer_clients(statement: Bound | Contraction, point: Mapping[str, Fraction]) -> list[Mapping[str, Fraction]]:
    """The point with small numbers of clients, where that is a parameter, and the point."""
    n = statement.client_numbers.get("n")
    if n is None or n.kind != "name":
        return [point]
    fewer = ({**point, str(n): Fraction(k)} for k in NUMBERS if k < point[str(n)])
    return [*(near for near in fewer if statement.inside(near)), point]
