"""Limits and divergence on instances: exact where rounds are affine, with false ones disproved, and by runs elsewhere."""

from fractions import Fraction

import numpy as np
import pytest
from evidence import judged

from fedtheory.algorithms import FedAvg
from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.claims.statements.limit import Divergence, Limit
from fedtheory.claims.verdict import decide
from fedtheory.core.errors import InvalidInput
from fedtheory.local.solvers import GradientSteps
from fedtheory.proofs.recurrences import Recurrence, follow_field, lies_within, without_roots
from paper_checks.fedpd.z_ours_section_2 import CLAIMS
from problems.fedavg_divergence import coercive_counterexample, curved_counterexample
from problems.logistic import logistic
from problems.quadratics import scalar_quadratics


def exact(*values):
    return np.array([Fraction(v) for v in values], dtype=object)


def random_logistic():
    """Three clients of logistic regression with a ridge."""
    rng = np.random.default_rng(0)
    return logistic(rng.standard_normal((3, 20, 2)), np.where(rng.random((3, 20)) < 0.5, 1.0, -1.0), l2=0.1)


def pair(a, b):
    """(a/2)(x - 1)^2 and (b/2)(x + 1)^2."""
    return scalar_quadratics(np.array([a, b], dtype=object), exact(1, -1))


TWO = "(1 - (1 - lr*a)**2)", "(1 - (1 - lr*b)**2)"
BIASED = "({0} - {1})/({0} + {1})".format(*TWO)
BELOW = {"region": "0 < a, 0 < b, 0 < lr < 1/(a + b)", "start": 2, "problem": pair}
FIXED = {"problem": lambda: scalar_quadratics(exact(1, 3, "1/2"), exact(1, -1, 4)), "start": 2}
#: sum of w c over sum of w, with w = 1 - (9/10, 7/10, 19/20)^2 of these three clients
OF_THREE = "(19/100 - 51/100 + 4*39/400)/(19/100 + 51/100 + 39/400)"

TRUE = {
    "FedAvg is biased": (Limit("fedavg", "lr, steps=2", point=BIASED, **BELOW), "proved"),
    "of three clients": (Limit("fedavg", "lr=1/10, steps=2", point=OF_THREE, **FIXED), "proved"),
    "FedPD reaches the minimiser": (Limit("fedpd", "eta = 1/5, exact", **FIXED), "proved"),
    "SCAFFOLD too, for some steps": (Limit("scaffold", "lr=1/10, steps=K", region="K in 1..3", **FIXED), "proved"),
    "duals": (Limit("fedpd", "eta=1/5, exact", field="lam_i", point=0, problem=lambda: pair(Fraction(1), Fraction(0)), start=1), None),
    "the minimiser, for all steps": (
        Limit("gd", "lr", problem=pair, start=2, region="0 < a, 0 < b, 0 < lr < 4/(a + b)"),
        "proved",
    ),
    "points of a region": (Limit("scaffold", "lr, steps=2", region="0 < lr < 1/10", **FIXED), "supported"),
    "D14": (Limit("fedpd", "eta, exact", region="0 < a, 0 < eta < 1/a", problem=lambda a: scalar_quadratics(np.array([a, -a])), point=1), "proved"),
    "not affine": (Limit("fedpd", "eta=1/2, exact", problem=lambda: random_logistic(), start=0), "supported"),
}  # fmt: skip
FALSE = {
    "one percent off": Limit("fedavg", "lr, steps=2", point=f"101/100*{BIASED}", **BELOW),
    "FedAvg reaches the minimiser": Limit("fedavg", "lr=1/10, steps=2", **FIXED),
    "one step more": Limit("fedavg", "lr=1/10, steps=3", point=OF_THREE, **FIXED),
    "it diverges": Limit("gd", "lr=4", point=0, problem=lambda: scalar_quadratics(exact(1, 1)), start=1),
}


def test_true_limits():
    for name, (statement, word) in TRUE.items():
        status, parts = judged("identity", statement)
        assert word is None or status == word, (name, [(p.name, p.holds, p.text) for p in parts])


@pytest.mark.parametrize("name", FALSE)
def test_false_limits_are_disproved(name):
    status, parts = judged("identity", FALSE[name])
    assert status == "refuted", [(p.name, p.holds, p.text) for p in parts]
    assert any(part.disproof is not None for part in parts)


