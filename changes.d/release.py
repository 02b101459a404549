"""Gathers the change fragments of this folder into the changelog.

    python changes.d/release.py                  # prints the section that the fragments give
    python changes.d/release.py 0.2.0            # writes the section, sets the version, removes the fragments
    python changes.d/release.py 0.2.0 --date 2026-12-01

The script owns the form of fragments and of changelog sections. It makes no commit and no tag. It
publishes nothing.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("added", "changed", "deprecated", "removed", "fixed", "security")
NAME = re.compile(rf"[a-z0-9]+(-[a-z0-9]+)*\.({'|'.join(KINDS)})\.md")
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?")
VERSION_LINE = re.compile(r'^__version__ = "(.*)"$', re.M)
UNRELEASED = "## Unreleased"
WIDTH = 120


class ReleaseError(Exception):
    """The repository is not ready for this release. The message names the next step."""


@dataclass(frozen=True)
class Fragment:
    """One change: its kind and its text."""

    kind: str
    text: str


def fragment_files(folder: Path) -> list[Path]:
    """Every file that must be a fragment, in the order of the changelog section."""
    others = ("README.md", "release.py")
    files = [path for path in folder.iterdir() if path.is_file() and path.name not in others]
    return sorted(files, key=lambda path: path.name)


def mistakes(name: str, text: str) -> list[str]:
    """What is wrong with the form of a fragment. Empty for a good one."""
    found = []
    if NAME.fullmatch(name) is None:
        found.append(f"the name must be WORDS.KIND.md, KIND one of: {', '.join(KINDS)}")
    if not text.endswith("\n") or text != text.strip() + "\n":
        found.append("the text must begin at once and end with one line break")
    lines = text.strip().splitlines()
    if not lines:
        return [*found, "the text is empty"]
    if any(not line.strip() for line in lines):
        found.append("the text must be one paragraph")
    if lines[0].startswith(("#", "-", "*", "+")):
        found.append("the text must have no heading and no list mark")
    if not lines[0][0].isupper() and lines[0][0] != "`":
        found.append("the text must begin with a capital letter or a backtick")
    if not lines[-1].endswith((".", ".)")):
        found.append("the text must end with a full stop")
    if any(len(line) > WIDTH for line in lines):
        found.append(f"a line has more than {WIDTH} characters")
    return found


def read_fragments(folder: Path) -> list[Fragment]:
    """All fragments, sorted by kind and name. A malformed one is a ReleaseError."""
    out = []
    for path in fragment_files(folder):
        text = path.read_text(encoding="utf-8")
        wrong = mistakes(path.name, text)
        if wrong:
            raise ReleaseError(f"{path.name}: " + "; ".join(wrong))
        out.append(Fragment(path.name.split(".")[1], text.strip()))
    return sorted(out, key=lambda fragment: KINDS.index(fragment.kind))


def section_body(fragments: list[Fragment]) -> str:
    """The text below the heading of a section: one list for each kind."""
    blocks = []
    for kind in KINDS:
        items = ["- " + "\n  ".join(one.text.splitlines()) for one in fragments if one.kind == kind]
        if items:
            blocks.append(f"### {kind.capitalize()}\n\n" + "\n".join(items) + "\n")
    return "\n".join(blocks)


def with_section(changelog: str, version: str, date: str, body: str) -> str:
    """The changelog with a section for `version` on top. An "Unreleased" section becomes the beginning of it."""
    if re.search(rf"^## {re.escape(version)} ", changelog, re.M):
        raise ReleaseError(f"CHANGELOG.md has a section for {version} already")
    head, mark, rest = changelog.partition(UNRELEASED + "\n")
    heading = f"## {version} ({date})"
    if mark:
        present, next_section, older = rest.partition("\n## ")
        texts = [text for text in (present.strip(), body.strip()) if text]
        if not texts:
            raise ReleaseError("there is nothing to release: no fragment, and the section Unreleased is empty")
        return f"{head}{heading}\n\n" + "\n\n".join(texts) + "\n" + next_section + older
    if not body:
        raise ReleaseError("there is nothing to release: changes.d has no fragment")
    head, first, older = changelog.partition("\n## ")
    return f"{head.rstrip()}\n\n{heading}\n\n{body.strip()}\n" + ("\n## " + older if first else "")


def order(version: str) -> tuple[int, int, int, tuple[str, int]]:
    """The place of a version among all versions. A pre-release (0.2.0rc1) comes before its release."""
    found = VERSION.fullmatch(version)
    if found is None:
        raise ReleaseError(f"{version!r} is not a version: write MAJOR.MINOR.PATCH, or MAJOR.MINOR.PATCHrc1")
    major, minor, patch, stage, number = found.groups()
    return int(major), int(minor), int(patch), (stage or "~", int(number or 0))


def release(root: Path, version: str, date: str) -> list[str]:
    """Write the section, set the version and remove the fragments. Return what was changed, a line for each file."""
    init, changes = root / "src" / "dragoman" / "__init__.py", root / "CHANGELOG.md"
    code, changelog = init.read_text(encoding="utf-8"), changes.read_text(encoding="utf-8")
    present = VERSION_LINE.findall(code)
    if len(present) != 1:
        raise ReleaseError(f"{init.name} must have one line __version__ = ...")
    if order(version) < order(present[0]):
        raise ReleaseError(f"{version} is older than the present version {present[0]}")
    folder = root / "changes.d"
    body = section_body(read_fragments(folder))
    changes.write_text(with_section(changelog, version, date, body), encoding="utf-8")
    init.write_text(VERSION_LINE.sub(f'__version__ = "{version}"', code), encoding="utf-8")
    gathered = fragment_files(folder)
    for path in gathered:
        path.unlink()
    return [
        f"CHANGELOG.md: the section {version}",
        f"src/dragoman/__init__.py: version {present[0]} -> {version}",
        f"changes.d: {len(gathered)} fragments gathered and removed",
        "Next: read the diff, then follow docs/releasing.md from step 3 on.",
    ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Print the next changelog section, or write it for VERSION.")
    parser.add_argument("version", nargs="?", help="write the section for this version")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="day of the release (today)")
    asked = parser.parse_args(arguments)
    try:
        if asked.version is None:
            print(section_body(read_fragments(ROOT / "changes.d")) or "changes.d has no fragment.")
        else:
            print("\n".join(release(ROOT, asked.version, asked.date)))
    except ReleaseError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
