"""The largest value of one option of a method for which something is proved over a class of functions, and the smallest at which it is false.

A scan from a start upwards finds the first value at which the solver finds no potential, a bisection the edge to four digits; the value below the
edge is proved in exact arithmetic. From there upwards exact instances are looked for on which the method fails
(`fedtheory.proofs.divergence`), so that the gap between what is proved and what is false is known. The set of good values need not be an
interval: what is claimed is the proof at one value, and what the solver saw is told with the values at which it was asked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.proofs.certificates.thresholds import Make
from fedtheory.proofs.divergence import DivergentQuadratics, find_divergence
from fedtheory.proofs.potentials.questions import PotentialProof, Question, SolverAnswer
from fedtheory.proofs.potentials.smallest_rate import STEPS_BACK

#: the scan goes from 1/64 to 64 units in even ratios
SCAN_FROM, SCAN_TO, SCAN_RATIO = Fraction(1, 64), Fraction(64), 2
#: up to which whole number a scan goes where nothing else is said; programs grow with local steps
USUAL_COUNT = 16
#: digits of an edge
DIGITS = 4


class KeptAnswers(Protocol):
    """Keeps answers of an unfinished search."""

    def read(self) -> dict[str, Any]:
        """What is known, by the value asked."""
        ...

    def add(self, key: str, value: Any) -> None:
        """Keep one answer."""
        ...


@dataclass(frozen=True)
class Scan:
    """Where a search goes: values from ``low`` to ``high`` in ratios of 2, or whole numbers in steps of 1.

    ``whole``: only whole numbers make sense. Values below ``low`` and above ``high`` are not looked at.

    Examples
    --------
    >>> print([float(value) for value in Scan(Fraction(1, 2), Fraction(3)).values()])
    [0.5, 1.0, 2.0, 3.0]
    """

    low: Fraction
    high: Fraction
    whole: bool = False

    def __post_init__(self) -> None:
        """Refuse an empty range."""
        if not 0 < self.low < self.high:
            raise InvalidInput(f"expected 0 < from < to, got from = {self.low} and to = {self.high}")
        if self.whole and not self.values():
            raise InvalidInput(f"there is no whole number from {self.low} to {self.high}")

    def values(self) -> list[Fraction]:
        """The values of the scan, ascending; both ends are among them."""
        if self.whole:
            return [Fraction(k) for k in range(math.ceil(self.low), math.floor(self.high) + 1)]
        found = [self.low]
        while found[-1] * SCAN_RATIO < self.high:
            found.append(found[-1] * SCAN_RATIO)
        return [*found, self.high]


@dataclass(frozen=True, eq=False)
class Largest:
    """The answer. ``certified`` is proved; at every value of ``held`` the solver found a potential, at ``none_at`` it found none.

    Parameters
    ----------
    certified : the largest value with an exact proof, or None
    proof : its certificates
    held : values of the scan and of the bisection at which the solver found a potential, from the first on without a gap among the values asked
    below : values of the scan below these, at which it found none
    again : values of the scan above ``none_at`` at which it found a potential again
    none_at : the smallest value asked above ``held`` at which it found none; None where it held up to the end
    excluded : residual of what shows that none exists there; None where nothing shows it
    refused_at, why : a value that the method's definition excludes, and its message
    false_at, instance : the smallest value found at which an exact instance contradicts it
    not_false_at : a value just below, at which no instance that was tried does
    why_no_instance : why no instances were tried
    rate : that of the question
    seconds : processor time
    """

    certified: Fraction | None
    proof: PotentialProof | None
    held: tuple[Fraction, ...]
    below: tuple[Fraction, ...]
    again: tuple[Fraction, ...]
    none_at: Fraction | None
    excluded: float | None
    refused_at: Fraction | None
    why: str
    false_at: Fraction | None
    instance: DivergentQuadratics | None
    not_false_at: Fraction | None
    why_no_instance: str
    rate: Fraction
    seconds: float


def largest(
    make: Make,
    question: Question,
    scan: Scan,
    *,
    memory: KeptAnswers | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Largest:
    """The largest value of the first run of good values in a scan, proved, and the smallest above it that an exact instance contradicts.

    Parameters
    ----------
    make : the method, from a value of the option, a fraction (or a whole number)
    question : what is asked of it
    scan : which values
    memory : keeps the solver's answers, so that an interrupted search goes on
    tell : is called with words on what was just found

    Raises
    ------
    CannotTrace, InvalidInput
        As in `fedtheory.proofs.potentials.smallest_rate.smallest_rate`, at the first value.

    Examples
    --------
    >>> question = SomePotential.of_convergence(FunctionClass(L=1.0, mu=0.1))
    >>> found = largest(GradientDescent, question, Scan(Fraction(1, 2), Fraction(4)))
    >>> print(found.certified, found.false_at)
    1999/1000 2
    """
    begun = time.process_time()
    asked = _Asked(make, question, scan, memory, tell)
    held, below, none_at = asked.scan_up()
    again = asked.scan_on(none_at) if held and none_at is not None and not scan.whole else ()
    if held and none_at is not None and not scan.whole:
        held, none_at = asked.narrow(held, none_at)
    certified, proof = asked.prove_below(held)
    found = asked.answers.get(none_at) if none_at is not None else None
    falsity = _Falsity(asked)
    if certified is not None:
        falsity.look(certified)
    return Largest(
        certified,
        proof,
        tuple(held),
        tuple(below),
        tuple(again),
        none_at,
        None if found is None else found.residual,
        asked.refused_at,
        asked.why,
        falsity.at,
        falsity.instance,
        falsity.below,
        falsity.why,
        question.rate,
        time.process_time() - begun,
    )


@dataclass(eq=False)
class _Asked:
    """The solver's answers by value."""

    make: Make
    question: Question
    scan: Scan
    memory: KeptAnswers | None
    tell: Callable[[str], None]
    answers: MutableMapping[Fraction, SolverAnswer] = field(default_factory=dict)
    refused_at: Fraction | None = None
    why: str = ""

    def __post_init__(self) -> None:
        """Read what is known."""
        kept = {} if self.memory is None else self.memory.read()
        self.answers.update({Fraction(key): SolverAnswer(*value) for key, value in kept.items()})

    def method(self, value: Fraction) -> Algorithm:
        """The method at a value."""
        return self.make(int(value) if self.scan.whole else value)

    def at(self, value: Fraction) -> bool:
        """Whether the solver finds a potential."""
        if value not in self.answers:
            self.answers[value] = found = self.question.answer(self.method(value))
            if self.memory is not None:
                self.memory.add(str(value), [found.holds, found.residual])
            self.tell(f"{float(value):.6g}: {'a potential' if found.holds else 'none'}")
        return self.answers[value].holds

    def is_defined(self, value: Fraction) -> bool:
        """Whether the method is defined at a value; where it is not, that is kept."""
        try:
            self.method(value)
        except InvalidInput as error:
            self.refused_at, self.why = value, str(error)
            return False
        return True

    def scan_up(self) -> tuple[list[Fraction], list[Fraction], Fraction | None]:
        """The first run of good values, the bad ones before it, and the first bad one after it."""
        values = self.scan.values()
        self.method(values[0])  # the first value has to make sense
        held: list[Fraction] = []
        below: list[Fraction] = []
        for value in values:
            if not self.is_defined(value):
                return held, below, None
            if self.at(value):
                held.append(value)
            elif held:
                return held, below, value
            else:
                below.append(value)
        return held, below, None

    def scan_on(self, none_at: Fraction) -> tuple[Fraction, ...]:
        """Good values of the scan above a bad one."""
        return tuple(v for v in self.scan.values() if v > none_at and self.is_defined(v) and self.at(v))

    def narrow(self, held: list[Fraction], none_at: Fraction) -> tuple[list[Fraction], Fraction]:
        """Bisect between the last good and the first bad value, to `DIGITS` digits."""
        step = step_of(none_at)
        low, high = math.floor(held[-1] / step), math.ceil(none_at / step)
        seen, bad = set(held), none_at
        while high - low > 1:
            middle = (low + high) // 2
            if self.at(middle * step):
                low = middle
                seen.add(middle * step)
            else:
                high, bad = middle, middle * step
        return sorted(seen), bad

    def prove_below(self, held: Sequence[Fraction]) -> tuple[Fraction | None, PotentialProof | None]:
        """An exact proof at the last good value, or some steps below it, or at the last values before it."""
        if not held:
            return None, None
        step = step_of(held[-1])
        near = [] if self.scan.whole else [held[-1] - back * step for back in STEPS_BACK]
        tried = [v for v in near if v >= held[0]]
        for value in dict.fromkeys([*tried, *reversed(held[-3:])]):
            proof = self.question.prove(self.method(value))
            self.tell(f"{float(value):.6g}: {'proved' if proof is not None else 'no exact proof'}")
            if proof is not None:
                return value, proof
        return None, None


