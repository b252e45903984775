"""A page for each listed method (docs/methods/), which the documentation makes when it is built.

``python docs/method_pages.py`` writes the pages; with ``--measure`` it first finds the largest certified steps anew and keeps them in
docs/largest_steps.json, and rates at some steps, which it keeps in docs/rate_curves.json, a minute or two; with ``--curves`` only the latter.
"""

from __future__ import annotations

import inspect
import json
import math
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
CURVES = DOCS / "rate_curves.json"
#: where rates are proved, as shares of the largest certified step; or in numbers, where as much is certified as was asked for
SHARES, NUMBERS = (0.0625, 0.125, 0.25, 0.5, 0.75, 0.9, 1.0), (0.0625, 0.25, 1.0, 4.0, 16.0, 64.0)
#: numbers of local steps of a curve, where a method takes them
LOCAL_STEPS = (1, 8)
#: names that are words of English, too, so that a sentence with them need not speak of the method
COMMON_WORDS = ("local", "gd")
FALSE = ("refuted", "repaired")
#: headings and the verdicts under them; those that are nowhere else stand under the last
HEADINGS = {"Claims that name it: proved or argued": ("proved", "argued"), "Claims that name it: false in print": FALSE}
OTHERS = "Claims that name it: other verdicts"
#: what a page says of the largest step, as `fedtheory largest` has it
SHOWN = ("option", "floor", "scanned", "certified", "none_at", "refused_at", "false_at")


def measure(entry: Listed, **fixed: Any) -> dict[str, Any]:
    """The largest certified step of a method over 1-smooth, 0.1-strongly convex functions, its other options at their defaults, local work exact.

    Of methods that take gradient steps also with ``LOCAL_STEPS[-1]`` of them, under "more".
    """
    from fedtheory.command_line.compare import find_step
    from fedtheory.command_line.largest import comes_to_floor, default_range, summarise_search
    from fedtheory.core.errors import FedtheoryError
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.potentials.largest import Scan, largest
    from fedtheory.proofs.potentials.questions import ComesToFloor, SomePotential

    own = fixed or ({"exact": True} if "exact" in entry.uses else {})
    try:
        option = find_step(entry, own)
        low, high = default_range(option, 1.0)
        scan = Scan(low, high)
        question = SomePotential.of_convergence(FunctionClass(1.0, 0.1), time_limit=20.0)
        if comes_to_floor(entry, option, own, scan):
            question = ComesToFloor(question.function_class, question.rate, 20.0, convergence=True)
        found = largest(lambda value: entry.build(**own, **{option.name: value}), question, scan)
    except FedtheoryError as error:
        return {"why_none": str(error)}
    answer = summarise_search(found, entry.name, option, question, scan)
    told = {"exact": "exact" in own, **{name: answer[name] for name in SHOWN}}
    counted = _local_steps(entry)
    return told | {"more": measure(entry, **dict.fromkeys(counted, LOCAL_STEPS[-1]))} if counted and not fixed else told


def _local_steps(entry: Listed) -> list[str]:
    """The option that is the number of local steps, if there is one."""
    return [o.name for o in entry.options if o.flag == "--local-steps"]


