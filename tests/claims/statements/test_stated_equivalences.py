"""Equivalences as data: true ones proved in every round, false ones refuted by small instances, and what is asked of their texts."""

import dataclasses
from dataclasses import dataclass
from fractions import Fraction

import pytest
from evidence import judged

from fedtheory.algorithms import FedPD
from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.claims.verdict import decide
from fedtheory.core.arrays import spread
from fedtheory.core.errors import InvalidInput
from paper_checks.fedpd.played import HalfDualStep
from paper_checks.fedpd.section_3_fedpd import CLAIMS, Admm
from problems.finite_sum import random_finite_sum
from problems.quadratics import random_quadratics

VRL = {"region": "0 < lr, K in 1..3", "kept": {"c": "mean_c_i"}}


def fedpd_is_admm(first="fedpd", options="eta, exact, p = 0", admm=Admm, **more):
    """FEDPD-EQ1."""
    return Equivalence(
        first,
        admm,
        options,
        region="0 < eta",
        states={"x": "x", "y_i": "lam_i"},
        kept={"x0_i": "x"},
        **more,
    )


TRUE = {
    "EQ1": fedpd_is_admm(instances=lambda seed: random_quadratics(5, 4, seed=seed)),
    "VRL-SGD": Equivalence(
        "scaffold", "vrl-sgd", "lr, steps=K", "lr, steps=K", states={"x": "x", "delta_i": "c_i - c"}, **VRL
    ),
    "Scaffnew that always communicates": Equivalence(
        "scaffnew", "gd", "lr, p=1", "lr", region="0 < lr", kept={"x_i": "x", "h_i": "h_i - mean_h_i"}
    ),
    "one step": Equivalence("fedavg", "gd", "lr", "lr", region="0 < lr"),
    "from the second round": Equivalence(
        "fedpd",
        lambda eta: Admm(eta),
        "eta, exact",
        region="0 < eta",
        from_round=2,
        states={"x": "mean_x_i + eta*mean_lam_i", "y_i": "lam_i"},
        kept={"x": "mean_x_i + eta*mean_lam_i", "x0_i": "x"},
    ),
}
FALSE = {
    "half a dual step": fedpd_is_admm(lambda eta: HalfDualStep(eta), ""),
    "one percent": fedpd_is_admm(options="eta = 101/100*eta, exact, p = 0"),
    "ADMM of another penalty": fedpd_is_admm(admm=lambda eta: Admm(49 * eta / 50)),
    "sign": Equivalence(
        "scaffold", "vrl-sgd", "lr, steps=K, server_lr=1", "lr, steps=K", states={"x": "x", "delta_i": "c - c_i"}, **VRL
    ),
    "no duals at the start": fedpd_is_admm(options="eta, exact, p = 0, init_dual = zero"),
    "two steps": Equivalence("fedavg", "gd", "lr, steps=2", "lr", region="0 < lr < 1"),
    "alike until the third round": Equivalence("gd", "agd", "lr", "lr", region="0 < lr"),
    "a relation that is not kept": Equivalence(
        "fedpd", "fedpd", "eta, exact, p = 0", "eta, exact, p = 0", region="0 < eta", kept={"x_i": "x"}
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_equivalences_are_proved(name):
    status, parts = judged("equivalence", TRUE[name])
    assert status == "proved", parts
    proof = next(part.proof for part in parts if part.proof is not None)
    assert len(proof.facts) >= 2 and not proof.scope


@pytest.mark.parametrize("name", FALSE)
def test_false_equivalences_are_refuted_by_an_instance_that_replays(name):
    statement = FALSE[name]
    status, parts = judged("equivalence", statement)
    assert status == "refuted", parts
    found = parts[0].counterexample
    again = statement.replay(found.instance)
    assert again.violated and again.exact_measured == found.replay.exact_measured > 0
    assert max(len(number) for number in [*found.instance["curvature"], found.instance["start"]]) <= 3


def test_without_the_second_methods_whole_state_only_the_rounds_played_are_proved():
    status, parts = judged(
        "equivalence", Equivalence("scaffold", "vrl-sgd", "lr, steps=2", "lr, steps=2", region="0 < lr")
    )
    assert status == "supported"
    assert next(part.proof.scope for part in parts if part.proof is not None) == "rounds 0 to 2"


def test_what_the_states_keep_must_be_said_to_prove_every_round():
    status, parts = judged("equivalence", Equivalence("scaffnew", "gd", "lr, p=1", "lr", region="0 < lr"))
    assert status == "supported"
    assert next(part.proof.scope for part in parts if part.proof is not None) == "rounds 0 to 2"
    # h_i = h_i/2 says h_i = 0, which is not kept, and is no projection
    halved = Equivalence("scaffnew", "gd", "lr, p=1", "lr", region="0 < lr", kept={"h_i": "h_i/2"})
    assert judged("equivalence", halved)[0] == "refuted"


def test_methods_that_cannot_be_followed_are_compared_on_general_quadratics():
    @dataclass(frozen=True)
    class Odd(Admm):
        """It looks at its numbers, as no vector lets it."""

        def round(self, problem, state, clients, key):
            new = Admm.round(self, problem, state, clients, key)
            return dataclasses.replace(new, x=new.x**1)

    status, parts = judged("equivalence", fedpd_is_admm(admm=lambda eta: Odd(eta)))
    assert status == "supported"
    proof = next(part.proof for part in parts if part.proof is not None)
    assert proof.scope == "n = 2, 3, quadratics on the line, rounds 0 to 2" and proof.facts


def test_methods_that_draw_samples_are_compared_on_the_callers_instances():
    """SCAFFOLD and VRL-SGD see the same samples; where they run on floats alone, and on no quadratics without samples, runs support and no more."""
    stated = {"region": "1/20 < lr < 1/10", "instances": lambda seed: random_finite_sum(3, 8, 2, seed=seed)}
    sampled = "lr, steps = 3, batch = 2"
    same = Equivalence("scaffold", "vrl-sgd", sampled, sampled, **stated)
    status, parts = judged("equivalence", same)
    assert status == "supported" and [part.name for part in parts] == ["runs"]
    other = Equivalence("scaffold", "vrl-sgd", sampled, "lr = 51/50*lr, steps = 3, batch = 2", **stated)
    assert judged("equivalence", other)[0] == "inconclusive"
    nothing = Equivalence("scaffold", "vrl-sgd", sampled, sampled, region="1/20 < lr < 1/10")
    status, parts = judged("equivalence", nothing)
    assert status == "inconclusive" and "no run in floats" in parts[-1].text


def test_coins_are_the_same_for_both_methods_and_all_their_outcomes_are_played():
    @dataclass(frozen=True)
    class KeepsCopies(FedPD):
        """In a round that skips communication, clients keep their copies of the server's model."""

        def round(self, problem, state, clients, key):
            new = FedPD.round(self, problem, state, clients, key)
            heads = key.coin("communicate", 1 - self.p)
            return dataclasses.replace(new, x0_i=spread(new.x, problem.n) if heads else state.x0_i)

    states = {"x": "x", "x_i": "x_i", "x0_i": "x0_i", "lam_i": "lam_i"}
    both = {"region": "0 < eta, 0 < p < 1", "states": states}
    same = Equivalence("fedpd", lambda eta, p: FedPD(eta, p=p), "eta, p, exact", **both)
    other = Equivalence("fedpd", lambda eta, p: KeepsCopies(eta, p=p), "eta, p, exact", **both)
    assert judged("equivalence", same)[0] == "proved"
    assert judged("equivalence", other)[0] == "refuted"


def test_an_equivalence_in_a_part_of_the_region_is_not_accused_outside_of_it():
    # at lr = 1 a step on (x - c)^2/2 ends at c, and so do two
    steps = {"region": "0 < lr, 0 < L", "curvatures": "L, L"}
    inside = Equivalence("fedavg", "gd", "lr, steps=2", "lr", where=("lr*L == 1",), **steps)
    outside = Equivalence("fedavg", "gd", "lr, steps=2", "lr", **steps)
    assert judged("equivalence", inside)[0] != "refuted"
    assert judged("equivalence", outside)[0] == "refuted"


def test_a_replay_outside_the_region_is_not_admissible():
    statement = FALSE["two steps"]
    case = {"curvature": ["1", "1"], "centre": ["0", "1"], "start": "1", "parameters": {"lr": "3"}}
    seen = statement.replay(case)
    assert not seen.admissible and not seen.violated and seen.exact_measured > 0
    assert statement.replay(case | {"parameters": {"lr": "1/3"}}).violated
    with pytest.raises(InvalidInput, match="'centre'"):
        statement.replay({"curvature": ["1"]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": {"z": "x"}}, "'z' .* field of the second method's state"),
        ({"states": {"x": "lam_i"}}, "'lam_i' .* field of the first method's state"),
        ({"states": {}}, "fields that correspond"),
        ({"kept": {"c": "x"}}, "field of the first method's state"),
        ({"region": "0 < eta"}, "'lr' .* no parameter"),
        ({"curvatures": "1"}, "low, high"),
        ({"options": "lr, tau = 3"}, "no option 'tau'"),
    ],
)
def test_texts_are_read_at_once(change, message):
    with pytest.raises(InvalidInput, match=message):
        Equivalence(
            **(
                {"first": "fedavg", "second": "gd", "options": "lr", "second_options": "lr", "region": "0 < lr"}
                | change
            )
        )


def test_numbers_are_exact():
    statement = Equivalence("fedavg", "gd", "lr = 0.1", "lr = 1/10")
    assert statement.methods[0].at({}).local.lr == Fraction(1, 10)
    assert judged("equivalence", statement)[0] == "proved"


def test_the_verdict_is_that_of_the_ledgers_own_check():
    claim = next(claim for claim in CLAIMS if claim.id == "FEDPD-EQ1")
    parts = [finding for finding in claim.run(Context()) if isinstance(finding, Part)]
    assert decide(claim.kind, parts) == judged("equivalence", TRUE["EQ1"])[0] == "proved"
