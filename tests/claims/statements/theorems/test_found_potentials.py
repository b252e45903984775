"""Theorems that come without a proof: a potential of the round is found, and methods whose rounds depend on their number are followed."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from theorems import parts_of

from fedtheory.claims.checking import judge_claim
from fedtheory.claims.context import Context
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.bound import Bound
from fedtheory.claims.statements.every_round import as_theorem, tell_without_convexity
from fedtheory.claims.statements.near_misses import judge_near_misses
from fedtheory.claims.statements.theorems.as_parts import find_proof, with_script
from fedtheory.claims.statements.theorems.potentials import _list_simple
from fedtheory.claims.statements.theorems.proving import ProvedTheorem, prove_theorem, verify_term
from fedtheory.claims.statements.theorems.quantities import evaluate_quantity
from fedtheory.claims.statements.theorems.runs import run_on_quadratics
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.writing import describe_theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.measures import MEASURES
from fedtheory.proofs.regions.region import Region

GAP = {"gap": "f(x) - f(x_star)", "d": "norm2(x - x_star)"}
UNLIKE = {"d": GAP["d"], "z": "mean(norm2(grad(f_i, x_star)))"}
RADIUS = {"start": "d[0] <= R**2"}
AHEAD = {**GAP, "e": "dot(x - x_star, y - x)", "s": "norm2(y - x)"}


def bound(
    method: str, options: str, claim: str | tuple[str, ...], quantities: dict[str, str] = GAP, **more: Any
) -> Theorem:
    region, functions = more.pop("region", "0 < L"), more.pop("functions", "L, mu = 0")
    return Theorem(
        region=region,
        states=MethodStates(method, options, functions),
        rounds=more.pop("rounds", {"N": 1}),
        quantities=quantities,
        claim=claim,
        **more,
    )


def unlike_clients(claim: str, region: str = "0 < L", **more: Any) -> Theorem:
    """FedAvg with two local steps, whose clients' gradients at x* are at most zeta in quadratic mean."""
    return bound(
        "fedavg",
        "lr = lr, steps = 2",
        claim,
        {**GAP, "z": "mean(norm2(grad(f_i, x_star)))"} if "gap" in claim else UNLIKE,
        region=f"{region}, 0 < lr <= 1/(4*L), 0 < R, 0 < zeta",
        given={**RADIUS, "unlike": "z[t] <= zeta**2"},
        rounds={"N": 1, "t": 0},
        **more,
    )


def noisy(claim: str, clients: str = "n", region: str = "") -> Theorem:
    """Stochastic gradient descent on n clients, whose gradients have noise."""
    return Theorem(
        region=f"0 < mu < L, 0 < lr <= 1/L, 0 < R, 0 < sigma, n in 2..{region}",
        states=MethodStates("fedavg", "lr = lr, steps = 1, batch = 1", "L, mu, sigma", clients=clients),
        rounds={"N": 1},
        quantities={"d": GAP["d"]},
        given=RADIUS,
        assumed={"noise": "E mean_i ||xi_i||^2 <= sigma^2, independent, zero in the mean"},
        claim=claim,
    )


def accelerate(world: Any, p: Any, last: int, *, started: bool) -> list[Any]:
    """Accelerated gradient descent with the constant momentum (1 - r)/(1 + r), where mu = L r^2."""
    f, x_star, x = world.function(p.L, p.L * p.r**2), world.vector("x_star"), world.vector("x")
    world.at(f, x_star, "at x_star", g=x_star * 0)
    y = x if started else world.vector("y")
    world.at(f, x, "at x")
    slope, _ = world.at(f, y, "at y")
    states = [SimpleNamespace(x=x, y=y, f=f, x_star=x_star)]
    for k in range(last):
        x, before = y - slope * (1 / p.L), x
        y = x + (x - before) * ((1 - p.r) / (1 + p.r))
        world.at(f, x, f"at x{k}")
        slope, _ = world.at(f, y, f"at y{k}")
        states.append(SimpleNamespace(x=x, y=y, f=f, x_star=x_star))
    return states


play_accelerated, start_accelerated = partial(accelerate, started=False), partial(accelerate, started=True)


