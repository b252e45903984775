"""Which formula of this ledger is which row of ``printed.tsv``, and the rows that none is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fedtheory.algorithms import FedPD, Scaffold
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.algorithms.scaffold import ScaffoldState
from fedtheory.claims.statements.worlds import Concrete
from fedtheory.claims.transcriptions import Printed
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.subproblem import Subproblem
from paper_checks.fedpd.appendix_b_1_a_lemma_1 import change_by_dual, change_by_upload, change_by_x, change_of_round
from paper_checks.fedpd.appendix_b_1_b_lemma_2 import ENTRY, PRINTED_ENTRY, first_row, push_of, second_row
from paper_checks.fedpd.appendix_b_1_c_lemmas_3_and_4 import below_level, uploads_above_mean
from paper_checks.fedpd.bounds import allowed_on_average, coefficient, eigenvalue, paper_constants
from paper_checks.fedpd.notation import lagrangian, largest_step
from paper_checks.fedpd.section_2_2_fedavg_diverges import OppositeCurvatures
from paper_checks.fedpd.section_3_fedpd import inner_step, linearised, with_penalty
from paper_checks.fedpd.section_4_1_b_theorem_2 import least_gamma, step_limit
from paper_checks.fedpd.section_4_2_a_theorem_3 import allowed_with_skips
from paper_checks.fedpd.section_4_2_b_remark_5 import cost_allowed, rounds_for
from paper_checks.fedpd.section_4_3_other_algorithms import CountedSteps
from paper_checks.fedpd.supplement_g_oracle_2 import error_allowed
from paper_checks.given_gradients import SCRIPT, column, gradient_step, linear, weight


def _constant(name: str) -> Any:
    return lambda L, eta: paper_constants(L, eta)[name]


def _round(x1: Any, x0: Any, lam: Any, eta: Any) -> tuple[Any, Any]:
    """Dual and upload of a client after FedPD's own round in which its local solver answers x1, and which skips communication."""
    state = FedPDState(column(x0), column(x0, x0), column(x0, x0), column(lam, lam), None)
    method: Any = FedPD(eta, CountedSteps(column(x1, x1)), Fraction(1, 2))
    new = method.round(linear(0), state, None, ScriptedKey(0, {"communicate": False}))
    return new.lam_i[0, 0], new.x0_i[0, 0]


def _scaffold(x: Any, c: Any, ci: Any, eta: Any, g: Any = 0, answer: Any = None, steps: int = 1) -> tuple[Any, Any]:
    """Server's model and a client's control variate after SCAFFOLD's own round, of a local step or of another answer."""
    local: Any = GradientSteps(1, eta) if answer is None else CountedSteps(column(answer, answer), eta, steps)
    new = Scaffold(local).round(linear(g), ScaffoldState(column(x), column(c), column(ci, ci)), None, SCRIPT)
    return new.x[0, 0], new.c_i[0, 0]


def _lagrangian(value: Any, x: Any, x0: Any, lam: Any, eta: Any) -> Any:
    at, around, dual = (Concrete(((v,),)) for v in (x, x0, lam))
    return lagrangian(value, at, around, dual, eta)


def _local_step(curvature: int) -> Any:
    """The first local step of FedAvg on +-(curvature/2) x^2, from x1 and x2."""

    def step(eta_r: Any, x1: Any = 0, x2: Any = 0) -> Any:
        functions: Any = OppositeCurvatures(Fraction(curvature))
        sub = Subproblem(functions)
        return GradientSteps(1, eta_r)(sub, column(x1, x2), SCRIPT, None)[0][:, 0]

    return step


def _values(x: Any) -> Any:
    """Of quadratics that are least or largest at 0, half of <x, f_i'(x)>."""
    return (column(x, x) * OppositeCurvatures(Fraction(2)).grad(column(x, x)) / 2)[:, 0]


