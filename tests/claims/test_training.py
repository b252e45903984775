"""Runs of experiments: kept, gone on with, read again; what is read off them can come out either way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import TOGETHER, Training, group_runs, read_runs, repeat_run
from fedtheory.claims.faults import run_faults
from fedtheory.claims.identity import Identity, collect_remarks
from fedtheory.claims.logs import Log
from fedtheory.claims.needs import find_store, forget_older_runs, forget_runs, list_needs, make_needs
from fedtheory.claims.orderings import mean_and_deviation, ordered, tabulate_best_and_final
from fedtheory.claims.pages import as_html
from fedtheory.claims.references import select
from fedtheory.claims.report import write_headline
from fedtheory.core.errors import InvalidInput

FEDAVG = Training(
    "fedavg",
    "digits-softmax",
    6,
    {"lr": 0.1, "steps": 3, "batch": 16},
    {"clients": 5, "split": "iid", "test": "own"},
    participants=2,
    every=2,
    start=0.0,
)
CLAIM = """
from fedtheory.claims import Claim, Fault
from fedtheory.claims.experiments import Training, list_runs, repeat_run
from fedtheory.claims.orderings import draw_curves, make_table, mean_and_deviation, ordered

BASE = Training("fedavg", "digits-softmax", 6, {"lr": 0.01, "steps": 1, "batch": 16},
                {"clients": 5, "split": "iid", "test": "own"}, start=0.0)
MORE = Training("fedavg", "digits-softmax", 6, {"lr": 0.1, "steps": 12, "batch": 16},
                {"clients": 5, "split": "iid", "test": "own"}, start=0.0)

def runs(ctx):
    return {"few": repeat_run(BASE, range(3)), "many": repeat_run(MORE, range(3))}

def check(ctx, *, better="many", worse="few"):
    found = runs(ctx)
    a, b = (found[name].last(ctx, "test_accuracy") for name in (better, worse))
    yield ordered("more steps", a, b, "test accuracy", scale=100, unit=" points")
    yield make_table("accuracy", ["steps", "ours"], [[name, mean_and_deviation(group.best(ctx, "test_accuracy"))] for name, group in found.items()])
    yield draw_curves(ctx, "accuracy", found, "test_accuracy")

CLAIMS = [Claim("X-STEPS", "x", "ordering", "here", "More local steps learn faster.", check,
                (Fault("the other way round", "more steps", {"better": "few", "worse": "many"}),),
                needs=lambda ctx: list_runs(runs(ctx).values()))]
