"""Clipped directions, passes through a client's samples, decaying steps: against plain loops, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers import assert_same, build, close, play, problem, ragged_logistic, start
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fedtheory.algorithms import (
    ALGORITHMS,
    FedAvg,
    FedCM,
    FedProx,
    GradientDescent,
    LocalProximal,
    Scaffnew,
    Scaffold,
    VrlSgd,
    listed,
)
from fedtheory.algorithms.dual_averaging import FedDualAvg
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.participation import Clients, Fixed, Uniform
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import L1, Zero
from fedtheory.local.proximal_steps import ProximalSteps
from fedtheory.local.sam import SamSteps
from fedtheory.local.schedules import DecayedStep
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stochastic import (
    Epochs,
    Passes,
    StochasticSteps,
    clip_norms,
    count_steps,
    draw_minibatches,
    draw_samples,
)
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.function_class import require_worst_case
from problems.finite_sum import random_finite_sum

KEY = Key(3, 5)
LR, CLIP = 0.3, 1.5


def five() -> object:
    """Four clients with five samples each: minibatches of two leave one over."""
    return problem("finite-sum")


def penalised(f, clients=None) -> Subproblem:
    rng = np.random.default_rng(0)
    a, z = 0.3 * rng.standard_normal((f.n, f.d)), rng.standard_normal((f.n, f.d))
    sub = Subproblem(f, a=a, rho=0.7, z=z)
    return sub if clients is None else Subproblem(f.take(clients), a[clients.index], 0.7, z[clients.index], clients)


def cut(g, longest):
    """One client's direction, shortened as a plain loop would."""
    norm = math.sqrt(sum(float(entry) ** 2 for entry in g))
    return g if norm <= longest else g * (longest / norm)


def orders(f, key, epoch):
    """Each client's order in a pass, from its stretch of the stream."""
    lots = key.client_uniform(f"order {epoch}", f.n, int(f.n_samples[0]))
    return [sorted(range(len(row)), key=row.__getitem__) for row in lots]


def loop_of_epochs(sub, x0, epochs, batch, lr, clip=np.inf, key=KEY):
    """Client by client, pass by pass, minibatch by minibatch; also the gradients that were followed."""
    f, answers, followed = sub.f, [], []
    for i in range(f.n):
        x, seen, q = np.array(np.broadcast_to(x0, (f.n, f.d))[i]), [], 0
        for epoch in range(epochs):
            order = orders(f, key, epoch)[i]
            for first in range(0, len(order), batch):
                at = np.broadcast_to(x, (f.n, f.d))
                numbers = np.broadcast_to(order[first : first + batch], (f.n, len(order[first : first + batch])))
                g = sub.shift(f.sample_grad(at, numbers), at)[i]
                seen.append(g)
                x = x - (lr(key.round, q) if callable(lr) else lr) * cut(g, clip)
                q += 1
        answers.append(x)
        followed.append(seen)
    return np.array(answers), np.array(followed)


# ---- clipping -----------------------------------------------------------------------------------------------------


def test_clipped_steps_are_a_plain_loop() -> None:
    """Gradient, linear and proximal term together are shortened, each client's by its own norm."""
    f, steps, batch = ragged_logistic(), 4, 2
    sub = penalised(f)
    numbers = draw_samples(sub, KEY, steps, batch)
    longer = []
    expected = np.zeros((f.n, f.d))
    for i in range(f.n):
        x = start(f)
        for q in range(steps):
            at = np.broadcast_to(x, (f.n, f.d))
            g = sub.shift(f.sample_grad(at, numbers[:, q]), at)[i]
            longer.append(np.linalg.norm(g) > CLIP)
            x = x - LR * cut(g, CLIP)
        expected[i] = x
    assert 0 < sum(longer) < len(longer), "a test of both cases"
    found, _ = StochasticSteps(steps, LR, batch, CLIP)(sub, start(f)[None, :], KEY, None)
    close(found, expected, 1e-14)
    unclipped, _ = StochasticSteps(steps, LR, batch)(sub, start(f)[None, :], KEY, None)
    assert np.abs(found - unclipped).max() > 0.01
    for index in ([2], [3, 0]):
        clients = Clients(f.n, np.array(index))
        some, _ = StochasticSteps(steps, LR, batch, CLIP)(penalised(f, clients), start(f)[None, :], KEY, None)
        close(some, expected[index], 1e-14)


