"""The methods, one file each: its round, its known mistakes, how it is listed.

It imports the core and local solvers.
Start with `gradient_descent.py` and `fedavg.py`; `base.py` says what every method has.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
