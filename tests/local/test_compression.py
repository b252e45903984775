"""Compressors: what they keep, their means and variances, their addresses, and what is sent."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers import WRITABLE, as_parameters, close, draw

from fedtheory.algorithms import EF21, Diana, ErrorFeedback, FedPAQ
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import Key
from fedtheory.local import GradientSteps, Quantised, RandK, TopK

D = 6
RANDOM = {"rand-k": RandK(1 / 3), "quantised": Quantised(2), "both": Quantised(2, 1 / 3)}


def test_the_largest_coordinates_are_kept() -> None:
    v = np.array([[1.0, -3.0, 2.0, 0.0], [0.1, 0.2, -0.3, 0.25]])
    np.testing.assert_array_equal(TopK(0.5)(v, None, Key(0, 0), None), [[0, -3, 2, 0], [0, 0, -0.3, 0.25]])
    np.testing.assert_array_equal(TopK(0.01)(v, None, Key(0, 0), None), [[0, -3, 0, 0], [0, 0, -0.3, 0]])


@pytest.mark.parametrize("compressor", [TopK(1), RandK(1), RandK(1, scaled=False), TopK(0.95)])
def test_all_coordinates_are_the_vector_itself(compressor) -> None:
    v = draw((3, 4))
    assert compressor(v, None, Key(0, 0), None) is v
    assert (compressor.omega(4), compressor.delta(4), compressor.sends(4)) == (0, 1, 1)


@pytest.mark.parametrize("compressor", [TopK(0.5), RandK(0.5, scaled=False)])
def test_contractive_compressors_contract(compressor) -> None:
    """Top-k every time, drawn coordinates on average: 4 standard deviations are allowed for."""
    v = draw((4000, D))
    gone = ((compressor(v, None, Key(3, 0), None) - v) ** 2).sum(axis=-1) / (v**2).sum(axis=-1)
    most = 1 - compressor.delta(D)
    if isinstance(compressor, TopK):
        assert gone.max() <= most
    else:
        assert gone.mean() == pytest.approx(most, abs=4 * gone.std() / math.sqrt(len(gone)))


@pytest.mark.parametrize("name", RANDOM)
def test_unbiased_compressors_have_their_mean_and_variance(name) -> None:
    """4000 draws of one vector, by as many clients: mean and variance within four standard deviations."""
    compressor, v, many = RANDOM[name], draw((1, D), seed=1), 4000
    sent = compressor(np.repeat(v, many, axis=0), None, Key(5, 0), None)
    assert np.all(np.abs(sent.mean(axis=0) - v[0]) <= 4 * sent.std(axis=0) / math.sqrt(many))
    error = ((sent - v) ** 2).sum(axis=-1) / (v**2).sum()
    assert error.mean() <= compressor.omega(D) + 4 * error.std() / math.sqrt(many)
    if name == "rand-k":  # exactly, for every vector
        assert error.mean() == pytest.approx(compressor.omega(D), abs=4 * error.std() / math.sqrt(many))


@pytest.mark.parametrize("name", RANDOM)
def test_a_clients_draws_are_its_own(name) -> None:
    """They depend neither on who else takes part, nor on draws for samples; another round draws others."""
    compressor, v = RANDOM[name], draw((5, D))
    whole = compressor(v, None, Key(1, 2), None)
    some = Clients(5, np.array([4, 1]))
    np.testing.assert_array_equal(compressor(v[[4, 1]], None, Key(1, 2), some), whole[[4, 1]])
    rows = compressor(v, None, Key(np.array([1, 7]), 2), None)
    np.testing.assert_array_equal(rows[0], whole)
    assert np.any(rows[1] != whole) and np.any(compressor(v, None, Key(1, 3), None) != whole)


@pytest.mark.parametrize("library", as_parameters(WRITABLE))
@pytest.mark.parametrize("compressor", [TopK(0.4), *RANDOM.values()], ids=repr)
def test_all_libraries_send_the_same(compressor, library) -> None:
    v = draw((3, D))
    close(compressor(library.array(v), None, Key(0, 1), None), compressor(v, None, Key(0, 1), None), 1e-15)


def test_zero_is_sent_as_zero() -> None:
    for compressor in (TopK(0.4), *RANDOM.values()):
        np.testing.assert_array_equal(compressor(np.zeros((2, D)), None, Key(0, 0), None), 0)


def test_what_is_sent_is_counted_in_floats_of_32_bits() -> None:
    """Positions of top-k cost ceil(log2 d) bits each; drawn positions cost nothing; quantised coordinates a sign and a level. Words are whole."""
    d = 100
    assert TopK(0.1).sends(d) == pytest.approx((10 + 3) / d)
    assert RandK(0.1).sends(d) == pytest.approx(10 / d)
    assert Quantised(4).sends(d) == pytest.approx((1 + 13) / d)
    assert Quantised(4, 0.1).sends(d) == pytest.approx((1 + 2) / d)


BAD = {
    "nothing": (lambda: TopK(0), "must be one number in"),
    "more than all": (lambda: RandK(1.5), "must be one number in"),
    "an array": (lambda: TopK(np.array([0.5, 0.6])), "must be one number in"),
    "no levels": (lambda: Quantised(0), "levels must be a whole number of at least 1"),
    "EF, unbiased": (lambda: ErrorFeedback(GradientSteps(1, 0.1), RandK(0.5)), "error feedback needs a contractive"),
    "EF21, unbiased, nearly all": (lambda: EF21(0.1, RandK(0.9)), "EF21 needs a contractive compressor"),
    "EF21, quantised": (lambda: EF21(0.1, Quantised(4)), "EF21 needs a contractive compressor"),
    "DIANA, biased": (lambda: Diana(0.1, 0.5, TopK(0.5)), "DIANA needs an unbiased compressor"),
    "DIANA, biased, nearly all": (lambda: Diana(0.1, 0.5, TopK(0.9)), "DIANA needs an unbiased compressor"),
    "FedPAQ, biased": (lambda: FedPAQ(GradientSteps(1, 0.1), RandK(0.5, scaled=False)), "FedPAQ needs an unbiased"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_makes_no_sense_is_refused(name) -> None:
    make, message = BAD[name]
    with pytest.raises(InvalidInput, match=message):
        make()
