"""What is read off a run: metrics, ground truth, duality gaps, rates, exponents, potentials.

It imports methods and what these import.
Start with `metrics.py`, then `ground_truth.py` (an optimum with its certificate).
"""

from fedtheory.core.offered import offer

__getattr__, __dir__, __all__ = offer(__name__, __file__)
