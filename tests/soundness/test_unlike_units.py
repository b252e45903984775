"""Statements that put unlike units together are refused by name; those with numbers in the place of constants are not."""

import importlib
import pkgutil
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.algorithms.catalogue import ALGORITHMS, listed
from fedtheory.claims import (
    Bound,
    Context,
    Contraction,
    Divergence,
    Equivalence,
    Inequality,
    Lemma,
    Limit,
    Ordering,
    Rate,
    Reading,
    Side,
    dot,
    norm2,
)
from fedtheory.claims.references import find_papers
from fedtheory.claims.statements.as_claims import find_of_statement
from fedtheory.claims.statements.discovery import discover_contraction
from fedtheory.claims.statements.named_methods import NamedMethod
from fedtheory.claims.statements.unit_reading import UnitReading
from fedtheory.core.arrays import squared_norm
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.problem import gradient, objective
from fedtheory.core.randomness import Key
from fedtheory.core.states import arrays_of
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.members import SeparableQuadratics
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.regions.units import NONE, OF_GRADIENTS, OF_POINTS, UnlikeUnits, read_unit, unit_of
from fedtheory.proofs.spectrum import why_not_traceable
from problems.quadratics import random_quadratics, scalar_quadratics

GAP: dict[str, Any] = {
    "region": "0 < L, 0 < R, N in 1..3",
    "functions": "L",
    "measure": "gap",
    "rounds": "N",
    "radius": "R",
    "claimed": "L*R**2/(4*N + 2)",
}
FALLS: dict[str, Any] = {
    "region": "0 < mu < L, 0 < lr < 2/L, 0 < p <= 1",
    "functions": "L, mu",
    "potential": {"x_i": 1, "h_i": "(lr/p)**2"},
    "claimed": "max((1 - lr*mu)**2, (1 - lr*L)**2, 1 - p**2)",
}
PAIR: dict[str, Any] = {
    "problem": lambda a, b, c: scalar_quadratics(np.array([a, a], dtype=object), np.array([b, c], dtype=object)),
    "start": "b",
    "region": "0 < a, 0 < b, 0 < c, 0 < lr < 1/a",
}


def quantities(problem: Any, before: Any, after: Any, given: Any) -> Any:
    slope2 = squared_norm(gradient(problem, before.x))[..., 0]
    return SimpleNamespace(before=objective(problem, before.x), after=objective(problem, after.x), slope2=slope2)


STEP: dict[str, Any] = {"quantities": quantities, "region": "0 < L, 0 < lr <= 1/L", "curvatures": "-L, L"}


def descent(power: int) -> Any:
    def build(w: Any, p: Any, c: Any) -> Any:
        f, y = w.function(p.L, -p.L), w.vector("y")
        g, fx = w.at(f, y * 0, "f(x)")
        _, fy = w.at(f, y, "f(y)")
        return fy - fx - dot(g, y) - norm2(y) * (c.c * p.L**power / 2)

    return build


def test_the_square_of_the_radius_is_not_the_radius() -> None:
    """With R^2 for R a true bound was refuted without a hint."""
    Bound("gd", "lr = 1/L", **GAP)
    with pytest.raises(UnlikeUnits, match=r"claimed = 'L\*R\*\*2/\(4\*N \+ 2\)' is value/length, and 'gap' is value"):
        Bound("gd", "lr = 1/L", **{**GAP, "radius": "R**2"})


def test_a_radius_of_stationarity_is_a_gap() -> None:
    """A bound from a distance was refuted; its error says what the radius is."""
    near = {**GAP, "functions": "L, mu = -L", "measure": "stationarity", "region": "0 < L, 0 < R", "rounds": 1}
    with pytest.raises(UnlikeUnits, match=r"the radius is f\(x\^0\) - inf f"):
        Bound("gd", "lr = 1/L", **{**near, "claimed": "L**2*R**2"})
    Bound("gd", "lr = 1/L", **{**near, "claimed": "2*L*R"})


