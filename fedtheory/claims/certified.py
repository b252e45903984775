"""Worst cases over a whole class, for every number of clients, with proofs in exact arithmetic as evidence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims.claim import Part, Role
from fedtheory.claims.parts import proved as by_proof
from fedtheory.core.errors import SolverFailed
from fedtheory.proofs.certificates.lower_bounds import attain, check_witness
from fedtheory.proofs.certificates.upper_bounds import prove
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.facts import confirm
from fedtheory.proofs.function_class import FunctionClass

#: all L-smooth functions with L = 1
SMOOTH = FunctionClass(1, -1)
#: how long a solver may take; the programs here take milliseconds, or (on planted faults) do not end
SECONDS = 1.0


def at_most_on_class(
    name: str,
    algorithm: Any,
    functions: FunctionClass,
    limit: Fraction,
    text: str,
    *,
    role: Role = "printed",
    **options: Any,
) -> Part:
    """Part: the worst case is at most ``limit``; true by a certificate, false by a witness, undecided without either.

    The evidence holds the proof, which is one at the parameters that the text names, and the tightness, the share of the limit that is reached.
    """
    try:
        proof = prove(algorithm, functions, time_limit=SECONDS, **options)
        proved = confirm("certificate", check, dict(proof.data))
    except SolverFailed:
        proof, proved = None, None
    if proof is not None and proved is not None and proved <= limit:
        share = float(proved / limit)
        return by_proof(
            name,
            True,
            f"{text}: at most {float(proved):.6g} for every n >= 2, by multipliers checked in fractions; that is {share:.3f} of the stated "
            f"bound {float(limit):.6g}",
            "exact",
            role,
            scope="the parameters that the text names",
            margin=1 - share,
            data={"proved": float(proved), "limit": float(limit), "tightness": share, "certificate": dict(proof.data)},
        )
    try:
        witness = attain(algorithm, functions, time_limit=SECONDS, **options)
        reached = confirm("witness", check_witness, witness.data)
    except SolverFailed as error:
        return Part(name, None, "exact", f"{text}: neither proved nor disproved ({error})", role=role)
    above = reached > limit
    return Part(
        name,
        False if above else None,
        "exact",
        f"{text}: functions of the class reach {float(reached):.6g}, checked in fractions; the stated bound is {float(limit):.6g}",
        role=role,
        margin=float(1 - reached / limit),
        data={"reached": float(reached), "limit": float(limit), "witness": dict(witness.data)},
    )


def enclosed_on_class(
    name: str,
    algorithm: Algorithm,
    functions: FunctionClass,
    value: Fraction,
    accuracy: Fraction,
    text: str,
    **options: Any,
) -> tuple[Part, Fraction | None]:
    """Part: the exact worst case is ``value`` up to the relative ``accuracy``, bounded on both sides; and the proved upper bound."""
    try:
        proof = prove(algorithm, functions, time_limit=SECONDS, **options)
        witness = attain(algorithm, functions, time_limit=SECONDS, **options)
        above = confirm("certificate", check, dict(proof.data))
        below = confirm("witness", check_witness, witness.data)
    except SolverFailed as error:
        return Part(name, None, "exact", f"{text}: could not be enclosed ({error})"), None
    inside = value * (1 - accuracy) <= below and above <= value * (1 + accuracy)
    outside = above < value * (1 - accuracy) or below > value * (1 + accuracy)
    off = max(abs(float(above / value - 1)), abs(float(below / value - 1)))
    part = Part(
        name,
        True if inside else False if outside else None,
        "exact",
        f"{text}: at most {float(above):.6f} for every n >= 2 and at least {float(below):.6f} for every even n (a certificate and a "
        f"witness, checked in fractions); "
        f"stated {float(value):.4f}",
        margin=1 - off / float(accuracy),
        data={
            "above": float(above),
            "below": float(below),
            "certificate": dict(proof.data),
            "witness": dict(witness.data),
        },
    )
    return part, above
