"""Forged certificates: each was believed once, and must be refused."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fedtheory import FedAvg, FedPD, FunctionClass, GradientSteps
from fedtheory.command_line.main import main
from fedtheory.proofs import checker, smallest_rate, verify_method, worst_case
from fedtheory.proofs.certificates.questions import describe_question, store_object
from fedtheory.proofs.certificates.upper_bounds import prove
from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT, check, describe_system
from fedtheory.proofs.checker.files import UNCHECKED_OF, check_named_file
from fedtheory.proofs.checker.reading import read_file
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.every_n.vectors import Sampling

STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)


@pytest.fixture(scope="module")
def bound():
    """Of two local steps of FedAvg, after one round."""
    return dict(prove(FedAvg(GradientSteps(2, 0.5)), STRONG, rounds=1).data)


@pytest.fixture(scope="module")
def contraction():
    """Of FedPD with one local step, whose duals fit its models only after the first round."""
    return smallest_rate(FedPD(1.0, GradientSteps(1, 0.5)), FunctionClass(1.0, 0.1), accuracy=Fraction(1, 1000))


def verify(data, tmp_path, *options):
    """What the command line says of it."""
    file = tmp_path / "certificate.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    begun = time.perf_counter()
    result = CliRunner().invoke(main, ["verify-certificate", str(file), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), "no traceback reaches the user"
    return result, time.perf_counter() - begun


# ---- the sentence is derived from data, and the data are the method's ------------------------------------------------


def test_a_certificate_is_verified_on_both_levels(bound, tmp_path):
    result, _ = verify(bound, tmp_path)
    assert result.exit_code == 0
    for part in (
        "inequality system verified",
        "the hypotheses: radius, zeta",
        "made anew from its round",
        "verified: squared_distance after 1 rounds <= ",
        "for every n >= 2 and every dimension: FedAvg(local=GradientSteps(steps=2, lr=1/2)) over 1-smooth, 1/10-strongly convex, zeta=1",
        "||x^0 - x*|| <= 1",
    ):
        assert part in result.stdout, part
    alone, _ = verify(bound, tmp_path, "--system-only")
    assert alone.exit_code == 0 and "not checked" in alone.stdout and "FedAvg" not in alone.stdout
    assert "\nverified" not in alone.stdout


def test_the_checker_alone_needs_no_package_and_says_what_it_did_not_check(bound, tmp_path):
    (tmp_path / "proof.json").write_text(json.dumps(bound))
    command = [sys.executable, "-I", "-S", str(Path(checker.__file__).parent)]
    said = subprocess.run([*command, str(tmp_path / "proof.json")], capture_output=True, text=True, check=True).stdout
    assert "inequality system verified" in said and "the hypotheses: radius, zeta" in said and "not checked" in said
    (tmp_path / "proof.json").write_text(json.dumps({**bound, "bound": "1/2"}))
    refused = subprocess.run([*command, str(tmp_path / "proof.json")], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and refused.stderr.startswith("refused: ") and len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"bound": "1/2"}, "refused: .* only, not the stated bound"),
        (None, r"usage: checker .*\[--limit STEPS\] file"),
    ],
    ids=["accepted", "refused", "without a file"],
)
def test_the_checkers_own_command(bound, tmp_path, monkeypatch, capsys, change, said):
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(bound | (change or {})))
    monkeypatch.setattr(sys, "argv", ["checker.py"] if change is None else ["checker.py", str(file)])
    if said is None:
        check_named_file()
        assert capsys.readouterr().out == "\n".join([*describe_system(bound), UNCHECKED_OF[CERTIFICATE_FORMAT], ""])
    else:
        with pytest.raises(SystemExit, match="2" if change is None else "1"):
            check_named_file()
        printed = capsys.readouterr()
        assert printed.out == "" and re.match(said, printed.err)


def test_free_text_is_never_printed(bound, tmp_path):
    """It was: a file with another statement, method and class was "verified"."""
    for name, text in (
        ("statement", "gap after 1000 rounds <= 0 for every n"),
        ("algorithm", "Scaffold()"),
        ("class", "all"),
    ):
        result, _ = verify(bound | {name: text}, tmp_path)
        assert result.exit_code == 2 and result.stdout == ""
        assert f"the certificate has the unknown field '{name}'" in result.stderr and text not in result.stderr


def local(question):
    return question["method"]["fields"]["local"]["fields"]


def swap(question, **values):
    return question.update(values)


EDITED = {
    "another method": (
        lambda q: q["method"].update({"class": "fedtheory.algorithms.fedsplit.FedSplit"}),
        "cannot be made with these hyper-parameters",
    ),
    "another local solver": (
        lambda q: q["method"]["fields"].update(local=None),
        "local must be a local solver, got None",
    ),
    "a class of another package": (lambda q: q["method"].update({"class": "os.path.join"}), "is no class of fedtheory"),
    "a module that is not there": (
        lambda q: q["method"].update({"class": "fedtheory.algorithms.nowhere.FedAvg"}),
        "nowhere.FedAvg' is no class of fedtheory",
    ),
    "a class of another room": (
        lambda q: q["method"].update({"class": "fedtheory.proofs.function_class.FunctionClass"}),
        "is no class of fedtheory",
    ),
    "no method": (lambda q: q.update(method=q["method"]["fields"]["local"]), "names no method"),
    "another step size": (lambda q: local(q).update(lr={"fraction": "1/4"}), "'interpolation' differ: number 2"),
    "another number of steps": (lambda q: local(q).update(steps=1), "differ"),
    "a billion steps": (lambda q: local(q).update(steps=10**9), "rounds or local steps"),
    "more rounds": (lambda q: q.update(rounds=2), "'interpolation' differ|'mean' differ"),
    "a thousand rounds": (lambda q: q.update(rounds=1000), "speaks of 1000 rounds"),
    "another measure": (lambda q: q.update(measure="gap"), "differ"),
    "no measure": (lambda q: q.update(measure="hope"), "unknown measure"),
    "a larger start": (lambda q: q.update(radius="2"), "'radius' has other coefficients"),
    "more heterogeneity": (lambda q: q["functions"].update(zeta={"fraction": "2"}), "'zeta' has other coefficients"),
    "any heterogeneity": (lambda q: q["functions"].update(zeta=None), "'zeta' is not among those of the method"),
    "another curvature": (lambda q: q["functions"].update(mu=0), "the class of 'interpolation' differ"),
    "words for constants": (lambda q: q["functions"].update(zeta="1 or 2"), "its constants are numbers"),
    "truth for a constant": (lambda q: q["functions"].update(zeta=True), "its constants are numbers"),
    "a word for rounds": (lambda q: q.update(rounds="1"), "the number of rounds is a word"),
    "a list for a measure": (lambda q: q.update(measure=["gap"]), "malformed"),
    "a word for a step size": (lambda q: local(q).update(lr="half"), "lr must be a number, got 'half'"),
    "two clients": (lambda q: q.update(participation={"n": 2, "s": 2}), "'clients' differ: None and not 2"),
    "sampling": (lambda q: q.update(participation={"n": 4, "s": 2}), "differ"),
    "no question": (lambda q: q.clear(), "malformed"),
}


@pytest.mark.parametrize("name", EDITED)
def test_an_edited_question_is_not_believed(bound, tmp_path, name):
    change, message = EDITED[name]
    data = copy.deepcopy(bound)
    change(data["question"])
    check(data)  # the inequality system is what it was
    with pytest.raises(Refused, match=message):
        verify_method(data)
    result, seconds = verify(data, tmp_path)
    assert result.exit_code in (1, 2) and "\nverified" not in result.stdout and len(result.stderr.splitlines()) == 1
    assert seconds < 2


def hope(data):
    """Add the conclusion as a hypothesis, and prove a distance of zero from it."""
    data["hypotheses"]["progress of the method"] = data["objectives"][0]["form"]
    data["multipliers"], data["bound"] = {"progress of the method": "1"}, "0"


def test_a_hypothesis_that_is_the_conclusion_is_named_and_not_the_methods(bound, tmp_path):
    data = copy.deepcopy(bound)
    hope(data)
    assert check(data) == 0
    alone, _ = verify(data, tmp_path, "--system-only")
    assert "the hypotheses: progress of the method" in alone.stdout and "not checked" in alone.stdout
    with pytest.raises(Refused, match="'progress of the method' is not among those of the method"):
        verify_method(data)


@pytest.mark.parametrize("name", ["interpolation 0 1", "interpolation apart 0 1", "interpolation"])
def test_a_hypothesis_may_not_be_named_like_an_interpolation_inequality(bound, name):
    data = copy.deepcopy(bound)
    data["hypotheses"][name] = data["objectives"][0]["form"]
    data["multipliers"], data["bound"] = {name: "1"}, "0"
    with pytest.raises(Refused, match="has the name of an interpolation inequality"):
        check(data)


def test_hypotheses_and_functions_of_the_question_are_all_there():
    """One gradient step contracts whatever the clients differ by, so that its system is one without that hypothesis, too."""
    data = copy.deepcopy(dict(prove(FedAvg(GradientSteps(1, 0.5)), STRONG, rounds=1).data))
    verify_method(data)
    del data["hypotheses"]["zeta"]
    data["multipliers"].pop("zeta", None)
    with pytest.raises(Refused, match=r"hypotheses.*'zeta' is missing"):
        verify_method(data)
    data = dict(prove(FedAvg(GradientSteps(1, 0.5)), STRONG, rounds=1).data)
    data["functions"] = {"regulariser": {"L": None, "mu": "0", "shared": True, "evaluations": []}}
    assert check(data)
    with pytest.raises(Refused, match=r"functions.*interpolation, regulariser and not interpolation"):
        verify_method(data)


def test_a_class_with_a_pair_of_constants_is_read_back():
    functions = FunctionClass(L=1.0, mu=0.1, bgd=(1.0, 1.5))
    data = copy.deepcopy(dict(prove(FedAvg(GradientSteps(1, 0.5)), functions, rounds=1).data))
    assert "FedAvg" in verify_method(data)
    for pair, message in (([1, {"fraction": "5/4"}], "other coefficients"), ([1], "the class of functions is none")):
        data["question"]["functions"]["bgd"] = {"tuple": pair}
        with pytest.raises(Refused, match=message):
            verify_method(data)


def halved(round, q):
    """Step sizes 1/2, 1/4."""
    return Fraction(1, 2 ** (q + 1))


def test_step_sizes_by_a_function_are_proved_with_the_function_at_hand():
    """A file cannot hold it: it is named, and another function is another method."""
    algorithm = FedAvg(GradientSteps(2, halved))
    proof = prove(algorithm, STRONG, rounds=1)
    value = worst_case(FedAvg(GradientSteps(2, lambda r, q: (0.5, 0.25)[q])), STRONG, rounds=1).value
    assert check(dict(proof.data)) == proof.bound and value - 1e-7 <= proof.bound <= value + 5e-5
    assert "FedAvg(local=GradientSteps(steps=2, lr=<function>))" in proof.statement
    assert verify_method(proof.data, algorithm) == proof.statement
    with pytest.raises(Refused, match="not all numbers, words and solvers of fedtheory"):
        verify_method(proof.data)
    with pytest.raises(Refused, match="the evaluations of 'interpolation' differ"):
        verify_method(proof.data, FedAvg(GradientSteps(2, lambda r, q: Fraction(1, 3))))


@dataclass(frozen=True)
class Broken(FedAvg):
    """A method of one's own with several numbers, whose round fails."""

    weights: Any = (1, Fraction(1, 2))

    def round(self, problem, state, clients, key):
        return {}[self.weights]


