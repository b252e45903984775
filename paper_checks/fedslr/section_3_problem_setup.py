"""Section 3: layers of low rank as two small ones (footnote 1), and two problems one after the other (Remark 1)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Context, Covered, Fault, Finding, Reading, Theorem, at_most, holds
from fedtheory.core.layers import Layer, factor_floats, split_layers, to_matrix, truncate
from paper_checks.fedslr.networks import resnet18
from paper_checks.fedslr.notation import PAPER, claim
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Footnote 1 ------------------------------------------------------------------------------------------------------
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


def check_factors(ctx: Context, *, scheme: int = 2) -> Iterator[Finding]:
    """Numbers of factored layers, and what a factored convolution computes."""
    rng = ctx.rng()
    for layer in (Layer("linear", (9, 14)), Layer("convolution", (5, 4, 3, 3))):
        rows, columns = layer.matrix_shape or (0, 0)
        x = rng.standard_normal((1, layer.size))
        whole = to_matrix(split_layers(x, (layer,))[0], layer)[0]
        u, s, vt = np.linalg.svd(whole, full_matrices=False)
        ours, sizes = [], []
        for r in range(len(s) + 1):
            ours.append(int(factor_floats(truncate(x, (layer,), r), (layer,))[0]))
            sizes.append(min(u[:, :r].size + vt[:r].size, whole.size))
        yield holds(
            f"numbers of a {layer.name} layer",
            ours == sizes == [min(r * (rows + columns), rows * columns) for r in range(len(s) + 1)],
            "count",
            f"for every rank r of {rows} x {columns}, U and V hold r (d1 + d2) numbers, fewer than the matrix below r = "
            f"{float(Fraction(rows * columns, rows + columns)):.2f}",
            covered=Covered(len(sizes), "cases"),
        )
    worst = 0.0
    settings = list(product((1, 2, 3), (0, 1, 2)))
    for stride, padding in settings:
        kernel = rng.standard_normal((6, 5, 3, 3))
        images = rng.standard_normal((4, 5, 9, 8))
        low, first, second = as_two_convolutions(kernel, 4, scheme)
        dense = convolve(images, low, (stride, stride), (padding, padding))
        inner = convolve(images, first, (1, stride), (0, padding))
        found = convolve(inner, second, (stride, 1), (padding, 0))
        worst = max(worst, float(np.abs(found - dense).max() / np.abs(dense).max()))
    text = "r filters of one row, then r columns for each output, against the convolution of rank r: largest relative difference"
    yield at_most(
        "two convolutions for one", worst, 1e-12, "numeric", text, covered=Covered(len(settings), "instances")
    )
    layers = resnet18(10, 3)
    matrices = [layer for layer in layers if layer.matrix_shape is not None]
    dense_size = sum(layer.size for layer in matrices)
    full = sum(min(layer.matrix_shape or ()) * sum(layer.matrix_shape or ()) for layer in matrices)
    yield Reading(
        f"At full rank the factors of ResNet-18's layers hold {full:,} numbers, {full / dense_size:.2f} times the layers; the paper names no way "
        "out, here the smaller of both is sent (as the public code counts)."
    )


CLAIMS += [
    Claim(
        "FEDSLR-C1",
        PAPER,
        "identity",
        "Section 4.2; footnote 1",
        "A layer of rank r is r (d1 + d2) numbers and runs as two small layers; that pays below r = d1 d2 / (d1 + d2).",
        check_factors,
        (Fault("the matrix (out, in * height * width)", "two convolutions for one", {"scheme": 1}),),
    ),
]


# ---- Remark 1 --------------------------------------------------------------------------------------------------------
#: f_i = (w - c_i)^2/2 with c = 2a, -a, -a and lam = 0: w = 0 solves (P1), and p and q = p_2 = p_3 solve (P2)
IN_A_ROW = Theorem(
    "0 < mu < a",
    (
        "(0 - 2*a) + 2*(0 + a) == 0",
        "0 < p",
        "0 + p - 2*a + mu == 0",
        "q < 0",
        "0 + q + a - mu == 0",
        "0 < ((0 + p - 2*a) + 2*(0 + q + a))/3",
    ),
    "\n".join(f"number{k}: claim {k} by combine" for k in range(1, 7)),
    where={"p": "2*a - mu", "q": "mu - a"},
    units="mu = length",
)
CLAIMS += [
    claim(
        "FEDSLR-R1",
        "Remark 1",
        "The formulation is two problems one after the other: what they give is in general no stationary point of the joint problem in w and the "
        "p_i.",
        [Step("not the joint problem", IN_A_ROW)],
        readings=[
            "The last number is the derivative of mean_i f_i(w + p_i) + mu |p_i| in w, which is mu/3. Read as: the two problems in a row are not the "
            "joint problem min mean_i f_i(w + p_i) + R(w) + mu |p_i| of the same terms. That the formulation is no bi-variable problem of any other "
            "form, and that FedSim and FedAlt cannot be applied, is not judged; they seek stationary points of a joint problem."
        ],
        kind="equivalence",
    ),
]
