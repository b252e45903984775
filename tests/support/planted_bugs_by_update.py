"""Twenty-three bugs, the third set; the search named 15 of them before it was widened once more."""

from __future__ import annotations

import numpy as np
from conformance_loops import (
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
from more_conformance_loops import (
    FedDaneLoop,
    FedDrLoop,
    FedLinLoop,
    LocalTrainingLoop,
    NesterovLoop,
    VrlSgdLoop,
)
from planted_bugs import Planted


class StepsByPlace(FedAvgLoop):
    """Client i takes the steps of the client whose number is its place in the round's list."""

    def round(self, asked):
        models = [self.descend(i, self.x, steps=self.t.steps[j]) for j, i in enumerate(asked.active)]
        self.x = np.mean(models, axis=0)
        return self.state()


class ServerTakesLr(FedAvgLoop):
    """The server moves by lr times the mean change."""

    def round(self, asked):
        models = [self.descend(i, self.x) for i in asked.active]
        self.x = self.x + self.lr * (np.mean(models, axis=0) - self.x)
        return self.state()


class ControlsWithOneK(ScaffoldLoop):
    """Every control update divides by the steps of client 0."""

    def round(self, asked):
        t, s, x = self.t, self.s, self.x
        moves, changes = [], np.zeros((t.n, t.d))
        for i in asked.active:
            y = self.descend(i, x, lambda y, i=i: self.c - self.controls[i])
            moves.append(y - x)
            changes[i] = (x - y) / (t.steps[0] * self.lr) - self.c
        self.x = x + s.server_lr * np.mean(moves, axis=0)
        self.controls, self.c = self.controls + changes, self.c + changes.sum(axis=0) / t.n
        return self.state()


class WorkGoesOn(ScaffoldLoop):
    """Local work starts where the client's last one ended."""

    def begin(self) -> None:
        self.kept = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        t, s, x = self.t, self.s, self.x
        moves, changes = [], np.zeros((t.n, t.d))
        for i in asked.active:
            self.kept[i] = y = self.descend(i, self.kept[i], lambda y, i=i: self.c - self.controls[i])
            moves.append(y - x)
            changes[i] = (x - y) / (t.steps[i] * self.lr) - self.c
        self.x = x + s.server_lr * np.mean(moves, axis=0)
        self.controls, self.c = self.controls + changes, self.c + changes.sum(axis=0) / t.n
        return self.state()


class CorrectionDoesNotDecay(ScaffoldLoop):
    """The correction is multiplied by the first round's step, the gradient by this one's."""

    def round(self, asked):
        t, s, x = self.t, self.s, self.x
        moves, changes = [], np.zeros((t.n, t.d))
        for i in asked.active:
            y = self.descend(i, x, lambda y, i=i: (self.c - self.controls[i]) * s.lr / self.lr)
            moves.append(y - x)
            changes[i] = (x - y) / (t.steps[i] * self.lr) - self.c
        self.x = x + s.server_lr * np.mean(moves, axis=0)
        self.controls, self.c = self.controls + changes, self.c + changes.sum(axis=0) / t.n
        return self.state()


class PenaltyByStep(FedDynLoop):
    """The local penalty is spread over the local steps, alpha / K."""

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        models = {
            i: self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha / t.steps[i] * (y - old))
            for i in asked.active
        }
        for i, model in models.items():
            self.grads[i] = self.grads[i] - alpha * (model - old)
            self.h = self.h - alpha * (model - old) / t.n
        self.theta = sum(models.values()) / len(models) - self.h / alpha
        return self.state()


class AllMoveTheServersDual(FedDynLoop):
    """The sum in the server's dual goes over all clients, the absent with their last models."""

    def begin(self) -> None:
        super().begin()
        self.kept = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        alpha, old = self.s.rho, self.theta
        for i in asked.active:
            self.kept[i] = self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old))
            self.grads[i] = self.grads[i] - alpha * (self.kept[i] - old)
        self.h = self.h - alpha * (self.kept - old).mean(axis=0)
        self.theta = self.kept[list(asked.active)].mean(axis=0) - self.h / alpha
        return self.state()


class LateUploads(FedPdLoop):
    """A communication averages what was sent a round earlier."""

    def begin(self) -> None:
        super().begin()
        self.sent = None

    def round(self, asked):
        eta = self.s.eta
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
            self.duals[i] += (self.w[i] - self.copies[i]) / eta
        now = self.w + eta * self.duals
        sent, self.sent = now if self.sent is None else self.sent, now
        self.x = sent.mean(axis=0)
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else now
        return self.state()


