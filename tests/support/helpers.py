"""What the tests share: array libraries, problems, cases of the contract matrix, comparisons."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import stand_in_cupy

from fedtheory.algorithms import ALGORITHMS, Listed
from fedtheory.core.arrays import is_array, to_numpy
from fedtheory.core.errors import NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Pooled, can, constant, gradient, move_to_library
from fedtheory.core.randomness import Key
from fedtheory.core.states import arrays_of
from problems.chains import total_variation_chain
from problems.finite_sum import random_finite_sum
from problems.huber import random_huber
from problems.logistic import Logistic, fedpd_synthetic, logistic
from problems.low_rank import robust_low_rank_regression
from problems.lower_bound import two_group_chain
from problems.mlp import MultilayerPerceptron
from problems.nonconvex import QuadraticPlusCosine, random_cauchy, random_cosines
from problems.quadratics import random_indefinite, random_quadratics, same_curvature
from problems.separable import Power, PowerTail, random_sines, skipping_instance
from problems.server import ServerAssisted
from problems.softmax import Softmax, softmax
from problems.svm import SupportVectorMachine, svm

# ---- array libraries ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Library:
    """An array library: makes arrays and moves problems; ``frozen`` makes what it makes read-only."""

    name: str
    example: Any  # an array whose library, device and dtype are meant
    frozen: bool = False
    mark: str = ""  # of the tests that need it, where not everybody has it

    def __str__(self) -> str:
        return self.name

    @property
    def marks(self) -> list[pytest.MarkDecorator]:
        return [getattr(pytest.mark, self.mark)] if self.mark else []

    def array(self, values: Any) -> Any:
        from fedtheory.core.arrays import like

        made = like(np.array(values, dtype=float), self.example)
        return self._freeze(made)

    def problem(self, problem: Any) -> Any:
        moved = move_to_library(problem, self.example)
        for field in dataclasses.fields(moved):
            self._freeze(getattr(moved, field.name))
        return moved

    def state(self, state: Any) -> Any:
        for value in arrays_of(state).values():
            self._freeze(value)
        return state

    def _freeze(self, made: Any) -> Any:
        if self.frozen and isinstance(made, np.ndarray):
            made.setflags(write=False)
        return made


def _libraries() -> list[Library]:
    import array_api_strict

    found = [
        Library("numpy", np.zeros(1)),
        Library("numpy-read-only", np.zeros(1), frozen=True),
        Library("array-api-strict", array_api_strict.zeros(1)),
        Library("array-api-strict-device", array_api_strict.zeros(1, device=array_api_strict.Device("device1"))),
    ]
    if stand_in_cupy.cupy is not None:
        found.append(Library("cupy-stand-in", stand_in_cupy.cupy.zeros(1)))
    try:
        import torch

        torch.set_num_threads(1)
        found.append(Library("torch", torch.zeros(1, dtype=torch.float64), mark="torch"))
        if torch.cuda.is_available():
            found.append(Library("torch-cuda", torch.zeros(1, dtype=torch.float64, device="cuda"), mark="gpu"))
    except ImportError:
        pass
    try:
        import cupy

        if cupy.is_available():
            found.append(Library("cupy", cupy.zeros(1), mark="gpu"))
    except Exception:  # importing it, or asking for a device, fails in many ways without CUDA
        pass
    return found


LIBRARIES = _libraries()
NUMPY, *OTHERS = LIBRARIES
WRITABLE = [library for library in LIBRARIES if not library.frozen]


def as_parameters(libraries: Sequence[Library]) -> list[Any]:
    """Libraries as parameters of a test, with their names and marks."""
    return [pytest.param(library, id=library.name, marks=library.marks) for library in libraries]


# ---- problems -----------------------------------------------------------------------------------------------------


def ragged_logistic(*, l2: float = 0.1, beta: float = 0.0, seed: int = 0) -> Logistic:
    """Logistic regression whose clients hold 5, 3, 4 and 6 samples."""
    rng = np.random.default_rng(seed)
    sizes = (5, 3, 4, 6)
    return logistic(
        [rng.standard_normal((m, 3)) for m in sizes],
        [rng.choice([-1, 1], m) for m in sizes],
        l2=l2,
        beta=beta,
    )


def small_perceptron() -> MultilayerPerceptron:
    """Two inputs, two hidden units, three classes; three clients with 4, 3 and 2 samples."""
    rng = np.random.default_rng(9)
    features, targets, weights = np.zeros((3, 4, 2)), np.zeros((3, 4, 3)), np.zeros((3, 4))
    for i, m in enumerate((4, 3, 2)):
        features[i, :m] = rng.standard_normal((m, 2))
        targets[i, np.arange(m), rng.integers(0, 3, m)] = 1
        weights[i, :m] = 1 / m
    return MultilayerPerceptron(features, targets, weights, hidden=2)


def ragged_svm(*, l2: float = 0.1, width: float = 0.0, squared: bool = False, seed: int = 0) -> SupportVectorMachine:
    """A support vector machine whose clients hold 5, 3, 4 and 6 samples."""
    rng = np.random.default_rng(seed)
    sizes = (5, 3, 4, 6)
    return svm(
        [rng.standard_normal((m, 3)) for m in sizes],
        [rng.choice([-1, 1], m) for m in sizes],
        l2=l2,
        width=width,
        squared=squared,
    )


def ragged_softmax(*, l2: float = 0.1, seed: int = 0) -> Softmax:
    """Softmax regression on two features and three classes; three clients with 4, 3 and 5 samples."""
    rng = np.random.default_rng(seed)
    sizes = (4, 3, 5)
    return softmax([rng.standard_normal((m, 2)) for m in sizes], [np.arange(m) % 3 for m in sizes], l2=l2)


#: with kinks: `grad` is a subgradient, and there is no constant L
NONSMOOTH = {"hinge-svm", "tv-chain"}


@cache
def smoothness(name: str) -> float:
    """L of an instance; for those that have none, a number that makes steps of a fitting size."""
    without = {"perceptron": 10.0, **dict.fromkeys(NONSMOOTH, 1.0)}
    return without[name] if name in without else float(constant(problem(name), "L"))


#: name -> a small instance; what the contract tests run on
PROBLEMS: dict[str, Callable[[], Any]] = {
    "quadratics": lambda: random_quadratics(4, 3, mu=0.2, seed=1),
    "indefinite": lambda: random_indefinite(4, 3, seed=2),
    "same-curvature": lambda: same_curvature(3, 2, mu=0.3, seed=3),
    "logistic": ragged_logistic,
    "penalised-logistic": lambda: fedpd_synthetic("strong", n=4, samples=6, d=3, seed=4),
    "sines": lambda: random_sines(4, 2, seed=5),
    "cosines": lambda: random_cosines(4, 3, terms=2, seed=6),
    "cauchy": lambda: random_cauchy(4, 2, seed=7),
    "quadratic-plus-cosine": lambda: QuadraticPlusCosine(
        h=np.array([[1.0, 0.4], [0.6, 0.2]]),
        b=np.array([[0.5, -1.0], [1.0, 0.3]]),
        c=np.array([[0.2, 0.5], [-0.3, 0.1]]),
        w=np.array([[1.5, 1.0], [2.0, 3.0]]),
    ),
    "skipping": lambda: skipping_instance(1.0, 0.5),
    "finite-sum": lambda: random_finite_sum(4, 5, 2, mu=0.2, seed=8),
    "power-tail": lambda: PowerTail(np.array([[1.0], [-1.0]]), np.array([[0.5], [-0.5]]), a=0.5),
    "zero-chain": lambda: two_group_chain(3, n=4),
    "perceptron": small_perceptron,
    "smooth-svm": lambda: ragged_svm(width=0.5),
    "hinge-svm": lambda: ragged_svm(seed=1),  # a sample crosses its kink in the first rounds
    "softmax": ragged_softmax,
    "tv-chain": lambda: total_variation_chain(5),
    "huber": lambda: random_huber(4, 3, seed=10),
    "server-assisted": lambda: _with_server(random_quadratics(4, 3, mu=0.2, seed=11)),
    "power": lambda: Power(np.array([[0.2, 0.0], [-0.2, 0.0]]), p=4),
    "robust-low-rank": lambda: robust_low_rank_regression(3, 2, 3, samples=4, seed=1).problem,
}


def _with_server(f: Any) -> ServerAssisted:
    return ServerAssisted(f, Pooled(f))


#: without a stationary point of f to start from: infima that are not attained or flat, a network, kinks, an objective f + h
UNSOLVED = {"power-tail", "zero-chain", "perceptron", "power", "robust-low-rank", *NONSMOOTH}

#: the same families with one batch axis of two instances
BATCHED: dict[str, Callable[[], Any]] = {
    "quadratics": lambda: random_quadratics(4, 3, mu=0.2, batch=(2,), seed=1),
    "indefinite": lambda: random_indefinite(4, 3, batch=(2,), seed=2),
    "sines": lambda: random_sines(4, 2, batch=(2,), seed=5),
    "cosines": lambda: random_cosines(4, 3, terms=2, batch=(2,), seed=6),
    "penalised-logistic": lambda: stacked_logistic(
        *(fedpd_synthetic("weak", n=4, samples=6, d=3, seed=s) for s in (6, 7))
    ),
}


def stacked_logistic(first: Logistic, second: Logistic) -> Logistic:
    """Two instances with equal weights as a batch."""
    np.testing.assert_array_equal(first.weights, second.weights)
    return dataclasses.replace(first, signed=np.stack([first.signed, second.signed]))


def row_of(batched: Any, row: int) -> Any:
    """One instance of a batch: fields with a batch axis in front are indexed, shared ones kept."""
    if isinstance(batched, ServerAssisted):
        return ServerAssisted(row_of(batched.inner, row), row_of(batched.server, row))
    shared = {"weights"} if isinstance(batched, Logistic) else set()
    picked = {
        f.name: getattr(batched, f.name)[row]
        for f in dataclasses.fields(batched)
        if is_array(getattr(batched, f.name)) and f.name not in shared
    }
    return dataclasses.replace(batched, **picked)


@cache
def problem(name: str) -> Any:
    return PROBLEMS[name]()


@cache
def stationary_point(name: str) -> np.ndarray:
    """A stationary point of the average ``(1, d)``: gradient descent, then Newton to the floor of float64."""
    f = problem(name)
    x = np.full((1, f.d), 0.3)
    L = smoothness(name)
    for _ in range(400):
        x = x - gradient(f, x) / L
    for _ in range(20):
        curvature = np.broadcast_to(f.hess(x), (f.n, f.d, f.d)).mean(axis=0)
        x = x - np.linalg.solve(curvature, gradient(f, x)[0])[None, :]
    assert np.abs(gradient(f, x)).max() < 1e-14 * max(1.0, L), "the helper itself must have converged"
    return x


# ---- the contract matrix ------------------------------------------------------------------------------------------


def build(entry: Listed, **common: Any) -> Any:
    """A listed method with options by the names that most methods use (`Option.role`); those that it does not have are left out."""
    return entry.build(**{option.name: common[option.role] for option in entry.options if option.role in common})


# Libraries and batch rows do the same operations in another order of summation. A few rounds of a few hundred
# operations on numbers of size 10 lose below 1e-12; Newton's method inside a round stops at its own floor.
SUMMATION = 1e-12
NEWTON = 1e-10


@dataclass(frozen=True)
class Case:
    """A listed method with one kind of settings on one problem."""

    entry: Listed
    kind: str  # steps, exact, batch, epochs, skip
    problem_name: str

    @property
    def problem(self) -> Any:
        return self.dress(problem(self.problem_name))

    def dress(self, f: Any) -> Any:
        """Give a problem what the method needs beyond gradients."""
        return dressed(self.entry, f)

    @property
    def random(self) -> bool:
        return self.kind in ("batch", "epochs", "skip")

    @property
    def by_number(self) -> bool:
        """Whether draws belong to a client's number, so that relabelled clients draw others: minibatches, first masks, compression."""
        drawing = ("fedspa", "diana", "fedpaq", "compressed-scaffnew")
        return self.kind in ("batch", "epochs") or self.entry.name.startswith(drawing)

    @property
    def tolerance(self) -> float:
        return NEWTON if self.kind == "exact" and not hasattr(self.problem, "prox") else SUMMATION

    def options(self, scale: Any = 1.0) -> dict[str, Any]:
        """Steps well inside every method's stable range; ``scale`` multiplies them (an array for a batch)."""
        L = smoothness(self.problem_name)
        return dict(
            lr=0.2 / L * scale,
            steps=1 if self.kind == "epochs" else 2,
            **({"epochs": 2, "batch": 4, "clip": 0.2, "lr_decay": 0.8} if self.kind == "epochs" else {}),
            **({"batch": 2} if self.kind == "batch" else {}),
            eta=0.25 / L * scale,
            rho=2 * L / scale,
            p=0.4 if self.kind == "skip" else 0,
            q=0.6 if self.kind == "skip" else 1,
            nu=0.1 * L * scale,
            momentum=0.3,
            mu=0.05 * L / scale,
            period=2,
            exact=self.kind == "exact",
            inner_lr=0.1 / L * scale,
            model_lr=0.2 / L * scale,
        )

    def algorithm(self, scale: Any = 1.0) -> Any:
        return build(self.entry, **self.options(scale))

    @property
    def x0(self) -> np.ndarray:
        """A starting point with no symmetry ``(1, d)``."""
        return x0_of(self.problem)

    @property
    def played(self) -> list[Any]:
        """The states of the first rounds with NumPy, everyone taking part, seed 0; their arrays are read-only."""
        return _played(self)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"{self.entry.name}-{self.kind}-{self.problem_name}"


