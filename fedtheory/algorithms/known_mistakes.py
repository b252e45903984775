"""The list of mistakes that implementations of federated methods are known to make, by method.

Each is an edit of the reference's code (`fedtheory.algorithms.mistakes`); ``seen`` is where public code was found to do it.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms import AFedPD, FedADMM, FedAvg, FedDyn, FedPD, FedProx, Scaffnew, Scaffold
from fedtheory.algorithms.base import Algorithm, Listed
from fedtheory.algorithms.mistakes import Mistake, mistaken
from fedtheory.algorithms.settings import Settings
from fedtheory.core.arrays import is_array

#: mistakes that are changed settings; they hold for every method that uses the setting
SETTINGS = (
    Mistake("K + 1 local steps", setting=("steps", lambda k: k + 1)),
    Mistake("K - 1 local steps", setting=("steps", lambda k: k - 1)),
    Mistake(
        "every client takes the local steps of the busiest",
        setting=("steps", lambda k: np.full_like(k, np.max(k)) if is_array(k) else k),
    ),
    Mistake("lr/2 in place of lr", setting=("lr", lambda lr: lr / 2)),
    Mistake("2 lr in place of lr", setting=("lr", lambda lr: 2 * lr)),
    Mistake(
        "rho ||x - z||^2 in place of (rho/2) ||x - z||^2, rho doubled everywhere", setting=("rho", lambda rho: 2 * rho)
    ),
    Mistake("rho/2 in place of rho everywhere", setting=("rho", lambda rho: rho / 2)),
    Mistake("1/rho in place of rho", setting=("rho", lambda rho: 1 / rho)),
    Mistake("2 eta in place of eta everywhere", setting=("eta", lambda eta: 2 * eta)),
    Mistake(
        "||x - z||^2 / eta in place of ||x - z||^2 / (2 eta), eta halved everywhere",
        setting=("eta", lambda eta: eta / 2),
    ),
    Mistake("1/eta in place of eta", setting=("eta", lambda eta: 1 / eta)),
    Mistake("server step 1 in place of server_lr", setting=("server_lr", lambda _: 1)),
)

_LOCAL = "self.local(sub, state.x, key, None)"
_NOT_RESET = Mistake(
    "model not reset between clients",
    _LOCAL,
    "(in_turn(self.local, problem, sub, state.x, key), None)",
)


def _averages(old: str, what: str, all_clients: str) -> tuple[Mistake, ...]:
    """Wrong weights in the server's average ``average(what, clients)`` of a method with equal ones."""
    mean = f"average({what}, clients)"
    return (
        Mistake(
            "mean over all instead of active clients",
            old,
            old.replace(mean, f"average({all_clients})"),
        ),
        Mistake("sum instead of mean", old, old.replace(mean, f"({what}).shape[-2] * {mean}")),
        Mistake(
            "clients weighed by their local steps",
            old,
            old.replace(mean, f"weighted({what}, self.local.steps, clients)"),
        ),
    )


_SCAFFOLD_CONTROL = "path_length(local.lr, self._steps(sub, y), key.round)"
_SCAFFOLD_SERVER = "c=average(all_c),"
_PFLLIB = "https://github.com/TsingZ0/PFLlib/issues/160"
_FEDLAB = (
    "fedlab 1.3.0, contrib/algorithm/feddyn.py: both are computed from parameters that are cut off from differentiation"
)
_PLATO = "https://github.com/TL-System/plato/issues/382"

_DYN_DUAL = "lam_i + self.rho * (x_i - state.x)"
_DYN_SERVER = '(lam if self.server_dual == "new" else state.lam) / self.rho'


def _both_duals(name: str, step: str) -> Mistake:
    """A wrong dual step of FedDyn's clients that its server follows with the mean of their duals."""
    after = "lam = average(all_lam)"
    old = f"all_lam = scatter(state.lam_i, clients, {_DYN_DUAL})\n        {after}"
    return Mistake(
        name, old, old.replace(_DYN_DUAL, step).replace(after, "lam = state.lam + average(all_lam - state.lam_i)")
    )


def _local_dual(dual: str) -> tuple[Mistake, ...]:
    return (
        Mistake("sign of the dual in local work", f"a={dual},", f"a=-{dual},"),
        Mistake("no dual in local work", f"a={dual},", f"a=0 * {dual},"),
    )


