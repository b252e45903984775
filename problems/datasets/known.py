"""The files that deserve a set's name: how many samples it has, and a checksum of what is read, however it was packed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: by set, number of samples and the start of the SHA-256 of its contents (`checksum`)
KNOWN: dict[str, dict[int, str]] = {
    "a1a": {1605: "8b94d1a3b7099d27fe9d64db5b67e694"},
    "a9a": {32561: "a7a7673143d74f3d9e3c1e20f56ce661"},
    "w8a": {49749: "409fc696da72cd9eb2cdc375cbcc4a72"},
    "mushrooms": {8124: "b718cdce11509cb4138d6704929f2a6c"},
    "phishing": {11055: "18fadd8c4f196e306104859c00fd2b99"},
    "german.numer_scale": {1000: "63dfc8aa7dc8e4ffe3be78768cb7ef76"},
    "splice": {3175: "4816d8c8d14a633e733f4433dd23fb93"},
    "mnist": {60000: "20838ed0551bf99d079a6f674795302b", 10000: "8be593fff8b33347335d23f6c59c0cb3"},
    "emnist_letters": {124800: "58f470757736affe6161d5d16525234e", 20800: "c70109a3d9e5d190a09b085f9e5e883d"},
    "cifar10": {50000: "2a52def89c3a17c283141d94fd85283d", 1000: "518f3d94079ae62fff57a8bc9219e93a"},
    "shakespeare": {252536: "5f2ea7b4e9f9661c9b043c18c185a65f"},
}


def checksum(*arrays: NDArray[Any]) -> str:
    """Return the start of the SHA-256 of arrays, one after another in row-major order, each as its sizes and its little-endian entries."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).data)
    return digest.hexdigest()[:32]


def name_of(name: str, where: Path, samples: int, found: str) -> str:
    """Return a set's name where size and checksum are the set's, and otherwise a name that says what was read instead."""
    known = KNOWN[name]
    if known.get(samples) == found:
        return name
    sizes = " or ".join(str(size) for size in known)
    why = "another checksum" if samples in known else f"{name} has {sizes}"
    return f"{name}-like file {where} ({samples} samples; {why}), not {name}"
