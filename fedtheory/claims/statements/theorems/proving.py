"""From a theorem's script to a proof term: derivations and multipliers that it leaves out are found, and all of it is checked without packages.

`verify_term` traces the rounds again and compares, so that a term that was kept is one of this theorem.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from fedtheory.claims.statements.theorems.claimed_bounds import round_of_quantity
from fedtheory.claims.statements.theorems.inside import require_inside
from fedtheory.claims.statements.theorems.larger_rates import list_with_cases
from fedtheory.claims.statements.theorems.more_quantities import list_more_quantities
from fedtheory.claims.statements.theorems.multipliers import find_factors
from fedtheory.claims.statements.theorems.potential_scripts import FoundScript, with_scripts
from fedtheory.claims.statements.theorems.potentials import find_scripts
from fedtheory.claims.statements.theorems.quantities import expect_quantity
from fedtheory.claims.statements.theorems.shifted import list_shifted, shift_back
from fedtheory.claims.statements.theorems.states import PlayedStates, StateTrace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import CannotTrace, FedtheoryError, InvalidInput
from fedtheory.proofs.checker.algebra import Quotient, write_index
from fedtheory.proofs.checker.check import Proved, check_term
from fedtheory.proofs.checker.formulas import Sentence
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.checker.refusals import Refused, TermRefused
from fedtheory.proofs.checker.terms import Checker, PremiseRow
from fedtheory.proofs.every_n.conditions import AFTER_DRAWS, AFTER_NOISE, is_relaxed
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.derivation import state_same_forms, store_forms
from fedtheory.proofs.parameters.derivation import states as states_this
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction, carry_over, field_over
from fedtheory.proofs.parameters.judge import Judgement, judge_system
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.regions.region import Parameter, Region
from fedtheory.tools.remembered import Remembered

#: seconds for the search of each derivation
LINE_SECONDS = 20.0
#: numbers of a sequence, from the first state's on, that rounds may read beside those of the states
AHEAD = 2


class Contradictory(TermRefused):
    """What is supposed of states contradicts itself, so that anything would follow."""


class NoScript(TermRefused):
    """There is no script, and none was found."""

    def __init__(self, why: Iterable[str]) -> None:
        told = "; ".join(dict.fromkeys(why))
        Refused.__init__(self, f"there is no script, and none was found{f': {told}' if told else ''}")
        self.line, self.rule = "-", "proof"


@dataclass(frozen=True)
class ProvedTheorem:
    """A theorem with its term: ``data`` is what the checker without packages accepted, ``proved`` what it says of it.

    ``resting``: what it says of the theorems that this one rests on.
    """

    theorem: Theorem
    data: Mapping[str, Any]
    proved: Proved
    resting: Mapping[str, Proved] = field(default_factory=dict)


def prove_theorem(theorem: Theorem, seconds: float = LINE_SECONDS) -> ProvedTheorem:
    """Check a theorem's script, and make its term; of a theorem without a script, one by potentials that are looked for.

    Raises
    ------
    Refused
        The script does not prove the claim; the message names line and rule, what was expected and what was found. Or none was found.
    InvalidInput
        A quantity cannot be evaluated on the states, or a hypothesis is not what the theorem inside says.
    """
    if not theorem.proof:
        return _prove_by_potentials(theorem, seconds)
    refused: TermRefused | None = None
    for one in list_with_cases(theorem):
        try:
            return _prove_script(one, seconds)
        except TermRefused as error:
            refused = refused or error
    raise refused or NoScript([])


def _prove_script(theorem: Theorem, seconds: float) -> ProvedTheorem:
    """By its script as it stands."""
    finder = _Finder(theorem, seconds)
    try:
        data = theorem.skeleton() | finder.classes()
    except CannotTrace as error:
        raise TermRefused("-", "states", "rounds that vectors follow, for all parameters", error) from None
    rests = {name: _prove_once(name, other, seconds) for name, other in theorem.rests.items()}
    data["rests"] = {name: other.data for name, other in rests.items()}
    resting = {name: other.proved for name, other in rests.items()}
    derivations: dict[str, list[Any]] = data["derivations"]
    if theorem.inside:
        require_inside(theorem)
        proofs = {name: _prove_once(name, one.theorem, seconds) for name, one in theorem.inside.items()}
        data["inside"] = {name: {"term": proofs[name].data, "last": one.last} for name, one in theorem.inside.items()}
        resting |= {f"inside {name}": other.proved for name, other in proofs.items()}
    try:
        found = check_term({**data, "derivations": derivations}, finder, resting=resting)
    except TermRefused as reason:
        if reason.rule != "inside":
            raise
        raise InvalidInput(f"the theorem inside is not what {reason.line} says: {reason}") from None
    data |= {"lines": list(found.lines), "derivations": finder.stored}
    return ProvedTheorem(theorem, data, check_term(data), resting)


def _prove_by_potentials(theorem: Theorem, seconds: float) -> ProvedTheorem:
    """By a potential of the theorem's quantities, or else of more; of several claims, one of each."""
    why: list[str] = []
    more = list_more_quantities(theorem)
    for own in (theorem, *([replace(theorem, quantities={**theorem.quantities, **more})] if more else [])):
        for asked, shifts in list_shifted(own):
            for scripts in _in_step([find_scripts(asked, k, why) for k in range(len(theorem.claims))]):
                try:
                    return prove_theorem(with_scripts(own, [shift_back(script, shifts) for script in scripts]), seconds)
                except TermRefused as error:
                    why.append(f"a script was found, and {error}")
    raise NoScript(why)


