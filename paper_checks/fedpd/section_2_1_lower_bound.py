"""Section 2.1: the class (5), Claim II.1 (communication lower bound), what the paper concludes from it, and Remark 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace as State
from typing import Any

import numpy as np

from fedtheory.algorithms import FedAvg
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import Claim, Context, Covered, Fault, Finding, Part, PlayedStates, Reading, Theorem, state
from fedtheory.claims.parts import at_most, holds, proved
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, unasked, vector_of
from fedtheory.core.arrays import squared_norm
from fedtheory.core.errors import require
from fedtheory.core.randomness import Key, ScriptedKey
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.fedpd.notation import A1, A2, PAPER, checked
from paper_checks.fedpd.played import rational, total
from problems.lower_bound import ZeroChain, supports, two_group_chain, unreached
from problems.quadratics import Quadratic, random_quadratics

CLAIMS: list[Claim] = []


# ---- The class (5) ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class AnyGradients:
    """Clients whose gradients are these vectors, whatever the point: of any functions or samples."""

    n: Any
    g: Any

    def grad(self, x: Any) -> Any:
        """They are these."""
        return self.g

    def take(self, clients: None) -> AnyGradients:
        """All take part."""
        return self


def local_steps(world: World, p: Parameters, last: int, state: State) -> list[State]:
    """Local steps along any vectors g, by the library's solver, and the server's model then, by FedAvg's own round."""
    states = [state]
    for k in range(1, last + 1):
        old, g = states[-1], world.vector(f"g {k}", True)
        clients: Any = AnyGradients(unasked(g).n, array_of_vectors(g))
        y_i, _ = GradientSteps(1, p.eta)(Subproblem(clients), array_of_vectors(old.y_i), Key(0, 0), None)
        states.append(State(x=old.x, y_i=vector_of(y_i, g), sum_i=old.sum_i + g))
    for reached in states:
        reached.x_next = world.round_of(FedAvg, PointState, {"x": reached.x}, reached.y_i)["x"]
    return states


def play_local(world: World, p: Parameters, last: int) -> list[State]:
    """Any models, and any sums of gradients."""
    return local_steps(
        world, p, last, State(x=world.vector("x"), y_i=world.vector("y_i", True), sum_i=world.vector("sum_i", True))
    )


def start_local(world: World, p: Parameters, last: int) -> list[State]:
    """All start from the server's model."""
    x, zero = world.vector("x"), world.vector("any", True) * 0
    return local_steps(world, p, last, State(x=x, y_i=x + zero, sum_i=zero))


LINEAR_STEPS = Theorem(
    name="FedAvg's local steps",
    region="0 < eta",
    states=PlayedStates(play_local, start_local, lambda world, p: start_local(world, p, 0)[0]),
    rounds={"q": 0, "Q": 0},
    quantities={"local": "mean(norm2(y_i - (x - eta*sum_i)))", "server": "norm2(x_next - (x - eta*bar(sum_i)))"},
    claim=("local[Q] == 0", "server[Q] <= 0"),
    proof="""
      first: local[0] == 0             by identity
      step:  local[q+1] == local[q]    by identity
      all:   claim 1                   by induction Q: base combine first; step combine ih, step(q=Q)
      mean:  server[q] <= local[q]     by derivation
      done:  claim 2                   by combine mean(q=Q), all
    """,
)


def with_step(share: Any) -> Theorem:
    """The same of steps that are ``share`` as long."""

    def shorter(world: World, p: Parameters, last: int) -> list[State]:
        return play_local(world, State(eta=p.eta * share), last)

    def start(world: World, p: Parameters, last: int) -> list[State]:
        return start_local(world, State(eta=p.eta * share), last)

    return replace(LINEAR_STEPS, states=PlayedStates(shorter, start, lambda world, p: start(world, p, 0)[0]))


CLAIMS += [
    state(
        "FEDPD-EQ6",
        PAPER,
        "Section II-A",
        "Class (5) contains the local-GD and local-SGD versions of FedAvg.",
        LINEAR_STEPS,
        assumptions=("full participation", "equal weights", "linear maps V^t and W_i^t as in (5)"),
        kind="equivalence",
        wrong={"local steps a hundredth shorter": with_step(Fraction(99, 100))},
    )
]


