"""Attacks on the conformance check: references that were edited, settings that break candidates, trials that hide mistakes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conformance_loops import FedAvgLoop, ScaffoldLoop

import fedtheory.algorithms.mistakes as known
from fedtheory.algorithms import ALGORITHMS, listed
from fedtheory.algorithms.mistakes import Mistake, StaleMistake, build_as_printed, build_mistaken, find_code_mistakes
from fedtheory.command_line.main import main
from fedtheory.conformance.compare import conform
from fedtheory.core.errors import FedtheoryError, InvalidInput

QUICK = {"seeds": 1, "rounds": 4}


def add_mistake(monkeypatch, method, mistake):
    """List one more known mistake of a method for the time of a test."""
    kind = listed(method).kind
    module = sys.modules[kind.__module__]
    monkeypatch.setattr(module, "MISTAKES", {**module.MISTAKES, kind: (*module.MISTAKES[kind], mistake)})


# ---- a known mistake that does not fit the code is an error of this package -------------------------------------------


def test_a_renamed_local_variable_of_the_reference_raises(monkeypatch) -> None:
    """The edit's text is gone from the source: before, the mistake silently counted as one that is not noticed."""
    plain = known._source
    monkeypatch.setattr(known, "_source", lambda kind: plain(kind).replace("x_i", "w_i"))
    with pytest.raises(StaleMistake, match=r"of FedAvg finds its text 'average\(x_i, clients\)' 0 times"):
        conform(FedAvgLoop(), "fedavg", **QUICK)


@pytest.mark.parametrize("bug", ["", "sum"])
def test_a_text_that_is_not_there_raises_for_good_code_and_bad(monkeypatch, bug) -> None:
    add_mistake(monkeypatch, "fedavg", Mistake("stale", "no such text", ""))
    with pytest.raises(StaleMistake, match=r"'stale' of FedAvg .* MISTAKES of fedtheory.algorithms.fedavg"):
        conform(FedAvgLoop(bug), "fedavg", **QUICK)


@pytest.mark.parametrize(
    ("new", "message"),
    [("average(no_such_name, clients)", "uses a name that its code does not have"), ("average(", "is no code")],
)
def test_an_edit_that_makes_no_code_raises(monkeypatch, new, message) -> None:
    add_mistake(monkeypatch, "fedavg", Mistake("stale", "average(x_i, clients)", new))
    with pytest.raises(StaleMistake, match=message):
        conform(FedAvgLoop(), "fedavg", **QUICK)


def test_a_text_that_stands_twice_raises() -> None:
    with pytest.raises(StaleMistake, match=r"finds its text 'clients' \d+ times"):
        build_mistaken(listed("fedavg"), {}, (Mistake("m", "clients", ""),))


def test_a_printed_line_that_is_not_there_raises() -> None:
    with pytest.raises(StaleMistake):
        build_mistaken(listed("fedavg"), {}, (), Mistake("", "no such text", ""))


def test_two_edits_of_one_text_are_a_pair_that_does_not_exist() -> None:
    """That is no error of the package: the pair is no candidate."""
    pair = [m for m in find_code_mistakes(listed("fedavg").kind) if m.old == "average(x_i, clients)"][:2]
    with pytest.raises(InvalidInput, match="edited by another mistake"):
        build_as_printed(listed("fedavg"), {}, tuple(pair))


def test_a_stale_mistake_is_not_the_status_of_code_that_differs(monkeypatch, tmp_path) -> None:
    add_mistake(monkeypatch, "fedavg", Mistake("stale", "no such text", ""))
    result = conform_by_command(tmp_path, "FedAvgLoop()", "fedavg")
    assert result.exit_code == 2 and "says nothing of the implementation" in result.stderr


# ---- no candidate crashes a report ------------------------------------------------------------------------------------


def conform_by_command(folder, made, method, *arguments):
    file = folder / "mine.py"
    file.write_text(f"from conformance_loops import *\n\n\ndef adapter():\n    return {made}\n")
    return CliRunner().invoke(main, ["conform", str(file), "--method", method, "--seeds", "1", *arguments])


class Decaying(ScaffoldLoop):
    """SCAFFOLD with step sizes lr decay^r."""

    def round(self, asked):
        begun = self.s.lr
        self.s.lr = begun * self.s.lr_decay**asked.number
        try:
            return super().round(asked)
        finally:
            self.s.lr = begun


def test_a_correct_scaffold_with_decay_conforms() -> None:
    """The command of the issue: it ended in a traceback with the exit status of "differs"."""
    found = conform(Decaying(), "scaffold", values={"lr_decay": 0.9}, **QUICK)
    assert found.agreement == "double" and not found.not_run


def test_the_command_with_decay_gives_a_report(tmp_path) -> None:
    result = conform_by_command(tmp_path, "ScaffoldLoop()", "scaffold", "--lr-decay", "0.9", "--rounds", "3")
    assert result.exit_code == 1 and "DIFFERS" in result.stdout


def test_mistakes_that_cannot_be_run_are_listed_and_not_counted(monkeypatch) -> None:
    add_mistake(monkeypatch, "fedavg", Mistake("crashing", "average(x_i, clients)", "average(x_i / None, clients)"))
    found = conform(FedAvgLoop(), "fedavg", values={"steps": 1}, unequal=False, **QUICK)
    assert found.conforms and {"crashing", "K - 1 local steps"} <= set(found.not_run)
    assert "could not be tried with these settings: crashing (TypeError" in str(found)
    told = found.mistakes_tried - len(found.not_noticed) - len(found.not_run)
    assert f"{told} of {found.mistakes_tried} known mistakes would have been noticed" in str(found)


def test_a_candidate_that_raises_anything_spoils_no_finding(monkeypatch) -> None:
    add_mistake(monkeypatch, "fedavg", Mistake("crashing", "average(x_i, clients)", "{}[x_i.shape]"))
    found = conform(FedAvgLoop("sum"), "fedavg", **QUICK)
    assert [c.names for c in found.causes] == [("sum instead of mean",)]


def test_an_adapter_that_leaves_the_program_is_an_error() -> None:
    class Leaving(FedAvgLoop):
        def round(self, asked):
            sys.exit(0)

    with pytest.raises(InvalidInput, match="the adapter raised in its round 1: SystemExit"):
        conform(Leaving(), "fedavg", **QUICK)


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if find_code_mistakes(e.kind)], ids=lambda e: e.name)
@pytest.mark.parametrize("decay", [1.0, 0.9])
def test_every_known_mistake_runs(entry, decay) -> None:
    """Also where step sizes change from round to round."""
    from problems.quadratics import random_quadratics
    from fedtheory.core.randomness import Key

    values = entry.telling | ({"lr_decay": decay} if "lr_decay" in entry.uses else {})
    problem, x0 = random_quadratics(3, 2), np.ones((1, 2))
    for mistake in known.find_mistakes(entry, values):
        try:
            method = build_as_printed(entry, values, (mistake,))
        except FedtheoryError:
            continue
        method.round(problem, method.init(problem, x0), None, Key(0, 1))