class ModelsReplaced(FedPdLoop):
    """A communication sets the clients' own models to the mean as well."""

    def round(self, asked):
        super().round(asked)
        if asked.coins["communicate"]:
            self.w = np.tile(self.x, (self.t.n, 1))
        return self.state()


class ProximalWeightInverted(FedAdmmLoop):
    def prox(self, v, step):
        return super().prox(v, 1 / step)


class DualFromTheMiddle(FedAdmmLoop):
    """The dual moves to the middle between the client's old and new models."""

    def round(self, asked):
        rho, x, old = self.s.rho, self.x, self.w.copy()
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + rho * (y - x))
            self.pi[i] += rho * ((self.w[i] + old[i]) / 2 - x)
        self.x = self.prox(np.mean(self.w + self.pi / rho, axis=0), 1 / rho)
        return self.state()


class NeighboursShift(ScaffnewLoop):
    def round(self, asked):
        lr, p = self.s.lr, self.s.p
        gradients = np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)])
        ahead = self.w - lr * gradients + np.roll(self.shifts, -1, axis=0)
        self.x = ahead.mean(axis=0)
        self.w = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else ahead
        self.shifts = self.shifts + p * (self.w - ahead)
        return self.state()


class AbsentDualsForgotten(FedSlrLoop):
    """The server's mean of duals takes absent clients' as zero; the clients keep theirs."""

    def round(self, asked):
        eta, x = self.s.eta, self.x
        for i in asked.active:
            g = self.t.gradients[i]
            self.w[i] = self.descend(i, x, lambda y, i=i: -self.duals[i] + (y - x) / eta)
            self.duals[i] = self.duals[i] + (x - self.w[i]) / eta
            p = self.own[i]
            for _ in range(self.t.steps[i]):
                p = p - self.lr * g(x + p)
                p = np.sign(p) * np.maximum(np.abs(p) - self.lr * self.s.l1, 0)
            self.own[i] = p
        active = list(asked.active)
        step = eta * self.duals[active].sum(axis=0) / self.t.n
        self.x = self.prox(self.w[active].mean(axis=0) - step, eta)
        return self.state()


class LocalWorkWithTheOtherVariate(DualFlLoop):
    """Local work uses what the inertia acts on in place of the extrapolated variate."""

    def round(self, asked):
        nu = self.s.nu
        self.w = np.stack([self.descend(i, self.w[i], lambda y, i=i: -nu * self.before[i]) for i in range(self.t.n)])
        self.x = self.w.mean(axis=0)
        now = self.zeta + self.x - self.w
        self.zeta, self.before = now + self.beta(asked.number) * (now - self.before), now
        return self.state()


class FirstClientNotCounted(DualFlLoop):
    """The server's mean begins at client 1."""

    def round(self, asked):
        nu = self.s.nu
        self.w = np.stack([self.descend(i, self.w[i], lambda y, i=i: -nu * self.zeta[i]) for i in range(self.t.n)])
        self.x = self.w[1:].mean(axis=0)
        now = self.zeta + self.x - self.w
        self.zeta, self.before = now + self.beta(asked.number) * (now - self.before), now
        return self.state()


class AllClientsInTheirRounds(Loop):
    """SAFARI whose client rounds ask all clients."""

    def round(self, asked):
        if asked.coins["communicate"]:
            self.x = np.mean([self.descend(i, self.x) for i in range(self.t.n)], axis=0)
        else:
            self.x = self.x - self.s.server_lr * self.lr * self.t.server(self.x)
        return self.state()


class DirectionMixedTwice(FedCmLoop):
    """The direction is mixed with the old one once more at the server."""

    def round(self, asked):
        old, a = self.delta, self.s.alpha
        super().round(asked)
        self.delta = a * self.delta + (1 - a) * old
        return self.state()


class DeltaWithoutK(VrlSgdLoop):
    def round(self, asked):
        models = np.stack([self.descend(i, self.x, lambda y, i=i: -self.deltas[i]) for i in range(self.t.n)])
        self.x = models.mean(axis=0)
        self.deltas = self.deltas + (self.x - models) / self.lr
        return self.state()