# ---- Claim II.1 ------------------------------------------------------------------------------------------------------
CTA = (
    "algorithms of class (5) that take linear combinations: every point that is asked at and every model that is sent lies in the span of the "
    "vectors that (5) lists, with coefficients that may vary with time, client and step; any number of local steps"
)
LINEAR = Reading(
    "(5) speaks of linear operators. Read are linear combinations of the models and gradients that it lists. Linear maps of R^d, which mix "
    "coordinates, are not covered: on this chain one of them needs one communication, and for others the chain would have to lie along directions "
    "that are chosen for the algorithm and its number Q of local steps, which is not shown here."
)
#: what a proof for linear combinations is narrower than a statement on linear operators in
COMBINATIONS = "linear combinations, no other linear maps"


def link(v: Any) -> tuple[Any, Any]:
    """The functions psi and phi of a link, for v > 0; psi(-v) = 0."""
    sympy = require("sympy", "closed forms")
    return 1 - sympy.exp(-(v**2)), 4 * sympy.atan(v) + 2 * sympy.pi


def derivative_bounds() -> bool:
    """Check sup psi' = sqrt(2/e), sup |psi''| = 2 and sup |phi''| = 3 sqrt(3)/2 by the values at the only stationary points and the ends."""
    sympy = require("sympy", "closed forms")
    v = symbols("v", positive=True)
    psi_, phi_ = link(v)
    largest = (  # |psi''| at 0; it is 4 e^{-3/2} at the stationary point
        (psi_.diff(v), 1 / sympy.sqrt(2), sympy.sqrt(2 / sympy.E)),
        (psi_.diff(v, 2), sympy.sqrt(sympy.Rational(3, 2)), sympy.Integer(2)),
        (phi_.diff(v, 2), 1 / sympy.sqrt(3), 3 * sympy.sqrt(3) / 2),
    )
    shown = True
    for function, at, limit in largest:
        stationary = sympy.solve(sympy.numer(sympy.together(function.diff(v) * sympy.exp(v**2))), v)
        values = [function.subs(v, at), sympy.limit(function, v, 0, "+"), sympy.limit(function, v, sympy.oo)]
        shown &= [sympy.simplify(s - at) for s in stationary] == [0]
        shown &= any(is_zero(abs(x) - limit) for x in values) and all(abs(x) <= limit + 1e-12 for x in values)
    return bool(shown)


def slopes_of_a_chain(gradient_bound: Any = 1) -> bool:
    """Check what makes the gradient of a chain at least psi(1) phi'(1) = 2 (1 - 1/e) while some |x[k]| < 1.

    The derivative by x[k] of the link to k is -psi(-x[k-1]) phi'(-x[k]) - psi(x[k-1]) phi'(x[k]), that of the link from k is
    -psi'(-x[k]) phi(-x[k+1]) - psi'(x[k]) phi(x[k+1]): no term is positive, because psi, psi', phi, phi' >= 0. For the first k with
    |x[k]| < 1 (the first link has psi(1) in the place of psi(x[k-1])) one is at most -psi(1) phi'(1): psi rises, and phi' is even and falls.
    """
    sympy = require("sympy", "closed forms")
    v = symbols("v", positive=True)
    psi_, phi_ = link(v)
    rises = is_positive(psi_.diff(v)) and is_positive(phi_.diff(v))
    even = is_zero(phi_.diff(v) - phi_.diff(v).subs(v, -v)) and is_positive(-sympy.simplify(phi_.diff(v, 2)))
    above_zero = is_zero(sympy.limit(psi_, v, 0, "+")) and is_zero(phi_.subs(v, -v).limit(v, sympy.oo))
    least = (psi_ * phi_.diff(v)).subs(v, 1)
    return rises and even and above_zero and compare(least**2, ">", rational(gradient_bound))


