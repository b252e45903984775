"""Twenty-six bugs in federated methods as people write them, in plain NumPy loops, of kinds that no list of known mistakes was made from.

They were written down before `fedtheory.conformance` searched for changes of a reference by itself, and serve to measure how often it names a
cause. A bug is an adapter; `PLANTED` says which method it means to be, what is wrong with it, and what a true report names: a pattern
that the names or the changed lines of a cause must match.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from conformance_loops import (
    AFedPdLoop,
    DualFlLoop,
    FedAdmmLoop,
    FedAvgLoop,
    FedDynLoop,
    FedPdLoop,
    FedSlrLoop,
    Loop,
    ScaffnewLoop,
    ScaffoldLoop,
)


@dataclass(frozen=True)
class Planted:
    """One bug: the method, what the code does, the adapter, and a regular expression for what names it."""

    method: str
    does: str
    adapter: type[Loop]
    named: str


# ---- averaging -------------------------------------------------------------------------------------------------------


class DividesByAllClients(FedAvgLoop):
    def round(self, asked):
        self.x = np.sum([self.descend(i, self.x) for i in asked.active], axis=0) / self.t.n
        return self.state()


class DecaysOneRoundEarly(FedAvgLoop):
    @property
    def lr(self):
        return self.s.lr * self.s.lr_decay ** (self.number + 1)


class WeighsByInverseSteps(FedAvgLoop):
    def round(self, asked):
        weights = [1 / self.t.steps[i] for i in asked.active]
        self.x = np.average([self.descend(i, self.x) for i in asked.active], axis=0, weights=weights)
        return self.state()


class LeavesOutTheLastClient(FedAvgLoop):
    def round(self, asked):
        models = [self.descend(i, self.x) for i in asked.active]
        self.x = np.mean(models[:-1], axis=0)
        return self.state()


class PenaltyOutsideTheStep(Loop):
    """y <- y - lr g - rho (y - x)."""

    def round(self, asked):
        lr, rho, x = self.lr, self.s.rho, self.x
        self.x = np.mean([self.descend(i, x, lambda y: rho * (y - x) / lr) for i in asked.active], axis=0)
        return self.state()


class PenaltyDividedByClients(Loop):
    def round(self, asked):
        rho, x = self.s.rho / self.t.n, self.x
        self.x = np.mean([self.descend(i, x, lambda y: rho * (y - x)) for i in asked.active], axis=0)
        return self.state()


# ---- control variates ------------------------------------------------------------------------------------------------


class NeighboursControl(ScaffoldLoop):
    """The correction of client i reads c_{i-1}."""

    def round(self, asked):
        t, s, x, lr = self.t, self.s, self.x, self.lr
        moves, changes = [], np.zeros((t.n, t.d))
        for i in asked.active:
            y = self.descend(i, x, lambda y, i=i: self.c - self.controls[i - 1])
            moves.append(y - x)
            changes[i] = (x - y) / (t.steps[i] * lr) - self.c
        self.x = x + s.server_lr * np.mean(moves, axis=0)
        self.controls, self.c = self.controls + changes, self.c + changes.sum(axis=0) / t.n
        return self.state()


class ControlForgetsDecay(ScaffoldLoop):
    """The control update divides by K times the first round's step."""

    def round(self, asked):
        t, s, x = self.t, self.s, self.x
        moves, changes = [], np.zeros((t.n, t.d))
        for i in asked.active:
            y = self.descend(i, x, lambda y, i=i: self.c - self.controls[i])
            moves.append(y - x)
            changes[i] = (x - y) / (t.steps[i] * s.lr) - self.c
        self.x = x + s.server_lr * np.mean(moves, axis=0)
        self.controls, self.c = self.controls + changes, self.c + changes.sum(axis=0) / t.n
        return self.state()


