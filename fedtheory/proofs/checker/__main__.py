"""Check a stored proof: a certificate, a derivation, or a proof term. It runs with Python's standard library alone, also as a folder:

    python fedtheory/proofs/checker FILE [--limit STEPS]

Exit status 1 where the proof does not prove what it states, 2 where it could not be checked: it is not readable, has a field that no proof
has, or takes more steps than the limit. A step is an operation with short numbers; long ones count by the square of their length.
"""

import sys
from importlib import import_module
from pathlib import Path

if not __package__:  # run as a folder, whose files then are a package of their own
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    __package__ = "checker"
    import_module("checker")

from .files import check_named_file

check_named_file()
