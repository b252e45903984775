"""Clients' problems with data that the server holds itself (SAFARI)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients


@dataclass(frozen=True, eq=False)
class ServerAssisted:
    """The clients' problem, plus an objective of the server's own.

    It is the clients' problem in every respect: the objective, which runs measure and ground truth minimises, is the average over
    *all* clients, whoever takes part and whatever the server holds; all that the clients' problem can give, this one can. Methods
    that use the server's data ask for ``server``; the others do not notice it. When the server's data is a sample of the target
    population, its objective is an estimate of the average, not the average itself; `fedtheory.core.problem.Pooled` is the average itself.

    Parameters
    ----------
    clients : Problem
        f_1, ..., f_n.
    server : Problem
        The server's objective, n = 1, of the same dimension.
    """

    clients: Any
    server: Any

    def __post_init__(self) -> None:
        """Refuse a server that is not one, or of another dimension."""
        if self.server.n != 1 or self.server.d != self.clients.d:
            raise InvalidInput(
                f"the server's objective must have n = 1 and d = {self.clients.d} like the clients', got n = {self.server.n} "
                f"and d = {self.server.d}"
            )

    @property
    def name(self) -> str:
        """Name of the clients' family."""
        return f"{self.clients.name} with server data"

    def take(self, clients: Clients | None) -> ServerAssisted:
        """Restrict to the clients that take part; the server stays."""
        return self if clients is None else replace(self, clients=self.clients.take(clients))

    def __getattr__(self, name: str) -> Any:
        """Everything else is the clients'."""
        if name.startswith("__") or name == "clients":  # asked before there are fields, as in copying
            raise AttributeError(name)
        found = getattr(self.clients, name)
        if name == "slice":
            return lambda first, last: replace(self, clients=found(first, last))
        return found
