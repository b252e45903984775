"""Contractions and bounds of methods for all parameters, and the arithmetic behind them."""

import json
import random
import subprocess
import sys
import time
from fractions import Fraction as Q
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.algorithms.fedpd import FedPD
from fedtheory.algorithms.gradient_descent import GradientDescent
from fedtheory.algorithms.scaffnew import Scaffnew
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.proofs import checker
from fedtheory.proofs.checker.boxes import Sign, sign_on_box
from fedtheory.proofs.checker.derivations import DERIVATION_FORMAT, check_derivation
from fedtheory.proofs.checker.files import check_named_file
from fedtheory.proofs.checker.reading import MOST_BYTES
from fedtheory.proofs.checker.refusals import NotChecked, Refused
from fedtheory.proofs.parameters.double_roots import find_double_root
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.parameters.methods import (
    StatedContraction,
    bound_system,
    prove_bound,
    prove_contraction,
)
from fedtheory.proofs.parameters.pieces import entries_of
from fedtheory.proofs.parameters.scalings import find_scalings
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.region import Region

STATED = {"x_i": 1, "h_i": "(lr/p)**2"}
FEDPD = "2*L*(1 + L*eta)**2/(1 + 4*L*eta + 2*(L*eta)**2)"


def scaffnew(rate, region="0<mu<L, 0<lr<2/L, 0<p<=1"):
    return StatedContraction.read(lambda p: Scaffnew(p["lr"], p["p"]), region, STATED, rate)


def test_scaffnews_exact_rate_on_its_whole_region():
    pieces = prove_contraction(scaffnew("max((1-lr*mu)**2, (1-lr*L)**2, 1-p**2)"))
    assert [piece.judgement.word for piece in pieces] == ["proved for all parameters"] * 2
    assert [str(piece.region.parameters[2]) for piece in pieces] == ["0 < lr <= 2/(L + mu)", "2/(L + mu) <= lr < 2/L"]
    for piece in pieces:
        assert piece.judgement.derivation is not None
        check_derivation(piece.judgement.derivation)


def test_scaffnews_stated_rate():
    (piece,) = prove_contraction(scaffnew("max(1-lr*mu, 1-p**2)", "0<mu<L, 0<lr<=1/L, 0<p<=1"))
    assert piece.judgement.word == "proved for all parameters"


@pytest.mark.parametrize(
    "rate",
    [
        "max(0.99*(1-lr*mu)**2, (1-lr*L)**2, 1-p**2)",
        "max((1-lr*mu)**2, 0.99*(1-lr*L)**2, 1-p**2)",
        "max((1-lr*mu)**2, (1-lr*L)**2, 0.99*(1-p**2))",
        "max((1-lr*mu)**2, 1-p**2)",
        "1 - 1.01*lr*mu",
    ],
)
def test_rates_that_are_too_good_are_refuted_at_a_point(rate):
    stated = scaffnew(rate)
    piece = prove_contraction(stated)[-1]
    assert piece.judgement.word == "refuted"
    assert stated.region.inside(piece.judgement.instance.point) and piece.judgement.instance.left > 0


@pytest.mark.parametrize("top", ["3/(10*L)", "1/(2*L)"])
def test_fedpds_first_round(top):
    region = f"0<L, 0<eta<{top}"
    (piece,) = prove_bound(lambda p: FedPD(p["eta"]), region, 1, "stationarity", FEDPD, mu="-L")
    assert piece.judgement.word == "proved for all parameters"
    (false,) = prove_bound(lambda p: FedPD(p["eta"]), region, 1, "stationarity", f"0.99*{FEDPD}", mu="-L")
    assert false.judgement.word == "refuted"


GD = "max(L/(2*(2*L*lr + 1)), L*(1 - L*lr)**2/2)"


