"""A ledger follows its paper: a module a section, statements of the paper apart from ours, and the notation once."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from paper_checks.sections import KINDS, list_sections

PAPERS = ("fedpd", "afedpd", "dualfl", "safari", "fedslr")
NAMES = re.compile(
    r"section(_\d+)+(_[a-z])?_[a-z]\w+|appendix_[a-z](_\d+)*(_[a-z])?_[a-z]\w+|(supplement|z_ours)_[a-z]\w+"
)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_module_with_claims_is_a_section_and_says_which(paper: str) -> None:
    ledger = import_module(f"paper_checks.{paper}")
    sections = list_sections(ledger.__name__, ledger.__path__)
    assert [claim.id for claim in ledger.CLAIMS] == [claim.id for section in sections for claim in section.CLAIMS]
    for section in sections:
        name = section.__name__.rpartition(".")[2]
        assert NAMES.fullmatch(name), f"{name} names no section of the paper"
        begins = "Ours: " if name.startswith("z_ours") else name.partition("_")[0].capitalize()
        assert (section.__doc__ or "").startswith(begins), f"the docstring of {name} begins with {begins!r}"
        assert section.CLAIMS, f"{name} has no claim; what sections share has a plain name"


@pytest.mark.parametrize("paper", PAPERS)
def test_what_the_paper_does_not_say_stands_apart(paper: str) -> None:
    ledger = import_module(f"paper_checks.{paper}")
    for section in list_sections(ledger.__name__, ledger.__path__):
        ours = ".z_ours_" in section.__name__
        wrong = [claim.id for claim in section.CLAIMS if claim.paper.endswith(", derived") != ours]
        assert not wrong, f"{section.__name__} has {', '.join(wrong)}"


@pytest.mark.parametrize("paper", PAPERS)
def test_other_modules_have_no_claims(paper: str) -> None:
    folder = Path(import_module(f"paper_checks.{paper}").__path__[0])
    assert (folder / "notation.py").exists()
    for path in sorted(folder.glob("*.py")):
        if not path.stem.startswith(KINDS) and path.stem != "__init__":
            assert not re.search(r"^CLAIMS\b", path.read_text(), re.MULTILINE), f"{path} has claims and is no section"
