"""A-FedPD's identities, stability and remarks: what instances show, and what the maps of moments are."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest

from fedtheory.algorithms import AFedPD
from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import ScriptedKey
from fedtheory.measures import primal_dual_gap
from paper_checks.afedpd import appendix_b_3_1_a_lemma_4 as lemma_4
from paper_checks.afedpd import appendix_b_3_1_b_lemmas_5_and_6 as lemmas_5_and_6
from paper_checks.afedpd import appendix_b_3_2_a_recursion as recursion
from paper_checks.afedpd import played
from paper_checks.afedpd import section_4_1_optimization as theorem_1
from paper_checks.afedpd import section_4_2_b_theorem_2 as theorem_2
from paper_checks.afedpd import z_ours_algorithm_1 as algorithm_1
from paper_checks.afedpd import z_ours_drift_a_stability as drift
from paper_checks.afedpd import z_ours_moments as our_moments
from problems.dual_drift import drift_radius, moment_map, opposite_clients
from problems.quadratics import scalar_quadratics


def test_the_probability_of_a_draw_by_enumeration() -> None:
    """Two of three clients a round, two samples, two draws, two rounds."""
    C, P, S, K, tau = 3, 2, 2, 2, 2
    rounds = [
        0 in active and 0 in draws for active in combinations(range(C), P) for draws in product(range(S), repeat=K)
    ]
    drawn = [any(pair) for pair in product(rounds, repeat=tau)]
    assert lemma_4.probability_drawn(C, P, S, K, tau) == Fraction(sum(drawn), len(drawn))


@pytest.mark.parametrize(
    "replay, instance",
    [
        (lemmas_5_and_6.replay_local, lemmas_5_and_6.APART | {"rho": "2"}),
        (recursion.replay_root, recursion.ROOT | {"q": "4"}),
        (lemma_4.replay_l4, lemma_4.FAR | {"rho": "1"}),
        (lemma_4.replay_l4p, lemma_4.DRAWS | {"P": 11}),
        (theorem_2.replay_t2a, {**theorem_2.FIRST, "rho": "2"}),
        (theorem_2.replay_t2, {**theorem_2.LEARNED, "rho": "1/100"}),
        (theorem_2.replay_beyond, {**theorem_2.BEYOND, "rho": "1"}),
        (theorem_1.replay_t1, {**theorem_1.ONE_CLIENT, "rho": "1"}),
    ],
    ids=[
        "eta rho above 1",
        "another discriminant",
        "eta rho above 1, Lemma 4",
        "more active clients than there are",
        "Remark 2.1",
        "more steps than a coordinate lasts, Theorem 2",
        "rho = L, Theorem 2",
        "a penalty below the condition, Theorem 1",
    ],
)
def test_an_instance_beyond_the_assumptions_refutes_nothing(replay, instance) -> None:
    assert not replay(instance).admissible


def test_replays_play_an_instance_in_floats_and_in_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, given = set(), played.local_model

    def note(slopes, theta, *more):
        seen.add(type(theta))
        return given(slopes, theta, *more)

    for replay, instance in (
        (lemmas_5_and_6.replay_local, lemmas_5_and_6.APART_SAMPLE),
        (lemma_4.replay_l4, lemma_4.FAR),
        (theorem_2.replay_t2a, theorem_2.FIRST),
    ):
        seen.clear()
        monkeypatch.setattr(sys.modules[replay.__module__], "local_model", note)
        found = replay(instance)
        assert seen == {float, Fraction} and found.violated
        assert found.measured == pytest.approx(float(found.exact_measured), rel=1e-9)


@pytest.mark.parametrize("C, P", [(4, 1), (7, 3), (12, 5)])
def test_no_penalty_but_the_threshold_is_on_the_edge_of_stability(C: int, P: int) -> None:
    """FedADMM as printed is unstable on one interval of penalties from 0, FedDyn on none, as AFEDPD-D11 concludes from the determinant."""
    unstable = [drift_radius("fedadmm", rho, C, P) > 1 for rho in np.geomspace(1e-3, 10, 80)]
    assert unstable == sorted(unstable, reverse=True) and any(unstable)
    assert not any(drift_radius("feddyn", rho, C, P) > 1 for rho in np.geomspace(1e-3, 10, 80))


@pytest.mark.parametrize("C, P", drift.THRESHOLDS)
def test_a_threshold_is_where_the_map_of_the_moments_has_the_radius_one(C: int, P: int) -> None:
    value = float(drift.THRESHOLDS[C, P])
    assert drift_radius("fedadmm", value - 1e-4, C, P) > 1 > drift_radius("fedadmm", value + 1e-4, C, P)


@pytest.mark.parametrize("method", our_moments.MAPS)
def test_the_map_of_the_moments_is_that_of_the_theorems(method: tuple[str, str]) -> None:
    """Rows of the map at numbers, of which pictures are drawn, beside what is proved of the method's rounds; without optimal duals."""
    numbers = {"rho": Fraction(3, 2), "C": Fraction(5), "P": Fraction(2), "a": Fraction(7, 3)}
    matrix = moment_map(method[1], numbers["rho"], numbers["C"], numbers["P"], numbers["a"])
    before = dict(zip("XYHS", map(Fraction, (2, 3, 5, 11)), strict=True)) | {"N": Fraction(0), "K": Fraction(0)}
    for of, row in zip("XYHS", matrix, strict=True):
        if of in our_moments.MAPS[method]:
            (sentence,) = our_moments.MAPS[method][of].sentences
            found = Sides({**numbers, "t": Fraction(0)}, lambda k, t: before[k], {}).value(sentence.right)
            assert found == sum(entry * before[k] for entry, k in zip(row, "XYHS", strict=True))


def test_one_client_a_round_comes_down_to_its_floor() -> None:
    """The method on (x -+ 1)^2/2 over all sequences of clients, rho = 4, from 1: E (thetabar^t)^2 as AFEDPD-T1a says, floor 1/9."""
    rho, rounds, floor = Fraction(4), 4, Fraction(1, 9)
    problem, method = opposite_clients(Fraction(1), Fraction(1)), AFedPD(Fraction(4))
    squares = [Fraction(0)] * (rounds + 1)
    for actives in product((0, 1), repeat=rounds):
        state = method.init(problem, np.array([[Fraction(1)]], dtype=object))
        squares[0] += Fraction(1, 2**rounds)
        for t, active in enumerate(actives):
            state = method.round(problem, state, Clients(2, np.array([active])), ScriptedKey(t))
            squares[t + 1] += state.x_bar.item() ** 2 / 2**rounds
    assert squares == [floor + (rho / (1 + rho)) ** (2 * t) * (1 - floor) for t in range(rounds + 1)]


def test_the_gap_is_the_librarys() -> None:
    problem = scalar_quadratics(list(played.CURVATURES), list(played.CENTRES))
    for state in played.play_method(((0, 1), (1, 3), (0, 2))):
        x, lam_i = (np.array([[v] for v in values], dtype=object) for values in ([state.bar], state.lam))
        assert primal_dual_gap(problem, SimpleNamespace(x=x, lam_i=lam_i)) == algorithm_1.gap_at(state)


def test_long_local_intervals_part_fedavg_and_not_a_fedpd() -> None:
    rho, eta = Fraction(1, 10), Fraction(1)
    ours, fedavg = zip(*(theorem_2.models_apart(K, rho, eta) for K in (50, 100, 200)), strict=True)
    assert max(ours) < 1.01 * min(ours) and fedavg[2] == 4 * fedavg[0]
