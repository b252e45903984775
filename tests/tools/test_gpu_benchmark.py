"""benchmarks/gpu.py runs, compares numbers, and says what is missing, what failed and what differs."""

from __future__ import annotations

import csv
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from fake_gpus import install, make_cupy

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
HEAVY = {"cvxpy", "PEPit", "sympy", "matplotlib", "rich", "sklearn", "loky"}


@pytest.fixture
def gpu(monkeypatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("gpu_benchmark", BENCHMARKS / "gpu.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(file: str) -> list[dict[str, str]]:
    with Path(file).open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_the_smoke_run_on_this_machine() -> None:
    """As a user runs it, from any folder; what a machine without the verifier's packages lacks is not imported."""
    code = (
        "import runpy, sys; sys.argv = ['gpu.py', '--small', '--repeats', '1', '--csv', 'out/gpu.csv']\n"
        f"sys.path.insert(0, {str(BENCHMARKS)!r})\n"
        f"try: runpy.run_path({str(BENCHMARKS / 'gpu.py')!r}, run_name='__main__')\n"
        "except SystemExit as leaving: code = leaving.code\n"
        "print('loaded:', *sorted({m.split('.')[0] for m in sys.modules})); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    said, loaded = done.stdout.split("loaded:")
    own = HEAVY - ({"sympy"} if importlib.util.find_spec("torch") else set())  # PyTorch loads it itself
    assert not own & {*loaded.split()}
    found = lines("out/gpu.csv")
    assert [row["problem"] for row in found if row["library"] == "numpy"] == ["sweep", "instances", "falsifier"]
    for row in found:
        assert float(row["seconds"]) > 0 and float(row["largest_difference"]) < 1e-9
    for name in ("torch", "cupy"):
        if importlib.util.find_spec(name) is None:
            shown = {"torch": "PyTorch", "cupy": "CuPy"}[name]
            assert f"skipped: {shown} on cuda: no GPU can be used as cuda: {shown} is not installed" in said


def test_libraries_are_compared_with_numpy(gpu, monkeypatch) -> None:
    install(monkeypatch, cupy=make_cupy())
    assert gpu.main(["--small", "--repeats", "1"]) == 0
    found = lines("gpu.csv")
    assert [(row["library"], row["device"]) for row in found[1::2]] == [("cupy", "Made-up 0")] * 3
    assert all("cupy 14.0.1" in row["versions"] for row in found[1::2])
    assert [row["sizes"] for row in found] == ["16 runs"] * 2 + ["200 instances"] * 4
    for base, row in zip(found[::2], found[1::2], strict=True):
        assert base["ratio"] == "1" and base["largest_difference"] == "0.0e+00"
        assert float(row["ratio"]) == pytest.approx(float(base["seconds"]) / float(row["seconds"]), rel=0.02)


def test_other_numbers_and_failures_are_told(gpu, monkeypatch, capsys) -> None:
    """One library's failure leaves the others' lines in the file."""
    install(monkeypatch, cupy=make_cupy())
    for wrong, told in ((1 + 1e-8, "FAILED: differs by 1.0e-08, more than 1e-09"), (None, "FAILED: TypeError")):
        made = {"numpy": np.ones(3), "cupy": None if wrong is None else wrong * np.ones(3)}

        def job(size, place, made=made):
            return lambda: made[place.library] * 1

        monkeypatch.setitem(gpu.JOBS, "sweep", ((1,), (1,), job, "runs"))
        assert gpu.main(["sweep", "--small", "--repeats", "1"]) == 1
        assert told in capsys.readouterr().out
        assert [row["library"] for row in lines("gpu.csv")] == (["numpy"] if wrong is None else ["numpy", "cupy"])


def test_every_size_that_is_promised_is_there(gpu) -> None:
    assert gpu.JOBS["sweep"][0] == (64, 4096) and gpu.JOBS["falsifier"][0] == gpu.JOBS["instances"][0] == (10**5, 10**6)
    with pytest.raises(SystemExit):
        gpu.main(["nothing"])
