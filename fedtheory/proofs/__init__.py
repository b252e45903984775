"""What holds for a method over a whole class of functions: worst cases, certificates, potentials, closed forms, spectra."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
