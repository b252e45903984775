"""Where arrays live: what this machine has, and the place that a device and a library name.

One rule: on the CPU arrays are NumPy's, on a GPU CuPy's, or PyTorch's where CuPy is not installed or finds no GPU; ``library`` overrides
it. Networks are PyTorch's everywhere. CuPy and PyTorch are imported when a GPU is asked for, and not before.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

from fedtheory.core.errors import InvalidInput, NotAvailable, require

AUTOMATIC = "auto"  #: the library by the rule
LIBRARIES = (AUTOMATIC, "numpy", "cupy", "torch")
SHOWN = {"numpy": "NumPy", "cupy": "CuPy", "torch": "PyTorch"}
#: extras that bring a library for GPUs
INSTALL = {
    "cupy": "pip install 'fedtheory[cuda12]', cuda13 with a driver for CUDA 13",
    "torch": "pip install 'fedtheory[cnn]'",
}
SEE = "'fedtheory devices' shows what is there"


@dataclass(frozen=True)
class Gpu:
    """A GPU as a library sees it: its name, and its memory in bytes."""

    name: str
    free: int
    total: int


@dataclass(frozen=True)
class LibrarySeen:
    """A library for GPUs: its version (None where it is not installed), the GPUs it can use, and why it can use none."""

    library: str
    version: str | None
    gpus: tuple[Gpu, ...] = ()
    why: str = ""

    def __str__(self) -> str:
        """In words."""
        return f"{SHOWN[self.library]} {self.version or ''}".strip() + (f" {self.why}" if self.why else "")


@dataclass(frozen=True)
class Driver:
    """What NVIDIA's own tool says of the machine: a GPU's name and the version of the driver."""

    name: str
    version: str

    @property
    def extra(self) -> str:
        """The extra of this project with the CuPy that the driver can run: CUDA 13 needs a driver from 580 on."""
        first = self.version.split(".")[0]
        return "cuda13" if first.isdecimal() and int(first) >= 580 else "cuda12"


def look_for(library: str) -> LibrarySeen:
    """Import a library for GPUs, ``cupy`` or ``torch``, and ask it which GPUs it can use; it raises nothing."""
    try:
        module: Any = importlib.import_module(library)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == library:
            return LibrarySeen(library, None, why="is not installed")
        return LibrarySeen(library, "", why=f"cannot be imported ({_first_line(error)})")
    version = str(getattr(module, "__version__", "of unknown version"))
    try:
        gpus = (_gpus_of_cupy if library == "cupy" else _gpus_of_torch)(module)
    except Exception as error:  # drivers and libraries that do not fit fail in many ways
        return LibrarySeen(library, version, why=f"finds no GPU ({_first_line(error)})")
    return LibrarySeen(library, version, gpus, "" if gpus else _why_none(library, module))


def _gpus_of_cupy(cupy: Any) -> tuple[Gpu, ...]:
    found = []
    for number in range(cupy.cuda.runtime.getDeviceCount()):
        free, total = cupy.cuda.Device(number).mem_info
        name = cupy.cuda.runtime.getDeviceProperties(number)["name"]
        found.append(Gpu(name.decode() if isinstance(name, bytes) else str(name), int(free), int(total)))
    return tuple(found)


def _gpus_of_torch(torch: Any) -> tuple[Gpu, ...]:
    if not torch.cuda.is_available():
        return ()
    return tuple(
        Gpu(torch.cuda.get_device_name(number), *(int(size) for size in torch.cuda.mem_get_info(number)))
        for number in range(torch.cuda.device_count())
    )


def _why_none(library: str, module: Any) -> str:
    built_without = library == "torch" and module.version.cuda is None
    return "is a build without CUDA" if built_without else "finds no GPU (no NVIDIA driver, or no device)"


def _first_line(error: BaseException) -> str:
    lines = [line.strip(" =") for line in str(error).splitlines()]
    return next((line for line in lines if line), type(error).__name__)


def find_drivers() -> tuple[Driver, ...]:
    """GPUs by NVIDIA's own tool, which needs no library; empty where there is none."""
    if shutil.which("nvidia-smi") is None:
        return ()
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    if done.returncode:
        return ()
    rows = [line.rsplit(",", 1) for line in done.stdout.splitlines() if "," in line]
    return tuple(Driver(name.strip(), version.strip()) for name, version in rows)


