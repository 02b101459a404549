"""Owns the facts that a package index shows: the addresses of the project, and the README without relative links.

A package index shows the README without the files beside it. One setting decides where the links lead: `address` in
`[tool.hatch.metadata.hooks.custom]` of pyproject.toml. With an address, links lead to the files of the released version
there. Without one, the words of a link stay, and pictures are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?!https?:|#)(?P<place>[^)]*)\)")
_PAGES = {"Documentation": "docs/index.md", "Changes": "CHANGELOG.md"}


class CustomMetadataHook(MetadataHookInterface):
    """Called by hatchling for each build."""

    def update(self, metadata: dict[str, Any]) -> None:
        address = str(self.config.get("address", ""))
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": readme(text, address, metadata["version"]),
        }
        metadata["urls"] = urls(address)


def readme(text: str, address: str, version: str) -> str:
    """The README for a package index."""

    def absolute(link: re.Match[str]) -> str:
        if not address:
            return "" if link["picture"] else link["words"]
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['words']}]({address}/{kind}/v{version}/{link['place']})"

    return _LINK.sub(absolute, text)


def urls(address: str) -> dict[str, str]:
    """The addresses of the project, by name."""
    if not address:
        return {}
    pages = {name: f"{address}/blob/main/{place}" for name, place in _PAGES.items()}
    return {"Source": address, **pages, "Issues": f"{address}/issues"}
