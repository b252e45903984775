r"""A theorem in words and as a formula, made of the theorem: nobody writes them a second time.

Lines have formulas among words (`fedtheory.claims.statements.formula_texts`): of them come the sentence of a terminal and of pages, and paragraphs of
an explanation. Formulas are LaTeX as `fedtheory.tools.typesetting` reads it: ``\text{gap}_{N} \le \frac{L D_{0}}{2 N}``.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

from fedtheory.claims.statements.client_counts import describe_clients
from fedtheory.claims.statements.formula_texts import (
    WordLine,
    draw_signs,
    join_pieces,
    latex,
    latex_name,
    latex_sentence,
    of_round,
    with_index,
    write_line,
    write_region,
)
from fedtheory.claims.statements.theorems.quantities import names_of_quantity, read_quantity
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates
from fedtheory.claims.statements.theorems.telling import PutTrees, ToldStates, is_about, list_stated, tell_states
from fedtheory.claims.statements.theorems.theorem import Inside, Theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.formulas import Sentence, names, read

#: what stands beside a hypothesis of the theorem's own
ADDED = " (added: the paper does not print it)"


def describe_theorem(theorem: Theorem) -> str:
    """The theorem in one sentence: what, under which hypotheses, of which method over which class, for whom."""
    claims = join_pieces([(sentence,) for sentence in theorem.sentences], " and ")
    return f"{write_line(join_pieces([claims, *_quantities(theorem), *_formulas(theorem), *_scope(theorem)], '; '))}."


def write_scope(theorem: Theorem) -> list[str]:
    """What the theorem assumes, as its author states it: parameters, sequences, a listed method and its class, hypotheses by name."""
    found = [f"parameters: {write_region(theorem.parameters)}"] if theorem.region else []
    found += [f"sequence: {write_line(line)}" for line in _sequences(theorem)]
    if isinstance(theorem.states, MethodStates):
        found += [f"method: {theorem.states.named_method}", f"functions: {theorem.states.class_in_words}"]
        found += list_server(theorem.states)
        found += [f"clients: {tell_clients(theorem.states)}"] if theorem.states.clients else []
    found += [write_line(line) for line in _given(theorem)]
    found += list_words(theorem)
    named = {*theorem.given, *theorem.assumed}
    return found + [f"added: {piece}" for piece in theorem.added if piece not in named and not piece.isidentifier()]


def list_words(theorem: Theorem) -> list[str]:
    """Hypotheses on states in the author's words."""
    return [f"assumed, {name}: {text}{_mark(theorem, name)}" for name, text in theorem.assumed.items()]


def list_played_scope(theorem: Theorem) -> list[str]:
    """What a theorem about states that a function plays assumes of them: classes, and hypotheses by name, as formulas and in the author's words."""
    told = tell_once(theorem)
    if told is None:
        return []
    functions = [f"functions: {write_line(line)}" for line in told.functions]
    functions += [f"clients: {who}" for who in told.draws]
    return [*functions, *map(write_line, _assumed(theorem, told))]


def list_scope(theorem: Theorem) -> list[WordLine]:
    """Sequences, method and class, and hypotheses on states; parameters and what is given by name are told elsewhere."""
    found: list[WordLine] = [("for any numbers with ", *line) for line in _sequences(theorem)]
    told = tell_once(theorem)
    if isinstance(theorem.states, MethodStates):
        found += [(f"method: {theorem.states.named_method}",), (f"functions: {theorem.states.class_in_words}",)]
        found += [(server,) for server in list_server(theorem.states)]
        found += [(f"clients: {tell_clients(theorem.states)}",)] if theorem.states.clients else []
        found += [(line,) for line in list_words(theorem)] if theorem.states.sigma is not None else []
    if told is not None:
        found += [*((f"clients: {who}",) for who in told.draws), *told.functions, *_assumed(theorem, told)]
    fields = {name for name in theorem.added if name.isidentifier() and name not in theorem.given}
    marked = [name for name in theorem.added if name not in theorem.assumed and name not in fields]
    return found + [(f"{'given ' if name in theorem.given else ''}{name}{ADDED}",) for name in marked]


def _given(theorem: Theorem) -> Iterator[WordLine]:
    ranges = {p.name: str(p) for p in theorem.all_parameters.parameters if p.name in theorem.own_auxiliary}
    for name, sentence in theorem.hypotheses.items():
        if name in theorem.inside:
            yield (f"{name}: ", sentence, f" ({_tell_inside(theorem.inside[name])})")
        else:
            reach = tell_reach(sentence, theorem.own_rounds(sentence), theorem.rounds, ranges)
            yield (f"given {name}: ", sentence, reach, _mark(theorem, name))


