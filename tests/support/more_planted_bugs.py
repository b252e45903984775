"""Twenty-four more bugs, of other kinds and in more methods than those of `planted_bugs`; the search named 9 of them before it was widened."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from conformance_loops import (
    AFedPdLoop,
    DualFlLoop,
    FedAdmmLoop,
    FedAvgLoop,
    FedCmLoop,
    FedDynLoop,
    FedPdLoop,
    FedSlrLoop,
    Loop,
    ScaffnewLoop,
    ScaffoldLoop,
)
from more_conformance_loops import FedDrLoop, FedSplitLoop, LocalTrainingLoop, NesterovLoop, VrlSgdLoop
from planted_bugs import Planted


class RunningMeanOfRounds(FedAvgLoop):
    """The sum of models and their number are never set back to zero."""

    def begin(self) -> None:
        self.total, self.count = np.zeros(self.t.d), 0

    def round(self, asked):
        for i in asked.active:
            self.total = self.total + self.descend(i, self.x)
            self.count += 1
        self.x = self.total / self.count
        return self.state()


class LateBinding(FedAvgLoop):
    """Every client works with the last active client's gradient: a function in a loop that reads the loop's variable."""

    def round(self, asked):
        jobs = [lambda k: self.descend(i, self.x, steps=self.t.steps[k]) for i in asked.active]  # noqa: B023
        self.x = np.mean([job(k) for job, k in zip(jobs, asked.active, strict=True)], axis=0)
        return self.state()


class DecayByStep(FedAvgLoop):
    """The step size decays with every local step as well."""

    def descend(self, i, start, extra=lambda y: 0, steps=None):
        y = start.copy()
        for k in range(self.t.steps[i]):
            y = y - self.lr * self.s.lr_decay**k * self.t.gradients[i](y)
        return y


class PenaltyToTheLastRound(Loop):
    """FedProx pulls to the server's model of the round before."""

    def begin(self) -> None:
        self.last = self.x

    def round(self, asked):
        x, last = self.x, self.last
        models = [self.descend(i, x, lambda y: self.s.rho * (y - last)) for i in asked.active]
        self.last, self.x = x, np.mean(models, axis=0)
        return self.state()


class ControlMovesInTheLoop(ScaffoldLoop):
    """The server's control moves after every client, so that the next client sees another one."""

    def round(self, asked):
        t, x, moves = self.t, self.x, []
        for i in asked.active:
            y = self.descend(i, x, lambda y, i=i: self.c - self.controls[i])
            new = self.controls[i] - self.c + (x - y) / (t.steps[i] * self.lr)
            self.c = self.c + (new - self.controls[i]) / t.n
            self.controls[i] = new
            moves.append(y - x)
        self.x = x + self.s.server_lr * np.mean(moves, axis=0)
        return self.state()


class ControlFromTheMeanModel(ScaffoldLoop):
    """The control update uses the mean of the arrived models for every client."""

    def round(self, asked):
        t, x = self.t, self.x
        models = {i: self.descend(i, x, lambda y, i=i: self.c - self.controls[i]) for i in asked.active}
        mean, before = np.mean(list(models.values()), axis=0), self.controls.copy()
        for i in asked.active:
            self.controls[i] += -self.c + (x - mean) / (t.steps[i] * self.lr)
        self.c = self.c + (self.controls - before).sum(axis=0) / t.n
        self.x = x + self.s.server_lr * (mean - x)
        return self.state()


class ServerDualForgets(FedDynLoop):
    """h is set to zero at the start of every round."""

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        models = {i: self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old)) for i in asked.active}
        self.h = np.zeros(t.d)
        for i, model in models.items():
            self.grads[i] = self.grads[i] - alpha * (model - old)
            self.h = self.h - alpha * (model - old) / t.n
        self.theta = sum(models.values()) / len(models) - self.h / alpha
        return self.state()


class MeanOfAllLastModels(FedDynLoop):
    """The server averages the last models of all clients."""

    def begin(self) -> None:
        super().begin()
        self.kept = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        for i in asked.active:
            self.kept[i] = self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old))
            self.grads[i] = self.grads[i] - alpha * (self.kept[i] - old)
            self.h = self.h - alpha * (self.kept[i] - old) / t.n
        self.theta = self.kept.mean(axis=0) - self.h / alpha
        return self.state()


class UploadWithLr(FedPdLoop):
    """x_i + lr lam_i is sent in place of x_i + eta lam_i."""

    def round(self, asked):
        eta = self.s.eta
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
            self.duals[i] += (self.w[i] - self.copies[i]) / eta
        sent = self.w + self.s.lr * self.duals
        self.x = sent.mean(axis=0)
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else sent
        return self.state()