class ServerStepOnControl(ScaffoldLoop):
    def round(self, asked):
        t, s, x, lr = self.t, self.s, self.x, self.lr
        moves, changes = [], np.zeros((t.n, t.d))
        for i in asked.active:
            y = self.descend(i, x, lambda y, i=i: self.c - self.controls[i])
            moves.append(y - x)
            changes[i] = (x - y) / (t.steps[i] * lr) - self.c
        self.x = x + s.server_lr * np.mean(moves, axis=0)
        self.controls, self.c = self.controls + changes, self.c + s.server_lr * changes.sum(axis=0) / t.n
        return self.state()


class AbsentControlsReset(ScaffoldLoop):
    """Controls of clients that are away become zero."""

    def round(self, asked):
        t, s, x, lr = self.t, self.s, self.x, self.lr
        moves, fresh = [], np.zeros((t.n, t.d))
        for i in asked.active:
            y = self.descend(i, x, lambda y, i=i: self.c - self.controls[i])
            moves.append(y - x)
            fresh[i] = self.controls[i] - self.c + (x - y) / (t.steps[i] * lr)
        self.x = x + s.server_lr * np.mean(moves, axis=0)
        self.controls, self.c = fresh, fresh.mean(axis=0)
        return self.state()


# ---- duals -----------------------------------------------------------------------------------------------------------


class DualFromOwnOldModel(FedDynLoop):
    """The dual moves by rho times the change of the client's own model."""

    variables = FedDynLoop.variables | {"x_i": "kept"}

    def begin(self) -> None:
        super().begin()
        self.kept = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        models = {i: self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old)) for i in asked.active}
        for i, model in models.items():
            self.grads[i] = self.grads[i] - alpha * (model - self.kept[i])
            self.h = self.h - alpha * (model - self.kept[i]) / t.n
            self.kept[i] = model
        self.theta = np.mean(list(models.values()), axis=0) - self.h / alpha
        return self.state()


class StartsFromOwnModel(FedDynLoop):
    variables = FedDynLoop.variables | {"x_i": "kept"}

    def begin(self) -> None:
        super().begin()
        self.kept = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        t, alpha, old, before = self.t, self.s.rho, self.theta, self.kept.copy()
        for i in asked.active:
            self.kept[i] = self.descend(i, before[i], lambda y, i=i: -self.grads[i] + alpha * (y - old))
            self.grads[i] = self.grads[i] - alpha * (self.kept[i] - old)
            self.h = self.h - alpha * (self.kept[i] - old) / t.n
        self.theta = self.kept[list(asked.active)].mean(axis=0) - self.h / alpha
        return self.state()


class ServerDualByActiveShareTwice(FedDynLoop):
    """h moves by (m/n) (1/n) times the sum."""

    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        models = {i: self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old)) for i in asked.active}
        total = sum(models.values()) - len(models) * old
        for i, model in models.items():
            self.grads[i] = self.grads[i] - alpha * (model - old)
        self.h = self.h - alpha * len(models) / t.n * total / t.n
        self.theta = sum(models.values()) / len(models) - self.h / alpha
        return self.state()


class DualStepTimesLr(FedDynLoop):
    def round(self, asked):
        t, alpha, old = self.t, self.s.rho, self.theta
        models = {i: self.descend(i, old, lambda y, i=i: -self.grads[i] + alpha * (y - old)) for i in asked.active}
        for i, model in models.items():
            self.grads[i] = self.grads[i] - alpha * self.s.lr * (model - old)
            self.h = self.h - alpha * self.s.lr * (model - old) / t.n
        self.theta = sum(models.values()) / len(models) - self.h / alpha
        return self.state()


class SkipsTheOtherWay(FedPdLoop):
    """The coin of communication is the coin of skipping."""

    def round(self, asked):
        other = type(asked)(asked.number, asked.active, {"communicate": not asked.coins["communicate"]})
        return super().round(other)