def play_proximal_point(world: Any, p: Any, last: int) -> list[Any]:
    """x+ = x - lr g with g a subgradient of f at x+."""
    f, x_star, x = world.function(None, 0), world.vector("x_star"), world.vector("x")
    world.at(f, x_star, "at x_star", g=x_star * 0)
    y, _ = world.at(f, x, "at x")
    states = [SimpleNamespace(x=x, y=y, f=f, x_star=x_star)]
    for k in range(last):
        y = world.vector(f"y{k}")
        x = x - y * p.lr
        world.at(f, x, f"x{k}", g=y)
        states.append(SimpleNamespace(x=x, y=y, f=f, x_star=x_star))
    return states


ACCELERATED = bound("agd", "lr = 1/L", "gap[N] <= 2*L*d[0]/(N + 1)**2", AHEAD)
GRADIENT_DESCENT = bound("gd", "lr = 1/L", "gap[N] <= L*d[0]/(2*N)")
FOUND = {
    "any step": bound("gd", "lr", "gap[N] <= d[0]/(2*lr*N)", region="0 < L, 0 < lr <= 1/L"),
    "a radius": bound(
        "gd", "lr = 1/L", "gap[N] <= L*R**2/(2*N)", region="0 < L, 0 < R", given={"start": "d[0] <= R**2"}
    ),
    "gradient": bound("gd", "lr = 1/L", "g[N] <= L**2*d[0]/(N + 1)**2", {**GAP, "g": "norm2(grad(f, x))"}),
    "accelerated": ACCELERATED,
    "sharp": bound("gd", "lr = 1/L", "gap[N] <= L*d[0]/(4*N + 2)"),
    "falls": bound(
        "gd",
        "lr = 2/(L + mu)",
        "d[N] <= ((L - mu)/(L + mu))**(2*N)*R**2",
        {"d": GAP["d"]},
        functions="L, mu",
        region="0 < mu < L, 0 < R",
        given=RADIUS,
    ),
    "unlike clients": unlike_clients("exists t in 0..N-1: gap[t] <= R**2/(2*lr*N) + L*lr**2*zeta**2/4"),
    "unlike clients fall": unlike_clients(
        "d[N] <= (1 - lr*mu)**(2*N)*R**2 + 4*L*lr**2*zeta**2/mu", region="0 < mu < L", functions="L, mu"
    ),
    "some gradient": bound(
        "gd",
        "lr = 1/L",
        "exists t in 0..N-1: g[t] <= 2*L*gap[0]/N",
        {"gap": GAP["gap"], "g": "norm2(grad(f, x))"},
        functions="L, mu = -L",
        rounds={"N": 1, "t": 0},
        given={"bounded": "0 <= gap[t]"},
    ),
    "unlike and not convex": bound(
        "fedavg",
        "lr = lr, steps = 2",
        "exists t in 0..N-1: g[t] <= R/(lr*N) + L**2*lr**2*zeta**2",
        {
            "gap": GAP["gap"],
            "g": "norm2(grad(f, x))",
            "z": "mean(norm2(grad(f_i, x) - bar(grad(f_i, x))))",
        },
        functions="L, mu = -L",
        region="0 < L, 0 < lr <= 1/(4*L), 0 < R, 0 < zeta",
        rounds={"N": 1, "t": 0},
        given={"start": "gap[0] <= R", "bounded": "0 <= gap[t]", "unlike": "z[t] <= zeta**2"},
    ),
    "an exponential": bound(
        "gd",
        "lr = 1/L",
        "gap[N] <= exp(-r*N)*(gap[0] + L*r**2/2*d[0])",
        functions="L, mu = r*L",
        region="0 < L, 0 < r < 1",
    ),
    "an exponential of two parts": bound(
        "gd",
        "lr",
        "d[N] <= exp(-2*lr*mu*N)*R**2",
        {"d": GAP["d"]},
        functions="L, mu",
        region="0 < mu < L, 0 < lr <= 1/L, 0 < R",
        given=RADIUS,
    ),
    "an exponential and noise": noisy("d[N] <= exp(-lr*mu*N)*R**2 + lr*sigma**2/(n*mu)"),
    "a sum": bound("gd", "lr = 1/L", "2/L*sum(gap[t], t, 1, N) <= d[0]", rounds={"N": 1, "t": 1}),
    "an average": unlike_clients("sum(gap[t], t, 0, N-1)/N <= R**2/(2*lr*N) + L*lr**2*zeta**2"),
    "a sum of gradients": bound(
        "gd",
        "lr",
        "sum(g[t], t, 0, N-1) <= 2*gap[0]/lr",
        {"gap": GAP["gap"], "g": "norm2(grad(f, x))"},
        functions="L, mu = -L",
        region="0 < L, 0 < lr <= 1/L",
        rounds={"N": 1, "t": 0},
        given={"bounded": "0 <= gap[t]"},
    ),
    "noise": noisy("d[N] <= (1 - lr*mu)**(2*N)*R**2 + lr*sigma**2/(n*mu)"),
    "a root": Theorem(
        region="0 < L, 0 < r < 1",
        states=PlayedStates(play_accelerated, start=start_accelerated),
        rounds={"N": 0},
        quantities=AHEAD,
        claim="gap[N] <= (1 - r)**N*(gap[0] + L*r**2/2*d[0])",
    ),
    "proximal point": Theorem(
        region="0 < lr",
        states=PlayedStates(play_proximal_point, start=play_proximal_point),
        rounds={"N": 1},
        quantities={**GAP, "g": "norm2(y)"},
        claim="gap[N] <= d[0]/(4*lr*N)",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_potential_is_found_and_proves_every_round(name: str) -> None:
    theorem = FOUND[name]
    part, readings = parts_of(theorem)
    assert part.holds and part.text.startswith("a proof of ")
    assert any(text.startswith("It came without a proof, and this one was found: ") for text in readings)
    proof = find_proof(theorem)
    assert isinstance(proof, ProvedTheorem)
    assert verify_term(theorem, proof.data).claims == theorem.claims, (
        "kept terms are read again by the theorem as it was written"
    )
    assert prove_theorem(proof.theorem).proved.claims == theorem.claims, "the script can be put into the file"


def test_the_potential_of_accelerated_gradient_descent_is_the_known_one() -> None:
    (step,) = (line for line in with_script(ACCELERATED).proof.splitlines() if line.startswith("step"))
    left = step.removeprefix("step: ").partition(" <= ")[2].partition(" by ")[0]
    assert left == "((k + 1)**2/(2*L))*gap[k] + d[k] + (k + 2)*e[k] + ((k + 2)**2/4)*s[k]"


def test_a_potential_may_speak_of_more_than_the_theorem_does() -> None:
    """With the gap and the distance alone there is none; what is added has a name of its own, and is told."""
    claim = "stationarity*gap[N] <= stationarity*L*d[0]/(4*N + 2)"
    named = replace(FOUND["sharp"], region="0 < L, 0 < stationarity", claim=claim)
    for theorem, name in ((FOUND["sharp"], "stationarity"), (named, "stationarity1")):
        part, readings = parts_of(theorem)
        assert part.holds and any(f"; {name} = norm2(grad(f, x))." in text for text in readings)
        assert f"{name}[" not in describe_theorem(theorem)


def test_a_theorem_may_rest_on_one_without_a_script() -> None:
    later = replace(
        FOUND["sharp"], rounds={"N": 2}, rests={"sharp": FOUND["sharp"]}, proof="done: claim by combine sharp"
    )
    proof = prove_theorem(later)
    assert verify_term(later, proof.data).claims == later.claims
    none = replace(GRADIENT_DESCENT, claim="gap[N] <= L*d[0]/(4*N + 3)")
    with pytest.raises(
        TermRefused, match="sharp, by rests: expected a theorem that is proved; found there is no script"
    ):
        prove_theorem(replace(later, rests={"sharp": none}))


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("any step", "gap[N] <= d[0]/(5*lr*N)"),
        ("gradient", "g[N] <= L**2*d[0]/(N + 2)**2"),
        ("accelerated", "gap[N] <= 2*L*d[0]/(3*N + 3)**2"),
        ("sharp", "gap[N] <= 0.97*L*d[0]/(4*N + 2)"),
        ("falls", "d[N] <= 0.97*((L - mu)/(L + mu))**(2*N)*R**2"),
        ("an exponential", "gap[N] <= exp(-3*r*N)*(gap[0] + L*r**2/2*d[0])"),
        ("an exponential of two parts", "d[N] <= exp(-2.9*lr*mu*N)*R**2"),
        ("a sum", "5/L*sum(gap[t], t, 1, N) <= d[0]"),
        ("a sum of gradients", "sum(g[t], t, 0, N-1) <= 1.3*gap[0]/lr"),
        ("falls", "d[N] <= (0.97*(L - mu)/(L + mu))**(2*N)*R**2"),
        ("proximal point", "gap[N] <= 0.97*d[0]/(4*lr*N)"),
        ("a root", "gap[N] <= 0.97*(1 - r)**N*(gap[0] + L*r**2/2*d[0])"),
    ],
)
def test_false_bounds_are_refuted_by_an_instance(name: str, claim: str) -> None:
    part, _ = parts_of(FOUND[name].with_claim(claim))
    assert part.holds is False and part.counterexample is not None
    assert part.counterexample.replay.exact_measured > 0


