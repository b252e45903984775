"""What a hyper-parameter may be: rules that refuse all else."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.core.arrays import is_array
from fedtheory.core.errors import InvalidInput


def momentum_in_range(owner: Any, name: str) -> None:
    """Refuse a momentum parameter outside [0, 1); symbols are let through.

    Raises
    ------
    InvalidInput
        A number lies outside, or an array does not have the shape ``(*batch, 1, 1)``.
    """
    value = plain(owner, name)
    if is_array(value) and tuple(value.shape[-2:]) != (1, 1):
        raise InvalidInput(f"{name} has shape {tuple(value.shape)}; expected a number or an array (*batch, 1, 1)")
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return
    if not np.all((numbers >= 0) & (numbers < 1)):
        raise InvalidInput(
            f"{name} must lie in [0, 1), got {value}; with rho = nu/L = 1 one round is exact for every {name}"
        )


def plain(owner: Any, name: str) -> Any:
    """Return a hyper-parameter, a NumPy scalar turned into a Python number first.

    NumPy scalars are not weak: an ``np.float64`` step would turn a run in float32 into float64.
    """
    value = getattr(owner, name)
    if isinstance(value, np.generic):
        value = value.item()
        object.__setattr__(owner, name, value)
    return value


def positive(owner: Any, name: str) -> None:
    """Refuse a hyper-parameter that is not positive; symbols and schedules are let through.

    Raises
    ------
    InvalidInput
        A value is zero, negative or not a number, or an array does not have the shape ``(*batch, 1, 1)``.
    """
    value = plain(owner, name)
    if is_array(value) and tuple(value.shape[-2:]) != (1, 1):
        raise InvalidInput(
            f"{name} has shape {tuple(value.shape)}; expected a number or an array (*batch, 1, 1), which "
            "fedtheory.core.arrays.along_batch(values) makes"
        )
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return
    if not np.all(numbers > 0):
        raise InvalidInput(f"{name} must be positive, got {value}")


def constant_step(owner: Any, name: str) -> None:
    """Refuse a step size that is not positive, and a schedule, by the name of the method that takes none."""
    if callable(getattr(owner, name)):
        raise InvalidInput(
            f"{type(owner).__name__} has one {name} for all rounds; expected a number, got the schedule {getattr(owner, name)}"
        )
    positive(owner, name)


def not_negative(owner: Any, name: str) -> None:
    """Refuse a hyper-parameter that is neither positive nor the number zero."""
    value = plain(owner, name)
    if not (isinstance(value, int | float) and value == 0):
        positive(owner, name)


def share(owner: Any, name: str) -> None:
    """Refuse a hyper-parameter outside (0, 1]; symbols are let through."""
    positive(owner, name)
    value = getattr(owner, name)
    try:
        above = bool(np.any(np.asarray(value, dtype=float) > 1))
    except (TypeError, ValueError):
        return
    if above:
        raise InvalidInput(f"{name} must lie in (0, 1], got {value}")


def at_least_one(name: str, value: Any) -> None:
    """Refuse a count below one."""
    if not isinstance(value, int | np.integer) or value < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, got {value!r}")
