"""Twenty bugs in fourteen methods, written after the search knew local work and free numbers, and looked at once."""

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
    FedProxLoop,
    FedSamLoop,
    Loop,
    ScaffnewLoop,
)
from held_out_bugs import Scaffold
from more_conformance_loops import DittoLoop, FedSplitLoop
from planted_bugs import Planted

# ---- averaging -------------------------------------------------------------------------------------------------------


class SendsHalfPrecision(FedAvgLoop):
    """Models travel as 16-bit floats."""

    def round(self, asked):
        sent = [self.descend(i, self.x).astype(np.float16).astype(float) for i in asked.active]
        self.x = np.mean(sent, axis=0)
        return self.state()


class ClipsUpdates(FedAvgLoop):
    """A client's change of the model is cut at the length 1/2, as for privacy."""

    def round(self, asked):
        moves = [self.descend(i, self.x) - self.x for i in asked.active]
        self.x = self.x + np.mean([v * min(1, 0.5 / np.linalg.norm(v)) for v in moves], axis=0)
        return self.state()


class FreezesTheLastCoordinate(FedAvgLoop):
    """A layer without gradients."""

    def descend(self, i, start, extra=lambda y: 0, steps=None):
        trained = np.ones(self.t.d)
        trained[-1] = 0
        y = start
        for _ in range(self.t.steps[i]):
            y = y - self.lr * trained * self.t.gradients[i](y)
        return y


class OneStepInOddRounds(FedAvgLoop):
    """Every second round takes one local step only."""

    def round(self, asked):
        steps = 1 if asked.number % 2 else None
        self.x = np.mean([self.descend(i, self.x, steps=steps) for i in asked.active], axis=0)
        return self.state()


class PenaltyGrows(FedProxLoop):
    """rho is multiplied by the number of rounds so far."""

    def round(self, asked):
        x, rho = self.x, self.s.rho * (asked.number + 1)
        self.x = np.mean([self.descend(i, x, lambda y: rho * (y - x)) for i in asked.active], axis=0)
        return self.state()


class PullsToTheLastIterate(FedProxLoop):
    """The centre is the local point of one step ago."""

    def round(self, asked):
        models = []
        for i in asked.active:
            y = last = self.x
            for _ in range(self.t.steps[i]):
                y, last = y - self.lr * (self.t.gradients[i](y) + self.s.rho * (y - last)), y
            models.append(y)
        self.x = np.mean(models, axis=0)
        return self.state()


class ControlWithoutTheLastStep(Scaffold):
    """c_i+ is the mean of the gradients along the first K - 1 steps."""

    def control(self, i, y):
        k = self.t.steps[i]
        shift = self.correction(i)
        before = self.descend(i, self.x, lambda y: shift, steps=k - 1)
        return self.controls[i] - self.c + (self.x - before) / ((k - 1) * self.lr)


class AbsentControlsFade(Scaffold):
    """Those who are away lose a tenth of their control variate in every round."""

    def round(self, asked):
        found = super().round(asked)
        away = [i for i in range(self.t.n) if i not in asked.active]
        self.controls[away] *= 0.9
        return found | {"controls": self.controls.copy()}


class NoPastInTheFirstStep(FedCmLoop):
    """The past direction comes in from the second local step on."""

    def round(self, asked):
        t, s, steps = self.t, self.s, self.t.steps[0]
        moves = []
        for i in asked.active:
            y = self.x
            for q in range(steps):
                past = self.delta if q else 0
                y = y - self.lr * (s.alpha * t.gradients[i](y) + (1 - s.alpha) * past)
            moves.append(self.x - y)
        moved = np.mean(moves, axis=0)
        self.x = self.x - s.server_lr * moved
        self.delta = moved / (steps * self.lr)
        return self.state()


class AscentInTheMaximumNorm(FedSamLoop):
    """The ascent step is divided by the largest entry of the gradient."""

    def round(self, asked):
        models = []
        for i in asked.active:
            y = self.x
            for _ in range(self.t.steps[i]):
                u = self.t.gradients[i](y)
                y = y - self.lr * self.t.gradients[i](y + self.s.radius * u / np.abs(u).max())
            models.append(y)
        self.x = np.mean(models, axis=0)
        return self.state()


# ---- primal-dual -----------------------------------------------------------------------------------------------------


class DriftOfTheLastClient(FedDynLoop):
    """h moves by what the last client of the round moved."""

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        for i in asked.active:
            model = self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old))
            self.grads[i] = self.grads[i] - alpha * (model - old)
            self.total = model if i == asked.active[0] else self.total + model
        self.h = self.h - alpha / t.n * (model - old)
        self.theta = self.total / len(asked.active) - self.h / alpha
        return self.state()


class OddClientsAreLate(FedAdmmLoop):
    """Clients with odd numbers work with the model of the round before."""

    def begin(self) -> None:
        super().begin()
        self.last = self.x

    def round(self, asked):
        rho = self.s.rho
        for i in asked.active:
            x = self.last if i % 2 else self.x
            self.w[i] = self.descend(i, x, lambda y, i=i, x=x: self.pi[i] + rho * (y - x))
            self.pi[i] += rho * (self.w[i] - x)
        self.last, self.x = self.x, self.prox(np.mean(self.w + self.pi / rho, axis=0), 1 / rho)
        return self.state()


