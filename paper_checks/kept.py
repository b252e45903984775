"""Runs of experiments that are kept in this repository, under ``results/<size>/<key>``: what is wrong with one, which are stale, what made them.

A folder has a run's configuration, its metrics by round, and a summary with the versions that made it; no checkpoint and no pictures. What made
them (data, code, device, versions) is in one file a size. ``fedtheory check CLAIM --size SIZE --results paper_checks/results/SIZE`` reads what is
there and makes what is not; ``python -m paper_checks.kept --stamp SIZE`` writes that file, once a sample of the runs came out as it is kept.
"""

from __future__ import annotations

import csv
import json
import pkgutil
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import get_args

import numpy as np

import paper_checks
from fedtheory.claims.context import Context, Size
from fedtheory.claims.experiments import Training, list_trainings
from fedtheory.claims.identity import FILE, KEPT, EditedRun, Identity, hash_run, require_unedited, share_identities
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.tools.untrusted import read_json_file

FOLDER = Path(__file__).parent / "results"
#: by how much of what a column has metrics may differ that another processor made; local solves that stop at an accuracy may take a step more there
ROUNDING = 1e-5
VERSIONS = ("python", "fedtheory", "numpy")  #: that a summary must name


def kept(size: Size, root: Path = FOLDER) -> list[Path]:
    """Return the folders of runs that are kept at a size."""
    return sorted(path for path in (root / size).glob("*") if path.is_dir())


def flaws(folder: Path) -> list[str]:
    """Return what is wrong with a folder, in words; nothing if it can be read in the place of its run."""
    names = {path.name for path in folder.iterdir()}
    found = [f"{name} is missing" for name in KEPT if name not in names]
    found += [f"{name} does not belong there" for name in sorted(names - {*KEPT, FILE})]
    try:
        training = training_of(folder)
        summary = read_json_file(folder / "summary.json", "the summary of a run", finite=False)
        versions = {*summary.get("versions", {})}
    except (AttributeError, TypeError, FedtheoryError) as error:
        return [*found, f"it cannot be read: {error}"]
    if training.key != folder.name:
        found.append(f"its configuration belongs to {training.key}")
    else:
        try:
            if not training.is_done(Context(results=str(folder.parent), device=_device_of(folder))):
                found.append(f"its metrics do not reach round {training.rounds}")
        except EditedRun as error:
            found.append(str(error))
        except FedtheoryError as error:
            found.append(
                f"{error}; if that changes no number: python -m paper_checks.kept --stamp {folder.parent.name}"
            )
    if summary.get("seed") != training.seed:
        found.append(f"its summary is of seed {summary.get('seed')}, its configuration of seed {training.seed}")
    found += [f"the version of {name} is missing" for name in VERSIONS if name not in versions]
    return found


def training_of(folder: Path) -> Training:
    """Return the run that a folder's configuration asks for.

    Raises
    ------
    InvalidInput
        Its method does not read one of the settings any more, or is not known.
    """
    return Training.of(read_json_file(folder / "configuration.json", "the configuration of a run"))


def _device_of(folder: Path) -> str:
    """The kind of device that made a run, so that it is not refused for another one here."""
    made_by = Identity.read(folder)
    return "cpu" if made_by is None else made_by.device


@cache
def asked_for(size: Size) -> frozenset[str]:
    """Return the runs that claims of all papers here ask for at a size, as names without their seeds."""
    context, found = Context(size=size, results=str(FOLDER / size)), set()
    for module in pkgutil.iter_modules(paper_checks.__path__, "paper_checks."):
        for claim in getattr(import_module(module.name), "CLAIMS", ()) if module.ispkg else ():
            found |= {_without_seed(training) for training in list_trainings(claim, context)}
    return frozenset(found)


def stale(size: Size, root: Path = FOLDER) -> list[Path]:
    """Return kept runs that no claim asks for any more at this size, with any seed; those that cannot be read are told by `flaws`."""
    return [
        path for path in kept(size, root) if not flaws(path) and _without_seed(training_of(path)) not in asked_for(size)
    ]


