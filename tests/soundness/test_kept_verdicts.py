"""Attacks on what ``fedtheory check`` keeps of an interrupted run: words and evidence that were edited, or that somebody else wrote."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

import numpy as np
import pytest
from claim_files import GOOD
from click.testing import CliRunner

from fedtheory.claims import experiments
from fedtheory.claims.checking import make_check_journal, run_checks
from fedtheory.claims.claim import Claim, Covered, Fault
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training
from fedtheory.claims.faults import make_fault_journal, run_all_faults
from fedtheory.claims.findings import gather_findings, restore_findings
from fedtheory.claims.identity import FILE, Identity
from fedtheory.claims.parts import at_most, proved
from fedtheory.claims.references import load_claims, select
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.facts import compare
from fedtheory.proofs.rocq import compiling
from fedtheory.proofs.rocq.folders import CORE, RocqTheorem, core_digest
from fedtheory.proofs.rocq.keeping import seal_core
from fedtheory.running.results import Results
from fedtheory.tools import journal
from fedtheory.tools.journal import Journal


@pytest.fixture
def interrupted(tmp_path):
    """Claims, a journal of their checks that was not closed, and their verdicts."""
    file = tmp_path / "good.py"
    file.write_text(GOOD)
    references = select([str(file)])
    kept = make_check_journal(references, Context(), tmp_path / ".fedtheory")
    return references, kept, {v.id: v for v in run_checks(references, Context(), journal=kept)}


def judge_again(references, folder):
    """The verdicts of the same command, and what it says of the journal."""
    kept, said = make_check_journal(references, Context(), folder), []
    found = {v.id: v for v in run_checks(references, Context(), journal=kept, refused=said.append)}
    return kept, found, said


def words(verdicts):
    return {id: (v.status, v.margin, v.evidence, v.readings, v.counterexample) for id, v in verdicts.items()}


EDITS = {
    "the word": (b'"word": "refuted"', b'"word": "proved"'),
    "an outcome": (b'"holds": false', b'"holds": true'),
    "a number": (b'"measured": 0.5', b'"measured": 0.9'),
    "a text": (b"As printed", b"Not so much"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_line_is_not_believed(interrupted, name) -> None:
    references, kept, first = interrupted
    before, after = EDITS[name]
    content = kept.path.read_bytes()
    assert before in content
    kept.path.write_bytes(content.replace(before, after))
    again, found, said = judge_again(references, kept.path.parent)
    assert "TOY-FALSE" in again.changed and words(found) == words(first) and said == []


def test_the_command_names_what_it_does_not_believe(monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(GOOD)
    command = ["check", "good.py", "--workers", "1"]
    with monkeypatch.context() as patched:
        patched.setattr(Journal, "close", lambda self: None)  # as where a report could not be written
        CliRunner().invoke(main, command)
    (kept,) = Path(".fedtheory").glob("check-*.journal")
    kept.write_bytes(kept.read_bytes().replace(*EDITS["the word"]))
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    told = "was changed after it was written, or written by somebody else, and is not believed: TOY-FALSE\n"
    assert told in result.stderr and "resuming an interrupted run: 3 of 5 claims are done\n" in result.stderr
    line = next(line for line in result.stdout.splitlines() if "TOY-FALSE" in line)
    assert "refuted" in line and "proved" not in line and not kept.exists()


def test_what_somebody_else_wrote_is_not_believed(interrupted, monkeypatch) -> None:
    """As when a journal comes with a repository."""
    references, kept, first = interrupted
    kept.path.unlink()
    monkeypatch.setattr(journal, "find_key", lambda: secrets.token_bytes(32))
    kept.add("TOY-FALSE", {"word": "proved", "findings": {}})
    monkeypatch.undo()
    again, found, _ = judge_again(references, kept.path.parent)
    assert again.changed == ("TOY-FALSE",) and words(found) == words(first)


def test_a_line_of_another_journal_is_not_believed(tmp_path) -> None:
    one, other = Journal("a", 1, folder=tmp_path), Journal("a", 2, folder=tmp_path)
    one.add("x", 1)
    other.path.write_bytes(one.path.read_bytes())
    assert one.read() == {"x": 1} and one.changed == () and other.read() == {} and other.changed == ("x",)


def test_a_word_that_its_evidence_does_not_say_is_refused_by_name_even_with_the_users_own_key(interrupted) -> None:
    references, kept, first = interrupted
    value = kept.read()["TOY-FALSE"]
    kept.add("TOY-FALSE", value | {"word": "proved"})
    _, found, said = judge_again(references, kept.path.parent)
    assert words(found) == words(first)
    assert said == [
        "TOY-FALSE: what the journal keeps of it is refused (its word is 'proved', its evidence says refuted); it is checked anew"
    ]


FINDINGS = {
    "an outcome beside its counterexample": (lambda f: f["parts"][0].update(holds=True), "shows no violation"),
    "a number that was not measured": (
        lambda f: f["parts"][0]["counterexample"].update(measured=9.0),
        "comes out otherwise when it is measured again",
    ),
    "another instance": (lambda f: f["parts"][0]["counterexample"].update(instance={"x": 0.25}), "comes out otherwise"),
    "an instance that is none": (lambda f: f["parts"][0]["counterexample"].update(instance={}), "KeyError"),
    "a proof": (lambda f: f["parts"][0].update(proof={"facts": ["x"]}), "the fields of a part are not those"),
    "a field more": (lambda f: f.update(word="proved"), "its fields are not"),
    "a field less": (lambda f: f.pop("parts"), "its fields are not"),
    "no parts": (lambda f: f.update(parts=None), "TypeError"),
    "another engine": (lambda f: f["parts"][0].update(engine="oracle"), "unknown engine 'oracle'"),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_findings_are_read_with_suspicion(interrupted, name) -> None:
    references, kept, _ = interrupted
    change, message = FINDINGS[name]
    found = kept.read()["TOY-FALSE"]["findings"]
    claim = load_claims(references[0].source)["TOY-FALSE"]
    assert restore_findings(found, claim).parts[0].refutes
    change(found)
    with pytest.raises(InvalidInput, match=message):
        restore_findings(found, claim)


def test_kept_findings_make_the_same_verdict_and_proofs_are_proved_again(interrupted) -> None:
    references, kept, first = interrupted
    assert {*kept.read()} == {"TOY-RATE", "TOY-FALSE", "TOY-REPAIRED", "TOY-ORDER"}, "TOY-PROVED rests on a proof"
    again, found, said = judge_again(references, kept.path.parent)
    assert words(found) == words(first) and found["TOY-PROVED"].status == "argued"
    assert said == [] and again.changed == ()
    same = {id for id, verdict in found.items() if verdict == first[id]}
    assert {*kept.read()} <= same, "to the second: they were not run again"


def test_findings_survive_being_plain_data() -> None:
    def check(context, holds=True):
        yield at_most(
            "values", [0.5, float("nan")], [1.0, 1.0], "numeric", "two", covered=Covered(2, "points", whole=True)
        )
        yield proved("vouched", True, "as one sees", role="reading")

    claim = Claim("X", "toy", "bound", "(1)", "It is so.", check, (Fault("none", "values", {}),))
    found = gather_findings(claim, Context())
    assert found.can_be_kept and restore_findings(json.loads(json.dumps(found.as_data())), claim) == found

    def with_proof(context):
        yield proved("a third", compare(1, "<", 2), "one is below two")

    assert not gather_findings(Claim("Y", "toy", "bound", "", "", with_proof, claim.faults), Context()).can_be_kept


def test_an_edited_report_of_faults_is_not_believed(interrupted, tmp_path) -> None:
    references, _, _ = interrupted
    kept = make_fault_journal(references, Context(), tmp_path / "faults")
    list(run_all_faults(references, Context(), journal=kept))
    content = kept.path.read_bytes()
    kept.path.write_bytes(content.replace(b'"detail": "', b'"detail": "very '))
    assert kept.read() == {} and len(kept.changed) == 5


# ---- checkpoints ------------------------------------------------------------------------------------------------------

RUN = ("run", "fedavg", "quadratics", "--rounds", "3", "--results", "out")
CHECKPOINT = Path("out") / "checkpoint.npz"


def change_arrays(path: Path, **changes) -> None:
    """Change arrays of a checkpoint, and leave everything else, its code included, as it was."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    np.savez(path, **arrays)


