"""A stand-in for CuPy where it is not installed: arrays in host memory that keep CuPy's rules and count what a GPU would be asked for.

It is entered as the module ``cupy``, so that array-api-compat takes its arrays for CuPy's. CuPy's rules, from its source at versions 13 and 14:

- nothing becomes a NumPy array by itself (``np.asarray(x)`` is a TypeError); ``get`` copies, and ``bool``, ``float``, ``int``, ``item`` and
  ``tolist`` wait for the device;
- an operation takes arrays of the device, Python's and NumPy's scalars; a NumPy array beside them is a TypeError;
- NumPy's functions, called with arrays of the device, are CuPy's;
- ``linalg.solve`` broadcasts no batch axes, and a singular matrix gives NaN and no error;
- selecting by a mask waits for the device, since the shape of the result depends on values.

Where CuPy is more lenient than this, as with indices given as NumPy arrays, the stand-in refuses: such an index would be copied every time.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

import numpy as np


@dataclass
class Costs:
    """What a device was asked for."""

    launches: int = 0  #: operations started
    waits: int = 0  #: times that the host waited for a value
    copies_in: int = 0
    bytes_in: int = 0
    copies_out: int = 0
    bytes_out: int = 0


TOTAL = Costs()


@contextmanager
def counted() -> Iterator[Costs]:
    """Count what is asked for in a block; the numbers stand once it is left."""
    before, found = asdict(TOTAL), Costs()
    yield found
    for name, value in asdict(TOTAL).items():
        setattr(found, name, value - before[name])


def _raw(value: Any) -> Any:
    """The host array behind an argument; NumPy arrays are refused."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, tuple | list):
        return type(value)(map(_raw, value))
    return value


def _device(result: Any) -> Any:
    """Put results on the device: also single numbers, which are arrays without axes there."""
    if isinstance(result, np.ndarray | np.generic):
        return ndarray(np.asarray(result))
    if isinstance(result, tuple | list):
        wrapped = [_device(part) for part in result]
        return type(result)(*wrapped) if hasattr(result, "_fields") else type(result)(wrapped)
    return result


def _launch(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        TOTAL.launches += 1
        with np.errstate(all="ignore"):
            return _device(function(*map(_raw, args), **{name: _raw(value) for name, value in keywords.items()}))

    return call


def _wait(value: np.ndarray) -> np.ndarray:
    TOTAL.waits += 1
    TOTAL.copies_out += 1
    TOTAL.bytes_out += value.nbytes
    return value.copy()


class Device:
    """The only device."""

    id = 0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, device: Any = None) -> None: ...

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __repr__(self) -> str:
        return "<CUDA Device 0>"


class ndarray:
    """An array of the device."""

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, host: np.ndarray) -> None:
        self._host = host

    shape = property(lambda self: self._host.shape)
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    device = property(lambda self: Device())
    T = property(lambda self: ndarray(self._host.T))

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        return getattr(sys.modules["cupy"], ufunc.__name__)(*inputs, **keywords)

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        names = [*function.__module__.split(".")[1:], function.__name__]
        return functools.reduce(getattr, names, sys.modules["cupy"])(*args, **keywords)

    def get(self) -> np.ndarray:
        return _wait(self._host)

    def item(self) -> Any:
        return _wait(self._host).item()

    def tolist(self) -> Any:
        return _wait(self._host).tolist()

    def __bool__(self) -> bool:
        return bool(_wait(self._host))

    def __float__(self) -> float:
        return float(_wait(self._host))

    def __int__(self) -> int:
        return int(_wait(self._host))

    def __index__(self) -> int:
        return operator.index(_wait(self._host))

    def __repr__(self) -> str:
        return repr(_wait(self._host))

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[k] for k in range(len(self)))

    def __reduce__(self) -> Any:
        return ndarray, (_wait(self._host),)

    def __getitem__(self, index: Any) -> ndarray:
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, ndarray) and part.dtype == bool for part in parts):
            TOTAL.waits += 1
        if any(isinstance(part, ndarray) for part in parts):
            TOTAL.launches += 1
        return ndarray(np.asarray(self._host[_raw(index)]))

    def __setitem__(self, index: Any, value: Any) -> None:
        TOTAL.launches += 1
        self._host[_raw(index)] = _raw(value)


