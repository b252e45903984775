"""A listed method in Rocq's words: its state, one round and quantities, traced from the method's own ``round`` on vectors that are printed.

Vectors are combinations of *bases*: ``x_star``, the fields of a state, and gradients at the points that a round asks for. A base is one vector that
clients have in common, or one of each client; parts that relations between fields make zero are left out.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from fedtheory.claims.statements.theorems.quantities import read_quantity
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.every_n.cells import cell
from fedtheory.proofs.every_n.oracles import Evaluation, Leaves, SymmetricProblem
from fedtheory.proofs.every_n.vectors import Vector
from fedtheory.proofs.parameters.field import RationalFunction
from fedtheory.proofs.potentials.invariants import outcomes_of_round, vectors_of
from fedtheory.proofs.rocq.expressions import (
    ONE,
    Real,
    Vec,
    apply,
    combination,
    identifier,
    inner_text,
    name,
    opposite,
    real,
    scoped,
)

#: of each client, the gradient of its function at x_star
STAR = "f_grad % x_star"


@dataclass(frozen=True)
class BaseVector:
    """A vector that others are combinations of: its leaves, and what it is called; of a gradient its ``definition``, and the same ``in_full``."""

    name: str
    mean: int | None
    deviation: int | None
    definition: str = ""
    in_full: str = ""

    @property
    def is_common(self) -> bool:
        """Whether clients have it in common."""
        return self.deviation is None


def write_number(number: Any) -> Real:
    """A fraction or rational function as an expression."""
    if isinstance(number, RationalFunction):
        return _read_element(number.element)
    return real(Fraction(number))


def rounds_as_numbers(e: Real, rounds: Collection[str]) -> Real:
    """An expression in which rounds are numbers."""
    if e.op == "name":
        return next((apply(f"INR {e.parts[0]}") for t in rounds if identifier(t) == e.parts[0]), e)
    return Real(e.op, tuple(rounds_as_numbers(part, rounds) if isinstance(part, Real) else part for part in e.parts))


def list_divisors(e: Real) -> list[Real]:
    """What is divided by anywhere: 2/(L + 2*a) and L + 2*a of x/(2/(L + 2*a))."""
    own = [part for part in e.parts if isinstance(part, Real)]
    return [*([e.parts[1]] if e.op == "/" else []), *(d for part in own for d in list_divisors(part))]


@lru_cache(maxsize=20_000)
def _read_element(element: Any) -> Real:
    return read_real(ast.parse(str(element.as_expr()), mode="eval").body)


def read_real(tree: ast.expr) -> Real:
    """A formula in parameters."""
    match tree:
        case ast.Constant(value=value):
            return real(Fraction(repr(value)))
        case ast.Name(id=word):
            return name(identifier(word))
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return -read_real(part)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return read_real(left) ** int(ast.literal_eval(right))
        case ast.BinOp(left=left, op=sign, right=right):
            a, b = read_real(left), read_real(right)
            match sign:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
            return a / b
    raise NotAvailable(f"{ast.unparse(tree)} in a round is not written for Rocq")


@dataclass
class Natural:
    """One round of a method from any state, in bases.

    ``quantities``: those of the theorem and of others that it rests on; ``rounds``: numbers of rounds of which lines speak. ``before``: the fields'
    vectors; ``after``: of each outcome of the coins its probability and fields; ``zero_means``: fields that average to zero.
    """

    theorem: Theorem
    numbers: Mapping[str, Any]
    quantities: Mapping[str, str]
    rounds: Mapping[str, Any] = field(default_factory=dict)
    leaves: Leaves = field(default_factory=Leaves)
    bases: list[BaseVector] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Trace a round."""
        states = self.theorem.states
        if not isinstance(states, MethodStates):
            raise NotAvailable("states that a function plays are not written for Rocq")
        self.states = states
        # the round that is traced here is that of all clients, with their own gradients
        if states.clients or states.sigma is not None or states.shares_minimiser:
            raise NotAvailable(
                "rounds of a listed method with a number of clients, drawn clients, noise or a minimiser in common are not written for Rocq"
            )
        self.algorithm, self.mu = states.algorithm(self.numbers), states.constants["mu"].at(self.numbers)
        space, first, numbered = states.follow(self.theorem.all_parameters)
        if numbered:
            raise NotAvailable("rounds that depend on their number are not written for Rocq")
        if first:
            raise NotAvailable(
                "relations between a state's fields that hold from the first round on, and not at the start, are not written for Rocq"
            )
        errors = space.errors(self.leaves)  # their leaves are the first ones
        self.problem = SymmetricProblem(self.leaves, self.mu)
        self.x_star = self._base("x_star", common=True)
        star = self._base(STAR, zero_mean=True)
        self.problem.add(self.x_star, star)
        self.errors: dict[tuple[str, int], Vector] = {}  # what the leaves of errors stand for
        self.fields, self.zero_means, self.tied = self._fields(errors)
        template = self._start(self.problem, self.x_star)
        state = dataclasses.replace(template, **{word: cell(v) for word, v in self.fields.items()})
        self.round_bases = len(self.bases)
        self.after = [
            (chance, vectors_of(reached)) for chance, reached in outcomes_of_round(self.algorithm, self.problem, state)
        ]
        self.name_evaluations()
        self.round_bases_end = len(self.bases)

    @property
    def starts_anywhere(self) -> bool:
        """Whether a state is a point, and the first one x0, so that what is shown of the first rounds is shown of any."""
        begun = vectors_of(self._start(self.problem, self.x_star))
        return [*self.fields] == ["x"] and begun["x"].terms == self.x_star.terms

    def _start(self, problem: SymmetricProblem, x0: Vector) -> Any:
        return self.algorithm.init(problem, cell(x0))

    def _base(self, word: str, *, common: bool = False, zero_mean: bool = False, definition: str = "") -> Vector:
        v = self.leaves.deviation_only() if zero_mean else self.leaves.vector(common=common)
        self._note(word, v, definition)
        return v

    def _note(self, word: str, v: Vector, definition: str = "", in_full: str = "") -> None:
        leaf = dict(v.terms.keys())
        self.bases.append(BaseVector(word, leaf.get("mean"), leaf.get("deviation"), definition, in_full))

    def _fields(self, errors: Mapping[str, Vector]) -> tuple[dict[str, Vector], list[str], list[str]]:
        """Every field's vector: a base of its own, or what relations make of other fields; which average to zero, and which are made of others."""
        solution = self.algorithm.solution_state(self.problem, cell(self.x_star))
        at_star = self._points_at_star() if solution is None else vectors_of(solution)
        fields, zero, tied = dict[str, Vector](), list[str](), list[str]()
        for word in sorted(errors, key=lambda word: all(part == "mean" for part, _ in errors[word].terms)):
            error, origin = errors[word], at_star.get(word, Vector({}))
            new = [leaf for leaf in error.terms if leaf not in self.errors]
            if not new:
                fields[word] = origin + _sum(self.errors[leaf] * c for leaf, c in error.terms.items())
                tied.append(word)
                continue
            kinds = {part for part, _ in origin.terms}
            free = {part for part, _ in new}
            if (
                any(error.terms[leaf] != 1 for leaf in new)
                or len(new) != len(error.terms)
                or kinds - free - {"mean"}
                or (kinds - free and "deviation" not in free)
            ):
                raise NotAvailable(f"the relation between the field {word} and others is not written for Rocq")
            if "mean" in kinds - free:
                raise NotAvailable(f"the field {word}, whose average never changes, is not written for Rocq")
            v = self._base(identifier(word), common="deviation" not in free, zero_mean="mean" not in free)
            zero += [word] * ("mean" not in free)
            mean = (v - origin).averaged(None)
            for leaf in new:
                self.errors[leaf] = mean if leaf[0] == "mean" else v - origin - mean
            fields[word] = v
        return {word: fields[word] for word in errors}, zero, tied

    def _points_at_star(self) -> dict[str, Vector]:
        """Of a method without a fixed point: fields that start at x^0 are points, and lie at x_star when they are there."""
        leaves = Leaves()
        problem = SymmetricProblem(leaves, self.mu)
        ((leaf, _),) = (x0 := leaves.vector(common=True)).terms.items()
        begun = vectors_of(self._start(problem, x0))
        return {word: self.x_star * v.terms.get(leaf, 0) for word, v in begun.items() if leaf in v.terms}

    def name_evaluations(self) -> None:
        """A base for each gradient that was asked for since."""
        known = {base.mean for base in self.bases}
        for e in self.problem.evaluations:
            fresh = [k for part, k in e.g.terms if part == "mean" and k not in known]
            if not fresh:
                continue
            if len(e.g.terms) != 2 or any(value != 1 for value in e.g.terms.values()):
                raise NotAvailable(
                    "gradients that a round makes of others, such as at a proximal step's point, are not written for Rocq"
                )
            word = f"g{sum(bool(b.definition) for b in self.bases) + 1}"
            in_full = f"f_grad % {scoped(self.in_full(e.x), '%')}"
            self._note(word, e.g, f"fun i => f_grad i {scoped(self.vec(e.x))}", in_full)
            known |= set(fresh)

    # ---- printing

    def vec(self, v: Vector) -> Vec:
        """A vector in bases."""
        return write_vector(v, self.bases, self.write)

    def in_full(self, v: Vector) -> Vec:
        """A vector in bases, of which gradients are written with their points, and not by names."""
        in_full = [dataclasses.replace(base, name=base.in_full or base.name) for base in self.bases]
        return write_vector(v, in_full, self.write)

    def write(self, number: Any) -> Real:
        """A number, rounds as numbers of rounds."""
        return rounds_as_numbers(write_number(number), self.rounds)

    @property
    def clients(self) -> list[BaseVector]:
        """Bases of each client."""
        return [base for base in self.bases if not base.is_common]

    @property
    def commons(self) -> list[BaseVector]:
        """Bases that clients have in common."""
        return [base for base in self.bases if base.is_common]

    def evaluation_of(self, x: Vector) -> Evaluation:
        """Gradient and value at a point; a new base where it was not asked for."""
        found = self.problem.at(x)
        self.name_evaluations()
        return found


