"""Error feedback, EF21, DIANA, FedPAQ, CompressedScaffnew: without compression what they equal, with it their rules by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from compressed_loops import DianaLoop, send_largest
from helpers import ROUNDING, assert_same_models, close, play, problem, x0_of

from fedtheory import run
from fedtheory.algorithms import (
    EF21,
    CompressedScaffnew,
    Diana,
    ErrorFeedback,
    FedAvg,
    FedAvgM,
    FedPAQ,
    GradientDescent,
    Scaffnew,
    listed,
)
from fedtheory.conformance.compare import conform
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.participation import All, Uniform
from fedtheory.core.randomness import Key
from fedtheory.local import GradientSteps, Quantised, RandK, StochasticSteps, TopK
from fedtheory.proofs.spectrum import round_map
from problems.quadratics import random_quadratics

LR = 0.2


# ---- all coordinates are sent -------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", [All(), Uniform(2)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("local", [GradientSteps(3, LR), StochasticSteps(3, LR, 2)], ids=["gd", "sgd"])
def test_with_all_coordinates_error_feedback_and_fedpaq_are_fedavg(local, schedule) -> None:
    f = problem("logistic")
    plain = play(FedAvg(local), f, x0_of(f), 5, schedule)
    for twin in (ErrorFeedback(local, TopK(1)), ErrorFeedback(local, RandK(1, scaled=False)), FedPAQ(local, RandK(1))):
        assert_same_models(play(twin, f, x0_of(f), 5, schedule), plain)
    damped = play(FedAvgM(local, 0, 0.7), f, x0_of(f), 5, schedule)
    assert_same_models(play(FedPAQ(local, RandK(1), 0.7), f, x0_of(f), 5, schedule), damped)


def test_with_all_coordinates_ef21_and_diana_are_gradient_descent() -> None:
    f = problem("quadratics")
    descent = play(GradientDescent(LR), f, x0_of(f), 6)
    for twin in (EF21(LR, TopK(1)), Diana(LR, 0.3, RandK(1))):
        assert_same_models(play(twin, f, x0_of(f), 6), descent)


@pytest.mark.parametrize("copies", [0, 4])
def test_with_all_copies_compressed_scaffnew_is_scaffnew(copies) -> None:
    f = problem("quadratics")
    ours, theirs = (play(m, f, x0_of(f), 12, seed=3) for m in (CompressedScaffnew(LR, 0.4, copies), Scaffnew(LR, 0.4)))
    assert_same_models(ours, theirs)
    close(ours[-1].h_i, theirs[-1].h_i, ROUNDING)


# ---- some are -----------------------------------------------------------------------------------------------------


def test_error_feedback_moves_a_virtual_model_by_whole_gradients() -> None:
    """x^r - mean_i e_i^r goes where gradient descent with the gradients at x^r goes, whatever is compressed."""
    f = problem("quadratics")
    for before, after in pairwise(play(ErrorFeedback(GradientSteps(1, LR), TopK(0.4)), f, x0_of(f), 8)):
        virtual = [state.x[0] - state.e_i.mean(axis=0) for state in (before, after)]
        close(virtual[1], virtual[0] - LR * f.grad(before.x).mean(axis=0), ROUNDING)
    assert np.abs(after.e_i).max() > 1e-2


def test_ef21_by_hand_with_some_clients() -> None:
    f, k, schedule = problem("quadratics"), 1, Uniform(2)
    x, g = x0_of(f)[0], f.grad(x0_of(f)).copy()
    states = play(EF21(LR, TopK(k / f.d)), f, x0_of(f), 8, schedule)
    for r, state in enumerate(states[1:]):
        x = x - LR * g.mean(axis=0)
        for i in schedule.draw(f.n, Key(0, r)).index:
            g[i] += send_largest(f.A[i] @ x - f.b[i] - g[i], k / f.d)
        close(state.x[0], x, ROUNDING)
        close(state.g_i, g, ROUNDING)


def test_constant_steps_take_ef21_and_diana_to_the_solution_and_the_others_not() -> None:
    f = random_quadratics(5, 6, mu=0.2, seed=3)
    x0, one = np.ones(f.d), GradientSteps(1, 0.1)
    far = {
        type(m).__name__: run(m, f, x0, 2500, every=2500)["stationarity"][-1]
        for m in (
            EF21(0.1, TopK(1 / 3)),
            Diana(0.1, 1 / 4, RandK(1 / 3)),
            CompressedScaffnew(0.5, 0.5, 2),
            ErrorFeedback(one, TopK(1 / 3)),
            FedPAQ(one, RandK(1 / 3)),
        )
    }
    assert max(far[name] for name in ("EF21", "Diana", "CompressedScaffnew")) < 1e-20, far
    assert min(far[name] for name in ("ErrorFeedback", "FedPAQ")) > 1e-6, far


def test_scaffnews_pattern_gives_every_coordinate_its_copies_and_controls_no_sum() -> None:
    """Where a round communicates all models agree with the mean over those that sent the coordinate; control variates add up to zero."""
    f, seed = random_quadratics(5, 4, mu=0.2, seed=3), 2
    method = CompressedScaffnew(LR, 0.5, 2)
    states = play(method, f, x0_of(f), 12, seed=seed)
    communicated = 0
    for r, (before, after) in enumerate(pairwise(states)):
        ahead = before.x_i - LR * (f.grad(before.x_i) - before.h_i)
        close(after.h_i.sum(axis=0), np.zeros(f.d), 1e-12)
        if not Key(seed, r).coin("communicate", 0.5):
            close(after.x_i, ahead, ROUNDING)
            continue
        communicated += 1
        q = np.abs(after.h_i - before.h_i) > 1e-14
        np.testing.assert_array_equal(q.sum(axis=0), 2)
        assert set(q.sum(axis=1)) <= {1, 2}, "a client sends 2 * 4 / 5 coordinates, rounded up or down"
        close(after.x_i, np.repeat((q * ahead).sum(axis=0, keepdims=True) / 2, 5, axis=0), ROUNDING)
        eta = 5 * 1 / (2 * 4)
        close(after.h_i - before.h_i, 0.5 * eta / LR * q * (after.x_i - ahead), ROUNDING)
    assert 0 < communicated < 12


def test_traffic_is_what_is_sent() -> None:
    f = random_quadratics(4, 8, seed=0)
    x0, one = np.ones(8), GradientSteps(1, 0.1)
    quarter = 4 * 8 * 1 / 4  # of four clients, in floats
    ups = {
        EF21(0.1, TopK(1 / 4)): 32 + 2 * (quarter + 4),  # first gradients; six bits of positions are a word
        ErrorFeedback(one, RandK(1 / 4, scaled=False)): 2 * quarter,
        Diana(0.1, 0.2, RandK(1 / 4)): 2 * quarter,
        FedPAQ(one, Quantised(1)): 2 * 4 * (1 + 1),
        CompressedScaffnew(0.1, 1, 2): 2 * 32 / 2,
    }
    for method, up in ups.items():
        trace = run(method, f, x0, 2)
        assert trace.floats_up[-1] == up and trace.floats_down[-1] == 2 * 32, method


# ---- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ef21", "TopK: it ranks coordinates by size"),
        ("diana", "RandK: it draws coordinates at random"),
        ("compressed-scaffnew", "it draws who sends which coordinates"),
    ],
)
def test_engines_without_numbers_say_why_and_run_what_is_not_compressed(name, why) -> None:
    f, entry = problem("quadratics"), listed(name)
    with pytest.raises(CannotTrace, match=why):
        round_map(entry.build(), f, np.zeros(f.d))
    whole = {option: value for option, value in (("keep", 1), ("copies", 0)) if option in entry.uses}
    found = round_map(entry.build(**whole), f, np.zeros(f.d), coins={"communicate": True})
    assert np.isfinite(found.matrix).all()


def test_nobody_is_blamed_for_other_draws() -> None:
    """An implementation that draws its own coordinates is not compared with compression on, and conforms without."""
    found = conform(DianaLoop(), "diana", seeds=1)
    assert found.conforms and "keep" in found.not_exercised
    with pytest.raises(InvalidInput, match=r"draws numbers at random.*keep=1"):
        conform(DianaLoop(), "diana", values={"keep": 0.5}, seeds=1)


def test_copies_are_checked() -> None:
    for copies in (1, -2, 1.5):
        with pytest.raises(InvalidInput, match=r"must be 0 \(all of them\) or a whole number of at least 2"):
            CompressedScaffnew(0.1, 0.5, copies)
    f = problem("quadratics")
    with pytest.raises(InvalidInput, match="sent by 9 clients, and there are n=4"):
        run(CompressedScaffnew(0.1, 0.5, 9), f, np.ones(f.d), 1)