def _operator(name: str, in_place: bool) -> Any:
    act = getattr(operator, name.replace("__r", "__") if name in _REFLECTED else name)

    def unary(self: ndarray) -> Any:
        return _launch(act)(self)

    def binary(self: ndarray, other: Any) -> Any:
        if isinstance(other, str) or other is None:
            return NotImplemented
        pair = (other, self) if name in _REFLECTED else (self, other)
        found = _launch(act)(*pair)
        return self if in_place else found

    return unary if name in ("__neg__", "__abs__", "__invert__", "__pos__") else binary


_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
_REFLECTED = {f"__r{name}__" for name in _ARITHMETIC}
for _name in ("neg", "abs", "invert", "pos", "lt", "le", "gt", "ge", "eq", "ne", *_ARITHMETIC):
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__", False))
for _name in _ARITHMETIC:
    setattr(ndarray, f"__r{_name}__", _operator(f"__r{_name}__", False))
    setattr(ndarray, f"__i{_name}__", _operator(f"__i{_name}__", True))
_METHODS = (
    "all any argmax argmin argsort astype clip copy cumsum dot max mean min prod ravel repeat reshape squeeze std sum swapaxes take "
    "transpose var"
)
for _name in _METHODS.split():
    setattr(ndarray, _name, _launch(getattr(np.ndarray, _name)))


def _made(name: str) -> Any:
    """`array`, `asarray` and the like: what comes from the host is copied to the device."""
    make = getattr(np, name)

    def call(values: Any, dtype: Any = None, copy: bool | None = None, **keywords: Any) -> ndarray:
        keywords.pop("blocking", None)
        if isinstance(values, ndarray):
            return ndarray(np.array(values._host, dtype=dtype, copy=True if copy else None))
        host = np.array(make(values, dtype=dtype, **keywords))
        if host.dtype == object:
            raise ValueError("Unsupported dtype object")
        TOTAL.copies_in += 1
        TOTAL.bytes_in += host.nbytes
        return ndarray(host)

    return call


def _solve(a: ndarray, b: ndarray) -> ndarray:
    left, right = _raw(a), _raw(b)
    if not (left.ndim in (right.ndim, right.ndim + 1) and left.shape[:-1] == right.shape[: left.ndim - 1]):
        raise ValueError("a must have (..., M, M) shape and b must have (..., M) or (..., M, K)")
    TOTAL.launches += 1
    vectors = left.ndim == right.ndim + 1
    columns = right[..., None] if vectors else right
    found = np.full(columns.shape, np.nan, dtype=np.result_type(left, right))
    for place in np.ndindex(left.shape[:-2]):
        try:
            found[place] = np.linalg.solve(left[place], columns[place])
        except np.linalg.LinAlgError:  # stays NaN: the status that the library returns is not looked at
            continue
    return ndarray(found[..., 0] if vectors else found)


_AS_THEY_ARE = {"broadcast_shapes", "can_cast", "isdtype", "isscalar", "issubdtype", "promote_types", "result_type"}


def _module(name: str, source: Any, **own: Any) -> ModuleType:
    """A module with NumPy's public names: functions as the device's, types and constants as they are."""
    made = ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    for key in () if source is None else dir(source):
        value = getattr(source, key)
        if not key.startswith("_") and not isinstance(value, ModuleType):
            stays = isinstance(value, type) or not callable(value) or key in _AS_THEY_ARE
            setattr(made, key, value if stays else _launch(value))
    for key, value in own.items():
        setattr(made, key, value)
    made.__all__ = [key for key in vars(made) if not key.startswith("_")]  # type: ignore[attr-defined]
    sys.modules[name] = made
    return made


def _enter() -> ModuleType:
    """Enter the stand-in as the module ``cupy``."""
    makers = {name: _made(name) for name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")}
    device = _module("cupy.cuda.device", None, Device=Device)
    cuda = _module("cupy.cuda", None, Device=Device, device=device)
    linalg = _module("cupy.linalg", np.linalg, solve=_solve)
    fft = _module("cupy.fft", np.fft)
    own = dict(makers, ndarray=ndarray, asnumpy=lambda x: x.get(), is_available=lambda: False, abs=_launch(np.abs))
    return _module("cupy", np, cuda=cuda, linalg=linalg, fft=fft, __version__="stand-in", **own)


#: the stand-in, or None where the real CuPy is installed
cupy: Any = None if importlib.util.find_spec("cupy") else _enter()
