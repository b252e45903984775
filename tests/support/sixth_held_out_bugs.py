"""Twenty bugs in sixteen methods, written when the search was done and looked at once: they are what its score is measured with."""

from __future__ import annotations

import numpy as np
from conformance_loops import (
    AFedPdLoop,
    FedAvgLoop,
    FedCmLoop,
    FedDynLoop,
    FedPdLoop,
    FedProxLoop,
    FedSamLoop,
    FedSlrLoop,
    ScaffnewLoop,
)
from held_out_bugs import FedAdmm, Scaffold
from more_conformance_loops import DittoLoop, DualAveragingLoop, FedDaneLoop, FedDrLoop, FedLinLoop
from planted_bugs import Planted


class DecaysTwice(FedAvgLoop):
    """The step size decays twice a round."""

    @property
    def lr(self):
        return self.s.lr * self.s.lr_decay ** (2 * self.number)


class HalfTheSteps(FedAvgLoop):
    """Half of the local steps are taken, rounded down."""

    def round(self, asked):
        self.x = np.mean([self.descend(i, self.x, steps=self.t.steps[i] // 2) for i in asked.active], axis=0)
        return self.state()


class LooksAhead(FedAvgLoop):
    """A gradient is taken where a step from the local point would lead."""

    def descend(self, i, start, extra=lambda y: 0, steps=None):
        y, g = start, self.t.gradients[i]
        for _ in range(self.t.steps[i]):
            y = y - self.lr * g(y - self.lr * g(y))
        return y


class PenaltySharedOut(FedProxLoop):
    """rho is divided by the number of active clients."""

    def round(self, asked):
        x, rho = self.x, self.s.rho / len(asked.active)
        self.x = np.mean([self.descend(i, x, lambda y: rho * (y - x)) for i in asked.active], axis=0)
        return self.state()


class FourthPower(FedProxLoop):
    """The penalty is rho/4 ||y - x||^4."""

    def round(self, asked):
        x, rho = self.x, self.s.rho
        models = [self.descend(i, x, lambda y: rho * np.sum((y - x) ** 2) * (y - x)) for i in asked.active]
        self.x = np.mean(models, axis=0)
        return self.state()


class ControlsInEvenRounds(Scaffold):
    """Clients' controls move in even rounds; the server's is their mean."""

    def round(self, asked):
        before, c = self.controls.copy(), self.c
        found = super().round(asked)
        if asked.number % 2:
            self.controls, self.c = before, c
        return found | {"controls": self.controls, "c": self.c}


class ControlFromTheLastStart(Scaffold):
    """The control update subtracts from the server's model of the round before."""

    def begin(self) -> None:
        self.last = self.x

    def control(self, i, y):
        return self.controls[i] - self.c + (self.last - y) / (self.t.steps[i] * self.lr)

    def round(self, asked):
        now = self.x
        found = super().round(asked)
        self.last = now
        return found


class OldDualInEvenRounds(FedDynLoop):
    """In even rounds the server takes its dual of before."""

    def round(self, asked):
        self.bug = "" if asked.number % 2 else "old dual"
        return super().round(asked)


class DualOfTheLastClient(FedAdmm):
    """The server adds the last client's dual to the mean of the models."""

    def mean_sent(self, asked):
        return self.w.mean(axis=0) + self.pi[-1] / self.s.rho


class AveragesTheCopies(FedPdLoop):
    """The server averages the copies that clients had before local work."""

    def round(self, asked):
        eta = self.s.eta
        self.x = self.copies.mean(axis=0)
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
            self.duals[i] += (self.w[i] - self.copies[i]) / eta
        sent = self.w + eta * self.duals
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else sent
        return self.state()


class DualsByTheNewModel(AFedPdLoop):
    """Active clients' duals move by the way to the new mean."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        models = {i: self.descend(i, x, lambda y, i=i: self.duals[i] + rho * (y - x)) for i in asked.active}
        mean = np.mean(list(models.values()), axis=0)
        for i in range(self.t.n):
            self.duals[i] += rho * (models[i] - mean if i in models else mean - x)
        self.x = mean + self.duals.mean(axis=0) / rho
        return self.state()


class AveragesTheFirstHalf(ScaffnewLoop):
    """Only the first half of the clients are averaged."""

    def round(self, asked):
        lr, p = self.s.lr, self.s.p
        gradients = np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)])
        ahead = self.w - lr * gradients + self.shifts
        self.x = ahead[: self.t.n // 2].mean(axis=0)
        self.w = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else ahead
        self.shifts = self.shifts + p * (self.w - ahead)
        return self.state()


class ServersStepInLocalWork(FedCmLoop):
    """Local steps are multiplied by the server's."""

    def round(self, asked):
        t, s, steps = self.t, self.s, self.t.steps[0]
        moves = []
        for i in asked.active:
            y = self.x
            for _ in range(steps):
                y = y - s.server_lr * self.lr * (s.alpha * t.gradients[i](y) + (1 - s.alpha) * self.delta)
            moves.append(self.x - y)
        moved = np.mean(moves, axis=0)
        self.x = self.x - s.server_lr * moved
        self.delta = moved / (steps * self.lr)
        return self.state()


class DecayInTheSecondGradient(FedSamLoop):
    """The perturbed gradient has a weight decay of 1/20."""

    def round(self, asked):
        models = []
        for i in asked.active:
            y, g = self.x, self.t.gradients[i]
            for _ in range(self.t.steps[i]):
                u = g(y)
                there = y + self.s.radius * u / np.linalg.norm(u)
                y = y - self.lr * (g(there) + 0.05 * there)
            models.append(y)
        self.x = np.mean(models, axis=0)
        return self.state()


class WholeGradientBySteps(FedLinLoop):
    """The whole gradient weighs clients by their local steps."""

    def round(self, asked):
        here = [g(self.x) for g in self.t.gradients]
        whole = np.average(here, axis=0, weights=self.t.steps)
        self.x = np.mean([self.descend(i, self.x, lambda y, i=i: whole - here[i]) for i in range(self.t.n)], axis=0)
        return self.state()


class PersonalStepsTwice(DittoLoop):
    """Personal models get twice as many steps."""

    def round(self, asked):
        received = self.x
        self.x = np.mean([self.descend(i, received) for i in asked.active], axis=0)
        for i in asked.active:
            pull = lambda v: self.s.mu * (v - received)  # noqa: E731
            self.own[i] = self.descend(i, self.own[i], pull, steps=2 * self.t.steps[i])
        return self.state()


class ReflectsInTheOldCentre(FedDrLoop):
    """The server's mean has y_i of before the round."""

    def round(self, asked):
        eta, before = self.s.eta, self.y.copy()
        for i in asked.active:
            self.y[i] += self.s.alpha * (self.x - self.w[i])
            self.w[i] = self.descend(i, self.x, lambda v, i=i: (v - self.y[i]) / eta)
        self.x = self.prox(np.mean(2 * self.w - before, axis=0), eta)
        return self.state()


class ThresholdsModels(FedSlrLoop):
    """Clients' models are soft-thresholded, and not their components alone."""

    def descend(self, i, start, extra=lambda y: 0, steps=None):
        y = super().descend(i, start, extra, steps)
        return np.sign(y) * np.maximum(np.abs(y) - self.lr * self.s.l1, 0)


class WholeGradientIsLate(FedDaneLoop):
    """The shared gradient is that of the round before."""

    def begin(self) -> None:
        self.late = None

    def round(self, asked):
        rho, x = self.s.rho, self.x
        here = {i: self.t.gradients[i](x) for i in asked.active}
        now = sum(here.values()) / len(here)
        whole = now if self.late is None else self.late
        self.late = now
        models = [self.descend(i, x, lambda y, i=i: whole - here[i] + rho * (y - x)) for i in asked.active]
        self.x = np.mean(models, axis=0)
        return self.state()


class DualAveragedWithTheOld(DualAveragingLoop):
    """z is the middle of the old one and the new one."""

    def round(self, asked):
        old = self.z
        super().round(asked)
        self.z = (old + self.z) / 2
        lr, server_lr, k = self.s.lr, self.s.server_lr, self.t.steps[0]
        self.x = self.prox(self.z, lr * server_lr * (asked.number + 1) * k)
        return self.state()


PLANTED = (
    Planted("fedavg", "the step decays twice a round", DecaysTwice, r"decay|round"),
    Planted("fedavg", "half of the steps", HalfTheSteps, r"half"),
    Planted("fedavg", "gradients ahead", LooksAhead, r"ahead|step would lead"),
    Planted("fedprox", "rho over m", PenaltySharedOut, r"divided by m"),
    Planted("fedprox", "the fourth power", FourthPower, r"fourth|power|squared length"),
    Planted("scaffold", "controls move in even rounds", ControlsInEvenRounds, r"every second round"),
    Planted(
        "scaffold", "the control from the last start", ControlFromTheLastStart, r"state\.x of the (round|variables)"
    ),
    Planted("feddyn", "the old dual in even rounds", OldDualInEvenRounds, r"state\.lam.*second round"),
    Planted("fedadmm", "the last client's dual", DualOfTheLastClient, r"last client"),
    Planted("fedpd", "the mean of old copies", AveragesTheCopies, r"state\.x0_i"),
    Planted("a-fedpd", "active duals by the new mean", DualsByTheNewModel, r"x_bar|lam"),
    Planted("scaffnew", "the mean of the first half", AveragesTheFirstHalf, r"half"),
    Planted("fedcm", "the server's step in local work", ServersStepInLocalWork, r"server_lr"),
    Planted("fedsam", "weight decay in the second gradient", DecayInTheSecondGradient, r"decay"),
    Planted("fedlin", "the whole gradient by steps", WholeGradientBySteps, r"weighed by their local steps"),
    Planted("ditto", "twice as many personal steps", PersonalStepsTwice, r"twice"),
    Planted("feddr", "the old centre at the server", ReflectsInTheOldCentre, r"state\.y_i"),
    Planted("fedslr", "models are thresholded", ThresholdsModels, r"prox|threshold"),
    Planted("feddane", "the whole gradient is late", WholeGradientIsLate, r"round before|earlier"),
    Planted("feddualavg", "z averaged with the old one", DualAveragedWithTheOld, r"z averaged|half way|halved"),
)
