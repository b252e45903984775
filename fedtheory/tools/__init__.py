"""What knows nothing of optimisation: jobs, journals, pictures, files, memory.

It imports the core.
Start with `jobs.py` (work in several processes) and `journal.py` (work that is interrupted and goes on).
"""

from fedtheory.core.offered import offer

__getattr__, __dir__, __all__ = offer(__name__, __file__)
