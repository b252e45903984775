"""What a statement over a class of functions says, typeset, and what a lemma's text calls its vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims.explain.document import Block, Display, Math, Paragraph, typeset_line
from fedtheory.claims.explain.opened import Named
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.formula_texts import WordLine, latex, latex_region
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.pictures import describe_measure
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import SymbolicWorld
from fedtheory.claims.statements.written import write_lemma
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.parameters.derivation import states as states_this
from fedtheory.proofs.parameters.field import ParameterField

#: kinds of statements that pages read
_STATEMENTS = (Theorem, Bound, Contraction, Lemma)
#: from the plain notation of measures to LaTeX
_AS_LATEX = {
    "||": "\\|",
    "x*": "x^*",
    "f*": "f^*",
    "grad ": "\\nabla ",
    "sum_": "\\sum_",
    "min_": "\\min_",
    "<=": "\\le",
}


def find_statements(thing: Any) -> Iterator[Any]:
    """Statements among what a check was made of."""
    if isinstance(thing, _STATEMENTS):
        yield thing
    elif isinstance(thing, partial):
        yield from find_statements([*thing.args, *thing.keywords.values()])
    elif isinstance(thing, Mapping):
        yield from find_statements(list(thing.values()))
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from find_statements(part)
    elif is_dataclass(thing) and not isinstance(thing, type):
        yield from find_statements([getattr(thing, field.name) for field in fields(thing)])


def display_statement(statement: Any) -> list[Math]:
    """A bound or contraction as a formula, and its parameters; nothing of other statements, which are told in words."""
    if not isinstance(statement, Bound | Contraction):
        return []
    claimed = latex(read(str(statement.claim_text)), 2)
    if isinstance(statement, Bound):
        measure = describe_measure(statement)
        for plain, typeset in _AS_LATEX.items():
            measure = measure.replace(plain, typeset)
        expected = "\\mathbb{E} " if statement.clients else ""
        said = f"{expected}{measure} \\le {latex(read(str(statement.claim_text)))}"
    else:
        said = f"\\mathbb{{E}} V_{{t+1}} \\le {claimed} V_{{t}}, \\quad V = {latex(statement.written)}"
    return [Math(said), Math(latex_region(statement.parameters))]


def explain_lemma(lemma: Lemma) -> Iterator[Block]:
    """What a lemma says: its conclusion, its functions, what is known of gradients, and its hypotheses."""
    found = write_lemma(lemma)
    yield Display(Math.of(found.said), "conclusion of the lemma")
    yield from (Paragraph(("with ", Math.of(name))) for name in found.names)
    given: list[WordLine] = [(f"hypothesis {name}: ", tree) for name, tree in found.given]
    yield from (Paragraph(typeset_line(line)) for line in (*found.functions, *found.gradients, *given))


def name_leaves(lemma: Lemma, data: Mapping[str, Any]) -> Named | None:
    """What the lemma's text calls the vectors and values of a derivation; None where the derivation states another lemma."""
    for fixed, region in lemma.region.cases():
        world, field = SymbolicWorld(), ParameterField(region)
        numbers = SimpleNamespace(**{**fixed, **field.parameters()})
        system = world.system(lemma.build(world, numbers, SimpleNamespace(**lemma.constants)))
        sizes = len(system.mean), len(system.deviation), [name for name, _ in system.hypotheses]
        alike = sizes == (int(data["mean"]), int(data["deviation"]), list(data["hypotheses"]))
        if alike and states_this(field, system, data):
            return Named({}, leaves=(system.mean, system.deviation), values=tuple(world.value_names))
    return None
