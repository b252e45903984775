"""How much memory is free where an array lives, and an error before it runs out."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.core.arrays import Array
from fedtheory.core.errors import InvalidInput, require


def is_on_host(x: Array) -> bool:
    """Whether an array lies in the memory of the processor."""
    return isinstance(x, np.ndarray) or getattr(getattr(x, "device", None), "type", None) == "cpu"


def find_free_bytes(beside: Array) -> int | None:
    """Memory that can still be allocated beside an array; None where that cannot be found out."""
    place: Any = getattr(beside, "device", None)
    if getattr(place, "type", None) == "cuda":  # PyTorch
        cuda = require("torch", "asking a GPU for its free memory").cuda
        unused = cuda.memory_reserved(place) - cuda.memory_allocated(place)
        return int(cuda.mem_get_info(place)[0]) + int(unused)
    if hasattr(place, "mem_info"):  # CuPy
        pool = require("cupy", "asking a GPU for its free memory").get_default_memory_pool()
        return int(place.mem_info[0]) + int(pool.free_bytes())
    if is_on_host(beside):
        import psutil

        return int(psutil.virtual_memory().available)
    return None


def find_free_gpu_bytes(device: str) -> int:
    """Memory that is free on a GPU by its name in PyTorch, such as ``cuda:1``."""
    cuda = require("torch", "asking a GPU for its free memory").cuda
    return int(cuda.mem_get_info(device)[0])


def require_room(what: str, needed: int, beside: Array, advice: str) -> None:
    """Refuse what would not fit, before it is allocated.

    Raises
    ------
    InvalidInput
        More is needed than is free; the message has both numbers and what to lower.
    """
    free = find_free_bytes(beside)
    if free is not None and needed > free:
        raise InvalidInput(
            f"{what} needs about {needed / 2**30:.3g} GiB of memory on {getattr(beside, 'device', 'the host')}, where "
            f"{free / 2**30:.3g} GiB are free; {advice}"
        )
