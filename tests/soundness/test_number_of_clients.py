"""Methods that read how many clients there are: the worst case for every n once took their number to be one, and proved what is false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory import FunctionClass
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.judging import judge_statement
from fedtheory.core.arrays import average, gather, namespace, scatter, spread
from fedtheory.core.errors import CannotTrace, EnginesDisagree, InvalidInput
from fedtheory.core.randomness import Key
from fedtheory.proofs import prove, worst_case
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.members import SeparablePieces
from fedtheory.proofs.potentials.smallest_rate import rate_of, smallest_rate
from fedtheory.proofs.stand_ins import AnyCount
from problems.quadratics import Quadratic

CLASS = FunctionClass(L=1, mu=Fraction(1, 2))
ON_REGION = {"region": "0 < mu < L, 0 < lr <= 1/L", "functions": "L, mu"}


@dataclass(frozen=True)
class _State:
    x: Any


@dataclass(frozen=True)
class _Step:
    """x+ = x - step(lr, problem, gradients)."""

    lr: Any
    step: Callable[[Any, Any, Any], Any]

    def init(self, problem, x0):
        return _State(x0)

    def solution_state(self, problem, x):
        return _State(x)

    def round(self, problem, state, clients, key):
        return _State(state.x - self.step(self.lr, problem, problem.grad(state.x)))


#: ways to read n; the last four average over rows without the one function that engines know
READS = {
    "lr/n": lambda lr, problem, g: lr / problem.n * average(g),
    "lr n": lambda lr, problem, g: lr * problem.n * average(g),
    "lr over the length of an axis": lambda lr, problem, g: lr / g.shape[-2] * average(g),
    "lr times the length of the first axis": lambda lr, problem, g: g.shape[0] * (lr * average(g)),
    "lr times the number of rows": lambda lr, problem, g: lr * len(g) * average(g),
    "lr times how many entries there are": lambda lr, problem, g: lr * g.size * average(g),
    "lr over the root of n": lambda lr, problem, g: lr / np.sqrt(problem.n) * average(g),
    "a step for each of n": lambda lr, problem, g: lr * sum(1 for _ in range(problem.n)) * average(g),
    "other steps for more than five clients": lambda lr, problem, g: (lr if problem.n > 5 else 2 * lr) * average(g),
    "a bare mean": lambda lr, problem, g: lr * np.mean(g, axis=-2, keepdims=True),
    "a bare sum": lambda lr, problem, g: lr * namespace(g).sum(g, axis=-2, keepdims=True),
    "a sum by its method": lambda lr, problem, g: lr * g.sum(axis=-2, keepdims=True),
    "a loop over clients": lambda lr, problem, g: lr * sum(row for row in g),
    "the first client": lambda lr, problem, g: lr * g[:1],
}
OVER_N, TIMES_N = READS["lr/n"], READS["lr n"]


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("engine", ["worst case", "certificate", "potential"])
def test_a_round_that_reads_the_number_of_clients_is_refused_by_name(read, engine):
    method = _Step(Fraction(1, 4), read)
    engines = {
        "worst case": lambda: worst_case(method, CLASS, rounds=1),
        "certificate": lambda: prove(method, CLASS, rounds=1),
        "potential": lambda: smallest_rate(method, CLASS),
    }
    with pytest.raises(CannotTrace, match="average"):
        engines[engine]()


@pytest.mark.parametrize(
    "read",
    [
        lambda lr, problem, g: lr * average(g) if problem.n > 1 else 0 * g,
        lambda lr, problem, g: lr * average(np.broadcast_to(average(g), (problem.n, g.shape[-1]))),
        lambda lr, problem, g: lr * average(g) if g.shape[-2] != 1 else 0 * g,
    ],
    ids=["is it one", "broadcast", "is the axis one"],
)
def test_a_size_that_changes_no_number_may_be_read(read):
    assert prove(_Step(Fraction(1, 4), read), CLASS, rounds=1).bound == Fraction(49, 64)


@pytest.mark.parametrize("read", [OVER_N, READS["lr over the length of an axis"]], ids=["problem", "axis"])
def test_where_n_is_stated_it_is_a_number(read):
    """A step lr/2 on two clients: (1 - lr mu/2)^2 = (7/8)^2."""
    found = prove(_Step(Fraction(1, 2), read), CLASS, rounds=1, participation=Sampling(2, 2))
    assert found.bound == Fraction(49, 64)


@pytest.mark.parametrize("read", [OVER_N, TIMES_N], ids=["lr/n", "lr n"])
@pytest.mark.parametrize("potential", ["x", "gap"])
def test_a_contraction_that_is_true_for_one_client_is_not_proved_for_every_n(read, potential):
    """With a step n lr four clients with x^2/2 and lr = 1 go from 1 to -27 in three rounds; with lr/n .7656 > .5625 is true for n = 2."""
    claim = {"potential": {potential: 1}, "claimed": "max((1-lr*mu)**2, (1-lr*L)**2)"}
    with pytest.raises(
        InvalidInput, match=r"n is the number of clients, and it is followed for every n at once; .* state n"
    ):
        Contraction(lambda lr: _Step(lr, read), **ON_REGION, **claim)


def test_four_clients_diverge_with_the_step_that_was_proved_to_contract():
    method, problem = _Step(1.0, TIMES_N), Quadratic(np.ones((4, 1, 1)), np.zeros((4, 1)))
    state = method.init(problem, np.ones((1, 1)))
    for r in range(3):
        state = method.round(problem, state, None, Key(0, r))
    assert state.x[0, 0] == -27


def test_a_bound_for_two_clients_is_refuted_on_two_clients():
    stated = Bound(lambda lr: _Step(lr, OVER_N), **ON_REGION, clients="n=2, s=2", claimed="(1-lr*mu)**2")
    found = judge_statement(stated)
    assert found.word == "refuted"
    assert found.refutation.size["clients"] == 2


def test_a_gap_contraction_for_two_clients_is_refuted():
    """At L = 1, mu = 1/2, lr = 1 a step lr/2 leaves 1/4 of the gap of x^2/2, which a step lr would leave nothing of."""
    region = "mu in 1..1, L in 2..2, lr in 1..1"
    stated = Contraction(
        lambda lr: _Step(Fraction(lr, 2), OVER_N), region=region, functions="L, mu", clients="n=2", potential={"gap": 1}, claimed="1/6"
    )  # fmt: skip
    found = judge_statement(stated)
    assert found.word == "refuted"
    assert found.refutation.reached > Fraction(1, 6)


@pytest.mark.parametrize(
    ("read", "region", "claimed"),
    [(OVER_N, "lr <= n/L", "(1 - lr*mu/n)**2"), (TIMES_N, "lr <= 1/(n*L)", "(1 - lr*n*mu)**2")],
    ids=["lr/n", "lr n"],
)
@pytest.mark.parametrize("kind", [Bound, Contraction])
def test_what_holds_with_n_as_a_parameter_is_proved_for_all_n(read, region, claimed, kind):
    own = {"potential": {"x": 1}} if kind is Contraction else {}
    stated = kind(
        lambda lr: _Step(lr, read), region=f"0 < mu < L, n in 2.., 0 < {region}", functions="L, mu", clients="n", claimed=claimed, **own
    )  # fmt: skip
    found = judge_statement(stated)
    assert found.word == "proved"
    assert found.everywhere is not None
    assert "n clients, all of them" in str(found.scope)


def test_what_holds_for_two_clients_only_is_refuted_with_more():
    stated = Contraction(
        lambda lr: _Step(lr, OVER_N),
        region="mu in 1..1, L in 2..2, n in 2..4, lr in 1..1",
        functions="L, mu",
        clients="n",
        potential={"x": 1},
        claimed="(1 - lr*mu/2)**2",
    )
    found = judge_statement(stated)
    assert found.word == "refuted"
    assert found.refuted_at["n"] > 2
    assert found.refutation.size["clients"] == found.refuted_at["n"]


def test_what_is_false_for_all_n_is_refuted_with_few_clients():
    """One of n clients a round: the noise is lr^2 zeta^2, and no n-th of it."""
    stated = Bound(
        "fedavg",
        "lr, steps = 1",
        region="n in 2.., 1/2 <= lr <= 1/2, 1 <= z <= 2",
        functions="L = 1, mu = 1/2, zeta = z",
        clients="n, s = 1",
        claimed="1 - lr/2 + lr**2*z**2/n",
    )
    found = judge_statement(stated)
    assert found.word == "refuted"
    assert found.refutation.size["clients"] <= 3


def test_the_dimension_is_not_one_either():
    with pytest.raises(CannotTrace, match="dimension"):
        prove(_Step(Fraction(1, 4), lambda lr, problem, g: lr / problem.d * average(g)), CLASS, rounds=1)


@dataclass(frozen=True)
class _Table:
    x: Any
    c: Any
    c_i: Any


@dataclass(frozen=True)
class _Saga:
    """SAGA: x+ = x - lr (g_i - c_i + c); as published c+ = c + (new - old)/n, otherwise c is the average of the table."""

    lr: Any
    published: bool = True

    def init(self, problem, x0):
        return _Table(x0, 0 * x0, spread(0 * x0, problem.n))

    def solution_state(self, problem, x):
        g = problem.grad(x)
        return _Table(x, average(g), g)

    def round(self, problem, state, clients, key):
        new = problem.take(clients).grad(state.x)
        change = average(new - gather(state.c_i, clients), clients)
        table = scatter(state.c_i, clients, new)
        c = state.c + change * new.shape[-2] / problem.n if self.published else average(table)
        return _Table(state.x - self.lr * (change + state.c), c, table)


@pytest.mark.parametrize(("n", "s"), [(2, 1), (4, 1), (5, 2)])
def test_saga_as_published_has_the_rate_of_saga_with_the_average_of_its_table(n, s):
    functions = FunctionClass(L=1, mu=Fraction(1, 10))
    rates = [
        smallest_rate(_Saga(Fraction(1, 5), published), functions, participation=Sampling(n, s)).rate
        for published in (True, False)
    ]
    assert rates[0] == rates[1] < 1


def test_rows_of_active_clients_are_not_mixed_with_those_of_all():
    class Mixed(_Saga):
        def round(self, problem, state, clients, key):
            return _Table(
                state.x - average(problem.take(clients).grad(state.x) - state.c_i, clients), state.c, state.c_i
            )

    with pytest.raises(CannotTrace, match="3 rows"):
        smallest_rate(Mixed(Fraction(1, 5)), CLASS, participation=Sampling(5, 3))


def test_a_number_that_stands_for_many_is_compared_where_all_agree_and_refused_otherwise():
    n = AnyCount("n", 2, "{} depends on n")
    assert n > 1
    assert n >= 2
    assert not n <= 1
    assert not n < 2
    assert n != 0
    assert n == n  # noqa: PLR0124
    for look in (
        lambda: n == 2,
        lambda: n > 2,
        lambda: 3 - n,
        lambda: n**2,
        lambda: int(n),
        lambda: range(n),
        lambda: -n,
    ):
        with pytest.raises(CannotTrace, match="depends on n"):
            look()


#: a way to read n that no array of one row sees: NumPy copies it to a plain one
UNSEEN = lambda lr, problem, g: lr * np.asarray(g).shape[-2] * average(g)  # noqa: E731


def test_what_the_engine_cannot_see_runs_do_see():
    """Two engines that disagree are an error, whatever they were about to say."""
    method = _Step(Fraction(1, 2), UNSEEN)
    with pytest.raises(EnginesDisagree, match="clients"):
        prove(method, CLASS, rounds=1)
    with pytest.raises(EnginesDisagree, match="clients"):
        smallest_rate(method, CLASS)
    with pytest.raises(EnginesDisagree, match="clients"):
        rate_of(method, CLASS, {"x": 1}, proof=True)
    contraction = {"potential": {"x": 1}, "claimed": "(1-lr*mu)**2"}
    with pytest.raises(EnginesDisagree, match="derivation"):
        judge_statement(Contraction(lambda lr: _Step(lr, UNSEEN), **ON_REGION, **contraction))
    with pytest.raises(EnginesDisagree, match="derivation"):
        judge_statement(Bound(lambda lr: _Step(lr, UNSEEN), **ON_REGION, claimed="(1-lr*mu)**2"))


@dataclass(frozen=True)
class _NoisyStep(_Step):
    def round(self, problem, state, clients, key):
        return _State(state.x - self.step(self.lr, problem, problem.noisy_grad(state.x, key, 0)))


TWELVE = Sampling(12, 4)
NOISY = FunctionClass(L=1, mu=Fraction(1, 2), sigma=1)


@pytest.mark.parametrize(
    "engine",
    [
        lambda: prove(_Step(Fraction(1), UNSEEN), FunctionClass(L=1, mu=Fraction(1, 2), zeta=1), rounds=1, participation=TWELVE),
        lambda: judge_statement(
            Bound(lambda: _Step(Fraction(1), UNSEEN), region="", functions="L=1, mu=1/2, zeta=1", clients="n = 12, s = 4", claimed="4")
        ),
        lambda: smallest_rate(_Step(Fraction(1), UNSEEN), CLASS, participation=TWELVE),
        lambda: rate_of(_Step(Fraction(1), UNSEEN), CLASS, {"x": 1}, participation=TWELVE, proof=True),
        lambda: prove(_NoisyStep(Fraction(1), UNSEEN), NOISY, rounds=1, participation=Sampling(8, 8)),
        lambda: prove(_Step(Fraction(1), UNSEEN), FunctionClass(L=1, mu=Fraction(1, 2), bgd=(100, Fraction(1, 2))), rounds=1),
    ],
    ids=["4 of 12", "stated bound, 4 of 12", "potential, 4 of 12", "stated potential, 4 of 12", "noise", "bounded gradients"],
)  # fmt: skip
def test_runs_see_it_with_many_choices_of_clients_with_noise_and_with_bounded_gradients(engine):
    """With a step of 12 lr twelve clients x^2/2 go from 1 to -11, which 1/4 had been proved of."""
    with pytest.raises(EnginesDisagree, match="clients"):
        engine()


@pytest.mark.parametrize(
    "stated",
    [
        Bound(lambda: _NoisyStep(Fraction(1), UNSEEN), region="", functions="L=1, mu=1/2, sigma=1", clients="n = 8", claimed="3/8"),
        Bound(lambda: _Step(Fraction(1), UNSEEN), region="", functions="L=1, mu=1/2, G=100, D=1/2", claimed="1/4"),
    ],
    ids=["noise", "bounded gradients"],
)  # fmt: skip
def test_what_was_proved_of_them_is_no_more(stated):
    found = judge_statement(stated)
    assert found.word == "inconclusive"
    assert "and the worst case over the class does not" in found.reasons[0]


def test_a_true_claim_about_some_of_twelve_clients_is_held_against_runs():
    stated = Bound(
        "fedavg", "lr, steps = 1, batch = none, lr_decay = 1", region="lr in 1..1, z in 1..1", functions="L = 1, mu = 1/2, zeta = z",
        clients="n = 12, s = 4", claimed="(1 - lr/2)**2 + lr**2*z**2",
    )  # fmt: skip
    found = judge_statement(stated)
    assert found.word == "proved"
    assert "runs with n = 12" in str(found.scope)


def test_what_is_proved_without_a_run_says_so():
    """Runs of a method that wants more of a problem than its functions have are not made."""

    class Asks(_Step):
        def round(self, problem, state, clients, key):
            if isinstance(problem, SeparablePieces):
                raise InvalidInput("its oracle is another one")
            return super().round(problem, state, clients, key)

    stated = Bound(
        lambda lr: Asks(lr, lambda lr, problem, g: lr * average(g)), region="lr in 1..1", functions="L = 1, mu = 1/2", claimed="1/4"
    )  # fmt: skip
    found = judge_statement(stated)
    assert found.word == "proved"
    assert "no runs: its oracle is another one" in str(found.scope)
    assert prove(stated.method_at({"lr": Fraction(1)}), CLASS, rounds=1).runs.why_none == "its oracle is another one"


def test_many_choices_of_clients_take_no_memory_and_no_time():
    """20 of 40 clients can be chosen in 138 billion ways, which a picture had listed."""
    stated = Bound(
        "fedavg", "lr, steps = 1, batch = none, lr_decay = 1", region="1 <= lr <= 1, 1 <= z <= 4", functions="L = 1, mu = 1/2, zeta = z",
        clients="n = 40, s = 20", claimed="1 + lr**2*z**2",
    )  # fmt: skip
    found = judge_statement(stated)
    assert found.word in ("proved", "supported")
    assert found.line.runs
    assert "runs with n = 40" in str(found.scope)


def test_a_false_claim_about_many_choices_of_clients_is_not_gone_through_either():
    stated = Bound(
        "fedavg", "lr, steps = 1, batch = none, lr_decay = 1", region="lr in 1..1, z in 1..1", functions="L = 1, mu = 1/2, zeta = z",
        clients="n = 40, s = 20", claimed="1/4",
    )  # fmt: skip
    found = judge_statement(stated)
    assert found.word == "inconclusive"
    assert "20 of 40 clients can be chosen" in str(found)


@pytest.mark.parametrize("kind", [Bound, Contraction])
def test_a_run_with_more_clients_makes_a_claim_inconclusive_where_nothing_was_derived(kind):
    own = {"potential": {"x": 1}} if kind is Contraction else {}
    region = {"region": "mu in 1..1, L in 2..2, lr in 1..1", "where": ("lr < L",), "functions": "L, mu"}
    found = judge_statement(kind(lambda lr: _Step(lr, UNSEEN), **region, **own, claimed="(1-lr*mu/2)**2*4"))
    assert found.word == "inconclusive"
    assert "30 clients" in found.reasons[0]
    assert "runs with n = 2, 3, 5, 8, 30" in str(found.scope)
