"""pFedMe (Dinh, Tran and Nguyen 2020, Algorithm 1): FedAvg on the clients' Moreau envelopes."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.ditto import PersonalState
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, average, scatter, spread
from fedtheory.core.hyperparameters import Count, Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class PFedMe(Method):
    """Local gradient steps on F_i(w) = min_theta f_i(theta) + (rho/2) ||theta - w||^2, whose gradient is rho (w - theta_i(w)).

    w_i = x^r;  ``local_rounds`` times: theta_i = argmin f_i + (rho/2) ||. - w_i||^2 (or local steps towards it, from w_i),
    w_i <- w_i - model_lr rho (w_i - theta_i);  x^{r+1} = x^r + server_lr (mean_{active} w_i - x^r).
    The last theta_i is the client's personal model.

    Relations: it is `FedAvg` on the F_i; with one local round, model_lr = 1/rho and server_lr = 1 it is `FedProx`. Guarantee (source;
    strongly convex f_i, accurate theta_i, small model_lr): linear up to noise, sampling and heterogeneity, to the minimiser
    of mean F_i, which is not that of f; with one local round, exact solves and everyone it is that minimiser, without an error.

    Departures: where work towards theta_i starts is open in the source; here it is w_i.

    Parameters
    ----------
    rho : number, array ``(*batch, 1, 1)`` or symbol
        Weight of the penalty (lambda in the paper): the larger, the nearer personal models are to the common one.
    local : LocalSolver
        How theta_i is found: `Exact`, or steps.
    model_lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size on the envelopes (eta in the paper), of the unit 1/rho.
    local_rounds : int
        Steps on the envelopes a round (R in the paper).
    server_lr : number, array ``(*batch, 1, 1)`` or symbol
        Share of the way to the mean that the server goes (beta in the paper); it may be above 1.

    Examples
    --------
    >>> state = run(PFedMe(rho=1.0, model_lr=0.5, local_rounds=1), problem, x0, 200).state
    >>> print(np.abs(average(state.x - state.personal)).max() < 1e-10)  # mean_i grad F_i = 0
    True
    """

    family = "personalised"

    rho: Positive
    local: LocalSolver = Exact()
    model_lr: Positive = 0.1
    local_rounds: Count = 2
    server_lr: Positive = 1

    def init(self, problem: Problem, x0: Array) -> PersonalState:
        return PersonalState(x0, spread(x0, problem.n))

    def round(self, problem: Problem, state: PersonalState, clients: Clients | None, key: Key) -> PersonalState:
        w, theta = self._descend(problem.take(clients), state.x, clients, key)
        x = state.x + self.server_lr * average(w - state.x, clients)
        return PersonalState(x, scatter(state.personal, clients, theta))

    def _descend(self, f: Problem, x: Array, clients: Clients | None, key: Key) -> tuple[Array, Array]:
        """The local rounds from the server's model x: the clients' w_i, and their last theta_i."""
        w = theta = x
        for q in range(self.local_rounds):
            near = Subproblem(f, rho=self.rho, z=w, clients=clients)
            theta, _ = self.local(near, w, key.apart(f"local round {q}"), None)
            w = w - self.model_lr * self.rho * (w - theta)
        return w, theta


_STEP = "w = w - self.model_lr * self.rho * (w - theta)"

MISTAKES = {
    PFedMe: (
        Mistake("no rho in the step on the envelope", _STEP, "w = w - self.model_lr * (w - theta)"),
        Mistake("sign of the step on the envelope", _STEP, "w = w + self.model_lr * self.rho * (w - theta)"),
        Mistake("personal models averaged", "average(w - state.x", "average(theta - state.x"),
        Mistake("every step from the server's model", _STEP, "w = x - self.model_lr * self.rho * (w - theta)"),
        Mistake("penalty around the server's model", "z=w,", "z=x,"),
        Mistake("no penalty in local work", ", rho=self.rho, z=w", ""),
        Mistake("local penalty doubled", "rho=self.rho, z", "rho=2 * self.rho, z"),
        Mistake("local penalty halved", "rho=self.rho, z", "rho=self.rho / 2, z"),
        *list_average_mistakes("w - state.x")[:2],
    ),
}

LISTED = (
    listing(
        "pfedme",
        PFedMe,
        "Dinh, Tran and Nguyen 2020, Algorithm 1",
        changes={"model_lr": {"telling": 0.2}, "local_rounds": {"telling": 3}},
    ),
)
