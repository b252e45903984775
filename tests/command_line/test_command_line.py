"""The command line as a user meets it: output, files, exit status, interruption, bad arguments."""

from __future__ import annotations

import importlib
import json
import runpy
import signal
import subprocess
import sys
import threading
from pathlib import Path

import click
import pytest
from claim_files import GOOD, INTERRUPTED, TROUBLED, strict
from claims_in_place import put_paper
from click.testing import CliRunner

import fedtheory
from fedtheory.algorithms import ALGORITHMS
from fedtheory.claims import faults, needs, references
from fedtheory.claims.context import Context
from fedtheory.claims.faults import run_all_faults
from fedtheory.command_line import list as list_module
from fedtheory.command_line.experiments import make_shared
from fedtheory.command_line.main import _termination_as_ctrl_c, main
from fedtheory.core.errors import NotAvailable
from fedtheory.running.sweep import run_sweep
from fedtheory.tools.jobs import Outcome

ECHO = """
from fedtheory.claims import Claim, Fault, holds


def echo(ctx):
    yield holds("it", True, "numeric", f"{ctx.budget} {ctx.seed} {ctx.data}")


CLAIMS = [Claim("ECHO", "toy", "bound", "s", "echo", echo, (Fault("f", "it", {}),))]
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command in an empty folder; journals, pictures and files go there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    for name, text in (("good", GOOD), ("troubled", TROUBLED), ("interrupted", INTERRUPTED), ("echo", ECHO)):
        Path(f"{name}.py").write_text(text)
    importlib.import_module("fedtheory.claims.replay")  # it knows the installed papers, of which the toy is none
    put_paper(monkeypatch, str(tmp_path / "good.py"))

    def invoke(*arguments, code=0):
        if arguments[0] in ("check", "selftest") and "--workers" not in arguments:
            arguments = (*arguments, "--workers", "1")
        result = CliRunner().invoke(main, [str(a) for a in arguments])
        assert result.exit_code == code, (result.output, result.exception)
        assert result.exception is None or isinstance(result.exception, SystemExit), "no traceback reaches the user"
        return result

    return invoke


# ---- check --------------------------------------------------------------------------------------------------------


def test_check_prints_a_table_and_a_summary(call, monkeypatch) -> None:
    """Exit status 0 whatever the verdicts."""
    monkeypatch.setenv("COLUMNS", "200")
    out = call("check", "good.py").stdout
    for text in (
        "TOY-RATE",
        "supported",
        "refuted",
        "reproduced",
        "argued",
        "false as printed; instead (supported): x <= 2 x^2.",
    ):
        assert text in out
    assert out.splitlines()[-1] == "1 argued, 1 supported, 1 reproduced, 1 refuted, 1 repaired"


def test_check_takes_papers_claims_and_files(call) -> None:
    def ids(*targets):
        return [v["id"] for v in strict(call("check", *targets, "--json", "-").stdout)["verdicts"]]

    assert ids("toy-rate") == ["TOY-RATE"]
    assert ids("TOY-ORDER", "toy-rate") == ["TOY-ORDER", "TOY-RATE"]
    assert len(ids("toy")) == len(ids("good.py")) == len(ids()) == 5


def test_check_writes_json_html_and_counterexamples(call) -> None:
    result = call("check", "good.py", "--json", "out/verdicts.json", "--html", "out/deep/report.html")
    verdicts = strict(Path("out/verdicts.json").read_text())["verdicts"]
    assert {v["id"]: v["status"] for v in verdicts}["TOY-FALSE"] == "refuted"
    page = Path("out/deep/report.html").read_text()
    assert '<svg class="chart"' in page and 'href="../counterexamples/TOY-FALSE.json"' in page
    assert sorted(p.name for p in Path("out/counterexamples").iterdir()) == ["TOY-FALSE.json", "TOY-REPAIRED.json"]
    assert "2 counterexamples in out/counterexamples; 'fedtheory replay FILE CLAIMS.py'" in result.stderr
    call("check", "good.py", "--counterexamples", "elsewhere")
    assert len(list(Path("elsewhere").iterdir())) == 2
    call("check", "toy-rate", "--json", "clean/verdicts.json")
    assert not Path("clean/counterexamples").exists()


def test_check_of_a_file_of_ones_own_stores_its_counterexamples_and_names_them(call) -> None:
    """Of a file beside ids of its claims these alone are judged."""
    result = call("check", "good.py", "toy-false")
    assert [path.name for path in Path("counterexamples").iterdir()] == ["TOY-FALSE.json"]
    command = "fedtheory replay counterexamples/TOY-FALSE.json good.py"
    assert f"counterexample: counterexamples/TOY-FALSE.json; '{command}' shows it again" in result.stderr
    assert "VIOLATED" in call(*command.split()[1:]).stdout
    assert "1 refuted" in result.stdout
    wrong = call("check", "good.py", "TOY-FALS", code=2)
    assert "did you mean TOY-FALSE" in wrong.stderr


def test_check_hands_on_budget_seed_and_data(call, monkeypatch, tmp_path) -> None:
    def said(*options):
        return strict(call("check", "echo.py", "--json", "-", *options).stdout)["verdicts"][0]["evidence"][0]["text"]

    assert said() == "quick 0 None"
    assert said("--budget", "full", "--seed", "7", "--data", tmp_path) == f"full 7 {tmp_path}"
    monkeypatch.setenv("FEDTHEORY_DATA", "/from/environment")
    assert said() == "quick 0 /from/environment"


def test_check_fails_when_a_check_could_not_be_run(call) -> None:
    result = call("check", "troubled.py", "--json", "out.json", code=1)
    assert "3 supported, 5 not run" in result.stdout and "ZeroDivisionError in troubled.py" in result.stdout
    verdicts = {v["id"]: v for v in strict(Path("out.json").read_text())["verdicts"]}
    assert len(verdicts) == 8 and verdicts["H-FINE"]["status"] == "supported", "the others are not taken down"
    assert "Traceback" not in result.output


def test_check_compares_with_stored_verdicts(call) -> None:
    call("check", "good.py", "--json", "stored.json")
    call("check", "good.py", "--expect", "stored.json")
    stored = json.loads(Path("stored.json").read_text())
    stored["verdicts"][0]["status"] = "refuted"
    Path("stored.json").write_text(json.dumps(stored))
    result = call("check", "good.py", "--expect", "stored.json", code=1)
    assert "changed: TOY-RATE: supported, expected refuted" in result.stderr
    call("check", "good.py", "--expect", "missing.json", code=2)
    call("check", "good.py", "--expect", "good.py", code=2)


# ---- interruption -------------------------------------------------------------------------------------------------


def test_an_interrupted_check_goes_on_where_it_was(call) -> None:
    Path("interrupt").touch()
    result = call("check", "interrupted.py", "--json", "part.json", code=130)
    assert "interrupted after 1 of 3 claims; the same command goes on from there" in result.stderr
    assert [v["id"] for v in strict(Path("part.json").read_text())["verdicts"]] == ["CLAIM-A"], "what is done is kept"
    Path("interrupt").unlink()
    other = call("check", "interrupted.py", "--seed", "1")
    assert "going on" not in other.stderr, "another seed is another run"
    Path("calls").unlink()
    result = call("check", "interrupted.py", "--json", "whole.json")
    assert "resuming an interrupted run: 1 of 3 claims are done" in result.stderr
    assert Path("calls").read_text() == "bc", "the first is not run again"
    assert [v["id"] for v in strict(Path("whole.json").read_text())["verdicts"]] == ["CLAIM-A", "CLAIM-B", "CLAIM-C"]
    assert not list(Path(".fedtheory").iterdir()), "complete: nothing is left behind"
    Path("calls").unlink()
    call("check", "interrupted.py")
    assert Path("calls").read_text() == "abc"


def test_an_interrupted_sweep_goes_on_where_it_was(call, monkeypatch) -> None:
    """The interruption comes after the first of two batches; the whole is that of a sweep that was let alone."""
    sweep = ("sweep", "gd", "quadratics,sines", "--rounds", 2, "--workers", 1)
    call(*sweep, "--json", "alone.json")

    def interrupted(*arguments, **options):
        yield next(run_sweep(*arguments, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr("fedtheory.running.sweep.run_sweep", interrupted)
    result = call(*sweep, "--json", "part.json", code=130)
    assert "interrupted after 1 of 2 jobs; the same command goes on from there" in result.stderr
    monkeypatch.setattr("fedtheory.running.sweep.run_sweep", run_sweep)
    result = call(*sweep, "--json", "whole.json")
    assert "resuming an interrupted run: 1 of 2 jobs are done" in result.stderr
    alone, part, whole = (
        [strict(line) for line in Path(f"{name}.json").read_text().splitlines()] for name in ("alone", "part", "whole")
    )
    assert [row["problem"] for row in whole] == ["quadratics", "sines"] and whole == alone and part == whole[:1]


def test_an_interruption_among_shared_runs_says_how_far_they_are(monkeypatch) -> None:
    def make(*_, **__):
        yield Outcome("one", {}, "no data", 0.0)
        yield Outcome("two", {}, "no data", 0.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(needs, "list_needs", lambda references, context: {"one": (), "two": (), "three": ()})
    monkeypatch.setattr(needs, "make_needs", make)
    command = click.Command("shared", callback=lambda: make_shared([], Context(), 1, None, None))
    result = CliRunner().invoke(command, [])
    assert result.exit_code == 130
    assert result.stderr.splitlines() == [
        "3 runs of experiments are to be made at laptop size",
        "one: no data",
        "interrupted after 2 of 3 runs of experiments; the same command goes on from there",
    ], "what is missing is said once"


def test_an_option_under_its_earlier_name_is_the_present_one(call) -> None:
    was, now, other = (
        call("run", "scaffnew", "quadratics", *option, "--rounds", 3, "--json", "-")
        for option in (("--q", 0.75), ("--p", 0.75), ("--p", 0.25))
    )
    assert was.stderr.splitlines()[0] == "note: --q is called --p now, as in the method's paper" and not now.stderr
    assert "p=0.75" in was.stdout and "p=0.25" in other.stdout


def test_an_option_that_no_method_has_is_clicks_affair(call) -> None:
    """One that another method has is refused by the names of those that are used."""
    result = call("run", "scaffnew", "quadratics", "--nonsense", 1, code=2)
    assert "No such option" in result.stderr and "--nonsense" in result.stderr and "do not use" not in result.stderr
    assert (
        "scaffnew does not use --rho; used are --" in call("run", "scaffnew", "quadratics", "--rho", 1, code=2).stderr
    )


def test_python_m_fedtheory_is_the_command(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["__main__.py", "list", "problems"])
    file = str(Path(fedtheory.__file__).with_name("__main__.py"))
    assert "main" in runpy.run_path(file, run_name="imported"), "which runs nothing"
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit) as left:
        runpy.run_path(file, run_name="__main__")
    assert not left.value.code and capsys.readouterr().out == CliRunner().invoke(main, ["list", "problems"]).stdout
    monkeypatch.setattr(sys, "argv", ["__main__.py", "nonsense"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(file, run_name="__main__")
    assert "Usage: fedtheory [OPTIONS]" in capsys.readouterr().err


def test_a_thread_that_is_not_the_main_one_runs_a_command_and_leaves_signals_alone() -> None:
    here, found = signal.getsignal(signal.SIGTERM), []
    thread = threading.Thread(target=lambda: found.append(CliRunner().invoke(main, ["list", "problems"])))
    thread.start()
    thread.join()
    assert found[0].exit_code == 0 and found[0].stdout == CliRunner().invoke(main, ["list", "problems"]).stdout
    assert signal.getsignal(signal.SIGTERM) is here


def test_two_signals_at_once_end_a_command_once() -> None:
    """``timeout`` sends SIGTERM to the process and to its group; a second interruption within the first left locks behind."""
    reached = False
    with _termination_as_ctrl_c():
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGTERM)
            reached = True
    assert reached


def test_an_interrupted_selftest_goes_on_where_it_was(call) -> None:
    Path("interrupt").touch()
    result = call("selftest", "interrupted.py", code=130)
    assert "interrupted after 1 of 3 claims; the same command goes on from there" in result.stderr
    for file in ("interrupt", "calls"):
        Path(file).unlink()
    result = call("selftest", "interrupted.py", code=1)  # its faults change nothing, so they are missed
    assert "going on" not in result.stderr, "what was missed is tried again"
    assert call("selftest", "good.py").stdout == "planted faults caught: 5 / 5\n" and not list(
        Path(".fedtheory").iterdir()
    )


STATED = """
import os
from pathlib import Path