class DualsAreClipped(FedAdmmLoop):
    """Every entry of a dual is kept between -1/2 and 1/2."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + rho * (y - x))
            self.pi[i] = np.clip(self.pi[i] + rho * (self.w[i] - x), -0.5, 0.5)
        self.x = self.prox(np.mean(self.w + self.pi / rho, axis=0), 1 / rho)
        return self.state()


class DualsResetWhenCommunicating(FedPdLoop):
    """A round with communication forgets the duals."""

    def round(self, asked):
        eta = self.s.eta
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
            self.duals[i] += (self.w[i] - self.copies[i]) / eta
        sent = self.w + eta * self.duals
        self.x = sent.mean(axis=0)
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else sent
        if asked.coins["communicate"]:
            self.duals = 0 * self.duals
        return self.state()


class DualsOfThoseSeenSoFar(AFedPdLoop):
    """The server's mean of duals is over clients that have taken part at least once."""

    def begin(self) -> None:
        self.seen = set()

    def round(self, asked):
        rho, x = self.s.rho, self.x
        models = {i: self.descend(i, x, lambda y, i=i: self.duals[i] + rho * (y - x)) for i in asked.active}
        mean = np.mean(list(models.values()), axis=0)
        for i in range(self.t.n):
            self.duals[i] += rho * (models.get(i, mean) - x)
        self.seen |= set(asked.active)
        self.x = mean + self.duals[sorted(self.seen)].mean(axis=0) / rho
        return self.state()


class PenaltyDecays(FedSplitLoop):
    """s is multiplied by 0.9 from round to round."""

    def round(self, asked):
        s = self.s.s * 0.9**asked.number
        for i in range(self.t.n):
            centre = 2 * self.x - self.z[i]
            half = self.descend(i, self.x, lambda y, centre=centre: (y - centre) / s)
            self.z[i] += 2 * (half - self.x)
        self.x = self.z.mean(axis=0)
        return self.state()


# ---- dual and accelerated, others ----------------------------------------------------------------------------------------


class CommunicatesAtFirst(ScaffnewLoop):
    """The first round communicates whatever the coin."""

    def round(self, asked):
        lr, p = self.s.lr, self.s.p
        gradients = np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)])
        ahead = self.w - lr * gradients + self.shifts
        self.x = ahead.mean(axis=0)
        heads = asked.coins["communicate"] or asked.number == 0
        self.w = np.tile(self.x, (self.t.n, 1)) if heads else ahead
        self.shifts = self.shifts + p * (self.w - ahead)
        return self.state()


class InertiaRestarted(DualFlLoop):
    """The inertia begins anew every third round."""

    def beta(self, n):
        return super().beta(n % 3)


class ServerStepAfterTheAverage(Loop):
    """SAFARI whose server takes its steps in every round."""

    variables: ClassVar[dict[str, Any]] = {"x": "x"}

    def round(self, asked):
        if asked.coins["communicate"]:
            self.x = np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
        for _ in range(self.s.server_steps):
            self.x = self.x - self.s.server_lr * self.lr * self.t.server(self.x)
        return self.state()


class PulledToThePersonalMean(DittoLoop):
    """Personal models are pulled to the mean of all personal models."""

    def round(self, asked):
        received, centre = self.x, self.own.mean(axis=0)
        self.x = np.mean([self.descend(i, received) for i in asked.active], axis=0)
        for i in asked.active:
            self.own[i] = self.descend(i, self.own[i], lambda v: self.s.mu * (v - centre))
        return self.state()


PLANTED = (
    Planted("fedavg", "models travel in half precision", SendsHalfPrecision, r"half|16"),
    Planted("fedavg", "clients' changes are clipped", ClipsUpdates, r"clip"),
    Planted("fedavg", "the last coordinate is not trained", FreezesTheLastCoordinate, r"coordinate"),
    Planted("fedavg", "one local step in odd rounds", OneStepInOddRounds, r"second round|odd"),
    Planted("fedprox", "rho grows with the rounds", PenaltyGrows, r"rho.*round"),
    Planted("fedprox", "the centre is the last local point", PullsToTheLastIterate, r"one step|last|before"),
    Planted("scaffold", "the control leaves out the last step", ControlWithoutTheLastStep, r"last step|K - 1|one less"),
    Planted("scaffold", "controls of absent clients fade", AbsentControlsFade, r"absent.*0\.9|0\.9.*absent"),
    Planted("fedcm", "no past direction in the first step", NoPastInTheFirstStep, r"first step, with c = 0"),
    Planted("fedsam", "the ascent in the maximum norm", AscentInTheMaximumNorm, r"maximum|largest"),
    Planted("feddyn", "the dual moves by the last client's drift", DriftOfTheLastClient, r"last"),
    Planted("fedadmm", "odd clients work with an old model", OddClientsAreLate, r"odd"),
    Planted("fedadmm", "duals are clipped", DualsAreClipped, r"clip|between"),
    Planted("fedpd", "duals are forgotten in rounds that communicate", DualsResetWhenCommunicating, r"lam_i"),
    Planted("a-fedpd", "the mean of duals of those seen so far", DualsOfThoseSeenSoFar, r"so far|seen"),
    Planted("fedsplit", "s decays", PenaltyDecays, r"0\.9"),
    Planted("scaffnew", "the first round communicates", CommunicatesAtFirst, r"first round"),
    Planted("dualfl", "the inertia is restarted", InertiaRestarted, r"third|restart|3"),
    Planted("safari", "the server's step in every round", ServerStepAfterTheAverage, r"every round"),
    Planted("ditto", "personal models are pulled to their mean", PulledToThePersonalMean, r"personal"),
)
