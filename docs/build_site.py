"""Builds the documentation as a site with Zensical, strictly: a link that leads nowhere is an error.

    make site                           # writes build/site-source/site
    python -m docs.build_site --serve   # shows the site, and renews it after changes of build/site-source

The pages are copied to build/site-source first. The guides of contributors (ARCHITECTURE.md, ...) are
where contributors look for them; the site shows them below `project/`, with links rewritten. A link to any other file
of the repository becomes plain text, because the site has no address of the repository.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
    "tests/README.md": "project/tests.md",
    "bench/README.md": "project/benchmarks.md",
    "conformance/README.md": "project/conformance.md",
}
"""Files of the repository, and their places on the site."""
SHOWN = (".md", ".png", ".svg", ".webp")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"(^```.*?^```$)", re.M | re.S)


def main(arguments: list[str]) -> int:
    """Write the sources of the site, and build or serve it."""
    source = ROOT / "build" / "site-source"
    write_source(source)
    command = ["serve"] if "--serve" in arguments else ["build", "--strict"]
    return subprocess.run([sys.executable, "-m", "zensical", *command, "-f", "mkdocs.yml"], cwd=source).returncode


def write_source(folder: Path) -> None:
    """Write the pages and the settings of the site into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in DOCS.rglob("*"):
        if path.suffix in SHOWN:
            place = path.relative_to(DOCS).as_posix()
            _write(folder / "pages" / place, path, f"docs/{place}", place)
    for guide, place in GUIDES.items():
        _write(folder / "pages" / place, ROOT / guide, guide, place)
    settings = (DOCS / "site.yml").read_text(encoding="utf-8")
    (folder / "mkdocs.yml").write_text(re.sub(r"^( *)- (\w+): \[\]$", _filled, settings, flags=re.M), encoding="utf-8")


def _write(target: Path, path: Path, source: str, place: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".md":
        target.write_text(with_site_links(path.read_text(encoding="utf-8"), source, place), encoding="utf-8")
    else:
        target.write_bytes(path.read_bytes())


def _filled(found: re.Match[str]) -> str:
    """The list of a folder's pages, the index first."""
    indent, title = found.groups()
    names = sorted([path.name for path in (DOCS / title.lower()).glob("*.md")])
    names.sort(key=lambda name: name != "index.md")
    return "\n".join([f"{indent}- {title}:", *[f"{indent}    - {title.lower()}/{name}" for name in names]])


def with_site_links(markdown: str, source: str, place: str) -> str:
    """The text of a page at `place` of the site, from the file `source` of the repository."""

    def rewritten(found: re.Match[str]) -> str:
        picture, text, link, anchor = found.groups()
        if "://" in link:
            return found.group(0)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        shown = target.removeprefix("docs/") if target.startswith("docs/") and target.endswith(SHOWN) else ""
        goal = GUIDES.get(target, shown)
        if not goal:
            return text
        return f"{picture}[{text}]({posixpath.relpath(goal, posixpath.dirname(place) or '.')}{anchor or ''})"

    return "".join([one if one.startswith("```") else _LINK.sub(rewritten, one) for one in _CODE.split(markdown)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
