"""DualFL's own rounds as theorems speak of them: what any state has, and what a round makes of it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import DualFL
from fedtheory.algorithms.dualfl import DualFLState
from fedtheory.claims import PlayedStates, bar, dot, norm2
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, unasked, vector_of

#: what is said of the numbers g_j^*(xi_j): Fenchel's inequality, which is how the conjugate is defined
FENCHEL = {
    f"Fenchel {xi} at {point}": f"g_j^* at {of} is at least <., y> - g_j(y) with y = {y}"
    for xi, of in (("xi", "xi^n"), ("new xi", "xi^{n+1}"))
    for point, y in (("star", "theta*"), ("best", "the local solution"))
}

#: the same of smooth g_j, which is `lemmas.smooth_conjugate`
FENCHEL_SMOOTH = {
    name: f"{text}, and more by rho/(2 nu (1 - rho)) ||. - grad g_j(y)||^2" for name, text in FENCHEL.items()
}
#: fields of the method's state, with their names here
NAMES = {"x": "x", "x_i": "x_i", "zeta_i": "zeta", "z_i": "z"}


def clients(world: World, nu: Any, L: Any, rho: Any) -> State:
    """g_j with its subgradient s_j* at theta* = 0; ``conjugate``: a number is ``weight`` times the mean of g_j^*(xi_j), by Fenchel at y."""
    smooth = None if L is None else L - nu
    g = world.function(smooth, 0, client=True, name="g")
    s = world.vector("s", True)
    s = s - bar(s)
    _, least = world.at(g, s * 0, "g at star", g=s)

    def conjugate(number: Any, weight: Any, xi: Any, y: Any, slope: Any, value: Any, name: str) -> None:
        more = norm2(xi - slope) * (rho / (2 * nu * (1 - rho))) if smooth is not None and rho != 0 else 0
        world.assume(f"Fenchel {name}", (dot(xi, y) - value + more) * weight - number)

    return State(g=g, s=s, least=least, conjugate=conjugate)


def method_round(world: World, p: Any, state: State, b: Any, answers: Any) -> dict[str, Any]:
    """The round of `DualFL` with the inertia b after it, where clients answer so."""
    before = {own: getattr(state, name) for own, name in NAMES.items()}
    after = world.round_of(lambda local: DualFL(p.nu, lambda n: b, local), DualFLState, before, answers)
    return {name: after[own] for own, name in NAMES.items()}


def extrapolate(p: Any, rho: Any, t: Any, xi: Any, u: Any) -> Any:
    """eta = xi + (1 - rho t)/(t (1 - rho)) (u - xi), of which nu zeta is the part whose mean is zero."""
    return xi + (u - xi) * ((1 - rho * t) / (t * (1 - rho)))


def any_state(world: World, p: Parameters, rho: Any, c: State) -> State:
    """A state of DualFL with t = t_0, control variates of mean zero; ``u`` is that of the proof less xi*."""
    z, u, x_i = (world.vector(name, True) for name in ("z", "u", "x_i"))
    z, x = z - bar(z), world.vector("x")
    xi = (z - x) * p.nu
    eta = extrapolate(p, rho, p.t_0, xi, u + c.s)
    return State(x=x, x_star=x * 0, x_i=x_i, z=z, zeta=(eta - bar(eta)) / p.nu, xi=xi, u=u, s_star=c.s, t=p.t_0)


def play(
    world: World, p: Parameters, last: int, *, L: Any, rho: Any, exact: bool, before: Callable[..., State] = any_state
) -> list[State]:
    """Any state with t = t_0 and the one after it; ``A`` of a state is t - 1 times its gap, which is 0 for t = 1, where the gap may be infinite."""
    c = clients(world, p.nu, L, rho)
    n = before(world, p, rho, c)
    scaled = world.value("(t - 1) times the mean conjugate at xi")
    n.A = (norm2(n.x) * (p.nu / 2) + c.least) * (p.t_0 - 1) + scaled
    c.conjugate(scaled, p.t_0 - 1, n.xi, n.x_star, c.s, c.least, "xi at star")
    best = world.vector("theta^", True)
    slope = (n.zeta - best) * p.nu
    _, at_best = world.at(c.g, best, "g at best", g=slope)
    c.conjugate(scaled, p.t_0 - 1, n.xi, best, slope, at_best, "xi at best")
    answers = best if exact else world.vector("theta", True)
    b = (p.t_0 - 1) / p.t_1 * (1 - p.t_1 * rho) / (1 - rho)
    o = State(**method_round(world, p, n, b, answers), x_star=n.x_star, s_star=c.s)
    o.xi, o.xi_25a = (o.z - o.x) * p.nu, (n.zeta - answers) * p.nu
    o.eta_25b, o.eta_24 = (o.zeta - o.x * (1 + b) + n.x * b) * p.nu, o.xi * (1 + b) - n.xi * b
    o.z_26, o.zeta_26 = n.zeta - (answers - bar(answers)), o.z + (o.z - n.z) * b
    o.zeta_27 = (o.eta_24 - bar(o.eta_24)) / p.nu
    xi_best = (n.zeta - best) * p.nu
    at_xi_best = dot(xi_best, best) - at_best
    at_xi = at_xi_best if exact else world.value("mean conjugate at xi+")
    if not exact:
        c.conjugate(at_xi, 1, o.xi, best, slope, at_best, "new xi at best")
        _, at_answers = world.at(c.g, answers, "g at theta")
        n.Gamma = at_answers + at_xi - dot(o.xi, answers)
    c.conjugate(at_xi, 1, o.xi, n.x_star, c.s, c.least, "new xi at star")
    o.gap = norm2(o.x) * (p.nu / 2) + at_xi + c.least
    o.A = o.gap * (p.t_1 - 1)
    o.t, o.u = p.t_1, o.xi * p.t_0 - n.xi * (p.t_0 - 1) - c.s
    n.u_best, n.apart = xi_best * p.t_0 - n.xi * (p.t_0 - 1) - c.s, o.xi - xi_best
    n.error = at_xi + norm2(o.xi - n.zeta * p.nu) / (2 * p.nu) - (at_xi_best + norm2(best) * (p.nu / 2))
    return [n, o][: last + 1]


def start(world: World, p: Parameters, last: int) -> list[State]:
    """`DualFL.init`; u^0 = eta^0, as t_0 = 1, and as beta_0 = 0 nothing depends on the mean of eta^0, which is that of xi*."""
    s = world.vector("s", True)
    s = s - bar(s)
    own = DualFL(p.nu).init(unasked(s), array_of_vectors(world.vector("x0")))
    x, zeta, z = (vector_of(v, s) for v in (own.x, own.zeta_i, own.z_i))
    return [State(zeta=zeta, z=z, xi=(z - x) * p.nu, s_star=s, u=zeta * p.nu - s, A=norm2(s * 0), t=1)]


# ---- clients and answers ---------------------------------------------------------------------------------------------


def play_exact(world: World, p: Parameters, last: int) -> list[State]:
    """rho = 0; clients answer exactly."""
    return play(world, p, last, L=None, rho=p.nu * 0, exact=True)


def play_any(world: World, p: Parameters, last: int) -> list[State]:
    """rho = 0; clients answer anything."""
    return play(world, p, last, L=None, rho=p.nu * 0, exact=False)


def play_any_smooth(world: World, p: Parameters, last: int) -> list[State]:
    """rho = 0; clients are L-smooth and answer anything."""
    return play(world, p, last, L=p.L, rho=p.nu * 0, exact=False)


def play_exact_range(world: World, p: Parameters, last: int) -> list[State]:
    """rho = r^2; clients are L-smooth and answer exactly."""
    return play(world, p, last, L=p.L, rho=p.r**2, exact=True)


def play_any_range(world: World, p: Parameters, last: int) -> list[State]:
    """rho = r^2; clients are L-smooth and answer anything."""
    return play(world, p, last, L=p.L, rho=p.r**2, exact=False)


def play_any_end(world: World, p: Parameters, last: int) -> list[State]:
    """rho = 1/kappa = r^2; clients are kappa nu-smooth and answer anything."""
    return play(world, p, last, L=p.nu / p.r**2, rho=p.r**2, exact=False)


def play_any_inertia(world: World, p: Parameters, last: int) -> list[State]:
    """Any rho = q/(1 + q) in [0, 1), whatever clients are and answer."""
    return play(world, p, last, L=None, rho=p.q / (1 + p.q), exact=False)


EXACT, ANY, ANY_SMOOTH, EXACT_RANGE, ANY_RANGE, ANY_END, ANY_INERTIA = (
    PlayedStates(made, start)
    for made in (
        *(play_exact, play_any, play_any_smooth, play_exact_range, play_any_range, play_any_end),
        play_any_inertia,
    )
)