class CentreAtTheMean(FedPdLoop):
    """Local work is pulled to the mean model, also after a round that skipped."""

    def round(self, asked):
        eta, x = self.s.eta, self.x
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - x) / eta)
            self.duals[i] += (self.w[i] - self.copies[i]) / eta
        sent = self.w + eta * self.duals
        self.x = sent.mean(axis=0)
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else sent
        return self.state()


class DualsOnlyWhenCommunicating(FedPdLoop):
    def round(self, asked):
        eta = self.s.eta
        for i in range(self.t.n):
            self.w[i] = self.descend(i, self.w[i], lambda y, i=i: self.duals[i] + (y - self.copies[i]) / eta)
        moved = self.duals + (self.w - self.copies) / eta
        sent = self.w + eta * moved
        self.x = sent.mean(axis=0)
        if asked.coins["communicate"]:
            self.duals, self.copies = moved, np.tile(self.x, (self.t.n, 1))
        else:
            self.copies = sent
        return self.state()


class AllDualsMove(FedAdmmLoop):
    """Duals of clients that are away move as well, with their old models."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + rho * (y - x))
        self.pi = self.pi + rho * (self.w - x)
        self.x = self.prox(np.mean(self.w + self.pi / rho, axis=0), 1 / rho)
        return self.state()


class DualsAfterTheServer(FedAdmmLoop):
    """The dual step uses the new model of the server."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + rho * (y - x))
        self.x = self.prox(np.mean(self.w + self.pi / rho, axis=0), 1 / rho)
        for i in asked.active:
            self.pi[i] += rho * (self.w[i] - self.x)
        return self.state()


class MeanWithoutRho(AFedPdLoop):
    """The duals of absent clients move without rho."""

    def round(self, asked):
        rho, x = self.s.rho, self.x
        models = {i: self.descend(i, x, lambda y, i=i: self.duals[i] + rho * (y - x)) for i in asked.active}
        mean = np.mean(list(models.values()), axis=0)
        for i in range(self.t.n):
            self.duals[i] += rho * (models[i] - x) if i in models else mean - x
        self.x = mean + self.duals.mean(axis=0) / rho
        return self.state()


# ---- coins, composite, dual, server ------------------------------------------------------------------------------------


class ControlWithOtherShare(ScaffnewLoop):
    """The control moves with 1 - p."""

    def round(self, asked):
        lr, p = self.s.lr, self.s.p
        gradients = np.stack([g(w) for w, g in zip(self.w, self.t.gradients, strict=True)])
        ahead = self.w - lr * gradients + self.shifts
        self.x = ahead.mean(axis=0)
        self.w = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else ahead
        self.shifts = self.shifts + (1 - p) * (self.w - ahead)
        return self.state()


class PersonalOnTheNewModel(FedSlrLoop):
    """Phase II runs after the server's step, on its new model."""

    def round(self, asked):
        eta, x = self.s.eta, self.x
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: -self.duals[i] + (y - x) / eta)
            self.duals[i] = self.duals[i] + (x - self.w[i]) / eta
        step = eta * self.duals.mean(axis=0)
        self.x = self.prox(self.w[list(asked.active)].mean(axis=0) - step, eta)
        for i in asked.active:
            p = self.own[i]
            for _ in range(self.t.steps[i]):
                p = p - self.lr * self.t.gradients[i](self.x + p)
                p = np.sign(p) * np.maximum(np.abs(p) - self.lr * self.s.l1, 0)
            self.own[i] = p
        return self.state()


class MomentumNeverKept(DualFlLoop):
    """What the inertia acts on is not kept from round to round: it stays at zero."""

    def round(self, asked):
        nu = self.s.nu
        self.w = np.stack([self.descend(i, self.w[i], lambda y, i=i: -nu * self.zeta[i]) for i in range(self.t.n)])
        self.x = self.w.mean(axis=0)
        now = self.zeta + self.x - self.w
        self.zeta = now + self.beta(asked.number) * now
        return self.state()


class ServerWithClientsStep(Loop):
    """SAFARI whose server takes its steps with the clients' step size."""

    def round(self, asked):
        if asked.coins["communicate"]:
            self.x = np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
        else:
            self.x = self.x - self.lr * self.t.server(self.x)
        return self.state()


