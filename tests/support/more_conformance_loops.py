"""More federated methods as people write them, in plain NumPy loops without the package and without bugs (`conformance_loops` has the first)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from conformance_loops import Loop


class WeightedFedAvgLoop(Loop):
    """Weights n_i / n, where a client has as many samples as local steps."""

    def round(self, asked):
        total, x = 0, np.zeros_like(self.x)
        for i in asked.active:
            x += self.t.steps[i] * self.descend(i, self.x)
            total += self.t.steps[i]
        self.x = x / total
        return self.state()


class GradientDescentLoop(Loop):
    def round(self, asked):
        self.x = self.x - self.s.lr * np.mean([g(self.x) for g in self.t.gradients], axis=0)
        return self.state()


class NesterovLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "y": "ahead"}

    def begin(self) -> None:
        self.ahead = self.x.copy()

    def round(self, asked):
        old, self.x = self.x, self.ahead - self.s.lr * np.mean([g(self.ahead) for g in self.t.gradients], axis=0)
        momentum = getattr(self.s, "momentum", None)
        weight = asked.number / (asked.number + 3) if momentum is None else momentum
        self.ahead = self.x + weight * (self.x - old)
        return self.state()


class ProximalGradientLoop(Loop):
    def round(self, asked):
        total = np.zeros(self.t.d)
        for g in self.t.gradients:
            total += g(self.x)
        self.x = self.prox(self.x - self.s.lr * total / self.t.n, self.s.lr)
        return self.state()


class LocalProximalLoop(Loop):
    """A soft-thresholding (or the like) in every local step."""

    def round(self, asked):
        models = []
        for i in asked.active:
            y = self.x
            for _ in range(self.t.steps[i]):
                y = self.prox(y - self.lr * self.t.gradients[i](y), self.lr)
            models.append(y)
        self.x = np.mean(models, axis=0)
        return self.state()


class FedLinLoop(Loop):
    def round(self, asked):
        here = [g(self.x) for g in self.t.gradients]
        whole = np.mean(here, axis=0)
        self.x = np.mean(
            [self.descend(i, self.x, lambda y, i=i: whole - here[i]) for i in range(self.t.n)],
            axis=0,
        )
        return self.state()


class VrlSgdLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "delta_i": "deltas"}
    local = ("deltas",)

    def round(self, asked):
        k = self.t.steps[0]
        models = np.stack([self.descend(i, self.x, lambda y, i=i: -self.deltas[i]) for i in range(self.t.n)])
        self.x = models.mean(axis=0)
        self.deltas = self.deltas + (self.x - models) / (k * self.lr)
        return self.state()


class FedDaneLoop(Loop):
    def round(self, asked):
        rho, x = self.s.rho, self.x
        here = {i: self.t.gradients[i](x) for i in asked.active}
        whole = sum(here.values()) / len(here)
        models = [self.descend(i, x, lambda y, i=i: whole - here[i] + rho * (y - x)) for i in asked.active]
        self.x = np.mean(models, axis=0)
        return self.state()


class FedSplitLoop(Loop):
    """Local steps towards prox_{s f_i}(2 x - z_i)."""

    variables: ClassVar[dict[str, Any]] = {"x": "x", "z_i": "z"}
    local = ("z",)

    def begin(self) -> None:
        self.z = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        for i in range(self.t.n):
            centre = 2 * self.x - self.z[i]
            half = self.descend(i, self.x, lambda y, centre=centre: (y - centre) / self.s.s)
            self.z[i] += 2 * (half - self.x)
        self.x = self.z.mean(axis=0)
        return self.state()


class FedDrLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "x_i": "w", "y_i": "y"}
    local = ("w", "y")

    def begin(self) -> None:
        self.w, self.y = np.tile(self.x, (self.t.n, 1)), np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        eta = self.s.eta
        for i in asked.active:
            self.y[i] += self.s.alpha * (self.x - self.w[i])
            self.w[i] = self.descend(i, self.x, lambda v, i=i: (v - self.y[i]) / eta)
        self.x = self.prox(np.mean(2 * self.w - self.y, axis=0), eta)
        return self.state()


class LocalTrainingLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "personal": "own"}
    local = ("own",)

    def begin(self) -> None:
        self.own = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        for i in asked.active:
            self.own[i] = self.descend(i, self.own[i])
        self.x = self.own.mean(axis=0)
        return self.state()


class DittoLoop(LocalTrainingLoop):
    def round(self, asked):
        received, arrived = self.x, []
        for i in asked.active:
            arrived.append(self.descend(i, received))
            self.own[i] = self.descend(i, self.own[i], lambda v: self.s.mu * (v - received))
        self.x = np.mean(arrived, axis=0)
        return self.state()


class DualAveragingLoop(Loop):
    """Clients sum gradients; a model is the proximal map of the sum."""

    variables: ClassVar[dict[str, Any]] = {"x": "x", "z": "z"}

    def begin(self) -> None:
        self.z = self.x.copy()

    def round(self, asked):
        lr, server_lr, k, moves = self.s.lr, self.s.server_lr, self.t.steps[0], []
        for i in asked.active:
            z = self.z
            for step in range(k):
                w = self.prox(z, lr * (server_lr * asked.number * k + step))
                z = z - lr * self.t.gradients[i](w)
            moves.append(z - self.z)
        self.z = self.z + server_lr * np.mean(moves, axis=0)
        self.x = self.prox(self.z, lr * server_lr * (asked.number + 1) * k)
        return self.state()