def _strongly_convex(f: Any) -> bool:
    try:
        return bool(np.all(constant(f, "mu").value > 0))
    except NotAvailable:
        return False


def dressed(entry: Listed, f: Any) -> Any:
    """Give a problem what a listed method needs beyond gradients: a server that holds the first client's data."""
    return ServerAssisted(f, f.take(Clients(f.n, np.array([0])))) if "server" in entry.needs else f


#: where passes through the data run, with clipping and decaying steps: six samples a client, minibatches of four and two
IN_EPOCHS = "penalised-logistic"


def _kinds(entry: Listed, name: str) -> list[str]:
    f = problem(name)
    kinds = ["steps"]
    if (
        "exact" in entry.uses
        and (can(f, "prox") or can(f, "hess"))
        and (_strongly_convex(f) or not entry.strongly_convex)
    ):
        kinds.append("exact")
    if "batch" in entry.uses and can(f, "sample_grad"):
        kinds.append("batch")
    if "epochs" in entry.uses and name == IN_EPOCHS:
        kinds.append("epochs")
    if {"p", "q"} & set(entry.uses):
        kinds.append("skip")
    return kinds


#: every listed method, in every kind of settings it reads, on every problem: nothing else to do for a new method
CASES = [Case(entry, kind, name) for entry in ALGORITHMS for name in PROBLEMS for kind in _kinds(entry, name)]


