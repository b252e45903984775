"""Reading stored certificates; nothing is imported that computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.certificates.checker import Refused, read_file


def read_certificate(path: Path | str) -> dict[str, Any]:
    """Read a stored certificate.

    Raises
    ------
    InvalidInput
        The file is not there or holds something else.
    """
    try:
        return read_file(path)
    except Refused as error:
        raise InvalidInput(f"{ascii(str(path))[1:-1]}: {error}") from error
