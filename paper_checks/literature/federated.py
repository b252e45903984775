"""Rates and biases of federated methods."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms.fedavg import FedAvg
from fedtheory.algorithms.fednova import FedNova
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.bound import Contraction
from fedtheory.claims.statements.limit import Divergence, Limit
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.local.solvers import GradientSteps
from paper_checks.literature.sources import PAPER
from problems.quadratics import scalar_quadratics

SAMPLED = Theorem(
    region="0 < mu < L, 0 < lr <= 1/L, n in 2.., 1 <= s <= n",
    states=MethodStates("fedavg", "lr, steps = 1", "L, mu", clients="n, s"),
    rounds={"t": 0},
    quantities={"d": "norm2(x - x_star)", "S": "mean(norm2(grad(f_i, x) - bar(grad(f_i, x))))"},
    claim="d[t+1] <= (1 - mu*lr)**2*d[t] + lr**2*(n - s)/(s*(n - 1))*S[t]",
    proof="done: claim by derivation",
)
#: mu = a^2 and L = b^2, so that the square root of kappa is b/a
FEDSPLIT = Theorem(
    region="0 < a < b",
    states=MethodStates("fedsplit", "s = 1/(a*b), exact", "L = b**2, mu = a**2"),
    rounds={"t": 0, "T": 0},
    quantities={"V": "mean(norm2(z_i - x_star + 1/(a*b)*grad(f_i, x_star)))"},
    claim="V[T] <= (1 - 2*a/(a + b))**(2*T)*V[0]",
    proof="""
      step: V[t+1] <= (1 - 2*a/(a + b))**2*V[t]   by derivation
      done: claim                                 by contraction of step
    """,
)


def play_in_turn(w: World, p: Parameters, last: int, weight: Fraction) -> list[Any]:
    """x+ = x - weight z: FedBuff with lr = 1/L on three clients with f_i = L ||x||^2/2 that come in turn, each with the model z of two rounds ago.

    y is the model of one round ago. With weights 1/(1 + age) the weight is 1/3 where the buffer's size, one, divides, and 1 where the weights do.
    """
    x, y, z = w.vector("x"), w.vector("y"), w.vector("z")
    states = []
    for _ in range(last + 1):
        states.append(SimpleNamespace(x=x, y=y, z=z))
        x, y, z = x - z * weight, x, y
    return states


BY_SIZE = Theorem(
    region="",
    states=PlayedStates(partial(play_in_turn, weight=Fraction(1, 3))),
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x)", "V": "8*norm2(x) - 6*dot(x, y) - 4*dot(x, z) + 4*norm2(y) + 2*norm2(z)"},
    claim="d[T] <= (4/5)**T*V[0]",
    proof="""
      step:  V[t+1] <= 4/5*V[t]           by derivation
      all:   V[T] <= (4/5)**T*V[0]        by contraction of step
      below: d[t] <= V[t]                 by derivation
      done:  claim                        by combine all, below(t=T)
    """,
)
#: W is 7 ||x^0||^2, times -1, where all clients begin with one model x^0
BY_WEIGHTS = Theorem(
    region="",
    states=PlayedStates(partial(play_in_turn, weight=Fraction(1))),
    rounds={"t": 0, "T": 0},
    quantities={
        "s": "norm2(x) + norm2(y) + norm2(z)",
        "W": "10*dot(x, z) + 2*norm2(y) - 3*norm2(x) - 4*dot(x, y) - 12*dot(y, z)",
    },
    claim="-(5/4)**T*W[0] <= 8*s[T]",
    proof="""
      step:  W[t+1] <= 5/4*W[t]           by derivation
      all:   W[T] <= (5/4)**T*W[0]        by contraction of step
      below: -W[t] <= 8*s[t]              by derivation
      done:  claim                        by combine all, below(t=T)
    """,
)


def pair(a: Any, b: Any) -> Any:
    """(a/2)(x - 1)^2 and (b/2)(x + 1)^2."""
    return scalar_quadratics(np.array([a, b], dtype=object), np.array([Fraction(1), Fraction(-1)], dtype=object))


MOVED = "(1 - (1 - lr*{0})**2)".format  #: how far two steps go, as a share of the way to a client's own minimiser
PULLED = "({0}/({0} + rho))".format  #: how far a proximal step goes
UNLIKE_STEPS = np.array([1, 2])  #: local steps of the two clients


def fedavg_of_one_and_two_steps(lr: Any) -> FedAvg:
    """FedAvg with one step of the one client and two of the other."""
    return FedAvg(GradientSteps(UNLIKE_STEPS, lr))


def fednova_of_one_and_two_steps(lr: Any) -> FedNova:
    """FedNova with one step of the one client and two of the other."""
    return FedNova(GradientSteps(UNLIKE_STEPS, lr))


CLAIMS = [
    state(
        "LIT-PROXSKIP",
        PAPER,
        "Mishchenko et al. 2022, Theorem 3.6, a round",
        "The potential of Scaffnew falls by max{1 - lr mu, 1 - p^2} in expectation, for lr <= 1/L.",
        Contraction(
            "scaffnew",
            "lr, p",
            region="0 < mu < L, 0 < lr <= 1/L, 0 < p <= 1",
            functions="L, mu",
            potential={"x_i": 1, "h_i": "(lr/p)**2"},
            claimed="max(1 - lr*mu, 1 - p**2)",
        ),
    ),
    state(
        "LIT-RANDPROX",
        PAPER,
        "Condat and Richtarik 2023, for consensus; with its sharp constants, of Scaffnew too",
        "The potential of RandProx falls by max{(1 - lr mu)^2, (1 - lr L)^2, 1 - relax p^2} in expectation, for lr < 2/L.",
        Contraction(
            "randprox",
            "lr, p, relax",
            region="0 < mu < L, 0 < lr < 2/L, 0 < p <= 1, 0 < relax <= 1",
            functions="L, mu",
            potential={"x_i": 1, "u_i": "lr**2/(relax*p**2)"},
            claimed="max((1 - lr*mu)**2, (1 - lr*L)**2, 1 - relax*p**2)",
        ),
    ),
    state(
        "LIT-FEDSPLIT",
        PAPER,
        "Pathak and Wainwright 2020, Theorem 1",
        "With s = 1/sqrt(mu L) FedSplit's variables approach their fixed point by the factor 1 - 2/(sqrt(kappa) + 1) a round.",
        FEDSPLIT,
    ),
    state(
        "LIT-SAMPLED",
        PAPER,
        "Cochran 1977, Theorem 2.2, in a gradient step",
        "With s of n clients drawn without replacement a step of the average adds lr^2 (n - s)/(s (n - 1)) times the mean variance of gradients.",
        SAMPLED,
    ),
    state(
        "LIT-FEDAVG-BIAS",
        PAPER,
        "Pathak and Wainwright 2020, Section 2, fixed points of FedSGD with two steps",
        "FedAvg settles at the average of clients' minimisers weighted by how far two steps go to each, and not at the minimiser.",
        Limit(
            "fedavg",
            "lr, steps = 2",
            problem=pair,
            start=2,
            region="0 < a, 0 < b, 0 < lr < 1/(a + b)",
            point=f"({MOVED('a')} - {MOVED('b')})/({MOVED('a')} + {MOVED('b')})",
        ),
    ),
    state(
        "LIT-FEDAVG-UNLIKE-STEPS",
        PAPER,
        "Wang et al. 2020, objective inconsistency, with one step of the one client and two of the other",
        "FedAvg with unlike numbers of steps settles, for small lr, near the minimiser of f_1 + 2 f_2, and not of f_1 + f_2.",
        Limit(
            fedavg_of_one_and_two_steps,
            problem=pair,
            start=2,
            region="0 < a, 0 < b, 0 < lr < 1/(a + b)",
            point=f"(lr*a - {MOVED('b')})/(lr*a + {MOVED('b')})",
        ),
    ),
    state(
        "LIT-FEDNOVA-UNLIKE-STEPS",
        PAPER,
        "Wang et al. 2020, normalised averaging, with one step of the one client and two of the other",
        "FedNova there settles, for small lr, near the minimiser of f_1 + f_2: each move is divided by its number of steps.",
        Limit(
            fednova_of_one_and_two_steps,
            problem=pair,
            start=2,
            region="0 < a, 0 < b, 0 < lr < 1/(a + b)",
            point=f"(lr*a - {MOVED('b')}/2)/(lr*a + {MOVED('b')}/2)",
        ),
    ),
    state(
        "LIT-FEDPROX-BIAS",
        PAPER,
        "Pathak and Wainwright 2020, Section 2, fixed points of FedProx (Li et al. 2020)",
        "FedProx with exact proximal steps settles at the average weighted by a_i/(a_i + rho), and not at the minimiser.",
        Limit(
            "fedprox",
            "rho, exact",
            problem=pair,
            start=2,
            region="0 < a, 0 < b, 0 < rho",
            point=f"({PULLED('a')} - {PULLED('b')})/({PULLED('a')} + {PULLED('b')})",
        ),
    ),
    state(
        "LIT-GD-DIVERGES",
        PAPER,
        "Polyak 1987, Section 1.4",
        "Gradient descent diverges on a quadratic of curvature c for steps above 2/c.",
        Divergence(
            "gd",
            "lr",
            problem=pair,
            start=2,
            region="0 < a, 0 < b, 4/(a + b) < lr",
            multiplier="1 - lr*(a + b)/2",
        ),
    ),
    state(
        "LIT-FEDBUFF-SIZE",
        f"{PAPER}, derived",
        "Nguyen et al. 2022, Algorithm 1, with a buffer of one client and weights 1/(1 + age)",
        "FedBuff that divides by the size of the buffer converges with lr = 1/L where three clients with f_i = L ||x||^2/2 come in turn.",
        BY_SIZE,
    ),
    state(
        "LIT-FEDBUFF-WEIGHTS",
        f"{PAPER}, derived",
        "Nguyen et al. 2022, Algorithm 1, divided by the sum of the weights, as users ask",
        "Divided by the sum of the weights in the place of the size, it diverges there from every start x^0 != 0 that all clients have.",
        BY_WEIGHTS,
    ),
]
