"""How a method is listed: a name, a source, and options that follow from its fields."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, Method
from fedtheory.algorithms.local_work import LOCAL_STEPS, LOCAL_WORK
from fedtheory.algorithms.options import BuiltField, Option, read_option
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.problem import can, constants
from fedtheory.local.solvers import Exact

#: what the command line takes for a field without a default of its own
USUAL = {"lr": 0.1, "eta": 0.1, "rho": 1.0, "nu": 0.1, "q": 0.5, "p": 0.5, "alpha": 0.5}
#: what a conformance check takes, on quadratics with mu = 0.1 and L = 1: numbers no two of which coincide
TELLING = {
    **{"lr": 0.3, "eta": 0.7, "rho": 1.3, "nu": 0.05, "q": 0.6, "p": 0.4, "alpha": 0.6, "server_lr": 0.8},
    **{"momentum": 0.3, "mu": 0.05, "inner_lr": 0.15, "steps": 4},
}


@dataclass(frozen=True, eq=False)
class Listed:
    """One listed method: its name, its class, its source, and what it needs.

    Parameters
    ----------
    name, kind, source : str, class, str
    fixed : mapping
        Values of fields that the name decides; a `BuiltField` is built from options of its own.
    changes : mapping
        Of a field's option: its ``default``, ``spelled``, ``called``, ``help``, ``telling`` value.
    needs : names of abilities
        What a problem must have beyond gradients (`fedtheory.core.problem.ABILITIES`).
    strongly_convex : bool
        Whether exact local solves need strongly convex clients, because the method adds no quadratic to f_i.
    composite : bool
        Whether its source has the shared regulariser that the class takes; False where that is an addition of ours.

    Examples
    --------
    >>> entry = listed("scaffold")
    >>> print(entry.kind.__name__, entry.family)
    Scaffold averaging
    """

    name: str
    kind: type[Method]
    source: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    strongly_convex: bool = False
    composite: bool = True

    @property
    def family(self) -> str:
        """The group in which it is listed."""
        return self.kind.family

    @property
    def partial(self) -> bool:
        """Whether it is defined when only some clients take part."""
        return self.kind.partial

    @cached_property
    def asked(self) -> dict[str, BuiltField]:
        """Fields that are built from options of their own; a local solver that is not fixed is one."""
        found = {name: value for name, value in self.fixed.items() if isinstance(value, BuiltField)}
        for f in fields(self.kind):  # type: ignore[arg-type]
            if f.name not in self.fixed and f.type == "LocalSolver":
                found[f.name] = LOCAL_WORK if isinstance(f.default, Exact) else LOCAL_STEPS
        return found

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What can be chosen: the free fields by their own names, then what local solvers are built from, each once."""
        own = [self._option(f) for f in fields(self.kind) if f.name not in {*self.fixed, *self.asked}]  # type: ignore[arg-type]
        solvers = [option for asked in self.asked.values() for option in asked.options]
        return tuple({option.name: option for option in (*own, *solvers, *own)}.values())

    def _option(self, f: Field[Any]) -> Option:
        own = dict(self.changes.get(f.name, {}))
        changes = {"telling": TELLING.get(own.get("called", f.name))} | own
        if f.default is MISSING and f.name in USUAL:
            changes = {"default": USUAL[f.name]} | changes
        option = read_option(self.kind, f.name, **changes)
        if option.default is MISSING:
            raise TypeError(
                f"{self.name}: the option {f.name!r} needs a default; give changes={{{f.name!r}: {{'default': ...}}}}"
            )
        return option

    @property
    def departures(self) -> str:
        """How it departs from its source on purpose, as its class says after the word "Departures"; empty where it does not."""
        text = " ".join(inspect.cleandoc(self.kind.__doc__ or "").replace("\n\n", "\0").split())
        found = re.search(r"Departures?: ([^\0]*)", text)
        return found[1].strip() if found else ""

    @property
    def uses(self) -> tuple[str, ...]:
        """Names of the options."""
        return tuple(option.name for option in self.options)

    @property
    def telling(self) -> dict[str, Any]:
        """Values of all options, no two of them equal."""
        return {option.name: option.telling_value for option in self.options}

    def build(self, **values: Any) -> Algorithm:
        """Build the method from values of its options; the rest have their defaults.

        Raises
        ------
        InvalidInput
            The method has no such option, or a value is outside its definition.
        """
        for name in values:
            if name not in self.uses:
                raise InvalidInput(f"{self.name} has no option {name!r}; it has {', '.join(self.uses)}")
        given = {option.name: option.default for option in self.options} | values
        built = {
            name: asked.build(**{option.name: given[option.name] for option in asked.options})
            for name, asked in self.asked.items()
        }
        own = [f.name for f in fields(self.kind) if f.name not in {*self.fixed, *built}]  # type: ignore[arg-type]
        made: Any = self.kind(**(dict(self.fixed) | built | {name: given[name] for name in own}))
        return made  # type: ignore[no-any-return]


def listing(
    name: str,
    kind: type[Method],
    source: str,
    *,
    needs: tuple[str, ...] = (),
    strongly_convex: bool = False,
    composite: bool = True,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    **fixed: Any,
) -> Listed:
    """List a method: its options are its fields by their own names, but for those that are ``fixed``."""
    return Listed(name, kind, source, fixed, changes or {}, needs, strongly_convex, composite)


def require_convexity(entry: Listed, values: Mapping[str, Any], problem: Any) -> None:
    """Refuse exact local solves that have no answer: of clients that are not strongly convex, by a method that adds no quadratic to them.

    Raises
    ------
    NotAvailable
        The method is `Listed.strongly_convex`, exact solves are asked for, and the certified constant mu is not positive.
    """
    if not (entry.strongly_convex and values.get("exact") and can(problem, "certify")):
        return
    mu = constants(problem).get("mu")
    if mu is not None and not np.all(mu.value > 0):
        raise NotAvailable(
            f"exact local solves of {entry.name} need strongly convex clients, and those of {problem.name!r} are certified with "
            f"mu = {float(np.min(mu.value)):.3g}; add a ridge, take local steps, or use a method with a penalty"
        )
