"""What made a run that is kept: its data, the code that decides its numbers, the device, versions; and what differs here.

A run is named by what was asked for (`fedtheory.claims.experiments.Training.key`). Its numbers rest on more, which is written beside them as
`Identity`: in the run's folder as ``identity.json``, or for all runs of a folder of runs in its ``identities.json``. Where the data, the code
or a minor version of the libraries that compute is another one here, the run is refused. So it is where one of its own files is another one
than when the run was done: an identity has their digests, which show accidents and careless edits, and nobody who writes new ones. What
is only told: data that are not here to be compared, PyTorch that is not installed here, other versions, and runs that were made when identities had
no digests, which an ``identities.json`` of format 1 names.

A run that was made on another kind of device, with the libraries that were there, could not come out to the same digits here anyway. It is read
once it is done, and what made it is told; one that is not done is not gone on with.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Protocol

from fedtheory.algorithms import listed
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.measures.catalogue import look_up
from fedtheory.measures.residuals import RESIDUALS, WithResiduals
from fedtheory.running.families import read_options
from fedtheory.tools.definitions import LAMBDA, Definition, hash_definitions
from fedtheory.tools.untrusted import MOST_BYTES, open_file, read_json_file, stamp_file
from fedtheory.tools.versions import find_versions

if TYPE_CHECKING:
    from fedtheory.claims.context import Context

FILE, SHARED = "identity.json", "identities.json"
KEPT = ("configuration.json", "metrics.csv", "summary.json")  #: files of a run that is done
#: what makes the numbers of every run: `fedtheory.claims.experiments`' function for it, the rounds, the first model
_MAKER: Definition = ("fedtheory.claims.experiments", "_trained")
#: what decides no number, and registries, whose entries are roots of their own
_OUTSIDE = (
    *("fedtheory.tools", "fedtheory.core.errors", "fedtheory.claims.identity"),
    *("fedtheory.algorithms.catalogue", "fedtheory.measures.catalogue"),
    *(f"fedtheory.running.families.{name}" for name in ("read_options", "build_problem", "load_families")),
)
_DECIDING = ("numpy", "torch")  #: packages whose minor version may change numbers: their draws and their sums


class AskedFor(Protocol):
    """A run as it is asked for (`fedtheory.claims.experiments.Training`)."""

    @property
    def method(self) -> str:
        """Its method's name."""

    @property
    def problem(self) -> str:
        """Its family's name."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The method's options by name."""

    @property
    def configuration(self) -> dict[str, Any]:
        """All of it as plain data."""


class RefusedRun(InvalidInput):
    """A kept run that something else made than what is here, or that cannot be read."""


class EditedRun(RefusedRun):
    """A kept run whose files are not those that were made."""


