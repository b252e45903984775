"""Work that several checks share, such as runs of experiments: what is asked for, what is done, and where it is kept."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fedtheory.claims.claim import Need
from fedtheory.claims.context import Context, Size
from fedtheory.claims.experiments import Training, group_runs, list_trainings, make_runs
from fedtheory.claims.identity import RefusedRun
from fedtheory.claims.references import Reference, find_papers, load_claims
from fedtheory.running.families import find_problem_modules
from fedtheory.tools.jobs import Outcome, run_jobs
from fedtheory.tools.journal import JOURNALS, hash_dependencies


def find_store(folder: Path = JOURNALS) -> Path:
    """Return where runs of experiments are kept when no folder is named: it changes with all code and versions they depend on."""
    return folder / f"runs-{hash_dependencies([*find_papers().values(), *find_problem_modules()])}"


def find_kept_runs(size: Size) -> tuple[str, ...]:
    """Return the folders of runs that known papers keep for a size: ``results/<size>`` beside a paper's package."""
    beside = {name.rpartition(".")[0] for name in find_papers().values()}
    specs = [importlib.util.find_spec(name) for name in sorted(beside - {""})]
    places = [Path(place) for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return tuple(str(place / "results" / size) for place in places if (place / "results" / size).is_dir())


def forget_older_runs(store: Path) -> None:
    """Remove the runs of older code."""
    for other in store.parent.glob("runs-*"):
        if other.name != store.name:
            shutil.rmtree(other, ignore_errors=True)


def forget_runs(references: Sequence[Reference], context: Context) -> None:
    """Remove the kept runs that these claims ask for, and no others."""
    if context.results is None:
        return
    for reference in references:
        for training in list_trainings(load_claims(reference.source)[reference.id], context):
            shutil.rmtree(Path(context.results) / training.key, ignore_errors=True)


def list_needs(references: Sequence[Reference], context: Context) -> dict[str, Need]:
    """Work that these claims share and that is not done, by key; nor kept but refused, which the checks tell that read it."""
    found = {need.key: need for reference in references for need in list_needs_of(reference, context)}
    return {key: need for key, need in found.items() if is_to_be_done(need, context)}


def list_needs_of(reference: Reference, context: Context) -> Sequence[Need]:
    """Return the work that a claim's check reads."""
    needs = load_claims(reference.source)[reference.id].needs
    return () if needs is None else needs(context)


def is_to_be_done(need: Need, context: Context) -> bool:
    """Whether work is not kept; what is kept but refused is left as it is."""
    with contextlib.suppress(RefusedRun):
        return not need.is_done(context)
    return False


def make_needs(
    needs: dict[str, Need], context: Context, workers: int = 1, *, scheduler: str | None = None
) -> Iterator[Outcome]:
    """Do the work that checks share, as `fedtheory.tools.jobs.run_jobs` does; what fails is tried again, and reported, by the checks that need it."""
    groups = group_needs(needs, context)
    jobs = {key: ([needs[member] for member in group], context) for key, group in groups.items()}
    for outcome in run_jobs(make_group, jobs, workers=workers, scheduler=scheduler):
        yield from split_outcome(outcome, groups[outcome.key])


def group_needs(needs: Mapping[str, Need], context: Context) -> dict[str, list[str]]:
    """Return the keys of the work that is done at once (`fedtheory.claims.experiments.group_runs`), by the first of them."""
    runs = [need for need in needs.values() if isinstance(need, Training)]
    together = {group[0].key: [training.key for training in group] for group in group_runs(runs, context)}
    members = {key for group in together.values() for key in group[1:]}
    return {key: together.get(key, [key]) for key in needs if key not in members}


def make_group(needs: Sequence[Need], context: Context) -> None:
    """Do work that is done at once, as a worker does it."""
    if len(needs) == 1:
        needs[0].make(context)
    else:
        make_runs([need for need in needs if isinstance(need, Training)], context)


def split_outcome(outcome: Outcome, keys: Sequence[str]) -> list[Outcome]:
    """What became of each piece of work that was done at once."""
    return [replace(outcome, key=key, seconds=outcome.seconds / len(keys)) for key in keys]