CHANGES = {
    "a number that was measured": {"metric.stationarity": lambda values: values * 0 + 0.123},
    "the model": {"state.x": lambda values: values * 0},
    "the rounds that are done": {
        "meta": lambda text: np.asarray(json.dumps({**json.loads(str(text)), "done": 3, "rounds": [0, 1, 2, 4]}))
    },
    "what was sent": {"up": lambda values: values + 1},
    "a shape": {"sent_up": lambda value: value.reshape(1)},
    "no code": {"code": lambda code: np.asarray("")},
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_edited_checkpoint_is_refused_by_name(name) -> None:
    assert CliRunner().invoke(main, RUN).exit_code == 0
    change_arrays(CHECKPOINT, **CHANGES[name])
    result = CliRunner().invoke(main, RUN)
    assert result.exit_code == 2 and result.stdout == "", result.output
    assert (
        "the checkpoint out/checkpoint.npz was changed after it was written, or written by another user"
        in result.stderr
    )
    assert len(result.stderr.splitlines()) == 1 and "delete it to start afresh" in result.stderr


def test_a_checkpoint_that_was_not_changed_is_gone_on_with_and_one_of_another_user_is_not(monkeypatch) -> None:
    first = CliRunner().invoke(main, RUN)
    change_arrays(CHECKPOINT)
    again = CliRunner().invoke(main, RUN)
    assert first.exit_code == again.exit_code == 0
    monkeypatch.setattr(journal, "find_key", lambda: secrets.token_bytes(32))
    result = CliRunner().invoke(main, RUN)
    assert result.exit_code == 2 and "written by another user or on another machine" in result.stderr


def test_numbers_of_an_edited_checkpoint_are_not_laundered_into_a_kept_run(tmp_path) -> None:
    """They were read as the run's own, and its identity was given digests of them."""
    training = Training(
        "fedavg", "digits-softmax", 2, {"lr": 0.1, "steps": 1, "batch": 8}, {"clients": 3, "split": "iid"}, ("value",)
    )
    context = Context(results=str(tmp_path / "runs"))
    folder = tmp_path / "runs" / training.key
    Identity.of(training, context).begin(folder)
    results = Results(folder, training.configuration)
    experiments._trained([training], None, context.device, context.library, results)
    change_arrays(results.checkpoint, **{"metric.value": lambda values: values * 0 + 0.123})
    with pytest.raises(InvalidInput, match="is not believed"):
        training.read(context)
    assert json.loads((folder / FILE).read_text())["files"] == {}


# ---- answers of Rocq --------------------------------------------------------------------------------------------------

THEOREM = RocqTheorem("falls", "a step falls", "", "Definition statement := True.", "Theorem proof : statement.")
CLOSED = "Closed under the global context"


class FakeCompiler:
    """In the place of ``coqc``: writes a compiled file, and answers a theorem's proof with a status and a text."""

    def __init__(self, code=0, said=CLOSED) -> None:
        self.code, self.said, self.asked = code, said, []

    def __call__(self, command, folder):
        word = Path(command[-1]).stem
        self.asked.append(word)
        (folder / f"{word}.vo").write_text(f"compiled {word}")
        return (self.code, self.said) if word == "Together" else (0, "")


@pytest.fixture
def ask(monkeypatch, tmp_path):
    """A check of the theorem by such a compiler, as in any folder; what it says, and what was compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling, "find_compiler", lambda: ("coqc", "8.16.1"))

    def ask_compiler(**said):
        compiler = FakeCompiler(**said)
        monkeypatch.setattr(compiling, "_run", compiler)
        return compiling.check_theorem(THEOREM), compiler.asked

    return ask_compiler


REFUSES = {"code": 1, "said": 'File "./Proof.v", line 1, characters 0-4:\nError: it is false.'}


@pytest.mark.parametrize(
    "content", ['{"accepted": true, "version": "9.9.9-forged", "axioms": []}', "[1, 2]", "[" * 10**5]
)
def test_an_answer_that_lies_in_the_working_folder_is_not_read(ask, content) -> None:
    """It came with the folder, as a repository may bring it, and was printed as what Rocq said."""
    kept = Path(".fedtheory") / "rocq"
    kept.mkdir(parents=True)
    if content.startswith("{"):
        rest = {"name": "falls", "date": "2020-01-01", "seconds": 0.1, "said": ""}
        content = json.dumps({**json.loads(content), **rest})
    (kept / f"{THEOREM.digest()}-8.16.1.json").write_text(content)
    answer, _ = ask(**REFUSES)
    assert not answer.accepted and answer.version == "8.16.1" and "it is false" in answer.said


def test_an_answer_is_kept_in_the_users_cache_and_an_edited_one_is_asked_again(ask, tmp_path) -> None:
    first, _ = ask(said="Axioms:\nClassical_Prop.classic : forall P : Prop, P")
    again, asked = ask(**REFUSES)
    assert first.accepted and first.axioms == ("Classical_Prop.classic",) and again == first and asked == []
    (journal_of_answers,) = (tmp_path / "cache" / "fedtheory" / "rocq").glob("answers-*.journal")
    content = journal_of_answers.read_bytes()
    journal_of_answers.write_bytes(content.replace(b'["Classical_Prop.classic"]', b"[]"))
    assert journal_of_answers.read_bytes() != content
    edited, asked = ask(**REFUSES)
    assert not edited.accepted and asked == ["Together"]


def test_axioms_of_a_kept_answer_are_judged_again(ask, monkeypatch) -> None:
    first, _ = ask(said="Axioms:\nClassical_Prop.classic : forall P : Prop, P")
    monkeypatch.setattr(compiling, "AXIOMS", frozenset())
    again, asked = ask()
    assert first.accepted and asked == [] and not again.accepted and again.said == "it rests on Classical_Prop.classic"


NO_ANSWERS = {
    "no time": {"code": 124, "said": "Proof.v took more than 0.2 s"},
    "killed": {"code": -9, "said": ""},
    "no memory": {"code": 1, "said": "Error: Out of memory."},
    "an anomaly": {"code": 129, "said": "Anomaly"},
    "a refusal": REFUSES,
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_need_not_be_said_again_is_not_kept(ask, name) -> None:
    """A compiler that had no time was answered for ever; a refusal may be one of those, too."""
    first, _ = ask(**NO_ANSWERS[name])
    again, _ = ask()
    assert not first.accepted and first.said and again.accepted


def forge_core(core: Path, how: str) -> None:
    if how == "a compiled file":
        (core / "Classes.vo").write_text("accepts everything")
    elif how == "a file more":
        (core / "More.vo").write_text("accepts everything")
    elif how == "a folder more":
        (core / "Inner").mkdir()
    elif how == "no code":
        (core / "code").unlink()
    elif how == "a folder elsewhere":
        core.rename(core.with_name("elsewhere"))
        (core.parent / "elsewhere" / "Classes.vo").write_text("accepts everything")
        core.symlink_to(core.parent / "elsewhere")


@pytest.mark.parametrize("how", ["a compiled file", "a file more", "a folder more", "no code", "a folder elsewhere"])
def test_a_compiled_core_that_was_changed_is_not_used(ask, how) -> None:
    _, asked = ask()
    assert asked == [*CORE, "Together"]
    core = compiling.compile_core()
    assert ask(**REFUSES)[1] == [] and (core / "Classes.vo").read_text() == "compiled Classes"
    forge_core(core, how)
    assert compiling.compile_core() == core
    assert (core / "Classes.vo").read_text() == "compiled Classes" and not core.is_symlink()
    assert not {"More.vo", "Inner"} & {path.name for path in core.iterdir()}


def test_a_compiled_core_of_somebody_else_is_not_used(ask, monkeypatch) -> None:
    """As where a cache comes with a repository, under the names that are used here."""
    ask()
    own = compiling.compile_core()
    with monkeypatch.context() as patched:
        patched.setattr(journal, "find_key", lambda: b"k" * 32)
        other = compiling.compile_core()
        (other / "Classes.vo").write_text("accepts everything")
        seal_core(other, own.name)
    own.rename(own.with_name("gone"))
    other.rename(own)
    assert (compiling.compile_core() / "Classes.vo").read_text() == "compiled Classes"


def test_a_core_or_an_answer_in_the_working_folder_is_not_looked_for(ask) -> None:
    core = Path(".fedtheory") / "rocq" / f"core-8.16.1-{core_digest()}"
    core.mkdir(parents=True)
    (core / "Classes.vo").write_text("accepts everything")
    assert ask()[1] == [*CORE, "Together"] and compiling.compile_core().resolve() != core.resolve()


# ---- the key ----------------------------------------------------------------------------------------------------------


def test_the_key_is_made_once_and_is_the_users_alone(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    keys = set()
    for _ in range(2):
        journal.find_key.cache_clear()
        keys.add(journal.find_key())
    file = tmp_path / "state" / "fedtheory" / "journal.key"
    assert keys == {file.read_bytes()} and len(file.read_bytes()) == 32 and file.stat().st_mode & 0o77 == 0
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/no")
    journal.find_key.cache_clear()
    assert len(journal.find_key()) == 32 and journal.find_key() not in keys, "one for this process alone"
    journal.find_key.cache_clear()


def test_a_journal_is_not_that_of_a_claim_file_whose_neighbour_changed(tmp_path) -> None:
    """A claim file may import its neighbours; what was found with another one of them was gone on with."""
    (tmp_path / "mine.py").write_text("import helper\n")
    names = set()
    for text in ("LEVEL = 1\n", "LEVEL = 2\n"):
        (tmp_path / "helper.py").write_text(text)
        names.add(Journal("check", 0, [str(tmp_path / "mine.py")], tmp_path).path)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    names.add(Journal("check", 0, [str(tmp_path / "mine.py")], tmp_path).path)
    (tmp_path / "package" / "__init__.py").write_text("LEVEL = 3\n")
    assert len(names | {Journal("check", 0, [str(tmp_path / "mine.py")], tmp_path).path}) >= 3


def test_journals_of_earlier_releases_are_left_alone(interrupted) -> None:
    references, kept, first = interrupted
    old = kept.path.with_suffix(".jsonl")
    old.write_text(json.dumps({"job": "TOY-FALSE", "value": {"status": "proved"}}) + "\n")
    assert words(judge_again(references, Path(kept.path.parent))[1]) == words(first)
