"""Shapes that annotations promise, checked with jaxtyping in a process of its own; nothing else checks them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from jaxtyping import Shaped, TypeCheckError, jaxtyped
from shape_checks import shapes_only

ROOT = Path(__file__).resolve().parents[2]


def test_problems_methods_and_metrics_have_the_shapes_that_they_say() -> None:
    script = ROOT / "tests" / "support" / "shapes_in_use.py"
    path = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


Matrix: TypeAlias = Shaped[np.ndarray, "n d"]  # noqa: F722
Numbers: TypeAlias = Shaped[np.ndarray, "*batch"]  # noqa: F722


@jaxtyped(typechecker=shapes_only)
def give(x: Matrix, pairs: list[tuple[Matrix, Numbers | None]], other: int = 0) -> Numbers:
    return pairs[0][1]


def test_the_checker_looks_at_shapes_alone() -> None:
    """Through tuples, lists and unions; what an annotation says of anything else is nothing to it, and a number has no axes."""
    x = np.ones((3, 2))
    assert give(x, [(x, 1.0)], other="no integer") == 1.0
    assert give(x, [(x, np.ones(4)), (x, None)]).shape == (4,)
    for bad in ([(x, None)], [(x.T, 1.0)], [(x, 1.0), (x[0], 1.0)], [(x, 1.0, 1.0)], [(1.0, 1.0)]):
        with pytest.raises(TypeCheckError):
            give(x, bad)
