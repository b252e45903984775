"""Arrays of any kind through one set of functions.

Every array has the shape ``(..., n, d)``: free batch axes, then clients, then coordinates. A quantity of the
server has a client axis of length one, so that it broadcasts against the clients' and so that hyper-parameters
of shape ``(*batch, 1, 1)`` broadcast against both. `fedtheory.core.shapes` has these shapes as types; `Array` is one
of any shape.

NumPy is the default. CuPy and PyTorch run by passing their arrays. Object arrays (SymPy expressions, fractions,
PEPit points) are NumPy arrays of dtype ``object`` and go through the same functions.

What crosses between the host and a device does so here: `to_numpy` brings values to the host, which waits for the device, for counters, choices
and checks; `like` and `moved_once` bring values to the device. Probabilities, schedules, draws and who takes part live on the host.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from array_api_compat import array_namespace, device, is_cupy_namespace, is_torch_namespace
from numpy.typing import NDArray

from fedtheory.core.client_weights import require_equal_weights, shares_of_rows
from fedtheory.core.errors import InvalidInput, require
from fedtheory.core.shapes import (
    ActivePoints,
    ClientPoints,
    ClientValues,
    HyperParameter,
    Lengths,
    Points,
    RunValues,
    ServerPoint,
    SquareMatrices,
    Vectors,
)

if TYPE_CHECKING:
    from fedtheory.core.participation import Clients

Array: TypeAlias = Any
Namespace: TypeAlias = Any
Scalar: TypeAlias = Annotated[Any, "a number, an array (*batch, 1, 1), or a symbol"]

_HOST = (np.ndarray, np.generic)
_NUMPY: Namespace = array_namespace(np.empty(0))


def is_array(x: object) -> bool:
    """Whether x is an array of some library (not a Python number or a symbol)."""
    return hasattr(x, "shape") and hasattr(x, "dtype") and x.ndim > 0  # type: ignore[attr-defined]


def namespace(*arrays: Array) -> Namespace:
    """Return the array namespace of the arrays given; numbers, symbols and None are passed over.

    Raises
    ------
    InvalidInput
        Arrays of two libraries were mixed.
    """
    for a in arrays:
        if type(a) is not np.ndarray and is_array(a):
            break
    else:  # the common case, at a tenth of the cost
        return _NUMPY
    found = [a for a in arrays if is_array(a)]
    try:
        return array_namespace(*found)
    except TypeError as error:
        kinds = sorted({type(a).__module__.split(".")[0] for a in found})
        raise InvalidInput(
            f"arrays of different libraries were mixed ({', '.join(kinds)}); pass x0, the problem's data and the "
            "hyper-parameters as arrays of one library"
        ) from error


def is_object(x: Array) -> bool:
    """Whether x holds symbols, fractions or points instead of floats."""
    return isinstance(x, np.ndarray) and x.dtype == object


def stands_for_all(x: Array) -> bool:
    """Whether the one entry of x stands for all clients at once (`fedtheory.proofs.every_n.cells`)."""
    return type(x) is not np.ndarray and isinstance(x, np.ndarray) and hasattr(x, "averaged")


def to_numpy(x: Array) -> NDArray[Any]:
    """Copy an array of any library, or a number, to the host as a NumPy array; this waits for the device."""
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "get"):  # CuPy
        return np.asarray(x.get())
    if hasattr(x, "detach"):  # PyTorch
        return np.asarray(x.detach().cpu().numpy())
    if hasattr(x, "to_device") and hasattr(x, "__array_namespace__"):
        own = x.__array_namespace__().__array_namespace_info__().default_device()
        return np.asarray(x if x.device == own else x.to_device(own))
    return np.asarray(x)


def numbers_of(value: Any) -> NDArray[np.float64] | None:
    """The numbers of a hyper-parameter on the host, for checks; None where it is a symbol or a function."""
    try:
        return np.asarray(to_numpy(value), dtype=float)
    except (TypeError, ValueError):
        return None


def like(values: Any, reference: Array) -> Array:
    """Move values to the library, device and (for floats) dtype of ``reference``; what is there already stays as it is."""
    if isinstance(reference, np.ndarray):
        host = to_numpy(values)
        return host.astype(reference.dtype) if host.dtype.kind == "f" and reference.dtype != object else host
    xp, there = namespace(reference), device(reference)
    floats = xp.isdtype(reference.dtype, "real floating")
    if type(values) is type(reference) and device(values) == there:
        return xp.astype(values, reference.dtype, copy=False) if floats and _is_float(xp, values) else values
    host = to_numpy(values)
    return xp.asarray(host, dtype=reference.dtype if floats and host.dtype.kind == "f" else None, device=there)


def _is_float(xp: Namespace, x: Array) -> bool:
    return bool(xp.isdtype(x.dtype, "real floating"))


def beside(value: Scalar, x: Array) -> Scalar:
    """A hyper-parameter that lives on the host, such as a probability, where arithmetic needs it with x."""
    return moved_once(value, x) if isinstance(value, np.ndarray) else value


#: copies on the other side, by the address of an array and where they are
_copies: dict[tuple[Any, ...], Array] = {}


def moved_once(host: NDArray[Any], reference: Array) -> Array:
    """`like` for a host array that stays as it is: it is copied once to a device, and the copy lives as long as the array."""
    if isinstance(reference, np.ndarray) or not isinstance(host, np.ndarray):
        return like(host, reference)
    there = type(reference), str(device(reference)), reference.dtype  # CuPy's devices have no hash
    return _kept((id(host), *there), host, lambda: like(host.copy(), reference))


def fetched_once(x: Array) -> NDArray[Any]:
    """`to_numpy` for an array that stays as it is: it is copied once to the host, and the copy lives as long as the array."""
    return x if isinstance(x, np.ndarray) else _kept((id(x), np.ndarray), x, lambda: np.array(to_numpy(x)))


def _kept(key: tuple[Any, ...], source: Array, copy: Callable[[], Array]) -> Array:
    """The copy of this key. It must not share the memory of its source, whose end it would put off."""
    if key not in _copies:
        _copies[key] = copy()
        weakref.finalize(source, _copies.pop, key, None)
    return _copies[key]


def fetch(arrays: Sequence[Array]) -> list[NDArray[Any]]:
    """`to_numpy` of several arrays; those of a device come in one copy, as float64, so that the host waits once."""
    away = [k for k, a in enumerate(arrays) if not isinstance(a, _HOST) and hasattr(a, "dtype")]
    if len(away) < 2:
        return [to_numpy(a) for a in arrays]
    xp = array_namespace(*(arrays[k] for k in away))
    together = to_numpy(xp.concat([xp.reshape(xp.astype(arrays[k], xp.float64), (-1,)) for k in away]))
    ends = np.cumsum([math.prod(arrays[k].shape) for k in away])[:-1]
    parts = dict(zip(away, np.split(together, ends), strict=True))
    return [parts[k].reshape(a.shape) if k in parts else to_numpy(a) for k, a in enumerate(arrays)]


def clamp(x: Array, low: float | None = None, high: float | None = None) -> Array:
    """x where it lies in [low, high], else the nearer end; NaN stays."""
    xp = namespace(x)
    if not is_cupy_namespace(xp):
        return xp.clip(x, min=low, max=high)
    if low is not None:  # array-api-compat's clip selects by masks, for which CuPy waits
        x = xp.where(x < low, xp.full_like(x, low), x)
    return x if high is None else xp.where(x > high, xp.full_like(x, high), x)


def identity(d: int, reference: Array) -> SquareMatrices:
    """The identity matrix ``(d, d)``, made where ``reference`` is."""
    if isinstance(reference, np.ndarray):
        return np.eye(d, dtype=float if reference.dtype == object else reference.dtype)
    xp = namespace(reference)
    made_there = hasattr(xp, "eye")  # enclosures have none
    return xp.eye(d, dtype=reference.dtype, device=device(reference)) if made_there else like(np.eye(d), reference)


def average(x: ClientPoints, clients: Clients | None = None) -> ServerPoint:
    """Average over clients.

    This is the one place where information crosses from client to client. Algorithms never use a bare mean,
    because an engine may give this function another meaning. With ``clients`` whose ``present`` mask is set
    (Bernoulli participation), the average is over those present. Where clients have weights, it is by these
    (`fedtheory.core.client_weights`).
    """
    if stands_for_all(x):
        require_equal_weights("one row that stands for all clients")
        return x.averaged(clients)
    xp, shares = namespace(x), shares_of_rows(x.shape[-2], clients, exact=is_object(x))
    if shares is not None:
        return xp.sum(x * moved_once(shares, x)[..., None], axis=-2, keepdims=True)
    if clients is None or clients.present is None:
        total = xp.sum(x, axis=-2, keepdims=True)
        return _divide_exactly(total, x.shape[-2]) if is_object(x) else total / x.shape[-2]
    present = xp.astype(moved_once(clients.present, x), x.dtype)[..., None]
    count = xp.sum(present, axis=-2, keepdims=True)
    return xp.sum(x * present, axis=-2, keepdims=True) / xp.where(count > 0, count, xp.ones_like(count))


def _divide_exactly(x: Array, n: int) -> Array:
    """Entries over n; whole numbers become fractions, and no floats."""
    return np.frompyfunc(lambda entry: Fraction(entry, n) if isinstance(entry, int) else entry / n, 1, 1)(x)


def mean_of_clients(values: ClientValues) -> RunValues:
    """Average numbers, one a client, over clients."""
    return average(values[..., None])[..., 0, 0]


def spread(x: ServerPoint, n: int) -> ClientPoints:
    """Give each of n clients the server's quantity, without arithmetic."""
    if stands_for_all(x):
        return x.with_rows(n)
    return namespace(x).broadcast_to(x, (*x.shape[:-2], n, x.shape[-1]))


