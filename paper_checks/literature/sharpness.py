"""How sharp the theorems of the ledger are: which share of what is claimed is exceeded after one round and after three, at some parameters.

    python -m paper_checks.literature.sharpness [ID ...]

writes `sharpness.json` anew, or the rows of the ids that are given, and the table of docs/literature.md. Of a theorem "left <= right" the claim
"left <= share right" is put in its place, for shares from 99 to 10 %, the largest first, until one of them is refuted: by an exact instance, or in
floats alone where a sequence has no fractions. That is done at each of the simplest points of the region, and the least and the largest of these
shares are kept. Of a theorem about rounds of local steps it is what one round of E steps comes to. Of a contraction the factor is compared with the
worst one over the class, of a lemma the constant with the nearest false one.

Where less than 99 % of a theorem is sharp at its first point, the sharp share is enclosed there: "left <= share right" is proved in fractions for
the larger of two shares, and an exact instance (or floats alone) exceeds the smaller one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any, cast

from fedtheory.claims import Claim
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.every_round import as_theorem
from fedtheory.claims.statements.judging import judge_statement
from fedtheory.claims.statements.lemma import Lemma, lemma_sensitivity
from fedtheory.claims.statements.theorems.refuting import BrokenClaim, refute_theorem, system_at
from fedtheory.claims.statements.theorems.sequences import settle_parameters
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.parameters.points import prove_at_point
from fedtheory.proofs.parameters.programs import IN_WORDS, SUSPECT, violation

FILE, ENCLOSED_FILE = (Path(__file__).with_name(name) for name in ("sharpness.json", "enclosed.json"))
PAGE = Path(__file__).resolve().parents[2] / "docs" / "literature.md"
#: between these the page has the table
BEGIN, END = "<!-- how sharp: written by paper_checks.literature.sharpness -->", "<!-- end of how sharp -->"
BEGIN_ENCLOSED, END_ENCLOSED = (
    "<!-- sharp values: written by paper_checks.literature.sharpness -->",
    "<!-- end of sharp values -->",
)
#: what is not measured, and why
NOT_MEASURED = {
    "LIT-LOCAL-STEPS-NOISE": "noise has too many outcomes",
    "LIT-SCAFFOLD-NOISE": "noise has too many outcomes",
    "LIT-FISTA-LEAVES": "a bound from below",
}
SHARES = tuple(Fraction(percent, 100) for percent in (99, 95, 90, 80, 70, 60, 49, 30, 10))
#: rounds at which a claim about a number of them is looked at, if it is about them; points of each, and those among which they are looked for
COUNTED, POINTS, CANDIDATES = (1, 3), 3, 200
#: rounds at which a sharp share is enclosed, from which share on (in thousandths) a claim passes for sharp, and by how many a proof may miss it
ENCLOSED_AT, SHARP, NEARBY = (1, 3, 5), 989, (0, 1, 3, 10, 30)
#: of larger programs no sharp share is enclosed
MOST_CONDITIONS = 250
#: the theorem that stands beside one which is not sharp: itself sharp
BESIDE = {
    "LIT-GD-GAP": "LIT-GD-GAP-SHARP",
    "LIT-GD-DISTANCE": "LIT-GD-FACTOR",
    "LIT-GD-STATIONARY": "LIT-GD-STATIONARY-SHARP",
    "LIT-PL-RATE": "LIT-PL-RATE-SHARP",
    "LIT-ISTA": "LIT-ISTA-SHARP",
    "LIT-PROXIMAL-POINTS": "LIT-PROXIMAL-POINTS-SHARP",
    "LIT-AGD": "LIT-AGD-SHARP",
    "LIT-FEDDYN-CONVEX": "LIT-FEDDYN-CONVEX-SHARP",
    "LIT-PROXSKIP": "LIT-RANDPROX",
}


@dataclass(frozen=True)
class Share:
    """Percentages of what is claimed that are exceeded, at the loosest and at the tightest of the points, 0 where none was found.

    ``rounds``: in which rounds; ``exact``: by exact instances.
    """

    least: int
    most: int
    rounds: str = ""
    exact: bool = True


@dataclass(frozen=True)
class Enclosed:
    """At a point, after some rounds, the smallest true share of what is claimed lies between ``low`` and ``high``, in thousandths.

    At ``high`` it is proved in fractions; at ``low`` it is false by an exact instance where ``exact``, else in floats.
    """

    rounds: str
    point: str
    low: int
    high: int
    exact: bool


def enclose(statement: object) -> list[Enclosed]:
    """The sharp shares of a theorem at the first of its points, one for each choice of rounds; none where it is sharp, or the program large."""
    theorem = as_theorem(statement) if isinstance(statement, Bound) else statement
    if isinstance(theorem, Theorem) and theorem.inside:  # what it supposes of a round decides
        return [row for inside in theorem.inside.values() for row in enclose(inside.theorem)]
    if not isinstance(theorem, Theorem) or any(sentence.sign != "<=" for sentence in theorem.sentences):
        return []
    found = []
    for rounds in _list_rounds(theorem, ENCLOSED_AT):
        plain = replace(theorem, proof="", rounds=dict(rounds), rests={}, inside={})
        for point in islice(_list_points(plain, rounds), 1):
            with suppress(
                InvalidInput
            ):  # where clients or noise are drawn, what comes after several rounds is not written down
                told = _enclose_at(plain, rounds, point)
                found += [] if told is None else [told]
    return found


def _enclose_at(theorem: Theorem, rounds: Mapping[str, int], point: Mapping[str, Fraction]) -> Enclosed | None:
    def with_share(share: int) -> Theorem:
        return theorem.with_claim(*(_scale(text, Fraction(share, 1000)) for text in theorem.claims))

    def seems_false(share: int) -> bool:
        return violation(system_at(with_share(share), 0, rounds, point), ways=IN_WORDS)[0] > SUSPECT

    if len(system_at(theorem, 0, rounds, point).rows) > MOST_CONDITIONS:
        return None
    low, high = 0, 1000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if seems_false(middle) else (low, middle)
    if low >= SHARP:
        return None
    above = [high + more for more in NEARBY]
    high = next(
        (share for share in above if prove_at_point(system_at(with_share(share), 0, rounds, point)) is not None), 1000
    )
    exact = list(islice((low - less for less in NEARBY if _is_exceeded(with_share(low - less), point)), 1))
    named = [f"{name} = {rounds[name]}" for name in sorted(_spoken(theorem)) if name.isupper()]
    shown = ", ".join(f"{name} = {value}" for name, value in point.items())
    return Enclosed(", ".join(named), shown, exact[0] if exact else low, high, bool(exact))


def _is_exceeded(theorem: Theorem, point: Mapping[str, Fraction]) -> bool:
    """Whether an exact instance breaks the claim."""
    return isinstance(refute_theorem(theorem, (point,), later=1), BrokenClaim)


def statement_of(claim: Claim) -> object:
    """What a claim of the ledger states, as data."""
    (statement,) = cast("Any", claim.near_misses).keywords["statements"]
    return statement


def list_loose(shares: Mapping[str, list[Share] | None]) -> list[str]:
    """The theorems of which less than 99 % is exceeded at some point, and that no sharp one stands beside."""
    return [id for id, rows in shares.items() if id not in BESIDE and any(row.least < 99 for row in rows or ())]


def measure(statement: object) -> list[Share] | None:
    """The shares of a statement, a row for each choice of rounds; None where it says that things are equal."""
    if isinstance(statement, Bound):
        found = as_theorem(statement)
        return [_of_judged(statement)] if found is None else measure(found)
    if isinstance(statement, Theorem):
        if all(sentence.sign == "==" for sentence in statement.sentences):
            return None
        if statement.inside:  # what it supposes of a round decides
            return [row for inside in statement.inside.values() for row in measure(inside.theorem) or []]
        return [_of_theorem(statement, rounds) for rounds in _list_rounds(statement)]
    if isinstance(statement, Contraction):
        return [_of_judged(statement)]
    if isinstance(statement, Lemma):
        share = _whole(1 - max(side.distance for side in lemma_sensitivity(statement)))
        return [Share(share, share)]
    return None


def _whole(share: float) -> int:
    return next((int(s * 100) for s in SHARES if share >= s), 0)


def _spoken(theorem: Theorem) -> set[str]:
    """The rounds of which a claim speaks."""
    return {name for sentence in theorem.sentences for name in sentence.names} & theorem.rounds.keys()


def _list_rounds(theorem: Theorem, at: tuple[int, ...] = COUNTED) -> Iterator[dict[str, int]]:
    """The rounds that are looked at; once where the claim speaks of any round and the next."""
    counted = sorted(name for name in _spoken(theorem) if name.isupper())
    for last in at if counted else (0,):
        yield {name: max(least, last) if name in counted else least for name, least in theorem.rounds.items()}


def _of_theorem(theorem: Theorem, rounds: Mapping[str, int]) -> Share:
    spoken = sorted(_spoken(theorem))
    plain = replace(theorem, proof="", rounds=dict(rounds), rests={}, inside={})
    found = [_at_point(plain, point) for point in islice(_list_points(plain, rounds), POINTS)]
    percents = [percent for percent, _ in found]
    told = ", ".join(f"{name} = {rounds[name]}" for name in spoken if name.isupper())
    return Share(min(percents), max(percents), told, all(exact for _, exact in found))


def _list_points(theorem: Theorem, rounds: Mapping[str, int]) -> Iterator[dict[str, Fraction]]:
    """The simplest points of the region, with the numbers that hypotheses give parameters at these rounds."""
    fixed, region = next(iter(theorem.parameters.cases()))
    for point in region.simple_points(CANDIDATES):
        try:
            yield settle_parameters(theorem, rounds, {**fixed, **point})
        except InvalidInput:  # outside of the region
            continue


def _at_point(theorem: Theorem, point: Mapping[str, Fraction]) -> tuple[int, bool]:
    """The largest percentage that is exceeded there, and whether by an exact instance."""
    for share in SHARES:
        found = refute_theorem(theorem.with_claim(*(_scale(text, share) for text in theorem.claims)), (point,), later=1)
        if isinstance(found, BrokenClaim) or found.suspected:
            return int(share * 100), isinstance(found, BrokenClaim)
    return 0, True


def _scale(claim: str, share: Fraction) -> str:
    """The claim "left <= right" with a share of the right side."""
    left, sign, right = claim.partition(" <= ")
    return f"{left}{sign}({share})*({right})" if sign else claim


def _of_judged(statement: Bound | Contraction) -> Share:
    """By the worst cases of programs."""
    found = judge_statement(statement)
    return Share(_whole(1 / (found.most or inf)), _whole(1 / (found.least or inf)), exact=False)


def read_shares() -> dict[str, list[Share] | None]:
    """What is stored."""
    stored = json.loads(FILE.read_text())
    return {id: None if rows is None else [Share(**row) for row in rows] for id, rows in stored.items()}


def tell(id: str, rows: list[Share] | None) -> str:
    """What the page says of a theorem."""
    if rows is None:
        return "an equality"
    if not rows:
        return f"not measured: {NOT_MEASURED[id]}"
    told = []
    for row in rows:
        at = f" at {row.rounds}" if row.rounds else ""
        range_of = f"{row.least} %" if row.least == row.most else f"{row.least} to {row.most} %"
        told.append(f"{range_of if row.most else 'none found'}{at}{'' if row.exact else ' (floats)'}")
    return "; ".join(told)


def write_table(shares: Mapping[str, list[Share] | None]) -> str:
    """The table of the page."""
    rows = [f"| {id} | {tell(id, rows)} |" for id, rows in shares.items()]
    return "\n".join(["| claim | share of what is claimed that is exceeded |", "|---|---|", *rows])


def read_enclosed() -> dict[str, list[Enclosed]]:
    """The sharp shares that are stored."""
    return {id: [Enclosed(**row) for row in rows] for id, rows in json.loads(ENCLOSED_FILE.read_text()).items()}


def write_enclosed(enclosed: Mapping[str, list[Enclosed]]) -> str:
    """Their table."""
    found = ["| claim | at | sharp is, of what is claimed |", "|---|---|---|"]
    for id, rows in enclosed.items():
        for row in rows:
            at = ", ".join(filter(None, (row.rounds, row.point)))
            high = f"{row.high / 10:g} %" if row.high < 1000 else "100 %"
            found.append(f"| {id} | {at} | {row.low / 10:g}{'' if row.exact else ' (floats)'} to {high} |")
    return "\n".join(found)


def main(ids: list[str]) -> None:
    """Measure, and write file and page."""
    from paper_checks.literature import CLAIMS

    shares = read_shares() if FILE.exists() else {}
    enclosed = read_enclosed() if ENCLOSED_FILE.exists() else {}
    order = [claim.id for claim in CLAIMS]
    for claim in CLAIMS:
        if claim.id in ids or (not ids and claim.id not in shares):
            shares[claim.id] = [] if claim.id in NOT_MEASURED else measure(statement_of(claim))
            print(claim.id, tell(claim.id, shares[claim.id]), flush=True)
        if claim.id in list_loose(shares) and (claim.id in ids or claim.id not in enclosed):
            enclosed[claim.id] = enclose(statement_of(claim))
            print(claim.id, *enclosed[claim.id], flush=True)
        _write(shares, enclosed, order)


def _write(shares: Mapping[str, list[Share] | None], enclosed: Mapping[str, list[Enclosed]], order: list[str]) -> None:
    there = {id: shares[id] for id in order if id in shares}
    between = {id: enclosed[id] for id in order if id in enclosed}
    rows = {id: None if rows is None else [asdict(row) for row in rows] for id, rows in there.items()}
    text = PAGE.read_text(encoding="utf-8")
    for file, stored, begin, end, table in (
        (FILE, rows, BEGIN, END, write_table(there)),
        (
            ENCLOSED_FILE,
            {id: [asdict(row) for row in of] for id, of in between.items()},
            BEGIN_ENCLOSED,
            END_ENCLOSED,
            write_enclosed(between),
        ),
    ):
        file.write_text(
            "{\n" + ",\n".join(f" {json.dumps(id)}: {json.dumps(found)}" for id, found in stored.items()) + "\n}\n"
        )
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{table}\n\n{end}{rest.split(end)[1]}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
