"""Quadratics f_i(x) = x^T A_i x / 2 - b_i^T x + c_i: everything about them is known in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import (
    Array,
    Scalar,
    identity,
    inner,
    is_object,
    namespace,
    rows_times,
    solve_linear,
    squared_norm,
    take,
    to_numpy,
)
from fedtheory.core.errors import InvalidInput, NotAvailable, require
from fedtheory.core.numbers import at_least_one
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Matrices, Minimiser, Points


@dataclass(frozen=True, eq=False)
class Quadratic:
    """f_i(x) = x^T A_i x / 2 - b_i^T x + c_i, i = 1..n, on R^d.

    Parameters
    ----------
    A : array ``(*batch, n, d, d)``
        Symmetric curvatures, definite or not; floats of any library, or objects (symbols, fractions). Of floats that are symmetric up to
        rounding only, the symmetric part is taken.
    b : array ``(*batch, n, d)``
    c : array ``(*batch, n)``, optional
        Constants; zero by default.
    name : str

    Raises
    ------
    InvalidInput
        Shapes do not fit, a matrix is not symmetric, or a value is not finite.
    """

    A: Array
    b: Array
    c: Array | None = None
    name: str = "quadratics"
    #: the quadratics these clients were taken from and their numbers there; not a field, so a changed copy has none
    _parent: ClassVar[tuple[Quadratic, NDArray[np.int64]] | None] = None

    def __post_init__(self) -> None:
        """Check shapes and values."""
        if self.A.ndim < 3 or self.A.shape[-1] != self.A.shape[-2]:
            raise InvalidInput(f"A has shape {tuple(self.A.shape)}; expected (*batch, n, d, d)")
        if self.b.shape[-2:] != self.A.shape[-3:-1]:
            raise InvalidInput(
                f"b has shape {tuple(self.b.shape)}; expected (*batch, n, d) = (..., {self.A.shape[-3]}, {self.d})"
            )
        try:
            np.broadcast_shapes(self.A.shape[:-3], self.b.shape[:-2])
        except ValueError as error:
            raise InvalidInput(
                f"A and b have batch axes {tuple(self.A.shape[:-3])} and {tuple(self.b.shape[:-2])}, which do not fit together"
            ) from error
        if self.c is not None and self.c.shape[-1:] != self.b.shape[-2:-1]:
            raise InvalidInput(f"c has shape {tuple(self.c.shape)}; expected (*batch, n) = (..., {self.n})")
        if is_object(self.A) or is_object(self.b):
            return
        xp = namespace(self.A, self.b, self.c)
        parts = (self.A, self.b) if self.c is None else (self.A, self.b, self.c)
        if not all(bool(xp.all(xp.isfinite(part))) for part in parts):
            raise InvalidInput("A, b or c contains NaN or infinite values; expected finite numbers")
        scale = float(xp.max(xp.abs(self.A)))
        skew = float(xp.max(xp.abs(self.A - xp.matrix_transpose(self.A))))
        if skew > 1e-12 * scale:
            raise InvalidInput(f"A is not symmetric (largest difference from its transpose: {skew:.3g})")
        if skew > 0:  # values see the symmetric part only, and so must gradients
            object.__setattr__(self, "A", (self.A + xp.matrix_transpose(self.A)) / 2)

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.A.shape[-3])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.A.shape[-1])

    @property
    def client_bytes(self) -> int:
        """Size of one client's data, for working in blocks."""
        return 8 * self.d * self.d if self.A.ndim == 3 else 0

    def value(self, x: Points) -> ClientValues:
        """x_i^T A_i x_i / 2 - b_i^T x_i + c_i."""
        half = inner(x, rows_times(x, self.A)) / 2 - inner(x, self.b)
        return half if self.c is None else half + self.c

    def grad(self, x: Points) -> ClientPoints:
        """A_i x_i - b_i."""
        return rows_times(x, self.A) - self.b

    def hess(self, x: Points) -> Matrices:
        """A_i: ``(*batch, n, d, d)``."""
        return self.A

    def prox(self, v: Points, step: Scalar) -> ClientPoints:
        """(I + step A_i)^{-1} (v_i + step b_i).

        Raises
        ------
        InvalidInput
            I + step A_i is not positive definite, so the proximal problem has no minimiser (floats only).
        """
        right = v + step * self.b
        if is_object(self.A) or is_object(right):
            identity = np.eye(self.d, dtype=int).astype(object)
            weight = step if not hasattr(step, "ndim") or step.ndim == 0 else step[..., None]
            return solve_linear(identity + weight * self.A, right)
        values, vectors = self._spectrum
        scale = 1 + step * values
        if not bool(namespace(scale).all(scale > 0)):
            raise InvalidInput(
                f"the proximal step of {self.name!r} with step {step} is not a convex problem: it needs step < 1/h for every "
                "negative curvature -h; take a smaller step (eta)"
            )
        rotated = rows_times(right, vectors) / scale
        return rows_times(rotated, namespace(vectors).matrix_transpose(vectors))

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues ``(..., n, d)`` and eigenvectors of every A_i, computed once for all subsets of clients."""
        if self._parent is not None:
            parent, index = self._parent
            values, vectors = parent._spectrum
            return take(values, index), take(vectors, index, axes_behind=2)
        values, vectors = namespace(self.A).linalg.eigh(self.A)
        return values, vectors

    def conjugate(self, y: Points) -> ClientValues:
        """f_i^*(y_i) = (y_i + b_i)^T A_i^{-1} (y_i + b_i) / 2 - c_i.

        Where A_i is singular, f_i^* is finite only for y_i + b_i in the range of A_i; where A_i has a negative eigenvalue, it is
        infinite everywhere. Eigenvalues up to 8 d eps ||A_i||, the eigensolver's backward error, cannot be told from zero and count
        as zero; so does a component of y_i + b_i along such an eigenvector up to 8 d eps (||y_i|| + ||b_i||). Exact (and
        for invertible A_i only) on fractions and symbols.
        """
        if is_object(self.A) or is_object(y):
            dual = inner(y + self.b, self.conjugate_grad(y)) / 2
        else:
            rotated, inverse, inside = self._dual_coordinates(y)
            xp = namespace(rotated)
            half = xp.sum(rotated * rotated * inverse, axis=-1) / 2
            dual = xp.where(inside, half, xp.full_like(half, float("inf")))
        return dual if self.c is None else dual - self.c

    def conjugate_grad(self, y: Points) -> ClientPoints:
        """argmax_x <x, y_i> - f_i(x) = A_i^{-1} (y_i + b_i), the one of least norm where A_i is singular.

        Raises
        ------
        InvalidInput
            A y_i lies outside the domain of f_i^*, where no maximiser exists.
        """
        if is_object(self.A) or is_object(y):
            return solve_linear(self.A, y + self.b)
        rotated, inverse, inside = self._dual_coordinates(y)
        xp = namespace(rotated)
        if not bool(xp.all(inside)):
            raise InvalidInput(
                f"a dual point lies outside the domain of a conjugate of {self.name!r}, so <x, y> - f_i(x) has no maximiser; "
                "make every A_i positive definite, or keep y + b in the range of A"
            )
        return rows_times(rotated * inverse, xp.matrix_transpose(self._spectrum[1]))

    def _dual_coordinates(self, y: Array) -> tuple[Array, Array, Array]:
        """Coordinates of y + b in the eigenvectors of A ``(..., n, d)``, the eigenvalues' pseudo-inverses, and who is in the domain ``(..., n)``."""
        values, vectors = self._spectrum
        xp = namespace(y, values)
        right = y + self.b
        rotated = rows_times(right, vectors)
        rounding = (
            8 * self.d * float(xp.finfo(values.dtype).eps) if self.d > 1 else 0.0
        )  # a number is its own eigenvalue
        floor = rounding * xp.max(xp.abs(values), axis=-1, keepdims=True)
        regular = values > floor
        size = (squared_norm(y) ** 0.5 + squared_norm(self.b) ** 0.5)[..., None]
        kernel = 8 * self.d * float(xp.finfo(values.dtype).eps) * size
        inside = xp.all(regular | ((values >= -floor) & (xp.abs(rotated) <= kernel)), axis=-1)
        inverse = xp.where(regular, 1 / xp.where(regular, values, xp.ones_like(values)), xp.zeros_like(values))
        return rotated, inverse, inside

    def ridged(self, weight: Scalar) -> Quadratic:
        """The same clients with (weight/2)||x||^2 added; a negative weight takes ridge away."""
        eye = np.eye(self.d, dtype=int).astype(object) if is_object(self.A) else identity(self.d, self.A)
        return Quadratic(self.A + weight * eye, self.b, self.c, self.name)

    def take(self, clients: Clients | None) -> Quadratic:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        index = clients.index
        c = None if self.c is None else take(self.c[..., None], index)[..., 0]
        return self._part(take(self.A, index, axes_behind=2), take(self.b, index), c, index)

    def slice(self, first: int, last: int) -> Quadratic:
        """Clients first, ..., last - 1, without copying."""
        c = None if self.c is None else self.c[..., first:last]
        return self._part(self.A[..., first:last, :, :], self.b[..., first:last, :], c, np.arange(first, last))

    def _part(self, a: Array, b: Array, c: Array | None, index: NDArray[np.int64]) -> Quadratic:
        """Some of the clients: their data was checked before, and their spectra are this problem's."""
        part = object.__new__(Quadratic)
        for name, value in (("A", a), ("b", b), ("c", c), ("name", self.name), ("_parent", (self, index))):
            object.__setattr__(part, name, value)
        return part

    def average_parts(self) -> tuple[Array, Array]:
        """Return the curvature and the linear term of the average f: ``(*batch, d, d)``, ``(*batch, d)``."""
        xp = namespace(self.A, self.b)
        return xp.sum(self.A, axis=-3) / self.n, xp.sum(self.b, axis=-2) / self.n

    def solution(self) -> Minimiser:
        """x* = (mean A_i)^{-1} mean b_i; the minimiser when the average is positive definite.

        Raises
        ------
        NotAvailable
            The average is not positive definite, so there is no unique minimiser.
        """
        a, b = self.average_parts()
        if not is_object(a):
            lowest = np.linalg.eigvalsh(to_numpy(a))[..., 0]
            if np.any(lowest <= 0):
                raise NotAvailable(
                    f"the average of {self.name!r} is not positive definite (lowest eigenvalue {lowest.min():.3g}), "
                    "so it has no unique minimiser"
                )
        return solve_linear(a, b)

    def lower_bound(self) -> Certified:
        """f(x*), the infimum of the average."""
        _, b = self.average_parts()
        x = self.solution()
        constant = 0 if self.c is None else namespace(self.c).mean(self.c, axis=-1)
        return Certified(constant - inner(b, x) / 2, "closed form: mean c - b^T x* / 2")

    def to_cvxpy(self) -> tuple[Any, Any]:
        """Return the average as a CVXPY expression of a variable (d,): ``(variable, objective)``."""
        cp = require("cvxpy", "ground truth from an independent solver")
        a, b = (to_numpy(part) for part in self.average_parts())
        if a.ndim > 2:
            raise NotAvailable("a batch of instances has no single CVXPY model; take one instance")
        x = cp.Variable(self.d)
        constant = 0.0 if self.c is None else float(np.mean(to_numpy(self.c)))
        return x, cp.quad_form(x, cp.psd_wrap(a)) / 2 - b @ x + constant

    def certify(self) -> dict[str, Certified]:
        """L, mu per client and of the average; G if all curvatures agree; zeta if there is a minimiser.

        Eigenvalues come from a symmetric eigensolver, widened outwards by its backward error 8 d eps ||A||.
        """
        how = "eigenvalues of A_i, widened by the eigensolver's backward error"
        low, high = eigen_range(to_numpy(self.A))
        a, _ = self.average_parts()
        low_avg, high_avg = eigen_range(to_numpy(a))
        curvatures = to_numpy(self.A)
        if self.d == 1:
            low_avg, high_avg = (mean_towards(curvatures[..., 0, 0], side, axis=-1) for side in (-np.inf, np.inf))
        else:  # the mean's own rounding, in the Frobenius norm
            lost = (
                self.n * np.finfo(float).eps * np.sqrt((curvatures**2).sum(axis=(-1, -2))).mean(axis=-1) * (self.n > 1)
            )
            low_avg, high_avg = low_avg - lost, high_avg + lost
        size = np.maximum(np.abs(low), np.abs(high))
        found = {
            "L_i": Certified(size, how),
            "mu_i": Certified(low, how),
            "L": Certified(size.max(axis=-1), how + ", largest client"),
            "mu": Certified(low.min(axis=-1), how + ", smallest client"),
            "L_avg": Certified(np.maximum(np.abs(low_avg), np.abs(high_avg)), "eigenvalues of mean A_i, widened"),
            "mu_avg": Certified(low_avg, "eigenvalues of mean A_i, widened"),
        }
        curvature, linear = to_numpy(self.A), to_numpy(self.b)
        if np.array_equal(curvature, np.broadcast_to(curvature[..., :1, :, :], curvature.shape)):
            apart = linear[..., :, None, :] - linear[..., None, :, :]
            centred = linear - linear.mean(axis=-2, keepdims=True)
            equal = "all A_i are equal, so gradients differ by b_i - b_j everywhere"
            found["G"] = Certified(np.sqrt((apart**2).sum(axis=-1).max(axis=(-1, -2))), equal)
            found["G_centred"] = Certified(np.sqrt((centred**2).sum(axis=-1).max(axis=-1)), equal)
        if np.all(low_avg > 0):
            g = to_numpy(self.grad(self.solution()[..., None, :]))
            found["zeta"] = Certified(
                np.sqrt((g * g).sum(axis=-1).mean(axis=-1)), "gradients at the closed-form solution"
            )
        return found

    def certify_average(self, weights: Sequence[float | Fraction]) -> dict[str, Certified]:
        """L_avg and mu_avg of sum_i p_i f_i: eigenvalues of sum_i p_i A_i, widened by the errors of the sum and of the eigensolver."""
        shares, curvatures = np.array([float(w) for w in weights]), to_numpy(self.A).astype(float)
        low, high = eigen_range(np.einsum("i,...ijk->...jk", shares, curvatures))
        # in the Frobenius norm, also of what weights as floats lose
        sizes = np.sqrt((curvatures**2).sum(axis=(-1, -2)))
        lost = (self.n + 4) * np.finfo(float).eps * (sizes @ shares)
        how = "eigenvalues of sum_i p_i A_i, widened"
        return {
            "L_avg": Certified(np.maximum(np.abs(low - lost), np.abs(high + lost)), how),
            "mu_avg": Certified(low - lost, how),
        }

    def bounded_dissimilarity(self, D: float) -> Certified:
        """Smallest G with mean_i ||grad f_i(x)||^2 <= G^2 + D^2 ||grad f(x)||^2 for all x (FedPD, A3).

        With y = x - x* the inequality is a quadratic form in (y, 1): D^2 Abar^2 - mean A_i^2 must be positive definite,
        and then G^2 = mean ||g_i||^2 + m^T (D^2 Abar^2 - mean A_i^2)^{-1} m with g_i = grad f_i(x*), m = mean A_i g_i.

        Raises
        ------
        NotAvailable
            No G exists for this D; the message gives the smallest D that works.
        """
        curvature = to_numpy(self.A)
        a = curvature.mean(axis=-3)
        g = to_numpy(self.grad(self.solution()[..., None, :]))
        second = (curvature @ curvature).mean(axis=-3)
        inverse = np.linalg.inv(a)
        least = np.sqrt(np.linalg.eigvalsh(inverse @ second @ inverse)[..., -1].max())
        if least * (1 + 1e-12) >= D:
            raise NotAvailable(
                f"{self.name!r} has no finite G for D={D}: the spread of the curvatures needs D > {least:.6g}"
            )
        m = (curvature @ g[..., None])[..., 0].mean(axis=-2)
        form = D**2 * a @ a - second
        extra = (m * np.linalg.solve(form, m[..., None])[..., 0]).sum(axis=-1)
        return Certified(
            np.sqrt((g * g).sum(axis=-1).mean(axis=-1) + extra),
            f"closed form of the quadratic inequality, D={D}",
        )


