"""A short name for an object made of dataclasses, arrays and plain values: equal content, equal name."""

from __future__ import annotations

import dataclasses
import hashlib
from functools import partial
from types import CodeType
from typing import Any

import numpy as np

from fedtheory.arrays import is_array, to_numpy


def fingerprint(*objects: Any) -> str:
    """Hash the objects' content (array bytes, dataclass fields, reprs) to 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    for obj in objects:
        _feed(digest, obj)
    return digest.hexdigest()


def _feed(digest: Any, obj: Any) -> None:
    digest.update(type(obj).__name__.encode())
    if is_array(obj):
        host = to_numpy(obj)
        digest.update(f"{host.shape}{host.dtype}".encode())
        digest.update(repr(host.tolist()).encode() if host.dtype == object else np.ascontiguousarray(host).tobytes())
    elif dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        for field in dataclasses.fields(obj):
            digest.update(field.name.encode())
            _feed(digest, getattr(obj, field.name))
    elif isinstance(obj, dict):
        for name in sorted(obj):
            digest.update(str(name).encode())
            _feed(digest, obj[name])
    elif isinstance(obj, list | tuple):
        for item in obj:
            _feed(digest, item)
    elif callable(obj):
        digest.update(f"{getattr(obj, '__module__', '')}.{getattr(obj, '__qualname__', '')}".encode())
        if isinstance(obj, partial):
            _feed(digest, [obj.func, obj.args, obj.keywords])
        code = getattr(obj, "__code__", None)
        if code is not None:  # two lambdas of one line differ in what they hold
            _feed_code(digest, code)
            cells = [cell.cell_contents for cell in obj.__closure__ or ()]
            _feed(digest, [*cells, *(obj.__defaults__ or ()), obj.__kwdefaults__ or {}])
    else:
        digest.update(repr(obj).encode())


def _feed_code(digest: Any, code: CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names).encode())
    for constant in code.co_consts:  # the repr of inner code holds an address, which differs from run to run
        if isinstance(constant, CodeType):
            _feed_code(digest, constant)
        else:
            digest.update(repr(constant).encode())
