"""Algorithm 1 played on instances, in floats and in fractions, and by the library's method, which keeps the duals' mean and deviations.

`identity` makes a claim of a theorem of a round; beside it the same quantities are taken of rounds of the library's method, in fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, product
from typing import Any

import numpy as np

from fedtheory.algorithms import AFedPD, FedDyn
from fedtheory.claims import Assumption, Claim, Context, Fault, Finding, Replay, Role, Theorem, proved
from fedtheory.claims.statements.theorems.played import ConcreteSpace
from fedtheory.claims.statements.theorems.quantities import evaluate_quantity
from fedtheory.claims.statements.worlds import Concrete
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.facts import compare
from paper_checks.afedpd.notation import PAPER
from paper_checks.afedpd.rounds import local_step
from paper_checks.steps import Step, claim_steps
from problems.quadratics import scalar_quadratics

# ---- Instances -------------------------------------------------------------------------------------------------------
Slope = Callable[[Any], Any]
Number = Callable[[Any], Any]  # makes a float, or a fraction, of a number as an instance has it


def replay_twice(
    what: str, play: Callable[[Number], tuple[Any, Any]], met: tuple[Assumption, ...], arithmetic: str = "fractions"
) -> Replay:
    """A replay that plays the instance in floats, and again in fractions: ``play`` returns what is measured and its bound."""
    numeric, exact = play(lambda value: float(Fraction(value))), play(Fraction)
    return Replay(what, *numeric, *exact, arithmetic, met)


def local_model(slopes: Sequence[Slope], theta: Any, lam: Any, rho: Any, eta: Any) -> Any:
    """Algorithm 1's local training, one stochastic gradient after the other; FedAvg's with rho = lam = 0."""
    x = theta
    for slope in slopes:
        x = local_step(x, theta, slope(x), lam, rho, eta)
    return x


# ---- The library's methods on four quadratics ------------------------------------------------------------------------
#: f_i = (a_i/2) (x - b_i)^2
CURVATURES = tuple(map(Fraction, ("1", "2", "1/2", "3")))
CENTRES = tuple(map(Fraction, ("1", "-2", "3", "0")))
RHO, START = Fraction(3, 2), Fraction(5, 2)
Subsets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Played:
    """A state: broadcast model, average of active models, all duals, all local models."""

    theta: Fraction
    bar: Fraction
    lam: tuple[Fraction, ...]
    models: tuple[Fraction, ...]

    @property
    def mean_lam(self) -> Fraction:
        """The average of the duals."""
        return mean(self.lam)


def mean(values: Sequence[Fraction]) -> Fraction:
    """Their average."""
    return sum(values, Fraction(0)) / len(values)


def solve(i: int, lam: Fraction, theta: Fraction) -> Fraction:
    """argmin f_i(x) + lam x + (rho/2)(x - theta)^2."""
    return (CURVATURES[i] * CENTRES[i] - lam + RHO * theta) / (CURVATURES[i] + RHO)


@cache
def play_method(subsets: Subsets, method: Any = AFedPD) -> tuple[Played, ...]:
    """A method of the library with exact solves, in fractions."""
    problem = scalar_quadratics(list(CURVATURES), list(CENTRES))
    algorithm = method(RHO)
    state = algorithm.init(problem, np.array([[START]], dtype=object))
    states = []
    for r in range(len(subsets) + 1):
        states.append(Played(state.x.item(), state.x_bar.item(), tuple(state.lam_i.ravel()), tuple(state.x_i.ravel())))
        if r < len(subsets):
            key: Any = ScriptedKey(r)
            state = algorithm.round(problem, state, Clients(problem.n, np.array(subsets[r])), key)
    return tuple(states)


def sequences(P: int, rounds: int = 2) -> Iterator[Subsets]:
    """All sequences of subsets of P of the four clients."""
    yield from product(combinations(range(len(CURVATURES)), P), repeat=rounds)


#: FedDyn whose server takes its previous dual, Eq. (7) as printed
OLD_DUAL = partial(FedDyn, server_dual="old")


# ---- Quantities of theorems in the library's rounds ------------------------------------------------------------------
@dataclass(frozen=True)
class _Slopes:
    """f_i of the active clients, as a quantity asks for its gradient."""

    active: tuple[int, ...]

    def at(self, x: Concrete) -> tuple[Concrete, Fraction]:
        """Gradients; values are not asked for."""
        rows = ((CURVATURES[i] * (row[0] - CENTRES[i]),) for i, row in zip(self.active, x.clients, strict=True))
        return Concrete(tuple(rows)), Fraction(0)

    def of_each(self, x: Concrete) -> bool:
        """Of every client."""
        return True


def names_of_round(old: Played, new: Played, active: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """What the names of `play_rounds` stand for in a round of the library, once for each absent client j, or once where there is none."""
    absent = [i for i in range(len(old.lam)) if i not in active]

    def common(value: Fraction) -> Concrete:
        return Concrete(((value,),) * len(active))

    def of_active(values: Sequence[Fraction]) -> Concrete:
        return Concrete(tuple((values[i],) for i in active))

    known: dict[str, Any] = {"rho": RHO, "P": Fraction(len(active)), "C": Fraction(len(old.lam)), "y": common(START)}
    known |= {"theta_i_next": of_active(new.models), "f_i": _Slopes(active), "e_i": common(Fraction(0))}
    for end, at in (("", old), ("_next", new)):
        known |= {f"theta{end}": common(at.theta), f"theta_bar{end}": common(at.bar), f"lam_i{end}": of_active(at.lam)}
        known[f"lam_bar{end}"] = common(at.mean_lam)
        known[f"lam_absent{end}"] = common(mean([at.lam[j] for j in absent]) if absent else Fraction(0))
    for j in absent or [active[0]]:
        duals = {f"lam_{name}{end}": common(at.lam[j]) for name in "jk" for end, at in (("", old), ("_next", new))}
        yield known | duals | {"theta_j": common(solve(j, old.lam[j], old.theta))}


def holds_in_play(theorem: Theorem, sizes: Sequence[int], method: Any = AFedPD) -> bool:
    """Whether each quantity that a theorem says to be zero in a round is, in two rounds of every sequence of subsets of so many clients."""
    zero = [str(s).split("[")[0] for s in theorem.sentences if str(s).endswith("] == 0")]
    return all(
        compare(evaluate_quantity(theorem.quantities[name], ConcreteSpace(), known), "==", 0)
        for P in sizes
        for subsets in sequences(P)
        for states in (play_method(subsets, method),)
        for r, active in enumerate(subsets)
        for known in names_of_round(states[r], states[r + 1], active)
        for name in zero
        if len(CURVATURES) > P or "lam_j" not in theorem.quantities[name]  # where a client is absent
    )


def library_part(
    ctx: Context, *, theorem: Theorem, sizes: Sequence[int], own: Any = AFedPD, method: Any = None
) -> Iterator[Finding]:
    """Part: the theorem's quantities are zero in rounds of the library's method; ``method``: another one in a fault."""
    count = sum(len(list(sequences(P))) for P in sizes)
    yield proved(
        "the library's method",
        holds_in_play(theorem, sizes, method or own),
        f"two rounds of all {count} sequences of subsets of {len(CURVATURES)} clients, P in {tuple(sizes)}",
        "exact",
        scope="these instances",
    )


# ---- Identities as claims --------------------------------------------------------------------------------------------
def misread(theorem: Theorem, right: str, wrong: str) -> Theorem:
    """A theorem with something else in its quantities, which is expected to be false.

    Raises
    ------
    InvalidInput
        No quantity has it.
    """
    changed = {name: text.replace(right, wrong) for name, text in theorem.quantities.items()}
    if changed == theorem.quantities:
        raise InvalidInput(f"no quantity has {right!r}")
    return replace(theorem, quantities=changed)


def near(name: str, theorem: Theorem, right: str, wrong: str, role: Role = "printed") -> Step:
    """A theorem with a mistake near it: something else in its quantities."""
    return Step(name, theorem, role, wrong={f"{wrong} for {right}": misread(theorem, right, wrong)})


def identity(
    id: str,
    source: str,
    text: str,
    theorem: Theorem,
    wrong: tuple[str, str],
    *,
    paper: str = PAPER,
    sizes: Sequence[int] = (1, 2, 3, 4),
    methods: tuple[Any, Any] = (AFedPD, FedDyn),
    more: Any = None,
    **given: Any,
) -> Claim:
    """A theorem of a round, beside rounds of the library's method.

    ``wrong``: what a quantity has, and what is wrong in its place; ``methods``: the library's, and another one in a fault.
    """

    def besides(ctx: Context, *, method: Any = None) -> Iterator[Finding]:
        yield from library_part(ctx, theorem=theorem, sizes=sizes, own=methods[0], method=method)
        if more is not None:
            yield from more(ctx)

    fault = Fault("another method in its place", "the library's method", {"method": methods[1]})
    return claim_steps(
        id,
        paper,
        source,
        text,
        [near("every C and P", theorem, *wrong)],
        besides=besides,
        faults=[fault],
        kind="identity",
        **given,
    )
