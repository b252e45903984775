"""The package as it is published: built, installed in an empty environment, imported, and typed."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from guides import read_blocks
from test_guides import require_output

pytest.importorskip("hatchling", reason="packages are built by hatchling, of the extra test")
ROOT = Path(__file__).resolve().parents[2]
TYPED = """
import numpy as np
import fedtheory
from fedtheory import FedAvg, FunctionClass, GradientSteps, run
from fedtheory.claims import Bound, state
from fedtheory.proofs import worst_case
from fedtheory.problems.quadratics import random_quadratics

problem = random_quadratics(4, 3)
method = FedAvg(GradientSteps(4, 0.1))
trace = run(method, problem, np.zeros(3), 3)
reveal_type(problem)
reveal_type(method)
reveal_type(trace)
reveal_type(trace["stationarity"])
reveal_type(fedtheory.run(method, problem, np.zeros(3), 3))
reveal_type(worst_case(method, FunctionClass(L=1.0), rounds=1))
reveal_type(state)
FedAvg("four steps")
"""
CLAIM = """
from fedtheory.claims import Claim, Covered, Fault, holds

def check(ctx):
    yield holds("part", problems.mine, "numeric", "said", covered=Covered(8, "draws"))

CLAIMS = [Claim("OWN-1", "toy", "bound", "s", "t", check, (Fault("f", "part", {}),))]
"""
REVEALED = (
    "fedtheory.problems.quadratics.Quadratic",
    "fedtheory.algorithms.fedavg.FedAvg",
    "fedtheory.running.record.Trace",
    "numpy.ndarray",
    "fedtheory.running.record.Trace",
    "fedtheory.proofs.every_n.worst_case.WorstCaseForEveryN",
    "fedtheory.claims.claim.Claim",
)


def run_python(*arguments: object, python: object = sys.executable, cwd: Path, code: int = 0) -> str:
    """What a Python prints, that knows nothing of this checkout."""
    command = [str(python), *map(str, arguments)]
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, env={"PATH": "", "HOME": str(cwd)}, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the wheel and the source package."""
    folder = tmp_path_factory.mktemp("dist")
    run_python("-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Path:
    """The Python of an environment that has the wheel; dependencies are those of the environment that runs the tests."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder / "env")
    python = folder / "env" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    run_python("-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel, cwd=folder)
    (site,) = (folder / "env").glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def list_wheel(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_a_wheel_from_the_source_package_is_the_same(built, tmp_path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    run_python("-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "again", cwd=folder)
    (first,), (again,) = built.glob("*.whl"), (tmp_path / "again").glob("*.whl")
    assert list_wheel(again) == list_wheel(first)
    assert {"fedtheory/py.typed", "fedtheory/problems/py.typed", "fedtheory/__init__.pyi"} <= list_wheel(first)
    assert {name.split("/")[0] for name in list_wheel(first)} == {"fedtheory"}
    assert not any(name.startswith("fedtheory/paper_checks/results") for name in list_wheel(first))


def test_its_page_has_no_link_that_leads_nowhere(built) -> None:
    (wheel,) = built.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    page = Parser().parsestr(archive.read(name).decode())
    text = page.get_payload()
    assert page["Description-Content-Type"] == "text/markdown" and "## Two commands" in text
    assert "](" not in text.replace("](http", "")


def test_the_installed_package_works(installed) -> None:
    """Papers and problems are found by their entry points, templates are there."""
    folder = installed.parents[2]
    where = run_python("-c", "import fedtheory; print(fedtheory.__file__)", python=installed, cwd=folder)
    assert where.startswith(str(folder))
    listed = run_python("-m", "fedtheory", "list", python=installed, cwd=folder)
    assert "FEDPD-L4" in listed and "quadratics" in listed
    run_python("-m", "fedtheory", "new", "mine.py", python=installed, cwd=folder)
    assert (folder / "mine.py").exists()


def test_a_users_own_modules_keep_their_names(installed, tmp_path) -> None:
    """Beside an installed package `problems` and `paper_checks` are the user's; README's imports work, and so do claims of one's own."""
    for name in ("problems", "paper_checks"):
        (tmp_path / f"{name}.py").write_text("mine = True\n")
    code = (
        "import problems, paper_checks\n"
        "from fedtheory.problems.quadratics import random_quadratics\n"
        "print(problems.mine, paper_checks.mine, random_quadratics(n=2, d=2).n)"
    )
    assert run_python("-c", code, python=installed, cwd=tmp_path) == "True True 2\n"
    (tmp_path / "own.py").write_text(f"{code}\n{CLAIM}")
    said = run_python("-m", "fedtheory", "check", "own.py", "--workers", "1", python=installed, cwd=tmp_path)
    assert "1 supported" in said


def test_readme_works_from_the_wheel(installed, tmp_path) -> None:
    """Its files of claims and its walk, in a folder of their own with a `problems` of the user's beside them."""
    claims, every_round, walk = (block.text for block in read_blocks("README.md", "python"))
    own = "raise RuntimeError('the user's own')\n"
    for name, text in (("my_paper", claims), ("theorem", every_round), ("walk", walk), ("problems", own)):
        (tmp_path / f"{name}.py").write_text(text)
    for file in ("my_paper.py", "theorem.py"):
        said = run_python("-m", "fedtheory", "check", file, "--workers", "1", python=installed, cwd=tmp_path)
        assert "1 proved" in said
    said = run_python("walk.py", python=installed, cwd=tmp_path)
    assert "2.709" in said and "eta" in said


def test_ten_minutes_work_from_the_wheel(installed, tmp_path) -> None:
    """Its blocks as one module, after the command that they read the file of."""
    command = ("-m", "fedtheory", "check", "FEDPD-L4", "--workers", "1", "--json", "found.json")
    run_python(*command, python=installed, cwd=tmp_path)
    page = "docs/ten-minutes.md"
    (tmp_path / "walk.py").write_text("".join(block.text for block in read_blocks(page, "python")))
    printed = "".join(block.text for block in read_blocks(page, "text"))
    require_output(page, printed, run_python("walk.py", python=installed, cwd=tmp_path))


def test_a_type_checker_sees_its_types(installed) -> None:
    pytest.importorskip("mypy")
    folder = installed.parents[2]
    (folder / "typed.py").write_text(TYPED)
    options = ("--python-executable", installed, "--cache-dir", folder / "cache", "--follow-imports", "silent")
    said = run_python("-m", "mypy", *options, "typed.py", cwd=folder, code=1).splitlines()
    revealed = [line for line in said if "Revealed type" in line]
    assert len(revealed) == len(REVEALED), said
    for line, kind in zip(revealed, REVEALED, strict=True):
        assert kind in line, line
    errors = [line for line in said if " error: " in line]
    assert len(errors) == 1 and 'incompatible type "str"; expected "LocalSolver"' in errors[0], errors