def opened(held: Any, k: int) -> int:
    """How many coordinates a client's local work reaches from a model in span(e_1..e_k), with as many linear steps as it likes.

    ``held``: the numbers j of its links from x[j-1] to x[j], which open x[j] only where x[j-1] is open; everybody holds the link into x[1].
    """
    reached = max(k, 1)
    while reached + 1 in held:
        reached += 1
    return reached


def one_link_a_communication(shared: int, period: int = 2) -> bool:
    """Check the step of the induction over communications for every k: from span(e_1..e_k) each client stays in span(e_1..e_{k+1}), k >= 1.

    Client c of ``period`` groups holds the links j = c mod period, and ``shared`` clients more hold every link (none in the construction).
    Links repeat with the period, so the starts k = 1..period stand for all. Averages and other linear maps of the server's add nothing.
    A link gives no gradient where the coordinate before it is zero: psi and psi' vanish at 0 from both sides.
    """
    sympy = require("sympy", "closed forms")
    v = symbols("v", positive=True)
    psi_ = link(v)[0]
    flat = all(is_zero(sympy.limit(f, v, 0, "+")) for f in (psi_, psi_.diff(v)))
    far = 8 * period  # beyond what one round opens unless everything opens
    groups = [{j for j in range(2, far) if j % period == c} for c in range(period)]
    groups += [set(range(2, far))] * shared
    return flat and all(opened(held, k) <= k + 1 for held in groups for k in range(1, period + 1))


def needed_rounds(L: Any, D_0: Any, epsilon: Any) -> Any:
    """T of D11."""
    sympy = require("sympy", "closed forms")
    return L * D_0 / (76 * sympy.pi**2 * epsilon) - (1 - sympy.exp(-1)) / 2


def rounds_from_gap() -> bool:
    """Check that D_0 = f(0) - inf f = (19 pi eps/L)(2 pi (1 - 1/e) + 4 pi T) gives `needed_rounds`, and D_0 on an instance."""
    sympy = require("sympy", "closed forms")
    L, eps, T = symbols("L epsilon T", positive=True)
    gap = 19 * sympy.pi * eps / L * (2 * sympy.pi * (1 - sympy.exp(-1)) + 4 * sympy.pi * T)
    chain, known = two_group_chain(5, L=2.0, epsilon=0.1), float(gap.subs({L: 2, eps: 0.1, T: 5}))
    measured = float(chain.value(np.zeros((1, chain.d))).mean() - chain.lower_bound().value)
    return is_zero(needed_rounds(L, gap, eps) - T) and abs(measured - known) < 1e-12 * known


def lower_bound_holds(gradient_bound: float = 1.0, share: float = 1.0, shared: int = 0, scope: str = "") -> Part:
    """D11, for every T.

    (a) No client holds two neighbouring links beyond the first (one group has the even links, the other the odd ones): from a server model
    in span(e_1..e_k) any number of linear local steps stays in span(e_1..e_{k+1}) (`one_link_a_communication`), so after t communications
    x[t+2] = 0, and from 0 the first communication opens two. (b) A client's links touch disjoint pairs of coordinates, so its Hessian has
    2x2 blocks, of norm at most 2 (sup |psi''| sup phi + sup psi' sup phi') and psi(1) sup |phi''| more for the first link: below 19 pi.
    (c) While x[T+1] = 0 some |x[k]| < 1, and a derivative is at most -2(1 - 1/e) (`slopes_of_a_chain`). (d) D_0 gives T (`rounds_from_gap`).
    """
    sympy = require("sympy", "closed forms")
    block = 2 * (8 * sympy.pi + 4 * sympy.sqrt(2 / sympy.E)) + (1 - 1 / sympy.E) * 3 * sympy.sqrt(3) / 2
    smooth = compare(block, "<", sympy.Rational(rational(share)) * 19 * sympy.pi)
    apart, longest = True, two_group_chain(41).links
    for T in (1, 2, 3, 40, 41):  # the links are set by parity, and a longer chain begins like a shorter one
        links = two_group_chain(T).links
        held = links != 0
        apart &= not (held[:, 1:-1] & held[:, 2:]).any() and bool(held[:, 1:].any(axis=0).all())
        apart &= bool((links == longest[:, : T + 1]).all())
    steps = one_link_a_communication(shared) and slopes_of_a_chain(gradient_bound)
    return proved(
        "argument",
        apart and steps and smooth and derivative_bounds() and rounds_from_gap(),
        "for every T: no client holds two neighbouring links, so after t < T communications x[T+1] = 0 whatever the linear steps; 2x2 blocks of "
        "the Hessian make each client 19 pi-smooth; while x[T+1] = 0 one derivative is at most -2(1 - 1/e) < -1; and D_0 = f(0) - inf f gives "
        "T = L D_0/(76 pi^2 eps) - (1 - 1/e)/2, so that ||grad f||^2 > eps before communication T",
        scope=scope,
    )


