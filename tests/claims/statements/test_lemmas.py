"""Lemmas as data: proofs for all parameters, exact refutations, and what tampering does."""

import copy
import json
import random
from fractions import Fraction as Q

import lemma_cases
import pytest

from fedtheory.claims.statements.lemma import (
    Lemma,
    lemma_sensitivity,
    needed_premises,
    prove_lemma,
    recheck_instance,
    verify_lemma,
)
from fedtheory.claims.statements.worlds import bar, dot, norm2
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.derivations import check_derivation
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.parameters.derivation import check_at_point
from fedtheory.proofs.parameters.refutations import INTERPOLATED, ON_THE_LINE, VECTORS, Instance

#: the direction in which the constant of a tight lemma is made stronger
STRONGER = {
    "descent_lemma": -1,
    "cocoercivity": 1,
    "strong_cocoercivity": 1,
    "pl_inequality": -1,
    "young": -1,
    "gradient_step_contracts": -1,
    "fedpd_x_step": 1,
    "fedpd_dual_step": -1,
    "fedpd_round": 1,
    "fedslr_descent": 1,
    "fedslr_drift": -1,
    "fedslr_prox_step": 1,
    "pl_gradient_step": 1,
    "prox_three_points": 1,
    "fedpd_one_round": -1,
    "gradient_step_long": -1,
}


@pytest.mark.parametrize("name", lemma_cases.TRUE)
def test_true_lemmas_are_proved_for_all_parameters(name):
    lemma = lemma_cases.TRUE[name]
    outcome = prove_lemma(lemma)
    assert outcome.word == "proved for all parameters", outcome.log
    assert verify_lemma(lemma, outcome) is None
    stored = json.loads(json.dumps(outcome.derivations[0]))
    check_derivation(stored)
    replay(lemma, stored)
    assert rejected(stored) == []


def replay(lemma, data, count=20):
    """The text read with fractions at random points, apart from the argument about signs."""
    lots = random.Random(7)
    for _ in range(count):
        point = lemma.region.point([Q(lots.randint(1, 99), lots.randint(1, 99)) for _ in lemma.region.names])
        system = lemma.system(point)
        smooth = {f.name: 2 * (f.L - f.mu) for f in system.functions if f.L is not None}
        named = {name: at(data, value, point) for name, value in data["multipliers"].items()}
        hypotheses = dict(system.hypotheses)
        multipliers = [
            named.get(name, Q(0)) * (1 if name in hypotheses else smooth.get(name.split()[0], 1))
            for name, _ in system.rows
        ]
        assert check_at_point(system, multipliers)


def at(data, number, point):
    """A stored number at a point."""
    size, powers = (number, {}) if isinstance(number, str) else number
    total = Q(size)
    for k, power in powers.items():
        factor = Q(0)
        for value, exponents in data["factors"][int(k)]:
            term = Q(value)
            for name, exponent in zip(data["parameters"], exponents, strict=True):
                term *= point[name["name"]] ** exponent
            factor += term
        total *= factor**power
    return total


def rejected(data):
    """Multipliers 1 % off or left out that pass all the same."""
    passed = []
    for name, number in data["multipliers"].items():
        for factor in (Q(101, 100), Q(99, 100), Q(0), Q(-1)):
            changed = copy.deepcopy(data)
            size, powers = (number, {}) if isinstance(number, str) else number
            changed["multipliers"][name] = [str(Q(size) * factor), powers]
            try:
                check_derivation(changed)
                passed.append((name, factor))
            except Refused:
                pass
    return passed


@pytest.mark.parametrize("name", ["fedpd_one_round", "cocoercivity", "pl_gradient_step"])
def test_conditions_are_the_same_formed_at_a_point_and_evaluated_there(name) -> None:
    case = lemma_cases.TRUE[name].cases[0]
    point = case.field.region.simple_points(3)[-1]
    formed = case.system.at(point).rows
    assert "rows" not in case.system.__dict__ and case.system.rows
    evaluated = case.system.at(point).rows
    assert [(n, f.gram, f.values, f.constant) for n, f in formed] == [
        (n, f.gram, f.values, f.constant) for n, f in evaluated
    ]
    assert len(formed) > len(case.system.hypotheses)


@pytest.mark.parametrize("name", lemma_cases.FALSE)
def test_false_lemmas_are_refuted_by_exact_instances(name):
    lemma = lemma_cases.FALSE[name]
    outcome = prove_lemma(lemma)
    assert outcome.word == "refuted" and recheck_instance(lemma, outcome.instance) is None
    assert lemma.region.inside(outcome.instance.point)
    assert outcome.instance.left > 0 and outcome.instance.denominator <= 10**6
    assert Instance.read(json.loads(json.dumps(outcome.instance.store()))) == outcome.instance


