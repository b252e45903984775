"""Finding claims, running their checks in parallel, and keeping what is done.

Claims are addressed by (source, id): the source is a module name or a file with a list ``CLAIMS``. Papers announce their
module in the entry-point group ``fedtheory.papers``, so this package imports none of them.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import importlib
import importlib.util
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from fedtheory.claims import Claim, Context, Finding, Part, Picture, Reading, Verdict, decide, margin_of
from fedtheory.errors import FedtheoryError, InvalidInput
from fedtheory.report import plain
from fedtheory.versions import versions

PAPERS_GROUP = "fedtheory.papers"
JOURNALS = Path(".fedtheory")


@dataclass(frozen=True)
class Reference:
    """Where a claim is: a module name or a path to a file, and the claim's id."""

    source: str
    id: str


@cache
def papers() -> dict[str, str]:
    """Known papers: name to module."""
    return {entry.name: entry.value for entry in sorted(metadata.entry_points(group=PAPERS_GROUP))}


@cache
def load_claims(source: str) -> dict[str, Claim]:
    """Return the claims of a module or file, by id.

    Raises
    ------
    InvalidInput
        The module or file is missing, raises while it is read, or has no list ``CLAIMS`` of claims with distinct ids.
    """
    module = _load_file(Path(source)) if source.endswith(".py") else _load_module(source)
    found = getattr(module, "CLAIMS", None)
    if not isinstance(found, list | tuple) or not all(isinstance(c, Claim) for c in found) or not found:
        raise InvalidInput(f"{source} must define CLAIMS, a list of at least one fedtheory.claims.Claim")
    by_id = {claim.id: claim for claim in found}
    if len(by_id) != len(found):
        twice = sorted({c.id for c in found if sum(d.id == c.id for d in found) > 1})
        raise InvalidInput(f"{source} uses the ids {', '.join(twice)} more than once")
    return by_id


def _load_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except FedtheoryError:
        raise
    except Exception as error:
        raise InvalidInput(f"the module {name} cannot be imported: {_describe(error)}") from error


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}")
    path = path.resolve()
    name = f"fedtheory_claims_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"{path} cannot be read: {_describe(error)}") from error
    return module


def select(targets: Sequence[str]) -> list[Reference]:
    """Claims for targets that are papers, claim ids or files; all papers for none.

    Raises
    ------
    InvalidInput
        A target is unknown; the message names the nearest known ones.
    """
    known = papers()
    chosen: dict[Reference, None] = {}
    for target in targets or known:
        if target.endswith(".py"):
            references = [Reference(str(Path(target).resolve()), id) for id in load_claims(str(Path(target).resolve()))]
        elif target.lower() in known:
            source = known[target.lower()]
            references = [Reference(source, id) for id in load_claims(source)]
        else:
            references = [
                Reference(source, id)
                for source in known.values()
                for id in load_claims(source)
                if id.upper() == target.upper()
            ]
            if not references:
                raise InvalidInput(_unknown(target, known))
        chosen.update(dict.fromkeys(references))
    sources: dict[str, str] = {}
    for reference in chosen:
        if sources.setdefault(reference.id, reference.source) != reference.source:
            raise InvalidInput(
                f"the id {reference.id} is used by {sources[reference.id]} and by {reference.source}; check them one at a time"
            )
    return list(chosen)


def _unknown(target: str, known: dict[str, str]) -> str:
    ids = [id for source in known.values() for id in load_claims(source)]
    upper = {id.upper(): id for id in ids}
    near = [upper[found] for found in difflib.get_close_matches(target.upper(), upper, n=3, cutoff=0.5)]
    near += difflib.get_close_matches(target.lower(), known, n=2, cutoff=0.5)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"unknown claim, paper or file {target!r}{hint} ('fedtheory list' shows all)"


def run_check(reference: Reference, context: Context) -> Verdict:
    """Run one check to its verdict; an error inside it becomes an inconclusive verdict that says so."""
    claim = load_claims(reference.source)[reference.id]
    begun = time.perf_counter()
    parts: list[Part] = []
    readings: list[str] = []
    picture: Picture | None = None
    error = None
    try:
        for finding in claim.check(context):
            if isinstance(finding, Part):
                parts.append(finding)
            elif isinstance(finding, Reading):
                readings.append(finding.text)
            else:
                picture = finding
        status = decide(claim.kind, parts)
        evidence, counterexample, drawn = plain(
            (
                [_evidence(p) for p in parts],
                next((p.counterexample.as_dict() for p in parts if p.counterexample is not None), None),
                None if picture is None else dataclasses.asdict(picture),
            )
        )
    except (Exception, SystemExit) as failure:  # one failing check never takes the others down
        status = "inconclusive"
        error = _describe(failure)
        evidence, counterexample, drawn = [_evidence(dataclasses.replace(p, data={})) for p in parts], None, None
    if counterexample is not None:
        counterexample |= {"claim": claim.id, "source": reference.source, "statement": claim.statement}
    return Verdict(
        id=claim.id,
        paper=claim.paper,
        kind=claim.kind,
        status=status,
        engines=sorted({p.engine for p in parts}),
        margin=margin_of(status, parts) if error is None else None,
        evidence=evidence,
        seconds=round(time.perf_counter() - begun, 3),
        seed=context.seed,
        versions=versions(),
        source=claim.source,
        statement=claim.statement,
        assumptions=list(claim.assumptions),
        repaired=claim.repaired,
        readings=readings,
        budget=context.budget,
        error=error,
        counterexample=counterexample,
        picture=drawn,
    )