from fedtheory.claims import Claim, Fault, Lemma, holds, norm2, state
from fedtheory.claims.claim import JudgedChange


def triangle(w, p, c):
    x, y = w.vector("x"), w.vector("y")
    return norm2(x + y) - (norm2(x) + norm2(y)) * c.c


def echo(ctx):
    yield holds("it", True, "numeric", "words")


def wait(name):
    def needs(ctx):
        raise AssertionError("near misses read no experiments")

    def near(ctx):
        with Path("asked").open("a") as file:
            file.write(name)
        if Path("interrupt").exists() and name == "second":
            raise KeyboardInterrupt
        return [JudgedChange("sign", "slack", "", "shared")]

    return Claim(name.upper(), "toy", "bound", "s", "words", echo, (Fault("f", "it", {}),), near_misses=near, needs=needs)


LEMMA = state("LEMMA", "toy", "s", "words", Lemma("triangle", "s", "", triangle, {"c": 4}))
WORDS = Claim("WORDS", "toy", "bound", "s", "words", echo, (Fault("f", "it", {}),))
CLAIMS = [wait("first"), wait("second"), LEMMA, WORDS]
"""


def test_near_misses_are_told_with_a_score_and_go_on_where_they_were(call) -> None:
    """Slack is told once with its size, claims that are no data are named, and nothing of what experiments need is run."""
    Path("stated.py").write_text(STATED)
    Path("interrupt").touch()
    result = call("selftest", "stated.py", "--near-misses", code=130)
    assert "the same command goes on from there" in result.stderr
    Path("interrupt").unlink()
    lines = call("selftest", "stated.py", "--near-misses").stdout.splitlines()
    assert Path("asked").read_text() == "firstsecondsecond" and not list(Path(".fedtheory").glob("*.journal"))
    slack = [line for line in lines if line.startswith("slack")]
    assert any("constant c = 99/25 [would reject c from x 0.499962]" in line for line in slack)
    assert len(slack) == len(set(slack)) and lines[-2] == "not data, toy: WORDS"
    assert (
        lines[-1].startswith("toy: ")
        and lines[-1].endswith("Not data: 1 of 4 claims")
        and "2 statements fall" in lines[-1]
    )
    asked = int(lines[-1].split(" of ")[1].split()[0])
    assert asked > len(slack) == asked - int(lines[-1].split()[1])


def test_a_fresh_check_forgets_the_interrupted_one(call) -> None:
    Path("interrupt").touch()
    call("check", "interrupted.py", code=130)
    for file in ("interrupt", "calls"):
        Path(file).unlink()
    result = call("check", "interrupted.py", "--fresh")
    assert "going on" not in result.stderr and Path("calls").read_text() == "abc"


def test_a_changed_file_is_checked_afresh(call) -> None:
    Path("interrupt").touch()
    call("check", "interrupted.py", code=130)
    Path("interrupt").unlink()
    Path("interrupted.py").write_text(INTERRUPTED + "# changed\n")
    references.load_claims.cache_clear()
    assert "going on" not in call("check", "interrupted.py").stderr


# ---- bad arguments ------------------------------------------------------------------------------------------------

BAD = {
    "claim": (("check", "toy-rat"), "unknown claim, paper or file 'toy-rat'; did you mean TOY-RATE"),
    "file": (("check", "missing.py"), "there is no file"),
    "size": (("check", "--size", "huge"), "'huge' is not one of 'laptop', 'small', 'paper'"),
    "results": (("check", "--results", __file__), "is a file"),
    "budget": (("check", "--budget", "huge"), "'huge' is not one of 'quick', 'full'"),
    "workers": (("check", "--workers", "0"), "0 is not in the range x>=1"),
    "seed": (("check", "--seed", "-1"), "-1 is not in the range x>=0"),
    "data": (("check", "--data", "nowhere"), "the data folder nowhere does not exist or is not a folder"),
    "command": (("chekc",), "No such command 'chekc'"),
    "replay": (("replay", "missing.json"), "cannot read missing.json: No such file or directory"),
    "other file": (("replay", "good.py"), "good.py is not a counterexample file"),
    "fault's claim": (("selftest", "toy-rat"), "did you mean TOY-RATE"),
    "algorithm": (("run", "fedavgg", "quadratics"), "unknown algorithm 'fedavgg'; did you mean fedavg or"),
    "problem": (("run", "fedavg", "quadratic"), "unknown problem 'quadratic'; did you mean quadratics?"),
    "far from all": (("run", "zzz", "quadratics"), "unknown algorithm 'zzz'; known are gd, agd, server-sgd"),
    "rounds": (("run", "fedavg", "quadratics", "--rounds", "0"), "0 is not in the range x>=1"),
    "lr": (("run", "fedavg", "quadratics", "--lr", "-0.1"), "lr must be positive, got -0.1"),
    "p": (("run", "fedpd", "quadratics", "--p", "1"), "must lie in [0, 1), got 1.0"),
    "steps": (("run", "fedavg", "quadratics", "--local-steps", "0"), "steps must be a whole number of at least 1"),
    "nobody": (
        ("run", "fedavg", "quadratics", "--participants", "0"),
        "take part must be a whole number of at least 1, got 0",
    ),
    "too many": (("run", "fedavg", "quadratics", "--participants", "11"), "cannot draw m=11 of n=10 clients"),
    "participation": (("run", "fedpd", "quadratics", "--participants", "3"), "full participation only"),
    "mu": (("run", "fedavg", "quadratics", "--mu", "2"), "expected 0 < mu <= L, got mu=2.0, L=1.0"),
    "clients": (("run", "fedavg", "sines", "--clients", "0"), "clients n must be a whole number of at least 1"),
    "start": (("run", "fedavg", "quadratics", "--start", "nan"), "x0 contains NaN"),
    "samples": (("run", "fedavg", "quadratics", "--batch", "2"), "needs 'sample_grad'"),
    "data set": (("run", "fedavg", "a1a"), "pass a folder (--data DIR) or set FEDTHEORY_DATA"),
    "exact": (
        ("run", "fedavg", "quadratics", "--exact"),
        "fedavg does not use --exact; used are --batch, --clip, --epochs, --local-steps, --lr",
    ),
    "checkpoint": (("run", "fedavg", "quadratics", "--checkpoint", "good.py"), "good.py is not a readable checkpoint"),
    "class": (("worst-case", "gd", "--mu", "2"), "has no interpolation conditions"),
    "worst n": (("worst-case", "gd", "--clients", "0"), "expected n >= 1"),
    "measure": (("worst-case", "gd", "--measure", "regret"), "'regret' is not one of"),
    "zeta": (("worst-case", "gd", "--nonconvex", "--zeta", "1"), "it goes with convex classes"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_one_clear_line_and_status_two(call, name) -> None:
    arguments, message = BAD[name]
    result = call(*arguments, code=2)
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output and result.stdout == ""


def test_a_users_file_that_raises_is_named_with_its_line(call) -> None:
    Path("mine.py").write_text("x = 1\nraise RuntimeError('not today')\n")
    result = call("check", "mine.py", code=2)
    assert "mine.py cannot be read: RuntimeError in mine.py, line 2: not today" in result.stderr


# ---- replay and selftest ------------------------------------------------------------------------------------------


def test_a_counterexample_is_replayed(call) -> None:
    call("check", "good.py", "--counterexamples", "found")
    result = call("replay", "found/TOY-FALSE.json", "good.py")
    assert "met, exact arithmetic: sign: x > 0 with x = 1/2" in result.stdout
    assert result.stdout.splitlines()[-1] == (
        "  VIOLATED as printed (part 'square'); verdict on TOY-FALSE when the file was written: refuted; the file's numbers agree"
    )
    assert "measured 1/2 against the bound 1/4 (fractions)" in result.stdout
    stored = json.loads(Path("found/TOY-FALSE.json").read_text())
    for x, said in ((3.0, "not violated"), (-0.5, "NOT MET, exact arithmetic: sign: x > 0")):
        stored["instance"]["x"] = x
        Path("changed.json").write_text(json.dumps(stored))
        assert said in call("replay", "changed.json", "good.py", code=1).stdout


def test_selftest_counts_what_was_caught_and_names_what_was_missed(call) -> None:
    assert call("selftest", "good.py").stdout == "planted faults caught: 5 / 5\n"
    lines = call("selftest", "good.py", "--verbose").stdout.splitlines()
    assert len(lines) == 6 and all(line.startswith("caught  TOY-") for line in lines[:-1])
    result = call("selftest", "troubled.py", code=1)
    assert result.stdout.splitlines()[-1] == "planted faults caught: 1 / 8"
    assert "MISSED  H-FINE: harmless [it: fine]" in result.stdout and "A-FINE" not in result.stdout


def test_check_tells_which_faults_were_caught(call) -> None:
    call("check", "good.py", "--selftest", "--json", "good.json", "--html", "good.html")
    stored = strict(Path("good.json").read_text())
    assert stored["format"] == 1 and not list(Path(".fedtheory").iterdir())
    assert {v["id"]: [f["outcome"] for f in v["planted"]] for v in stored["verdicts"]} == {
        v["id"]: ["caught"] for v in stored["verdicts"]
    }
    assert "planted faults caught: 5 of 5" in Path("good.html").read_text()
    shown = call("check", "troubled.py", "--selftest", "--verbose", code=1).stdout
    assert "caught  planted fault: negated" in shown and "MISSED  planted fault: harmless [it: fine]" in shown
    assert "planted faults caught: 1 of 8; missed by" in shown and "not run here" not in shown
    assert "planted faults: 1, not run here; --selftest runs them" in call("check", "good.py", "--verbose").stdout


def test_an_interrupted_check_goes_on_with_its_faults(call, monkeypatch) -> None:
    def interrupted(*arguments, **options):
        yield next(run_all_faults(*arguments, **options))
        raise KeyboardInterrupt

    command = ("check", "good.py", "--selftest")
    monkeypatch.setattr(faults, "run_all_faults", interrupted)
    result = call(*command, "--json", "part.json", code=130)
    assert "interrupted after 5 of 5 claims, and planted faults of 1 of 5 claims; the same command" in result.stderr
    assert sum(bool(v["planted"]) for v in strict(Path("part.json").read_text())["verdicts"]) == 1
    monkeypatch.setattr(faults, "run_all_faults", run_all_faults)
    result = call(*command, "--json", "whole.json")
    assert "4 of 5 claims are done" in result.stderr, "a claim with a proof is checked anew"
    assert "1 of 5 claims are done" in result.stderr
    assert all(v["planted"] for v in strict(Path("whole.json").read_text())["verdicts"])
    assert not list(Path(".fedtheory").iterdir()), "complete: nothing is left behind"


# ---- list ---------------------------------------------------------------------------------------------------------


def test_list_names_everything(call) -> None:
    shown = strict(call("list", "--json").stdout)
    assert [a["name"] for a in shown["algorithms"]] == [e.name for e in ALGORITHMS]
    assert {"quadratics", "sines", "a9a"} <= {p["name"] for p in shown["problems"]}
    assert [c["id"] for c in shown["claims"]][:2] == ["TOY-RATE", "TOY-FALSE"]
    assert set(strict(call("list", "problems", "--json").stdout)) == {"problems"}
    text = call("list", "algorithms").stdout
    assert "fedpd-vr" in text and "Karimireddy" in text
    assert call("list", "methods").stdout == text
    call("list", "nothing", code=2)


def test_list_says_what_a_missing_package_leaves_out(call, monkeypatch) -> None:
    def missing() -> None:
        raise NotAvailable("sympy is needed for bounds in symbols")

    monkeypatch.setitem(list_module._LISTS, "claims", missing)
    result = call("list")
    assert "claims are left out: sympy is needed" in result.stderr and "metrics" in result.stdout
    assert "sympy is needed" in call("list", "claims", code=2).stderr


def test_list_is_complete(call) -> None:
    """Every method with what its module says of it, and every engine either runs it or says why not."""
    from fedtheory.measures.catalogue import METRICS
    from fedtheory.proofs.engines import ENGINES

    shown = strict(call("list", "--json").stdout)
    assert list(shown) == ["claims", "algorithms", "problems", "metrics"]
    rows = {row["name"]: row for row in shown["algorithms"]}
    assert len(rows) == len(shown["algorithms"]) == len(ALGORITHMS)
    for entry in ALGORITHMS:
        row = rows[entry.name]
        assert (row["family"], row["source"], row["settings"]) == (entry.family, entry.source, list(entry.uses))
        assert row["options"] == [option.flag for option in entry.options]
        assert row["partial_participation"] is entry.partial
        assert set(row["engines"]) | row["not_run_by"].keys() == set(ENGINES) and "numeric" in row["engines"]
        assert not set(row["engines"]) & row["not_run_by"].keys() and all(row["not_run_by"].values())
    assert all(set(row) == {"id", "paper", "kind", "source", "statement"} for row in shown["claims"])
    assert all(row["name"] and row["description"] for row in shown["problems"])
    metrics = {row["name"]: row for row in shown["metrics"]}
    assert list(metrics) == list(METRICS) and metrics["mean_dual"]["needs"] == "a method whose state has lam_i"
    assert metrics["average_accuracy"]["needs"] == "a method whose state has x_bar and a problem with test_accuracy"


def test_list_groups_methods_by_family_and_tells_who_runs_them(call, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = call("list", "algorithms", "--verbose").stdout
    families = list(dict.fromkeys(entry.family for entry in ALGORITHMS))
    places = [text.index(f"algorithms: {family}") for family in families]
    assert places == sorted(places)
    for entry in ALGORITHMS:
        first = places[families.index(entry.family)]
        assert first < text.index(f"\n{entry.name}  {entry.source}", first)
    words = " ".join(text.split())
    assert "spectrum" in words and "ranks coordinates" in words and "coordinates apart" in words


def test_help_and_version() -> None:
    for arguments in (
        ["-h"],
        *([name, "-h"] for name in ("check", "list", "replay", "run", "sweep", "worst-case", "lyapunov", "selftest")),
    ):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0 and "Usage:" in result.output
    assert "fedtheory" in CliRunner().invoke(main, ["--version"], prog_name="fedtheory").output


# ---- worst-case ---------------------------------------------------------------------------------------------------


def test_worst_case_as_json(call) -> None:
    answer = strict(
        call("worst-case", "fedavg", "--mu", 0.1, "--lr", 1, "--local-steps", 2, "--clients", 1, "--json", "-").stdout
    )
    assert answer["value"] == pytest.approx(0.9**4, rel=1e-6) and answer["lower"] == pytest.approx(0.9**4, rel=1e-6)
    assert answer["replayed"] == pytest.approx(0.9**4, rel=1e-4) and answer["unbounded"] is False
    assert answer["residuals"]["gap"] < 1e-6 and answer["measure"] == "squared_distance" and answer["clients"] == 1
    assert "CLARABEL" in answer["solver"] and answer["attempts"][0]["status"]


def test_worst_case_against_a_bound(call) -> None:
    arguments = ("worst-case", "gd", "--mu", 0.1, "--lr", 1, "--bound")
    assert "the stated bound 0.9 holds" in call(*arguments, 0.9).stdout
    assert "the stated bound 0.8 is violated: worst case / bound = 1.0125" in call(*arguments, 0.8, code=3).stdout
    call(*arguments, 0.8, "--json", "deep/answer.json", code=3)
    assert strict(Path("deep/answer.json").read_text())["ratio"] == pytest.approx(0.81 / 0.8, rel=1e-6)


def test_worst_case_on_smooth_functions(call) -> None:
    answer = strict(
        call("worst-case", "fedpd", "--nonconvex", "--exact", "--eta", 0.2, "--rounds", 2, "--json", "-").stdout
    )
    assert answer["measure"] == "sum_stationarity" and answer["value"] == pytest.approx(2.4587, abs=2e-4)  # FEDPD-D2


def test_worst_case_refuses_what_it_cannot_trace(call) -> None:
    result = call("worst-case", "fedavg", "--batch", 2, code=2)
    assert "error: the worst-case engine has no numbers to decide on, and StochasticSteps" in result.stderr


# ---- a real process -----------------------------------------------------------------------------------------------


def test_a_real_process_with_two_workers(tmp_path) -> None:
    """Verdicts are told on standard error as they come; warnings would show there, and there are none."""
    (tmp_path / "troubled.py").write_text(TROUBLED)
    done = subprocess.run(
        [
            *(sys.executable, "-W", "default", "-c", "from fedtheory.command_line.main import main; main()"),
            *("check", "troubled.py", "--workers", "2", "--json", "verdicts.json", "--html", "report.html"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "3 supported, 5 not run" in done.stdout
    assert sorted(line[0] for line in done.stderr.splitlines()) == list("ABCDEFGH"), "a line a verdict and nothing else"
    verdicts = strict((tmp_path / "verdicts.json").read_text())["verdicts"]
    assert [v["id"][0] for v in verdicts] == list("ABCDEFGH"), "in the order asked for, not in which they ended"
    assert not list((tmp_path / ".fedtheory").iterdir())