class DualsShared(FedPdLoop):
    """A communication replaces the duals by their mean, too."""

    def round(self, asked):
        state = super().round(asked)
        if asked.coins["communicate"]:
            self.duals = np.tile(self.duals.mean(axis=0), (self.t.n, 1))
        return {**state, "duals": self.duals}


class ServerAddsChanges(FedAdmmLoop):
    """The server adds the mean change of the active z_i, as if all had moved."""

    def begin(self) -> None:
        super().begin()
        self.z = self.x.copy()

    def round(self, asked):
        rho, x, before = self.s.rho, self.x, self.w + self.pi / self.s.rho
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + rho * (y - x))
            self.pi[i] += rho * (self.w[i] - x)
        change = (self.w + self.pi / rho - before)[list(asked.active)].mean(axis=0)
        self.z = self.z + change
        self.x = self.prox(self.z, 1 / rho)
        return self.state()


class StaleModelsStartAtZero(FedAdmmLoop):
    """What the server holds of clients that never took part is zero; the adapter does not show it."""

    variables: ClassVar[dict[str, Any]] = {"x": "x", "lam_i": "pi"}

    def begin(self) -> None:
        self.w = np.zeros((self.t.n, self.t.d))


class CentreAtTheMeanModel(AFedPdLoop):
    """Local work is pulled to, and starts from, the model x; the penalty's centre is the mean of the round before."""

    def begin(self) -> None:
        self.mean = self.x

    def round(self, asked):
        rho, x = self.s.rho, self.x
        models = {i: self.descend(i, x, lambda y, i=i: self.duals[i] + rho * (y - self.mean)) for i in asked.active}
        mean = np.mean(list(models.values()), axis=0)
        for i in range(self.t.n):
            self.duals[i] += rho * (models.get(i, mean) - x)
        self.x, self.mean = mean + self.duals.mean(axis=0) / rho, mean
        return self.state()


class HalfWayToTheMean(ScaffnewLoop):
    """A communication takes clients half way to the mean."""

    def round(self, asked):
        lr, p = self.s.lr, self.s.p
        gradients = np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)])
        ahead = self.w - lr * gradients + self.shifts
        self.x = ahead.mean(axis=0)
        self.w = (self.x + ahead) / 2 if asked.coins["communicate"] else ahead
        self.shifts = self.shifts + p * (self.w - ahead)
        return self.state()


class ControlTowardsOldMean(ScaffnewLoop):
    """The control moves by the distance to the mean of the round before."""

    def round(self, asked):
        lr, p, old = self.s.lr, self.s.p, self.x
        gradients = np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)])
        ahead = self.w - lr * gradients + self.shifts
        self.x = ahead.mean(axis=0)
        if asked.coins["communicate"]:
            self.w = np.tile(self.x, (self.t.n, 1))
            self.shifts = self.shifts + p * (old - ahead)
        else:
            self.w = ahead
        return self.state()


class ThresholdWithoutLr(FedSlrLoop):
    """The threshold of the personal component is its weight, not multiplied by the step."""

    def round(self, asked):
        eta, x = self.s.eta, self.x
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: -self.duals[i] + (y - x) / eta)
            self.duals[i] = self.duals[i] + (x - self.w[i]) / eta
            p = self.own[i]
            for _ in range(self.t.steps[i]):
                p = p - self.lr * self.t.gradients[i](x + p)
                p = np.sign(p) * np.maximum(np.abs(p) - self.s.l1, 0)
            self.own[i] = p
        mean = self.w[list(asked.active)].mean(axis=0)
        self.x = self.prox(mean - eta * self.duals.mean(axis=0), eta)
        return self.state()


class LocalWorkFromZero(DualFlLoop):
    """Local work starts at zero in every round."""

    def descend(self, i, start, extra=lambda y: 0, steps=None):
        return super().descend(i, 0 * start, extra, steps)


class ServerDoesNotDecay(Loop):
    """SAFARI whose server keeps its first step size."""

    def round(self, asked):
        if asked.coins["communicate"]:
            self.x = np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
        else:
            self.x = self.x - self.s.server_lr * self.s.lr * self.t.server(self.x)
        return self.state()


class DirectionOfTheFirstStep(FedCmLoop):
    """The direction is the mean of the mixtures at the server's model, not along the path."""

    def round(self, asked):
        t, s, moves, firsts = self.t, self.s, [], []
        for i in asked.active:
            y = self.x
            for k in range(t.steps[0]):
                step = s.alpha * t.gradients[i](y) + (1 - s.alpha) * self.delta
                firsts += [step] if k == 0 else []
                y = y - self.lr * step
            moves.append(self.x - y)
        self.x, self.delta = self.x - s.server_lr * np.mean(moves, axis=0), np.mean(firsts, axis=0)
        return self.state()