WRONG: dict[str, Any] = {
    "a power of L too many": lambda: Bound("gd", "lr = 1/L", **{**GAP, "claimed": "L**2*R**2/6"}),
    "a term without unit": lambda: Bound("gd", "lr = 1/L", **{**GAP, "claimed": "L*R**2/6 + R"}),
    "a step that is a curvature": lambda: Bound("gd", "lr = L", **GAP),
    "zeta for its square": lambda: Bound("fedavg", "lr, steps = 2", **{**GAP, "region": "0 < L, 0 < R, 0 < z, 0 < lr < 1/L", "rounds": 1,
                                         "functions": "L, zeta = z", "measure": "squared_distance", "claimed": "R**2 + lr*z"}),
    "a range of another unit": lambda: Contraction("scaffnew", "lr, p", **{**FALLS, "region": "0 < mu < L, 0 < lr < 2*L, 0 < p <= 1"}),
    "a weight without its square": lambda: Contraction("scaffnew", "lr, p", **{**FALLS, "potential": {"x_i": 1, "h_i": "lr/p"}}),
    "a factor with a unit": lambda: Contraction("scaffnew", "lr, p", **{**FALLS, "claimed": "(1 - mu)**2"}),
    "a class that is a function": lambda: Bound("gd", "lr = 1/L", **{**GAP, "functions": lambda L: FunctionClass(L=L), "claimed": "R**2/6"}),
    "a method that is a function": lambda: Contraction(
        lambda lr: listed("gd").build(lr=lr), region="0 < mu < L, 0 < lr < 1/L", functions="L, mu", potential={"x": 1}, claimed="1 - lr"
    ),
    "a condition between unlike ones": lambda: Bound("gd", "lr = 1/L", **GAP, where=("L < R",)),
    "a lemma": lambda: Lemma("descent", "textbook", "0 < L", descent(2), {"c": 1}),
    "an inequality": lambda: Inequality("gd", "lr", claimed="after <= before - slope2/2", **STEP),
    "states that correspond": lambda: Equivalence(
        "scaffold", "vrl-sgd", "lr, steps = 2", "lr, steps = 2", region="0 < lr", states={"x": "x", "delta_i": "lr*(c_i - c)"}
    ),
    "a limit": lambda: Limit("gd", "lr", point="(b + c)/2*lr", **PAIR),
    "a multiplier": lambda: Divergence("gd", "lr", multiplier="1 - a", **{**PAIR, "region": "0 < a, 0 < b, 0 < c, 2/a < lr"}),
    "a factor": lambda: Rate("gd", "lr", metric="distance", factor="1 - lr", **PAIR),
    "an exponent with a unit": lambda: Contraction("scaffnew", "lr, p", **{**FALLS, "claimed": "2**lr"}),
    "an exponent of a limit": lambda: Limit("gd", "lr", point="b*2**(a - a)*3**lr", **PAIR),
    "an exponent of an inequality": lambda: Inequality("gd", "lr", claimed="after <= before*2**L", **STEP),
    "an exponent in a lemma": lambda: Lemma("power", "textbook", "0 < L", lambda w, p, c: descent(1)(w, p, c) * 2**p.L, {"c": 1}),
    "rounds that are a radius": lambda: Bound("gd", "lr = 1/L", **{**GAP, "region": "0 < L, R in 1..3", "rounds": "R", "claimed": "L*R**2"}),
    "clients that are a radius": lambda: Bound(
        "fedavg", "lr = 1/L, steps = 1", **{**GAP, "region": "0 < L, n in 2..4, N in 1..3", "clients": "n", "radius": "n", "claimed": "L*n**2"}
    ),
    "local steps that are a curvature": lambda: Bound(
        "fedavg", "lr, steps = K", **{**GAP, "region": "K in 1..3, 0 < lr < 1/K, 0 < R, N in 1..3", "functions": "L = K", "claimed": "K*R**2"}
    ),
    "an ordering": lambda: ordering("lr = 1/L", "lr = L"),
    "an ordering by the condition number": lambda: ordering("lr = mu/L", "lr = 1/10"),
}  # fmt: skip


def ordering(first: str, second: str, **more: Any) -> Ordering:
    sides = (Side("gd", options, problem=lambda rng: random_quadratics(4, 3, seed=1)) for options in (first, second))
    return Ordering(*sides, metric="gap", rounds=3, draws=10, **more)


