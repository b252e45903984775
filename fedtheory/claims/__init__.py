"""Claims of papers, the checks that judge them, and their verdicts."""

import lazy_loader

from fedtheory.moved import with_old_names

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = with_old_names(__name__, __getattr__)
