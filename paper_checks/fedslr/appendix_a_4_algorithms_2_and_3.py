"""Appendix A.4: line 10 of Algorithm 2, under partial participation. Appendix A.5: Algorithm 3, whose server keeps the mean dual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms.fedslr import FedSLR, FedSLRState
from fedtheory.claims import Claim, Context, Finding, PlayedStates, Theorem, equal, lemma
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, Unasked, World, bar
from fedtheory.core.errors import InvalidInput
from fedtheory.core.randomness import Key
from fedtheory.proofs.every_n.cells import cell, entry
from fedtheory.proofs.every_n.vectors import Sampling, Vector
from fedtheory.running.runner import run
from paper_checks.averaged_quadratics import GivenAnswers
from paper_checks.fedslr.appendix_c_2_facts import fact_3, server_problem
from paper_checks.fedslr.notation import claim
from paper_checks.fedslr.played import plant
from paper_checks.steps import Step
from problems.low_rank import low_rank_regression

CLAIMS: list[Claim] = []


# ---- Algorithm 2, line 10 --------------------------------------------------------------------------------------------
@lemma("the server's problem, line 10", "Algorithm 2, line 10", "0 < eta", units="as printed", c=1)
def line_10(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The same with mean gamma_i/eta in the place of eta mean gamma_i."""
    return server_problem(w, p, c, 1 / p.eta)


CLAIMS += [
    claim(
        "FEDSLR-ALG2",
        "Algorithm 2, line 10",
        "The server's step of Algorithm 2, w_{t+1} = Prox_{eta_g R}(mean w_{i,t+1} - (1/eta_g) mean gamma_{i,t+1}), is the one of (6) and (26).",
        [Step("divided by eta_g", line_10), Step("times eta_g", fact_3, "repaired")],
        repaired="With eta_g mean gamma_{i,t+1}, as in Algorithms 1 and 3.",
        readings=[
            "Algorithm 2 is FedSLR with partial participation, and with all clients the same method as Algorithm 1. So line 10 is held against the "
            "problem that the server solves there. A slip: the public code multiplies. What the printed line does is FEDSLR-N15."
        ],
        false={"divided by eta_g": "times eta_g"},
        kind="identity",
    ),
]


# ---- Algorithm 3 -----------------------------------------------------------------------------------------------------
Field = Callable[[Any, Any, Any, Any], Any]
OF_SERVERS = ("x", "x_bar", "lam", "gamma")  #: fields that are not one of each client


@dataclass(frozen=True, eq=False)
class TwoMethods:
    """A round of Phase I and one of a second method by their own code: s of n clients take part, and answer anything.

    That both ask the same of clients is part of it: of <a, y> + (rho/2) ||y - z||^2, by its gradient at any answer y, and of the start.

    ``second``: a function of eta, a local solver and a Phase II that answers anything; ``make``: its state of its fields and the components p_i;
    ``fields``: these as functions of FedSLR's x, x_i, gamma_i and eta. Phase I's x is where its server asks R's operator, which answers both
    alike, whatever it is.
    """

    second: Callable[..., Any]
    make: Callable[..., Any]
    fields: Mapping[str, Field]

    def who(self, numbers: Mapping[str, Any]) -> Sampling:
        """Those that take part."""
        return Sampling(numbers["n"], numbers["s"])

    def __call__(self, w: World, p: Any, last: int) -> list[Any]:
        """How far apart the second's fields are: what both start with, from any point, and what both make of any states that correspond."""
        who, states, key = self.who(vars(p)), list[Any](), Key(0, 0)
        problem: Any = Unasked(who.n)
        for k in range(last + 1):
            x = w.vector(f"w {k}")
            y, gamma, answers = (w.vector(f"{name} {k}", True) for name in ("w_i", "gamma_i", "answers"))
            p_i, personal = (w.vector(f"{name} {k}", True) for name in ("p_i", "components"))
            if not isinstance(x, Vector):
                raise InvalidInput("rounds of every number of clients are not played on plain numbers")
            asked, theirs, other = (GivenAnswers(cell(given, who.n)) for given in (answers, answers, personal))
            phase_one: Any = FedSLR(p.eta, asked, init_dual="zero")
            second = self.second(p.eta, theirs, other)
            before: Any = FedSLRState(cell(x), cell(y, who.n), cell(gamma, who.n), None, None)
            rows = {name: 1 if name in OF_SERVERS else who.n for name in self.fields}
            like = {name: cell(of(x, y, gamma, p.eta), rows[name]) for name, of in self.fields.items()}
            after: Any = self.make(p_i=cell(p_i, who.n), **like)
            begun = self._apart(phase_one.init(problem, cell(x)), second.init(problem, cell(x)), p.eta)
            made = self._apart(
                phase_one.round(problem, before, who, key),
                second.round(problem, after, who, key),
                p.eta,
            )
            named = {f"begun_{name}": v for name, v in begun.items()} | {f"made_{name}": v for name, v in made.items()}
            slopes = [entry(one.asked.a) + (answers - entry(one.asked.z)) * one.asked.rho for one in (asked, theirs)]
            starts = [entry(one.start) for one in (asked, theirs)]
            states.append(SimpleNamespace(**named, asked=slopes[0] - slopes[1], start=starts[0] - starts[1]))
        return states

    def _apart(self, one: Any, other: Any, eta: Any) -> dict[str, Any]:
        x, x_i, gamma_i = (entry(getattr(one, name)) for name in ("x", "x_i", "gamma_i"))
        return {name: entry(getattr(other, name)) - of(x, x_i, gamma_i, eta) for name, of in self.fields.items()}


