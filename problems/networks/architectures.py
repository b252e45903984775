"""The networks of the papers, from PyTorch's own layers, and how their parameters lie in one flat vector."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fedtheory.core.arrays import Array
from fedtheory.core.errors import InvalidInput, require
from fedtheory.core.layers import Layer

Image = tuple[int, int, int]  # channels, height, width


def torch() -> Any:
    """PyTorch, or an error that names the extra."""
    return require("torch", "neural networks")


@dataclass(frozen=True)
class Architecture:
    """A network by name, for images of a shape and a number of classes.

    Parameters
    ----------
    kind : a name in `ARCHITECTURES`
    image : (channels, height, width)
    classes : int
    width : int
        Hidden units of the perceptron; other kinds have the widths of their papers.
    """

    kind: str
    image: Image
    classes: int
    width: int = 64

    def __post_init__(self) -> None:
        """Refuse what cannot be built; an image that a network would shrink to nothing is refused by its layers."""
        if self.kind not in ARCHITECTURES:
            raise InvalidInput(f"unknown network {self.kind!r}; known are {', '.join(ARCHITECTURES)}")
        if len(self.image) != 3 or min(self.image) < 1 or self.classes < 2 or self.width < 1:
            raise InvalidInput(
                f"expected an image (channels, height, width), two classes or more and a width of 1 or more, got image="
                f"{self.image}, classes={self.classes}, width={self.width}"
            )

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Layers in the order of the flat vector, by PyTorch's names of the parameters."""
        return _layers(self)

    @property
    def d(self) -> int:
        """Number of parameters."""
        return sum(layer.size for layer in self.layers)

    @property
    def activations(self) -> int:
        """Numbers that all layers together put out for one image, which a gradient has to keep."""
        return _activations(self)

    def initial(self, seed: int) -> Array:
        """PyTorch's own random initialisation as a flat vector ``(d,)`` in single precision, on the host."""
        pt = torch()
        with pt.random.fork_rng(devices=[]):
            pt.manual_seed(seed)
            module = _build(self)
        return pt.cat([p.detach().reshape(-1) for p in module.parameters()])


def _build(a: Architecture) -> Any:
    try:
        return ARCHITECTURES[a.kind](torch().nn, a)
    except RuntimeError as error:
        raise InvalidInput(f"{a.kind} cannot take images of shape {a.image}: {error}") from error


@lru_cache(maxsize=32)
def template(a: Architecture) -> Any:
    """Return the network without memory for its parameters, which every call brings along."""
    with torch().device("meta"):
        return _build(a)


@lru_cache(maxsize=32)
def _layers(a: Architecture) -> tuple[Layer, ...]:
    return tuple(Layer(name, tuple(p.shape)) for name, p in template(a).named_parameters())


@lru_cache(maxsize=32)
def _activations(a: Architecture) -> int:
    pt, counted = torch(), [math.prod(a.image)]
    module = template(a)
    hooks = [
        part.register_forward_hook(lambda _module, _given, out: counted.append(out.numel()))
        for part in module.modules()
        if not [*part.children()]
    ]
    try:
        module(pt.empty((1, *a.image), device="meta"))
    except RuntimeError as error:
        raise InvalidInput(f"{a.kind} cannot take images of shape {a.image}: {error}") from error
    finally:
        for hook in hooks:
            hook.remove()
    return sum(counted)


# ---- the networks ---------------------------------------------------------------------------------------------------


def _chain(nn: Any, **parts: Any) -> Any:
    """One part after the other, by name; the names are those of `Architecture.layers`."""
    return nn.Sequential(OrderedDict(parts))


def _logistic(nn: Any, a: Architecture) -> Any:
    return _chain(nn, flat=nn.Flatten(), dense1=nn.Linear(math.prod(a.image), a.classes))


def _perceptron(nn: Any, a: Architecture) -> Any:
    first, last = nn.Linear(math.prod(a.image), a.width), nn.Linear(a.width, a.classes)
    return _chain(nn, flat=nn.Flatten(), dense1=first, relu1=nn.ReLU(), dense2=last)


