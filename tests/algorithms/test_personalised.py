"""Personalised methods: what they become at the ends of their parameters, references in plain loops, fixed points, layers."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import sympy
from helpers import close, play, problem, start, x0_of
from local_work import GD, LR, ROUNDING, SGD, SOLVERS

from fedtheory.algorithms import Apfl, Ditto, FedAvg, FedRep, FedSpa, LgFedAvg, LocalTraining, PerFedAvg
from fedtheory.algorithms.fedrep import find_coordinates, find_head
from fedtheory.core.errors import CannotTrace, InvalidInput, NotAvailable
from fedtheory.core.participation import All, Bernoulli, Fixed, Uniform
from fedtheory.core.problem import constant
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.measures import metrics
from fedtheory.measures.catalogue import offered_metrics
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from fedtheory.proofs.symbolic import play_exactly
from fedtheory.running.runner import run
from problems.mlp import digits_task
from problems.quadratics import Quadratic, random_quadratics, scalar_quadratics

SCHEDULES = pytest.mark.parametrize(
    "schedule", [All(), Uniform(2), Bernoulli(0.4), Fixed((0, 3))], ids=lambda s: type(s).__name__
)
PROBLEMS = pytest.mark.parametrize("name", ["quadratics", "logistic", "sines", "penalised-logistic"])


def assert_same_runs(left, right, *names, rtol=ROUNDING) -> None:
    """Pairs of fields (ours, theirs) agree after every round."""
    for r, (ours, theirs) in enumerate(zip(left, right, strict=True)):
        for mine, other in names:
            close(getattr(ours, mine), getattr(theirs, other), rtol, f"{mine} after round {r}")


def everything(f):
    return np.ones(f.d, dtype=bool)


def nothing(f):
    return np.zeros(f.d, dtype=bool)


MODEL, OWN = ("x", "x"), ("personal", "personal")

# ---- ends of the parameters ---------------------------------------------------------------------------------------


@SCHEDULES
@SOLVERS
def test_the_server_of_ditto_runs_fedavg(solver, schedule) -> None:
    f = problem("logistic")
    ours = play(Ditto(solver, 0.7), f, x0_of(f), 5, schedule)
    assert_same_runs(ours, play(FedAvg(solver), f, x0_of(f), 5, schedule), MODEL, rtol=0)


@PROBLEMS
@SCHEDULES
def test_ditto_without_penalty_is_local_training(name, schedule) -> None:
    f = problem(name)
    ours = play(Ditto(GD, 0), f, x0_of(f), 5, schedule)
    theirs = play(LocalTraining(GD), f, x0_of(f), 5, schedule)
    assert_same_runs(ours, theirs, OWN, rtol=0)
    nearly = play(Ditto(GD, 1e-9), f, x0_of(f), 5, schedule)
    assert_same_runs(nearly, theirs, OWN, rtol=1e-7)  # the limit is approached
    assert np.abs(play(Ditto(GD, 0.7), f, x0_of(f), 5, schedule)[-1].personal - theirs[-1].personal).max() > 1e-3


@PROBLEMS
def test_ditto_with_a_large_penalty_returns_the_servers_model(name) -> None:
    """V_i = prox_{f_i/mu}(x^r), at a distance of at most ||grad f_i(v_i)|| / mu from the model that was received."""
    f = problem(name)
    mu = 1e6 * float(constant(f, "L"))
    states = play(Ditto(GD, mu, Exact()), f, x0_of(f), 4)
    for before, after in zip(states, states[1:], strict=False):
        distance = np.linalg.norm(after.personal - before.x, axis=-1)
        assert np.all(distance <= np.linalg.norm(f.grad(after.personal), axis=-1) / mu * (1 + 1e-6) + 1e-14)
        assert distance.max() < 1e-5


@pytest.mark.parametrize("alpha", [0, 0.0, np.zeros((1, 1, 1))], ids=["int", "float", "batch"])
@SCHEDULES
@SOLVERS
def test_apfl_without_own_share_is_fedavg(solver, schedule, alpha) -> None:
    f = problem("logistic")
    theirs = play(FedAvg(solver), f, x0_of(f), 5, schedule)
    for mine, other in zip(play(Apfl(solver, alpha), f, x0_of(f), 5, schedule), theirs, strict=True):
        close(np.reshape(mine.x, other.x.shape), other.x, ROUNDING)
        close(np.broadcast_to(mine.personal, (1, f.n, f.d))[0], np.broadcast_to(other.x, (f.n, f.d)), ROUNDING)


@SCHEDULES
@SOLVERS
def test_apfl_with_the_whole_own_share_is_local_training(solver, schedule) -> None:
    f = problem("logistic")
    ours = play(Apfl(solver, 1), f, x0_of(f), 5, schedule)
    assert_same_runs(ours, play(LocalTraining(solver), f, x0_of(f), 5, schedule), OWN)
    assert_same_runs(
        ours, play(FedAvg(solver), f, x0_of(f), 5, schedule), MODEL
    )  # the copies do not see the own models


@pytest.mark.parametrize("curvature", ["first-order", "difference", "hessian"])
@SCHEDULES
@PROBLEMS
def test_per_fedavg_without_own_step_is_fedavg(name, schedule, curvature) -> None:
    f = problem(name)
    theirs = play(FedAvg(GD), f, x0_of(f), 5, schedule)
    ours = play(PerFedAvg(GD, 0, curvature), f, x0_of(f), 5, schedule)
    assert_same_runs(ours, theirs, MODEL, rtol=0)
    taken = np.zeros(f.n, dtype=bool)
    for r in range(5):
        clients = schedule.draw(f.n, Key(0, r))
        now = np.ones(f.n, dtype=bool) if clients is None else clients.positions[1]
        taken |= now
        expected = np.where(now[:, None], ours[r + 1].x, ours[r].personal)
        np.testing.assert_array_equal(ours[r + 1].personal, expected)
    assert taken.any()


@SCHEDULES
@SOLVERS
@pytest.mark.parametrize("make", ["fedrep", "lg"])
def test_sharing_everything_is_fedavg(make, solver, schedule) -> None:
    f = problem("logistic")
    method = FedRep(solver, solver, nothing(f)) if make == "fedrep" else LgFedAvg(solver, nothing(f))
    ours = play(method, f, x0_of(f), 5, schedule)
    assert_same_runs(ours, play(FedAvg(solver), f, x0_of(f), 5, schedule), MODEL)
    for state in ours:
        np.testing.assert_array_equal(state.personal, np.broadcast_to(state.x, (f.n, f.d)))


@SCHEDULES
@pytest.mark.parametrize("make", ["fedrep", "lg"])
@PROBLEMS
def test_sharing_nothing_is_local_training(name, make, schedule) -> None:
    f = problem(name)
    method = FedRep(GD, GD, everything(f)) if make == "fedrep" else LgFedAvg(GD, everything(f))
    ours = play(method, f, x0_of(f), 5, schedule)
    assert_same_runs(ours, play(LocalTraining(GD), f, x0_of(f), 5, schedule), OWN)
    for state in ours:
        np.testing.assert_array_equal(state.x, x0_of(f), err_msg="the server learns nothing")


@SCHEDULES
@SOLVERS
@pytest.mark.parametrize("prune", [0, 0.5])
def test_fedspa_with_full_masks_is_fedavg(solver, schedule, prune) -> None:
    """Full masks cannot move: what is dropped is all there is to take in."""
    f = problem("logistic")
    ours = play(FedSpa(solver, 1.0, prune), f, x0_of(f), 5, schedule)
    assert_same_runs(ours, play(FedAvg(solver), f, x0_of(f), 5, schedule), MODEL)
    for state in ours:
        np.testing.assert_array_equal(state.personal, np.broadcast_to(state.x, (f.n, f.d)))


# ---- references in plain loops ------------------------------------------------------------------------------------


PART = np.array([True, False, True])  #: coordinates that are personal, of FedRep and LG-FedAvg


class OneClient:
    """A client's work once more in plain NumPy, from the papers' pseudo-code: the server's model and its own to an answer and its next own."""

    def __init__(self, f, i: int) -> None:
        self.f, self.i = f, i

    def grad(self, x):
        return self.f.grad(np.broadcast_to(x, (self.f.n, self.f.d)))[self.i]

    def steps(self, u, count=3, lr=LR, along=1):
        for _ in range(count):
            u = u - lr * self.grad(u) * along
        return u

    def ditto(self, x, own):
        for _ in range(3):
            own = own - LR * (self.grad(own) + 0.7 * (own - x))
        return self.steps(x), own

    def apfl(self, x, own):
        u = x
        for _ in range(3):
            u, own = u - LR * self.grad(u), own - LR * 0.3 * self.grad(0.3 * own + 0.7 * u)
        return u, own

    def per_fedavg(self, x, own, *, exactly: bool):
        for _ in range(3):
            g = self.grad(x - 0.2 * self.grad(x))
            bent = self.f.hess(np.broadcast_to(x, (self.f.n, self.f.d)))[self.i] @ g if exactly else 0
            x = x - LR * (g - 0.2 * bent)
        return x, own

    def fedrep(self, x, own):
        head = self.steps(np.where(PART, own, x), 2, 0.05, PART)
        return 2 * (self.steps(head, along=~PART),)

    def lg_fedavg(self, x, own):
        return 2 * (self.steps(np.where(PART, own, x)),)

    def adapted(self, x):
        return x - 0.2 * self.grad(x)


