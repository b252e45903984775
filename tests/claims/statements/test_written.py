"""Lemmas in words: what is written is what their text says, at a point of the region that no coincidence has."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.algorithms import DualFL, FedDyn
from fedtheory.claims import Theorem, norm2
from fedtheory.claims.explain.statements import find_statements
from fedtheory.claims.references import find_papers, load_claims
from fedtheory.claims.statements.formula_texts import (
    draw_signs,
    latex,
    latex_name,
    with_index,
    write,
    write_line,
    write_region,
)
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.made_methods import describe_made
from fedtheory.claims.statements.sentences import tell, tell_statement
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.writing import list_states
from fedtheory.claims.statements.worlds import bar, dot
from fedtheory.claims.statements.written import (
    Writer,
    WrittenLemma,
    WrittenWorld,
    generic_numbers,
    write_lemma,
)
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.regions.region import Region
from tests.support.read_words import WordReader, is_same


def lemmas_of(paper: str) -> dict[str, Lemma]:
    """The lemmas of a ledger by name."""
    found: dict[str, Lemma] = {}
    for claim in load_claims(find_papers()[paper]).values():
        found |= {s.name: s for s in find_statements(claim.check) if isinstance(s, Lemma)}
    return found


def require_true(lemma: Lemma, written: WrittenLemma) -> None:
    """Play the lemma once more, and evaluate each formula that was written of it."""
    world = WrittenWorld()
    numbers = generic_numbers(lemma.region)
    conclusion = lemma.build(world, SimpleNamespace(**numbers), SimpleNamespace(**lemma.constants))
    reader = WordReader(Writer(world), numbers)
    names: dict[str, Any] = {}
    left = [tree for tree in written.names if isinstance(tree, ast.Compare)]
    for _ in left:  # a name may speak of those after it
        for tree in left:
            try:
                names[tree.left.id] = reader.value(tree.comparators[0])  # type: ignore[attr-defined]
            except (ValueError, StopIteration):
                continue
            reader = WordReader(Writer(world), numbers, names=names)
    if len(names) < len(left):
        return  # a point that is defined by the gradient there: what follows cannot be evaluated
    assert is_same(conclusion, reader.difference(written.said)), write(written.said)
    for (name, form), (other, tree) in zip(world.hypotheses, written.given, strict=True):
        assert name == other and is_same(form, reader.difference(tree)), write(tree)


@pytest.mark.parametrize("paper", ["dualfl", "fedslr", "fedpd", "a-fedpd"])
def test_every_lemma_of_a_ledger_is_written_as_it_is(paper: str) -> None:
    for lemma in lemmas_of(paper).values():
        require_true(lemma, write_lemma(lemma))


def test_a_lemma_is_told_with_classes_gradients_and_hypotheses() -> None:
    def step(world: Any, p: Any, c: Any) -> Any:
        f, x = world.function(p.L, -p.L, client=True, name="f_i"), world.vector("x")
        s, reg = world.vector("s"), world.function(name="R")
        g, _ = world.at(f, x, "g")
        world.at(reg, x - s, "R", g=s)
        world.assume("near", norm2(x) - p.a)
        return norm2(bar(g)) - dot(g, g) - dot(s, x) * c.c

    told = tell_statement(Lemma("step", "(1)", "0 < L, 0 < a", step, {"c": 2}, units="as printed"))
    assert told == (
        "||mean(grad f_i(x))||^2 <= mean(||grad f_i(x)||^2) + 2 <s, x>; f_i of each client L-smooth, R closed and convex; "
        "s is a subgradient of R at x - s; near: ||x||^2 <= a; 0 < L, 0 < a."
    )


def test_a_difference_that_is_zero_is_written_as_it_is_made() -> None:
    """0 <= 0 says nothing of what an identity is about."""

    def same(world: Any, p: Any, c: Any) -> Any:
        x, y = world.vector("x"), world.vector("y")
        return norm2((x + y) * p.a - x * p.a - y * p.a) * c.c + norm2(x * 0)

    assert tell_statement(Lemma("same", "(1)", "0 < a", same, {"c": 1})) == "||a (x + y) - a x - a y||^2 <= 0; 0 < a."


def test_what_cannot_be_written_out_is_said() -> None:
    def build(world: Any, p: Any, c: Any) -> Any:
        return norm2(world.vector("x")) * (float(p.a) + c.c)

    assert tell(Lemma("floats", "(1)", "0 < a", build, {"c": 1})).sentence.startswith("It could not be written out")


def test_where_a_text_counts_with_a_number_that_is_said() -> None:
    def build(world: Any, p: Any, c: Any) -> Any:
        xs = [world.vector(f"x{k}") for k in range(int(p.K))]
        return norm2(sum(xs[1:], xs[0])) - sum(map(norm2, xs)) * (p.K * c.c)

    told = tell_statement(Lemma("sum", "(1)", "K in 1..3", build, {"c": 1}))
    assert told == "||x0 + x1||^2 <= K (||x0||^2 + ||x1||^2); K in 1..3; written for K = 2."

    def plain(world: Any, p: Any, c: Any) -> Any:
        return norm2(world.vector("x")) * (c.c - p.K)

    assert tell_statement(Lemma("plain", "(1)", "K in 1..3", plain, {"c": 1})) == "(1 - K) ||x||^2 <= 0; K in 1..3."


def test_methods_that_functions_make_are_told_by_class_and_fields() -> None:
    region = Region.parse("0 < nu, 0 <= b < 1")
    assert describe_made(lambda nu, b: DualFL(nu, lambda n: b), "", region) == "DualFL(nu = nu, rho = b in every round)"
    assert describe_made(lambda nu: FedDyn(2 / nu), "", region) == "FedDyn(rho = 2/nu)"
    assert describe_made("scaffold", "lr = 1/nu", region) == "scaffold with lr = 1/nu"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("(1 - lr*mu)**(2*t)*X[t+1]/(2*L)", "(1 - lr mu)^(2 t) X[t+1]/(2 L)"),
        ("a - (b - c)*2*3", "a - (b - c) 2 * 3"),
        ("-a*b + (-2)*c", "-a b - 2 c"),
        ("sum(D[k], k, 1, T)/T", "sum_{k=1}^T D[k]/T"),
        ("(a**2)**b", "(a^2)^b"),
        ("a/(b/c)", "a/(b/c)"),
    ],
)
def test_formulas_as_plain_text(text: str, plain: str) -> None:
    assert write(draw_signs(read(text))) == plain


def test_names_of_words_and_regions() -> None:
    assert write_line(("with ", ast.Name("theta_star"), " and ", ast.Name("inf f"))) == "with theta* and [inf f]"
    assert latex_name("inf f_i") == "\\text{inf fi}" and latex(ast.Name("hat_theta")) == "\\hat{\\theta}"
    assert write_region(Region.parse("0 < mu < L, 0 < lr <= 1/(2*L), K in 1..4")) == (
        "0 < mu, mu < L, 0 < lr <= 1/(2 L), K in 1..4"
    )


@pytest.mark.parametrize(("name", "shown"), [("theta2", "\\theta_{2,t}"), ("d2", "d_{2,t}"), ("x", "x_{t}")])
def test_a_symbol_has_one_index(name: str, shown: str) -> None:
    """TeX refuses two: ``\\theta_{2}_{t}``."""
    assert with_index(latex_name(name), "t") == shown


def test_an_average_over_drawn_clients_is_written_by_that_name() -> None:
    def play(world, p, last):
        x = world.vector("x_i", True)
        return [SimpleNamespace(x_i=x, x_bar=x.averaged(Sampling(p.n, p.s))) for _ in range(last + 1)]

    theorem = Theorem(
        "n in 2.., 1 <= s <= n",
        "a[t] <= a[t]",
        states=PlayedStates(play),
        rounds={"t": 0},
        quantities={"a": "dot(x_bar, bar(x_i))"},
    )
    assert "x_bar = drawn_mean(x_i)" in [write_line(line) for line in list_states(theorem)]