def _two_convolutions(
    kernel: int, channels: tuple[int, int], dense: tuple[int, ...], *, same: bool = True
) -> Callable[[Any, Architecture], Any]:
    """Two convolutions with ReLU and 2 x 2 pooling, then dense layers; ``same`` pads so that convolutions keep the size."""

    def build(nn: Any, a: Architecture) -> Any:
        into, *sides = a.image
        first, second = channels
        pad = kernel // 2 if same else 0
        for _ in range(2):
            sides = [(side - (0 if same else kernel - 1)) // 2 for side in sides]
        if min(sides) < 1:
            raise InvalidInput(f"{a.kind} cannot take images of shape {a.image}: its layers shrink them to nothing")
        widths = [second * math.prod(sides), *dense]
        parts: dict[str, Any] = {}
        for k, (before, out) in enumerate(((into, first), (first, second)), 1):
            parts |= {f"conv{k}": nn.Conv2d(before, out, kernel, padding=pad), f"relu{k}": nn.ReLU()}
            parts[f"pool{k}"] = nn.MaxPool2d(2)
        parts["flat"] = nn.Flatten()
        for k, (before, out) in enumerate(zip(widths[:-1], dense, strict=True), 1):
            parts |= {f"dense{k}": nn.Linear(before, out), f"relu{k + 2}": nn.ReLU()}
        return _chain(nn, **parts, **{f"dense{len(widths)}": nn.Linear(widths[-1], a.classes)})

    return build


def _vgg11(nn: Any, a: Architecture) -> Any:
    into, *sides = a.image
    if min(sides) < 32:
        raise InvalidInput(f"vgg11 cannot take images of shape {a.image}: five poolings need 32 x 32 pixels")
    parts: dict[str, Any] = {}
    pooled_after = {1, 2, 4, 6, 8}
    for k, out in enumerate((64, 128, 256, 256, 512, 512, 512, 512), 1):
        parts |= {f"conv{k}": nn.Conv2d(into, out, 3, padding=1), f"relu{k}": nn.ReLU()}
        if k in pooled_after:
            parts[f"pool{k}"] = nn.MaxPool2d(2)
        into = out
    pixels = math.prod(side // 32 for side in sides)
    return _chain(nn, **parts, flat=nn.Flatten(), dense1=nn.Linear(512 * pixels, a.classes))


GROUPS = 2  #: of group normalisation, as in the public code of A-FedPD and FedSLR


def _resnet18(stem: int) -> Callable[[Any, Architecture], Any]:
    """ResNet-18 (He et al. 2016) with group for batch normalisation; ``stem`` 7 (stride 2, pooling) or 3 (neither)."""

    def build(nn: Any, a: Architecture) -> Any:
        class Block(nn.Module):  # type: ignore[misc]
            """Two convolutions beside a shortcut."""

            def __init__(self, into: int, out: int, stride: int) -> None:
                super().__init__()
                self.conv1 = nn.Conv2d(into, out, 3, stride, 1, bias=False)
                self.norm1 = nn.GroupNorm(GROUPS, out)
                self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
                self.norm2 = nn.GroupNorm(GROUPS, out)
                self.relu = nn.ReLU()
                same = stride == 1 and into == out
                self.shortcut = (
                    nn.Identity()
                    if same
                    else nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.GroupNorm(GROUPS, out))
                )

            def forward(self, x: Any) -> Any:
                inner = self.relu(self.norm1(self.conv1(x)))
                return self.relu(self.norm2(self.conv2(inner)) + self.shortcut(x))

        class Mean(nn.Module):  # type: ignore[misc]
            """Average over the pixels; its gradient is the same in every run, which an adaptive pooling's is not."""

            def forward(self, x: Any) -> Any:
                return x.mean(dim=(-2, -1))

        large = stem == 7
        parts: dict[str, Any] = {
            "conv1": nn.Conv2d(a.image[0], 64, stem, 2 if large else 1, stem // 2, bias=False),
            "norm1": nn.GroupNorm(GROUPS, 64),
            "relu1": nn.ReLU(),
        }
        if large:
            parts["pool1"] = nn.MaxPool2d(3, 2, 1)
        into = 64
        for k, (out, stride) in enumerate(((64, 1), (128, 2), (256, 2), (512, 2)), 1):
            parts |= {f"block{k}a": Block(into, out, stride), f"block{k}b": Block(out, out, 1)}
            into = out
        return _chain(nn, **parts, mean=Mean(), dense1=nn.Linear(512, a.classes))

    return build


#: networks by name
ARCHITECTURES: dict[str, Callable[[Any, Architecture], Any]] = {
    "logistic": _logistic,  # multinomial logistic regression (SAFARI on MNIST)
    "perceptron": _perceptron,
    "small-cnn": _two_convolutions(3, (16, 32), (64,)),  # for 8 x 8 digits, and for larger images on a laptop
    "mcmahan": _two_convolutions(5, (32, 64), (512,)),  # McMahan et al. 2017, Section 3
    "femnist": _two_convolutions(5, (32, 64), (2048,)),  # LEAF; FedPD, Section V
    "lenet": _two_convolutions(5, (64, 64), (384, 192), same=False),  # public code of A-FedPD
    "vgg11": _vgg11,  # Simonyan and Zisserman 2015, configuration A, with one dense layer
    "resnet18": _resnet18(7),  # A-FedPD
    "resnet18-3x3": _resnet18(3),  # FedSLR
}
