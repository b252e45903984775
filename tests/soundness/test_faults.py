"""Attacks on ``fedtheory selftest``: faults that are caught by checks that fail anyway, or that change no verdict."""

from __future__ import annotations

import pytest
from claims_in_place import put_claims
from click.testing import CliRunner

from fedtheory.claims import weighing
from fedtheory.claims.claim import Claim, Covered, Fault, Part
from fedtheory.claims.context import Context
from fedtheory.claims.faults import run_faults
from fedtheory.claims.parts import holds, refute
from fedtheory.claims.references import Reference
from fedtheory.command_line.main import main
from fedtheory.core.errors import MissingExtra


@pytest.fixture
def report(monkeypatch):
    """Run the planted fault ``{"value": ...}`` of a check."""

    def run(check, value=False, kind="bound", found=False, part="p", **more):
        claim = Claim("X-1", "toy", kind, "s", "s", check, (Fault("planted", part, {"value": value}, found),), **more)
        put_claims(monkeypatch, claim)
        (seen,) = run_faults(Reference("toy", claim.id), Context())
        return seen

    return run


def simple(ctx, value=True):
    yield holds("p", value, "numeric", "said", covered=Covered(8, "instances"))


def test_a_fault_that_changes_the_part_is_caught(report) -> None:
    assert report(simple).caught and report(simple, kind="ordering").caught


@pytest.mark.parametrize("outcome", [True, False, None])
def test_a_part_that_comes_out_so_anyway_catches_nothing(report, outcome) -> None:
    def check(ctx, value=None):
        yield Part("p", outcome, "numeric", "said")

    seen = report(check, found=outcome)
    assert not seen.caught and "this part comes out so without the fault, too" in seen.detail


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(0), ZeroDivisionError()])
def test_a_check_that_fails_anyway_catches_nothing(report, error) -> None:
    def check(ctx, value=True):
        yield holds("p", value, "numeric", "said")
        raise error

    seen = report(check)
    assert not seen.caught and seen.ran and "the check fails without a fault" in seen.detail


def test_a_check_without_a_printed_part_catches_nothing(report) -> None:
    def check(ctx, value=True):
        yield holds("p", value, "numeric", "said", role="reading")

    assert "at least one part with role 'printed'" in report(check).detail


@pytest.mark.parametrize("at", ["always", "under the fault"])
def test_a_missing_extra_is_not_run(report, at) -> None:
    def check(ctx, value=True):
        if at == "always" or not value:
            raise MissingExtra("sympy is needed")
        yield holds("p", value, "numeric", "said")

    seen = report(check)
    assert not seen.caught and not seen.ran and "sympy is needed" in seen.detail


def test_a_missing_extra_is_told_apart_on_the_command_line(tmp_path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from fedtheory.claims import Claim, Fault, holds\n"
        "from fedtheory.core.errors import require\n"
        "def check(ctx, value=True):\n"
        "    require('no_such_package', 'this check')\n"
        "    yield holds('p', value, 'numeric', 'said')\n"
        "def other(ctx, value=True):\n"
        "    yield holds('p', value, 'numeric', 'said')\n"
        "fault = Fault('planted', 'p', {'value': False})\n"
        "CLAIMS = [Claim('X-1', 'toy', 'bound', 's', 's', check, (fault,)), Claim('X-2', 'toy', 'bound', 's', 's', other, (fault,))]\n"
    )
    result = CliRunner().invoke(main, ["selftest", str(file), "--workers", "1", "--fresh"])
    assert result.exit_code == 1, result.output
    assert "not run  X-1: planted [p: the check fails without a fault: MissingExtra: no_such_package" in result.stdout
    assert "MISSED" not in result.stdout
    assert result.stdout.splitlines()[-1] == "planted faults caught: 1 / 1; 1 could not be run"


def test_a_verdict_that_keeps_its_word_catches_nothing(report, monkeypatch) -> None:
    """As 'decide' once did: a refutation that did not reproduce was evidence for the statement."""

    def replay(instance):
        from fractions import Fraction

        from fedtheory.claims.claim import Replay

        x = instance["x"]
        return Replay("x", x, 1.0, Fraction(x), Fraction(1), "fractions", ())

    def check(ctx, value=2.0):
        yield refute("p", replay, {"x": value})

    assert report(check, 0.5, found=True).caught
    monkeypatch.setattr(
        weighing,
        "decide",
        lambda kind, parts, *, clauses=(), analogue=False: "supported" if all(p.holds for p in parts) else "refuted",
    )
    seen = report(check, 0.5, found=True)
    assert not seen.caught and seen.detail == "p: the verdict is supported all the same"


def test_a_fault_of_a_part_that_is_not_there_is_missed(report) -> None:
    seen = report(simple, part="q")
    assert not seen.caught and seen.detail == "q: the check yields no such part"