def test_a_method_that_fails_when_it_is_traced_is_told(bound):
    data = copy.deepcopy(bound)
    data["question"]["method"] = store_object(Broken(GradientSteps(2, 0.5)))
    assert "Broken(local=GradientSteps(steps=2, lr=1/2), weights=(1, 1/2))" in describe_question(data)
    with pytest.raises(Refused, match=r"the method cannot be traced: KeyError \(1, Fraction\(1, 2\)\)"):
        verify_method(data, Broken(GradientSteps(2, 0.5)))


def test_a_certificate_for_two_clients_is_not_one_for_every_n():
    functions = FunctionClass(L=1.0, mu=0.1, dissimilarity=1.0)
    data = dict(prove(FedAvg(GradientSteps(2, 0.5)), functions, rounds=1, participation=Sampling(2, 2)).data)
    assert "for n = 2, all of them a round" in verify_method(data)
    data["question"] = {**data["question"], "participation": None}
    with pytest.raises(Refused, match="'clients' differ: 2 and not None"):
        verify_method(data)


def test_a_method_of_ones_own_is_verified_with_itself_at_hand(bound):
    assert verify_method(bound, FedAvg(GradientSteps(2, 0.5)))
    with pytest.raises(Refused, match="another method or other hyper-parameters"):
        verify_method(bound, FedAvg(GradientSteps(2, 0.25)))


