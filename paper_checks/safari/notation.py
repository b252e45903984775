"""The notation of SAFARI's statements: what the paper's symbols are in formulas, and the formulas of its theorems, each once.

Sentences, proofs, instances and pictures read a formula here; special cases are made by putting values in.

====================================  ===================================================================================
L, mu, sigma^2, sigma_s^2, sigma_G^2  `L`, `mu`, `sigma2` (of clients), `sigma_s2` (of the server), `sigma_G2` (dissimilarity)
q, eta_s, eta_c, K, m, R              `q`, `eta_s`, `eta_c`, `K` local steps, `m` clients, `R` rounds
etabar                                `etabar` = eta_c K mu/2 = 2 eta_s L mu/(L + mu): `ETABAR`, and `BY_ETABAR` the steps by it
F(x_0) - F*, ||x_0 - x*||^2           `gap` and `dist` of the start; `dist` of a round is ||x_r - x*||^2
||grad F(x_r)||^2                     `slope` in Theorem 4, `G_3` in Theorem 5
||(1/m) sum grad F_i(x_{r,k}^i)||^2   `G`, over clients and steps; `G_1` and `G_2` are the largest `slope` and `G` of a run
F(x_r) - E F(x_{r+1})                 `change`
(1/m) sum_{S_r} (F_i(x_r) - F_i(x*))  `G_4`
delta, deltabar                       `DELTA`, `DELTABAR`
A(n, delta), d_H                      `complexity`, with `d`; orders in samples are `alone_order` and `pooled_order`
====================================  ===================================================================================

`claim` makes a claim of the paper, `derived` one of our own. `ASSUMED`, `CONVEX` and `INDEPENDENT` are words of assumptions. What theorems
say of states is in `rounds` and `learners`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from math import ceil, log
from typing import Any

from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.symbolic import symbols
from paper_checks.steps import claims_of

# ---- Claims ----------------------------------------------------------------------------------------------------------
PAPER = "safari"
claim, derived = claims_of(PAPER), claims_of(f"{PAPER}, derived")

# ---- What is assumed -------------------------------------------------------------------------------------------------
NON_TRIVIAL = "H has f_1, f_2 and points x_1, x_2 with f_1(x_1) = f_2(x_1), f_1(x_2) != f_2(x_2)"
DOMAIN = f"{NON_TRIVIAL}; P(x_2) = (1 - omega)/2; x_2 is hidden where it can be"
CITED = "given Lemma 1 in its standard form, which is cited"
ASSUMED = ["Assumptions 3 to 5"]
CONVEX = ["Assumptions 3 to 5", "F_i mu-strongly convex"]
INDEPENDENT = "clients draw independently of each other"


# ---- Section 3 -------------------------------------------------------------------------------------------------------
def exponent(b: Any) -> Any:
    """1/(2 - beta), the exponent of samples under Assumption 1."""
    return 1 / (2 - b)


def alone_order(n: Any, b: Any) -> Any:
    """The order of one law's excess error, n over d_H."""
    return n ** -exponent(b)


def pooled_order(n: Any, beta: Any, b: Any) -> Any:
    """The order of (1)'s second term, n = n_T + n_S over d_H."""
    return n ** (-beta * exponent(b))


def complexity(n: int, delta: float, outside: bool = True, d: int = 1) -> float:
    """A(n, delta) for n >= d_H = d, in its standard form; as printed log(1/delta)/n is inside of the logarithm."""
    confidence = log(1 / delta) / n
    return d / n * log(n / d) + confidence if outside else d / n * log(n / d + confidence)


def fraction_above(x: float) -> Fraction:
    """A fraction a little above a logarithm computed in floats."""
    return Fraction(ceil(x * 10**9) + 1, 10**9)


# ---- Theorem 4 -------------------------------------------------------------------------------------------------------
#: what is left of the mixture of (28) and (50) besides slopes
DELTA = "L*eta_s*(1 - q)*sigma_s2 + 80*q*L**2*eta_s**2/K*(sigma2 + 6*K*sigma_G2) + 8*L*q*eta_s/(m*K)*sigma2"
BOUND_4 = f"2*gap/(R*eta_s) + {DELTA}"
#: ``{power}``: of eta_s, 2 in Theorem 4 as printed and 1 by (55)
BRACKET_4 = "4*sigma_G2 - 4*G_2*(1/(2*K**2) - 2*L*eta_s**{power}/K**2)"
#: what R_s/R_c is at least
RATIO_4 = f"({BRACKET_4})/((1 - L*eta_s)*G_1)"
THRESHOLD_4 = f"1/({RATIO_4} + 1)"
#: its range of the clients' step, as printed and without the root
STEP_FOUR = "0 < eta_c <= 1/(4*sqrt(30)*L*K)"
STEP_4 = "480*(L*K*eta_c)**2 <= 1"
#: Theorem 4's step of the clients
BY_SERVER_STEP = {"eta_c": "2*eta_s/K"}
#: (28), and (50) with eta_c = 2 eta_s/K: bounds on slope
SERVER_4 = "2/eta_s*change + (L*eta_s - 1)*slope + L*eta_s*sigma_s2"
CLIENT_4 = "2/eta_s*change + 4*sigma_G2 + (8*L*eta_s/K**2 - 2/K**2)*G + 80*L**2*eta_s**2/K*(sigma2 + 6*K*sigma_G2) + 8*L*eta_s/(m*K)*sigma2"
#: the terms of the mixture that (54) is to make up for 4 q sigma_G^2 with, none of which is positive
SLOPES_4 = "(1 - q)*(L*eta_s - 1)*slope + q*(8*L*eta_s/K**2 - 2/K**2)*G"
PULL_4 = "4*q*sigma_G2"
#: (44) of a client round
MOMENT_4 = "L*eta_c**2/2*(2*G + 2*K*sigma2/m)"
#: orders in R, and what the second is said to need
ORDER_C1A, ORDER_C1B, NOISE_C1B = "1/sqrt(R)", "1/sqrt(m*K*R)", "sigma_s2 <= sigma2/(m*K)"

