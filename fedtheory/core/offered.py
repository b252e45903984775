"""Names that a package offers in its ``__init__.pyi`` and loads on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lazy_loader


def offer(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package; of a name that is not offered the error says which are near."""
    load, list_names, offered = lazy_loader.attach_stub(package, file)

    def find(name: str) -> Any:
        try:
            return load(name)
        except AttributeError as error:
            import difflib

            near = difflib.get_close_matches(name, offered, n=3)
            if near and not name.startswith("_"):
                raise AttributeError(f"{package} has no {name!r}; did you mean {' or '.join(near)}?") from None
            raise error

    return find, list_names, offered