def alike(second: Callable[..., Any], make: Callable[..., Any], **fields: Field) -> Theorem:
    """The second method starts as Phase I does, and goes where it goes, whoever takes part."""
    return Theorem(
        "0 < eta, n in 2.., 1 <= s <= n",
        ("begun[t] == 0", "asked[t] == 0", "made[t] == 0"),
        "start: claim 1 by identity\nlocal: claim 2 by identity\nround: claim 3 by identity",
        states=PlayedStates(TwoMethods(second, make, fields)),
        rounds={"t": 0},
        quantities={
            "asked": "mean(norm2(asked)) + mean(norm2(start))",
            **{which: " + ".join(f"mean(norm2({which}_{name}))" for name in fields) for which in ("begun", "made")},
        },
    )


SAME_FIELDS: dict[str, Field] = {
    "x": lambda x, x_i, gamma_i, eta: x,
    "x_i": lambda x, x_i, gamma_i, eta: x_i,
    "gamma_i": lambda x, x_i, gamma_i, eta: gamma_i,
}


def algorithm_3(**changed: Any) -> Theorem:
    """Algorithm 3, whose server keeps the mean dual."""
    return alike(
        lambda eta, local, personal: FedSLR(eta, local, server="average", init_dual="zero", **changed),
        partial(FedSLRState, sent=None),
        **SAME_FIELDS,
        gamma=lambda x, x_i, gamma_i, eta: bar(gamma_i),
    )


def memory_runs(ctx: Context, *, method: Any = FedSLR) -> Iterator[Finding]:
    """Algorithms 1 and 3 with a nuclear norm."""
    problem: Any = low_rank_regression(seed=ctx.seed).problem
    ends = [
        run(algorithm, problem, np.zeros(problem.d), 200, every=200, progress=False).state.x
        for algorithm in (method(0.08), FedSLR(0.08, server="average"))
    ]
    yield equal("with a nuclear norm", ends[0], ends[1], "numeric", "200 rounds on low-rank regression", rtol=1e-10)


CLAIMS += [
    claim(
        "FEDSLR-D5",
        "Appendix A.5; Algorithm 3",
        "Algorithm 3 produces the global iterates of Algorithm 1.",
        [Step("a round", algorithm_3(), wrong={"the server divides by eta_g": algorithm_3(printed=True)})],
        assumptions=["exact local solves, or any with one answer", "gamma_0 = mean_i gamma_{i,0}"],
        readings=["Of all n clients s = n take part. Both servers ask R's operator the same, whatever it is."],
        kind="equivalence",
        besides=memory_runs,
        faults=plant("with a nuclear norm", "no proximal step at the server", "server dual of before the round"),
    ),
]
