"""A page for each listed method (docs/methods/), which the documentation makes when it is built.

``python docs/method_pages.py`` writes the pages; with ``--measure`` it first finds the largest certified steps anew and keeps them in
docs/largest_steps.json, a minute or two.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fedtheory.algorithms import ALGORITHMS
from fedtheory.algorithms.listing import Listed
from fedtheory.algorithms.mistakes import find_mistakes
from fedtheory.claims.references import find_papers, load_claims

DOCS = Path(__file__).resolve().parent
STEPS = DOCS / "largest_steps.json"
#: names that are words of English, too, so that a sentence with them need not speak of the method
COMMON_WORDS = ("local", "gd")
FALSE = ("refuted", "repaired")
#: headings and the verdicts under them; those that are nowhere else stand under the last
HEADINGS = {"Claims that name it: proved or argued": ("proved", "argued"), "Claims that name it: false in print": FALSE}
OTHERS = "Claims that name it: other verdicts"
#: what a page says of the largest step, as `fedtheory largest` has it
SHOWN = ("option", "scanned", "certified", "none_at", "refused_at", "false_at")


def measure(entry: Listed) -> dict[str, Any]:
    """The largest certified step of a method over 1-smooth, 0.1-strongly convex functions, its other options at their defaults, local work exact."""
    from fedtheory.command_line.compare import find_step
    from fedtheory.command_line.largest import default_range, summarise_search
    from fedtheory.core.errors import FedtheoryError
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.potentials.largest import Scan, largest
    from fedtheory.proofs.potentials.questions import SomePotential

    fixed = {"exact": True} if "exact" in entry.uses else {}
    try:
        option = find_step(entry, fixed)
        low, high = default_range(option, 1.0)
        question = SomePotential.of_convergence(FunctionClass(1.0, 0.1), time_limit=20.0)
        scan = Scan(low, high)
        found = largest(lambda value: entry.build(**fixed, **{option.name: value}), question, scan)
    except FedtheoryError as error:
        return {"why_none": str(error)}
    answer = summarise_search(found, entry.name, option, question, scan)
    return {"exact": bool(fixed), **{name: answer[name] for name in SHOWN}}


def write_pages(folder: Path) -> list[Path]:
    """Write the pages, and return their files; one that is up to date is left as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    claims = [(paper, claim) for paper, source in find_papers().items() for claim in load_claims(source).values()]
    expected = json.loads((DOCS.parent / "paper_checks" / "expected.json").read_text())["verdicts"]
    status = {row["id"]: row["status"] for row in expected}
    steps = json.loads(STEPS.read_text())
    notebooks = {path.stem: path.read_text() for path in sorted((DOCS.parent / "notebooks").glob("*.py"))}
    files = []
    for entry in ALGORITHMS:
        lines = [*_head(entry), *_largest(entry, steps.get(entry.name))]
        lines += _claims(entry, claims, status)
        lines += [*_mistakes(entry), *_notebooks(entry, notebooks)]
        files.append(folder / f"{entry.name}.md")
        text = "\n".join(lines) + "\n"
        if not files[-1].exists() or files[-1].read_text() != text:
            files[-1].write_text(text)
    return files


def read_round(kind: type) -> str:
    """What a method's docstring says before its parameters: the round as pseudo-code."""
    return re.split(r"\n(?:Parameters|Examples|Notes)\n-+\n", inspect.cleandoc(kind.__doc__ or ""))[0].strip()


def _head(entry: Listed) -> Iterator[str]:
    yield from (f"# {entry.name}", "")
    clients = "some or all clients take part in a round" if entry.partial else "all clients take part in every round"
    yield from (
        f"{entry.source}. {clients.capitalize()}; options: {', '.join(f'`{o.flag}`' for o in entry.options)}.",
        "",
    )
    yield from ("```text", read_round(entry.kind), "```", "")


