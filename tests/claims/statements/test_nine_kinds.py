"""All nine kinds of statement as claims: the page that documents them, their planted faults, replays, and corrected statements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import planted
import pytest
from claims_in_place import put_claims
from guides import read_blocks

from fedtheory.claims import Equivalence, Limit, Rate, state
from fedtheory.claims.checking import check_one
from fedtheory.claims.claim import Claim
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference, load_claims
from fedtheory.claims.replay import replay_file
from fedtheory.claims.report import write_counterexamples
from fedtheory.core.errors import InvalidInput

BLOCKS = read_blocks("docs/statements.md", "python")
WORDS = {
    "BOUND": "proved",
    "CONTRACTION": "proved",
    "LEMMA": "proved",
    "EQUIVALENCE": "proved",
    "REPAIRED": "repaired",
    "INEQUALITY": "supported",
    "LIMIT": "proved",
    "DIVERGENCE": "proved",
    "RATE": "proved",
    "ORDERING": "reproduced",
}


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    """The blocks of the page, as one file."""
    file = tmp_path_factory.mktemp("page") / "page.py"
    file.write_text("\n".join(block.text for block in BLOCKS))
    return str(file)


@pytest.fixture
def judge(monkeypatch):
    """The verdict on a claim, and what its planted faults came to."""

    def judged(claim: Claim):
        put_claims(monkeypatch, claim)
        monkeypatch.setattr(planted, "load_claims", lambda source: {claim.id: claim})
        return planted.judge_anew("toy", claim.id), planted.plant("toy", claim.id)

    return judged


def test_the_page_has_them_all(page) -> None:
    assert list(load_claims(page)) == list(WORDS)


@pytest.mark.parametrize("id", WORDS)
def test_every_kind_is_judged_and_its_faults_are_caught(page, id) -> None:
    found = planted.judge(page, id)
    assert found.error is None and found.status == WORDS[id]
    assert found.repair == ("proved" if id == "REPAIRED" else None)
    assert planted.list_missed(page, id) == []


def claims_of(page, id) -> dict:
    """The statement of a claim of the page."""
    return load_claims(page)[id].check.keywords["statement"]


@pytest.mark.parametrize(
    ("id", "change"),
    [
        ("EQUIVALENCE", {"second_options": "lr = 101/100*lr, steps = K"}),
        ("EQUIVALENCE", {"kept": {"c": "mean_c_i", "c_i": "c"}}),
        ("INEQUALITY", {"constants": {"c": "51/100"}}),
        ("LIMIT", {"point": "0"}),
        ("LIMIT", {"point": "minimiser"}),
        ("DIVERGENCE", {"region": "0 < a, 0 < b, 39/10/(a + b) < lr", "multiplier": None}),
        ("DIVERGENCE", {"multiplier": "1 - lr*(a + b)"}),
        ("RATE", {"factor": "(1 - lr*(a + b)/2)**2*99/100"}),
        ("RATE", {"options": "lr = 99/100*lr"}),
    ],
)
def test_what_is_false_is_refuted_and_its_correction_is_not(page, judge, id, change) -> None:
    right = claims_of(page, id)
    claim = state(
        "X", "p", "s", "false", replace(right, **change), repaired=right, repaired_text="the corrected statement"
    )
    found, reports = judge(claim)
    assert found.status == "repaired" and found.repaired == "the corrected statement", found.evidence
    assert all(r.caught for r in reports), [(r.fault, r.detail) for r in reports if not r.caught]
    assert reports[-1].fault == "the corrected statement in the printed one's place"


def test_a_correction_that_is_false_repairs_nothing(page, judge) -> None:
    right = claims_of(page, "EQUIVALENCE")
    wrong = (replace(right, options=f"lr = {lr}*lr, steps = K, server_lr = 1") for lr in ("101/100", "102/100"))
    found, reports = judge(state("X", "p", "s", "t", next(wrong), repaired=next(wrong), repaired_text="false, too"))
    assert found.status == "refuted" and not found.repaired
    assert not next(r for r in reports if "in the printed one's place" in r.fault).caught


def test_a_correction_of_what_is_true_is_a_contradiction(page, judge) -> None:
    right = claims_of(page, "LIMIT")
    assert judge(state("X", "p", "s", "t", right, repaired=right, repaired_text="the same"))[0].status == "inconclusive"


def test_the_authors_mistakes_are_planted_too(page, judge) -> None:
    right = claims_of(page, "RATE")
    wrong = {
        "twice the step": replace(right, options="lr = lr/2"),
        "no mistake at all": replace(right, name="the same"),
    }
    _, reports = judge(state("X", "p", "s", "t", right, wrong=wrong))
    assert [r.caught for r in reports] == [True, True, False]


@pytest.mark.parametrize(
    ("id", "change"),
    [
        ("EQUIVALENCE", {"options": "lr = 99/100*lr, steps = K, server_lr = 1"}),
        ("INEQUALITY", {"constants": {"c": "51/100"}}),
        ("LIMIT", {"point": "0"}),
        ("DIVERGENCE", {"multiplier": "1 - lr*(a + b)"}),
        ("DIVERGENCE", {"region": "0 < a, 0 < b, 39/10/(a + b) < lr < 4/(a + b)"}),
        ("RATE", {"options": "lr = 99/100*lr"}),
    ],
)
def test_refuted_instances_are_files_that_replay(page, monkeypatch, tmp_path, id, change) -> None:
    claim = state("X", "p", "s", "t", replace(claims_of(page, id), **change))
    put_claims(monkeypatch, claim)
    file = tmp_path / "claims.py"
    file.touch()
    found = check_one(Reference(str(file), "X"), Context())
    assert found.status == "refuted"
    (written,) = write_counterexamples([found], tmp_path)
    assert replay_file(written, file).confirmed


def test_what_nothing_could_be_asked_of_is_refused(page) -> None:
    for id, change in (
        ("INEQUALITY", {"claimed": "value <= value_before", "constants": {}}),
        ("DIVERGENCE", {"multiplier": None}),
    ):
        statement = replace(claims_of(page, id), **change)
        with pytest.raises(InvalidInput, match=r"wrong=\{'what is wrong': statement\}"):
            state("X", "p", "s", "t", statement)
        assert state("X", "p", "s", "t", statement, wrong={"any": statement}).faults
    with pytest.raises(InvalidInput, match="is given twice"):
        state("X", "p", "s", "t", claims_of(page, "LIMIT"), repaired_text="words alone")


def test_near_misses_are_near(page) -> None:
    limit, rate, same = (claims_of(page, id) for id in ("LIMIT", "RATE", "EQUIVALENCE"))
    assert isinstance(limit, Limit) and isinstance(rate, Rate) and isinstance(same, Equivalence)
    point = {"a": Fraction(1), "b": Fraction(2), "lr": Fraction(1, 4)}
    (moved,) = limit.near_misses().values()
    problem = limit.problem_at(point)
    before, after = (s.claimed_at(point, problem, 1)[0] for s in (limit, moved))
    assert after == before + (2 - before) / 100
    assert (
        replace(limit, point=2).near_misses()["a limit that is one per cent nearer to the start"].point == "(2) + 1/100"
    )
    (better,) = rate.near_misses().values()
    factor, improved = (
        s.claimed_at({"a": Fraction(1), "b": Fraction(1), "lr": Fraction(1, 2)}) for s in (rate, better)
    )
    assert factor == Fraction(1, 4) and improved == factor * (19 + factor) / 20
    assert len(replace(rate, tight=True).near_misses()) == 2
    assert [m.options for m in same.near_misses().values()] == [
        "lr = 99/100*lr, steps = K, server_lr = 1",
        "lr = lr, steps = K + 1, server_lr = 1",
        "lr = lr, steps = K, server_lr = 99/100*1",
    ]