@dataclass(frozen=True)
class Placement:
    """A device and a library: where arrays of a run live. `choose_place` makes one after checking that it is there.

    Parameters
    ----------
    device : "cpu", "cuda", "cuda:1", ...
    library : "numpy", "cupy" or "torch"
    """

    device: str = "cpu"
    library: str = "numpy"

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU."""
        return self.device != "cpu"

    @property
    def example(self) -> Any:
        """An array ``(1,)`` of double precision there: what `fedtheory.core.arrays.like` and `move_to_library` take as reference."""
        import numpy as np

        if self.library == "numpy":
            return np.zeros(1)
        module: Any = require(self.library, f"arrays on {self.device}")
        if self.library == "torch":
            return module.zeros(1, dtype=module.float64, device=self.device)
        module.cuda.Device(_number(self.device)).use()  # CuPy computes on the device that is in use
        return module.zeros(1)

    def array(self, values: Any) -> Any:
        """Host values as an array there; floats in double precision."""
        from fedtheory.core.arrays import like

        return like(values, self.example)

    def move(self, problem: Any) -> Any:
        """Return a problem of NumPy's arrays with its arrays there, those of the problems it holds too."""
        from fedtheory.core.problem import move_to_library

        return problem if self.library == "numpy" else move_to_library(problem, self.example)

    def __str__(self) -> str:
        """In words."""
        return f"{self.device} by {SHOWN[self.library]}"


def _number(device: str) -> int:
    return int(device.partition(":")[2] or 0)


def choose_place(device: str = "cpu", library: str = AUTOMATIC) -> Placement:
    """Return where arrays are to live, after checking that it is there.

    Parameters
    ----------
    device : "cpu", "cuda" (the first GPU), "cuda:1", ...
    library : one of `LIBRARIES`
        "auto": NumPy on the CPU; on a GPU CuPy, or PyTorch where CuPy cannot use it.

    Raises
    ------
    InvalidInput
        There is no such device or library, or the two do not go together.
    NotAvailable
        No library that can use the device is installed, or none finds it; the message says what is missing and what to do.
    """
    if not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise InvalidInput(f"unknown device {device!r}; expected cpu, cuda or cuda:0, cuda:1, ...")
    if library not in LIBRARIES:
        raise InvalidInput(f"unknown library {library!r}; expected {', '.join(LIBRARIES)}")
    if device == "cpu":
        if library == "cupy":
            raise InvalidInput("CuPy computes on GPUs only; take --device cuda, or another library on the CPU")
        if library == "torch":
            require("torch", "arrays of PyTorch")
        return Placement("cpu", "numpy" if library == AUTOMATIC else library)
    if library == "numpy":
        raise InvalidInput(f"NumPy computes on the CPU only; leave --library out for {device}, or take cupy or torch")
    tried = []
    for name in ("cupy", "torch") if library == AUTOMATIC else (library,):
        seen = look_for(name)
        if _number(device) < len(seen.gpus):
            return Placement(device, name)
        tried.append(seen)
    raise NotAvailable(_why_not(device, tried))


def _why_not(device: str, tried: list[LibrarySeen]) -> str:
    """What is missing for a device, and what to do."""
    found = [seen for seen in tried if seen.gpus]
    if found:
        count = max(len(seen.gpus) for seen in found)
        known = ", ".join(f"cuda:{k}" for k in range(count))
        return f"there is no {device}: {found[0]} sees {count} GPU{'s' * (count > 1)}; take {known}"
    said = "; ".join(str(seen) for seen in tried)
    missing = [seen.library for seen in tried if seen.version is None]
    if len(missing) == len(tried):
        advice = "install " + " or ".join(f"{SHOWN[name]} ({INSTALL[name]})" for name in missing)
    else:
        advice = "the library that is there needs an NVIDIA GPU, its driver, and a build for that driver's CUDA"
    return f"no GPU can be used as {device}: {said}. To use one, {advice}; else take --device cpu. {SEE}"
