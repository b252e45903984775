"""Theorems on listed methods as theorems that Rocq accepts: with hypotheses, with weights that depend on the round, resting on others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fedtheory.claims.statements.theorems.proving import prove_theorem
from fedtheory.claims.statements.theorems.rocq.exporting import write_theorem_for_rocq
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import NotAvailable
from tests.support.rocq import ask, needs_rocq

GAP, DISTANCE = "f(x) - f(x_star)", "norm2(x - x_star)"


def on(method: str, options: str, functions: str, region: str, claim: str, **more: Any) -> Theorem:
    return Theorem(region=region, states=MethodStates(method, options, functions), claim=claim, **more)


SHARP = on(
    "gd",
    "lr = 1/L",
    "L, mu = 0",
    "0 < L",
    "gap[N] <= L*d[0]/(4*N + 2)",
    rounds={"N": 1},
    quantities={"gap": GAP, "d": DISTANCE},
)
LARGER = "max(abs(1 - lr*mu), abs(1 - lr*L))"
EXAMPLES = {
    "the larger of two rates": on(
        "gd",
        "lr",
        "L, mu",
        "0 < mu < L, 0 < lr < 2/L",
        f"d[N] <= {LARGER}**(2*N)*d[0]",
        rounds={"N": 0},
        quantities={"d": DISTANCE},
    ),
    "the rounds to an accuracy": on(
        "gd",
        "lr = 1/L",
        "L, mu",
        "0 < mu < L, 0 < e, 0 < R",
        "sqrt(d[N]) <= e",
        rounds={"N": 0},
        quantities={"d": DISTANCE},
        given={"start": "d[0] <= R**2", "long": "N >= L/mu*log(R/e)"},
    ),
    "the larger of two rates, of each quantity another": on(
        "scaffnew",
        "lr, p",
        "L, mu",
        "0 < mu < L, 0 < lr <= 1/L, 0 < p <= 1",
        "d[N] + lr**2/p**2*h[N] <= max(1 - lr*mu, 1 - p**2)**N*(d[0] + lr**2/p**2*h[0])",
        rounds={"N": 0},
        quantities={"d": "mean(norm2(x_i - x_star))", "h": "mean(norm2(h_i - grad(f_i, x_star)))"},
    ),
    "unlike clients, on average": on(
        "fedavg",
        "lr, steps = 2",
        "L, mu = 0",
        "0 < L, 0 < lr <= 1/(4*L), 0 < R, 0 < zeta",
        "sum(gap[t], t, 0, N-1)/N <= R**2/(2*lr*N) + L*lr**2*zeta**2",
        rounds={"t": 0, "N": 1},
        quantities={"gap": GAP, "d": DISTANCE, "z": "mean(norm2(grad(f_i, x_star)))"},
        given={"start": "d[0] <= R**2", "unlike": "z[t] <= zeta**2"},
    ),
    "coins": on(
        "scaffnew",
        "lr, p",
        "L, mu",
        "0 < mu < L, 0 < lr <= 1/L, 0 < p <= 1, 0 < R, 0 < r <= lr*mu",
        "d[N] <= (1 - r)**N*R**2",
        rounds={"t": 0, "N": 0},
        quantities={"d": "mean(norm2(x_i - x_star))", "h": "mean(norm2(h_i - grad(f_i, x_star)))"},
        given={"start": "d[0] + lr**2/p**2*h[0] <= R**2", "slow": "r <= p**2"},
        proof="""
          step: d[t+1] + lr**2/p**2*h[t+1] <= (1 - lr*mu)**2*d[t] + (1 - p**2)*lr**2/p**2*h[t]   by derivation
          pd:   0 <= d[t]   by derivation
          ph:   0 <= h[t]   by derivation
          fall: d[t+1] + lr**2/p**2*h[t+1] <= (1 - r)*(d[t] + lr**2/p**2*h[t])
                  by combine step, (1 - r - (1 - lr*mu)**2)*pd, (lr**2/p**2)*h[t]*slow
          all:  d[N] + lr**2/p**2*h[N] <= (1 - r)**N*(d[0] + lr**2/p**2*h[0])
                  by induction N: base combine; step combine (1 - r)*ih, fall(t=N)
          done: claim       by combine all, (1 - r)**N*start, lr**2/p**2*ph(t=N)
        """,
    ),
    "a round of the claim's own": on(
        "gd",
        "lr",
        "L, mu",
        "0 < mu < L, 0 < lr <= 1/L, 0 < c",
        "c <= (1 - lr*mu)**(2*N)*d[0]",
        rounds={"t": 0, "N": 0},
        quantities={"d": DISTANCE},
        given={"tail": "c <= d[N]"},
        fixed=("N",),
        proof="""
          step: d[t+1] <= (1 - lr*mu)**2*d[t]      by derivation
          all:  d[N] <= (1 - lr*mu)**(2*N)*d[0]    by contraction in N of step
          done: claim                              by combine all, tail
        """,
    ),
    "weights that sum to one": on(
        "gd",
        "lr = 1/L",
        "L, mu",
        "0 < mu < L",
        "sum(w[r]*d[r], r, 0, N) <= d[0]",
        rounds={"t": 0, "N": 0, "r": 0},
        quantities={"d": DISTANCE},
        sequences={"w": "0"},
        given={"one": "sum(w[r], r, 0, N) == 1"},
        proof="""
          step: d[t+1] <= (1 - mu/L)**2*d[t]     by derivation
          pos:  0 <= d[t]                        by derivation
          keep: d[t] <= d[0]                     by induction t: base combine; step combine ih, step, (1 - (1 - mu/L)**2)*pos
          all:  sum(w[r]*d[r], r, 0, N) <= d[0]*sum(w[r], r, 0, N)
                  by induction N: base combine; step combine ih, w[N+1]*keep(t=N+1)
          done: claim                            by combine all, d[0]*one
        """,
    ),
    "the first rounds": on(
        "gd",
        "lr = 1/L",
        "L, mu = 0",
        "0 < L",
        "sum(gap[t], t, 1, N) <= L/2*d[0]",
        rounds={"t": 0, "N": 1},
        quantities={"gap": GAP, "d": DISTANCE},
        proof="""
          step:  2/L*gap[t+1] + d[t+1] <= d[t]                 by derivation
          first: 2/L*gap[1] + d[1] <= d[0]                     by derivation
          all:   2/L*sum(gap[t], t, 1, N) + d[N] <= d[0]       by induction N: base combine first; step combine ih, step(t=N)
          pos:   0 <= d[t]                                     by derivation
          done:  claim                                         by combine all, pos(t=N)
        """,
    ),
    "an exponential, and a start": on(
        "gd",
        "lr",
        "L, mu",
        "0 < mu < L, 0 < lr <= 1/L, 0 < R",
        "d[N] <= exp(-2*lr*mu*N)*R**2",
        rounds={"N": 0},
        quantities={"d": DISTANCE},
        given={"start": "d[0] <= R**2"},
    ),
    "resting on one with weights that depend on the round": on(
        "gd",
        "lr = 1/L",
        "L, mu = 0",
        "0 < L",
        "gap[N] <= L*d[0]/(4*N + 1)",
        rounds={"N": 2, "k": 0},
        quantities=SHARP.quantities,
        rests={"sharp": SHARP},
        proof="""
          pos:  0 <= d[k]   by derivation
          done: claim       by combine sharp, (L/(4*N + 1) - L/(4*N + 2))*pos(k=0)
        """,
    ),
}


@needs_rocq
@pytest.mark.parametrize("name", EXAMPLES)
def test_rocq_accepts_theorems_on_listed_methods(name: str, kept: Path) -> None:
    written = write_theorem_for_rocq(prove_theorem(EXAMPLES[name]), "accepted")
    assert ask(written, kept) == ""


@needs_rocq
@pytest.mark.parametrize(
    ("name", "premise", "instead"),
    [
        ("unlike clients, on average", "(forall t : nat, (0 <= t)%nat -> z t <= zeta ^ 2) ->\n", ""),
        ("unlike clients, on average", "L * lr ^ 2 * zeta ^ 2).", "99 / 100 * L * lr ^ 2 * zeta ^ 2 / 2)."),
        ("coins", "(r <= p ^ 2) ->\n", ""),
        ("weights that sum to one", "(forall n : nat, 0 <= w n) ->\n", ""),
        ("a round of the claim's own", "(c <= d N) ->", "(c <= d (S N)) ->"),
        ("the rounds to an accuracy", "(L / mu * ln (R_ / e) <= INR N) ->", "(L / (2 * mu) * ln (R_ / e) <= INR N) ->"),
        ("the larger of two rates", "lr < 2 / L ->\n", ""),
        ("the first rounds", "<= L / 2 * d 0%nat)", "<= L / 2 * d 1%nat)"),
        ("an exponential, and a start", "(d 0%nat <= R_ ^ 2) ->\n", ""),
        ("resting on one with weights that depend on the round", "(2 <= N)%nat ->", ""),
    ],
)
def test_rocq_refuses_other_statements(name: str, premise: str, instead: str, kept: Path) -> None:
    """The proof as it was, for a statement that supposes less or says more."""
    written = write_theorem_for_rocq(prove_theorem(EXAMPLES[name]), "refused")
    assert premise in written.statement
    assert "Error" in ask(replace(written, statement=written.statement.replace(premise, instead, 1)), kept)


def test_noise_of_a_listed_method_is_not_written() -> None:
    noisy = Theorem(
        region="0 < mu < L, 0 < lr <= 1/L, 0 < sigma, n in 2..",
        states=MethodStates("fedavg", "lr, steps = 1, batch = 1", "L, mu, sigma", clients="n"),
        assumed={"noise": "E mean_i ||xi_i||^2 <= sigma^2"},
        rounds={"t": 0},
        quantities={"d": DISTANCE},
        claim="d[t+1] <= (1 - lr*mu)*d[t] + lr**2*sigma**2/n",
        proof="done: claim by derivation",
    )
    with pytest.raises(NotAvailable, match="assumed on a listed method"):
        write_theorem_for_rocq(prove_theorem(noisy), "noisy")


def test_the_mean_of_several_sums_is_not_written() -> None:
    both = replace(
        SHARP,
        rounds={"t": 0, "N": 1},
        quantities={**SHARP.quantities, "g": "norm2(grad(f, x))"},
        claim="exists t in 0..N-1: gap[t]/L + g[t]/(2*L**2) <= d[0]/N",
    )
    with pytest.raises(NotAvailable, match="the mean of several sums"):
        write_theorem_for_rocq(prove_theorem(both), "both")