def _without_seed(training: Training) -> str:
    return json.dumps({k: v for k, v in training.configuration.items() if k != "seed"}, sort_keys=True)


# ---- what made them ----------------------------------------------------------------------------------------------------

SAMPLE = 3  #: runs that are made again before all are stamped


def stamp(
    size: Size, context: Context, sample: int = SAMPLE, root: Path = FOLDER, tell: Callable[[str], None] = print
) -> None:
    """Write what makes the runs of a size here, once a sample of them, drawn at random for each method, came out as it is kept, up to rounding.

    Runs that have been made since carry what made them in a file of their own; these files are merged into the one of all. The digests of their files
    are written with it.

    Raises
    ------
    EditedRun
        A file of a run is not the one that was made: then nothing is written.
    InvalidInput
        A run of the sample came out otherwise, or the data of a run are not here: then nothing is written.
    """
    folders = kept(size, root)
    for folder in folders:
        if (stored := Identity.read(folder)) is not None:
            require_unedited(folder, stored)
    trainings = {folder.name: training_of(folder) for folder in folders}
    identities = {
        folder.name: replace(Identity.of(trainings[folder.name], context), files=hash_run(folder)) for folder in folders
    }
    for name, identity in identities.items():
        if identity.data is None:
            raise InvalidInput(f"the data of {name} are not here; give the data folder (FEDTHEORY_DATA)")
    for name in _draw(trainings, sample):
        with tempfile.TemporaryDirectory() as place:
            again = Context(size=size, data=context.data, device=context.device, results=place)
            trainings[name].make(again)
            new, old = (folder / name / "metrics.csv" for folder in (Path(place), root / size))
            off = _difference(new, old)
            if off > ROUNDING:
                raise InvalidInput(
                    f"{name} came out otherwise when it was made again ({off:.1g} of what a column has); nothing was stamped"
                )
        tell(
            f"{name}: made again, {f'as it is kept up to {off:.1g} of what a column has' if off else 'byte by byte as it is kept'}"
        )
    share_identities(root / size, identities)
    for folder in folders:
        (folder / FILE).unlink(missing_ok=True)
    tell(f"{len(identities)} runs of {size} size are stamped")


def _difference(new: Path, old: Path) -> float:
    """The largest difference of two files of metrics, relative to a column's largest number; infinite where they differ in more than digits."""
    if new.read_bytes() == old.read_bytes():
        return 0.0
    (head, *rows), (own_head, *own_rows) = (list(csv.reader(path.read_text().splitlines())) for path in (new, old))
    a, b = (np.array([[float(v or "nan") for v in row] for row in found]) for found in (rows, own_rows))
    if head != own_head or a.shape != b.shape or not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    size = np.nanmax(np.where(np.isfinite(b), np.abs(b), 0.0), axis=0, initial=np.finfo(float).tiny)
    return float(np.max(np.abs(a - b) / size, initial=0.0, where=np.isfinite(b)))


def _draw(trainings: dict[str, Training], sample: int) -> list[str]:
    """Names of runs, the same number of each method as far as it goes, drawn by a fixed seed."""
    methods: dict[str, list[str]] = {}
    for name in random.Random(0).sample(sorted(trainings), len(trainings)):
        methods.setdefault(trainings[name].method, []).append(name)
    turns = max(map(len, methods.values()), default=0)
    return [names[k] for k in range(turns) for _, names in sorted(methods.items()) if k < len(names)][:sample]


if __name__ == "__main__":
    import os

    if len(sys.argv) < 3 or sys.argv[1] != "--stamp" or sys.argv[2] not in get_args(Size):
        sys.exit(
            "python -m paper_checks.kept --stamp SIZE [SAMPLE]: SIZE is laptop, small or paper, SAMPLE the number of runs made again first"
        )
    size: Size = sys.argv[2]  # type: ignore[assignment]
    try:
        stamp(
            size,
            Context(size=size, data=os.environ.get("FEDTHEORY_DATA")),
            int(sys.argv[3]) if len(sys.argv) > 3 else SAMPLE,
        )
    except FedtheoryError as failure:
        sys.exit(f"error: {failure}")