@given(seed=st.integers(0, 10**6), size=st.floats(1e-150, 1e150), longest=st.floats(1e-3, 1e3))
def test_shortening_keeps_directions_and_short_vectors(seed, size, longest) -> None:
    g = size * np.random.default_rng(seed).standard_normal((3, 4))
    g[0] = 0
    short = clip_norms(g, longest)
    norms = np.linalg.norm(g, axis=-1)
    np.testing.assert_allclose(np.linalg.norm(short, axis=-1), np.minimum(norms, longest), rtol=1e-12)
    np.testing.assert_array_equal(short[norms <= longest], g[norms <= longest])
    assert np.all(
        np.abs(short * norms[:, None] - g * np.linalg.norm(short, axis=-1)[:, None]) <= 1e-12 * size * longest
    )
    assert clip_norms(g, None) is g


@pytest.mark.parametrize(
    "make",
    [
        lambda clip: StochasticSteps(3, LR, 2, clip),
        lambda clip: Epochs(2, LR, 2, clip),
        lambda clip: SamSteps(3, LR, 0.1, 2, clip=clip),
        lambda clip: SamSteps(3, LR, 0.1, clip=clip),
        lambda clip: ProximalSteps(3, LR, L1(0.1), 2, clip),
    ],
    ids=["stochastic", "epochs", "sam", "full sam", "proximal"],
)
def test_a_clip_that_nothing_reaches_changes_no_bit_and_one_that_all_reach_sets_the_length(make) -> None:
    """With steps of one length and a tiny clip nobody goes further than steps times lr times clip."""
    f = five()
    x0 = start(f)[None, :]
    sub = Subproblem(f)
    np.testing.assert_array_equal(make(1e6)(sub, x0, KEY, None)[0], make(None)(sub, x0, KEY, None)[0])
    solver = make(1e-4)
    far = np.linalg.norm(solver(sub, x0, KEY, None)[0] - x0, axis=-1)
    steps = count_steps(solver, f)
    if not isinstance(solver, ProximalSteps):
        assert np.all(far <= steps * LR * 1e-4 * (1 + 1e-9)) and np.all(far > 0.1 * steps * LR * 1e-4)
    else:  # the regulariser's own step is not clipped
        assert np.all(np.abs(far - steps * LR * 0.1 * np.sqrt(f.d)) <= steps * LR * 1e-4)
    clips = along_batch([1e-4, 1e6])
    for k, clip in enumerate((1e-4, 1e6)):
        close(make(clips)(sub, x0, KEY, None)[0][k], make(clip)(sub, x0, KEY, None)[0], 1e-14)


def test_sam_clips_the_step_and_not_the_ascent() -> None:
    f, radius = five(), 0.4
    sub = penalised(f)
    drawn = draw_samples(sub, KEY, 1, 2)[:, 0]
    x = np.broadcast_to(start(f), (f.n, f.d))
    u = f.sample_grad(x, drawn)
    v = f.sample_grad(x + radius * u / np.linalg.norm(u, axis=-1)[:, None], drawn)
    d = np.array([cut(row, CLIP) for row in sub.shift(v, x)])
    close(SamSteps(1, LR, radius, 2, clip=CLIP)(sub, x, KEY, None)[0], x - LR * d, 1e-14)


def test_fedcm_clips_the_mixture() -> None:
    """alpha g_i + (1 - alpha) Delta is what a client follows, and what is shortened."""
    f, alpha = five(), 0.3
    method = FedCM(StochasticSteps(3, LR, 2, CLIP), alpha)
    states = play(method, f, start(f)[None, :], 3)
    for r in range(3):
        key, x = Key(0, r), np.array(np.broadcast_to(states[r].x, (f.n, f.d)))
        numbers = draw_samples(Subproblem(f), key, 3, 2)
        for q in range(3):
            d = alpha * f.sample_grad(x, numbers[:, q]) + (1 - alpha) * states[r].direction
            x = x - LR * np.array([cut(row, CLIP) for row in d])
        close(states[r + 1].x, x.mean(axis=0, keepdims=True), 1e-13)


def test_clipping_is_no_noise_that_the_worst_case_knows() -> None:
    require_worst_case(FedAvg(StochasticSteps(2, 0.1, 1)), noise=True)
    with pytest.raises(CannotTrace):
        require_worst_case(FedAvg(StochasticSteps(2, 0.1, 1, clip=1.0)), noise=True)


