"""What FedSLR's theory checks share: runs on the line in fractions and in floats, steps of proofs, and the constants of Theorem 2."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import FedSLR
from fedtheory.core.randomness import Key, ScriptedKey
from fedtheory.core.regularisers import L1, regularised
from fedtheory.local.proximal_steps import ProximalSteps
from fedtheory.measures import potentials
from paper_checks.steps import claims_of
from problems.piecewise import PiecewiseQuadratic

PAPER = "fedslr"
DERIVED = f"{PAPER}, derived"
claim, derived = claims_of(PAPER), claims_of(DERIVED)
#: what is assumed of Phase I throughout: local problems are solved exactly, and the duals start at the gradients
EXACT = "exact local solves and gamma_{i,t} = grad f_i(w_{i,t}): every t >= 1 by Fact 2, and t = 0 where gamma_{i,0} is started so"
CONTINUOUS = "a cluster point exists; R is finite and continuous, as the nuclear norm is"
ALONG = "J are rounds along which states go to the cluster point, and with them D, f and R, which are continuous, to their values there"
KL_HOLDS = (
    "A4: around its critical points D has the Kurdyka-Lojasiewicz inequality with this theta and some c, by which it holds at the iterates from some "
    "round t_0 on (FEDSLR-N23)"
)
#: what Theorem 3 needs of Phase II's samples
UNBIASED = "a drawn gradient is unbiased, and A5 holds of it, given all that was drawn before; A5 does not say so"
Points = list[Any]


def play_on_line(
    f: PiecewiseQuadratic,
    eta: Fraction,
    start: Fraction,
    rounds: int,
    *,
    weight: Fraction = Fraction(0),
    personal: tuple[int, Fraction, Fraction] | None = None,
    exactly: bool = True,
) -> tuple[Any, Points]:
    """FedSLR on one function of the line plus ``weight`` |w|: the problem, and the states after 0, 1, ... rounds, in fractions or floats.

    ``personal``: steps, step size and l1 weight of Phase II.
    """
    number: Any = Fraction if exactly else float
    if not exactly:
        arrays = {name: getattr(f, name).astype(float) for name in ("knots", "slopes", "base")}
        f = dataclasses.replace(f, **arrays)
    problem: Any = regularised(f, L1(number(weight))) if weight else f
    second = None
    if personal is not None:
        second = ProximalSteps(personal[0], number(personal[1]), L1(number(personal[2])))
    method = FedSLR(number(eta), personal=second)
    x0 = np.empty((1, 1), dtype=object if exactly else float)
    x0[0, 0] = number(start)
    states = [method.init(problem, x0)]
    for t in range(rounds):
        states.append(method.round(problem, states[-1], None, ScriptedKey(t)))  # type: ignore[arg-type]
    return problem, states


@dataclass(frozen=True)
class Constants:
    """Theorem 2's constants for given L, eta, KL constant c and exponent theta; C_1 and C_2 as corrected unless ``printed``.

    C_1 = (1/eta + eta L^2)^2, printed 4 (eta L^2 + eta^2 L^4 + 1/eta + L^2); C_2 = (1 - 2 L eta)(1 + L eta)/(2 eta), printed with the other
    sign, which is not followed here: no root could be taken. Exact in fractions where no power is asked for.
    """

    L: Any
    eta: Any
    c: Any = 1
    theta: Any = Fraction(1, 2)

    @property
    def c1(self) -> Any:
        """C_1, corrected."""
        return (1 / self.eta + self.eta * self.L**2) ** 2

    @property
    def c1_printed(self) -> Any:
        """C_1 as printed below (70)."""
        return 4 * (self.eta * self.L**2 + self.eta**2 * self.L**4 + 1 / self.eta + self.L**2)

    @property
    def c2(self) -> Any:
        """C_2, corrected."""
        return potentials.fedslr_decrease(self.eta, self.L)[0]

    @property
    def c3(self) -> Any:
        """C_3 = (1 + eta)(L + 1/eta)."""
        return (1 + self.eta) * (self.L + 1 / self.eta)

    @property
    def c4(self) -> Any:
        """C_4 = C_2 / (C_3 c (1 - theta))^2."""
        return self.c2 / (self.c3 * self.c * (1 - self.theta)) ** 2

    @property
    def c5(self) -> Any:
        """C_5 = sqrt(C_1/C_2) ((2 theta - 1) C_4)^{1/(2 - 4 theta)}."""
        return c5_of(self.c1, self.c2, self.c4, self.theta)


def c5_of(c1: Any, c2: Any, c4: Any, theta: Any) -> Any:
    """C_5 from the constants before it."""
    return bound_72(c1, c2, 1) * ((2 * theta - 1) * c4) ** (1 / (2 - 4 * theta))


def bound_72(c1: Any, c2: Any, r: Any) -> Any:
    """(72)'s right side."""
    return (c1 * r / c2) ** 0.5


def bound_12(c1: Any, c2: Any, c4: Any, r: Any, n: Any) -> Any:
    """(12)'s right side, n rounds after the residual r."""
    return bound_72(c1, c2, r * (1 - c4) ** n)


def bound_13(c5: Any, theta: Any, T: Any) -> Any:
    """(13)'s right side as printed."""
    return c5 * T ** -(4 * theta - 2)


def bound_13_corrected(c5: Any, theta: Any, T: Any) -> Any:
    """(13)'s right side with the exponent of the step before it."""
    return c5 * T ** (-1 / (4 * theta - 2))


def play(method: Any, problem: Any, rounds: int, start: Any = None, seed: int = 0) -> Iterator[tuple[Any, Any]]:
    """States before and after rounds 1, 2, ... with all clients, from zero if no start is given."""
    state = method.init(problem, np.zeros((1, problem.d)) if start is None else start[None])
    for t in range(rounds):
        old, state = state, method.round(problem, state, None, Key(seed, t))
        yield old, state


def fractions_of(instance: Any, names: Sequence[str]) -> list[Fraction]:
    """Numbers of a stored instance, read exactly."""
    return [Fraction(str(instance[name])) for name in names]