@pytest.mark.parametrize("name", WRONG)
def test_statements_of_every_kind_that_put_unlike_units_together_are_refused(name: str) -> None:
    with pytest.raises(UnlikeUnits, match="units = 'value = 1'"):
        WRONG[name]()


RIGHT: dict[str, Any] = {
    "a lemma": lambda: Lemma("descent", "textbook", "0 < L", descent(1), {"c": 1}),
    "an inequality": lambda: Inequality("gd", "lr", claimed="after <= before - lr*slope2/2", **STEP),
    "a limit": lambda: Limit("gd", "lr", point="(b + c)/2", **PAIR),
    "a multiplier": lambda: Divergence("gd", "lr", multiplier="1 - lr*a", **{**PAIR, "region": "0 < a, 0 < b, 0 < c, 2/a < lr"}),
    "a factor": lambda: Rate("gd", "lr", metric="distance", factor="(1 - lr*a)**2", **PAIR),
    "L = 1": lambda: Bound("gd", "lr = 1", **{**GAP, "region": "0 < R, N in 1..3", "functions": "L = 1", "claimed": "R**2/6"}),
    "radius 1": lambda: Bound("gd", "lr = 1/L", region="0 < L", functions="L", measure="gap", claimed="L/6"),
    "a step of 1/10": lambda: Bound("gd", "lr = 1/10", region="0 < L <= 10, 0 < R", functions="L", measure="gap", radius="R", claimed="R**2*L/2"),
    "a range in numbers": lambda: Bound("gd", "lr = 1/L", region="1 <= L <= 2", functions="L", measure="gap", claimed="L**2/6"),
    "a lemma with L = 1": lambda: Lemma("descent", "textbook", "", lambda w, p, c: descent(2)(w, SimpleNamespace(L=1), c), {"c": 1}),
    "a condition in numbers": lambda: Bound("gd", "lr = 1/L", **{**GAP, "claimed": "1"}, where=("L*R**2 <= 1",)),
    "f scaled to 1": lambda: Bound("gd", "lr = 1/L", **{**GAP, "claimed": "L*R**2/6 + 1"}, units="value = 1"),
    "a constant with a unit": lambda: Bound("gd", "lr = 1/L", **{**GAP, "claimed": "L*R**2/6 + c"}, constants={"c": 1}, units="c = value"),
    "an exponent that counts": lambda: Contraction("scaffnew", "lr, p", **{**FALLS, "claimed": "1 + lr*mu*2**(p*0)"}),
    "an exponent of rounds": lambda: Bound("gd", "lr = 1/L", **{**GAP, "claimed": "L*R**2*2**(-N) + L*R**2*(L/L)**(2*N)"}),
    "rounds and a radius of one": lambda: Bound("gd", "lr = 1/L", **{**GAP, "radius": 1, "claimed": "L/(4*N + 2)"}),
    "rounds that are a radius in units of it": lambda: Bound(
        "gd", "lr = 1/L", **{**GAP, "region": "0 < L, R in 1..3", "rounds": "R", "claimed": "L*R**2"}, units="length = 1"
    ),
    "an ordering": lambda: ordering("lr = 1/L", "lr = 2/(mu + L)"),
    "an ordering in numbers": lambda: ordering("lr = 1/10", "lr = 1/L"),
    "an ordering in units of its own": lambda: ordering("lr = mu/L", "lr = 1/L", units="value = length**2"),
    "a parameter with a unit": lambda: Bound("gd", "lr = 1/L", **{**GAP, "region": "0 < L, 0 < R, 0 < v, N in 1..3", "claimed": "L*R**2 + v"}),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_statements_in_any_units_and_with_numbers_in_the_place_of_constants_are_read(name: str) -> None:
    assert RIGHT[name]().unlike_units == ""


def test_an_exponent_with_a_unit_is_refused_by_name() -> None:
    with pytest.raises(UnlikeUnits, match=r"the exponent 'lr' is length\*\*2/value, and an exponent has no unit"):
        WRONG["an exponent with a unit"]()
    with pytest.raises(
        UnlikeUnits,
        match=r"'R' is a number of rounds, which has no unit, and the radius of a start, .* is length: take two names",
    ):
        WRONG["rounds that are a radius"]()
    with pytest.raises(
        UnlikeUnits, match=r"the option lr = 'L' is value/length\*\*2, and gd's lr is length\*\*2/value"
    ):
        WRONG["an ordering"]()
    told = [
        f.text
        for f in find_of_statement(ordering("lr = L/100", "lr = 1/L", units="as printed"), Context())
        if isinstance(f, Reading)
    ]
    assert told[0].startswith("As it is printed it is not right in all units")


def test_a_misprint_is_told_by_the_verdict_of_the_statement_as_it_is_printed() -> None:
    stated = Lemma("descent", "textbook", "0 < L", descent(2), {"c": 1}, units="as printed")
    told = [f.text for f in find_of_statement(stated, Context()) if isinstance(f, Reading)]
    assert told[0].startswith("As it is printed it is not right in all units") and "value**2/length**2" in told[0]
    with pytest.raises(InvalidInput, match="none are seen here"):
        Lemma("descent", "textbook", "0 < L", descent(1), {"c": 1}, units="as printed")


def test_units_are_given_of_what_there_is() -> None:
    with pytest.raises(InvalidInput, match="units are given of length, value, L, R, N; got 'r'"):
        Bound("gd", "lr = 1/L", **GAP, units="r = length")
    with pytest.raises(UnlikeUnits, match="R is value"):
        Bound("gd", "lr = 1/L", **GAP, units="R = value")


#: what units alone see in the ledgers: each lemma is a misprint of its paper, which the ledger states as it stands
PRINTED = {
    "a-fedpd": {"Lemma 2, printed", "weight 1/rho"},
    "fedslr": {"stationarity, printed", "residual, printed", "the server's problem, line 10"},
    "fedpd": set(),
    "dualfl": set(),
    "safari": set(),
}


def lemmas_of(paper: str) -> list[Lemma]:
    """The lemmas that a ledger's modules name."""
    package = importlib.import_module(find_papers()[paper])
    modules = [importlib.import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    named = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, Lemma)}
    return list(named.values())


