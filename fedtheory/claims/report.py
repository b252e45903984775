"""Verdicts as a table in the terminal, a JSON file, and counterexample files; `fedtheory.claims.pages` makes pages of them."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from fedtheory.claims.claim import Status
from fedtheory.claims.explain.finding import is_explained
from fedtheory.claims.kernel import count_kernel, describe_kernel
from fedtheory.claims.ledger import LEDGER, UNDECIDED, WITH_FEW_SEEDS
from fedtheory.claims.publication import Publication
from fedtheory.claims.refutation import explain_refutation
from fedtheory.claims.verdict import AGREE, DISAGREE, Verdict
from fedtheory.claims.words import VERDICT_WORDS, describe_told
from fedtheory.core.errors import InvalidInput
from fedtheory.tools import untrusted
from fedtheory.tools.versions import find_versions

FORMAT = 1
_VERDICT_FILE = "a verdict file written by 'fedtheory check --json'"
COUNTEREXAMPLE_FORMAT = 3


#: a terminal with fewer columns has no place for margins
ROOM_FOR_MARGINS = 100


def tabulate_verdicts(verdicts: Sequence[Verdict], width: int) -> Any:
    """Return a rich table of a line a verdict, for a terminal of so many columns: what is said is cut at the edge, an error is not."""
    from rich.text import Text

    from fedtheory.tools.terminal import make_plain_table

    margins = ["margin#"] if width >= ROOM_FOR_MARGINS else []
    view = make_plain_table("claim", "verdict#", *margins, "what it says, and what decided...")
    view.columns[1].justify = "left"
    for verdict in verdicts:
        word, style = _style(verdict)
        whole = verdict.error is not None
        text = f"could not be run: {verdict.error}" if whole else write_headline(verdict)
        said = Text(text, no_wrap=not whole, overflow="fold" if whole else "ellipsis")
        margin = [] if not margins else ["" if verdict.margin is None else f"{verdict.margin:+.2g}"]
        view.add_row(Text(verdict.id), Text(word, style=style), *margin, said)
    return view


def describe_verdicts(verdicts: Sequence[Verdict]) -> Any:
    """Return what a terminal shows of verdicts on demand: a line with the word, and below it the statement and what decided, whole."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    blocks: list[Any] = []
    for verdict in verdicts:
        word, style = _style(verdict)
        margin = "" if verdict.margin is None else f"margin {verdict.margin:+.2g}, "
        line = Text.assemble(
            (verdict.id, "bold"), "  ", (word, style), f"  ({verdict.kind}, {margin}{verdict.seconds:.1f} s)"
        )
        given = [f"given: {'; '.join(verdict.given)}"] if verdict.given else []
        said = f"{verdict.source}: {write_headline(verdict)}"
        body = [said, *list_told(verdict), *given, *list_evidence(verdict), *list_faults_of(verdict)]
        body += [] if verdict.counterexample is None else [explain_refutation(verdict.counterexample)]
        body += filter(None, [describe_kernel(verdict)])
        if is_explained(verdict.evidence):
            body.append(f"the proof, to be read: 'fedtheory explain {verdict.id}'")
        blocks += [line, *(Padding(Text(text), (0, 0, 0, 4)) for text in body)]
    return Group(*blocks)


def list_told(verdict: Verdict) -> list[str]:
    """Return lines on what was judged, as its data say it; of states that a function plays what they are and what a round makes of them, once."""
    lines: list[str] = []
    seen: list[Any] = []
    for one in verdict.told:
        name = f" {one['name']}" if "name" in one and len(verdict.told) > 1 else ""
        lines.append(f"{describe_told(verdict.status, verdict.repair, one['role'])}{name}: {one['sentence']}")
        if (rounds := one.get("rounds", [])) not in seen:
            lines += (f"    {line}" for line in rounds)
            seen.append(rounds)
    return lines


#: of the facts that an argument rests on, so many are listed
MOST_FACTS = 12


def list_evidence(verdict: Verdict) -> list[str]:
    """Return lines on a verdict's parts, then its readings; of what is argued the argument, line by line with grounds, and the facts."""
    lines: list[str] = []
    for part in verdict.evidence:
        argument = list_argument(part)
        said = "" if argument else f" {part['text']}"
        lines.append(f"{name_outcome(part)}  {part['name']}:{said}")
        lines += (f"    {line}" for line in argument)
    return lines + verdict.readings


def name_outcome(part: Mapping[str, Any]) -> str:
    """Return what came of a part: that it holds, or fails; where words lead there, that this is argued."""
    if part["holds"] is None:
        return "undecided"
    if part.get("argued"):
        return "argued" if part["holds"] else "FAILS (argued)"
    return "holds" if part["holds"] else "FAILS"


