"""Derivations of the FedPD ledger: a larger constant passes, a smaller one does not."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from paper_checks.fedpd import spreads

P, U = sympy.symbols("p u", positive=True)


@pytest.mark.parametrize("entry", ["p*u*(1-u)", "0*p", "-p*u", "0.99*p*u*(1+u)", "p*u*(1+u) - p*u**3/100"])
def test_a_smaller_entry_of_lemma_2_is_rejected(entry: str) -> None:
    assert not spreads.entry_follows(sympy.sympify(entry, locals={"p": P, "u": U}), P, U)
    left, right = spreads.both_sides(spreads.APART, entry)
    assert left > right


@pytest.mark.parametrize("entry", ["p*u*(1+u)", "2*p*u", "1.01*p*u*(1+u)", "p*u*(1+u) + u"])
def test_an_entry_as_large_as_the_corrected_one_passes(entry: str) -> None:
    assert spreads.entry_follows(sympy.sympify(entry, locals={"p": P, "u": U}), P, U)
    left, right = spreads.both_sides(spreads.APART, entry)
    assert left <= right


def test_the_counterexample_to_lemma_2_is_exact_and_attains_the_corrected_entry() -> None:
    replay = spreads.replay_l2(spreads.APART)
    assert (replay.exact_measured, replay.exact_bound) == (Fraction(489, 1400), Fraction(309, 1400)) and replay.violated
    assert spreads.both_sides(spreads.APART, "p*u*(1+u)") == (Fraction(489, 1400), Fraction(489, 1400))


@pytest.mark.parametrize("change", [{"eta": "2/5"}, {"slopes": [["1", "-1/2", "-1", "1"], ["1", "1/2", "-1", "1/2"]]}])
def test_an_instance_outside_the_assumptions_of_lemma_2_accuses_nobody(change: dict[str, object]) -> None:
    assert not spreads.replay_l2(spreads.APART | change).admissible