# ---- potentials --------------------------------------------------------------------------------------------------


def test_a_potential_says_what_it_rests_on_and_since_when(contraction):
    """In round 0 the factor is exceeded (.94258 against the proved .94091 of FedPD(1) with one step): nothing is said of it."""
    assert contraction.first == 1
    for proof, claim in ((contraction.decrease, "E V(after) <= "), (contraction.floor, "||x - x*||^2 <= V")):
        sentence = verify_method(proof.data)
        assert sentence.startswith(claim) and "in every round from round 1 on" in sentence
        assert "which hold from round 1 on: 1 mean x + -1 mean " in sentence


POTENTIAL = {
    "a better rate": (lambda q: q.update(rate="9/10"), "the objective differ"),
    "from the start": (lambda q: q.update(first=0), "from round 1 on, not from round 0 on"),
    "no relations": (lambda q: q.update(relations=[]), "the relations between fields are not those"),
    "another V": (lambda q: q.update(potential={"field x": "1"}), "the objective differ"),
    "the other claim": (lambda q: (q.update(kind="floor"), q.pop("rate")), "differ"),
    "the other claim with a rate": (lambda q: q.update(kind="floor"), "it has the unknown field 'rate'"),
    "no kind": (lambda q: q.update(kind="theorem"), "is no kind of question"),
    "a field of another method": (
        lambda q: q.update(potential={"field c_i": "1"}),
        "a potential of this method has no term 'field c_i'; it has mean x x, ",
    ),
    "a term that is none": (lambda q: q.update(potential={"\x1b[2J": "1"}), "is no term"),
    "a field that is none": (lambda q: q["relations"][0].update(weights={"\x1b[2J": "1"}), "is no field of a state"),
}