def _in_step(found: Sequence[Iterator[FoundScript]]) -> Iterator[list[FoundScript]]:
    """One of each, the next ones as long as any has a next; nothing where one has none."""
    last: list[FoundScript | None] = [None] * len(found)
    while True:
        nexts = [next(one, None) for one in found]
        last = [old if new is None else new for new, old in zip(nexts, last, strict=True)]
        scripts = [one for one in last if one is not None]
        if len(scripts) < len(found) or not any(nexts):
            return
        yield scripts


_proved = Remembered[ProvedTheorem]()


def _prove_once(name: str, theorem: Theorem, seconds: float) -> ProvedTheorem:
    """A theorem that others rest on, by this name."""
    if id(theorem) not in _proved:
        try:
            _proved[id(theorem)] = prove_theorem(theorem, seconds)
        except NoScript as reason:
            raise TermRefused(name, "rests", "a theorem that is proved", reason) from None
    return _proved[id(theorem)]


def verify_term(theorem: Theorem, data: Mapping[str, Any]) -> Proved:
    """Check a term that was kept, and that it is one of this theorem: everything but lines, multipliers and pivots is made anew and compared.

    Raises
    ------
    Refused
        It proves something else, or nothing.
    """
    return follow_term(theorem, data)[0]


Followed: TypeAlias = tuple[Proved, Mapping[str, Sequence[StateTrace | None]]]


def follow_term(theorem: Theorem, data: Mapping[str, Any], seen: dict[int, Followed] | None = None) -> Followed:
    """`verify_term`, and of each line the states that its derivations are about, in the order of these; None where a line is about numbers alone.

    A theorem without a script may have been proved by one that was found, in which lines speak of a round of their own.
    ``seen``: takes what was found of each term inside, by `id`, for a caller who asks for these, too, and changes none.
    """
    seen = {} if seen is None else seen
    if id(data) not in seen:
        seen[id(data)] = _follow_term(theorem, data, seen)
    return seen[id(data)]


