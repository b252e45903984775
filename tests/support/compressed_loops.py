"""Compressing methods as people write them: plain NumPy loops without the package and without bugs. Where coordinates are drawn, all are sent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from conformance_loops import Loop, ScaffnewLoop


def send_largest(v, share):
    """v with all but its largest coordinates set to zero: a share of them, and at least one."""
    order = sorted(range(len(v)), key=lambda k: -abs(v[k]))
    kept = np.zeros_like(v)
    for k in order[: max(1, round(share * len(v)))]:
        kept[k] = v[k]
    return kept


class ErrorFeedbackLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "e_i": "memory"}
    local = ("memory",)

    def round(self, asked):
        total = np.zeros(self.t.d)
        for i in asked.active:
            p = self.memory[i] + (self.x - self.descend(i, self.x))
            sent = send_largest(p, self.s.keep)
            self.memory[i] = p - sent
            total += sent
        self.x = self.x - total / len(asked.active)
        return self.state()


class EF21Loop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "g_i": "estimates"}
    local = ("estimates",)

    def begin(self) -> None:
        self.estimates = np.stack([g(self.x) for g in self.t.gradients])

    def round(self, asked):
        self.x = self.x - self.s.lr * self.estimates.mean(axis=0)
        for i in asked.active:
            self.estimates[i] += send_largest(self.t.gradients[i](self.x) - self.estimates[i], self.s.keep)
        return self.state()


class DianaLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "h_i": "h"}
    local = ("h",)

    def round(self, asked):
        sent = np.stack([g(self.x) for g in self.t.gradients]) - self.h
        self.x = self.x - self.s.lr * (self.h + sent).mean(axis=0)
        self.h = self.h + self.s.alpha * sent
        return self.state()


class FedPaqLoop(Loop):
    def round(self, asked):
        moves = [self.descend(i, self.x) - self.x for i in asked.active]
        self.x = self.x + self.s.server_lr * np.mean(moves, axis=0)
        return self.state()


class WholeScaffnewLoop(ScaffnewLoop):
    """All coordinates are sent by all clients: Scaffnew."""
