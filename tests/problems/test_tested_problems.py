"""Accuracies of NumPy's models on samples that no client holds."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.running.families import build_problem
from problems.mlp import perceptron
from problems.with_test_set import WithTestSet


def instance(family: str = "digits-mlp", **options) -> WithTestSet:
    return build_problem(
        family, clients=4, split="classes", classes_per_client=3, test="own", tests_a_client=12, **options
    )


@pytest.mark.parametrize("family", ["digits-mlp", "digits-softmax"])
def test_accuracies_against_one_sample_at_a_time(family) -> None:
    f = instance(family)
    x = np.random.default_rng(0).standard_normal((2, f.n, f.d))
    guess = np.array(
        [[[int(np.argmax(f.inner.logits(one, a[None])[..., 0, :])) for a in f.features] for one in row] for row in x]
    )
    np.testing.assert_allclose(f.test_accuracy(x), (guess == f.labels).mean(axis=-1))
    own = [[(guess[s, i] == f.labels)[f.of_client[i]].mean() for i in range(f.n)] for s in range(2)]
    np.testing.assert_allclose(f.personal_accuracy(x), own)
    assert f.test_accuracy(x[:, :1]).shape == (2, 1) and f.personal_accuracy(x[:, :1]).shape == (2, 4)


def test_training_and_testing_samples_are_apart_and_the_rest_is_the_models() -> None:
    f, alone = (build_problem("digits-softmax", clients=4, split="iid", test=test) for test in ("own", "none"))
    assert f.n_samples.sum() + len(f.labels) == alone.n_samples.sum() == 1797
    some = Clients(4, np.array([2, 3]))
    x = np.random.default_rng(0).standard_normal((1, f.d))
    np.testing.assert_array_equal(f.take(some).grad(x), f.grad(x)[2:])
    np.testing.assert_array_equal(f.slice(1, 3).value(x), f.value(x)[1:3])
    assert f.take(some).test_accuracy(x) == f.test_accuracy(x) and f.name.endswith("4 clients")


def test_weight_decay_is_part_of_every_client() -> None:
    plain, decayed = instance(), instance(l2=0.3)
    x = np.random.default_rng(1).standard_normal((4, plain.d))
    np.testing.assert_allclose(decayed.value(x) - plain.value(x), 0.15 * (x**2).sum(axis=-1))
    np.testing.assert_allclose(decayed.grad(x) - plain.grad(x), 0.3 * x)
    draw = np.arange(6).reshape(1, 6).repeat(4, axis=0)
    np.testing.assert_allclose(decayed.sample_grad(x, draw) - plain.sample_grad(x, draw), 0.3 * x)


def test_what_cannot_be_tested_is_refused() -> None:
    with pytest.raises(NotAvailable, match="two classes and no scores"):
        build_problem("breast-cancer", clients=4, test="own")
    with pytest.raises(InvalidInput, match="--tests-a-client 5 needs --test own"):
        build_problem("digits-mlp", clients=4, tests_a_client=5)
    with pytest.raises(InvalidInput, match="none or own, got 'both'"):
        build_problem("digits-mlp", clients=4, test="both")
    f = instance()
    with pytest.raises(InvalidInput, match="ask the problem of all clients"):
        f.take(Clients(4, np.array([0]))).personal_accuracy(f.initial(0)[None])
    with pytest.raises(InvalidInput, match="weight decay l2 >= 0"):
        perceptron([], 3, l2=-1.0)