def _describe(failure: BaseException) -> str:
    if isinstance(failure, FedtheoryError):
        return f"{type(failure).__name__}: {failure}"
    frames = traceback.extract_tb(failure.__traceback__)
    where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "unknown place"
    return f"{type(failure).__name__} in {where}: {failure}"


def _evidence(part: Part) -> dict[str, Any]:
    data = dataclasses.asdict(dataclasses.replace(part, counterexample=None))
    del data["counterexample"]
    return {
        key: value
        for key, value in data.items()
        if not (value is None or value is False or value == {}) or key == "holds"
    }


def run_checks(references: Sequence[Reference], context: Context, workers: int = 1) -> Iterator[Verdict]:
    """Run checks, on several processes if asked, and yield verdicts as they come.

    Tasks go through one joblib call with the backend that is configured outside (``joblib.parallel_config``).
    """
    yield from _spread(run_check, references, context, workers)


def _spread(task: Any, references: Sequence[Reference], context: Context, workers: int) -> Iterator[Any]:
    if workers == 1 or len(references) == 1:
        for reference in references:
            yield task(reference, context)
        return
    import joblib

    # the BLAS threads of several workers on few cores cost far more than they bring
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    before = {name: os.environ.get(name) for name in threads}
    os.environ.update(threads)
    try:
        yield from joblib.Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(
            joblib.delayed(task)(reference, context) for reference in references
        )
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@dataclass(frozen=True)
class FaultReport:
    """Whether a check rejected a planted fault; ``detail`` says what it saw."""

    id: str
    fault: str
    caught: bool
    detail: str
    seconds: float


def run_faults(reference: Reference, context: Context) -> list[FaultReport]:
    """Run every planted fault of a claim: the part it names must come out as the fault says."""
    claim = load_claims(reference.source)[reference.id]
    reports = []
    for fault in claim.faults:
        begun = time.perf_counter()
        try:
            part = _find_part(claim.check(context, **fault.subject), fault.part)
            caught = part is not None and part.holds is fault.holds
            detail = "the check yields no such part" if part is None else part.text
        except (Exception, SystemExit) as failure:
            caught, detail = False, _describe(failure)
        reports.append(
            FaultReport(claim.id, fault.name, caught, f"{fault.part}: {detail}", round(time.perf_counter() - begun, 3))
        )
    return reports


def run_all_faults(references: Sequence[Reference], context: Context, workers: int = 1) -> Iterator[list[FaultReport]]:
    """Run the planted faults of many claims, yielding reports as they come."""
    yield from _spread(run_faults, references, context, workers)


def _find_part(findings: Iterator[Finding], name: str) -> Part | None:
    """Return the part of that name, without running what comes after it."""
    return next((f for f in findings if isinstance(f, Part) and f.name == name), None)


# ---- keeping what is done -----------------------------------------------------------------------------------------


class Journal:
    """Verdicts of an unfinished run, on disk, so that an interrupted check goes on where it was.

    The file's name is made of everything a verdict depends on: claims, budget, seed, data, versions, and the source
    code of the packages involved. It is removed when the run completes.
    """

    def __init__(self, references: Sequence[Reference], context: Context, folder: Path = JOURNALS) -> None:
        text = json.dumps(
            [
                [dataclasses.astuple(r) for r in references],
                dataclasses.asdict(context),
                versions(),
                _code(references),
            ]
        )
        self.path = folder / f"check-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}.jsonl"

    def read(self) -> list[Verdict]:
        """Verdicts of the interrupted run; a line cut short by the interruption is dropped."""
        if not self.path.exists():
            return []
        found = []
        for line in self.path.read_text().splitlines():
            try:
                found.append(Verdict(**json.loads(line)))
            except (ValueError, TypeError):
                continue
        return found

    def add(self, verdict: Verdict) -> None:
        """Append one verdict."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(dataclasses.asdict(verdict)) + "\n")

    def close(self) -> None:
        """Remove the journal: the run is complete."""
        self.path.unlink(missing_ok=True)


def _code(references: Sequence[Reference]) -> str:
    """Hash of the source code that verdicts depend on."""
    digest = hashlib.blake2b(digest_size=8)
    folders = {Path(__file__).parent}
    for source in sorted({r.source for r in references}):
        if source.endswith(".py"):
            digest.update(Path(source).read_bytes())
            continue
        for module in (source.split(".")[0], "problems"):
            spec = importlib.util.find_spec(module)
            if spec is not None and spec.submodule_search_locations:
                folders.update(Path(place) for place in spec.submodule_search_locations)
    for folder in sorted(folders):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