@pytest.mark.parametrize("name", POTENTIAL)
def test_an_edited_potential_is_not_believed(contraction, name):
    change, message = POTENTIAL[name]
    data = copy.deepcopy(dict(contraction.decrease.data))
    change(data["question"])
    with pytest.raises(Refused, match=message):
        verify_method(data)


def test_a_potential_that_may_grow_is_no_decrease(contraction):
    """The system proves that the difference is at most zero, and so at most one."""
    data = {**contraction.decrease.data, "bound": "1"}
    assert check(data) == 1
    with pytest.raises(Refused, match="decrease is proved up to 1 only"):
        verify_method(data)


JUNK = (None, 3, "x", [], {}, True, -1, "1/0")


def places(data, path=()):
    """Where something stands in a certificate."""
    if path:
        yield path
    for key in data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield from places(data[key], (*path, key))


def test_junk_anywhere_is_refused_or_changes_nothing(bound):
    """Every entry is replaced by what does not belong there; what is verified then is the same sentence, or a larger bound."""
    sentence = verify_method(bound)
    for path in places(bound):
        for junk in JUNK:
            data = copy.deepcopy(bound)
            inside = data
            for key in path[:-1]:
                inside = inside[key]
            inside[path[-1]] = junk
            try:
                found = verify_method(data)
            except Refused:
                continue
            assert found == sentence or (path == ("bound",) and junk == 3), (path, junk, found)