@pytest.mark.parametrize(
    ("theorem", "why"),
    [
        (noisy("d[N] <= (1 - lr*mu)**(2*N)*R**2 + 0.97*lr*sigma**2/(n*mu*(2 - lr*mu))"), "floats see none"),
        (noisy("d[N] <= (1 - lr*mu)**(2*N)*R**2 + lr*sigma**2/(n**2*mu)"), "floats see none"),
        (noisy("d[N] <= (1 - lr*mu)**(2*N)*R**2 + lr*sigma**2/(n*mu)", "n, s", ", 1 <= s <= n"), "floats see none"),
        (
            replace(
                FOUND["noise"],
                claim="d[N+1] < 2*d[N] + sigma**2/L**2",
                given={},
                region="0 < mu < L, 0 < lr <= 1/L, 0 < sigma, n in 2..",
            ),
            "one is looked for where",
        ),
    ],
)
def test_where_there_is_no_potential_it_is_told_why(theorem: Theorem, why: str) -> None:
    """Noise of n clients adds lr^2 sigma^2/n in a round, of s of them lr^2 sigma^2/s, and no less."""
    proof = find_proof(theorem)
    assert isinstance(proof, str) and why in proof


def test_it_is_told_who_takes_part() -> None:
    """A theorem about drawn clients was shown as one about every number of clients, all of which take part."""
    states = MethodStates("fedavg", "lr = lr, steps = 1", "L, mu", "n, s")
    drawn = Theorem(
        region="0 < mu < L, 0 < lr < 1/L, n in 2.., 1 <= s <= n",
        states=states,
        rounds={"t": 0},
        quantities={"d": "norm2(x - x_star)"},
        claim="d[t+1] <= d[t]",
        proof="done: claim by derivation",
    )
    claim = state("MINE", "mine", "Theorem 1", "In words.", drawn)
    who = "s of n clients, in expectation"
    assert who in describe_theorem(drawn) and f"clients: {who}" in claim.assumptions
    assert "every number of clients" not in describe_theorem(drawn)
    everyone = replace(drawn, states=replace(states, clients=""), region="0 < mu < L, 0 < lr < 1/L")
    assert "every number of clients and dimension" in describe_theorem(everyone)