def write_vector(v: Vector, bases: Sequence[BaseVector], write: Callable[[Any], Real] = write_number) -> Vec:
    """A vector as a combination of bases."""
    terms: list[tuple[Real, Vec]] = []
    for base in bases:
        alpha = 0 if base.mean is None else v.terms.get(("mean", base.mean), 0)
        beta = 0 if base.deviation is None else v.terms.get(("deviation", base.deviation), 0)
        own = Vec("common" if base.is_common else "client", (base.name,))
        if base.is_common:
            terms.append((write(alpha), own))
            continue
        terms.append((write(beta), own))
        if base.mean is not None:
            terms.append((write(alpha - beta), Vec("mean", (own,))))
    return combination(sorted(terms, key=lambda term: opposite(term[0]) is not None))


def _sum(vectors: Iterable[Vector]) -> Vector:
    found = Vector({})
    for v in vectors:
        found = found + v
    return found


@dataclass(frozen=True)
class Paired:
    """A vector as a combination of leaves, and as it is written; ``each``: whether it is one of each client, whatever it comes to."""

    leaves: Vector
    vec: Vec
    each: bool = False

    def __add__(self, other: Paired) -> Paired:
        """The sum."""
        return Paired(self.leaves + other.leaves, self.vec + other.vec, self.each or other.each)

    def __sub__(self, other: Paired) -> Paired:
        """The difference."""
        return Paired(self.leaves - other.leaves, self.vec - other.vec, self.each or other.each)

    def __neg__(self) -> Paired:
        """The opposite."""
        return Paired(self.leaves * -1, -self.vec, self.each)

    def averaged(self) -> Paired:
        """The average over clients."""
        return Paired(self.leaves.averaged(None), self.vec.averaged())


