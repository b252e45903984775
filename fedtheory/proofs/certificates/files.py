"""Reading stored certificates; nothing is imported that computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT
from fedtheory.proofs.checker.files import read_proof
from fedtheory.proofs.checker.refusals import Refused


def read_certificate(path: Path | str) -> dict[str, Any]:
    """Read a stored certificate.

    Raises
    ------
    InvalidInput
        The file is not there or holds something else.
    """
    try:
        return read_proof(path, CERTIFICATE_FORMAT)
    except Refused as error:
        raise InvalidInput(f"{ascii(str(path))[1:-1]}: {error}") from error