@pytest.mark.parametrize("draw", range(10))
def test_random_constants(draw):
    """Drawn once: tight lemmas with the constant made stronger by 1 to 5 % (false) or weaker by 0.1 to 5 % (true)."""
    lots = random.Random(1000 + draw)
    name, false = lots.choice(sorted(STRONGER)), lots.random() < 0.5
    move = Q(lots.randint(10, 50) if false else lots.randint(1, 50), 1000)
    lemma = lemma_cases.TRUE[name].with_constants(c=1 + move * STRONGER[name] * (1 if false else -1))
    assert prove_lemma(lemma).word == ("refuted" if false else "proved for all parameters")


def test_a_weaker_constant_is_derived_from_the_strongest():
    outcome = prove_lemma(lemma_cases.TRUE["fedpd_one_round"].with_constants(c=1.013))
    assert outcome.word == "proved for all parameters"
    assert outcome.log["derived from"] == "c = 1 (stated: 1013/1000)"


def gradient_step(a, b, k):
    """a L ||x1 - x*||^2 + b (f(x1) - f*) <= c ((1 + k) L ||x0 - x*||^2 + k (f(x0) - f*)) for x1 = x0 - (s/L) grad f(x0)."""

    def build(w, p, c):
        f, x0 = w.function(p.L, p.mu), w.vector("x0")
        _, least = w.at(f, x0 * 0, "*", g=x0 * 0)
        g0, f0 = w.at(f, x0, "g0")
        x1 = x0 - g0 * (p.s / p.L)
        _, f1 = w.at(f, x1, "g1")
        return norm2(x1) * (p.L * a) + (f1 - least) * b - c.c * (norm2(x0) * (p.L * (1 + k)) + (f0 - least) * k)

    return build


@pytest.mark.parametrize(
    ("a", "b", "k", "c", "top"),
    [
        (1, Q(1, 2), 1, "21/40", "1/2"),
        (Q(1, 2), Q(5, 2), Q(1, 2), "999/953", "1/3"),
    ],
)
def test_room_on_the_whole_region_is_used(a, b, k, c, top):
    """With one constant for all mu and s the conclusion is tight nowhere inside, and nothing forces the multipliers."""
    outcome = prove_lemma(Lemma("step", "", f"0<mu<L, 0<s<{top}", gradient_step(a, b, k), {"c": c}))
    assert outcome.word == "proved for all parameters" and "polynomial multipliers" in outcome.log
    weaker = prove_lemma(Lemma("step", "", f"0<mu<L, 0<s<{top}", gradient_step(a, b, k), {"c": Q(c) * Q(9, 10)}))
    assert weaker.word == "refuted"


def test_what_fails_near_an_end_only_is_refuted():
    """||grad f(x1)||^2/L <= 2 (f(x0) - inf f) is tight for s -> 0; 1.995 fails for s < 1/400 only."""

    def build(w, p, c):
        f, x0, least = w.function(p.L, -p.L), w.vector("x0"), w.value("inf")
        g0, f0 = w.at(f, x0, "g0")
        g1, f1 = w.at(f, x0 - g0 * (p.s / p.L), "g1")
        w.assume("infimum at x0", least - f0 + norm2(g0) / (2 * p.L))
        w.assume("infimum at x1", least - f1 + norm2(g1) / (2 * p.L))
        return norm2(g1) / p.L - c.c * (f0 - least)

    lemma = Lemma("step", "", "0<L, 0<s<1", build, {"c": 2})
    assert prove_lemma(lemma).word == "proved for all parameters"
    assert prove_lemma(lemma.with_constants(c=1.995)).word == "refuted"


@pytest.fixture(scope="module")
def stored():
    return prove_lemma(lemma_cases.TRUE["fedpd_one_round"]).derivations[0]


