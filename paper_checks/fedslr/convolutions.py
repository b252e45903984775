"""Convolutions in NumPy, and a convolution of low rank as two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.layers import Layer, split_layers, truncate

Images = NDArray[np.float64]


def convolve(images: Images, kernel: Images, stride: tuple[int, int], padding: tuple[int, int]) -> Images:
    """Cross-correlation as networks compute it: ``(m, in, H, W), (out, in, h, w) -> (m, out, H', W')``."""
    padded = np.pad(images, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    windows: Any = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape[2:], axis=(2, 3))
    return np.asarray(np.einsum("mihwab,oiab->mohw", windows[:, :, :: stride[0], :: stride[1]], kernel, optimize=True))


def as_two_convolutions(kernel: Images, rank: int, scheme: int = 2) -> tuple[Images, Images, Images]:
    """Return a convolution of low rank, and the two that FedSLR's footnote 1 computes it by: ``(r, in, 1, w)``, ``(out, r, h, 1)``.

    ``scheme`` 2 is the paper's matrix, of low rank (out, height) x (in, width); 1 lowers the rank of (out) x (in, height, width), which
    these two do not compute.
    """
    out, into, height, width = kernel.shape
    layer = Layer("convolution", kernel.shape)
    if scheme == 1:
        flat = Layer("matrix", (out, into * height * width))
        low = truncate(kernel.reshape(1, -1), (flat,), rank).reshape(kernel.shape)
    else:
        low = split_layers(truncate(kernel.reshape(1, -1), (layer,), rank), (layer,))[0][0]
    matrix = np.moveaxis(low, 2, 1).reshape(out * height, into * width)
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    first = (s[:rank, None] * vt[:rank]).reshape(rank, into, 1, width)
    second = np.moveaxis(u[:, :rank].reshape(out, height, rank, 1), 2, 1)
    return low, first, second
