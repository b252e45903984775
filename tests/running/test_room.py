"""More clients than memory holds are refused before any of them is made."""

from __future__ import annotations

import pytest

from fedtheory.core.errors import InvalidInput
from fedtheory.running.families import load_families
from fedtheory.running.room import MOST_UNASKED, require_room_for_clients


def test_a_thousand_million_clients_are_refused_with_what_they_need() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"quadratics with 1000000000 clients needs about .* GiB .*; ask for fewer clients \(--clients\)",
    ):
        require_room_for_clients("quadratics", weights=None, clients=10**9)
    require_room_for_clients("quadratics", clients=MOST_UNASKED)


def test_the_estimate_is_at_least_what_the_arrays_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of quadratics in ten dimensions: a matrix and a vector a client."""
    seen: list[int] = []
    monkeypatch.setattr("fedtheory.running.room.require_room", lambda what, needed, *more: seen.append(needed))
    require_room_for_clients("quadratics", clients=10 * MOST_UNASKED)
    assert 1 <= seen[0] / (10 * MOST_UNASKED * (100 + 10) * 8) < 3


def test_families_that_cannot_be_estimated_are_left_to_themselves() -> None:
    for name, (family, _) in load_families().items():
        if "clients" not in family.reads or "split" in family.reads:
            require_room_for_clients(name, clients=10**9)
