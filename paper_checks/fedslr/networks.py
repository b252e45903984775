"""The paper's networks, and what a method sends on them in a round."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import listed
from fedtheory.core.layers import Layer
from fedtheory.core.randomness import Key

BYTES, ACTIVE, ROUNDS = 4, 10, 1000  #: of a number; clients a round; rounds, which the paper does not state
#: classes, side of the first kernel, and whether the last layer has biases (the public code; the paper does not say)
NETWORKS = {"CIFAR-10": (10, 3, False), "CIFAR-100": (100, 3, False), "TinyImageNet": (200, 7, True)}


def resnet18(classes: int, stem: int, bias: bool = True) -> tuple[Layer, ...]:
    """Parameters of ResNet-18 with group normalisation (He et al. 2016, Table 1) for colour images."""
    layers = [Layer("conv1", (64, 3, stem, stem)), *_norm("norm1", 64)]
    into = 64
    for stage, out in enumerate((64, 128, 256, 512), 1):
        for half in "ab":
            name = f"block{stage}{half}"
            layers += [Layer(f"{name}.conv1", (out, into, 3, 3)), *_norm(f"{name}.norm1", out)]
            layers += [Layer(f"{name}.conv2", (out, out, 3, 3)), *_norm(f"{name}.norm2", out)]
            if into != out:
                layers += [Layer(f"{name}.shortcut", (out, into, 1, 1)), *_norm(f"{name}.shortcut norm", out)]
            into = out
    layers.append(Layer("dense1.weight", (classes, 512)))
    return (*layers, Layer("dense1.bias", (classes,))) if bias else tuple(layers)


def _norm(name: str, channels: int) -> tuple[Layer, Layer]:
    return Layer(f"{name}.weight", (channels,)), Layer(f"{name}.bias", (channels,))


def numbers(layers: tuple[Layer, ...]) -> int:
    """Parameters of a network."""
    return sum(layer.size for layer in layers)


@cache
def sent(method: str, layers: tuple[Layer, ...]) -> tuple[int, int]:
    """Numbers that a client sends and receives in a round, as the listed method counts them on a network of these layers."""
    d = numbers(layers)
    network: Any = SimpleNamespace(
        n=1, d=d, layers=layers, name="counted only", grad=np.zeros_like, take=lambda clients: network
    )
    algorithm = listed(method).build()
    up, down = algorithm.traffic(Key(0, 0), algorithm.init(network, np.zeros((1, d), dtype=np.float32)))
    return round(up * d), round(down * d)


def gigabytes(count: int, rounds: int = ROUNDS) -> Fraction:
    """Traffic of all rounds if every active client sends or receives so many numbers a round."""
    return Fraction(BYTES * ACTIVE * rounds * count, 10**9)
