"""Per-client shifts of brightness and colour: the same classes, photographed differently (A-FedPD, Appendix A.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fedtheory.core.errors import InvalidInput
from fedtheory.core.randomness import Key
from problems.datasets import Dataset


def draw_gains(n: int, channels: int, *, brightness: float, colour: float = 0.0, seed: int = 0) -> NDArray[np.float64]:
    """Factors of each client's channels ``(n, channels)``: exp(brightness g_i), times exp(colour h_i) on one channel.

    g_i and h_i are standard normal and the channel is uniform; client i's numbers do not depend on n.
    """
    if not (brightness >= 0 and colour >= 0):
        raise InvalidInput(
            f"expected standard deviations brightness >= 0 and colour >= 0, got {brightness} and {colour}"
        )
    lots = Key(seed, 0).client_uniform("brightness and colour", n, 3)
    normal = ndtri(np.clip(lots[:, :2], 2.0**-54, None))  # a lot of exactly 0 would be minus infinity
    log_gain = np.repeat(brightness * normal[:, :1], channels, axis=1)
    log_gain[np.arange(n), (lots[:, 2] * channels).astype(int)] += colour * normal[:, 1]
    return np.asarray(np.exp(log_gain))


def shift_brightness(
    clients: Sequence[Dataset], *, brightness: float, colour: float = 0.0, seed: int = 0
) -> list[Dataset]:
    """Multiply each client's images by its `draw_gains`; what exceeds 1, the brightest value, saturates.

    ``brightness`` and ``colour`` are standard deviations on the log scale: a client's mean brightness is moved by the factor
    exp(brightness g_i), up to saturation, and one of its colour channels by exp(colour h_i). The paper names Gaussian noise on the
    brightness and on one channel of each client, but no formula and no numbers; this is our reading, whose factors are positive.

    Raises
    ------
    InvalidInput
        The samples are not images with values in [0, 1], or a colour shift is asked of grey images.
    """
    if not clients:
        raise InvalidInput("there are no clients to shift")
    shape = clients[0].shape
    if len(shape) not in (2, 3):
        raise InvalidInput(
            f"the samples of {clients[0].name} are plain vectors; a shift of brightness needs images with a shape"
        )
    channels = shape[2] if len(shape) == 3 else 1
    if colour and channels == 1:
        raise InvalidInput(f"{clients[0].name} has grey images; a shift of colour needs several channels (or colour=0)")
    for number, client in enumerate(clients):
        if client.features.size and not (client.features.min() >= 0 and client.features.max() <= 1):
            raise InvalidInput(
                f"client {number} has values from {client.features.min():.3g} to {client.features.max():.3g}; a shift of "
                "brightness needs values in [0, 1]"
            )
    factors = draw_gains(len(clients), channels, brightness=brightness, colour=colour, seed=seed)
    shifted = []
    for client, factor in zip(clients, factors, strict=True):
        pixels = client.features.reshape(len(client), -1, channels) * factor.astype(client.features.dtype)
        shifted.append(replace(client, features=np.minimum(pixels, 1).reshape(client.features.shape)))
    return shifted
