"""Which formula of this ledger is which row of ``printed.tsv``, and the rows that none is."""

from __future__ import annotations

from typing import Any

from fedtheory.algorithms import DualFL
from fedtheory.algorithms.dualfl import DualFLState, allowed_gap
from fedtheory.algorithms.momentum import inertia
from fedtheory.claims.transcriptions import Printed
from paper_checks.averaged_quadratics import GivenAnswers
from paper_checks.dualfl import bounds
from paper_checks.dualfl.notation import printed_t
from paper_checks.given_gradients import SCRIPT, column, linear


def _gap_of_8(N: Any, nu: Any, gamma: Any, n: Any) -> Any:
    return allowed_gap(N, nu, gamma)(n)


def _gap_of_9(N: Any, gamma: Any, rho: Any, n: Any) -> Any:
    return allowed_gap(N, 1, gamma, rho)(n)


def _rho(alpha: Any, L: Any) -> Any:
    """rho of Section 4."""
    return DualFL.regularised(alpha, L).rho


def _variate(zeta: Any, thnext: Any, thjnext: Any, zetaprev: Any, thn: Any, thj: Any, beta: Any) -> Any:
    """zeta_j^(n+1) after DualFL's own round in which client j answers thjnext and the average is thnext."""
    method: Any = DualFL(1, lambda n: beta, GivenAnswers(column(thjnext, 2 * thnext - thjnext)))
    before = zetaprev + thn - thj  # what the state keeps of the round before
    state = DualFLState(column(thn), column(thj, thj), column(zeta, zeta), column(before, before))
    return method.round(linear(0), state, None, SCRIPT).zeta_i[0, 0]


_ROOT = {"r": "sqrt(rho)"}
_GRADIENT: dict[str, Any] = {"rho": _rho, "r": "sqrt(rho)"}

