"""Runs of experiments that are kept in this repository, under ``results/<size>/<key>``: what is wrong with one, which are stale, what made them.

A folder has a run's configuration, its metrics by round, and a summary with the versions that made it; no checkpoint and no pictures. What made
them (data, code, device, versions) is in one file a size. ``fedtheory check CLAIM --size SIZE --results paper_checks/results/SIZE`` reads what is
there and makes what is not; ``python -m paper_checks.kept --stamp SIZE`` writes that file, once a sample of the runs came out as it is kept.
"""

from __future__ import annotations

import os
import pkgutil
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from fedtheory.claims.context import Context, Size
from fedtheory.claims.experiments import Training, list_trainings, write_without_seed
from fedtheory.claims.identity import FILE, KEPT, EditedRun, Identity, hash_run, require_unedited, share_identities
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.tools.untrusted import read_json_file
from paper_checks import __path__ as _FOLDERS

FOLDER = Path(__file__).parent / "results"
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
            if not training.is_done(Context(results=str(folder.parent))):
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
    for module in pkgutil.iter_modules(_FOLDERS, f"{__package__}."):
        for claim in getattr(import_module(module.name), "CLAIMS", ()) if module.ispkg else ():
            found |= {write_without_seed(training) for training in list_trainings(claim, context)}
    return frozenset(found)


def stale(size: Size, root: Path = FOLDER) -> list[Path]:
    """Return kept runs that no claim asks for any more at this size, with any seed; those that cannot be read are told by `flaws`."""
    return [
        path
        for path in kept(size, root)
        if not flaws(path) and write_without_seed(training_of(path)) not in asked_for(size)
    ]


# ---- what made them ----------------------------------------------------------------------------------------------------

SAMPLE = 3  #: runs that are made again before all are stamped


def stamp(
    size: Size,
    context: Context,
    sample: int = SAMPLE,
    root: Path = FOLDER,
    tell: Callable[[str], None] = print,
    like: Path | None = None,
) -> None:
    """Write what makes the runs of a size here, once a sample of them, drawn at random for each method, came out byte by byte as it is kept.

    On another processor kept runs come out in other digits. Then ``like`` is a folder with the sample as the code of the kept runs makes it here
    (`make_sample`), and the sample has to be the same as there.

    Runs that were made on another kind of device cannot come out here as they are kept. None is in the sample, and they keep the device and the
    versions that made them: what is stamped is that the code of today makes the same numbers.

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
    identities = {}
    for folder in folders:
        here = Identity.of(training_of(folder), context)
        if (stored := Identity.read(folder)) is not None:
            require_unedited(folder, stored)
            if stored.device != here.device:
                here = replace(here, device=stored.device, versions=stored.versions)
        identities[folder.name] = replace(here, files=hash_run(folder))
    for name, identity in identities.items():
        if identity.data is None:
            raise InvalidInput(f"the data of {name} are not here; give the data folder (FEDTHEORY_DATA)")
    with tempfile.TemporaryDirectory() as place:
        for name in make_sample(size, context, Path(place), sample, root):
            new, old = (folder / name / "metrics.csv" for folder in (Path(place), like or root / size))
            if not old.exists():
                raise InvalidInput(
                    f"{old} is not there; the sample that 'python -m paper_checks.kept --make' makes is expected"
                )
            if new.read_bytes() != old.read_bytes():
                raise InvalidInput(f"{name} came out otherwise when it was made again; nothing was stamped")
            tell(f"{name}: made again, byte by byte as it is {'kept' if like is None else f'in {like}'}")
    share_identities(root / size, identities)
    for folder in folders:
        (folder / FILE).unlink(missing_ok=True)
    tell(f"{len(identities)} runs of {size} size are stamped")


def make_sample(size: Size, context: Context, place: Path, sample: int = SAMPLE, root: Path = FOLDER) -> Iterator[str]:
    """Make the sample of the kept runs of a size, of those that a CPU made, in a folder, yielding their names."""
    trainings = {folder.name: training_of(folder) for folder in kept(size, root) if _device_of(folder) == "cpu"}
    for name in _draw(trainings, sample):
        trainings[name].make(replace(context, size=size, results=str(place)))
        yield name


def _draw(trainings: dict[str, Training], sample: int) -> list[str]:
    """Names of runs, the same number of each method as far as it goes, drawn by a fixed seed."""
    methods: dict[str, list[str]] = {}
    for name in random.Random(0).sample(sorted(trainings), len(trainings)):
        methods.setdefault(trainings[name].method, []).append(name)
    turns = max(map(len, methods.values()), default=0)
    return [names[k] for k in range(turns) for _, names in sorted(methods.items()) if k < len(names)][:sample]


USAGE = """python -m paper_checks.kept --stamp SIZE [LIKE] [SAMPLE]: write what makes the runs of a size (laptop, small, paper), once a sample of so
many came out as it is kept
python -m paper_checks.kept --make SIZE FOLDER [SAMPLE]: make the sample in a folder. Where the processor is another one than that of the kept runs,
do so with the code that is stamped, and give --stamp the folder as LIKE"""


def main(arguments: list[str]) -> None:
    """Stamp, or make the sample."""
    *words, last = arguments or [""]
    sample, words = (int(last), words) if last.isdigit() else (SAMPLE, arguments)
    match words:
        case ["--stamp", ("laptop" | "small" | "paper") as size, *like] if len(like) < 2:
            stamp(size, _context(size), sample, like=Path(*like) if like else None)
        case ["--make", ("laptop" | "small" | "paper") as size, folder]:
            for name in make_sample(size, _context(size), Path(folder), sample):
                print(name)
        case _:
            sys.exit(USAGE)


def _context(size: Size) -> Context:
    return Context(size=size, data=os.environ.get("FEDTHEORY_DATA"))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except FedtheoryError as failure:
        sys.exit(f"error: {failure}")
