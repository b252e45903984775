"""What a claim says of every round, as far as a potential can prove it: a bound of round N, or of one of the rounds up to it, by the start.

    q[N] <= s(N) start[0]                                       weights of the potential depend on the round
    q[N] <= C rho^N start[0] + c                                they do not, and it falls by rho; c pays for what is given of every round
    exists t in a..N: q[t] <= C start[0]/(N - a + 1) + c        they do not, and each round is paid for by what the potential falls
    q[N] == rho^N q[0]                                          q is the potential itself, and every round makes rho q of it
    q[N] -> 0 as N                                              every round is paid for by what the potential falls, which begins anywhere

Everything is divided by the factor of the first quantity of the start.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.theorems.more_quantities import free_name
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.algebra import (
    Monomial,
    Quotient,
    names_of_atom,
    value_of,
    whole_number_of_rounds,
    write_index,
)
from fedtheory.proofs.checker.formulas import Exists, Sentence, Unreadable, indexed, read, show_tree, substitute
from fedtheory.proofs.checker.signature import Signature
from fedtheory.proofs.checker.terms import Checker

#: in the place of a quantity: what is paid of what states suppose, such as the variance of noise
OF_NOISE = ""
ONE, NOTHING = Quotient.number(1), Quotient.number(0)
Factors = Mapping[str, Quotient]  # by quantity


@dataclass(frozen=True)
class Given:
    """A hypothesis about every round ``variable``, or, where that is empty, about the first: sum_j factors_j q_j[t] <= most.

    ``later``: whether a step takes it of the round after it (1) or of its own (0), as always where ``most`` is not zero.
    """

    hypothesis: str
    factors: Factors
    most: Quotient
    variable: str = ""
    later: int = 0

    @property
    def quantity(self) -> str:
        """Its quantity, of which it speaks alone."""
        (name,) = self.factors
        return name


@dataclass(frozen=True)
class SomeRound:
    """``exists variable in first..N+ahead``: how many rounds that are, as a number of N.

    ``summed``: where the claim is about their sum; then ``kept`` are the factors of what it adds of the round N + ``kept_at``. ``vanishes``: where
    the sum has any bound, so that its terms vanish.
    """

    variable: str
    first: int
    ahead: int
    count: Quotient
    summed: bool = False
    kept: Factors = field(default_factory=dict)
    kept_at: int | None = None
    vanishes: bool = False


@dataclass(frozen=True)
class ClaimedBound:
    """sum_j measure_j q_j[N] <= sum_j start_j q_j[0] and what is paid.

    ``rate``: of a potential that falls by this factor rho; then ``measure`` has no N, and the right side is rho^N start + ``constant``, where rho^N
    is ``fallen``. ``some``: the measure, of one quantity, is that of some round, as a share of what is summed. ``paid``: how much of what hypotheses
    bound in every round the potential may rise by in a round, by quantity, or by the name in ``related``. ``of_start``: the hypothesis by which a
    number on the right side is one of the start.
    ``above_zero``: hypotheses by which quantities are at least zero in every round. ``related``: those of which a step takes a multiple that is
    looked for, by a name that no quantity has. ``step``: of a claim about a round and the next, left side less right side, by quantity and whether
    it is of the next.
    """

    variable: str
    least: int
    measure: Factors
    start: Factors
    of_start: tuple[Given, ...] = ()
    rate: Quotient | None = None
    fallen: Quotient = field(default_factory=lambda: ONE)
    constant: Quotient = field(default_factory=lambda: NOTHING)
    some: SomeRound | None = None
    paid: Factors = field(default_factory=dict)
    given: Mapping[str, Given] = field(default_factory=dict)
    above_zero: Mapping[str, Given] = field(default_factory=dict)
    related: Mapping[str, Given] = field(default_factory=dict)
    step: Mapping[tuple[str, int], Quotient] = field(default_factory=dict)

    @property
    def hypothesis(self) -> str:
        """The name of the hypothesis about the start; none where the right side speaks of the start itself."""
        return self.of_start[0].hypothesis if self.of_start else ""

    @property
    def bounded(self) -> dict[str, Quotient]:
        """The numbers of hypotheses about every round, by quantity, or by the name in ``related``."""
        of_one = {name: one.most for name, one in self.given.items()}
        return of_one | {name: one.most for name, one in self.related.items() if not one.most.zero}

    def with_paid(self, paid: Factors) -> ClaimedBound:
        """The same with what is paid, and without the hypotheses for whose numbers nothing is."""
        related = {name: one for name, one in self.related.items() if one.most.zero or name in paid}
        return replace(self, paid=paid, related=related)

    def readings(self) -> Iterator[ClaimedBound]:
        """With all that may be paid for hypotheses that compare quantities and have a number, and with some of it."""
        paid = {name: one for name, one in self.related.items() if name in self.paid}
        if paid:
            related = {name: one for name, one in self.related.items() if name not in paid}
            yield replace(self, given={**self.given, **paid}, related=related)
        yield self

    @property
    def of_number(self) -> bool:
        """Whether weights depend on the round's number."""
        return self.rate is None and self.some is None

    @property
    def is_of_itself(self) -> bool:
        """Whether the start is what is measured, times a power, and no more."""
        alone = (
            self.constant.zero and not self.of_start and self.some is None and self.measure.keys() == self.start.keys()
        )
        return alone and all((factor - self.start[name]).zero for name, factor in self.measure.items())