def test_noise_needs_its_number_of_clients_and_a_word() -> None:
    told = describe_theorem(FOUND["noise"])
    assert "assumed, noise: E mean_i" in told and "; n clients, all of them, in expectation; every dimension" in told
    with pytest.raises(InvalidInput, match="averages over the clients"):
        noisy("d[N] <= R**2", clients="").parameters  # noqa: B018
    with pytest.raises(InvalidInput, match="the states have noise"):
        replace(FOUND["noise"], assumed={})


def test_a_claim_of_another_shape_is_left_to_its_author() -> None:
    for claim in ("d[N+1] < d[N]", "sum(gap[t], t, 1, N) + d[N] <= L*d[0]", "sum(t*gap[t], t, 1, N) <= N*d[0]*L"):
        theorem = replace(GRADIENT_DESCENT, claim=claim, quantities={n: q for n, q in GAP.items() if n in claim})
        with pytest.raises(TermRefused, match="none was found"):
            prove_theorem(theorem)


def test_no_proof_is_looked_for_where_an_instance_is_against_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fedtheory.claims.statements.theorems.as_parts.prove_theorem", None)
    part, _ = parts_of(replace(GRADIENT_DESCENT, claim="gap[N] <= L*d[0]/(100*N)"))
    assert part.holds is False and part.counterexample is not None


