"""What knows nothing of optimisation: jobs, journals, pictures, files, memory.

It imports the core.
Start with `jobs.py` (work in several processes) and `journal.py` (work that is interrupted and goes on).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
