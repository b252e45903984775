"""Families of problems that packages register in the entry-point group ``fedtheory.problems``.

A module named there has a list ``PROBLEMS`` of families (``name``, ``description``, ``build``, ``reads``, the names of the options that it
reads, and on real data ``files``, options to the files that an instance is read from, by name) and a dataclass ``Options``, which ``build``
takes; so this package imports none of them. The metadata of a field may hold ``help`` (the command line then offers it), ``choices`` (words),
and ``strict`` (families that do not read it refuse another value than its default).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

from fedtheory.core.errors import InvalidInput, NotAvailable, tell_known
from fedtheory.core.weighted import weighted
from fedtheory.tools.beside import name_here
from fedtheory.tools.devices import AUTOMATIC, Placement, choose_place

PROBLEMS_GROUP = "fedtheory.problems"


@cache
def find_problem_modules() -> tuple[str, ...]:
    """Names of the modules that register families."""
    return tuple(sorted({name_here(entry.value) for entry in metadata.entry_points(group=PROBLEMS_GROUP)}))


@cache
def load_families() -> dict[str, tuple[Any, type[Any]]]:
    """Known families: name to the family and the dataclass of its options."""
    found = {}
    for name in find_problem_modules():
        module = import_module(name)
        for family in module.PROBLEMS:
            found[family.name] = (family, module.Options)
    return found


@dataclass(frozen=True)
class ProblemOption:
    """An option of families of problems: its name there, its type or its choices, its default, what it is, which families read it."""

    name: str
    kind: type | tuple[str, ...]
    default: Any
    help: str
    readers: tuple[str, ...]

    @property
    def spelled(self) -> str:
        """How it is spelled on the command line."""
        return f"--{self.name.replace('_', '-')}"


def list_options(of: type[Any]) -> tuple[ProblemOption, ...]:
    """Return the options of a dataclass that the command line offers: the fields with a help text."""
    types, known = get_type_hints(of), [family for family, its in load_families().values() if its is of]
    found = []
    for f in fields(of):
        if "help" in f.metadata:
            inner = [kind for kind in get_args(types[f.name]) if kind is not type(None)]  # of ``int | None``
            kind = f.metadata.get("choices") or (inner[0] if inner else types[f.name])
            readers = tuple(family.name for family in known if f.name in family.reads)
            found.append(ProblemOption(f.name, kind, f.default, f.metadata["help"], readers))
    return tuple(found)


def list_family_options(names: Iterable[str] = ()) -> list[ProblemOption]:
    """Return the options of the dataclasses of these families, or of all; of one name the first."""
    families = load_families()
    kinds = dict.fromkeys(families[name][1] for name in (names or families))
    return list({option.name: option for kind in reversed(kinds) for option in list_options(kind)}.values())


def read_options(name: str, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a family and its options; options that are not given have the family's defaults.

    Raises
    ------
    InvalidInput
        The family is unknown; the message names those near it, or all.
    """
    families = load_families()
    if name not in families:
        raise InvalidInput(f"unknown problem {name!r}; {tell_known(name, families)}")
    family, make_options = families[name]
    asked = make_options(**options)
    for f in fields(make_options):
        if f.metadata.get("strict") and getattr(asked, f.name) != f.default and f.name not in family.reads:
            readers = ", ".join(other for other, (known, _) in families.items() if f.name in known.reads)
            raise InvalidInput(f"{name} does not use --{f.name.replace('_', '-')}; these do: {readers}")
    return family, asked


def build_problem(name: str, weights: str | Sequence[Any] | None = None, **options: Any) -> Any:
    """Build an instance of a family; see `read_options`. ``weights`` are those of its clients (`fedtheory.core.weighted.weighted`)."""
    family, asked = read_options(name, options)
    return weighted(family.build(asked), weights)


class Placed(NamedTuple):
    """An instance with its arrays at a place, and the same of NumPy's arrays (a network is the same twice)."""

    problem: Any
    on_host: Any
    place: Placement


def build_at(
    name: str, device: str = "cpu", library: str = AUTOMATIC, build: Callable[..., Any] = build_problem, **options: Any
) -> Placed:
    """Build an instance with its arrays on a device (`fedtheory.tools.devices.choose_place`).

    Families with an option ``device`` (networks) are PyTorch's whatever the library, and are built in their place; all others are
    built of NumPy's arrays and moved.

    Raises
    ------
    InvalidInput
        The family is unknown, or device and library do not go together.
    NotAvailable
        What the device needs is missing.
    """
    families = load_families()
    if name in families and "device" in families[name][0].reads:
        place = Placement(library="torch") if device == "cpu" else choose_place(device, "torch")
        network = build(name, **options, device=device)
        return Placed(network, network, place)
    place = choose_place(device, library)
    on_host = build(name, **options)
    return Placed(place.move(on_host), on_host, place)


def build_and_draw(name: str, path: Path, weights: str | Sequence[Any] | None = None, **options: Any) -> Any:
    """Build an instance of a family on real data as `build_problem` does, and draw the split that it is built on into a file.

    Such a family has ``load`` (options to a data set), ``split`` (how its samples are divided), ``label_counts`` (samples of each
    class on each client, and the classes' names) and ``on`` (the instance on a split data set).

    Raises
    ------
    InvalidInput
        The family is unknown.
    NotAvailable
        The family is not on real data; the message lists those that are.
    """
    from fedtheory.tools.pictures import draw_split

    family, asked = read_options(name, options)
    if not hasattr(family, "label_counts"):
        shown = ", ".join(other for other, (found, _) in load_families().items() if hasattr(found, "label_counts"))
        raise NotAvailable(f"{name!r} is not built on a data set, so it has no split to show; these are: {shown}")
    dataset = family.load(asked)
    split = family.split(dataset, asked)
    counts, classes = family.label_counts(dataset, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    title = f"{dataset.name}: split {asked.split!r} over {len(split)} clients"
    draw_split(counts, classes, title).savefig(path, dpi=150)
    return weighted(family.on(dataset, split, asked), weights)


def make_first_model(
    problem: Any, start: float | Literal["random"] | None, seed: int, place: Placement | None = None
) -> Any:
    """Return the starting point ``(d,)`` of runs: every coordinate ``start``; by default 1, or a network's own random weights.

    ``"random"``: a network's own, too; those of other models with layers are uniform on +-1/sqrt(inputs), as PyTorch draws them. It lives at
    the ``place`` (by default on the host), or in the library of the network's own weights.
    """
    import numpy as np

    from fedtheory.core.arrays import like
    from fedtheory.core.randomness import Key

    place = place or Placement()
    if start == "random" and not hasattr(problem, "initial"):
        draws = [
            (2 * Key(seed, 0).uniform(f"first model: {layer.name}", (layer.size,)) - 1) / layer.shape[0] ** 0.5
            for layer in problem.layers
        ]
        return place.array(np.concatenate(draws))
    if not hasattr(problem, "initial"):
        return place.array(np.full(problem.d, 1.0 if start is None else start))
    own = problem.initial(seed)
    own = place.array(own) if isinstance(own, np.ndarray) else own
    return own if start in (None, "random") else like(np.full(problem.d, float(start)), own)  # type: ignore[arg-type]