def test_mistakes_near_a_theorem_whose_proof_was_found_are_judged() -> None:
    outcomes = {change.outcome for change in judge_near_misses(GRADIENT_DESCENT)}
    assert "falls" in outcomes and "survives" not in outcomes


EVERY_N = "gap[N] <= L*d[0]/(2*N)"


@pytest.mark.parametrize(
    ("claims", "word"),
    [
        ((EVERY_N, "d[N] <= d[0]"), "proved"),
        (("gap[N] <= gap[0]", "exists t in 0..N-1: g[t] <= 2*L*gap[0]/N", EVERY_N), "proved"),
        ((EVERY_N, "d[N] <= d[0]/2"), "refuted"),
    ],
)
def test_of_several_claims_each_has_a_potential(claims: tuple[str, ...], word: str) -> None:
    quantities = {**GAP, "g": "norm2(grad(f, x))"}
    used = {name: text for name, text in quantities.items() if any(f"{name}[" in claim for claim in claims)}
    theorem = bound("gd", "lr = 1/L", claims, used)
    assert judge_claim(state("IT", "mine", "1", "it", theorem), "mine.py", Context()).status == word


def doubled(claim: str | tuple[str, ...], *, least: int = 0) -> Theorem:
    """FedAvg on +-||x||^2, whose two local steps multiply ||x||^2 by (1 + 4 lr^2)^2."""
    return Theorem(
        region="0 < lr",
        states=run_on_quadratics("fedavg", "lr, steps = 2", curvatures=("2", "-2"), centres=("0", "0")),
        rounds={"T": least},
        quantities={"X": "norm2(x)"},
        claim=claim,
    )


@pytest.mark.parametrize(
    ("claim", "least", "word"),
    [
        ("X[T] == (1 + 4*lr**2)**(2*T)*X[0]", 0, "proved"),
        ("3*X[T] == (1 + 4*lr**2)**(2*T)*X[0]*3", 3, "proved"),
        ("X[T] <= (1 + 4*lr**2)**(2*T)*X[0]", 1, "proved"),
        ("X[T] == (1 + 4*lr**2)**T*X[0]", 1, "refuted"),
        ("2*X[T] == (1 + 4*lr**2)**(2*T)*X[0]", 0, "refuted"),
        ("X[T] == X[0]", 0, "refuted"),
    ],
)
def test_what_every_round_multiplies_is_an_equality(claim: str, least: int, word: str) -> None:
    assert judge_claim(state("IT", "mine", "1", "it", doubled(claim, least=least)), "mine.py", Context()).status == word


def test_a_round_of_which_nothing_is_said_keeps_no_proof_from_being_found() -> None:
    theorem = bound("gd", "lr = 1/L", EVERY_N, rounds={"N": 1, "t": 0})
    found = find_proof(theorem)
    assert isinstance(found, ProvedTheorem) and verify_term(theorem, found.data).claims == (EVERY_N,)


@pytest.mark.parametrize("low", [Fraction(1, 2), Fraction(1, 3), Fraction(-3)])
def test_simple_numbers_are_looked_for_whichever_end_a_solver_puts_first(low: Fraction) -> None:
    """Of a room that is a number, the ends differ by the solver's last digits, either way."""
    ends = float(low) - 1e-9, float(low) + 1e-9
    upwards = list(itertools.islice(_list_simple(*ends), 200))
    assert low in upwards and upwards == list(itertools.islice(_list_simple(*reversed(ends)), 200))


