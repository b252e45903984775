"""States that a function plays, written out on names: what any state has, what a round makes of it, and what is assumed.

The function is played as in a proof, in a world that remembers how everything was made (`fedtheory.claims.statements.written`); nobody writes what
it does a second time. A field of the state of round t is written ``x^t``; what all states share has no round. Where a line of the proof speaks of
more rounds one after the other, or of a run from the start, the function is played so, too, and what that adds is told.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from fedtheory.claims.statements.formula_texts import WordLine, join_pieces, of_round, write_line
from fedtheory.claims.statements.theorems.proving import AHEAD
from fedtheory.claims.statements.theorems.quantities import names_of_quantity, read_quantity
from fedtheory.claims.statements.theorems.states import PlayedStates, WorldFunction
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import PlayedRound
from fedtheory.claims.statements.written import (
    Name,
    Writer,
    WrittenNumber,
    WrittenWorld,
    generic_numbers,
    key_of,
    number_tree,
    symbol,
)
from fedtheory.proofs.checker.algebra import value_of, whole_number_of_rounds
from fedtheory.proofs.checker.formulas import Unreadable, indexed, quantity_of, show_tree
from fedtheory.proofs.checker.proof_lines import ProofLine, join_lines
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.every_n.vectors import Form, Vector
from fedtheory.proofs.regions.region import Region

#: a field of a state, by its name and the number of the state
FieldAt = tuple[str, int]


@dataclass(frozen=True)
class ToldStates:
    """What was played, as lines.

    ``functions``: each with its class; ``methods``: those whose own round makes the next state, and of what; ``quantities``: what each is in fields
    of the state; ``states``: what is so of any state and the ones after it; ``assumed``: hypotheses by name; ``begins``: what is so of the first
    state besides; ``of_clients``: whether anything is one of each client; ``draws``: who takes part in a round, where clients are drawn.
    """

    functions: tuple[WordLine, ...]
    methods: Mapping[str, WordLine]
    quantities: Mapping[str, WordLine]
    states: tuple[WordLine, ...]
    assumed: tuple[tuple[str, WordLine], ...]
    begins: tuple[WordLine, ...]
    of_clients: bool
    draws: tuple[str, ...]


def tell_states(theorem: Theorem) -> ToldStates:
    """Play the states of a theorem, and write them out."""
    teller = _Teller(theorem)
    any_round, spoken = teller.play(1), sorted(_list_spoken(theorem))
    played = [any_round, *(teller.play(last) for last, by_number in spoken if not by_number and last != 1)]
    states = [told for one in played for told in teller.tell_once(one)]
    begun = [told for one in teller.begin(spoken) for told in teller.tell_once(one)]
    quantities = {name: teller.finish(line, any_round) for name, line in any_round.quantities()}
    free = teller.tell_free([*(line for _, line in (*states, *begun)), *quantities.values()])
    return ToldStates(
        tuple(map(any_round.writer.class_of, any_round.world.functions)),
        {name: teller.finish(line, any_round) for name, line in any_round.methods()},
        quantities,
        (*teller.tell_noted(), *free, *(line for name, line in states if not name)),
        tuple((name, line) for name, line in (*states, *begun) if name),
        tuple(line for name, line in begun if not name),
        bool(any_round.world.deviation),
        tuple(dict.fromkeys(who for played in teller.played for who in played.writer.draws)),
    )


def list_stated(theorem: Theorem) -> list[str]:
    """The quantities of which claims and hypotheses speak; the proof may speak of others."""
    sentences = (*theorem.sentences, *theorem.hypotheses.values())
    spoken = {quantity_of(node) for said in sentences for side in said.sides for node in indexed(side)}
    return [name for name in theorem.quantities if name in spoken]


def _list_spoken(theorem: Theorem) -> set[tuple[int, bool]]:
    """How many rounds on lines that look at states speak of, and whether of rounds by their numbers."""
    found = {(1, False)}
    for text in join_lines(theorem.proof):
        try:
            line = ProofLine.parse(text, theorem.claims)
        except (TermRefused, Unreadable):
            continue
        if not re.search(r"\b(derivation|identity)\b", f"{line.rule} {line.arguments}"):
            continue
        nodes = [node for side in line.sentence.sides for node in indexed(side)]
        known = [place for node in nodes if (place := _offset(node)) is not None]
        if known:
            found.add((max(k for _, k in known), all(by_number for by_number, _ in known)))
    return found


def _offset(node: ast.Subscript) -> tuple[bool, int] | None:
    try:
        variables, k = whole_number_of_rounds(value_of(node.slice), show_tree(node.slice))
    except Unreadable:
        return None
    return not variables, k


# ---- the rounds of lines -----------------------------------------------------------------------------------------------


class _Rounds(ast.NodeTransformer):
    """Other indices in the place of the numbers of states."""

    def __init__(self, index: Callable[[int], ast.expr]) -> None:
        self.index = index

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="of_round"), args=[name, ast.Constant(value=int() as k)]):
                return ast.Call(node.func, [name, self.index(k)], [])
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        k = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return ast.Subscript(node.value, self.index(k), ast.Load()) if isinstance(k, int) else node


def _with_rounds(line: WordLine, index: Callable[[int], ast.expr]) -> WordLine:
    """A line with other rounds."""
    return tuple(_Rounds(index).visit(copy.deepcopy(p)) if isinstance(p, ast.expr) else p for p in line)


def _free_names(tree: ast.expr) -> Iterator[str]:
    """Names that are no fields and have no index."""
    match tree:
        case ast.Name(id=name):
            yield name
        case ast.Call(func=ast.Name(id="of_round")) | ast.Subscript():
            return
        case ast.Call(args=parts):
            yield from (name for part in parts for name in _free_names(part))
        case _:
            parts = [part for part in ast.iter_child_nodes(tree) if isinstance(part, ast.expr)]
            yield from (name for part in parts for name in _free_names(part))


def _places(line: WordLine, owners: Mapping[str, str], constants: frozenset[str]) -> set[FieldAt]:
    """Fields that a line speaks of; ``owners``: of quantities that are a field, the field."""
    found = set[FieldAt]()
    for node in (node for part in line if isinstance(part, ast.expr) for node in ast.walk(part)):
        match node:
            case ast.Call(func=ast.Name(id="of_round"), args=[ast.Name(id=name), ast.Constant(value=int() as k)]):
                found.add((name, k))
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() as k)):
                found.add((owners.get(name, name), k))
            case ast.Subscript(value=ast.Name(id=name)) if name in owners:
                found.add((owners[name], 0))
            case ast.Name(id=name) if name in constants:
                found.add((name, 0))
    return found


# ---- what was played ---------------------------------------------------------------------------------------------------


@dataclass
class _Teller:
    """Plays the states, and keeps what was told: a line that says of another round what is told already is not told again."""

    theorem: Theorem
    told: set[str] = field(default_factory=set)
    constants: frozenset[str] = frozenset()
    played: list[_Played] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)  # numbers that the function counts with

    @property
    def states(self) -> PlayedStates:
        """The states."""
        assert isinstance(self.theorem.states, PlayedStates)
        return self.theorem.states

    @cached_property
    def numbers(self) -> dict[str, Any]:
        """Parameters and numbers of sequences with their names."""
        theorem = self.theorem
        ahead = range(AHEAD + 1 + max(last for last, _ in _list_spoken(theorem)))
        ends = [str(theorem.parameters)] if theorem.parameters.parameters else []
        ends += [within(text, f"{name}_{k}") for name, text in theorem.sequences.items() for k in ahead]
        found = generic_numbers(Region.parse(", ".join(ends)), self.noted)
        for name, k in ((name, k) for name in theorem.sequences for k in ahead):
            place = ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(k), ast.Load())
            found[f"{name}_{k}"] = WrittenNumber(found[f"{name}_{k}"], place)
        return found

    @cached_property
    def owners(self) -> dict[str, str]:
        """Quantities of the statement that are a field of the state, by their names."""
        read = {name: read_quantity(self.theorem.quantities[name]) for name in list_stated(self.theorem)}
        return {name: tree.id for name, tree in read.items() if isinstance(tree, ast.Name)}

    @property
    def letter(self) -> ast.expr:
        """What a round is called."""
        return ast.Name(next(iter(self.theorem.rounds), "t"), ast.Load())

    def play(self, last: int) -> _Played:
        """Any state, and so many after it."""
        world = WrittenWorld()
        found = _Played(self, world, self.states.play_in(world, self.numbers, last, start=False))
        self.constants = found.constants if last else self.constants
        self.played.append(found)
        return found

    def begin(self, spoken: Iterable[tuple[int, bool]]) -> Iterator[_Played]:
        """The first state that lines speak of, and what follows it where they speak of rounds by their numbers."""
        states, lasts = self.states, {0}
        begins = states.begins
        if states.start is not None:
            lasts |= {last for last, by_number in spoken if by_number}
        elif begins is not None:
            states = replace(states, start=lambda world, numbers, last: [begins(world, numbers)])
        else:
            return
        first = 0 if self.states.start is not None else states.least
        for last in sorted(lasts, reverse=True):
            world = WrittenWorld()
            self.played.append(_Played(self, world, states.play_in(world, self.numbers, last, start=True), first))
            yield self.played[-1]

    def names_beside(self, played: _Played) -> dict[Any, Name]:
        """Names of values in worlds that were made before in the same way, as far as the shorter one goes."""
        found: dict[Any, Name] = {}
        for other in self.played:
            if other.first == played.first and all(map(_begins_alike, _leaves(other.world), _leaves(played.world))):
                found = {**other.writer.names, **found}
        return found

    def tell_noted(self) -> Iterator[WordLine]:
        """For which numbers alone it is written so."""
        if self.noted:
            yield (f"written for {', '.join(self.noted)}",)

    def tell_free(self, lines: Sequence[WordLine]) -> Iterator[WordLine]:
        """Vectors and numbers of which lines speak, and that are any."""
        spoken = {name for line in lines for part in line if isinstance(part, ast.expr) for name in _free_names(part)}
        worlds = [played.world for played in self.played]
        vectors = dict.fromkeys(symbol(name) for world in worlds for name in world.mean)
        numbers = dict.fromkeys(symbol(name) for world in worlds for name in world.numbers)
        first = self.played[0]
        of_state = {
            kind: [self.finish((p,), first) for p in first.free(of)]
            for kind, of in (("vectors", Vector), ("numbers", Form))
        }
        for kind, names in (("vectors", vectors), ("numbers", numbers)):
            found = [*of_state[kind], *((ast.Name(name, ast.Load()),) for name in names if name in spoken)]
            if found:
                yield (f"any {kind} ", *join_pieces([*{write_line(line): line for line in found}.values()]))

    def finish(self, line: WordLine, played: _Played) -> WordLine:
        """A line with the rounds as they are written: t, t + 1, ..., or numbers of rounds from the start."""
        if played.first is not None:
            first = played.first
            return _with_rounds(line, lambda k: ast.Constant(first + k))
        return _with_rounds(line, lambda k: ast.BinOp(self.letter, ast.Add(), ast.Constant(k)) if k else self.letter)

    def tell_once(self, played: _Played) -> Iterator[tuple[str, WordLine]]:
        """Lines, and of hypotheses the names, that were not told of another round."""
        for name, line in played.lines():
            numbers = {k for _, k in _places(line, {}, frozenset())}
            key = write_line(_with_rounds(line, lambda k: ast.Constant(k - min(numbers))))  # noqa: B023
            if key not in self.told:
                self.told.add(key)
                yield name, self.finish(line, played)


class _Played:
    """States that were played in one world, with their names; rounds are the numbers of states. ``first``: the number of a run's first round."""

    def __init__(
        self,
        teller: _Teller,
        world: WrittenWorld,
        states: list[list[tuple[Any, Mapping[str, Any]]]],
        first: int | None = None,
    ) -> None:
        self.teller, self.world, self.states, self.first = teller, world, states, first
        self.writer = Writer(world)
        self.constants = self._constants() if len(states) > 1 else teller.constants
        for name, value in states[0][0][1].items():
            if isinstance(value, WorldFunction) and name != value.function.name:
                self.writer.functions[id(value.function)] = name
        self._name_fields()

    @property
    def of_any(self) -> Mapping[str, Any]:
        """What the first state has."""
        return self.states[0][0][1]

    def _constants(self) -> frozenset[str]:
        """What all states share."""
        every = [known for outcomes in self.states for _, known in outcomes]
        return frozenset(
            name
            for name in set.intersection(*map(set, every))
            if isinstance(every[0][name], Vector | Form) and len({key_of(known[name]) for known in every}) == 1
        )

    def field(self, name: str, k: int, value: Any) -> ast.expr:
        """How a field of the k-th state is written."""
        quantity = self._quantity_of(name)
        if quantity is not None and not isinstance(value, Vector):
            index = self.teller.letter if name in self.constants else ast.Constant(k)
            return ast.Subscript(ast.Name(quantity, ast.Load()), index, ast.Load())
        return ast.Name(name, ast.Load()) if name in self.constants else of_round(name, ast.Constant(k))

    def _quantity_of(self, name: str) -> str | None:
        """The quantity that a field is."""
        return next((quantity for quantity, owned in self.teller.owners.items() if owned == name), None)

    def _name_fields(self) -> None:
        """A value is called after the first field that has it, of those that all states have if there is one; what is drawn has no name.

        Numbers are written out, but for those that are quantities of the statement.
        """
        every = [known for outcomes in self.states for _, known in outcomes]
        proper = set.intersection(*map(set, every))
        fields = [
            (name not in proper, k, name, value)
            for k, outcomes in enumerate(self.states)
            for name, value in outcomes[0][1].items()
            if len(outcomes) == 1
            and (isinstance(value, Vector) or (isinstance(value, Form) and self._quantity_of(name) is not None))
        ]
        for serial, (_, k, name, value) in enumerate(sorted(fields, key=lambda item: item[0])):
            key = key_of(value)
            if key is not None:
                self.writer.names.setdefault(
                    key, Name(self.field(name, k, value), (self.writer.depth(value), serial), value)
                )
        self.writer.names |= self.teller.names_beside(self)

    # ---- lines

    def lines(self) -> Iterator[tuple[str, WordLine]]:
        """What is known of gradients and fields that matter to the theorem, then hypotheses with their names."""
        gradients = list(self.writer.gradients())
        assumed: list[tuple[str, WordLine]] = [
            (n, (self.writer.at_most_zero(form),)) for n, form in self.world.hypotheses
        ]
        equations = self._equations()
        stated = list_stated(self.teller.theorem)
        asked = frozenset[str]().union(*(names_of_quantity(self.teller.theorem.quantities[name]) for name in stated))
        asked |= {name for fields in map(self._fields_of, self.world.rounds) for name in fields or ()}
        needed = {(name, k) for name in asked for k in range(len(self.states))}
        needed |= {place for line in [*gradients, *(line for _, line in assumed)] for place in self._spoken(line)}
        while more := self._needed_by(needed, equations) - needed:
            needed |= more
        yield from (("", line) for at, lines in equations.items() if at in needed for line in lines)
        yield from (("", line) for line in gradients)
        yield from assumed

    def _spoken(self, line: WordLine) -> set[FieldAt]:
        return _places(line, self.teller.owners, self.constants)

    def _needed_by(self, needed: set[FieldAt], equations: Mapping[FieldAt, Sequence[WordLine]]) -> set[FieldAt]:
        """The fields that lines about needed ones speak of; after a draw, each of them in every round."""
        spoken = {p for at in needed & equations.keys() for line in equations[at] for p in self._spoken(line)}
        drawn = [k for k, outcomes in enumerate(self.states) if len(outcomes) > 1]
        return spoken | {(name, k) for name, _ in spoken for k in drawn}

    def _equations(self) -> dict[FieldAt, list[WordLine]]:
        """What each field is, if it is not any vector or number; after a draw, in each outcome, or once where all have the same."""
        found: dict[FieldAt, list[WordLine]] = {}
        for k, outcomes in enumerate(self.states):
            seen: dict[FieldAt, list[tuple[Any, ast.Compare]]] = {}
            for chance, known in outcomes:
                for name, value in known.items():
                    meaning = None if name in self.constants and k else self._meaning(name, k, value)
                    own = self.field(name, k, value)
                    if meaning is not None and show_tree(meaning) != show_tree(own):
                        seen.setdefault((name, k), []).append((chance, ast.Compare(own, [ast.Eq()], [meaning])))
            for at, told in seen.items():
                same = len(told) == len(outcomes) and len({show_tree(said) for _, said in told}) == 1
                found[at] = (
                    [(told[0][1],)]
                    if same
                    else [("with probability ", number_tree(chance), ": ", said) for chance, said in told]
                )
        return found

    def _meaning(self, name: str, k: int, value: Any) -> ast.expr | None:
        """What a field is: the one before it that is the same thing, or how it was made; None of any vector or number."""
        if not isinstance(value, Vector | Form):
            is_number = isinstance(value, int | WrittenNumber) and name not in self.teller.theorem.sequences
            return number_tree(value) if is_number else None
        own, made = self.writer.names.get(key_of(value)), getattr(value, "made", None)
        is_leaf = made is not None and made.how == "leaf"
        if own is None or show_tree(own.tree) == show_tree(self.field(name, k, value)):
            return None if own is not None and is_leaf else self.writer.tree(value, None if own is None else own.rank)
        is_name = is_leaf or own.thing is value or self._is_of_another(own.tree, k)
        return own.tree if is_name else self.writer.spelled(value)

    def _is_of_another(self, tree: ast.expr, k: int) -> bool:
        """Whether it is a field of another state than the k-th one."""
        return bool({j for _, j in self._spoken((tree,))} - {k})

    def free(self, kind: type) -> Iterator[ast.expr]:
        """Fields of the first state that lines speak of, or that are quantities, and that are any vector, or number: no gradient is known of them."""
        spoken = {place for _, line in self.lines() for place in self._spoken(line)}
        slopes = {key_of(e.g) for f in self.world.functions for e in f.evaluations}
        for name, value in self.of_any.items():
            asked = (name, 0) in spoken or (kind is Form and self._quantity_of(name) is not None)
            free = asked and isinstance(value, kind) and key_of(value) not in slopes
            if free and self._meaning(name, 0, value) is None:
                yield self.field(name, 0, value)

    # ---- methods and quantities

    def _fields_of(self, made: PlayedRound) -> dict[str, str] | None:
        """Fields of the state by those of the method, where its round went from the first state to the second; None where it did not."""
        if len(self.states) < 2 or len(self.states[1]) > 1:
            return None
        before, after = self.of_any, self.states[1][0][1]
        found = {}
        for own, value in made.after.items():
            names = (name for name in after if _same(after[name], value) and _same(before.get(name), made.before[own]))
            name = next(names, None)
            if name is None:
                return None
            found[name] = own
        return found

    def methods(self) -> Iterator[tuple[str, WordLine]]:
        """Methods whose own round makes the second state of the first."""
        for made in self.world.rounds:
            fields = self._fields_of(made)
            if fields:
                after, before = (join_pieces([of_round(name, ast.Constant(k)) for name in fields]) for k in (1, 0))
                answers = self.writer.tree(made.answers)
                said = f" are what one round of {made.method}, by its own code, makes of "
                yield made.method, (*after, said, *before, " where clients answer ", answers)

    def quantities(self) -> Iterator[tuple[str, WordLine]]:
        """What quantities are, in fields of the state of their round; of one that is a field, that is told among the states."""
        for name in (name for name in list_stated(self.teller.theorem) if name not in self.teller.owners):
            text = self.teller.theorem.quantities[name]
            names = names_of_quantity(text)
            known = {*self.teller.numbers, *self.teller.theorem.where}
            k = next((k for k, outcomes in enumerate(self.states) if names <= {*outcomes[0][1], *known}), 0)
            values = {n: v for n, v in self.states[k][0][1].items() if isinstance(v, Vector | Form)}
            shown = {n: self._shown(n, k, v) for n, v in values.items() if n in names}
            left = ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(k), ast.Load())
            right = PutTrees(shown).visit(copy.deepcopy(read_quantity(text)))
            yield name, (ast.Compare(left, [ast.Eq()], [right]),)

    def _shown(self, name: str, k: int, value: Any) -> ast.expr:
        """A field of the k-th state; one that is a field of another state is written as that, and a number as it was made."""
        if isinstance(value, Form) and self._quantity_of(name) is None:
            return self.writer.tree(value)
        named = self.writer.names.get(key_of(value))
        of_other = named is not None and name not in self.constants and self._is_of_another(named.tree, k)
        return named.tree if named is not None and of_other else self.field(name, k, value)


def is_about(line: WordLine, name: str) -> bool:
    """Whether a line says what a field of the state is."""
    match line:
        case (ast.Compare(left=ast.Name(id=found)),):
            return found == name
        case (ast.Compare(left=ast.Call(func=ast.Name(id="of_round"), args=[ast.Name(id=found), _])),):
            return found == name
    return False


class PutTrees(ast.NodeTransformer):
    """Trees in the place of names."""

    def __init__(self, trees: Mapping[str, ast.expr]) -> None:
        self.trees = trees

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """What the name stands for."""
        return self.trees.get(node.id, node)


def _leaves(world: WrittenWorld) -> tuple[Sequence[str], ...]:
    return world.mean, world.deviation, world.value_names


def _begins_alike(left: Sequence[str], right: Sequence[str]) -> bool:
    return all(a == b for a, b in zip(left, right, strict=False))


def _same(left: Any, right: Any) -> bool:
    return isinstance(left, Vector) and isinstance(right, Vector) and key_of(left) == key_of(right)


def within(text: str, name: str) -> str:
    """The range of a number of a sequence, "1" or "1..1/r", as a piece of a region."""
    low, _, high = text.partition("..")
    return f"{low} <= {name} <= {high}" if high else f"{low} <= {name}"