# ---- passes through the samples -----------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("clip", [None, CLIP], ids=["free", "clipped"])
def test_epochs_are_a_plain_loop_over_shuffled_minibatches(batch, clip) -> None:
    f = five()
    sub = penalised(f)
    expected, followed = loop_of_epochs(sub, start(f), 3, batch, LR, np.inf if clip is None else clip)
    solver = Epochs(3, LR, batch, clip)
    assert followed.shape[1] == count_steps(solver, f) == 3 * math.ceil(5 / batch)
    close(solver(sub, start(f)[None, :], KEY, None)[0], expected, 1e-13)
    for index in ([2], [3, 0], [1, 2, 3]):
        clients = Clients(f.n, np.array(index))
        close(solver(penalised(f, clients), start(f)[None, :], KEY, None)[0], expected[index], 1e-13)


def test_a_schedule_counts_steps_through_all_passes() -> None:
    f = five()
    lr = lambda r, q: LR / (1 + q + r)  # noqa: E731
    expected, _ = loop_of_epochs(Subproblem(f), start(f), 2, 2, lr)
    close(Epochs(2, lr, 2)(Subproblem(f), start(f)[None, :], KEY, None)[0], expected, 1e-13)


@given(seed=st.integers(0, 10**6), epochs=st.integers(1, 3), batch=st.integers(1, 7), data=st.integers(1, 9))
@settings(max_examples=30)
def test_a_pass_takes_every_sample_once(seed, epochs, batch, data) -> None:
    """In minibatches of one size, but for the last; whatever else takes part, for every run of a batch."""
    n = 20
    f = random_finite_sum(n, data, 2, seed=0)
    whole = draw_minibatches(Subproblem(f), Key(np.array([seed, seed + 1]), 2), Passes(epochs), batch)
    a_pass = math.ceil(data / batch)
    assert len(whole) == epochs * a_pass
    for epoch in range(epochs):
        parts = whole[epoch * a_pass : (epoch + 1) * a_pass]
        assert [p.shape for p in parts[:-1]] == [(2, n, batch)] * (a_pass - 1)
        together = np.concatenate(parts, axis=-1)
        np.testing.assert_array_equal(np.sort(together, axis=-1), np.broadcast_to(np.arange(data), (2, n, data)))
    alone = draw_minibatches(Subproblem(f), Key(seed, 2), Passes(epochs), batch)
    few = Clients(n, np.array([17, 3]))
    some = draw_minibatches(Subproblem(f.take(few), clients=few), Key(seed, 2), Passes(epochs), batch)
    for together, single, pair in zip(whole, alone, some, strict=True):
        np.testing.assert_array_equal(together[0], single)
        np.testing.assert_array_equal(single[[17, 3]], pair)


def test_orders_are_uniform_and_differ_by_client_pass_round_and_seed() -> None:
    n, rounds = 200, 5
    f = random_finite_sum(n, 3, 2, seed=0)
    orders_of = lambda key: np.stack(draw_minibatches(Subproblem(f), key, Passes(2), 3), axis=0)  # noqa: E731
    drawn = np.stack([orders_of(Key(seed, r)) for seed in (0, 1) for r in range(rounds)])  # (addresses, passes, n, 3)
    code = drawn[..., 0] * 3 + drawn[..., 1]
    _, counts = np.unique(code, return_counts=True)
    assert len(counts) == 6 and stats.chisquare(counts).pvalue > 1e-3
    rows = code.reshape(-1, n)
    assert len({tuple(row) for row in rows}) == len(rows) and len({tuple(row) for row in rows.T}) > n / 2


def test_a_pass_in_one_minibatch_is_a_full_gradient_step() -> None:
    f = five()
    sub = penalised(f)
    full, _ = GradientSteps(3, LR)(sub, start(f)[None, :], KEY, None)
    for batch in (5, 64):
        close(Epochs(3, LR, batch)(sub, start(f)[None, :], KEY, None)[0], full, 1e-13)


def test_runs_of_a_batch_are_the_single_runs() -> None:
    """Seeds and step sizes along the batch."""
    f, x0 = five(), start(five())[None, :]
    seeds = np.array([4, 7])
    method = lambda lr: Scaffold(Epochs(2, lr, 2, CLIP))  # noqa: E731
    together = play(method(along_batch([0.1, 0.3])), f, x0, 3, Uniform(2), seed=seeds)[-1]
    for k, lr in enumerate((0.1, 0.3)):
        alone = play(method(lr), f, x0, 3, Uniform(2), seed=int(seeds[k]))[-1]
        for name in ("x", "c", "c_i"):
            close(getattr(together, name)[k], getattr(alone, name), 1e-13, name)


