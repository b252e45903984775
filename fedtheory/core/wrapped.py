"""A problem that is another one in all but some respects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from fedtheory.core.shapes import ClientPoints, ClientValues, Points

#: what gives the same problem with other clients or with ridge: the result is wrapped again
_GIVES_A_PROBLEM = ("take", "slice", "ridged")


@dataclass(frozen=True, eq=False)
class Wrapped:
    """The problem ``inner`` but for what a subclass says: it hands on whatever ``inner`` can give, and nothing that ``inner`` cannot.

    - What a subclass defines is its own. A method ``changed_<ability>(self, given, ...)`` takes the place of an ability where ``inner``
      has it, as ``given``.
    - ``withheld``: abilities that are false of the wrapped problem; it does not have them.
    - ``handed_on``: the only ones that are true of it, where most are not; None for all.
    - What gives a problem (``take``, ``slice``, ``ridged``) gives a wrapped one.

    Examples
    --------
    >>> class Doubled(Wrapped):
    ...     def value(self, x):
    ...         return 2 * self.inner.value(x)
    >>> x = np.ones((1, 5))
    >>> print(np.allclose(Doubled(problem).value(x), 2 * problem.value(x)), Doubled(problem).n)
    True 10
    """

    inner: Any

    withheld: ClassVar[frozenset[str]] = frozenset()
    handed_on: ClassVar[frozenset[str] | None] = None

    if TYPE_CHECKING:  # what every problem has: handed on like the rest, where it is true of the wrapped problem

        @property
        def name(self) -> str: ...  # noqa: D102

        @property
        def n(self) -> int: ...  # noqa: D102

        @property
        def d(self) -> int: ...  # noqa: D102

        def value(self, x: Points) -> ClientValues: ...  # noqa: D102

        def grad(self, x: Points) -> ClientPoints: ...  # noqa: D102

        def take(self, clients: Any) -> Any: ...  # noqa: D102

    def __getattr__(self, name: str) -> Any:
        hidden = name in self.withheld or not (self.handed_on is None or name in self.handed_on)
        if hidden or name.startswith("_") or name == "inner":  # asked before there are fields, as in copying
            raise AttributeError(f"a problem wrapped as {type(self).__name__} has no {name!r}")
        given = getattr(self.inner, name)
        if given is None:
            return None
        change = getattr(type(self), f"changed_{name}", None)
        if change is not None:
            return partial(change, self, given)
        return partial(self._again, given) if name in _GIVES_A_PROBLEM else given

    def _again(self, given: Any, *asked: Any) -> Any:
        return self if asked == (None,) else replace(self, inner=given(*asked))
