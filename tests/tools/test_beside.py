"""Problems and papers have one name in files, and two in a checkout."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import fedtheory.problems.quadratics
import pytest

import package_inside
import problems.quadratics
from fedtheory.claims.replay import _find_source
from fedtheory.tools import beside

ROOT = Path(__file__).resolve().parents[2]


def test_two_names_are_one_module() -> None:
    assert fedtheory.problems.quadratics is problems.quadratics
    assert problems.quadratics.__spec__.name == problems.quadratics.Quadratic.__module__ == "problems.quadratics"
    assert importlib.import_module("fedtheory.paper_checks.dualfl.notation").__name__ == "paper_checks.dualfl.notation"
    with pytest.raises(ModuleNotFoundError, match=re.escape("fedtheory.problems.nobody")):
        importlib.import_module("fedtheory.problems.nobody")


def test_a_module_of_the_user_is_not_taken_for_ours(tmp_path) -> None:
    (tmp_path / "problems.py").write_text("")
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import fedtheory; sys.path.insert(0, '.'); import fedtheory.problems.svm"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={"PATH": ""}, check=False)
    assert done.returncode == 1 and "problems.py hides fedtheory's own 'problems': rename it" in done.stderr


def test_names_in_files_are_the_same_wherever_it_is_installed(monkeypatch) -> None:
    assert beside.plain_name("fedtheory.problems.svm") == beside.plain_name("problems.svm") == "problems.svm"
    assert beside.plain_name("fedtheory.problemsolving") == "fedtheory.problemsolving"
    assert beside.name_here("fedtheory.paper_checks.fedpd") == "paper_checks.fedpd"
    for source in ("paper_checks.fedpd", "fedtheory.paper_checks.fedpd"):
        assert _find_source(Path("file.json"), source, None) == "paper_checks.fedpd"
    monkeypatch.setattr(beside, "SEPARATE", ())  # as in a wheel
    assert beside.name_here("fedtheory.problems.svm") == "fedtheory.problems.svm"
    assert beside.name_here("problems.svm") == "problems.svm", "a user's own"


def test_imports_are_written_for_their_place_in_a_wheel() -> None:
    text = "from problems import svm\nfrom problems.svm import SVM\n    from paper_checks.steps import x\nfrom problems_of_mine import y\n"
    assert package_inside.move_inside(text, "a.py") == (
        "from fedtheory.problems import svm\nfrom fedtheory.problems.svm import SVM\n"
        "    from fedtheory.paper_checks.steps import x\nfrom problems_of_mine import y\n"
    )
    for wrong in ("import problems.svm\n", "import_module('problems.svm')\n"):
        with pytest.raises(ValueError, match=r"a\.py: .*another name in a wheel"):
            package_inside.move_inside(wrong, "a.py")
