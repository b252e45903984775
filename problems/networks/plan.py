"""Whether to compute clients' gradients together or one by one, found by measurement, and how much memory either takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from fedtheory.core.arrays import Array
from fedtheory.core.errors import InvalidInput
from fedtheory.tools.memory import find_free_bytes, require_room
from problems.networks.architectures import Architecture, torch

#: clients as one batch of networks, or one after the other, images and kernels in PyTorch's usual order or with channels last
Way = Literal["together", "one by one", "channels last"]
WAYS: tuple[Way, ...] = ("one by one", "channels last", "together")
SHARE = 0.8  #: of the free memory that gradients may take
MEASURED_FOR = 0.3  #: seconds, or as long as two calls of each take
KEPT = 3  #: copies of every activation: for the way back, its gradient, and workspace


def gradient_bytes(a: Architecture, rows: int, batch: int, itemsize: int) -> int:
    """Memory that gradients of ``rows`` models on ``batch`` images each take at once, an estimate from above for common layers."""
    return itemsize * rows * (KEPT * a.activations * batch + 3 * a.d)


class Plan:
    """How gradients of several clients are computed, decided once for each size of the work.

    ``mode``: ``"measure"`` times all ways on the first call of each size and keeps the fastest; or one of the ways. They differ by
    the order of sums. Sizes are rounded up to powers of two; one client is treated as several are that are computed one by one. What was
    decided goes with a checkpoint (`decisions`, `adopt`), so that a run that is resumed decides alike. Two runs that both measure may
    decide otherwise, and then differ by rounding; name a way for runs that are to be equal bit by bit.
    """

    def __init__(self, mode: str = "measure") -> None:
        if mode not in ("measure", *WAYS):
            raise InvalidInput(
                f"clients are computed {', '.join(map(repr, WAYS))}, or as 'measure' finds; got {mode!r}"
            )
        self.mode = mode
        self._decided: dict[str, dict[str, Any]] = {}

    def __repr__(self) -> str:
        """Say how it was asked to decide, not what it found: equal problems have equal names."""
        return f"Plan({self.mode!r})"

    def decisions(self) -> dict[str, dict[str, Any]]:
        """What was decided: the size of the work to the way, the clients in one call, and the seconds measured."""
        return self._decided

    def adopt(self, decisions: Mapping[str, dict[str, Any]]) -> None:
        """Decide as another process did.

        Raises
        ------
        InvalidInput
            These are no decisions.
        """
        for size, found in decisions.items():
            seconds = found.get("seconds", {})
            if found["way"] not in WAYS or type(found["rows"]) is not int or found["rows"] < 1:
                raise InvalidInput(
                    f"what was decided for {size} is none of {', '.join(map(repr, WAYS))} for a number of clients"
                )
            if any(way not in WAYS or not isinstance(value, float) for way, value in seconds.items()):
                raise InvalidInput(f"what was measured for {size} is no number of seconds a way")
        self._decided = dict(decisions)

    def report(self) -> list[str]:
        """One line for each size of the work."""
        lines = []
        for size, found in self._decided.items():
            timed = found.get("seconds", {})
            times = ", ".join(f"{way} {seconds * 1e3:.3g} ms" for way, seconds in timed.items())
            lines.append(f"{size}: {found['way']}" + (f" ({times})" if times else ""))
        return lines

    def one_by_one(self, rows: int, batch: int) -> bool:
        """Whether gradients of this size are computed one after the other; not known before the first of them."""
        return _size(rows, batch) in self._decided and self._decided[_size(rows, batch)]["way"] != "together"

    def gradients(
        self,
        a: Architecture,
        x: Array,
        batch: int,
        compute: Callable[[Way, int, int], Array],
    ) -> Array:
        """Return ``compute(way, first row, last row)`` for all rows of x ``(rows, d)``, in the way decided."""
        rows = x.shape[0]
        size = _size(rows, batch)
        found = self._decided.get(size) or (self._of_several(batch) if rows == 1 else None)
        if found is None:
            found = self._decided[size] = self._decide(a, x, _up(rows), _up(batch), compute)
        if found["way"] != "together":
            return compute(found["way"], 0, rows)
        step = int(found["rows"])
        parts = [compute("together", first, min(first + step, rows)) for first in range(0, rows, step)]
        return parts[0] if len(parts) == 1 else torch().cat(parts)

    def _of_several(self, batch: int) -> dict[str, Any] | None:
        """What was decided for several clients, if they are computed one by one."""
        alike = [found for size, found in self._decided.items() if size.endswith(_samples(batch))]
        return next((found for found in alike if found["way"] != "together"), None)

    def _decide(self, a: Architecture, x: Array, rows: int, batch: int, compute: Any) -> dict[str, Any]:
        step = self._rows_that_fit(a, x, rows, batch)
        if self.mode != "measure":
            return {"way": self.mode, "rows": step}
        end = min(step, x.shape[0])
        ways = WAYS if end > 1 else WAYS[:2]
        seconds = _seconds({way: lambda way=way: compute(way, 0, end) for way in ways}, x.device)  # type: ignore[misc]
        return {"way": min(ways, key=lambda way: seconds[way]), "rows": step, "seconds": seconds}

    @staticmethod
    def _rows_that_fit(a: Architecture, x: Array, rows: int, batch: int) -> int:
        """Clients whose gradients fit in memory at once; at least one must."""
        one, itemsize = gradient_bytes(a, 1, batch, x.element_size()), x.element_size()
        advice = f"lower the batch ({batch} samples) or take a smaller network than {a.kind} (d = {a.d})"
        require_room(f"the gradient of one client on {batch} samples", one, x, advice)
        results = 3 * itemsize * a.d * rows  # all gradients, and the points before and after a step
        require_room(
            f"one local step of {rows} clients with d = {a.d}",
            results + one,
            x,
            f"lower the clients that take part in a round, or take a smaller network than {a.kind}",
        )
        free = find_free_bytes(x)
        if free is None:
            return rows
        return max(1, min(rows, int(SHARE * (free - results) / one)))


def _size(rows: int, batch: int) -> str:
    return f"{_up(rows)} clients{_samples(batch)}"


def _samples(batch: int) -> str:
    return f" x {_up(batch)} samples"


def _up(count: int) -> int:
    return 1 << max(0, math.ceil(math.log2(count)))


def _seconds(work: Mapping[Way, Callable[[], Any]], device: Any) -> dict[Way, float]:
    """Best wall-clock times, in turns so that a busy moment of the machine falls on all; the first calls are not counted."""
    pt = torch()
    times: dict[Way, list[float]] = {way: [] for way in work}
    for one in work.values():
        one()
    until = time.perf_counter() + MEASURED_FOR
    while min(len(found) for found in times.values()) < 2 or time.perf_counter() < until:
        for way, one in work.items():
            if device.type == "cuda":
                pt.cuda.synchronize(device)
            begun = time.perf_counter()
            one()
            if device.type == "cuda":
                pt.cuda.synchronize(device)
            times[way].append(time.perf_counter() - begun)
    return {way: min(found) for way, found in times.items()}
