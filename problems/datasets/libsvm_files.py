"""LIBSVM's text format, plain or packed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fedtheory.core.errors import InvalidInput, require
from problems.datasets.base import Dataset, first_file, not_found, root_folder, store
from problems.datasets.known import checksum, name_of

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


def libsvm(name: str, folder: str | Path | None = None) -> Dataset:
    """Read a LIBSVM set (`LIBSVM` lists the names) from ``folder/libsvm/NAME[.bz2|.gz]`` or ``folder/NAME[...]``.

    The two label values, whatever they are, become -1 and +1 in rising order. Features are a sparse matrix where that is faster than an array
    (`fedtheory.core.sample_rows.sparse_pays`; of the known sets w8a and a9a). A file that is not the known one (`problems.datasets.known`)
    is read under a name that says so.

    Raises
    ------
    NotAvailable
        No folder was given, or the file is not in it.
    InvalidInput
        The name is unknown, the file cannot be read, or the labels are not of two kinds.
    """
    if name not in LIBSVM:
        raise InvalidInput(f"unknown LIBSVM set {name!r}; known are {', '.join(LIBSVM)}")
    path = find_libsvm(name, root_folder(name, folder))
    read = require("sklearn.datasets", "reading LIBSVM files").load_svmlight_file
    try:
        features, labels = read(str(path), n_features=LIBSVM[name])
    except (ValueError, OSError, EOFError) as error:
        raise InvalidInput(f"{path} is not a readable LIBSVM file with {LIBSVM[name]} features ({error})") from error
    kinds = np.unique(labels)
    if len(kinds) != 2:
        raise InvalidInput(f"{path} has {len(kinds)} kinds of label; expected two")
    signs = np.where(labels == kinds[1], 1, -1)
    features.sum_duplicates()
    features.eliminate_zeros()
    entries = (features.indptr.astype(np.int64), features.indices.astype(np.int64), features.data)
    told = name_of(name, path, len(signs), checksum(*entries, signs.astype(np.int8)))
    return Dataset(store(features), signs, told)


def find_libsvm(name: str, root: Path) -> Path:
    """Return the file that `libsvm` reads."""
    places = [f"{place}{name}{ending}" for place in ("libsvm/", "") for ending in (".bz2", ".gz", "")]
    path = first_file(root, places)
    if path is None:
        raise not_found(name, root, places)
    return path
