"""The methods, one file each: its round, its known mistakes, how it is listed.

It imports the core and local solvers.
Start with `gradient_descent.py` and `fedavg.py`; `base.py` says what every method has.
"""

from fedtheory.core.offered import offer

__getattr__, __dir__, __all__ = offer(__name__, __file__)
