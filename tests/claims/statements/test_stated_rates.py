"""Rates: factors exactly where rounds are affine, fits with intervals elsewhere; a few percent too good is refuted or not supported."""

from fractions import Fraction

import numpy as np
import pytest
from evidence import judged

from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.claims.statements.rate import Rate
from fedtheory.claims.verdict import decide
from fedtheory.core.errors import InvalidInput
from fedtheory.measures.primal_dual import lagrangian
from paper_checks.fedpd.z_ours_section_2 import CLAIMS
from problems.fedavg_divergence import curved_counterexample
from problems.known_exponents import power
from problems.logistic import logistic
from problems.quadratics import Quadratic, scalar_quadratics


def exact(*values):
    return np.array([Fraction(v) for v in values], dtype=object)


def random_logistic():
    rng = np.random.default_rng(0)
    return logistic(rng.standard_normal((3, 20, 2)), np.where(rng.random((3, 20)) < 0.5, 1.0, -1.0), l2=0.1)


def equal_curvatures(L, mu):
    """Two clients with curvatures L and mu on different coordinates."""
    zero = Fraction(0)
    a = np.array([[[L, zero], [zero, mu]]] * 2, dtype=object)
    return Quadratic(a, np.array([[Fraction(1), zero], [zero, Fraction(1)]], dtype=object))


THREE = {"problem": lambda: scalar_quadratics(exact(1, 3, "1/2"), exact(1, -1, 4)), "start": 2, "metric": "distance"}
D9 = {
    "problem": curved_counterexample,
    "metric": "distance",
    "region": "0 < b < a, 0 < lr < 2*(a - b)/(a**2 + b**2)",
}
FACTOR = "((1 - lr*a)**2 + (1 + lr*b)**2)**2/4"
CONDITIONED = {"problem": equal_curvatures, "start": (1, 3), "metric": "gap", "region": "0 < mu < L"}
FLAT = {"problem": lambda: power(4.0).problem, "start": 1, "metric": "value"}


def test_the_factor_of_fedavg_below_its_threshold_is_proved_for_all_parameters():
    """FEDPD-D9, the side below the threshold."""
    assert judged("rate", Rate("fedavg", "lr, steps=2", factor=FACTOR, tight=True, **D9))[0] == "proved"
    assert judged("rate", Rate("fedavg", "lr, steps=2", factor="1", **D9))[0] == "proved"
    ledger = next(claim for claim in CLAIMS if claim.id == "FEDPD-D9")
    parts = [finding for finding in ledger.run(Context()) if isinstance(finding, Part)]
    assert decide(ledger.kind, parts) == "proved"
    for wrong in (f"99/100*{FACTOR}", "(1 - lr*(a - b)/2)**2"):
        status, parts = judged("rate", Rate("fedavg", "lr, steps=2", factor=wrong, **D9))
        assert status == "refuted" and parts[-1].disproof is not None


def test_factors_of_larger_states_are_decided_at_points():
    right = Rate("gd", "lr = 1/L", factor="(1 - mu/L)**2", tight=True, **CONDITIONED)
    status, parts = judged("rate", right)
    assert status == "supported" and "points of" in parts[0].proof.scope
    wrong = Rate("gd", "lr = 1/L", factor="(1 - 102/100*mu/L)**2", **CONDITIONED)
    assert judged("rate", wrong)[0] == "refuted"
    loose = Rate("gd", "lr = 1/L", factor="(1 - 98/100*mu/L)**2", tight=True, **CONDITIONED)
    assert judged("rate", loose)[0] == "refuted"


def test_a_rate_that_forgets_heterogeneity_is_refuted():
    status, parts = judged("rate", Rate("fedavg", "lr = 1/10, steps = 2", factor="9/10", **THREE))
    assert status == "refuted" and "does not fall to zero" in parts[0].text


def test_one_instance_is_the_whole_statement():
    assert judged("rate", Rate("fedpd", "eta=1/5, exact", factor="6/10", **THREE))[0] == "proved"
    assert judged("rate", Rate("fedpd", "eta=1/5, exact, p=0", factor="57/100", **THREE))[0] == "refuted"


def test_factors_of_rounds_that_are_not_affine_are_fitted():
    seen = {"problem": random_logistic, "start": 0, "metric": "gap"}
    factors = {}
    for factor in ("9/10", "48/100"):
        factors[factor] = judged("rate", Rate("gd", "lr = 1", factor=factor, **seen))[0]
    assert factors == {"9/10": "supported", "48/100": "inconclusive"}


def test_powers_are_fitted():
    """gap ~ T^-2 on t^4/4; of the running mean, the sum converges, so T^-1."""
    for exponent, tight, summary, word in (
        ("2", True, "last", "supported"),
        ("19/10", False, "last", "supported"),
        ("21/10", False, "last", "inconclusive"),
        ("19/10", True, "last", "inconclusive"),
        ("1", False, "mean", "supported"),
        ("12/10", False, "mean", "inconclusive"),
    ):
        stated = Rate("gd", "lr = 1/10", exponent=exponent, tight=tight, summary=summary, **FLAT)
        status, parts = judged("rate", stated)
        assert status == word, (exponent, tight, summary, parts[0].text)


def test_exponents_of_the_landscape_are_seen_along_runs():
    known = power(4.0)
    assert known.theta == 0.75
    stated = FLAT | {"minimum": 0}
    assert judged("rate", Rate("gd", "lr = 1/10", theta="3/4", tight=True, **stated))[0] == "supported"
    assert judged("rate", Rate("gd", "lr = 1/10", theta="2/3", tight=True, **stated))[0] == "inconclusive"
    certified = Rate("gd", "lr = 1", problem=random_logistic, start=0, theta="1/2", tight=True)
    assert judged("rate", certified)[0] == "supported"


def test_metrics_are_those_of_the_catalogue_or_functions_of_parameters():
    zero = {"problem": lambda: scalar_quadratics(exact(1, 3)), "start": 2}
    potential = Rate(
        "fedpd",
        "eta = 1/10, exact",
        metric=lambda eta: lagrangian(1 / eta),
        factor="95/100",
        region="1/20 < eta < 1/10",
        **zero,
    )
    assert judged("rate", potential)[0] == "supported"
    gap = Rate("fedpd", "eta = 1/5, exact", metric="primal_dual_gap", factor="6/10", problem=THREE["problem"], start=2)
    assert judged("rate", gap)[0] == "supported"
    with pytest.raises(InvalidInput, match="unknown metric"):
        Rate("gd", "lr = 1", metric="speed", factor=1, **zero)
    with pytest.raises(InvalidInput, match="one of factor"):
        Rate("gd", "lr = 1", factor=1, exponent=1, **zero)
    with pytest.raises(InvalidInput, match=r"'c' .* no parameter"):
        Rate("gd", "lr = 1", factor="c", **zero)
