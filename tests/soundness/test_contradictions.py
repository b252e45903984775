"""No verdict contradicts another: every stored instance is run against what claims say of its method, random ones as well, in several units."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fedtheory.algorithms import FedSLR, GradientDescent
from fedtheory.claims import Bound
from fedtheory.claims.contradictions import Saying, StoredRun, find_contradictions, list_recorded_runs, list_stored_runs
from fedtheory.claims.said_by_data import say_bound
from fedtheory.core.errors import InvalidInput
from fedtheory.core.regularisers import L1, regularised
from paper_checks import afedpd, dualfl, fedpd, fedslr, literature, safari
from paper_checks.afedpd.notation import FAMILY
from paper_checks.collected import read_instances
from paper_checks.fedpd.z_ours_methods import D12
from paper_checks.fedslr.assumptions import CONTINUOUS, EXACT, KL_HOLDS, PRINTED_STEP, SHORT_STEP
from paper_checks.said import (
    MEANINGS,
    SAYINGS,
    UNITS,
    column,
    copies_in_a_cycle,
    list_replayed,
    list_sayers,
    list_sayings,
    quadratics,
    random_runs,
    stored_runs,
)
from problems.piecewise import plateau

CLAIMS = {claim.id: claim for paper in (afedpd, dualfl, fedpd, fedslr, literature, safari) for claim in paper.CLAIMS}
STORED = json.loads((Path(__file__).resolve().parents[2] / "paper_checks" / "expected.json").read_text())["verdicts"]
WORDS = {verdict["id"]: verdict["status"] for verdict in STORED}
TRUE = {"proved", "argued", "supported", "agrees in an analogue"}


@cache
def sayings():
    """What claims that are called true say; of a repaired one that is the statement that stands, with assumptions of its own."""
    said, silent = list_sayings(CLAIMS)
    kept = {
        id: [
            saying
            for saying in told
            if WORDS[id] in TRUE or (WORDS[id] == "repaired" and saying.assumptions is not None)
        ]
        for id, told in said.items()
    }
    return {id: told for id, told in kept.items() if told}, silent


@cache
def replayed():
    return list_replayed(CLAIMS)


def all_stored():
    return [*stored_runs(), *replayed()[0]]


def sayers():
    return [claim for claim in list_sayers(CLAIMS) if claim.id in sayings()[0]]


def pairs(looked):
    return {(found.claim, found.shown_by) for found in looked.contradictions}


def test_no_stored_instance_contradicts_a_claim() -> None:
    looked = find_contradictions(sayers(), sayings()[0], all_stored(), MEANINGS)
    print(looked)
    assert not looked.contradictions, "\n".join(map(str, looked.contradictions))
    assert len(set(looked.tried)) >= 30 and not looked.untold, str(looked)


def test_what_stays_idle_has_a_reason() -> None:
    """A claim that is called true speaks of runs or does not; a stored counterexample plays runs or does not; neither is passed over."""
    said, silent = sayings()
    why = Counter(reason for name, reason in silent.items() if WORDS[name.split(":")[0]] in TRUE)
    print(why)
    spoken = {*said, *(name.split(":")[0] for name in silent)}
    assert {id for id, word in WORDS.items() if word in TRUE} <= spoken and all(silent.values())
    stored, (runs, idle) = read_instances(), replayed()
    names = {f"{row['claim']}: {row['part']}" for row in stored}
    print(len(runs), "runs of", len(names - {*idle}), "counterexamples;", Counter(idle.values()))
    assert {name.split(":")[0] for name in names - {*idle}} == {run.claim for run in runs}
    assert [name for name, reason in idle.items() if "cannot read" in reason] == [
        "AFEDPD-T2: rho > L and eta rho <= 1"
    ]  # it has a replay of its own
    looked = find_contradictions(sayers(), said, all_stored(), MEANINGS)
    mute = {claim.id for claim in sayers()} - {claim for claim, _ in (*looked.tried, *looked.idle)}
    assert not mute, f"no stored instance is of the method of {mute}"


def test_every_counterexample_of_a_claim_with_a_replay_is_stored() -> None:
    shown = {row["claim"] for row in read_instances()}
    assert {
        id for id, claim in CLAIMS.items() if claim.replay is not None and WORDS[id] in ("refuted", "repaired")
    } <= shown


def test_an_instance_that_violates_nothing_is_no_counterexample() -> None:
    with pytest.raises(InvalidInput, match="violates nothing"):
        list(list_recorded_runs(CLAIMS["FEDSLR-T2d"], {"eta": "49/100", "start": "1/10", "lam": "1"}))


def test_the_rounds_of_a_replay_are_noted_and_methods_are_left_as_they_were() -> None:
    own = FedSLR.round
    (run,) = list_recorded_runs(CLAIMS["FEDSLR-T2d"], {"eta": "1/2", "start": "1/10", "lam": "1"})
    assert run.method.eta == Fraction(1, 2) and FedSLR.round is own
    assert [str(state.x.item()) for state in run.play(3)][1::2] == [str(run.play(3)[1].x.item())] * 2


@pytest.mark.parametrize("units", UNITS, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_no_random_instance_contradicts_a_claim_in_any_units(seed, units) -> None:
    looked = find_contradictions(sayers(), sayings()[0], list(random_runs(seed, *units)), MEANINGS)
    assert not looked.contradictions, "\n".join(map(str, looked.contradictions))
    assert len(looked.tried) >= 3


# ---- what was wrong is found ---------------------------------------------------------------------------------------------


def as_it_stood(id, *assumptions):
    return replace(CLAIMS[id], assumptions=assumptions)


#: claims as they once stood: the last part of FedSLR's Theorem 2 up to the closed end of its steps, the moment maps and the models of A-FedPD
#: for unequal clients, FedPD's sum of gradients whatever its duals start at
STOOD = {
    ("FEDSLR-T2d", "FEDSLR-D6", "FEDSLR-T1a", "FEDSLR-T2d"): ("A1 to A4", EXACT, KL_HOLDS, PRINTED_STEP, CONTINUOUS),
    ("AFEDPD-D7", "AFEDPD-D12"): (FAMILY,),
    ("AFEDPD-D9", "AFEDPD-D8", "AFEDPD-T1"): (FAMILY,),
    ("FEDPD-D1", "FEDPD-T1"): (
        "A1: every f_i and f are L-smooth",
        "A2: f is bounded below",
        "u < 1/2",
        "p = 0",
        "exact local solves",
    ),
}


@pytest.mark.parametrize(("given", "assumptions"), STOOD.items(), ids=lambda value: value[0])
def test_a_claim_that_says_too_much_is_contradicted(given, assumptions) -> None:
    id, *shown_by = given
    everything = {id: replace(SAYINGS[id], speaks_of=lambda run: True, assumptions=None)}
    looked = find_contradictions([as_it_stood(id, *assumptions)], everything, all_stored(), MEANINGS)
    assert pairs(looked) == {(id, other) for other in shown_by}, str(looked)
    assert all(
        str(found).startswith(f"{id} says that") and found.shown_by in str(found) for found in looked.contradictions
    )


@pytest.mark.parametrize(
    ("id", "assumptions"),
    [
        ("FEDSLR-T2d", ("A1 to A4", EXACT, KL_HOLDS, SHORT_STEP, CONTINUOUS)),
        ("AFEDPD-D7", (FAMILY, "equal clients")),
        ("AFEDPD-D9", (FAMILY, "equal clients")),
    ],
)
def test_with_the_missing_assumption_it_is_not(id, assumptions) -> None:
    runs = [*all_stored(), *random_runs(0, Fraction(1), Fraction(1))]
    assert not find_contradictions([as_it_stood(id, *assumptions)], SAYINGS, runs, MEANINGS).contradictions


@pytest.mark.parametrize("id", ["FEDPD-D1", "DUALFL-T3.2-EXACT"])
def test_a_bound_a_hundred_times_too_good_is_contradicted(id) -> None:
    """DUALFL-T3.2-EXACT with (1/25)/(n+1)^2 was called proved, too."""
    saying = SAYINGS[id]

    def better(run):
        measured, allowed = saying.measure(run)
        return measured, allowed / 100

    (claim,) = [claim for claim in list_sayers(CLAIMS) if claim.id == id]
    runs = [run for seed in range(6) for run in random_runs(seed, Fraction(1), Fraction(1))]
    assert find_contradictions([claim], {id: replace(saying, measure=better)}, runs, MEANINGS).contradictions


def test_an_assumption_without_a_meaning_is_told_and_nothing_is_tried() -> None:
    looked = find_contradictions(
        [as_it_stood("AFEDPD-D7", FAMILY, "in the limit")], SAYINGS, list(stored_runs()), MEANINGS
    )
    assert looked.untold == {"AFEDPD-D7": ("in the limit",)} and not looked.tried


def test_a_run_that_misses_an_assumption_decides_nothing() -> None:
    steep = StoredRun("MINE", FedSLR(Fraction(1)), regularised(plateau(), L1(Fraction(1))), column(["1/10"]))
    saying = {"FEDSLR-T2d": Saying((FedSLR,), "the path is finite", copies_in_a_cycle)}
    looked = find_contradictions([as_it_stood("FEDSLR-T2d", PRINTED_STEP)], saying, [steep], MEANINGS)
    assert not looked.tried and not looked.contradictions


# ---- statements as data --------------------------------------------------------------------------------------------------


def descent(claimed):
    return Bound(
        "gd",
        "lr",
        region="0 < mu < L, 0 < lr < 2/L, 0 < R",
        functions="L, mu",
        measure="squared_distance",
        radius="R",
        claimed=claimed,
    )


@pytest.mark.parametrize(
    ("claimed", "holds"),
    [("max((1 - lr*mu)**2, (1 - lr*L)**2)*R**2", True), ("(1 - lr*L)**2*R**2", False), ("(1 - lr*L)*R**2", False)],
)
def test_a_bound_as_data_is_run_on_the_instances_that_it_speaks_of(claimed, holds) -> None:
    run = StoredRun(
        "MINE-2",
        GradientDescent(Fraction(1, 3)),
        quadratics([Fraction(1, 4), Fraction(3, 4)], [0, 0]),
        column([2]),
        constants={"L": Fraction(2), "mu": Fraction(1, 4), "R": Fraction(2)},
        tags=frozenset({"minimiser at 0"}),
    )
    claim = as_it_stood("AFEDPD-D7")
    looked = find_contradictions([claim], {claim.id: say_bound(descent(claimed))}, [run], MEANINGS)
    assert looked.tried == ((claim.id, "MINE-2"),) and bool(looked.contradictions) != holds


@pytest.mark.parametrize("change", [{"R": Fraction(3)}, {"L": Fraction(7)}, {"mu": Fraction(3)}])
def test_a_bound_does_not_speak_of_functions_outside_its_class(change) -> None:
    """L = 7 leaves no step below 2/L; of another radius or mu it is another bound, which holds."""
    known = {"L": Fraction(2), "mu": Fraction(1, 4), "R": Fraction(2)} | change
    run = StoredRun(
        "MINE-2", GradientDescent(Fraction(1, 3)), quadratics([1, 1], [0, 0]), column([2]), constants=known,
        tags=frozenset({"minimiser at 0"}),
    )  # fmt: skip
    claim = as_it_stood("AFEDPD-D7")
    stated = descent("max((1 - lr*mu)**2, (1 - lr*L)**2)*R**2")
    assert not find_contradictions([claim], {claim.id: say_bound(stated)}, [run], MEANINGS).contradictions


def test_a_statement_on_an_instance_gives_its_runs_in_fractions() -> None:
    runs = list(list_stored_runs("FEDPD-D12", D12["FedPD, three clients"]))
    assert len(runs) == len(D12["FedPD, three clients"].points)
    last = runs[0].play(3)[-1].x
    assert last.dtype == object and isinstance(last.item(), Fraction)
    assert np.array_equal(runs[0].play(3)[-1].x, last), "a run is the same whenever it is played"
