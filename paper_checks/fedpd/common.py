"""What the FedPD checks share: step-size ranges, bounds, metrics, local solvers of a check's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import FedPD
from fedtheory.claims import Check, Claim, Clause, Context, Fault, Finding, Kind, Part, Picture, Role, at_most
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.protocol import join_clauses
from fedtheory.core.arrays import Array, average, choose, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, constants
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, Memoryless
from fedtheory.local.subproblem import Subproblem
from fedtheory.measures import metrics
from fedtheory.running.record import Trace
from fedtheory.running.runner import run
from paper_checks.formulas import formula_in_words
from paper_checks.steps import claims_of, under_one_name

PAPER = "fedpd"
DERIVED = f"{PAPER}, derived"
claim, derived = claims_of(PAPER), claims_of(DERIVED)


def largest_step(L: Any, root_5: Any = 5**0.5) -> Any:
    """What eta is below in Theorem 1: L eta is below the positive root of 1 - 2u - 4u^2."""
    return (root_5 - 1) / (4 * L)


THRESHOLD = largest_step(1)

A1 = "A1: every f_i and f are L-smooth"
A2 = "A2: f is bounded below"
A4 = "A4: ||grad f_i(x) - grad f_j(x)|| <= G for all x"
STEP = f"0 < eta < {formula_in_words(largest_step, L='L', root_5='sqrt(5)')}"


def theorem_one_cases(u: Any) -> tuple[Any, Any]:
    """What the factor of the corrected Theorem 1 has a maximum of, u = L eta."""
    return 1, u**2 / ((1 - 2 * u) * (1 + u))


def theorem_one_factor(u: Any, eta: Any, strength: Any = 4, worst: Any = None) -> Any:
    """Factor of f(x^0) - f(x_0^T) in the corrected Theorem 1: (4 (1+u)^2/eta) max{1, u^2/((1-2u)(1+u))}, u = L eta; exact in fractions.

    ``worst`` stands for the maximum where there are symbols.
    """
    return strength * (1 + u) ** 2 / eta * (np.maximum(*theorem_one_cases(u)) if worst is None else worst)


def cases_with_errors(u: Any, q: Any = None) -> tuple[Any, Any]:
    """What K of `factor_with_errors` has a maximum of; ``q`` = 1 - 2u - 4u^2."""
    return 1, u**2 / (1 - 2 * u - 4 * u**2 if q is None else q)


def factor_with_errors(u: Any, eta: Any, strength: Any = 4, worst: Any = None) -> Any:
    """K = (8 (1+u)^2/eta) max{1, u^2/(1-2u-4u^2)}; ``worst`` stands for the maximum where there are symbols."""
    return 2 * strength * (1 + u) ** 2 / eta * (max(cases_with_errors(u)) if worst is None else worst)


def constants_with_errors(L: Any, eta: Any, K: Any = None, accuracy: Any = 1) -> tuple[Any, Any]:
    """C_2 = K + 2L and C_4 = K (1/L + 8 eta) + 16 (1+u)^2 + 4 of Theorem 1 with errors of local solves."""
    u = L * eta
    K = factor_with_errors(u, eta) if K is None else K
    return K + 2 * L, accuracy * (K * (1 / L + 8 * eta) + 16 * (1 + u) ** 2 + 4)


def cumulative(trace: Trace, metric: str = "stationarity") -> NDArray[np.float64]:
    """Sum over rounds 1..r of a metric, for every r: ``(*batch, R)`` with 0 at r = 0."""
    values = trace[metric].copy()
    values[..., 0] = 0
    return np.asarray(np.cumsum(values, axis=-1))


@dataclass(frozen=True)
class ExactWithError(Memoryless):
    """Exact local solves up to a prescribed error: grad L_i at the answer equals e_i, of norm sqrt(epsilon_1).

    Solving f_i + <a_i - e_i, .> + (rho/2)||. - z_i||^2 exactly leaves exactly e_i in the gradient of the subproblem. The
    error is ``size`` times a unit direction: the same for all clients and rounds (``constant``), or drawn per round.
    """

    size: Any
    constant: bool = False
    numeric_only: ClassVar[str | None] = "it draws errors at random"

    def __call__(self, sub: Subproblem, start: Array, key: Key, memory: None) -> tuple[Array, None]:
        """Solve with the error."""
        n, d = sub.f.n, sub.f.d
        drawn = np.ones((n, d)) if self.constant else 2 * key.client_uniform("local error", n, d) - 1
        direction = drawn / np.sqrt((drawn**2).sum(axis=-1, keepdims=True))
        return Exact()(Subproblem(sub.f, sub.a - self.size * direction, sub.rho, sub.z), start, key, None)


@dataclass(frozen=True, eq=False)
class Prescribed(Memoryless):
    """A local solver that returns prescribed points: with symbols it stands for any local solver at all.

    ``answers`` maps a round to the points ``(n, d)``; ``steps`` and ``lr`` are what SCAFFOLD divides by.
    """

    answers: Callable[[int], Any]
    steps: int = 1
    lr: Any = 1

    def __call__(self, sub: Subproblem, start: Array, key: Key, memory: None) -> tuple[Array, None]:
        """Return the prescribed points."""
        return self.answers(key.round), None


@dataclass(frozen=True)
class Mistaken(FedPD):
    """A planted fault: FedPD's round, after which some fields are other ones."""

    def round(self, problem: Problem, state: Any, clients: Clients | None, key: Key) -> Any:
        """Run FedPD's round, then make the mistake."""
        new = FedPD.round(self, problem, state, clients, key)
        return dataclasses.replace(new, **self.mistake(state, new, key))

    def mistake(self, old: Any, new: Any, key: Key) -> Mapping[str, Any]:
        """The fields that come out wrong."""
        raise NotImplementedError


