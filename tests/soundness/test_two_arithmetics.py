"""Whether the two arithmetics of a replay are two: numbers that pass from one to the other are changed, and what comes out must not change.

While a replay runs, every conversion of a fraction to a float gives another number, except of a number of the instance or of the statement, and
of a whole number that is not what was measured exactly: those are data, and must reach both. A float that moves was made from an exact result. In the
same way floats that become fractions are changed. Two ways stay open: a float that is written as digits and read exactly (roots that floats
propose and exact comparisons confirm, FEDPD-T3), and logarithms that are enclosed so (SAFARI-L1). Where both arithmetics give one number, to the
last bit, nothing is said against the replay: floats are exact on whole numbers and on halves.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.claims import (
    Bound,
    Context,
    Divergence,
    Equivalence,
    Inequality,
    Lemma,
    Limit,
    Part,
    Rate,
    Replay,
    Theorem,
    state,
)
from fedtheory.claims.claim import Finding
from fedtheory.claims.references import find_papers, load_claims
from fedtheory.core.exact import rational
from fedtheory.proofs.checker.formulas import exact
from paper_checks.collected import read_instances
from problems.quadratics import scalar_quadratics

CLAIMS = {id: claim for source in find_papers().values() for id, claim in load_claims(source).items()}
#: of each claim the first that its check shows and that is stored; `test_contradictions` holds that refuted claims have theirs there
STORED = {row["claim"]: row["instance"] for row in reversed(read_instances())}
#: claims whose data stand in the code and not in the instance: floats move with them, but otherwise than what was measured exactly
DATA_IN_CODE = {"SAFARI-A2b", "SAFARI-T3a"}
#: what an engine found, and stored in the instance beside its data
RESULTS = ("left", "reached")
TO_FLOAT, MADE = Fraction.__float__, Fraction.__new__


def numbers_in(value: Any) -> Iterator[Fraction]:
    """Numbers of an instance, also in its texts."""
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from numbers_in(entry) if name not in RESULTS else ()
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from numbers_in(entry)
    elif isinstance(value, str) and value[:1] in "[{":
        yield from numbers_in(json.loads(value))
    elif isinstance(value, int | float):
        yield MADE(Fraction, value)
    elif isinstance(value, str):
        for word in re.split(r"[\s=,]+", value):
            if re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+|/\d+)?", word):
                yield Fraction(word)


def numbers_said(replay: Any) -> Iterator[Fraction]:
    """Numbers of the statement that is replayed: those in a theorem's formulas, and the constants of a lemma."""
    statement = getattr(replay, "keywords", {}).get("statement")
    if isinstance(statement, Lemma):
        yield from map(rational, statement.constants.values())
    elif isinstance(statement, Theorem):
        sides = [side for sentence in statement.sentences for side in sentence.sides]
        nodes = (node for tree in (*sides, *statement.formulas.values()) for node in ast.walk(tree))
        yield from (exact(node) for node in nodes if isinstance(node, ast.Constant))


def changed(value: Fraction) -> float:
    """Another number near a fraction, not in proportion to it."""
    share = 1 + (value.numerator * 7919 + value.denominator) % 13
    return TO_FLOAT(value) * (1 + share * 2.0**-16) or 2.0**-40


def apart(replay: Any, instance: dict[str, Any], patch: pytest.MonkeyPatch) -> tuple[Replay, Replay, Replay]:
    """As it is; with exact results changed on their way to floats; with floats changed on their way to fractions."""
    plain = replay(instance)
    data = {abs(v) for v in (*numbers_in(instance), *numbers_said(replay))} | {Fraction(0)}

    def to_float(value: Fraction) -> float:
        result = value in (plain.exact_measured, plain.exact_bound)
        allowed = abs(value) in data or (value.denominator == 1 and not result)
        return TO_FLOAT(value) if allowed else changed(value)

    def make(cls: Any, numerator: Any = 0, denominator: Any = None, **more: Any) -> Fraction:
        if denominator is None and isinstance(numerator, float) and numerator % 1 and abs(numerator) not in data:
            numerator = changed(MADE(Fraction, numerator))
        return MADE(cls, numerator, denominator, **more)

    with patch.context() as patched:
        patched.setattr(Fraction, "__float__", to_float)
        in_floats = replay(instance)
    with patch.context() as patched:
        patched.setattr(Fraction, "__new__", make)
        in_fractions = replay(instance)
    return plain, in_floats, in_fractions