class ServerAfterClients(Loop):
    """SAFARI whose server works in every round, after the clients in theirs."""

    def round(self, asked):
        if asked.coins["communicate"]:
            self.x = np.mean([self.descend(i, self.x) for i in asked.active], axis=0)
        self.x = self.x - self.s.server_lr * self.lr * self.t.server(self.x)
        return self.state()


class CommonGradientTooSmall(Loop):
    """FedLin whose common gradient is divided by one client too many, (n - 1)/n of it."""

    def round(self, asked):
        here = [g(self.x) for g in self.t.gradients]
        whole = np.mean(here, axis=0) * (self.t.n - 1) / self.t.n
        self.x = np.mean([self.descend(i, self.x, lambda y, i=i: whole - here[i]) for i in range(self.t.n)], axis=0)
        return self.state()


PLANTED = (
    Planted("fedavg", "the sum over active clients is divided by all", DividesByAllClients, r"average\(x_i, clients\)"),
    Planted("fedavg", "the step decays one round early", DecaysOneRoundEarly, r"lr|decay|round"),
    Planted("fedavg", "weights are inverse to local steps", WeighsByInverseSteps, r"weigh.*steps"),
    Planted("fedavg", "the mean leaves out the last active client", LeavesOutTheLastClient, r"last"),
    Planted("fedprox", "the penalty is not multiplied by the step", PenaltyOutsideTheStep, r"rho"),
    Planted("fedprox", "the penalty is divided by n", PenaltyDividedByClients, r"rho.*(n\b|clients)"),
    Planted("scaffold", "the correction of client i reads c_{i-1}", NeighboursControl, r"a=state\.c - c_i|neighbour"),
    Planted("scaffold", "the control update divides by the undecayed step", ControlForgetsDecay, r"path_length"),
    Planted("scaffold", "the server's control moves with server_lr", ServerStepOnControl, r"server_lr"),
    Planted("scaffold", "controls of absent clients become zero", AbsentControlsReset, r"scatter\(.*c_i|absent"),
    Planted("feddyn", "the dual moves from the client's own old model", DualFromOwnOldModel, r"state\.x_i"),
    Planted("feddyn", "local work starts at the client's own model", StartsFromOwnModel, r"self\.local\(sub"),
    Planted("feddyn", "the server's dual moves by m/n too little", ServerDualByActiveShareTwice, r"lam ="),
    Planted("feddyn", "the dual step has lr as a factor", DualStepTimesLr, r"lr"),
    Planted("fedpd", "the coin the other way", SkipsTheOtherWay, r"other way|not |choose\("),
    Planted("fedpd", "the penalty's centre is the mean model", CentreAtTheMean, r"z=state\.x0_i"),
    Planted("fedpd", "duals move in rounds that communicate only", DualsOnlyWhenCommunicating, r"lam"),
    Planted("fedadmm", "duals of absent clients move as well", AllDualsMove, r"lam"),
    Planted("fedadmm", "the dual step uses the server's new model", DualsAfterTheServer, r"lam"),
    Planted("a-fedpd", "duals of absent clients move without rho", MeanWithoutRho, r"lam|x_bar"),
    Planted("scaffnew", "the control moves with 1 - p", ControlWithOtherShare, r"beside\(self\.p"),
    Planted("fedslr", "the personal component uses the new model", PersonalOnTheNewModel, r"p_i|phase|ShiftedProblem"),
    Planted("dualfl", "what the inertia acts on stays zero", MomentumNeverKept, r"z_i"),
    Planted("safari", "the server's steps have the clients' size", ServerWithClientsStep, r"server"),
    Planted("safari", "the server works in every round", ServerAfterClients, r"server|choose"),
    Planted("fedlin", "the common gradient has a factor (n - 1)/n", CommonGradientTooSmall, r"average"),
)
