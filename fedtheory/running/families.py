"""Families of problems that packages announce in the entry-point group ``fedtheory.problems``.

A module named there has a list ``PROBLEMS`` of families (``name``, ``description``, ``build``) and a dataclass ``Options``, which
``build`` takes; so this package imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from fedtheory.core.errors import InvalidInput, NotAvailable

PROBLEMS_GROUP = "fedtheory.problems"


@cache
def problem_modules() -> tuple[str, ...]:
    """Names of the modules that announce families."""
    return tuple(sorted({entry.value for entry in metadata.entry_points(group=PROBLEMS_GROUP)}))


@cache
def problem_families() -> dict[str, tuple[Any, type[Any]]]:
    """Known families: name to the family and the dataclass of its options."""
    found = {}
    for name in problem_modules():
        module = import_module(name)
        for family in module.PROBLEMS:
            found[family.name] = (family, module.Options)
    return found


def asked_for(name: str, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a family and its options; options that are not given have the family's defaults.

    Raises
    ------
    InvalidInput
        The family is unknown; the message lists those that are known.
    """
    families = problem_families()
    if name not in families:
        raise InvalidInput(f"unknown problem {name!r}; known are {', '.join(families)}")
    family, make_options = families[name]
    asked = make_options(**options)
    for name_of, value in getattr(make_options, "ONLY_NETWORKS", {}).items():
        if getattr(asked, name_of) != value and not getattr(family, "network", False):
            known = ", ".join(other for other, (found, _) in families.items() if getattr(found, "network", False))
            raise InvalidInput(f"{name} does not use --{name_of.replace('_', '-')}; these do: {known}")
    return family, asked


def build_problem(name: str, **options: Any) -> Any:
    """Build an instance of a family; see `asked_for`."""
    family, asked = asked_for(name, options)
    return family.build(asked)


def build_and_draw(name: str, path: Path, **options: Any) -> Any:
    """Build an instance of a family on real data, and draw the split that it is built on into a file.

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

    family, asked = asked_for(name, options)
    if not hasattr(family, "label_counts"):
        shown = ", ".join(other for other, (found, _) in problem_families().items() if hasattr(found, "label_counts"))
        raise NotAvailable(f"{name!r} is not built on a data set, so it has no split to show; these are: {shown}")
    dataset = family.load(asked)
    split = family.split(dataset, asked)
    counts, classes = family.label_counts(dataset, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    title = f"{dataset.name}: split {asked.split!r} over {len(split)} clients"
    draw_split(counts, classes, title).savefig(path, dpi=150)
    return family.on(dataset, split, asked)


def first_model(problem: Any, start: float | None, seed: int) -> Any:
    """Return where runs begin ``(d,)``: every coordinate ``start``; by default 1, or a network's own random weights."""
    import numpy as np

    from fedtheory.core.arrays import like

    if hasattr(problem, "initial"):  # also with a start: networks live in the library of their own weights
        own = problem.initial(seed)
        return own if start is None else like(np.full(problem.d, float(start)), own)
    return np.full(problem.d, 1.0 if start is None else start)
