"""What a data set is, where files are looked for, and how they are read."""

from __future__ import annotations

import bz2
import gzip
import math
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.sample_rows import sparse_pays
from problems.datasets.known import checksum, name_of


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples with labels.

    Parameters
    ----------
    features : array or sparse matrix of SciPy ``(samples, d)``
        Floats, sparse in CSR format; an image is one row, its entries in the order of ``shape``.
    labels : array ``(samples,)``
        Integers: -1 and +1 where ``classes`` is empty, otherwise 0, 1, ... counting ``classes``.
    name : str
    shape : tuple
        Shape of one sample, (height, width) or (height, width, channels); empty where samples are plain vectors.
    classes : tuple of str
        Names of the classes 0, 1, ...; empty for sets with signs as labels.
    groups : array ``(samples,)``, optional
        Where a sample comes from (its writer, its hospital), for natural splits.
    """

    features: Any
    labels: NDArray[Any]
    name: str
    shape: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    groups: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        """Check that the parts fit each other."""
        if self.features.ndim != 2 or self.labels.shape != self.features.shape[:1]:
            raise InvalidInput(
                f"{self.name}: features of shape {self.features.shape} with labels of shape {self.labels.shape}; expected "
                "(samples, d) and (samples,)"
            )
        if self.shape and math.prod(self.shape) != self.features.shape[1]:
            raise InvalidInput(f"{self.name}: {self.features.shape[1]} features cannot have the shape {self.shape}")
        if self.groups is not None and self.groups.shape != self.labels.shape:
            raise InvalidInput(
                f"{self.name}: groups of shape {self.groups.shape} for {len(self)} samples; expected one a sample"
            )

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.labels)

    def take(self, index: NDArray[np.int64]) -> Dataset:
        """Return some of the samples, in the order asked for."""
        groups = None if self.groups is None else self.groups[index]
        return replace(self, features=self.features[index], labels=self.labels[index], groups=groups)


def store(features: Any) -> Any:
    """Return a matrix of SciPy as it is, in CSR format, or as an array where an array is faster (`fedtheory.core.sample_rows.sparse_pays`)."""
    from scipy import sparse

    samples, d = features.shape
    if sparse_pays(samples, d, features.nnz):
        return sparse.csr_array(features)
    return np.asarray(features.toarray())


def data_folder(folder: str | Path | None = None) -> Path | None:
    """Return the data folder: the argument, else ``FEDTHEORY_DATA``, else None."""
    chosen = folder or os.environ.get("FEDTHEORY_DATA")
    return Path(chosen) if chosen else None


def root_folder(name: str, folder: str | Path | None) -> Path:
    """Return the data folder, or say how to name one."""
    root = data_folder(folder)
    if root is None:
        raise NotAvailable(
            f"the data set {name!r} is read from a data folder and none was given; pass a folder (--data DIR) or set "
            "FEDTHEORY_DATA"
        )
    return root


def first_file(root: Path, places: Sequence[str]) -> Path | None:
    """Return the first of the places under the root that is a file."""
    return next((root / place for place in places if (root / place).is_file()), None)


def not_found(name: str, root: Path, places: Sequence[str], hint: str = "") -> NotAvailable:
    """Return the error that names where a set was looked for."""
    others = f" and {len(places) - 1} other places" if len(places) > 1 else ""
    return NotAvailable(
        f"the data set {name!r} was not found; looked for {root / places[0]}{others} under the data folder "
        f"(--data DIR or FEDTHEORY_DATA){hint}"
    )


def read_packed(path: Path) -> bytes:
    """Return the bytes of a file, unpacked where it is gzip or bzip2 by its first bytes.

    Raises
    ------
    InvalidInput
        The packed file is damaged or ends early.
    """
    raw = path.read_bytes()
    unpack = gzip.decompress if raw[:2] == b"\x1f\x8b" else bz2.decompress if raw[:3] == b"BZh" else None
    if unpack is None:
        return raw
    try:
        return unpack(raw)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InvalidInput(f"{path} ({len(raw)} bytes) cannot be unpacked: {error}; fetch the file again") from error


def read_arrays(path: Path, *names: str) -> list[NDArray[np.uint8]]:
    """Return arrays of unsigned bytes from an ``.npz`` file, without reading pickles.

    Raises
    ------
    InvalidInput
        The file is damaged, lacks an array, or holds something other than bytes.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file):  # NumPy would take other formats, too
            file.seek(0)
            stored = np.load(file, allow_pickle=False)
            missing = [name for name in names if name not in stored]
            found = [] if missing else [np.asarray(stored[name]) for name in names]
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidInput(f"{path} is not a readable .npz file ({error}); fetch the file again") from error
    if missing:
        raise InvalidInput(f"{path} has the arrays {', '.join(stored) or 'none'}; expected {', '.join(names)}")
    for name, array in zip(names, found, strict=True):
        if array.dtype != np.uint8:
            raise InvalidInput(f"{path} holds {name!r} as {array.dtype}; expected uint8")
    return found


def images(
    name: str,
    where: Path,
    pixels: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    shape: tuple[int, ...],
    classes: tuple[str, ...],
    checked: int | None = None,
) -> Dataset:
    """Return images as a data set: pixels over 255 in single precision, which keeps their 8 bits; labels 0, 1, ...

    It has the set's name where size and checksum are the known ones (`problems.datasets.known`); ``checked``: of its first so many images only.

    Raises
    ------
    InvalidInput
        Shapes do not fit, or a label is not a class.
    """
    if pixels.shape[1:] != shape or labels.shape != pixels.shape[:1] or len(pixels) == 0:
        raise InvalidInput(
            f"{where} has images of shape {pixels.shape} and labels of shape {labels.shape}; expected "
            f"(samples, {', '.join(map(str, shape))}) and (samples,)"
        )
    if labels.max() >= len(classes):
        raise InvalidInput(f"{where} has the label {labels.max()}; expected 0 to {len(classes) - 1}")
    features = np.divide(pixels.reshape(len(pixels), -1), 255, dtype=np.float32)
    # copies in circulation have lost pixels of value 1; the checksum does not see these
    head = slice(None) if checked is None else slice(checked)
    seen = pixels[head] * (pixels[head] != 1)
    told = name_of(name, where, len(seen) if checked else len(pixels), checksum(seen, labels[head]))
    return Dataset(features, labels.astype(np.int64), told, shape, classes)
