"""Small semidefinite programs, straight to the solver's sparse interface, with answers judged by their own residuals.

    maximise  <C, X> + c.f   subject to   <A_k, X> + a_k.f <= b_k,   X = (X_1, ..., X_p) positive semidefinite,  f free.

The dual variables are multipliers y >= 0 with  Z_j = sum_k y_k A_kj - C_j  positive semidefinite and  sum_k y_k a_k = c;  its value is y.b.
The first rows may be equations instead; their multipliers are free, so that any linear matrix inequality in y is the dual of a program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fedtheory.core.errors import SolverFailed
from fedtheory.proofs.semidefinite.program import Matrix, Program, unpack
from fedtheory.proofs.semidefinite.solvers import ask


@dataclass(frozen=True)
class Residuals:
    """How far a solution is from satisfying its own conditions; all are zero for an exact one.

    ``gram`` and ``slack`` are the most negative eigenvalues of X and Z (as positive numbers), ``constraints`` the largest violation,
    ``negative`` the most negative multiplier, ``balance`` what is left of sum y a - c, ``gap`` the dual value less the primal one.
    """

    gram: float
    constraints: float
    slack: float
    negative: float
    balance: float
    gap: float

    def worst(self) -> float:
        """Largest of them."""
        return max(self.gram, self.constraints, self.slack, self.negative, self.balance, abs(self.gap))


@dataclass(frozen=True)
class Attempt:
    """What a solver said when it was asked, and the worst residual of its answer, relative to max(1, value); None for no answer."""

    solver: str
    status: str
    worst_residual: float | None

    def __str__(self) -> str:
        found = (
            "no finite answer" if self.worst_residual is None else f"worst relative residual {self.worst_residual:.1e}"
        )
        return f"{self.solver}: {self.status}, {found}"


@dataclass(frozen=True, eq=False)
class Solution:
    """Primal and dual variables as the solver returned them, and what they are worth.

    ``value`` is y.b, ``lower`` the primal objective; the residuals are absolute, of the program whose objective is counted in ``unit``.
    ``attempts``: what the solvers that were asked said. ``overshoot``: by how much the maximum may be smaller than the value, to first order.
    """

    value: float
    lower: float
    blocks: tuple[Matrix, ...]
    values: Matrix
    multipliers: Matrix
    residuals: Residuals
    solver: str
    status: str
    seconds: float
    difference: float | None = None  #: between the values of the solvers that were made to agree
    attempts: tuple[Attempt, ...] = ()
    unit: float = 1.0
    overshoot: float = 0.0

    def worst(self) -> float:
        """Largest residual, the gap included, relative to max(1, value), the value in units."""
        return self.residuals.worst() / max(1.0, abs(self.value) / self.unit)


class Infeasible(SolverFailed):
    """No point satisfies the constraints, with a proof that was checked."""


class Unbounded(SolverFailed):
    """The objective grows along a direction that the constraints allow, which was checked."""


class TooLarge(SolverFailed):
    """A program would take longer than the time given."""


def estimate_seconds(sizes: Sequence[int], constraints: int) -> float:
    """Time that CLARABEL takes on one core, within a factor of two or three (measured on one machine; see benchmarks/symmetric.py).

    A step factors a matrix with as many rows as there are constraints and entries of the blocks.
    """
    rows = constraints + sum(size * (size + 1) // 2 for size in sizes)
    return 3e-7 * rows**2 + 1e-10 * rows**3


def require_time(sizes: Sequence[int], constraints: int, time_limit: float | None) -> None:
    """Refuse a program that is far too large for the time given, before it is written down.

    Raises
    ------
    TooLarge
        Even half of the expected time is more than the limit.
    """
    expected = estimate_seconds(sizes, constraints)
    if time_limit is not None and expected / 2 > time_limit:
        blocks = " + ".join(str(size) for size in sizes)
        raise TooLarge(
            f"a program with blocks of sizes {blocks} and {constraints} constraints takes about {expected:.2g} s, more than the time limit of "
            f"{time_limit:g} s; lower the rounds or the local steps, or allow more time (--time-limit)"
        )


@dataclass(frozen=True, eq=False)
class Ray:
    """What shows that a program has no multipliers: a direction of X and f along which the objective rises for ever.

    ``residual``: by how much it violates a constraint or semidefiniteness where the objective rises by one. Multipliers y with slacks Z
    would satisfy  1 <= residual * (sum |y| + sum of traces of Z): those that are not far larger than 1/residual are excluded.
    """

    residual: float
    solver: str


def find_multipliers(
    program: Program,
    *,
    tolerance: float = 1e-6,
    solvers: Sequence[str] = ("CLARABEL", "SCS"),
    time_limit: float | None = None,
) -> Solution | Ray:
    """Multipliers of a program (they and their slacks judged, not the status), or what shows that there are none.

    Whether there are any does not depend on the bounds b, which only say which ones are wanted. A solver that minimises y.b may stall just
    where multipliers begin to exist; it is then asked again with b = 0.

    Raises
    ------
    SolverFailed
        Neither was found with residuals below the tolerance.
    """
    said = []
    for name in solvers:
        for asked in (program, replace(program, bounds=np.zeros_like(program.bounds))):
            x, y, status, seconds = ask(name, asked, time_limit)
            if not (np.isfinite(x).all() and np.isfinite(y).all()):
                said.append(f"{name}: {status}, no finite answer")
                continue
            solution = judge(asked, x, y, name, status, seconds)
            if solution.worst() <= tolerance:
                return solution
            ray = _ray(asked, solution)
            if ray is not None and ray.residual <= tolerance:
                return ray
            said.append(f"{name}: {solution.status}, worst relative residual {solution.worst():.1e}")
    raise SolverFailed(f"no solver decided whether the program has multipliers ({'; '.join(said)})")


def _ray(program: Program, solution: Solution) -> Ray | None:
    """The primal answer read as a direction."""
    if not solution.lower > 0:
        return None
    left = program.rows_values @ solution.values
    for rows, block in zip(program.rows, solution.blocks, strict=True):
        left = left + np.einsum("kij,ij->k", rows, block)
    return Ray(max(_violation(program, left), solution.residuals.gram) / solution.lower, solution.solver)


def solve_program(
    program: Program,
    *,
    tolerance: float = 1e-6,
    solvers: Sequence[str] = ("CLARABEL", "SCS"),
    time_limit: float | None = None,
    agree: bool = False,
) -> Solution:
    """Ask the solvers in turn; the first answer whose own residuals are below the tolerance is returned.

    Parameters
    ----------
    time_limit : seconds for each solver, optional
    agree : bool
        Ask all solvers; all answers must be accurate, and their values must agree up to the tolerance.

    Raises
    ------
    Infeasible, Unbounded
        The solver's proof of it was checked.
    SolverFailed
        No answer was accepted, or not all, or they disagree; the message says what each solver returned.
    """
    attempts: list[Attempt] = []
    accepted: list[Solution] = []
    for name in solvers:
        x, y, status, seconds = ask(name, program, time_limit)
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            _refuse_if_proved(program, np.nan_to_num(x), np.nan_to_num(y), name)
            attempts.append(Attempt(name, status, None))
            continue
        solution = judge(program, x, y, name, status, seconds)
        attempts.append(Attempt(name, status, solution.worst()))
        if solution.worst() <= tolerance:
            accepted.append(solution)
            if not agree:
                break
        else:
            _refuse_if_proved(program, x, y, name)
    if not accepted or (agree and len(accepted) < len(attempts)):
        said = [str(a) for a in attempts if a.worst_residual is None or not a.worst_residual <= tolerance]
        hint = "give more time" if time_limit is not None else "lower the number of rounds or local steps"
        raise SolverFailed(
            f"{'not every' if accepted else 'no'} solver's answer is accurate to {tolerance:g} ({'; '.join(said)}) for blocks of sizes "
            f"{program.sizes} and {program.constraints} constraints; {hint}, or ask for less accuracy"
        )
    if not agree:
        return replace(accepted[0], attempts=tuple(attempts))
    values = [solution.value for solution in accepted]
    difference = max(values) - min(values)
    if difference > tolerance * max(1.0, abs(values[0])):
        each = ", ".join(f"{solution.solver}: {solution.value:.9g}" for solution in accepted)
        raise SolverFailed(f"the solvers' values differ by {difference:.1e}, more than {tolerance:g} ({each})")
    return replace(accepted[0], difference=difference, attempts=tuple(attempts))


@dataclass(frozen=True, eq=False)
class Limits:
    """Multipliers y >= 0 with  sum_k y_k A_k >= I  and  sum_k y_k a_k = 0: every feasible point has  trace X <= y.b = ``trace``."""

    trace: float
    multipliers: Matrix


def find_limits(
    program: Program, *, solvers: Sequence[str] = ("CLARABEL", "SCS"), time_limit: float | None = None
) -> Limits | Ray | None:
    """What limits all feasible points at once, or a direction along which they can grow (the objective may or may not), or None.

    They make multipliers whose slack is almost semidefinite, Z >= -s I, into a proof: with s times the limits added Z is semidefinite, and
    the value rises by s * ``trace``. Where there are none, a residual says nothing: along a direction X without limit a slack of -s may
    hide an objective that grows by s a unit of trace, however small s is. The limits themselves are safe from that: they need not be
    accurate (sum y A >= I/2 is doubled), and along such a direction no multipliers do better than -1.
    """
    asked = replace(
        program,
        objective=tuple(np.eye(size) for size in program.sizes),
        objective_values=np.zeros_like(program.objective_values),
    )
    for name in solvers:
        x, y, status, seconds = ask(name, asked, time_limit, accuracy=ROUGH)
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            continue
        ray = _ray(asked, judge(asked, x, y, name, status, seconds))
        if ray is not None and ray.residual <= PROOF:
            return ray
        found = judge(asked, x, _balanced(asked, y), name, status, seconds)
        scale = max(1.0, float(np.max(np.abs(found.multipliers), initial=0.0)))
        missed = found.residuals
        if missed.slack <= 1 / 2 and max(missed.negative, missed.balance) <= BALANCED * scale:
            return Limits(2 * found.value, 2 * found.multipliers)
    return None


def bound_above(program: Program, solution: Solution, limits: Limits) -> float:
    """What no feasible point exceeds: y.b, plus s T for a slack Z >= -s I and points of trace at most T.

    The multipliers are moved to where none is negative and nothing is left over; what remains is rounding.
    """
    y = _balanced(program, solution.multipliers)
    slacks = [np.tensordot(y, rows, 1) - c for rows, c in zip(program.rows, program.objective, strict=True)]
    below = max([0.0, *(-float(np.linalg.eigvalsh(z)[0]) for z in slacks if len(z))])
    return float(y @ program.bounds) + below * limits.trace


def overshoot(program: Program, solution: Solution) -> float:
    """By how much, to first order, the maximum is smaller than the objective at a point that misses its conditions: y.(missed) + <Z, negative part>.

    A residual of a row costs its multiplier. Where multipliers are large, as they are where conditions are nearly degenerate, small residuals hide
    that a value is far too large.
    """
    left, along = program.rows_values @ solution.values, 0.0
    y = solution.multipliers
    for rows, block, c in zip(program.rows, solution.blocks, program.objective, strict=True):
        left = left + np.einsum("kij,ij->k", rows, block)
        if len(block):
            values, vectors = np.linalg.eigh(block)
            below = (vectors * np.minimum(values, 0.0)) @ vectors.T
            along -= float(np.sum(below * (np.tensordot(y, rows, 1) - c)))
    missed = left - program.bounds
    missed[program.equations :] = np.maximum(missed[program.equations :], 0.0)
    return max(float(y @ missed), 0.0) + max(along, 0.0)


def _balanced(program: Program, y: Matrix) -> Matrix:
    """Multipliers near y, none negative, that leave nothing over; each is changed in proportion to its size."""
    y = np.concatenate([y[: program.equations], np.maximum(y[program.equations :], 0.0)])
    weighted = np.abs(y)[:, None] * program.rows_values
    left = program.objective_values - y @ program.rows_values
    return np.asarray(y + weighted @ np.linalg.lstsq(program.rows_values.T @ weighted, left, rcond=None)[0])


def find_growth(
    program: Program, *, solvers: Sequence[str] = ("CLARABEL", "SCS"), time_limit: float | None = None
) -> Solution | None:
    """A direction of trace one along which the constraints allow the objective to grow, if a solver finds one that is `certain`.

    Looked for by a program of its own, in which all numbers have one size, where an answer to the program has to be very large.
    """
    last = len(program.bounds)
    normalised = replace(
        program,
        rows=tuple(np.concatenate([r, np.eye(s)[None]]) for r, s in zip(program.rows, program.sizes, strict=True)),
        rows_values=np.concatenate([program.rows_values, np.zeros((1, program.rows_values.shape[1]))]),
        bounds=np.eye(last + 1)[last],
    )
    for name in solvers:
        x, y, status, seconds = ask(name, normalised, time_limit)
        if np.isfinite(x).all() and np.isfinite(y).all():
            ray = judge(normalised, x, y, name, status, seconds)
            if is_direction(program, ray.blocks, ray.values):
                return ray
    return None


#: entries of a direction of size one that count as zero
ZERO = 1e-7
#: how far a condition on a direction may be missed, relative to its own largest term, and how much of its largest term the objective keeps
MISSED, GROWS = 1e-5, 1e-3


def is_direction(program: Program, blocks: Sequence[Matrix], values: Matrix) -> bool:
    """Whether the objective grows along a direction that all constraints allow for ever, each up to the rounding of its own terms.

    What counts as zero is set to zero first, in the Gram matrices by leaf. A large finite worst case, whose leaves grow step by step, looks
    like a direction when residuals are held against the largest leaf. Held against its own terms, the condition between the last
    leaf that counts as zero and the first that does not is missed altogether.
    """
    cleared = []
    largest = max([float(np.max(np.abs(values), initial=0.0)), *(float(np.trace(b)) for b in blocks if len(b))])
    for block in blocks:
        sizes = np.sqrt(np.maximum(np.diag(block), 0.0))
        sizes[sizes**2 <= ZERO * largest] = 0.0
        kept = np.outer(sizes, sizes) > 0
        shape = np.divide(block, np.outer(sizes, sizes), out=np.zeros_like(block), where=kept)
        if len(shape) and np.linalg.eigvalsh(shape)[0] < -MISSED:
            return False
        cleared.append(np.where(kept, block, 0.0))
    along = np.where(np.abs(values) <= ZERO * largest, 0.0, values)

    def terms(matrices: Sequence[Matrix], linear: Matrix) -> Matrix:
        """Every term of some rows."""
        entries = [(m * b).reshape(len(linear), b.size) for m, b in zip(matrices, cleared, strict=True)]
        return np.concatenate([*entries, linear * along], axis=1)

    rows = terms(program.rows, program.rows_values)
    sums, sizes = rows.sum(axis=1), np.max(np.abs(rows), axis=1, initial=0.0)
    sums[: program.equations] = np.abs(sums[: program.equations])
    goal = terms([c[None] for c in program.objective], program.objective_values[None])
    return bool(
        np.all(sums <= MISSED * sizes) and goal.sum() > GROWS * np.max(np.abs(goal), initial=0.0) and goal.sum() > ZERO
    )


#: accuracy that limits are looked for with: a third is enough, and is found in half the time
ROUGH = 0.1
#: how far rounding leaves multipliers, of size one, from balance
BALANCED = 1e-9

#: how far a proof that a program has no solution, scaled to one, may miss its conditions
PROOF = 1e-6


def _refuse_if_proved(program: Program, x: Matrix, y: Matrix, solver: str) -> None:
    """Raise when the answer is a proof that there is none, judged like any answer."""
    answer = judge(program, x, y, solver, "", 0.0)
    ray = _ray(program, answer)
    if ray is not None and ray.residual <= PROOF and is_direction(program, answer.blocks, answer.values):
        raise Unbounded(
            "the program is unbounded: no bound of this kind holds over the class, or a condition is missing "
            f"(a direction along which it grows, found by {solver}, misses the conditions by {ray.residual:.1e})"
        )
    nothing = replace(
        program,
        objective=tuple(np.zeros_like(c) for c in program.objective),
        objective_values=np.zeros_like(program.objective_values),
    )
    proof = judge(nothing, x, y, solver, "", 0.0)
    missed = max(proof.residuals.slack, proof.residuals.negative, proof.residuals.balance)
    if proof.value < 0 and missed <= PROOF * -proof.value:
        raise Infeasible(
            "the program has no feasible point: assumptions of the class contradict each other "
            f"(multipliers that show it, found by {solver}, miss the conditions by {missed / -proof.value:.1e})"
        )


def judge(program: Program, x: Matrix, y: Matrix, solver: str, status: str, seconds: float) -> Solution:
    """Residuals of a primal point (blocks as scaled upper triangles, then values) and multipliers."""
    blocks, first = [], 0
    for size in program.sizes:
        length = size * (size + 1) // 2
        blocks.append(unpack(x[first : first + length], size))
        first += length
    values = x[first:]
    left = program.rows_values @ values
    for rows, block in zip(program.rows, blocks, strict=True):
        left = left + np.einsum("kij,ij->k", rows, block)
    lower = float(program.objective_values @ values) + sum(
        float(np.sum(c * b)) for c, b in zip(program.objective, blocks, strict=True)
    )
    slacks = [np.tensordot(y, rows, 1) - c for rows, c in zip(program.rows, program.objective, strict=True)]

    def below(matrices: Sequence[Matrix]) -> float:
        return max([0.0, *(-float(np.linalg.eigvalsh(m)[0]) for m in matrices if len(m))])

    value = float(y @ program.bounds)
    residuals = Residuals(
        gram=below(blocks),
        constraints=_violation(program, left - program.bounds),
        slack=below(slacks),
        negative=max(0.0, -float(np.min(y[program.equations :], initial=0.0))),
        balance=float(np.max(np.abs(y @ program.rows_values - program.objective_values), initial=0.0)),
        gap=value - lower,
    )
    return Solution(
        value=value,
        lower=lower,
        blocks=tuple(blocks),
        values=values,
        multipliers=y,
        residuals=residuals,
        solver=solver,
        status=status,
        seconds=seconds,
    )


def _violation(program: Program, excess: Matrix) -> float:
    """The largest excess of an inequality, or deviation of an equation."""
    missed = np.abs(excess[: program.equations])
    return max(float(np.max(missed, initial=0.0)), float(np.max(excess[program.equations :], initial=0.0)))