def take(x: Array, index: Array, axes_behind: int = 1) -> Array:
    """Select clients: ``(..., n, *rest), (..., m) -> (..., m, *rest)`` with ``axes_behind = len(rest)``.

    A client axis of length one (a server quantity), a number and None stand for all clients and come back as
    they are.
    """
    if not is_array(x) or x.ndim <= axes_behind or x.shape[-1 - axes_behind] == 1:
        return x
    xp = namespace(x)
    axis = x.ndim - 1 - axes_behind
    index = moved_once(index, x)
    if index.ndim == 1:
        return xp.take(x, index, axis=axis)
    # each batch row selects its own clients: index the flattened (batch, client) axis
    rows, n, rest = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    offset = xp.arange(0, math.prod(rows) * n, n, dtype=index.dtype, device=device(x))
    flat = xp.reshape(offset, (*rows, 1)) + index
    picked = xp.take(xp.reshape(x, (-1, *rest)), xp.reshape(flat, (-1,)), axis=0)
    return xp.reshape(picked, (*flat.shape, *rest))


def gather(x: Points, clients: Clients | None) -> ActivePoints:
    """Rows of the clients that take part; all of them for None."""
    if clients is None:
        return x
    return x.gathered(clients) if stands_for_all(x) else take(x, clients.index)


