"""Lemma 2 with its corrected entry, for any two clients: those that are farthest apart give the spreads.

A client's round is FedPD's: x_i' = x_{0,i} - eta (grad f_i(x_i') + lam_i - e_i'), lam_i = e_i - grad f_i(x_i), and its upload is x_i' + eta lam_i'.
With H = G + 2 sqrt(epsilon_1), A1 and A4 bound ||lam_1 - lam_2|| by L ||x_1 - x_2|| + H in both rounds.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace as State
from typing import Any

from fedtheory.claims import PlayedStates, Theorem
from fedtheory.claims.statements.theorems.as_parts import judged_like
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.formulas import formula


def second_row(u: Any, copies: Any, models: Any, push: Any) -> Any:
    """Right side of the second line of (22)."""
    return (copies + u * models + 2 * push) / (1 - u)


def first_row(entry: Any, p: Any, u: Any, copies: Any, models: Any, push: Any) -> Any:
    """Right side of the first line of (22), with `paper_checks.fedpd.spreads.push_of`."""
    return (p * (1 + u) * copies + entry * models + p * (3 + u) * push) / (1 - u)


def play(w: World, p: Parameters, last: int) -> list[State]:
    """Differences of two clients in any round; across: of the second client's gradient at the first one's model."""
    states = []
    one, two = w.function(p.L, -p.L, name="f_1"), w.function(p.L, -p.L, name="f_2")
    for k in range(last + 1):

        def client(f: Any, name: str, k: int = k) -> State:
            x, copy, e, new_e, slope = (w.vector(f"{kind}{name} {k}") for kind in ("x", "copy", "e", "e next", "slope"))
            g, _ = w.at(f, x, f"{f.name} before {k}")
            lam = e - g
            new = copy + (new_e - slope - lam) * p.eta
            w.at(f, new, f"{f.name} after {k}", g=slope)
            dual = lam + (new - copy) / p.eta
            return State(
                x=x,
                copy=copy,
                e=e,
                new_e=new_e,
                g=g,
                slope=slope,
                new=new,
                lam=lam,
                dual=dual,
                upload=new + dual * p.eta,
            )

        a, b = client(one, "1"), client(two, "2")
        across, _ = w.at(two, a.x, f"f_2 across {k}")
        across_new, _ = w.at(two, a.new, f"f_2 across after {k}")
        states.append(
            State(
                copies=a.copy - b.copy,
                models=a.x - b.x,
                after=a.new - b.new,
                uploads=a.upload - b.upload,
                bent=across - b.g,
                bent_after=across_new - b.slope,
                apart=a.g - across,
                apart_after=a.slope - across_new,
                e_1=a.e,
                e_2=b.e,
                e_1_next=a.new_e,
                e_2_next=b.new_e,
            )
        )
    return states


#: what two clients differ by, apart from their gradients at the new models: the size of each, and its sign in the models' difference
SIZES = {
    "copies": "D0",
    "bent": "D/eta*u",
    "apart": "G",
    "apart_after": "G",
    "e_1": "e",
    "e_2": "e",
    "e_1_next": "e",
    "e_2_next": "e",
}


@cache
def entry(second: str = "p*u*(1 + u)") -> Theorem:
    """Both lines of (22), given the rounds before, with this (1,2) entry, in expectation over the coin: after a communication the spread is 0."""
    parts = {
        name: f"norm2({name})"
        for name in ("copies", "models", "after", "uploads", "bent", "bent_after", "apart", "apart_after")
    }
    errors = {name: f"norm2({name})" for name in ("e_1", "e_2", "e_1_next", "e_2_next")}
    sizes = {"u": "u", "copies": "D0", "models": "D", "push": "eta*H"}
    products = {f"by_{name}": f"dot(after, {name})" for name in (*SIZES, "bent_after")}
    return Theorem(
        name="Lemma 2 for two clients",
        region="0 < L, 0 < eta < 1/L, 0 <= p, 0 < D0, 0 < D, 0 < G, 0 < e, 0 < m",
        states=PlayedStates(play),
        rounds={"r": 0},
        quantities=parts | errors | products,
        where={
            "u": "L*eta",
            "H": "G + 2*e",
            "S": "(1 + u)*m + eta*H",
            "row": formula(first_row, entry=second, p="p", **sizes),
        },
        given={
            "size": "(1 - u)*m == D0 + u*D + 2*eta*H",
            "copies_apart": "copies[r] <= D0**2",
            "models_apart": "models[r] <= D**2",
            "alike": "apart[r] <= G**2",
            "alike_after": "apart_after[r] <= G**2",
            **{f"solved_{name}": f"{name}[r] <= e**2" for name in errors},
        },
        claim=(f"sqrt(after[r]) <= {formula(second_row, **sizes)}", "p*sqrt(uploads[r]) <= row"),
        proof="""
      parts: after[r] == by_copies[r] + eta*(by_bent[r] + by_apart[r] - by_bent_after[r] - by_apart_after[r] - by_e_1[r] + by_e_2[r]
               + by_e_1_next[r] - by_e_2_next[r])                          by identity
      old:   bent[r] <= L**2*models[r]                                     by derivation
      new:   bent_after[r] <= L**2*after[r]                                by derivation
      turn:  -by_bent_after[r] <= L*after[r]                               by derivation
      c0:    2*by_copies[r] <= D0/m*after[r] + m/D0*copies[r]              by derivation
      c1:    2*by_bent[r] <= L*D/m*after[r] + m/(L*D)*bent[r]              by derivation
      c2:    2*by_apart[r] <= G/m*after[r] + m/G*apart[r]                  by derivation
      c3:    -2*by_apart_after[r] <= G/m*after[r] + m/G*apart_after[r]     by derivation
      c4:    -2*by_e_1[r] <= e/m*after[r] + m/e*e_1[r]                     by derivation
      c5:    2*by_e_2[r] <= e/m*after[r] + m/e*e_2[r]                      by derivation
      c6:    2*by_e_1_next[r] <= e/m*after[r] + m/e*e_1_next[r]            by derivation
      c7:    -2*by_e_2_next[r] <= e/m*after[r] + m/e*e_2_next[r]           by derivation
      near:  2*(1 - u)*after[r] <= (D0 + u*D + 2*eta*H)/m*after[r] + m*(D0 + u*D + 2*eta*H)
               by combine 2*parts, (2*eta)*turn, c0, eta*c1, eta*c2, eta*c3, eta*c4, eta*c5, eta*c6, eta*c7, (m/D0)*copies_apart,
                 (eta*m/(L*D))*old, (eta*m*L/D)*models_apart, (eta*m/G)*alike, (eta*m/G)*alike_after, (eta*m/e)*solved_e_1, (eta*m/e)*solved_e_2,
                 (eta*m/e)*solved_e_1_next, (eta*m/e)*solved_e_2_next
      close: (1 - u)*after[r] <= (1 - u)*m**2      by combine 1*near, (-after[r]/m - m)*size
      some:  0 <= after[r]                         by derivation
      lengths: sqrt(after[r])**2 <= m**2           by combine (1/(1 - u))*close
      spread: sqrt(after[r]) <= m                  by root lengths
      second: claim 1                              by combine 1*spread, (1/(1 - u))*size
      sent:  uploads[r] <= S*(after[r]/m + eta/(L*m)*bent_after[r] + eta/G*apart_after[r] + eta/e*(e_1_next[r] + e_2_next[r]))     by derivation
      all:   uploads[r] <= S**2
               by combine 1*sent, (S*eta/(L*m))*new, (S*(1 + u)/(m*(1 - u)))*close, (S*eta/G)*alike_after, (S*eta/e)*solved_e_1_next,
                 (S*eta/e)*solved_e_2_next
      any:   0 <= uploads[r]                       by derivation
      far:   sqrt(uploads[r])**2 <= S**2           by combine 1*all
      copies: sqrt(uploads[r]) <= S                by root far
      first: claim 2                               by combine p*copies, (p*(1 + u)/(1 - u))*size
    """,
    )


def near(second: str) -> Theorem:
    """The same with another entry, read with its term."""
    return judged_like(entry(second), entry())
