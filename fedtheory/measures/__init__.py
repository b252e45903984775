"""What is read off a run: metrics, ground truth, duality gaps, rates, exponents, potentials."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
