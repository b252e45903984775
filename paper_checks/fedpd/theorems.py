"""FedPD's Theorem 1 for every T, corrected, with exact local solves and with errors (`rounds` says what a round is)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from fedtheory.claims import Theorem
from fedtheory.claims.statements.theorems.as_parts import judged_like
from paper_checks.fedpd import rounds
from paper_checks.fedpd.common import (
    cases_with_errors,
    constants_with_errors,
    factor_with_errors,
    rational,
    theorem_one_cases,
    theorem_one_factor,
)
from paper_checks.formulas import formula, formula_as_written

#: the mean of L_i(x_i, x_0, lam_i), ||grad f(x_0)||^2, and how far models move in a round
QUANTITIES = {
    "f": "mean(f_i(x))",
    "level": "mean(f_i(x_i)) + mean(dot(lam_i, x_i - x)) + mean(norm2(x_i - x))/(2*eta)",
    "grad2": "norm2(bar(grad(f_i, x)))",
    "moved": "mean(norm2(x_i_next - x_i))",
    "server": "norm2(x_next - x)",
}


def corrected(strength: Any = 4) -> Theorem:
    """`exact_solves`; with another constant its proof is read again."""
    return exact_solves(4) if strength == 4 else judged_like(exact_solves(strength), exact_solves(4))


def with_errors(strength: Any = 4, accuracy: Any = 1) -> Theorem:
    """`inexact_solves`; with other constants its proof is read again."""
    own = inexact_solves(4, 1)
    return own if (strength, accuracy) == (4, 1) else judged_like(inexact_solves(strength, accuracy), own)


@cache
def exact_solves(strength: Any) -> Theorem:
    """The sum of ||grad f(x_0)||^2 with exact local solves, where ``strength`` stands for the constant 4.

    With s^2 = mean ||dx_i||^2 and t = ||dx_0||: a round lowers mean L_i by at least ((1-2u)(1+u) s^2 + t^2)/(2 eta); ||grad f(x_0)||^2 after it is
    at most 2 ((1+u)/eta)^2 (u^2 s^2 + t^2); and mean L_i >= f(x_0), with equality at the start.
    """
    factor = formula_as_written(
        lambda u, eta, M: theorem_one_factor(u, eta, rational(strength), M), u="u", eta="eta", M="M"
    )
    return Theorem(
        name="Theorem 1 with exact solves",
        region="0 < L, 0 < eta < 1/(2*L)",
        states=rounds.EXACT,
        quantities=QUANTITIES,
        rounds={"t": 0, "T": 1},
        where={
            "u": "L*eta",
            "k": "2*((1 + u)/eta)**2",
            "M": f"max({theorem_one_cases(1)[0]}, {formula_as_written(lambda u: theorem_one_cases(u)[1], u='u')})",
            "K": factor,
        },
        claim="sum(grad2[t], t, 1, T) <= K*(f[0] - f[T])",
        proof="""
      some:  0 <= moved[t]                                              by derivation
      far:   0 <= server[t]                                             by derivation
      one:   1 <= M                                                     by combine
      two:   u**2 <= M*(1 - 2*u)*(1 + u)                                by combine
      round: ((1 - 2*u)*(1 + u)*moved[t] + server[t])/(2*eta) <= level[t] - level[t+1]         by derivation
      slope: grad2[t+1] <= k*(u**2*moved[t] + server[t])                by derivation
      falls: grad2[t+1] <= K*(level[t] - level[t+1])                    by combine K*round, 1*slope, (k*server[t])*one, (k*moved[t])*two
      below: f[t] <= level[t]                                           by derivation
      start: level[0] == f[0]                                           by identity
      all:   sum(grad2[t], t, 1, T) <= K*(level[0] - level[T])          by induction T: base combine falls(t=0); step combine ih, falls(t=T)
      done:  claim                                                      by combine 1*all, K*below(t=T), K*start
    """,
    )


@cache
def gradients_vanish() -> Theorem:
    """||grad f(x_0^t)||^2 -> 0 with exact solves, for f >= f(x^0) - D_0, by D1."""
    own = corrected()
    return replace(
        own,
        name="FedPD's gradients vanish",
        region=f"{own.region}, 0 <= D_0",
        quantities={name: own.quantities[name] for name in ("f", "grad2")},
        where={name: own.where[name] for name in ("u", "M", "K")},
        rests={"sums": own},
        given={"below": "f[0] - D_0 <= f[t]"},
        claim="grad2[t] -> 0 as t",
        proof="""
      pos:   0 <= grad2[t]                        by derivation
      bound: sum(grad2[t], t, 1, T) <= K*D_0      by combine 1*sums, K*below(t=T)
      done:  claim                                by series pos, bound
    """,
    )


@cache
def reaches_the_minimiser() -> Theorem:
    """x_0^t -> 0 where f(x) = sqrt(1 + ||x||^2), whose gradient is x/f(x)."""
    own = gradients_vanish()
    return replace(
        own,
        name="FedPD on sqrt(1 + ||x||^2)",
        units="value = 1, length = 1",
        quantities={**own.quantities, "X": "norm2(x)"},
        rounds={"t": 1, "T": 1},
        rests={"sums": corrected(), "vanish": own},
        given={
            **own.given,
            "least": "1 <= f[t]",
            "value": "f[t]**2 == 1 + X[t]",
            "slope": "grad2[t]*(1 + X[t]) == X[t]",
        },
        claim="X[t] -> 0 as t",
        proof="""
      pos:   0 <= grad2[t]                        by derivation
      far:   0 <= X[t]                            by derivation
      sign:  0 <= f[t]                            by combine 1*least
      falls: f[T] <= f[0]                         by combine (1/K)*sums
      near:  X[t] <= grad2[t]*f[0]**2
               by combine (-1)*slope, (-grad2[t])*value, (2*grad2[t]*f[t])*falls(T=t), grad2[t]*square(f[0] - f[t])
      done:  claim                                by squeeze far, near, vanish
    """,
    )


@cache
def inexact_solves(strength: Any, accuracy: Any) -> Theorem:
    """The same with errors of local solves, mean ||e_i||^2 <= eps; ``strength`` scales K, ``accuracy`` C_4.

    M is any number that is at least 1 and u^2/(1 - 2u - 4u^2), which is above zero. Young's inequality of the local step costs eps/(2L), errors of
    two rounds in the dual step 8 eta eps; ||grad f(x_0)||^2 is at most four squares by Cauchy's inequality, and 2 L (f - inf f) at the start.
    """
    given = {"u": "u", "eta": "eta"}
    factor = formula_as_written(lambda u, eta, M: factor_with_errors(u, eta, rational(strength), M), M="M", **given)
    C_2, C_4 = (
        formula_as_written(
            lambda L, eta, K, k=k: constants_with_errors(L, eta, K, rational(accuracy))[k], L="L", eta="eta", K="K"
        )
        for k in (0, 1)
    )
    return Theorem(
        name="Theorem 1 with errors of local solves",
        region="0 < L, 0 < eta, 1 <= M, 0 <= eps",
        states=rounds.INEXACT,
        assumed={
            "solved to eps": "the mean of ||grad L_i||^2 after local work, and of ||lam_i^0 + grad f_i(x^0)||^2, is at most eps, as in (8)",
            "bounded below": "A2: f is at least a number",
            "bounded below after a step": "A2",
        },
        quantities=QUANTITIES | {"low": "low", "away": "mean(norm2(x_i - x))"},
        rounds={"t": 0, "T": 1},
        where={"u": "L*eta", "k": "4*((1 + u)/eta)**2", "K": factor, "C_2": C_2, "C_4": C_4},
        given={"step": f"u**2 <= M*({formula(lambda u: u**2 / cases_with_errors(u)[1], u='u')})"},
        claim="grad2[0] + sum(grad2[t], t, 1, T) <= C_2*(f[0] - low[0]) + C_4*T*eps",
        proof="""
      some:  0 <= moved[t]                                              by derivation
      far:   0 <= server[t]                                             by derivation
      round: ((1 - 2*u - 4*u**2)*moved[t] + server[t])/(2*eta) <= level[t] - level[t+1] + (1/(2*L) + 8*eta)*eps       by derivation
      near:  grad2[t+1] <= 4/3*((1 + u)/eta)**2*away[t+1] + 4*eps                              by derivation
      apart: away[t+1] <= 3*(u**2*moved[t] + server[t] + 4*eta**2*eps)                         by derivation
      falls: grad2[t+1] <= K*(level[t] - level[t+1]) + (K*(1/(2*L) + 8*eta) + 16*(1 + u)**2 + 4)*eps
               by combine K*round, 1*near, (k/3)*apart, (K/(2*eta*M)*moved[t])*step
      gaps:  0 <= away[t]                                               by derivation
      small: 0 <= 1 - 2*u                                               by combine (1/M)*step
      lower: f[t] <= level[t] - (1 - 2*u)/(2*eta)*away[t] + eps/(2*L)                          by derivation
      below: f[t] <= level[t] + eps/(2*L)                               by combine 1*lower, (away[t]/(2*eta))*small
      least: low[t] <= f[t]                                             by derivation
      same:  low[t+1] == low[t]                                         by identity
      lows:  low[T] == low[0]                                           by induction T: base combine same(t=0); step combine ih, same(t=T)
      start: level[0] == f[0]                                           by identity
      first: grad2[t] <= 2*L*(f[t] - low[t])                            by derivation
      all:   sum(grad2[t], t, 1, T) <= K*(level[0] - level[T]) + T*(K*(1/(2*L) + 8*eta) + 16*(1 + u)**2 + 4)*eps
               by induction T: base combine falls(t=0); step combine ih, falls(t=T)
      done:  claim    by combine 1*all, K*below(t=T), K*least(t=T), K*start, 1*first(t=0), (-K)*lows
    """,
    )
