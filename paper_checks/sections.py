"""A paper's ledger is a folder with a module a section, each with its ``CLAIMS``; here they are read in the paper's order.

Modules are named `section_4_1_words`, `appendix_b_2_words` and `supplement_words`, with a letter before the words where a section has several
(`section_4_2_a_...`); statements that the paper does not make are in `z_ours_words`. Other modules of the folder have no claims.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType

from fedtheory.claims.claim import Claim

#: how names of modules with claims begin, in the order in which papers have them
KINDS = ("section", "appendix", "supplement", "z_ours")


def list_sections(package: str, path: Iterable[str]) -> list[ModuleType]:
    """The modules of a folder that have claims, in the paper's order."""
    names = sorted(module.name for module in pkgutil.iter_modules(path))
    ordered = [name for kind in KINDS for name in names if name.startswith(f"{kind}_")]
    return [importlib.import_module(f"{package}.{name}") for name in ordered]


def claims_in_order(package: str, path: Iterable[str]) -> list[Claim]:
    """All claims of a folder, in the paper's order."""
    return [claim for section in list_sections(package, path) for claim in section.CLAIMS]
