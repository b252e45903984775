"""Searches play their rounds where the context says, and find what they find on the host."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from fake_gpus import install, make_cupy

from fedtheory.algorithms import FedAvg
from fedtheory.claims import Inequality
from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.core.arrays import squared_norm
from fedtheory.core.problem import gradient
from fedtheory.local.solvers import GradientSteps
from paper_checks.fedpd.z_ours_theorem_1 import check_d1


def quantities(problem, before, after, given):
    """The server's gradient before and after a round; the module of each point is noted."""
    libraries.add(type(after.x).__module__.split(".")[0])
    return SimpleNamespace(
        old=squared_norm(gradient(problem, before.x))[..., 0], new=squared_norm(gradient(problem, after.x))[..., 0]
    )


libraries: set[str] = set()
FALLS = Inequality(
    lambda lr: FedAvg(GradientSteps(1, lr)), quantities=quantities, claimed="new <= old", region="1/10 <= lr <= 1"
)


def found(context: Context, stated: Inequality = FALLS) -> list[Part]:
    return [part for part in stated.findings(context) if isinstance(part, Part)]


def test_an_inequality_is_searched_on_the_device_with_the_same_findings(monkeypatch) -> None:
    here = found(Context())
    install(monkeypatch, cupy=make_cupy())
    libraries.clear()
    there = found(Context(device="cuda"))
    assert "array_api_strict" in libraries
    assert [(p.name, p.holds) for p in here] == [(p.name, p.holds) for p in there]
    margins = [[p.margin for p in parts if p.name == "search"] for parts in (here, there)]
    assert margins[0] and margins[1] == pytest.approx(margins[0], abs=1e-12)


def test_the_falsifier_of_a_claim_runs_on_the_device(monkeypatch) -> None:
    here = next(check_d1(Context()))
    install(monkeypatch, cupy=make_cupy())
    there = next(check_d1(Context(device="cuda")))
    assert here.name == there.name == "falsifier"
    assert there.data["evaluations"] == here.data["evaluations"] and there.text == here.text