@pytest.mark.parametrize(
    "bound", [GD, "L/2*max(1/(2*L*lr + 1), (1 - L*lr)**2)", "(L - min(2*L*L*lr/(2*L*lr + 1), L**2*lr*(2 - L*lr)))/2"]
)
def test_gradient_descents_exact_first_step_for_every_step_size(bound):
    """The larger of two expressions, in whatever way it is written (Taylor, Hendrickx and Glineur 2017, Conjecture 1 with one step)."""
    pieces = prove_bound(lambda p: GradientDescent(p["lr"]), "0<L, 0<lr<2/L", 1, "gap", bound, mu=0)
    assert {piece.judgement.word for piece in pieces} == {"proved for all parameters"}
    lower = prove_bound(lambda p: GradientDescent(p["lr"]), "0<L, 0<lr<2/L", 1, "gap", f"0.99*({bound})", mu=0)
    assert lower[-1].judgement.word != "proved for all parameters"


CHOICES = st.recursive(
    st.sampled_from(["a", "b", "1", "3", "a*b", "1/b"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-"), inner),
        st.builds("{}({}, {})".format, st.sampled_from(["max", "min"]), inner, inner),
        st.builds("({} {} {})".format, inner, st.sampled_from("*/"), st.sampled_from(["a", "(-b)", "2", "(a - b)"])),
        st.builds("(-{})".format, inner),
        st.builds("({} * {})".format, st.sampled_from(["a", "(-2)"]), inner),
    ),
    max_leaves=4,
)


@given(CHOICES, st.sampled_from(["max", "min"]))
def test_entries_are_those_of_which_an_expression_is_the_largest_or_least(text, kind):
    region = Region.parse("0<a, a<b")
    field, stated = ParameterField(region), Expression.parse(text)
    try:
        entries = entries_of(stated, kind, field)
    except InvalidInput as error:
        assert "without max and min" in str(error)
        return
    assert not any(entry.choices for entry in entries)
    for a, b in ((Q(1, 3), Q(1, 2)), (Q(2), Q(7)), (Q(1, 9), Q(40))):
        values = [entry.at({"a": a, "b": b}) for entry in entries]
        assert stated.at({"a": a, "b": b}) == (max if kind == "max" else min)(values)


def test_what_cannot_be_stated_is_refused():
    with pytest.raises(InvalidInput, match="weights of the fields"):
        prove_contraction(StatedContraction.read(lambda p: Scaffnew(p["lr"], 1), "0<mu<L, 0<lr<1/L", {"u": 1}, 1))
    with pytest.raises(InvalidInput, match="without max"):
        prove_contraction(scaffnew("1/min(lr*mu, p)"))
    field = ParameterField(Region.parse("0<L, 0<eta<1/L"))
    with pytest.raises(CannotTrace, match="one quantity"):
        bound_system(field, lambda p: FedPD(p["eta"]), 2, "min_stationarity", 1, mu="-L")


def test_comparisons_are_decided_on_the_region_or_refused():
    field = ParameterField(Region.parse("0<mu<L, 0<lr<2/L, 0<p<=1"))
    mu, big_l, lr, p = (field.read(name) for name in ("mu", "L", "lr", "p"))
    assert mu < big_l and big_l > mu and lr * big_l < 2 and p > 0 and p <= 1 and not mu >= big_l
    assert 1 - p >= 0 and abs(mu - big_l) == big_l - mu and big_l == field.read("(L**2 - mu**2)/(L - mu) - mu")
    for undecided in (lambda: lr * big_l < 1, lambda: p < 1):
        with pytest.raises(CannotTrace):
            undecided()


def test_a_determinant_has_one_double_root_or_none():
    field = ParameterField(Region.parse("0 < a, 0 < b"))
    a, b, zero, one = (field.read(text) for text in ("a", "b", "0", "1"))
    root = a / (a + b)
    twice = [[-root, zero, zero], [zero, -root / b, zero], [zero, zero, a]]
    assert find_double_root(field, twice, [[one, zero, zero], [zero, 1 / b, zero], [zero, zero, one]]) == root
    assert find_double_root(field, [[a, b], [b, a]], [[one, zero], [zero, one]]) is None, "roots a - b and a + b"
    assert find_double_root(field, [[a, a], [a, a]], [[b, b], [b, b]]) is None, "the determinant is zero throughout"


def test_equal_numbers_have_equal_hashes():
    """A rational function that is a constant is found where the fraction is."""
    field = ParameterField(Region.parse("0 < a"))
    a = field.parameters()["a"]
    for ours, theirs in ((a / a, 1), (a - a, 0), (a * Q(3, 7) / a, Q(3, 7)), ((a * a - 1) / (a - 1), a + 1)):
        assert ours == theirs and hash(ours) == hash(theirs)


def test_signs_agree_with_samples():
    """Random products of polynomials: a sign that was proved is never contradicted at a point of the region."""
    lots, proved = random.Random(5), 0
    region = Region.parse("0<a<b, 0<=c<=1/b")
    field = ParameterField(region)
    for _ in range(120):
        terms = [
            f"({lots.randint(-3, 4)})*a**{lots.randint(0, 2)}*b**{lots.randint(0, 2)}*c**{lots.randint(0, 2)}"
            for _ in range(4)
        ]
        value = field.read(" + ".join(terms))
        sign = field.sign(value)
        if sign is None or value == 0:
            continue
        proved += 1
        for _ in range(40):
            point = region.point_of_box([Q(lots.randint(0, 20), 20) for _ in range(3)])
            found = value.at(point)
            assert found * sign.direction >= (0 if not sign.strict else Q(1, 10**30))
    assert proved > 20


def test_scalings_are_found():
    field = ParameterField(Region.parse("0<L, 0<eta<1/(2*L)"))
    system = bound_system(field, lambda p: FedPD(p["eta"]), 1, "stationarity", FEDPD, mu="-L")
    (scaling,) = find_scalings(field, system)
    assert scaling.base == "eta" and scaling.parameters == {"L": -1, "eta": 1}


def test_the_checker_runs_without_packages(tmp_path):
    (piece,) = prove_bound(lambda p: FedPD(p["eta"]), "0<L, 0<eta<1/(2*L)", 1, "stationarity", FEDPD, mu="-L")
    good, bad, empty = (tmp_path / name for name in ("good.json", "bad.json", "empty.json"))
    good.write_text(json.dumps(piece.judgement.derivation))
    bad.write_text(json.dumps({**piece.judgement.derivation, "constant": "1"}))
    empty.write_text("{")

    def run(path):
        command = [sys.executable, "-I", "-S", str(Path(checker.__file__).parent), str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = run(good)
    assert done.returncode == 0 and "0 < L, 0 < eta < 1/2/L" in done.stdout
    for path, code in ((bad, 1), (empty, 2), (tmp_path / "missing.json", 2)):
        refused = run(path)
        assert refused.returncode == code and refused.stderr.startswith("refused: ") and refused.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def derivation():
    """Of the stationarity of FedPD after one round."""
    (piece,) = prove_bound(lambda p: FedPD(p["eta"]), "0<L, 0<eta<1/(2*L)", 1, "stationarity", FEDPD, mu="-L")
    return piece.judgement.derivation


FILES = {
    "infinity": (lambda d: json.dumps({**d, "constant": float("inf")}), "Infinity is not exact"),
    "a float": (lambda d: json.dumps({**d, "constant": 0.5}), "0.5 is not exact"),
    "a name twice": (lambda d: json.dumps(d)[:-1] + ', "constant": "1"}', "a name occurs twice"),
    "many levels": (lambda d: "[" * 60 + "]" * 60, "levels"),
    "very many levels": (lambda d: "[" * 100_000 + "]" * 100_000, "levels"),
    "terminal escapes": (lambda d: json.dumps({**d, "note": "\x1b[2J"}), "is not a short line of printable ASCII"),
    "a long line": (lambda d: json.dumps({**d, "note": "x" * 10_001}), "is not a short line of printable ASCII"),
    "a long file": (lambda d: " " * (MOST_BYTES + 1), "it is longer than"),
    "a certificate": (
        lambda d: json.dumps({**d, "format": "fedtheory certificate 2"}),
        "the certificate has the unknown field",
    ),
    "a list": (lambda d: "[]", "it is not a proof"),
    "a smaller constant": (lambda d: json.dumps({**d, "constant": "1"}), ""),
}


@pytest.mark.parametrize("name", FILES)
def test_a_malformed_derivation_is_refused_in_one_line(derivation, tmp_path, monkeypatch, capsys, name):
    make, message = FILES[name]
    file = tmp_path / "derivation.json"
    file.write_text(make(derivation))
    monkeypatch.setattr(sys, "argv", ["checker", str(file)])
    with pytest.raises(SystemExit) as left:
        check_named_file()
    said = capsys.readouterr().err
    assert left.value.code == (1 if name == "a smaller constant" else 2)
    assert (
        said.startswith("refused: ")
        and message in said
        and said.count("\n") == 1
        and said.isascii()
        and len(said) < 600
    )


def test_the_checkers_own_command(derivation, tmp_path, monkeypatch, capsys):
    file = tmp_path / "derivation.json"
    file.write_text(json.dumps(derivation))
    monkeypatch.setattr(sys, "argv", ["checker", str(file)])
    check_named_file()
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("derivation verified: the conclusion holds in any number of clients")
    assert said[1].strip() == "0 < L, 0 < eta < 1/2/L" and "given the hypotheses: " in said[2]
    assert "not checked: that evaluations, hypotheses and conclusion are those of a lemma or of a method" in said[3]
    monkeypatch.setattr(sys, "argv", ["checker"])
    with pytest.raises(SystemExit, match="2"):
        check_named_file()
    assert "[--limit STEPS] file" in capsys.readouterr().err


def one_parameter(low, high, *closed, before=()):
    """A derivation of 0 <= a + 1 on an interval."""
    ends = {"low": low, "high": high, "low closed": closed[0], "high closed": closed[1]}
    factors = [[["1", [0] * len(before) + [1]], ["1", [0] * (len(before) + 1)]]]
    factors += [[["1", [int(i == k) for i in range(len(before) + 1)]]] for k in range(len(before))]
    return {
        "format": DERIVATION_FORMAT,
        "parameters": [*before, {"name": "a", **ends}],
        "factors": factors,
        "functions": {},
        "hypotheses": {},
        "conclusion": {"1": ["-1", {"0": 1}]},
        "multipliers": {},
        "constant": ["-1", {"0": 1}],
        "pivots": {"S": [], "Q": []},
        "mean": 0,
        "deviation": 0,
    }


L = {"name": "L", "low": "0", "high": None, "low closed": False, "high closed": False}
EMPTY = {
    "ends exchanged": one_parameter("2", "1", True, True),
    "an open end that is the other": one_parameter("2", "2", True, False),
    "ends exchanged for every L": one_parameter(["2", {"1": 1}], ["1", {"1": 1}], False, False, before=[L]),
    "the same end for every L": one_parameter(["1", {"1": 1}], ["1", {"1": 1}], False, True, before=[L]),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_region_is_told(name):
    """It was verified without a word."""
    with pytest.raises(Refused, match=r"the region .* is empty, and everything is true of nothing"):
        check_derivation(EMPTY[name])


def test_regions_with_points_are_not_taken_for_empty():
    for found in (
        one_parameter("2", "2", True, True),
        one_parameter("1", "2", False, False),
        one_parameter(["1", {"1": 1}], ["1", {"1": 1}], True, True, before=[L]),
        one_parameter("1", ["1", {"1": 1}], False, False, before=[L]),  # empty for L <= 1 alone
    ):
        check_derivation(found)


def test_long_rows_are_counted_and_the_limit_can_be_raised():
    """A row of 150 fractions of 60 digits took minutes."""
    row = {str(i): f"{10**59 + i}/{10**59 + 7 * i + 1}" for i in range(60)}
    dense = one_parameter("0", None, True, False) | {"mean": 60}
    dense["pivots"] = {"S": [{"pivot": "1", "row": row}] * 20, "Q": []}
    dense["conclusion"] = {"1": ["-1", {"0": 1}], "S": {f"{i},{j}": "1" for i in range(60) for j in range(i, 60)}}
    begun = time.process_time()
    with pytest.raises(NotChecked, match="it takes more than 20000 steps to check; --limit STEPS raises the limit"):
        check_derivation(dense, 20_000)
    with pytest.raises(Refused, match="does not balance"):
        check_derivation(dense)
    assert time.process_time() - begun < 7.5


def test_long_factors_are_counted():
    """A factor of 8,000 terms took minutes."""
    long, lots = one_parameter("0", None, True, False), random.Random(1)
    powers = {tuple(lots.randrange(4) for _ in range(8)) for _ in range(1500)}
    long["parameters"] = [{**long["parameters"][0], "name": name} for name in "abcdefgh"]
    long["factors"] = [[["1", list(at)] for at in powers]]
    begun = time.process_time()
    with pytest.raises(Refused, match="not shown to be nonnegative"):
        check_derivation(long, 3_000_000)
    with pytest.raises(NotChecked, match="takes more than"):
        check_derivation(long, 100_000)
    assert time.process_time() - begun < 7.5


def test_the_checkers_own_command_takes_a_limit(tmp_path, monkeypatch, capsys):
    file = tmp_path / "derivation.json"
    file.write_text(json.dumps(one_parameter("1", "2", True, True)))
    monkeypatch.setattr(sys, "argv", ["checker", str(file), "--limit", "1000"])
    check_named_file()
    assert "derivation verified" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["checker", str(file), "--limit", "1"])
    with pytest.raises(SystemExit, match="2"):
        check_named_file()
    assert "it takes more than 1 steps to check; --limit STEPS raises" in capsys.readouterr().err


def test_boxes_decide_where_coefficients_do_not():
    """t^2 - t + 1 has no zero, and coefficients of both signs; t^2 - 2 t + 1 has one."""
    open_ends = ((False, False),)
    above = {(2,): Q(1), (1,): Q(-1), (0,): Q(1)}
    assert sign_on_box(above, open_ends, (2,)) == Sign(1, True)
    assert sign_on_box({**above, (1,): Q(-2)}, open_ends, (2,)) in (None, Sign(1, False))
    assert sign_on_box({**above, (1,): Q(-3)}, open_ends, (2,)) is None
    assert sign_on_box({(1,): Q(1)}, ((True, False),), (1,)) == Sign(1, False)
    assert np.sign(-1) == sign_on_box({(0,): Q(-1)}, open_ends, (0,)).direction


def test_gradient_descents_bounds():
    """Drori and Teboulle 2014: tight for every step up to 1/L; stated with more room, and too small."""

    def method(p):
        return GradientDescent(p["lr"])

    region = "T in 1..2, 0<L, 0<lr<=1/L"
    for factor, word in ((1, "proved for all parameters"), (1.25, "proved for all parameters"), (0.99, "refuted")):
        pieces = prove_bound(method, region, "T", "gap", f"{factor}*L/(4*T*lr*L + 2)", mu=0)
        assert {piece.judgement.word for piece in pieces} == {word}
    assert pieces[0].judgement.instance.point["T"] == 1


def test_bounds_that_are_a_maximum():
    """One step contracts by max{(1 - lr mu)^2, (1 - lr L)^2} up to 2/L."""
    region, bound = "0<mu<L, 0<lr<2/L", "max((1-lr*mu)**2, (1-lr*L)**2)"
    pieces = prove_bound(lambda p: GradientDescent(p["lr"]), region, 1, "squared_distance", bound)
    assert [piece.judgement.word for piece in pieces] == ["proved for all parameters"] * 2


def test_negative_weights_are_refused():
    stated = StatedContraction.read(
        lambda p: Scaffnew(p["lr"], p["p"]),
        "0<mu<L, 0<lr<=1/L, 0<p<=1",
        {"x_i": 1, "h_i": "lr - lr**2"},
        "max(1-lr*mu, 1-p**2)",
    )
    with pytest.raises(InvalidInput, match="weight of 'h_i'"):
        prove_contraction(stated)