class DeltaFromTheOldModel(VrlSgdLoop):
    def round(self, asked):
        old = self.x
        models = np.stack([self.descend(i, old, lambda y, i=i: -self.deltas[i]) for i in range(self.t.n)])
        self.x = models.mean(axis=0)
        self.deltas = self.deltas + (old - models) / (self.t.steps[0] * self.lr)
        return self.state()


class SplitsWithoutReflecting(FedSplitLoop):
    """z_i moves by the step itself, not by twice it."""

    def round(self, asked):
        for i in range(self.t.n):
            centre = 2 * self.x - self.z[i]
            half = self.descend(i, self.x, lambda y, centre=centre: (y - centre) / self.s.s)
            self.z[i] += half - self.x
        self.x = self.z.mean(axis=0)
        return self.state()


class ServerLooksAtActiveOnly(FedDrLoop):
    def round(self, asked):
        eta = self.s.eta
        for i in asked.active:
            self.y[i] += self.s.alpha * (self.x - self.w[i])
            self.w[i] = self.descend(i, self.x, lambda v, i=i: (v - self.y[i]) / eta)
        self.x = self.prox(np.mean((2 * self.w - self.y)[list(asked.active)], axis=0), eta)
        return self.state()


class PersonalPulledToTheNewModel(LocalTrainingLoop):
    """Ditto whose personal models are pulled to the model that the round leads to."""

    def round(self, asked):
        self.x = np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
        for i in asked.active:
            self.own[i] = self.descend(i, self.own[i], lambda v: self.s.mu * (v - self.x))
        return self.state()


class MomentumOneAhead(NesterovLoop):
    def round(self, asked):
        old, self.x = self.x, self.ahead - self.s.lr * np.mean([g(self.ahead) for g in self.t.gradients], axis=0)
        self.ahead = self.x + (asked.number + 1) / (asked.number + 4) * (self.x - old)
        return self.state()


PLANTED = (
    Planted("fedavg", "models add up over the rounds", RunningMeanOfRounds, r"rounds"),
    Planted("fedavg", "all clients use the last one's gradient", LateBinding, r"last|problem\.take"),
    Planted("fedavg", "the step decays within a round", DecayByStep, r"decay|step"),
    Planted("fedprox", "the penalty pulls to the model of the round before", PenaltyToTheLastRound, r"z=state\.x"),
    Planted("scaffold", "the server's control moves in the loop over clients", ControlMovesInTheLoop, r"\bc\b"),
    Planted("scaffold", "the control update uses the mean model", ControlFromTheMeanModel, r"state\.x - y"),
    Planted("feddyn", "the server's dual is forgotten", ServerDualForgets, r"lam ="),
    Planted("feddyn", "the server averages all last models", MeanOfAllLastModels, r"x_bar = "),
    Planted("fedpd", "lr in place of eta in what is sent", UploadWithLr, r"upload = "),
    Planted("fedpd", "duals are averaged in a communication", DualsShared, r"lam"),
    Planted("fedadmm", "the server adds the mean change of active z_i", ServerAddsChanges, r"z = "),
    Planted("fedadmm", "first z_i are zero", StaleModelsStartAtZero, r"x_i|start"),
    Planted("a-fedpd", "the penalty's centre is the mean of before", CentreAtTheMeanModel, r"z=state\.x"),
    Planted("scaffnew", "clients go half way to the mean", HalfWayToTheMean, r"x_i = choose|spread"),
    Planted("scaffnew", "the control moves towards the old mean", ControlTowardsOldMean, r"h_i|x_i"),
    Planted("fedslr", "the personal threshold lacks lr", ThresholdWithoutLr, r"personal"),
    Planted("dualfl", "local work starts at zero", LocalWorkFromZero, r"self\.local\("),
    Planted("safari", "the server's step does not decay", ServerDoesNotDecay, r"_at_server"),
    Planted("fedcm", "the direction is that of the first local step", DirectionOfTheFirstStep, r"moved|direction"),
    Planted("vrl-sgd", "corrections move from the old model", DeltaFromTheOldModel, r"x - x_i"),
    Planted("fedsplit", "no reflection", SplitsWithoutReflecting, r"z_i"),
    Planted("feddr", "the mean is over active clients", ServerLooksAtActiveOnly, r"average"),
    Planted("ditto", "personal models are pulled to the new model", PersonalPulledToTheNewModel, r"z=state\.x"),
    Planted("agd", "the momentum is of the round after", MomentumOneAhead, r"round|beta"),
)
