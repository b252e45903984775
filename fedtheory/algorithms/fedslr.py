"""FedSLR (Huang et al., "Fusion of Global and Local Knowledge for Personalized Federated Learning"): Algorithms 1, 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from fedtheory.algorithms.base import Fixes, Method
from fedtheory.algorithms.ditto import PERSONAL_EPOCHS, PERSONAL_STEPS, choose_personal_work
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import LOCAL_WORK, STEPPING, choose_work, make_step_size
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake, list_average_mistakes
from fedtheory.algorithms.options import BuiltField, Option
from fedtheory.core.arrays import Array, average, choose, gather, namespace, scatter, spread
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.layers import factor_floats, layer_mask
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, need
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import L1, NuclearNorm, shared_regulariser
from fedtheory.local.proximal_steps import ProximalSteps, ShiftedProblem
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class FedSLRState:
    """Global model, local models, duals, personal components."""

    x: Array  # (..., 1, d)  global model w_t
    x_i: Array  # (..., n, d)  local models w_{i,t} of Phase I, the clients' last ones
    gamma_i: Array  # (..., n, d)  duals gamma_{i,t}, on the client and on the server
    p_i: Array | None  # (..., n, d)  personal components p_{i,t-1,K}; None without Phase II
    sent: Array | None  # (..., 1, 1)  what sending the last round's w_t by factors took, in vectors of length d
    gamma: Array | None = None  # (..., 1, d)  Algorithm 3: the server's average of the duals

    @property
    def lam_i(self) -> Array:
        """The duals as FedPD and FedDyn write them, -gamma_i."""
        return -self.gamma_i

    @property
    def personal(self) -> Array:
        """Models that clients end up with, w_t + p_i: ``(..., n, d)``."""
        return spread(self.x, self.x_i.shape[-2]) if self.p_i is None else self.x + self.p_i


@dataclass(frozen=True)
class FedSLR(Method):
    """A global model by primal-dual steps with a proximal server (Phase I), a personal component on top of it (Phase II).

    With h the problem's shared regulariser (zero where it has none), on the clients S_t that take part:

    Phase I     w_{i,t+1} = argmin_w f_i(w) - <gamma_{i,t}, w> + ||w - w_t||^2 / (2 eta)          (4), started at w_t
                gamma_{i,t+1} = gamma_{i,t} + (w_t - w_{i,t+1}) / eta                              (5)
    Phase II    p_{i,t,k+1} = prox_{lr r}(p_{i,t,k} - lr g_i(w_t + p_{i,t,k})),  K steps from the last component  (7)
    server      w_{t+1} = prox_{eta h}( mean_{S_t} w_{i,t+1} - eta mean_{all} gamma_{i,t+1} )      (6)

    The paper's LR+S has h = lam * nuclear norm and r = mu * l1 norm; S+LR, LR+LR and S+S (its A.3) are other choices of h and r. Phase II
    never acts on Phase I, and draws its own minibatches. All clients: Algorithm 1; a subset: Algorithm 2. With h = 0 Phase I is FedDyn with
    penalty 1/eta, and with all clients FedPD with this eta and lambda_i = -gamma_i.

    Guarantee (L-smooth f_i, exact Phase I, all clients, gamma_{i,0} = grad f_i(w_0)): for eta < 1/(2L), with the potential D of
    `fedtheory.measures.potentials`, D_{t+1} <= D_t - C mean_i ||w_{i,t+1} - w_{i,t}||^2 - ||w_{t+1} - w_t||^2 / (2 eta),
    C = (1 - 2 L eta)(1 + L eta)/(2 eta) (Lemma 3), and cluster points are stationary (Theorem 1). The paper also admits eta = 1/(2L), where C = 0.

    Departures: printed Algorithm 2 divides by eta in the server's step, which solves another problem; Algorithms 1 and 3 multiply, as is done
    here (``printed=True`` gives the misprint). The paper leaves gamma_{i,0} open: its lemmas need grad f_i(w_0) (``init_dual="grad"``,
    the default), the public code starts at zero (``"zero"``). Where components start the paper does not say: at zero, or with
    ``init_personal="copy"``, as in the public code, at a copy of the matrices of w_0 (vectors at zero), so that clients begin at 2 w_0.

    Traffic: w_{i,t+1} up in full; w_t down by the factors of its layers (`fedtheory.core.layers.factor_floats`) where h is a nuclear norm,
    else in full. Before the first round, where duals start at gradients, each client's gradient goes up: the server's step needs their mean.

    Parameters
    ----------
    eta : number, array ``(*batch, 1, 1)`` or symbol
        Penalty parameter (the penalty is 1/(2 eta)) and step of the server's proximal operator; the paper's eta_g.
    local : LocalSolver
        Phase I.
    personal : ProximalSteps, optional
        Phase II; None leaves it out.
    init_dual : "grad" or "zero"
        Start of the duals: the clients' gradients, or zero.
    init_personal : "zero" or "copy"
        Start of the personal components: zero, or a copy of the model's matrices.
    server : "duals" or "average"
        What the server stores: all duals (Algorithms 1 and 2), or their average, which it updates (Algorithm 3).
    printed : bool
        The server's step of Algorithm 2 as printed.

    Examples
    --------
    >>> trace = run(FedSLR(eta=0.4), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "composite"
    fixes: ClassVar[Fixes] = {
        "gamma_i": lambda known: -known["lam_i"],
        "p_i": lambda known: known["personal"] - known["x"],
        "gamma": lambda known: average(known["gamma_i"]),
    }
    open_starts: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("gamma_i", "gamma", "lam_i"), "init_dual"),
        **dict.fromkeys(("p_i", "personal"), "init_personal"),
    }

    eta: Positive
    local: LocalSolver = Exact()
    personal: ProximalSteps | None = None
    init_dual: Literal["grad", "zero"] = "grad"
    init_personal: Literal["zero", "copy"] = "zero"
    server: Literal["duals", "average"] = "duals"
    printed: bool = False

    def init(self, problem: Problem, x0: Array) -> FedSLRState:
        copies = spread(x0, problem.n)
        gamma = problem.grad(x0) if self.init_dual == "grad" else 0 * copies
        p = None if self.personal is None else self._first_component(problem, copies)
        return self._state(x0, copies, gamma, p, count_factors(problem, 0 * x0), average(gamma))

    def _first_component(self, problem: Problem, copies: Array) -> Array:
        if self.init_personal == "zero":
            return 0 * copies
        layers = need(problem, "layers", "copying the matrices of the model")
        matrices = layer_mask(layers, [layer.name for layer in layers if layer.matrix_shape is not None])
        return choose(matrices, copies, 0 * copies)

    def round(self, problem: Problem, state: FedSLRState, clients: Clients | None, key: Key) -> FedSLRState:
        here = problem.take(clients)
        gamma = gather(state.gamma_i, clients)
        sub = Subproblem(here, a=-gamma, rho=1 / self.eta, z=state.x, clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        moved = (state.x - x_i) / self.eta
        gamma_i = scatter(state.gamma_i, clients, gamma + moved)
        p_i = self._phase_two(here, state, clients, key)
        mean_gamma = self._mean_of_duals(state, clients, gamma_i, moved)
        step = mean_gamma / self.eta if self.printed else self.eta * mean_gamma
        x = shared_regulariser(problem).prox(average(x_i, clients) - step, self.eta)
        return self._state(
            x, scatter(state.x_i, clients, x_i), gamma_i, p_i, count_factors(problem, state.x), mean_gamma
        )

    def _phase_two(self, here: Problem, state: FedSLRState, clients: Clients | None, key: Key) -> Array | None:
        if self.personal is None:
            return None
        sub = Subproblem(ShiftedProblem(here, state.x), clients=clients)
        p, _ = self.personal(sub, gather(state.p_i, clients), key.apart("personal"), None)
        return scatter(state.p_i, clients, p)

    def _mean_of_duals(self, state: FedSLRState, clients: Clients | None, gamma_i: Array, moved: Array) -> Array:
        if self.server == "duals":
            return average(gamma_i)
        change = scatter(0 * gamma_i, clients, moved)  # (1/n) times the sum over the clients that took part
        return state.gamma + average(change)

    def _state(
        self, x: Array, x_i: Array, gamma_i: Array, p_i: Array | None, sent: Array | None, gamma: Array
    ) -> FedSLRState:
        return FedSLRState(x, x_i, gamma_i, p_i, sent, gamma if self.server == "average" else None)

    @property
    def first_exchange(self) -> tuple[int, int]:
        """Of the first duals, whose mean over all clients the server needs: each client's gradient up, unless they are zero."""
        return (1, 0) if self.init_dual == "grad" else (0, 0)

    def traffic(self, key: Key, state: FedSLRState) -> tuple[int, Any]:
        return 1, 1 if state.sent is None else state.sent

    def fixed_point(self, problem: Problem, x_star: Array) -> FedSLRState | None:
        """None with Phase II, whose fixed point has no closed form, and for the misprint."""
        if self.personal is not None or self.printed:
            return None
        g, copies = problem.grad(x_star), spread(x_star, problem.n)
        return self._state(x_star, copies, g, None, count_factors(problem, x_star), average(g))


def count_factors(problem: Problem, x: Array) -> Array | None:
    """What sending x by factors takes, in vectors of length d ``(..., 1, 1)``; None where h is not a nuclear norm (x in full)."""
    h = shared_regulariser(problem)
    if not isinstance(h, NuclearNorm):
        return None
    return namespace(x).astype(factor_floats(x, h.layers)[..., None], x.dtype) / problem.d


def make_phase_two(
    lr: Any, lr_decay: Any, batch: int | None, clip: float | None, l1: float, **work: Any
) -> ProximalSteps:
    """Phase II: steps of the size and batch of Phase I, as many if no number is given, on other samples."""
    return ProximalSteps(choose_work(*choose_personal_work(**work)), make_step_size(lr, lr_decay), L1(l1), batch, clip)


WEIGHT = Option("l1", float, 0.01, "Weight of the l1 norm on personal components.", telling=0.2)
PHASE_TWO = BuiltField((*STEPPING, PERSONAL_STEPS, PERSONAL_EPOCHS, WEIGHT), make_phase_two)
PHASE_ONE: dict[str, Any] = {"personal": None, "init_personal": "zero", "printed": False}  # alone

LISTED = (
    listing(
        "fedslr",
        FedSLR,
        "FedSLR, Algorithms 1 and 2",
        local=LOCAL_WORK,
        personal=PHASE_TWO,
        server="duals",
        printed=False,
    ),
    listing("fedslr-global", FedSLR, "FedSLR, Algorithms 1 and 2, Phase I alone", server="duals", **PHASE_ONE),
    listing("fedslr-memory", FedSLR, "FedSLR, Algorithm 3, Phase I alone", server="average", **PHASE_ONE),
)

_DUAL = "gamma + moved"
_MEAN = "mean_gamma = self._mean_of_duals(state, clients, gamma_i, moved)"
_STEP = "step = mean_gamma / self.eta if self.printed else self.eta * mean_gamma"
_PROX = "shared_regulariser(problem).prox(average(x_i, clients) - step, self.eta)"
_PHASE_TWO = "self.personal(sub, gather(state.p_i, clients),"
MISTAKES = {
    FedSLR: (
        Mistake("sign of the dual in local work", "a=-gamma,", "a=gamma,"),
        Mistake("no dual in local work", "a=-gamma,", "a=0 * gamma,"),
        Mistake("dual applied twice in local work", "a=-gamma,", "a=-2 * gamma,"),
        Mistake("local penalty doubled", "rho=1 / self.eta", "rho=2 / self.eta"),
        Mistake("local penalty halved", "rho=1 / self.eta", "rho=1 / (2 * self.eta)"),
        Mistake("sign of the dual step", _DUAL, "gamma - moved"),
        Mistake("duals never updated", _DUAL, "gamma"),
        Mistake("duals replaced", _DUAL, "moved"),
        Mistake("server dual of before the round", _MEAN, "mean_gamma = average(state.gamma_i)"),
        Mistake("server dual over active clients", _MEAN, "mean_gamma = average(gather(gamma_i, clients), clients)"),
        Mistake("server dual divided by eta, as Algorithm 2 prints", _STEP, "step = mean_gamma / self.eta"),
        Mistake("server dual not multiplied by eta", _STEP, "step = mean_gamma"),
        Mistake("sign of the server's dual", _STEP, "step = -self.eta * mean_gamma"),
        Mistake("no dual at the server", _STEP, "step = 0 * mean_gamma"),
        Mistake("no proximal step at the server", _PROX, "average(x_i, clients) - step"),
        Mistake("threshold lambda in place of lambda eta", _PROX, _PROX.replace("step, self.eta", "step, 1")),
        Mistake(
            "threshold lambda/eta in place of lambda eta", _PROX, _PROX.replace("step, self.eta", "step, 1 / self.eta")
        ),
        Mistake(
            "proximal step before the dual is subtracted",
            _PROX,
            "shared_regulariser(problem).prox(average(x_i, clients), self.eta) - step",
        ),
        Mistake(
            "personal component from zero in every round",
            _PHASE_TWO,
            "self.personal(sub, 0 * gather(state.p_i, clients),",
            needs="l1",
        ),
        Mistake(
            "no proximal step in the personal component",
            _PHASE_TWO,
            "replace(self.personal, regulariser=Zero())(sub, gather(state.p_i, clients),",
            needs="l1",
        ),
        Mistake("personal component without the global model", "ShiftedProblem(here, state.x)", "here", needs="l1"),
        NOT_RESET,
        HELD_GRADIENT,
        *list_average_mistakes("x_i", absent="state.x")[:2],
    ),
}