def mixed_up(replay: Any, instance: dict[str, Any], patch: pytest.MonkeyPatch) -> list[str]:
    """Which numbers of a replay depend on the other arithmetic."""
    plain, in_floats, in_fractions = apart(replay, instance, patch)
    found = [name for name in ("measured", "bound") if getattr(plain, name) != getattr(in_floats, name)]
    exact = [name for name in ("exact_measured", "exact_bound") if getattr(plain, name) != getattr(in_fractions, name)]
    kinds = [name for name in ("exact_measured", "exact_bound") if isinstance(getattr(plain, name), float)]
    assert plain.violated
    return found + exact + kinds


def counterexample_of(findings: Iterable[Finding]) -> dict[str, Any] | None:
    """The first one that a check shows, as data."""
    shown = (f.counterexample for f in findings if isinstance(f, Part) and f.counterexample is not None)
    found = next(shown, None)
    return None if found is None else json.loads(json.dumps(found.instance))


@pytest.mark.parametrize("id", STORED)
def test_a_ledgers_counterexample_is_measured_twice(id: str, monkeypatch) -> None:
    replay, instance = CLAIMS[id].replay, STORED[id]
    found = mixed_up(replay, instance, monkeypatch)
    if id in DATA_IN_CODE:
        plain, moved, _ = apart(replay, instance, monkeypatch)
        assert found == ["measured"] and abs(moved.measured - plain.measured) < 1e-3
        assert moved.measured != changed(plain.exact_measured)
    else:
        assert found == []


def line(a: Any) -> Any:
    """Two clients with curvatures 2 and 2a on the line, and different minimisers."""
    return scalar_quadratics(np.array([2 + 0 * a, 2 * a], dtype=object), np.array([1, -2 + 0 * a], dtype=object))


HERE: dict[str, Any] = {"problem": line, "start": 3}
SHORT, LONG = "2 <= a <= 3, 1/20 <= lr <= 1/10", "2 <= a <= 3, 3 <= lr <= 4"
FALSE: dict[str, Any] = {
    "bound": Bound("gd", "lr", functions="L=1", region="1/2 < lr <= 1", claimed="1/7", measure="gap"),
    "rate": Rate("gd", "lr", metric="distance", factor="(1 - 4*lr)**2", region=SHORT, **HERE),
    "equivalence": Equivalence("fedavg", "scaffold", "lr, steps=2", "lr, steps=2, server_lr=1", region="0 < lr"),
    "inequality": Inequality(
        "gd",
        "lr",
        quantities=lambda problem, before, after, given: SimpleNamespace(
            old=before.x[..., 0, 0], new=after.x[..., 0, 0]
        ),
        claimed="new**2 <= old**2/4",
        region="0 < lr <= 1",
        curvatures="0, 1",
    ),
    "limit": Limit("scaffold", "lr, steps=2, server_lr=1", point="a", region=SHORT, **HERE),
    "diverges": Divergence("fedavg", "lr, steps=2", region=SHORT, **HERE),
    "the multiplier's modulus": Divergence("gd", "lr", region=LONG, multiplier="lr*(a + 2)", **HERE),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_statements_counterexample_is_measured_twice(name: str, monkeypatch) -> None:
    # it is false itself; as a claim it needs something that is wrong near it
    wrong = {} if name == "bound" else {"wrong": {"the same": FALSE[name]}}
    claim = state("S", "toy", "Theorem 1", "A statement.", FALSE[name], **wrong)
    instance = counterexample_of(claim.run(Context()))
    assert instance is not None and mixed_up(claim.replay, instance, monkeypatch) == []


@pytest.mark.parametrize(
    ("replay", "found"),
    [
        (lambda x: (float(x * x), 2.0, x * x, Fraction(2)), ["measured"]),
        (lambda x: (float(x / 3) * float(x * 3), 2.0, x * x, Fraction(2)), ["measured"]),
        (lambda x: (float(x) ** 2, 2.0 * float(x * x / 9), x * x, 2 * x * x / 9), ["bound"]),
        (lambda x: (float(x) ** 2, 0.1, Fraction(float(x) ** 2 + 0.1), Fraction(2)), ["exact_measured"]),
        (lambda x: (float(x) ** 2, 0.1, float(x) ** 2, Fraction(2)), ["exact_measured"]),
        (lambda x: (float(x) ** 2, 2.0, x * x, Fraction(2)), []),
        (lambda x: (float(x), 2.0, x, Fraction(2)), []),
    ],
    ids=["converted", "product of results", "bound", "exact from floats", "exact is a float", "two", "data"],
)
def test_one_arithmetic_in_the_place_of_two_is_noticed(replay: Any, found: list[str], monkeypatch) -> None:
    measure = lambda i: Replay("x^2", *replay(Fraction(i["x"])), "fractions", ())  # noqa: E731
    assert mixed_up(measure, {"x": "10/3"}, monkeypatch) == found
