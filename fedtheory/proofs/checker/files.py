"""Proofs in files: which kind one is, whether it proves what it states, and what that is, in lines."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .certificates import CERTIFICATE_FORMAT, check, describe_system
from .check import Proved, check_term
from .derivations import DERIVATION_FORMAT, check_derivation, describe_derivation
from .reading import MOST_STEPS, read_file
from .refusals import NotChecked, Refused
from .terms import TERM_FORMAT

#: the kinds of proofs by their format, and of what each shows only the system
UNCHECKED_OF = {
    CERTIFICATE_FORMAT: "  not checked: that evaluations, hypotheses and objective are those of a method",
    DERIVATION_FORMAT: "  not checked: that evaluations, hypotheses and conclusion are those of a lemma or of a method",
    TERM_FORMAT: "  not checked: that the quantities of derivations are those of a method's round",
}
_EARLIER = "fedtheory certificate 1"


def read_proof(path: Path | str, *formats: str) -> dict[str, Any]:
    """Read a stored proof of one of these formats (of any, where none is named).

    Raises
    ------
    NotChecked
        The file is not there or holds something else; the message is one line.
    """
    data = read_file(path)
    found, wanted = data.get("format"), formats or tuple(UNCHECKED_OF)
    if found == _EARLIER:
        raise NotChecked("it is a certificate of format 1, whose sentence was text that nothing checked; make it anew")
    if found not in wanted:
        raise NotChecked(f"it is not a proof (JSON with format {' or '.join(map(repr, wanted))}) but something else")
    return data


def check_proof(data: dict[str, Any], most_steps: int = MOST_STEPS) -> list[str]:
    """Return what a proof shows, in lines, and what was not looked at.

    Raises
    ------
    Refused
        A step of it fails.
    NotChecked
        It is malformed, or takes too many steps.
    """
    if data["format"] == CERTIFICATE_FORMAT:
        check(data, most_steps)
        lines = describe_system(data)
    elif data["format"] == DERIVATION_FORMAT:
        lines = describe_derivation(data, check_derivation(data, most_steps))
    else:
        lines = describe_term(check_term(data, most_steps=most_steps), data)
    return [*lines, UNCHECKED_OF[data["format"]]]


def describe_term(proved: Proved, data: Mapping[str, Any]) -> list[str]:
    """What a term proves, in lines; of each hypothesis its sentence."""
    grounds = [
        *(f"{name}: {_supposed(data, name)}" for name in proved.given),
        *(f"{name} (a hypothesis on the states)" for name in proved.assumed),
        *(f"{name} (a theorem of the literature)" for name in proved.cited),
    ]
    return [
        f"proof verified, {len(proved.lines)} lines: {'; '.join(proved.claims)}",
        *(f"  given {ground}" for ground in grounds or ["nothing besides the classes of the functions"]),
    ]


def _supposed(data: Mapping[str, Any], name: str) -> str:
    """A hypothesis, or one of a theorem about states inside of a round."""
    own, _, of = name.rpartition(" inside of ")
    return str(_supposed(data["inside"][of]["term"], own) if own else data["given"][name])


def check_named_file() -> None:
    """Check the file that is named."""
    parser = argparse.ArgumentParser(prog="checker", description="Check a stored proof.")
    parser.add_argument("file")
    parser.add_argument("--limit", type=int, default=MOST_STEPS, metavar="STEPS")
    asked = parser.parse_args()
    try:
        lines = check_proof(read_proof(asked.file), asked.limit)
    except Refused as error:
        print(f"refused: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, NotChecked) else 1)
    print(*lines, sep="\n")
