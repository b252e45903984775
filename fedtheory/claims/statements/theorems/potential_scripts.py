"""The script of a potential: lines that prove a bound, as an author would write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fedtheory.claims.statements.theorems.claimed_bounds import OF_NOISE, ONE, ClaimedBound, Factors, Given
from fedtheory.claims.statements.theorems.more_quantities import free_name
from fedtheory.claims.statements.theorems.potential_programs import Shape, WeightPlace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.proofs.checker.algebra import Quotient, value_of
from fedtheory.proofs.checker.formulas import names, read, show_tree

Weights = Mapping[WeightPlace, Any]  # coefficients that are not zero, as SymPy expressions in parameters


@dataclass(frozen=True)
class FoundScript:
    """Lines that prove a claim, and the rounds of which they speak."""

    lines: Sequence[str]
    rounds: Mapping[str, int]


def with_scripts(theorem: Theorem, scripts: Sequence[FoundScript]) -> Theorem:
    """The theorem with scripts of its claims, and without the quantities, rounds and hypotheses that it does not need."""
    lines = [line for script in scripts for line in script.lines]
    named = _names_in(lines)
    every = bool(theorem.sequences)  # a sequence may stand in hypotheses alone
    given = {name: text for name, text in theorem.given.items() if every or name in named or name in theorem.inside}
    spoken = named | _names_in((*theorem.claims, *given.values()))
    quantities = {name: text for name, text in theorem.quantities.items() if name in spoken}
    rounds = {name: least for script in scripts for name, least in script.rounds.items()}
    rounds |= {name: least for name, least in theorem.rounds.items() if name in spoken}
    proof = "\n".join(lines)
    return replace(theorem, claim=theorem.claims, rounds=rounds, quantities=quantities, given=given, proof=proof)


def _names_in(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in re.findall(r"\w+", text)}


def write_equality(theorem: Theorem, claim: int, bound: ClaimedBound) -> FoundScript:
    """The script of what every round multiplies by a number: q[N] == rho^N q[0]."""
    writer = _Writer(theorem, claim, bound, Shape(0, 0), {})
    return FoundScript(writer.of_itself(), {writer.k: 0})


def write_script(theorem: Theorem, claim: int, bound: ClaimedBound, shape: Shape, weights: Weights) -> FoundScript:
    """The script of a potential."""
    writer = _Writer(theorem, claim, bound, shape, weights)
    of_round = writer.of_last_round if bound.rate is None else writer.of_falling
    lines = of_round() if bound.some is None else writer.of_some_round()
    rounds = {writer.k: shape.begin}
    if bound.some is not None:
        rounds[bound.some.variable] = bound.some.first
        rounds[writer.m] = bound.least + bound.some.ahead
    return FoundScript(lines, rounds)


def write_of_step(theorem: Theorem, claim: int, bound: ClaimedBound, weights: Weights) -> FoundScript:
    """The script of a claim about a round and the next."""
    writer = _Writer(theorem, claim, bound, Shape(bound.least, 0), weights)
    return FoundScript(writer.of_step(), {bound.variable: bound.least})


@dataclass(frozen=True)
class _Writer:
    theorem: Theorem
    claim: int
    bound: ClaimedBound
    shape: Shape
    weights: Weights

    @property
    def _number(self) -> str:
        return number_of_claim(self.theorem, self.claim)

    @cached_property
    def k(self) -> str:
        """A name for any round."""
        return self._free_names[0]

    @property
    def m(self) -> str:
        """The last of the rounds of which one is bounded: N, or another name where these end before N or after it."""
        some = self.bound.some
        return self.bound.variable if some is None or not some.ahead else self._free_names[1]

    @cached_property
    def _free_names(self) -> list[str]:
        own = self.theorem
        taken = {*own.rounds, *own.all_parameters.names, *own.where, *own.quantities}
        taken |= {self.bound.some.variable} if self.bound.some else set()
        number = self._number.replace(" ", "_")
        every = (f"{name}{number}" for name in ("k", "r", "m", *(f"k_{i}" for i in range(len(taken) + 2))))
        return [name for name in every if name not in taken]

    def line(self, name: str) -> str:
        """A name for a line that no hypothesis has."""
        return name_line(self.theorem, f"{name}{self._number.replace(' ', '_')}")

    def potential(self, name_of_round: str, later: int = 0) -> str:
        """V of a round."""
        import sympy

        at = (sympy.Symbol(name_of_round) if name_of_round else 0) + later
        found = ((name, self._weight(name, at)) for name in self.theorem.quantities)
        index = write_round(name_of_round, later)
        return " + ".join(_times(weight, f"{name}[{index}]") for name, weight in found if weight) or "0"

    def _weight(self, name: str, at: Any) -> Any:
        """The weight of a quantity in a round, as a product, k (k + 2)/(2 L)."""
        import sympy

        own = (
            value * sympy.sympify(at) ** power for (quantity, power), value in self.weights.items() if quantity == name
        )
        return sympy.factor(sum(own, sympy.Integer(0)))

    def sum_of(self, factors: Factors, index: str, rename: Mapping[str, str] | None = None) -> str:
        """A sum of quantities of a round."""
        return " + ".join(_times(tidy_factor(e, rename or {}), f"{name}[{index}]") for name, e in factors.items())

    @cached_property
    def start(self) -> str:
        """What is claimed of the start, or V itself where that is nothing."""
        return self.sum_of(self.bound.start, "0") if self.bound.start else self.potential("", self.shape.begin)

    def end(self) -> list[str]:
        """The hypothesis about the start, where there is one."""
        return [self.bound.hypothesis] if self.bound.hypothesis else []

    def of_last_round(self) -> list[str]:
        """Weights depend on the round."""
        k, n, begin = self.k, self.bound.variable, self.shape.begin
        first, step, last, every, done = map(self.line, ("first", "step", "last", "every", "done"))
        measure = self.sum_of(self.bound.measure, k, {n: k})
        reached = [f"{step}({k}={j})" for j in range(begin, self.bound.least)]
        used = self.end()
        lines = [f"{step}: {self.potential(k, 1)} <= {self.potential(k)} by derivation"]
        if self.potential("", begin) != self.start:
            lines.append(f"{first}: {self.potential('', begin)} <= {self.start} by derivation")
            reached.insert(0, first)
        if measure != self.potential(k):
            lines.append(f"{last}: {measure} <= {self.potential(k)} by derivation")
            used.insert(0, f"{last}({k}={n})")
        by = f"induction {n}: base combine {', '.join(reached)}; step combine ih, {step}({k}={n})"
        lines.append(f"{every}: {self.potential(n)} <= {self.start} by {by}")
        return [*lines, f"{done}: claim{self._number} by combine {', '.join([every, *used])}"]

    def of_falling(self) -> list[str]:
        """V falls by a factor, but for what is paid."""
        assert self.bound.rate is not None
        k, n, begin = self.k, self.bound.variable, self.shape.begin
        first, last, every, done = map(self.line, ("first", "last", "every", "done"))
        rate = f"({tidy_factor(self.bound.rate, {})})"
        constant = "" if self.bound.constant.zero else f" + {tidy_factor(self.bound.constant, {})}"
        fallen = f"{rate}**{begin}*({self.start})" if begin else self.start
        power = tidy_factor(self.bound.fallen, {})
        measure = self.sum_of(self.bound.measure, k)
        step, lines = self._steps(f"{rate}*({self.potential(k)})", "")
        reached = self._reach(rate, step, begin)
        used = self.end()
        if self.potential("", begin) != fallen:
            lines.append(f"{first}: {self.potential('', begin)} <= {fallen} by derivation")
            later = self.bound.least - begin
            reached.insert(0, f"{rate}**{later}*{first}" if later else first)
        if measure != self.potential(k):
            lines.append(f"{last}: {measure} <= {self.potential(k)} by derivation")
            used.insert(0, f"{last}({k}={n})")
        by = f"induction {n}: base combine {', '.join(reached)}; step combine {rate}*ih, {step}({k}={n})"
        lines.append(f"{every}: {self.potential(n)} <= ({power})*({self.start}){constant} by {by}")
        return [*lines, f"{done}: claim{self._number} by combine {', '.join([every, *used])}"]

    def of_step(self) -> list[str]:
        """The claim with multiples of hypotheses on its right side, and without."""
        step, done, t = self.line("step"), self.line("done"), self.bound.variable
        sentence, used = self.theorem.sentences[self.claim], list(self._list_used(t))
        left, right = show_tree(sentence.left), show_tree(sentence.right)
        more = "".join(f" + {_times(weight, summand)}" for weight, _, summand, _ in used)
        more += "".join(f" - {number}" for number in self._of_hypotheses())
        return [
            f"{step}: {left} <= {right}{more} by derivation",
            f"{done}: claim{self._number} by combine 1*{step}, {self._rules(used)}",
        ]

    def of_itself(self) -> list[str]:
        """What is measured is multiplied by a number."""
        k, n = self.k, self.bound.variable
        rate, power = f"({tidy_factor(self.bound.rate or ONE, {})})", f"({tidy_factor(self.bound.fallen, {})})"
        step, every, done = map(self.line, ("step", "every", "done"))
        start, before, after, last = (self.sum_of(self.bound.measure, index) for index in ("0", k, f"{k}+1", n))
        reached = self._reach(rate, step, 0)
        by = f"induction {n}: base combine {', '.join(reached)}; step combine {rate}*ih, {step}({k}={n})"
        return [
            f"{step}: {after} == {rate}*({before}) by identity",
            f"{every}: {last} == {power}*({start}) by {by}",
            f"{done}: claim{self._number} by combine {every}",
        ]

    def _reach(self, rate: str, step: str, begin: int) -> list[str]:
        """The steps from one round to the least that is claimed, each with the power of the rate that is left."""
        k, last = self.k, self.bound.least - 1
        return [
            f"{rate}**{last - j}*{step}({k}={j})" if j < last else f"{step}({k}={j})" for j in range(begin, last + 1)
        ]

    def of_some_round(self) -> list[str]:
        """The measures of all rounds are summed."""
        some = self.bound.some
        assert some is not None
        k, m, ahead = self.k, self.m, self.shape.ahead
        first, last, every, total, some_round, done = map(
            self.line, ("first", "last", "every", "total", "some", "done")
        )
        step, lines = self._steps(self.potential(k), f"{self.sum_of(self.bound.measure, write_round(k, ahead))} + ")
        begin, after = self.shape.begin, 1 - ahead  # V is that of the round m + after in the end
        reached = [f"{step}({k}={j})" for j in range(begin, self.bound.least + some.ahead + after)]
        if self.potential("", begin) != self.start:
            lines.append(f"{first}: {self.potential('', begin)} <= {self.start} by derivation")
            reached.insert(0, first)
        t = some.variable
        summed = " + ".join(
            _times(tidy_factor(e, {}), f"sum({name}[{t}], {t}, {some.first}, {m})")
            for name, e in self.bound.measure.items()
        )
        count, spent = write_round(m, 1 - some.first), self._spent()
        most = f" + ({count})*({spent})" if spent else ""
        by = f"induction {m}: base combine {', '.join(reached)}; step combine ih, {step}({k}={write_round(m, after)})"
        lines.append(f"{every}: {summed} + {self.potential(m, after)} <= {self.start}{most} by {by}")
        kept = self.sum_of(some.kept, k) if some.kept else "0"
        spoken = {name for name, _ in self.weights} - self.bound.related.keys()
        used = self.end()
        if kept != self.potential(k):
            lines.append(
                f"{last}: {kept} <= {self.potential(k)} by {'derivation' if some.kept else self._above_zero(spoken, k)}"
            )
            used.insert(0, f"{last}({k}={write_round(m, after)})")
        reach = f"{self._start_in_numbers()}{most}"
        if some.kept:
            summed += f" + {self.sum_of(some.kept, write_round(m, after))}"
        lines.append(f"{total}: {summed} <= {reach} by combine {', '.join([every, *used])}")
        at = write_round(self.bound.variable, some.ahead)
        if some.vanishes:
            (name,) = self.bound.measure
            pos, n = self.line("pos"), self.bound.variable
            return [
                *lines,
                f"{pos}: 0 <= {name}[{n}] by {self._above_zero({name}, n)}",
                f"{done}: claim{self._number} by series {pos}, {total}",
            ]
        if some.summed:
            return [*lines, f"{done}: claim{self._number} by combine {total}{f'({m}={at})' if some.ahead else ''}"]
        name = min(self.bound.measure)  # the checker divides by the factor of the first sum
        share = self.bound.measure[name]
        times = tidy_factor(value_of(self.theorem.sentences[self.claim].left).linear_in(f"{name}[{t}]")[1], {})  # type: ignore[index]
        if not some.ahead and times == 1:
            return [*lines, f"{done}: claim{self._number} by mean {total}"]
        alone = self.sum_of({other: e / share for other, e in self.bound.measure.items()}, t)
        said = f"exists {t} in {some.first}..{m}: {alone} <= ({reach})/(({tidy_factor(share, {})})*({count}))"
        lines.append(f"{some_round}: {said} by mean {total}")
        by = f"{times}*{some_round}{f'({m}={at})' if some.ahead else ''}"
        return [*lines, f"{done}: claim{self._number} by combine {by}"]

    def _above_zero(self, spoken: set[str], name_of_round: str) -> str:
        """The rule by which a sum of quantities is at least zero: hypotheses that say so of all of them, or a derivation."""
        known = [self.bound.above_zero[name] for name in sorted(spoken) if name in self.bound.above_zero]
        if len(known) < len(spoken):
            return "derivation"
        return f"combine {', '.join(f'{one.hypothesis}({one.variable}={name_of_round})' for one in known)}"

    def _start_in_numbers(self) -> str:
        """What is claimed of the start, with the number that a hypothesis has for a quantity in its place."""
        if not self.bound.start:
            return self.start
        known = {one.quantity: one.most for one in self.bound.of_start}
        rest = {name: e for name, e in self.bound.start.items() if name not in known}
        numbers = [f"{tidy_factor(e * known[name], {})}" for name, e in self.bound.start.items() if name in known]
        return " + ".join(filter(None, [self.sum_of(rest, "0"), *numbers]))

    def _steps(self, before: str, loss: str) -> tuple[str, list[str]]:
        """The lines of one round, and the name of that which has numbers for what is paid."""
        step, paid, spent = self.line("step"), self.line("paid"), self._spent()
        used = list(self._list_used(self.k))
        more = "".join(f" + {_times(weight, summand)}" for weight, _, summand, _ in used)
        noise = "".join(f" + {tidy_factor(e, {})}" for name, e in self.bound.paid.items() if name == OF_NOISE)
        lines = [f"{step}: {loss}{self.potential(self.k, 1)} <= {before}{more}{noise} by derivation"]
        if not used:
            return step, lines
        after = f"{before} + {spent}" if spent else before
        return paid, [
            *lines,
            f"{paid}: {loss}{self.potential(self.k, 1)} <= {after} by combine 1*{step}, {self._rules(used)}",
        ]

    @staticmethod
    def _rules(used: Iterable[tuple[Any, str, str, Given]]) -> str:
        return ", ".join(f"({weight})*{one.hypothesis}({one.variable}={index})" for weight, index, _, one in used)

    def _list_used(self, k: str) -> Iterator[tuple[Any, str, str, Given]]:
        """Hypotheses of which a step takes multiples: each with its multiplier, of which round it is taken, and what it bounds."""
        for name, e in self.bound.paid.items():
            if (one := self.bound.given.get(name)) is not None:
                yield tidy_factor(e, {}), k, f"({self.sum_of(one.factors, k)})", one
        for name, one in self.bound.related.items():
            if (name, 0) in self.weights:
                index = write_round(k, one.later)
                yield self._weight(name, 0), index, f"({self.sum_of(one.factors, index)})", one

    def _spent(self) -> str:
        """What is paid in a round, in numbers."""
        noise = [str(tidy_factor(e, {})) for name, e in self.bound.paid.items() if name == OF_NOISE]
        return " + ".join([*noise, *self._of_hypotheses()])

    def _of_hypotheses(self) -> list[str]:
        """What hypotheses pay for, in numbers."""
        bounded, related, shares = self.bound.bounded, self.bound.related, self.bound.paid
        paid = [str(tidy_factor(e * bounded[name], {})) for name, e in shares.items() if name in self.bound.given]
        multiples = {name: self._weight(name, 0) for name in related if name in bounded and (name, 0) in self.weights}
        return paid + [f"({weight})*({bounded[name].text()})" for name, weight in multiples.items()]


def number_of_claim(theorem: Theorem, claim: int) -> str:
    """What sets a claim, and names of its lines, apart from those of other claims."""
    return f" {claim + 1}" if len(theorem.claims) > 1 else ""


def name_line(theorem: Theorem, name: str) -> str:
    """A name for a line that nothing of the theorem has."""
    taken = {*theorem.given, *theorem.rests, *theorem.quantities, *theorem.where}
    taken |= {*theorem.all_parameters.names, *theorem.rounds}
    return free_name(name, taken)


def write_round(name: str, later: int) -> str:
    """``k+1``."""
    return f"{name}{later:+d}" if name and later else name or str(later)


def _times(weight: Any, quantity: str) -> str:
    return quantity if weight == 1 else f"{weight if weight.is_Atom else f'({weight})'}*{quantity}"


def tidy_factor(quotient: Quotient, rename: Mapping[str, str]) -> Any:
    """A factor as a product of factors."""
    import sympy

    text = quotient.text(lambda name: rename.get(name, name))
    known = {name: sympy.Symbol(name) for name in names(read(text))}
    return sympy.factor(
        sympy.sympify(text, locals={**known, "max": sympy.Function("max")})
    )  # its sides stay as they are
