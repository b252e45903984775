"""Twenty-one bugs more; the search named 11 of them before it was widened for the last time."""

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
    FedSlrLoop,
    Loop,
    ScaffnewLoop,
    ScaffoldLoop,
)
from more_conformance_loops import DualAveragingLoop, FedDrLoop, FedLinLoop, LocalProximalLoop
from planted_bugs import Planted


class FewerStepsForTheLast(FedAvgLoop):
    """The last client of a round does one step less: a loop that ends early."""

    def round(self, asked):
        last = asked.active[-1]
        models = [self.descend(i, self.x, steps=self.t.steps[i] - (i == last)) for i in asked.active]
        self.x = np.mean(models, axis=0)
        return self.state()


class DecayForgotten(FedAvgLoop):
    """The step decays in every second round only."""

    @property
    def lr(self):
        return self.s.lr * self.s.lr_decay ** (self.number // 2)


class StaleServerModel(FedAvgLoop):
    """Clients work on the model that the server had a round earlier."""

    def begin(self) -> None:
        self.old = self.x

    def round(self, asked):
        models = [self.descend(i, self.old) for i in asked.active]
        self.old, self.x = self.x, np.mean(models, axis=0)
        return self.state()


class PenaltyTwice(Loop):
    """FedProx: rho multiplies the pull, and so does n/m."""

    def round(self, asked):
        x, rho = self.x, self.s.rho * self.t.n / len(asked.active)
        self.x = np.mean([self.descend(i, x, lambda y: rho * (y - x)) for i in asked.active], axis=0)
        return self.state()


class Scaffold(ScaffoldLoop):
    """What the bugs in SCAFFOLD share: one method a step."""

    def correct(self, i):
        return self.c - self.controls[i]

    def renew(self, i, y):
        return self.controls[i] - self.c + (self.x - y) / (self.t.steps[i] * self.lr)

    def round(self, asked):
        models, new = {}, self.controls.copy()
        for i in asked.active:
            models[i] = self.descend(i, self.x, lambda y, i=i: self.correct(i))
            new[i] = self.renew(i, models[i])
        c = self.c + self.move(new - self.controls, asked)
        self.x = self.x + self.s.server_lr * np.mean([y - self.x for y in models.values()], axis=0)
        self.controls, self.c = new, c
        return self.state()

    def move(self, changes, asked):
        return changes.sum(axis=0) / self.t.n


class CorrectsByOwnAlone(Scaffold):
    """c_i - c in the update lacks c_i, and the correction c."""

    def renew(self, i, y):
        return super().renew(i, y) + self.c / 2


class ControlsByPlace(Scaffold):
    """The correction reads the control at the client's place in the round's list."""

    def round(self, asked):
        self.place = {i: j for j, i in enumerate(asked.active)}
        return super().round(asked)

    def correct(self, i):
        return self.c - self.controls[self.place[i]]


class ControlByShareTwice(Scaffold):
    def move(self, changes, asked):
        return changes.sum(axis=0) * len(asked.active) / self.t.n**2


class FedDyn(FedDynLoop):
    """What the bugs in FedDyn share."""

    def used(self, before):
        return self.h

    def dual(self, model, old, i):
        return self.s.rho * (model - old)

    def round(self, asked):
        alpha, old, before = self.s.rho, self.theta, self.h
        models = {i: self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old)) for i in asked.active}
        for i, model in models.items():
            self.grads[i] = self.grads[i] - self.dual(model, old, i)
            self.h = self.h - alpha * (model - old) / self.t.n
        self.theta = sum(models.values()) / len(models) - self.used(before) / alpha
        return self.state()


class ExtrapolatedDual(FedDyn):
    """The server uses 2 h^{t+1} - h^t."""

    def used(self, before):
        return 2 * self.h - before


class DualWithoutOldModel(FedDyn):
    """The clients' duals move by alpha times the model, nothing subtracted."""

    def dual(self, model, old, i):
        return self.s.rho * model


class DualsOfSkippedRounds(FedPdLoop):
    """A communication comes before the dual step: what is sent has the old dual."""

    def round(self, asked):
        eta = self.s.eta
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
        sent = self.w + eta * self.duals
        self.x = sent.mean(axis=0)
        if asked.coins["communicate"]:
            self.copies = np.tile(self.x, (self.t.n, 1))
            self.duals = self.duals + (self.w - self.copies) / eta
        else:
            self.duals, self.copies = self.duals + (self.w - self.copies) / eta, sent
        return self.state()


class RhoOverM(FedAdmmLoop):
    """Dual steps are divided by the number of active clients."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + rho * (y - x))
            self.pi[i] += rho * (self.w[i] - x) / len(asked.active)
        self.x = self.prox(np.mean(self.w + self.pi / rho, axis=0), 1 / rho)
        return self.state()


class VirtualFromTheOldMean(AFedPdLoop):
    """Absent clients' duals move by the mean of the round before."""

    def begin(self) -> None:
        self.mean = self.x

    def round(self, asked):
        rho, x = self.s.rho, self.x
        models = {i: self.descend(i, x, lambda y, i=i: self.duals[i] + rho * (y - x)) for i in asked.active}
        mean = np.mean(list(models.values()), axis=0)
        for i in range(self.t.n):
            self.duals[i] += rho * (models.get(i, self.mean) - x)
        self.mean, self.x = mean, mean + self.duals.mean(axis=0) / rho
        return self.state()


class ExchangedStepAndProbability(ScaffnewLoop):
    """The control moves by lr/p in place of p/lr."""

    def round(self, asked):
        lr, p = self.s.lr, self.s.p
        gradients = np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)])
        ahead = self.w - lr * gradients + self.shifts
        self.x = ahead.mean(axis=0)
        self.w = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else ahead
        self.shifts = self.shifts + lr * (lr / p) * (self.w - ahead)
        return self.state()