# ---- malformed files ---------------------------------------------------------------------------------------------


def edited(**values):
    return lambda data: json.dumps(data | values)


FILES = {
    "infinity": (lambda d: json.dumps({**d, "bound": float("inf")}), "Infinity is not exact"),
    "not a number": (lambda d: json.dumps({**d, "mu": float("nan")}), "NaN is not exact"),
    "a float": (edited(mu=0.1), "0.1 is not exact"),
    "many levels": (lambda d: "[" * 100_000 + "]" * 100_000, "more than 40 levels"),
    "many levels of names": (lambda d: '{"a":' * 100_000 + "1" + "}" * 100_000, "more than 40 levels"),
    "a level too many": (lambda d: "[" * 60 + "]" * 60, "more than 40 levels"),
    "an exponent": (edited(bound="1e9999999"), "is not a whole number or a fraction"),
    "a long number": (
        lambda d: json.dumps({**d, "bound": 1}).replace('"bound": 1', '"bound": ' + "1" * 10_000),
        "4300",
    ),
    "a long number in quotes": (edited(bound="1" * 900), "is not a whole number or a fraction"),
    "a wide matrix": (edited(mean=100_000), "more than 1000 vectors"),
    "a wider matrix": (edited(deviation=10**9), "does not count anything"),
    "an empty name": (edited(hypotheses={"": {}}), "is not a name"),
    "an empty multiplier": (edited(multipliers={"": "1"}), "is not a name"),
    "a number that is no digit": (edited(multipliers={"interpolation ² 0": "1"}), "printable ASCII"),
    "terminal escapes": (edited(hypotheses={"\x1b[2Jverified": {}}), "printable ASCII"),
    "escapes in a value": (edited(note="\x1b[31m"), "printable ASCII"),
    "no object": (edited(evaluations=3), "malformed"),
    "a list": (lambda d: "[]", "it is not a proof"),
    "a word": (lambda d: '"certificate"', "it is not a proof"),
    "the format before": (edited(format="fedtheory certificate 1"), "make it anew"),
    "a name twice": (lambda d: json.dumps(d)[:-1] + ', "bound": "9"}', "a name occurs twice"),
    "half a client": (edited(clients="5/2"), "2.5 clients"),
    "too many halves of clients": (edited(clients="9" * 390 + "/2"), "a number too large to print clients"),
    "a function with the clients' name": (
        edited(functions={"interpolation": {"L": None, "mu": 0, "evaluations": []}}),
        "has a name that is taken or is no single word",
    ),
    "a function of two words": (
        edited(functions={"two words": {"L": None, "mu": 0, "evaluations": []}}),
        "has a name that is taken or is no single word",
    ),
    "one over zero": (edited(bound="1/0"), "malformed"),
    "large numbers": (edited(multipliers={"radius": "-" + "9" * 390}), "is negative"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_malformed_file_is_one_clear_line_within_a_second(bound, tmp_path, name):
    make, message = FILES[name]
    result, seconds = verify(make(bound), tmp_path)
    assert result.exit_code == (1 if name == "large numbers" else 2) and result.stdout == ""
    assert len(result.stderr.splitlines()) == 1 and message in result.stderr and len(result.stderr) < 600
    assert result.stderr.isascii() and "\x1b" not in result.stderr and seconds < 1


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "bytes", tmp_path, Path("/dev/zero")):
        with pytest.raises(Refused, match="not a readable proof"):
            read_file(path)
