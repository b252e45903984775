"""Follow every internal link of the built pages: the page is there, and the place on it.

python docs/check_links.py FOLDER
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag


class Page(HTMLParser):
    """Links of a page, and what can be linked to on it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what the tag has."""
        found = dict(attributes)
        self.places |= {found[name] or "" for name in ("id", "name") if name in found}
        self.links += [found[name] or "" for name in ("href", "src") if name in found]


@cache
def read(path: Path) -> Page:
    """Read a page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def find_broken(folder: Path) -> list[str]:
    """Return a line for every internal link that leads nowhere."""
    broken = []
    for path in sorted(folder.rglob("*.html")):
        for link in read(path).links:
            address, place = urldefrag(link)
            if ":" in address or address.startswith("//"):
                continue
            target = path.parent / unquote(address.partition("?")[0]) if address else path
            if not target.exists():
                broken.append(f"{path.relative_to(folder)}: {link}: there is no such file")
            elif place and target.suffix == ".html" and unquote(place) not in read(target).places:
                broken.append(f"{path.relative_to(folder)}: {link}: there is no such place on the page")
    return broken


if __name__ == "__main__":
    lines = find_broken(Path(sys.argv[1]))
    print("\n".join(lines) or "all internal links lead somewhere")
    sys.exit(bool(lines))
