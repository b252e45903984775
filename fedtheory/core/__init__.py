"""The language of the library: arrays, problems, regularisers, participation, randomness, states, errors."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
