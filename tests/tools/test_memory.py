"""Free memory: what an array's neighbour can still have, and a refusal in words when it is too little."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from fedtheory.core.errors import InvalidInput
from fedtheory.tools import memory


class OnAnUnknownDevice:
    device = "somewhere"


def test_beside_an_array_of_numpy_there_is_the_memory_of_the_host() -> None:
    free = memory.find_free_bytes(np.zeros(1))
    assert free is not None and 0 < free <= psutil.virtual_memory().total
    assert memory.find_free_bytes(OnAnUnknownDevice()) is None


def test_what_does_not_fit_is_refused_with_both_numbers(monkeypatch) -> None:
    monkeypatch.setattr(memory, "find_free_bytes", lambda beside: 2**30)
    memory.require_room("a small thing", 2**29, np.zeros(1), "unused")
    with pytest.raises(
        InvalidInput, match=r"a large thing needs about 2 GiB of memory on cpu, where 1 GiB are free; halve it"
    ):
        memory.require_room("a large thing", 2**31, np.zeros(1), "halve it")


def test_beside_a_tensor_on_a_gpu_there_is_what_is_free_and_what_pytorch_holds_unused(monkeypatch) -> None:
    cuda = SimpleNamespace(
        memory_reserved=lambda place: 70, memory_allocated=lambda place: 30, mem_get_info=lambda place: (500, 1000)
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert memory.find_free_bytes(SimpleNamespace(device=SimpleNamespace(type="cuda"))) == 500 + (70 - 30)


def test_beside_an_array_of_cupy_there_is_what_is_free_and_what_its_pool_holds_unused(monkeypatch) -> None:
    pool = SimpleNamespace(free_bytes=lambda: 40)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(get_default_memory_pool=lambda: pool))
    assert memory.find_free_bytes(SimpleNamespace(device=SimpleNamespace(mem_info=(500, 1000)))) == 500 + 40