_LOCAL_PENALTY = (
    Mistake("no penalty in local work", ", rho=self.rho, z=state.x", ""),
    Mistake("local penalty doubled", "rho=self.rho, z", "rho=2 * self.rho, z"),
    Mistake("local penalty halved", "rho=self.rho, z", "rho=self.rho / 2, z"),
)
_ADMM_DUAL = "lam = lam + self.rho * (x - state.x)"
_ADMM_SERVER = 'z = average(x_i + lam_i / self.rho) if self.averages == "all" else average(x + lam / self.rho, clients)'
_A_MEAN = "lam = state.lam + self.rho * (x_bar - state.x)"
_PD_DUAL = "lam = state.lam_i + (x_i - state.x0_i) / self.eta"
_PD_UPLOAD = "upload = x_i + self.eta * lam"

#: mistakes in the code of a method, by its class
KNOWN: dict[type, tuple[Mistake, ...]] = {
    FedAvg: (
        _NOT_RESET,
        *_averages("average(x_i, clients)", "x_i", "scatter(spread(state.x, problem.n), clients, x_i)"),
    ),
    FedProx: (
        _NOT_RESET,
        *_averages("average(x_i, clients)", "x_i", "scatter(spread(state.x, problem.n), clients, x_i)"),
        Mistake("proximal sign", "rho=rho", "rho=-rho"),
    ),
    Scaffold: (
        Mistake("no 1/K in the control update", _SCAFFOLD_CONTROL, "local.lr", seen=_PFLLIB),
        Mistake("no 1/lr in the control update", _SCAFFOLD_CONTROL, "self._steps(sub, y)", seen=_PLATO),
        Mistake("control update not scaled", f" / {_SCAFFOLD_CONTROL}", ""),
        Mistake("largest K in the control update", "self._steps(sub, y),", "np.max(self.local.steps),"),
        Mistake("K + 1 in the control update", "self._steps(sub, y),", "self._steps(sub, y) + 1,"),
        Mistake("K - 1 in the control update", "self._steps(sub, y),", "self._steps(sub, y) - 1,"),
        Mistake(
            "server step in the control update",
            _SCAFFOLD_CONTROL,
            "(self.server_lr * path_length(local.lr, self._steps(sub, y), key.round))",
        ),
        Mistake(
            "control update with the new server model",
            "(state.x - y) /",
            "(state.x + self.server_lr * average(y - state.x, clients) - y) /",
        ),
        Mistake("sign of the control update", "(state.x - y) /", "(y - state.x) /"),
        Mistake("server control left out of the control update", "c_i - state.c +", "c_i +"),
        Mistake("client control left out of the control update", "c_i - state.c +", "-state.c +"),
        Mistake("sign of the correction", "a=state.c - c_i", "a=c_i - state.c"),
        Mistake("correction without the server control", "a=state.c - c_i", "a=-c_i"),
        Mistake("correction without the client control", "a=state.c - c_i", "a=state.c + 0 * c_i"),
        Mistake("no correction", "a=state.c - c_i", "a=0 * c_i"),
        Mistake(
            "new c_i sent instead of its change",
            _SCAFFOLD_SERVER,
            "c=state.c + c_i.shape[-2] / problem.n * average(c_new, clients),",
            seen=_PLATO,
        ),
        Mistake("server control is the mean of active c_i", _SCAFFOLD_SERVER, "c=average(c_new, clients),"),
        Mistake("no m/n in the server control", _SCAFFOLD_SERVER, "c=state.c + average(c_new - c_i, clients),"),
        Mistake(
            "sum of the changes in the server control",
            _SCAFFOLD_SERVER,
            "c=state.c + c_i.shape[-2] * average(c_new - c_i, clients),",
        ),
        Mistake("server control never updated", _SCAFFOLD_SERVER, "c=state.c,"),
        Mistake("client controls never updated", "c_i=all_c,", "c_i=state.c_i,"),
        _NOT_RESET,
        *_averages(
            "average(y - state.x, clients)",
            "y - state.x",
            "scatter(spread(0 * state.x, problem.n), clients, y - state.x)",
        ),
    ),
    FedDyn: (
        *_local_dual("lam_i"),
        Mistake("neither dual nor penalty in local work", ", a=lam_i, rho=self.rho, z=state.x", "", seen=_FEDLAB),
        *_LOCAL_PENALTY,
        Mistake("sign of the dual step", _DYN_DUAL, "lam_i - self.rho * (x_i - state.x)"),
        Mistake("dual step without rho", _DYN_DUAL, "lam_i + (x_i - state.x)"),
        Mistake("duals replaced", _DYN_DUAL, "self.rho * (x_i - state.x)"),
        _both_duals("sign of the dual step, at clients and server", "lam_i - self.rho * (x_i - state.x)"),
        _both_duals("dual step without rho, at clients and server", "lam_i + (x_i - state.x)"),
        Mistake("dual step with the mean model", _DYN_DUAL, "lam_i + self.rho * (x_i - average(x_i, clients))"),
        Mistake("client duals never updated", "lam_i=all_lam,", "lam_i=state.lam_i,"),
        Mistake(
            "server dual over active clients",
            "lam = average(all_lam)",
            "lam = state.lam + self.rho * average(x_i - state.x, clients)",
        ),
        Mistake(
            "server model subtracted once",
            "lam = average(all_lam)",
            "lam = state.lam + self.rho / problem.n * (x_i.shape[-2] * average(x_i, clients) - state.x)",
            seen="https://github.com/SMILELab-FL/FedLab/issues/319",
        ),
        Mistake("server dual never updated", "lam = average(all_lam)", "lam = state.lam"),
        Mistake("sign of the server's dual", f"x=x_bar + {_DYN_SERVER}", f"x=x_bar - {_DYN_SERVER}"),
        Mistake("no dual at the server", f"x=x_bar + {_DYN_SERVER}", "x=x_bar"),
        Mistake("server dual not divided by rho", _DYN_SERVER, _DYN_SERVER.removesuffix(" / self.rho")),
        _NOT_RESET,
        *_averages("x_bar = average(x_i, clients)", "x_i", "scatter(spread(state.x, problem.n), clients, x_i)"),
    ),
    FedADMM: (
        *_local_dual("lam"),
        Mistake("neither dual nor penalty in local work", ", a=lam, rho=self.rho, z=state.x", ""),
        *_LOCAL_PENALTY,
        Mistake("sign of the dual step", _ADMM_DUAL, "lam = lam - self.rho * (x - state.x)"),
        Mistake("dual step without rho", _ADMM_DUAL, "lam = lam + (x - state.x)"),
        Mistake("dual step with the mean model", _ADMM_DUAL, "lam = lam + self.rho * (x - average(x, clients))"),
        Mistake("duals never updated", _ADMM_DUAL, "lam = lam + 0 * x"),
        Mistake(
            "stale dual sent",
            _ADMM_SERVER,
            'z = average(x_i + state.lam_i / self.rho) if self.averages == "all" else average(x + gather(state.lam_i, clients) / self.rho, clients)',
        ),
        Mistake(
            "server averages models only",
            _ADMM_SERVER,
            'z = average(x_i) if self.averages == "all" else average(x, clients)',
        ),
        Mistake(
            "dual not divided by rho",
            _ADMM_SERVER,
            'z = average(x_i + lam_i) if self.averages == "all" else average(x + lam, clients)',
        ),
        Mistake(
            "sign of the dual at the server",
            _ADMM_SERVER,
            'z = average(x_i - lam_i / self.rho) if self.averages == "all" else average(x - lam / self.rho, clients)',
        ),
        _NOT_RESET,
    ),
    FedPD: (
        Mistake("sign of the dual in local work", "a=state.lam_i,", "a=-state.lam_i,"),
        Mistake("local penalty doubled", "rho=1 / self.eta", "rho=2 / self.eta"),
        Mistake("local penalty halved", "rho=1 / self.eta", "rho=1 / (2 * self.eta)"),
        Mistake("sign of the dual step", _PD_DUAL, "lam = state.lam_i - (x_i - state.x0_i) / self.eta"),
        Mistake("dual step multiplied by eta", _PD_DUAL, "lam = state.lam_i + self.eta * (x_i - state.x0_i)"),
        Mistake("duals never updated", _PD_DUAL, "lam = state.lam_i + 0 * x_i"),
        Mistake("stale dual sent", _PD_UPLOAD, "upload = x_i + self.eta * state.lam_i"),
        Mistake("models sent without duals", _PD_UPLOAD, "upload = x_i"),
        Mistake("dual not multiplied by eta", _PD_UPLOAD, "upload = x_i + lam"),
        Mistake("sign of the dual sent", _PD_UPLOAD, "upload = x_i - self.eta * lam"),
        Mistake("local work from the server's copy", "self.local(sub, state.x_i,", "self.local(sub, state.x0_i,"),
        Mistake("skipping keeps the old copy", "spread(x, problem.n), upload)", "spread(x, problem.n), state.x0_i)"),
    ),
    AFedPD: (
        Mistake("sign of the dual in local work", "a=state.lam + mu_i", "a=-state.lam - mu_i"),
        Mistake("no dual in local work", "a=state.lam + mu_i", "a=0 * mu_i"),
        *_LOCAL_PENALTY,
        Mistake("dual step of the mean without rho", _A_MEAN, "lam = state.lam + x_bar - state.x"),
        Mistake("sign of the dual step of the mean", _A_MEAN, "lam = state.lam - self.rho * (x_bar - state.x)"),
        Mistake("no dual at the server", "x=x_bar + lam / self.rho", "x=x_bar"),
        Mistake("server dual of before the round", "x=x_bar + lam / self.rho", "x=x_bar + state.lam / self.rho"),
        Mistake("sign of the server's dual", "x=x_bar + lam / self.rho", "x=x_bar - lam / self.rho"),
        Mistake("server dual not divided by rho", "x=x_bar + lam / self.rho", "x=x_bar + lam"),
        _NOT_RESET,
        *_averages("x_bar = average(x_i, clients)", "x_i", "scatter(spread(state.x, problem.n), clients, x_i)"),
    ),
    Scaffnew: (
        Mistake("sign of the correction", "problem.grad(state.x_i) - state.h_i", "problem.grad(state.x_i) + state.h_i"),
        Mistake("no p in the control update", "self.p * (x_i - ahead)", "(x_i - ahead)"),
        Mistake("1/p in the control update", "self.p * (x_i - ahead)", "(x_i - ahead) / self.p"),
        Mistake("no 1/lr in the control update", "self.p * (x_i - ahead) / self.lr", "self.p * (x_i - ahead)"),
        Mistake("sign of the control update", "self.p * (x_i - ahead)", "self.p * (ahead - x_i)"),
        Mistake("control variates never updated", "state.h_i + self.p * (x_i - ahead) / self.lr", "state.h_i"),
        Mistake(
            "control update with the model before the step", "self.p * (x_i - ahead)", "self.p * (x_i - state.x_i)"
        ),
    ),
}