@dataclass(frozen=True)
class Identity:
    """What made a run.

    Parameters
    ----------
    code : mapping of module to hash
        Of the definitions in it that decide the run's numbers (`fedtheory.tools.definitions`).
    device : str
        ``cpu`` or ``cuda``, of problems that compute there; others are always computed on the host.
    versions : mapping
        Python's, NumPy's and, where it is used, PyTorch's.
    defaults : mapping
        The family's options that the run does not name, and the numbers and words that its functions hold.
    data : mapping of file to SHA-256, optional
        The files that the problem is read from; None where they are not here.
    files : mapping of file to SHA-256, optional
        The run's own files once it is done, none before; None of a run that was made when identities had no digests.
    """

    code: Mapping[str, str]
    device: str
    versions: Mapping[str, str]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, str] | None = field(default_factory=dict)
    files: Mapping[str, str] | None = None

    @classmethod
    def of(cls, training: AskedFor, context: Context) -> Identity:
        """Return what would make a run here."""
        configuration = {**training.configuration, "seed": 0, "rounds": 0}  # which decide none of it
        found, family, options = _look_up(json.dumps(configuration, sort_keys=True), context.data, context.device)
        return cls(**found, data=_hash_data(family, options))

    @classmethod
    def read(cls, folder: Path) -> Identity | None:
        """Return what made the run in a folder; None where nothing says it."""
        own = folder / FILE
        try:
            if own.exists():
                return _read_identity(read_json_file(own, "what made a run"))
            found = _read_shared(folder.parent / SHARED).get(folder.name)
            return None if found is None else _read_identity(*found)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise RefusedRun(
                f"what made the run in {folder} cannot be read ({error}); remove the folder, or give another"
            ) from error

    def begin(self, folder: Path) -> None:
        """Write it beside a run that begins."""
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / FILE, json.dumps(asdict(replace(self, files={})), indent=1, sort_keys=True) + "\n")

    def finish(self, folder: Path) -> None:
        """Write it beside a run that is done, with the digests of its files."""
        _write(
            folder / FILE, json.dumps(asdict(replace(self, files=hash_run(folder))), indent=1, sort_keys=True) + "\n"
        )

    @property
    def is_finished(self) -> bool:
        """Whether its run is done, as far as it says."""
        return self.files is None or bool(self.files)

    def differences(self, here: Identity) -> list[str]:
        """Return what refuses a run of this identity here, in words."""
        found = []
        for name in sorted({*(self.data or {}), *(here.data or {})} if here.data is not None else ()):
            old, new = (self.data or {}).get(name), (here.data or {}).get(name)
            if old != new:
                found.append(f"made with data {_told(name, old)}, here {_told(name, new)}")
        modules = sorted(name for name in {*self.code, *here.code} if self.code.get(name) != here.code.get(name))
        if modules:
            found.append(f"made with other code of {', '.join(modules)}")
        names = sorted(n for n in {*self.defaults, *here.defaults} if self.defaults.get(n) != here.defaults.get(n))
        found += [f"made with {n} = {self.defaults.get(n)!r} by default, here {here.defaults.get(n)!r}" for n in names]
        elsewhere = self.device != here.device
        if elsewhere and not self.is_finished:
            found.append(f"begun on {self.device}, here {here.device}")
        for name in () if elsewhere else _DECIDING:
            old, new = self.versions.get(name), here.versions.get(name)
            if _minor(old) != _minor(new) and name not in self.absent:
                found.append(f"made with {name} {old or '(none)'}, here {new or '(none)'}")
        return found

    @property
    def absent(self) -> list[str]:
        """Packages that made the numbers of a run that is done and are not installed here: it is read all the same, but not made again."""
        return [n for n in _DECIDING if n in self.versions and n not in find_versions() and self.is_finished]

    def remarks(self, here: Identity) -> list[str]:
        """Return what is told of a run of this identity that is not refused here."""
        found = []
        if here.data is None and self.data:
            files = ", ".join(_told_of_set(folder, names, self.data) for folder, names in _by_set(self.data).items())
            found.append(f"made with data {files}, which are not here and were not compared")
        if self.device != here.device:
            found.append(f"made on {self.device}, here {here.device}")
        found += [f"made with {name} {self.versions[name]}, which is not installed here" for name in self.absent]
        others = sorted(n for n in self.versions if n in here.versions and self.versions[n] != here.versions[n])
        if others:
            found.append(f"made with {', '.join(f'{n} {self.versions[n]} (here {here.versions[n]})' for n in others)}")
        return found


def require_same(folder: Path, training: AskedFor, context: Context) -> Identity:
    """Return what made a run; refuse one that something else made than what is here, and note what is to be told of it.

    Raises
    ------
    RefusedRun
        The message names what differs, and what to do.
    EditedRun
        A file of the run, which is done, is another one than when it was made.
    """
    stored, advice = (
        Identity.read(folder),
        "give another folder (--results FOLDER; --fresh where none was given), or remove the run to make it again",
    )
    if stored is None:
        raise RefusedRun(
            f"a kept run of {training.method} on {training.problem} does not say what made it ({FILE}); {advice}"
        )
    here = Identity.of(training, context)
    require_unedited(folder, stored)
    differ = [*stored.differences(here), *_other_method(folder, training)]
    if differ:
        raise RefusedRun(f"a kept run of {training.method} on {training.problem} was {'; '.join(differ)}; {advice}")
    _data.get().update(stored.data or {})
    told = ["made when runs had no digests: whether their numbers were edited since was not compared"]
    for remark in [*stored.remarks(here), *(told if stored.files is None else [])]:
        note(remark, folder.name)
    return stored


def note(remark: str, run: str) -> None:
    """Tell something of a run that is read."""
    _noted.get().setdefault(remark, set()).add(run)