def scatter(x: Points, clients: Clients | None, new: ActivePoints) -> Points:
    """Return a copy of ``x`` in which the clients that take part have the rows of ``new``."""
    if clients is None:
        return new
    if stands_for_all(x):
        return x.scattered(clients, new)
    xp = namespace(x, new)
    position, taken = clients.positions
    spread = take(new, position) if new.shape[-2] > 1 else new
    return xp.where(moved_once(taken, x)[..., None], spread, x)


def inner(x: Vectors, y: Vectors) -> Lengths:
    """Inner products of the last axis."""
    return namespace(x, y).sum(x * y, axis=-1)


def squared_norm(x: Vectors) -> Lengths:
    """Squared Euclidean norms of the last axis."""
    return inner(x, x)


def take_step(x: Points, lr: Scalar, g: Points) -> Points:
    """Return x - lr g; tensors of PyTorch and a plain number in one pass over memory, which is what local steps of large models cost."""
    if isinstance(lr, int | float) and not isinstance(x, np.ndarray) and hasattr(x, "detach"):
        return x.sub(g, alpha=lr)
    return x - lr * g


def rows_times(x: Array, a: Array) -> Array:
    """Per client ``x_i^T A_i``: ``(..., n, k), (..., n, k, l) -> (..., n, l)``.

    When the matrices are shared by all runs of a batch, the runs become the rows of one matrix-matrix product a
    client; the result keeps that memory order, so that the next product needs no copy.
    """
    xp = namespace(x, a)
    if a.ndim > 3 or x.ndim < 3:
        return xp.matmul(x[..., None, :], a)[..., 0, :]
    *batch, n, k = x.shape
    among = range(
        len(batch)
    )  # a permutation written out costs a tenth of `moveaxis`, which each local step would pay twice
    rows = xp.reshape(xp.permute_dims(x, (len(batch), *among, len(batch) + 1)), (n, -1, k))
    product = xp.matmul(rows, a)
    runs = xp.reshape(product, (product.shape[0], *batch, product.shape[-1]))
    return xp.permute_dims(runs, (*(j + 1 for j in among), 0, len(batch) + 1))