def tell_reach(
    hypothesis: Sentence, own: frozenset[str], rounds: Mapping[str, int], auxiliary: Mapping[str, str]
) -> str:
    """Of what a hypothesis is said: all rounds but the claim's own, and all parameters that lines alone speak of, in their ranges."""
    least = {name: f"{name}{f' >= {k}' if k else ''}" for name, k in sorted(rounds.items()) if name not in own}
    every = [text for name, text in {**least, **auxiliary}.items() if name in hypothesis.names]
    return f" for all {', '.join(every)}" if every else ""


def _tell_inside(inside: Inside) -> str:
    """That a hypothesis is what a theorem says of states inside of a round, and which one."""
    ties = ", ".join(f"{name} is {there}" for name, there in inside.fields.items())
    said = describe_theorem(inside.theorem).removesuffix(".")
    return f"by what is said of states inside of a round, from their start to the last one, {inside.last}, of which {ties}: {said}"


def _assumed(theorem: Theorem, told: ToldStates) -> Iterator[WordLine]:
    """Hypotheses as they were played; several of one name, such as one of each round, have its words."""
    for name, line in told.assumed:
        own = next((word for word in theorem.assumed if name == word or name.startswith(f"{word} ")), "")
        words = f" ({theorem.assumed[own]})" if own else ""
        yield (f"assumed, {name}: ", *line, words, _mark(theorem, own))


def _mark(theorem: Theorem, name: str) -> str:
    return ADDED if name in theorem.added else ""


def list_states(theorem: Theorem) -> list[WordLine]:
    """What is so of any state of a function that plays them, what a round makes of it, and what the first state has."""
    told = tell_once(theorem)
    if told is None:
        return []
    added = {line: (*line, ADDED) for line in list_added(theorem)}
    states = [added.get(line, line) for line in told.states]
    found: list[WordLine] = [*told.methods.values(), *states, *(("at first: ", *line) for line in told.begins)]
    for name, inside in theorem.inside.items():
        found += [(f"inside of a round, for {name}: ", *line) for line in list_states(inside.theorem)]
    return found


def list_added(theorem: Theorem) -> list[WordLine]:
    """What is so of fields of the state that are said to be added.

    Raises
    ------
    InvalidInput
        The states have no such field.
    """
    told = tell_once(theorem)
    found: list[WordLine] = []
    for name in theorem.added if told is not None else ():
        if not name.isidentifier() or name in theorem.given or name in theorem.assumed:
            continue
        own = [line for line in told.states if is_about(line, name)]  # type: ignore[union-attr]
        if not own:
            raise InvalidInput(f"{name!r} is said to be added, and nothing is told of such a field of the states")
        found += own
    return found


def tell_once(theorem: Theorem) -> ToldStates | None:
    """The states as they are played, written out; None of other states. What was told is kept with the theorem."""
    if not isinstance(theorem.states, PlayedStates):
        return None
    if "told" not in vars(theorem):
        object.__setattr__(theorem, "told", tell_states(theorem))
    found: ToldStates = vars(theorem)["told"]
    return found


def write_claim(sentence: Sentence) -> str:
    """A claim as plain text: ``gap[N] <= L dist2[0]/(2 N)``."""
    return write_line((sentence,))


def write_latex(theorem: Theorem) -> str:
    """All claims as one formula, then what their quantities and names stand for."""
    claims = [latex_sentence(sentence) for sentence in theorem.sentences]
    legend = [latex(tree) for tree in (*_quantities(theorem), *_formulas(theorem))]
    return ", \\quad ".join([*claims, *legend])


def latex_quantity(text: str) -> str:
    """The formula of a quantity of a state."""
    return latex(read_quantity(text))


def latex_of_round(name: str) -> str:
    """A quantity of round t."""
    return with_index(latex_name(name), "t")


