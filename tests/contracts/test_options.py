"""Options and traffic: every option that a method reads changes it, bad ones are refused by name, and floats are counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from helpers import Case, build, check_each, for_every_method, play, rows

from fedtheory.algorithms import ALGORITHMS, DualFL, FedAvg, listed
from fedtheory.algorithms.listing import listing, require_convexity
from fedtheory.algorithms.options import Option
from fedtheory.core.arrays import Scalar, along_batch
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.randomness import Key
from fedtheory.running.runner import run
from problems.quadratics import random_quadratics, scalar_quadratics


# one problem of each kind: traffic does not look at the problem
@for_every_method(rows(lambda c: c.problem_name in ("quadratics", "penalised-logistic")))
def test_traffic_is_a_pair_of_non_negative_numbers(case: Case) -> None:
    algorithm = case.algorithm()
    for r, state in enumerate(play(algorithm, case.problem, case.x0, 4)[1:]):
        up, down = algorithm.traffic(Key(0, r), state)
        for count in (up, down):
            assert np.all(np.asarray(count) >= 0)
            assert np.broadcast_shapes(np.shape(count), (1, 1)) == (1, 1)


def test_dualfl_on_the_regularised_problem_is_that_of_section_four() -> None:
    """nu = alpha unless nu is given; a sweep over alpha takes nu along."""
    entry = listed("dualfl-regularised")
    assert (entry.build().nu, entry.build().alpha) == (1.0, 1.0)
    assert (entry.build(alpha=0.3).nu, entry.build(alpha=0.3, nu=0.2).nu) == (0.3, 0.2)
    swept = along_batch([0.1, 0.2])
    assert entry.build(alpha=swept).nu is swept
    assert listed("dualfl").build().nu == 0.1
    f, x0 = random_quadratics(3, 2, mu=0.2, seed=0), np.ones(2)
    ends = [run(m, f, x0, 6).state.x for m in (entry.build(alpha=0.4, exact=True), DualFL.regularised(0.4))]
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a-fedpd", "D-Update prints rho_t"),
        ("a-fedpdsam", "the radius is a number of its own"),
        ("fedcm", "server_lr = eta_g / (K lr)"),
        ("apda-inexact", "as remembered"),
        ("fedlin", "sparsify the gradients"),
        ("fedslr", "Algorithm 2 divides by eta"),
    ],
)
def test_departures_from_papers_are_listed(name, words) -> None:
    assert words in listed(name).departures
    assert listed("fedavg").departures == ""


@dataclass(frozen=True)
class Odd(FedAvg):
    """A method of one's own with a setting that has no usual value."""

    oddity: Scalar = field(kw_only=True)


def test_options_are_those_of_the_method_and_have_defaults() -> None:
    with pytest.raises(InvalidInput, match=r"fedavg has no option 'rho'; it has lr, steps, .*"):
        listed("fedavg").build(rho=1.0)
    with pytest.raises(
        TypeError, match=r"odd: the option 'oddity' needs a default; give changes=.*'oddity'.*'default'"
    ):
        listing("odd", Odd, "nowhere").build()
    made = listing("odd", Odd, "nowhere", changes={"oddity": {"default": 3.0}}).build(steps=2)
    assert made.oddity == 3.0 and made.local.steps == 2


@pytest.mark.parametrize(("mu", "allowed"), [(0.2, True), (0.0, False)])
def test_exact_minimisers_need_strong_convexity(mu, allowed) -> None:
    """Of methods that add no quadratic; certified by the problem."""
    entry = next(e for e in ALGORITHMS if e.strongly_convex and "exact" in e.uses)
    f = scalar_quadratics([1.0, mu])
    if allowed:
        require_convexity(entry, {"exact": True}, f)
        return
    with pytest.raises(NotAvailable, match=rf"exact local solves of {entry.name} need strongly convex clients.* add a"):
        require_convexity(entry, {"exact": True}, f)
    require_convexity(entry, {"exact": False}, f)


#: another value than the default, by what an option is
OTHER = {
    "lr": 0.2,
    "steps": 3,
    "batch": 4,
    "eta": 0.3,
    "rho": 2.0,
    "p": 0.5,
    "period": 7,
    "exact": True,
    "accuracy": 1e-3,
    "l1": 0.7,
    "alpha": 0.7,
    "inner_lr": 0.4,
    "personal_layers": "bias",
    "density": 0.3,
    "prune": 0.2,
    "horizon": 9,
    "server_lr": 0.9,
    "server_steps": 2,
    "q": 0.3,
    "radius": 0.2,
    "sam_epsilon": 0.3,
    "momentum": 0.4,
    "nu": 0.2,
    "mu": 0.05,
    "lr_decay": 0.9,
    "clip": 3.0,
    "epochs": 2,
    "server_epochs": 2,
    "communicate_every": 2,
    "gamma": 0.4,
    "personal_steps": 3,
    "personal_epochs": 2,
    "eta_y": 0.4,
    "beta_y": 0.4,
    "theta": 0.4,
    "penalty": 0.4,
    "inverse_delta": 50,
    "relax": 0.7,
    "beta2": 0.8,
    "keep": 0.3,
    "levels": 4,
    "copies": 3,
    "error": 0.3,
    "power": 0.7,
    "model_lr": 0.2,
    "local_rounds": 3,
    "tau": 0.2,
    "epsilon": 0.4,
    "ahead": 0.4,
    "variance": 2.0,
}


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda e: e.name)
def test_every_setting_a_method_reads_changes_it(entry) -> None:
    """``uses`` tells the truth."""
    stochastic = {"clip", "epochs", "server_epochs", "personal_epochs"}

    def another(option: Option) -> Any:
        return next(word for word in option.choices if word != option.default) if option.choices else OTHER[option.role]

    for option in entry.options:
        plain = {"batch": 12} if option.name in stochastic and "batch" in entry.uses else {}
        assert repr(entry.build(**plain | {option.name: another(option)})) != repr(entry.build(**plain)), option.name


# ---- bad options --------------------------------------------------------------------------------------------------


def refused(options: dict[str, list], message: str | None = None) -> None:
    """Every method that reads one of the options refuses each of these values, with this message if there is one."""

    def check(entry, changes) -> None:
        with pytest.raises(InvalidInput, match=message):
            build(entry, **changes)

    group = {
        f"{entry.name}-{changes}": (entry, changes)
        for entry in ALGORITHMS
        if set(options) & {option.role for option in entry.options}
        for changes in (dict(zip(options, values, strict=True)) for values in zip(*options.values(), strict=True))
    }
    assert group
    check_each(check, group)


def test_step_sizes_must_be_positive() -> None:
    refused({"lr": [0, -0.1, float("nan"), np.array([0.1, -0.1])[:, None, None]]}, "lr must be positive, got")


def test_penalties_must_be_positive() -> None:
    refused({"eta": [-1], "rho": [-1]}, "must be positive, got -1")


def test_counts_must_be_whole_numbers_of_at_least_one() -> None:
    refused({"steps": [0, -1, 1.5]}, "must be a whole number of at least 1")


def test_the_probability_of_skipping_lies_below_one() -> None:
    refused({"p": [1, 1.5, -0.1, float("nan")]}, r"must lie in \[0, 1\), got")