@dataclass
class QuantityPrinter:
    """Evaluates a quantity's formula to an expression in inner products and values.

    ``vecs``: how the vectors of the state are written; ``product`` writes an inner product, ``value`` the average of the values at an evaluation,
    ``gradient`` the gradient there.
    """

    natural: Natural
    fields: Mapping[str, Vector]
    vecs: Mapping[str, Vec]
    product: Callable[[Vec, Vec, bool], Real]
    value: Callable[[Evaluation, Vec], Real]
    gradient: Callable[[Evaluation, Vec], Vec]

    def read(self, text: str) -> Real:
        """The whole of it."""
        found = self._go(read_quantity(text), text)
        if not isinstance(found, Real):
            raise NotAvailable(f"the quantity {text!r} is not a number")
        return found

    def _go(self, node: ast.AST, text: str) -> Any:
        match node:
            case ast.Constant(value=number):
                return real(Fraction(repr(number)))
            case ast.Name(id=word):
                known = self.named(word)
                if known is not None:
                    return known
                formulas = self.natural.theorem.formulas
                if word in formulas:
                    return self._go(formulas[word], text)
                if word in self.natural.numbers:
                    return write_number(self.natural.numbers[word])
            case ast.UnaryOp(operand=part):
                return -self._go(part, text)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self._go(left, text) ** int(ast.literal_eval(right))
            case ast.BinOp(left=left, op=sign, right=right):
                return self._calculate(sign, self._go(left, text), self._go(right, text))
            case ast.Call(func=ast.Name(id=word), args=args):
                return self._call(word, args, text)
        raise NotAvailable(f"{ast.unparse(node)} in the quantity {text!r} is not written for Rocq")

    def named(self, word: str) -> Any:
        """What a name of the state stands for; None where it is none."""
        if word == "x_star":
            return Paired(self.natural.x_star, Vec("common", ("x_star",)))
        if word in self.fields:
            return Paired(self.fields[word], self.vecs[word], not self.natural.fields[word].common)
        return None

    def _calculate(self, sign: ast.operator, a: Any, b: Any) -> Any:
        match sign:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult() if isinstance(b, Paired):
                return self._times(b, a)
            case ast.Mult() if isinstance(a, Paired):
                return self._times(a, b)
            case ast.Div() if isinstance(a, Paired):
                return self._times(a, ONE / b)
            case ast.Mult():
                return a * b
        return a / b

    def _times(self, v: Paired, factor: Real) -> Paired:
        names = {identifier(word): number for word, number in self.natural.numbers.items()}
        return Paired(v.leaves * factor.value(names), v.vec * factor, v.each)

    def _call(self, word: str, args: Sequence[ast.expr], text: str) -> Any:
        if word in ("norm2", "dot"):
            u, v = self._go(args[0], text), self._go(args[-1], text)
            return self.product(u.vec, v.vec, u.each or v.each)
        if word in ("mean", "bar"):
            inner = self._go(args[0], text)
            return inner.averaged() if isinstance(inner, Paired) else inner
        function, point = (args[0].id, args[1]) if word == "grad" and isinstance(args[0], ast.Name) else (word, args[0])
        at = self._go(point, text)
        found, average = self.evaluated(function, at, text)
        if word != "grad":
            return self.value(found, at.vec)
        slope = Paired(found.g, self.gradient(found, at.vec), self.is_of_clients(found))
        return slope.averaged() if average else slope

    def is_of_clients(self, e: Evaluation) -> bool:
        """Whether it is one of every client's function."""
        return True

    def evaluated(self, function: str, at: Paired, text: str) -> tuple[Evaluation, bool]:
        """Gradient and value of a function of the state, and whether it is the average of the clients'."""
        if function not in ("f", "f_i"):
            raise NotAvailable(f"{function} in the quantity {text!r} is not written for Rocq")
        return self.natural.evaluation_of(at.leaves), function == "f"