def check_cl1(ctx: Context, *, order: int = -1) -> Iterator[Finding]:
    """The order 1/epsilon at fixed L and D_0, through the repaired chain."""
    yield Reading(
        "'At least O(1/epsilon)' is read as Omega(1/epsilon) for a fixed number of clients. That order is right (D11); the constant, "
        "the factor N and the smoothness in the supplement's formal version are not (T4s)."
    )
    yield LINEAR
    sympy = require("sympy", "closed forms")
    L, D0, eps = symbols("L D0 epsilon", positive=True)
    leading = sympy.limit(needed_rounds(L, D0, eps) * eps ** (-order), eps, 0, "+")
    below = lower_bound_holds(scope=COMBINATIONS)
    yield below
    text = (
        f"at fixed L and D_0 the number of communications, times epsilon^{-order}, is at least {leading} in the limit"
    )
    known = is_positive(leading) and leading.is_finite
    yield proved("order 1/epsilon", known, text, resting_on=[below], scope=COMBINATIONS)


CLAIMS += [
    checked(
        "FEDPD-CL1",
        "divergence",
        "Claim II.1, Section II-A",
        "For any compute-then-aggregate algorithm with linear operators there is a non-convex problem satisfying A1 and A2 on which, for any "
        "number of local steps, an epsilon-stationary point takes at least order 1/epsilon communications.",
        check_cl1,
        Fault("order 1/epsilon^2", "order 1/epsilon", {"order": -2}),
        assumes=(A1, A2, CTA),
    )
]


# ---- Neither local nor linear processing -----------------------------------------------------------------------------
def unlocked(problem: ZeroChain, algorithm: Any, rounds: int) -> list[int]:
    """How many coordinates of the server's model can be non-zero after 0, 1, 2, ... communications, exactly.

    The algorithm's own round runs on boolean numbers in which a sum is a union, so nothing underflows; with enough local
    steps FedAvg then spans whatever any linear method of the class can reach.
    """
    state = algorithm.init(problem, unreached(problem.d)[None, :])
    counts = []
    for r in range(rounds + 1):
        counts.append(int(supports(state.x).sum()))
        key: Any = ScriptedKey(r)
        state = algorithm.round(problem, state, None, key)
    return counts


def one_coordinate(T: int) -> Part:
    """Linear spans with unlimited local steps, and all clients' links."""
    counts = unlocked(two_group_chain(T), FedAvg(GradientSteps(T + 2, 0.1)), T)
    text = f"after t communications exactly t + 1 coordinates, so x[T+1] = 0 for t < T: {counts}, with unlimited local steps"
    return holds(f"one coordinate a communication, T = {T}", counts == [0, *range(2, T + 2)], "exact", text)


def check_q1(ctx: Context, *, shared: int = 0) -> Iterator[Finding]:
    """The number of communications does not depend on the local steps or the linear method; ``shared``: clients that hold every link."""
    yield LINEAR
    yield lower_bound_holds(shared=shared, scope=COMBINATIONS)
    yield one_coordinate(10)


