"""A refutation in words: what was measured against what is printed, and what the numbers of its instance are."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from fedtheory.claims.claim import Claim
from fedtheory.claims.referee import list_instance
from fedtheory.core.errors import InvalidInput

#: ratios from which they are told as a factor, and below it in per cent
LEAST_FACTOR = 2
_FAILS = {
    "printed": "the statement as printed fails",
    "repaired": "the corrected statement fails",
    "reading": "the statement fails in another reading (which does not decide the verdict)",
}
#: what is stored of an instance that is a sum of quadratics on the line
_ON_THE_LINE = {
    "curvature": "a_i, the curvature of client i, whose function is f_i(x) = a_i (x - c_i)^2/2",
    "centre": "c_i, the minimiser of client i",
    "start": "x^0, where the run starts",
    "parameters": "parameters of the statement, by their names in it",
}
#: what is stored of an instance that an engine found for a statement that is data
_FOUND = {
    "statement": "which kind of statement the instance is of",
    "kind": "what the functions are; vectors or numbers where the statement speaks of none",
    "point": "parameters of the statement, by their names in it",
    "mean": "coordinates of the statement's vectors, in the order in which it introduces them: what clients have in common",
    "deviation": "coordinates of what two clients differ by: one has mean + deviation, the other mean - deviation",
    "values": "values of the functions at the points where the statement evaluates them, in its order",
    "curvatures": "curvatures of the functions, which are quadratics on the line",
    "offset": "what is added to all values of the functions",
    "left": "the left side of what is claimed less its right side, above zero where the claim fails",
    "claim": "which claim of the theorem fails, counted from 0",
    "rounds": "for which rounds it fails",
    "format": "of which format the stored functions are",
    "question": "method, class of functions, measure and rounds of which the statement speaks, with numbers",
    "claimed": "what the statement claims there",
    "reached": "what the method reaches there",
    "start": "the state from which the method starts",
    "clients": "functions by client: points x, gradients g and values f there; a function of the class passes through them",
}


def explain_refutation(counterexample: Mapping[str, Any]) -> str:
    """Return one sentence on a stored counterexample: hypotheses that are met, what is measured, what is printed, and by how much it is exceeded.

    The numbers are those of the independent arithmetic. Where what is printed is not above zero the difference is told, for there is no factor.

    Examples
    --------
    >>> exact = {"measured": "1/6", "bound": "1/8", "arithmetic": "fractions"}
    >>> said = explain_refutation({"what": "f(x^1) - f*", "exact": exact, "assumptions": [], "role": "printed"})
    >>> print(said)
    There are no hypotheses, and the statement as printed fails by 33 %: measured 0.166667 against 0.125 (f(x^1) - f*; in fractions).
    """
    exact = counterexample["exact"]
    measured, bound = (show_in_digits(exact[name]) for name in ("measured", "bound"))
    fails = _FAILS[counterexample.get("role", "printed")]
    excess = describe_excess(exact["measured"], exact["bound"])
    hypotheses = _hypotheses(counterexample["assumptions"])
    seen = f"measured {measured} against {bound} ({counterexample['what']}; in {exact['arithmetic']})"
    return f"{hypotheses}, and {fails}{excess}: {seen}."


def _hypotheses(assumptions: Sequence[Mapping[str, Any]]) -> str:
    """How many hypotheses are met on the instance, and who says so."""
    who = Counter(str(one["by"]) for one in assumptions)
    total, met = len(assumptions), sum(bool(one["met"]) for one in assumptions)
    if not total:
        return "There are no hypotheses"
    if met < total:
        return f"{total - met} of {total} hypotheses are NOT met on the instance"
    said = [by if by == "vouched for" else f"by {by}" for by in who]
    if total == 1:
        return f"The only hypothesis is met on the instance ({said[0]})"
    counted = [text if len(who) == 1 else f"{count} {text}" for text, count in zip(said, who.values(), strict=True)]
    many = "Both" if total == 2 else f"All {total}"
    return f"{many} hypotheses are met on the instance ({', '.join(counted)})"


def describe_excess(measured: Any, bound: Any) -> str:
    """Return by what a number is larger than a bound, as words that follow "fails": a factor, per cent, or the difference from no positive bound.

    Examples
    --------
    >>> print(describe_excess("9/2", "1/2"))
     by a factor of 9
    >>> print(describe_excess("101/100", "1"))
     by 1 %
    >>> print(describe_excess("1/2", "0"))
     by 0.5
    """
    above, limit = read_exactly(measured), read_exactly(bound)
    if above is None or limit is None or above <= limit:
        return ""
    if limit <= 0:
        return f" by {show_in_digits(above - limit)}"
    ratio = above / limit
    if ratio >= LEAST_FACTOR:
        return f" by a factor of {show_in_digits(ratio, 3)}"
    return f" by {show_in_digits(100 * (ratio - 1), 2)} %"


def read_exactly(value: Any) -> Fraction | None:
    """Return a number that is stored as text, None where it is no finite number."""
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def show_in_digits(value: Any, digits: int = 6) -> str:
    """Return a number in so many digits, however large or small it is; what is no number as it stands.

    Examples
    --------
    >>> print(show_in_digits("1/3"), show_in_digits("2"), show_in_digits("1e400"))
    0.333333 2 1.00000e+400
    """
    number = value if isinstance(value, Fraction) else read_exactly(value)
    if number is None:
        return str(value)
    if number == 0 or Fraction(1, 10**300) < abs(number) < 10**300:
        return f"{float(number):.{digits}g}"
    with localcontext() as context:
        context.prec = digits
        rounded = Decimal(number.numerator) / Decimal(number.denominator)
    return f"{rounded:.{digits}g}"


def describe_fields(instance: Mapping[str, Any], own: Mapping[str, str]) -> dict[str, str]:
    """Return what each field of an instance is, in the paper's symbols, by its name as pages show it.

    ``own``: what the claim says of its fields. What engines store has one meaning in all claims. A field of which neither says
    anything is left out.
    """
    known = _FOUND if "data" in instance else _ON_THE_LINE if "parameters" in instance else {}
    names = [name for name, _ in list_instance(instance)]
    in_point = {name: "a parameter of the statement" for name in names if "data" in instance}
    told = in_point | known | dict(own)
    return {name: told[name] for name in names if name in told}


def with_fields(claims: Sequence[Claim], fields: Mapping[str, Mapping[str, str]]) -> list[Claim]:
    """Return claims that say what the fields of their instances are; ``fields``: by a claim's id, a meaning by the field's name.

    Raises
    ------
    InvalidInput
        An id is none of these claims'.
    """
    if unknown := [id for id in fields if id not in {claim.id for claim in claims}]:
        raise InvalidInput(f"fields of instances are told of {unknown[0]!r}, which is none of the claims")
    return [
        dataclasses.replace(claim, fields=dict(fields[claim.id])) if claim.id in fields else claim for claim in claims
    ]
