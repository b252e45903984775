"""Inequalities of named quantities: true ones are supported with what was counted, false ones refuted by small instances."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import pytest
from evidence import judged

from fedtheory.algorithms import FedAvg
from fedtheory.claims.claim import Part, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.instances import LineQuadratics
from fedtheory.claims.verdict import decide
from fedtheory.core.arrays import mean_of_clients, squared_norm
from fedtheory.core.errors import InvalidInput
from fedtheory.core.problem import gradient, objective
from fedtheory.local.solvers import GradientSteps
from fedtheory.measures.primal_dual import lagrangian
from paper_checks.fedpd.appendix_b_1_c_lemmas_3_and_4 import CLAIMS
from problems.quadratics import Quadratic, random_indefinite


@dataclass(frozen=True)
class Round:
    """Quantities of FedPD's Lemmas 1 and 4, and of a gradient step."""

    problem: Any
    before: Any
    after: Any
    given: Any

    @cached_property
    def value(self):
        return objective(self.problem, self.after.x)

    @cached_property
    def value_before(self):
        return objective(self.problem, self.before.x)

    @cached_property
    def slope2(self):
        return squared_norm(gradient(self.problem, self.before.x))[..., 0]

    @cached_property
    def w2(self):
        return mean_of_clients(squared_norm(self.after.x_i - self.after.x))

    @cached_property
    def lagrangian(self):
        eta = self.given["u"] / self.given["L"]
        penalty = (1 / eta)[..., None, None] if hasattr(eta, "ndim") and eta.ndim else 1 / eta
        return lagrangian(penalty)(self.problem, self.after)


def scaled_indefinite(rng, values, count):
    """Indefinite quadratics, of which some are steeper than L."""
    made = random_indefinite(4, 3, batch=(count,), seed=int(rng.integers(1000)))
    return Quadratic(made.A * (values["L"] * rng.uniform(0.8, 1.02, count))[:, None, None, None], made.b)


EQUATION_24 = Inequality(
    "fedpd",
    "eta = u/L, exact, p = 0",
    quantities=Round,
    claimed="value <= lagrangian - factor*(1 - 2*u)*L/u*w2",
    region="0 < L, 0 < u < 3/10",
    where=("4*u**2 + 2*u < 1",),
    curvatures="-L, L",
    bounded_below=True,
    constants={"factor": "1/2"},
    rounds=5,
    instances=scaled_indefinite,
    certified={"L": "<= L"},
    name="Lemma 4",
)
DESCENT = Inequality(
    "gd",
    "lr",
    quantities=Round,
    claimed="value <= value_before - c*lr*slope2",
    region="0 < L, 0 < lr <= 1/L",
    curvatures="-L, L",
    constants={"c": "1/2"},
)
#: c is right where lr L = 1 only, and 1 - lr L/2 where it is less
SHARPER = Inequality(
    "gd",
    "lr",
    quantities=Round,
    claimed="value_before - value >= (1 - c*lr*L)*lr*slope2",
    region="0 < L, 0 < lr <= 1/L",
    curvatures="-L, L",
    constants={"c": "1/2"},
)


@pytest.mark.parametrize("statement", [EQUATION_24, DESCENT, SHARPER], ids=["L4", "descent", "sharper"])
def test_true_inequalities_are_supported(statement):
    status, parts = judged("proof step", statement)
    assert status == "supported", [(p.name, p.holds, p.text) for p in parts]
    search = next(part for part in parts if part.name == "search")
    assert all(len(part.text) < 400 for part in parts)
    assert search.data["rounds counted"] > 1000 and -0.5 < search.data["largest relative excess"] <= 1e-10


@pytest.mark.parametrize(
    ("statement", "change"),
    [(EQUATION_24, "1"), (DESCENT, "51/100"), (SHARPER, "49/100")],
    ids=["printed", "descent", "sharper"],
)
def test_false_ones_are_refuted_by_small_instances(statement, change):
    name = next(iter(statement.constants))
    wrong = statement.with_constants(**{name: change})
    status, parts = judged("proof step", wrong)
    assert status == "refuted", [(p.name, p.holds, p.text) for p in parts]
    found = next(part.counterexample for part in parts if part.counterexample is not None)
    again = wrong.replay(found.instance)
    assert again.violated and again.exact_measured > again.exact_bound
    assert all(len(number) <= 6 for number in [*found.instance["curvature"], *found.instance["centre"]])
    assert not statement.replay(found.instance).violated


@pytest.mark.parametrize("statement", [EQUATION_24, DESCENT, SHARPER], ids=["L4", "descent", "sharper"])
def test_tight_constants_would_be_rejected_soon(statement):
    told = [f.text for f in statement.findings(Context()) if isinstance(f, Reading) and "would reject" in f.text]
    assert len(told) == 1
    factor = float(told[0].split("from x ")[1].split(",")[0])
    assert max(factor, 1 / factor) < 1.06 and "loose" not in told[0]


def test_loose_constants_are_flagged():
    loose = DESCENT.with_constants(c="1/8")
    told = [f.text for f in loose.findings(Context()) if isinstance(f, Reading)]
    assert "(loose)" in told[0] and "from x 4" in told[0]


