"""Real data: scikit-learn's bundled sets, and LIBSVM files from a data folder.

The folder is an argument or the environment variable ``FEDTHEORY_DATA``; nothing is ever downloaded.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.errors import InvalidInput, NotAvailable, require

#: LIBSVM sets and their number of features (files may omit the last ones)
LIBSVM = {
    "a1a": 123,
    "a9a": 123,
    "w8a": 300,
    "mushrooms": 112,
    "phishing": 68,
    "german.numer_scale": 24,
    "splice": 60,
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features ``(samples, d)``, labels ``(samples,)`` in {-1, +1} and a name."""

    features: NDArray[np.float64]
    labels: NDArray[np.float64]
    name: str


def data_folder(folder: str | Path | None = None) -> Path | None:
    """Return the data folder: the argument, else ``FEDTHEORY_DATA``, else None."""
    chosen = folder or os.environ.get("FEDTHEORY_DATA")
    return Path(chosen) if chosen else None


def breast_cancer() -> Dataset:
    """Breast cancer Wisconsin (569 samples, 30 standardised features and a constant), bundled with scikit-learn."""
    bundled = require("sklearn.datasets", "the embedded data set").load_breast_cancer()
    return Dataset(_standardise(bundled.data), np.where(bundled.target == 1, 1.0, -1.0), "breast_cancer")


def libsvm(name: str, folder: str | Path | None = None) -> Dataset:
    """Read a LIBSVM set (`LIBSVM` lists the names) from ``folder/libsvm/NAME[.bz2|.gz]`` or ``folder/NAME[...]``.

    The two label values, whatever they are, become -1 and +1 in rising order.

    Raises
    ------
    NotAvailable
        No folder was given, or the file is not in it.
    InvalidInput
        The name is unknown, the file cannot be read, or the labels are not of two kinds.
    """
    if name not in LIBSVM:
        raise InvalidInput(f"unknown LIBSVM set {name!r}; known are {', '.join(LIBSVM)}")
    root = data_folder(folder)
    if root is None:
        raise NotAvailable(
            f"the data set {name!r} is read from a data folder and none was given; pass a folder (--data DIR) or set "
            "FEDTHEORY_DATA"
        )
    candidates = [place / f"{name}{ending}" for place in (root / "libsvm", root) for ending in (".bz2", ".gz", "")]
    path = next((c for c in candidates if c.is_file()), None)
    if path is None:
        raise NotAvailable(
            f"the data set {name!r} was not found; looked for {candidates[0]} and {len(candidates) - 1} "
            "other places under the data folder"
        )
    load = require("sklearn.datasets", "reading LIBSVM files").load_svmlight_file
    try:
        features, labels = load(str(path), n_features=LIBSVM[name])
    except (ValueError, OSError, EOFError) as error:
        raise InvalidInput(f"{path} is not a readable LIBSVM file with {LIBSVM[name]} features ({error})") from error
    kinds = np.unique(labels)
    if len(kinds) != 2:
        raise InvalidInput(f"{path} has {len(kinds)} kinds of label; expected two")
    return Dataset(np.asarray(features.toarray()), np.where(labels == kinds[1], 1.0, -1.0), name)


def _standardise(features: NDArray[Any]) -> NDArray[np.float64]:
    centred = features - features.mean(axis=0)
    scale = features.std(axis=0)
    scaled = centred / np.where(scale > 0, scale, 1)
    return np.concatenate([scaled, np.ones((len(scaled), 1))], axis=1)
