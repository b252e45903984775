"""Attacks on the conformance check: references that were edited, settings that break candidates, trials that hide mistakes."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import numpy as np
import pytest
from click.testing import CliRunner
from conformance_loops import (
    AFedPdLoop,
    DualFlLoop,
    FedAdmmLoop,
    FedAvgLoop,
    FedCmLoop,
    FedDynLoop,
    FedPdLoop,
    FedSamLoop,
    FedSlrLoop,
    Loop,
    ScaffnewLoop,
    ScaffoldLoop,
)

import fedtheory.algorithms.mistakes as known
from fedtheory.algorithms import ALGORITHMS, listed
from fedtheory.algorithms.mistakes import Mistake, StaleMistake, build_as_printed, build_mistaken, find_code_mistakes
from fedtheory.command_line.main import main
from fedtheory.conformance.compare import conform
from fedtheory.conformance.trials import make_trials, play_reference
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
    plain = known.read_source
    monkeypatch.setattr(known, "read_source", lambda kind: plain(kind).replace("x_i", "w_i"))
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


def test_a_correct_scaffold_with_decay_conforms() -> None:
    """The command of the issue: it ended in a traceback with the exit status of "differs"."""
    found = conform(ScaffoldLoop(), "scaffold", values={"lr_decay": 0.9}, **QUICK)
    assert found.agreement == "double" and not found.not_run


def test_the_command_with_decay_gives_a_report(tmp_path) -> None:
    result = conform_by_command(tmp_path, "ScaffoldLoop()", "scaffold", "--lr-decay", "0.9", "--rounds", "3")
    assert result.exit_code == 0 and "CONFORMS" in result.stdout


def test_mistakes_that_cannot_be_run_are_listed_and_not_counted(monkeypatch) -> None:
    add_mistake(monkeypatch, "fedavg", Mistake("crashing", "average(x_i, clients)", "average(x_i / None, clients)"))
    found = conform(FedAvgLoop(), "fedavg", values={"steps": 1}, unequal=False, **QUICK)
    assert found.conforms and {"crashing", "K - 1 local steps"} <= set(found.not_run)
    assert "could not be tried with these settings: crashing (TypeError" in str(found)
    told = found.mistakes_tried - len(found.not_noticed) - len(found.not_run)
    assert f"{told} of {found.mistakes_tried} known mistakes would have been detected" in str(found)


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
    from fedtheory.core.randomness import Key
    from problems.quadratics import random_quadratics

    values = entry.telling | ({"lr_decay": decay} if "lr_decay" in entry.uses else {})
    problem, x0 = random_quadratics(3, 2), np.ones((1, 2))
    for mistake in known.find_mistakes(entry, values):
        try:
            method = build_as_printed(entry, values, (mistake,))
        except FedtheoryError:
            continue
        method.round(problem, method.init(problem, x0), None, Key(0, 1))


# ---- what was never exercised is said -----------------------------------------------------------------------------------


def test_constant_step_sizes_are_said_to_hide_mistakes() -> None:
    found = conform(ScaffoldLoop(), "scaffold", values={"lr_decay": 1.0}, **QUICK)
    assert found.conforms and found.not_exercised["lr_decay"] == "1 in all trials, which hides mistakes about it"
    assert "step sizes do not decay" in found.not_noticed
    assert "CONFORMS up to rounding in double precision (not tried: lr_decay" in str(found)


def test_a_decay_that_is_ignored_is_named() -> None:
    class Constant(FedAvgLoop):
        @property
        def lr(self):
            return self.s.lr

    found = conform(Constant(), "fedavg", **QUICK)
    assert [c.names for c in found.causes] == [("step sizes do not decay",)]


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({"participants": None}, "partial participation"),
        ({"unequal": False}, "unequal local steps"),
        ({"values": {"server_lr": 1.0}}, "server_lr"),
        ({"values": {"steps": 1}, "unequal": False}, "steps"),
        ({}, "minibatches"),
    ],
)
def test_the_headline_names_what_was_not_tried(options, missing) -> None:
    found = conform(ScaffoldLoop(), "scaffold", **QUICK, **options)
    headline = next(line for line in str(found).splitlines() if line.startswith("CONFORMS"))
    assert missing in headline.partition("not tried: ")[2].partition(")")[0]


def test_the_headline_names_what_was_not_compared() -> None:
    class OnlyModel(ScaffoldLoop):
        variables: ClassVar[dict[str, str]] = {"x": "x"}

    assert "not compared: c, c_i)" in str(conform(OnlyModel(), "scaffold", **QUICK))


def test_a_coin_that_fell_one_way_is_said() -> None:
    assert "the coin 'communicate'" not in conform(FedPdLoop(), "fedpd", **QUICK).not_exercised
    found = conform(FedPdLoop(), "fedpd", values={"p": 0.0}, **QUICK)
    assert found.not_exercised["the coin 'communicate'"] == "it was True in all rounds"
    assert "p" in found.not_exercised


# ---- regularisers and data of the server ---------------------------------------------------------------------------------


def test_fedslr_is_compared_with_three_regularisers() -> None:
    found = conform(FedSlrLoop(), "fedslr", **QUICK)
    assert found.agreement == "double"
    for how in ("an l1 norm", "a ridge", "a nuclear norm"):
        assert any(name.endswith(f"with {how}") for name in found.trials)


@pytest.mark.parametrize("bug", ["no proximal step", "lambda", "lambda/eta"])
def test_a_wrong_proximal_step_of_the_server_differs(bug) -> None:
    """It "conformed" as long as no trial had a regulariser."""
    found = conform(FedSlrLoop(bug), "fedslr", **QUICK)
    assert not found.conforms and len(found.differs_in) == 3
    assert all("with a" in name for name in found.differs_in)
    smooth = conform(FedSlrLoop(bug), "fedslr", regularisers=False, **QUICK)
    assert smooth.conforms and "regularisers: not asked for" in smooth.left_out
    assert "not tried: unequal local steps, regularisers, " in str(smooth)


def test_a_paper_without_a_regulariser_is_not_asked_for_one() -> None:
    trials, left_out = make_trials(
        listed("dualfl"),
        listed("dualfl").telling,
        clients=3,
        dimension=2,
        rounds=3,
        seeds=1,
        participants=2,
        unequal=False,
    )
    assert not any(trial.penalty for trial in trials)
    assert any(what.startswith("regularisers: what dualfl is published as has none") for what in left_out)


def test_a_penalty_is_checked_and_keeps_the_kind() -> None:
    trials, _ = make_trials(
        listed("fedslr"),
        listed("fedslr").telling,
        clients=3,
        dimension=2,
        rounds=2,
        seeds=1,
        participants=2,
        unequal=False,
    )
    penalty = trials[-1].task().regulariser
    assert penalty.name == "nuclear" and penalty.matrix == (2, 2) and trials[-1].problem.d == 5
    assert penalty.prox(np.ones(5, np.float32), 0.1).dtype == np.float32
    with pytest.raises(InvalidInput, match=r"at a point of shape \(2, 5\)"):
        penalty.prox(np.ones((2, 5)), 0.1)


class SafariLoop(Loop):
    def average(self, x):
        return np.mean([g(x) for g in self.t.gradients], axis=0)

    def round(self, asked):
        heads = asked.coins["communicate"] != (self.bug == "coin the other way")
        if heads:
            self.x = np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
            return self.state()
        at = self.t.server
        if self.bug == "clients' average":
            at = self.average
        for _ in range(self.s.server_steps):
            self.x = self.x - self.s.server_lr * self.lr * at(self.x)
        return self.state()


@pytest.mark.parametrize("bug", ["", "coin the other way", "clients' average"])
def test_safari_can_be_examined(bug) -> None:
    found = conform(SafariLoop(bug), "safari", **QUICK)
    assert found.conforms == (not bug)


# ---- a published variant covers every declared variable ------------------------------------------------------------------


def test_a_wrong_personal_component_is_no_published_variant() -> None:
    """It was called "what is published as fedslr-global", which has no p_i."""
    found = conform(FedSlrLoop("wrong p_i"), "fedslr", regularisers=False, **QUICK)
    assert found.first.variable == "p_i" and not found.variants and "published as" not in str(found)


def test_a_variant_says_which_of_its_variables_were_not_compared() -> None:
    class OnlyModel(FedDynLoop):
        variables: ClassVar[dict[str, str]] = {"x": "theta"}

    found = conform(OnlyModel("old dual"), "feddyn", **QUICK)
    (variant,) = [v for v in found.variants if v.name == "feddyn-printed"]
    assert set(variant.unseen) >= {"lam", "lam_i"} and "its " in str(found) and "not compared" in str(found)


# ---- where a paper is silent ----------------------------------------------------------------------------------------------


def test_zero_duals_of_fedpd_are_another_choice() -> None:
    """Algorithm 2 leaves them open; the report said "not as in the paper"."""
    found = conform(FedPdLoop("zero duals"), "fedpd", **QUICK)
    assert found.silent and found.open_starts == ("lam_i",) and "not as in the paper" not in str(found)
    assert "lam_i starts at zero, not as in the reference: another choice where the paper is silent (init_dual)" in str(
        found
    )
    assert "DIFFERS only where the paper is silent" in str(found)
    assert conform(FedPdLoop("zero duals"), "fedpd", values={"init_dual": "zero"}, **QUICK).conforms


def test_local_work_towards_an_argmin_may_start_elsewhere() -> None:
    class Warm(FedAdmmLoop):
        def descend(self, i, start, extra=lambda y: 0, steps=None):
            return super().descend(i, self.w[i], extra, steps)

    found = conform(Warm(), "fedadmm", **QUICK)
    assert found.silent and [c.names for c in found.causes] == [("local work from the client's own model",)]
    assert "another choice where the paper is silent: local work from the client's own model" in str(found)


@pytest.mark.parametrize(
    ("loop", "bug", "method"), [(ScaffoldLoop, "random start", "scaffold"), (FedPdLoop, "sign", "fedpd")]
)
def test_what_a_paper_says_is_no_choice(loop, bug, method) -> None:
    found = conform(loop(bug), method, **QUICK)
    assert not found.silent and "silent" not in str(found)


# ---- declared variables fix others ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "bug", "method", "kept"),
    [
        (ScaffoldLoop, "no 1/K", "scaffold", {"x": "x", "c_i": "controls"}),
        (FedDynLoop, "no rho", "feddyn", {"x": "theta", "lam_i": ("grads", -1)}),
        (AFedPdLoop, "no dual", "a-fedpd", {"x": "x", "lam_i": "duals"}),
    ],
)
def test_a_mean_that_is_not_declared_follows_from_what_is(loop, bug, method, kept) -> None:
    """Which variables move wrongly could not be said, although the clients' variables fix the server's."""

    class Partial(loop):
        variables: ClassVar = kept

    found = conform(Partial(bug), method, **QUICK)
    assert found.updates is not None and not all(found.updates.values()) and found.not_compared


def test_duals_of_the_other_sign_fix_those_of_the_paper() -> None:
    class Signed(FedSlrLoop):
        variables: ClassVar[dict[str, Any]] = {"x": "x", "lam_i": ("duals", -1), "p_i": "own"}

    found = conform(Signed("wrong p_i"), "fedslr", regularisers=False, **QUICK)
    assert found.updates == {"x": True, "p_i": False, "lam_i": True}


def test_a_word_of_a_method_on_its_variables_is_true() -> None:
    """What a method says that others fix is what its rounds give, in every trial."""
    said = [entry for entry in ALGORITHMS if entry.kind.fixes]
    assert {entry.name for entry in said} >= {"scaffold", "feddyn", "a-fedpd", "fedslr", "fedslr-memory"}
    for entry in said:
        trials, _ = make_trials(
            entry, entry.telling, clients=4, dimension=2, rounds=4, seeds=1, participants=2, unequal=True
        )
        for trial in trials:
            for state in play_reference(entry.build(**trial.values), trial).states:
                for name, from_others in entry.kind.fixes.items():
                    if name in state:
                        assert np.allclose(from_others(state), state[name], rtol=0, atol=1e-12), (entry.name, name)


# ---- mistakes that had no name ---------------------------------------------------------------------------------------------

LOOPS = {
    "a-fedpd": AFedPdLoop,
    "dualfl": DualFlLoop,
    "fedadmm": FedAdmmLoop,
    "fedavg": FedAvgLoop,
    "fedcm": FedCmLoop,
    "fedsam": FedSamLoop,
    "fedslr": FedSlrLoop,
    "scaffnew": ScaffnewLoop,
    "scaffold": ScaffoldLoop,
}
BUGS = {
    ("dualfl", "index + 1"): "momentum of the round after",
    ("dualfl", "index - 1"): "momentum of the round before",
    ("dualfl", "no momentum"): "momentum of the first round in all",
    ("dualfl", "backwards"): "extrapolation backwards",
    ("dualfl", "from the extrapolated point"): "extrapolation from the extrapolated point",
    ("dualfl", "no nu"): "control variate not multiplied by nu",
    ("dualfl", "sign"): "sign of the control variate in local work",
    ("dualfl", "twice"): "control variate applied twice",
    ("dualfl", "old model"): "control update with the old server model",
    ("dualfl", "from the server"): "local work from the server's model",
    ("fedslr", "lambda"): "threshold lambda in place of lambda eta",
    ("fedslr", "lambda/eta"): "threshold lambda/eta in place of lambda eta",
    ("fedslr", "no proximal step"): "no proximal step at the server",
    ("fedslr", "sign in local work"): "sign of the dual in local work",
    ("fedslr", "sign of the dual step"): "sign of the dual step",
    ("fedslr", "sign at the server"): "sign of the server's dual",
    ("fedslr", "1/eta"): "server dual divided by eta, as Algorithm 2 prints",
    ("fedslr", "average before the dual step"): "server dual of before the round",
    ("a-fedpd", "away keep"): "no virtual update of absent clients' duals",
    ("a-fedpd", "dual over active"): "server dual over active clients",
    ("a-fedpd", "average before the dual step"): "server dual of before the round",
    ("fedcm", "exchanged"): "alpha in the place of 1 - alpha",
    ("fedcm", "no 1 - alpha"): "direction not weighed by 1 - alpha",
    ("fedcm", "no 1/K"): "no 1/K in the direction",
    ("fedcm", "no 1/lr"): "no 1/lr in the direction",
    ("fedcm", "not divided"): "direction not divided by the path's length",
    ("fedcm", "sign"): "sign of the direction",
    ("fedcm", "server step"): "server step in the direction",
    ("fedcm", "accumulated"): "direction accumulated",
    ("fedsam", "not normalised"): "ascent not divided by the gradient's norm",
    ("fedsam", "descent"): "descent in place of SAM's ascent",
    ("fedsam", "no ascent"): "no ascent",
    ("scaffnew", "correction twice"): "correction applied twice",
    ("scaffnew", "gradient at the server's model"): "gradient at the server's model",
    ("scaffnew", "always"): "communicates in every round",
    ("scaffnew", "other way"): "the coin the other way",
    ("scaffnew", "control always"): "control update also without communication",
    ("scaffold", "correction twice"): "correction applied twice",
    ("fedavg", "gradients at the first point"): "all local gradients at the first point",
    ("fedadmm", "stale dual"): "stale dual sent",
}


@pytest.mark.parametrize("method", sorted(LOOPS))
def test_the_loops_conform_without_a_bug(method) -> None:
    found = conform(LOOPS[method](), method, **QUICK)
    assert found.agreement == "double" and not found.not_run, str(found)


@pytest.mark.parametrize(("method", "bug"), BUGS)
def test_bugs_are_named_and_nothing_else_is_blamed(method, bug) -> None:
    found = conform(LOOPS[method](bug), method, seeds=1)
    assert [cause.names for cause in found.causes] == [(BUGS[method, bug],)], str(found)


def test_coins_of_ones_own_are_named() -> None:
    found = conform(ScaffnewLoop("own coin"), "scaffnew", seeds=1)
    assert [c.names for c in found.causes] == [("coins of its own, not those that it was told",)]


def test_a_variable_one_round_old_is_named() -> None:
    class Late(ScaffoldLoop):
        def round(self, asked):
            before = self.c
            return super().round(asked) | {"c": before}

    found = conform(Late(), "scaffold", **QUICK)
    assert [c.names for c in found.causes] == [("c one round old",)]


# ---- a regulariser that an implementation does not have ------------------------------------------------------------------


class PlainAdmm(FedAdmmLoop):
    """FedADMM as its paper has it, without a regulariser."""

    def prox(self, v, step):
        return v


def test_a_correct_method_without_its_regulariser_is_not_rejected() -> None:
    """It was rejected on trials with an l1 norm, and nothing said why."""
    found = conform(PlainAdmm(), "fedadmm", **QUICK)
    assert found.agreement == "double" and not any(name.endswith("norm") for name in found.trials)
    assert "the implementation ignores task.regulariser" in str(found)
    headline = next(line for line in str(found).splitlines() if line.startswith("CONFORMS"))
    assert "not tried: regularisers" in headline


def test_a_wrong_method_without_its_regulariser_is_still_wrong() -> None:
    class Wrong(PlainAdmm):
        pass

    found = conform(Wrong("stale dual"), "fedadmm", **QUICK)
    assert [cause.names for cause in found.causes] == [("stale dual sent",)]


def test_where_the_regulariser_is_the_method_ignoring_it_differs_and_is_said() -> None:
    found = conform(FedSlrLoop("no proximal step"), "fedslr", **QUICK)
    assert not found.conforms and found.ignores_regularisers
    assert "task.regulariser.prox(v, step); of an implementation without one ask for --smooth" in str(found)


def test_a_regulariser_that_is_used_wrongly_is_not_called_ignored() -> None:
    class Inverted(FedAdmmLoop):
        def prox(self, v, step):
            return super().prox(v, 1 / step)

    found = conform(Inverted(), "fedadmm", **QUICK)
    assert not found.conforms and not found.ignores_regularisers
    assert all("with a" in name for name in found.differs_in)