"""


def test_a_run_is_kept_and_read_again(tmp_path, monkeypatch) -> None:
    kept, free = Context(results=str(tmp_path)), Context()
    assert not FEDAVG.is_done(kept) and not FEDAVG.is_done(free)
    found = FEDAVG.read(kept)
    assert FEDAVG.is_done(kept) and found["round"].tolist() == [0, 2, 4, 6]
    for name, values in FEDAVG.read(free).columns.items():
        assert (found[name] == values).all()
    summary = json.loads((tmp_path / FEDAVG.key / "summary.json").read_text())
    assert summary["seed"] == 0 and summary["seconds"] > 0 and "numpy" in summary["versions"]
    monkeypatch.setattr("fedtheory.claims.experiments.run", None)  # it is read, not made again
    assert (FEDAVG.read(kept)["value"] == found["value"]).all()


def unfinish(folder: Path) -> None:
    """As a run that was cut off left it."""
    identity = Identity.read(folder)
    assert identity is not None
    identity.begin(folder)


def test_an_incomplete_folder_is_gone_on_with(tmp_path) -> None:
    context = Context(results=str(tmp_path))
    whole = FEDAVG.read(context)
    table = tmp_path / FEDAVG.key / "metrics.csv"
    table.write_text("\n".join(table.read_text().splitlines()[:-1]) + "\n")
    unfinish(table.parent)
    assert not FEDAVG.is_done(context)
    assert (FEDAVG.read(context)["value"] == whole["value"]).all()


def test_a_run_cut_off_before_its_summary_is_gone_on_with(tmp_path) -> None:
    """Its last checkpoint wrote all rounds, but not yet how long they took."""
    context = Context(results=str(tmp_path))
    whole = FEDAVG.read(context)
    path = tmp_path / FEDAVG.key / "summary.json"
    summary = json.loads(path.read_text())
    del summary["seconds"]
    path.write_text(json.dumps(summary))
    unfinish(path.parent)
    assert not FEDAVG.is_done(context)
    assert (FEDAVG.read(context)["value"] == whole["value"]).all() and FEDAVG.is_done(context)


def test_runs_that_are_kept_with_a_paper_are_read_and_nothing_is_written_there(tmp_path, monkeypatch) -> None:
    beside, own = tmp_path / "results" / "laptop", tmp_path / "own"
    first = FEDAVG.read(Context(results=str(beside)))
    before = {path: path.read_bytes() for path in beside.rglob("*.*")}
    context = Context(results=str(own), kept=(str(beside),))
    with monkeypatch.context() as patched, collect_remarks() as told:
        patched.setattr("fedtheory.claims.experiments.run", None)
        assert FEDAVG.is_done(context) and (FEDAVG.read(context)["value"] == first["value"]).all()
        assert (read_runs([FEDAVG], context)[0]["value"] == first["value"]).all()
    assert told == {"those of results/laptop, made before (--fresh makes them anew)": {FEDAVG.key}}
    other = replace(FEDAVG, seed=1)
    read_runs([FEDAVG, other], context)
    assert [path.name for path in own.iterdir()] == [other.key], "only what is not kept is made"
    assert before == {path: path.read_bytes() for path in beside.rglob("*.*")}


def test_a_run_that_is_kept_with_a_paper_and_was_made_otherwise_is_made_anew(tmp_path) -> None:
    beside, own = tmp_path / "kept", tmp_path / "own"
    first = FEDAVG.read(Context(results=str(beside)))
    identity = beside / FEDAVG.key / "identity.json"
    identity.write_text(json.dumps(json.loads(identity.read_text()) | {"versions": {"numpy": "1.0"}}))
    context = Context(results=str(own), kept=(str(beside),))
    assert not FEDAVG.is_done(context)
    with collect_remarks() as told:
        assert (FEDAVG.read(context)["value"] == first["value"]).all() and told == {}
    assert [path.name for path in own.iterdir()] == [FEDAVG.key]


def test_everything_that_decides_the_numbers_is_in_the_name() -> None:
    changes = {
        "method": "fedprox",
        "rounds": 7,
        "settings": {"lr": 0.2},
        "options": {"clients": 6},
        "participants": 3,
        "available": 4,
        "every": 3,
        "start": 1.0,
        "seed": 1,
        "problem": "digits-mlp",
        "metrics": ("value",),
    }
    assert {*changes} == {*FEDAVG.configuration}
    names = {replace(FEDAVG, **{field: value}).key for field, value in changes.items()}
    assert len(names | {FEDAVG.key}) == len(changes) + 1


def test_a_setting_that_the_method_does_not_read_is_refused() -> None:
    with pytest.raises(InvalidInput, match="fedavg does not use rho; it uses lr"):
        replace(FEDAVG, settings={"rho": 1.0})


def test_a_diverged_run_is_a_result(tmp_path) -> None:
    wild = Training("fedavg", "fedavg-counterexample", 40, {"lr": 1e6, "steps": 9}, metrics=("value",))
    for context in (Context(), Context(results=str(tmp_path))):
        found = wild.read(context)
        assert found.diverged and np.isnan(found.best("value")) and np.isnan(found.last("value"))
    assert mean_and_deviation([0.5, float("nan")]) == "--" and mean_and_deviation([0.5, 0.7]) == "60.00 +- 14.14"


def test_who_never_takes_part_is_never_asked() -> None:
    few = replace(FEDAVG, options=FEDAVG.options | {"split": "classes", "classes_per_client": 2}, rounds=60, every=60)
    everyone, some = replace(few, available=5), replace(few, available=2)
    assert everyone.read(Context()).last("test_accuracy") > 0.7
    assert some.read(Context()).last("test_accuracy") < 0.5  # two clients hold four of ten classes
    with pytest.raises(InvalidInput, match="cannot draw m=2 of n=1"):
        replace(few, available=1).read(Context())


def test_reading_a_log() -> None:
    log = Log({"round": np.arange(5.0), "a": np.array([0.1, 0.5, 0.4, 0.6, 0.5]), "floats_up": np.arange(5.0)}, 1.0)
    assert log.best("a") == 0.6 and log.last("a") == 0.5 and log.last("a", 0.4) == 0.55
    assert log.first("a", 0.5) == 1 and log.first("a", 0.9) == np.inf and log.first("a", 0.3, above=False) == 0
    assert not log.diverged


def test_the_final_value_stands_beside_the_best(tmp_path) -> None:
    context, group = Context(results=str(tmp_path)), repeat_run(FEDAVG, range(2))
    for training, accuracies in zip(group.trainings, ([0.1, 0.9, 0.5, 0.6], [0.2, 0.3, 0.4, 0.4]), strict=True):
        training.make(context)
        path = tmp_path / training.key / "metrics.csv"
        head, *lines = path.read_text().splitlines()
        place = head.split(",").index("test_accuracy")
        rows = [line.split(",") for line in lines]
        path.write_text(
            "\n".join(
                [
                    head,
                    *(",".join([*r[:place], str(a), *r[place + 1 :]]) for r, a in zip(rows, accuracies, strict=True)),
                ]
            )
        )
        identity = Identity.read(path.parent)
        assert identity is not None
        identity.finish(path.parent)
    [row] = tabulate_best_and_final(context, "accuracy", {"ours": group}, "test_accuracy").rows
    assert row == ["ours", "65.00 +- 35.36", "50.00 +- 14.14", "15.00 +- 21.21"]


@pytest.mark.parametrize(
    ("higher", "lower", "holds"),
    [
        ([3.0, 3.1, 2.9], [1.0, 1.2, 0.9], True),
        ([1.0, 1.2, 0.9], [3.0, 3.1, 2.9], False),
        ([1.0, 3.0, 2.0], [2.0, 1.0, 3.0], None),
        ([1.0, 1.0], [np.nan, np.nan], True),
        ([np.nan, np.nan], [1.0, 1.0], False),
        ([np.nan, 1.0], [1.0, 1.0], None),
    ],
)
def test_an_ordering_holds_fails_or_is_undecided(higher, lower, holds) -> None:
    assert ordered("it", higher, lower, "a against b").holds is holds


@pytest.mark.parametrize(("diverged", "holds"), [("lowest", True), ("highest", False)])
def test_a_diverged_run_is_the_worst_of_its_kind(diverged, holds) -> None:
    """Of an accuracy it is the lowest; a loss that is not a number is above all others, never below."""
    gone, there = [np.nan, np.nan, np.nan], [1.0, 2.0, 3.0]
    assert ordered("it", there, gone, "there above gone", diverged=diverged).holds is holds
    assert ordered("it", gone, there, "gone above there", diverged=diverged).holds is (not holds)
    assert ordered("it", there, [1.0, np.nan, 2.0], "some gone", diverged=diverged).holds is None


def test_a_single_seed_decides_nothing() -> None:
    part = ordered("it", [0.5], [0.25], "a against b", scale=100, unit=" points")
    assert part.holds is None and part.margin is None and "+25 points with one seed" in part.text


def test_an_ordering_by_a_margin() -> None:
    assert ordered("it", [3.0, 3.1, 2.9], [1.0, 1.1, 0.9], "a", by=1.5).holds is True
    assert ordered("it", [3.0, 3.1, 2.9], [1.0, 1.1, 0.9], "a", by=2.5).holds is False
    with pytest.raises(InvalidInput, match="expected the same seeds"):
        ordered("it", [1.0], [1.0, 2.0], "a")


def test_a_claim_reads_runs_that_jobs_have_made(tmp_path, monkeypatch) -> None:
    file = tmp_path / "claims.py"
    file.write_text(CLAIM)
    references, context = select([str(file)]), Context(results=str(tmp_path / "runs"))
    needs = list_needs(references, context)
    assert len(needs) == 6
    assert all(outcome.error is None for outcome in make_needs(needs, context))
    assert list_needs(references, context) == {}
    monkeypatch.setattr("fedtheory.claims.experiments.run", None)
    [verdict] = [check_one(r, context) for r in references]
    assert verdict.status == "reproduced" and verdict.size == "laptop" and "[laptop size]" in write_headline(verdict)
    assert verdict.tables[0]["rows"][0][0] == "few"
    page = as_html([verdict], "t")
    assert "<th>steps</th>" in page and "size laptop" in page
    assert all(report.caught for report in run_faults(references[0], context))


def test_runs_of_older_code_are_forgotten(tmp_path) -> None:
    old, new = tmp_path / "runs-old", find_store(tmp_path)
    for folder in (old, new):
        folder.mkdir()
    forget_older_runs(new)
    assert new.exists() and not old.exists()


def test_a_fresh_start_forgets_the_runs_of_the_claims_it_is_asked_for_and_no_others(tmp_path) -> None:
    file = tmp_path / "claims.py"
    file.write_text(CLAIM)
    references, context = select([str(file)]), Context(results=str(tmp_path / "runs"))
    of_another = tmp_path / "runs" / "of-another-claim"
    of_another.mkdir(parents=True)
    assert all(outcome.error is None for outcome in make_needs(list_needs(references, context), context))
    forget_runs([], context)
    assert list_needs(references, context) == {}
    forget_runs(references, context)
    assert len(list_needs(references, context)) == 6 and of_another.exists()


def test_seeds_share_everything_else() -> None:
    group = repeat_run(FEDAVG, (3, 5))
    assert [t.seed for t in group.trainings] == [3, 5] and len({t.key for t in group.trainings}) == 2


def test_the_accuracy_of_every_client_is_kept(tmp_path) -> None:
    own = replace(
        FEDAVG, method="local", options=FEDAVG.options | {"tests_a_client": 7}, metrics=("personal_accuracy",)
    )
    for context in (Context(), Context(results=str(tmp_path))):
        found = own.read(context)
        assert found.clients is not None and found.clients.shape == (5,)
        assert found.clients.mean() == pytest.approx(found.last("personal_accuracy"), rel=1e-12)
    assert (own.read(context).clients == found.clients).all() and FEDAVG.read(context).clients is None


def test_what_fails_all_runs_alike_is_told_once(tmp_path, monkeypatch) -> None:
    import loky
    from click.testing import CliRunner

    from fedtheory.command_line.main import main

    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    loky.get_reusable_executor().shutdown()  # workers have the environment of their start
    monkeypatch.chdir(tmp_path)
    (tmp_path / "claims.py").write_text(CLAIM.replace("digits-softmax", "mnist-softmax"))
    said = CliRunner().invoke(main, ["check", "claims.py", "--workers", "1", "--json", "out.json"])
    assert said.exit_code == 1 and "6 runs of experiments" in said.stderr
    assert said.stderr.count("is read from a data folder and none was given") == 1
    [verdict] = json.loads((tmp_path / "out.json").read_text())["verdicts"]
    assert verdict["status"] == "inconclusive" and "FEDTHEORY_DATA" in verdict["error"]


def test_runs_that_differ_in_their_seeds_are_made_as_one_at_laptop_size() -> None:
    trainings = [*repeat_run(FEDAVG, range(6)).trainings, replace(FEDAVG, rounds=FEDAVG.rounds + 1)]
    sizes = [len(group) for group in group_runs(trainings, Context())]
    assert sizes == [TOGETHER, 6 - TOGETHER, 1]
    assert [len(group) for group in group_runs(trainings, Context(size="small"))] == 7 * [1]


def test_a_run_that_is_made_with_others_is_kept_as_alone(tmp_path) -> None:
    group, other = repeat_run(FEDAVG, range(3)), replace(FEDAVG, seed=1)
    together, alone = Context(results=str(tmp_path / "together")), Context(results=str(tmp_path / "alone"))
    found = group.logs(together)
    assert all(training.is_done(together) for training in group.trainings)
    other.make(alone)
    tables = [(Path(context.results or "") / other.key / "metrics.csv").read_bytes() for context in (together, alone)]
    assert tables[0] == tables[1] and found[1].columns.keys() == other.read(alone).columns.keys()
    summaries = [
        json.loads((Path(c.results or "") / other.key / "summary.json").read_text()) for c in (together, alone)
    ]
    assert summaries[0]["seed"] == summaries[1]["seed"] == 1 and summaries[0]["together"] == 3
