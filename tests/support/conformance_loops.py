"""Federated methods as people write them, in plain NumPy loops without the package, and their usual bugs.

Each class is an adapter: `bug` names one planted mistake, "" none. Subclasses of `Loop` keep their state in attributes that carry the
names of `variables`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np


class Loop:
    """What the loops share: a start at x0 with everything else zero, and states by attribute."""

    variables: ClassVar[dict[str, Any]] = {"x": "x"}
    server: tuple[str, ...] = ()  # server variables beside x
    local: tuple[str, ...] = ()  # client variables that start at zero

    def __init_subclass__(cls) -> None:
        """Let a round know its number, on which the step size depends."""
        if "round" in vars(cls):
            inner = cls.round

            def numbered(self, asked):
                self.number = asked.number
                return inner(self, asked)

            cls.round = numbered

    @property
    def lr(self):
        """The step size of this round."""
        return self.dtype(self.s.lr * getattr(self.s, "lr_decay", 1) ** self.number)

    def prox(self, v, step):
        """The proximal step of the shared regulariser, if there is one."""
        return v if self.t.regulariser is None else self.t.regulariser.prox(v, step)

    def __init__(self, bug: str = "", dtype: Any = np.float64) -> None:
        self.bug, self.dtype = bug, dtype

    def start(self, task):
        self.t, self.s = task, task.settings
        self.x = task.x0.astype(self.dtype)
        for name in self.server:
            setattr(self, name, np.zeros(task.d, self.dtype))
        for name in self.local:
            setattr(self, name, np.zeros((task.n, task.d), self.dtype))
        self.begin()
        return self.state()

    def begin(self) -> None:
        """What else a method sets up."""

    def state(self):
        names = (own if isinstance(own, str) else own[0] for own in self.variables.values())
        return {name: getattr(self, name) for name in names}

    def descend(self, i, start, extra=lambda y: 0, steps=None):
        """K gradient steps of client i on its objective with the gradient of something added."""
        y = start.copy()
        for _ in range(self.t.steps[i] if steps is None else steps):
            at = start if self.bug == "gradients at the first point" else y
            y = y - self.lr * (self.t.gradients[i](at) + extra(y)).astype(self.dtype)
        return y


class FedAvgLoop(Loop):
    def round(self, asked):
        t, arrived, weights, model = self.t, [], [], self.x
        for i in asked.active:
            start = model if self.bug == "not reset" else self.x
            steps = t.steps[i] + {"K + 1": 1, "K - 1": -1}.get(self.bug, 0)
            model = self.descend(i, start, steps=steps)
            arrived.append(model)
            weights.append(t.steps[i])
        if self.bug == "mean over all":
            self.x = (np.sum(arrived, axis=0) + (t.n - len(arrived)) * self.x) / t.n
        elif self.bug == "weights":
            self.x = np.average(arrived, axis=0, weights=weights)
        elif self.bug == "sum":
            self.x = np.sum(arrived, axis=0)
        else:
            self.x = np.mean(arrived, axis=0, dtype=self.dtype)
        return self.state()


class FedProxLoop(Loop):
    def round(self, asked):
        factor = {"factor 2": 2, "factor 1/2": 0.5, "sign": -1}.get(self.bug, 1)
        x, rho = self.x, factor * getattr(self.s, "rho", 1.3)
        self.x = np.mean([self.descend(i, x, lambda y: rho * (y - x)) for i in asked.active], axis=0, dtype=self.dtype)
        return self.state()


class ScaffoldLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "c": "c", "c_i": "controls"}
    server = ("c",)
    local = ("controls",)

    def begin(self) -> None:
        if self.bug == "random start":
            self.controls = np.random.default_rng().standard_normal(self.controls.shape)

    def round(self, asked):
        t, s, lr, bug = self.t, self.s, self.lr, self.bug
        x, moves, changes, models = self.x, [], [], {}
        for i in asked.active:
            correction = (2 if bug == "correction twice" else 1) * (self.c - self.controls[i])
            if bug == "sign of correction":
                correction = -correction
            elif bug == "no correction":
                correction = 0 * correction
            models[i] = y = self.descend(i, x, lambda y, shift=correction: shift)
            moves.append(y - x)
        moved = x + self.dtype(s.server_lr) * np.mean(moves, axis=0, dtype=self.dtype)
        if bug == "mean over all":
            moved = x + s.server_lr * np.sum(moves, axis=0) / t.n
        elif bug == "no server step":
            moved = x + np.mean(moves, axis=0)
        for i in asked.active:
            k = t.steps[i]
            scale = {"no 1/K": lr, "no 1/lr": k, "largest K": max(t.steps) * lr, "K + 1": (k + 1) * lr}.get(bug, k * lr)
            base = moved if bug == "after" else x
            if bug == "option I":
                new = t.gradients[i](x)
            elif bug == "no c in update":
                new = self.controls[i] + (base - models[i]) / scale
            else:
                new = self.controls[i] - self.c + (base - models[i]) / scale
            changes.append(new if "sends c_i" in bug else new - self.controls[i])
            if bug != "clients keep":
                self.controls[i] = new
        if bug == "no m/n":
            self.c = self.c + np.mean(changes, axis=0)
        elif bug != "server keeps":
            self.c = self.c + np.sum(changes, axis=0, dtype=self.dtype) / self.dtype(t.n)
        self.x = moved
        return self.state()


class FedDynLoop(Loop):
    """In the paper's variables: g_i = -lam_i, h = -lam."""

    variables: ClassVar[dict[str, Any]] = {"x": "theta", "lam_i": ("grads", -1), "lam": ("h", -1)}
    server = ("h",)
    local = ("grads",)

    def begin(self) -> None:
        self.theta = self.x

    def round(self, asked):
        t, alpha, old, bug = self.t, self.dtype(self.s.rho), self.theta, self.bug
        local_alpha = 2 * alpha if bug == "local factor 2" else alpha
        models = {}
        for i in asked.active:
            sign = -1 if bug == "sign in local work" else 1
            models[i] = self.descend(i, old, lambda y, g=sign * self.grads[i]: -g + local_alpha * (y - old))
        for i, model in models.items():
            step = (model - old) if bug == "no rho" else alpha * (model - old)
            self.grads[i] = self.grads[i] + step if bug == "sign of dual step" else self.grads[i] - step
        total, before = np.sum(list(models.values()), axis=0, dtype=self.dtype), self.h
        if bug == "subtracted once":
            self.h = self.h - alpha / t.n * (total - old)
        elif bug == "over active":
            self.h = self.h - alpha / len(models) * (total - len(models) * old)
        else:
            self.h = self.h - alpha / self.dtype(t.n) * (total - self.dtype(len(models)) * old)
        used = before if bug == "old dual" else self.h
        if bug == "mean over all":
            self.theta = (total + (t.n - len(models)) * old) / t.n - used / alpha
        else:
            self.theta = total / self.dtype(len(models)) - used / alpha
        return self.state()


class FedAdmmLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "x_i": "w", "lam_i": "pi"}
    local = ("w", "pi")

    def begin(self) -> None:
        self.w = np.tile(self.x, (self.t.n, 1))

    def round(self, asked):
        rho, x, stale = self.s.rho, self.x, self.pi.copy()
        local_rho = 2 * rho if self.bug == "factor 2" else rho
        for i in asked.active:
            self.w[i] = self.descend(i, x, lambda y, i=i: self.pi[i] + local_rho * (y - x))
            self.pi[i] += (-1 if self.bug == "sign of dual step" else 1) * rho * (self.w[i] - x)
        dual = stale if self.bug == "stale dual" else self.pi
        sent = self.w + dual / rho
        if self.bug == "models only":
            sent = self.w
        mean = np.mean(sent[list(asked.active)] if self.bug == "mean over active" else sent, axis=0)
        self.x = self.prox(mean, 1 / rho)
        return self.state()


class AFedPdLoop(Loop):
    """Every client has a dual; those that were away move theirs by the mean of the models that came in."""

    variables: ClassVar[dict[str, Any]] = {"x": "x", "lam_i": "duals"}
    local = ("duals",)

    def round(self, asked):
        rho, x, before = self.s.rho, self.x, self.duals.mean(axis=0)
        models = {i: self.descend(i, x, lambda y, i=i: self.duals[i] + rho * (y - x)) for i in asked.active}
        mean = np.mean(list(models.values()), axis=0)
        for i in range(self.t.n):
            if i in models or self.bug != "away keep":
                self.duals[i] += rho * (models.get(i, mean) - x)
        dual = {
            "no dual": 0,
            "dual over active": self.duals[list(models)].mean(axis=0),
            "average before the dual step": before,
        }.get(self.bug, self.duals.mean(axis=0))
        self.x = mean + dual / rho
        return self.state()


class FedPdLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "x_i": "w", "x0_i": "copies", "lam_i": "duals"}
    local = ("w", "copies", "duals")

    def begin(self) -> None:
        self.w, self.copies = np.tile(self.x, (self.t.n, 1)), np.tile(self.x, (self.t.n, 1))
        if self.bug != "zero duals":
            self.duals = -np.stack([g(self.x) for g in self.t.gradients])

    def round(self, asked):
        eta, stale = self.s.eta, self.duals.copy()
        weight = 2 / eta if self.bug == "factor 2" else 1 / eta
        for i in range(self.t.n):
            start = self.copies[i] if self.bug == "from the copy" else self.w[i]
            self.w[i] = self.descend(i, start, lambda y, i=i: self.duals[i] + weight * (y - self.copies[i]))
            change = (self.w[i] - self.copies[i]) * (eta if self.bug == "times eta" else 1 / eta)
            self.duals[i] += -change if self.bug == "sign" else change
        sent = self.w + eta * (stale if self.bug == "stale dual" else self.duals)
        self.x = sent.mean(axis=0)
        self.copies = np.tile(self.x, (self.t.n, 1)) if asked.coins["communicate"] else sent
        return self.state()


class ScaffnewLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "x_i": "w", "h_i": ("shifts", lambda task: 1 / task.settings.lr)}
    local = ("w", "shifts")  # shifts are lr h_i

    def begin(self) -> None:
        self.w = np.tile(self.x, (self.t.n, 1))
        self.coins = np.random.default_rng(7)

    def round(self, asked):
        lr, p = self.s.lr, self.s.p
        sign = {"sign": -1, "correction twice": 2}.get(self.bug, 1)
        at = np.tile(self.x, (self.t.n, 1)) if self.bug == "gradient at the server's model" else self.w
        gradients = np.stack([g(w) for w, g in zip(at, self.t.gradients, strict=True)])
        ahead = self.w - lr * gradients + sign * self.shifts
        self.x = ahead.mean(axis=0)
        heads = asked.coins["communicate"]
        heads = {"always": True, "other way": not heads, "own coin": self.coins.random() < p}.get(self.bug, heads)
        self.w = np.tile(self.x, (self.t.n, 1)) if heads else ahead
        reached = self.x if self.bug == "control always" else self.w
        self.shifts = self.shifts + (1 if self.bug == "no p" else p) * (reached - ahead)
        return self.state()


class DualFlLoop(Loop):
    """Control variates z_j move with inertia; beta_n is worked out as the paper's (5) prints it."""

    variables: ClassVar[dict[str, Any]] = {"x": "x", "x_i": "w", "zeta_i": "zeta"}
    local = ("w", "zeta", "before")

    def begin(self) -> None:
        self.w = np.tile(self.x, (self.t.n, 1))

    def beta(self, n):
        rho, t = self.s.rho, [1.0]
        for _ in range(n + 1):
            rest = 1 - rho * t[-1] ** 2
            t.append((rest + np.sqrt(rest**2 + 4 * t[-1] ** 2)) / 2)
        return (t[n] - 1) / t[n + 1] * (1 - t[n + 1] * rho) / (1 - rho)

    def round(self, asked):
        nu, bug = self.s.nu, self.bug
        factor = {"no nu": 1, "sign": -nu, "twice": 2 * nu}.get(bug, nu)
        self.w = np.stack(
            [
                self.descend(
                    i, self.x if bug == "from the server" else self.w[i], lambda y, i=i: -factor * self.zeta[i]
                )
                for i in range(self.t.n)
            ]
        )
        old, self.x = self.x, self.w.mean(axis=0)
        now = self.zeta + (old if bug == "old model" else self.x) - self.w
        shift = {"index + 1": 1, "index - 1": -1}.get(bug, 0)
        beta = 0 if bug == "no momentum" else self.beta(max(asked.number + shift, 0))
        last = self.zeta if bug == "from the extrapolated point" else self.before
        ahead = now + (-beta if bug == "backwards" else beta) * (now - last)
        self.zeta, self.before = ahead, now
        return self.state()