class WithoutDuals(Mistaken):
    """Planted fault: the dual variables never move."""

    def mistake(self, old: Any, new: Any, key: Key) -> Mapping[str, Any]:
        """Put the old duals back."""
        return {"lam_i": old.lam_i}


class AveragesModels(Mistaken):
    """Planted fault: the server averages x_i instead of x_i + eta lam_i."""

    def mistake(self, old: Any, new: Any, key: Key) -> Mapping[str, Any]:
        """Replace the server's model."""
        x = average(new.x_i)
        return {"x": x, "x0_i": spread(x, new.x_i.shape[-2])}


class HalfDualStep(Mistaken):
    """Planted fault: the dual step is half of (x_i - x_{0,i})/eta."""

    def mistake(self, old: Any, new: Any, key: Key) -> Mapping[str, Any]:
        """Take a shorter dual step."""
        lam = (old.lam_i + new.lam_i) / 2
        upload = new.x_i + self.eta * lam
        x = average(upload)
        x0_i = choose(self._communicates(key), spread(x, upload.shape[-2]), upload)
        return {"x": x, "x0_i": x0_i, "lam_i": lam}


def checked(
    id: str,
    kind: Kind,
    source: str,
    statement: str | tuple[Clause, ...],
    check: Check,
    *faults: Fault,
    assumes: tuple[str, ...],
    **more: Any,
) -> Claim:
    """A claim with a check of its own; a statement may be given as its clauses."""
    if not isinstance(statement, str):
        statement, more = join_clauses(statement), more | {"clauses": statement}
    return Claim(
        id, DERIVED if id.startswith("FEDPD-D") else PAPER, kind, source, statement, check, faults, assumes, **more
    )


def find_stated(
    context: Context, statements: Mapping[str, Any], instead: Mapping[str, Any] | None = None, role: Role = "printed"
) -> Generator[Finding, None, list[Part]]:
    """What engines find of statements as data, each under its name; returns the parts. ``instead`` has others in the place of some."""
    parts = []
    for name, statement in {**statements, **(instead or {})}.items():
        for finding in under_one_name(name, statement.findings(context)):
            if isinstance(finding, Part):
                parts.append(dataclasses.replace(finding, role=role))
                yield parts[-1]
            else:
                yield finding
    return parts


def put(fault: str, part: str, statement: Any, holds: bool | None = False) -> Fault:
    """A planted fault: another statement in the place of the one of that name."""
    return Fault(fault, part, {"instead": {part: statement}}, holds)


def draw(title: str, traces: Mapping[str, Trace], metric: str = "stationarity") -> Picture:
    """A metric by rounds, a line a run; of batches the mean, with a band."""
    series = []
    for label, trace in traces.items():
        series.append(repeat_curve(label, trace.rounds, trace[metric]))
    return Picture(title, "rounds", "||grad f||^2" if metric == "stationarity" else metric, series, logy=True)