def count_written(paper: str) -> int:
    """Lemmas that a ledger's modules write at their outermost level, by their text alone."""
    package = importlib.import_module(find_papers()[paper])
    files = [file for folder in package.__path__ for file in Path(folder).glob("*.py")]
    return sum(
        len(re.findall(r"^(?:@lemma|[A-Z]\w* = Lemma)\(", file.read_text(), flags=re.MULTILINE)) for file in files
    )


@pytest.mark.parametrize("paper", PRINTED)
def test_misprints_in_the_ledgers_are_found_by_their_units_alone(paper: str) -> None:
    found = [lemma for lemma in lemmas_of(paper) if lemma.unlike_units]
    assert {lemma.name for lemma in found} == PRINTED[paper]
    for lemma in found:
        with pytest.raises(UnlikeUnits):
            replace(lemma, units="")


def test_lemmas_of_the_ledgers_can_be_followed_on_numbers_with_units() -> None:
    """No lemma escapes because its text does something else than arithmetic."""
    lemmas = [lemma for paper in PRINTED for lemma in lemmas_of(paper)]
    assert all(len(lemmas_of(paper)) >= count_written(paper) > 0 for paper in PRINTED), (
        "every lemma that is written is looked at"
    )
    for lemma in lemmas:
        settings = lemma.units.replace("as printed", "")
        reading = UnitReading(lemma.region, lemma.region.simple_points(1)[0], lemma.constants, settings)
        try:
            lemma._read_units(reading)
        except UnlikeUnits:
            assert lemma.units == "as printed" or reading.numbers, lemma.name


# ---- what rounds say of units, held against rounds in other units ----------------------------------------------------


def _exponents(unit: Any) -> dict[str, Fraction]:
    return dict(unit.powers)


