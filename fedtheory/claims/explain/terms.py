"""A proof term as blocks of a page: what is claimed and under which hypotheses, the lines of the proof, and the derivations that they rest on.

A term whose theorem is at hand is followed on the theorem's states again, so that the page can say what its vectors are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fedtheory.claims.explain.derivations import NOTATION, explain_derivation
from fedtheory.claims.explain.document import (
    Block,
    Display,
    Heading,
    Math,
    PageTable,
    Paragraph,
    TextLine,
    typeset_line,
)
from fedtheory.claims.explain.opened import Named, OpenDerivation, read_forms
from fedtheory.claims.explain.steps import StepWriter, draw_rules
from fedtheory.claims.statements.formula_texts import latex_region, latex_sentence
from fedtheory.claims.statements.theorems.proving import Followed, follow_term
from fedtheory.claims.statements.theorems.quantities import names_of_quantity
from fedtheory.claims.statements.theorems.states import MethodStates, StateTrace, WorldFunction
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import (
    latex_of_round,
    latex_quantity,
    list_scope,
    list_states,
    tell_reach,
    write_latex,
)
from fedtheory.proofs.checked_before import keep_checked, recheck_term
from fedtheory.proofs.checker.check import Proved
from fedtheory.proofs.checker.derivations import DERIVATION_FORMAT
from fedtheory.proofs.checker.formulas import Sentence, indexed, quantity_of, read
from fedtheory.proofs.checker.formulas import names as names_in_index
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.checker.signature import Signature
from fedtheory.proofs.checker.terms import Checker
from fedtheory.proofs.every_n.vectors import Form

_NOT_FOLLOWED = (
    "The method's rounds were not at hand: vectors have no names of fields, and that the quantities are those of the "
    "rounds was not seen again."
)


def explain_term(
    data: Mapping[str, Any],
    theorems: Sequence[Theorem] = (),
    rules: dict[str, None] | None = None,
    seen: dict[int, Followed] | None = None,
) -> Iterator[Block]:
    """A theorem with its proof: theorems that it rests on first, then what is claimed, numbered lines and derivations.

    ``rules``: takes the names of the rules that are used; where it is not given, they stand at the end. ``seen``: terms that were followed before.
    """
    seen = {} if seen is None else seen
    used = dict[str, None]() if rules is None else rules
    theorem, proved, followed = _follow(data, theorems, seen)
    for name, other in data["rests"].items():
        yield Heading(f"First, a theorem that this one rests on: {name}", 1)
        yield from explain_term(other, () if theorem is None else [theorem.rests[name]], used, seen)
    for name, one in data.get("inside", {}).items():
        yield Heading(f"First, a theorem about states inside of a round, which says {name}", 1)
        yield from explain_term(one["term"], () if theorem is None else [theorem.inside[name].theorem], used, seen)
    if data["rests"] or data.get("inside"):
        yield Heading("The theorem itself", 1)
    yield from _said(data, theorem)
    if theorem is None and data["quantities"]:
        yield Paragraph((_NOT_FOLLOWED,))
    sections = dict(_derivations(data, proved, followed, theorem))
    titles = {name: [title for title, _ in own] for name, own in sections.items()}
    yield Heading("The proof, line by line", 2)
    yield from StepWriter(proved, _numbers_before(data), titles, used, data["wholes"]).steps()
    if any(_has_deviations(one) for stored in data["derivations"].values() for one in stored):
        yield NOTATION
    for own in sections.values():
        for title, blocks in own:
            yield Heading(title[:1].upper() + title[1:], 2)
            yield from blocks
    if rules is None:
        yield Heading("The rules", 2)
        yield from draw_rules(used)


def _has_deviations(one: Mapping[str, Any]) -> bool:
    return any(form["Q"] for form in one["quantities"]["forms"].values())


def _follow(
    data: Mapping[str, Any], theorems: Sequence[Theorem], seen: dict[int, Followed]
) -> tuple[Theorem | None, Proved, Mapping[str, Sequence[StateTrace | None]]]:
    """The theorem that the term is one of, what the checker says, and the states of each derivation."""
    for theorem in theorems:
        if list(theorem.claims) == list(data["claims"]):
            try:
                proved, followed = follow_term(theorem, data, seen)
            except Refused:
                continue
            keep_checked(data, proved)
            return theorem, proved, followed
    return None, recheck_term(data), {}


def _numbers_before(data: Mapping[str, Any]) -> dict[str, str]:
    """What lines may refer to before the first: hypotheses, and claims of theorems that it rests on."""
    found = dict.fromkeys(data["given"], "the hypothesis")
    found |= dict.fromkeys(data.get("inside", {}), "the theorem inside of a round,")
    for name, other in data["rests"].items():
        claims = len(other["claims"])
        found |= dict.fromkeys([name] if claims == 1 else [f"{name}_{k + 1}" for k in range(claims)], "the theorem")
    return found


def _said(data: Mapping[str, Any], theorem: Theorem | None) -> Iterator[Block]:
    """Claims, then what they are about and under which hypotheses."""
    yield Heading("What is claimed", 2)
    if theorem is not None:
        yield Display(Math(write_latex(theorem)), "claims")
        if theorem.all_parameters.parameters:
            yield Paragraph(("for all ", Math(latex_region(theorem.all_parameters))))
    else:
        for claim in data["claims"]:
            yield Display(Math(latex_sentence(Sentence.parse(claim))), "claims")
    least = ", \\; ".join(f"{name} \\ge {k}" for name, k in data["rounds"].items())
    if least:
        yield Paragraph(("and all rounds ", Math(least)))
    if theorem is not None:
        yield from (Paragraph(typeset_line(line)) for line in list_scope(theorem))
    if data["drawn"]:
        yield Paragraph(("Rounds are drawn, and quantities are expectations over the draws.",))
    if data["quantities"]:
        rows = tuple(((Math(latex_of_round(name)),), (_quantity(text),)) for name, text in data["quantities"].items())
        yield PageTable("quantities", ("quantity of round t", "of the state"), rows)
    if data["where"]:
        yield PageTable(
            "names", ("name", "stands for"), tuple(((Math.read(k),), (Math.read(v),)) for k, v in data["where"].items())
        )
    if data["given"]:
        yield PageTable("given", ("hypothesis", "says"), tuple(_list_given(data)))
    if data["assumed"] and theorem is None:
        yield Paragraph((f"Hypotheses on the states: {', '.join(data['assumed'])}.",))
    if theorem is not None and (lines := list_states(theorem)):
        yield Heading("What the states are, and what a round makes of them", 2)
        yield from (Paragraph(typeset_line(line)) for line in lines)


def _list_given(data: Mapping[str, Any]) -> Iterator[tuple[TextLine, TextLine]]:
    """Hypotheses by name, and of which rounds they are said."""
    checker = Checker(Signature.read(data), tuple(data["claims"]), {})
    ranges = {p.name: str(p) for p in checker.signature.parameters if p.name in checker.signature.auxiliary}
    for name, text in data["given"].items():
        said = Sentence.parse(text)
        reach = tell_reach(said, checker.own_rounds(said), data["rounds"], ranges)
        yield (name,), (Math(latex_sentence(said)), *([reach] if reach else []))


def _quantity(text: str) -> Math:
    return Math(latex_quantity(text))


def _derivations(
    data: Mapping[str, Any],
    proved: Proved,
    followed: Mapping[str, Sequence[StateTrace | None]],
    theorem: Theorem | None,
) -> Iterator[tuple[str, list[tuple[str, list[Block]]]]]:
    """Sections with derivations, by the name of their line: title and blocks."""
    sentences = {line.name: line.sentence for line in map(ProofLine.parse, proved.lines)}
    count = 0
    for name, stored in data["derivations"].items():
        own: list[tuple[str, list[Block]]] = []
        for k, one in enumerate(stored):
            count += 1
            trace = followed.get(name, ())[k] if k < len(followed.get(name, ())) else None
            own.append((f"derivation {count}", list(_derivation(one, name, sentences[name], trace, theorem))))
        yield name, own


def _derivation(
    one: Mapping[str, Any], name: str, sentence: Sentence, trace: StateTrace | None, theorem: Theorem | None
) -> Iterator[Block]:
    """A derivation, or the forms of an identity, with names from the states."""
    fixed = "".join(f" at {word} = {k}," for word, k in one["at"].items())
    yield Paragraph((f"Of the line {name},{fixed} ", Math(latex_sentence(sentence)), ", left side less right side."))
    named = _names(one, sentence, trace, theorem)
    system = one.get("system") or _empty_system(one)
    found = OpenDerivation(system, named)
    forms = [(_shifted(key, sentence, one["start"]), form) for key, form in read_forms(one["quantities"], found)]
    if "system" in one:
        yield from explain_derivation(found)
    else:
        yield from explain_derivation_of_identity(found)
    if forms:
        yield Paragraph(("In these symbols the quantities of the line are:",))
        yield PageTable("forms", ("quantity", "is"), tuple(((left,), (right,)) for left, right in forms))


def explain_derivation_of_identity(found: OpenDerivation) -> Iterator[Block]:
    """The vectors of an identity: both sides have the same form."""
    yield from (
        block for block in explain_derivation(found) if isinstance(block, PageTable) and block.name.startswith("state")
    )


def _empty_system(one: Mapping[str, Any]) -> dict[str, Any]:
    """What has the leaves of the forms of an identity, and proves nothing."""
    forms = one["quantities"]["forms"].values()
    leaves = {
        block: max((int(k) + 1 for form in forms for key in form[block] for k in key.split(",")), default=0)
        for block in ("S", "Q")
    }
    nothing: dict[str, Any] = {"S": {}, "Q": {}, "f": {}, "1": "0"}
    return {
        "format": DERIVATION_FORMAT,
        **{"parameters": [], "factors": [], "functions": {}, "hypotheses": {}, "conclusion": nothing},
        **{"multipliers": {}, "constant": "0", "pivots": {"S": [], "Q": []}},
        **{"mean": leaves["S"], "deviation": leaves["Q"]},
    }


def _names(one: Mapping[str, Any], sentence: Sentence, trace: StateTrace | None, theorem: Theorem | None) -> Named:
    symbols = {str(name): str(what) for name, what in one["symbols"].items()}
    if trace is None or theorem is None:
        return Named({}, symbols=symbols)
    spoken = {quantity_of(node) for side in sentence.sides for node in indexed(side)} & theorem.quantities.keys()
    names = frozenset().union(*(names_of_quantity(theorem.quantities[name]) for name in spoken))
    keep = names - set(theorem.parameters.names)

    def some(known: Mapping[str, Any]) -> dict[str, Any]:
        return {name: what for name, what in known.items() if name in keep and name != "x_star"}

    (_, first), *_ = trace.states[0]
    after = [(k, chance, some(known)) for k, outcomes in enumerate(trace.states) if k for chance, known in outcomes]
    if isinstance(theorem.states, MethodStates):  # whose leaves are numbered, and have no names
        return Named(some(first), after, symbols=symbols)
    system = trace.system(Form())
    worlds = [what.world for what in first.values() if isinstance(what, WorldFunction)]
    return Named(some(first), after, (system.mean, system.deviation), symbols, worlds[0].value_names if worlds else ())


def _shifted(key: str, sentence: Sentence, start: bool) -> Math:
    """``X[1]`` as the quantity of the round that the line calls t + 1."""
    name, _, offset = key.rstrip("]").partition("[")
    variables = sorted({n for side in sentence.sides for node in indexed(side) for n in names_in_index(node.slice)})
    if start or not variables:
        return Math.of(read(key))
    return Math.of(read(f"{name}[{variables[0]}{f' + {offset}' if offset != '0' else ''}]"))