class GradientOfAll(FedDaneLoop):
    """The common gradient is that of all clients."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        here = [g(x) for g in self.t.gradients]
        whole = np.mean(here, axis=0)
        models = [self.descend(i, x, lambda y, i=i: whole - here[i] + rho * (y - x)) for i in asked.active]
        self.x = np.mean(models, axis=0)
        return self.state()


class OwnGradientIsOld(FedLinLoop):
    """A client subtracts its gradient of the round before."""

    def begin(self) -> None:
        self.last = None

    def round(self, asked):
        here = [g(self.x) for g in self.t.gradients]
        last, self.last = here if self.last is None else self.last, here
        whole = np.mean(here, axis=0)
        models = [self.descend(i, self.x, lambda y, i=i: whole - last[i]) for i in range(self.t.n)]
        self.x = np.mean(models, axis=0)
        return self.state()


class CentreMovesAfterwards(FedDrLoop):
    """y_i moves after local work, by the new local model."""

    def round(self, asked):
        eta = self.s.eta
        for i in asked.active:
            self.w[i] = self.descend(i, self.x, lambda v, i=i: (v - self.y[i]) / eta)
            self.y[i] += self.s.alpha * (self.x - self.w[i])
        self.x = self.prox(np.mean(2 * self.w - self.y, axis=0), eta)
        return self.state()


class PersonalFromTheServer(LocalTrainingLoop):
    """Ditto whose personal models start at the server's in every round."""

    def round(self, asked):
        received, arrived = self.x, []
        for i in asked.active:
            arrived.append(self.descend(i, received))
            self.own[i] = self.descend(i, received, lambda v: self.s.mu * (v - received))
        self.x = np.mean(arrived, axis=0)
        return self.state()


class GradientAtTheModel(NesterovLoop):
    """The gradient is taken at x, the step from the extrapolated point."""

    def round(self, asked):
        old, gradient = self.x, np.mean([g(self.x) for g in self.t.gradients], axis=0)
        self.x = self.ahead - self.s.lr * gradient
        self.ahead = self.x + asked.number / (asked.number + 3) * (self.x - old)
        return self.state()


PLANTED = (
    Planted("fedavg", "steps of another client, by place", StepsByPlace, r"clients=first_clients"),
    Planted("fedavg", "the server moves by lr times the change", ServerTakesLr, r"average\(x_i"),
    Planted("scaffold", "controls divide by client 0's K", ControlsWithOneK, r"_steps|path_length"),
    Planted("scaffold", "local work goes on where it ended", WorkGoesOn, r"self\.local\(sub"),
    Planted("scaffold", "the correction does not decay", CorrectionDoesNotDecay, r"a=state\.c - c_i"),
    Planted("feddyn", "the local penalty is divided by K", PenaltyByStep, r"rho=self\.rho"),
    Planted("feddyn", "the server's dual moves for absent clients, too", AllMoveTheServersDual, r"lam ="),
    Planted(
        "fedpd",
        "what was sent a round earlier is averaged",
        LateUploads,
        r"average\(upload\)|upload =|x of the round before",
    ),
    Planted("fedpd", "clients' models are replaced by the mean", ModelsReplaced, r"x_i=x_i"),
    Planted("fedadmm", "the proximal weight is inverted", ProximalWeightInverted, r"prox"),
    Planted("fedadmm", "the dual moves to the middle", DualFromTheMiddle, r"lam = lam \+"),
    Planted("scaffnew", "h of the client after", NeighboursShift, r"h_i"),
    Planted("fedslr", "absent duals count as zero at the server", AbsentDualsForgotten, r"gamma"),
    Planted("dualfl", "local work with z_i in place of zeta_i", LocalWorkWithTheOtherVariate, r"zeta_i"),
    Planted("dualfl", "client 0 is not counted in the mean", FirstClientNotCounted, r"first client|average"),
    Planted("safari", "client rounds ask all clients", AllClientsInTheirRounds, r"clients"),
    Planted("fedcm", "the direction is mixed twice", DirectionMixedTwice, r"direction|moved"),
    Planted("vrl-sgd", "no 1/K in the correction", DeltaWithoutK, r"path_length|divided by K"),
    Planted("feddane", "the common gradient is that of all", GradientOfAll, r"average"),
    Planted("fedlin", "the client's own gradient is old", OwnGradientIsOld, r"g_i"),
    Planted("feddr", "y_i moves after local work", CentreMovesAfterwards, r"y_i"),
    Planted("ditto", "personal models start at the server's", PersonalFromTheServer, r"gather\(state\.personal"),
    Planted("agd", "the gradient is at x", GradientAtTheModel, r"state\.x"),
)
