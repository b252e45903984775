"""The momentum sequence of accelerated forward-backward splitting under strong convexity (DualFL, equation (5))."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Scalar, fetched_once, is_array, like
from fedtheory.core.errors import require

BLOCK = 256  #: how many terms of the sequence are kept together


def beta(rho: Scalar, n: int) -> Scalar:
    """Return beta_n = ((t_n - 1)/t_{n+1}) (1 - t_{n+1} rho)/(1 - rho), from t_0 = 1 and

    t_{n+1} = (1 - rho t_n^2 + sqrt((1 - rho t_n^2)^2 + 4 t_n^2)) / 2.

    rho = 0 gives FISTA's (t_n - 1)/t_{n+1}; for rho > 0, t_n rises to 1/sqrt(rho) and beta_n to
    (1 - sqrt(rho))/(1 + sqrt(rho)). beta_0 = 0, whatever rho. Fractions and symbols give exact expressions of SymPy.

    Parameters
    ----------
    rho : number in [0, 1), array ``(*batch, 1, 1)``, symbol, or function of the round
        A function prescribes beta_n itself, whatever the sequence.
    n : int
        Number of the round, from 0.
    """
    if callable(rho):
        return rho(n)
    if is_array(rho):
        flat, shape = fetched_once(rho), tuple(rho.shape)
        return like(_numbers(tuple(flat.ravel().tolist()), n).reshape(shape), rho)
    if isinstance(rho, float | int | np.number):
        return float(_numbers((float(rho),), n)[0])
    return _exact(rho, n)


def inertia(t: Any, new: Any, rho: Any) -> Any:
    """beta_n from t_n, t_{n+1} and rho."""
    return (t - 1) / new * (1 - new * rho) / (1 - rho)


def _numbers(rho: tuple[float, ...], n: int) -> NDArray[np.float64]:
    t, new = _block(rho, n // BLOCK)[n % BLOCK : n % BLOCK + 2]
    r = np.asarray(rho)
    return np.asarray(inertia(t, new, r))


@lru_cache(maxsize=1024)
def _block(rho: tuple[float, ...], k: int) -> NDArray[np.float64]:
    """t_n for n = BLOCK k, ..., BLOCK (k + 1): ``(BLOCK + 1, len(rho))``."""
    r = np.asarray(rho)
    found = [np.ones(len(rho)) if k == 0 else _block(rho, k - 1)[-1]]
    for _ in range(BLOCK):
        rest = 1 - r * found[-1] ** 2
        found.append((rest + np.sqrt(rest**2 + 4 * found[-1] ** 2)) / 2)
    return np.asarray(found)


def _exact(rho: Any, n: int) -> Any:
    sympy = require("sympy", "momentum of fractions or symbols")
    r = sympy.Rational(rho.numerator, rho.denominator) if isinstance(rho, Fraction) else rho
    t = new = sympy.Integer(1)
    for _ in range(n + 1):
        t, rest = new, 1 - r * new**2
        new = (rest + sympy.sqrt(rest**2 + 4 * t**2)) / 2
    return inertia(t, new, r)