def steepest(gradient: Callable[[Array], Array], points: Array, seed: int, turns: int = 40) -> NDArray[np.float64]:
    """Largest ||g(x + v) - g(x - v)|| / ||2v|| for short v, one a point ``(..., n, d)``, by power iteration: from gradients alone."""
    short = 1e-4
    v = np.random.default_rng(seed).standard_normal(points.shape)
    size = np.zeros(points.shape[:-1])
    for _ in range(turns):
        v = v / np.maximum(np.sqrt((v**2).sum(axis=-1, keepdims=True)), 1e-300)
        v = (gradient(points + short * v) - gradient(points - short * v)) / (2 * short)
        size = np.maximum(size, np.sqrt((v**2).sum(axis=-1)))
    return size


def constants_hold(name: str, problem: Any, seed: int, *, extra: Any = (), role: Role = "printed") -> Part:
    """Part: certified L, L_avg, L_sample and G are at least what gradients show at 0, at random points and at ``extra`` scalars.

    A constant that is reached there would be rejected a little lower; the text says how nearly each is.
    """
    known, rng = constants(problem), np.random.default_rng(seed)
    shape = np.shape(problem.grad(np.zeros((1, problem.d))))
    points = [np.zeros(shape), *rng.standard_normal((4, *shape)), *(np.full(shape, float(x)) for x in extra)]

    def mean(x: Array) -> Array:
        return np.asarray(problem.grad(x).mean(axis=-2, keepdims=True))

    def apart(x: Array) -> Array:
        g = problem.grad(x[..., :1, :])
        return np.sqrt(((g[..., :, None, :] - g[..., None, :, :]) ** 2).sum(axis=-1)).max(axis=(-1, -2))

    def sampled(k: int) -> Array:
        one = partial(_sample_gradient, problem, np.full((problem.n, 1), k))
        return steepest(one, points[0], seed).max(axis=-1)

    seen = {"L": np.max([steepest(problem.grad, x, seed).max(axis=-1) for x in points], axis=0)}
    if "L_avg" in known:
        seen["L_avg"] = np.max([steepest(mean, x[..., :1, :], seed)[..., 0] for x in points], axis=0)
    if "L_sample" in known:
        seen["L_sample"] = np.max([seen["L"], *map(sampled, range(int(np.min(problem.n_samples))))], axis=0)
    if "G" in known:
        seen["G"] = np.max([apart(x) for x in (*points, np.full(shape, 1e4), np.full(shape, -1e4))], axis=0)
    shares = {key: values / np.asarray(known[key].value, dtype=float) for key, values in seen.items()}
    told = ", ".join(f"{np.max(v):.4g} of {key}" for key, v in shares.items())
    text, largest = (
        f"what gradients show of the certified constants, at most: {told}",
        [np.ravel(v) for v in shares.values()],
    )
    part = at_most(name, np.concatenate(largest), 1.0, "numeric", text, error=1e-6, role=role)
    return dataclasses.replace(part, margin=None)  # the statement's own margin is another


def _sample_gradient(problem: Any, samples: NDArray[np.int64], x: Array) -> Array:
    return problem.sample_grad(x, samples)


def communications(method: Any, problem: Problem, x0: Any, rounds: int, seed: int = 0) -> int:
    """In how many rounds of a run the clients leave with one common model, seen from their copies x_{0,i} and not from any count.

    With different gradients the copies differ after a round that skips communication.
    """
    state, found = method.init(problem, np.asarray(x0)[None, :]), 0
    for r in range(rounds):
        state = method.round(problem, state, None, Key(seed, r))
        found += bool((state.x0_i == state.x0_i[..., :1, :]).all())
    return found


def rational(text: Any) -> Fraction:
    """Exact number of a JSON instance: "1/3", "0.1" and integers are read exactly."""
    return Fraction(str(text))


def whole(value: Any) -> int:
    """Return a whole number of a JSON instance, which nothing is rounded to.

    Raises
    ------
    InvalidInput
        It is another number, or none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{value!r} is not a whole number")
    return value


def fractions(values: Any) -> NDArray[Any]:
    """Return an object array of fractions from nested lists of numbers or strings."""
    flat = np.asarray(values, dtype=object)
    return np.asarray(np.vectorize(rational, otypes=[object])(flat), dtype=object)


def floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the same numbers in floating point."""
    return np.asarray(values, dtype=float)


def total(problem: Problem, algorithm: Any, x0: Any, rounds: int, seed: Any = 0) -> Trace:
    """Run with the metrics most checks need: stationarity and value."""
    asked = {"stationarity": metrics.stationarity, "value": metrics.value}
    return run(algorithm, problem, x0, rounds, seed=seed, metrics=asked, progress=False)
