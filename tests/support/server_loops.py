"""Methods with a rule of their own at the server, as people write them: plain NumPy loops without the package and without bugs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from conformance_loops import Loop


class FedAvgMLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "v": "velocity"}
    server = ("velocity",)

    def round(self, asked):
        pseudo_gradient = np.mean([self.x - self.descend(i, self.x) for i in asked.active], axis=0)
        self.velocity = self.s.momentum * self.velocity + pseudo_gradient
        self.x = self.x - self.s.server_lr * self.velocity
        return self.state()


class FedNovaLoop(Loop):
    """Wang et al. 2020, with cumulated gradients: x - tau_eff lr mean_i (sum of the gradients / tau_i)."""

    def round(self, asked):
        normalised, counts = [], []
        for i in asked.active:
            y, total = self.x, np.zeros(self.t.d)
            for _ in range(self.t.steps[i]):
                g = self.t.gradients[i](y)
                y, total = y - self.lr * g, total + g
            normalised.append(total / self.t.steps[i])
            counts.append(self.t.steps[i])
        tau = sum(counts) / len(counts)
        self.x = self.x - self.s.server_lr * tau * self.lr * np.mean(normalised, axis=0)
        return self.state()


class FedExPLoop(Loop):
    def round(self, asked):
        moves = [self.x - self.descend(i, self.x) for i in asked.active]
        mean = sum(moves) / len(moves)
        step = sum(move @ move for move in moves) / (2 * len(moves) * (mean @ mean + self.s.epsilon))
        self.x = self.x - max(1.0, step) * mean
        return self.state()


class ServerOptimiser(Loop):
    """Reddi et al. 2021, Algorithm 2, coordinate by coordinate."""

    variables: ClassVar[dict[str, Any]] = {"x": "x", "m": "m", "v": "v"}
    server = ("m", "v")

    def begin(self) -> None:
        self.v = self.v + self.s.tau * self.s.tau

    def second(self, v, move):
        raise NotImplementedError

    def round(self, asked):
        move = np.mean([self.descend(i, self.x) - self.x for i in asked.active], axis=0)
        x, m, v = self.x.copy(), self.m.copy(), self.v.copy()
        for k in range(self.t.d):
            m[k] = self.s.beta1 * m[k] + (1 - self.s.beta1) * move[k]
            v[k] = self.second(v[k], move[k])
            x[k] += self.s.server_lr * m[k] / (v[k] ** 0.5 + self.s.tau)
        self.x, self.m, self.v = x, m, v
        return self.state()


class FedAdagradLoop(ServerOptimiser):
    def second(self, v, move):
        return v + move * move


class FedAdamLoop(ServerOptimiser):
    def second(self, v, move):
        return self.s.beta2 * v + (1 - self.s.beta2) * move * move


class FedYogiLoop(ServerOptimiser):
    def second(self, v, move):
        square = move * move
        return v - (1 - self.s.beta2) * square * (1 if v > square else -1 if v < square else 0)


class MifaLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "g_i": "table"}
    local = ("table",)

    def round(self, asked):
        for i in asked.active:
            self.table[i] = (self.x - self.descend(i, self.x)) / self.lr
        self.x = self.x - self.lr * self.table.sum(axis=0) / self.t.n
        return self.state()


class FedVarpLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "g_i": "table"}
    local = ("table",)

    def round(self, asked):
        v, fresh = self.table.mean(axis=0), {}
        for i in asked.active:
            fresh[i] = (self.x - self.descend(i, self.x)) / self.lr
            v = v + (fresh[i] - self.table[i]) / len(asked.active)
        for i in asked.active:
            self.table[i] = fresh[i]
        self.x = self.x - self.s.server_lr * self.lr * v
        return self.state()


class PFedMeLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "personal": "own"}
    local = ("own",)

    def begin(self) -> None:
        self.own = self.own + self.x

    def round(self, asked):
        s, arrived = self.s, []
        for i in asked.active:
            w = self.x
            for _ in range(s.local_rounds):
                theta = self.descend(i, w, lambda y, w=w: s.rho * (y - w))
                w = w - s.model_lr * s.rho * (w - theta)
            self.own[i] = theta
            arrived.append(w)
        self.x = (1 - s.server_lr) * self.x + s.server_lr * np.mean(arrived, axis=0)
        return self.state()


class Asynchronous(Loop):
    """Every client keeps the model that it received last, and the round in which it did."""

    variables: ClassVar[dict[str, Any]] = {"x": "x", "x_i": "received"}
    local = ("received",)

    def begin(self) -> None:
        self.received, self.at = self.received + self.x, [0] * self.t.n

    def flush(self, arrivals):
        """The new model from (weight, received model, trained model) of the arrivals."""
        raise NotImplementedError

    def round(self, asked):
        arrivals = []
        for i in asked.active:
            delay = asked.number - self.at[i]
            arrivals.append(((1 + delay) ** -self.s.power, self.received[i].copy(), self.train(i, self.received[i])))
        self.x = self.flush(arrivals)
        for i in asked.active:
            self.received[i], self.at[i] = self.x, asked.number + 1
        return self.state()

    def train(self, i, start):
        return self.descend(i, start)


class FedBuffLoop(Asynchronous):
    def flush(self, arrivals):
        return self.x + self.s.server_lr * sum(s * (y - start) for s, start, y in arrivals) / len(arrivals)


class FedBuffWeightsLoop(Asynchronous):
    def flush(self, arrivals):
        total = sum(s for s, _, _ in arrivals)
        return self.x + self.s.server_lr * sum(s * (y - start) for s, start, y in arrivals) / total


class FedAsyncLoop(Asynchronous):
    def train(self, i, start):
        return self.descend(i, start, lambda y: self.s.rho * (y - start))

    def flush(self, arrivals):
        mixtures = [(1 - self.s.alpha * s) * self.x + self.s.alpha * s * y for s, _, y in arrivals]
        return sum(mixtures) / len(mixtures)