def _quantities(theorem: Theorem) -> Iterator[ast.expr]:
    """What quantities are, as equations in fields of the state of their round."""
    told, stated = tell_once(theorem), list_stated(theorem)
    if told is not None:
        lines = [*told.quantities.values(), *told.states]
        for tree in (tree for line in lines for tree in line if isinstance(tree, ast.Compare)):
            match tree.left:
                case ast.Subscript(value=ast.Name(id=name)) if name in stated:
                    yield tree
        return
    letter = ast.Name(next(iter(theorem.rounds), "t"), ast.Load())
    known = {*theorem.all_parameters.names, *theorem.where, "x_star", "f", "f_i"}
    for name in stated:
        text = theorem.quantities[name]
        fields = {field: of_round(field, letter) for field in names_of_quantity(text) - known}
        right = PutTrees(fields).visit(copy.deepcopy(read_quantity(text)))
        yield ast.Compare(ast.Subscript(ast.Name(name, ast.Load()), letter, ast.Load()), [ast.Eq()], [right])


def _formulas(theorem: Theorem) -> Iterator[ast.expr]:
    """What names stand for, of which claims, hypotheses, quantities or other names speak."""
    sentences = (*theorem.sentences, *theorem.hypotheses.values())
    spoken = frozenset[str]().union(*(said.names for said in sentences))
    spoken |= frozenset[str]().union(*(names_of_quantity(theorem.quantities[name]) for name in list_stated(theorem)))
    read_texts = {name: read(text) for name, text in theorem.where.items()}
    for name in reversed(read_texts):
        spoken |= names(read_texts[name]) if name in spoken else frozenset()
    for name, tree in read_texts.items():
        if name in spoken:
            yield ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [draw_signs(tree)])


def _scope(theorem: Theorem) -> Iterator[WordLine]:
    """Hypotheses, method and class, and for whom."""
    yield from _given(theorem)
    told = tell_once(theorem)
    if told is not None:
        yield from _assumed(theorem, told)
        rounds = [f"rounds of {name}" for name in told.methods] or ["rounds of no listed method"]
        yield from ((f"{text}, written out below",) for text in rounds)
        yield from told.functions
    elif isinstance(theorem.states, MethodStates):
        yield (f"rounds of {theorem.states.named_method}, functions {theorem.states.class_in_words}",)
        yield from ((server,) for server in list_server(theorem.states))
        if theorem.states.sigma is not None:
            yield from ((line,) for line in list_words(theorem))
    own = frozenset().union(*map(theorem.own_rounds, theorem.hypotheses.values()))
    rounds = sorted(own | {n for s in theorem.sentences for n in s.names} & theorem.rounds.keys())
    if rounds:
        yield (f"for all {', '.join(f'{n} >= {theorem.rounds[n]}' for n in rounds)}",)
    sets = sorted({s.along for s in (*theorem.sentences, *theorem.hypotheses.values()) if s.along})
    yield from ((f"{name} any infinite set of rounds",) for name in sets)
    yield from _sequences(theorem)
    if theorem.region:
        yield (write_region(theorem.parameters),)
    named = {*theorem.given, *theorem.assumed}
    yield from ((f"{piece}{ADDED}",) for piece in theorem.added if piece not in named and not piece.isidentifier())
    yield from ((*line, ADDED) for line in list_added(theorem))
    if isinstance(theorem.states, MethodStates) and theorem.states.clients:
        yield (tell_clients(theorem.states),)
        yield ("every dimension",)
    elif told is not None and told.draws:
        yield from ((who,) for who in told.draws)
        yield ("every dimension",)
    elif theorem.states is not None:
        yield ("every number of clients and dimension" if told is None or told.of_clients else "every dimension",)


def list_server(states: MethodStates) -> list[str]:
    """What the server of a method has, where it has data of its own."""
    server = states.named_method.what_the_server_has
    return [server] if server else []


def tell_clients(states: MethodStates) -> str:
    """How many clients there are, and how many of them are drawn, where that is stated."""
    told = describe_clients(states.numbers_of_clients)
    everyone = states.sigma is not None and "s" not in states.numbers_of_clients
    return f"{told}, in expectation" if everyone else told


def _sequences(theorem: Theorem) -> Iterator[WordLine]:
    """Numbers of a sequence with the range of each: ``s[n] >= 5``."""
    letter = next(iter(theorem.rounds), "t")
    for name, text in theorem.sequences.items():
        low, _, high = text.partition("..")
        own = ast.Subscript(ast.Name(name, ast.Load()), ast.Name(letter, ast.Load()), ast.Load())
        if high:
            yield (ast.Compare(read(low), [ast.LtE(), ast.LtE()], [own, read(high)]),)
        else:
            yield (ast.Compare(own, [ast.GtE()], [read(low)]),)