#: a method, a client's work, what the server averages, and personal models from the server's and the clients' own
BY_HAND = {
    "Ditto": (Ditto(GD, 0.7), OneClient.ditto, True, lambda clients, x, own: own),
    "APFL": (Apfl(GD, 0.3), OneClient.apfl, True, lambda clients, x, own: 0.3 * own + 0.7 * x),
    "Per-FedAvg, first order": (
        PerFedAvg(GD, 0.2, "first-order"),
        partial(OneClient.per_fedavg, exactly=False),
        True,
        lambda clients, x, own: np.array([client.adapted(x) for client in clients]),
    ),
    "Per-FedAvg": (
        PerFedAvg(GD, 0.2, "hessian"),
        partial(OneClient.per_fedavg, exactly=True),
        True,
        lambda clients, x, own: np.array([client.adapted(x) for client in clients]),
    ),
    "FedRep": (
        FedRep(GradientSteps(2, 0.05), GD, PART),
        OneClient.fedrep,
        ~PART,
        lambda clients, x, own: np.where(PART, own, x),
    ),
    "LG-FedAvg": (LgFedAvg(GD, PART), OneClient.lg_fedavg, ~PART, lambda clients, x, own: np.where(PART, own, x)),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_one_client_at_a_time_by_hand(name) -> None:
    f = problem("logistic")
    method, work, shared, personal = BY_HAND[name]
    states = play(method, f, x0_of(f), 4)
    clients, x, own = [OneClient(f, i) for i in range(f.n)], x0_of(f)[0], np.tile(x0_of(f), (f.n, 1))
    for state in states[1:]:
        answers, own = (np.array(rows) for rows in zip(*(work(c, x, own[c.i]) for c in clients), strict=True))
        x = np.where(shared, answers.mean(axis=0), x)
        close(state.x[0], x, ROUNDING, name)
        close(state.personal, personal(clients, x, own), ROUNDING)
        if name == "APFL":
            close(state.v_i, own, ROUNDING)


def _exchanged(on, y, slope, count):
    """A mask without its least coordinates, and with the steepest of the others."""
    kept = on.copy()
    kept[sorted(np.flatnonzero(on), key=lambda j: abs(y[j]))[:count]] = False
    kept[sorted(np.flatnonzero(~kept), key=lambda j: -abs(slope[j]))[:count]] = True
    return kept


def test_fedspa_by_hand() -> None:
    """Masks drop their least coordinates and take in the steepest, layer by layer, as many as the schedule says."""
    f, density, prune, horizon = random_quadratics(5, 12, mu=0.2, seed=3), 0.5, 0.6, 3
    states = play(FedSpa(GradientSteps(2, 0.1), density, prune, horizon), f, x0_of(f), 5, Uniform(3))
    moved = []
    for r, (before, after) in enumerate(zip(states, states[1:], strict=False)):
        active = set(Uniform(3).draw(5, Key(0, r)).index.tolist())
        changes = []
        count = int(np.ceil(prune / 2 * (1 + np.cos(np.pi * r / horizon)) * 6)) if r < horizon else 0
        moved.append(count)
        for i in range(5):
            on = before.mask[i] > 0
            assert on.sum() == 6
            if i not in active:
                np.testing.assert_array_equal(after.mask[i], before.mask[i])
                continue
            y = np.where(on, before.x[0], 0)
            for _ in range(2):
                y = y - 0.1 * on * f.grad(np.broadcast_to(y, (5, 12)))[i]
            changes.append(y - np.where(on, before.x[0], 0))
            slope = f.grad(np.broadcast_to(y, (5, 12)))[i]
            np.testing.assert_array_equal(after.mask[i] > 0, _exchanged(on, y, slope, count))
        close(after.x[0], before.x[0] + np.mean(changes, axis=0), ROUNDING)
        close(after.personal, after.mask * after.x, ROUNDING)
    assert moved == [4, 3, 1, 0, 0], "the schedule is at work, and comes to rest"
    assert np.any(states[1].mask != states[0].mask)


def test_fedspa_keeps_its_share_in_every_layer() -> None:
    f = problem("perceptron")
    sizes = [layer.size for layer in f.layers]
    expected = [max(1, round(0.4 * size)) for size in sizes]
    states = play(FedSpa(GD, 0.4, prune=1.0), f, x0_of(f), 3)
    for state in states:
        counts = [part.sum(axis=-1) for part in np.split(state.mask, np.cumsum(sizes)[:-1], axis=-1)]
        assert all(np.all(count == want) for count, want in zip(counts, expected, strict=True))
        assert state.sent == sum(expected)
    assert np.any(states[1].mask != states[0].mask)
    assert np.any(states[0].mask[0] != states[0].mask[1]), "every client has a mask of its own"


# ---- fixed points -------------------------------------------------------------------------------------------------


@PROBLEMS
def test_ditto_rests_at_the_solution_with_personal_minimisers(name) -> None:
    from helpers import stationary_point

    f = problem(name)
    x, L = stationary_point(name), float(constant(f, "L"))
    method = Ditto(GradientSteps(1, 0.3 / L), 2 * L, GradientSteps(4, 0.1 / L))
    state = method.solution_state(f, x)
    near = f.grad(state.personal) + 2 * L * (state.personal - x)
    assert np.abs(near).max() < 1e-10 * L and np.abs(state.personal - x).max() > 1e-3
    for r in range(3):
        new = method.round(f, state, None, Key(0, r))
        close(new.x, state.x, 1e-10)
        close(new.personal, state.personal, 1e-10)
    assert Ditto(GD, 1.0).solution_state(f, x) is None, "several steps of FedAvg are biased"


@pytest.mark.parametrize("make", ["fedrep", "lg"])
def test_partly_shared_models_rest_where_the_shared_objective_is_stationary(make) -> None:
    """On quadratics the minimiser over one shared part and n own parts solves a linear system."""
    f, part = random_quadratics(3, 5, mu=0.2, seed=6), np.array([True, False, False, True, False])
    n, s, p = 3, int((~part).sum()), int(part.sum())
    system, right = np.zeros((s + n * p, s + n * p)), np.zeros(s + n * p)
    for i in range(n):
        own = slice(s + i * p, s + (i + 1) * p)
        system[:s, :s] += f.A[i][np.ix_(~part, ~part)]
        system[:s, own] = f.A[i][np.ix_(~part, part)]
        system[own, :s] = f.A[i][np.ix_(part, ~part)]
        system[own, own] = f.A[i][np.ix_(part, part)]
        right[:s] += f.b[i][~part]
        right[own] = f.b[i][part]
    solution = np.linalg.solve(system, right)
    personal = np.empty((n, 5))
    personal[:, ~part], personal[:, part] = solution[:s], solution[s:].reshape(n, p)
    one = GradientSteps(1, 0.1)
    method = FedRep(GradientSteps(4, 0.1), one, part) if make == "fedrep" else LgFedAvg(one, part)
    state = dataclasses.replace(method.init(f, personal[:1] * ~part), personal=personal)
    new = method.round(f, state, None, Key(0, 0))
    close(new.personal, personal, 1e-12)
    trace = run(method, f, np.zeros(5), 3000, metrics={"p": metrics.personal_stationarity})
    close(trace.state.personal, personal, 1e-8)
    several = LgFedAvg(GD, part) if make == "lg" else FedRep(GD, GradientSteps(3, 0.1), part)
    assert np.abs(several.round(f, state, None, Key(0, 0)).x - new.x).max() > 1e-6, "several steps are biased"


@pytest.mark.parametrize("curvature", ["difference", "hessian"])
def test_per_fedavg_descends_to_the_minimiser_after_own_steps(curvature) -> None:
    """On quadratics mean_i F_i has curvature mean (I - a A)A(I - a A) and its minimiser is a linear solve; FO has another."""
    f, a = random_quadratics(4, 3, mu=0.2, seed=1), 0.3
    shrink = np.eye(3) - a * f.A
    bent = shrink @ f.A @ shrink
    pull = np.einsum("nij,nj->i", shrink @ shrink, f.b)  # grad F_i = S (A S x - S b)
    x = np.linalg.solve(bent.sum(axis=0), pull)
    one = GradientSteps(1, 0.5)
    close(PerFedAvg(one, a, curvature).round(f, PerFedAvg(one, a).init(f, x[None]), None, Key(0, 0)).x, x[None], 1e-10)
    moved = PerFedAvg(one, a, "first-order").round(f, PerFedAvg(one, a).init(f, x[None]), None, Key(0, 0)).x
    assert np.abs(moved - x).max() > 1e-4


def test_differences_are_hessians_on_quadratics_and_near_them_elsewhere() -> None:
    f = problem("quadratics")
    ours = play(PerFedAvg(GD, 0.2, "difference"), f, x0_of(f), 5)
    assert_same_runs(ours, play(PerFedAvg(GD, 0.2, "hessian"), f, x0_of(f), 5), MODEL, OWN, rtol=1e-10)
    f, errors = problem("logistic"), []
    exact = play(PerFedAvg(GD, 0.2, "hessian"), f, x0_of(f), 2)[-1].x
    for inverse in (10, 20, 40):
        errors.append(np.abs(play(PerFedAvg(GD, 0.2, "difference", inverse), f, x0_of(f), 2)[-1].x - exact).max())
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert np.all(np.abs(ratios - 4) < 0.1), "the error of central differences is of second order"


def test_per_fedavg_scales_with_the_objective() -> None:
    """F -> s f with lr, alpha and delta divided by s leaves every model where it was."""
    f, s = problem("logistic"), 4
    scaled = dataclasses.replace(f, weights=s * f.weights, l2=s * f.l2, beta=s * f.beta)
    ours = play(PerFedAvg(GradientSteps(3, 0.1), 0.2, inverse_delta=1000), f, x0_of(f), 3)
    theirs = play(PerFedAvg(GradientSteps(3, 0.1 / s), 0.2 / s, inverse_delta=1000 * s), scaled, x0_of(f), 3)
    assert_same_runs(ours, theirs, MODEL, OWN)


# ---- layers -------------------------------------------------------------------------------------------------------


def test_the_head_is_the_last_layer_with_its_biases() -> None:
    f = problem("perceptron")
    np.testing.assert_array_equal(find_head(f), find_coordinates(f, ["second weights", "second biases"]))
    assert find_head(f).sum() == (f.hidden + 1) * f.classes
    np.testing.assert_array_equal(find_head(problem("quadratics")), [False, False, True])
    assert not find_head(scalar_quadratics([1.0], [0.0])).any(), "one coordinate is shared"


def test_networks_of_which_a_part_is_shared() -> None:
    f = problem("perceptron")
    x0 = f.initial(1)
    for method, sent in ((FedRep(GD, GD), 6), (LgFedAvg(GD), 9), (FedRep(GD, GD, ["first biases"]), 13)):
        trace = run(method, f, x0, 40, metrics={"value": metrics.personal_value}, participation=Uniform(2))
        assert trace.state.sent == sent and trace.floats_up[-1] == sent * 2 * 40
        assert trace["value"][-1] < 0.7 * trace["value"][0]


def test_personal_models_beat_the_servers_on_clients_that_differ() -> None:
    """Digits sorted by label, two classes a client: what personalisation is for."""
    f = digits_task("shards", n=10, hidden=16).problem
    solver = GradientSteps(5, 0.5)
    methods = [Ditto(solver, 0.1), Apfl(solver), PerFedAvg(solver, 0.1), FedRep(solver, solver), LgFedAvg(solver)]
    for method in methods:
        measured = {"own": metrics.personal_value, "server": metrics.value}
        trace = run(method, f, f.initial(), 30, metrics=measured, participation=Uniform(5))
        assert trace["own"][-1] < 0.6 * trace["own"][0], method
        if not isinstance(method, FedRep | LgFedAvg):  # the server has no whole model of its own there
            assert trace["own"][-1] < trace["server"][-1], method


def test_parts_of_a_model_that_do_not_exist_are_refused() -> None:
    f = problem("quadratics")
    with pytest.raises(NotAvailable, match="naming a part of the model needs 'layers'"):
        LgFedAvg(GD, ["head"]).init(f, x0_of(f))
    with pytest.raises(
        InvalidInput, match=r"of shape \(2,\); expected names of layers or a boolean array of shape \(3,\)"
    ):
        LgFedAvg(GD, np.array([True, False])).init(f, x0_of(f))
    with pytest.raises(InvalidInput, match="float64 of shape"):
        FedRep(GD, GD, np.ones(3)).init(f, x0_of(f))
    with pytest.raises(InvalidInput, match="its layers are first weights, first biases"):
        FedRep(GD, GD, ["head"]).init(problem("perceptron"), x0_of(problem("perceptron")))


BAD = {
    "mu": (lambda: Ditto(GD, -1), "mu must be positive, got -1"),
    "alpha": (lambda: Apfl(GD, 1.1), r"must lie in \[0, 1\], got 1.1"),
    "own step": (lambda: PerFedAvg(GD, -0.1), "must not be negative, got -0.1"),
    "curvature": (lambda: PerFedAvg(GD, 0.1, "newton"), "curvature must be 'first-order', 'difference' or 'hessian'"),
    "delta": (lambda: PerFedAvg(GD, 0.1, inverse_delta=0), "inverse_delta must be a whole number"),
    "density": (lambda: FedSpa(GD, 0), r"must lie in \(0, 1\], got 0"),
    "prune": (lambda: FedSpa(GD, 0.5, 1.5), r"must lie in \[0, 1\], got 1.5"),
    "horizon": (lambda: FedSpa(GD, 0.5, 0.5, 0), "horizon must be a whole number"),
}


@pytest.mark.parametrize("name", BAD)
def test_settings_outside_the_definition_are_refused(name) -> None:
    make, message = BAD[name]
    with pytest.raises(InvalidInput, match=message):
        make()


def test_shares_and_own_steps_may_be_symbols() -> None:
    """Of which nothing is known before they have values."""
    share = sympy.Symbol("a")
    assert Apfl(GD, share).alpha is share and PerFedAvg(GD, share).alpha is share


def test_hessians_need_a_problem_that_has_them_and_full_gradients() -> None:
    with pytest.raises(NotAvailable, match="use curvature='difference'"):
        PerFedAvg(SGD, 0.1, "hessian")
    f = problem("perceptron")
    with pytest.raises(NotAvailable, match="curvature='hessian' needs 'hess'"):
        play(PerFedAvg(GD, 0.1, "hessian"), f, x0_of(f), 1)


# ---- engines ------------------------------------------------------------------------------------------------------


def test_one_round_of_apfl_in_fractions() -> None:
    """F_1 = x^2/2, f_2 = (x - 2)^2/2 from 1 with lr = alpha = 1/2, one step: u = 1/2, 3/2; v = 3/4, 5/4."""
    half = Fraction(1, 2)
    f = scalar_quadratics([Fraction(1), Fraction(1)], [Fraction(0), Fraction(2)])
    state = play_exactly(Apfl(GradientSteps(1, half), half), f, np.array([Fraction(1)]), 1)[-1]
    assert state.x.ravel().tolist() == [1] and state.v_i.ravel().tolist() == [Fraction(3, 4), Fraction(5, 4)]
    assert state.personal.ravel().tolist() == [Fraction(7, 8), Fraction(9, 8)]


def test_worst_cases_of_whole_models_only() -> None:
    """The first-order step is a gradient method on L-smooth functions; parts of a model are refused by name."""
    L, mu, a = 1.0, 0.1, 0.3
    found = worst_case_for_one_n(
        PerFedAvg(GradientSteps(1, 0.5), a, "first-order"), FunctionClass(L, mu), n=1, rounds=1
    )
    slopes = np.linspace(mu, L, 1001)
    on_quadratics = np.abs(1 - 0.5 * slopes * (1 - a * slopes)).max() ** 2
    assert on_quadratics <= found.value * (1 + 1e-6) and found.replay() == pytest.approx(found.value, rel=1e-3)
    for method in (FedRep(GD, GD), LgFedAvg(GD), FedSpa(GD, prune=0)):
        with pytest.raises(CannotTrace, match=f"{type(method).__name__}: it treats coordinates apart"):
            worst_case_for_one_n(method, FunctionClass(L, mu), n=2, rounds=1)
    near = PerFedAvg(GradientSteps(1, 0.5), a, "difference", inverse_delta=10)
    found = worst_case_for_one_n(near, FunctionClass(L, mu), n=1, rounds=1)
    on_quadratics = np.abs(1 - 0.5 * slopes * (1 - a * slopes) ** 2).max() ** 2
    assert on_quadratics <= found.value * (1 + 1e-6) and found.replay() == pytest.approx(found.value, rel=1e-3)
    for curvature, reason in (("difference", "ill-conditioned"), ("hessian", "it needs Hessians")):
        with pytest.raises(CannotTrace, match=f"PerFedAvg: .*{reason}"):
            worst_case_for_one_n(PerFedAvg(GD, a, curvature), FunctionClass(L, mu), n=2, rounds=1)
    with pytest.raises(CannotTrace, match="FedSpa: it ranks coordinates by size"):
        worst_case_for_one_n(FedSpa(GD), FunctionClass(L, mu), n=2, rounds=1)
    with pytest.raises(CannotTrace, match="Ditto: StochasticSteps: it draws samples at random"):
        play_exactly(Ditto(GD, 1.0, SGD), problem("logistic"), start(problem("logistic")), 1)


# ---- metrics and divergence ---------------------------------------------------------------------------------------


def test_personal_metrics_by_hand_and_only_where_there_are_personal_models() -> None:
    f = problem("logistic")
    state = play(Ditto(GD, 0.4), f, x0_of(f), 3)[-1]
    values, slopes = f.value(state.personal), f.grad(state.personal)
    assert metrics.personal_value(f, state) == pytest.approx(values.mean(), rel=1e-14)
    assert metrics.personal_stationarity(f, state) == pytest.approx((slopes**2).sum(axis=-1).mean(), rel=1e-14)
    assert {"personal_value", "personal_stationarity"} <= offered_metrics(state).keys()
    plain = play(FedAvg(GD), f, x0_of(f), 1)[-1]
    assert offered_metrics(plain).keys() == {"stationarity", "value", "magnitude"}


def test_a_personal_model_that_leaves_all_bounds_is_divergence() -> None:
    """The server's model stands still in Ditto while the penalty throws the personal ones out."""
    f = Quadratic(np.ones((2, 1, 1)), np.array([[1.0], [-1.0]]))
    trace = run(Ditto(GradientSteps(1, 0.5), 100.0), f, np.zeros(1), 400)
    assert trace.diverged and np.isinf(trace["stationarity"][-1]) and np.isfinite(trace.state.personal).all()