#: rounds of `Case.played`
ROUNDS = 3


@cache
def _played(case: Case) -> list[Any]:
    states = play(case.algorithm(), case.problem, case.x0, ROUNDS)
    for state in states:
        for value in arrays_of(state).values():
            value.setflags(write=False)
    return states


Row = tuple[Any, ...]  # a case and whatever else a contract takes, everything with a name of its own: str(...)


def rows(keep: Callable[[Case], bool] = lambda case: True) -> list[Row]:
    """Every case that ``keep`` lets through."""
    return [(case,) for case in CASES if keep(case)]


def rows_beside_numpy(keep: Callable[[Case], bool] = lambda case: True, variants: Sequence[Any] = ()) -> list[Row]:
    """Every case with one library that is not NumPy and, if there are ``variants``, with one of these.

    Each case takes the pair that its method and its problem have met least, so that every method and every problem meets all pairs.
    """
    pairs = [(library, *variant) for library in OTHERS for variant in ([(v,) for v in variants] or [()])]
    met: Counter[tuple[str, int]] = Counter()
    found = []
    for case in filter(keep, CASES):
        own = (case.entry.name, case.problem_name)
        least = min(range(len(pairs)), key=lambda k, own=own: sum(met[name, k] for name in own))
        met.update((name, least) for name in own)
        found.append((case, *pairs[least]))
    return found


