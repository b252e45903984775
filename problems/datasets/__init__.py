"""Real data: scikit-learn's bundled sets, and LIBSVM, MNIST, EMNIST, CIFAR-10 and Shakespeare files from a data folder.

The folder is an argument or the environment variable ``FEDTHEORY_DATA``; nothing is ever downloaded, and no format is read that
could run code (pickles). Features of LIBSVM sets that are large and mostly zeros (`fedtheory.core.sample_rows.sparse_pays`) are a sparse
matrix of SciPy, all others an array.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from fedtheory.core.errors import InvalidInput
from problems.datasets.base import Dataset, data_folder
from problems.datasets.bundled import breast_cancer, digits, iris, wine
from problems.datasets.cifar import cifar10
from problems.datasets.handwriting import emnist_letters, mnist
from problems.datasets.libsvm_files import LIBSVM, libsvm
from problems.datasets.text import shakespeare

__all__ = [
    "BUNDLED",
    "FROM_FOLDER",
    "LIBSVM",
    "Dataset",
    "breast_cancer",
    "cifar10",
    "data_folder",
    "digits",
    "emnist_letters",
    "iris",
    "libsvm",
    "load",
    "mnist",
    "shakespeare",
    "wine",
]

#: sets that need no files
BUNDLED: dict[str, Callable[[], Dataset]] = {
    "breast_cancer": breast_cancer,
    "digits": digits,
    "iris": iris,
    "wine": wine,
}
#: sets read from the data folder (their training part where they have two)
FROM_FOLDER: dict[str, Callable[[str | Path | None], Dataset]] = {
    "mnist": mnist,
    "emnist_letters": emnist_letters,
    "cifar10": cifar10,
    "shakespeare": shakespeare,
    **{name: partial(libsvm, name) for name in LIBSVM},
}


def load(name: str, folder: str | Path | None = None) -> Dataset:
    """Return a data set by name (`BUNDLED`, `FROM_FOLDER`).

    Raises
    ------
    InvalidInput
        The name is unknown, or a file is malformed.
    NotAvailable
        The set needs files, and there is no folder or they are not in it.
    """
    if name in BUNDLED:
        return BUNDLED[name]()
    if name in FROM_FOLDER:
        return FROM_FOLDER[name](folder)
    raise InvalidInput(f"unknown data set {name!r}; known are {', '.join([*BUNDLED, *FROM_FOLDER])}")
