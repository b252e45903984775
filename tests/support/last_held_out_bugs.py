"""Twenty bugs in seventeen methods, written after the search knew conditions, and looked at once."""

from __future__ import annotations

import numpy as np
from conformance_loops import (
    DualFlLoop,
    FedAdmmLoop,
    FedAvgLoop,
    FedCmLoop,
    FedDynLoop,
    FedPdLoop,
    FedProxLoop,
    FedSamLoop,
    FedSlrLoop,
    ScaffnewLoop,
)
from held_out_bugs import Scaffold
from more_conformance_loops import DittoLoop, FedDaneLoop, FedLinLoop, FedSplitLoop, NesterovLoop, VrlSgdLoop
from planted_bugs import Planted


class HalvesOneByOne(FedAvgLoop):
    """The mean is made one by one, as the middle of what there is and the next model."""

    def round(self, asked):
        models = [self.descend(i, self.x) for i in asked.active]
        mean = models[0]
        for model in models[1:]:
            mean = (mean + model) / 2
        self.x = mean
        return self.state()


class DecaysByOwnRounds(FedAvgLoop):
    """A client's step decays with the rounds that it took part in."""

    def begin(self) -> None:
        self.times = [0] * self.t.n

    def round(self, asked):
        models = []
        for i in asked.active:
            y, lr = self.x, self.s.lr * self.s.lr_decay ** self.times[i]
            for _ in range(self.t.steps[i]):
                y = y - lr * self.t.gradients[i](y)
            models.append(y)
            self.times[i] += 1
        self.x = np.mean(models, axis=0)
        return self.state()


class ProximalServer(FedProxLoop):
    """The server pulls the mean to the old model, too."""

    def round(self, asked):
        x, rho = self.x, self.s.rho
        mean = np.mean([self.descend(i, x, lambda y: rho * (y - x)) for i in asked.active], axis=0)
        self.x = (mean + rho * x) / (1 + rho)
        return self.state()


class ControlAsMovingAverage(Scaffold):
    """c+ = (1 - m/n) c + (m/n) mean of the new c_i."""

    def round(self, asked):
        c, share = self.c, len(asked.active) / self.t.n
        found = super().round(asked)
        self.c = (1 - share) * c + share * self.controls[list(asked.active)].mean(axis=0)
        return found | {"c": self.c}


class AbsentGetTheServers(Scaffold):
    """Clients that are away get c for their control variates."""

    def round(self, asked):
        super().round(asked)
        away = [i for i in range(self.t.n) if i not in asked.active]
        self.controls[away] = self.c
        return self.state()


class DualByTheNewModel(FedDynLoop):
    """The clients' duals move by how far their models are from the new model of the server."""

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        models = {i: self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old)) for i in asked.active}
        total = np.sum(list(models.values()), axis=0)
        self.h = self.h - alpha / t.n * (total - len(models) * old)
        self.theta = total / len(models) - self.h / alpha
        for i, model in models.items():
            self.grads[i] = self.grads[i] - alpha * (model - self.theta)
        return self.state()


class AbsentDualsMove(FedAdmmLoop):
    """Clients that are away take a dual step with their old model."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + rho * (y - x))
        self.pi = self.pi + rho * (self.w - x)
        self.x = self.prox(np.mean(self.w + self.pi / rho, axis=0), 1 / rho)
        return self.state()


class CentredAtTheServer(FedPdLoop):
    """Local work and duals take the server's model for the client's copy."""

    def round(self, asked):
        eta, x = self.s.eta, self.x
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - x) / eta)
            self.duals[i] += (self.w[i] - x) / eta
        sent = self.w + eta * self.duals
        self.x = sent.mean(axis=0)
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else sent
        return self.state()


class DualAfterCommunication(FedPdLoop):
    """The dual step is made with the new copy."""

    def round(self, asked):
        eta = self.s.eta
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
        sent = self.w + eta * (self.duals + (self.w - self.copies) / eta)
        self.x = sent.mean(axis=0)
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else sent
        self.duals = self.duals + (self.w - self.copies) / eta
        return self.state()


class StepTimesP(ScaffnewLoop):
    """The gradient step is multiplied by p."""

    def round(self, asked):
        lr, p = self.s.lr, self.s.p
        gradients = np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)])
        ahead = self.w - lr * p * gradients + self.shifts
        self.x = ahead.mean(axis=0)
        self.w = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else ahead
        self.shifts = self.shifts + p * (self.w - ahead)
        return self.state()


class ConstantInertia(DualFlLoop):
    """beta = (1 - rho^(1/2))/(1 + rho^(1/2)) in every round."""

    def beta(self, n):
        root = np.sqrt(self.s.rho)
        return (1 - root) / (1 + root)


class DirectionIsAnAverage(FedCmLoop):
    """The direction is nine tenths of the old one and a tenth of the new one."""

    def round(self, asked):
        old = self.delta
        found = super().round(asked)
        self.delta = 0.9 * old + 0.1 * self.delta
        return found | {"delta": self.delta}


class AscentFromTheServer(FedSamLoop):
    """The perturbed gradient is taken beside the round's first point."""

    def round(self, asked):
        models = []
        for i in asked.active:
            y = self.x
            for _ in range(self.t.steps[i]):
                u = self.t.gradients[i](y)
                y = y - self.lr * self.t.gradients[i](self.x + self.s.radius * u / np.linalg.norm(u))
            models.append(y)
        self.x = np.mean(models, axis=0)
        return self.state()


