"""A bound after any number of rounds, as the theorem that it is short for.

    Bound("gd", "lr = 1/L", region="0 < L, 0 < R, N in 1..", functions="L, mu = 0",
          measure="gap", rounds="N", radius="R", claimed="L*R**2/(2*N)")

says of every N what a solver decides for one N at a time. Its theorem has no script, so that a potential is looked for.
"""

from __future__ import annotations

from fedtheory.claims.statements.bound import Bound
from fedtheory.claims.statements.named_methods import read_settings
from fedtheory.claims.statements.theorems.more_quantities import free_name
from fedtheory.claims.statements.theorems.states import NOISE, MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.regions.region import Parameter, Region

#: what a bound with sigma supposes
NOISE_IN_WORDS = (
    "gradients have noise xi_i that is zero in the mean and independent of all before and of other clients', "
    "with E mean_i ||xi_i||^2 <= sigma^2"
)
#: of measures of some round, that of one
_OF_ONE_ROUND: dict[str, MeasureName] = {"min_stationarity": "stationarity"}
#: quantities by which starts are bounded, of measures that speak of the minimiser and of others
_STARTS: dict[bool, MeasureName] = {True: "squared_distance", False: "gap"}


def as_theorem(bound: Bound) -> Theorem | None:
    """The theorem that says a bound of every number of rounds from some on.

    None where its rounds are bounded or its parts are no texts, and where the class is not convex: a theorem's x* is any stationary point, and a
    bound speaks of the minimum.
    """
    rounds, measure = _find_unbounded(bound), find_measure(bound.measure)
    of_round = find_measure(_OF_ONE_ROUND.get(bound.measure, bound.measure))
    if rounds is None or not _is_of_texts(bound) or not of_round.written:
        return None
    region = _region_without(bound, rounds)
    constants = read_settings(str(bound.functions))
    unlike = None if constants.get("zeta") == "0" else constants.pop("zeta", None)
    functions = ", ".join(f"{name} = {text}" for name, text in constants.items())
    drawn = "sigma" in constants or "s" in read_settings(bound.clients)
    if bound.clients and not drawn:
        return None
    try:
        states = MethodStates(str(bound.method), bound.options, functions, bound.clients)
        states.follow(region)
        if not _is_convex(states, region):
            return None
    except FedtheoryError:
        return None
    start = _STARTS[measure.of_minimiser]
    quantities: dict[str, str] = {name: find_measure(name).written for name in (of_round.name, start)}
    most = f"{_raised(bound.radius)}**2" if measure.of_minimiser else f"{bound.radius}"
    given, counted = {"start": f"{start}[0] <= {most}"}, {rounds.name: int(rounds.low.at({}))}
    names = {*bound.parameters.names, *quantities}
    t, apart = free_name("t", names), free_name("spread", names)
    if unlike is not None:
        quantities[apart] = "mean(norm2(grad(f_i, x_star)))"
        given[free_name("unlike", names)] = f"{apart}[{t}] <= {_raised(unlike)}**2"
    if unlike is not None or measure.over_rounds == "least":
        counted[t] = 1 if unlike is None else 0
    if measure.over_rounds == "least":
        claim = f"exists {t} in 1..{rounds.name}: {of_round.name}[{t}] <= {bound.claimed}"
    else:
        claim = f"{bound.measure}[{rounds.name}] <= {bound.claimed}"
    return Theorem(
        region=str(region),
        states=states,
        rounds=counted,
        quantities=quantities,
        given=given,
        assumed={NOISE: NOISE_IN_WORDS} if "sigma" in constants else {},
        claim=claim,
        name=bound.name,
        units=bound.units,
    )


def tell_without_convexity(bound: Bound) -> str:
    """How a bound of any number of rounds is to be stated for all of them at once, where the class is not convex; "" where it is, or is not known."""
    rounds = _find_unbounded(bound)
    if rounds is None or not _is_of_texts(bound) or find_measure(bound.measure).of_minimiser:
        return ""
    try:
        states = MethodStates(str(bound.method), bound.options, str(bound.functions), bound.clients)
        if _is_convex(states, _region_without(bound, rounds)):
            return ""
    except FedtheoryError:
        return ""
    return (
        "Numbers of rounds were tried one by one. A Theorem speaks of all of them, with a number that f is nowhere below: "
        "'0 <= f_inf' in its region, given={'bounded': 'f_inf <= F[t]'} with the quantity F = 'f(x)', and 'exists t in 0..N-1: ...' "
        "for the least of N rounds"
    )


def _is_of_texts(bound: Bound) -> bool:
    texts = isinstance(bound.method, str) and isinstance(bound.functions, str)
    return texts and not bound.where and not bound.constants


def _region_without(bound: Bound, rounds: Parameter) -> Region:
    return Region(tuple(p for p in bound.parameters.parameters if p.name != rounds.name))


def _is_convex(states: MethodStates, region: Region) -> bool:
    """Whether mu >= 0 on the whole region."""
    for fixed, case in region.cases():
        field = ParameterField(case)
        sign = field.sign(states.constants["mu"].at({**fixed, **field.parameters()}))
        if sign is None or sign.direction < 0:
            return False
    return True


def _raised(text: object) -> str:
    return str(text) if str(text).isidentifier() else f"({text})"


def _find_unbounded(bound: Bound) -> Parameter | None:
    """The parameter that is the number of rounds, where it has no upper end and nothing else speaks of it."""
    if bound.expressions["rounds"].kind != "name":
        return None
    (name,) = bound.expressions["rounds"].names
    found = next((p for p in bound.parameters.parameters if p.name == name), None)
    elsewhere = {n for what, text in bound.expressions.items() if what != "rounds" for n in text.names}
    elsewhere |= {
        n for p in bound.parameters.parameters for end in (p.low, p.high) if end is not None for n in end.names
    }
    return found if found is not None and found.high is None and not found.low.names and name not in elsewhere else None