def eigen_range(a: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smallest and largest eigenvalues of symmetric matrices ``(..., d, d)``, widened by the eigensolver's backward error."""
    values = np.linalg.eigvalsh(a)
    if a.shape[-1] == 1:  # a number is its own eigenvalue
        return values[..., 0], values[..., -1]
    slack = 8 * a.shape[-1] * np.finfo(float).eps * np.abs(values).max(axis=-1)
    return values[..., 0] - slack, values[..., -1] + slack


def mean_towards(values: NDArray[Any], side: float, axis: int) -> NDArray[np.float64]:
    """Mean along an axis, rounded towards ``side`` (an infinity): exact where the mean is a float, and at most the next float where not."""
    moved = np.moveaxis(np.asarray(values, dtype=float), axis, -1)
    if np.array_equal(moved, np.broadcast_to(moved[..., :1], moved.shape)):
        return moved[..., 0].copy()
    found = np.empty(moved.shape[:-1])
    for place in np.ndindex(*found.shape):
        exact = sum(map(Fraction, moved[place].tolist()), Fraction(0)) / moved.shape[-1]
        near = float(exact)
        beyond = Fraction(near) > exact if side < 0 else Fraction(near) < exact
        found[place] = np.nextafter(near, side) if beyond else near
    return found


def scalar_quadratics(curvature: Any, centre: Any = 0, name: str = "scalar quadratics") -> Quadratic:
    """f_i(x) = (a_i/2)(x - c_i)^2 on R; ``curvature`` and ``centre`` have shape ``(*batch, n)``.

    Entries may be floats, fractions or symbols.
    """
    a = np.asarray(curvature)
    c = np.broadcast_to(np.asarray(centre), a.shape) + 0 * a
    if a.dtype.kind in "iu":
        a, c = a.astype(float), c.astype(float)
    return Quadratic(a[..., None, None], (a * c)[..., None], a * c * c / 2, name)


def random_quadratics(
    n: int,
    d: int,
    *,
    L: float = 1.0,
    mu: float = 0.1,
    heterogeneity: float = 1.0,
    batch: tuple[int, ...] = (),
    seed: int = 0,
) -> Quadratic:
    """Draw strongly convex quadratics with condition number L/mu and minimisers spread by ``heterogeneity``.

    Every A_i is a random rotation of a spectrum in [mu, L] that contains both ends; client i's own minimiser is a
    common normal point plus ``heterogeneity`` times a normal vector.

    Raises
    ------
    InvalidInput
        Not 0 < mu <= L, or a count below one.
    """
    check_counts(n, d)
    if not 0 < mu <= L:
        raise InvalidInput(f"expected 0 < mu <= L, got mu={mu}, L={L}; for indefinite curvatures use random_indefinite")
    rng = np.random.default_rng(seed)
    spectrum = rng.uniform(mu, L, (*batch, n, d))
    spectrum[..., 0] = L
    if d > 1:
        spectrum[..., 1] = mu
    a = rotated(rng, spectrum)
    centre = rng.standard_normal((*batch, 1, d)) + heterogeneity * rng.standard_normal((*batch, n, d))
    return Quadratic(a, (a @ centre[..., None])[..., 0], name=f"random quadratics (L={L}, mu={mu})")


def random_indefinite(
    n: int, d: int, *, L: float = 1.0, floor: float = 0.05, batch: tuple[int, ...] = (), seed: int = 0
) -> Quadratic:
    """Draw quadratics whose clients may be indefinite while the average is positive definite.

    All |eigenvalues| of A_i are at most L; the average was built with eigenvalues in [floor L, L] before the common
    rescaling that enforces this. The FedPD claims call this family I-QUAD.
    """
    check_counts(n, d)
    if not (L > 0 and 0 < floor <= 1):
        raise InvalidInput(f"expected L > 0 and 0 < floor <= 1, got L={L}, floor={floor}")
    rng = np.random.default_rng(seed)
    a = rotated(rng, rng.uniform(-L, L, (*batch, n, d)))
    mean = rotated(rng, rng.uniform(floor * L, L, (*batch, 1, d)))
    a = a - a.mean(axis=-3, keepdims=True) + mean
    size = np.abs(np.linalg.eigvalsh(a)).max(axis=(-1, -2))
    a = a * (L / np.maximum(size * (1 + 1e-12), L))[..., None, None, None]
    a = (a + np.swapaxes(a, -1, -2)) / 2
    return Quadratic(a, rng.standard_normal((*batch, n, d)), name=f"random indefinite quadratics (L={L})")


def same_curvature(n: int, d: int, *, L: float = 1.0, mu: float = 0.1, seed: int = 0) -> Quadratic:
    """Draw quadratics that share one curvature and differ in their linear terms, so that G is finite."""
    check_counts(n, d)
    if not 0 < mu <= L:
        raise InvalidInput(f"expected 0 < mu <= L, got mu={mu}, L={L}")
    rng = np.random.default_rng(seed)
    a = rotated(rng, rng.uniform(mu, L, (1, d)))
    return Quadratic(np.repeat(a, n, axis=0), rng.standard_normal((n, d)), name="quadratics of one curvature")


def check_counts(n: int, d: int) -> None:
    """Refuse an instance without clients or coordinates."""
    at_least_one("the number of clients n", n)
    at_least_one("the dimension d", d)


def rotated(rng: np.random.Generator, spectrum: NDArray[Any]) -> NDArray[Any]:
    """Q diag(spectrum) Q^T with random orthogonal Q: ``(..., d) -> (..., d, d)``."""
    d = spectrum.shape[-1]
    q = np.linalg.qr(rng.standard_normal((*spectrum.shape[:-1], d, d)))[0]
    a = (q * spectrum[..., None, :]) @ np.swapaxes(q, -1, -2)
    return np.asarray((a + np.swapaxes(a, -1, -2)) / 2)
