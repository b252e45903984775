"""Claims of papers, the checks that judge them, and their verdicts.

It imports proofs, conformance and what these import.
Start with `claim.py` and `verdict.py`, then `statements/` (statements as data) and docs/architecture.md.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
