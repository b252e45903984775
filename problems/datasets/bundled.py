"""The sets that scikit-learn carries in its own package: always there, never downloaded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import require
from problems.datasets.base import Dataset


def breast_cancer() -> Dataset:
    """Breast cancer Wisconsin: 569 samples, 30 standardised features and a constant; benign is +1."""
    bundled = _bundled().load_breast_cancer()
    return Dataset(_standardise(bundled.data), np.where(bundled.target == 1, 1, -1), "breast_cancer")


def digits() -> Dataset:
    """Handwritten digits: 1797 images of 8 x 8 pixels in {0, 1/16, ..., 1}, 10 classes."""
    bundled = _bundled().load_digits()
    classes = tuple(str(k) for k in range(10))
    return Dataset(bundled.data / 16, bundled.target.astype(np.int64), "digits", (8, 8), classes)


def wine() -> Dataset:
    """Wine recognition: 178 samples, 13 standardised features and a constant, 3 cultivars."""
    return _table("wine", _bundled().load_wine())


def iris() -> Dataset:
    """Iris plants: 150 samples, 4 standardised features and a constant, 3 species."""
    return _table("iris", _bundled().load_iris())


def _bundled() -> Any:
    return require("sklearn.datasets", "the embedded data set")


def _table(name: str, bundled: Any) -> Dataset:
    classes = tuple(str(kind) for kind in bundled.target_names)
    return Dataset(_standardise(bundled.data), bundled.target.astype(np.int64), name, classes=classes)


def _standardise(features: NDArray[Any]) -> NDArray[np.float64]:
    centred = features - features.mean(axis=0)
    scale = features.std(axis=0)
    scaled = centred / np.where(scale > 0, scale, 1)
    return np.concatenate([scaled, np.ones((len(scaled), 1))], axis=1)