def test_scaffolds_controls_are_means_along_the_path() -> None:
    """K is the number of minibatches of all passes, the short ones counted."""
    f, clients = five(), Fixed((2, 0))
    states = play(Scaffold(Epochs(2, LR, 2)), f, start(f)[None, :], 2, clients)
    active = Clients(f.n, np.array([2, 0]))
    for r in range(2):
        old, new = states[r], states[r + 1]
        sub = Subproblem(f, a=old.c - old.c_i)
        _, followed = loop_of_epochs(sub, old.x, 2, 2, LR, key=Key(0, r))
        assert followed.shape[1] == 6
        gradients = followed - sub.a[:, None, :]
        close(new.c_i[active.index], gradients.mean(axis=1)[active.index], 1e-12)
        np.testing.assert_array_equal(new.c_i[[1, 3]], old.c_i[[1, 3]])


def test_vrl_sgd_is_scaffold_with_epochs_and_decay() -> None:
    f, x0 = five(), start(five())[None, :]
    local = Epochs(2, DecayedStep(LR, 0.7), 2)
    ours, theirs = play(VrlSgd(local), f, x0, 4), play(Scaffold(local), f, x0, 4)
    for left, right in zip(ours, theirs, strict=True):
        close(left.x, right.x, 1e-12)
        close(left.delta_i, right.c_i - right.c, 1e-12)


def test_fedcm_with_all_weight_on_gradients_is_fedavg() -> None:
    f, x0 = five(), start(five())[None, :]
    left, right = (play(method, f, x0, 3)[-1] for method in (FedCM(Epochs(2, LR, 2), 1), FedAvg(Epochs(2, LR, 2))))
    close(left.x, right.x, 1e-13)
    followed = loop_of_epochs(Subproblem(f), x0, 2, 2, LR, key=Key(0, 0))[1]
    close(play(FedCM(Epochs(2, LR, 2), 1), f, x0, 1)[-1].direction, followed.mean(axis=(0, 1))[None, :], 1e-12)


@pytest.mark.parametrize("clip", [None, CLIP], ids=["free", "clipped"])
def test_methods_with_loops_of_their_own_take_the_same_passes(clip) -> None:
    """SAM without an ascent and proximal steps of nothing are plain epochs, on the same minibatches."""
    f = five()
    sub, x0 = penalised(f), start(f)[None, :]
    expected, _ = Epochs(2, LR, 2, clip)(sub, x0, KEY, None)
    close(SamSteps(Passes(2), LR, 0, 2, clip=clip)(sub, x0, KEY, None)[0], expected, 1e-13)
    close(ProximalSteps(Passes(2), LR, Zero(), 2, clip)(sub, x0, KEY, None)[0], expected, 1e-13)
    plain = play(LocalProximal(Passes(2), LR, 2, clip), f, x0, 2)[-1]
    close(plain.x, play(FedAvg(Epochs(2, LR, 2, clip)), f, x0, 2)[-1].x, 1e-13)


def test_passes_refuse_clients_with_unequal_data() -> None:
    f = ragged_logistic()
    for solver in (Epochs(1, 0.1, 2), SamSteps(Passes(1), 0.1, 0.1, 2)):
        with pytest.raises(
            InvalidInput, match=r"smallest has 3 and the largest 6; split the data in equal shares .* StochasticSteps"
        ):
            play(FedProx(1.0, solver), f, start(f)[None, :], 1)


BAD = {
    "epochs": lambda: Epochs(0, 0.1, 2),
    "epochs of a kind": lambda: Epochs(1.5, 0.1, 2),
    "lr": lambda: Epochs(1, -0.1, 2),
    "batch": lambda: Epochs(1, 0.1, 0),
    "no batch": lambda: Epochs(1, 0.1, None),
    "clip": lambda: Epochs(1, 0.1, 2, clip=0),
    "clip of steps": lambda: StochasticSteps(1, 0.1, 2, clip=-1.0),
    "clip of SAM": lambda: SamSteps(1, 0.1, 0.1, clip=float("nan")),
    "SAM in passes without a batch": lambda: SamSteps(Passes(1), 0.1, 0.1),
    "proximal passes without a batch": lambda: ProximalSteps(Passes(1), 0.1, L1(0.1)),
    "passes of full gradients": lambda: GradientSteps(Passes(1), 0.1),
    "a schedule of a schedule": lambda: DecayedStep(DecayedStep(0.1, 0.5), 0.5),
    "a rising schedule": lambda: DecayedStep(0.1, 1.5),
    "a schedule of a method without": lambda: GradientDescent(DecayedStep(0.1, 0.5)),
    "a schedule for Scaffnew": lambda: Scaffnew(DecayedStep(0.1, 0.5), 0.5),
    "a schedule for FedDualAvg": lambda: FedDualAvg(2, DecayedStep(0.1, 0.5)),
}


