"""Statements that are tried on instances once tried two and three clients, and said nothing of it."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.claims.statements.client_counts import ClientCounts
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.core.arrays import average
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.regions.region import Region

EVERY = (2, 3, 5, 8, 30)


def _slopes(problem, before, after, given):
    lengths = (problem.grad(before.x) ** 2).sum(axis=-1)
    return SimpleNamespace(most=lengths.max(axis=-1), mean=lengths.sum(axis=-1) / lengths.shape[-1])


def _slopes_apart(claimed, **options):
    region = options.pop("region", "0 < L, 0 < lr <= 1/L")
    return Inequality("gd", "lr", quantities=_slopes, claimed=claimed, region=region, curvatures="0, L", **options)


def _parts(statement):
    return [part for part in statement.findings(Context()) if isinstance(part, Part)]


def _counterexample(statement):
    return next((part.counterexample for part in _parts(statement) if part.counterexample is not None), None)


def test_a_claim_that_fails_from_four_clients_on_is_refuted_on_four():
    stated = _slopes_apart("most <= 3*mean")
    found = _counterexample(stated)
    assert len(found.instance["curvature"]) == 4
    again = stated.replay(found.instance)
    assert again.violated
    assert "n = 4" in str(again.assumptions[0])


def test_a_claim_that_fails_with_many_clients_is_refuted_on_many():
    assert len(_counterexample(_slopes_apart("most <= 20*mean")).instance["curvature"]) == 30


@pytest.mark.parametrize(("clients", "factor"), [("2", 2), ("n = 3", 3), ("2..8", 8)])
def test_a_claim_about_some_numbers_of_clients_is_refuted_by_no_other(clients, factor):
    true = _parts(_slopes_apart(f"most <= {factor}*mean", clients=clients))
    assert all(part.holds for part in true)
    found = _counterexample(_slopes_apart(f"most <= {factor}*mean - mean/100", clients=clients))
    assert len(found.instance["curvature"]) <= factor


def test_an_instance_with_another_number_of_clients_does_not_meet_the_assumptions():
    found = _counterexample(_slopes_apart("most <= 2*mean"))
    assert len(found.instance["curvature"]) == 3
    replay = _slopes_apart("most <= 2*mean", clients="2").replay(found.instance)
    assert not replay.violated
    assert not replay.assumptions[0].met


def test_the_numbers_that_were_tried_are_told():
    exact, searched = _parts(_slopes_apart("mean <= most"))[:2]
    assert "n = 2, 3, 4, 5, 8" in exact.text
    assert "n = 2, 3, 5, 8, 30" in searched.text
    assert searched.data["clients"] == list(EVERY)


@pytest.mark.parametrize("region", ["n in 2..8, 0 < L, 0 < lr <= 1/L", "n in 2.., 0 < L, 0 < lr <= 1/L"])
def test_n_may_occur_in_what_is_claimed(region):
    true, false = (_slopes_apart(f"{factor}*most <= n*mean", region=region, clients="n") for factor in (1, 2))
    assert all(part.holds for part in _parts(true))
    found = _counterexample(false).instance
    assert f"n = {len(found['curvature'])}" in found["parameters"]


@dataclass(frozen=True)
class _State:
    x: Any


@dataclass(frozen=True)
class _Step:
    lr: Any
    times: Any

    def init(self, problem, x0):
        return _State(x0)

    def round(self, problem, state, clients, key):
        return _State(state.x - self.lr * self.times(problem.n) * average(problem.grad(state.x)))


def _alike(times, **options):
    plain, other = (lambda lr: _Step(lr, lambda n: 1)), (lambda lr: _Step(lr, times))
    return Equivalence(plain, other, region=options.pop("region", "0 < lr"), **options)


def test_methods_that_agree_for_two_clients_only_differ_for_three():
    stated = _alike(lambda n: (n + 2) / (2 * n))
    found = next(part.counterexample for part in stated.findings(Context()) if isinstance(part, Part))
    assert len(found.instance["curvature"]) == 3


@pytest.mark.parametrize("clients", ["2", "n = 2", "2..2"])
def test_where_two_clients_are_stated_it_is_proved_for_two(clients):
    parts = {
        part.name: part
        for part in _parts(_alike(lambda n: n / 2 if isinstance(n, int) else (n + 2) / (2 * n), clients=clients))
    }
    assert parts["any functions"].holds
    assert "for n = 2, every dimension" in parts["any functions"].text
    assert "n = 2:" in parts["runs"].text


def test_where_n_is_a_parameter_it_is_proved_for_all_n():
    parts = {
        part.name: part for part in _parts(_alike(lambda n: (n + n) / n / 2, region="0 < lr, n in 2..", clients="n"))
    }
    assert parts["any functions"].holds
    assert "n clients" in parts["any functions"].text


def test_where_n_is_not_stated_no_method_that_reads_it_is_proved_for_every_n():
    parts = {part.name: part for part in _parts(_alike(lambda n: (n + n) / n / 2))}
    assert "any functions" not in parts
    assert parts["quadratics"].holds


@pytest.mark.parametrize(
    ("text", "tried"),
    [("", EVERY), ("n", EVERY), ("1..", (1, *EVERY)), ("4", (4,)), ("n=7", (7,)), ("4..9", (4, 5, 8, 9)), ("3..2000000", (3, 5, 8, 30))],
)  # fmt: skip
def test_numbers_of_clients_are_read(text, tried):
    assert ClientCounts.read(text, Region()).tried == tried


@pytest.mark.parametrize("text", ["0", "8..2", "two", "n, s", "10000000000", "1.5"])
def test_what_is_no_number_of_clients_is_refused(text):
    with pytest.raises(InvalidInput, match="clients"):
        ClientCounts.read(text, Region())


def test_a_parameter_that_is_not_whole_is_no_number_of_clients():
    with pytest.raises(InvalidInput, match=r"n in 2\.\."):
        ClientCounts.read("n", Region.parse("2 <= n"))
