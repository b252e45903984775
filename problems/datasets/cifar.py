"""CIFAR-10 from the binary version of its authors, or from lossless picture sheets; never from pickles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput, require
from problems.datasets.base import Dataset, first_file, images, not_found, read_arrays, read_packed, root_folder
from problems.datasets.handwriting import Part

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE, ROWS, COLUMNS = 32, 25, 40  #: of an image; of a sheet, in images
FOLDERS = ("cifar-10-batches-bin/", "cifar10/", "cifar10/cifar-10-batches-bin/")
ROW = 1 + 3 * SIDE * SIDE  #: bytes of an image in a binary batch: its label, then red, green and blue


def cifar10(folder: str | Path | None = None, part: Part = "train") -> Dataset:
    """CIFAR-10: 50000 images of 32 x 32 x 3 for training, 10 classes, pixels in [0, 1], in the original order.

    Read from the binary version (``data_batch_1.bin``, ..., ``data_batch_5.bin``, ``test_batch.bin``: 10000 images for testing)
    in ``cifar-10-batches-bin`` or ``cifar10``; or from sheets of 25 rows of 40 images, ``cifar10/train_00.webp`` to
    ``train_49.webp`` and ``test_first1000.webp`` (the first 1000 images for testing), with ``cifar10/labels.npz``.

    Raises
    ------
    NotAvailable
        No folder was given, or the files are not in it. The Python version is not read: it is pickles, which can run code.
    InvalidInput
        A file is malformed; the message has the bytes or sizes that were wrong.
    """
    files = list_cifar10(root_folder("cifar10", folder), part)
    if files[0].suffix == ".bin":
        batches = [read_batch(path) for path in files]
        pixels, labels = (np.concatenate(arrays) for arrays in zip(*batches, strict=True))
        # of the 10000 test images the checksum of the first 1000 is known
        checked = 1000 if part == "test" and len(labels) == 10000 else None
        return images("cifar10", files[0].parent, pixels, labels, (SIDE, SIDE, 3), CLASSES, checked)
    where, *sheets = files
    (labels,) = read_arrays(where, "train" if part == "train" else "test_first1000")
    pixels = np.concatenate([read_sheet(sheet) for sheet in sheets])
    return images("cifar10", where.parent, pixels, labels, (SIDE, SIDE, 3), CLASSES)


def list_cifar10(root: Path, part: Part) -> list[Path]:
    """Return the files that `cifar10` reads a part from: batches, or the labels and then the sheets."""
    names = [f"data_batch_{k}.bin" for k in range(1, 6)] if part == "train" else ["test_batch.bin"]
    home = next((place for place in FOLDERS if (root / place / names[0]).is_file()), None)
    if home is not None:
        return [_there(root, home + name) for name in names]
    sheets = [f"cifar10/train_{k:02d}.webp" for k in range(50)] if part == "train" else ["cifar10/test_first1000.webp"]
    if first_file(root, sheets[:1]) is None:
        raise not_found(
            "cifar10", root, [FOLDERS[0] + names[0], *(p + names[0] for p in FOLDERS[1:]), sheets[0]], _pickles(root)
        )
    return [_there(root, place) for place in ("cifar10/labels.npz", *sheets)]


def _there(root: Path, place: str) -> Path:
    path = first_file(root, [place])
    if path is None:
        raise not_found("cifar10", root, [place])
    return path


def _pickles(root: Path) -> str:
    for place in ("cifar-10-batches-py", "cifar10", "cifar10/cifar-10-batches-py"):
        if (root / place / "data_batch_1").is_file():
            return (
                f"; {root / place / 'data_batch_1'} is the Python version, a pickle, which can run code and is not read: get the "
                "binary version, cifar-10-binary.tar.gz"
            )
    return ""


def read_batch(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Read a binary batch: images ``(samples, 32, 32, 3)`` and labels ``(samples,)``.

    Raises
    ------
    InvalidInput
        The length is not that of whole images.
    """
    raw = read_packed(path)
    if not raw or len(raw) % ROW:
        raise InvalidInput(
            f"{path} has {len(raw)} bytes; expected a positive multiple of {ROW}, the bytes of a label and an image"
        )
    rows = np.frombuffer(raw, np.uint8).reshape(-1, ROW)
    return np.moveaxis(rows[:, 1:].reshape(-1, 3, SIDE, SIDE), 1, -1), rows[:, 0]


def read_sheet(path: Path) -> NDArray[np.uint8]:
    """Read a sheet: its images ``(1000, 32, 32, 3)``, row by row.

    Raises
    ------
    InvalidInput
        The file is no picture, or has another size.
    """
    library: Any = require("PIL.Image", "reading picture sheets")
    try:
        with library.open(path) as picture:
            sheet = np.asarray(picture.convert("RGB"))
    except (OSError, ValueError, SyntaxError) as error:  # what Pillow raises on damaged pictures
        raise InvalidInput(f"{path} ({path.stat().st_size} bytes) is not a readable picture: {error}") from error
    expected = (ROWS * SIDE, COLUMNS * SIDE, 3)
    if sheet.shape != expected:
        raise InvalidInput(
            f"{path} is {sheet.shape[0]} high and {sheet.shape[1]} wide; expected {expected[0]} and {expected[1]}"
        )
    return sheet.reshape(ROWS, SIDE, COLUMNS, SIDE, 3).swapaxes(1, 2).reshape(-1, SIDE, SIDE, 3)