@pytest.mark.parametrize("name", BAD)
def test_settings_that_make_no_sense_are_refused(name) -> None:
    with pytest.raises(InvalidInput, match=r"got |must be"):
        BAD[name]()


# ---- settings -----------------------------------------------------------------------------------------------------


def test_settings_say_steps_passes_decay_and_clip() -> None:
    s = {"lr": 0.2, "batch": 4, "clip": 3.0, "lr_decay": 0.9}
    fedprox, fedspeed = listed("fedprox"), listed("fedspeed")
    assert fedprox.build(**s).local == StochasticSteps(1, DecayedStep(0.2, 0.9), 4, 3.0)
    assert fedprox.build(**s, epochs=5).local == Epochs(5, DecayedStep(0.2, 0.9), 4, 3.0)
    assert fedprox.build(lr=0.2, lr_decay=0.9).local == GradientSteps(1, DecayedStep(0.2, 0.9))
    assert fedprox.build(exact=True, lr_decay=0.9).local == Exact()
    assert fedspeed.build(**s, epochs=2, radius=0.3, alpha=0.5).local == SamSteps(
        Passes(2), DecayedStep(0.2, 0.9), 0.3, 4, weight=0.5, clip=3.0
    )
    for bad in ({"clip": 1.0}, {"epochs": 1}, {"epochs": 1, "batch": 2, "exact": True}):
        with pytest.raises(InvalidInput, match="need --batch, and not --exact"):
            fedprox.build(**bad)
    with pytest.raises(InvalidInput, match="got 3 steps and 2 epochs"):
        fedprox.build(steps=3, epochs=2, batch=4)


def test_personal_parts_and_servers_have_work_of_their_own() -> None:
    s = {"lr": 0.2, "batch": 4, "epochs": 2, "clip": 3.0}
    one, two = Epochs(1, 0.2, 4, 3.0), Epochs(2, 0.2, 4, 3.0)
    ditto, fedrep, fedslr = (listed(name).build(**s, personal_epochs=1) for name in ("ditto", "fedrep", "fedslr"))
    assert (ditto.local, ditto.personal) == (two, one) and (fedrep.body, fedrep.head) == (two, one)
    assert fedslr.local == two and (fedslr.personal.steps, fedslr.personal.batch, fedslr.personal.clip) == (
        Passes(1),
        4,
        3.0,
    )
    assert listed("ditto").build(**s).personal == two and listed("fedslr").build(**s).personal.steps == Passes(2)
    assert listed("ditto").build(**s, personal_steps=7).personal == StochasticSteps(7, 0.2, 4, 3.0)
    safari = listed("safari").build(**s, server_epochs=3, server_lr=0.5, lr_decay=0.9)
    assert safari.local == Epochs(2, DecayedStep(0.2, 0.9), 4, 3.0) and safari.server == Epochs(
        3, DecayedStep(0.1, 0.9), 4, 3.0
    )
    assert listed("safari").build(**s, server_steps=6).server == StochasticSteps(6, 0.2, 4, 3.0)


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if "lr_decay" in e.uses], ids=lambda e: e.name)
def test_decay_reaches_every_method_that_names_it(entry) -> None:
    """One round with the rate of the second round is the second round with decay, from where the first left off."""
    f = problem("penalised-logistic")
    if "server" in entry.needs:
        from problems.server import ServerAssisted

        f = ServerAssisted(f, f.take(Clients(f.n, np.array([0]))))
    common = {"lr": 0.4, "eta": 0.5, "rho": 1.0, "q": 1, "nu": 0.05, "inner_lr": 0.1, "l1": 0.1}
    decayed, second = build(entry, **common, lr_decay=0.5), build(entry, **common | {"lr": 0.2})
    x0 = start(f)[None, :]
    state = play(build(entry, **common), f, x0, 1)[-1]
    assert_same(play(decayed, f, x0, 1)[-1], state)
    assert_same(decayed.round(f, state, None, Key(0, 1)), second.round(f, state, None, Key(0, 1)), 1e-13)
