"""Where arrays live: the rule, what is found, and what an error says is missing. GPUs are made up (`fake_gpus`)."""

from __future__ import annotations

import subprocess
import sys

import array_api_strict
import numpy as np
import pytest
from fake_gpus import GIB, install, make_cupy, make_torch

from fedtheory.core.errors import InvalidInput, MissingExtra, NotAvailable
from fedtheory.tools import devices
from fedtheory.tools.devices import Driver, Gpu, Placement, choose_place, find_drivers, look_for


@pytest.mark.parametrize(
    ("have", "asked", "place"),
    [
        ({}, ("cpu", "auto"), Placement("cpu", "numpy")),
        ({}, ("cpu", "numpy"), Placement("cpu", "numpy")),
        ({"torch": make_torch(0)}, ("cpu", "torch"), Placement("cpu", "torch")),
        ({"cupy": make_cupy(), "torch": make_torch()}, ("cuda", "auto"), Placement("cuda", "cupy")),
        ({"cupy": make_cupy(0), "torch": make_torch()}, ("cuda", "auto"), Placement("cuda", "torch")),
        ({"cupy": make_cupy(failure=RuntimeError("x")), "torch": make_torch()}, ("cuda", "auto"), Placement("cuda", "torch")),
        ({"torch": make_torch()}, ("cuda:0", "auto"), Placement("cuda:0", "torch")),
        ({"cupy": make_cupy(), "torch": make_torch()}, ("cuda", "torch"), Placement("cuda", "torch")),
        ({"cupy": make_cupy(1), "torch": make_torch(2)}, ("cuda:1", "auto"), Placement("cuda:1", "torch")),
        ({"cupy": make_cupy(2)}, ("cuda:1", "cupy"), Placement("cuda:1", "cupy")),
    ],
)  # fmt: skip
def test_the_rule(monkeypatch, have, asked, place) -> None:
    install(monkeypatch, **have)
    assert choose_place(*asked) == place


@pytest.mark.parametrize(
    ("have", "asked", "said"),
    [
        (
            {},
            ("cuda", "auto"),
            r"no GPU can be used as cuda: CuPy is not installed; PyTorch is not installed\. To use one, install CuPy "
            r"\(pip install 'fedtheory\[cuda12\]'.*\) or PyTorch \(pip install 'fedtheory\[cnn\]'\); else take --device cpu\. "
            r"'fedtheory devices' shows",
        ),
        ({"torch": make_torch()}, ("cuda", "cupy"), r"CuPy is not installed\. To use one, install CuPy \("),
        ({"cupy": make_cupy()}, ("cuda", "torch"), r"PyTorch is not installed\. To use one, install PyTorch \("),
        (
            {"cupy": make_cupy(failure=RuntimeError("\ncudaErrorInsufficientDriver: too old\nmore")), "torch": None},
            ("cuda", "auto"),
            r"CuPy 14\.0\.1 finds no GPU \(cudaErrorInsufficientDriver: too old\); PyTorch is not installed\. To use one, the library "
            r"that is there needs an NVIDIA GPU, its driver",
        ),
        ({"torch": make_torch(0, cuda=None)}, ("cuda", "torch"), r"PyTorch 2\.9\.0 is a build without CUDA"),
        ({"torch": make_torch(0)}, ("cuda", "torch"), r"PyTorch 2\.9\.0 finds no GPU \(no NVIDIA driver, or no device\)"),
        ({"cupy": make_cupy(2)}, ("cuda:2", "auto"), r"there is no cuda:2: CuPy 14\.0\.1 sees 2 GPUs; take cuda:0, cuda:1$"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(monkeypatch, have, asked, said) -> None:
    install(monkeypatch, **have)
    with pytest.raises(NotAvailable, match=said):
        choose_place(*asked)


def test_what_does_not_go_together_is_refused(monkeypatch) -> None:
    install(monkeypatch, cupy=make_cupy())
    for asked, said in (
        (("gpu",), "unknown device 'gpu'; expected cpu, cuda or cuda:0"),
        (("cuda:",), "unknown device"),
        (("cuda", "jax"), "unknown library 'jax'; expected auto, numpy, cupy, torch"),
        (("cpu", "cupy"), "CuPy computes on GPUs only; take --device cuda"),
        (("cuda", "numpy"), "NumPy computes on the CPU only"),
    ):
        with pytest.raises(InvalidInput, match=said):
            choose_place(*asked)
    with pytest.raises(MissingExtra, match=r"torch is needed for arrays of PyTorch.*fedtheory\[cnn\]"):
        choose_place("cpu", "torch")


def test_a_library_that_is_there_and_broken_is_not_called_missing(monkeypatch) -> None:
    def broken(name):
        raise ImportError("\n=====\nlibcuda.so.1: cannot open shared object file\n=====")

    monkeypatch.setattr(devices.importlib, "import_module", broken)
    seen = look_for("cupy")
    assert (
        seen.version is not None
        and str(seen) == "CuPy cannot be imported (libcuda.so.1: cannot open shared object file)"
    )


def test_gpus_are_shown_with_their_memory(monkeypatch) -> None:
    install(monkeypatch, cupy=make_cupy(2), torch=make_torch())
    assert look_for("cupy").gpus == (Gpu("Made-up 0", 30 * GIB, 40 * GIB), Gpu("Made-up 1", 30 * GIB, 40 * GIB))
    assert look_for("torch").gpus == (Gpu("Other 0", 10 * GIB, 24 * GIB),)
    assert look_for("torch").why == ""


def test_arrays_are_made_where_they_are_asked_for(monkeypatch) -> None:
    cupy, torch = make_cupy(2), make_torch(2)
    install(monkeypatch, cupy=cupy, torch=torch)
    on_cupy = Placement("cuda:1", "cupy").array([1.0, 2.0])
    assert isinstance(on_cupy, type(array_api_strict.zeros(1))) and cupy.cuda.Device.used == [1]
    Placement("cuda:1", "torch").array([1.0])
    assert torch.asked == ["cuda:1"]
    here = Placement().array(np.arange(2.0))
    assert isinstance(here, np.ndarray) and str(Placement("cuda", "cupy")) == "cuda by CuPy"


def test_nvidias_tool_is_read_and_its_absence_is_no_error(monkeypatch) -> None:
    monkeypatch.setattr(devices.shutil, "which", lambda name: None)
    assert find_drivers() == ()
    monkeypatch.setattr(devices.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    said = {"text": "Some GPU, 40GB, 570.12\nSome GPU, 40GB, 570.12\n", "rc": 0}
    monkeypatch.setattr(
        devices.subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, said["rc"], said["text"], "")
    )
    assert find_drivers() == (Driver("Some GPU, 40GB", "570.12"),) * 2
    assert (
        find_drivers()[0].extra == "cuda12"
        and Driver("x", "580.65").extra == "cuda13"
        and Driver("x", "?").extra == "cuda12"
    )
    said["rc"] = 9
    assert find_drivers() == ()


def test_looking_at_devices_loads_nothing_before_it_is_needed() -> None:
    code = (
        "import sys; from fedtheory.command_line.main import main; from fedtheory.tools.devices import choose_place; choose_place(); "
        "print(*{'numpy', 'cupy', 'torch', 'psutil'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == ""