def test_the_verdict_is_that_of_the_ledgers_own_check():
    claim = next(claim for claim in CLAIMS if claim.id == "FEDPD-L4")
    parts = [finding for finding in claim.run(Context()) if isinstance(finding, Part)]
    assert decide(claim.kind, parts) == "repaired"  # false as printed, and true with half the constant, as above


def test_the_guard_leaves_out_what_the_statement_does_not_speak_of():
    # false for larger steps, which the region does not have
    wide = {"region": "0 < L, 0 < lr <= 3/L"}
    claimed = {"quantities": Round, "claimed": "value <= value_before", "curvatures": "-L, L"}
    assert judged("proof step", Inequality("gd", "lr", **claimed, **wide))[0] == "refuted"
    assert judged("proof step", Inequality("gd", "lr", **claimed, **wide, where=("lr*L <= 2",)))[0] == "supported"


def test_instances_that_are_not_certified_are_not_counted():
    statement = Inequality(
        "gd",
        "lr",
        quantities=Round,
        claimed="value <= value_before",
        region="1/20 < L < 1/10, 0 < lr <= 2/L",
        curvatures="-L, L",
        instances=lambda rng, values, count: random_indefinite(2, 2, L=3.0, batch=(count,), seed=0),
        certified={"L": "<= L"},
    )
    parts = judged("proof step", statement)[1]
    assert next(part for part in parts if part.name == "given instances").holds is None


def test_a_violation_that_fractions_do_not_show_is_no_refutation():
    @dataclass(frozen=True)
    class Sloppy(Round):
        """Wrong in floats only."""

        @cached_property
        def value(self):
            exact = super().value
            return exact + 1e-3 * self.slope2 if exact.dtype == float else exact

    statement = Inequality(
        "gd",
        "lr = 1/L",
        quantities=Sloppy,
        claimed="value <= value_before - slope2/(2*L)",
        region="0 < L",
        curvatures="-L, L",
    )
    status, parts = judged("proof step", statement)
    assert status == "inconclusive"
    assert "no instance in fractions" in parts[-1].text


def test_whole_numbers_reach_a_method_as_such_in_every_arithmetic():
    wrong = Inequality(
        lambda lr, K: FedAvg(GradientSteps(K, lr)),
        quantities=Round,
        claimed="value >= value_before",
        region="K in 1..2, 1 <= L <= 2, 1/(4*L) <= lr <= 1/(2*L)",
        curvatures="0, L",
    )
    assert judged("proof step", wrong)[0] == "refuted"


def test_an_instance_is_plain_data_of_one_level():
    part = next(p for p in judged("proof step", DESCENT.with_constants(c="3/4"))[1] if p.counterexample is not None)
    instance = part.counterexample.instance
    for entry in instance.values():
        assert all(isinstance(v, str | int) for v in (entry if isinstance(entry, list) else [entry]))
    assert LineQuadratics.read(instance).as_data().items() <= instance.items()


def test_replays_refuse_what_is_not_admissible():
    wrong = DESCENT.with_constants(c=Fraction(3, 4))
    case = {
        "curvature": ["1", "1"],
        "centre": ["0", "0"],
        "start": "1",
        "parameters": {"L": "1", "lr": "1"},
        "round": 1,
    }
    assert wrong.replay(case).violated
    assert not wrong.replay(case | {"curvature": ["1", "2"]}).admissible
    assert not wrong.replay(case | {"parameters": {"L": "1", "lr": "3/2"}}).admissible
    with pytest.raises(InvalidInput, match="round"):
        wrong.replay(case | {"round": 9})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claimed": "value < value_before"}, "left <= right"),
        ({"claimed": "value <= nothing"}, "'nothing' .* neither a quantity"),
        ({"curvatures": "L"}, "low, high"),
        ({"curvatures": "mu, L"}, "'mu' .* no parameter"),
        ({"rounds": 0}, "first_round < rounds"),
        ({"where": ("lr*L > 5",)}, "no point of the region"),
    ],
)
def test_texts_are_read_at_once(change, message):
    given = {
        "quantities": Round,
        "claimed": "value <= value_before",
        "region": "0 < L, 0 < lr <= 1/L",
        "curvatures": "-L, L",
    }
    with pytest.raises(InvalidInput, match=message):
        Inequality("gd", "lr", **(given | change))


@pytest.mark.parametrize("rows", [lambda f, x: gradient(f, x), lambda f, x: f.grad(x)], ids=["one row", "of clients"])
def test_a_quantity_is_one_number(rows):
    """An axis of clients beside the axis of instances would be compared across instances."""

    def quantities(problem, before, after, given):
        return SimpleNamespace(slope2=squared_norm(rows(problem, before.x)), value=objective(problem, after.x))

    with pytest.raises(InvalidInput, match=r"'slope2' has the shape \(\d,\) on one instance"):
        Inequality(
            "gd", "lr", quantities=quantities, claimed="value <= c*slope2", region="0 < lr < 1", constants={"c": 1}
        )