def print_quantity(natural: Natural, text: str) -> Real:
    """A quantity in the names of a state's fields, as the body of a definition; gradients are taken at points as the round writes them."""
    vecs = {w: Vec("common" if v.common else "client", (identifier(w),)) for w, v in natural.fields.items()}
    return QuantityPrinter(
        *(natural, natural.fields, vecs),
        product=lambda u, v, each: apply(inner_text(u, v, each=each)),
        value=lambda e, at: apply(f"E (fun i => f i {scoped(natural.in_full(e.x))})"),
        gradient=lambda e, at: Vec("client", (f"f_grad % {scoped(natural.in_full(e.x), '%')}",)),
    ).read(text)


# ---- definitions --------------------------------------------------------------------------------------------------------


@dataclass
class Definitions:
    """Definitions of Rocq one after the other; each has as arguments the variables that it uses, itself or by others."""

    variables: Mapping[str, str]
    texts: list[str] = field(default_factory=list)
    uses: dict[str, list[str]] = field(default_factory=dict)

    def used_in(self, text: str) -> list[str]:
        """Variables, in their order."""
        words = set(re.findall(r"[\w']+", text))
        inside = {v for other in words & self.uses.keys() for v in self.uses[other]}
        return [v for v in self.variables if v in words or v in inside]

    def call(self, word: str) -> str:
        """A defined name with its arguments."""
        return " ".join([word, *self.uses[word]])

    def add(self, word: str, arguments: str, kind: str, body: str, comment: str = "") -> None:
        """Define a name; others are called in the body by their bare names in braces: ``{round}``."""
        called = re.findall(r"\{(\w+)\}", body)
        self.uses[word] = self.used_in(re.sub(r"\{(\w+)\}", r"\1", body) + " " + arguments)
        for other in called:
            body = body.replace(
                f"{{{other}}}", self.call(other) if len(self.uses[other]) == 0 else f"({self.call(other)})"
            )
        own = "".join(f" ({v} : {self.variables[v]})" for v in self.uses[word])
        head = f"(* {comment} *)\n" if comment else ""
        self.texts.append(
            f"{head}Definition {word} {{V : space}} {{C : clients V}}{own}{arguments} : {kind} :=\n  {body}."
        )


