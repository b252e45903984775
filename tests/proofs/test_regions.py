"""Expressions in parameters, and regions of them."""

from fractions import Fraction as Q

import pytest
import sympy

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.regions.expressions import Comparison, Expression
from fedtheory.proofs.regions.region import Region


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 - lr*mu", Q(4, 5)),
        ("0.1 + 0.2", Q(3, 10)),
        ("-mu**2", -4),
        ("(1 - lr*L)**-2", Q(25, 9)),
        ("max((1-lr*mu)**2, 1 - p**2, 1/4)", Q(16, 25)),
        ("2*L/(mu + L) - -1", Q(15, 6) - Q(1, 10)),
        ("L/mu/2", 1),
        ("1e-3 * 12345678901234567890.5", Q("12345678901234567.8905")),
        ("mu**N", 8),
    ],
)
def test_expressions_are_exact(text, value):
    at = {"lr": Q(1, 10), "mu": 2, "L": 4, "p": Q(1), "N": 3}
    expression = Expression.parse(text)
    if text.startswith("2*L"):
        value = Q(8, 6) + 1
    assert expression.at(at) == value
    assert isinstance(expression.at(at), Q)
    assert Expression.parse(str(expression)).at(at) == value
    assert expression.at({k: float(v) for k, v in at.items() if k != "N"} | {"N": 3}) == pytest.approx(float(value))
    assert expression.sympy(at | {"N": 3}) == sympy.Rational(Q(value).numerator, Q(value).denominator)


def test_expressions_know_their_names_and_print():
    expression = Expression.parse("max(a - (b - c), a/(b*c), (a+b)**2, -(a+b), 2*(1/3)*c)")
    assert expression.names == {"a", "b", "c"}
    assert str(expression) == "max(a - (b - c), a/(b*c), (a + b)**2, -(a + b), 2*(1/3)*c)"
    assert str(Expression.parse(0.1)) == "1/10"
    assert str(Expression.parse("a*b").substitute({"a": Q(-1, 3), "b": "c + 1"})) == "(-1/3)*(c + 1)"
    assert Expression.parse("a + min(b, 1)").sympy() == sympy.Symbol("a") + sympy.Min(sympy.Symbol("b"), 1)


def test_branches_resolve_maxima():
    branches = list(Expression.parse("1 + max(a, b) * 2").branches())
    assert [(str(e), [(str(x), str(y)) for x, y in premises]) for e, premises in branches] == [
        ("1 + a*2", [("b", "a")]),
        ("1 + b*2", [("a", "b")]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "a.b",
        "a if b else c",
        "sqrt(2)",
        "a < b",
        "",
        "1 +",
        "max()",
        "max(a, key=b)",
        "'x'",
        "True",
        "1j",
        "a[0]",
        "((" * 99,
    ],
)
def test_other_text_is_refused(text):
    with pytest.raises(InvalidInput):
        Expression.parse(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1+" * 100_000 + "1", r"an expression of 200001 characters is longer than the \d+ that are read"),
        ("-" * 150 + "a", r"the expression has more than \d+ levels: '-----"),
        ("1e99999999", "'1e99999999' cannot stand in an expression; the power of ten is at most 1000"),
        ("a + 1e-99999999", "'1e-99999999' cannot stand in an expression"),
        (True, "expected a number or an expression as text, got True"),
        ((1, 2), r"expected a number or an expression as text, got \(1, 2\)"),
    ],
    ids=["long", "deep", "huge", "tiny", "truth", "pair"],
)
def test_what_would_be_read_for_ever_or_is_no_number_is_told(text, why):
    with pytest.raises(InvalidInput, match=why):
        Expression.parse(text)


def test_a_power_of_a_power_is_not_written_out():
    with pytest.raises(InvalidInput, match="a power has more than 1000000 bits"):
        Expression.parse("((10**1000)**1000)**1000").at({})
    assert Expression.parse("(2**1000)**100").at({}) == 2**100_000


@pytest.mark.parametrize(
    ("text", "value"),
    [("0x10", 16), ("1_000", 1000), ("0.1", Q(1, 10)), ("+2", 2), ("1e-3", Q(1, 1000)), ("+-+3", -3)],
)
def test_numbers_are_read_as_they_are_written(text, value):
    assert Expression.parse(text).at({}) == value


def test_points_need_a_number_for_each_parameter():
    region = Region.parse("0<mu<L")
    for few in ([], [Q(1)], [Q(1)] * 3):
        with pytest.raises(InvalidInput, match=f"expected 2 numbers t for .*, got {len(few)}"):
            region.point(few)
        with pytest.raises(InvalidInput, match=r"expected 2 numbers u for "):
            region.point_of_box(few)