def as_proved(theorem: Theorem, data: Mapping[str, Any]) -> Theorem:
    """The theorem with its script, which a term has of one that came without, and with the quantities, rounds and hypotheses that this speaks of."""
    if theorem.proof:
        return theorem
    every = {**theorem.quantities, **list_more_quantities(theorem)}
    used = {name: text for name, text in every.items() if name in data["quantities"]}
    rounds = {name: theorem.rounds.get(name, least) for name, least in data["rounds"].items()}
    given = {name: text for name, text in theorem.given.items() if name in data["given"]}
    proof = "\n".join(data["lines"])
    return replace(theorem, claim=theorem.claims, rounds=rounds, quantities=used, given=given, proof=proof)


def _follow_term(theorem: Theorem, data: Mapping[str, Any], seen: dict[int, Followed]) -> Followed:
    theorem = as_proved(theorem, data)
    own = theorem.skeleton() | _Finder(theorem, 0).classes()
    for key, stated in own.items():
        if key not in ("lines", "derivations", "rests", "inside") and data.get(key) != stated:
            raise TermRefused("-", "reading", f"{key} of the theorem: {stated}", data.get(key))
    if data["rests"].keys() != theorem.rests.keys():
        raise TermRefused(
            "-", "reading", f"theorems that it rests on: {', '.join(theorem.rests)}", ", ".join(data["rests"])
        )
    resting = {name: follow_term(other, data["rests"][name], seen)[0] for name, other in theorem.rests.items()}
    inside = data.get("inside", {})
    if {name: one["last"] for name, one in inside.items()} != {name: one.last for name, one in theorem.inside.items()}:
        raise TermRefused(
            "-", "reading", f"theorems about states inside of a round: {', '.join(theorem.inside)}", [*inside]
        )
    for name, one in theorem.inside.items():
        resting[f"inside {name}"] = follow_term(one.theorem, inside[name]["term"], seen)[0]
    require_inside(theorem)
    kept = {name: list(found) for name, found in data["derivations"].items()}
    comparer = _Comparer(theorem, 0, kept)
    check_term({**data, "derivations": {}}, comparer, resting=resting)
    return check_term(data, resting=resting), comparer.followed


@dataclass
class _Posed:
    """A line as a system over the rational functions of a region."""

    field: ParameterField
    system: System
    forms: dict[str, Form]
    at: dict[str, int]
    start: bool
    symbols: dict[str, str]
    trace: StateTrace | None

    def over(self, region: Region) -> tuple[ParameterField, System]:
        """The system over fewer parameters, or a wider region."""
        field = field_over(region)
        return field, self.system.map(lambda value: carry_over(value, field))