def read_checker(theorem: Theorem) -> Checker:
    """The checker's reading of a theorem, without its proof."""
    return Checker(Signature.read(theorem.skeleton()), theorem.claims, {})


def read_bound(theorem: Theorem, sentence: Sentence) -> ClaimedBound | None:
    """A claim as such a bound; None where it is something else."""
    if theorem.states is None or theorem.sequences or any(p.integer for p in theorem.parameters.parameters):
        return None
    if sentence.sign == "->":
        return _read_limit(theorem, sentence)
    if sentence.sign not in ("<=", "==") or sentence.fixed:
        return None
    variables = sorted(sentence.names & theorem.rounds.keys() - _bound_names(sentence))
    if len(variables) != 1:
        return None
    reader = _Reader(theorem, read_checker(theorem), variables[0])
    of_one = _of_some_summand(sentence, theorem.quantities)
    if of_one is not None and of_one[0].exists is not None:
        bound = reader.of_sum(*of_one)
    else:
        bound = reader.of_some_round(sentence, sentence.exists) if sentence.exists else reader.of_last_round(sentence)
    return None if bound is None or (sentence.sign == "==" and not bound.is_of_itself) else bound


def _read_limit(theorem: Theorem, sentence: Sentence) -> ClaimedBound | None:
    """Of a quantity of round N that tends to zero: what a bound of its sum says."""
    name = sentence.to_infinity
    reader = _Reader(theorem, read_checker(theorem), name)
    measure, rest = reader.take(reader.checker.gap(sentence), name)
    if not rest.zero or sentence.along or sentence.fixed or [*measure.values()] != [-ONE]:
        return None
    taken = {*theorem.rounds, *theorem.all_parameters.names, *theorem.quantities, *theorem.where}
    some = SomeRound(free_name("t", taken), reader.least, 0, ONE, summed=True, vanishes=True)
    above = {one.quantity: one for one in reader.list_above_zero()}
    measured, related = dict.fromkeys(measure, ONE), reader.find_related()
    return ClaimedBound(name, reader.least, measured, {}, some=some, above_zero=above, related=related)


