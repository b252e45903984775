"""What every listed method owes to arrays: library, shape and dtype are kept, inputs stay as they were, equal seeds give equal bits.

A method joins the contracts by standing in `fedtheory.algorithms.ALGORITHMS`, an instance by standing in `helpers.PROBLEMS`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from helpers import (
    CASES,
    LIBRARIES,
    OTHERS,
    PROBLEMS,
    ROUNDS,
    Case,
    Library,
    assert_same,
    close,
    fields,
    for_every_method,
    play,
    rows,
    rows_beside_numpy,
    rows_on_libraries,
)

from fedtheory.algorithms import ALGORITHMS
from fedtheory.core.arrays import to_numpy
from fedtheory.core.problem import move_to_library
from fedtheory.core.randomness import Key
from fedtheory.core.states import arrays_of


@for_every_method(rows_on_libraries())
def test_library_shape_dtype_inputs_and_numbers(case: Case, xp: Library) -> None:
    """Arrays stay in their library with shape and dtype, inputs stay as they were, numbers are NumPy's."""
    f, x0 = xp.problem(case.problem), xp.array(case.x0)
    algorithm = case.algorithm()
    before = {k.name: to_numpy(getattr(f, k.name)).copy() for k in dataclasses.fields(f) if _array(getattr(f, k.name))}
    state = xp.state(algorithm.init(f, x0))
    for r in range(ROUNDS):
        old, kept = state, {name: value.copy() for name, value in fields(state).items()}
        new = algorithm.round(f, old, None, Key(0, r))
        assert_same(old, dataclasses.replace(old, **kept))
        assert type(new) is type(old)
        assert fields(new).keys() == fields(old).keys()
        for name, value in arrays_of(new).items():
            first = getattr(old, name)
            assert type(value) is type(x0), name
            assert value.dtype == x0.dtype and device(value) == device(x0), name
            assert tuple(value.shape) == tuple(first.shape), name
            close(value, getattr(case.played[r + 1], name), case.tolerance, name)
        state = xp.state(new)
    for name, value in before.items():
        np.testing.assert_array_equal(to_numpy(getattr(f, name)), value, err_msg=name)
    np.testing.assert_array_equal(to_numpy(x0), case.x0)


def _array(value: Any) -> bool:
    return hasattr(value, "shape") and value.ndim > 0


@for_every_method(
    [
        (case, xp)
        for case, xp in rows_on_libraries(lambda c: c.kind != "exact" or hasattr(c.problem, "prox"))
        if not xp.frozen
    ]
)
def test_single_precision_is_kept(case: Case, xp: Library) -> None:
    """float32 in, float32 out; the numbers are those of float64 to its precision."""
    single = array_namespace(xp.example).float32
    example = array_namespace(xp.example).astype(xp.example, single)
    f = move_to_library(case.problem, example)
    x0 = array_namespace(example).astype(xp.array(case.x0), single)
    for state, double in zip(play(case.algorithm(), f, x0, 2), case.played[:3], strict=True):
        for name, value in arrays_of(state).items():
            assert value.dtype == single, name
            close(to_numpy(value).astype(float), getattr(double, name), 1e-4, name)  # 1e3 times float32's 1e-7


@for_every_method(rows())
def test_same_seed_same_numbers(case: Case) -> None:
    assert_same(play(case.algorithm(), case.problem, case.x0, ROUNDS)[-1], case.played[-1])


# ---- the list and the matrix --------------------------------------------------------------------------------------


def test_names_are_distinct_and_sources_given() -> None:
    names = [entry.name for entry in ALGORITHMS]
    assert len(set(names)) == len(names)
    assert all(entry.source and entry.name == entry.name.lower() for entry in ALGORITHMS)
    assert {case.problem_name for case in CASES} == set(PROBLEMS)
    assert {case.entry.name for case in CASES} == set(names)


def test_all_methods_and_all_problems_meet_all_libraries() -> None:
    """The contracts thin libraries, not coverage: every pair of a method and a problem with NumPy, every library in turn."""
    variants = ("a", "b", "c", "d")
    assert {(case, library.name) for case, library in rows_on_libraries()} >= {(case, "numpy") for case in CASES}
    for place in (lambda case: case.entry.name, lambda case: case.problem_name):
        places = {place(case) for case in CASES}
        met = {(place(case), library.name) for case, library in rows_on_libraries()}
        assert met == {(p, library.name) for p in places for library in LIBRARIES}
        some = rows_beside_numpy(lambda case: case.entry.partial, variants)
        partial = {place(case) for case, *_ in some}
        assert {(place(case), library.name, variant) for case, library, variant in some} == {
            (p, library.name, variant) for p in partial for library in OTHERS for variant in variants
        }