def _play(entry: Any, values: dict[str, Any], length: float, value: float, exact: bool) -> dict[str, Any]:
    """Three rounds where lengths and values are so many times as large, in floats."""
    rng = np.random.default_rng(0)
    functions = SeparableQuadratics(
        rng.uniform(0.5, 1, (3, 2)) * value / length**2, rng.standard_normal((3, 2)) * length
    )
    method: Any = entry.build(**values, **({"exact": True} if exact else {}))
    state = method.init(functions, np.ones((1, 2)) * length)
    for r in range(3):
        state = method.round(functions, state, None, Key(0, r))
    return {name: np.asarray(found, dtype=float) for name, found in arrays_of(state).items()}


#: of methods whose rounds do not decide on values, those that round a number, or add one to a gradient
OTHERS = {"fedspa-static", "per-fedavg-hf"}
FOLLOWED = [e for e in ALGORITHMS if not why_not_traceable(e.build()) and e.name not in OTHERS]
CASES = [(e, x) for e in FOLLOWED for x in ((False, True) if "exact" in e.uses else (False,))]


@pytest.mark.parametrize(("entry", "exact"), CASES, ids=[f"{e.name}{', exact' * x}" for e, x in CASES])
def test_units_that_rounds_tell_are_those_in_which_methods_can_be_rescaled(entry: Any, exact: bool) -> None:
    """In units 3 and 5 times as small, with options to match, every field is as many times as large as its unit says."""
    given = {o.name: o.default for o in entry.options if o.kind is float and o.default is not None}
    names = ", ".join(f"{name} = {name}_" for name in given)
    region = Region.parse(", ".join(f"0 <= {name}_ < {1 if value < 1 else 10}" for name, value in given.items()))
    point = {f"{name}_": Fraction(str(value)) for name, value in given.items()}
    reading = UnitReading(region, point, {}, "")
    fields = reading.read_method(NamedMethod(entry.name, f"{names}, exact" if exact else names))
    assert "x" in fields and reading.system.find(unit_of(fields["x"])) == OF_POINTS
    units = {name: reading.system.find(reading.values[f"{name}_"].unit) for name in given}
    try:
        plain = _play(entry, given, 1, 1, exact)
    except FedtheoryError:
        pytest.skip("it needs another problem")
    scaled = {
        n: given[n] * 3.0 ** _exponents(u).get("length", 0) * 5.0 ** _exponents(u).get("value", 0)
        for n, u in units.items()
    }
    other = _play(entry, {**given, **scaled}, 3, 5, exact)
    for name, values in plain.items():
        powers = _exponents(reading.system.find(unit_of(fields[name])))
        factor = 3.0 ** powers.get("length", 0) * 5.0 ** powers.get("value", 0)
        np.testing.assert_allclose(other[name], factor * values, rtol=1e-9, atol=1e-12, err_msg=name)


def test_rounds_tell_the_units_of_step_sizes_penalties_and_shares() -> None:
    reading = UnitReading(Region.parse("0 < a, 0 < b, 0 < c, 0 < d"), dict.fromkeys("abcd", Fraction(1, 2)), {}, "")
    fields = reading.read_method(NamedMethod("fedprox", "rho = a, lr = b, steps = 2"))
    reading.read_method(NamedMethod("feddr", "eta = c, alpha = d, exact"))
    found = {name: reading.system.find(reading.values[name].unit) for name in "abcd"}
    step = read_unit("length**2/value")
    assert found == {"a": step**-1, "b": step, "c": step, "d": NONE} and unit_of(fields["x"]) == OF_POINTS
    duals = reading.read_method(NamedMethod("feddyn", "rho = a, exact"))["lam_i"]
    assert reading.system.find(unit_of(duals)) == OF_GRADIENTS


def test_potentials_that_are_looked_for_have_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of other units are not even tried."""
    tried = []
    from fedtheory.claims.statements import discovery

    def rate(stated: Any, point: Any) -> None:
        tried.append(stated.potential)

    monkeypatch.setattr(discovery, "_rate", rate)
    stated = Contraction("scaffnew", "lr, p", **{**FALLS, "potential": {"x": 1}, "claimed": 1})
    assert discover_contraction(stated) is None
    weights = {potential["h_i"] for potential in tried if "h_i" in potential}
    assert weights == {"(lr)**2", "(1/L)**2", "(1/mu)**2", "(lr/p)**2", "(p/L)**2", "(p/mu)**2"}
