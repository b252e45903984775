"""Exact rates of methods that are linear maps on quadratics.

On a quadratic, one round of such a method maps the state s to M s + v. The matrix is read off the same round
function that everything else runs, by applying it to a batch of basis vectors; the spectral radius of M on the
subspace the method lives in is the exact asymptotic contraction factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from fedtheory.algorithms.base import Algorithm, require_method_and_problem
from fedtheory.core.arrays import Array, is_object
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import ScriptedKey
from fedtheory.core.states import Layout

SEEN = 1e-9  #: an eigendirection below this share of the first difference is one that the start does not excite


@dataclass(frozen=True, eq=False)
class RoundMap:
    """One round as an affine map: vector(next state) = M vector(state) + v.

    ``matrix`` ``(size, size)``, ``offset`` ``(size,)``; ``layout`` says where each field of the state lies.
    """

    matrix: NDArray[Any]
    offset: NDArray[Any]
    layout: Layout

    def block(self, to: str, source: str) -> NDArray[Any]:
        """Return the part of the matrix that maps field ``source`` to field ``to``."""
        where = self.layout.slices()
        return self.matrix[where[to], where[source]]

    def spectral_radius(self) -> float:
        """Return the largest modulus of an eigenvalue of M."""
        return float(np.abs(np.linalg.eigvals(self.matrix.astype(float))).max())

    def contraction_from(self, start: NDArray[Any]) -> float:
        """Return the asymptotic factor of the trajectory that starts at the state vector ``start``.

        Successive differences obey delta' = M delta. The factor is the largest modulus of an eigenvalue whose left
        eigenvector sees the first difference: directions in which the method never moves (a conserved sum of duals, say)
        drop out.
        """
        m = self.matrix.astype(float)
        delta = m @ start + self.offset.astype(float) - start
        scale = np.linalg.norm(delta)
        if scale == 0:
            return 0.0
        values, left = linalg.eig(m, left=True, right=False)
        seen = np.abs(left.conj().T @ delta) > SEEN * scale
        return float(np.abs(values[seen]).max())


def why_not_traceable(algorithm: Algorithm) -> str | None:
    """Why an engine without numbers cannot run this algorithm, or None."""
    reason = getattr(algorithm, "numeric_only", None)
    if reason is not None:
        return f"{type(algorithm).__name__}: {reason}"
    local = getattr(algorithm, "local", None)
    if local is not None and getattr(local, "numeric_only", None) is not None:
        return f"{type(local).__name__}: {local.numeric_only}"
    return None


def require_traceable(algorithm: Algorithm, engine: str) -> None:
    """Refuse an algorithm that takes decisions on values.

    Raises
    ------
    CannotTrace
        With the name of the part that does, and why.
    """
    reason = why_not_traceable(algorithm)
    if reason is not None:
        advice = ""
        if getattr(algorithm, "numeric_only", None) is None:  # it is the local solver
            advice = "; use a deterministic local solver (Exact, GradientSteps, AcceleratedSteps)"
        elif any(hasattr(value, "omega") for value in vars(algorithm).values()):  # a compressor
            advice = (
                "; use the method with every compressor of a class (AnyContractive, AnyUnbiased; ef21-any, diana-any)"
            )
        raise CannotTrace(f"the {engine} engine has no numbers to decide on, and {reason}{advice}")


def round_map(
    algorithm: Algorithm,
    problem: Problem,
    x0: Array,
    *,
    round: int = 0,
    coins: Mapping[str, bool] | None = None,
    clients: Clients | None = None,
) -> RoundMap:
    """Read the affine map of one round off the round function.

    Parameters
    ----------
    algorithm : Algorithm
        A method whose round is affine in its state on this problem.
    problem : Problem
        Unbatched; quadratic (floats, fractions or symbols).
    x0 : array ``(d,)``
        Only its kind (floats or objects) and d matter.
    round : int
        Which round, for methods whose parameters depend on it.
    coins : mapping of purpose to bool, optional
        Outcomes of the round's coins, for example ``{"communicate": False}``.
    clients : Clients, optional
        Who takes part; all by default.

    Raises
    ------
    CannotTrace
        The algorithm decides on values.
    InvalidInput
        Method or problem is none, or the round is not affine on this problem.
    """
    require_method_and_problem(algorithm, problem, "a method, a problem and x0, in this order")
    require_traceable(algorithm, "spectral")
    key: Any = ScriptedKey(round, {} if coins is None else coins)
    template = algorithm.init(problem, x0[None, :])
    layout = Layout.of(template)
    size = layout.size
    if is_object(x0):
        basis = np.full(
            (size + 1, size), Fraction(0), dtype=object
        )  # whole numbers would become floats where they are divided
        basis[np.arange(1, size + 1), np.arange(size)] = Fraction(1)
    else:
        basis = np.concatenate([np.zeros((1, size)), np.eye(size)])
    images = layout.flatten(algorithm.round(problem, layout.unflatten(basis), clients, key))
    images = np.broadcast_to(images, (size + 1, size))
    offset, matrix = images[0], (images[1:] - images[0]).T
    if not is_object(x0):
        _check_affine(algorithm, problem, clients, key, layout, matrix, offset)
    return RoundMap(matrix, offset, layout)


def _check_affine(
    algorithm: Algorithm,
    problem: Problem,
    clients: Clients | None,
    key: Any,
    layout: Layout,
    matrix: NDArray[Any],
    offset: NDArray[Any],
) -> None:
    probe = np.random.default_rng(0).standard_normal(layout.size)
    got = layout.flatten(algorithm.round(problem, layout.unflatten(probe), clients, key))
    predicted = matrix @ probe + offset
    scale = 1 + float(np.abs(matrix).max()) * np.abs(probe).sum() + np.abs(offset).max()
    if not np.abs(got - predicted).max() <= 1e-9 * scale:
        raise InvalidInput(
            f"one round of {type(algorithm).__name__} is not affine on {problem.name!r}; exact spectra need a linear "
            "method on a quadratic problem"
        )


def spectral_radius(algorithm: Algorithm, problem: Problem, x0: Array, **options: Any) -> float:
    """Exact asymptotic contraction factor a round on a quadratic; options as for `round_map`.

    A radius of exactly one can belong to directions that the method never moves in; a rate then needs the part of
    the state that converges, see `RoundMap.block`.
    """
    return round_map(algorithm, problem, x0, **options).spectral_radius()


def contraction_factor(algorithm: Algorithm, problem: Problem, x0: Array, **options: Any) -> float:
    """Exact asymptotic factor a round of the trajectory that starts at x0 ``(d,)`` on a quadratic; options as for `round_map`.

    Unlike `spectral_radius` it leaves out directions that the method never moves in from this start.
    """
    found = round_map(algorithm, problem, x0, **options)
    return found.contraction_from(found.layout.flatten(algorithm.init(problem, x0[None, :])))