TAMPERING = {
    "a stronger conclusion": lambda d: d["conclusion"]["S"].update(dict.fromkeys(list(d["conclusion"]["S"])[:1], "2")),
    "a larger region": lambda d: d["parameters"][1].update(high=None),
    "a negative pivot": lambda d: d["pivots"]["S"][0].update(pivot="-1"),
    "no pivots": lambda d: d["pivots"].update(S=[]),
    "another class": lambda d: d["functions"]["f"].update(mu="0"),
    "a hypothesis named as a pair": lambda d: d["hypotheses"].update({"f 0 1": d["hypotheses"].popitem()[1]}),
    "an evaluation that was moved": lambda d: d["functions"]["f"]["evaluations"][1]["x"]["S"].update({"0": "1"}),
    "a positive constant": lambda d: d.update(constant="1"),
    "fewer vectors": lambda d: d.update(mean=1),
    "a factor that was changed": lambda d: d["factors"][-1].append(["1", [7, 7]]),
    "a factor of zero": lambda d: d["factors"].append([["0", [0, 0]]]),
    "a missing part": lambda d: d.pop("pivots"),
    "floats": lambda d: d["multipliers"].update({"f 0 1": 0.5}),
    "text": lambda d: d.update(parameters="all"),
    "a huge power": lambda d: d["multipliers"].update({"f 0 1": ["1", {"0": 10**9}]}),
    "another format": lambda d: d.update(format="fedtheory derivation 0"),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_tampering_is_refused(stored, name):
    data = copy.deepcopy(stored)
    check_derivation(data)
    TAMPERING[name](data)
    with pytest.raises(Refused) as error:
        check_derivation(data)
    assert "\n" not in str(error.value)


def test_polynomials_that_are_far_too_large_are_refused_in_time(stored):
    data = copy.deepcopy(stored)
    data["factors"].append([["1", [100, 100]], ["-1", [100, 0]], ["1", [0, 0]]])
    data["multipliers"]["f 0 1"] = ["1", {str(len(data["factors"]) - 1): 99}]
    with pytest.raises(Refused):
        check_derivation(data)


def test_hypotheses_that_contradict_each_other_are_noted():
    def build(w, p, c):
        x = w.vector("x")
        w.assume("below", norm2(x) + 1)
        return norm2(x) - c.c

    assert "vacuous" in prove_lemma(Lemma("", "", "0<L", build, {"c": 1})).log


def test_an_instance_that_was_changed_is_refused():
    lemma = lemma_cases.FALSE["fedpd_round, c = 51/50"]
    stored = prove_lemma(lemma).instance.store()
    for change in ({"left": "1"}, {"point": {"L": "1", "eta": "1"}}, {"values": ["0"] * len(stored["values"])}):
        assert recheck_instance(lemma, Instance.read({**stored, **change})) is not None


@pytest.mark.parametrize(("name", "kind"), [("fedpd_round, c = 51/50", ON_THE_LINE), ("young, c = 99/100", VECTORS)])
def test_what_an_instance_says_of_itself_is_checked(name, kind):
    """Its kind was a word that nothing read; so were curvatures, and numbers beyond those that the lemma asks for."""
    lemma = lemma_cases.FALSE[name]
    stored = prove_lemma(lemma).instance.store()
    assert stored["kind"] == kind and recheck_instance(lemma, Instance.read(stored)) is None
    changes = [{"kind": other} for other in (ON_THE_LINE, INTERPOLATED, VECTORS) if other != kind]
    changes += [{"mean": [*stored["mean"], ["1"] * len(stored["mean"][0])]}, {"values": [*stored["values"], "1"]}]
    changes += [{"curvatures": [*stored["curvatures"], "1"]}, {"curvatures": ["1/7" for _ in stored["curvatures"]]}]
    for change in changes:
        if stored != stored | change:
            assert recheck_instance(lemma, Instance.read(stored | change)) is not None, change
    for change in ({"kind": "a theorem"}, {"note": "1"}, {"left": True}, {"left": "1e9"}, {"mean": {}}, {"point": []}):
        with pytest.raises(ValueError, match=r"kind|fields|whole number|leaves|mapping"):
            Instance.read(stored | change)


def test_free_text_is_refused(stored):
    with pytest.raises(Refused, match="the derivation has the unknown field 'statement'"):
        check_derivation(copy.deepcopy(stored) | {"statement": "the Riemann hypothesis"})


def test_another_lemmas_derivation_is_recognised():
    descent, other = lemma_cases.TRUE["descent_lemma"], lemma_cases.TRUE["cocoercivity"]
    assert "something else" in verify_lemma(other, prove_lemma(descent))


def test_poles_inside_the_region_are_refused():
    """||v||^2/(s - 1)^2 >= 0 is true wherever it is defined, and at s = 1 it is not."""

    def build(w, p, c):
        return -norm2(w.vector("v")) / (p.s - 1) ** 2

    assert prove_lemma(Lemma("pole", "", "0<s", build)).word != "proved for all parameters"
    assert prove_lemma(Lemma("no pole", "", "1<s", build)).word == "proved for all parameters"
    assert prove_lemma(Lemma("at a closed end", "", "1<=s", build)).word != "proved for all parameters"
    assert prove_lemma(Lemma("at another", "", "0<s<=1", build)).word != "proved for all parameters"


def test_whole_numbers_are_proved_case_by_case():
    def steps(w, p, c):
        f, x0 = w.function(p.L), w.vector("x0")
        x = x0
        _, least = w.at(f, x0 * 0, "least", g=x0 * 0)
        for k in range(int(p.N)):
            g, _ = w.at(f, x, f"g{k}")
            x = x - g / p.L
        _, value = w.at(f, x, "last")
        return value - least - norm2(x0) * (c.c * p.L / (4 * p.N + 2))

    lemma = Lemma("gradient descent", "Drori and Teboulle 2014", "N in 1..2, 0<L", steps, {"c": 1})
    outcome = prove_lemma(lemma)
    assert outcome.word == "proved for all parameters" and len(outcome.derivations) == 2
    assert verify_lemma(lemma, outcome) is None
    assert "N in 1..2" in outcome.scope
    false = prove_lemma(lemma.with_constants(c="99/100"))
    assert false.word == "refuted" and false.instance.point["N"] in (1, 2)


def test_scope_names_clients_where_there_are_any():
    assert (
        prove_lemma(lemma_cases.TRUE["fedpd_round"]).scope
        == "every number of clients, every dimension, 0 < L, 0 < eta < 1/(2*L)"
    )
    assert "clients" not in prove_lemma(lemma_cases.TRUE["young"]).scope


def test_sensitivity_and_needed_premises():
    (side,) = lemma_sensitivity(lemma_cases.TRUE["fedpd_round"])
    assert side.holds == 1 or 1 <= side.holds < Q(101, 100)
    assert 1 < side.fails < Q(101, 100) and side.instance is not None and not side.slack
    (loose,) = lemma_sensitivity(lemma_cases.TRUE["afedpd_potential"])
    assert loose.slack and 3 < loose.fails < Q(7, 2)
    assert needed_premises(lemma_cases.TRUE["pl_gradient_step"]) == {"PL at x": True, "minimum": False, "f": True}


def test_texts_say_what_is_wrong():
    def two_points(w, p, c):
        f, x = w.function(p.L), w.vector("x", client=True)
        return w.at(f, x, "g")[1]

    with pytest.raises(InvalidInput, match="one function for all clients"):
        prove_lemma(Lemma("", "", "0<L", two_points))
    with pytest.raises(InvalidInput, match="left side"):
        prove_lemma(Lemma("", "", "0<L", lambda w, p, c: 0))
    with pytest.raises(InvalidInput, match="constants c, not 'd'"):
        lemma_cases.TRUE["young"].with_constants(d=1)
    with pytest.raises(InvalidInput, match="name of its own"):
        prove_lemma(Lemma("", "", "0<L", lambda w, p, c: (w.function(p.L), w.assume("f 0 1", norm2(w.vector("x"))))[1]))
    with pytest.raises(InvalidInput, match="not smooth, and then mu is 0"):
        prove_lemma(
            Lemma(
                "mu without L",
                "mine",
                "0 < mu",
                lambda w, p, c: norm2(w.at(w.function(None, p.mu), w.vector("x"), "x")[0]),
                {},
            )
        )


def test_averages_over_clients():
    """||bar x||^2 <= mean ||x_i||^2 for any number of clients, and not the other way round."""

    def jensen(w, p, c):
        x = w.vector("x", client=True)
        return norm2(bar(x)) - c.c * dot(x, x)

    assert prove_lemma(Lemma("Jensen", "", "", jensen, {"c": 1})).word == "proved for all parameters"
    assert prove_lemma(Lemma("Jensen", "", "", jensen, {"c": 0.999})).word == "refuted"


def test_a_closed_end_at_zero_is_no_unit():
    """Before, a division by zero."""

    def small(world, p, c):
        return -c.c * p.eps - norm2(world.vector("x"))

    assert prove_lemma(Lemma("small", "nowhere", "0 <= eps", small, {"c": 1})).word == "proved for all parameters"


def test_ends_with_a_maximum_are_refused():
    """Before, a recursion without end."""

    def small(world, p, c):
        return -c.c * p.eps - norm2(world.vector("x"))

    with pytest.raises(InvalidInput, match="the ends of 'eps' have max or min in them; state the region's pieces"):
        prove_lemma(Lemma("small", "nowhere", "0 < mu, 0 < L, max(mu, L) < eps", small, {"c": 1}))


@pytest.mark.parametrize(
    ("x", "g", "said"), [(0, None, "the point of 'gx' is 0 and no vector"), (None, 0, "the gradient of 'gx' is 0")]
)
def test_numbers_are_no_points(x, g, said):
    def text(world, p, c):
        f, v = world.function(p.L), world.vector("v")
        slope, _ = world.at(f, v if x is None else x, "gx", g)
        return norm2(slope) * c.c

    with pytest.raises(InvalidInput, match=said):
        Lemma("zero", "mine", "0 < L", text, {"c": 1})
