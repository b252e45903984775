"""Which formula of this ledger is which row of ``printed.tsv``, and the rows that none is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms.fedslr import FedSLR, FedSLRState
from fedtheory.claims.statements.worlds import Concrete, World
from fedtheory.claims.transcriptions import Printed, bound_of
from fedtheory.core.layers import Layer
from fedtheory.core.regularisers import L1, NuclearNorm
from fedtheory.measures import potentials
from paper_checks.averaged_quadratics import GivenAnswers
from paper_checks.fedslr import bounds
from paper_checks.fedslr.appendix_c_3_proof_of_theorem_1 import AS_PRINTED, drift_allowed
from paper_checks.fedslr.appendix_c_5_proof_of_theorem_3 import gained, halves
from paper_checks.fedslr.notation import CHOICE
from paper_checks.fedslr.section_5_d_theorem_3 import SHORT, gradient_mapping, proximal_path
from paper_checks.given_gradients import SCRIPT, column, gradient_step, linear


def _constant(name: str, sign: int = 1) -> Any:
    return lambda L, eta_g: sign * getattr(bounds.Constants(L, eta_g), name)


def _c2_printed(L: Any, eta_g: Any) -> Any:
    return bounds.c2(SimpleNamespace(L=L, eta=eta_g))


def _c4(L: Any, eta_g: Any, c: Any, theta: Any) -> Any:
    return bounds.Constants(L, eta_g, c, theta).c4


def _c4_printed(L: Any, eta_g: Any, c: Any, theta: Any) -> Any:
    """With the printed sign of C_2, which the claims do not follow."""
    return -_c4(L, eta_g, c, theta)


def _falls(L: Any, eta_g: Any, dy2: Any, dw2: Any) -> Any:
    """What D_t - D_{t+1} is at least."""
    copies, server = potentials.fedslr_decrease(eta_g, L)
    return copies * dy2 + server * dw2


def _changes(L: Any, eta_g: Any, dy2: Any, dw2: Any) -> Any:
    return -_falls(L, eta_g, dy2, dw2)


def _potential(eta_g: Any, F: Any, Rx: Any, x: Any, y: Any, g: Any) -> Any:
    return bounds.potential(eta_g, F, Rx, *(Concrete(((v,),)) for v in (x, y, g)))


def _round(w: World, gam: Any, y1: Any, eta_g: Any) -> Any:
    """A client's dual after FedSLR's own round in which its local solver answers y1."""
    method = FedSLR(eta_g, local=GivenAnswers(column(y1, y1)))
    state = FedSLRState(column(w), column(w, w), column(gam, gam), None, None)
    return method.round(linear(0), state, None, SCRIPT).gamma_i[0, 0]


def _residual(w: World, gam: Any, y1: Any, eta_g: Any, g1: Any) -> Any:
    """How far the dual is from the gradient at the answer."""
    return g1 - _round(w, gam, y1, eta_g)


def _increment(w: World, gam: Any, y1: Any, eta_g: Any) -> Any:
    return _round(w, gam, y1, eta_g) - gam


def _threshold(x: Any, a: Any) -> Any:
    return L1(a).prox(np.array([[x]], dtype=object), 1)[0, 0]


def _singular_value(s: Any, lam: Any, eta_g: Any) -> float:
    layers = (Layer("matrix", (1, 1)),)
    return float(NuclearNorm(float(lam), layers).prox(np.array([[float(s)]]), float(eta_g))[0, 0])


def _personal_step(p: Any, g: Any, eta_l: Any, mu: Any) -> Any:
    return proximal_path(linear(g), column(0, 0), column(p, p), eta_l, mu, 1)[-1][0, 0]


_C7 = {"start": "w0", "first": "D0 - Dstar", "eta": "eta_g"}
_OF_T3 = {"gap": "phi0 - phistar", "s2": "sigma**2", "lr": "eta_l"}
_T3 = {"C6": "c6", "C7": "c7"}
_DUALS = {"ip": "g*(x - y)", "d2": "(x - y)**2"}
_AFTER_13 = "Theorem 2 after (13)"
_CASES = ("T2-72", "T2-81", "T2b", "T2c", "T2d")
_ALONE = {"c1": "1", "c2": "1"}
_C5 = {"C1": "c1", "C2": "c2", "C4": "c4"}
TIES = (
    *(
        Printed(f"FEDSLR-{place}", bound_of(CHOICE, "eta"))
        for place in (
            *(f"{id}, condition, Theorem 2" for id in ("T2-72", "T2-81", "T2a", "T2b", "T2c", "T2d")),
            *(f"{id}, condition, Theorem 1" for id in ("T1a", "T1b", "N2")),
            *(f"{id}, condition, Lemma 3" for id in ("L3", "N1")),
        )
    ),
    Printed(
        "FEDSLR-T1a, condition, text after (47)",
        AS_PRINTED.claims[0].partition(" <= ")[0],
        {"eta_g": "eta"},
    ),
    *(
        Printed(f"FEDSLR-{id}, constant C1, {_AFTER_13}; after (70)", _constant("c1_printed"))
        for id in ("T2-72", "T2b", "T2c")
    ),
    *(
        Printed(f"FEDSLR-{id}, constant C2{reading}, {_AFTER_13}; after (71)", formula)
        for id in _CASES
        for reading, formula in {"": _c2_printed, " (other reading)": _constant("c2")}.items()
    ),
    *(
        Printed(f"FEDSLR-{id}, constant C3, {_AFTER_13}; after (78)", _constant("c3"))
        for id in ("T2-81", "T2b", "T2c", "T2d")
    ),
    *(
        Printed(f"FEDSLR-{id}, constant C4, {_AFTER_13}; eq (81)", _c4, {"C2": _constant("c2"), "C3": _constant("c3")})
        for id in ("T2-81", "T2b", "T2c")
    ),
    *(
        Printed(f"FEDSLR-{id}, constant C4, {_AFTER_13}; eq (81), C2 and C3 substituted", _c4_printed)
        for id in ("T2-81", "T2b", "T2c")
    ),
    Printed(f"FEDSLR-T2c, constant C5, {_AFTER_13}; end of case 3", bounds.c5_of, _C5),
    Printed("FEDSLR-N1, constant C2, Theorem 2; (35)", _c2_printed),
    Printed("FEDSLR-N5, constant C3, after (78)", _constant("c3")),
    Printed("FEDSLR-N6, constant C1, after (70)", _constant("c1_printed")),
    Printed("FEDSLR-T2-72, rhs, eq (70) last line, C1 substituted", _constant("c1_printed"), {"dy2": "1"}),
    Printed("FEDSLR-T2-72, rhs, eq (72)", bounds.bound_72, {"C1": "c1", "C2": "c2"}),
    Printed("FEDSLR-T2-72, rhs, eq (71) first", _falls, {"C2": _constant("c2")}),
    Printed("FEDSLR-T2-72, rhs, eq (71) second", _falls, {"C2": _constant("c2")}, {"dw2": "0"}),
    Printed("FEDSLR-T2d, rhs, eq (83)", _falls, {"C2": _constant("c2")}, {"dw2": "0"}),
    Printed("FEDSLR-T2b, rhs, eq (12)", bounds.bound_12, {**_C5, "r0": "r"}, {"n": "T - t0"}),
    Printed("FEDSLR-T2b, rhs, proof of case 2, middle", bounds.bound_12, {**_C5, "r0": "r"}, {"n": "T"}),
    *(
        Printed(f"FEDSLR-{id}", bounds.bound_13, {"C5": "c5"})
        for id in ("T2c, rhs, eq (13); end of case 3", "N9, rhs, eq (13)")
    ),
    Printed("FEDSLR-T2c, rhs (other reading), eq (13); end of case 3", bounds.bound_13_corrected, {"C5": "c5"}),
    Printed(
        "FEDSLR-T2c, rhs, end of case 3, middle",
        bounds.bound_13_corrected,
        _C5,
        {"c5": bounds.c5_of},
    ),
    Printed(
        "FEDSLR-L1, rhs, Lemma 1 statement; eq (31)",
        drift_allowed,
        where={"dy2": "dy**2", "eta": "eta_g"},
        power=2,
    ),
    Printed("FEDSLR-L2, definition POTENTIAL, Definition 1, eq (10); (33) line 1", _potential, _DUALS),
    Printed("FEDSLR-N4, definition POTENTIAL, eq (10)", _potential, _DUALS),
    Printed("FEDSLR-L3, rhs, Lemma 3, eq (35) = (41)", _changes),
    Printed("FEDSLR-L3, condition, text after (41)", _changes, where={"dy2": "1", "dw2": "0"}),
    Printed(
        "FEDSLR-L3, condition, text after (41); item 2", _changes, where={"dy2": "0", "dw2": "1"}, symbols={"L": "L"}
    ),
    Printed("FEDSLR-L5, rhs, Lemma 5, eq (86) = (87) last line", gained, {"Rk": "old", "Rk1": "new"}),
    Printed("FEDSLR-L6, rhs, Lemma 6, eq (88)", halves, where={"na2": "na**2", "nb2": "nb**2"}),
    Printed("FEDSLR-F2, recursion, eq (5); Alg.1 lines 6,15; Alg.2 lines 7,18", _round),
    Printed("FEDSLR-F2, rhs, eq (24)", _increment),
    Printed("FEDSLR-F1, definition OPTIMALITY_RESIDUAL, eq (23); Remark 2", _residual),
    Printed("FEDSLR-R2, definition OPTIMALITY_RESIDUAL, Remark 2", _residual),
    Printed("FEDSLR-F5, rhs, eq (29)", gradient_mapping, {"p1": "new", "eta_l": "lr"}),
    Printed("FEDSLR-F5, recursion, eq (7)", _personal_step),
    Printed("FEDSLR-F5, recursion (other reading), Alg.1 line 20; Alg.2 line 23; Alg.3 line 20", _personal_step),
    Printed("FEDSLR-D2c, recursion, eq (20) GPGD", gradient_step, {"y": "x"}),
    Printed("FEDSLR-N19, recursion, eq (20)", gradient_step, {"y": "x"}),
    Printed("FEDSLR-O1, definition SOFT_THRESHOLD, eq (16)", _threshold),
    Printed("FEDSLR-O1, rhs, eq (15)", _singular_value),
    Printed("FEDSLR-D1, rhs, eq (15)", _singular_value),
    Printed("FEDSLR-O2, rhs, eq (17)", _threshold, {"mu": "a"}),
    Printed("FEDSLR-T3, condition, Theorem 3; before (95)", bound_of(SHORT, "lr")),
    Printed("FEDSLR-N17, condition, Theorem 3", bound_of(SHORT, "lr")),
    Printed("FEDSLR-T3, constant C6, Theorem 3", bounds.c6, {"eta_l": "lr"}),
    *(
        Printed(f"FEDSLR-{place}", bounds.c7, {"d0": "w0**2"}, _C7)
        for place in (
            "T3, constant C7, Theorem 3; after (100)",
            "N18, constant C7, Theorem 3",
            "T3-100, constant C7, after (100); Theorem 3",
        )
    ),
    Printed("FEDSLR-T3, rhs, eq (14)", bounds.right_of_14, _T3, _OF_T3),
    Printed(
        "FEDSLR-T3, rhs, eq (14), C6 and C7 substituted",
        bounds.right_of_14,
        {"d0": "w0**2"},
        {**_OF_T3, **_C7, "c6": bounds.c6, "c7": bounds.c7},
    ),
    Printed(
        "FEDSLR-T3, rhs (other reading), eq (102) last line",
        bounds.right_of_14,
        _T3,
        {**_OF_T3, "c6": bounds.c6},
    ),
    Printed("FEDSLR-T3-100, rhs, eq (100) with C7", bounds.right_of_100, _T3),
    Printed("FEDSLR-T3-100, rhs, eq (100)", bounds.right_of_100, {"d0": "w0**2"}, {**_C7, "c7": bounds.c7}),
)
TIES += (
    Printed(
        "FEDSLR-T2b, rhs, proof of case 2",
        bounds.bound_12,
        {"C4": "c4", "r0": "r"},
        {**_ALONE, "n": "T - t0"},
        power=0.5,
    ),
    Printed("FEDSLR-T2b, recursion, proof of case 2", bounds.bound_12, {"C4": "c4"}, {**_ALONE, "n": "1"}, power=0.5),
    Printed(
        "FEDSLR-T2c, rhs, case 3",
        bounds.bound_13_corrected,
        {"C4": "c4"},
        {**_ALONE, "c5": bounds.c5_of},
        power=0.5,
    ),
    Printed("FEDSLR-T1a, rhs (other reading), text before (50)", _increment, {"nwy": "w - y1"}),
    Printed("FEDSLR-L1, rhs, eq (30)", _increment),
    Printed("FEDSLR-L3, rhs, eq (37) last line (T1)", _changes, where={"dy2": "0"}, symbols={"L": "L"}),
)
_OF_72 = ("1", "2", "3", "4", "5")
UNTIED = {
    "the claim has it in words: an order, an assumption, or what a letter stands for": (
        "FEDSLR-L1, condition, Assumption 1",
        "FEDSLR-L4",
        "FEDSLR-L5, definition L1_REGULARISER",
        "FEDSLR-R6",
        "FEDSLR-R8",
        "FEDSLR-N5, rhs",
        "FEDSLR-T2-72, rhs, eq (70) last line",
        "FEDSLR-T2-81, definition KL_FUNCTION",
        "FEDSLR-T2-81, condition, eq (73)",
        "FEDSLR-T2-81, rhs, eq (74)",
        "FEDSLR-T2c, definition G_FUNCTION",
        "FEDSLR-T3, condition, Assumption 5",
        "FEDSLR-T3, definition PHI",
        "FEDSLR-T3-100, definition EPSILON",
    ),
    "the check plays the method, or counts entries of its layers": (
        "FEDSLR-C1",
        "FEDSLR-D2a",
        "FEDSLR-D5",
        "FEDSLR-N20",
    ),
    "printed with another symbol than (7), or with eta_g for 1/eta_g; the other reading is tied": (
        "FEDSLR-F5, recursion",
        "FEDSLR-T1a, rhs, text before (50)",
    ),
    "stands in statements and runs of Theorem 2's proof, which are not named functions": (
        "FEDSLR-T2-81, rhs, eq (81)",
        "FEDSLR-T2-81, rhs, eq (81) line 1",
        "FEDSLR-T2-81, recursion",
        "FEDSLR-T2d, rhs, eq (84)",
        "FEDSLR-T2d, rhs, eq (85) first",
        "FEDSLR-T2d, rhs, eq (85) second",
        "FEDSLR-T2d, rhs (other reading), eq (85) second",
    ),
    "a step of a printed proof that no claim is about, or that is proved in another way": (
        "FEDSLR-L1, rhs, eq (31) middle",
        "FEDSLR-L2, rhs, eq (33) line 2",
        "FEDSLR-L2, rhs, eq (33) line 2, square expanded",
        "FEDSLR-L2, rhs (other reading)",
        "FEDSLR-L2, rhs, eq (34)",
        *(f"FEDSLR-L3, rhs, eq (37) line {k} (T1)" for k in (1, 2, 3, 4)),
        "FEDSLR-L3, rhs (other reading)",
        *(f"FEDSLR-L3, rhs, eq (38) {k} (T2)" for k in ("last line", "line 3", "line 1")),
        *(f"FEDSLR-L3, rhs, eq (39) line {k} (T3)" for k in (2, 3)),
        *(f"FEDSLR-L3, rhs, eq (40) {k} (T3)" for k in ("last line", "line 1")),
        "FEDSLR-L3, rhs, text before (40)",
        "FEDSLR-L5, rhs, eq (87) line 1",
        "FEDSLR-L5, definition PROX_OPTIMALITY",
        "FEDSLR-L7",
        "FEDSLR-T1a, rhs, eq (43)",
        "FEDSLR-T1a, rhs (other reading), eq (43)",
        "FEDSLR-T1b, rhs",
        *(f"FEDSLR-T2-72, rhs, eq (70) line {k}" for k in _OF_72),
        "FEDSLR-T2-72, rhs (other reading)",
        *(f"FEDSLR-T2-81, rhs, eq (76) {k}" for k in ("line 1", "line 2", "last line")),
        *(f"FEDSLR-T2-81, rhs, eq (77) {k}" for k in ("line 1", "line 3", "last line")),
        "FEDSLR-T2-81, rhs, text before (78)",
        *(f"FEDSLR-T2-81, rhs, eq (78) line {k}" for k in (1, 2, 3)),
        "FEDSLR-T2-81, rhs, eq (79)",
        "FEDSLR-T2-81, rhs, eq (80) middle",
        "FEDSLR-T2-81, rhs, eq (80) right",
        "FEDSLR-T2-81, rhs (other reading)",
        "FEDSLR-T2b, condition, proof of case 2",
        "FEDSLR-T2c, rhs, case 3; item 2",
        "FEDSLR-T2c, rhs, case 3; item 3",
        "FEDSLR-T2c, rhs (other reading), case 3",
        "FEDSLR-T2d, rhs, eq (82) first and last",
        "FEDSLR-T3, rhs, eq (90) line 1",
        *(
            f"FEDSLR-T3, rhs, eq ({k}"
            for k in ("91) line 1", "91) line 2", "92)", "93)", "94) line 1", "94) line 2", "95)")
        ),
        *(
            f"FEDSLR-T3, rhs, eq ({k}"
            for k in ("96) line 1", "96) line 2", "101)", "102) lines 1-2", "102) line 3", "102) last line")
        ),
        *(f"FEDSLR-T3, rhs (other reading), eq ({k}" for k in ("92)", "95)", "96) line 2", "101)")),
        "FEDSLR-T3-100, rhs, eq (97) line 2",
        "FEDSLR-T3-100, rhs, eq (98)",
        "FEDSLR-T3-100, rhs, text before (99)",
        *(f"FEDSLR-T3-100, rhs, eq (99) {k}" for k in ("lines 1-2", "line 3", "line 4")),
        "FEDSLR-T3-100, rhs (other reading)",
    ),
}
