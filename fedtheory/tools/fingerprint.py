"""A short name for an object made of dataclasses, arrays and plain values: equal content, equal name."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from functools import partial
from types import CodeType
from typing import Any

import numpy as np

from fedtheory.core.arrays import Array, is_array, namespace, to_numpy
from fedtheory.tools.memory import is_on_host

SAMPLED_BYTES = 2**16  #: arrays above this size are sampled when a fingerprint need not be thorough


def fingerprint(*objects: Any, thorough: bool = True) -> str:
    """Hash the objects' content (array bytes, dataclass fields, reprs) to 16 hexadecimal digits.

    ``thorough=False`` takes the sum and some thousand entries of a large array instead of all its bytes: enough to name an
    instance in a result, at the cost of one pass over the data.
    """
    digest = hashlib.blake2b(digest_size=8)
    for obj in objects:
        _feed(digest, obj, thorough)
    return digest.hexdigest()


def _sample(digest: Any, x: Array) -> Array:
    """Some thousand entries and the sum of an array that is not on the host: large data is not copied for its name."""
    digest.update(f"{tuple(x.shape)}{x.dtype}".encode())
    xp = namespace(x)
    flat = xp.reshape(x, (-1,))
    return xp.concat([flat[:: math.prod(x.shape) // 4096], xp.reshape(xp.sum(flat), (1,))])


def _feed(digest: Any, obj: Any, thorough: bool) -> None:
    digest.update(type(obj).__name__.encode())
    if is_array(obj):
        _feed_array(digest, obj, thorough)
    elif dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        for field in dataclasses.fields(obj):
            digest.update(field.name.encode())
            _feed(digest, getattr(obj, field.name), thorough)
    elif isinstance(obj, dict):
        for name in sorted(obj):
            digest.update(str(name).encode())
            _feed(digest, obj[name], thorough)
    elif isinstance(obj, list | tuple):
        for item in obj:
            _feed(digest, item, thorough)
    elif callable(obj):
        digest.update(f"{getattr(obj, '__module__', '')}.{getattr(obj, '__qualname__', '')}".encode())
        if isinstance(obj, partial):
            _feed(digest, [obj.func, obj.args, obj.keywords], thorough)
        code = getattr(obj, "__code__", None)
        if code is not None:  # two lambdas of one line differ in what they hold
            _feed_code(digest, code)
            cells = [cell.cell_contents for cell in obj.__closure__ or ()]
            _feed(digest, [*cells, *(obj.__defaults__ or ()), obj.__kwdefaults__ or {}], thorough)
    else:
        digest.update(repr(obj).encode())


def _feed_array(digest: Any, x: Array, thorough: bool) -> None:
    if not thorough and not is_on_host(x) and math.prod(x.shape) * 8 > SAMPLED_BYTES:
        x = _sample(digest, x)
    host = to_numpy(x)
    digest.update(f"{host.shape}{host.dtype}".encode())
    if not thorough and host.nbytes > SAMPLED_BYTES and host.dtype.kind == "f":
        digest.update(np.float64(host.sum()).tobytes())
        host = host.ravel(order="K")[:: host.size // 4096]
    digest.update(repr(host.tolist()).encode() if host.dtype == object else np.ascontiguousarray(host).tobytes())


def _feed_code(digest: Any, code: CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names).encode())
    for constant in code.co_consts:  # the repr of inner code holds an address, which differs from run to run
        if isinstance(constant, CodeType):
            _feed_code(digest, constant)
        else:
            digest.update(repr(constant).encode())
