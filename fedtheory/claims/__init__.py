"""Claims of papers, the checks that judge them, and their verdicts.

It imports proofs, conformance and what these import.
Start with `claim.py` and `verdict.py`, then `statements/` (statements as data) and docs/architecture.md.
"""

from fedtheory.core.offered import offer

__getattr__, __dir__, __all__ = offer(__name__, __file__)