@dataclass(eq=False)
class _Falsity:
    """The smallest value above a certified one that an exact instance contradicts."""

    asked: _Asked
    at: Fraction | None = None
    below: Fraction | None = None
    instance: DivergentQuadratics | None = None
    why: str = ""

    def look(self, certified: Fraction) -> None:
        """Scan from the certified value upwards in small ratios, then bisect."""
        if self.asked.question.contradicted_by is None:
            self.why = "no run that is looked at contradicts this question"
            return
        whole, end = self.asked.scan.whole, self.asked.scan.high
        low, value = certified, certified
        try:
            while True:
                value = value + 1 if whole else value + max(step_of(value), value / 8)
                value = value if whole else math.floor(value / step_of(value)) * step_of(value)
                if value > end or not self.asked.is_defined(value):
                    return
                if self._contradicts(value):
                    break
                low = value
            step = Fraction(1) if whole else step_of(value)
            below, above = math.floor(low / step), math.ceil(value / step)
            while above - below > 1:
                middle = (below + above) // 2
                below, above = (below, middle) if self._contradicts(middle * step) else (middle, above)
            self.below = max(low, below * step)
        except (CannotTrace, InvalidInput, ArithmeticError, TypeError) as error:
            self.why = str(error)

    def _contradicts(self, value: Fraction) -> bool:
        asked = self.asked
        rate = asked.question.contradicted_by
        found = None if rate is None else find_divergence(asked.method(value), asked.question.contradicted_on, rate)
        if found is not None:
            self.at, self.instance = value, found
        return found is not None


def step_of(value: Fraction) -> Fraction:
    """The unit of the last of `DIGITS` digits of a positive number."""
    return Fraction(10) ** (math.floor(math.log10(value)) - DIGITS + 1)
