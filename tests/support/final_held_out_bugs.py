"""Twenty bugs in seventeen methods, written after all rules of the search and looked at once: they are what its score is measured with."""

from __future__ import annotations

import numpy as np
from conformance_loops import (
    AFedPdLoop,
    DualFlLoop,
    FedAdmmLoop,
    FedAvgLoop,
    FedCmLoop,
    FedDynLoop,
    FedPdLoop,
    FedProxLoop,
    FedSlrLoop,
    ScaffnewLoop,
)
from held_out_bugs import Scaffold
from more_conformance_loops import (
    DittoLoop,
    DualAveragingLoop,
    FedLinLoop,
    FedSplitLoop,
    NesterovLoop,
    VrlSgdLoop,
)
from planted_bugs import Planted


class CountsTheLastRound(FedAvgLoop):
    """The buffer still has the models of the round before: their mean counts as much."""

    def begin(self) -> None:
        self.last = None

    def round(self, asked):
        now = np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
        self.x = now if self.last is None else (now + self.last) / 2
        self.last = now
        return self.state()


class ClipsGradientEntries(FedAvgLoop):
    """Entries of local gradients are cut at 1/5."""

    def descend(self, i, start, extra=lambda y: 0, steps=None):
        y = start
        for _ in range(self.t.steps[i]):
            y = y - self.lr * np.clip(self.t.gradients[i](y), -0.2, 0.2)
        return y


class PullsOnceAtTheEnd(FedProxLoop):
    """One proximal step after local steps without a penalty."""

    def round(self, asked):
        x, weight = self.x, self.s.rho * self.lr
        self.x = np.mean([(self.descend(i, x) + weight * x) / (1 + weight) for i in asked.active], axis=0)
        return self.state()


class StartsAtOwnModel(FedProxLoop):
    """Local work starts at the client's last model, and is pulled to the server's."""

    def begin(self) -> None:
        self.own = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        x, rho = self.x, self.s.rho
        for i in asked.active:
            self.own[i] = self.descend(i, self.own[i], lambda y: rho * (y - x))
        self.x = self.own[list(asked.active)].mean(axis=0)
        return self.state()


class TotalStepsInTheControl(Scaffold):
    """The control update divides by the local steps of all active clients together."""

    def round(self, asked):
        self.all_steps = sum(self.t.steps[i] for i in asked.active)
        return super().round(asked)

    def control(self, i, y):
        return self.controls[i] - self.c + (self.x - y) / (self.all_steps * self.lr)


class LateCorrections(Scaffold):
    """Clients correct by c - c_i of the round before."""

    def begin(self) -> None:
        self.old = self.c, self.controls.copy()

    def correction(self, i):
        return self.old[0] - self.old[1][i]

    def round(self, asked):
        now = self.c, self.controls.copy()
        found = super().round(asked)
        self.old = now
        return found


class MeanOfLastModels(FedDynLoop):
    """The server averages the last models of all clients, x^0 of those not seen."""

    def begin(self) -> None:
        super().begin()
        self.models = np.tile(self.theta, (self.t.n, 1))

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        for i in asked.active:
            self.models[i] = self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old))
            self.grads[i] = self.grads[i] - alpha * (self.models[i] - old)
        active = list(asked.active)
        self.h = self.h - alpha / t.n * (self.models[active] - old).sum(axis=0)
        self.theta = self.models.mean(axis=0) - self.h / alpha
        return self.state()


class OverRelaxedDual(FedAdmmLoop):
    """The dual step is made with 3/2 of the new model less half of the old one."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        for i in asked.active:
            old = self.w[i].copy()
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + rho * (y - x))
            self.pi[i] = self.pi[i] + rho * (1.5 * self.w[i] - 0.5 * old - x)
        self.x = self.prox(np.mean(self.w + self.pi / rho, axis=0), 1 / rho)
        return self.state()


class AveragesWhatCameLate(FedPdLoop):
    """The server averages what was sent in the round before."""

    def begin(self) -> None:
        super().begin()
        self.sent = None

    def round(self, asked):
        eta = self.s.eta
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
            self.duals[i] += (self.w[i] - self.copies[i]) / eta
        sent = self.w + eta * self.duals
        self.x = (sent if self.sent is None else self.sent).mean(axis=0)
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else sent
        self.sent = sent
        return self.state()


class HalfADualForTheAbsent(AFedPdLoop):
    """The duals of clients that are away move by half."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        models = {i: self.descend(i, x, lambda y, i=i: self.duals[i] + rho * (y - x)) for i in asked.active}
        mean = np.mean(list(models.values()), axis=0)
        for i in range(self.t.n):
            self.duals[i] += rho * (models[i] - x) if i in models else rho / 2 * (mean - x)
        self.x = mean + self.duals.mean(axis=0) / rho
        return self.state()


class ControlByTheOldModel(ScaffnewLoop):
    """The control moves by the client's old model less what it was ahead of."""

    def round(self, asked):
        lr, p, old = self.s.lr, self.s.p, self.w
        gradients = np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)])
        ahead = self.w - lr * gradients + self.shifts
        self.x = ahead.mean(axis=0)
        self.w = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else ahead
        self.shifts = self.shifts + p * (old - ahead)
        return self.state()


class InertiaFromTwoRoundsAgo(DualFlLoop):
    """The inertia is the way from two rounds ago."""

    def begin(self) -> None:
        super().begin()
        self.older = self.before

    def round(self, asked):
        nu = self.s.nu
        self.w = np.stack([self.descend(i, self.w[i], lambda y, i=i: -nu * self.zeta[i]) for i in range(self.t.n)])
        self.x = self.w.mean(axis=0)
        now = self.zeta + self.x - self.w
        self.zeta = now + self.beta(asked.number) * (now - self.older)
        self.older, self.before = self.before, now
        return self.state()


