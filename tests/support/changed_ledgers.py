"""A random sample of changes of what the ledgers state, one place each, and what becomes of the words of the claims that read it.

    make changes SEED=1 COUNT=100

Each change is made in the text of one module (`ledger_places`), the ledger is imported anew, and the claims that what was changed reaches are judged.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import hashlib
import importlib
import json
import multiprocessing
import os
import random
import resource
import tempfile
import time
import types
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from edited_ledgers import edited_ledger
from ledger_places import Place, list_places

from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference, load_claims
from fedtheory.claims.transcriptions import compare_printed
from fedtheory.claims.verdict import Verdict
from fedtheory.core.errors import TimeLimitReached
from fedtheory.tools.limits import limit_time

HERE = Path(__file__).resolve().parents[2] / "paper_checks"
PAPERS = ("fedpd", "afedpd", "safari", "dualfl", "fedslr")
#: seconds for one claim, and of processor time for a change
CLAIM_SECONDS, CHANGE_SECONDS = 80.0, 45.0
#: words under which what was changed is decided exactly, by a proof or an instance
EXACT = {"proved", "refuted", "empty", "repaired (proved)"}

WORD_CHANGES, READERS_DIFFER, NOT_SAID = "a word changes", "the second reading differs", "it cannot be said"
ANOTHER, SURVIVES, UNREAD = "another statement, judged exactly", "SURVIVES", "read by no claim of theory"
PROOF, NO_TIME = "the statement stays, and is proved", "no time"
CAUGHT = {WORD_CHANGES, READERS_DIFFER, NOT_SAID}


@dataclasses.dataclass(frozen=True)
class Judged:
    """What came of a change: the outcome, and what was seen."""

    outcome: str
    detail: str = ""
    told: Mapping[str, Any] = dataclasses.field(default_factory=dict)


# ---- what a claim reads -------------------------------------------------------------------------------------------------


class Reach:
    """A digest of all that an object of a ledger is made of: data, and code of the ledgers with the names that it reads."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []  # an id is not used again

    def of(self, thing: Any) -> str:
        """The digest."""
        self._take(thing)
        return self._digest.hexdigest()

    def _say(self, text: str) -> None:
        self._digest.update(f"{text}\0".encode())

    def _take(self, thing: Any) -> None:
        if thing is None or isinstance(thing, str | bytes | int | float | complex | Fraction):
            return self._say(repr(thing))
        if id(thing) in self._seen:
            return self._say(f"#{self._seen[id(thing)]}")
        self._seen[id(thing)] = len(self._seen)
        self._alive.append(thing)
        for part in self._parts(thing):
            self._take(part)
        return None

    def _parts(self, thing: Any) -> Iterator[Any]:
        own = type(thing).__name__
        if isinstance(thing, Mapping):
            yield from (own, len(thing), *(part for item in thing.items() for part in item))
        elif isinstance(thing, list | tuple):
            yield from (own, len(thing), *thing)
        elif isinstance(thing, set | frozenset):
            yield from (own, *sorted(map(repr, thing)))
        elif isinstance(thing, functools.partial):
            yield from (own, thing.func, thing.args, thing.keywords)
        elif isinstance(thing, types.MethodType):
            yield from (own, thing.__func__, thing.__self__)
        elif isinstance(thing, types.FunctionType):
            yield from self._of_function(thing)
        elif hasattr(thing, "__wrapped__"):
            yield thing.__wrapped__
        elif dataclasses.is_dataclass(thing) and not isinstance(thing, type):
            yield own
            yield from (getattr(thing, f.name, None) for f in dataclasses.fields(thing))
            yield from self._of_class(type(thing))
        elif isinstance(thing, type):
            yield from self._of_class(thing)
        else:
            yield own
            yield from (
                vars(thing).values() if _of_ledgers(type(thing).__module__) and hasattr(thing, "__dict__") else ()
            )

    def _of_class(self, thing: type) -> Iterator[Any]:
        yield thing.__qualname__
        if _of_ledgers(thing.__module__):
            yield from (v for v in vars(thing).values() if isinstance(v, types.FunctionType))

    def _of_function(self, thing: types.FunctionType) -> Iterator[Any]:
        yield thing.__qualname__
        if not _of_ledgers(thing.__module__):
            return
        yield thing.__defaults__
        yield thing.__kwdefaults__
        yield from (cell.cell_contents for cell in thing.__closure__ or () if _is_full(cell))
        names: dict[str, None] = {}
        for code in _codes(thing.__code__):
            yield code.co_code
            yield from (c for c in code.co_consts if not isinstance(c, types.CodeType) and c != thing.__doc__)
            names |= dict.fromkeys(code.co_names)
        for name in names:
            found = thing.__globals__.get(name)
            if isinstance(found, types.ModuleType):
                if _of_ledgers(found.__name__):
                    yield from (getattr(found, other) for other in names if hasattr(found, other))
            else:
                yield found


