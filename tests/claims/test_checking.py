"""Finding claims, running checks and faults, keeping what is done, replaying counterexamples."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from claim_files import GOOD, INTERRUPTED, TROUBLED, strict
from claims_in_place import put_paper

from fedtheory.claims import checking, faults, references
from fedtheory.claims.checking import check_one, make_check_journal, run_checks
from fedtheory.claims.context import Context
from fedtheory.claims.faults import FaultReport, add_faults, make_fault_journal, run_all_faults
from fedtheory.claims.references import Reference, load_claims, select
from fedtheory.claims.replay import replay_file
from fedtheory.claims.report import (
    as_json,
    list_changes,
    list_faults_of,
    read_json,
    summarise,
    summarise_faults,
    tabulate_verdicts,
    write_counterexamples,
    write_headline,
)
from fedtheory.claims.verdict import Verdict
from fedtheory.core.errors import InvalidInput, NotAvailable


@pytest.fixture
def good(tmp_path) -> str:
    file = tmp_path / "good.py"
    file.write_text(GOOD)
    return str(file)


@pytest.fixture
def troubled(tmp_path) -> str:
    file = tmp_path / "troubled.py"
    file.write_text(TROUBLED)
    return str(file)


def verdict_of(source, id, **context):
    return check_one(Reference(source, id), Context(**context))


# ---- finding claims -----------------------------------------------------------------------------------------------


def test_a_file_gives_its_claims_in_order(good) -> None:
    found = select([good])
    assert [r.id for r in found] == ["TOY-RATE", "TOY-FALSE", "TOY-REPAIRED", "TOY-ORDER", "TOY-PROVED"]
    assert select([good, good]) == found, "once each"


def test_papers_and_claims_are_found_by_name(good, monkeypatch) -> None:
    put_paper(monkeypatch, good)
    assert len(select(["toy"])) == len(select([])) == len(select(["TOY", "toy-rate"])) == 5
    assert select(["toy-rate"]) == [Reference(good, "TOY-RATE")]
    with pytest.raises(InvalidInput, match=r"unknown claim, paper or file 'toy-rat'; did you mean TOY-RATE"):
        select(["toy-rat"])
    with pytest.raises(InvalidInput, match=r"unknown claim, paper or file 'zzz' \('fedtheory list' shows all\)"):
        select(["zzz"])


def test_a_claim_named_after_its_paper_is_found_without_reading_the_others(good, monkeypatch) -> None:
    monkeypatch.setattr(references, "find_papers", lambda: {"toy": good, "other": "no_such_module"})
    assert select(["toy-rate"]) == [Reference(good, "TOY-RATE")]
    with pytest.raises(InvalidInput, match="no_such_module cannot be imported"):
        select(["toy-rat"])


def test_the_same_id_in_two_files_is_refused(good, tmp_path) -> None:
    other = tmp_path / "other.py"
    other.write_text(GOOD)
    with pytest.raises(InvalidInput, match=r"the id TOY-RATE is used by .*good.py and by .*other.py"):
        select([good, str(other)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x = 1\n",
            "must define CLAIMS, a list of at least one.*; it defines none. 'fedtheory new FILE.py' writes an example",
        ),
        ("CLAIMS = 3\n", "must define CLAIMS.*; its CLAIMS is of type int"),
        ("CLAIMS = []\n", "must define CLAIMS.*; its CLAIMS is empty"),
        ("CLAIMS = [1]\n", "must define CLAIMS.*; in its CLAIMS is a value of type int"),
        ("x = 1\n1 / 0\n", r"cannot be read: ZeroDivisionError in claims.py, line 2: division by zero"),
        ("def (:\n", r"cannot be read: it is not Python text \(invalid syntax.* \(claims.py, line 1\)"),
        ("\0", "cannot be read: it is not Python text"),
        ("import nowhere_to_be_found\n", "cannot be read: ModuleNotFoundError.*nowhere_to_be_found"),
        ("import sys\nsys.exit(3)\n", "cannot be read: SystemExit"),
        (GOOD.replace('"TOY-ORDER"', '"TOY-RATE"'), "uses the ids TOY-RATE more than once"),
        (
            GOOD.replace("(fault,)", "()"),
            r"cannot be read: line \d+: TOY-RATE: a check needs at least one planted fault",
        ),
    ],
    ids=["none", "no list", "empty", "not claims", "raises", "syntax", "binary", "import", "exit", "twice", "no fault"],
)
def test_files_that_cannot_be_used_are_refused(tmp_path, text, message) -> None:
    file = tmp_path / "claims.py"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=message):
        select([str(file)])


def test_missing_files_and_modules_are_named(tmp_path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no file .*nothing.py"):
        select([str(tmp_path / "nothing.py")])
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(InvalidInput, match=r"folder.py is a folder; expected a Python file"):
        select([str(tmp_path / "folder.py")])
    with pytest.raises(InvalidInput, match=r"is a folder; expected a claim, a paper, or a Python file of claims"):
        select([str(tmp_path)])
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.5")
    with pytest.raises(
        InvalidInput, match=r"paper.pdf is a file; expected a claim, a paper, or a Python file of claims"
    ):
        select([str(tmp_path / "paper.pdf")])
    with pytest.raises(InvalidInput, match=r"the module no_such_module cannot be imported: ModuleNotFoundError"):
        load_claims("no_such_module")


# ---- verdicts -----------------------------------------------------------------------------------------------------


def test_verdicts_follow_from_the_parts(good) -> None:
    found = {r.id: check_one(r, Context()) for r in select([good])}
    assert {id: v.status for id, v in found.items()} == {
        "TOY-RATE": "supported",
        "TOY-FALSE": "refuted",
        "TOY-REPAIRED": "repaired",
        "TOY-ORDER": "reproduced",
        "TOY-PROVED": "argued",
    }
    assert all(v.ran and v.paper == "toy" and v.seconds >= 0 and "numpy" in v.versions for v in found.values())


def test_a_verdict_tells_what_was_seen(good) -> None:
    seen = verdict_of(good, "TOY-RATE", seed=7)
    assert seen.seed == 7 and seen.budget == "quick" and seen.engines == ["numeric"]
    assert seen.readings == ["rounds are counted from zero"] and seen.assumptions == ["0 < x"]
    assert seen.evidence[0]["text"] == "five rounds, seed 7" and seen.evidence[0]["data"]["compared"] == 5
    assert seen.picture["series"][0]["y"][1] == 0.9 and seen.picture["logy"] is True
    assert verdict_of(good, "TOY-PROVED").evidence[0]["margin"] == 0.0, "zero is a margin too"
    refuted = verdict_of(good, "TOY-FALSE")
    assert refuted.margin == pytest.approx(-0.5) and refuted.counterexample["claim"] == "TOY-FALSE"
    assert refuted.counterexample["exact"]["measured"] == "1/2"


def test_no_failing_check_takes_the_others_down(troubled) -> None:
    found = {v.id: v for v in run_checks(select([troubled]), Context())}
    assert {id for id, v in found.items() if v.ran} == {"A-FINE", "G-ARRAYS", "H-FINE"}
    assert all(v.status == "inconclusive" and v.margin is None for v in found.values() if not v.ran)
    line = TROUBLED.splitlines().index('    raise ZeroDivisionError("one over nothing")') + 1
    assert found["B-RAISES"].error == f"ZeroDivisionError in troubled.py, line {line}: one over nothing"
    assert found["B-RAISES"].evidence[0]["text"] == "so far so good", "what was found is kept"
    assert found["C-REFUSES"].error.startswith("AssumptionNotMet: eta = 0.7 is above 0.5")
    assert "SystemExit" in found["D-LEAVES"].error and "bye" in found["D-LEAVES"].error
    assert "at least one part with role 'printed'" in found["E-EMPTY"].error
    assert "holds a object, which is not plain data" in found["F-STRANGE"].error


def test_arrays_in_findings_become_lists(troubled) -> None:
    verdict = verdict_of(troubled, "G-ARRAYS")
    assert verdict.evidence[0]["data"] == {"a": [0, 1, 2], "b": 0.5, "c": 7, "d": [1, "inf"], "e": True}
    assert verdict.status == "supported" and verdict.evidence[0]["margin"] == 0.0


def test_several_workers_find_the_same(good, troubled) -> None:
    references = select([good]) + select([troubled])
    threads = os.environ.get("OPENBLAS_NUM_THREADS")

    def seen(workers):
        return {
            v.id: (v.status, v.error, v.margin, v.evidence) for v in run_checks(references, Context(seed=3), workers)
        }

    assert seen(2) == seen(1)
    assert os.environ.get("OPENBLAS_NUM_THREADS") == threads, "the environment is put back"


# ---- planted faults -----------------------------------------------------------------------------------------------


def test_faults_are_caught_or_missed(good, troubled) -> None:
    reports = [r for batch in run_all_faults(select([good]), Context()) for r in batch]
    assert len(reports) == 5 and all(r.caught for r in reports)
    assert {r.fault for r in reports} >= {"a better rate", "a true instance"}
    by_id = {r.id: r for batch in run_all_faults(select([troubled]), Context()) for r in batch}
    assert by_id["A-FINE"].caught
    assert not by_id["H-FINE"].caught and "it: fine" in by_id["H-FINE"].detail
    assert not by_id["C-REFUSES"].caught and "AssumptionNotMet" in by_id["C-REFUSES"].detail
    assert not by_id["E-EMPTY"].caught and "at least one part with role 'printed'" in by_id["E-EMPTY"].detail
    assert not by_id["D-LEAVES"].caught and "SystemExit" in by_id["D-LEAVES"].detail
    # the check is run without a fault first
    assert "the check fails without a fault: ZeroDivisionError" in by_id["B-RAISES"].detail


def test_a_verdict_tells_what_its_faults_came_to(good) -> None:
    before = verdict_of(good, "TOY-RATE")
    assert before.planted == [] and summarise_faults([before]) == ""
    assert list_faults_of(before) == ["planted faults: 1, not run here; --selftest runs them"]
    seen = {
        word: add_faults(
            before, [FaultReport("TOY-RATE", "a better rate", word == "caught", "seen", 0.1, word != "not run")]
        )
        for word in ("caught", "missed", "not run")
    }
    for word, found in seen.items():
        assert found.planted == [{"fault": "a better rate", "outcome": word, "detail": "seen"}]
    assert list_faults_of(seen["caught"]) == ["caught  planted fault: a better rate"]
    assert list_faults_of(seen["missed"]) == ["MISSED  planted fault: a better rate [seen]"]
    told = "planted faults caught: 1 of 2; missed by TOY-RATE; not run: 1"
    assert summarise_faults([*seen.values()]) == told
    (beside,) = add_faults(before, []).planted
    assert beside["outcome"] == "not run" and "asks how sharp" in beside["detail"], "it has no report"


def test_files_from_before_faults_were_stored_are_read(good, tmp_path) -> None:
    document = json.loads(as_json([verdict_of(good, "TOY-RATE")]))
    for verdict in document["verdicts"]:
        del verdict["planted"]
    file = tmp_path / "old.json"
    file.write_text(json.dumps(document))
    (old,) = read_json(file).values()
    assert document["format"] == 1 and Verdict(**old).planted == []
    assert list_changes([Verdict(**old)], read_json(file)) == []


# ---- the journal --------------------------------------------------------------------------------------------------


def test_verdicts_come_back_from_the_journal_as_they_were(good, tmp_path) -> None:
    references, context = select([good]), Context()
    journal = make_check_journal(references, context, tmp_path / "journals")
    first = list(run_checks(references, context, journal=journal))
    again = list(
        run_checks(references, context, journal=make_check_journal(references, context, tmp_path / "journals"))
    )
    assert again == first, "also the seconds: they are read, not run"


def test_what_could_not_be_run_is_run_again(troubled, tmp_path) -> None:
    references, context = select([troubled]), Context()
    journal = make_check_journal(references, context, tmp_path)
    list(run_checks(references, context, journal=journal))
    assert set(journal.read()) == {"A-FINE", "G-ARRAYS", "H-FINE"}
    journal = make_fault_journal(references, context, tmp_path)
    list(run_all_faults(references, context, journal=journal))
    assert set(journal.read()) == {"A-FINE"}, "so are faults that were missed"


def test_journals_are_told_apart_by_all_that_counts(good, tmp_path) -> None:
    references = select([good])
    names = {
        make_check_journal(references, Context(), tmp_path).path,
        make_fault_journal(references, Context(), tmp_path).path,
        make_check_journal(references[:2], Context(), tmp_path).path,
        make_check_journal(references, Context(seed=1), tmp_path).path,
        make_check_journal(references, Context("full"), tmp_path).path,
        make_check_journal(references, Context(data="/data"), tmp_path).path,
    }
    assert len(names) == 6
    with open(good, "a") as file:
        file.write("# changed\n")
    assert make_check_journal(references, Context(), tmp_path).path not in names, (
        "another version of the file is another run"
    )


def test_a_job_that_never_answered_is_a_claim_that_was_not_run(good, monkeypatch) -> None:
    """As when dask gives up on it: the verdict says so, its faults count as missed."""
    from fedtheory.tools.jobs import Outcome

    for module in (checking, faults):
        monkeypatch.setattr(
            module, "run_jobs", lambda task, jobs, **_: (Outcome(key, None, "KilledWorker: lost", 0.0) for key in jobs)
        )
    verdicts = list(run_checks(select([good]), Context(seed=2)))
    assert len(verdicts) == 5 and all(not v.ran and v.status == "inconclusive" and v.seed == 2 for v in verdicts)
    assert verdicts[0].statement == "Statement of TOY-RATE & <b>more</b>." and verdicts[0].error == "KilledWorker: lost"
    reports = [r for batch in run_all_faults(select([good]), Context()) for r in batch]
    assert len(reports) == 5 and not any(r.caught for r in reports) and reports[0].detail == "KilledWorker: lost"


# ---- replaying ----------------------------------------------------------------------------------------------------


def test_a_stored_counterexample_replays(good, tmp_path) -> None:
    verdicts = [check_one(r, Context()) for r in select([good])]
    written = write_counterexamples(verdicts, tmp_path / "deep" / "found")
    assert [p.name for p in written] == ["TOY-FALSE.json", "TOY-REPAIRED.json"]
    found = replay_file(written[0], Path(good))
    assert found.confirmed and found.seen.measured == 0.5 and found.claim.id == "TOY-FALSE"
    assert (found.part, found.role, found.status) == ("square", "printed", "refuted")
    changed = json.loads(written[0].read_text())
    changed["instance"]["x"] = 2.0
    written[0].write_text(json.dumps(changed))
    found = replay_file(written[0], Path(good))
    assert not found.seen.violated and not found.confirmed, "it is measured again, not read"
    assert tuple(found.differences) == ("assumptions", "measured", "bound", "exact measured", "exact bound")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s: "not json", InvalidInput, "is not a counterexample file"),
        (lambda s: {"claim": "X", "format": 3}, InvalidInput, r"is not a counterexample file \('source' is missing; "),
        (lambda s: s | {"claim": "TOY-NONE"}, InvalidInput, "speaks of the claim 'TOY-NONE', which .* does not have"),
        (lambda s: s | {"claim": "TOY-RATE"}, NotAvailable, "the claim TOY-RATE has no replay"),
        (lambda s: s | {"source": "paper_checks.fedpd"}, InvalidInput, "a claim of the paper paper_checks.fedpd"),
        (lambda s: s | {"instance": {}}, InvalidInput, "cannot be replayed: it lacks 'x'"),
        (
            lambda s: s | {"instance": {"x": "one"}},
            InvalidInput,
            "cannot be replayed: ValueError in .*: Invalid literal",
        ),
    ],
)
def test_files_that_cannot_be_replayed_are_refused(good, tmp_path, change, error, message) -> None:
    verdict = verdict_of(good, "TOY-FALSE")
    changed = change({"format": 3, **verdict.counterexample})
    file = tmp_path / "example.json"
    file.write_text(changed if isinstance(changed, str) else json.dumps(changed))
    with pytest.raises(error, match=message):
        replay_file(file, Path(good))
    with pytest.raises(InvalidInput, match=r"cannot read .*missing.json: No such file"):
        replay_file(tmp_path / "missing.json")


# ---- reports ------------------------------------------------------------------------------------------------------


def test_verdicts_as_json_come_back(good, troubled, tmp_path) -> None:
    verdicts = list(run_checks(select([good]) + select([troubled]), Context()))
    document = strict(as_json(verdicts))
    assert document["format"] == 1 and len(document["verdicts"]) == 13
    file = tmp_path / "verdicts.json"
    file.write_text(as_json(verdicts))
    stored = read_json(file)
    assert stored["TOY-RATE"]["status"] == "supported" and list(stored) == [v.id for v in verdicts]
    assert list_changes(verdicts, stored) == []
    stored["TOY-RATE"]["status"] = "proved"
    del stored["TOY-ORDER"]
    assert list_changes(verdicts, stored) == [
        "TOY-RATE: supported, expected proved",
        "TOY-ORDER: reproduced, not in the stored verdicts",
    ]


@pytest.mark.parametrize("text", ["", "[]", '{"verdicts": [1]}', '{"x": 1}'])
def test_other_files_are_no_verdict_files(tmp_path, text) -> None:
    file = tmp_path / "verdicts.json"
    file.write_text(text)
    with pytest.raises(InvalidInput, match="is not a verdict file written by 'fedtheory check --json'"):
        read_json(file)
    with pytest.raises(InvalidInput, match="cannot read"):
        read_json(tmp_path / "missing.json")


def test_summary_and_table(good, troubled) -> None:
    from rich.console import Console

    verdicts = list(run_checks(select([good]) + select([troubled]), Context()))
    assert summarise(verdicts) == "1 argued, 4 supported, 1 reproduced, 1 refuted, 1 repaired, 5 not run"
    console = Console(width=150, record=True, file=io.StringIO())
    console.print(tabulate_verdicts(verdicts, 150))
    text = console.export_text()
    assert text.count("not run") == 5 and "TOY-RATE" in text and "+" in text
    by_id = {v.id: v for v in verdicts}
    assert write_headline(by_id["TOY-REPAIRED"]).endswith("-- false as printed; instead (supported): x <= 2 x^2.")
    assert "could not be run: ZeroDivisionError" in write_headline(by_id["B-RAISES"])


def test_interrupted_files_are_read_by_their_own_text(tmp_path) -> None:
    file = tmp_path / "claims.py"
    file.write_text(INTERRUPTED)
    (tmp_path / "interrupt").touch()
    with pytest.raises(KeyboardInterrupt):
        list(run_checks(select([str(file)]), Context()))
    assert (tmp_path / "calls").read_text() == "ab"