def solve_linear(a: SquareMatrices, b: Vectors) -> Vectors:
    """Solve ``A_i x_i = b_i``; exact for object arrays.

    Raises
    ------
    InvalidInput
        A matrix is singular.
    """
    if is_object(a) or is_object(b):
        return _solve_exactly(np.asarray(a), np.asarray(b))
    xp = namespace(a, b)
    if is_cupy_namespace(xp):
        return _solve_and_look(xp, a, b)
    try:
        return xp.linalg.solve(a, b[..., None])[..., 0]
    except Exception as error:  # each library has its own class of error for a singular matrix
        if "singular" not in str(error).lower():
            raise
        raise InvalidInput(_SINGULAR) from error


_SINGULAR = (
    "a linear system is singular; the subproblem has no unique solution: lower the step (raise rho) or "
    "make the objective strongly convex"
)


def _solve_and_look(xp: Namespace, a: Array, b: Array) -> Array:
    """`solve_linear` with CuPy, which broadcasts no batch axes and gives infinite values and NaN for singular matrices, without an error."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-1])
    a = xp.broadcast_to(a, (*batch, *a.shape[-2:]))
    b = xp.broadcast_to(b, (*batch, b.shape[-1]))
    found = xp.linalg.solve(a, b[..., None])[..., 0]
    given = xp.all(xp.isfinite(a), axis=(-2, -1)) & xp.all(xp.isfinite(b), axis=-1)  # else the run has diverged
    if bool(xp.any(given & ~xp.all(xp.isfinite(found), axis=-1))):
        raise InvalidInput(_SINGULAR)
    return found


def _solve_exactly(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    sympy = require("sympy", "exact linear algebra on symbols and fractions")
    d = b.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-1])
    a = np.broadcast_to(a, (*batch, d, d))
    b = np.broadcast_to(b, (*batch, d))
    out = np.empty(b.shape, dtype=object)
    for position in np.ndindex(*batch):
        if d == 1:
            out[position] = b[position] / a[position][0, 0]
        else:
            solution = sympy.Matrix(a[position]).LUsolve(sympy.Matrix(b[position]))
            out[position] = [sympy.cancel(entry) for entry in solution]
    return out


def choose(coin: Any, yes: Array, no: Array) -> Array:
    """Return ``yes`` where the coin shows heads, else ``no``.

    A Python bool selects without looking at values, so the symbolic and worst-case engines can follow it.
    """
    if isinstance(coin, bool):
        return yes if coin else no
    xp = namespace(yes, no)
    return xp.where(moved_once(coin, yes), yes, no)


def choose_lazily(coin: Any, yes: Callable[[], Array], no: Callable[[], Array]) -> Array:
    """`choose` between two computations; what no run of the batch needs is not computed."""
    shown = to_numpy(coin)
    if np.all(shown):
        return yes()
    return choose(coin, yes(), no()) if np.any(shown) else no()


def is_torch(x: Array) -> bool:
    """Whether x is a PyTorch tensor."""
    return not isinstance(x, np.ndarray) and is_array(x) and bool(is_torch_namespace(namespace(x)))


def along_batch(values: Any, reference: Array | None = None) -> HyperParameter:
    """Hyper-parameter values ``(*batch,)`` as an array that broadcasts against points, of the reference's library if given, else of their own."""
    if is_array(values) and not isinstance(values, np.ndarray):
        return values[..., None, None]
    host = np.asarray(values, dtype=float)[..., None, None]
    return host if reference is None else like(host, reference)