def define_method(natural: Natural) -> Definitions:
    """State, start, round and quantities."""
    parameters = [identifier(word) for word in real_parameters(natural.theorem)]
    variables = {**dict.fromkeys(parameters, "R"), "f": "C -> V -> R", "f_grad": "C -> V -> V", "x_star": "V"}
    found = Definitions(variables)
    names = [identifier(word) for word in natural.fields]
    commons = {identifier(word) for word, v in natural.fields.items() if v.common}
    parts = "; ".join(f"state_{word} : {'V' if word in commons else 'C -> V'}" for word in names)
    found.texts.append(
        f"(* the state of {natural.states} *)\nRecord state {{V : space}} (C : clients V) := State {{ {parts} }}.\nArguments State {{V C}}."
    )
    open_state = f"let '(State {' '.join(names)}) := s in"
    started = _initial(natural, names, commons)
    found.add("init", " (x0 : V)", "state C", started, "the start")
    outcomes = []
    for k, (chance, reached) in enumerate(natural.after, 1):
        word = "round" if len(natural.after) == 1 else f"round_{k}"
        lets = [
            f"let {base.name} := {base.definition} in"
            for base in natural.bases[natural.round_bases : natural.round_bases_end]
        ]
        body = "\n  ".join([open_state, *lets, _state(natural, reached, natural.fields, commons)])
        found.add(word, " (s : state C)", "state C", body, "one round" if k == 1 else "")
        outcomes.append(f"({write_number(chance)}, {{{word}}})")
    found.add(
        "outcomes",
        "",
        "list (R * (state C -> state C))",
        f"[{'; '.join(outcomes)}]",
        "what a round comes to, with its probabilities",
    )
    for word, text in natural.quantities.items():
        found.add(f"{word}_of", " (s : state C)", "R", f"{open_state} {print_quantity(natural, text)}", text)
    return found


def _initial(natural: Natural, names: Sequence[str], commons: set[str]) -> str:
    other = Natural.__new__(Natural)
    other.theorem, other.numbers, other.rounds = natural.theorem, natural.numbers, natural.rounds
    other.leaves, other.bases = Leaves(), []
    other.algorithm, other.mu = natural.algorithm, natural.mu
    other.problem = SymmetricProblem(other.leaves, natural.mu)
    x0 = other._base("x0", common=True)
    state = vectors_of(other._start(other.problem, x0))
    other.name_evaluations()
    lets = [f"let {base.name} := {base.definition} in" for base in other.bases if base.definition]
    return "\n  ".join([*lets, _state(other, state, natural.fields, commons)])


def _state(natural: Natural, vectors: Mapping[str, Vector], fields: Mapping[str, Vector], commons: set[str]) -> str:
    shown = []
    for word in fields:
        v = natural.vec(vectors[word])
        if identifier(word) in commons:
            if not v.is_common:
                raise NotAvailable(f"the field {word} was not seen to be one that clients have in common")
            shown.append(
                scoped(v)
                if scoped(v).startswith("(")
                else v.text(9)
                if v.op not in ("+", "-", "scale")
                else f"({v.text()})%V"
            )
        else:
            shown.append(f"(fun i => {v.text()})%V")
    return f"State {' '.join(shown)}"


def real_parameters(theorem: Theorem) -> list[str]:
    """Parameters that are no whole numbers."""
    return [p.name for p in theorem.all_parameters.parameters if not p.integer]
