"""Twenty one-line bugs in fifteen methods, written when the search was done and looked at once: they are what its score is measured with."""

from __future__ import annotations

import numpy as np
from conformance_loops import (
    AFedPdLoop,
    FedAdmmLoop,
    FedAvgLoop,
    FedCmLoop,
    FedDynLoop,
    FedPdLoop,
    FedProxLoop,
    ScaffnewLoop,
)
from held_out_bugs import FedAdmm, Scaffold
from more_conformance_loops import DittoLoop, FedDaneLoop, FedDrLoop, FedLinLoop, FedSplitLoop, NesterovLoop
from planted_bugs import Planted


class ServerDecays(FedAvgLoop):
    """The new model is made a hundredth smaller."""

    def round(self, asked):
        self.x = 0.99 * np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
        return self.state()


class SkipsTheSecondStep(FedAvgLoop):
    """The second local step is not taken."""

    def descend(self, i, start, extra=lambda y: 0, steps=None):
        y = start
        for q in range(self.t.steps[i]):
            if q != 1:
                y = y - self.lr * self.t.gradients[i](y)
        return y


class WeighsByLength(FedAvgLoop):
    """Clients count as much as they moved."""

    def round(self, asked):
        models = [self.descend(i, self.x) for i in asked.active]
        weights = [np.linalg.norm(model - self.x) for model in models]
        self.x = np.average(models, axis=0, weights=weights)
        return self.state()


class AnchorsAtTheStart(FedProxLoop):
    """Models are pulled to the very first one."""

    def begin(self) -> None:
        self.first = self.x.copy()

    def round(self, asked):
        rho, first = self.s.rho, self.first
        self.x = np.mean([self.descend(i, self.x, lambda y: rho * (y - first)) for i in asked.active], axis=0)
        return self.state()


class PenaltyOnOneCoordinate(FedProxLoop):
    """Only the first coordinate has a penalty."""

    def round(self, asked):
        x, rho = self.x, self.s.rho * np.eye(self.t.d)[0]
        self.x = np.mean([self.descend(i, x, lambda y: rho * (y - x)) for i in asked.active], axis=0)
        return self.state()


class ControlAtTheNewModel(Scaffold):
    """Control variates are gradients at the new model of the server."""

    def round(self, asked):
        models = [self.descend(i, self.x, lambda y, i=i: self.correction(i)) for i in asked.active]
        self.x = self.x + self.moved(models)
        old = self.controls.copy()
        for i in asked.active:
            self.controls[i] = self.t.gradients[i](self.x)
        self.c = self.c + self.share(self.controls - old, asked)
        return self.state()


class DualFades(FedDynLoop):
    """The server's dual loses a tenth in every round before it moves."""

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        models = {i: self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old)) for i in asked.active}
        for i, model in models.items():
            self.grads[i] = self.grads[i] - alpha * (model - old)
        total = np.sum(list(models.values()), axis=0)
        self.h = 0.9 * self.h - alpha / t.n * (total - len(models) * old)
        self.theta = total / len(models) - self.h / alpha
        return self.state()


class AnchorsAtOwnModel(FedDynLoop):
    """A client is held at its own last model, which its dual moves by, too."""

    def begin(self) -> None:
        super().begin()
        self.models = np.tile(self.theta, (self.t.n, 1))

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        before = self.models.copy()
        for i in asked.active:
            self.models[i] = self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - before[i]))
            self.grads[i] = self.grads[i] - alpha * (self.models[i] - before[i])
        total = self.models[list(asked.active)].sum(axis=0)
        self.h = self.h - alpha / t.n * (total - len(asked.active) * old)
        self.theta = total / len(asked.active) - self.h / alpha
        return self.state()


class PenaltyGrowsByATenth(FedAdmmLoop):
    """rho is multiplied by 1.1 from round to round."""

    def round(self, asked):
        rho, x = self.s.rho * 1.1**asked.number, self.x
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + rho * (y - x))
            self.pi[i] += rho * (self.w[i] - x)
        self.x = self.prox(np.mean(self.w + self.pi / rho, axis=0), 1 / rho)
        return self.state()


class DualByTheOldOwnModel(FedAdmm):
    """The dual step is made with the client's model of before."""

    def round(self, asked):
        before = self.w.copy()
        for i in asked.active:
            self.w[i] = self.descend(i, self.x, lambda y, i=i: self.pi[i] + self.s.rho * (y - self.x))
            self.pi[i] = self.pi[i] + self.s.rho * (before[i] - self.x)
        self.x = self.prox(self.mean_sent(asked), 1 / self.s.rho)
        return self.state()


class EvenClientsMissTheModel(FedPdLoop):
    """Clients with even numbers keep what they sent in rounds that communicate."""

    def round(self, asked):
        eta = self.s.eta
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
            self.duals[i] += (self.w[i] - self.copies[i]) / eta
        sent = self.w + eta * self.duals
        self.x, self.copies = sent.mean(axis=0), sent.copy()
        if asked.coins["communicate"]:
            self.copies[1::2] = self.x
        return self.state()


class WorkGoesOn(AFedPdLoop):
    """Local work starts at the client's last model."""

    def begin(self) -> None:
        self.models = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        rho, x = self.s.rho, self.x
        for i in asked.active:
            self.models[i] = self.descend(i, self.models[i], lambda y, i=i: self.duals[i] + rho * (y - x))
        mean = self.models[list(asked.active)].mean(axis=0)
        for i in range(self.t.n):
            self.duals[i] += rho * ((self.models[i] if i in asked.active else mean) - x)
        self.x = mean + self.duals.mean(axis=0) / rho
        return self.state()


