"""Worst cases over all contractive and all unbiased compressors: EF21's rates of theory, for every n, and the two programs against each other."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from helpers import close, play, problem, x0_of

from fedtheory import FunctionClass, smallest_rate
from fedtheory.algorithms import EF21, Diana, ErrorFeedback, FedPD, GradientDescent
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.randomness import Key
from fedtheory.local import AnyContractive, AnyUnbiased, GradientSteps, Inexact, TopK
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from fedtheory.proofs.potentials.design import Design
from fedtheory.proofs.rebuilt import verify_method

MU = Fraction(1, 10)
CLASS = FunctionClass(L=1, mu=MU)


def step_of_theory(s: Fraction) -> Fraction:
    """The best step for an error s = sqrt(1 - delta): 2 (1 - s) / ((L + mu) (1 + s))."""
    return 2 * (1 - s) / ((1 + MU) * (1 + s))


def rate_of_theory(s: float, mu: float = 0.1) -> float:
    """The best rate of EF21 over L = 1 with this step, from the literature (printed for eps = s^2)."""
    root = ((1 - mu) ** 2 + 16 * mu * s / (1 + s) ** 2) ** 0.5
    lam = 2 / (1 + mu) * (1 - s) / (1 + s) / (1 + mu) * ((1 - s) * (1 - mu) + (1 + s) * root)
    return s + 0.25 * (1 + s) * (1 - mu) * lam


@pytest.mark.parametrize(
    ("s", "printed"),
    [("1/10", 0.728505), ("1/4", 0.798254), ("1/2", 0.884808), ("3/4", 0.949292)],
)
def test_ef21_has_the_rate_of_theory_proved_for_every_n(s, printed) -> None:
    """The bisection ends within its accuracy, 1e-5, and no potential of the kind has a smaller rate; the certificates are EF21's."""
    s = Fraction(s)
    found = smallest_rate(EF21(step_of_theory(s), AnyContractive(s)), CLASS)
    assert rate_of_theory(float(s)) == pytest.approx(printed, abs=6e-7)
    assert found.none_at <= printed + 1e-6 and printed - 1e-6 <= found.proved <= printed + 2e-5
    assert "grad" in str(found.potential)
    for certificate in (found.decrease, found.floor):
        assert "AnyContractive" in verify_method(certificate.data)


def test_a_run_with_top_k_falls_as_proved() -> None:
    """Two of three coordinates: error sqrt(1/3), below 3/5. The potential is that of every compressor with this error."""
    f, s = problem("quadratics"), Fraction(3, 5)
    found = smallest_rate(EF21(step_of_theory(s), AnyContractive(s)), CLASS)
    value = found.potential.metric(f.solution()[None, :])
    method = EF21(float(step_of_theory(s)), TopK(2 / 3))
    seen = np.array([value(f, state) for state in play(method, f, x0_of(f), 60)])
    assert np.all(seen[1:] <= float(found.proved) * seen[:-1] + 1e-12 * seen[0]) and seen[-1] < seen[0] / 100


@pytest.mark.parametrize("error", [0.0, 0.5])
def test_both_programs_have_the_same_worst_case(error) -> None:
    """Three rounds, in the second of which something is compressed for the first time."""
    method, functions = EF21(0.5, AnyContractive(error)), FunctionClass(1.0, 0.1)
    every = worst_case_for_every_n(method, functions, rounds=3, tolerance=1e-5).value
    assert every == pytest.approx(worst_case_for_one_n(method, functions, n=2, rounds=3).value, abs=1e-5)
    plain = worst_case_for_every_n(GradientDescent(0.5), functions, rounds=3).value
    assert (every > plain * 1.05) if error else every == pytest.approx(plain, abs=1e-5)


def test_in_a_run_it_is_one_such_compressor() -> None:
    f = problem("quadratics")
    states = play(EF21(0.3, AnyContractive(0.5)), f, x0_of(f), 40)
    before, after = states[0], states[1]
    close(after.g_i, before.g_i + (f.grad(after.x) - before.g_i) / 2, 1e-12)
    assert np.abs(states[-1].x - f.solution()).max() < np.abs(states[0].x - f.solution()).max() / 5


def test_error_feedback_has_no_fixed_point_with_compression() -> None:
    with pytest.raises(CannotTrace, match="does not have x\\* as a fixed point"):
        smallest_rate(ErrorFeedback(GradientSteps(1, 0.5), AnyContractive(0.5)), CLASS)
    with pytest.raises(InvalidInput, match=r"error must lie in \[0, 1\)"):
        AnyContractive(1.0)


def test_local_solves_up_to_a_share_have_potentials_too() -> None:
    """What oracles promise is used of every oracle: FedPD with inexact answers relative to the start contracts as well."""
    exact, inexact = (
        smallest_rate(FedPD(1.0, local, init_dual="zero"), CLASS, accuracy=Fraction(1, 1000))
        for local in (FedPD(1.0).local, Inexact(gamma=Fraction(1, 10)))
    )
    assert exact.rate <= inexact.rate < 1 and inexact.proved is not None