def _of_ledgers(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] == "paper_checks"


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


def digests_of(paper: str) -> dict[str, str]:
    """What each claim and each tie of a paper reads, as digests."""
    ties = importlib.import_module(f"paper_checks.{paper}.transcribed").TIES
    found = {id: Reach().of(claim.check) for id, claim in load_claims(f"paper_checks.{paper}").items()}
    return found | {f"tie {k}": Reach().of(tie) for k, tie in enumerate(ties)}


# ---- one change ---------------------------------------------------------------------------------------------------------


def judge_change(place: Place, before: Mapping[str, str], words: Mapping[str, str]) -> Judged:
    """Make the change, and judge what it reaches; ``before``: digests without it, ``words``: of the claims."""
    try:
        ast.parse(place.edit[1])
        with edited_ledger(place.module, place.edit):
            judged = _judge_reached(place.paper, before, words)
        return _tell_proofs_apart(place.paper, judged)
    except TimeLimitReached:
        return Judged(NO_TIME)
    except Exception as error:  # the author's mistake, found when the statement is made
        return Judged(NOT_SAID, f"{type(error).__name__}: {str(error)[:150]}")


def _tell_proofs_apart(paper: str, judged: Judged) -> Judged:
    """Where what is shown of the claims is what was shown before, only a proof has changed."""
    if judged.outcome != ANOTHER:
        return judged
    claims = load_claims(f"paper_checks.{paper}")
    own = {id: [t.as_dict() for t in told()] if (told := claims[id].told) else [] for id in judged.told}
    return Judged(PROOF if own == dict(judged.told) else ANOTHER, judged.detail)


def _judge_reached(paper: str, before: Mapping[str, str], words: Mapping[str, str]) -> Judged:
    after, claims = digests_of(paper), load_claims(f"paper_checks.{paper}")
    reached = [id for id in after if after[id] != before.get(id)]
    told = _compare_second(paper, [id for id in reached if id.startswith("tie ")])
    if told:
        return Judged(READERS_DIFFER, told)
    theory = [id for id in reached if id in claims and not claims[id].is_experiment]
    if not theory:
        return Judged(UNREAD, f"{len(reached)} experiments or ties read it")
    until, same, late, shown = time.process_time() + CHANGE_SECONDS, list[str](), list[str](), dict[str, Any]()
    for id in theory:
        if time.process_time() > until:
            late.append(id)
            continue
        try:
            with limit_time(CLAIM_SECONDS):
                verdict = check_one(Reference(f"paper_checks.{paper}", id), Context())
        except TimeLimitReached:
            late.append(id)
            continue
        if verdict.error is not None and "time limit" in verdict.error:
            late.append(id)
        elif verdict.error is not None:
            return Judged(NOT_SAID, f"{id}: {verdict.error[:150]}")
        elif (word := word_of(verdict)) != words[id]:
            return Judged(WORD_CHANGES, f"{id}: {words[id]} -> {word}")
        else:
            same.append(f"{id} {word}{'' if verdict.told else ' (not data)'}")
            shown[id] = verdict.told
    if late:
        return Judged(NO_TIME, f"{', '.join(late)} after {', '.join(same)}")
    exact = all(any(f" {word}" in f"{text} " for word in EXACT) for text in same)
    return Judged(ANOTHER if exact and not any("not data" in t for t in same) else SURVIVES, ", ".join(same), shown)


