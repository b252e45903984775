"""Attacks on ``fedtheory replay``: counterexample files that run code, that show another instance, that overstate what they show."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from claim_files import GOOD
from click.testing import CliRunner

from fedtheory.claims.checking import check_one
from fedtheory.claims.claim import Counterexample
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference, load_claims
from fedtheory.claims.replay import replay_file
from fedtheory.claims.report import write_counterexamples
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput, MissingExtra
from paper_checks.fedpd.section_4_1_a_theorem_1 import ZERO_DUALS

FEDPD = "paper_checks.fedpd"
THEOREM = """
from fedtheory.claims import Bound, state

CLAIMS = [
    state("X", "toy", "Theorem 1", "Too good.", Bound("gd", "lr = 1/L", region="0 < L, 0 < R, N in 1..3", functions="L",
          measure="gap", rounds="N", radius="R", claimed="L*R**2/(4*N + 4)"))
]
"""


@pytest.fixture
def good(tmp_path) -> Path:
    file = tmp_path / "good.py"
    file.write_text(GOOD)
    return file


@pytest.fixture
def forge(tmp_path, good):
    """Write a counterexample file that was changed; return its path."""
    verdict = check_one(Reference(str(good), "TOY-FALSE"), Context())
    (written,) = write_counterexamples([verdict], tmp_path)

    def write(**changes) -> Path:
        stored = json.loads(written.read_text()) | changes
        file = tmp_path / "forged.json"
        file.write_text(json.dumps({name: value for name, value in stored.items() if value is not ...}, default=str))
        return file

    return write


@pytest.mark.parametrize("source", ["os", "antigravity", "evil", "evil.py", "/tmp/evil.py", "problems.catalogue"])
def test_a_file_cannot_name_what_is_imported(forge, tmp_path, monkeypatch, source) -> None:
    (tmp_path / "evil.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        InvalidInput, match="which is no installed paper; if it came from a file of claims, name that file"
    ):
        replay_file(forge(source=source))
    assert not (tmp_path / "ran").exists()


def test_a_named_file_is_python_and_not_for_papers(forge, good, tmp_path) -> None:
    with pytest.raises(InvalidInput, match=r"expected a name that ends in \.py"):
        replay_file(forge(), tmp_path / "claims.json")
    with pytest.raises(InvalidInput, match=r"a claim of the paper paper_checks\.fedpd: replay it without"):
        replay_file(forge(source=FEDPD), good)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 1}, "has the format 1; expected 3"),
        ({"format": ...}, "has the format None; expected 3"),
        ({"format": "3"}, "has the format '3'; expected 3"),
        ({"format": 2}, "has the format 2; expected 3"),
        ({"measured": ...}, "'measured' is missing"),
        ({"part": ...}, "'part' is missing"),
        ({"measured": "0.5"}, "'measured' must be a finite number"),
        ({"measured": True}, "'measured' must be a finite number"),
        ({"measured": float("inf")}, "Infinity is no number"),
        ({"bound": float("nan")}, "NaN is no number"),
        ({"exact": {"measured": "1/2"}}, "'exact' must be the texts measured, bound and arithmetic"),
        ({"assumptions": [{"assumption": "x > 0"}]}, "'assumptions' must be a list of texts"),
        ({"role": "proved"}, "'role' must be one of printed, repaired, reading"),
        ({"status": "true"}, "'status' must be one of proved"),
        ({"status": "proved"}, "the printed statement cannot have a counterexample and be proved"),
        ({"status": "supported"}, "the printed statement cannot have a counterexample and be supported"),
        ({"note": "verified by the authors"}, "unknown field 'note'"),
        ({"statement": "x\x1b[2J"}, "'statement' must be a line of text"),
        ({"part": "a\nproved"}, "'part' must be a line of text"),
        ({"instance": [1]}, "'instance' must be named numbers, texts and lists"),
        ({"instance": {"x": {"y": 1}}}, "'instance' must be named numbers, texts and lists"),
        ({"instance": {"x": 0.5, "kind": "sharper"}}, "has fields that TOY-FALSE does not read: kind"),
        ({"instance": {"x": "0.5"}}, "cannot be replayed"),
    ],
    ids=str,
)
def test_every_field_is_checked(forge, good, changes, message) -> None:
    with pytest.raises(InvalidInput, match=message) as raised:
        replay_file(forge(**changes), good)
    assert "\n" not in str(raised.value) and "\x1b" not in str(raised.value)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"claim": 1e9999}', "[]", "null", '"claim"', "\x00", "\udcff"])
def test_what_is_no_counterexample_is_told_in_one_line(tmp_path, text) -> None:
    file = tmp_path / "odd.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidInput) as raised:
        replay_file(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"measured": 5.0}, "measured"),
        ({"bound": 0.24}, "bound"),
        ({"exact": {"measured": "1/2", "bound": "1/5", "arithmetic": "fractions"}}, "exact bound"),
        ({"exact": {"measured": "1e999999999", "bound": "1/4", "arithmetic": "fractions"}}, "exact measured"),
        ({"exact": {"measured": "1/2", "bound": "1/4", "arithmetic": "interval arithmetic"}}, "arithmetic"),
        ({"assumptions": []}, "assumptions"),
        (
            {
                "assumptions": [
                    {"assumption": "x is a counterexample for every n", "by": "exact arithmetic", "met": True}
                ]
            },
            "assumptions",
        ),
        ({"statement": "P = NP."}, "statement"),
        ({"what": "every method diverges"}, "what"),
        ({"part": "the whole theory"}, "part"),
        ({"part": "corrected"}, "part"),
        ({"role": "reading"}, "part"),
        ({"role": "repaired", "status": "repaired"}, "part"),
    ],
    ids=str,
)
def test_stored_words_and_numbers_are_held_against_the_measured(forge, good, changes, name) -> None:
    found = replay_file(forge(**changes), good)
    assert found.seen.violated and not found.confirmed and tuple(found.differences) == (name,)
    assert found.conclusion.endswith(f"the file DISAGREES in: {name}")
    result = CliRunner().invoke(main, ["replay", str(forge(**changes)), str(good)])
    assert result.exit_code == 1 and "DISAGREES" in result.stdout
    assert ("the file has 5 for measured" in result.stdout) == ("measured" in changes)
    assert "P = NP" not in result.stdout and "every method diverges" not in result.stdout, "what is printed is measured"


@pytest.mark.parametrize(
    ("instance", "message"),
    [
        ({"x": "1e99999999"}, "with numbers of at most 400 digits"),
        ({"x": "1/1e99999999"}, "with numbers of at most 400 digits"),
        ({"x": "1" * 401}, "with numbers of at most 400 digits"),
        ({"x": "\uff11e\uff19\uff19\uff19\uff19"}, "with numbers of at most 400 digits"),
        ({"x": 10**400}, "has more than 300 digits"),
        ({"x": 10**6}, "has numbers larger than 1000; --limit NUMBER raises the limit"),
        ({"x": [0.5] * 1001}, "has numbers larger than 1000; --limit NUMBER raises the limit"),
        ({"x": "n = 1000000, lr = 1/2"}, "has numbers larger than 1000; --limit NUMBER raises the limit"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_numbers_that_would_be_counted_for_ever_are_refused(forge, good, instance, message) -> None:
    """There was no answer for an exponent of eight digits, or for a million clients."""
    begun = time.process_time()
    with pytest.raises(InvalidInput, match=message) as raised:
        replay_file(forge(instance=instance), good)
    assert time.process_time() - begun < 2 and "\n" not in str(raised.value)


def test_the_limit_of_numbers_is_raised_by_the_reader_or_by_what_the_check_shows(forge, good, tmp_path) -> None:
    assert not replay_file(forge(instance={"x": 10.0**6}), good, limit=10**6).seen.violated
    result = CliRunner().invoke(main, ["replay", str(forge(instance={"x": 10.0**6})), str(good), "--limit", "1000000"])
    assert result.exit_code == 1 and "not violated" in result.stdout
    large = tmp_path / "large.py"
    large.write_text(
        GOOD.replace("def false(ctx, x=0.5)", "def false(ctx, x=4000.0)").replace(
            "x, x * x, exact, exact * exact", "x * x, x, exact * exact, exact"
        )
    )
    with pytest.raises(InvalidInput, match="has numbers larger than 8000"):
        replay_file(forge(instance={"x": 9000.0}), large)
    assert replay_file(forge(instance={"x": 7000.0}), large).seen.measured == 7000.0**2


WORDED = GOOD.replace(
    'x = instance["x"]', 'x = instance["x"] if instance["kind"] else 0\n    instance["count"], instance["yes"]'
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "a theorem"}, "'kind' is 'a theorem', there 'a half'"),
        ({"kind": 1}, "'kind' is a whole number, there a word"),
        ({"yes": 1}, "'yes' is a whole number, there a truth value"),
        ({"yes": "x"}, "'yes' is a word, there a truth value"),
        ({"x": True}, "True against 1 is no comparison of numbers"),
        ({"count": 2.5}, "'count' is a number, there a whole number"),
    ],
    ids=str,
)
def test_words_and_kinds_of_an_instance_are_those_that_the_check_shows(tmp_path, changes, message) -> None:
    """An edited word that the replay does not decide on was confirmed with it."""
    shown = {"x": 0.5, "kind": "a half", "count": 2, "yes": True}
    file = tmp_path / "worded.py"
    file.write_text(
        WORDED.replace(
            'refute("square", square, {"x": x}, text', f'refute("square", square, {shown} | {{"x": x}}, text'
        )
    )
    (written,) = write_counterexamples([check_one(Reference(str(file), "TOY-FALSE"), Context())], tmp_path)
    stored = json.loads(written.read_text())
    assert replay_file(written, file).confirmed and stored["instance"] == shown
    written.write_text(json.dumps(stored | {"instance": shown | changes}))
    with pytest.raises(InvalidInput, match=message):
        replay_file(written, file)


def test_a_theorems_refutation_is_read_whole(tmp_path) -> None:
    """Every other field, number and word of it is read, or refused."""
    file = tmp_path / "theorem.py"
    file.write_text(THEOREM)
    (written,) = write_counterexamples([check_one(Reference(str(file), "X"), Context())], tmp_path)
    stored = json.loads(written.read_text())
    assert replay_file(written, file).confirmed
    for edit in _edits_of(*(json.loads(stored["instance"][name]) for name in ("data", "point"))):
        changed = stored["instance"] | {name: json.dumps(value) for name, value in edit.items()}
        written.write_text(json.dumps(stored | {"instance": changed}))
        with pytest.raises(InvalidInput, match=r"cannot be replayed|raises the limit") as raised:
            replay_file(written, file)
        assert "\n" not in str(raised.value), edit
    written.write_text(json.dumps(stored | {"instance": stored["instance"] | {"data": '{"format": 1, "format": 2}'}}))
    with pytest.raises(InvalidInput, match="the name 'format' occurs twice"):
        replay_file(written, file)


def _edits_of(data, point):
    """One field, number or word changed."""
    return [
        {"data": data | {"note": "1"}},
        {"data": data | {"claimed": "1/9"}},
        {"data": data | {"start": data["start"] | {"y": [["1"]]}}},
        {"data": data | {"question": data["question"] | {"rounds": True}}},
        {"data": data | {"question": data["question"] | {"rounds": 2}}},
        {"point": point | {"M": "1"}},
        {"point": point | {"N": True}},
        {"point": point | {"N": "900"}},
        {"point": point | {"L": "1e3"}},
    ]


def test_another_instance_of_the_same_part_is_confirmed_and_one_of_another_part_is_not(forge, tmp_path) -> None:
    """As of another seed; two parts with counterexamples are told apart by what they show."""
    there = {
        "measured": 0.25,
        "bound": 0.0625,
        "exact": {"measured": "1/4", "bound": "1/16", "arithmetic": "fractions"},
    }
    met = [{"assumption": "sign: x > 0 with x = 1/4", "by": "exact arithmetic", "met": True}]
    good = tmp_path / "one.py"
    good.write_text(GOOD)
    other = forge(instance={"x": 0.25}, assumptions=met, **there)
    assert replay_file(other, good).confirmed
    two = tmp_path / "two.py"
    second = '    yield refute("second", square, {"x": 0.25})'
    two.write_text(GOOD.replace('text="As printed:")', f'text="As printed:")\n{second}'))
    assert tuple(replay_file(other, two).differences) == ("part",)
    assert replay_file(forge(part="second", instance={"x": 0.25}, assumptions=met, **there), two).confirmed


def test_a_check_that_fails_before_its_part_is_told(forge, tmp_path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(
        GOOD.replace('yield refute("square", square, {"x": x}, text', 'yield refute("square", square, {"y": x}, text')
    )
    with pytest.raises(InvalidInput, match=r"the check of TOY-FALSE fails before the part that .* names: .*x"):
        replay_file(forge(), broken)


@pytest.mark.parametrize(
    ("reads", "unread"),
    [
        ('instance.get("x")', True),
        ("dict(instance.items())['x']", False),
        ("{n: instance[n] for n in instance}['x']", False),
    ],
    ids=["get", "items", "loop"],
)
def test_only_what_a_replay_reads_may_stand_in_an_instance(forge, tmp_path, reads, unread) -> None:
    good = tmp_path / "other.py"
    good.write_text(GOOD.replace('instance["x"]', reads))
    assert replay_file(forge(), good).confirmed
    more = forge(instance={"x": 0.5, "kind": "sharper"})
    if unread:
        with pytest.raises(InvalidInput, match="has fields that TOY-FALSE does not read: kind"):
            replay_file(more, good)
    else:
        assert replay_file(more, good).confirmed


def test_a_package_that_a_replay_needs_and_is_not_there_is_named(forge, tmp_path) -> None:
    """Which says nothing about the instance."""
    file = forge()
    missing = "from fedtheory.core.errors import require\n    require('nobody_has_this', 'this replay')\n    x = "
    good = tmp_path / "other.py"
    good.write_text(GOOD.replace("x = instance", f"{missing}instance", 1))
    with pytest.raises(MissingExtra, match="nobody_has_this is needed for this replay and could not be imported"):
        replay_file(file, good)


@pytest.mark.parametrize(
    ("measured", "same"),
    [
        ("0.5", True),
        ("0.50", True),
        ("0.5000000000000001", True),
        ("0.50000001", False),
        ("1/2", False),
        ("0.5.", False),
    ],
)
def test_decimals_are_held_against_each_other_by_their_digits(forge, tmp_path, measured, same) -> None:
    """High precision is not the last word on the last digit; a fraction is another arithmetic."""
    decimals = GOOD.replace("Fraction(x).limit_denominator(10**6)", "Decimal(str(x))").replace(
        "from fractions import Fraction\n", "from decimal import Decimal\nfrom fractions import Fraction\n"
    )
    good = tmp_path / "other.py"
    good.write_text(decimals.replace("x=exact)", "x=Fraction(x))"))
    exact = {"measured": measured, "bound": "0.25", "arithmetic": "fractions"}
    assert replay_file(forge(exact=exact), good).differences.keys() == (set() if same else {"exact measured"})


def test_the_line_says_which_reading_is_violated(tmp_path) -> None:
    """The statement is true as printed; its file shows another reading of it."""
    file = tmp_path / "mine.py"
    file.write_text(
        GOOD + "\n\ndef read(ctx, left=1):\n"
        '    yield decided("identity", compare(left, "==", 1), "one is one")\n'
        '    yield refute("reading: x below one", square, {"x": 0.5}, role="reading")\n\n\n'
        'CLAIMS = [claim("TOY-READ", "identity", read, Fault("two", "identity", {"left": 2}), replay=square)]\n'
    )
    (written,) = write_counterexamples([check_one(Reference(str(file), "TOY-READ"), Context())], tmp_path)
    result = CliRunner().invoke(main, ["replay", str(written), str(file)])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == (
        "  VIOLATED under another reading, not as printed (part 'reading: x below one'); "
        "verdict on TOY-READ when the file was written: argued; the file's numbers agree"
    )


def test_fields_of_an_instance_are_those_that_its_replay_reads(tmp_path) -> None:
    claim = load_claims(FEDPD)["FEDPD-T1"]
    seen = claim.replay(ZERO_DUALS)
    stored = Counterexample(ZERO_DUALS, seen).as_dict() | {
        **{"format": 3, "claim": claim.id, "source": FEDPD, "statement": claim.statement},
        **{"part": "reading: lam_i^0 = 0", "role": "reading", "status": "proved"},
    }
    file = tmp_path / "FEDPD-T1.json"
    for change in ({"kind": "zero dual"}, {"rounds": 12.7}, {"rounds": True}, {"other": 1}):
        file.write_text(json.dumps(stored | {"instance": stored["instance"] | change}))
        with pytest.raises(InvalidInput, match=r"none of 'zero duals'|not a whole number|does not read: other"):
            replay_file(file)