def rows_on_libraries(keep: Callable[[Case], bool] = lambda case: True) -> list[Row]:
    """Every case with NumPy, and with one of the other libraries, as in `rows_beside_numpy`."""
    return [row for case, other in rows_beside_numpy(keep) for row in ((case, NUMPY), (case, other))]


def for_every_method(rows: Sequence[Row]) -> Callable[[Callable[..., None]], Any]:
    """Make a contract ``check(case, ...)`` one test a method, which calls it on every row of that method (`check_each`).

    Rows on a library that not everybody has are a test of their own, which carries its mark.
    """
    groups: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        mark = next((part.mark for part in row if isinstance(part, Library)), "")
        groups.setdefault((row[0].entry.name, mark), {})["-".join(map(str, row))] = row
    params = [
        pytest.param(group, id=f"{name}-{mark}" if mark else name, marks=[getattr(pytest.mark, mark)] if mark else [])
        for (name, mark), group in groups.items()
    ]

    def decorate(check: Callable[..., None]) -> Any:
        @pytest.mark.parametrize("group", params)
        def test(group: Mapping[str, Row]) -> None:
            check_each(check, group)

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return decorate


def check_each(check: Callable[..., None], group: Mapping[str, Row]) -> None:
    """Call ``check(*row)`` for every row of a group, and raise once, with every row that failed by its name.

    Raises
    ------
    BaseExceptionGroup
        Of the errors, in order; its message has the names.
    """
    failed: dict[str, BaseException] = {}
    for name, row in group.items():
        try:
            check(*row)
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"in the case {name}")
            failed[name] = error
    if failed:
        raise BaseExceptionGroup(f"{len(failed)} of {len(group)} cases fail: {', '.join(failed)}", [*failed.values()])