CLAIMS += [
    checked(
        "FEDPD-Q1",
        "divergence",
        "Sections I and II-A",
        "Neither additional local processing nor general linear processing improves on O(1/epsilon) communications under the "
        "compute-then-aggregate protocol.",
        check_q1,
        Fault("one client holds every link", "argument", {"shared": 1}),
        assumes=(A1, A2, CTA),
    )
]


# ---- Remark 1 --------------------------------------------------------------------------------------------------------
TOP = 1 - np.exp(-1.0)  #: psi(1)


def largest_dissimilarity(T: int, epsilon: float, seed: int, same: bool = False) -> float:
    """Largest sampled mean ||grad f_i - grad f||^2, G^2 with D = 1, of the chain with L = 1; ``same``: of identical clients."""
    chain = two_group_chain(T, L=1.0, epsilon=epsilon)
    rng = np.random.default_rng(seed)
    links = chain.links[:1].repeat(2, axis=0) if same else chain.links
    x = rng.choice([0.3, 0.7, 1.0, 2.0], (400, 1, 1)) * rng.standard_normal((400, 1, T + 1)) / chain.scale
    g = ZeroChain(links, chain.amplitude, chain.scale, chain.smoothness, chain.how).grad(x)
    return float(squared_norm(g - g.mean(axis=-2, keepdims=True)).mean(axis=-1).max())


def check_r1(ctx: Context, *, same: bool = False) -> Iterator[Finding]:
    """Dissimilarity of the chains grows with T at a fixed epsilon; at a fixed L D_0 it does not; with identical clients one round suffices."""
    Ts = [2**k for k in range(2, 10)]
    sizes = [largest_dissimilarity(T, 1.0, ctx.seed, same) for T in Ts]
    slope = np.polyfit(np.log(Ts), np.log(np.maximum(sizes, 1e-300)), 1)[0]
    text = f"L = epsilon = 1: largest sampled G^2 (D = 1) {', '.join(f'{s:.0f}' for s in sizes)} for T = {Ts}: like T^{slope:.2f}"
    covered = Covered(len(Ts), "instances")
    yield holds("G grows with T, fixed epsilon", 0.7 < slope < 1.3 and sizes[0] > 1, "numeric", text, covered=covered)
    fixed = [largest_dissimilarity(T, 1 / (76 * np.pi**2 * (T + TOP / 2)), ctx.seed, same) for T in Ts]
    text = (
        f"L = D_0 = 1, epsilon as D11 then has it: largest sampled G^2 {', '.join(f'{s:.3g}' for s in fixed)} for T = {Ts}; what grows like T is "
        "G^2/epsilon"
    )
    bounded = max(fixed) < 3 * min(fixed) if min(fixed) > 0 else False
    yield holds("reading: fixed L and D_0, G does not grow", bounded, "numeric", text, role="reading", covered=covered)
    yield Reading(
        "The remark does not say what is fixed while T grows. The construction has epsilon and T as numbers of their own; then D_0 grows like T "
        "as well. At fixed L and D_0, where the claim's order 1/epsilon is, T is that order and G^2 stays as it is."
    )
    q = random_quadratics(1, 4, mu=0.2, batch=(10,), seed=ctx.seed)
    alike = Quadratic(np.repeat(q.A, 5, axis=-3), np.repeat(q.b, 5, axis=-2))
    left = total(alike, FedAvg(GradientSteps(300, 1.0)), np.zeros(4), 1)["stationarity"][:, 1]
    text = f"five identical clients, 300 local steps: ||grad f||^2 = {left.max():.2g} after one round, at most"
    covered = Covered(left.size, "instances")
    yield at_most("homogeneous clients: one round", left, 1e-25, "numeric", text, covered=covered)


CLAIMS += [
    checked(
        "FEDPD-R1",
        "divergence",
        "Remark 1",
        "In the construction the f_i are non-iid, with G growing with T (D = 1) at a given epsilon; with homogeneous data O(1) communications are "
        "enough.",
        check_r1,
        Fault("identical clients", "G grows with T, fixed epsilon", {"same": True}),
        assumes=(A1, A2, CTA, "A3 with D = 1 (first half); equal f_i and unlimited local steps (second half)"),
    )
]
