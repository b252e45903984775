"""Whether a problem of so many clients would fit, told before it is built."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory.core.errors import FedtheoryError
from fedtheory.running.families import read_options
from fedtheory.tools.memory import require_room

#: fewer clients are built at once
MOST_UNASKED = 10**5
_FEW = (64, 128)


def require_room_for_clients(name: str, weights: Any = None, **options: Any) -> None:
    """Refuse more clients than memory holds, by the memory that each of few clients takes; twice, since building takes some, too.

    A family that divides real data, has no number of clients, or cannot be built with few of them is left to itself.
    ``weights`` are those of `fedtheory.running.families.build_problem`, and take no room beside the clients.

    Raises
    ------
    InvalidInput
        They would not fit, or the family is unknown.
    """
    family, asked = read_options(name, options)
    clients = getattr(asked, "clients", None)
    if (
        "clients" not in family.reads
        or "split" in family.reads
        or not isinstance(clients, int)
        or clients <= MOST_UNASKED
    ):
        return
    try:
        small, large = (len(pickle.dumps(family.build(replace(asked, clients=few)))) for few in _FEW)
    except (FedtheoryError, pickle.PicklingError, AttributeError, TypeError):
        return
    needed = 2 * clients * (large - small) // (_FEW[1] - _FEW[0])
    require_room(f"{name} with {clients} clients", needed, np.empty(0), "ask for fewer clients (--clients)")