def start(f: Any) -> np.ndarray:
    """A starting point with no symmetry: ``(d,)``."""
    return 0.7 + 0.4 * np.sin(np.arange(f.d) + 1.0)


def x0_of(f: Any) -> np.ndarray:
    """The same as an array ``(1, d)``, as methods take it."""
    return start(f)[None, :]


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    """Standard normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape)


def composite_solution(f: Any, h: Any, rounds: int = 4000) -> np.ndarray:
    """Proximal gradient steps on the average of quadratics plus h, to its floor."""
    L = float(np.linalg.eigvalsh(f.A).max())
    x = np.zeros((1, f.d))
    for _ in range(rounds):
        x = h.prox(x - gradient(f, x) / L, 1 / L)
    return x


def play(algorithm: Any, f: Any, x0: Any, rounds: int, participation: Any = None, seed: Any = 0) -> list[Any]:
    """The states of the first rounds, without the runner; x0 is ``(..., 1, d)``."""
    states = [algorithm.init(f, x0)]
    for r in range(rounds):
        key = Key(seed, r)
        clients = None if participation is None else participation.draw(f.n, key)
        states.append(algorithm.round(f, states[-1], clients, key))
    return states


class Counting:
    """A problem that counts the gradients it is asked for, one a client and point."""

    def __init__(self, inner, seen=None) -> None:
        self.inner, self.seen = inner, [] if seen is None else seen

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def grad(self, x):
        found = self.inner.grad(x)
        self.seen.append(int(np.prod(found.shape[:-1])))
        return found

    def sample_grad(self, x, samples):
        found = self.inner.sample_grad(x, samples)
        self.seen.append(int(np.prod(found.shape[:-1])))
        return found

    def take(self, clients):
        return self if clients is None else Counting(self.inner.take(clients), self.seen)


# ---- comparisons --------------------------------------------------------------------------------------------------


def fields(state: Any) -> dict[str, np.ndarray]:
    """A state's arrays on the host."""
    return {name: to_numpy(value) for name, value in arrays_of(state).items()}


def assert_same(left: Any, right: Any, rtol: float = 0.0) -> None:
    """States agree field by field, up to ``rtol`` times the largest entry (0: bit for bit)."""
    ours, theirs = fields(left), fields(right)
    assert ours.keys() == theirs.keys()
    for name in ours:
        close(ours[name], theirs[name], rtol, name)


def close(left: Any, right: Any, rtol: float = 0.0, name: str = "") -> None:
    """Arrays of one shape agree up to ``rtol`` times the largest entry, or 1 if that is less (0: bit for bit)."""
    left, right = to_numpy(left), to_numpy(right)
    assert left.shape == right.shape, (name, left.shape, right.shape)
    # first the plain comparison: that of np.testing takes ten times as long, and says more when it fails
    if rtol == 0:
        if not np.array_equal(left, right):
            np.testing.assert_array_equal(left, right, err_msg=name)
        return
    size = max(1.0, float(np.abs(right).max(initial=0)))
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.all(np.abs(left - right) <= rtol * size)
    if not near:
        np.testing.assert_allclose(left, right, rtol=0, atol=rtol * size, err_msg=name)


# The two sides do the same arithmetic in another order: a few hundred operations on numbers of size 10.
ROUNDING = 1e-12


def assert_same_models(
    left: Sequence[Any], right: Sequence[Any], rtol: float = ROUNDING, names: Sequence[str] = ("x",)
) -> None:
    """Two runs have the same models, or other fields, after every round."""
    assert len(left) == len(right)
    for r, (ours, theirs) in enumerate(zip(left, right, strict=True)):
        for name in names:
            close(getattr(ours, name), getattr(theirs, name), rtol, f"{name} after round {r}")


def assert_equal_traces(ours, theirs) -> None:
    """Two runs measured, sent and ended with the same."""
    np.testing.assert_array_equal(ours.rounds, theirs.rounds)
    for name in theirs.metrics:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    for name in ("floats_up", "floats_down", "diverged_at"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    assert_same(ours.state, theirs.state)
    assert ours.info == theirs.info
