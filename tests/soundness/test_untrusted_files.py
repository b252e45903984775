"""Foreign files in every place where a command or function reads one: each is answered by one line, soon, with a status of its own."""

from __future__ import annotations

import copy
import json
import os
import re
import sys
import time
import zipfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import lemma_cases
import numpy as np
import pytest
from claim_files import GOOD
from click.testing import CliRunner

from fedtheory import FedAvg, FunctionClass, GradientSteps
from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training
from fedtheory.claims.identity import FILE, SHARED, Identity
from fedtheory.claims.references import Reference
from fedtheory.claims.report import as_json, read_json, write_counterexamples
from fedtheory.claims.statements.lemma import prove_lemma
from fedtheory.claims.statements.theorems.proving import prove_theorem
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.certificates.upper_bounds import prove
from fedtheory.proofs.checker import certificates, derivations, files
from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.refusals import NotChecked, Refused
from fedtheory.proofs.checker.terms import TERM_FORMAT
from fedtheory.tools.untrusted import read_arrays, read_json_file
from tests.support.theorems import GRADIENT_DESCENT, PROXIMAL_POINT


def _how_slow() -> float:
    """How many times as long as on a usual processor fractions take here, at least once."""
    begun, total = time.process_time(), Fraction(0)
    for k in range(60_000):
        total = Fraction(k, 7) * Fraction(3, k + 1) + 1
    assert total
    return max(1.0, (time.process_time() - begun) / 0.15)


SECONDS = 2.0 * _how_slow()  #: of computing

TEXTS = {
    "many levels": "[" * 100_000,
    "many levels of names": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "levels that end": "[" * 60 + "]" * 60,
    "a huge exponent": '{"format": 1e99999999}',
    "a long number": '{"format": ' + "9" * 400_000 + "}",
    "a number of 400 digits": '{"format": ' + "9" * 400 + "}",
    "no number": '{"format": NaN}',
    "infinity": '{"format": -Infinity}',
    "a name twice": '{"format": 1, "format": 1}',
    "a list": "[1, 2]",
    "nothing": "null",
    "a word": '"word"',
    "a number": "3",
    "empty": "",
    "no mapping inside": '{"verdicts": [3], "identities": [3], "claim": [], "format": {}}',
    "bytes": b"\xff\xfe\x00",
    "a null byte": "\0",
}
PLACES = ("a folder", "a pipe", "a device", "a huge file", "a missing file")


def put(path: Path, what: str) -> Path:
    """Put such a file at a path, or something else in its place."""
    path.unlink(missing_ok=True)
    if what == "a folder":
        path.mkdir()
    elif what == "a pipe":
        os.mkfifo(path)
    elif what == "a device":
        path.symlink_to("/dev/zero")
    elif what == "a huge file":
        path.touch()
        os.truncate(path, 5_000_000_000)
    elif what != "a missing file":
        text = TEXTS[what]
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def run_command(*arguments: str) -> Any:
    """Run a command, which must answer soon."""
    begun = time.process_time()
    result = CliRunner().invoke(main, list(arguments))
    assert time.process_time() - begun < SECONDS
    return result


def require_one_line(code: int, out: str, err: str) -> None:
    assert (
        code == 2 and out == "" and len(err.splitlines()) == 1 and len(err) < 700 and err.isprintable() <= err.isascii()
    ), err


COMMANDS = {
    "replay": lambda file: ("replay", file),
    "verify-certificate": lambda file: ("verify-certificate", file),
    "check --expect": lambda file: ("check", "good.py", "--expect", file),
}


@pytest.mark.parametrize("what", [*TEXTS, *PLACES])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_foreign_file_is_answered_by_one_line_and_status_two(command, what) -> None:
    Path("good.py").write_text(GOOD)
    result = run_command(*COMMANDS[command](str(put(Path("file.json"), what))))
    require_one_line(result.exit_code, result.stdout, result.stderr)


