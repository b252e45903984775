"""Clients' problems with data that the server holds itself (SAFARI)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.core.errors import InvalidInput
from fedtheory.core.wrapped import Wrapped


@dataclass(frozen=True, eq=False)
class ServerAssisted(Wrapped):
    """The clients' problem, plus an objective of the server's own.

    It is the clients' problem in every respect: the objective, which runs measure and ground truth minimises, is the average over
    *all* clients, whoever takes part and whatever the server holds; all that the clients' problem can give, this one can. Methods
    that use the server's data ask for ``server``; the others do not notice it. When the server's data is a sample of the target
    population, its objective is an estimate of the average, not the average itself; `fedtheory.core.problem.Pooled` is the average itself.

    Parameters
    ----------
    inner : Problem
        The clients' f_1, ..., f_n.
    server : Problem
        The server's objective, n = 1, of the same dimension.
    """

    server: Any

    def __post_init__(self) -> None:
        """Refuse a server that is not one, or of another dimension."""
        if self.server.n != 1 or self.server.d != self.inner.d:
            raise InvalidInput(
                f"the server's objective must have n = 1 and d = {self.inner.d} like the clients', got n = {self.server.n} "
                f"and d = {self.server.d}"
            )

    @property
    def name(self) -> str:
        """Name of the clients' family."""
        return f"{self.inner.name} with server data"