def test_the_search_for_simple_numbers_ends_where_the_ends_are_in_the_other_order() -> None:
    """It went on for ever where no number lay between them."""
    for gap in (1e-3, 3e-3, 1e-2):
        assert sum(1 for _ in _list_simple(0.5 + gap, 0.5)) < 10**6


# ---- rounds that depend on their number --------------------------------------------------------------------------------

STEP = """
  step: (k + 1)*(k + 3)/2*gap[k+1] + L*(d[k+1] + (k + 3)*e[k+1] + (k + 3)**2/4*s[k+1])
          <= k*(k + 2)/2*gap[k] + L*(d[k] + (k + 2)*e[k] + (k + 2)**2/4*s[k]) by derivation
  pos:  0 <= d[k] + (k + 2)*e[k] + (k + 2)**2/4*s[k]                          by derivation
  e0:   e[0] == 0                                                             by identity
  s0:   s[0] == 0                                                             by identity
  all:  N*(N + 2)/2*gap[N] + L*(d[N] + (N + 2)*e[N] + (N + 2)**2/4*s[N]) <= L*d[0]
          by induction N: base combine step(k=0), e0, s0; step combine ih, step(k=N)
  done: claim by combine all, pos(k=N)
"""
BY_HAND = replace(ACCELERATED, rounds={"k": 0, "N": 1}, claim="gap[N] <= 2*L*d[0]/(N*(N + 2))", proof=STEP)


def test_a_line_knows_which_round_it_is_about() -> None:
    assert prove_theorem(BY_HAND).proved.claims == BY_HAND.claims
    wrong = BY_HAND.proof.replace("(k + 1)*(k + 3)/2*gap[k+1]", "(k + 1)*(k + 4)/2*gap[k+1]")
    with pytest.raises(TermRefused, match="line step"):
        prove_theorem(replace(BY_HAND, proof=wrong))


def test_a_term_of_another_step_size_is_refused() -> None:
    data = prove_theorem(BY_HAND).data
    other = replace(BY_HAND, states=MethodStates("agd", "lr = 1/(2*L)", "L, mu = 0"))
    with pytest.raises(TermRefused, match="about quantities of these states"):
        verify_term(other, {**data, "states": str(other.states)})


def test_rounds_that_read_more_of_their_number_are_refused() -> None:
    inertia = Theorem(
        region="1 < L",
        states=MethodStates("dualfl", "nu = 1/2", "L, mu = 1"),
        rounds={"t": 1},
        quantities={"d": "norm2(x - x_star)"},
        claim="d[t+1] <= d[t]",
        proof="done: claim by derivation",
    )
    with pytest.raises(TermRefused, match="sqrt"):
        prove_theorem(inertia)


# ---- bounds of any number of rounds --------------------------------------------------------------------------------------


def of_every_n(method: str, measure: str, claimed: str, **more: Any) -> Bound:
    given = {"region": "0 < L, 0 < R, N in 1..", "functions": "L, mu = 0", "rounds": "N", "radius": "R", **more}
    return Bound(method, "lr = 1/L", measure=measure, claimed=claimed, **given)


@pytest.mark.parametrize(
    ("method", "measure", "claimed", "word"),
    [
        ("gd", "stationarity", "2*L*R/N", "proved"),
        ("gd", "squared_distance", "R**2", "proved"),
        ("agd", "gap", "L*R**2/(5*(N + 1)**2)", "refuted"),
        ("gd", "gap", "L*R**2/(4*N + 2)", "proved"),
        ("gd", "gap", "0.97*L*R**2/(4*N + 2)", "refuted"),
        ("gd", "min_stationarity", "2*L*R/N", "proved"),
    ],
)
def test_a_bound_of_any_number_of_rounds_is_a_theorem(method: str, measure: str, claimed: str, word: str) -> None:
    claim = state("MINE", "mine", "Theorem 1", "A bound.", of_every_n(method, measure, claimed))
    found = judge_claim(claim, "mine.py", Context())
    assert (found.status, found.error) == (word, None)


