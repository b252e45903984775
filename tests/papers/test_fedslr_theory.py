"""FedSLR's theorems and designs: replays, and what their helpers measure."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fedtheory.algorithms import FedSLR
from fedtheory.claims import replay
from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference
from fedtheory.claims.replay import replay_file
from fedtheory.claims.report import write_counterexamples
from fedtheory.core.errors import InvalidInput
from fedtheory.core.regularisers import L1
from fedtheory.proofs.symbolic import is_zero
from paper_checks.fedslr.bounds import Constants
from paper_checks.fedslr.kl_runs import flat_matrix_run, low_rank_run, power_run, sharp_run
from paper_checks.fedslr.played import changed, play_on_line, play_unknown
from paper_checks.fedslr.section_5_a_theorem_1 import replay_cycle
from paper_checks.fedslr.section_5_d_theorem_3 import replay_theorem, square_instance
from problems.piecewise import flattened_square, piecewise_quadratic, plateau

SOURCE = "paper_checks.fedslr"

#: refuted by instances that are files
REPLAYED = ("T1a", "T2b", "LINE20", "T3", "T3-100", "D2a")


@pytest.mark.parametrize("id", REPLAYED)
def test_other_numbers_are_measured_on_another_instance(
    id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "find_papers", lambda: {SOURCE: SOURCE})
    (written,) = write_counterexamples([check_one(Reference(SOURCE, f"FEDSLR-{id}"), Context())], tmp_path)
    assert replay_file(written).confirmed
    stored = json.loads(written.read_text())
    stored["instance"]["start" if "start" in stored["instance"] else "lr"] = "7/5"
    written.write_text(json.dumps(stored))
    assert not replay_file(written).confirmed


def test_instances_outside_the_assumptions_refute_nothing() -> None:
    longer = replay_cycle({"eta": "3/5", "start": "1/10", "lam": "1"})
    assert not longer.admissible and not longer.violated
    small = replay_theorem(square_instance(1, "1/3", 60))
    assert small.admissible and not small.violated


# ---- helpers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [Fraction(0), Fraction(3)])
def test_the_corrected_bound_of_theorem_3_over_all_draws(p: Fraction) -> None:
    """(14), corrected, with noise +-sigma on p^2/2 + mu |p|, every path of K = 4 steps with w_t = 0; from p = 0 the noise is needed."""
    lr, mu, sigma, K = Fraction(1, 2), Fraction(1, 8), Fraction(1), 4
    a, norm = lr - lr**2 / 2, L1(mu)
    at, left = [p], Fraction(0)
    for _ in range(K):
        points = np.array(at, dtype=object)[:, None]
        left += (((points - norm.prox(points - lr * points, lr)) / lr) ** 2).sum() / len(at)
        at = [v for s in (sigma, -sigma) for v in norm.prox(points - lr * (points + s), lr)[:, 0]]
    start = (p**2 / 2 + mu * abs(p)) / (a * K)
    assert left / K <= 2 * start + 2 * (1 + lr / a) * sigma**2
    assert p != 0 or left / K > 2 * start, "from the minimiser the gradient mappings are the noise's alone"


def test_the_cycle_by_hand() -> None:
    _, states = play_on_line(plateau(), Fraction(1, 2), Fraction(1, 10), 4, weight=Fraction(1))
    copies = [s.x_i[0, 0] for s in states]
    assert copies == [Fraction(1, 10), Fraction(1, 10), Fraction(-1, 10), Fraction(1, 10), Fraction(-1, 10)]
    assert [s.x[0, 0] for s in states[1:]] == [0, 0, 0, 0]


def test_a_round_on_unknown_functions_is_the_code_s() -> None:
    _, after, g, _ = play_unknown(FedSLR)
    assert all(is_zero(value) for value in (after.gamma_i - g).ravel())
    _, wrong, g, _ = play_unknown(changed("sign of the dual step"))
    assert not any(is_zero(value) for value in (wrong.gamma_i - g).ravel())


def test_printed_and_corrected_constants() -> None:
    k = Constants(Fraction(100), Fraction(1, 1000))
    assert (k.c1, k.c1_printed, k.c2) == (Fraction(1010) ** 2, 44440, 440)
    assert k.c3 == (1 + Fraction(1, 1000)) * 1100


@pytest.mark.parametrize(
    ("run", "theta", "of_potential"), [(sharp_run, 0, 0.5), (low_rank_run, 0.5, 0.5), (flat_matrix_run, 0.75, 0.75)]
)
def test_runs_of_known_exponent(run, theta, of_potential) -> None:
    seen = run()
    assert (seen.theta, seen.theta_of_potential) == (theta, of_potential)
    assert seen.exponent.low - 1e-6 <= of_potential <= seen.exponent.high + 1e-6
    assert np.all(seen.distance[seen.trusted] <= seen.corrected[seen.trusted])


def test_the_printed_rate_is_exceeded_on_a_high_power_only() -> None:
    assert np.any(power_run(8).distance > power_run(8).printed)
    flat = flat_matrix_run()
    np.testing.assert_allclose(flat.printed, flat.corrected)


# ---- instances --------------------------------------------------------------------------------------------------------


def test_piecewise_quadratics() -> None:
    f = plateau()
    x = np.linspace(-3, 3, 25)[:, None, None]
    exact = np.vectorize(lambda v: Fraction(float(v)), otypes=[object])(x)
    inside = np.abs(x) <= 1
    np.testing.assert_allclose(f.value(exact)[inside[..., 0]].astype(float), -(x[inside] ** 2) / 2)
    assert np.all(f.value(exact)[np.abs(x[..., 0]) >= 2] == -1)
    v = f.prox(exact, Fraction(1, 2))
    assert np.all(v + Fraction(1, 2) * f.grad(v) - exact == 0), "Fermat's rule in fractions"
    found = f.certify()
    assert (found["L"].value, found["mu"].value, found["B"].value, f.lower_bound().value) == (1, -1, 1, -1)
    assert flattened_square(4, 2, 1).lower_bound().value == 0


def test_piecewise_quadratics_refuse_what_they_are_not() -> None:
    with pytest.raises(InvalidInput, match="increase strictly"):
        piecewise_quadratic([0, 0], [0, 1], name="twice")
    with pytest.raises(InvalidInput, match="one shape"):
        piecewise_quadratic([0, 1], [0, 1, 2], name="odd")
    with pytest.raises(InvalidInput, match="largest concavity"):
        plateau().prox(np.zeros((1, 1)), Fraction(1))
