"""Bugs that public federated code had, each as a plain NumPy loop that computes what that code computed when its issue was opened.

    fedtheory conform examples/conformance/historic_bugs.py:Plato382 --method scaffold --server-lr 1 --lr-decay 1

The loops are written anew from the issues and the code they show; networks, data loaders and transport are left out, and a client's
minibatches are its local steps. None of these implementations has a server step, and their step sizes are constant, whence the two options.
`EXPECTED` names for each the method, and what the report must say.
"""

from __future__ import annotations

import numpy as np


class Loop:
    """What the loops share: a start at x0, K gradient steps of a client, and states by attribute."""

    variables = {"x": "model"}  # noqa: RUF012

    def start(self, task):
        """Set up a run."""
        self.task, self.lr = task, task.settings.lr
        self.model = task.x0.copy()
        self.set_up(task)
        return self.state()

    def set_up(self, task):
        """Set up what a method keeps beside the model."""

    def state(self):
        """The declared variables."""
        names = (own if isinstance(own, str) else own[0] for own in self.variables.values())
        return {name: getattr(self, name) for name in names}

    def train(self, client, added=lambda w: 0):
        """The model after a client's K steps, each with the gradient of something added."""
        w = self.model.copy()
        for _ in range(self.task.steps[client]):
            w = w - self.lr * (self.task.gradients[client](w) + added(w))
        return w


class Scaffold(Loop):
    """SCAFFOLD as it should be; the bugs below change one or two of its steps."""

    variables = {"x": "model", "c": "c", "c_i": "controls"}  # noqa: RUF012

    def set_up(self, task):
        """Control variates at zero."""
        self.c, self.controls = np.zeros(task.d), np.zeros((task.n, task.d))

    def slope(self, client, moved):
        """The mean gradient along a client's path, from the way it went."""
        return moved / (self.task.steps[client] * self.lr)

    def sent(self, old, new):
        """What a client sends of its control variate."""
        return new - old

    def step_of_c(self, sent):
        """How the server's control variate moves."""
        return np.sum(sent, axis=0) / self.task.n

    def round(self, asked):
        """One round."""
        models, sent = [], []
        for i in asked.active:
            w = self.train(i, lambda w, i=i: self.c - self.controls[i])
            old = self.controls[i].copy()
            self.controls[i] = old - self.c + self.slope(i, self.model - w)
            models.append(w)
            sent.append(self.sent(old, self.controls[i].copy()))
        self.model = np.mean(models, axis=0)
        self.c = self.c + self.step_of_c(sent)
        return self.state()


class Plato382(Scaffold):
    """Plato's issue 382: clients saved and sent c_i where its change was meant, and divided by the epochs alone, without the step size."""

    def slope(self, client, moved):
        """Divided by the number of epochs, here of one minibatch each."""
        return moved / self.task.steps[client]

    def sent(self, old, new):
        """The new c_i in full."""
        return new


class Pfllib160(Scaffold):
    """PFLlib's issue 160: the control update divided by the minibatches of one epoch, not of all; here an epoch is one minibatch."""

    def slope(self, client, moved):
        """Without the number of local epochs."""
        num_batches = 1
        return moved / (num_batches * self.lr)


class NiidBench12(Scaffold):
    """NIID-Bench's issue 12: the changes of the c_i were divided by the number of selected clients, not of all."""

    def step_of_c(self, sent):
        """The mean over those selected."""
        return np.mean(sent, axis=0)


class NiidBench8(NiidBench12):
    """NIID-Bench's issue 8: control variates began as the weights of a fresh random network, all clients' as the server's; and c as in 12."""

    def set_up(self, task):
        """Control variates at random."""
        self.c = np.random.default_rng().standard_normal(task.d)
        self.controls = np.tile(self.c, (task.n, 1))


class FedDyn(Loop):
    """FedDyn as it should be, in the variables of its paper: g_i = -lam_i and h = -lam."""

    variables = {"x": "model", "lam_i": ("grads", -1), "lam": ("h", -1)}  # noqa: RUF012

    def set_up(self, task):
        """Duals at zero."""
        self.h, self.grads = np.zeros(task.d), np.zeros((task.n, task.d))

    def regularise(self, w, client):
        """The gradient of what is added to a client's loss."""
        return -self.grads[client] + self.task.settings.rho * (w - self.model)

    def total_move(self, models):
        """What h moves by, up to the factor -alpha / n."""
        return np.sum([w - self.model for w in models], axis=0)

    def round(self, asked):
        """One round."""
        alpha, models = self.task.settings.rho, []
        for i in asked.active:
            w = self.train(i, lambda w, i=i: self.regularise(w, i))
            self.grads[i] = self.grads[i] - alpha * (w - self.model)
            models.append(w)
        self.h = self.h - alpha / self.task.n * self.total_move(models)
        self.model = np.mean(models, axis=0) - self.h / alpha
        return self.state()


class PseudoCodeRead(FedDyn):
    """FedDyn's pseudo-code read by the letter, as PFLlib's issue 29 has it: one server model is taken from the sum of all clients' models."""

    def total_move(self, models):
        """sum_k theta_k - theta."""
        return np.sum(models, axis=0) - self.model


class Pfllib29(FedDyn):
    """PFLlib's FedDyn, about which issue 29 asks: its h is right, and its penalty is the norm and not the norm's square."""

    def regularise(self, w, client):
        """alpha/2 ||w - theta||, whose derivative an autograd framework takes for zero at theta."""
        away = w - self.model
        length = np.linalg.norm(away)
        return -self.grads[client] + (self.task.settings.rho / 2 * away / length if length > 0 else 0)


class FedLab319(PseudoCodeRead):
    """FedLab's issue 319: h as the pseudo-code has it. What is added to the loss is made of tensors without gradients, so nothing is."""

    def regularise(self, w, client):
        """Nothing arrives."""
        return 0


class FedLab305(Loop):
    """FedLab's issue 305: the server of FedAvg averages without the clients' numbers of samples, here in units of a local step's."""

    def round(self, asked):
        """One round."""
        self.model = np.mean([self.train(i) for i in asked.active], axis=0)
        return self.state()


OPTIONS = {"server_lr": 1, "lr_decay": 1}

#: adapter -> method, the mistakes that explain it, the variables that start wrongly
EXPECTED = {
    Plato382: ("scaffold", ("no 1/lr in the control update", "new c_i sent instead of its change"), ()),
    Pfllib160: ("scaffold", ("no 1/K in the control update",), ()),
    Pfllib29: ("feddyn", ("norm of the penalty not squared",), ()),
    PseudoCodeRead: ("feddyn", ("server model subtracted once",), ()),
    NiidBench8: ("scaffold", ("no m/n in the server control",), ("c", "c_i")),
    NiidBench12: ("scaffold", ("no m/n in the server control",), ()),
    FedLab319: ("feddyn", ("neither dual nor penalty in local work", "server model subtracted once"), ()),
    FedLab305: ("fedavg-weighted", ("clients not weighed by their samples",), ()),
}
