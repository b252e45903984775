"""Proofs that are shown, and written for others, by several callers: each is checked once in a process, by its content.

Verdicts do not rest on this module: what decides them calls the checker.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from fedtheory.proofs.checker.check import Proved, check_term
from fedtheory.proofs.checker.derivations import check_derivation
from fedtheory.proofs.checker.polynomials import Polynomial
from fedtheory.proofs.checker.ranges import CheckedRegion, Range
from fedtheory.proofs.checker.reading import StepCount

_terms: dict[bytes, Proved] = {}
_regions: dict[bytes, tuple[tuple[Range, ...], tuple[Polynomial, ...]]] = {}


def recheck_derivation(data: Mapping[str, Any]) -> CheckedRegion:
    """`check_derivation`, unless the same derivation was accepted before.

    Raises
    ------
    Refused
        A step of the proof fails.
    NotChecked
        It is malformed, or takes too many steps.
    """
    digest = _digest(data)
    if digest not in _regions:
        region = check_derivation(dict(data))
        _regions[digest] = tuple(region.ranges), tuple(region.factors)
        return region
    return CheckedRegion(*_regions[digest], StepCount())


def recheck_term(data: Mapping[str, Any]) -> Proved:
    """`check_term`, unless the same term was accepted before.

    Raises
    ------
    TermRefused
        It does not prove its claims.
    """
    digest = _digest(data)
    if digest not in _terms:
        _terms[digest] = check_term(data)
    return _terms[digest]


def keep_checked(data: Mapping[str, Any], proved: Proved) -> None:
    """Keep what `check_term` said of a term."""
    _terms[_digest(data)] = proved


def _digest(data: Mapping[str, Any]) -> bytes:
    return hashlib.blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=16).digest()
