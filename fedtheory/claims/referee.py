"""What a referee asks of a verdict: which word, what decided, why it is undecided, on which instance, and how to see it again."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

from fedtheory.claims.explain.finding import is_explained
from fedtheory.claims.verdict import DISAGREE, Verdict
from fedtheory.claims.words import VERDICT_WORDS

#: words of verdicts in the order in which a referee reads them, and what each section says of its statements
SECTIONS = {
    word: shown.heading
    for outcome in ("false", "open", "stands")
    for word, shown in VERDICT_WORDS.items()
    if shown.outcome == outcome
}


#: what readings are about, and the text that says so
HEADINGS = (
    ("How sharp the check is", r"would reject|nothing rejects another"),
    ("Protocol", r"^(Protocol:|The protocol has|Seeds |Target:|Changed on|Reproduced at the|So at the)"),
    ("Kept runs", r"^Kept runs that were read"),
    ("Why not more", r"^(Not supported:|The claim gives a corrected)"),
    ("How it was read", ""),
)
#: digits beyond which a whole number is cut; the stored file has all of them
LONGEST = 24


def name_word(verdict: Verdict) -> str:
    """Return the verdict's word, "not run" where the check did not end."""
    return verdict.status if verdict.ran else "not run"


def name_paper(verdict: Verdict) -> str:
    """Return the paper's name, in small letters since pages are files; what is derived from its statements ("dualfl, derived") stands on its page."""
    return verdict.paper.split(",")[0].lower()


def name_page(paper: str) -> str:
    """Return the file name of a paper's page; what cannot stand in one becomes a dash."""
    return re.sub(r"[^\w.-]+", "-", paper) + ".html"


def find_deciding(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the parts that a verdict rests on: those that refute, repair, prove or support, or that left it undecided."""
    printed = [part for part in verdict.evidence if part.get("role") == "printed"]
    if verdict.status in ("refuted", "repaired"):
        corrected = [part for part in verdict.evidence if part.get("role") == "repaired"]
        strongest = [part for part in corrected if part.get("proves")] or corrected
        return [part for part in printed if part.get("refutes")] + (strongest if verdict.status == "repaired" else [])
    if verdict.status == "proved":
        return [part for part in printed if part.get("proves")]
    if verdict.status == "argued":
        return [part for part in printed if part.get("proof")]
    if verdict.status in DISAGREE:
        return [part for part in printed if part["holds"] is False]
    if verdict.status == "inconclusive":
        return [part for part in printed if part["holds"] is not True] or printed
    return printed


def list_instance(instance: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return a counterexample's numbers by name; what is stored as JSON inside of it is opened."""
    opened: dict[str, Any] = {}
    for name, value in instance.items():
        inner = json.loads(value) if name in ("data", "point") and isinstance(value, str) else value
        opened |= inner if isinstance(inner, dict) else {name: inner}
    return [(name, value) for name, value in opened.items() if value not in ([], {}, "")]


def show_number(value: Any) -> str:
    """Return a number as text, a fraction with its decimals; lists in brackets, mappings as "name = value"; long ones are cut in the middle."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {show_number(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(show_number, value)) + ")"
    text = str(value)
    if not re.fullmatch(r"-?\d+(/\d+)?", text) or ("/" not in text and len(text) <= LONGEST):
        return text
    exact = "/".join(_cut(whole) for whole in text.split("/"))
    return f"{exact} \u2248 {_in_decimals(text)}"


def _cut(whole: str) -> str:
    """A whole number; of a long one its ends and how many digits it has."""
    return whole if len(whole) <= LONGEST else f"{whole[:8]}\u2026{whole[-4:]} ({len(whole.lstrip('-'))} digits)"


def _in_decimals(text: str) -> str:
    """A fraction in six digits, however large it is."""
    with localcontext() as context:
        context.prec = 6
        above, _, below = text.partition("/")
        return f"{Decimal(above) / Decimal(below or 1):.6g}"


def group_readings(readings: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return a verdict's readings under the headings that a referee looks for, in the order of these."""
    found: dict[str, list[str]] = {heading: [] for heading, _ in HEADINGS}
    for reading in readings:
        found[next(heading for heading, pattern in HEADINGS if re.search(pattern, reading))].append(reading)
    return [(heading, own) for heading, own in found.items() if own]


def explain_undecided(verdict: Verdict) -> str:
    """Return why a verdict is inconclusive: what is open, what fails without a counterexample, or what supports too little; "" for others."""
    if verdict.status != "inconclusive" or not verdict.ran:
        return ""
    printed = [part for part in verdict.evidence if part.get("role") == "printed"]
    told = [r for r in verdict.readings if r.startswith(("Not supported:", "The claim gives a corrected"))]
    open_parts = [f"\u201c{part['name']}\u201d is undecided" for part in printed if part["holds"] is None]
    failing = [
        f"\u201c{part['name']}\u201d fails, yet no exact instance of it refutes the statement"
        for part in printed
        if part["holds"] is False and not part.get("refutes")
    ]
    if not (told or open_parts or failing):
        told = ["what was found looks for evidence against the statement only, or supports it too little."]
    return "; ".join([*open_parts, *failing, *told])


def write_commands(verdict: Verdict, source: str, counterexamples: Path) -> list[str]:
    """Return the commands that show a verdict again: the replay of its counterexample, kept in that folder, its check, and its proofs as a page.

    ``source``: the module or the Python file that the claim is in.
    """
    target = [shlex.quote(source)] if source.endswith(".py") else []
    settings = [f"--size {verdict.size}"] if verdict.size else []
    settings += [f"--seed {verdict.seed}"] if verdict.seed else []
    settings += [f"--budget {verdict.budget}"] if verdict.budget != "quick" else []
    asked = target or [shlex.quote(verdict.id)]
    again = [" ".join(["fedtheory check", *asked, *settings])]
    if is_explained(verdict.evidence):
        again.append(" ".join(["fedtheory explain", *asked]))
    if verdict.counterexample is None:
        return again
    return [" ".join(["fedtheory replay", shlex.quote(str(counterexamples / f"{verdict.id}.json")), *target]), *again]
