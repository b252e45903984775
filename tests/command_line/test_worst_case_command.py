"""``worst-case`` for every number of clients and ``verify-certificate``, as a user meets them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from fedtheory.command_line.main import main
from fedtheory.proofs.certificates.files import read_certificate
from fedtheory.proofs.checker.certificates import check

FEDAVG = ("fedavg", "--mu", 0.1, "--zeta", 1, "--lr", 1, "--local-steps", 2)
EVERY = (*FEDAVG, "--clients", "any")
VALUE = 1.095180  # the table of tests/test_worst_case.py


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run ``worst-case`` (or another command) in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, command="worst-case", code=0):
        result = CliRunner().invoke(main, [command, *map(str, arguments)])
        assert result.exit_code == code, (result.output, result.exception)
        assert result.exception is None or isinstance(result.exception, SystemExit), "no traceback reaches the user"
        return result

    return invoke


def answer(result):
    """The JSON on standard output; NaN and infinity are not JSON."""

    def refuse(name):
        raise AssertionError(f"{name} in JSON")

    return json.loads(result.stdout, parse_constant=refuse)


def test_every_number_of_clients(call):
    out = call(*EVERY).stdout
    assert "zeta=1.0, every n >= 2, 1 rounds" in out and "squared_distance <= 1.09517" in out
    found = answer(call(*EVERY, "--json", "-"))
    assert found["value"] == pytest.approx(VALUE, abs=2e-6) and found["replayed"] == pytest.approx(VALUE, rel=1e-4)
    assert found["clients"] == "any" and found["participants"] is None and found["relaxations"] == []
    assert found["size"] == {"mean": 3, "deviation": 3, "constraints": 8}
    two = answer(call(*FEDAVG, "--clients", 2, "--json", "-"))
    assert two["value"] == pytest.approx(found["value"], rel=1e-5)


def test_some_of_the_clients_in_expectation(call):
    few = answer(call(*FEDAVG, "--clients", 4, "--participants", 2, "--json", "-"))
    assert few["value"] > VALUE and few["replayed"] == pytest.approx(few["value"], rel=1e-3)
    out = call(*FEDAVG, "--clients", 1000000, "--participants", 10).stdout
    assert "n=1000000, 10 of them a round, in expectation" in out and "replayed" not in out


def test_a_certificate_is_written_and_verified(call):
    assert "proved in exact arithmetic: <= " in call(*EVERY, "--certificate", "deep/proof.json").stdout
    data = read_certificate("deep/proof.json")
    assert VALUE - 1e-6 <= check(data) <= VALUE + 1e-5
    out = call("deep/proof.json", command="verify-certificate").stdout
    assert "verified: squared_distance after 1 rounds" in out and "for every n >= 2 and every dimension" in out


def tampered(change):
    data = json.loads(Path("proof.json").read_text())
    change(data)
    Path("proof.json").write_text(json.dumps(data))


TAMPERED = {
    "bound": (lambda d: d.update(bound="1"), "not the stated bound 1 = 1"),
    "multiplier": (lambda d: d["multipliers"].update(radius="0"), "not positive semidefinite"),
    "class": (lambda d: d.update(L="2"), "not positive semidefinite"),
    "part": (lambda d: d.pop("objectives"), "malformed"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_certificate_fails_with_its_first_wrong_step(call, name):
    call(*EVERY, "--certificate", "proof.json")
    change, message = TAMPERED[name]
    tampered(change)
    result = call("proof.json", command="verify-certificate", code=2 if name == "part" else 1)
    assert result.stderr.startswith("refused: ") and message in result.stderr and result.stdout == ""


def test_the_largest_step_with_both_sides(call):
    found = answer(call(*EVERY, "--bound", 0.98, "--largest", "lr", 0.1, 1, "--json", "-"))["largest"]
    assert found["parameter"] == "lr" and 0.1 < found["holds"] < found["fails"] < 1
    assert (
        found["fails"] - found["holds"] <= 2 * 0.9 / 1000
        and Fraction(found["proved"]) <= Fraction(98, 100) < found["reached"]
    )
    out = call(*EVERY, "--bound", 0.98, "--largest", "lr", 0.1, 1).stdout
    assert "the bound holds at lr = " in out and "and fails at lr = " in out


def test_a_curve_and_its_picture(call):
    arguments = (*EVERY, "--along", "lr", 0.2, 1, 5, "--bound", 1, "--figure", "pictures/curve.png")
    found = answer(call(*arguments, "--json", "-"))["along"]
    assert found["values"] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0]) and found["worst"][-1] == pytest.approx(
        VALUE, rel=1e-5
    )
    assert found["best"]["worst"] == min(found["worst"])
    assert Path("pictures/curve.png").read_bytes().startswith(b"\x89PNG")
    assert "lr = 0.2 " in call(*arguments[:-2]).stdout


def test_a_picture_of_the_worst_case_functions(call):
    call(*EVERY, "--figure", "functions.png")
    assert Path("functions.png").read_bytes().startswith(b"\x89PNG")


def test_a_stated_bound_is_compared(call):
    assert "the stated bound 1.5 holds" in call(*EVERY, "--bound", 1.5).stdout
    assert "the stated bound 1 is violated: worst case / bound = 1.0951" in call(*EVERY, "--bound", 1, code=3).stdout


def test_no_bound_is_reported_as_no_bound(call):
    arguments = ("fedavg", "--mu", 0.1, "--lr", 1, "--local-steps", 2, "--clients", "any")
    assert "unbounded; no bound of this kind holds over the class" in call(*arguments).stdout
    found = answer(call(*arguments, "--json", "-"))
    assert found["unbounded"] and found["value"] is None and found["replayed"] is None


def test_two_solvers_agree(call):
    assert "two solvers agree up to " in call(*EVERY, "--agree").stdout
    assert answer(call(*EVERY, "--agree", "--json", "-"))["difference"] <= 1e-6


def test_classes(call):
    composite = call("gpgd", "--mu", 0.1, "--zeta", 1, "--lr", 0.5, "--clients", "any", "--composite").stdout
    assert "plus a convex h, every n >= 2" in composite and "replayed" not in composite
    assert (
        "the indicator of a convex set"
        in call("gpgd", "--mu", 0.1, "--lr", 0.5, "--zeta", 1, "--clients", "any", "--indicator").stdout
    )
    similar = answer(call(*EVERY, "--similarity", 0.1, "--json", "-"))
    assert similar["value"] < VALUE and "average" in similar["relaxations"][0]
    noisy = answer(call(*FEDAVG, "--clients", 4, "--batch", 1, "--sigma", 0.5, "--json", "-"))
    assert noisy["value"] > VALUE and noisy["clients"] == 4 and noisy["participants"] is None
    out = call(*FEDAVG, "--clients", 4, "--batch", 1, "--sigma", 0.5).stdout
    assert "an upper bound of the worst case: conditions between different outcomes of the noise" in out


BAD = {
    "clients": ((*FEDAVG, "--clients", "some"), "'some' is neither a whole number nor 'any'"),
    "rounds": ((*EVERY, "--rounds", 0), "expected rounds >= 1"),
    "radius": ((*EVERY, "--radius", -1), "radius > 0"),
    "participants without n": (
        (*EVERY, "--participants", 2),
        "--participants needs the number of clients; pass --clients N",
    ),
    "too many participants": ((*FEDAVG, "--clients", 3, "--participants", 4), "expected 1 <= s <= n"),
    "several sampled rounds": ((*FEDAVG, "--clients", 3, "--participants", 2, "--rounds", 2), "use rounds=1"),
    "noise without n": ((*EVERY, "--batch", 1, "--sigma", 1), "--sigma needs the number of clients; pass --clients N"),
    "noise not bounded": ((*EVERY, "--batch", 1), "StochasticSteps: it draws samples at random"),
    "certificate of one n": ((*FEDAVG, "--certificate", "c.json"), "--certificate goes with --clients any"),
    "agreement of one n": ((*FEDAVG, "--agree"), "--agree goes with --clients any"),
    "time": ((*EVERY, "--rounds", 4, "--time-limit", 0.001), "more than the time limit of 0.001 s"),
    "no time": ((*EVERY, "--time-limit", 0), "not in the range"),
    "no bound to hold": ((*EVERY, "--largest", "lr", 0.1, 1), "state it with --bound"),
    "negative bound": ((*EVERY, "--bound", -1), "--bound must be positive"),
    "unknown parameter": (
        (*EVERY, "--bound", 1, "--largest", "eta", 0.1, 1),
        "fedavg has no parameter 'eta'; it has lr, ",
    ),
    "whole numbers": ((*EVERY, "--bound", 1, "--largest", "local-steps", 1, 2), "whole number"),
    "ends": ((*EVERY, "--bound", 1, "--largest", "lr", 1, 0.1), "expected low < high"),
    "never fails": ((*EVERY, "--bound", 5, "--largest", "lr", 0.1, 1), "still holds at the upper end 1"),
    "always fails": ((*EVERY, "--bound", 0.1, "--largest", "lr", 0.1, 1), "fails at the lower end 1/10"),
    "one value": ((*EVERY, "--along", "lr", 0.1, 1, 1), "COUNT >= 2"),
    "a curve backwards": ((*EVERY, "--along", "lr", 1, 0.1, 3), "LOW < HIGH"),
    "value": ((*EVERY, "--along", "lr", 0, 1, 3), "lr must be positive, got 0"),
    "picture of h": (
        ("gpgd", "--mu", 0.1, "--zeta", 1, "--clients", "any", "--composite", "--figure", "a.png"),
        "h is not rebuilt",
    ),
    "kind of picture": ((*EVERY, "--figure", "a.xyz"), "a.xyz has the ending of no picture format"),
    "similarity": ((*EVERY, "--similarity", -1), "similarity must be positive"),
    "no folder": ((*EVERY, "--certificate", "/proc/nowhere/c.json"), "cannot be read or written"),
    "proof of no bound": (
        ("fedavg", "--mu", 0.1, "--local-steps", 2, "--clients", "any", "--certificate", "c.json"),
        "nothing to prove",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_line(call, name):
    arguments, message = BAD[name]
    result = call(*arguments, code=1 if name == "time" else 2)  # 2: the question was wrong; 1: there was no answer
    last = result.stderr.strip().splitlines()[-1]
    assert message in last and last.lower().startswith("error: "), result.stderr
    assert result.stdout == ""


def test_files_that_are_no_certificates(call):
    Path("other.json").write_text("{}")
    Path("broken.json").write_text("{")
    for file, message in (
        ("other.json", "it is not a proof"),
        ("broken.json", "not a readable"),
        ("none.json", "not a readable"),
    ):
        result = call(file, command="verify-certificate", code=2)
        assert message in result.stderr and len(result.stderr.splitlines()) == 1
