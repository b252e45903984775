"""Augmented images: variants, passes through the data, draws at the address of the round."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_networks import BATCH, N, close, one_thread, points, small, torch  # noqa: F401  one_thread is for pytest to find

from fedtheory.algorithms import FedAvg
from fedtheory.algorithms.changed_gradients import restrict_gradients
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import Zero
from fedtheory.local.proximal_steps import ProximalSteps, ShiftedProblem
from fedtheory.local.sam import SamSteps
from fedtheory.local.stochastic import Epochs, Passes, StochasticSteps, count_steps, draw_minibatches
from fedtheory.local.subproblem import Subproblem
from fedtheory.running.runner import run
from problems.datasets import digits
from problems.networks import network
from problems.networks.augmentation import PAD, VARIANTS, augment
from problems.networks.problem import Network
from problems.splits import by_classes, clients_of, hold_out

pytestmark = pytest.mark.torch


def test_variants_are_flips_and_crops_half_of_the_time() -> None:
    rng = np.random.default_rng(0)
    image = rng.random((2, 5, 7))
    padded = np.pad(image, ((0, 0), (PAD, PAD), (PAD, PAD)))
    seen: dict[bytes, int] = {}
    found = augment(torch.from_numpy(np.repeat(image[None], VARIANTS, axis=0)), torch.arange(VARIANTS)).numpy()
    for out in found:
        seen[out.tobytes()] = seen.get(out.tobytes(), 0) + 1
    whole = (2 * PAD + 1) ** 2
    for flip in (False, True):
        for down in range(2 * PAD + 1):
            for right in range(2 * PAD + 1):
                crop = padded[:, down : down + 5, right : right + 7]
                crop = np.ascontiguousarray(crop[..., ::-1] if flip else crop)
                uncropped = down == PAD and right == PAD
                assert seen.pop(crop.tobytes()) == (whole + 1 if uncropped else 1)
    assert not seen


def equal_shares(**options) -> Network:
    """Four clients with nine images each: minibatches of four leave one over."""
    train, _ = hold_out(digits(), 397)
    clients = clients_of(train, by_classes(train.labels, N, 3))
    return network(
        [c.take(np.arange(9)) for c in clients], "small-cnn", dtype="float64", together="one by one", **options
    )


def test_a_pass_through_augmented_images_takes_each_once_in_some_variant() -> None:
    f = equal_shares(augmented=True)
    parts = draw_minibatches(Subproblem(f), Key(1, 2), Passes(40), 4)
    assert [p.shape for p in parts] == [(N, 4), (N, 4), (N, 1)] * 40
    image, variant = np.divmod(np.concatenate(parts, axis=-1).reshape(N, 40, 9), VARIANTS)
    np.testing.assert_array_equal(np.sort(image, axis=-1), np.broadcast_to(np.arange(9), (N, 40, 9)))
    flips, crops = variant % 2, variant // 2
    still = 2 * PAD * (PAD + 1)
    for share in (
        flips.mean(),
        ((crops >= (2 * PAD + 1) ** 2) | (crops == still)).mean(),
    ):  # 1440 draws: 5 standard errors
        assert abs(share - 0.5) < 5 * 0.5 / np.sqrt(variant.size) + 1 / (2 * PAD + 1) ** 2
    assert len(np.unique(variant)) > VARIANTS / 2
    assert count_steps(Epochs(2, 0.1, 4), f) == 6


@pytest.mark.parametrize("augmented", [False, True])
def test_epochs_of_a_network_are_minibatch_steps(augmented) -> None:
    """Also with SAM, a personal component, a view of the gradients, and a few of the clients."""
    f = equal_shares(augmented=augmented, l2=0.01)
    x0 = f.initial(0)[None]
    clients = Clients(N, np.array([2, 1]))
    sub = Subproblem(f.take(clients), clients=clients)
    x = x0.broadcast_to(2, f.d)
    for part in draw_minibatches(sub, Key(1, 2), Passes(2), 4):
        x = x - 0.1 * sub.f.sample_grad(x, part)
    close(Epochs(2, 0.1, 4)(sub, x0, Key(1, 2), None)[0], x, 1e-13)
    close(SamSteps(Passes(2), 0.1, 0, 4)(sub, x0, Key(1, 2), None)[0], x, 1e-13)
    shifted = Subproblem(ShiftedProblem(sub.f, x0), clients=clients)
    close(x0 + ProximalSteps(Passes(2), 0.1, Zero(), 4)(shifted, 0 * x0, Key(1, 2), None)[0], x, 1e-12)
    seen = Subproblem(restrict_gradients(sub.f, np.ones(f.d, dtype=bool)), clients=clients)
    close(Epochs(2, 0.1, 4)(seen, x0, Key(1, 2), None)[0], x, 1e-13)


def test_unequal_clients_take_no_passes() -> None:
    with pytest.raises(InvalidInput, match="smallest has 9 and the largest 90"):
        run(FedAvg(Epochs(1, 0.1, BATCH)), small(augmented=True), small().initial(0), 1, metrics={})


def test_augmented_samples_are_drawn_at_the_rounds_address() -> None:
    f = small(augmented=True)
    assert (f.n_samples == np.array([90, 9, 40, 31]) * VARIANTS).all()
    x, x0 = points(f), f.initial(0)
    method = FedAvg(StochasticSteps(2, 0.1, BATCH))
    once, again, other = (run(method, f, x0, 3, seed=seed, metrics={}).state.x for seed in (1, 1, 2))
    assert torch.equal(once, again) and not torch.equal(once, other)
    number = 5 * VARIANTS + 2 * (PAD * (2 * PAD + 1) + PAD)  # image 5 as it is
    plain = dataclasses.replace(f, augmented=False)
    close(f.sample_grad(x, np.full((N, 1), number)), plain.sample_grad(x, np.full((N, 1), 5)), 1e-13)
    flipped = f.sample_grad(x, np.full((N, 1), number + 1)) - plain.sample_grad(x, np.full((N, 1), 5))
    assert flipped.abs().max() > 0.01
    assert torch.equal(f.grad(x), plain.grad(x))
