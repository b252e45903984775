"""Gradients and outputs of many copies of a network, each with parameters and images of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fedtheory.core.arrays import Array
from fedtheory.core.errors import InvalidInput
from problems.networks.architectures import Architecture, template, torch
from problems.networks.plan import Plan, Way

EVALUATED = 500  #: images whose outputs are computed at once when nothing needs a gradient


@dataclass(frozen=True)
class Arithmetic:
    """How a network computes; what this does to a gradient, `Network.effect_of_arithmetic` measures.

    Parameters
    ----------
    mixed : bool
        Layers in bfloat16 where PyTorch's autocast finds that safe; parameters, sums and the loss stay in single precision. Rounding
        errors grow from 6e-8 to 4e-3 an operation.
    tf32 : bool
        Products on an NVIDIA GPU with 10 instead of 23 bits behind the point.
    """

    mixed: bool = False
    tf32: bool = False


def split(a: Architecture, x: Array) -> dict[str, Array]:
    """Parameters by name: ``(*lead, d) -> (*lead, *shape)``, without copying."""
    parts = x.split([layer.size for layer in a.layers], dim=-1)
    return {layer.name: part.reshape(*x.shape[:-1], *layer.shape) for layer, part in zip(a.layers, parts, strict=True)}


def gradients(
    a: Architecture,
    how: Arithmetic,
    plan: Plan,
    x: Array,
    images: Array,
    labels: Array,
    weights: Array | None = None,
    real: Any = None,
) -> Array:
    """Gradients of the mean cross-entropy, or of sum_k weights_k * cross-entropy_k, a model a row.

    Parameters
    ----------
    x : array ``(rows, d)``
    images, labels : arrays ``(rows, batch, ...)``
    weights : array ``(rows, batch)``, optional
    real : list of int, with weights
        How many samples of a row count; the weights of those behind are zero.
    """
    of_rows = (x, images, labels) if weights is None else (x, images, labels, weights)

    def compute(way: Way, first: int, last: int) -> Array:
        rows = slice(first, last)
        some = None if real is None else real[rows]
        if way == "together":
            return _together(a, how, *(part[rows] for part in of_rows))
        return _one_by_one(a, how, way == "channels last", some, *(part[rows] for part in of_rows))

    with _settings(how, x.device):
        return plan.gradients(a, x, images.shape[1], compute)


def _together(a: Architecture, how: Arithmetic, x: Array, *samples: Array) -> Array:
    found = _batched(a, how)(split(a, x), *samples)
    return torch().cat([found[layer.name].reshape(len(x), -1) for layer in a.layers], dim=-1)


@lru_cache(maxsize=16)
def _batched(a: Architecture, how: Arithmetic) -> Any:
    func = torch().func
    return func.vmap(func.grad(lambda *given: _loss(a, how, *given)))


def _one_by_one(
    a: Architecture, how: Arithmetic, channels_last: bool, real: Any, x: Array, images: Array, *rest: Array
) -> Array:
    pt = torch()
    out = pt.empty(x.shape, dtype=x.dtype, device=x.device)
    order = pt.channels_last if channels_last else pt.contiguous_format
    for row, count in enumerate([images.shape[1]] * len(x) if real is None else real):
        parameters = {
            name: (part.contiguous(memory_format=order) if part.ndim == 4 else part).detach().requires_grad_()
            for name, part in split(a, x[row]).items()
        }
        with pt.enable_grad():
            batch = images[row, :count].contiguous(memory_format=order)
            loss = _loss(a, how, parameters, batch, *(part[row, :count] for part in rest))
            found = pt.autograd.grad(loss, [*parameters.values()])
        pt.cat([g.reshape(-1) for g in found], out=out[row])
    return out


def _loss(
    a: Architecture, how: Arithmetic, parameters: Any, images: Array, labels: Array, weights: Array | None = None
) -> Array:
    out, cross_entropy = _outputs(a, how, parameters, images), torch().nn.functional.cross_entropy
    return (
        cross_entropy(out, labels)
        if weights is None
        else (cross_entropy(out, labels, reduction="none") * weights).sum()
    )


def _outputs(a: Architecture, how: Arithmetic, parameters: Any, images: Array) -> Array:
    pt = torch()
    if not how.mixed:
        return pt.func.functional_call(template(a), parameters, (images,))
    with pt.autocast(images.device.type, dtype=pt.bfloat16):
        return pt.func.functional_call(template(a), parameters, (images,)).to(images.dtype)


def outputs(a: Architecture, how: Arithmetic, x: Array, images: Array) -> Array:
    """Outputs of one model ``(d,)`` for images ``(k, channels, height, width)``: ``(k, classes)``."""
    pt = torch()
    with pt.no_grad(), _settings(how, x.device):
        parameters = split(a, x)
        parts = [_outputs(a, how, parameters, part) for part in images.split(EVALUATED)]
        return parts[0] if len(parts) == 1 else pt.cat(parts)


def _settings(how: Arithmetic, device: Any) -> AbstractContextManager[Any]:
    """On a GPU: the same sums in every run, and TF32 as asked for."""
    return _on_gpu(how) if device.type == "cuda" else nullcontext()


@contextmanager
def _on_gpu(how: Arithmetic) -> Iterator[None]:
    pt = torch()
    before = pt.backends.cuda.matmul.allow_tf32
    with pt.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=how.tf32):
        pt.backends.cuda.matmul.allow_tf32 = how.tf32
        try:
            yield
        finally:
            pt.backends.cuda.matmul.allow_tf32 = before


def device_of(name: str) -> Any:
    """Return a torch device, after checking that it is there.

    Raises
    ------
    InvalidInput
        There is no such device.
    """
    pt = torch()
    try:
        device = pt.device(name)
    except RuntimeError as error:
        raise InvalidInput(f"unknown device {name!r}; expected cpu, cuda or cuda:0, cuda:1, ...") from error
    if device.type == "cuda" and not pt.cuda.is_available():
        raise InvalidInput(
            "there is no GPU that PyTorch can use here; take --device cpu, or a build of PyTorch for your GPU"
        )
    return device
