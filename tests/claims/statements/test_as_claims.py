"""Statements as claims: verdicts by the engines, replays, planted faults, and the template of a new paper."""

from __future__ import annotations

import json

import pytest
from claims_in_place import put_claims

from fedtheory.claims import Bound, Contraction, Lemma, dot, norm2, state
from fedtheory.claims.checking import check_one, judge_claim
from fedtheory.claims.context import Context
from fedtheory.claims.faults import run_faults
from fedtheory.claims.references import Reference
from fedtheory.claims.replay import replay_file
from fedtheory.claims.report import write_counterexamples
from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.facts import collect_facts

SHORT = {"region": "0 < L, 0 < R, N in 1..2", "functions": "L", "measure": "gap", "rounds": "N", "radius": "R"}
COIN = {"region": "0 < mu < L, 0 < lr < 2/L, 0 < p <= 1", "functions": "L, mu"}
WEIGHTS = {"x_i": 1, "h_i": "(lr/p)**2"}


def descent(world, p, c):
    f = world.function(p.L, -p.L)
    y = world.vector("y")
    x = y * 0
    gx, fx = world.at(f, x, "gx")
    _, fy = world.at(f, y, "gy")
    return fy - fx - dot(gx, y - x) - norm2(y - x) * (c.c * p.L / 2)


def verdict_of(statement, **more):
    return judge_claim(state("S", "toy", "Theorem 1", "A statement.", statement, **more), "toy", Context())


TRUE = {
    "tight bound": Bound("gd", "lr = 1/L", claimed="L*R**2/(4*N + 2)", **SHORT),
    "a percent of slack": Bound("gd", "lr = 1/L", claimed="101/100*L*R**2/(4*N + 2)", **SHORT),
    "maximum": Bound(
        "gd", "lr", region="0 < mu < L, 0 < lr < 2/L", functions="L, mu", claimed="max((1-lr*mu)**2, (1-lr*L)**2)"
    ),
    "potential": Contraction(
        "scaffnew", "lr, p", claimed="max((1-lr*mu)**2, (1-lr*L)**2, 1-p**2)", potential=WEIGHTS, **COIN
    ),
    "one round of FedPD": Bound(
        "fedpd",
        "eta",
        region="0 < L, 0 < eta <= 3/(10*L)",
        functions="L, mu = -L",
        measure="stationarity",
        claimed="2*L*(1+eta*L)**2/(1+4*eta*L+2*eta**2*L**2)",
    ),
    "lemma": Lemma("descent", "textbook", "0 < L", descent, {"c": 1}),
}
FALSE = {
    "one per cent too good": Bound("gd", "lr = 1/L", claimed="99/100*L*R**2/(4*N + 2)", **SHORT),
    "another denominator": Bound("gd", "lr = 1/L", claimed="L*R**2/(4*N + 4)", **SHORT),
    "wrong range of steps": Bound(
        "gd", "lr", region="0 < mu < L, 0 < lr < 2/L", functions="L, mu", claimed="(1-lr*mu)**2"
    ),
    "forgets heterogeneity": Bound(
        "fedavg",
        "lr, steps = 2",
        region="0 < mu < L, 0 < lr < 1/L, 0 < zeta < 2",
        functions="L, mu, zeta",
        claimed="(1-lr*mu)**4",
    ),
    "1 - p for 1 - p^2": Contraction(
        "scaffnew", "lr, p", claimed="max((1-lr*mu)**2, (1-lr*L)**2, 1-p)", potential=WEIGHTS, **COIN
    ),
    "lemma": Lemma("descent", "textbook", "0 < L", descent, {"c": "0.99"}),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_statements_are_proved_for_all_parameters(name) -> None:
    found = verdict_of(TRUE[name])
    assert found.status == "proved" and found.error is None and not found.vouched
    assert any(fact["how"] == "derivation" for fact in found.evidence[0]["proof"]["facts"])
    assert "every n" in found.evidence[0]["text"] or "every dimension" in found.evidence[0]["text"]


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_are_refuted_by_a_replayable_instance(name, tmp_path, monkeypatch) -> None:
    claim = state("S", "toy", "Theorem 1", "A statement.", FALSE[name])
    put_claims(monkeypatch, claim)
    file = tmp_path / "claims.py"
    file.touch()
    found = check_one(Reference(str(file), "S"), Context())
    assert found.status == "refuted" and found.error is None
    (written,) = write_counterexamples([found], tmp_path)
    assert replay_file(written, file).confirmed
    changed = json.loads(written.read_text())
    changed["instance"]["data"] = changed["instance"]["data"].replace("1/", "2/", 1)
    written.write_text(json.dumps(changed))
    try:
        confirmed = replay_file(written, file).confirmed
    except InvalidInput:
        confirmed = False
    assert not confirmed, "a changed instance is another one, or none"


def test_sharpness_is_asked_of_what_holds() -> None:
    for statement, expected in ((TRUE["tight bound"], 1), (TRUE["lemma"], 1), (FALSE["another denominator"], 0)):
        claim = state("S", "toy", "Theorem 1", "A statement.", statement)
        with pytest.MonkeyPatch.context() as patch:
            put_claims(patch, claim)
            reports = run_faults(Reference("toy", "S"), Context())
        assert len(reports) == expected and all(r.caught for r in reports)


def test_a_loose_bound_misses_its_fault() -> None:
    """Twice the worst case and more: half of what is claimed passes, too, and selftest says so."""
    claim = state(
        "S", "toy", "Theorem 1", "A statement.", Bound("gd", "lr = 1/L", claimed="3*L*R**2/(4*N + 2)", **SHORT)
    )
    with pytest.MonkeyPatch.context() as patch:
        put_claims(patch, claim)
        (report,) = run_faults(Reference("toy", "S"), Context())
    assert not report.caught


def test_a_lemma_names_a_constant() -> None:
    with pytest.raises(InvalidInput, match="give one constant of the lemma a name"):
        state("S", "toy", "s", "t", Lemma("square", "textbook", "", lambda world, p, c: -norm2(world.vector("x"))))


def test_class_and_region_are_assumptions() -> None:
    claim = state("S", "toy", "s", "t", TRUE["potential"], assumptions=("exact solves",))
    assert (
        claim.assumptions[0] == "functions: L, mu"
        and "0 < mu" in claim.assumptions[1]
        and claim.assumptions[-1] == "exact solves"
    )
    assert (claim.kind, state("S", "toy", "s", "t", TRUE["lemma"]).kind) == ("rate", "proof step")


def test_a_lemma_with_contradictory_hypotheses_is_true_of_nothing() -> None:
    """Before, it was proved, and nothing told that anything follows from 1 <= 0."""

    def absurd(world, p, c):
        y = world.vector("y")
        world.assume("small", norm2(y) - p.L)
        world.assume("large", 2 * p.L - norm2(y))
        return norm2(y) - c.c * p.L / 100

    found = verdict_of(Lemma("absurd", "nowhere", "0 < L", absurd, {"c": 1}))
    assert found.status == "empty" and "true of nothing" in found.evidence[0]["text"]


def test_a_step_of_a_proof_is_a_fact_only_where_it_is_derived() -> None:
    def nothing(world, p, c):
        y = world.vector("y")
        world.assume("less than nothing", norm2(y) + p.L)
        return norm2(y) - c.c * p.L

    facts = []
    with collect_facts(facts):
        assert is_derived(TRUE["lemma"]) and len(facts) == 1 and "derivation" in facts[0].how
        assert not is_derived(FALSE["lemma"]) and not is_derived(Lemma("", "", "0 < L", nothing, {"c": 1}))
    assert len(facts) == 1