class WholeGradientOfBefore(FedLinLoop):
    """The whole gradient is that of the round before."""

    def begin(self) -> None:
        self.whole = None

    def round(self, asked):
        here = [g(self.x) for g in self.t.gradients]
        now = np.mean(here, axis=0)
        whole = now if self.whole is None else self.whole
        self.x = np.mean([self.descend(i, self.x, lambda y, i=i: whole - here[i]) for i in range(self.t.n)], axis=0)
        self.whole = now
        return self.state()


class WholeGradientOfAll(FedDaneLoop):
    """The gradient that is shared is the mean over all clients, not over the active ones."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        here = np.stack([g(x) for g in self.t.gradients])
        whole = here.mean(axis=0)
        self.x = np.mean(
            [self.descend(i, x, lambda y, i=i: whole - here[i] + rho * (y - x)) for i in asked.active], axis=0
        )
        return self.state()


class DeltasByTheOldModel(VrlSgdLoop):
    """The correction moves by how far a client went from the old model."""

    def round(self, asked):
        k, old = self.t.steps[0], self.x
        models = np.stack([self.descend(i, self.x, lambda y, i=i: -self.deltas[i]) for i in range(self.t.n)])
        self.x = models.mean(axis=0)
        self.deltas = self.deltas + (old - models) / (k * self.lr)
        return self.state()


class PersonalStepsDoNotDecay(DittoLoop):
    """Personal models are trained with the step size of the first round."""

    def round(self, asked):
        received = self.x
        self.x = np.mean([self.descend(i, received) for i in asked.active], axis=0)
        for i in asked.active:
            for _ in range(self.t.steps[i]):
                step = self.t.gradients[i](self.own[i]) + self.s.mu * (self.own[i] - received)
                self.own[i] = self.own[i] - self.s.lr * step
        return self.state()


class MovesToOwnCentre(FedSplitLoop):
    """z moves by twice the way from itself to the local answer."""

    def round(self, asked):
        for i in range(self.t.n):
            centre = 2 * self.x - self.z[i]
            half = self.descend(i, self.x, lambda y, centre=centre: (y - centre) / self.s.s)
            self.z[i] += 2 * (half - self.z[i])
        self.x = self.z.mean(axis=0)
        return self.state()


class ComponentBesideOwnModel(FedSlrLoop):
    """The personal component is trained beside the client's own model."""

    def round(self, asked):
        own = self.own.copy()
        found = super().round(asked)
        for i in asked.active:
            p = own[i]
            for _ in range(self.t.steps[i]):
                p = p - self.lr * self.t.gradients[i](self.w[i] + p)
                p = np.sign(p) * np.maximum(np.abs(p) - self.lr * self.s.l1, 0)
            self.own[i] = p
        return found | {"own": self.own}


class InertiaCountsFromOne(NesterovLoop):
    """(r + 1)/(r + 4) in round r = 0, 1, ..."""

    def round(self, asked):
        old, self.x = self.x, self.ahead - self.s.lr * np.mean([g(self.ahead) for g in self.t.gradients], axis=0)
        self.ahead = self.x + (asked.number + 1) / (asked.number + 4) * (self.x - old)
        return self.state()


PLANTED = (
    Planted("fedavg", "a mean made one by one", HalvesOneByOne, r"middle|one by one|half"),
    Planted("fedavg", "steps decay with a client's own rounds", DecaysByOwnRounds, r"own|took part"),
    Planted("fedprox", "the server pulls as well", ProximalServer, r"rho"),
    Planted("scaffold", "c as a moving average", ControlAsMovingAverage, r"m/n|c_new"),
    Planted("scaffold", "absent clients get c", AbsentGetTheServers, r"absent"),
    Planted("feddyn", "duals by the new model", DualByTheNewModel, r"x of after the round|after\.x"),
    Planted("fedadmm", "absent duals move", AbsentDualsMove, r"absent"),
    Planted("fedpd", "the server's model for the copy", CentredAtTheServer, r"state\.x in place of state\.x0_i"),
    Planted("fedpd", "the dual step with the new copy", DualAfterCommunication, r"x0_i of after the round|after\.x0_i"),
    Planted("scaffnew", "the step times p", StepTimesP, r"self\.p|by p"),
    Planted("dualfl", "constant inertia", ConstantInertia, r"beta"),
    Planted("fedcm", "the direction averaged", DirectionIsAnAverage, r"direction.*0\.1"),
    Planted("fedsam", "ascent from the round's first point", AscentFromTheServer, r"first point|began|start"),
    Planted("fedlin", "the whole gradient of before", WholeGradientOfBefore, r"of the round before"),
    Planted(
        "feddane", "the whole gradient of all", WholeGradientOfAll, r"all instead of active|problem\.grad|all clients"
    ),
    Planted("vrl-sgd", "corrections by the old model", DeltasByTheOldModel, r"state\.x|before the round"),
    Planted("ditto", "personal steps do not decay", PersonalStepsDoNotDecay, r"first round"),
    Planted("fedsplit", "z moves from itself", MovesToOwnCentre, r"z_i"),
    Planted("fedslr", "the component beside the own model", ComponentBesideOwnModel, r"x_i|w_i"),
    Planted("agd", "inertia counts from one", InertiaCountsFromOne, r"round after|key\.round \+ 1"),
)