TIES = (
    Printed("DUALFL-T-SEQ, recursion t_{n+1}, (5)", printed_t),
    Printed("DUALFL-T-SEQ, recursion beta_n, (5)", inertia, {"tnext": "new"}),
    Printed("DUALFL-T-SEQ, recursion beta_n (also), (5)", inertia, where={"new": printed_t}),
    *(Printed(f"DUALFL-{id}, recursion zeta_j^(n+1), (4)", _variate) for id in ("L6.6", "E26")),
    Printed("DUALFL-T3.2, condition Gamma_nj, (8)", _gap_of_8),
    Printed("DUALFL-T4.1, condition Gamma_nj, (8), called by Thm 4.1", _gap_of_8),
    Printed("DUALFL-T4.1, condition Gamma_nj, (8), called by Thm 4.1, nu = alpha", _gap_of_8, {"alpha": "nu"}),
    Printed("DUALFL-T3.3a, condition Gamma_nj, (9)", _gap_of_9),
    Printed("DUALFL-T4.3a, condition Gamma_nj, (9), called by Thm 4.3", _gap_of_9),
    Printed("DUALFL-T4.3a, condition Gamma_nj, (9), called by Thm 4.3, rho inserted", _gap_of_9, where={"rho": _rho}),
    Printed("DUALFL-T4.3a, constant rho, Thm 4.3", _rho),
    *(
        Printed(f"DUALFL-{place}", bounds.plain_order)
        for place in ("T3.2, rhs, Thm 3.2", "T3.2, rhs, (28), first case", "P6.2, rhs, Prop. 6.2")
    ),
    *(
        Printed(f"DUALFL-{place}", bounds.dual_order, where=_ROOT)
        for place in ("T3.3a, rhs, Thm 3.3, first display", "T3.3a, rhs, (28), second case", "P6.3, rhs, Prop. 6.3")
    ),
    Printed("DUALFL-T3.3b, rhs, Thm 3.3, second display", bounds.dual_order, where={"r": "1/sqrt(kappa)"}),
    Printed(
        "DUALFL-T3.3b, constant rate, text before Thm 3.3", bounds.dual_order, where={"r": "1/sqrt(kappa)", "n": "1"}
    ),
    Printed("DUALFL-C3, constant rate, after Thm 3.3", bounds.dual_order, where={**_ROOT, "n": "1"}),
    Printed("DUALFL-T3.4, rhs, Thm 3.4, first", bounds.steps_of_8),
    Printed("DUALFL-T3.4, rhs, Thm 3.4, second", bounds.steps_of_8_by_accuracy, {"eps_out": "eps"}),
    Printed("DUALFL-T4.3a, rhs, (14)", bounds.gradient_order, {"nta": "0"}, _GRADIENT),
    Printed("DUALFL-T4.3b, rhs, (15), explicit", bounds.rounds_of_15, {"const": "constant", "R0": "R"}),
    Printed("DUALFL-T4.3b, rhs, Proof 4.4, fourth display", bounds.rounds_of_15, {"C": "exp(constant)/2", "R0": "R"}),
)
UNTIED = {
    "the claim has it in words: an order, an assumption, or what a letter stands for": (
        "DUALFL-D22, definition strong_convexity_lower_bound",
        "DUALFL-T3.2, definition lesssim",
        "DUALFL-C9",
        "DUALFL-T3.3a, condition rho",
        "DUALFL-T3.3a, rhs, Thm 3.3, first display, middle",
        "DUALFL-T3.3b, definition kappa",
        "DUALFL-T3.3b, constant rho",
        "DUALFL-T3.3b, rhs, Thm 3.3, second display, middle",
        "DUALFL-T3.3c",
        "DUALFL-T3.4, condition local_solver_complexity",
        "DUALFL-T3.4, rhs, Sec.3.3, outer iterations",
        "DUALFL-T3.5, condition local_solver_complexity",
        "DUALFL-T3.5, rhs, Sec.3.3, outer iterations",
        "DUALFL-C4",
        "DUALFL-C5",
        "DUALFL-T4.3b, condition eps",
        "DUALFL-T4.3b, constant alpha",
        "DUALFL-T4.3b, rhs, (15), order",
        "DUALFL-P6.2, definition delta_n",
        "DUALFL-P6.2, condition b_n",
        "DUALFL-P6.3, definition delta_n",
        "DUALFL-P6.3, condition a",
        "DUALFL-P6.3, condition rho",
        "DUALFL-L6.6, condition Gamma_nj",
        "DUALFL-E29, definition seminorm",
    ),
    "an inequality or identity between sums over clients, which lemmas form of unknown functions": (
        "DUALFL-E30",
        "DUALFL-P3.1",
        "DUALFL-C1",
        "DUALFL-T4.1, definition f_j^alpha",
        "DUALFL-T4.1, definition E^alpha",
        "DUALFL-T4.3a, definition grad_E^alpha",
        "DUALFL-D20",
        "DUALFL-D21",
        "DUALFL-D22, definition F_d",
        "DUALFL-D22, definition G_d",
        "DUALFL-D22, definition E_d",
        "DUALFL-D22, constant smoothness_of_F_d",
        "DUALFL-D22, constant strong_convexity_of_G_d",
        "DUALFL-PRE",
        "DUALFL-L6.4",
        "DUALFL-E26, lhs",
        "DUALFL-E27",
        "DUALFL-E29, constant strong_convexity_of_E_d",
        "DUALFL-E29, rhs",
    ),
    "the check plays Algorithms 1 and 2 side by side": (
        "DUALFL-L6.6, recursion theta^(n+1)",
        "DUALFL-L6.6, recursion xi_j^(n+1)",
        "DUALFL-L6.6, recursion eta_j^(n+1)",
        "DUALFL-L6.6, recursion eta_combination",
        "DUALFL-L6.6, rhs",
        "DUALFL-L6.6, rhs (other reading)",
    ),
    "printed with -log(1 - sqrt(rho)) put as sqrt(rho), or with gamma -> 0; the check takes the logarithm of (9) itself": (
        "DUALFL-T3.5, rhs",
    ),
    "a step of a printed proof; what it leads to is tied": (
        "DUALFL-T4.3a, rhs, (14) with the constant of the proof",
        "DUALFL-T4.3a, rhs, Proof 4.4, first chain, line 1",
        "DUALFL-T4.3a, rhs, Proof 4.4, first chain, line 2",
        "DUALFL-T4.3b, rhs, Proof 4.4, second display, first bound",
        "DUALFL-T4.3b, rhs, Proof 4.4, second display, second bound",
        "DUALFL-T4.3b, definition M_comm_equation_lhs",
        "DUALFL-T4.3b, definition M_comm_equation_rhs",
        "DUALFL-T4.3b, constant M_comm",
        "DUALFL-T4.3-ineq",
    ),
}
