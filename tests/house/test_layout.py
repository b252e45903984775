"""What importing costs, what a missing package says, and the conventions of a round; import-linter holds the rooms."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import fedtheory
from fedtheory.core.errors import EXTRAS, FedtheoryError, MissingExtra, require
from fedtheory.core.problem import ABILITIES

ROOT = Path(__file__).resolve().parents[2]


def files(package: str) -> list[Path]:
    found = sorted((ROOT / package).rglob("*.py"))
    assert found
    return found


HEAVY = (
    "cvxpy sympy PEPit torch cupy matplotlib sklearn jax jaxtyping rich joblib loky jinja2 click clarabel mpmath pandas distributed dask "
    "cloudpickle psutil"
)


def loaded_by(code: str) -> set[str]:
    """Top-level modules a fresh interpreter has loaded after some code."""
    listing = f"{code}\nimport sys; print(' '.join(sorted(m.split('.')[0] for m in sys.modules)))"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_importing_costs_next_to_nothing() -> None:
    """`import fedtheory` loads no optional package; the numeric core none but NumPy and SciPy."""
    assert not loaded_by("import fedtheory") & {*HEAVY.split(), "numpy", "scipy"}
    core = (
        "from fedtheory import FedAvg, FedPD, Exact, Uniform, run, fit_exponent, spectral_radius, FunctionClass, Claim"
    )
    found = loaded_by(
        core
        + "; import problems.catalogue, fedtheory.proofs.symbolic, fedtheory.measures.ground_truth, fedtheory.proofs.interpolation"
    )
    assert "numpy" in found and not found & set(HEAVY.split())


def test_every_name_the_package_offers_is_there() -> None:
    for name in fedtheory.__all__:
        assert getattr(fedtheory, name).__name__.split(".")[-1] == name
    assert set(fedtheory.__all__) <= set(dir(fedtheory)) and fedtheory.__version__
    with pytest.raises(AttributeError, match="attribute nothing"):
        _ = fedtheory.nothing


# ---- optional packages --------------------------------------------------------------------------------------------


def test_missing_packages_name_their_extra(monkeypatch) -> None:
    real = importlib.import_module

    def absent(name, *rest):
        if name.split(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", absent)
    for package, extra in EXTRAS.items():
        with pytest.raises(MissingExtra) as caught:
            require(f"{package}.inside", "this test")
        assert str(caught.value) == (
            f"{package} is needed for this test and could not be imported (No module named '{package}.inside'); "
            f"install it with: pip install 'fedtheory[{extra}]'"
        )
        assert isinstance(caught.value, ImportError) and isinstance(caught.value, FedtheoryError)
    assert require("json", "this test").dumps([]) == "[]"


def _uses_of_optional_packages():
    """A use of each engine, and what it says where its package is missing."""
    import numpy as np

    from fedtheory.algorithms import GradientDescent
    from fedtheory.measures.ground_truth import ground_truth
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.interpolation import prox_of_max_affine
    from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
    from fedtheory.proofs.symbolic import symbols
    from fedtheory.tools.pictures import draw
    from problems.datasets import breast_cancer
    from problems.networks import Architecture
    from problems.quadratics import random_quadratics

    f, one, gd = random_quadratics(2, 2), np.ones(1), GradientDescent(1.0)
    return {
        r"cvxpy is needed for ground truth from an independent solver.*fedtheory\[verify\]": lambda: ground_truth(f),
        r"sympy is needed for closed forms.*fedtheory\[verify\]": lambda: symbols("x"),
        r"PEPit is needed for worst cases": lambda: worst_case_for_one_n(gd, FunctionClass(1), n=1, rounds=1),
        r"clarabel is needed for rebuilding": lambda: prox_of_max_affine(np.ones((1, 1)), one, one, 1.0),
        r"matplotlib is needed for pictures.*fedtheory\[plot\]": lambda: draw({"series": []}),
        r"torch is needed for neural networks.*fedtheory\[cnn\]": lambda: Architecture("logistic", (1, 2, 2), 2).d,
        r"sklearn is needed for the embedded data set.*fedtheory\[data\]": breast_cancer,
    }


def test_engines_say_what_they_miss(monkeypatch) -> None:
    """Each optional engine asks for its package where it is used, and says what for."""
    from fedtheory.measures.ground_truth import ground_truth
    from problems.quadratics import random_quadratics

    real, uses = importlib.import_module, _uses_of_optional_packages()
    monkeypatch.setattr(importlib, "import_module", lambda name, *rest: _blocked(real, name, *rest))
    for message, use in uses.items():
        with pytest.raises(MissingExtra, match=message):
            use()
    gap = ground_truth(random_quadratics(2, 2), witness=False).gap
    assert gap < 1e-20, "what needs no optional package goes on"


def _blocked(real, name, *rest):
    if name.split(".")[0] in EXTRAS:
        raise ModuleNotFoundError(f"No module named {name!r}")
    return real(name, *rest)


# ---- conventions --------------------------------------------------------------------------------------------------


def test_abilities_are_methods_that_some_problem_has() -> None:
    """The names an error lists are names that exist."""
    from helpers import PROBLEMS

    from fedtheory.core.regularisers import L1, Regularised
    from fedtheory.core.weighted import Weighted
    from problems.networks import Network

    quadratics = PROBLEMS["quadratics"]()
    weights = [1 / quadratics.n] * quadratics.n
    instances = [
        *(make() for make in PROBLEMS.values()),
        Regularised(quadratics, L1(0.1)),
        Weighted(quadratics, weights),
        Network,
    ]
    offered = {ability for instance in instances for ability in ABILITIES if hasattr(instance, ability)}
    offered |= {
        ability for ability in ABILITIES if ability in Network.__dataclass_fields__
    }  # of a class without an instance
    assert offered == set(ABILITIES)


def test_averages_go_through_the_one_function() -> None:
    """No bare mean over clients in an algorithm: an engine may give `average` another meaning."""
    for path in files("fedtheory/algorithms"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("mean", "nanmean"), f"{path.name}, line {node.lineno}"


def test_nothing_in_an_algorithm_decides_on_values_or_writes_in_place() -> None:
    """Inside `round`: no augmented or indexed assignment, and no branch or loop on anything but settings."""
    for path in files("fedtheory/algorithms"):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef) or function.name != "round":
                continue
            for node in ast.walk(function):
                place = f"{path.name}, line {getattr(node, 'lineno', 0)}"
                assert not isinstance(node, ast.AugAssign | ast.While | ast.For | ast.If), place
                if isinstance(node, ast.Assign):
                    assert not any(isinstance(target, ast.Subscript) for target in node.targets), place
