"""Two runs are compared in words, evidence and numbers; a badge says how many statements stand; shells complete names."""

import copy
import dataclasses
import json
from xml.etree import ElementTree

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from fedtheory.claims.badge import describe_badge, write_badge
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.claim import Claim, Covered, Fault
from fedtheory.claims.comparison import compare_verdicts
from fedtheory.claims.context import Context
from fedtheory.claims.parts import at_most, holds
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput


def _claim(id: str, measured: float = 0.5, holding: bool = True) -> Claim:
    def check(context: Context):
        yield at_most("runs", [measured], [1.0], "numeric", "some runs", covered=Covered(20, "instances"))
        yield holds("a sum", holding, "numeric", "1 + 1 = 2", covered=Covered(1, "cases"))

    return Claim(id, "toy", "bound", "(1)", "A number is at most 1.", check, (Fault("a lie", "runs", {}),))


def _verdict(id: str = "T-1", **how: object):
    return judge_claim(_claim(id, **how), "toy.py", Context())


def _stored(verdict) -> dict:
    return {verdict.id: copy.deepcopy(json.loads(json.dumps(dataclasses.asdict(verdict))))}


def test_nothing_changed_where_nothing_did() -> None:
    verdict = _verdict()
    later = dataclasses.replace(verdict, seconds=99.0, versions={"numpy": "9"})
    assert compare_verdicts([later], _stored(verdict)) == []


def test_words_evidence_and_numbers_are_told_apart() -> None:
    before = _stored(_verdict())
    (number,) = compare_verdicts([_verdict(measured=0.75)], before)
    assert not number.words
    assert any(line.startswith("'runs', value: 0.5 -> 0.75") for line in number.numbers)
    (word,) = compare_verdicts([_verdict(holding=False)], before)
    assert word.words == ["supported -> inconclusive"]
    assert any("'a sum': holds -> FAILS" in line for line in word.evidence)


def test_rounding_is_no_change() -> None:
    before = _stored(_verdict(measured=0.5))
    found = compare_verdicts([_verdict(measured=0.5 * (1 + 1e-9))], before)
    assert not [line for changes in found for line in changes.numbers]
    found = compare_verdicts([_verdict(measured=0.5 * (1 + 1e-4))], before)
    assert [line for changes in found for line in changes.numbers]


def test_parts_that_came_or_went_and_claims_that_are_new() -> None:
    verdict = _verdict()
    before = _stored(verdict)
    gone = before["T-1"]["evidence"].pop()
    (found,) = compare_verdicts([verdict], before)
    assert found.evidence == [f"the part {gone['name']!r} is new: holds"]
    assert compare_verdicts([verdict], {})[0].words == ["supported, and it was not judged before"]
    assert compare_verdicts([verdict], {"T-1": {"id": "T-1", "status": "supported"}}) == []  # a word alone


FILE = """
from fedtheory.claims import Claim, Covered, Fault, holds

def check(context, limit={limit}):
    yield holds("a number", 1 <= limit, "numeric", "1 is at most {limit}", covered=Covered(20, "instances"))

CLAIMS = [Claim("MINE-1", "mine", "proof step", "(1)", "1 is at most a limit.", check, (Fault("0", "a number", {{"limit": 0}}),))]
"""


def test_check_compares_and_writes_a_badge(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text(FILE.format(limit=2))
    asked = ["check", str(file), "--workers", "1"]
    assert CliRunner().invoke(main, [*asked, "--json", "old.json", "--badge", "b.json"]).exit_code == 0
    assert json.loads((tmp_path / "b.json").read_text())["message"] == "1 supported"
    same = CliRunner().invoke(main, [*asked, "--compare", "old.json"])
    assert same.exit_code == 0
    assert "of 1 claims: 0 with another word, 0 with other evidence, 0 with other numbers" in same.output
    other = tmp_path / "old.json"
    other.write_text(other.read_text().replace("1 is at most 2", "1 is at most 3"))
    changed = CliRunner().invoke(main, [*asked, "--compare", "old.json"])
    assert changed.exit_code == 1
    assert "MINE-1  evidence: 'a number' said: 1 is at most 3; it says: 1 is at most 2" in changed.output


def test_a_badge_is_red_where_a_statement_is_false(tmp_path) -> None:
    good, open_one = _verdict(), _verdict("T-2", holding=False)
    assert describe_badge([good])[:2] == ("1 supported", "green")
    assert describe_badge([good, open_one])[:2] == ("1 supported, 1 inconclusive", "yellow")
    assert describe_badge([good, dataclasses.replace(good, status="refuted")])[1] == "red"
    write_badge([good, open_one], tmp_path / "b.svg")
    drawn = ElementTree.parse(tmp_path / "b.svg").getroot()
    assert drawn.attrib["aria-label"] == "theorems: 1 supported, 1 inconclusive"
    with pytest.raises(InvalidInput, match="badge"):
        write_badge([good], tmp_path / "b.png")


def _complete(*words: str) -> list[str]:
    return [item.value for item in ShellComplete(main, {}, "fedtheory", "_X").get_completions([*words[:-1]], words[-1])]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("check", "SAFARI-T4"), ["SAFARI-T4", "SAFARI-T4a"]),
        (("check", "saf"), ["safari", "SAFARI-T4"]),
        (("check", "fed"), ["fedpd", "FEDPD-", "FEDSLR-"]),
        (("check", "LIT-HAL"), ["LIT-HALPERN"]),
        (("run", "scaf"), ["scaffold", "scaffnew"]),
        (("sweep", "fedavg,scaffn"), ["fedavg,scaffnew"]),
        (("run", "fedavg", "quadr"), ["quadratics"]),
        (("run", "fedavg", "quadratics", "--metric", "gap,stat"), ["gap,stationarity"]),
        (("run", "fedavg", "quadratics", "--local-st"), ["--local-steps"]),
        (("conform", "mine.py", "--method", "scaffn"), ["scaffnew"]),
        (("largest", "scaffn"), ["scaffnew"]),
        (("compare", "gd,scaffn"), ["gd,scaffnew"]),
        (("design", "scaffn"), ["scaffnew"]),
        (("list", "met"), ["metrics"]),
    ],
)
def test_shells_complete(words: tuple[str, ...], found: list[str]) -> None:
    assert {*found} <= {*_complete(*words)}