class PastFades(FedCmLoop):
    """The past direction has the weight (1 - alpha)^(r + 1) in round r."""

    def round(self, asked):
        t, s, steps = self.t, self.s, self.t.steps[0]
        moves = []
        for i in asked.active:
            y = self.x
            for _ in range(steps):
                y = y - self.lr * (s.alpha * t.gradients[i](y) + (1 - s.alpha) ** (asked.number + 1) * self.delta)
            moves.append(self.x - y)
        moved = np.mean(moves, axis=0)
        self.x = self.x - s.server_lr * moved
        self.delta = moved / (steps * self.lr)
        return self.state()


class MeanOfTheOthers(FedLinLoop):
    """A client is corrected by the mean gradient of the other ones."""

    def round(self, asked):
        here, n = [g(self.x) for g in self.t.gradients], self.t.n
        whole = np.sum(here, axis=0)
        models = [self.descend(i, self.x, lambda y, i=i: (whole - here[i]) / (n - 1) - here[i]) for i in range(n)]
        self.x = np.mean(models, axis=0)
        return self.state()


class CorrectionsRestarted(VrlSgdLoop):
    """Corrections are set to zero in every third round."""

    def round(self, asked):
        super().round(asked)
        if asked.number % 3 == 2:
            self.deltas = 0 * self.deltas
        return self.state()


class AveragesPersonalModels(DittoLoop):
    """The server averages the personal models."""

    def round(self, asked):
        received = self.x
        for i in asked.active:
            self.own[i] = self.descend(i, self.own[i], lambda v: self.s.mu * (v - received))
        self.x = self.own[list(asked.active)].mean(axis=0)
        return self.state()


class MovesByTheMean(FedSplitLoop):
    """All z_i move by the mean of the local answers."""

    def round(self, asked):
        halves = []
        for i in range(self.t.n):
            centre = 2 * self.x - self.z[i]
            halves.append(self.descend(i, self.x, lambda y, centre=centre: (y - centre) / self.s.s))
        self.z = self.z + 2 * (np.mean(halves, axis=0) - self.x)
        self.x = self.z.mean(axis=0)
        return self.state()


class AbsentDualsVanish(FedSlrLoop):
    """Duals of clients that are away are set to zero."""

    def round(self, asked):
        away = [i for i in range(self.t.n) if i not in asked.active]
        self.duals[away] = 0
        return super().round(asked)


class GradientBehind(NesterovLoop):
    """The gradient is taken at x, and not ahead of it."""

    def round(self, asked):
        old, self.x = self.x, self.ahead - self.s.lr * np.mean([g(self.x) for g in self.t.gradients], axis=0)
        self.ahead = self.x + asked.number / (asked.number + 3) * (self.x - old)
        return self.state()


class WeightCountsRounds(DualAveragingLoop):
    """The weight of the regulariser counts rounds and no local steps."""

    def round(self, asked):
        lr, server_lr, k, moves = self.s.lr, self.s.server_lr, self.t.steps[0], []
        for i in asked.active:
            z = self.z
            for _ in range(k):
                w = self.prox(z, lr * server_lr * asked.number * k)
                z = z - lr * self.t.gradients[i](w)
            moves.append(z - self.z)
        self.z = self.z + server_lr * np.mean(moves, axis=0)
        self.x = self.prox(self.z, lr * server_lr * (asked.number + 1) * k)
        return self.state()


PLANTED = (
    Planted(
        "fedavg", "the mean of the last round counts as well", CountsTheLastRound, r"round before|averaged|half way"
    ),
    Planted("fedavg", "entries of gradients are clipped", ClipsGradientEntries, r"clipped at.*0\.2"),
    Planted("fedprox", "one pull after local work", PullsOnceAtTheEnd, r"x_i|pull"),
    Planted("fedprox", "local work from the own model", StartsAtOwnModel, r"last one ended"),
    Planted("scaffold", "all local steps in the control", TotalStepsInTheControl, r"all|sum|total"),
    Planted("scaffold", "corrections of the round before", LateCorrections, r"state\.c - c_i of the round before"),
    Planted("feddyn", "the mean of all last models", MeanOfLastModels, r"last had|x_i"),
    Planted("fedadmm", "an over-relaxed dual", OverRelaxedDual, r"x_i|1\.5|0\.5"),
    Planted("fedpd", "the mean of what came late", AveragesWhatCameLate, r"of the round before"),
    Planted(
        "a-fedpd", "half a dual step for absent clients", HalfADualForTheAbsent, r"halved.*absent|absent.*halved|0\.5"
    ),
    Planted("scaffnew", "controls by the old model", ControlByTheOldModel, r"state\.x_i"),
    Planted("dualfl", "inertia of two rounds", InertiaFromTwoRoundsAgo, r"state\.z_i of the round before"),
    Planted("fedcm", "the past fades", PastFades, r"direction|rounds"),
    Planted("fedlin", "the mean gradient of the others", MeanOfTheOthers, r"others|without"),
    Planted("vrl-sgd", "corrections are restarted", CorrectionsRestarted, r"left out in every third round"),
    Planted("ditto", "the mean of personal models", AveragesPersonalModels, r"v in place of x_i|personal"),
    Planted("fedsplit", "all move by the mean", MovesByTheMean, r"mean over clients"),
    Planted("fedslr", "absent duals vanish", AbsentDualsVanish, r"absent"),
    Planted("agd", "the gradient behind", GradientBehind, r"state\.x in place of state\.y"),
    Planted("feddualavg", "the weight counts rounds", WeightCountsRounds, r"round|step"),
)