def test_a_limit_of_runs_that_is_two_percent_off_is_not_supported():
    right = Limit("fedavg", "lr=1/2, steps=3", problem=lambda: random_logistic(), start=0)
    status, parts = judged("identity", right)
    assert status == "inconclusive"
    assert any(part.holds is False for part in parts)


def test_divergence_is_proved_for_all_parameters_of_a_family():
    """FEDPD-D9, the side above the threshold."""
    region = "0 < b < a, 2*(a - b)/(a**2 + b**2) < lr"
    stated = {"problem": curved_counterexample, "multiplier": "((1-lr*a)**2+(1+lr*b)**2)/2"}
    assert judged("divergence", Divergence("fedavg", "lr, steps=2", region=region, **stated))[0] == "proved"
    ledger = next(claim for claim in CLAIMS if claim.id == "FEDPD-D9")
    parts = [finding for finding in ledger.run(Context()) if isinstance(finding, Part)]
    assert decide(ledger.kind, parts) == "proved"
    # the threshold 5 % too low, and the multiplier 1 % too large
    low = "0 < b < a, 19/10*(a - b)/(a**2 + b**2) < lr < 2*(a - b)/(a**2 + b**2)"
    assert judged("divergence", Divergence("fedavg", "lr, steps=2", region=low, **stated))[0] == "refuted"
    large = stated | {"multiplier": "101/200*((1-lr*a)**2+(1+lr*b)**2)"}
    assert judged("divergence", Divergence("fedavg", "lr, steps=2", region=region, **large))[0] == "refuted"


def test_divergence_of_larger_states_is_shown_at_points():
    stated = {"problem": lambda: scalar_quadratics(exact(1, 2), exact(1, -1)), "start": 3}
    status, parts = judged("divergence", Divergence("scaffold", "lr, steps=2", region="3 < lr < 4", **stated))
    assert status == "supported" and "points of" in parts[0].proof.scope
    status, parts = judged(
        "divergence", Divergence("scaffold", "lr, steps=2, server_lr=1", region="1/10 < lr < 1/5", **stated)
    )
    assert status == "refuted" and "converges" in parts[0].text


def test_a_start_that_does_not_excite_the_multiplier_does_not_diverge():
    stated = {"problem": lambda: scalar_quadratics(exact(3, 3)), "multiplier": "-2"}
    assert judged("divergence", Divergence("gd", "lr=1", start=1, **stated))[0] == "proved"
    assert judged("divergence", Divergence("gd", "lr=1", start=0, **stated))[0] == "refuted"


CLOSED = {"problem": pair, "start": 2, "region": "0 < a, 0 < b, 0 < lr <= 4/(a + b)"}


def test_where_a_step_may_reach_its_end_there_is_no_limit_and_no_divergence():
    """At lr = 4/(a + b) rounds go to and fro."""
    away = judged(
        "divergence",
        Divergence("gd", "lr", multiplier="1 - lr*(a + b)/2", **CLOSED | {"region": "0 < a, 0 < b, 4/(a + b) <= lr"}),
    )
    ends = judged("identity", Limit("gd", "lr", point="(a - b)/(a + b)", **CLOSED))
    assert (away[0], ends[0]) == ("refuted", "refuted")
    assert any("it stays bounded" in part.text for part in away[1]) and any(
        "do not vanish" in part.text for part in ends[1]
    )
    # from the minimiser itself nothing moves
    still = Limit("gd", "lr", point="(a - b)/(a + b)", **CLOSED | {"start": "(a - b)/(a + b)"})
    assert judged("identity", still)[0] == "proved"


def test_what_grows_by_a_step_in_every_round_has_no_limit_and_does_not_stay_bounded():
    line = {"problem": lambda: scalar_quadratics(exact(1, -1), exact(1, -1)), "start": 2}
    assert judged("identity", Limit("gd", "lr = 1", point=0, **line))[0] == "refuted"
    assert judged("divergence", Divergence("gd", "lr = 1", **line))[0] == "inconclusive"


def test_later_rounds_follow_from_the_recurrence():
    found = follow_field(FedAvg(GradientSteps(3, Fraction(1, 10))), FIXED["problem"](), exact(2))
    value, values, steps = Fraction(2), [Fraction(2)], []
    for _ in range(7):
        steps.append((found.limit()[0] - value) * Fraction(571, 1600))
        values.append(value := value + steps[-1])
    assert found.largest_step(6) == abs(steps[6]) and found.largest_value(7) == max(map(abs, values))