class ControlsEverySecondRound(ScaffnewLoop):
    """Controls move in even rounds only."""

    def round(self, asked):
        before = self.shifts
        found = super().round(asked)
        if asked.number % 2:
            self.shifts = before
        return found | {"shifts": self.shifts}


class DirectionOfTheFirstClient(FedCmLoop):
    """The direction is the move of the first client of the round."""

    def round(self, asked):
        t, s, steps = self.t, self.s, self.t.steps[0]
        moves = []
        for i in asked.active:
            y = self.x
            for _ in range(steps):
                y = y - self.lr * (s.alpha * t.gradients[i](y) + (1 - s.alpha) * self.delta)
            moves.append(self.x - y)
        self.x = self.x - s.server_lr * np.mean(moves, axis=0)
        self.delta = moves[0] / (steps * self.lr)
        return self.state()


class OwnGradientIsOld(FedLinLoop):
    """A client subtracts its gradient at the model of the round before."""

    def begin(self) -> None:
        self.old = None

    def round(self, asked):
        here = [g(self.x) for g in self.t.gradients]
        own = here if self.old is None else self.old
        whole = np.mean(here, axis=0)
        self.x = np.mean([self.descend(i, self.x, lambda y, i=i: whole - own[i]) for i in range(self.t.n)], axis=0)
        self.old = here
        return self.state()


class AnchorsAtTheLastModel(FedDaneLoop):
    """The penalty holds models at the server's model of the round before."""

    def begin(self) -> None:
        self.last = self.x

    def round(self, asked):
        rho, x, last = self.s.rho, self.x, self.last
        here = {i: self.t.gradients[i](x) for i in asked.active}
        whole = sum(here.values()) / len(here)
        self.last = x
        models = [self.descend(i, x, lambda y, i=i: whole - here[i] + rho * (y - last)) for i in asked.active]
        self.x = np.mean(models, axis=0)
        return self.state()


class PersonalNormNotSquared(DittoLoop):
    """The personal penalty is a norm."""

    def round(self, asked):
        received = self.x
        self.x = np.mean([self.descend(i, received) for i in asked.active], axis=0)
        for i in asked.active:

            def pull(v):
                away = v - received
                return self.s.mu * away / max(np.linalg.norm(away), 1e-12)

            self.own[i] = self.descend(i, self.own[i], pull)
        return self.state()


class MeanOfTheAnswers(FedSplitLoop):
    """The server averages the local answers, not z_i."""

    def round(self, asked):
        halves = []
        for i in range(self.t.n):
            centre = 2 * self.x - self.z[i]
            halves.append(self.descend(i, self.x, lambda y, centre=centre: (y - centre) / self.s.s))
            self.z[i] += 2 * (halves[-1] - self.x)
        self.x = np.mean(halves, axis=0)
        return self.state()


class RelaxedTwice(FedDrLoop):
    """y moves by alpha^2."""

    def round(self, asked):
        eta = self.s.eta
        for i in asked.active:
            self.y[i] += self.s.alpha**2 * (self.x - self.w[i])
            self.w[i] = self.descend(i, self.x, lambda v, i=i: (v - self.y[i]) / eta)
        self.x = self.prox(np.mean(2 * self.w - self.y, axis=0), eta)
        return self.state()


class ClipsTheWholeGradient(NesterovLoop):
    """The mean gradient is cut at the length 1/4."""

    def round(self, asked):
        g = np.mean([g(self.ahead) for g in self.t.gradients], axis=0)
        old, self.x = self.x, self.ahead - self.s.lr * g * min(1, 0.25 / np.linalg.norm(g))
        self.ahead = self.x + asked.number / (asked.number + 3) * (self.x - old)
        return self.state()


PLANTED = (
    Planted("fedavg", "the model is made smaller", ServerDecays, r"0\.99"),
    Planted("fedavg", "the second step is skipped", SkipsTheSecondStep, r"second"),
    Planted("fedavg", "weights by lengths of moves", WeighsByLength, r"weigh.*(length|norm|move)"),
    Planted("fedprox", "models are pulled to the first one", AnchorsAtTheStart, r"first|start|x\^0"),
    Planted("fedprox", "the penalty on one coordinate", PenaltyOnOneCoordinate, r"coordinate"),
    Planted("scaffold", "controls at the new model", ControlAtTheNewModel, r"after|new"),
    Planted("feddyn", "the dual fades", DualFades, r"0\.9"),
    Planted("feddyn", "held at the own model", AnchorsAtOwnModel, r"state\.x_i"),
    Planted("fedadmm", "rho grows by a tenth", PenaltyGrowsByATenth, r"1\.1"),
    Planted("fedadmm", "the dual by the old own model", DualByTheOldOwnModel, r"state\.x_i"),
    Planted("fedpd", "even clients miss the model", EvenClientsMissTheModel, r"even"),
    Planted("a-fedpd", "local work goes on", WorkGoesOn, r"last one ended|own model|state\.x_i"),
    Planted("scaffnew", "controls move in even rounds", ControlsEverySecondRound, r"second round"),
    Planted("fedcm", "the first client's direction", DirectionOfTheFirstClient, r"first"),
    Planted("fedlin", "the own gradient is old", OwnGradientIsOld, r"g_i of the round before|earlier"),
    Planted("feddane", "held at the last model", AnchorsAtTheLastModel, r"state\.x of the (round|variables)"),
    Planted("ditto", "the norm is not squared", PersonalNormNotSquared, r"not squared"),
    Planted("fedsplit", "the mean of the answers", MeanOfTheAnswers, r"x_i"),
    Planted("feddr", "alpha twice", RelaxedTwice, r"alpha"),
    Planted("agd", "the mean gradient is clipped", ClipsTheWholeGradient, r"clipped.*0\.25"),
)
