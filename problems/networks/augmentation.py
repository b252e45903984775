"""Random flips and crops as more samples: an augmented sample is a sample number and one of finitely many variants.

Counted so, augmentation needs no randomness of its own. A client with k images has ``k * VARIANTS`` samples, local solvers draw among
them at the round's address (seed, round, client, step), and both gradients of a SAM step see the same variant. A pass through the data
sees every image once, in a variant drawn for that pass.
"""

from __future__ import annotations

from fedtheory.core.arrays import Array
from problems.networks.architectures import torch

PAD = 4  #: zero pixels put around an image before it is cropped to its old size
_OFFSETS = (2 * PAD + 1) ** 2
#: equally likely variants: flipped or not, times every crop and as many times none. So a flip has probability 1/2 and a crop 1/2
VARIANTS = 2 * 2 * _OFFSETS


def augment(images: Array, variant: Array) -> Array:
    """Flip and crop images ``(k, channels, height, width)``, each as its variant ``(k,)`` in [0, VARIANTS) says."""
    pt = torch()
    flip, place = variant % 2 == 1, variant // 2
    centre = 2 * PAD * (PAD + 1)  # the crop that leaves an image as it is
    place = pt.where(place < _OFFSETS, place, centre)
    down, right = place // (2 * PAD + 1), place % (2 * PAD + 1)
    height, width = images.shape[-2:]
    rows = down[:, None] + pt.arange(height, device=images.device)
    across = pt.arange(width, device=images.device)
    columns = right[:, None] + pt.where(flip[:, None], width - 1 - across, across)
    padded = pt.nn.functional.pad(images, (PAD,) * 4)
    sample = pt.arange(len(images), device=images.device)[:, None, None, None]
    channel = pt.arange(images.shape[1], device=images.device)[:, None, None]
    return padded[sample, channel, rows[:, None, :, None], columns[:, None, None, :]]