def test_a_chain_may_fall():
    assert str(Region.parse("1 >= a > 0")) == str(Region.parse("0 < a <= 1")) == "0 < a <= 1"


@pytest.mark.parametrize("text", ["1/(a - a)", "9**9**9", "2**a", "missing", "0**-1"])
def test_values_that_do_not_exist_are_refused(text):
    with pytest.raises(InvalidInput):
        Expression.parse(text).at({"a": Q(1, 2)})


def test_comparisons():
    chain = Comparison.parse("0 < mu <= L")
    assert chain.holds({"mu": Q(1), "L": 1}) and not chain.holds({"mu": Q(0), "L": 1})
    assert str(chain) == "0 < mu <= L" and chain.names == {"mu", "L"}
    with pytest.raises(InvalidInput, match="comparison"):
        Comparison.parse("mu != L")


def test_a_region_orders_its_parameters():
    region = Region.parse("0<lr<2/L, 0<mu<L, 0<p<=1")
    assert region.names == ("mu", "L", "lr", "p")
    assert str(Region.parse(str(region))) == str(region)
    inside = {"mu": Q(1), "L": Q(2), "lr": Q(1, 2), "p": Q(1)}
    assert region.inside(inside)
    for name, value in (("mu", 2), ("lr", 1), ("p", 0), ("p", Q(101, 100)), ("mu", 0)):
        assert not region.inside({**inside, name: Q(value)})
    assert not region.inside({"mu": Q(1)})


def test_points_of_a_region():
    region = Region.parse("0<mu<L, 0<lr<2/L, 0<=p<=1")
    point = region.point([Q(1), Q(1), Q(1), Q(1, 3)])
    assert point == {"mu": 1, "L": 2, "lr": Q(1, 2), "p": Q(1, 4)}
    a, b, c, d = sympy.symbols("a:d", positive=True)
    assert sympy.simplify(region.point([a, b, c, d])["lr"] - 2 / (a + b) * c / (1 + c)) == 0
    corners = region.corners()
    assert all(map(region.inside, corners)) and {corner["p"] for corner in corners} == {0, Q(1, 2), 1}
    assert all(map(region.inside, region.simple_points(20)))
    assert region.point_of_box([Q(1, 2)] * 4) == region.point([Q(1)] * 4)


def test_simple_points_near_others():
    region = Region.parse("0<mu<L, 0<lr<2/L, 0<p<=1")
    near = region.simplify({"mu": 0.33333333, "L": 1.0000001, "lr": 1.99999, "p": 1.0})
    assert near["mu"] == Q(1, 3) and near["L"] == 1 and near["p"] == 1
    assert region.inside(near) and near["lr"] > Q(199, 100)


def test_whole_numbers_are_cases():
    region = Region.parse("N in 2..4, 0<a<=1/N")
    assert region.count_cases() == 3
    cases = list(region.cases())
    assert [fixed for fixed, _ in cases] == [{"N": 2}, {"N": 3}, {"N": 4}]
    assert str(cases[1][1]) == "0 < a <= 1/3"
    assert region.inside({"N": 4, "a": Q(1, 4)}) and not region.inside({"N": 5, "a": Q(1, 9)})
    assert not region.inside({"N": Q(5, 2), "a": Q(1, 9)})
    assert all(map(region.inside, region.corners()))
    with pytest.raises(InvalidInput, match="cases"):
        region.point([Q(1)])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mu<L", "lower end"),
        ("0<lr<2/L", "nothing bounds"),
        ("0<L, 0<mu, mu<L", "no new parameter"),
        ("0<a>b", "one direction"),
        ("0<a, N in 4..1", "no number"),
        ("a", "comparison"),
        ("0<N, N in 1..2", "twice"),
        ("0<a<a", "'a' is bounded by itself in '0<a<a'"),
    ],
)
def test_regions_say_what_is_wrong(text, why):
    with pytest.raises(InvalidInput, match=why):
        Region.parse(text)


@pytest.mark.parametrize("text", ["3 < L < 2", "L > 0 > 2", "0 < L, L < x < 0", "0 < L < 0", "0 < L, 2*L < x < L"])
def test_a_region_without_points_is_refused(text) -> None:
    """Anything would be true there."""
    with pytest.raises(InvalidInput, match="no point of the region"):
        Region.parse(text)
    assert Region.parse("0 < L, 1 < x < L").inside({"L": Q(3), "x": Q(2)}), "some points are enough"


@pytest.mark.parametrize("text", ["0 < L, k = 1", "N in 1,2,3", "k in {1,2}", "L, R > 0"])
def test_what_is_no_region_is_told_how_regions_are_written(text):
    with pytest.raises(
        InvalidInput, match=r"a region is comparisons and ranges of whole numbers.*'0 < mu <= L, N in 1\.\.3'"
    ):
        Region.parse(text)
