"""MNIST and EMNIST Letters: 28 x 28 grey images in the idx format, packed or not, or in ``.npz`` files."""

from __future__ import annotations

import math
import string
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput
from problems.datasets.base import (
    Dataset,
    first_file,
    images,
    not_found,
    read_arrays,
    read_packed,
    root_folder,
)

Part = Literal["train", "test"]
SHAPE = (28, 28)


def mnist(folder: str | Path | None = None, part: Part = "train") -> Dataset:
    """MNIST: 60000 images for training or 10000 for testing, 10 classes, pixels in [0, 1].

    Read from ``{train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz]`` or from ``mnist_{train,test}.npz`` (arrays ``images`` and
    ``labels``), in the folders ``mnist``, ``MNIST/raw`` or the data folder itself.

    Raises
    ------
    NotAvailable
        No folder was given, or the files are not in it.
    InvalidInput
        A file is malformed; the message has the bytes or sizes that were wrong.
    """
    where, pixels, labels = _read(list_mnist(root_folder("mnist", folder), part), transposed=False)
    return images("mnist", where, pixels, labels, SHAPE, tuple(string.digits))


def list_mnist(root: Path, part: Part) -> list[Path]:
    """Return the files that `mnist` reads a part from."""
    stem = {"train": "train", "test": "t10k"}[part]
    stems = (f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte")
    return _find("mnist", root, ("mnist/", "MNIST/raw/", ""), stems, f"mnist_{part}.npz")


def emnist_letters(folder: str | Path | None = None, part: Part = "train") -> Dataset:
    """EMNIST Letters: 124800 images for training or 20800 for testing, 26 classes (0 is A), upright, pixels in [0, 1].

    Read from ``emnist-letters-{train,test}-{images-idx3,labels-idx1}-ubyte[.gz]``, whose images are stored transposed, or from
    ``emnist_letters_{train,test}.npz`` (upright), in the folders ``emnist_letters``, ``EMNIST/raw`` or the data folder itself.
    Files count letters from 1. They name no writers.

    Raises
    ------
    NotAvailable
        No folder was given, or the files are not in it.
    InvalidInput
        A file is malformed; the message has the bytes or sizes that were wrong.
    """
    where, pixels, labels = _read(list_emnist_letters(root_folder("emnist_letters", folder), part), transposed=True)
    if labels.size and labels.min() < 1:
        raise InvalidInput(f"{where} has the label 0; EMNIST Letters counts its letters from 1")
    return images("emnist_letters", where, pixels, labels - np.uint8(1), SHAPE, tuple(string.ascii_uppercase))


def list_emnist_letters(root: Path, part: Part) -> list[Path]:
    """Return the files that `emnist_letters` reads a part from."""
    stems = (f"emnist-letters-{part}-images-idx3-ubyte", f"emnist-letters-{part}-labels-idx1-ubyte")
    folders = ("emnist_letters/", "EMNIST/raw/", "")
    return _find("emnist_letters", root, folders, stems, f"emnist_letters_{part}.npz")


def _find(name: str, root: Path, folders: tuple[str, ...], stems: tuple[str, str], packed: str) -> list[Path]:
    """Return a pair of idx files, images and labels, else an npz file."""
    places = [[f"{place}{stem}{ending}" for place in folders for ending in ("", ".gz")] for stem in stems]
    pixels, labels = (first_file(root, found) for found in places)
    if pixels is not None and labels is not None:
        return [pixels, labels]
    alone = [f"{place}{packed}" for place in folders]
    path = first_file(root, alone)
    if path is None:
        half = pixels or labels
        hint = f"; {half} is there, but not the other one of images and labels" if half is not None else ""
        raise not_found(name, root, [*places[0], *alone], hint)
    return [path]


def _read(files: list[Path], *, transposed: bool) -> tuple[Path, NDArray[np.uint8], NDArray[np.uint8]]:
    """Return where images lie, and the images and labels; those of idx files may be transposed."""
    if len(files) == 1:
        found = read_arrays(files[0], "images", "labels")
        return files[0], found[0], found[1]
    image = read_idx(files[0], 3)
    return files[0], np.swapaxes(image, 1, 2) if transposed else image, read_idx(files[1], 1)


def read_idx(path: Path, axes: int) -> NDArray[np.uint8]:
    """Read an idx file of unsigned bytes, packed or not: 0, 0, 8, number of axes, their sizes (big-endian), the entries.

    Raises
    ------
    InvalidInput
        The first bytes, the number of axes or the length are not what they should be.
    """
    raw = read_packed(path)
    start = bytes([0, 0, 8, axes])
    if raw[:4] != start:
        raise InvalidInput(
            f"{path} starts with the bytes {raw[:4].hex(' ') or '(none)'}; an idx file of unsigned bytes with {axes} "
            f"axes starts with {start.hex(' ')}"
        )
    head = 4 + 4 * axes
    if len(raw) < head:
        raise InvalidInput(f"{path} has {len(raw)} bytes; its header alone takes {head}; fetch the file again")
    shape = tuple(int(size) for size in np.frombuffer(raw, ">u4", axes, 4))
    if len(raw) != head + math.prod(shape):
        raise InvalidInput(
            f"{path} has {len(raw)} bytes; its header announces the shape {shape}, which takes {head + math.prod(shape)}; "
            "fetch the file again"
        )
    return np.frombuffer(raw, np.uint8, offset=head).reshape(shape)