def read_step(theorem: Theorem, sentence: Sentence) -> ClaimedBound | None:
    """A claim about quantities of a round and the next that hypotheses compare in every round; None where it is something else."""
    variables = sorted(sentence.names & theorem.rounds.keys())
    if (
        theorem.states is None
        or sentence.sign != "<="
        or sentence.exists is not None
        or sentence.fixed
        or len(variables) != 1
    ):
        return None
    reader = _Reader(theorem, read_checker(theorem), variables[0])
    rest, found = reader.checker.gap(sentence), dict[tuple[str, int], Quotient]()
    for later in (0, 1):
        spoken, rest = reader.take(rest, write_index({variables[0]: 1}, later))
        found |= {(name, later): -factor for name, factor in spoken.items()}
    related = reader.find_related()
    bound = ClaimedBound(variables[0], reader.least, {}, {}, rate=ONE, related=related, step=found)
    paid = reader.share(rest, bound.bounded)
    if not related or paid is None or any(speaks_of(e, variables[0]) for e in (rest, *found.values())):
        return None
    return bound.with_paid(paid)


def number_without(gap: Quotient, quantities: Iterable[str]) -> Quotient:
    """What of a linear formula speaks of no quantity."""
    for atom in quantities:
        gap, _ = gap.linear_in(atom) or (NOTHING, NOTHING)
    return gap


def share_number(theorem: Theorem, checker: Checker, number: Quotient) -> dict[str, tuple[Given, Quotient]]:
    """A number as multiples of what hypotheses about every round bound quantities by, by quantity; nothing where it is not all of that kind."""
    reader = _Reader(theorem, checker, "")
    given = {one.quantity: one for one in reader.list_given() if one.variable}
    shares = reader.share(number, {name: one.most for name, one in given.items()}) or {}
    return {name: (given[name], factor) for name, factor in shares.items() if name != OF_NOISE}


def list_lower_bounds(theorem: Theorem) -> Iterator[tuple[str, str]]:
    """Quantities and the numbers below them, of hypotheses about every round such as ``f_inf <= F[t]``."""
    for one, factor in _Reader(theorem, read_checker(theorem), "").list_of_one_quantity():
        if one.variable and factor == ONE and not one.most.zero:
            yield one.quantity, (-one.most).text()


def round_of_quantity(atom: str) -> tuple[str | None, int]:
    """The round of a quantity: ``("t", 1)`` of ``d[t+1]``, and ``(None, 2)`` of ``d[2]``."""
    node, *others = indexed(read(atom))
    if others:
        raise InvalidInput(f"{atom} speaks of several quantities")
    variables, k = whole_number_of_rounds(value_of(node.slice), show_tree(node.slice))
    if not variables:
        return None, k
    if len(variables) > 1 or any(factor != 1 for factor in variables.values()):
        raise InvalidInput(f"{atom} is no quantity of a round t, t+1, ...")
    return next(iter(variables)), k


def _bound_names(sentence: Sentence) -> set[str]:
    return {sentence.exists.variable} if sentence.exists else set()


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: str, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if isinstance(node, ast.expr) and show_tree(node) == self.old else self.generic_visit(node)


def with_piece(tree: ast.expr, old: ast.expr, new: ast.expr) -> ast.expr:
    """A tree with another piece in the place of one of its own."""
    copy = ast.parse(show_tree(tree), mode="eval").body
    changed: ast.expr = _Replaced(show_tree(old), new).visit(copy)
    return changed


def _of_some_summand(sentence: Sentence, quantities: Iterable[str]) -> tuple[Sentence, Quotient, Quotient] | None:
    """Of "a sum is at most R", a weaker sentence: "one of its terms is at most R through their number"; the sum's factor, and what is added.

    None where the left side has no such sum.
    """
    found = [node for node in ast.walk(sentence.left) if isinstance(node, ast.Call) and show_tree(node.func) == "sum"]
    match found:
        case [ast.Call(args=[term, ast.Name(id=t), low, high])] if sentence.exists is None:
            rest = value_of(with_piece(sentence.left, found[0], ast.Constant(0)))
            factor = value_of(with_piece(sentence.left, found[0], ast.Constant(1))) - rest
            if not _is_of_round(value_of(term), t, quantities):
                return None
            number = f"(({show_tree(high)}) - ({show_tree(low)}) + 1)"
            right = read(f"({show_tree(sentence.right)})/(({factor.text()})*{number})")
            return replace(sentence, left=term, right=right, exists=Exists(t, low, high)), factor, rest
    return None