@pytest.mark.parametrize("what", [*TEXTS, *PLACES])
def test_the_checker_by_itself_answers_alike(what, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["checker", str(put(Path("file.json"), what))])
    begun = time.process_time()
    with pytest.raises(SystemExit) as left:
        files.check_named_file()
    assert time.process_time() - begun < SECONDS
    printed = capsys.readouterr()
    require_one_line(left.value.code, printed.out, printed.err)


RUN = ("run", "fedavg", "quadratics", "--rounds", "3", "--results", "out")


@pytest.mark.parametrize("what", [name for name in (*TEXTS, *PLACES) if name != "a missing file"])
@pytest.mark.parametrize("name", ["configuration.json", "checkpoint.npz"])
def test_a_folder_of_results_with_a_foreign_file_is_answered_alike(name, what) -> None:
    Path("out").mkdir()
    put(Path("out") / name, what)
    result = run_command(*RUN)
    require_one_line(result.exit_code, result.stdout, result.stderr)


KEPT = Training(
    "fedavg", "digits-softmax", 2, {"lr": 0.1, "steps": 1, "batch": 8}, {"clients": 3, "split": "iid"}, ("value",)
)


@pytest.mark.parametrize("what", [name for name in (*TEXTS, *PLACES) if name != "a missing file"])
@pytest.mark.parametrize("name", ["metrics.csv", "summary.json", FILE, SHARED])
def test_a_kept_run_with_a_foreign_file_is_refused(name, what) -> None:
    folder = Path("runs") / KEPT.key
    Identity({}, "cpu", {}).begin(folder)
    (folder / "metrics.csv").write_text("round,value,floats_up,floats_down\n2,1.0,0,0\n")
    (folder / "summary.json").write_text('{"seconds": 1.0, "algorithm": ""}')
    if name == SHARED:
        (folder / FILE).unlink()
    put(folder.parent / name if name == SHARED else folder / name, what)
    begun = time.process_time()
    with pytest.raises(InvalidInput) as refused:
        KEPT.read(Context(results="runs"))
    assert time.process_time() - begun < SECONDS and "\n" not in str(refused.value)


# ---- instances of counterexamples ---------------------------------------------------------------------------------------

EQUIVALENCE = """
from fedtheory.claims import Equivalence, state

sign = Equivalence("scaffold", "vrl-sgd", "lr, steps = K, server_lr = 1", "lr, steps = K", states={"x": "x", "delta_i": "c - c_i"},
                   region="0 < lr, K in 1..3", kept={"c": "mean_c_i"})
CLAIMS = [state("EQ", "toy", "Section 1", "They are the same.", sign)]
"""
DIGITS = [str(10**189 + 7**k) for k in range(200)]  # of 190 digits each
INSTANCES = {
    "many long fractions": {"curvature": [f"{a}/{b}" for a, b in zip(DIGITS[:100], DIGITS[100:], strict=True)] * 9},
    "long fractions": {"curvature": [f"1/{a}" for a in DIGITS], "centre": DIGITS},
    "few long fractions and many steps": {"curvature": DIGITS[:2], "parameters": ["K = 900", f"lr = 1/{DIGITS[2]}"]},
    "short fractions and many steps": {
        "curvature": ["1/3", "1/7"] * 40,
        "centre": ["0", "1"] * 40,
        "parameters": ["K = 1000", "lr = 1/3"],
    },
    "lists of lists": {"curvature": [["1"] * 900] * 200},
    "a text of many numbers": {"parameters": "lr = 1" + " + 1/3" * 100_000},
    "more bytes than are read": {"start": "1" * 300 + " " * 6_000_000},
}


@pytest.fixture(scope="module")
def counterexample(tmp_path_factory) -> dict[str, Any]:
    """What a check of the equivalence, which is false, writes."""
    folder = tmp_path_factory.mktemp("equivalence")
    (folder / "claims.py").write_text(EQUIVALENCE)
    verdict = check_one(Reference(str(folder / "claims.py"), "EQ"), Context())
    (written,) = write_counterexamples([verdict], folder)
    return {"file": str(folder / "claims.py"), "stored": json.loads(written.read_text())}