def test_divergence_of_rounds_that_are_not_affine_is_seen_on_runs():
    far = {"problem": coercive_counterexample, "options": "lr=1/5, steps=2"}
    assert judged("divergence", Divergence("fedavg", start=100, **far))[0] == "supported"
    calm = Divergence("gd", "lr=1/10", problem=coercive_counterexample, start=3)
    assert judged("divergence", calm)[0] == "inconclusive"


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e15])
def test_runs_are_judged_in_units_of_their_own(unit):
    """Before, what is small enough was equal to anything, and what starts large had diverged."""
    kind = {"problem": lambda: scalar_quadratics([1.0, 3.0], [unit, -unit]), "start": unit}
    assert judged("identity", Limit("gd", "lr=1/2", point=-unit / 2, **kind))[0] == "supported"
    assert judged("identity", Limit("gd", "lr=1/2", point=-unit * 0.51, **kind))[0] == "inconclusive"
    assert judged("divergence", Divergence("gd", "lr=1/2", **kind))[0] == "inconclusive"
    assert judged("divergence", Divergence("gd", "lr=2", **kind))[0] == "supported"


def test_recurrences_are_shortest_and_exact():
    found = follow_field(FedAvg(GradientSteps(3, Fraction(1, 10))), FIXED["problem"](), exact(2))
    assert found.limit() == (Fraction(492, 2855),) and found.polynomial == (Fraction(-1029, 1600), 1)
    # from the fixed point nothing moves
    still = follow_field(FedAvg(GradientSteps(3, Fraction(1, 10))), FIXED["problem"](), exact("492/2855"))
    assert still.polynomial == (1,) and still.limit() == (Fraction(492, 2855),)


def test_floats_are_not_taken_for_fractions():
    statement = Limit("gd", "lr=1/2", problem=lambda: scalar_quadratics([1.0, 3.0], [1.0, -1.0]), point="-1/2")
    status, parts = judged("identity", statement)
    assert status == "supported" and [part.name for part in parts] == ["runs"]
    assert judged("identity", Limit("gd", "lr=1/2", problem=statement.problem, point="-51/100"))[0] == "inconclusive"


def test_rounds_that_differ_are_not_taken_for_one_map():
    """With steps that shrink the limit depends on all of them; communicating every third round is no fixed point of a round that skips."""
    shrinking = {"problem": lambda: scalar_quadratics(exact(1), exact(0)), "start": 1, "point": 0}
    status, parts = judged("identity", Limit("fedavg", "lr = 1/2, lr_decay = 1/2", **shrinking))
    assert status == "inconclusive" and all(part.proof is None for part in parts)
    rare = Limit("fedpd", "eta = 1/5, exact, communicate_every = 3", **FIXED)
    assert all(part.proof is None for part in judged("identity", rare)[1])
    general = {**BELOW, "region": "0 < a, 0 < b, 0 < lr < 1/(a + b)"}
    shrinks = Limit("fedavg", "lr, steps = 2, lr_decay = 1/2", point=BIASED, **general)
    assert all(part.proof is None for part in judged("identity", shrinks)[1])


def test_the_schur_cohn_test_agrees_with_roots_in_floats():
    rng = np.random.default_rng(0)
    for _ in range(300):
        p = [Fraction(int(v), 7) for v in rng.integers(-9, 10, rng.integers(1, 7))] + [Fraction(1)]
        largest = Recurrence((), (), tuple(p)).largest_modulus()
        inside = lies_within(p, Fraction(1))
        if abs(largest - 1) > 1e-7:
            assert inside in (None, largest < 1)
        squares = Recurrence((), (), Recurrence((), (), tuple(p)).squared).largest_modulus()
        assert squares == pytest.approx(largest**2, rel=1e-4, abs=1e-6)
    assert lies_within([Fraction(-1), Fraction(1)], Fraction(1)) is None
    assert without_roots([Fraction(2), Fraction(-3), Fraction(1)], [Fraction(1)]) == (-2, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"point": "c"}, "'c' .* no parameter"),
        ({"start": "c"}, "'c' .* no parameter"),
        ({"options": "lr = c"}, "'c' .* no parameter"),
        ({"where": ("lr > 5",)}, "no point of the region"),
        ({"problem": pair}, "asks for 'a'"),
    ],
)
def test_texts_are_read_at_once(change, message):
    with pytest.raises(InvalidInput, match=message):
        Limit(**({"method": "gd", "options": "lr", "problem": FIXED["problem"], "region": "0 < lr < 1"} | change))
