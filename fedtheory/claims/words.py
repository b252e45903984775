"""The words of verdicts: what each says, and how terminals, pages and other programs show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: what a word says of the printed statement
SaysOfPrinted = Literal["false", "open", "stands"]


@dataclass(frozen=True)
class VerdictWord:
    """How a word is shown.

    ``meaning``: what it says, in a legend; ``heading``: of a section of statements with this word; ``colour``: in a terminal, as rich names it;
    ``glyph``: a sign, so that cells differ by more than their colour; ``level``: of a finding in SARIF, where it is one.
    """

    outcome: SaysOfPrinted
    meaning: str
    heading: str
    colour: str
    glyph: str
    level: Literal["error", "warning", "note", "none"] = "none"


#: in the order in which counts are told; "not run" stands for a check that did not come to its end
VERDICT_WORDS: dict[str, VerdictWord] = {
    "proved": VerdictWord(
        "stands",
        "a proof that ends in the statement itself, every step of it confirmed by a checker",
        "Proved",
        "bold green",
        "\u2713",
    ),
    "argued": VerdictWord(
        "stands",
        "facts that were confirmed, and an argument in words from them to the statement, which no checker reads",
        "Argued: confirmed facts, and words from them to the statement",
        "green",
        "\u2234",
    ),
    "supported": VerdictWord(
        "stands",
        "evidence for it and none against, on enough instances; not a proof",
        "Supported, not proved",
        "green",
        "+",
    ),
    "reproduced": VerdictWord(
        "stands",
        "runs on the paper's own data and model, whole, agree with the experiment",
        "Reproduced by runs",
        "green",
        "\u25cf",
    ),
    "refuted": VerdictWord(
        "false",
        "false as printed: an instance that can be replayed, or a proof of the contrary, with every assumption certified",
        "False as printed",
        "red",
        "\u00d7",
        "error",
    ),
    "repaired": VerdictWord(
        "false",
        "false as printed, by an instance or a proof; the corrected statement beside it is proved, argued or supported, as is said",
        "False as printed; the corrected statement holds",
        "yellow",
        "~",
        "error",
    ),
    "not reproduced": VerdictWord(
        "false",
        "runs on the paper's own data and model, whole, disagree with the experiment",
        "Not reproduced by runs",
        "red",
        "\u25cb",
        "warning",
    ),
    "agrees in an analogue": VerdictWord(
        "stands",
        "runs agree, on other data, another model or a smaller size than the paper's",
        "Runs on other data, another model or a smaller size agree",
        "cyan",
        "\u25d0",
    ),
    "disagrees in an analogue": VerdictWord(
        "false",
        "runs disagree, on other data, another model or a smaller size than the paper's",
        "Runs on other data, another model or a smaller size disagree",
        "yellow",
        "\u25d1",
        "warning",
    ),
    "empty": VerdictWord(
        "open",
        "its hypotheses contradict each other: it is true of nothing",
        "True of nothing: the hypotheses contradict each other",
        "magenta",
        "\u2205",
        "warning",
    ),
    "inconclusive": VerdictWord("open", "undecided, and why is said", "Undecided", "magenta", "?"),
    "not run": VerdictWord(
        "open",
        "the check could not be run here",
        "Not judged: the check could not be run",
        "bold red",
        "!",
        "warning",
    ),
}
#: words with which the printed statement stands
HOLDS = tuple(word for word, shown in VERDICT_WORDS.items() if shown.outcome == "stands")


def describe_told(status: str, repair: str | None, role: str) -> str:
    """Return what a statement that is data is to a verdict: what was judged; where the word rests on words, too, what was shown.

    ``role``: "printed", or "repaired" of a corrected statement, which stands as ``repair`` says.

    Examples
    --------
    >>> print(describe_told("repaired", "argued", "repaired"))
    shown, from which the argument goes on, corrected
    """
    what = (
        "shown, from which the argument goes on" if (repair if role == "repaired" else status) == "argued" else "judged"
    )
    return f"{what}, corrected" if role == "repaired" else what