def measure_curves(entry: Listed, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Proved rates of a method over the same functions, at steps up to the largest certified one: a curve for each number of local steps."""
    from fedtheory.core.errors import FedtheoryError
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.potentials.smallest_rate import smallest_rate

    if found.get("certified") is None:
        return []
    largest, fixed = float(found["certified"]), {"exact": True} if found["exact"] else {}
    asked = NUMBERS if largest == float(found["scanned"][1]) else [float(f"{share * largest:.3g}") for share in SHARES]
    counted = [] if fixed else _local_steps(entry)
    curves = []
    for local in LOCAL_STEPS if counted else (None,):
        own = fixed | (dict.fromkeys(counted, local) if local else {})
        points = []
        for step in asked:
            try:
                rate = smallest_rate(
                    entry.build(**own, **{found["option"].replace("-", "_"): step}),
                    FunctionClass(1.0, 0.1),
                    time_limit=20.0,
                )
            except FedtheoryError:
                continue
            if rate.proved is not None and rate.proved < 1:
                points.append([step, round(float(rate.proved), 5)])
        if points:
            curves.append({"local_steps": local, "points": points})
    return curves


def write_pages(folder: Path) -> list[Path]:
    """Write the pages, and return their files; one that is up to date is left as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    claims = [(paper, claim) for paper, source in find_papers().items() for claim in load_claims(source).values()]
    expected = json.loads((DOCS.parent / "paper_checks" / "expected.json").read_text())["verdicts"]
    status = {row["id"]: row["status"] for row in expected}
    steps, curves = json.loads(STEPS.read_text()), json.loads(CURVES.read_text())
    notebooks = {path.stem: path.read_text() for path in sorted((DOCS.parent / "notebooks").glob("*.py"))}
    files = []
    for entry in ALGORITHMS:
        lines = [*_head(entry), *_largest(entry, steps.get(entry.name)), *_curves(entry, steps, curves)]
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
        yield from ("It was not asked for." if found is None else _tell_none(entry, found["why_none"]), "")
        return
    within = "Over 1-smooth, 0.1-strongly convex functions,"
    within += " with exact local solves," if found["exact"] else ""
    within += " with all clients in every round," if entry.partial else ""
    flag = " --exact" if found["exact"] else ""
    command = f"`fedtheory largest {entry.name} --option {found['option']}{flag}`"
    yield f"{_tell_step(found, within)} Other options have their defaults{_defaults(entry, found)} ({command})."
    more = found.get("more", {})
    if "certified" in more:
        yield _tell_step(more, f"With {LOCAL_STEPS[-1]} local steps (`--local-steps {LOCAL_STEPS[-1]}`)")
    if found["floor"] or more.get("floor"):
        yield (
            "Where it comes to a floor, that is of ||x - x\\*||\\^2 and C zeta\\^2, with zeta\\^2 the mean of ||grad f_i(x\\*)||\\^2; "
            "it is large near the largest step."
        )
    yield ""


def _tell_step(found: dict[str, Any], within: str) -> str:
    """What is proved at the largest certified step, and what is known above it."""
    name, (low, high) = f"`{found['option']}`", found["scanned"]
    if found["certified"] is None:
        return f"{within} no {name} between {low} and {high} is certified."
    comes_to = "come linearly to a floor" if found["floor"] else "converge"
    said = f"{within} {name} = {found['certified']} is proved to {comes_to}, for every n >= 2."
    if found["none_at"] is not None and found["none_at"] != found["false_at"]:
        said += f" At {found['none_at']} the solver finds no {'such floor' if found['floor'] else 'potential'}."
    elif found["refused_at"] is not None:
        said += f" {found['refused_at']} is outside the method's definition."
    elif found["none_at"] is None:
        said += " Larger values were not asked."
    return said + (
        f" At {found['false_at']} an exact instance contradicts it." if found["false_at"] is not None else ""
    )


#: why no step of a method is certified, as `fedtheory largest` says it to whoever runs it, and as a page does to whoever chooses a method
NO_STEP = {
    r".* does not have x\* as a fixed point.*": "its rounds do not come to rest at the minimiser x* of f (see the round above).",
    r"a potential that decreases in every round.*": "what a round does depends on its number, and what is looked for falls alike in all rounds.",
    r".* takes gradients at points other than x\*.*": "where it has come to rest it takes gradients at other points than x*, which is not covered.",
    r"the worst-case engine has no numbers to decide on, and (?:.*: )?(\w+: .*); use .*": (
        r"its rounds decide by numbers, which a worst case has not (\1)."
    ),
    r"the worst-case engine does not run this method, because \w+: (.*); check .*": r"worst cases are not computed of it: \1.",
}


def _tell_none(entry: Listed, why: str) -> str:
    """Why no step of a method is certified, in words for its reader."""
    told = next((re.sub(p, words, why) for p, words in NO_STEP.items() if re.fullmatch(p, why)), f"{why}.")
    told = _plain(told)
    if "rest at the minimiser" in told or "depends on its number" in told:
        told += f" `fedtheory worst-case {entry.name} --rounds 5 --zeta 1` tells how far off it is at worst after five."
    if any(other.name == f"{entry.name}-any" for other in ALGORITHMS):
        told += f" For every compressor with some error at once there is `{entry.name}-any`."
    return f"No step is certified over 1-smooth, 0.1-strongly convex functions: {told}"


def _defaults(entry: Listed, found: dict[str, Any]) -> str:
    """The numbers that the other options have, those of local work only where it is not exact."""
    of_steps = ("lr", "steps", "epochs", "batch", "lr_decay", "clip") if found["exact"] else ()
    named = [o for o in entry.options if o.kind in (int, float) and o.default and o.flag != f"--{found['option']}"]
    told = ", ".join(f"`{o.flag} {o.default:g}`" for o in named if o.name not in of_steps)
    return f", {told}" if told else ""


def _curves(entry: Listed, steps: dict[str, Any], curves: dict[str, Any]) -> Iterator[str]:
    """A table of rates for each number of local steps, and a picture."""
    found = curves.get(entry.name)
    if not found:
        return
    option, exact = steps[entry.name]["option"], steps[entry.name]["exact"]
    yield from ("## Rate curve", "")
    exactly = ", with exact local solves" if exact else ""
    yield (
        "Over these functions a round multiplies some potential V >= ||x - x\\*||\\^2 by at most this rate. It is proved for every n >= 2 clients "
        f"that all take part{exactly}; the smaller the better. A value that is left out has no proved rate below one."
    )
    yield ""
    for curve in found:
        local = curve["local_steps"]
        steps_of, rates = zip(*curve["points"], strict=True)
        name = f"`{option}`" + (f", {local} local step{'s' * (local > 1)}" if local else "")
        yield from (f"| {name} | {' | '.join(f'{s:g}' for s in steps_of)} |", "|---" * (len(rates) + 1) + "|")
        yield from (f"| rate | {' | '.join(f'{r:.4f}' for r in rates)} |", "")
    yield from (_picture(found, option), "")


def _picture(curves: list[dict[str, Any]], option: str) -> str:
    """Rates against steps, both on their own scales, steps by their logarithms."""
    every = [point for curve in curves for point in curve["points"]]
    low, high = math.log(min(s for s, _ in every)), math.log(max(s for s, _ in every))
    least = min(r for _, r in every)
    lines = []
    for colour, curve in zip(("#1f6f8b", "#c8553d"), curves, strict=False):
        at = [
            (60 + 320 * (math.log(s) - low) / ((high - low) or 1), 20 + 130 * (1 - r) / ((1 - least) or 1))
            for s, r in curve["points"]
        ]
        text = " ".join(f"{x:.0f},{y:.0f}" for x, y in at)
        lines.append(f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if curve["local_steps"]:
            x, y = at[-1]
            lines.append(
                f'<text x="{x + 5:.0f}" y="{y + 4:.0f}" font-size="11" fill="{colour}">K = {curve["local_steps"]}</text>'
            )
    ends = [(60, f"{math.exp(low):g}", "middle"), (220, option, "middle"), (380, f"{math.exp(high):g}", "middle")]
    lines += [
        f'<text x="{x}" y="172" font-size="11" text-anchor="{anchor}" fill="currentColor">{text}</text>'
        for x, text, anchor in ends
    ]
    lines += [
        f'<text x="52" y="{y}" font-size="11" text-anchor="end" fill="currentColor">{text}</text>'
        for y, text in ((24, "1"), (154, f"{least:.3f}"))
    ]
    frame = '<path d="M60 20V150H380" fill="none" stroke="currentColor"/>'
    return f'<svg viewBox="0 0 440 180" width="440" role="img" aria-label="proved rates against {option}">{frame}{"".join(lines)}</svg>'


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


def main(asked: Sequence[str]) -> None:
    """Measure what is asked for, and write the pages."""
    if "--measure" in asked:
        answers = {}
        for listed_method in ALGORITHMS:
            answers[listed_method.name] = measure(listed_method)
            print(listed_method.name, answers[listed_method.name], flush=True)
        STEPS.write_text(json.dumps(answers, indent=1) + "\n")
    if {"--measure", "--curves"} & {*asked}:
        steps = json.loads(STEPS.read_text())
        curves = {entry.name: measure_curves(entry, steps.get(entry.name, {})) for entry in ALGORITHMS}
        rows = [f" {json.dumps(name)}: {json.dumps(found)}" for name, found in curves.items() if found]
        CURVES.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    for page in write_pages(DOCS / "methods"):
        print(page)


if __name__ == "__main__":
    main(sys.argv[1:])
