"""Nineteen bugs that the search was not made with: written when it was done, and looked at once. It named 14 of them."""

from __future__ import annotations

import numpy as np
from conformance_loops import DualFlLoop, FedAvgLoop, FedCmLoop, FedPdLoop, Loop, ScaffnewLoop, ScaffoldLoop
from more_conformance_loops import DittoLoop, FedDrLoop, FedSplitLoop, LocalTrainingLoop, VrlSgdLoop
from planted_bugs import Planted


class WeighsWithoutSum(FedAvgLoop):
    """The mean is divided by the sum of steps of all clients, each model multiplied by its own."""

    def round(self, asked):
        t = self.t
        total = sum(t.steps[i] * self.descend(i, self.x) for i in asked.active)
        self.x = total / (np.mean(t.steps) * len(asked.active))
        return self.state()


class OneModelTooMany(FedAvgLoop):
    """Divides by m + 1."""

    def round(self, asked):
        self.x = sum(self.descend(i, self.x) for i in asked.active) / (len(asked.active) + 1)
        return self.state()


class PullByRhoOverK(Loop):
    """FedProx with rho / K."""

    def round(self, asked):
        x, t = self.x, self.t
        models = [self.descend(i, x, lambda y, i=i: self.s.rho / t.steps[i] * (y - x)) for i in asked.active]
        self.x = np.mean(models, axis=0)
        return self.state()


class Scaffold(ScaffoldLoop):
    """What the bugs in SCAFFOLD share."""

    start_at_zero = False

    def correction(self, i):
        return self.c - self.controls[i]

    def control(self, i, y):
        return self.controls[i] - self.c + (self.x - y) / (self.t.steps[i] * self.lr)

    def share(self, changes, asked):
        return changes.sum(axis=0) / self.t.n

    def moved(self, models):
        return np.mean([y - self.x for y in models], axis=0) * self.s.server_lr

    def round(self, asked):
        models, new = [], self.controls.copy()
        for i in asked.active:
            models.append(self.descend(i, self.x, lambda y, i=i: self.correction(i)))
            new[i] = self.control(i, models[-1])
        self.c, self.x = self.c + self.share(new - self.controls, asked), self.x + self.moved(models)
        self.controls = new
        return self.state()


class CorrectsWithStaleC(Scaffold):
    """c is that of the round before in the correction."""

    old: np.ndarray

    def begin(self):
        self.old = self.c

    def correction(self, i):
        return self.old - self.controls[i]

    def round(self, asked):
        now = self.c
        found = super().round(asked)
        self.old = now
        return found


class ControlTimesServerStep(Scaffold):
    """The client's move in the control update is multiplied by the server's step."""

    def control(self, i, y):
        return self.controls[i] - self.c + self.s.server_lr * (self.x - y) / (self.t.steps[i] * self.lr)


class ServerDividesByAll(Scaffold):
    """The server's model and its control variate are both divided by all clients, less one."""

    def share(self, changes, asked):
        return changes.sum(axis=0) / (self.t.n - 1)


class ClientControlsShared(Scaffold):
    """All clients get the mean control of the round."""

    def round(self, asked):
        found = super().round(asked)
        self.controls = np.tile(self.controls.mean(axis=0), (self.t.n, 1))
        return found | {"controls": self.controls}


class FedAdmm(Loop):
    """FedADMM, a method a step, for the bugs that share it."""

    variables = {"x": "x", "x_i": "w", "lam_i": "pi"}  # noqa: RUF012
    local = ("w", "pi")

    def begin(self):
        self.w = np.tile(self.x, (self.t.n, 1))

    def dual(self, i):
        return self.pi[i] + self.s.rho * (self.w[i] - self.x)

    def mean_sent(self, asked):
        return np.mean(self.w + self.pi / self.s.rho, axis=0)

    def round(self, asked):
        for i in asked.active:
            self.w[i] = self.descend(i, self.x, lambda y, i=i: self.pi[i] + self.s.rho * (y - self.x))
        for i in asked.active:
            self.pi[i] = self.dual(i)
        self.x = self.prox(self.mean_sent(asked), 1 / self.s.rho)
        return self.state()


class DualsForgotten(FedAdmm):
    """A dual is made anew every round."""

    def dual(self, i):
        return self.s.rho * (self.w[i] - self.x)


class DualsOfActiveOnly(FedAdmm):
    """The server averages all models, and the duals of active clients only."""

    def mean_sent(self, asked):
        return self.w.mean(axis=0) + self.pi[list(asked.active)].mean(axis=0) / self.s.rho


class ServerKeepsHalf(FedAdmm):
    """The server goes half of the way."""

    def mean_sent(self, asked):
        return (self.x + super().mean_sent(asked)) / 2


class EtaSquared(FedPdLoop):
    """The dual is multiplied by eta twice in what is sent."""

    def round(self, asked):
        eta = self.s.eta
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
            self.duals[i] += (self.w[i] - self.copies[i]) / eta
        sent = self.w + eta**2 * self.duals
        self.x = sent.mean(axis=0)
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else sent
        return self.state()


class KeepsAheadOnly(ScaffnewLoop):
    """The control moves in rounds without communication, and not in those with one."""

    def round(self, asked):
        lr, p = self.s.lr, self.s.p
        ahead = self.w - lr * np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)]) + self.shifts
        self.x = ahead.mean(axis=0)
        heads = asked.coins["communicate"]
        self.w = np.tile(self.x, (self.t.n, 1)) if heads else ahead
        self.shifts = self.shifts if heads else self.shifts + p * (self.x - ahead)
        return self.state()


