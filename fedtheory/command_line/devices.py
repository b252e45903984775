"""The command ``devices``: what there is to compute on, and what to install where something is missing; lines of at most 80 columns."""

from __future__ import annotations

import json
import os
import platform
import textwrap
from dataclasses import asdict
from typing import Any

import click

WIDTH = 80
NAMES = 9  # columns of the names at the left
SHOWN_VERSIONS = ("python", "fedtheory", "numpy", "scipy", "array-api-compat")


def _processor() -> dict[str, Any]:
    import psutil

    memory = psutil.virtual_memory()
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "cores_allowed": allowed,
        "free": memory.available,
        "total": memory.total,
    }


def _blas() -> dict[str, Any]:
    """What NumPy was built with, and the limits on its threads that the environment sets."""
    import numpy as np

    found: Any = np.show_config(mode="dicts") or {}
    built = found.get("Build Dependencies", {}).get("blas", {})
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {
        "name": built.get("name", "unknown"),
        "version": built.get("version", ""),
        "limits": {name: os.environ[name] for name in limits if name in os.environ},
    }


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f}"


def _found() -> dict[str, Any]:
    """Everything, as plain data."""
    from fedtheory.tools.devices import find_drivers, look_for
    from fedtheory.tools.versions import find_versions

    versions = find_versions()
    return {
        "cpu": _processor(),
        "blas": _blas(),
        "versions": {name: versions[name] for name in SHOWN_VERSIONS if name in versions},
        "libraries": [asdict(look_for(name)) for name in ("cupy", "torch")],
        "drivers": [asdict(driver) | {"extra": driver.extra} for driver in find_drivers()],
    }


def _said(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and what is said of them."""
    from fedtheory.tools.devices import SHOWN, Gpu, LibrarySeen

    cpu, blas = found["cpu"], found["blas"]
    limits = ", ".join(f"{name}={value}" for name, value in blas["limits"].items()) or "no limit on its threads is set"
    rows = [
        (
            "CPU",
            f"{cpu['machine']}, {cpu['cores_allowed']} of {cpu['cores']} cores may be used; "
            f"{_gib(cpu['free'])} of {_gib(cpu['total'])} GiB of memory are free",
        ),
        ("BLAS", f"{blas['name']} {blas['version']}; {limits}"),
        ("versions", ", ".join(f"{name} {version}" for name, version in found["versions"].items())),
    ]
    for data in found["libraries"]:
        seen = LibrarySeen(**data | {"gpus": tuple(Gpu(**gpu) for gpu in data["gpus"])})
        rows.append((SHOWN[seen.library], " ".join(part for part in (seen.version, seen.why) if part)))
        for k, gpu in enumerate(seen.gpus):
            rows.append(("", f"cuda:{k}: {gpu.name}, {_gib(gpu.free)} of {_gib(gpu.total)} GiB are free"))
    for driver in found["drivers"]:
        rows.append(("driver", f"{driver['version']} of {driver['name']}"))
    return rows


def _advice(found: dict[str, Any]) -> list[str]:
    """What ``--device cuda`` would take, or what to do that it works."""
    from fedtheory.tools.devices import INSTALL, SHOWN

    usable = [data["library"] for data in found["libraries"] if data["gpus"]]
    if usable:
        rest = " Networks are PyTorch's; it is missing or sees no GPU." if "torch" not in usable else ""
        return [f"--device cuda takes {SHOWN[usable[0]]}.{rest}"]
    if not found["drivers"]:
        return [
            "--device cuda: there is no NVIDIA GPU here, or no driver (nvidia-smi shows none). Everything runs on the "
            "CPU with NumPy. On a machine with a GPU and its driver:",
            *(f"  {INSTALL[name]}" for name in ("cupy", "torch")),
        ]
    return [
        "--device cuda: there is a GPU that neither CuPy nor PyTorch can use. Install one of them, or a build that "
        "fits the driver:",
        f"  pip install 'fedtheory[{found['drivers'][0]['extra']}]'   (CuPy: all problems but networks)",
        f"  {INSTALL['torch']}      (PyTorch: networks, too)",
    ]


@click.command("devices")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def devices_command(as_json: bool) -> None:
    """Show what there is to compute on: CPU, BLAS, GPUs, versions, and what to install."""
    found = _found()
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    indent = " " * NAMES
    for name, text in _said(found):
        click.echo(
            textwrap.fill(
                text, WIDTH, initial_indent=f"{name:<{NAMES}}", subsequent_indent=indent, break_on_hyphens=False
            )
        )
    click.echo()
    for line in _advice(found):
        click.echo(line if line.startswith("  ") else textwrap.fill(line, WIDTH))
