"""Evaluates formulas that were written on names, on the vectors and forms that they are about."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from fedtheory.claims.statements.worlds import FunctionOf, dot, norm2
from fedtheory.claims.statements.written import Writer, WrittenNumber, key_of, symbol
from fedtheory.proofs.every_n.vectors import Form, Vector


class WordReader:
    """Reads formulas about what was made in a world.

    ``states``: fields by name, of each state; ``owners``: fields that quantities are; ``names``: what further names stand for.
    """

    def __init__(
        self,
        writer: Writer,
        numbers: Mapping[str, Any],
        states: Sequence[Mapping[str, Any]] = ({},),
        owners: Mapping[str, str] | None = None,
        names: Mapping[str, Any] | None = None,
    ) -> None:
        self.world, self.numbers, self.states, self.owners = writer.world, numbers, states, dict(owners or {})
        self.functions: dict[str, FunctionOf] = {writer.function(f): f for f in self.world.functions}
        self.leaves: dict[str, Any] = {}
        for k, name in enumerate(self.world.mean):
            terms: dict[Any, Any] = {("mean", k): 1}
            if name in self.world.deviation:
                terms["deviation", self.world.deviation.index(name)] = 1
            self.leaves[symbol(name)] = Vector(terms)
        self.leaves |= dict(names or {})

    def value(self, tree: ast.expr) -> Any:
        """The value of a formula."""
        match tree:
            case ast.Constant(value=number):
                return number
            case ast.UnaryOp(operand=inner):
                return self.value(inner) * -1
            case ast.Name(id=name):
                return self.named(name)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() as k)):
                return self.numbers.get(f"{name}_{k}") or self.states[k][self.owners[name]]
            case ast.Subscript(value=ast.Name(id=name)):
                return self.states[0][self.owners[name]]
            case ast.Call(func=ast.Name(id="of_round"), args=[ast.Name(id=name), ast.Constant(value=int() as k)]):
                return self.states[k][name]
            case ast.Call(func=ast.Name(id="grad"), args=[ast.Name(id=f), x]):
                return self.evaluation(f, self.value(x)).g
            case ast.Call(func=ast.Name(id="norm2"), args=[u]):
                return norm2(self.value(u))
            case ast.Call(func=ast.Name(id="dot"), args=[u, v]):
                return dot(self.value(u), self.value(v))
            case ast.Call(func=ast.Name(id="mean"), args=[inner]):
                return self.value(inner)
            case ast.Call(func=ast.Name(id="bar"), args=[inner]):
                return self.value(inner).averaged(None)
            case ast.Call(func=ast.Name(id=f), args=[x]):
                return Form(values={self.evaluation(f, self.value(x)).value: 1})
            case ast.BinOp(left=left, op=op, right=right):
                return self.operation(op, self.value(left), self.value(right))
        raise AssertionError(ast.unparse(tree))

    def named(self, name: str) -> Any:
        """What a name stands for."""
        for known in (self.leaves if name not in self.states[0] else self.states[0], self.numbers):
            if name in known:
                return known[name]
        return Form(values={[symbol(n) for n in self.world.value_names].index(name): 1})

    def evaluation(self, name: str, x: Any) -> Any:
        """That of a function at a point."""
        point = x if isinstance(x, Vector) else Vector({})
        return next(e for e in self.functions[name].evaluations if key_of(e.x) == key_of(point))

    def operation(self, op: ast.operator, a: Any, b: Any) -> Any:
        """Of numbers, vectors or forms."""
        match op:
            case ast.Mult():
                return b * a if isinstance(b, Vector | Form) else a * b
            case ast.Div():
                return a * (1 / WrittenNumber(b, ast.Constant(0)))
            case ast.Pow():
                return a**b
        if isinstance(a, int) and a == 0 and isinstance(b, Vector | Form):
            return b if isinstance(op, ast.Add) else b * -1
        return a + b if isinstance(op, ast.Add) else a - b

    def difference(self, compared: ast.expr) -> Any:
        """Left side less right side of a comparison."""
        assert isinstance(compared, ast.Compare)
        return self.operation(ast.Sub(), self.value(compared.left), self.value(compared.comparators[0]))


def is_same(a: Any, b: Any) -> bool:
    """Whether two vectors, forms or numbers are one."""
    if isinstance(a, Vector | Form):
        return key_of(a) == (None if isinstance(b, int) and b == 0 else key_of(b))
    return bool(a == b)