def require_unedited(folder: Path, stored: Identity) -> None:
    """Refuse a run that is done and has a file that is not the one that was made.

    Raises
    ------
    EditedRun
        The message names the file and the run.
    """
    if not stored.files:
        return
    here = hash_run(folder)
    edited = sorted(name for name in {*stored.files, *here} if stored.files.get(name) != here.get(name))
    if edited:
        raise EditedRun(
            f"{' and '.join(edited)} of {folder.name} {'was' if len(edited) == 1 else 'were'} changed after "
            f"{'it was' if len(edited) == 1 else 'they were'} made; bring the run back as it was, or remove its folder to make it again"
        )


def hash_run(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of the files of a run that is done, of those that are there."""
    stamps = {name: stamp_file(folder / name) for name in KEPT}
    return {name: _hash_file(folder / name, stamp, MOST_BYTES) for name, stamp in stamps.items() if stamp is not None}


def _other_method(folder: Path, training: AskedFor) -> list[str]:
    """What a run's summary says of its method, where it is another one here: its defaults have changed."""
    said = _read_method(folder, stamp_file(folder / "summary.json"))
    here = repr(listed(training.method).build(**training.settings))
    return [] if said is None or here in said else [f"made with {said}, here {here}"]


@lru_cache(maxsize=4096)
def _read_method(folder: Path, stamp: tuple[int, ...] | None) -> str | None:
    try:
        return str(read_json_file(folder / "summary.json", "the summary of a run", finite=False)["algorithm"])
    except (ValueError, KeyError, TypeError):
        return None


def share_identities(root: Path, identities: Mapping[str, Identity]) -> None:
    """Write what made the runs of a folder of runs into one file, with the digests of each."""
    groups: dict[str, dict[str, Any]] = {}
    for name, identity in sorted(identities.items()):
        made_with = {part: value for part, value in asdict(identity).items() if part != "files"}
        groups.setdefault(json.dumps(made_with, sort_keys=True), {})[name] = identity.files
    known = [{"made_with": json.loads(text), "runs": runs} for text, runs in groups.items()]
    _write(root / SHARED, json.dumps({"format": 2, "identities": known}, indent=1) + "\n")
    _read_shared.cache_clear()


@lru_cache(maxsize=8)
def _read_shared(path: Path) -> dict[str, tuple[dict[str, Any], bool]]:
    """Return identities by the names of their runs, and whether they must have digests: those of format 1 had none."""
    if not path.exists():
        return {}
    stored, found = read_json_file(path, "what made runs"), dict[str, tuple[dict[str, Any], bool]]()
    first = stored.get("format") == 1
    for known in stored["identities"]:
        runs = known["runs"]
        for run in runs:
            found[run] = {**known["made_with"], "files": None if first else runs[run]}, not first
    return found


def _read_identity(data: Any, digests: bool = True) -> Identity:
    """Return an identity from plain data, each field as it must be; one that must have digests is refused without them."""
    found = Identity(**data)
    if digests and found.files is None:
        raise ValueError("it has no digests of the run's files, and is not believed without them")
    texts = {"code": found.code, "versions": found.versions, "data": found.data or {}, "files": found.files or {}}
    for name, values in texts.items():
        if not all(isinstance(text, str) for pair in values.items() for text in pair):
            raise TypeError(f"{name!r} is no mapping from texts to texts")
    if not isinstance(found.device, str) or not isinstance(found.defaults, dict):
        raise TypeError("'device' is no text, or 'defaults' no mapping")
    return found


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    temporary.write_text(text)
    temporary.replace(path)


# ---- what is told ------------------------------------------------------------------------------------------------------

_noted: ContextVar[dict[str, set[str]]] = ContextVar("noted", default={})  # noqa: B039


_data: ContextVar[dict[str, str]] = ContextVar("data", default={})  # noqa: B039


@contextlib.contextmanager
def collect_data() -> Iterator[dict[str, str]]:
    """Collect the files that the kept runs which are read meanwhile were made from, with their SHA-256."""
    found: dict[str, str] = {}
    token = _data.set(found)
    try:
        yield found
    finally:
        _data.reset(token)


@contextlib.contextmanager
def collect_remarks() -> Iterator[dict[str, set[str]]]:
    """Collect what is told of kept runs that are read meanwhile, each with the runs it is told of."""
    found: dict[str, set[str]] = {}
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


#: files of one data set that are named one by one
_NAMED_FILES = 4


def _by_set(data: Mapping[str, str]) -> dict[str, list[str]]:
    """Names of files by the folder that they are in."""
    found: dict[str, list[str]] = {}
    for name in sorted(data):
        found.setdefault(name.rpartition("/")[0], []).append(name)
    return found


def _told_of_set(folder: str, names: Sequence[str], data: Mapping[str, str]) -> str:
    """The files of a data set with their digests, or how many there are."""
    if folder and len(names) > _NAMED_FILES:
        return f"{folder} ({len(names)} files, whose digests are kept with the run)"
    return ", ".join(_told(name, data[name]) for name in names)


def _told(name: str, value: str | None) -> str:
    return f"{name} (none)" if value is None else f"{name} (sha256 {value[:12]}...)"


def _minor(version: str | None) -> tuple[str, ...]:
    return tuple((version or "").split(".")[:2])


# ---- what is hashed ----------------------------------------------------------------------------------------------------


def _collect(thing: Any, roots: set[Definition], held: list[Any]) -> None:
    """Add the classes and functions that an object consists of to the roots, and plain values that its functions hold."""
    if isinstance(thing, MethodType):
        thing = partial(thing.__func__, thing.__self__)
    if isinstance(thing, partial):
        for part in (thing.func, *thing.args, *thing.keywords.values()):
            _collect(part, roots, held)
    elif isinstance(thing, FunctionType):
        top = thing.__qualname__.split(".")[0]
        roots.add((thing.__module__, f"{LAMBDA}:{thing.__code__.co_firstlineno}" if top == LAMBDA else top))
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        held += [value for value in cells if isinstance(value, str | int | float)]
        for value in cells:
            _collect(value, roots, held)
    elif isinstance(thing, type):
        roots.add((thing.__module__, thing.__qualname__.split(".")[0]))
    elif isinstance(thing, Mapping | list | tuple):
        for part in thing.values() if isinstance(thing, Mapping) else thing:
            _collect(part, roots, held)
    elif is_dataclass(thing):
        _collect(type(thing), roots, held)
        for part in fields(thing):
            _collect(getattr(thing, part.name), roots, held)


@lru_cache(maxsize=4096)
def _look_up(configuration: str, data: str | None, device: str) -> tuple[dict[str, Any], Any, Any]:
    """Return an identity without its data, and the family and the options that these are read by."""
    asked = json.loads(configuration)
    family, options = read_options(asked["problem"], {**asked["options"], "seed": 0, "data": data})
    roots: set[Definition] = {_MAKER}
    held: list[Any] = []
    _collect(listed(asked["method"]).build(**asked["settings"]), roots, [])
    _collect(family, roots, held)
    for name in asked["metrics"]:
        _collect(look_up(name).function, roots, held)
    if {*asked["metrics"]} & {*RESIDUALS}:
        _collect(WithResiduals, roots, held)
    on_device = "device" in family.reads
    used = ("python", "numpy", "torch") if on_device else ("python", "numpy")
    own = {n: v for n, v in asdict(options).items() if n in family.reads and n not in (*asked["options"], "device")}
    found = {
        "code": _hash_code(frozenset(roots)),
        "device": device.split(":", maxsplit=1)[0] if on_device else "cpu",
        "versions": {name: version for name, version in find_versions().items() if name in used},
        "defaults": own | ({"held": held} if held else {}),
    }
    return found, family, options


@cache
def _hash_code(roots: frozenset[Definition]) -> dict[str, str]:
    return hash_definitions((root for root in sorted(roots) if root[0] != "builtins"), _OUTSIDE)


def _hash_data(family: Any, options: Any) -> dict[str, str] | None:
    if not hasattr(family, "files"):
        return {}
    try:
        found = family.files(options)
    except NotAvailable:
        return None
    return {name: _hash_file(path, stamp_file(path)) for name, path in found.items()}


@lru_cache(maxsize=16_384)
def _hash_file(path: Path, stamp: tuple[int, ...] | None, most: int | None = None) -> str:
    with open_file(path, most) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
