"""DualFL's theory as claims: what they rest on."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mutants import forget

from fedtheory.algorithms import DualFL
from fedtheory.claims import prove_lemma, replay
from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference
from fedtheory.claims.report import write_counterexamples
from fedtheory.claims.statements.theorems.proving import prove_theorem
from fedtheory.core.randomness import Key
from fedtheory.proofs.checker.refusals import TermRefused
from paper_checks.dualfl import certified_runs
from paper_checks.dualfl.certified_runs import server_models
from paper_checks.dualfl.notation import smooth_conjugate
from paper_checks.dualfl.section_1_introduction import gap_bounds_the_error
from paper_checks.dualfl.section_3_1_inexact_local_solvers import dual_solution, repaired_error
from paper_checks.dualfl.section_3_2_a_theorem_3_2 import THEOREM_3_2
from paper_checks.dualfl.section_6_1_dual_formulation import replay_inclusion
from paper_checks.dualfl.section_6_2_inexact_fista import PROPOSITION_6_2_STEP, SUM_BELOW, accuracy
from paper_checks.dualfl.section_6_3_duality_of_dualfl_and_fista import ASCENT, PREDUAL
from paper_checks.dualfl.z_ours_range_of_nu import largest_curvature
from problems.chains import nesterov_chain, total_variation_chain
from problems.quadratics import scalar_quadratics

SOURCE = "paper_checks.dualfl"


def test_the_misprint_of_18_is_replayed(tmp_path, monkeypatch) -> None:
    """Kx* = 1/(1 + a) and grad G(y*) = a^2/(1 + a), which differ unless a = 1."""
    monkeypatch.setattr(replay, "find_papers", lambda: {SOURCE: SOURCE})
    (written,) = write_counterexamples([check_one(Reference(SOURCE, "DUALFL-P6.1"), Context())], tmp_path)
    again = replay.replay_file(written)
    assert again.confirmed and again.seen.admissible and again.seen.exact_measured == Fraction(1)
    assert not replay_inclusion({"a": "1"}).violated and not replay_inclusion({"a": "-1/2"}).violated


LEMMAS = [
    *(gap_bounds_the_error, repaired_error, smooth_conjugate, SUM_BELOW, accuracy, dual_solution),
    largest_curvature,
]


@pytest.mark.parametrize("lemma", LEMMAS, ids=lambda lemma: lemma.name)
def test_constants_of_lemmas_are_sharp_to_two_per_cent(lemma) -> None:
    assert prove_lemma(lemma).word == "proved for all parameters"
    words = {prove_lemma(lemma.with_constants(c=Fraction(c, 50))).word for c in (49, 51)}
    assert "refuted" in words


@pytest.mark.parametrize(("nu", "rho"), [(1.01, 0.0), (1.0, 0.011), (1.5, 0.01)])
def test_a_setting_outside_of_the_range_is_not_run(nu: float, rho: float) -> None:
    """mu = 1 and L = 100: nu above mu, or rho above nu/L."""
    pair = scalar_quadratics([1.0, 100.0], [1.0, -1.0])
    part = certified_runs.below_n2("run", pair, nu, rho, 5)
    assert part.holds is None and "outside of the theorem's range, and not run" in part.text
    assert certified_runs.below_n2("run", pair, 1.0, 0.01, 5).holds
    assert "certifies no L" in certified_runs.outside("run", total_variation_chain(4), 1.0, 0.1).text


def test_the_chain_of_the_lower_bound_has_its_minimiser_and_its_constants() -> None:
    """DUALFL-T3.3c: theta*_i = q^i in every row with 1 - q in the place of the last link, clients between mu and L."""
    kappa, links = 25.0, 9
    chain = nesterov_chain(links, L=kappa, mu=1.0)
    q = (kappa**0.5 - 1) / (kappa**0.5 + 1)
    apart = int(np.argmin(chain.A[:, -1, -1]))  # the client that does not link the last coordinate
    chain.A[apart, -1, -1] += (kappa - 1) / 2 * (1 - q)
    assert np.allclose(chain.solution(), q ** np.arange(1, links + 1), rtol=1e-12)
    values = np.linalg.eigvalsh(chain.A)
    assert values.min() >= 1 - 1e-12 and values.max() <= kappa + 1e-12
    for n, x in enumerate(server_models(DualFL(1.0, 1 / kappa), chain, links - 1), 1):
        assert np.abs(x[n:]).max() < 1e-12


def test_beyond_the_edge_models_need_not_see_a_mode() -> None:
    """DUALFL-N4: for f_j = (x - c_j)^2/2 the model is theta* in every round, and control variates grow, unless all c_j are the same."""
    for centres, grows in ((1, -1), True), ((1, 1), False):
        problem = scalar_quadratics(np.array([Fraction(1)] * 2, dtype=object), [Fraction(c) for c in centres])
        method = DualFL(Fraction(2), lambda n: Fraction(1, 2))  # nu = 3/2 is the edge
        state = method.init(problem, np.array([[Fraction(0)]], dtype=object))
        part = [Fraction(1), Fraction(-1)]
        for n in range(6):
            state = method.round(problem, state, None, Key(0, n))
            assert state.x.item() == Fraction(sum(centres), 2)
            part.append(-(part[-1] + (part[-1] - part[-2]) / 2))  # h = 2, b = 1/2
        assert abs(state.z_i).max() == (abs(part[6] - 1) / 2 if grows else 0)


def forgets_the_dual(self, problem, state, clients, key):
    """A round that leaves what the inertia acts on as it was."""
    return replace(ROUND(self, problem, state, clients, key), z_i=state.z_i)


def forgets_the_average(self, problem, state, clients, key):
    """A round whose control variates are not shifted by the model."""
    found = ROUND(self, problem, state, clients, key)
    return replace(found, zeta_i=found.zeta_i - found.x)


ROUND = DualFL.round


@pytest.mark.parametrize("wrong", [forgets_the_dual, forgets_the_average])
@pytest.mark.parametrize("theorem", [PREDUAL, ASCENT, PROPOSITION_6_2_STEP], ids=lambda theorem: theorem.name)
def test_theorems_are_about_the_rounds_of_the_library(theorem, wrong, monkeypatch) -> None:
    """With a mistake in `DualFL.round` none of them is proved; what was played with another round in this process is forgotten, before and after."""
    forget()
    with monkeypatch.context() as patched:
        patched.setattr(DualFL, "round", wrong)
        with pytest.raises(TermRefused):
            prove_theorem(theorem)
    forget()


def test_errors_that_do_not_fall_like_8_are_not_what_theorem_32_is_given() -> None:
    """With (n+1)^(2+gamma) in the place of (n+1)^(4+gamma) the sum of the errors is not bounded, and the proof stops there."""
    given = {**THEOREM_3_2.given, "gaps": "Gamma[n] <= 1/(N*nu*(n + 1)**(2 + 2*g))"}
    with pytest.raises(TermRefused, match="line term2"):
        prove_theorem(replace(THEOREM_3_2, given=given))
