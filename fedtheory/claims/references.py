"""Finding claims.

They are addressed by (source, id): the source is a module name or a file with a list ``CLAIMS``. Papers register their module in the entry-point
group ``fedtheory.papers``, so this package imports none of them.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from fedtheory.claims.claim import Claim
from fedtheory.claims.publication import Publication
from fedtheory.core.errors import FedtheoryError, InvalidInput, describe
from fedtheory.tools.beside import name_here
from fedtheory.tools.loading import load_file

PAPERS_GROUP = "fedtheory.papers"


@dataclass(frozen=True)
class Reference:
    """Where a claim is: a module name or a path to a file, and the claim's id."""

    source: str
    id: str


@cache
def find_papers() -> dict[str, str]:
    """Known papers: name to module."""
    return {entry.name: name_here(entry.value) for entry in sorted(metadata.entry_points(group=PAPERS_GROUP))}


@cache
def load_claims(source: str) -> dict[str, Claim]:
    """Return the claims of a module or file, by id.

    Raises
    ------
    InvalidInput
        The module or file is missing, raises while it is read, or has no list ``CLAIMS`` of claims with distinct ids.
    """
    found = getattr(_open(source), "CLAIMS", None)
    if not isinstance(found, list | tuple) or not all(isinstance(c, Claim) for c in found) or not found:
        raise InvalidInput(
            f"{source} must define CLAIMS, a list of at least one fedtheory.claims.Claim; {_what_is_there(found)}. "
            "'fedtheory new FILE.py' writes an example"
        )
    by_id = {claim.id: claim for claim in found}
    if len(by_id) != len(found):
        twice = sorted({c.id for c in found if sum(d.id == c.id for d in found) > 1})
        raise InvalidInput(f"{source} uses the ids {', '.join(twice)} more than once")
    return by_id


def _what_is_there(found: Any) -> str:
    """Say what a file has in the place of claims."""
    if found is None:
        return "it defines none"
    if not isinstance(found, list | tuple):
        return f"its CLAIMS is of type {type(found).__name__}"
    others = [type(entry).__name__ for entry in found if not isinstance(entry, Claim)]
    return f"in its CLAIMS is a value of type {others[0]}" if others else "its CLAIMS is empty"


def find_publication(source: str) -> Publication | None:
    """Return the paper that the claims of a module or file are of, its ``PAPER``; None where it names none, or has a name alone there."""
    found = getattr(_open(source), "PAPER", None)
    return found if isinstance(found, Publication) else None


@cache
def _open(source: str) -> ModuleType:
    return load_file(Path(source)) if source.endswith(".py") else _load_module(source)


def _load_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except FedtheoryError:
        raise
    except Exception as error:
        raise InvalidInput(f"the module {name} cannot be imported: {describe(error)}") from error


def select(targets: Sequence[str]) -> list[Reference]:
    """Claims for targets that are papers, claim ids or files; all papers for none. Of a file beside ids of its claims, these alone.

    Raises
    ------
    InvalidInput
        A target is unknown; the message names the nearest known ones.
    """
    known = find_papers()
    chosen: dict[Reference, None] = {}
    of_files = {target: _list_claims(str(Path(target).resolve())) for target in targets if target.endswith(".py")}
    named = {target.upper() for target in targets}
    for target in targets or known:
        within = [r for claims in of_files.values() for r in claims if r.id.upper() == target.upper()]
        if target in of_files:
            asked = [r for r in of_files[target] if r.id.upper() in named]
            references = asked or of_files[target]
        elif within:
            references = within
        elif target.lower() in known:
            source = known[target.lower()]
            references = _list_claims(source)
        else:
            references = _find_id(target.upper(), known)
            if not references:
                raise InvalidInput(_unknown(target, known, [r.id for claims in of_files.values() for r in claims]))
        chosen.update(dict.fromkeys(references))
    sources: dict[str, str] = {}
    for reference in chosen:
        if sources.setdefault(reference.id, reference.source) != reference.source:
            raise InvalidInput(
                f"the id {reference.id} is used by {sources[reference.id]} and by {reference.source}; check them one at a time"
            )
    return list(chosen)


def may_have(paper: str, id: str) -> bool:
    """Whether an id, or its beginning, looks like one of a paper's, by the paper's name.

    >>> may_have("a-fedpd", "AFEDPD-T1"), may_have("literature", "LIT-"), may_have("fedslr", "FEDPD-T1")
    (True, True, False)
    """
    return re.sub(r"[^A-Z0-9]", "", paper.upper()).startswith(id.upper().partition("-")[0])


def _find_id(id: str, known: Mapping[str, str]) -> list[Reference]:
    """Claims of an id: of the paper that it is named after, where that has it, since others take seconds to read; else of all papers."""
    likely = [source for name, source in known.items() if may_have(name, id)]
    for sources in (likely, known.values()):
        found = [Reference(source, own) for source in sources for own in load_claims(source) if own.upper() == id]
        if found:
            return found
    return []


def _list_claims(source: str) -> list[Reference]:
    return [Reference(source, id) for id in load_claims(source)]


def _unknown(target: str, known: dict[str, str], own: Sequence[str] = ()) -> str:
    if Path(target).exists():
        kind = "a folder" if Path(target).is_dir() else "a file"
        return f"{target} is {kind}; expected a claim, a paper, or a Python file of claims, FILE.py ('fedtheory new FILE.py' writes one)"
    ids = [*own, *(id for source in known.values() for id in load_claims(source))]
    upper = {id.upper(): id for id in ids}
    near = [upper[found] for found in difflib.get_close_matches(target.upper(), upper, n=3, cutoff=0.5)]
    near += difflib.get_close_matches(target.lower(), known, n=2, cutoff=0.5)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"unknown claim, paper or file {target!r}{hint} ('fedtheory list' shows all)"