def _is_of_round(term: Quotient, t: str, quantities: Iterable[str]) -> bool:
    """Whether it is a sum of quantities of a round, with factors that are the same in all rounds, and nothing else."""
    for name in quantities:
        term, factor = term.linear_in(f"{name}[{t}]") or (ONE, ONE)
        if speaks_of(factor, t):
            return False
    return term.zero


def cancel(quotient: Quotient) -> Quotient:
    """The same number in lowest terms, which the checker's own algebra does not look for; with roots, as it is."""
    import sympy

    symbols = _symbols_of(quotient)
    if not quotient.below or symbols is None:
        return quotient
    return _of_sympy(sympy.cancel(_to_sympy(quotient, symbols)), symbols)


def _symbols_of(quotient: Quotient) -> dict[str, Any] | None:
    """SymPy's symbols for its atoms; None where it has roots of them."""
    import sympy

    every = [at for part in (quotient.numerator, *map(dict, quotient.below)) for at in part]
    if any(power != int(power) for at in every for _, power in at):
        return None
    return {name: sympy.Symbol(f"x_{k}") for k, name in enumerate(sorted(quotient.atoms))}


def _to_sympy(quotient: Quotient, symbols: Mapping[str, Any]) -> Any:
    import sympy

    def polynomial(terms: Iterable[tuple[Monomial, Fraction]]) -> Any:
        products = (sympy.prod(symbols[name] ** int(power) for name, power in at) * value for at, value in terms)
        return sympy.Add(*products)

    below = sympy.prod(polynomial(key) ** power for key, power in quotient.below.items())
    return polynomial(quotient.numerator.items()) / below


def _of_sympy(expression: Any, symbols: Mapping[str, Any]) -> Quotient:
    import sympy

    above, below = (sympy.Poly(part, *symbols.values()).terms() for part in sympy.fraction(expression))
    made = [
        Quotient(
            {
                tuple((name, power) for name, power in zip(symbols, powers, strict=True) if power): Fraction(
                    int(c.p), int(c.q)
                )
                for powers, c in terms
            }
        )
        for terms in (above, below)
    ]
    return made[0] / made[1]


def speaks_of(quotient: Quotient, name: str) -> bool:
    """Whether an atom of it does."""
    return any(name in names_of_atom(atom) for atom in quotient.atoms)


