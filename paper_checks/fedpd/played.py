"""FedPD's own code on instances: local solvers and methods with a mistake of a check's own, exact numbers, runs, constants seen from gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import FedPD
from fedtheory.claims import Context, Engine, Fault, Finding, Part, Picture, Role, at_most
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.orderings import ordered
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
from paper_checks.steps import under_one_name


# ---- Local solvers ---------------------------------------------------------------------------------------------------
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


# ---- Mistakes --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Mistaken(FedPD):
    """A planted fault: FedPD's round, after which some fields are other ones."""

    def round(self, problem: Problem, state: Any, clients: Clients | None, key: Key) -> Any:
        """Run FedPD's round, then make the mistake."""
        new = FedPD.round(self, problem, state, clients, key)
        return replace(new, **self.mistake(state, new, key))

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


# ---- Numbers of instances --------------------------------------------------------------------------------------------
def rational(text: Any) -> Fraction:
    """Exact number of a JSON instance: "1/3", "0.1" and integers are read exactly."""
    return Fraction(str(text))


def whole(value: Any) -> int:
    """Return a whole number of a JSON instance; nothing is rounded to one, and what is none is invalid."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{value!r} is not a whole number")
    return value


def fractions(values: Any) -> NDArray[Any]:
    """Return an object array of fractions from nested lists of numbers or strings."""
    flat = np.asarray(values, dtype=object)
    return np.asarray(np.vectorize(rational, otypes=[object])(flat), dtype=object)


# ---- Runs ------------------------------------------------------------------------------------------------------------
def total(problem: Problem, algorithm: Any, x0: Any, rounds: int, seed: Any = 0) -> Trace:
    """Run with the metrics most checks need: stationarity and value."""
    asked = {"stationarity": metrics.stationarity, "value": metrics.value}
    return run(algorithm, problem, x0, rounds, seed=seed, metrics=asked, progress=False)


def communications(method: Any, problem: Problem, x0: Any, rounds: int, seed: int = 0) -> int:
    """In how many rounds of a run the clients leave with one common model, seen from their copies x_{0,i} and not from any count.

    With different gradients the copies differ after a round that skips communication.
    """
    state, found = method.init(problem, np.asarray(x0)[None, :]), 0
    for r in range(rounds):
        state = method.round(problem, state, None, Key(seed, r))
        found += bool((state.x0_i == state.x0_i[..., :1, :]).all())
    return found


def draw(title: str, traces: Mapping[str, Trace]) -> Picture:
    """||grad f||^2 by rounds, a line a run; of batches the mean, with a band."""
    series = [repeat_curve(label, trace.rounds, trace["stationarity"]) for label, trace in traces.items()]
    return Picture(title, "rounds", "||grad f||^2", series, logy=True)


# ---- Constants -------------------------------------------------------------------------------------------------------
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
        picked = np.full((problem.n, 1), k)
        return steepest(lambda x: problem.sample_grad(x, picked), points[0], seed).max(axis=-1)

    seen = {"L": np.max([steepest(problem.grad, x, seed).max(axis=-1) for x in points], axis=0)}
    if "L_avg" in known:
        seen["L_avg"] = np.max([steepest(mean, x[..., :1, :], seed)[..., 0] for x in points], axis=0)
    if "L_sample" in known:
        seen["L_sample"] = np.max([seen["L"], *map(sampled, range(int(np.min(problem.n_samples))))], axis=0)
    if "G" in known:
        seen["G"] = np.max([apart(x) for x in (*points, np.full(shape, 1e4), np.full(shape, -1e4))], axis=0)
    shares = {key: values / np.asarray(known[key].value, dtype=float) for key, values in seen.items()}
    told = ", ".join(f"{np.max(v):.4g} of {key}" for key, v in shares.items())
    text = f"what gradients show of the certified constants, at most: {told}"
    largest = np.concatenate([np.ravel(v) for v in shares.values()])
    part = at_most(name, largest, 1.0, "numeric", text, error=1e-6, role=role)
    return replace(part, margin=None)  # the statement's own margin is another


# ---- Statements as data ----------------------------------------------------------------------------------------------
def find_stated(
    context: Context, statements: Mapping[str, Any], instead: Mapping[str, Any] | None = None, role: Role = "printed"
) -> Iterator[Finding]:
    """What engines find of statements as data, each under its name. ``instead`` has others in the place of some."""
    for name, statement in {**statements, **(instead or {})}.items():
        for finding in under_one_name(name, statement.findings(context)):
            yield replace(finding, role=role) if isinstance(finding, Part) else finding


def put(fault: str, part: str, statement: Any, holds: bool | None = False) -> Fault:
    """A planted fault: another statement in the place of the one of that name."""
    return Fault(fault, part, {"instead": {part: statement}}, holds)


# ---- Draws of instances ----------------------------------------------------------------------------------------------
P = TypeVar("P")
DRAWS = 14  #: of data, each with coins of its own


def draw_batch(make: Callable[..., P], seeds: NDArray[np.int64], *varying: str) -> P:
    """Return one instance whose batch has a row for every seed: the fields that vary are stacked, the others must not."""
    made: list[Any] = [make(seed=int(seed)) for seed in seeds]
    batch: P = replace(made[0], **{name: np.stack([getattr(one, name) for one in made]) for name in varying})
    return batch


def exceeds(name: str, values: Any, by: float, text: str, *, engine: Engine = "numeric") -> Part:
    """Part: the mean of a quantity over draws of data and coins is above ``by``."""
    return ordered(name, values, np.zeros_like(values), text, by=by, engine=engine)


def stays_below(name: str, values: Any, limit: float, text: str, *, role: Role = "printed") -> Part:
    """Part: the mean of a quantity over draws of data and coins is below ``limit``."""
    values = np.asarray(values, dtype=float)
    return ordered(
        name, np.full_like(values, limit), values, f"{text}; below {limit:g} by", engine="numeric", role=role
    )
