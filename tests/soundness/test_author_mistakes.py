"""A mistake of a statement's author, or a missing package, is an error that says what to do, and never a verdict."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import (
    Bound,
    Claim,
    Context,
    Contraction,
    Divergence,
    Equivalence,
    Fault,
    Inequality,
    Lemma,
    Limit,
    Rate,
    Theorem,
    norm2,
)
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.report import summarise
from fedtheory.claims.statements.as_claims import find_of_statement
from fedtheory.claims.statements.judging import judge_statement
from fedtheory.command_line.main import main
from fedtheory.core.arrays import average
from fedtheory.core.errors import InvalidInput, MissingExtra
from problems.quadratics import scalar_quadratics

GAP: dict[str, Any] = {
    "region": "0 < L, 0 < R",
    "functions": "L",
    "measure": "gap",
    "radius": "R",
    "claimed": "L*R**2/6",
}
PAIR: dict[str, Any] = {
    "problem": lambda a: scalar_quadratics(np.array([a, a], dtype=object), np.array([1, -1], dtype=object)),
    "start": 2,
    "region": "0 < a, 0 < lr < 1/a",
}
FALLS: dict[str, Any] = {"region": "0 < mu < L, 0 < lr < 1/L", "functions": "L, mu", "claimed": "(1 - lr*mu)**2"}


def convex(w: Any, p: Any, c: Any) -> Any:
    f, x = w.function(p.L, p.mu), w.vector("x")
    w.at(f, x, "g")
    return norm2(x) * -c.c


@dataclass(frozen=True)
class ReadsClients:
    """A gradient step of size lr/n."""

    lr: Any

    def init(self, problem: Any, x0: Any) -> Any:
        return PointState(x0)

    def solution_state(self, problem: Any, x: Any) -> Any:
        return PointState(x)

    def round(self, problem: Any, state: Any, clients: Any, key: Any) -> Any:
        return PointState(state.x - self.lr / problem.n * average(problem.grad(state.x)))


MISTAKES: dict[str, tuple[Any, str]] = {
    "a negative step": (lambda: Bound("gd", "lr = -1/L", **GAP), r"at L = 1, R = 1: lr must be positive, got -1"),
    "no modulus below L": (lambda: Bound("gd", "lr = 1/L", **{**GAP, "functions": "L, mu = 2*L"}), r"mu=2 has no interpolation conditions"),
    "a modulus that may exceed L": (
        lambda: Contraction("gd", "lr", potential={"x": 1}, **{**FALLS, "region": "0 < mu, 0 < L, 0 < lr < 1/L"}),
        r"at mu = 1, L = 1, lr = 1/2: mu=1 has no interpolation .* use 0 < mu < L",
    ),
    "a condition that never holds": (lambda: Bound("gd", "lr = 1/L", **GAP, where=("L*R**2 < 0",)), "no point of the region .* satisfies L"),
    "conditions that contradict each other": (
        lambda: Bound("gd", "lr", **{**FALLS, "region": "0 < mu < L, 0 < lr < 1/L"}, where=("lr*L > 1/2", "lr*L < 1/3")),
        "no point of the region",
    ),
    "an empty region": (lambda: Bound("gd", "lr = 1/L", **{**GAP, "region": "2 < L < 1, 0 < R"}), "no point of the region"),
    "no rounds": (lambda: Bound("gd", "lr = 1/L", **GAP, rounds=0), "expected rounds >= 1"),
    "half a round": (lambda: Bound("gd", "lr = 1/L", **GAP, rounds="1/2"), "rounds must be a whole number"),
    "no radius": (lambda: Bound("gd", "lr = 1/L", **{**GAP, "region": "0 < L, R in 0..0"}), "radius > 0; got .* radius=0"),
    "one client": (lambda: Bound("gd", "lr = 1/L", **GAP, clients="n = 1"), r"n >= 2 for s of n clients; got s=1, n=1"),
    "more than all clients": (lambda: Bound("gd", "lr = 1/L", **GAP, clients="n = 2, s = 3"), "got s=3, n=2"),
    "a gap of what has no minimiser": (lambda: Bound("gd", "lr = 1/L", **{**GAP, "functions": "L, mu = -L"}), "goes with convex classes"),
    "an unknown measure": (lambda: Bound("gd", "lr = 1/L", **{**GAP, "measure": "gaap"}), "unknown measure 'gaap'; known are"),
    "an unknown method": (lambda: Bound("gdd", "lr = 1/L", **GAP), "did you mean gd"),
    "an unknown option": (lambda: Bound("gd", "step = 1/L", **GAP), "gd has no option 'step'; it has lr"),
    "an unknown constant": (lambda: Bound("gd", "lr = 1/L", **{**GAP, "functions": "L, nu"}), "'nu' is no constant of a class"),
    "an unknown field": (lambda: Contraction("scaffnew", "lr, p = 1/2", potential={"y_i": 1}, **FALLS), "no field 'y_i'; .* x, x_i, h_i, gap"),
    "a probability above one": (
        lambda: Contraction("scaffnew", "lr, p", potential={"x_i": 1}, **{**FALLS, "region": "0 < mu < L, 0 < lr < 1/L, 0 < p"}),
        r"p = \d.*: the probability p must lie in \(0, 1\]",
    ),
    "a limit of a negative step": (lambda: Limit("gd", "lr = -lr", **PAIR), "lr must be positive"),
    "a limit of an unknown field": (lambda: Limit("gd", "lr", field="y", **PAIR), "gd.* has no field 'y'; it has x"),
    "a divergence of a negative step": (lambda: Divergence("gd", "lr = -lr", **PAIR), "lr must be positive"),
    "a rate without points": (lambda: Rate("gd", "lr", factor="1/2", where=("lr*a > 2",), **PAIR), "no point of the region"),
    "two methods, one refused": (lambda: Equivalence("gd", "gd", "lr", "lr = -lr", region="0 < lr"), "lr must be positive, got -1"),
    "an inequality of a negative step": (
        lambda: Inequality("gd", "lr = -lr", quantities=lambda *_: None, claimed="a <= b", region="0 < lr"), "lr must be positive",
    ),
    "a lemma on no functions": (lambda: Lemma("l", "s", "0 < mu, 0 < L", convex, {"c": 1}), r"expected 0 < L and -L <= mu < L"),
    "a bound that divides by zero": (
        lambda: Bound("gd", "lr = 1/L", **{**GAP, "claimed": "1/(L - L)"}), r"at L = 1, R = 1, and at every other .* by zero in 1/\(L - L\)",
    ),
    "a factor that divides by zero": (
        lambda: Contraction("gd", "lr", potential={"x": 1}, **{**FALLS, "claimed": "(1 - lr*mu)**2/0"}), "division by zero",
    ),
    "a limit that divides by zero": (lambda: Limit("gd", "lr", point="1/(a - a)", **PAIR), "every other point .* division by zero"),
    "a multiplier that divides by zero": (lambda: Divergence("gd", "lr", multiplier="1/(a - a)", **PAIR), "division by zero"),
    "a rate that divides by zero": (lambda: Rate("gd", "lr", factor="lr/(a - a)", **PAIR), "division by zero"),
    "a relation that divides by zero": (
        lambda: Equivalence("gd", "gd", "lr", "lr", region="0 < lr", states={"x": "x/(lr - lr)"}), "division by zero",
    ),
    "an inequality that divides by zero": (
        lambda: Inequality("gd", "lr", quantities=lambda *_: None, claimed="a <= b/(lr - lr)", region="0 < lr"), "division by zero",
    ),
    "curvatures the wrong way round": (
        lambda: Inequality("gd", "lr", quantities=lambda *_: None, claimed="a <= b", region="0 < lr, 0 < L", curvatures="L, -L"),
        "curvatures are 'low, high', and 'L, -L' are 1 and -1",
    ),
    "a lemma that divides by zero": (lambda: Lemma("l", "s", "0 < L", lambda w, p, c: 1 / 0, {"c": 1}), "division by zero"),
    "noise of any number of clients": (
        lambda: Bound("fedavg", "lr, steps = 1", **{**FALLS, "region": "0 < mu < L, 0 < lr < 1/L, 0 < v", "functions": "L, mu, sigma = v"}),
        "noise averages out over the clients, so that their number n matters; state n: clients='n = 8'",
    ),
    "a round that reads the number of clients": (
        lambda: Bound(ReadsClients, **FALLS), r"the round computes .* / n, .* followed for every n at once; .* state n: clients='n = 8'",
    ),
    "a potential of a round that reads it": (
        lambda: Contraction(ReadsClients, potential={"x": 1}, **FALLS), r"the round computes .* / n, .* state n: clients='n = 8'",
    ),
    "a potential over another class": (
        lambda: Contraction("gd", "lr", potential={"x": 1}, **{**FALLS, "functions": "L, mu, zeta = 1"}), "without further conditions",
    ),
    "a negative weight": (
        lambda: Contraction("gd", "lr", potential={"x": -1}, **FALLS), "weights that are not negative and not all zero; got x: -1",
    ),
    "no weight": (lambda: Contraction("gd", "lr", potential={"x": "mu - mu"}, **FALLS), "got all of them zero"),
    "a lemma that asks for what it has not": (lambda: Lemma("l", "s", "0 < L", convex, {"c": 1}), "asks for 'mu'; there are .* L, c"),
    "a value before the first": (
        lambda: Theorem(region="", sequences={"t": "0"}, rounds={"n": 0}, claim="1 <= t[n-1]", proof=""),
        r"t\[n - 1\] in '1 <= t\[n - 1\]' is before the first value, t\[0\], at n = 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_before_anything_is_judged(name: str) -> None:
    make, message = MISTAKES[name]
    with pytest.raises(InvalidInput, match=message):
        make()


def test_what_a_region_only_touches_is_no_mistake() -> None:
    """A closed end at which a method is refused, and a hole in a formula."""
    Limit("gd", "lr", **{**PAIR, "region": "0 < a, 0 <= lr < 1/a"})
    Bound(
        "gd",
        "lr = 1/L",
        **{**GAP, "region": "0 < M < L, 0 < R", "claimed": "L*R**2/6 + 0/(L - 2*M)"},
        units="unchecked",
    )
    Limit("gd", "lr", point="0/(lr*a - 1/2)", **PAIR)
    Bound("gd", "lr = 1/(L - M)**2*(L - M)", **{**GAP, "region": "0 < M, M < L, 0 < R"})
    Bound("gd", "lr = (L - M)/(L - M)/L", **{**GAP, "region": "0 < M, 0 < L, 0 < R"})


HEAD = "from fedtheory.claims import Bound, Ordering, Side, state\nfrom problems.quadratics import random_quadratics\n"
FILES = {
    "a negative step": (
        'gap = Bound("gd", "lr = -1/L", region="0 < L", functions="L", measure="gap", claimed="L/6")\nCLAIMS = [state("A", "p", "s", "t", gap)]\n',
        "line 3: at L = 1: lr must be positive, got -1",
    ),
    "an ordering by a constant that there is not": (
        "draw = lambda rng: random_quadratics(4, 3, seed=int(rng.integers(9)))\n"
        'sides = [Side("gd", f"lr = 1/{c}", problem=draw) for c in ("L", "smoothness")]\n'
        'CLAIMS = [state("A", "p", "s", "t", Ordering(*sides, metric="gap", rounds=3))]\n',
        "'smoothness' has no value; there are L, mu",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_check_ends_with_status_two_for_a_mistake_in_a_claim(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, message = FILES[name]
    Path("mine.py").write_text(HEAD + text)
    found = CliRunner().invoke(main, ["check", "mine.py", "--workers", "1"])
    assert found.exit_code == 2, found.output
    assert message in " ".join(found.output.split()) and "inconclusive" not in found.output


def test_commands_end_with_status_two_for_a_mistake() -> None:
    for words in (
        ["prove", "gd", "--region", "0 < L", "--options", "lr = -1/L", "--bound", "1"],
        ["prove", "gd", "--region", "0 < mu, 0 < L", "--options", "lr = 1/L", "--potential", "x = 1", "--bound", "1"],
        ["prove", "gd", "--region", "0 < L", "--options", "lr = 1/L", "--potential", "y = 1", "--bound", "1"],
        ["prove", "gd", "--region", "0 < L, 0 < R", "--options", "lr = 1/L", "--radius", "R", "--bound", "L*R"],
        ["lyapunov", "gd", "--mu", "2"],
        ["lyapunov", "gd", "--lr", "-1"],
        ["lyapunov", "gd", "--lr", "1", "--stated", "y", "1"],
        ["largest", "gd", "--option", "lr", "--rate", "2"],
        ["largest", "gd", "--option", "lr", "--from", "2", "--to", "1"],
        ["largest", "gd", "--option", "lr", "--stated", "y", "1"],
        ["largest", "fedavg", "--option", "lr", "--local-steps", "2", "--rate", "1"],
        ["design", "gd", "--free", "lr", "--lr", "3"],
        ["design", "gd", "--free", "rho"],
        ["compare", "gd", "--mu", "0"],
        ["compare", "gd,nobody"],
        ["worst-case", "gd", "--lr", "-1"],
        ["worst-case", "gd", "--mu", "2", "--clients", "any"],
        ["worst-case", "gd", "--rounds", "0"],
    ):
        found = CliRunner().invoke(main, words)
        assert found.exit_code == 2 and found.output.startswith("error: "), (words, found.output)


# ---- packages that are not there -------------------------------------------------------------------------------------


STATED: dict[str, Any] = {
    "bound": Bound("gd", "lr = 1/L", **GAP),
    "contraction": Contraction("gd", "lr", potential={"x": 1}, **FALLS),
    "lemma": Lemma("l", "s", "0 < mu < L", convex, {"c": 1}),
    "equivalence": Equivalence("gd", "gd", "lr", "lr", region="0 < lr"),
    "limit": Limit("gd", "lr", point=0, **PAIR),
}


@pytest.mark.parametrize("package", ["clarabel", "sympy"])
@pytest.mark.parametrize("name", STATED)
def test_without_a_package_a_statement_is_not_run(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if package == "clarabel" and name in ("equivalence", "limit"):
        pytest.skip("it asks no solver")
    monkeypatch.setitem(sys.modules, package, None)
    stated = STATED[name]
    kind: Any = {"equivalence": "equivalence", "limit": "identity"}.get(name, "bound")
    check = lambda context: find_of_statement(stated, context)  # noqa: E731
    verdict = judge_claim(Claim("X", "toy", kind, "", "", check, (Fault("none", "none", {}),)), "toy.py", Context())
    assert verdict.error is not None and verdict.error.startswith(f"MissingExtra: {package} is needed for")
    assert not verdict.ran and not verdict.mistaken and summarise([verdict]) == "1 not run"


def test_judging_without_a_solver_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scs", None)
    with pytest.raises(MissingExtra, match=r"pip install 'fedtheory\[verify\]'"):
        judge_statement(STATED["bound"])


def test_prove_says_that_it_was_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    asked = [
        "prove",
        "gd",
        "--region",
        "0 < L, 0 < R",
        "--options",
        "lr = 1/L",
        "--measure",
        "gap",
        "--radius",
        "R",
        "--bound",
        "L*R**2/6",
    ]
    found = CliRunner().invoke(main, asked)
    assert found.exit_code == 1 and "NOT RUN" in found.output and "INCONCLUSIVE" not in found.output
    assert "clarabel is needed for worst cases" in found.output
    for words in (
        ["lyapunov", "gd", "--lr", "1"],
        ["worst-case", "gd", "--lr", "1", "--clients", "any", "--bound", "1"],
    ):
        found = CliRunner().invoke(main, words)
        assert found.exit_code == 1 and "clarabel is needed" in found.output, (words, found.output)