#: averages that are written as increments in the papers: the same from a start at which the server's variable is the clients' mean
AS_PRINTED: dict[type, Mistake] = {
    Scaffold: Mistake("", _SCAFFOLD_SERVER, "c=state.c + average(all_c - state.c_i),"),
    FedDyn: Mistake(
        "",
        "lam = average(all_lam)",
        "lam = state.lam + average(scatter(0 * state.lam_i, clients, self.rho * (x_i - state.x)))",
    ),
}


def as_printed(entry: Listed, settings: Settings, mistakes: tuple[Mistake, ...] = ()) -> Algorithm:
    """Build a listed method as its paper prints it, with mistakes in it; see `fedtheory.algorithms.mistakes.mistaken`."""
    return mistaken(entry, settings, mistakes, AS_PRINTED.get(type(entry.build(settings))))


def known(entry: Listed, settings: Settings) -> tuple[Mistake, ...]:
    """The mistakes that can be made in a method: those of its class and those of the settings it uses."""
    steps = {"lr", "steps"} if settings.exact else set()  # exact local work has none
    by_setting = (m for m in SETTINGS if m.setting is not None and m.setting[0] in set(entry.uses) - steps)
    in_code = (m for m in KNOWN.get(type(entry.build(settings)), ()) if not (steps and "local.steps" in m.new))
    return (*in_code, *by_setting)
