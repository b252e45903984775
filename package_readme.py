"""What an index of packages shows: README without pictures and links of the repository, which lead nowhere there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def drop_relative_links(text: str) -> str:
    """Drop pictures with a relative address; of such links keep the words."""
    text = re.sub(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*", "", text)
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


class PackageReadme(MetadataHookInterface):
    """Makes the readme of a package when it is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add it."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": drop_relative_links(text)}
