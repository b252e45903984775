"""The expressions of a method's round, and what each is on a trial: a server's vector, one row a client, a number, a solver.

A round is Python text. Its methods are run once with every expression reporting its value, so what an expression stands for is seen and not
guessed from its name.
"""

from __future__ import annotations

import ast
import copy
import inspect
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.mistakes import HELPERS
from fedtheory.conformance.trials import Trial, make_start, play_round
from fedtheory.conformance.wrong_steps import WRONG_STEPS, Memory
from fedtheory.core.arrays import is_array
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import Key
from fedtheory.core.states import to_host

#: what an expression stands for: vectors (of the server, of the active clients, of all), numbers, and what is no number
Meaning = Literal["server", "active", "all", "number", "coin", "solver", "key", "clients", "problem", "other"]
VECTORS: tuple[Meaning, ...] = ("server", "active", "all")
_SEE = "_see_"
_BLIND = (ast.Name, ast.Attribute)


@dataclass(frozen=True, eq=False)
class PlaceInRound:
    """One expression of a round.

    ``method``: the function of the class it stands in. ``start``, ``end``: where it stands in the text. ``above``: the nodes around it,
    innermost first. ``values``: what it was, by round.
    """

    node: ast.expr
    method: ast.FunctionDef
    start: int
    end: int
    text: str
    kind: Meaning
    above: tuple[ast.AST, ...]
    values: Mapping[int, Any]

    @property
    def parent(self) -> ast.AST:
        """The node around it."""
        return self.above[0]

    @cached_property
    def is_factor(self) -> bool:
        """Whether it stands in a product, a quotient or behind a sign, so that a factor of it is one of what is around it."""
        around = self.parent
        return isinstance(around, ast.UnaryOp) or (
            isinstance(around, ast.BinOp) and isinstance(around.op, ast.Mult | ast.Div)
        )

    def knows(self, *names: str) -> bool:
        """Whether the function that it stands in has these among its parameters."""
        return set(names) <= {argument.arg for argument in self.method.args.args}

    @cached_property
    def called(self) -> str:
        """The name of the function that it is a call of; "" where it is none, or of what has no name."""
        return ast.unparse(self.node.func) if isinstance(self.node, ast.Call) else ""

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The arguments of a call, as text."""
        return tuple(ast.unparse(argument) for argument in self.node.args) if isinstance(self.node, ast.Call) else ()

    @cached_property
    def is_read(self) -> bool:
        """Whether it is a variable as it stands: a name, a field, or a field's rows of active clients."""
        return isinstance(self.node, _BLIND) or (isinstance(self.node, ast.Call) and self.text.startswith("gather("))

    def equals(self, values: Mapping[int, Any]) -> bool:
        """Whether it was this in every round in which it was evaluated."""
        return all(_same(value, values.get(r)) for r, value in self.values.items())


@dataclass(frozen=True, eq=False)
class RoundReading:
    """A method's text, the expressions that its rounds evaluate on a trial, and its states before and after those rounds."""

    algorithm: Algorithm
    text: str
    state: type
    expressions: tuple[PlaceInRound, ...]
    before: tuple[dict[str, NDArray[np.float64]], ...]
    after: tuple[dict[str, NDArray[np.float64]], ...]
    fields: Mapping[str, Meaning]

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The method's hyper-parameters that are numbers."""
        return tuple(name for name, value in vars(self.algorithm).items() if _is_number(value))

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return int(next(iter(self.before[0].values())).shape[-1])

    @cached_property
    def solvers(self) -> tuple[str, ...]:
        """Its local solvers."""
        return tuple(name for name, value in vars(self.algorithm).items() if _is_solver(value))

    def list_fields(self, kind: Meaning) -> tuple[str, ...]:
        """Return its variables of a kind."""
        return tuple(name for name, what in self.fields.items() if what == kind)


@dataclass(frozen=True, eq=False)
class Text:
    """The text of a class, and where its lines begin (its columns count bytes)."""

    source: str
    starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        """Find where lines begin."""
        starts = [0]
        for line in self.source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        object.__setattr__(self, "starts", starts)

    def place(self, line: int, column: int) -> int:
        """Return the character at a line (from 1) and a column in bytes."""
        begin = self.starts[line - 1]
        before = self.source[begin:].split("\n", 1)[0].encode()[:column].decode()
        return begin + len(before)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.place(node.lineno, node.col_offset), self.place(node.end_lineno, node.end_col_offset)


def make_namespace(kind: type) -> dict[str, Any]:
    """Return the names that changed code of a class may use: its module's, and those of the mistakes."""
    return vars(sys.modules[kind.__module__]) | HELPERS | WRONG_STEPS | {"notes": Memory()}


