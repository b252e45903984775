"""Which files a data set is read from, without reading it: what the numbers of a run rest on."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from fedtheory.core.errors import NotAvailable
from problems.datasets.base import root_folder
from problems.datasets.cifar import list_cifar10
from problems.datasets.handwriting import Part, list_emnist_letters, list_mnist
from problems.datasets.libsvm_files import find_libsvm
from problems.datasets.text import find_shakespeare

#: the sets that scikit-learn carries: files of its folder ``datasets/data``
_BUNDLED = {
    "breast_cancer": "breast_cancer.csv",
    "digits": "digits.csv.gz",
    "iris": "iris.csv",
    "wine": "wine_data.csv",
}
_IN_PARTS = {"mnist": list_mnist, "emnist_letters": list_emnist_letters, "cifar10": list_cifar10}


def list_data_files(
    name: str, folder: str | Path | None = None, parts: tuple[Part, ...] = ("train",)
) -> dict[str, Path]:
    """Return the files of a data set's parts by name: the place under the data folder, or in scikit-learn.

    Raises
    ------
    NotAvailable
        No folder was given, or the files are not in it; or scikit-learn is not installed.
    """
    if name in _BUNDLED:
        spec = find_spec("sklearn")
        if spec is None or not spec.submodule_search_locations:
            raise NotAvailable(f"the data set {name!r} comes with scikit-learn, which is not installed")
        own = _BUNDLED[name]
        return {f"scikit-learn/{own}": Path(spec.submodule_search_locations[0]) / "datasets" / "data" / own}
    root = root_folder(name, folder)
    if name in _IN_PARTS:
        found = [path for part in parts for path in _IN_PARTS[name](root, part)]
    else:
        found = [find_shakespeare(root) if name == "shakespeare" else find_libsvm(name, root)]
    return {path.relative_to(root).as_posix(): path for path in found}