class PersonalNotShifted(FedSlrLoop):
    """The personal component is trained on top of the client's own new model."""

    def round(self, asked):
        eta, x, lr = self.s.eta, self.x, self.lr
        for i in asked.active:
            g = self.t.gradients[i]
            self.w[i] = self.descend(i, x, lambda y, i=i: -self.duals[i] + (y - x) / eta)
            self.duals[i] = self.duals[i] + (x - self.w[i]) / eta
            for _ in range(self.t.steps[i]):
                p = self.own[i] - lr * g(self.w[i] + self.own[i])
                self.own[i] = np.sign(p) * np.maximum(np.abs(p) - lr * self.s.l1, 0)
        mean = self.w[list(asked.active)].mean(axis=0)
        self.x = self.prox(mean - eta * self.duals.mean(axis=0), eta)
        return self.state()


class InertiaOfTheServer(DualFlLoop):
    """The inertia acts on zeta + theta, without - theta_j, of before."""

    def round(self, asked):
        nu = self.s.nu
        self.w = np.stack([self.descend(i, self.w[i], lambda y, i=i: -nu * self.zeta[i]) for i in range(self.t.n)])
        self.x = self.w.mean(axis=0)
        now = self.zeta + self.x - self.w
        beta = self.beta(asked.number)
        self.zeta, self.before = now + beta * now - beta * self.before / 2, now
        return self.state()


class ServerStepsOfTheClients(Loop):
    """SAFARI whose server takes as many steps as a client."""

    def round(self, asked):
        if asked.coins["communicate"]:
            self.x = np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
        else:
            for _ in range(self.t.steps[0]):
                self.x = self.x - self.s.server_lr * self.lr * self.t.server(self.x)
        return self.state()


class DirectionOverAll(FedCmLoop):
    """The direction is divided by all clients, the model by the active ones."""

    def round(self, asked):
        super().round(asked)
        self.delta = self.delta * len(asked.active) / self.t.n
        return self.state()


class MeanGradientWithoutOwn(FedLinLoop):
    """The common gradient that a client sees is that of the others."""

    def round(self, asked):
        here = np.stack([g(self.x) for g in self.t.gradients])
        total, n = here.sum(axis=0), self.t.n
        models = [
            self.descend(i, self.x, lambda y, i=i: (total - here[i]) / (n - 1) - here[i]) for i in range(self.t.n)
        ]
        self.x = np.mean(models, axis=0)
        return self.state()


class OneProximalStep(LocalProximalLoop):
    """The server takes the proximal step once; clients take plain steps."""

    def round(self, asked):
        models = [self.descend(i, self.x) for i in asked.active]
        self.x = self.prox(np.mean(models, axis=0), self.lr)
        return self.state()


class RelaxationLeftOut(FedDrLoop):
    def round(self, asked):
        eta = self.s.eta
        for i in asked.active:
            self.y[i] += self.x - self.w[i]
            self.w[i] = self.descend(i, self.x, lambda v, i=i: (v - self.y[i]) / eta)
        self.x = self.prox(np.mean(2 * self.w - self.y, axis=0), eta)
        return self.state()


class SumsFromTheRound(DualAveragingLoop):
    """The proximal map at the end forgets this round's steps."""

    def round(self, asked):
        super().round(asked)
        self.x = self.prox(self.z, self.s.lr * self.s.server_lr * asked.number * self.t.steps[0])
        return self.state()


PLANTED = (
    Planted("fedavg", "the last client does one step less", FewerStepsForTheLast, r"last"),
    Planted("fedavg", "the step decays in every second round", DecayForgotten, r"decay|step|round"),
    Planted("fedavg", "clients work on the server's model of before", StaleServerModel, r"state\.x.*before|earlier"),
    Planted("fedprox", "the penalty has n/m as a factor", PenaltyTwice, r"rho.*(n/m|m/n)"),
    Planted("scaffold", "half of c is left in the control update", CorrectsByOwnAlone, r"c_i - state\.c"),
    Planted("scaffold", "controls by place", ControlsByPlace, r"place"),
    Planted("scaffold", "the server's control has m/n twice", ControlByShareTwice, r"m/n"),
    Planted("feddyn", "the server's dual is extrapolated", ExtrapolatedDual, r"self\.server_dual|x="),
    Planted("feddyn", "the dual step does not subtract the old model", DualWithoutOldModel, r"x_i - state\.x"),
    Planted("fedpd", "the dual step comes after a communication", DualsOfSkippedRounds, r"lam"),
    Planted("fedadmm", "the dual step is divided by m", RhoOverM, r"lam \+ .*m\b|divided by m"),
    Planted("a-fedpd", "absent duals move by the old mean", VirtualFromTheOldMean, r"lam|x_bar"),
    Planted("scaffnew", "lr/p in place of p/lr", ExchangedStepAndProbability, r"self\.p|self\.lr"),
    Planted("fedslr", "the personal component on the client's own model", PersonalNotShifted, r"ShiftedProblem"),
    Planted("dualfl", "half of the inertia's other side", InertiaOfTheServer, r"state\.z_i"),
    Planted("safari", "the server takes K steps", ServerStepsOfTheClients, r"_at_server|steps"),
    Planted("fedcm", "the direction is divided by n", DirectionOverAll, r"m/n"),
    Planted("fedlin", "the common gradient is that of the others", MeanGradientWithoutOwn, r"average\(g_i\)"),
    Planted("lpgd", "the proximal step at the server only", OneProximalStep, r"prox"),
    Planted("feddr", "no relaxation", RelaxationLeftOut, r"alpha"),
    Planted("feddualavg", "the last proximal map is of the round before", SumsFromTheRound, r"round"),
)
