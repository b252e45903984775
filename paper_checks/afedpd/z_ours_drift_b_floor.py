"""Ours: FedADMM as printed where clients differ and some take part: no fixed point, a floor of E ||x||^2, and the limit at one penalty.

For the limit: the moments m = (E x^2, E x h, E h^2, E s) obey m^{t+1} = M m^t and what optimal duals add (AFEDPD-D7). Less the fixed point of this,
and less a multiple of mean d_i lambda_i^*, which dies out, they obey d^{t+1} = M d^t. Of d the first entry is sum_j v_j[n] u_j(d) of n rounds before,
with four forms u that span a cone which M keeps, u(M d) = E u(d), and numbers v[n+1] = v[n] E that are positive and tend to 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims import Claim, Clause, PlayedStates, Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.core.errors import InvalidInput, require
from paper_checks.afedpd.moments import FAMILIES, GIVEN, OPTIMAL, noise_of_fedadmm, products_fall, rational_matrix
from paper_checks.afedpd.notation import FAMILY, derived
from paper_checks.formulas import formula
from paper_checks.steps import Step
from problems.dual_drift import moment_map

CLAIMS: list[Claim] = []


# ---- D12: no fixed point, a floor, and the limit ---------------------------------------------------------------------
@dataclass(frozen=True)
class BesideBefore:
    """Rounds that are played, each state beside the model and the duals of the one before it."""

    played: Any

    def who(self, numbers: Any) -> Any:
        """Who takes part."""
        return self.played.who(numbers)

    def __call__(self, world: World, p: Parameters, last: int) -> list[Any]:
        """Any state and the one after it."""
        before, reached = (world.vector("x_before"), world.vector("lam_before_i", True)), list[Any]()
        for outcomes in self.played(world, p, last):
            reached.append(
                [
                    (chance, SimpleNamespace(**vars(state), x_before=before[0], lam_before_i=before[1]))
                    for chance, state in outcomes
                ]
            )
            before = outcomes[0][1].x, outcomes[0][1].lam_i
        return reached


_FEDADMM = FAMILIES["fedadmm"]
_V = "(C - P)/(P*(C - 1))"
#: gradient and dual of a client, which are opposite where its local solve does not move, and what an active client adds to the model's move
_SLOPE = "lam_i + a*(x - c_i)"
_MOVE = f"((a - rho)/(rho*(a + rho))*({_SLOPE}) - a/rho*(x - c_i))"
#: how far a round moves model and duals
MOVES = Theorem(
    "0 < a, 0 < rho, C in 2.., 1 <= P < C",
    f"{_V}*N[t] <= 2*rho**2*U[t+1] + 2*{_V}*((a + rho)/rho)**2*C/P*W[t+1]",
    f"""
      model: U[t+1] == J[t] + {_V}*G[t]                                              by identity
      duals: W[t+1] == P/C*(rho/(a + rho))**2*R[t]                                   by identity
      pos:   0 <= J[t]                                                               by derivation
      young: N[t] <= 2*rho**2*G[t] + 2*R[t]                                          by derivation
      done:  claim
               by combine (-2*rho**2)*model, (-2*{_V}*((a + rho)/rho)**2*C/P)*duals, 2*rho**2*pos, {_V}*young
    """,
    states=PlayedStates(BesideBefore(_FEDADMM.states().play)),
    rounds={"t": 0},
    quantities={
        "N": f"mean(norm2({OPTIMAL}))",
        "U": "norm2(x - x_before)",
        "W": "mean(norm2(lam_i - lam_before_i))",
        "R": f"mean(norm2({_SLOPE}))",
        "J": f"norm2(bar({_MOVE}))",
        "G": f"mean(norm2({_MOVE} - bar({_MOVE})))",
    },
)
NO_FIXED_POINT = Theorem(
    MOVES.region,
    "N[t] <= 0",
    f"""
      done: claim      by combine moves, 2*rho**2*still, (2*{_V}*((a + rho)/rho)**2*C/P)*kept times {_V}
    """,
    states=MOVES.states,
    rounds=MOVES.rounds,
    quantities={name: MOVES.quantities[name] for name in "NUW"},
    rests={"moves": MOVES},
    given={"still": "U[t+1] == 0", "kept": "W[t+1] == 0"},
)


def _added(N: str, K: str) -> str:
    """What a round adds to E x^2 besides the map."""
    return formula(lambda N, K, **of: noise_of_fedadmm(squares=N, products=K, **of)[0], N=N, K=K, **GIVEN)


#: E x^2 is at least what a round adds to it, of which the part with mean d_i lambda_i^* dies out
ABOVE = Theorem(
    MOVES.region,
    (f"{_added('N[0]', 'f**T*K[0]')} <= X[T+1]", "K[T] -> 0 as T", f"0 < {_added('1', '0')}"),
    f"""
      fall: K[t+1] == f*K[t]                               by identity
      all:  K[T] == f**T*K[0]                              by induction T: base combine; step combine f*ih, fall(t=T)
      same: N[t+1] == N[t]                                 by identity
      kept: N[T] == N[0]                                   by induction T: base combine; step combine ih, same(t=T)
      left: {_added("N[t]", "K[t]")} <= X[t+1]             by derivation
      one:  claim 1    by combine 1*left(t=T), (-({_added("1", "0")}))*kept, (-({_added("0", "1")}))*all
      low:  f**T*K[0] <= K[T]                              by combine (-1)*all
      high: K[T] <= f**T*K[0]                              by combine all
      two:  claim 2                                        by squeeze low, high
      more: claim 3                                        by combine
    """,
    states=_FEDADMM.states(),
    rounds={"t": 0, "T": 0},
    where={"f": formula(products_fall, **GIVEN)},
    quantities={
        "N": f"mean(norm2({OPTIMAL}))",
        "K": f"mean(dot({_FEDADMM.dual}, {OPTIMAL}))",
        "X": _FEDADMM.moments["X"],
    },
)
#: the forms u, in eigenforms of M that sum up to the first entry, of falling modulus
CONE = np.array([[1, 8, 0, 0], [1, -8, -8, -8], [1, -8, 16, -8], [1, -8, -8, 16]])


@dataclass(frozen=True)
class FormsThatFall:
    """Forms u_j of the moments with N and K, whose values after a round are E times those before, and numbers that go with them.

    ``first``: sum_j first_j u_j = X - rest N - shift K. ``weights``: sum_j weights_j v_j falls by a factor below 1 a round, for v[n+1] = v[n] E.
    """

    u: Any
    E: Any
    first: Any
    rest: Any
    shift: Any
    weights: Sequence[Fraction]


def full_map(rho: Fraction, C: int, P: int) -> Any:
    """A round of FedADMM as printed on (X, Y, H, S, N, K), N = mean ||b_i||^2 and K = mean <d_i, b_i>, for a = 1: ``(6, 6)``."""
    zero, one = Fraction(0), Fraction(1)
    of_squares, of_products = (
        noise_of_fedadmm(rho, Fraction(C), Fraction(P), *given) for given in ((one, zero), (zero, one))
    )
    rows = [[*row, *more] for row, *more in zip(moment_map("fedadmm", rho, C, P), of_squares, of_products, strict=True)]
    falls = products_fall(rho, Fraction(C), P)
    return rational_matrix([*rows, [zero] * 4 + [one, zero], [zero] * 5 + [falls]])


def find_forms(whole: Any) -> FormsThatFall:
    """Forms near those of `CONE`, in whole numbers, for which all that has to be positive is."""
    eye, M = require("sympy", "linear solves").eye(4), whole[:4, :4]
    rest, shift = ((whole[k, k] * eye - M).LUsolve(whole[:4, k]) for k in (4, 5))
    roots, columns = np.linalg.eig(np.array(M.T, dtype=float))
    eigenforms = np.real(columns[:, np.argsort(-abs(roots))]).T
    found = CONE @ (eigenforms * np.linalg.solve(eigenforms.T, [1, 0, 0, 0])[:, None])
    u = rational_matrix([[round(150 * v) for v in row] for row in found])
    E, first = u * M * u.inv(), u.inv().row(0)
    if min(*E, *first) <= 0:
        raise InvalidInput("the forms span no cone that M keeps, with E x^2 in it")
    roots, columns = np.linalg.eig(np.array(E, dtype=float))
    weights = [Fraction(round(1000 * abs(v)), 1000) for v in np.real(columns[:, np.argmax(roots)])]
    return FormsThatFall(u.row_join(-u * rest).row_join(-u * shift), E, first, rest[0], shift[0], weights)


def _sum(weights: Sequence[Any], terms: Sequence[str], between: str = " + ") -> str:
    return between.join(f"({w})*{term}" for w, term in zip(weights, terms, strict=True) if w)


def _at(row: Sequence[Any], t: str) -> str:
    return f"({_sum(row, [f'{m}[{t}]' for m in 'XYHSNK'])})"


def _numbers(n: str) -> list[str]:
    return [f"v_{j}[{n}]" for j in range(4)]


def _script(whole: Any, forms: FormsThatFall, factor: str) -> str:
    """E x^2 by the forms n rounds before, numbers that tend to 0, and what is left."""

    def u(t: str) -> list[str]:
        return [_at(forms.u.row(j), t) for j in range(4)]

    def carried(n: str, t: str) -> str:
        return " + ".join(f"{number}*{form}" for number, form in zip(_numbers(n), u(t), strict=True))

    def less(name: str) -> str:
        return ", ".join(f"(-{form})*{name}_{j}" for j, form in enumerate(u("t")))

    names, falls, sums = ["x", "y", "h", "s", "n", "k"], whole[5, 5], f"({_sum(forms.weights, _numbers('T'))})"
    away = _at([1, 0, 0, 0, -forms.rest, -forms.shift], "t+n")
    ends = f"({forms.rest})*N[0] + ({forms.shift})*({falls})**T*K[0] + {carried('T', '0')}"
    most = [f"({factor})**T*{sums.replace('T', '0')}/({w})" for w in forms.weights]
    lines = [
        *(f"{names[i]}: {m}[t+1] == {_at(whole.row(i), 't')} by identity" for i, m in enumerate("XYHSNK")),
        "same: N[T] == N[0] by induction T: base combine; step combine ih, n(t=T)",
        f"ends: K[T] == ({falls})**T*K[0] by induction T: base combine; step combine ({falls})*ih, k(t=T)",
        *(
            f"u_{j}: {u('t+1')[j]} == {_sum(forms.E.row(j), u('t'))} by combine {_sum(forms.u.row(j), names, ', ')}"
            for j in range(4)
        ),
        f"back: {away} == {carried('n', 't')} by induction n for every t: base combine {less('first')}; "
        f"step combine ih_next, {', '.join(f'{v}*u_{j}' for j, v in enumerate(_numbers('n')))}, {less('next')}",
        f"fall: {sums} <= ({factor})**T*{sums.replace('T', '0')} by induction T: base combine; "
        f"step combine ({factor})*ih, {_sum(forms.weights, [f'next_{j}(n=T)' for j in range(4)], ', ')}",
    ]
    for j, w in enumerate(forms.weights):
        lines += [
            f"pos_{j}: 0 <= v_{j}[T] by combine",
            f"most_{j}: v_{j}[T] <= {most[j]} by combine (1/({w}))*fall",
            f"dies_{j}: v_{j}[T] -> 0 as T by squeeze pos_{j}, most_{j}",
        ]
    parts = f"({forms.rest})*same, ({forms.shift})*ends"
    lines += [
        f"all: X[T] == {ends} by combine back(n=T, t=0), {parts}",
        f"high: X[T] <= {ends} by combine all",
        f"low: {ends} <= X[T] by combine (-1)*all",
        f"tends: claim 1 by squeeze low, high, {', '.join(f'dies_{j}' for j in range(4))}",
        "digits: claim 2 by combine",
    ]
    return "\n".join(lines)


def tends_to_floor(value: str, rho: str = "1/2", C: int = 100, P: int = 10, factor: str = "24/25") -> Theorem:
    """E ||x||^2 tends to a multiple of mean ||b_i||^2 that is this number to its last digit; rho in units of a; ``factor``: of v a round."""
    whole = full_map(Fraction(rho), C, P)
    forms, dual, centre = find_forms(whole), f"(({_FEDADMM.dual})/a)", "(c_i - bar(c_i))"
    return Theorem(
        "0 < a",
        (f"X[T] -> ({forms.rest})*N[0] as T", f"abs({forms.rest} - {value}) <= 5/10**{len(value) - 1}"),
        _script(whole, forms, factor),
        states=_FEDADMM.states(f"({rho})*a", f"n = {C}, s = {P}"),
        rounds={"t": 0, "T": 0, "n": 0},
        sequences={f"v_{j}": "0" for j in range(4)},
        quantities={
            "X": _FEDADMM.moments["X"],
            "Y": f"dot({_FEDADMM.model}, bar({dual}))",
            "H": f"norm2(bar({dual}))",
            "S": f"mean(norm2({dual}))",
            "N": f"mean(norm2({centre}))",
            "K": f"mean(dot({dual}, {centre}))",
        },
        given={
            **{f"first_{j}": f"v_{j}[0] == {forms.first[j]}" for j in range(4)},
            **{f"next_{j}": f"v_{j}[n+1] == {_sum(forms.E.col(j), _numbers('n'))}" for j in range(4)},
        },
    )


CLAIMS += [
    derived(
        "AFEDPD-D12",
        "Eq. (6)",
        (
            Clause("FedADMM as printed has no fixed point where clients differ and P < C:", ("no fixed point",)),
            Clause("E x^2 keeps above a floor,", ("a floor",)),
            Clause("and for C = 100, P = 10, rho = a/2 it tends to 0.41159 mean b_i^2.", ("limit",)),
        ),
        [Step("no fixed point", NO_FIXED_POINT), Step("a floor", ABOVE), Step("limit", tends_to_floor("0.41159"))],
        readings=[
            "A round that leaves the model, and all duals, has mean ||lambda_i^*||^2 <= 0, so that all b_i are one point, b_i = c_i - mean c_i.",
            "v_j[n] are numbers that first_j and next_j make, all positive: the weight in E x^2 of a form of n rounds before.",
        ],
        assumptions=[FAMILY],
        kind="divergence",
    )
]
