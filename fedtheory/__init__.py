"""fedtheory checks the theory of federated optimisation.

The names it offers stand in ``__init__.pyi`` and load on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import Any

import lazy_loader

from fedtheory.tools.beside import offer_aliases

__version__ = "0.1.0"

offer_aliases()
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Load a name on its first use; of one that is not offered say which are near."""
    try:
        return _load(name)
    except AttributeError as error:
        import difflib

        near = difflib.get_close_matches(name, __all__, n=3)
        if near and not name.startswith("_"):
            raise AttributeError(f"fedtheory has no {name!r}; did you mean {' or '.join(near)}?") from None
        raise error