def _compare_second(paper: str, ids: Sequence[str]) -> str:
    """What a second reading has otherwise, of a table or of these ties; "" where it has the same."""
    from paper_checks.second_readings import TABLES, list_differences, read_second

    reading = read_second(paper)
    ties = [reading.ties[int(id.split()[1])] for id in ids]
    told = [*(list_differences(paper) if paper in TABLES else ())]
    return next((told for tie in ties if (told := compare_printed(tie, reading.rows))), told[0] if told else "")


def word_of(verdict: Verdict) -> str:
    """A status, and how well a corrected statement stands."""
    return f"{verdict.status} ({verdict.repair})" if verdict.repair else verdict.status


def kept_words() -> dict[str, str]:
    """The words of today's ledgers."""
    rows = json.loads((HERE / "expected.json").read_text())["verdicts"]
    return {row["id"]: f"{row['status']} ({row['repair']})" if "repair" in row else row["status"] for row in rows}


# ---- a sample -----------------------------------------------------------------------------------------------------------


def draw_places(seed: int, count: int, papers: Sequence[str] = PAPERS) -> list[Place]:
    """As many of each paper, as far as the number allows; of a paper a kind of place first, then one of its places, none twice."""
    lots, drawn = random.Random(seed), list[Place]()
    by_kind: dict[str, dict[str, list[Place]]] = {}
    for paper in papers:
        kinds: dict[str, list[Place]] = by_kind.setdefault(paper, {})
        for place in list_places(HERE / paper):
            kinds.setdefault(place.what, []).append(place)
    while len(drawn) < count:
        kinds = by_kind[papers[len(drawn) % len(papers)]]
        kind = lots.choice(sorted(kinds))
        place = lots.choice(kinds[kind])
        if place not in drawn:
            drawn.append(place)
    return drawn


def judge_apart(place: Place, before: Mapping[str, str], words: Mapping[str, str]) -> Judged:
    """The same in a process of its own, which is ended where it takes too long."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def work() -> None:
        limit = int(2 * CHANGE_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            theirs.send(judge_change(place, before, words))

    process = context.Process(target=work)
    process.start()
    theirs.close()
    try:
        return ours.recv()  # type: ignore[no-any-return]
    except EOFError:
        return Judged(NO_TIME, "its process was ended")
    finally:
        process.join()


def judge_sample(places: Sequence[Place]) -> Iterator[tuple[Place, Judged]]:
    """Each change, with what came of it."""
    words, before = kept_words(), {paper: digests_of(paper) for paper in dict.fromkeys(p.paper for p in places)}
    for place in places:
        yield place, judge_apart(place, before[place.paper], words)


def main() -> None:
    """Judge a sample and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument(
        "--paper", choices=PAPERS, action="append", help="of this paper alone; may be given several times"
    )
    given = parser.parse_args()
    found = Counter[str]()
    for place, judged in judge_sample(draw_places(given.seed, given.count, given.paper or PAPERS)):
        found[judged.outcome] += 1
        print(f"{judged.outcome}  {place}\n    {judged.detail}", flush=True)
    caught = sum(found[outcome] for outcome in CAUGHT)
    asked = caught + found[SURVIVES] + found[UNREAD]
    print("; ".join(f"{outcome}: {number}" for outcome, number in found.most_common()))
    print(
        f"caught: {caught} of {asked} changes that are no other statement judged exactly ({100 * caught / max(asked, 1):.1f} %)"
    )


if __name__ == "__main__":
    main()
