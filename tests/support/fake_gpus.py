"""Made-up CuPy and PyTorch with GPUs, whose arrays are array-api-strict's: they refuse what is not of the standard, NumPy's arrays too."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import array_api_strict
import pytest

GIB = 2**30


class _Device:
    """``cupy.cuda.Device``: knows its memory, and notes that it was used."""

    used: list[int] = []  # noqa: RUF012

    def __init__(self, number: int) -> None:
        self.number = number
        self.mem_info = (30 * GIB, 40 * GIB)

    def use(self) -> None:
        self.used.append(self.number)


def make_cupy(count: int = 1, failure: Exception | None = None) -> Any:
    """A CuPy 14 that sees ``count`` GPUs, or fails when it is asked."""

    def get_device_count() -> int:
        if failure is not None:
            raise failure
        return count

    cupy: Any = ModuleType("cupy")
    cupy.__version__ = "14.0.1"
    cupy.ndarray = type("ndarray", (), {})
    cupy.zeros = array_api_strict.zeros
    cupy.cuda = ModuleType("cupy.cuda")
    cupy.cuda.Device = _Device
    cupy.cuda.runtime = ModuleType("cupy.cuda.runtime")
    cupy.cuda.runtime.getDeviceCount = get_device_count
    cupy.cuda.runtime.getDeviceProperties = lambda number: {"name": f"Made-up {number}".encode()}
    _Device.used.clear()
    return cupy


def make_torch(count: int = 1, cuda: str | None = "12.8") -> Any:
    """A PyTorch that sees ``count`` GPUs; a build without CUDA for ``cuda=None``."""
    torch: Any = ModuleType("torch")
    torch.__version__ = "2.9.0"
    torch.Tensor = type("Tensor", (), {})
    torch.float64 = array_api_strict.float64
    torch.asked = []
    torch.zeros = lambda shape, dtype, device: torch.asked.append(device) or array_api_strict.zeros(shape, dtype=dtype)
    torch.version = ModuleType("torch.version")
    torch.version.cuda = cuda
    torch.cuda = ModuleType("torch.cuda")
    torch.cuda.is_available = lambda: count > 0
    torch.cuda.device_count = lambda: count
    torch.cuda.get_device_name = lambda number: f"Other {number}"
    torch.cuda.mem_get_info = lambda number: (10 * GIB, 24 * GIB)
    return torch


class _Absent:
    """Finds modules that are not installed."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.split(".", maxsplit=1)[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def install(monkeypatch: pytest.MonkeyPatch, *, cupy: Any = None, torch: Any = None) -> None:
    """Let ``import cupy`` and ``import torch`` give these; None: they are not installed."""
    libraries = {"cupy": cupy, "torch": torch}
    for name, module in libraries.items():
        if module is None:
            monkeypatch.delitem(sys.modules, name, raising=False)
        else:
            monkeypatch.setitem(sys.modules, name, module)
    absent = {name for name, module in libraries.items() if module is None}
    monkeypatch.setattr(sys, "meta_path", [_Absent(absent), *sys.meta_path])
