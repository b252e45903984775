"""Which text claims are of."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.core.errors import InvalidInput


@dataclass(frozen=True)
class Publication:
    """A paper as a reader finds it; a file of claims names its own with ``PAPER = Publication(...)``.

    Parameters
    ----------
    title : str
    authors : str ...
        In the paper's order.
    year : int
        Of the text that was read.
    identifier : str
        Such as ``"arXiv:2305.10294v2"`` or ``"doi:10.1109/TSP.2021.3115952"``; pages link to it.
    published : str
        Where it appeared, in words; "" where that is nowhere else.
    read : str
        Which of its versions the claims are of, where the identifier does not say it.

    Raises
    ------
    InvalidInput
        There is no title or no author.

    Examples
    --------
    >>> from fedtheory.claims import Publication
    >>> paper = Publication("On toys", ("A. Author",), 2024, "arXiv:2401.00001v2")
    >>> print(paper)
    A. Author: On toys. 2024, arXiv:2401.00001v2.
    >>> paper.link
    'https://arxiv.org/abs/2401.00001v2'
    >>> print(paper.bibtex.splitlines()[0])
    @misc{author2024,
    """

    title: str
    authors: tuple[str, ...]
    year: int
    identifier: str = ""
    published: str = ""
    read: str = ""

    def __post_init__(self) -> None:
        if not self.title or not self.authors or isinstance(self.authors, str):
            raise InvalidInput(
                f"a publication has a title and a tuple of authors, got the title {self.title!r} and the authors {self.authors!r}"
            )

    @property
    def link(self) -> str:
        """Return the address of an identifier of arXiv or a DOI, otherwise ""."""
        kind, _, number = self.identifier.partition(":")
        return {"arXiv": f"https://arxiv.org/abs/{number}", "doi": f"https://doi.org/{number}"}.get(kind, "")

    @property
    def bibtex(self) -> str:
        """Return an entry for a bibliography; its key is the first author's last name with the year."""
        kind, _, number = self.identifier.partition(":")
        identified = {"arXiv": {"eprint": number, "archivePrefix": "arXiv"}, "doi": {"doi": number}}.get(kind, {})
        fields = {"title": f"{{{self.title}}}", "author": " and ".join(self.authors), "year": str(self.year)}
        fields |= ({"journal": self.published} if self.published else {}) | identified
        fields |= {"note": self.read} if self.read else {}
        key = f"{self.authors[0].split()[-1].lower()}{self.year}"
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        return f"@{'article' if self.published else 'misc'}{{{key},\n{lines}\n}}"

    def __str__(self) -> str:
        names = ", ".join(self.authors)
        rest = [self.published, str(self.year), self.identifier]
        return f"{names}: {self.title}. {', '.join(filter(None, rest))}." + (f" {self.read}" if self.read else "")