# ---- Theorem 5 -------------------------------------------------------------------------------------------------------
#: (41) without its slope
DRIFT_BOUND = "5*K*eta_c**2*(sigma2 + 6*K*sigma_G2)"
#: (41)
DRIFT = f"({DRIFT_BOUND} + 30*K**2*eta_c**2*G_3)"
DELTABAR = f"8*q*eta_c*K/mu*sigma_G2 + 2*q*eta_c/(mu*m)*sigma2 + 4*q*L*(1 + K*eta_c*L)/mu*({DRIFT_BOUND}) + (1 - q)*(L + mu)/(2*L*mu)*eta_s*sigma_s2"
BOUND_5 = f"(1 - etabar)**R*dist + {DELTABAR}"
#: of G_3 in the condition on q, from client and server rounds: ``{times}`` and ``{share}`` are its two constants
CLIENTS_5 = "{times}*etabar/mu**2*(1 + 30*L*etabar/mu*(1 + 2*L*etabar/mu))"
SERVER_5 = "{share} - (L + mu)**2*etabar/(4*L**2*mu**2)"
THRESHOLD_5 = f"1/(1 + (({CLIENTS_5})*G_3 - 4/mu*G_4)/(({SERVER_5})*G_3))"
#: the same undivided, with all on one side: at most 0
EXCESS_5 = f"q*(({CLIENTS_5})*G_3 - 4/mu*G_4) - (1 - q)*({SERVER_5})*G_3"
PRINTED_5 = {"times": "4", "share": "1/(L + mu)"}
CORRECTED_5 = {"times": "16", "share": "1/(L*mu)"}
#: (58) and (77): bounds on E ||x_{r+1} - x*||^2
SERVER_DISTANCE = "(1 - 2*eta_s*L*mu/(L + mu))*dist + eta_s*(eta_s - 2/(L + mu))*G_3 + eta_s**2*sigma_s2"
CLIENT_DISTANCE = (
    "(1 - eta_c*K*mu/2)*dist + 4*eta_c**2*K**2*sigma_G2 + 4*eta_c**2*K**2*(1 + 15*eta_c*K*L*(1 + eta_c*K*L))*G_3 "
    f"+ K*eta_c**2/m*sigma2 - 2*eta_c*K*G_4 + 2*eta_c*K*L*(1 + K*eta_c*L)*({DRIFT_BOUND})"
)
MIXED_5 = f"q*({CLIENT_DISTANCE}) + (1 - q)*({SERVER_DISTANCE})"
#: (81)-(82), with the constants of `EXCESS_5`
MIXED_BY_ETABAR = f"(1 - etabar)*dist + etabar*({EXCESS_5} + {DELTABAR})"
#: the noise of (61)
NOISE_5 = "K*sigma2/m"
STEP_5 = "0 < eta_s <= 2/(L + mu)"
#: etabar by the clients' step, and by the server's
ETABAR = ("eta_c*K*mu/2", "2*eta_s*L*mu/(L + mu)")
#: the steps of Theorem 5 by etabar
BY_ETABAR = {"eta_c": "2*etabar/(mu*K)", "eta_s": "etabar*(L + mu)/(2*L*mu)"}


# ---- Reading formulas ------------------------------------------------------------------------------------------------
def of_rounds(text: str, **quantities: str) -> str:
    """A formula with quantities of rounds in the place of its symbols."""
    return re.sub(rf"\b({'|'.join(quantities)})\b", lambda found: quantities[found[0]], text)


def in_symbols(text: str, **values: Any) -> Any:
    """A formula in SymPy, in positive symbols, with values or other formulas in the place of some of them."""
    expression = Expression.parse(text).substitute(values)
    return expression.sympy({name: symbols(name, positive=True) for name in expression.names})


def value(text: str, instance: Mapping[str, Any]) -> Any:
    """A formula on an instance, in its numbers: fractions are exact."""
    return Expression.parse(text).at(instance)
