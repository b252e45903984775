"""A theorem for every round: parameters, states, quantities, hypotheses, a claim, and its proof as a script of lines.

    Theorem(
        region="0 < L",
        states=MethodStates("gd", "lr = 1/L", "L"),
        rounds={"t": 0, "N": 1},
        quantities={"gap": "f(x) - f(x_star)", "dist2": "norm2(x - x_star)"},
        claim="gap[N] <= L*dist2[0]/(2*N)",
        proof='''
          step: (t + 1)*gap[t+1] + L/2*dist2[t+1] <= t*gap[t] + L/2*dist2[t] by derivation
          pos:  0 <= dist2[t]                                                by derivation
          all:  N*gap[N] + L/2*dist2[N] <= L/2*dist2[0]                      by induction N: base combine step(t=0);
                                                                               step combine ih, step(t=N)
          done: claim                                                        by combine all, pos(t=N)
        ''',
    )

The claim stands once: the sentence that is shown, what is searched for a counterexample, what the last line of the proof says, and the mistakes
that are planted are all made of it. Rules are those of `fedtheory.proofs.checker.rules`; multipliers that are left out are found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from fedtheory.claims.statements.named_methods import NamedMethod
from fedtheory.claims.statements.theorems.quantities import names_of_quantity
from fedtheory.claims.statements.theorems.states import NOISE, MethodStates, States
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.algebra import value_of, whole_number_of_rounds
from fedtheory.proofs.checker.formulas import Sentence, Unreadable, indexed, quantity_of, read, show_tree, substitute
from fedtheory.proofs.checker.proof_lines import ProofLine, join_lines
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.checker.rules import RULES
from fedtheory.proofs.checker.terms import TERM_FORMAT
from fedtheory.proofs.regions.region import Region

_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Inside:
    """What a hypothesis about a round rests on: a theorem about states inside of this round, from their start to the last one of them.

    ``last``: the theorem's variable for the last one, of which alone its claim speaks; ``fields``: fields of the round's state, with those of the
    last state that they are. Quantities of the claim have one name in both theorems, and are one formula with these fields
    (`fedtheory.claims.statements.theorems.inside`).

    Examples
    --------
    >>> steps = Theorem("", "0 <= 1", "done: claim by combine")
    >>> Inside(steps, "E", {"x": "x", "x_new": "y"}).last
    'E'
    """

    theorem: Theorem
    last: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class Theorem:
    """A statement for all parameters of a region and all rounds, with its proof.

    Parameters
    ----------
    region : str
        Parameters and their ranges, ``"0 < mu < L, K in 1..4"``.
    claim : str or several
        ``"gap[N] <= L*dist2[0]/(2*N)"``: numbers, parameters, rounds, quantities ``D[t+1]``, sums, powers, and ``exists t in 1..T:`` before it.
    proof : str
        Lines ``name: sentence by rule premises``; the sentence "claim" is what is claimed ("claim 2" the second one). Empty where none is given: then
        one by a potential is looked for (`fedtheory.claims.statements.theorems.potentials`).
    states : where quantities live; none for statements about numbers alone
    quantities : formulas of a state by name (`fedtheory.claims.statements.theorems.quantities`)
    rounds : the least value of each variable for a round
    where : formulas in parameters by name
    sequences : sequences of numbers, by name, with a formula that is at most each of them, or two between which they lie, ``{"t": "1..1/r"}``
    given : hypotheses by name, as sentences about all rounds; but of a round of the claim that a hypothesis reads as a number or as the end of a sum
        alone, ``sum(w[r], r, 0, N) == 1``, it is about the claim's own
    fixed : rounds that are the claim's own in all hypotheses, those that read them as the place of a quantity included, ``z <= Z[N]``
    auxiliary : str
        The range of parameters that lines may speak of and that the claim does not, ``"0 < s"``.
    assumed : hypotheses of the states by name, in words
    rests : theorems by name, about the same states and quantities, whose claims are premises of lines: NAME, or NAME_1, NAME_2 of several
    units : in which units it is, or that the paper misprints it (`fedtheory.claims.statements.unit_reading`)
    inside : of hypotheses by name, what each rests on: another theorem, about states inside of a round (`Inside`); it is no hypothesis then
    added : names of hypotheses, pieces of the region such as ``"nu < L"``, or fields of played states, that the paper does not print
    name : str

    Raises
    ------
    InvalidInput
        A text cannot be read, a name has no meaning or two, or a symbol decides nothing.

    Examples
    --------
    >>> bernoulli = Theorem("0 <= y", "1 + n*(y - 1) <= y**n", "done: claim by induction n: base combine; step combine y*ih", rounds={"n": 0})
    >>> from fedtheory.claims.statements.theorems.proving import prove_theorem
    >>> print(prove_theorem(bernoulli).proved.claims[0])
    1 + n*(y - 1) <= y**n
    """

    region: str
    claim: str | tuple[str, ...]
    proof: str = ""
    states: States | None = None
    quantities: Mapping[str, str] = field(default_factory=dict)
    rounds: Mapping[str, int] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    sequences: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    auxiliary: str = ""
    assumed: Mapping[str, str] = field(default_factory=dict)
    rests: Mapping[str, Theorem] = field(default_factory=dict)
    inside: Mapping[str, Inside] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    name: str = ""
    units: str = ""

    def __post_init__(self) -> None:
        """Read every text once."""
        self._require_quantities()
        try:
            sentences = (*self.sentences, *self.hypotheses.values())
            for sentence in sentences:
                self._require_known(sentence)
            _ = self.formulas
        except Unreadable as error:
            raise InvalidInput(f"{self.name or 'the theorem'}: {error}") from None
        self._require_names()
        for sentence in sentences:
            self._require_begun(sentence)
        if isinstance(self.states, MethodStates) and self.states.sigma is not None and NOISE not in self.assumed:
            raise InvalidInput(
                f"the states have noise, about which lines suppose something: say it, assumed={{{NOISE!r}: 'gradients are ...'}}"
            )
        if self.proof:
            self._require_script()
            self._require_useful()
        self._require_fixed()
        self._require_added()

    def _require_quantities(self) -> None:
        """Quantities are those of states, which know no rounds."""
        if self.quantities and self.states is None:
            raise InvalidInput(
                f"quantities {', '.join(self.quantities)} are those of a state; give the theorem its states"
            )
        for name, text in self.quantities.items():
            spoken = sorted(names_of_quantity(text) & {*self.rounds, *self.own_auxiliary})
            if spoken:
                raise InvalidInput(
                    f"the quantity {name} = {text} speaks of {spoken[0]!r}; states know neither rounds nor auxiliary parameters"
                )

    def _require_names(self) -> None:
        """What the theorem rests on goes with its states and hypotheses; rounds begin at whole numbers."""
        for name, other in self.rests.items():
            if other.states is not None and other.states != self.states:
                raise InvalidInput(f"the theorem {name}, on which this one rests, is about other states")
        unknown = sorted(self.inside.keys() - self.given.keys())
        if unknown:
            raise InvalidInput(
                f"{unknown[0]!r} is said to rest on a theorem, and is no hypothesis; there are {', '.join(self.given) or 'none'}"
            )
        for name, least in self.rounds.items():
            if not isinstance(least, int) or least < 0:
                raise InvalidInput(f"rounds are whole numbers from 0 on; {name} begins at {least}")
        for name, text in self.sequences.items():
            known = self.parameters.names
            unknown = sorted(names_of_quantity(text.replace("..", "+")) - {*known})
            if unknown:
                raise InvalidInput(
                    f"{unknown[0]!r}, of which the range {text!r} of the sequence {name!r} speaks, is no parameter of the region; there are "
                    f"{', '.join(sorted(known)) or 'none'}. What depends on the round is a hypothesis, given={{'range': '{name}[t] <= ...'}}"
                )

    @cached_property
    def claims(self) -> tuple[str, ...]:
        """The claims; without a script, q <= min(A, B) is two of them."""
        stated = (self.claim,) if isinstance(self.claim, str) else self.claim
        return stated if self.proof else tuple(part for text in stated for part in _split_claim(text))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """What is claimed, read."""
        return tuple(Sentence.parse(text) for text in self.claims)

    @cached_property
    def hypotheses(self) -> dict[str, Sentence]:
        """What is given, read."""
        return {name: Sentence.parse(text) for name, text in self.given.items()}

    @cached_property
    def formulas(self) -> dict[str, ast.expr]:
        """Formulas by name, each with those before it put in."""
        found: dict[str, ast.expr] = {}
        for name, text in self.where.items():
            found[name] = substitute(read(text), found)
        return found

    @cached_property
    def parameters(self) -> Region:
        """The region."""
        return Region.parse(self.region)

    @cached_property
    def all_parameters(self) -> Region:
        """The region with the auxiliary parameters."""
        return Region.parse(", ".join(filter(None, (self.region, self.auxiliary))))

    @cached_property
    def own_auxiliary(self) -> tuple[str, ...]:
        """The parameters of which only lines speak; states and quantities know nothing of them."""
        return tuple(name for name in self.all_parameters.names if name not in self.parameters.names)

    def _require_known(self, sentence: Sentence) -> None:
        known = {*self.all_parameters.names, *self.rounds, *self.where}
        unknown = sorted(sentence.names - known)
        if unknown:
            raise InvalidInput(
                f"{unknown[0]!r} in {str(sentence)!r} is no parameter, round or formula; there are {', '.join(sorted(known))}"
            )
        for node in (n for side in sentence.sides for n in indexed(side)):
            name = quantity_of(node)
            if name not in self.quantities and name not in self.sequences:
                there = ", ".join({**self.quantities, **self.sequences}) or "none"
                raise InvalidInput(f"{name!r} in {str(sentence)!r} is no quantity; there are {there}")

    def _require_begun(self, sentence: Sentence) -> None:
        """No value is before the first one, X[0], or that of the first round of states that a function plays."""
        bound = {sentence.exists.variable} if sentence.exists else set[str]()
        for side in sentence.sides:
            bound |= {show_tree(n.args[1]) for n in ast.walk(side) if isinstance(n, ast.Call) and len(n.args) == 4}
        for node in (n for side in sentence.sides for n in indexed(side)):
            variables, first = whole_number_of_rounds(value_of(node.slice), show_tree(node.slice))
            begin = 0 if quantity_of(node) in self.sequences else getattr(self.states, "least", 0)
            if variables.keys() <= self.rounds.keys() - bound:
                least = first + sum(count * self.rounds[name] for name, count in variables.items() if count > 0)
                if least < begin:
                    at = ", ".join(f"{name} = {self.rounds[name]}" for name in variables) or "every round"
                    raise InvalidInput(
                        f"{show_tree(node)} in {str(sentence)!r} is before the first value, {quantity_of(node)}[{begin}], at {at}"
                    )

    def _require_script(self) -> None:
        """Lines can be read, and their rules are some that there are."""
        for text in join_lines(self.proof):
            try:
                line = ProofLine.parse(text, self.claims)
            except (TermRefused, Unreadable) as error:
                raise InvalidInput(f"{self.name or 'the theorem'}: {error}") from None
            if line.rule not in RULES:
                raise InvalidInput(f"the line {line.name} is by {line.rule!r}; the rules are {', '.join(RULES)}")

    def _require_useful(self) -> None:
        """Every symbol that is introduced is used by the claim, the hypotheses, the states or the proof."""
        spoken = [*self.claims, *self.given.values(), *self.where.values(), *self.quantities.values(), self.proof]
        words = {word for text in spoken for word in _WORD.findall(text)}
        of_states = frozenset[str]() if self.states is None else self.states.names
        for kind, names in (
            ("quantity", self.quantities),
            ("formula", self.where),
            ("sequence", self.sequences),
            ("round", self.rounds),
        ):
            if kind == "sequence" and of_states is None:  # states that a function plays may read any
                continue
            idle = sorted(set(names) - words)
            if idle:
                raise InvalidInput(f"the {kind} {idle[0]!r} decides nothing: no claim, hypothesis or line speaks of it")
        ends = {
            n for p in self.all_parameters.parameters for end in (p.low, p.high) if end is not None for n in end.names
        }
        idle = [] if of_states is None else sorted(set(self.parameters.names) - words - ends - of_states)
        if idle:
            raise InvalidInput(
                f"the parameter {idle[0]!r} decides nothing: claim, quantities and method do not speak of it"
            )

    def _require_fixed(self) -> None:
        """Rounds that are fixed are those of hypotheses."""
        for name in self.fixed:
            if name not in self.rounds:
                raise InvalidInput(f"{name!r} is said to be fixed, and is no round; there are {', '.join(self.rounds)}")
            if not any(name in said.names for said in self.hypotheses.values()):
                raise InvalidInput(f"{name!r} is said to be fixed, and no hypothesis speaks of it")

    def own_rounds(self, hypothesis: Sentence) -> frozenset[str]:
        """The rounds of a hypothesis that are the claim's own; it is about all others."""
        return hypothesis.own_rounds(frozenset(self.fixed), self._claimed) & self.rounds.keys()

    @cached_property
    def _claimed(self) -> frozenset[str]:
        """The rounds of the claims."""
        return frozenset().union(*(sentence.names for sentence in self.sentences)) & self.rounds.keys()

    def _require_added(self) -> None:
        """What is said to be added is there; fields of played states are looked for where these are played."""
        pieces = [
            end
            for p in self.parameters.parameters
            for end in (
                f"{p.low} {'<=' if p.low_closed else '<'} {p.name}",
                f"{p.name} {'<=' if p.high_closed else '<'} {p.high}",
            )
        ]
        fields = getattr(self.states, "names", frozenset()) is None
        unknown = [name for name in self.added if name not in {*self.given, *self.assumed, *pieces}]
        for name in unknown:
            if not (fields and name.isidentifier()):
                raise InvalidInput(
                    f"{name!r} is said to be added, and is no hypothesis and no piece of the region {self.region!r}; there are "
                    f"{', '.join([*self.given, *self.assumed, *pieces])}"
                )

    def skeleton(self) -> dict[str, Any]:
        """The term without derivations, classes and draws."""
        region = self.all_parameters
        real = [p for p in region.parameters if not p.integer]
        return {
            "format": TERM_FORMAT,
            "parameters": [
                {
                    "name": p.name,
                    "low": str(p.low),
                    "high": None if p.high is None else str(p.high),
                    "closed": [p.low_closed, p.high_closed],
                }
                for p in real
            ],
            "wholes": {p.name: [p.values()[0], p.values()[-1]] for p in region.parameters if p.integer},
            "auxiliary": list(self.own_auxiliary),
            "rounds": dict(self.rounds),
            "quantities": dict(self.quantities),
            "states": "" if self.states is None else str(self.states),
            "sequences": dict(self.sequences),
            "functions": {},
            "assumed": sorted(self.assumed),
            "given": dict(self.given),
            "drawn": [],
            "where": dict(self.where),
            "rests": {},
            "claims": list(self.claims),
            "lines": join_lines(self.proof),
            "derivations": {},
        } | ({"fixed": list(self.fixed)} if self.fixed else {})

    @property
    def stated_methods(self) -> Mapping[str, NamedMethod]:
        """The listed method, where states are its own."""
        return {"options": self.states.named_method} if isinstance(self.states, MethodStates) else {}

    @property
    def some_point(self) -> Mapping[str, Fraction]:
        """A point of the region."""
        fixed, region = next(iter(self.parameters.cases()))
        return {**fixed, **region.simple_points(1)[0]}

    def with_options(self, changed: Mapping[str, str]) -> Theorem:
        """The same on the method with other options."""
        return replace(self, states=replace(self.states, **changed))  # type: ignore[type-var]

    def with_claim(self, *claims: str) -> Theorem:
        """The same with another claim, and the same proof."""
        return replace(self, claim=claims[0] if len(claims) == 1 else claims)


def _split_claim(text: str) -> Iterator[str]:
    """q <= A and q <= B for q <= min(A, B), and A <= r and B <= r for max(A, B) <= r."""
    sentence = Sentence.parse(text)
    parts: list[Sentence] = []
    if sentence.sign in ("<=", "<") and sentence.exists is None:
        match sentence.sides:
            case (_, ast.Call(func=ast.Name(id="min"), args=sides)):
                parts = [replace(sentence, right=side) for side in sides]
            case (ast.Call(func=ast.Name(id="max"), args=sides), _):
                parts = [replace(sentence, left=side) for side in sides]
    if not parts:
        yield text
    for part in parts:
        yield from _split_claim(str(part))