def list_argument(part: Mapping[str, Any]) -> list[str]:
    """Return the lines of a part's argument, numbered, each with its ground, then the facts that checkers confirmed; nothing of other parts."""
    found = part.get("proof") or part.get("disproof") or {}
    if not part.get("argued") or not found:
        return []
    lines = [f"({k}) {line['line']} [{line['ground']}]" for k, line in enumerate(found.get("argument", ()), 1)]
    facts = found.get("facts", [])
    lines += (f"fact {k}, {fact['how']}: {fact['what']}" for k, fact in enumerate(facts[:MOST_FACTS], 1))
    return lines + [f"and {len(facts) - MOST_FACTS} facts more, in the JSON file"] * (len(facts) > MOST_FACTS)


def list_faults_of(verdict: Verdict) -> list[str]:
    """Return lines on what a verdict's planted faults came to, or one that says that they were not run."""
    if not verdict.planted:
        return [f"planted faults: {len(verdict.faults)}, not run here; --selftest runs them"] if verdict.faults else []
    return [
        f"{found['outcome'].upper() if found['outcome'] == 'missed' else found['outcome']}  planted fault: {found['fault']}"
        + (f" [{found['detail']}]" if found["outcome"] != "caught" else "")
        for found in verdict.planted
    ]


def _style(verdict: Verdict) -> tuple[str, str]:
    """Return a verdict's word, and how a terminal shows it."""
    word = "not run" if verdict.error else verdict.status
    return word, VERDICT_WORDS[word].colour


def write_headline(verdict: Verdict) -> str:
    """Return one line: the statement, and the repaired statement or the error where there is one."""
    if verdict.error:
        return f"{verdict.statement} -- could not be run: {verdict.error}"
    if verdict.status == "repaired":
        return f"{verdict.statement} -- false as printed; instead ({verdict.repair}): {verdict.repaired}"
    ran = "; ".join(filter(None, (verdict.setting, verdict.size and f"{verdict.size} size")))
    return f"{verdict.statement} [{ran}]" if ran else verdict.statement


def summarise(verdicts: Sequence[Verdict]) -> str:
    """Return how many verdicts of each word there are, those of a paper's own statements apart from those on what a ledger derives."""
    printed, derived = (_count([v for v in verdicts if v.derived is own]) for own in (False, True))
    given = sum(bool(v.given) for v in verdicts)
    said = f"printed statements: {printed}; derived ones: {derived}" if printed and derived else printed or derived
    return f"{said}; {given} cite a theorem of the literature" if given else said


def _count(verdicts: Sequence[Verdict]) -> str:
    counts = Counter("not run" if v.error else v.status for v in verdicts)
    return ", ".join(f"{counts[name]} {name}" for name in VERDICT_WORDS if counts[name])


def summarise_faults(verdicts: Sequence[Verdict]) -> str:
    """Return how many planted faults were caught, missed and not run; "" where none was to be run."""
    counts = Counter(found["outcome"] for v in verdicts for found in v.planted)
    if not counts:
        return ""
    missed = ", ".join(v.id for v in verdicts if any(found["outcome"] == "missed" for found in v.planted))
    return (
        f"planted faults caught: {counts['caught']} of {counts['caught'] + counts['missed']}"
        + (f"; missed by {missed}" if missed else "")
        + (f"; not run: {counts['not run']}" if counts["not run"] else "")
    )


def summarise_chances(verdicts: Sequence[Verdict]) -> str:
    """Return a sentence on the verdicts that rest on random draws, and how likely these alone make one of a ledger's words wrong."""
    drawn = [v for v in verdicts if v.level is not None]
    if not drawn:
        return ""
    few = sum(v.size is not None and v.status in (*AGREE, *DISAGREE) for v in drawn)
    undecided = sum(UNDECIDED in part["text"] for v in drawn for part in v.evidence)
    return (
        f"{len(drawn)} verdicts rest on random draws: the chance that draws alone make one or more words of a ledger wrong is at most {LEDGER:.0%} "
        f"({undecided} parts are undecided for that){f', but for {few} experiments that are decided at {WITH_FEW_SEEDS:.0%} each' if few else ''}"
    )


def as_json(verdicts: Sequence[Verdict], papers: Mapping[str, Publication] | None = None) -> str:
    """Return the verdicts as a JSON document; ``papers``: by the module or file of claims, the text that these are of."""
    asked = count_kernel(verdicts)
    document = {
        "format": FORMAT,
        "versions": find_versions(),
        **({} if asked is None else {"kernel": dataclasses.asdict(asked)}),
        "papers": [describe_publication(source, paper) for source, paper in sorted((papers or {}).items())],
        "verdicts": [_describe_verdict(v) for v in verdicts],
    }
    return json.dumps(document, indent=1) + "\n"


