"""Results that are kept by the identity of what they are of, where that cannot be hashed.

Each result holds its object, so that no id is used again.
"""

from __future__ import annotations

from typing import TypeVar

V = TypeVar("V")


class Remembered(dict[int, V]):
    """A mapping from `id`, which is forgotten as the cache of a function is."""

    def cache_clear(self) -> None:
        """Forget all of it."""
        self.clear()