@dataclass(frozen=True)
class _Reader:
    theorem: Theorem
    checker: Checker
    variable: str

    @property
    def least(self) -> int:
        return self.theorem.rounds[self.variable]

    def of_last_round(self, sentence: Sentence) -> ClaimedBound | None:
        measure, rest = self.take(self.checker.gap(sentence), write_index({self.variable: 1}, 0))
        found = self._over_start(measure, rest)
        if found is None:
            return None
        bound, constant, unit = found
        rates = {name: self._fall(factor) for name, factor in bound.measure.items()}
        rate = next(iter(rates.values()))
        if rate is None or any(other is None or not (other - rate).zero for other in rates.values()):
            return bound if constant.zero else None
        if rate == ONE and constant.zero:
            return bound
        measure = {name: self._at_zero(factor) for name, factor in bound.measure.items()}
        some = next(iter(measure))
        fallen = measure[some] / bound.measure[some]
        constant = constant / unit * fallen
        paid = self.share(constant * (ONE - rate), bound.bounded)
        if paid is None or speaks_of(constant, self.variable):
            return None
        with_rate = replace(bound, measure=measure, rate=rate, fallen=fallen, constant=constant)
        return with_rate.with_paid(paid)

    def of_sum(self, of_one: Sentence, factor: Quotient, added: Quotient) -> ClaimedBound | None:
        """A sum with its factor, and quantities of a round that are added to it, are at most the start."""
        assert of_one.exists is not None
        bound = self.of_some_round(of_one, of_one.exists, summed=True)
        if bound is None or bound.some is None or added.zero:
            return bound
        rounds = {round_of_quantity(atom) for atom in self.checker.quantities_in(added)}
        if len(rounds) != 1:
            return None
        ((name, at),) = rounds
        some = next(iter(bound.measure))
        _, own = self.checker.value(of_one.left).linear_in(f"{some}[{of_one.exists.variable}]") or (NOTHING, NOTHING)
        unit = own * factor / bound.measure[some]
        kept, number = self.take(added, write_index({self.variable: 1}, at))
        kept = {quantity: e / unit for quantity, e in kept.items()}
        if name != self.variable or not number.zero or any(speaks_of(e, name) for e in kept.values()):
            return None
        return replace(bound, some=replace(bound.some, kept=kept, kept_at=at))

    def of_some_round(self, sentence: Sentence, exists: Exists, *, summed: bool = False) -> ClaimedBound | None:
        low, high = (whole_number_of_rounds(value_of(end), show_tree(end)) for end in (exists.low, exists.high))
        if low[0] or high[0] != {self.variable: 1} or self.least + high[1] < low[1]:
            return None
        count = Quotient.atom(self.variable) + Quotient.number(high[1] - low[1] + 1)
        measure, rest = self.take(self.checker.gap(sentence), exists.variable)
        found = self._over_start(measure, rest)
        if found is None:
            return None
        bound, constant, unit = found
        measure = {name: cancel(factor / count) for name, factor in bound.measure.items()}
        paid = self.share(cancel(constant / unit / count), bound.bounded)
        if paid is None or any(speaks_of(factor, self.variable) for factor in (*measure.values(), *paid.values())):
            return None
        some = SomeRound(exists.variable, low[1], high[1], count, summed)
        return replace(bound, measure=measure, some=some).with_paid(paid)

    def take(self, rest: Quotient, index: str) -> tuple[dict[str, Quotient], Quotient]:
        """The factors of quantities of one round, and what is left."""
        found = {}
        for name in self.theorem.quantities:
            parts = rest.linear_in(f"{name}[{index}]")
            if parts is None:
                raise Unreadable(f"{name} does not occur linearly")
            rest, factor = parts
            if not factor.zero:
                found[name] = factor
        return found, rest

    def _over_start(self, measure: Factors, rest: Quotient) -> tuple[ClaimedBound, Quotient, Quotient] | None:
        """Measure and start, divided by the factor of the start's first quantity; the number that is left; and that factor."""
        start, rest = self.take(rest, "0")
        if self.checker.quantities_in(rest) or not measure:
            return None
        known = list(self.list_given())
        given, related = {one.quantity: one for one in known if one.variable}, self.find_related()
        moving, constant = _split(rest, self.variable)
        if moving.zero and not start and not given and all(one.most.zero for one in related.values()):
            moving, constant = constant, moving
        of_start: tuple[Given, ...] = ()
        if not moving.zero:
            of_start = tuple(one for one in known if not one.variable and one.quantity not in start)[:1]
            if not of_start:
                return None
            start = {**start, of_start[0].quantity: moving / of_start[0].most}
        if not start:
            return None
        unit = cancel(next(iter(start.values())))
        over = {name: cancel(factor / unit) for name, factor in start.items()}
        if any(speaks_of(factor, self.variable) for factor in over.values()):
            return None
        of_round = {name: -factor / unit for name, factor in measure.items()}
        above = {one.quantity: one for one in self.list_above_zero()}
        found = ClaimedBound(self.variable, self.least, of_round, over, of_start, given=given, above_zero=above)
        return replace(found, related=related), constant, unit

    def _at_zero(self, factor: Quotient) -> Quotient:
        return value_of(substitute(read(factor.text()), {self.variable: ast.Constant(0)}))

    def _fall(self, factor: Quotient) -> Quotient | None:
        """By what a factor falls from round to round, where that is the same in all."""
        later = value_of(substitute(read(factor.text()), {self.variable: read(f"{self.variable}+1")}))
        found = factor / later
        return None if speaks_of(found, self.variable) else found

    def share(self, constant: Quotient, bounded: Factors) -> dict[str, Quotient] | None:
        """A number as a sum of multiples of numbers that hypotheses have; None where a part is of none."""
        found: dict[str, Quotient] = {}
        for name, most in bounded.items():
            own = {at: v for at, v in constant.numerator.items() if most.atoms <= {atom for atom, _ in at}}
            part = Quotient(own, constant.below)
            if own and most.atoms:
                found[name], constant = part / most, constant - part
        if not constant.zero and getattr(self.theorem.states, "sigma", None) is not None:
            return {**found, OF_NOISE: constant}
        return found if constant.zero else None

    def list_given(self) -> Iterator[Given]:
        """Hypotheses such as ``dist2[0] <= R**2`` and ``spread[t] <= zeta**2``."""
        for one, factor in self.list_of_one_quantity():
            if factor == -ONE and not one.most.zero:
                yield one

    def list_above_zero(self) -> Iterator[Given]:
        """Hypotheses such as ``0 <= gap[t]``."""
        for one, factor in self.list_of_one_quantity():
            if one.variable and factor == ONE and one.most.zero:
                yield one

    def list_of_one_quantity(self) -> Iterator[tuple[Given, Quotient]]:
        """Hypotheses about one quantity of a round, right side less left side, and with which factor they speak of it."""
        for hypothesis, spoken, most, of_round in self._list_linear():
            if len(spoken) == 1:
                ((name, factor),) = spoken.items()
                yield Given(hypothesis, {name: -factor}, most, of_round), factor

    def find_related(self) -> dict[str, Given]:
        """Hypotheses about every round that compare its quantities with each other, or one with zero; those of the round after a step first."""
        return {
            f"given {hypothesis} {later}": Given(hypothesis, {q: -e for q, e in said.items()}, most, of_round, later)
            for later in (1, 0)
            for hypothesis, said, most, of_round in self._list_linear()
            if of_round and said and (most.zero or (len(said) > 1 and not later))
            if not any(speaks_of(e, of_round) for e in said.values())
        }

    def _list_linear(self) -> Iterator[tuple[str, Factors, Quotient, str]]:
        """Hypotheses about one round: right side less left side as factors of quantities, and a number; and the round, empty for the first."""
        for hypothesis, said in self.theorem.hypotheses.items():
            rounds = sorted(said.names & self.theorem.rounds.keys())
            if said.sign != "<=" or said.exists is not None or len(rounds) > 1:
                continue
            spoken, most = self.take(self.checker.gap(said), rounds[0] if rounds else "0")
            speaks = bool(rounds) and speaks_of(most, rounds[0])
            if not speaks and not self.checker.quantities_in(most):
                yield hypothesis, spoken, most, rounds[0] if rounds else ""


def _split(quotient: Quotient, name: str) -> tuple[Quotient, Quotient]:
    """What speaks of a name, as partial fractions in it where it stands below a line, and the rest."""
    if speaks_of(Quotient(ONE.numerator, quotient.below), name):
        return _split_fractions(quotient, name)
    moving = {at: v for at, v in quotient.numerator.items() if any(name in names_of_atom(atom) for atom, _ in at)}
    staying = {at: v for at, v in quotient.numerator.items() if at not in moving}
    return Quotient(moving, quotient.below), Quotient(staying, quotient.below)


def _split_fractions(quotient: Quotient, name: str) -> tuple[Quotient, Quotient]:
    import sympy

    symbols = _symbols_of(quotient)
    if symbols is None or any(name in names_of_atom(atom) for atom in quotient.atoms - {name}):
        return quotient, NOTHING
    parts = sympy.Add.make_args(sympy.apart(sympy.cancel(_to_sympy(quotient, symbols)), symbols[name]))
    staying = sympy.Add(*(part for part in parts if not part.has(symbols[name])))
    constant = _of_sympy(sympy.together(staying), symbols)
    return cancel(quotient - constant), constant