@pytest.mark.parametrize("name", INSTANCES)
def test_the_work_of_a_replay_is_bounded_before_it_is_begun(name, counterexample, tmp_path) -> None:
    """Fractions were counted by how many they are, and none by its digits: a minute was not enough."""
    stored = copy.deepcopy(counterexample["stored"])
    number = INSTANCES[name]
    clients = len(number.get("curvature", ("1", "1")))
    stored["instance"].update({"centre": ["0", "1"] * (clients // 2)} | number)
    (tmp_path / "edited.json").write_text(json.dumps(stored))
    result = run_command("replay", str(tmp_path / "edited.json"), counterexample["file"])
    require_one_line(result.exit_code, result.stdout, result.stderr)
    assert "--limit NUMBER raises the limit" in result.stderr or "is longer than 1000000 bytes" in result.stderr


# ---- documents that were edited ---------------------------------------------------------------------------------------

JUNK: tuple[Any, ...] = (None, [], {}, "x", -1, 10**6, 1.5, True, "1e99999999", "9" * 390, [[[]]], "1/0", "")


def list_edits(document: Any, at: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The document with a value of junk at every place, with a name more in every mapping, and with one less."""
    inside = document
    for name in at:
        inside = inside[name]
    names = inside if isinstance(inside, dict) else range(min(2, len(inside))) if isinstance(inside, list) else ()
    for name in names:
        for junk in JUNK:
            yield _changed(document, at, lambda d, name=name, junk=junk: d.__setitem__(name, junk))
        yield _changed(document, at, lambda d, name=name: d.__delitem__(name))
        yield from list_edits(document, (*at, name))
    if isinstance(inside, dict):
        yield _changed(document, at, lambda d: d.__setitem__("a name more", "1"))


def _changed(document: Any, at: tuple[Any, ...], change: Any) -> Any:
    edited = copy.deepcopy(document)
    inside = edited
    for name in at:
        inside = inside[name]
    change(inside)
    return edited


def judge_edits(document: Any, read: Any, *refusals: type[Exception]) -> int:
    """How many edits are refused, each by one of these errors, in one line and soon."""
    refused = 0
    for edited in list_edits(document):
        begun = time.process_time()
        try:
            read(edited)
        except refusals as error:
            assert "\n" not in str(error)
            refused += 1
        assert time.process_time() - begun < SECONDS, edited
    return refused


def test_every_edit_of_a_derivation_is_refused_in_one_line_or_proved() -> None:
    (data, *_) = prove_lemma(lemma_cases.TRUE["descent_lemma"]).derivations
    assert judge_edits(json.loads(json.dumps(data)), derivations.check_derivation, Refused) > 500


def test_every_edit_of_a_certificate_is_refused_in_one_line_or_proved() -> None:
    data = dict(prove(FedAvg(GradientSteps(1, 1.0)), FunctionClass(L=1.0, mu=0.1, zeta=1.0), rounds=1).data)
    assert judge_edits(json.loads(json.dumps(data)), certificates.check, Refused) > 500


@pytest.mark.parametrize("checker", [certificates, derivations], ids=["certificates", "derivations"])
def test_a_field_that_nothing_reads_is_an_error(checker) -> None:
    places: list[tuple[Any, ...]] = [()]
    if checker is certificates:
        data = dict(prove(FedAvg(GradientSteps(1, 1.0)), FunctionClass(L=1.0, mu=0.1, zeta=1.0), rounds=1).data)
        check, refused = certificates.check, NotChecked
        places += [("evaluations", 0), ("evaluations", 0, "x"), ("objectives", 0)]
    else:
        data = dict(prove_lemma(lemma_cases.TRUE["descent_lemma"]).derivations[0])
        check, refused = derivations.check_derivation, NotChecked
        places += [("parameters", 0), ("functions", "f"), ("conclusion",), ("pivots",)]
    check(data)
    for at in places:
        edited = _changed(data, at, lambda d: d.__setitem__("note", {}))
        with pytest.raises(refused, match="has the unknown field 'note'"):
            check(edited)


def test_every_edit_of_stored_verdicts_is_read_or_refused(tmp_path) -> None:
    file = tmp_path / "good.py"
    file.write_text(GOOD)
    stored = json.loads(as_json([check_one(Reference(str(file), "TOY-FALSE"), Context())]))

    def read(document: Any) -> None:
        (tmp_path / "stored.json").write_text(json.dumps(document))
        for verdict in read_json(tmp_path / "stored.json").values():
            assert isinstance(verdict["id"], str) and isinstance(verdict["status"], str)

    assert judge_edits(stored, read, InvalidInput) > 30


def test_every_edit_of_what_made_a_run_is_read_or_refused(tmp_path) -> None:
    stored = json.loads(
        '{"code": {"a": "1"}, "device": "cpu", "versions": {"numpy": "2"}, "defaults": {"l2": 0.0}, "data": {"f": "0"}, "files": {"m": "1"}}'
    )
    here = Identity({}, "cpu", {})

    def read(document: Any) -> None:
        (tmp_path / "run").mkdir(exist_ok=True)
        (tmp_path / "run" / FILE).write_text(json.dumps(document))
        found = Identity.read(tmp_path / "run")
        assert found is not None and found.differences(here) + found.remarks(here)

    assert judge_edits(stored, read, InvalidInput) > 50


# ---- proof terms ------------------------------------------------------------------------------------------------------

NUMBERS: dict[str, Any] = {
    **{
        name: {}
        for name in (
            "wholes",
            "rounds",
            "quantities",
            "sequences",
            "functions",
            "given",
            "where",
            "rests",
            "derivations",
        )
    },
    "format": TERM_FORMAT,
    "parameters": [{"name": name, "low": "0", "high": None, "closed": [False, False]} for name in "yz"],
    **{name: [] for name in ("auxiliary", "assumed", "drawn")},
    "states": "",
    "claims": ["y**2 + z**2 >= 2*y*z"],
    "lines": ["done: claim by combine 1*square(y - z)"],
}


def says(formula: str, rule: str = "combine 1*square(y - z)", **more: Any) -> dict[str, Any]:
    return {"claims": [f"0 <= {formula}"], "lines": [f"done: claim by {rule}"], **more}


def put_inside(text: str, what: str, times: int, end: str = "") -> str:
    return what * times + text + end * times


ENDLESS: dict[str, dict[str, Any]] = {
    "a power of a power": says("9**9**9*y"),
    "a power of many digits": says("9**99999999*y"),
    "a square of one": says("y", "combine 1*square(7**7**7**7*y)"),
    "an exponent of Bernoulli's inequality": {"claims": ["1 <= y"], "lines": ["done: claim by bernoulli y, 9**9**9"]},
    "an exponent that is written out": says("y**(z**99999999)"),
    "a root to a high power": says("sqrt(y + z)**(10**30)"),
    "a power of a parameter": says("(y - z)**2 + y**900 - y**899 + y**898"),
    "names that double": {
        "where": {f"w{k}": f"w{k - 1}*w{k - 1}" if k else "y + z" for k in range(60)},
        **says("w59", "combine 1*square(w59)"),
    },
    "names that grow": {"where": {f"w{k}": " + ".join([f"w{k - 1}"] * 100) if k else "y" for k in range(50)}},
    "parameters": {
        "parameters": [{"name": f"y{k}", "low": "0", "high": None, "closed": [False, False]} for k in range(20_000)]
    },
    "lines": says("y", lines=[f"a{k}: 0 <= y by combine 1*square(y - z)" for k in range(60_000)]),
    "long lines": says("y", lines=[f"a{k}: 0 <= (y + z)**30 by combine 1*square((y + z)**15)" for k in range(200)]),
    "hypotheses": {"given": {f"g{k}": "0 <= " + "*".join([f"(y + {j}*z)**3" for j in range(30)]) for k in range(100)}},
    "many spaces": {"lines": ["done:" + " " * 9000]},
    "what is nearly a range": {"lines": ["done: exists t in " + ".." * 4900 + " by combine"] * 200},
    "what is nearly a limit": {"lines": ["done: " + "-> as " * 1600 + " by combine"] * 200},
    "what is nearly a premise": {"lines": ["done: claim by combine 1*x(" + "=" * 9800] * 200},
    "sums in sums": says(put_inside("y", "sum(", 3, ", t, 1, 90)"), rounds={"t": 0}),
    "theorems that it rests on": {
        "rests": {f"a{j}": {**NUMBERS, "rests": {f"b{k}": NUMBERS for k in range(90)}} for j in range(90)}
    },
    "derivations that nothing takes": {"derivations": {"done": [{}] * 100_000}},
    "rules inside each other": says(
        "y**2", put_inside("combine 1*square(y)", "cases y: combine 1*square(y); (", 300, ")")
    ),
    "more rules inside each other": says("y**2", put_inside("combine", "cases y: combine; (", 450, ")")),
    "a round beyond all": {"rounds": {"t": 10**300}},
    "values of a whole number": {"wholes": {"K": [1, 10**9]}, **says("K*y", "values K: combine")},
    "a dense polynomial": says("(y - z + 1)**60*(y + 2*z)**9"),
    "digits": says("y*(" + " + ".join(f"1/{10**180 + k}" for k in range(50)) + ")"),
}


TRUE = ("a power of a parameter", "rules inside each other")


@pytest.mark.parametrize("name", ENDLESS)
def test_a_term_without_end_is_answered_soon(name, tmp_path) -> None:
    """By the checker itself; of most of these there was no answer in half a minute."""
    (tmp_path / "term.json").write_text(json.dumps(NUMBERS | ENDLESS[name]))
    begun = time.process_time()
    message = ""
    try:
        files.check_proof(files.read_proof(tmp_path / "term.json"))
    except Refused as refused:
        message = str(refused)
    assert time.process_time() - begun < 2 * SECONDS  # twice: a step takes longer on a machine that is busy
    assert len(message) < 700 and message.isprintable() and (message or name in TRUE)


def test_the_terms_limit_of_steps_is_that_of_the_command(tmp_path) -> None:
    file = tmp_path / "term.json"
    file.write_text(json.dumps(NUMBERS))
    assert run_command("verify-certificate", str(file)).exit_code == 0
    result = run_command("verify-certificate", str(file), "--limit", "100")
    require_one_line(result.exit_code, result.stdout, result.stderr)
    assert "it takes more than 100 steps to check; --limit STEPS raises the limit" in result.stderr


MALFORMED: dict[str, dict[str, Any]] = {
    "a field that nothing reads": {"foo": 1},
    "a field of a parameter that nothing reads": {"parameters": [{**NUMBERS["parameters"][0], "integer": True}]},
    "a field of a function that nothing reads": {"functions": {"f": {"L": "1", "mu": "0", "convex": True}}},
    "a field of another kind": {"claims": "y**2 + z**2 >= 2*y*z"},
    "a claim that is no sentence": {
        "claims": ["foo bar", *NUMBERS["claims"]],
        "lines": ["done: claim 2 by combine 1*square(y - z)"],
    },
    "a line that is no sentence": {"lines": ["done: foo bar by combine"]},
    "a formula that is none": {"where": {"w": "1 +"}},
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_term_has_the_status_of_a_malformed_certificate(name, tmp_path) -> None:
    (tmp_path / "term.json").write_text(json.dumps(NUMBERS | MALFORMED[name]))
    result = run_command("verify-certificate", str(tmp_path / "term.json"))
    require_one_line(result.exit_code, result.stdout, result.stderr)


def test_a_term_that_is_wrong_has_status_one(tmp_path) -> None:
    (tmp_path / "term.json").write_text(json.dumps(NUMBERS | {"claims": ["y**2 + z**2 >= 3*y*z"]}))
    result = run_command("verify-certificate", str(tmp_path / "term.json"))
    assert result.exit_code == 1 and len(result.stderr.splitlines()) == 1


def test_every_edit_of_a_term_is_refused_in_one_line_or_proved() -> None:
    assert judge_edits(NUMBERS, check_term, Refused) > 300


def test_a_hypothesis_is_told_with_its_sentence(tmp_path) -> None:
    """A claim that is given to itself was told as 'proof verified ... given: g'."""
    given = says("y - z", "combine 1*g", given={"g": "0 <= y - z"})
    (tmp_path / "term.json").write_text(json.dumps(NUMBERS | given))
    result = run_command("verify-certificate", str(tmp_path / "term.json"))
    assert result.exit_code == 0 and "  given g: 0 <= y - z\n" in result.stdout


@pytest.fixture(scope="module")
def of_a_method() -> dict[str, Any]:
    """A term about states of a listed method, as it is stored."""
    return json.loads(json.dumps(prove_theorem(GRADIENT_DESCENT).data))  # type: ignore[no-any-return]


def test_every_edit_of_a_term_about_a_method_is_refused_in_one_line_or_proved(of_a_method) -> None:
    """Above the systems of its derivations, of which every edit is tried by itself."""
    derivation = of_a_method["derivations"]["pos"][0]
    shallow = of_a_method | {"derivations": {}, "lines": [], "parameters": []}
    whole = {name: of_a_method[name] for name in ("derivations", "lines", "parameters")}

    def check(edited: Any) -> None:
        check_term(edited | {name: value for name, value in whole.items() if edited.get(name) in ([], {})})

    def check_stored(edited: Any) -> None:
        check_term(of_a_method | {"derivations": {**of_a_method["derivations"], "pos": [edited]}})

    assert judge_edits(shallow, check, Refused) > 150
    assert (
        judge_edits(
            {**derivation, "system": {}}, lambda d: check_stored({**d, "system": derivation["system"]}), Refused
        )
        > 50
    )


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"states": "gd(lr = 1/(2*L)), functions L, mu = 0"}, "about quantities of these states"),
        (
            {"states": "gd(lr = 1/L), functions L, mu = L/2"},
            "expected functions of the theorem",
        ),
        (
            {"quantities": {"gap": "f(x) - f(x_star)", "dist2": "4*norm2(x - x_star)"}},
            "about quantities of these states",
        ),
        ({"states": "heavy-ball(lr = 1/L), functions L, mu = 0"}, "cannot be made anew"),
        ({"states": "gd(lr = 9**9**9), functions L, mu = 0"}, "has an exponent that is no number"),
        ({"states": "gd(lr = ((2**99)**99)**99), functions L, mu = 0"}, "has powers beyond 1000"),
        ({"states": "fedavg(lr = 1/L, steps = 1000000), functions L, mu = 0"}, "it speaks of 1000000 steps"),
        (
            {"states": "fedavg(lr = 1/L, steps = K), functions L, mu = 0", "wholes": {"K": [1, 999999]}},
            "it speaks of 999999 for K",
        ),
    ],
)
def test_a_term_about_a_method_is_one_of_its_round(of_a_method, tmp_path, edit, message) -> None:
    """What its states and quantities are is text, and an edited one was 'verified'."""
    file = tmp_path / "term.json"
    file.write_text(json.dumps(of_a_method))
    good = CliRunner().invoke(main, ["verify-certificate", str(file)])
    assert good.exit_code == 0 and "not checked" not in good.stdout
    assert (
        "  gd(lr = 1/L), functions L, mu = 0: the system is that of this method, made anew from its round"
        in good.stdout
    )
    file.write_text(json.dumps(of_a_method | edit))
    result = run_command("verify-certificate", str(file))
    assert result.exit_code in (1, 2) and result.stdout == "" and len(result.stderr.splitlines()) == 1
    assert re.search(message, result.stderr), result.stderr
    alone = run_command("verify-certificate", str(file), "--system-only")
    assert (
        alone.exit_code == 0
        and "not checked: that the quantities of derivations are those of a method's round" in alone.stdout
    )


def test_of_played_states_it_is_told_that_nobody_looked(tmp_path) -> None:
    (tmp_path / "term.json").write_text(json.dumps(dict(prove_theorem(PROXIMAL_POINT).data)))
    result = CliRunner().invoke(main, ["verify-certificate", str(tmp_path / "term.json")])
    assert (
        result.exit_code == 0
        and "not checked: that the quantities of derivations are those of a method's" in result.stdout
    )


# ---- derivations ------------------------------------------------------------------------------------------------------


def change_derivation(data: dict[str, Any], how: str) -> None:
    """Rows, multipliers or evaluations that nobody would write, as many as fit."""
    long = [f"{10**59 + k}/{10**59 + 7 * k + 1}" for k in range(150)]
    if how == "dense rows":
        data["mean"] = 150
        data["pivots"]["S"] = [
            {"pivot": "1", "row": {str(j): long[(i * j) % 150] for j in range(150)}} for i in range(150)
        ]
    else:
        function = next(iter(data["functions"]))
        evaluations = data["functions"][function]["evaluations"]
        evaluations += [copy.deepcopy(evaluations[1]) for _ in range(190)]
        data["multipliers"] = {f"{function} {i} {j}": "1/2" for i in range(190) for j in range(190) if i != j}


@pytest.mark.parametrize("how", ["dense rows", "many multipliers"])
def test_a_derivation_without_end_is_answered_soon(how, of_a_method) -> None:
    """Additions were not counted, so that denominators grew for free: three and a half minutes."""
    data = copy.deepcopy(of_a_method["derivations"]["step"][0]["system"])
    derivations.check_derivation(data)
    change_derivation(data, how)
    begun = time.process_time()
    with pytest.raises(NotChecked, match=r"it takes more than \d+ steps to check; --limit STEPS raises the limit"):
        derivations.check_derivation(data)
    assert time.process_time() - begun < 2 * SECONDS


# ---- arrays -----------------------------------------------------------------------------------------------------------


def test_arrays_that_are_larger_than_their_file_are_refused(tmp_path) -> None:
    with (tmp_path / "good.npz").open("wb") as file:
        np.savez(file, x=np.arange(5.0), y=np.arange(3))
    assert {name: value.tolist() for name, value in read_arrays(tmp_path / "good.npz").items()} == {
        "x": [0.0, 1.0, 2.0, 3.0, 4.0],
        "y": [0, 1, 2],
    }
    with zipfile.ZipFile(tmp_path / "shape.npz", "w") as archive, archive.open("x.npy", "w") as inside:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
        np.lib.format.write_array_header_1_0(inside, header)
    np.savez_compressed(tmp_path / "small.npz", x=np.zeros(10**6))
    np.savez(tmp_path / "objects.npz", x=np.array([{}], dtype=object))
    for name, message in (("shape", "has not the size"), ("small", "is compressed"), ("objects", "has not the size")):
        with pytest.raises(InvalidInput, match=message):
            read_arrays(tmp_path / f"{name}.npz")


def test_numbers_that_are_short_are_read(tmp_path) -> None:
    file = tmp_path / "good.json"
    file.write_text('{"a": [1, -2.5e300, "1e99999999"], "b": {"c": true}}')
    assert read_json_file(file, "it") == {"a": [1, -2.5e300, "1e99999999"], "b": {"c": True}}
    file.write_text('{"a": NaN}')
    assert np.isnan(read_json_file(file, "it", finite=False)["a"])
    with pytest.raises(InvalidInput, match=r"good.json is not a list of songs \(NaN is no number\)"):
        read_json_file(file, "a list of songs")