def _largest(entry: Listed, found: dict[str, Any] | None) -> Iterator[str]:
    yield from ("## Largest certified step", "")
    if found is None or "why_none" in found:
        why = "was not asked for" if found is None else f"is none: {_plain(found['why_none'])}"
        yield from (f"Over 1-smooth, 0.1-strongly convex functions there {why}.", "")
        return
    name, (low, high) = f"`{found['option']}`", found["scanned"]
    within = "Over 1-smooth, 0.1-strongly convex functions"
    within += ", with exact local solves," if found["exact"] else ""
    within += " and all clients in every round" if entry.partial else ""
    if found["certified"] is None:
        said = f"{within} no {name} between {low} and {high} is certified."
    else:
        said = f"{within} {name} = {found['certified']} is proved to converge, for every n >= 2."
        if found["none_at"] is not None:
            said += f" At {found['none_at']} the solver finds no potential."
        elif found["refused_at"] is not None:
            said += f" {found['refused_at']} is outside the method's definition."
        else:
            said += " Larger values were not asked."
        said += f" At {found['false_at']} an exact instance contradicts it." if found["false_at"] is not None else ""
    flag = " --exact" if found["exact"] else ""
    yield from (
        f"{said} Other options have their defaults (`fedtheory largest {entry.name} --option {found['option']}{flag}`).",
        "",
    )


def names_method(entry: Listed, words: str) -> bool:
    """Whether a text names a listed method, with hyphens or without; names that are common words are not looked for."""
    if entry.name in COMMON_WORDS:
        return False
    pattern = "-?".join(map(re.escape, entry.name.replace("-", "")))
    return re.search(rf"(?<![\w-]){pattern}(?![\w-])", words, re.IGNORECASE) is not None


def _claims(entry: Listed, claims: Sequence[tuple[str, Any]], status: dict[str, str]) -> Iterator[str]:
    found = [(paper, claim) for paper, claim in claims if names_method(entry, claim.statement)]
    under: dict[str, list[str]] = {heading: [] for heading in (*HEADINGS, OTHERS)}
    for paper, claim in found:
        word = status.get(claim.id)
        if word is None:  # not a statement of a stored ledger
            continue
        lines = under[next((heading for heading, words in HEADINGS.items() if word in words), OTHERS)]
        lines.append(f"- **{claim.id}** ({paper}, {claim.source}; *{word}*): {_plain(claim.statement)}")
        if claim.repaired and word in FALSE:
            lines.append(f"  Corrected: {_plain(claim.repaired)}")
    for heading, lines in under.items():
        if lines:
            yield from (f"## {heading}", "", *lines, "")


def _mistakes(entry: Listed) -> Iterator[str]:
    found = [mistake for mistake in find_mistakes(entry, {}) if not mistake.silent]
    if found:
        yield from ("## Known mistakes", "", "What `fedtheory conform` knows to look for in somebody's code:", "")
        for mistake in found:
            yield f"- {_plain(mistake.name)}" + (
                f" ([seen]({mistake.seen}))" if mistake.seen.startswith("https://") else ""
            )
        yield ""


def _notebooks(entry: Listed, notebooks: dict[str, str]) -> Iterator[str]:
    words = (rf"\b{entry.kind.__name__}\b", rf"[\"']{re.escape(entry.name)}[\"']")
    used = [name for name, text in notebooks.items() if any(re.search(word, text) for word in words)]
    if used:
        yield from ("## Notebooks", "", *(f"- `notebooks/{name}.ipynb`" for name in used), "")


def _plain(text: str) -> str:
    """A text in which no sign has a meaning of Markdown's."""
    return re.sub(r"([\\`*_{}\[\]<>|#$~^])", r"\\\1", " ".join(text.split()))


if __name__ == "__main__":
    if "--measure" in sys.argv:
        answers = {}
        for listed_method in ALGORITHMS:
            answers[listed_method.name] = measure(listed_method)
            print(listed_method.name, answers[listed_method.name], flush=True)
        STEPS.write_text(json.dumps(answers, indent=1) + "\n")
    for page in write_pages(DOCS / "methods"):
        print(page)
