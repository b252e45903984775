"""Reading stored certificates; nothing is imported that computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fedtheory.core.errors import InvalidInput

CERTIFICATE_FORMAT = "fedtheory certificate 1"


def read_certificate(path: Path | str) -> dict[str, Any]:
    """Read a stored certificate.

    Raises
    ------
    InvalidInput
        The file is not there or holds something else.
    """
    try:
        data = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} is not a readable certificate: {error}") from error
    if not isinstance(data, dict) or data.get("format") != CERTIFICATE_FORMAT:
        raise InvalidInput(f"{path} is not a certificate; expected JSON with format {CERTIFICATE_FORMAT!r}")
    return data