# ---- unbiased compressors ---------------------------------------------------------------------------------------------


def mean_square_radius(lr: float, alpha: float, omega: float, curvatures: Sequence[float]) -> float:
    """The factor of E (x, h_1, ..., h_n)(x, h_1, ..., h_n)^T of DIANA a round, on f_i = a_i x^2/2, with errors of variance omega |a_i x - h_i|^2."""
    n = len(curvatures)
    step = np.eye(n + 1) - alpha * np.diag([0.0] + [1.0] * n)
    step[0, 0], step[1:, 0] = 1 - lr * np.mean(curvatures), alpha * np.array(curvatures)
    moved = np.kron(step, step)
    for i, a in enumerate(curvatures):
        asked, goes = np.zeros(n + 1), np.zeros(n + 1)
        asked[0], asked[1 + i], goes[0], goes[1 + i] = a, -1, -lr / n, alpha
        moved += omega * np.outer(np.kron(goes, goes), np.kron(asked, asked))
    return float(max(abs(np.linalg.eigvals(moved))))


@pytest.mark.parametrize(
    ("lr", "alpha", "omega", "n", "tight"),
    [(0.5, 0.5, 1, 2, True), (0.25, 0.25, 3, 2, True), (1.0, 0.5, 1, 4, False)],
)
def test_diana_over_every_unbiased_compressor(lr, alpha, omega, n, tight) -> None:
    """No better than moments on the line in closed form, which it meets where the flattest functions are the worst; the certificates are DIANA's."""
    worst = max(
        mean_square_radius(lr, alpha, omega, a) for a in combinations_with_replacement((0.1, 0.3, 0.55, 0.8, 1.0), n)
    )
    method = Diana(Fraction(str(lr)), Fraction(str(alpha)), AnyUnbiased(omega))
    everyone = None if n == 2 else Sampling(n, n)
    found = smallest_rate(method, CLASS, participation=everyone, accuracy=Fraction(1, 10**4))
    assert worst <= found.proved < 1 and (not tight or found.proved < worst + 2e-4)
    for certificate in (found.decrease, found.floor):
        assert "AnyUnbiased" in verify_method(certificate.data)


def test_too_long_a_step_of_diana_has_no_potential() -> None:
    assert mean_square_radius(0.8, 0.5, 1, (1.0, 1.0)) > 1
    assert smallest_rate(Diana(Fraction(4, 5), Fraction(1, 2), AnyUnbiased(1)), CLASS, proof=False).potential is None


def test_the_program_of_one_n_refuses_it_by_name() -> None:
    with pytest.raises(CannotTrace, match="every unbiased compressor at once"):
        worst_case_for_one_n(Diana(0.5, 0.5, AnyUnbiased(1)), FunctionClass(1.0, 0.1, zeta=1.0), n=2, rounds=1)


def test_what_is_sent_in_a_run_has_the_mean_and_the_variance() -> None:
    v, compress = np.tile([[3.0, -4.0]], (2, 1)), AnyUnbiased(2.0)
    sent = np.array([compress(v, None, Key(0, r), None) for r in range(4000)])
    assert np.allclose(sent.mean(axis=0), v, atol=0.3) and np.allclose(
        ((sent - v) ** 2).sum(axis=-1).mean(axis=0), 50, rtol=0.1
    )
    both = ((sent[:, 0] - v[0]) * (sent[:, 1] - v[1])).sum(axis=-1)
    assert abs(both.mean()) < 3, "clients draw by themselves"
    assert {tuple(row) for row in sent[:, 0]} == {(0.0, 0.0), (9.0, -12.0)}


def test_one_round_of_diana_with_compression_against_its_closed_form() -> None:
    """x* = 0, mu = L: ||x - lr g - lr mean e||^2 with h_i = 0, so that e_i has omega ||g_i||^2; g_i = x + what differs, which zeta bounds."""
    functions, lr, omega = FunctionClass(L=1, mu=Fraction(999, 1000), zeta=0), Fraction(1, 2), 1
    found = worst_case_for_every_n(
        Diana(lr, Fraction(1, 2), AnyUnbiased(omega)), functions, rounds=1, measure="squared_distance"
    )
    low = (1 - 0.999 / 2) ** 2 + 0.25 * 0.999**2 / 2
    assert low - 1e-6 <= found.value <= low + 2e-3


def test_designs_end_at_the_step_of_theory_for_ef21() -> None:
    s = Fraction(1, 2)
    found = Design(lambda free: EF21(free["lr"], AnyContractive(s)), CLASS).search({"lr": 0.3}, most=40)
    assert abs(found.parameters["lr"] - step_of_theory(s)) < Fraction(1, 1000)