class FedCmLoop(Loop):
    variables: ClassVar[dict[str, Any]] = {"x": "x", "direction": "delta"}
    server = ("delta",)

    def round(self, asked):
        t, s, bug, lr = self.t, self.s, self.bug, self.lr
        own, past = {"exchanged": (1 - s.alpha, s.alpha), "no 1 - alpha": (s.alpha, 1)}.get(bug, (s.alpha, 1 - s.alpha))
        moves, steps = [], t.steps[0]
        for i in asked.active:
            y = self.x
            for _ in range(steps):
                y = y - lr * (own * t.gradients[i](y) + past * self.delta)
            moves.append(self.x - y)
        moved = np.mean(moves, axis=0)
        self.x = self.x - s.server_lr * moved
        length = {
            "no 1/K": lr,
            "no 1/lr": steps,
            "not divided": 1,
            "sign": -steps * lr,
            "server step": steps * lr / s.server_lr,
        }
        self.delta = moved / length.get(bug, steps * lr) + (self.delta if bug == "accumulated" else 0)
        return self.state()


class FedSamLoop(Loop):
    def round(self, asked):
        t, radius, models = self.t, self.s.radius, []
        for i in asked.active:
            y = self.x
            for _ in range(t.steps[i]):
                u = t.gradients[i](y)
                ascent = u if self.bug == "not normalised" else u / np.linalg.norm(u)
                sign = {"descent": -1, "no ascent": 0}.get(self.bug, 1)
                y = y - self.lr * t.gradients[i](y + sign * radius * ascent)
            models.append(y)
        self.x = np.mean(models, axis=0)
        return self.state()


class FedSlrLoop(Loop):
    """Phase I and Phase II."""

    variables: ClassVar[dict[str, Any]] = {"x": "x", "x_i": "w", "gamma_i": "duals", "p_i": "own"}
    local = ("w", "duals", "own")

    def begin(self) -> None:
        self.w = np.tile(self.x, (self.t.n, 1))
        self.duals = np.stack([g(self.x) for g in self.t.gradients])

    def round(self, asked):
        eta, x, bug, before = self.s.eta, self.x, self.bug, self.duals.mean(axis=0)
        for i in asked.active:
            g, sign = self.t.gradients[i], 1 if bug == "sign in local work" else -1
            self.w[i] = self.descend(i, x, lambda y, i=i, sign=sign: sign * self.duals[i] + (y - x) / eta)
            self.duals[i] = self.duals[i] + (-1 if bug == "sign of the dual step" else 1) * (x - self.w[i]) / eta
            p = self.own[i]
            for _ in range(self.t.steps[i]):
                p = p - self.lr * g(x + p)
                p = np.sign(p) * np.maximum(np.abs(p) - self.lr * self.s.l1, 0)
            self.own[i] = 1.1 * p if bug == "wrong p_i" else p
        dual = before if bug == "average before the dual step" else self.duals.mean(axis=0)
        step = {"1/eta": 1 / eta, "sign at the server": -eta}.get(bug, eta) * dual
        mean = self.w[list(asked.active)].mean(axis=0)
        threshold = {"lambda": 1.0, "lambda/eta": 1 / eta}.get(bug, eta)
        self.x = mean - step if bug == "no proximal step" else self.prox(mean - step, threshold)
        return self.state()