_U = {"u": "L*eta"}
_THEOREM_1: dict[str, Any] = {"epsilon": "eps1", "D_0": "D0", "C_2": _constant("C_2"), "C_4": _constant("C_4")}
_COST: dict[str, Any] = {**_U, "c5": "C_5", "cost": coefficient}
_SPREADS: dict[str, Any] = {**_U, "root": "sqrt(eps1)", "push": push_of, "copies": "dz", "models": "dx"}
_CHANGE = {"dx2": "d**2", "eps": "eps1", "d0_2": "dz**2", "dual2": "dl**2"}
_NOTHING = {"dx2": "0", "eps": "0", "d0_2": "0", "dual2": "0"}
_NO_STEP = {"x": "0", "x0": "0", "g": "0", "lam": "0"}
_LEVEL = {"level": "AL", "w2": "S/N", "eps": "eps1"}
TIES = (
    *(
        Printed(f"FEDPD-T1, {part}", _constant(name))
        for name, part in {
            "C_2": "constant C_2 (other reading), App B-C",
            "C_4": "constant C_4 (other reading), App B-C",
            "C_6": "constant C_6, App B-C; after (33)",
            "C_7": "constant C_7, App B-C",
        }.items()
    ),
    Printed("FEDPD-T1, constant C_2, App B-C", _constant("C_2"), {"C_7": _constant("C_7")}),
    Printed("FEDPD-T1, constant C_4, App B-C", _constant("C_4"), {"C_2": _constant("C_2")}),
    Printed("FEDPD-T1, constant C_7, App B-C; before (39)", _constant("C_7"), {"C_6": _constant("C_6")}),
    Printed("FEDPD-T1, rhs, Theorem 1", allowed_on_average, {"D0": "D_0", "eps1": "epsilon"}),
    Printed("FEDPD-T1, rhs, Theorem 1 with App B-C", allowed_on_average, where=_THEOREM_1),
    Printed("FEDPD-T1, condition eta, Theorem 1", largest_step),
    Printed("FEDPD-T2, condition eta, Theorem 2", step_limit),
    Printed("FEDPD-T2, condition gamma, Theorem 2", least_gamma, {"L": "root_L**2"}),
    Printed("FEDPD-T3, rhs, (12)", allowed_with_skips, {"D0": "D_0", "eps1": "epsilon"}, _COST),
    Printed(
        "FEDPD-T3, rhs (also), (12)", allowed_with_skips, {"D0": "D_0", "eps1": "epsilon", "C_3": eigenvalue}, _COST
    ),
    Printed(
        "FEDPD-T3, rhs, (12) with App B-C",
        allowed_with_skips,
        where={**_U, **_THEOREM_1, "c5": _constant("C_5"), "cost": coefficient},
    ),
    Printed("FEDPD-T3, constant C_3, after (12)", eigenvalue, where=_U),
    Printed("FEDPD-T3, constant C_8, after (40) and App B-C", eigenvalue, where=_U),
    Printed("FEDPD-T3, constant C_5, App B-C", _constant("C_5"), {"C_2": _constant("C_2")}),
    Printed("FEDPD-T3, condition eta, Theorem 3", largest_step),
    Printed("FEDPD-R3, definition T, Remark 3", rounds_for, {"D0": "D_0", "eps": "epsilon"}),
    Printed("FEDPD-R5, definition T, Remark 5", rounds_for, {"D0": "D_0", "eps": "epsilon"}),
    Printed("FEDPD-R5, definition C_p, Remark 5", coefficient, {"N": "N"}, {**_U, "c5": "C_5"}),
    Printed(
        "FEDPD-R5, definition C_p (also), Remark 5", coefficient, {"C_3": eigenvalue, "N": "N"}, {**_U, "c5": "C_5"}
    ),
    Printed("FEDPD-R5, condition C_p, Remark 5", cost_allowed, {"eps": "epsilon"}),
    Printed("FEDPD-L1, rhs, (21) App B", change_of_round, where=_CHANGE),
    Printed("FEDPD-L1, rhs eq46, (46) App C-A step (d)", change_by_x, where=_CHANGE),
    Printed("FEDPD-L1, rhs eq47, (47) App C-A", change_by_dual, where=_CHANGE),
    Printed("FEDPD-L1, rhs eq48, (48) App C-A", change_by_upload, where=_CHANGE),
    *(
        Printed(f"FEDPD-L1, constant {name}, (21)", change_of_round, where={**_NOTHING, of: "1"})
        for name, of in {"coef_x": "dx2", "coef_x0": "d0_2", "coef_eps1": "eps"}.items()
    ),
    Printed("FEDPD-L2, definition A12, (22) App B", PRINTED_ENTRY, where=_U),
    Printed("FEDPD-L2, definition A12 (other reading), (22) App B", ENTRY, where=_U),
    Printed("FEDPD-L2, rhs component1, (22) App B", first_row, where={**_SPREADS, "entry": PRINTED_ENTRY}),
    Printed("FEDPD-L2, rhs component1 (other reading), (22) App B", first_row, where={**_SPREADS, "entry": ENTRY}),
    Printed("FEDPD-L2, rhs eq52b, (52) App C-B second line", first_row, where={**_SPREADS, "entry": ENTRY}),
    Printed("FEDPD-L2, rhs component2, (22) App B", second_row, where=_SPREADS),
    Printed("FEDPD-L2, rhs eq52a, (52) App C-B first line", second_row, where=_SPREADS),
    Printed(
        "FEDPD-L2, constant prefactor, (22) App B", second_row, where={**_U, "copies": "1", "models": "0", "push": "0"}
    ),
    Printed("FEDPD-L3, rhs, (23) App B", uploads_above_mean, {"N": "n"}, {"spread2": "s**2"}),
    Printed("FEDPD-L3, rhs proof_d, second (52) App C-C", uploads_above_mean, {"N": "n"}, {"spread2": "s**2"}),
    Printed("FEDPD-L4, rhs, (24) App B", below_level, where={**_LEVEL, "factor": "1"}),
    Printed("FEDPD-L4, rhs (other reading), (24) App B", below_level, where={**_LEVEL, "factor": "1/2"}),
    Printed(
        "FEDPD-L4, rhs eq54, (54) App C-D",
        below_level,
        where={"level": "ALi", "w2": "d**2", "eps": "eps1", "factor": "1/2"},
    ),
    Printed("FEDPD-L10s, rhs, supplement, Lemma 10", error_allowed),
    Printed("FEDPD-EQ1, definition AL_i, after (6)", _lagrangian, {"fi": "value", "xi": "x"}),
    Printed("FEDPD-EQ1, recursion lam, Algorithm 2", _round, item=0),
    Printed(
        "FEDPD-EQ1, recursion x0plus, Algorithm 2",
        _round,
        {"lam1": lambda x1, x0, lam, eta: _round(x1, x0, lam, eta)[0]},
        item=1,
    ),
    *(
        Printed(f"FEDPD-EQ4, {part}, closed form, Sec. III", inner_step, {"xq": "x"}, {**_NO_STEP, **at})
        for part, at in {
            "constant coef_xq": {"x": "1"},
            "constant coef_x0": {"x0": "1"},
            "constant coef_g_plus_lam": {"g": "1"},
        }.items()
    ),
    Printed("FEDPD-EQ4, recursion x, closed form, Sec. III", inner_step, {"xq": "x"}),
    Printed(
        "FEDPD-EQ4, definition f_tilde (other reading), Sec. III", linearised, {"f0": "value", "xi": "y", "xq": "x"}
    ),
    Printed("FEDPD-EQ4, definition L_tilde, Sec. III", with_penalty, {"ft": "value", "xi": "y"}),
    Printed("FEDPD-EQ3, recursion x, Sec. IV-C", _scaffold, item=0),
    *(
        Printed(
            f"FEDPD-EQ3, recursion c_i{reading}, Sec. IV-C", _scaffold, {"x0": "x", "xQ": "answer", K: "steps"}, item=1
        )
        for reading, K in {"": "K", " (other reading)": "Q"}.items()
    ),
    Printed("FEDPD-EQ6, recursion x, Algorithm 1", gradient_step),
    Printed("FEDPD-T1, recursion oracleI_GD, Algorithm 3", gradient_step, {"gL": "g", "eta1": "eta"}),
    Printed(
        "FEDPD-T1, recursion oracleI_SGD, Algorithm 3",
        gradient_step,
        {"h": "g", "eta1": "eta", "eta": "penalty"},
        {"rho": "1/penalty"},
    ),
    *(
        Printed(f"FEDPD-{place}", weight)
        for place in (
            "EQ1, definition AL_weight, after (6)",
            "EQ1, recursion x0_weight, Algorithm 2",
            "EQ3, recursion x0_weight, Sec. IV-C",
            "EQ3, recursion c_weight, Sec. IV-C",
            "EQ6, recursion average_weight, Algorithm 1",
        )
    ),
    Printed("FEDPD-CL2, definition f_1, (13) App A", _values, item=0),
    Printed("FEDPD-CL2, definition f_2, (13) App A", _values, item=1),
    *(
        Printed(f"FEDPD-CL2, recursion x_{k}{reading}, (14) App A", _local_step(curvature), item=k - 1)
        for k in (1, 2)
        for reading, curvature in {"": 1, " (other reading)": 2}.items()
    ),
)
UNTIED = {
    "the formula is in words in the claim: an order, or a name of what is measured": (
        "FEDPD-CL1",
        "FEDPD-CL2, definition A3_rhs",
        "FEDPD-T1, definition D0",
        "FEDPD-R3, rhs Q_i_GD",
        "FEDPD-R3, rhs Q_i_GD (other reading)",
        "FEDPD-R3, rhs Q_i_SGD",
        "FEDPD-R5, rhs",
        "FEDPD-Q1",
        "FEDPD-Q5",
    ),
    "the check plays or counts rounds of the method itself": (
        "FEDPD-EQ1, constant prob_communicate",
        "FEDPD-EQ2",
        "FEDPD-EQ4, recursion g",
        "FEDPD-R4",
        "FEDPD-R5, definition communication_rounds",
    ),
    "a step of a printed proof that no claim is about; the proofs here are others": (
        "FEDPD-CL2, definition D_r_11",
        "FEDPD-CL2, definition D_r_22",
        "FEDPD-CL2, recursion average",
        "FEDPD-CL2, constant step_general",
        "FEDPD-CL2, definition lambda",
        "FEDPD-CL2, definition lambda (other reading)",
        *(f"FEDPD-T1, rhs eq{k}" for k in ("20", "27", "30a", "30b", "32", "33a", "33b", "36", "38", "39", "39_line1")),
        *(f"FEDPD-T1, constant {k}" for k in ("coef34_x", "coef34_x0", "coef34_eps1", "coef36_x0", "coef36_spread")),
        *(
            f"FEDPD-T1, {k}"
            for k in ("lhs eq34", "lhs eq36", "constant min38", "constant coef44_2", "condition positivity")
        ),
        *(f"FEDPD-T3, rhs eq{k}" for k in ("42", "43")),
        *(f"FEDPD-L1, rhs eq46{k}" for k in ("b", "b (other reading)", "c")),
        *(f"FEDPD-L2, rhs eq{k}" for k in ("49", "49c", "50", "51")),
        *(f"FEDPD-L3, rhs proof_{k}" for k in "ac"),
        "FEDPD-L4, rhs eq54_line2",
    ),
    "a claim of its own is about it (E26, E35, E37, E41, E44), as a form of vectors or of numbers": (
        *(f"FEDPD-T1, rhs eq{k}" for k in ("26", "35", "35_line1", "37", "44a", "44")),
        *(f"FEDPD-T3, rhs eq{k}" for k in ("41", "41_line2")),
    ),
    "printed with x_i^r, which its sentence does not have; the other reading is tied": (
        "FEDPD-EQ4, definition f_tilde",
    ),
    "a coefficient of a row that is tied": (
        "FEDPD-L2, definition A11",
        "FEDPD-L2, definition A22",
        "FEDPD-L2, definition B1",
        "FEDPD-L2, definition eigenvalue_2",
    ),
    "Table III's u = L eta, which the check puts in": ("FEDPD-TAB3",),
    "what is left to the accuracy is not used by the check": ("FEDPD-R3, definition eps1", "FEDPD-R5, definition eps1"),
    "no bound of this form stands in the check, which compares with C_9 D_0": ("FEDPD-T2, rhs",),
}
