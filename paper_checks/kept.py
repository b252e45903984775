"""Runs of experiments that are kept in this repository, under ``results/<size>/<key>``: what is wrong with one, and which are stale.

A folder has a run's configuration, its metrics by round, and a summary with the versions that made it; no checkpoint and no pictures.
``fedtheory check CLAIM --size SIZE --results paper_checks/results/SIZE`` reads what is there and makes what is not.
"""

from __future__ import annotations

import json
import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path

import paper_checks
from fedtheory.claims.claim import Context, Size
from fedtheory.claims.experiments import Training
from fedtheory.core.errors import FedtheoryError

FOLDER = Path(__file__).parent / "results"
FILES = ("configuration.json", "metrics.csv", "summary.json")
VERSIONS = ("python", "fedtheory", "numpy")  #: that a summary must name


def kept(size: Size, root: Path = FOLDER) -> list[Path]:
    """Return the folders of runs that are kept at a size."""
    return sorted(path for path in (root / size).glob("*") if path.is_dir())


def flaws(folder: Path) -> list[str]:
    """Return what is wrong with a folder, in words; nothing if it can be read in the place of its run."""
    names = {path.name for path in folder.iterdir()}
    found = [f"{name} is missing" for name in FILES if name not in names]
    found += [f"{name} does not belong there" for name in sorted(names - {*FILES})]
    try:
        training = training_of(folder)
        summary = json.loads((folder / "summary.json").read_text())
    except (OSError, ValueError, TypeError, FedtheoryError) as error:
        return [*found, f"it cannot be read: {error}"]
    if training.key != folder.name:
        found.append(f"its configuration belongs to {training.key}")
    elif not training.is_done(Context(results=str(folder.parent))):
        found.append(f"its metrics do not reach round {training.rounds}")
    if summary.get("seed") != training.seed:
        found.append(f"its summary is of seed {summary.get('seed')}, its configuration of seed {training.seed}")
    found += [f"the version of {name} is missing" for name in VERSIONS if name not in summary.get("versions", {})]
    return found


def training_of(folder: Path) -> Training:
    """Return the run that a folder's configuration asks for.

    Raises
    ------
    InvalidInput
        Its method does not read one of the settings any more, or is not known.
    """
    return Training.of(json.loads((folder / "configuration.json").read_text()))


@cache
def asked_for(size: Size) -> frozenset[str]:
    """Return the runs that claims of all papers here ask for at a size, as names without their seeds."""
    context, found = Context(size=size), set()
    for module in pkgutil.iter_modules(paper_checks.__path__, "paper_checks."):
        for claim in getattr(import_module(module.name), "CLAIMS", ()) if module.ispkg else ():
            needs = claim.needs(context) if claim.needs is not None else ()
            found |= {_without_seed(need) for need in needs if isinstance(need, Training)}
    return frozenset(found)


def stale(size: Size, root: Path = FOLDER) -> list[Path]:
    """Return kept runs that no claim asks for any more at this size, with any seed; those that cannot be read are told by `flaws`."""
    return [
        path for path in kept(size, root) if not flaws(path) and _without_seed(training_of(path)) not in asked_for(size)
    ]


def _without_seed(training: Training) -> str:
    return json.dumps({k: v for k, v in training.configuration.items() if k != "seed"}, sort_keys=True)