@dataclass
class _Finder:
    """What a script leaves out (`fedtheory.proofs.checker.terms.Helper`)."""

    theorem: Theorem
    seconds: float
    stored: dict[str, list[Any]] = field(default_factory=dict)
    _first: int | None = None

    def classes(self) -> dict[str, Any]:
        """Classes, names of hypotheses and draws, from one round of the states."""
        states = self.theorem.states
        if states is None:
            return {"functions": {}, "drawn": []}
        fixed, region = next(iter(with_sequences(self.theorem).cases()))
        numbers = {**fixed, **ParameterField(region).parameters()}
        trace = states.trace(self._told(numbers), self.theorem.parameters, 1, start=False, number=1)
        system = trace.system(Form())
        functions = {f.name: {"L": None if f.L is None else _show(f.L), "mu": _show(f.mu)} for f in system.functions}
        found: dict[str, Any] = {"functions": functions, "drawn": [_show(p) for p in trace.drawn]}
        if said := self._of_late_values(trace, self._told(numbers)):
            found["assumed"] = sorted({*self.theorem.assumed, *said})
        return found

    def _of_late_values(self, trace: StateTrace, numbers: Mapping[str, Any]) -> set[str]:
        """Names of what the class says of values of f, in quantities of the next state, at points that depend on draws."""
        if trace.space.sampling is None and trace.space.noise is None:
            return set()
        for name in self.theorem.quantities:
            with contextlib.suppress(FedtheoryError, TypeError, AttributeError, ZeroDivisionError):
                self._form(trace, 1, name, numbers)
        names = {name.rstrip("0123456789").rstrip() for name, _ in trace.system(Form()).hypotheses}
        return names & {AFTER_DRAWS, AFTER_NOISE}

    def multipliers(self, checker: Checker, line: ProofLine, want: Quotient, rows: Sequence[PremiseRow]) -> list[str]:
        """Those of a combination."""
        return find_factors(checker, line, want, rows)

    def derivation(self, checker: Checker, line: ProofLine, goal: Sentence, region: str) -> Mapping[str, Any]:
        """A derivation of one line, on its region or one that holds it."""
        judged = None  # on the region of the line, or where it was proved; why it was not on a wider one says nothing of the line
        try:
            full, others = self._posed(checker, goal, region)
            if goal.sign == "==":
                data = _store(full, None)
                self.stored.setdefault(line.name, []).append(data)
                return data
            for over, system in others:
                tried = judge_system(over, system, self.seconds)
                if judged is None or tried.derivation is not None:
                    judged = tried
                if tried.derivation is not None and "vacuous" not in tried.log:
                    break
        except (FedtheoryError, TypeError, AttributeError, ZeroDivisionError) as error:
            raise TermRefused(line.name, line.rule, f"{goal}, about quantities of the states", error) from None
        if judged is None or judged.derivation is None:
            raise TermRefused(line.name, line.rule, f"{goal} in one round", _why_not(judged, full))
        if "vacuous" in judged.log:
            raise Contradictory(line.name, line.rule, "hypotheses that hold together", judged.log["vacuous"])
        data = _store(full, judged.derivation)
        self.stored.setdefault(line.name, []).append(data)
        return data

    def _posed(
        self, checker: Checker, goal: Sentence, region: str
    ) -> tuple[_Posed, Iterable[tuple[ParameterField, System]]]:
        """A line over all parameters; and over those that its system speaks of, and then without upper ends that it may not need."""
        own = (
            Region.parse(region) if region else self.theorem.all_parameters.fix({n: Fraction(k) for n, k in goal.fixed})
        )
        own = Region(tuple(p for p in own.parameters if not p.integer))
        full = self._pose(checker, goal, own)
        small = full.field.region.only(_names_used(full.system))
        wide = Region(tuple(Parameter(p.name, p.low, None, p.low_closed) for p in small.parameters))
        chosen = [small, wide] if wide != small and not region else [small]
        return full, (full.over(one) for one in chosen)

    def _pose(self, checker: Checker, goal: Sentence, own: Region) -> _Posed:
        """The system of a line, on the region of the parameters, rounds and sequences that it speaks of."""
        left = -checker.gap(goal)
        inside = checker.quantities_in(left)
        offsets = {atom: round_of_quantity(atom) for atom in sorted(inside)}
        variables = sorted({v for v, _ in offsets.values() if v is not None})
        start, last = bool(offsets) and not variables, max((k for _, k in offsets.values()), default=0)
        self._require_rounds(variables, last)
        symbols = self._symbols(left, variables, last)
        ends = [str(own)] if own.parameters else []
        ends += [_within(self.theorem.sequences[atom.partition("[")[0]], name) for name, atom in symbols.items()]
        numbered = self._is_numbered(variables)
        ends += [
            f"{low} <= {name}"
            for name, low in self.theorem.rounds.items()
            if (name in left.atoms or (numbered and name in variables)) and name not in own.names
        ]
        parameters = field_over(Region.parse(", ".join(ends)))
        at = dict(goal.fixed)
        numbers = {**{n: Fraction(k) for n, k in at.items()}, **parameters.parameters()}
        rename = {atom: name for name, atom in symbols.items()}
        trace = None
        if self.theorem.states is not None and offsets:
            number = numbers[variables[0]] if numbered else None
            trace = self.theorem.states.trace(
                self._told(numbers), self.theorem.parameters, last, start=start, number=number
            )
        conclusion, rest, forms = Form(), left, dict[str, Form]()
        for atom, (_, k) in offsets.items():
            parts = rest.linear_in(atom)
            if parts is None:
                raise InvalidInput(f"{goal} is not linear in {atom}")
            rest, factor = parts
            name = f"{atom.partition('[')[0]}[{k}]"
            assert trace is not None
            forms[name] = self._form(trace, k, atom.partition("[")[0], self._told(numbers))
            conclusion = conclusion + forms[name] * _read(parameters, factor, rename)
        conclusion = conclusion + _read(parameters, rest, rename)
        system = trace.system(conclusion) if trace is not None else System((), (), 0, (), (), conclusion)
        return _Posed(parameters, system, forms, at, start, symbols, trace)

    def _told(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """What states and quantities know: neither auxiliary parameters, which lines may choose, nor the number of the round."""
        hidden = {*self.theorem.own_auxiliary, *self.theorem.rounds}
        return {name: value for name, value in numbers.items() if name not in hidden}

    def _is_numbered(self, variables: Sequence[str]) -> bool:
        """Whether a line about any state has to know which round it is."""
        states = self.theorem.states
        if states is None or not variables or not states.is_numbered(self.theorem.parameters):
            return False
        if len(variables) > 1:
            raise InvalidInput(f"rounds depend on their number, and a line speaks of the rounds {', '.join(variables)}")
        return True

    def _require_rounds(self, variables: Sequence[str], last: int) -> None:
        """Lines about any state speak of rounds from which on states have what is taken of any state, and one follows another."""
        states = self.theorem.states
        if states is None or not variables:
            return
        if last == 0 and isinstance(states, PlayedStates) and states.start is None and states.begins is None:
            first = states.least
        else:
            if self._first is None:
                self._first = find_first_round(self.theorem)
            first = self._first
        for name in variables:
            if self.theorem.rounds[name] < first:
                raise InvalidInput(
                    f"any state has what lines take of it from round {first} on; let {name} begin there, and not at {self.theorem.rounds[name]}"
                )

    def _symbols(self, left: Quotient, variables: Sequence[str], last: int) -> dict[str, str]:
        """What ``t_0``, ``t_1``, ... stand for, which rounds may read: the numbers t[n], t[n+1], ... of a sequence from the line's round on."""
        found = {}
        for name in self.theorem.sequences:
            for k in range(last + AHEAD):
                index = write_index({variables[0]: 1} if variables else {}, k)
                found[f"{name}_{k}"] = f"{name}[{index}]"
        for atom in sorted(left.atoms):
            if atom.partition("[")[0] in self.theorem.sequences and atom not in found.values():
                found["_".join(re.findall(r"\w+", atom.replace("-", "m")))] = atom
        return found

    def _form(self, trace: StateTrace, k: int, name: str, numbers: Mapping[str, Any]) -> Form:
        """A quantity of the k-th state: its expectation over the draws."""
        text, formulas = self.theorem.quantities[name], self.theorem.formulas
        found: Form = expect_quantity(text, trace.space, trace.states[k], numbers, formulas, Form())
        return found


@dataclass
class _Comparer(_Finder):
    """Gives out the derivations that were kept, each once it was seen that it states what the states, traced again, make of its line."""

    followed: dict[str, list[StateTrace | None]] = field(default_factory=dict)

    def multipliers(self, checker: Checker, line: ProofLine, want: Quotient, rows: Sequence[PremiseRow]) -> list[str]:
        """None are looked for."""
        raise TermRefused(line.name, line.rule, "multipliers", "none")

    def derivation(self, checker: Checker, line: ProofLine, goal: Sentence, region: str) -> Mapping[str, Any]:
        """The next one of the line."""
        kept = self.stored.get(line.name, [])
        if not kept:
            raise TermRefused(line.name, line.rule, "a stored derivation", "none")
        data = kept.pop(0)
        full, others = self._posed(checker, goal, region)
        same = goal.sign == "==" or any(states_this(over, system, data["system"]) for over, system in others)
        own = _store(full, None)
        same = same and all(data[key] == own[key] for key in ("at", "start", "symbols"))
        if not (same and state_same_forms(own["quantities"], data["quantities"])):
            raise TermRefused(
                line.name, line.rule, "a derivation about quantities of these states", "one about other states"
            )
        self.followed.setdefault(line.name, []).append(full.trace)
        return data  # type: ignore[no-any-return]


def find_first_round(theorem: Theorem) -> int:
    """The round from which on a state of the theorem has what lines take of any state; that every round leaves such a state is proved here.

    Raises
    ------
    CannotTrace
        It was not shown.
    """
    if theorem.states is None:
        return 0
    return theorem.states.first_round(with_sequences(theorem, AHEAD + 2), tuple(theorem.sequences))


def with_sequences(theorem: Theorem, count: int = AHEAD) -> Region:
    """The parameters, and the first ``count`` numbers of the sequences."""
    ends = [str(theorem.parameters)] if theorem.parameters.parameters else []
    ends += [_within(text, f"{name}_{k}") for name, text in theorem.sequences.items() for k in range(count)]
    return Region.parse(", ".join(ends))


def _why_not(judged: Judgement | None, posed: _Posed) -> str:
    if judged is not None and judged.instance is not None:
        at = ", ".join(f"{name} = {number}" for name, number in judged.instance.point.items())
        if is_relaxed(posed.system.hypotheses):
            return f"no derivation from what is known of values at points that depend on who takes part, at {at} to begin with"
        return f"refuted at {at or 'no parameters'}: left side less right side {judged.instance.left} > 0"
    for f in posed.system.functions:
        room = None if f.L is None else posed.field.sign(f.L - f.mu)
        if f.L is not None and not (room and room.direction > 0 and room.strict):
            mu, L = _show(f.mu), _show(f.L)
            return f"no derivation, and {mu} < {L} was not shown: where they are equal there is no interpolation inequality; say {mu} < {L}"
    return "no derivation"


def _read(parameters: ParameterField, quotient: Quotient, rename: Mapping[str, str]) -> Any:
    unknown = sorted(quotient.atoms - set(parameters.names) - rename.keys())
    if unknown:
        raise InvalidInput(
            f"{unknown[0]} is no rational function of parameters and rounds; give it a name as a sequence of numbers"
        )
    return parameters.read(quotient.text(lambda atom: rename.get(atom, atom)))


def _numbers_of(system: System) -> Iterable[Any]:
    forms = [system.conclusion, *(form for _, form in system.hypotheses)]
    for form in forms:
        yield from (*form.gram.values(), *form.values.values(), form.constant)
    for f in system.functions:
        yield from (f.L, f.mu)
        for e in f.evaluations:
            yield from (*e.x.terms.values(), *e.g.terms.values())


def _within(text: str, name: str) -> str:
    """The range of a number of a sequence, "1" or "1..1/r", as a piece of a region."""
    low, _, high = text.partition("..")
    return f"{low} <= {name} <= {high}" if high else f"{low} <= {name}"


def _names_used(system: System) -> set[str]:
    """Parameters that occur in the numbers of a system."""
    found: set[str] = set()
    for number in _numbers_of(system):
        if isinstance(number, RationalFunction):
            for part in (number.element.numer, number.element.denom):
                for powers, _ in part.terms():
                    found |= {name for name, power in zip(number.field.names, powers, strict=False) if power}
    return found


def _show(number: Any) -> str:
    return str(number.expression) if isinstance(number, RationalFunction) else str(Fraction(number))


def _store(posed: _Posed, derivation: Mapping[str, Any] | None) -> dict[str, Any]:
    found = {
        "at": posed.at,
        "start": posed.start,
        "symbols": posed.symbols,
        "quantities": store_forms(posed.field, posed.forms),
    }
    return found if derivation is None else {**found, "system": dict(derivation)}