class SumOfModels(DualFlLoop):
    """The server's mean is divided by n - 1."""

    def round(self, asked):
        nu = self.s.nu
        self.w = np.stack([self.descend(i, self.w[i], lambda y, i=i: -nu * self.zeta[i]) for i in range(self.t.n)])
        self.x = self.w.sum(axis=0) / (self.t.n - 1)
        now = self.zeta + self.x - self.w
        self.zeta, self.before = now + self.beta(asked.number) * (now - self.before), now
        return self.state()


class CoinInverted(Loop):
    """SAFARI with q and 1 - q exchanged."""

    def round(self, asked):
        if not asked.coins["communicate"]:
            self.x = np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
        else:
            self.x = self.x - self.s.server_lr * self.lr * self.t.server(self.x)
        return self.state()


class DirectionNeverReset(FedCmLoop):
    """The mean move is added up over the rounds."""

    def begin(self):
        self.sum = 0

    def round(self, asked):
        t, s, steps = self.t, self.s, self.t.steps[0]
        moves = []
        for i in asked.active:
            y = self.x
            for _ in range(steps):
                y = y - self.lr * (s.alpha * t.gradients[i](y) + (1 - s.alpha) * self.delta)
            moves.append(self.x - y)
        moved = np.mean(moves, axis=0)
        self.x = self.x - s.server_lr * moved
        self.sum = self.sum + moved
        self.delta = self.sum / (steps * self.lr)
        return self.state()


class DeltasByNewModels(VrlSgdLoop):
    """Local work starts at the client's last model, which is kept."""

    def begin(self):
        self.models = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        self.models = np.stack(
            [self.descend(i, self.models[i], lambda y, i=i: -self.deltas[i]) for i in range(self.t.n)]
        )
        self.x = self.models.mean(axis=0)
        self.deltas = self.deltas + (self.x - self.models) / (self.t.steps[0] * self.lr)
        return self.state()


class ReflectsTwice(FedSplitLoop):
    """The centre is 2 x - z_{i-1}."""

    def round(self, asked):
        before = self.z.copy()
        for i in range(self.t.n):
            centre = 2 * self.x - before[i - 1]
            half = self.descend(i, self.x, lambda y, centre=centre: (y - centre) / self.s.s)
            self.z[i] += 2 * (half - self.x)
        self.x = self.z.mean(axis=0)
        return self.state()


class StartsFromTheCentre(FedDrLoop):
    """Local work starts at y_i."""

    def round(self, asked):
        eta = self.s.eta
        for i in asked.active:
            self.y[i] += self.s.alpha * (self.x - self.w[i])
            self.w[i] = self.descend(i, self.y[i], lambda v, i=i: (v - self.y[i]) / eta)
        self.x = self.prox(np.mean(2 * self.w - self.y, axis=0), eta)
        return self.state()


class PersonalOfAll(DittoLoop):
    """Personal models are also trained where the client is away."""

    def round(self, asked):
        received = self.x
        self.x = np.mean([self.descend(i, received) for i in asked.active], axis=0)
        for i in range(self.t.n):
            self.own[i] = LocalTrainingLoop.descend(self, i, self.own[i], lambda v: self.s.mu * (v - received))
        return self.state()


PLANTED = (
    Planted("fedavg", "weights by steps that do not sum to one", WeighsWithoutSum, r"weigh|steps"),
    Planted("fedavg", "divides by m + 1", OneModelTooMany, r"m \+ 1"),
    Planted("fedprox", "rho is divided by K", PullByRhoOverK, r"divided by K"),
    Planted("scaffold", "the correction uses an old c", CorrectsWithStaleC, r"state\.c of the round before"),
    Planted("scaffold", "the move is multiplied by server_lr in the control update", ControlTimesServerStep, r"server"),
    Planted("scaffold", "the server's control is divided by n - 1", ServerDividesByAll, r"\(n - 1\)"),
    Planted("scaffold", "all clients get the mean control", ClientControlsShared, r"c_i=.*average|mean"),
    Planted("fedadmm", "duals are made anew", DualsForgotten, r"lam"),
    Planted("fedadmm", "the mean of active duals only", DualsOfActiveOnly, r"lam"),
    Planted("fedadmm", "the server goes half of the way", ServerKeepsHalf, r"half|averaged"),
    Planted("fedpd", "eta twice in what is sent", EtaSquared, r"self\.eta"),
    Planted("scaffnew", "the control moves where it should not", KeepsAheadOnly, r"h_i|x_i"),
    Planted("dualfl", "the mean is divided by n - 1", SumOfModels, r"\(n - 1\)"),
    Planted("safari", "the coin the other way", CoinInverted, r"the other way"),
    Planted("fedcm", "the mean move adds up", DirectionNeverReset, r"added|rounds"),
    Planted("vrl-sgd", "local work goes on", DeltasByNewModels, r"last one ended|of the round before"),
    Planted("fedsplit", "z_i of the client before", ReflectsTwice, r"client before"),
    Planted("feddr", "local work starts at y_i", StartsFromTheCentre, r"self\.local\(sub, y"),
    Planted("ditto", "personal models of all clients", PersonalOfAll, r"absent|all"),
)