def _describe_verdict(verdict: Verdict) -> dict[str, Any]:
    """A verdict as files have it; where a counterexample decided, what it comes to in a sentence."""
    told = dataclasses.asdict(verdict)
    return told if verdict.counterexample is None else told | {"refutation": explain_refutation(verdict.counterexample)}


def describe_publication(source: str, paper: Publication) -> dict[str, Any]:
    """Return a text as files have it: what it is, how it is cited, and the module or file of claims about it."""
    told = dataclasses.asdict(paper) | {"link": paper.link, "cited": str(paper), "bibtex": paper.bibtex}
    return {"claims": Path(source).name if source.endswith(".py") else source, **told}


def as_json_value(value: Any) -> Any:
    """Turn a finding's values into what JSON can say: lists, text, numbers; numbers that are not finite become text.

    Raises
    ------
    TypeError
        A value is of another kind.
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): as_json_value(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_json_value(entry) for entry in value]
    raise TypeError(f"a finding holds a {type(value).__name__}, which is not plain data")


def read_json(path: Path) -> dict[str, dict[str, Any]]:
    """Return stored verdicts by id.

    Raises
    ------
    InvalidInput
        The file is missing or is not a verdict file.
    """
    document = untrusted.read_json_file(path, _VERDICT_FILE)
    verdicts = document.get("verdicts") if isinstance(document, dict) else None
    if not isinstance(verdicts, list):
        raise InvalidInput(f"{path} is not {_VERDICT_FILE} (it has no list 'verdicts')")
    by_id: dict[str, dict[str, Any]] = {}
    for verdict in verdicts:
        if not (
            isinstance(verdict, dict)
            and isinstance(verdict.get("id"), str)
            and verdict.get("status") in get_args(Status)
        ):
            raise InvalidInput(f"{path} is not {_VERDICT_FILE} (a verdict has no 'id', or no known word as 'status')")
        if not _has_evidence(verdict):
            raise InvalidInput(
                f"{path} is not {_VERDICT_FILE} (the evidence of {verdict['id'][:40]!a} is no list of parts with names)"
            )
        if verdict["id"] in by_id:
            raise InvalidInput(f"{path} is not {_VERDICT_FILE} (the id {verdict['id'][:40]!a} occurs twice)")
        by_id[verdict["id"]] = verdict
    return by_id


def _has_evidence(verdict: Mapping[str, Any]) -> bool:
    """Whether what is stored as evidence is a list of parts with names, or nothing is; a file may hold words alone."""
    parts = verdict.get("evidence", [])
    return isinstance(parts, list) and all(isinstance(p, dict) and isinstance(p.get("name"), str) for p in parts)


def name_word_of(verdict: Mapping[str, Any], as_stored: Mapping[str, Any] | None = None) -> str:
    """Return a verdict's word, with how a corrected statement stands where what is stored says that."""
    repair = verdict.get("repair") if (as_stored or verdict).get("repair") else None
    return f"{verdict['status']} ({repair})" if repair else str(verdict["status"])


def list_changes(verdicts: Sequence[Verdict], expected: dict[str, dict[str, Any]]) -> list[str]:
    """Return what changed against stored verdicts, one line a claim."""
    changed = []
    for verdict in verdicts:
        if verdict.id not in expected:
            changed.append(f"{verdict.id}: {verdict.status}, not in the stored verdicts")
        elif (word := name_word_of(stored := expected[verdict.id])) != (found := name_word_of(vars(verdict), stored)):
            changed.append(f"{verdict.id}: {found}, expected {word}")
    return changed


def list_differences(first: Verdict, other: Verdict) -> list[str]:
    """Return what differs between a claim's verdicts with two seeds: nothing, or one line that names the parts."""
    if first.status == other.status and first.error == other.error:
        return []
    before, after = ({part["name"]: part["holds"] for part in v.evidence} for v in (first, other))
    words = {True: "holds", False: "fails", None: "undecided"}
    parts = [
        f"{name}: {words[before.get(name)]}, {words[after.get(name)]}"
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
    shown = [v.error or v.status for v in (first, other)]
    return [f"{first.id}: {shown[0]} with seed {first.seed}, {shown[1]} with seed {other.seed} ({'; '.join(parts)})"]


def write_counterexamples(verdicts: Sequence[Verdict], folder: Path) -> list[Path]:
    """Write one file for each counterexample; `fedtheory replay FILE` shows the violation again."""
    written = []
    for verdict in verdicts:
        if verdict.counterexample is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{verdict.id}.json"
        path.write_text(json.dumps({"format": COUNTEREXAMPLE_FORMAT, **verdict.counterexample}, indent=1) + "\n")
        written.append(path)
    return written
