"""Owns the files that the build makes for the wheel: the newest conformance suite in one archive, and the build facts.

The archive has the same bytes for the same suite: its members are sorted, and have a fixed date. `dragoman --version`
prints the build facts. A build outside of a git clone has no commit, and states none.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATE = (2026, 1, 1, 0, 0, 0)
FACTS = Path("src/dragoman/build-facts.json")
"""A source archive has the facts of the clone that it was made from."""


class CustomBuildHook(BuildHookInterface[Any]):
    """Called by hatchling for each target."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        made, root = Path(self._folder.name), Path(self.root)
        facts = made / "build-facts.json"
        if (root / FACTS).exists():
            facts.write_bytes((root / FACTS).read_bytes())
        else:
            facts.write_text(json.dumps(build_facts(root)))
        if self.target_name == "sdist":
            build_data["force_include"][str(facts)] = str(FACTS)
        elif version != "editable":
            suite = sorted((root / "conformance").glob("*/suite.json"))[-1].parent
            archive = made / f"{suite.name}.zip"
            pack(suite, archive)
            build_data["force_include"][str(archive)] = f"dragoman/conform/suites/{archive.name}"
            build_data["force_include"][str(facts)] = "dragoman/build-facts.json"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()


def pack(suite: Path, archive: Path) -> None:
    """Write the files of a suite into one archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for file in sorted([path for path in suite.rglob("*") if path.is_file()]):
            member = zipfile.ZipInfo(file.relative_to(suite).as_posix(), DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(member, file.read_bytes(), compresslevel=9)


def build_facts(root: Path) -> dict[str, str]:
    """The commit and its date; nothing outside of a git clone."""
    if not (root / ".git").exists():
        return {}
    command = ["git", "-C", str(root), "log", "-1", "--format=%H %cs"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    commit, date = done.stdout.split()
    return {"commit": commit, "date": date}