DRAWN = {"functions": "L, mu, zeta", "clients": "n, s"}
DRAWN |= {"region": "0 < mu < L, 0 < lr <= 1/(2*L), 0 < R, 0 < zeta, n in 2.., 1 <= s <= n, N in 1.."}


@pytest.mark.parametrize(
    ("claimed", "word"),
    [
        ("(1 - lr*mu)**N*R**2 + 2*lr*(n - s)/(s*(n - 1))*zeta**2/mu", "proved"),
        ("(1 - 1.03*lr*mu)**(2*N)*R**2", "refuted"),
    ],
)
def test_clients_that_are_drawn_and_unlike(claimed: str, word: str) -> None:
    asked = Bound(
        "fedavg", "lr = lr, steps = 1", measure="squared_distance", claimed=claimed, rounds="N", radius="R", **DRAWN
    )
    found = judge_claim(state("MINE", "mine", "Theorem 1", "A bound.", asked), "mine.py", Context())
    assert (found.status, found.error) == (word, None)


def test_a_bound_that_is_no_theorem_stays_one() -> None:
    assert as_theorem(of_every_n("gd", "gap", "L*R**2/(2*N)", region="0 < L, 0 < R, N in 1..4")) is None
    assert as_theorem(of_every_n("gd", "gap", "L*R**2/2", rounds="3", region="0 < L, 0 < R")) is None
    assert as_theorem(of_every_n("gd", "gap", "L*R**2/(2*N)", clients="n = 3")) is None
    least = as_theorem(of_every_n("gd", "gap", "L*R**2/(2*N)", region="0 < L, 0 < R, N in 4.."))
    assert least is not None and least.rounds == {"N": 4}
    smooth_only = of_every_n("gd", "stationarity", "2*L*R/N", functions="L, mu = -L")
    assert as_theorem(smooth_only) is None, "x* of a theorem is any stationary point, and that bound speaks of inf f"
    assert "given={'bounded': 'f_inf <= F[t]'}" in tell_without_convexity(smooth_only)
    assert tell_without_convexity(of_every_n("gd", "stationarity", "2*L*R/N")) == "", "it is a theorem"
    assert tell_without_convexity(replace(smooth_only, region="0 < L, 0 < R, N in 1..4")) == ""


def test_what_is_told_of_a_bound_without_convexity_is_a_theorem_that_is_proved() -> None:
    told = Theorem(
        region="0 < L, 0 <= f_inf",
        states=MethodStates("gd", "lr = 1/L", "L, mu = -L"),
        rounds={"t": 0, "N": 1},
        quantities={"F": "f(x)", "slope2": "norm2(grad(f, x))"},
        given={"bounded": "f_inf <= F[t]"},
        claim="exists t in 0..N-1: slope2[t] <= 2*L*(F[0] - f_inf)/N",
    )
    found = judge_claim(state("MINE", "mine", "Theorem 1", "In words.", told), "mine.py", Context())
    assert found.status == "proved"


class OfTrace:
    """The quantities of measures, of the vectors of a trace."""

    def __init__(self, known: Any, space: Any) -> None:
        self.known, self.space, self.minimiser = known, space, known["x_star"]

    def value(self, x: Any) -> Any:
        return self.known["f"].at(x)[1]

    def gradients(self, x: Any) -> Any:
        return self.known["f_i"].at(x)[0]

    def mean(self, u: Any) -> Any:
        return self.space.bar(u)

    def square(self, u: Any) -> Any:
        return self.space.dot(u, u)


@pytest.mark.parametrize("name", [name for name, measure in MEASURES.items() if measure.written])
def test_a_measure_is_written_as_what_it_is(name: str) -> None:
    region = Region.parse("0 < L")
    trace = MethodStates("gd", "lr = 1/L", "L, mu = 0").trace({"L": Fraction(3)}, region, 1, start=False)
    ((_, known),) = trace.states[1]
    quantities: Any = OfTrace(known, trace.space)
    said, meant = (
        evaluate_quantity(MEASURES[name].written, trace.space, known),
        MEASURES[name].quantity(quantities, known["x"]),
    )
    less = said - meant
    assert not any([*less.gram.values(), *less.values.values(), less.constant])