def find_functions(text: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a class that its round reaches, by name."""
    (body,) = ast.parse(text).body
    assert isinstance(body, ast.ClassDef)
    known = {item.name: item for item in body.body if isinstance(item, ast.FunctionDef) and not item.decorator_list}
    found: dict[str, ast.FunctionDef] = {}
    waiting = ["round"]
    while waiting:
        name = waiting.pop()
        if name in found or name not in known:
            continue
        found[name] = known[name]
        for node in ast.walk(known[name]):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                waiting.append(node.attr)
    return found


def compile_function(function: ast.FunctionDef, names: dict[str, Any]) -> Any:
    """Compile a function among these names, without its annotations."""
    bare = ast.FunctionDef(function.name, copy.copy(function.args), function.body, [], None, None)
    bare.args.args = [ast.arg(argument.arg) for argument in function.args.args]
    module = ast.fix_missing_locations(ast.Module([bare], type_ignores=[]))
    own: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a change may be nonsense
        exec(compile(module, "<changed>", "exec"), names, own)
    return own[function.name]


def replace_functions(algorithm: Algorithm, functions: Mapping[str, Any]) -> Algorithm:
    """Return the same method with other functions in the place of those of its class."""
    kind = type(algorithm)
    changed = type(kind.__name__, (kind,), {"__doc__": kind.__doc__, "__module__": kind.__module__, **functions})
    made: Any = object.__new__(changed)
    made.__dict__.update(algorithm.__dict__)
    return made  # type: ignore[no-any-return]


class _Watch(ast.NodeTransformer):
    """Wraps every expression that has a value of its own in a call that reports it."""

    def __init__(self) -> None:
        self.found: list[tuple[ast.expr, tuple[ast.AST, ...]]] = []
        self._above: list[ast.AST] = []

    def visit(self, node: ast.AST) -> Any:
        seen = isinstance(node, ast.expr) and self._is_read(node)
        number = len(self.found)
        if seen:
            self.found.append((copy.deepcopy(node), tuple(reversed(self._above))))  # type: ignore[arg-type]
        self._above.append(self.found[number][0] if seen else node)
        new = self._inside(node)
        self._above.pop()
        if not seen:
            return new
        call = ast.Call(ast.Name(_SEE, ast.Load()), [ast.Constant(number), new], [])
        return ast.copy_location(call, node)

    def _is_read(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Lambda | ast.Starred | ast.Tuple | ast.List | ast.Dict | ast.JoinedStr | ast.Slice):
            return False
        return not isinstance(node, ast.Constant) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)

    def _inside(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Call):  # what is called is no value
            func = node.func
            owned = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)
            if owned and func.value.id == "self":  # type: ignore[attr-defined]
                node.func = self.visit(func)  # a solver
            elif isinstance(func, ast.Attribute) and not owned:
                func.value = self.visit(func.value)
            elif not isinstance(func, ast.Name | ast.Attribute):
                node.func = self.visit(func)
            node.args = [self.visit(argument) for argument in node.args]
            for keyword in node.keywords:
                keyword.value = self.visit(keyword.value)
            return node
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node  # a field, with its owner
        if isinstance(node, ast.arguments | ast.arg):
            return node
        return self.generic_visit(node)


def read_round(algorithm: Algorithm, text: str, trial: Trial) -> RoundReading:
    """Run a method whose class has this text on a trial, and return what its expressions were."""
    kind = type(algorithm)
    functions = find_functions(text)
    names, watched = make_namespace(kind), {}
    values: dict[int, dict[int, Any]] = {}
    expressions: list[tuple[ast.expr, tuple[ast.AST, ...], ast.FunctionDef]] = []
    now: dict[str, int] = {}
    for name, function in functions.items():
        watch, changed = _Watch(), copy.deepcopy(function)
        watch._above = [changed]
        changed.body = [watch.visit(statement) for statement in changed.body]
        shift = len(expressions)
        expressions += [(node, above, function) for node, above in watch.found]

        def see(number: int, value: Any, shift: int = shift) -> Any:
            if "round" in now:
                values.setdefault(shift + number, {})[now["round"]] = value
            return value

        own = names | {_SEE: see}
        watched[name] = compile_function(changed, own)
    method = replace_functions(algorithm, watched)
    problem, state = make_start(method, trial)
    before, after = [], []
    for r in range(len(trial.clients)):
        now["round"] = r
        before.append(to_host(state))
        state, _ = play_round(method, problem, state, trial, r)
        after.append(to_host(state))
    sizes = _Sizes(problem.n, problem.d)
    place = Text(text)
    found = []
    for number, (node, above, function) in enumerate(expressions):
        if number not in values:
            continue
        start, end = place.span(node)
        of_it = values[number]
        what = sizes.kind(next(iter(of_it.values())))
        found.append(PlaceInRound(node, function, start, end, text[start:end], what, above, of_it))
    fields = {name: sizes.kind(value) for name, value in to_host(state).items()}
    return RoundReading(algorithm, text, type(state), tuple(found), tuple(before), tuple(after), fields)


@dataclass(frozen=True)
class _Sizes:
    """The clients and coordinates of a trial, by which shapes are told apart."""

    n: int
    d: int

    def kind(self, value: Any) -> Meaning:
        """What a value stands for."""
        if inspect.ismodule(value) or isinstance(value, type):
            return "other"
        if isinstance(value, bool | np.bool_):
            return "coin"
        if _is_number(value):
            return "number"
        if is_array(value):
            if value.ndim < 2 or (value.shape[-1] == 1 and self.d > 1):
                return "coin" if value.dtype == bool else "number"
            return {1: "server", self.n: "all"}.get(int(value.shape[-2]), "active")  # type: ignore[return-value]
        if isinstance(value, Key):
            return "key"
        if isinstance(value, Clients):
            return "clients"
        if _is_solver(value):
            return "solver"
        return "problem" if hasattr(value, "grad") and hasattr(value, "take") else "other"


def _is_solver(value: Any) -> bool:
    return callable(value) and hasattr(value, "memory")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _same(one: Any, other: Any) -> bool:
    if other is None or one is None:
        return one is other
    if is_array(one) and is_array(other):
        return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-9, atol=1e-12))
    return bool(np.all(one == other)) if np.isscalar(one) and np.isscalar(other) else False


def pick(values: Sequence[Mapping[str, Any]], name: str) -> dict[int, Any]:
    """Return the values of a variable, by round."""
    return {r: state[name] for r, state in enumerate(values)}
