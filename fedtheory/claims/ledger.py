"""How a ledger keeps random draws from making its words.

`hold_parts` leaves as evidence what draws alone do not explain. Let ``m`` claims of a ledger rest on draws, and ``level = LEDGER / m``. A
part that holds counts where its chance is at most the level; those that fail, by Holm's rule over the ``k`` printed parts of the claim
that have a chance: the smallest chance is held against ``level / k``, the next one against ``level / (k - 1)``, until one is above;
others are undecided. A word for a statement takes all of its parts, so draws alone bring it about only by a part whose statement is false,
with a chance of at most ``level``; a word against it takes one part of ``k``, which Holm's rule gives with a
chance of at most ``level``. Of a statement only one of both words can be wrong. So the chance that draws alone make one or more words of
a ledger wrong is at most ``m level = LEDGER``, however claims depend on each other (they share runs). The level is known before
anything runs, and a verdict does not depend on what else was asked for.

Experiments whose runs are shared and kept have few seeds, and no test finds a difference at such a level with five of them. Their claims are held
by the same rule at `WITH_FEW_SEEDS`, in both directions: a word for a statement, and one against it, is each wrong with at most this chance. What
would not stand at the ledger's level is listed in the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fedtheory.claims.claim import Claim, Part

LEDGER = 0.01  #: the chance that draws alone make one or more words of a ledger wrong
WITH_FEW_SEEDS = 0.05  #: the level of a claim whose runs are shared and kept
UNDECIDED = "undecided, since draws alone make it seem"  #: what the text of a part says that is not decided for that


def level_of(claims: Iterable[Claim]) -> float:
    """The level at which each claim of this ledger that rests on draws is judged."""
    return LEDGER / max(1, sum(claim.rests_on_draws for claim in claims))


def hold_parts(parts: Sequence[Part], level: float) -> list[Part]:
    """Return all parts of a claim, those undecided that draws alone decide so with a chance above the level."""
    against = _levels_against(parts, level)
    return [_hold(part, level if part.holds else against[i]) for i, part in enumerate(parts)]


def _levels_against(parts: Sequence[Part], level: float) -> list[float]:
    """The level of each part, if it fails, by Holm's rule; of one that is no printed part with a chance, the strictest."""
    drawn = [i for i, part in enumerate(parts) if part.chance is not None and part.role == "printed"]
    strictest = level / max(1, len(drawn))
    levels = [strictest] * len(parts)
    failing = [
        (part.chance.value, i) for i, part in enumerate(parts) if i in drawn and part.chance and part.holds is False
    ]
    for rank, (chance, i) in enumerate(sorted(failing)):
        levels[i] = level / (len(drawn) - rank)
        if chance > levels[i]:
            break
    return levels


def list_weak(parts: Sequence[Part], level: float) -> list[str]:
    """Return the parts that are decided and would not be at this level, each with its chance."""
    stricter = hold_parts(parts, level)
    pairs = zip(parts, stricter, strict=True)
    return [f"{part.name} ({part.chance})" for part, held in pairs if part.holds is not None and held.holds is None]


def list_contrary(seen: Sequence[Part], held: Sequence[Part]) -> list[str]:
    """Return the printed parts that fail at `WITH_FEW_SEEDS` as they were seen, and are undecided as they were held; each with its chance."""
    return [
        f"{part.name} ({part.chance})"
        for part, kept in zip(seen, held, strict=True)
        if part.role == "printed" and part.holds is False and kept.holds is None
        if part.chance is not None and part.chance.value <= WITH_FEW_SEEDS
    ]


def _hold(part: Part, level: float) -> Part:
    if part.chance is None or part.holds is None or part.role == "reading" or part.chance.value <= level:
        return part
    seen = "holds" if part.holds else "fails"
    said = f"; {UNDECIDED} that it {seen} with a chance of {part.chance}, and {level:.2g} is allowed here"
    return replace(part, holds=None, text=part.text + said, margin=None)
