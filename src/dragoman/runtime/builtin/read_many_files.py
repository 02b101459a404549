"""read_many_files: the content of all files that patterns name, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...canon.parts import Media, Text
from .. import confine, filtering, globs, reading, walk
from ..confine import Place
from ..reading import Lines
from ..tool import Kind, Outcome, Surroundings, Tool, ToolError

MAX_FILES = 1000
MAX_CHARACTERS = 4_000_000
END = "--- End of content ---"

DEFAULT_EXCLUDES = (
    "node_modules/", ".git/", "bower_components/", ".vscode/", ".idea/", "dist/", "build/", "coverage/", "__pycache__/",
    ".venv/", "venv/", ".mypy_cache/", ".ruff_cache/", ".pytest_cache/", "*.pyc", "*.pyo", "*.class", "*.jar", "*.war",
    "*.zip", "*.tar", "*.gz", "*.bz2", "*.xz", "*.rar", "*.7z", "*.exe", "*.dll", "*.so", "*.dylib", "*.o", "*.a",
    "*.bin", "*.dat", "*.db", "*.sqlite", "*.DS_Store", ".env",
)  # fmt: skip


class _File(NamedTuple):
    where: Place
    shown: str
    named: bool
    """By its name or its ending, not only by a pattern for anything."""


class ReadManyFiles(Tool):
    name = "read_many_files"
    description = (
        "Reads all files of the workspace that paths or glob patterns name, and returns them one after another, each "
        "after a line '--- path ---'. Images, PDF, audio and video are returned as media if they are named by their "
        "name or ending; other binary files are left out."
    )
    kind: Kind = "read"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "paths": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "description": "Paths, folders and glob patterns, absolute or seen from the workspace's root.",
            },
            "include": {"type": "array", "items": {"type": "string"}, "description": "More patterns to read."},
            "exclude": {"type": "array", "items": {"type": "string"}, "description": "Patterns to leave out."},
            "recursive": {
                "type": "boolean",
                "description": "Whether to read folders with all that is below them. True unless said.",
            },
            "useDefaultExcludes": {
                "type": "boolean",
                "description": "Leave out what is seldom meant, such as node_modules. True unless said.",
            },
            "file_filtering_options": filtering.OPTIONS,
        },
        "required": ["paths"],
    }

    def check(self, arguments: Mapping[str, Any], around: Surroundings) -> str | None:
        for pattern in [*arguments["paths"], *arguments.get("include", ()), *arguments.get("exclude", ())]:
            globs.compiled(pattern)
        for pattern in [*arguments["paths"], *arguments.get("include", ())]:
            confine.place(_fixed(pattern)[0] or ".", around.workspace)
        return None

    async def run(self, arguments: Mapping[str, Any], around: Surroundings) -> Outcome:
        files = await _files(arguments, around)
        if not files:
            said = f"No files matching the criteria were found: {', '.join(arguments['paths'])}"
            return Outcome(said, "No files were read.")
        parts, skipped = await asyncio.to_thread(_contents, files)
        display = f"Read {len(files) - len(skipped)} file(s)." + (f" Skipped: {'; '.join(skipped)}" if skipped else "")
        if not parts:
            raise ToolError("read_many_files_search_error", f"None of the files could be read: {'; '.join(skipped)}")
        note = f"\n[Skipped: {'; '.join(skipped)}]" if skipped else ""
        if all(isinstance(part, Text) for part in parts):
            text = "".join([part.text for part in parts if isinstance(part, Text)])
            return Outcome(f"{text}{END}{note}", display)
        return Outcome((*parts, Text(END + note)), display)


def _fixed(pattern: str) -> tuple[str, str]:
    """The folder that a pattern begins with, and the rest of it."""
    steps = pattern.split("/")
    for i, step in enumerate(steps):
        if any(sign in step for sign in "*?[{"):
            base = "/".join(steps[:i])
            return base or ("/" if pattern.startswith("/") else ""), "/".join(steps[i:])
    return pattern, ""


async def _files(arguments: Mapping[str, Any], around: Surroundings) -> list[_File]:
    """The files that are named, each once, in the order of the patterns."""
    found: dict[Path, _File] = {}
    options = arguments.get("file_filtering_options")
    out = list(arguments.get("exclude", ()))
    out += DEFAULT_EXCLUDES if arguments.get("useDefaultExcludes", True) else ()
    for given in [*arguments["paths"], *arguments.get("include", ())]:
        base, rest = _fixed(given)
        where = confine.place(base or ".", around.workspace)
        status = confine.status(where)
        if status is None:
            continue
        if not rest and not where.path.is_dir():
            left_out = walk.reason(where, filtering.ignores(Place(where.root, ()), options).also(where.root, out))
            if not left_out:
                found.setdefault(where.path, _File(where, given, True))
            continue
        rest = rest or ("**" if arguments.get("recursive", True) else "*")
        wanted = globs.compiled(rest)
        root = where.path if base.startswith("/") else where.root
        known = filtering.ignores(where, options).also(where.root, out)
        for entry in await walk.gathered(walk.files(where, known, around.workspace)):
            if wanted.fullmatch(entry.path.relative_to(where.path).as_posix()):
                shown = str(entry.path) if base.startswith("/") else entry.path.relative_to(root).as_posix()
                file = _File(confine.place(entry.path, around.workspace), shown, _names(rest, entry.path))
                found.setdefault(entry.path, file)
            if len(found) >= MAX_FILES:
                break
    return list(found.values())


def _names(pattern: str, path: Path) -> bool:
    """Whether a pattern names a file by its ending or its name, and not just anything."""
    last = pattern.rpartition("/")[2].lower()
    ending = path.suffix.lower()
    return bool(ending and ending.lstrip(".") in last.replace("{", " ").replace(",", " ")) or path.stem.lower() in last


def _contents(files: list[_File]) -> tuple[list[Text | Media], list[str]]:
    """The parts that the files make, and what was left out and why."""
    parts: list[Text | Media] = []
    skipped: list[str] = []
    size = 0
    for file in files:
        if reading.mime_of(file.where) and not file.named:
            skipped.append(f"{file.shown} (media that was not named)")
            continue
        if size > MAX_CHARACTERS:
            skipped.append(f"{file.shown} (too much text already)")
            continue
        try:
            found = reading.read(file.where)
        except ToolError as error:
            skipped.append(f"{file.shown} ({error.kind})")
            continue
        if isinstance(found, Media):
            parts += [Text(f"--- {file.shown} ---\n"), found]
            continue
        size += len(found.text)
        parts.append(Text(f"--- {file.shown} ---\n{_text(found)}"))
    return parts, skipped


def _text(found: Lines) -> str:
    text = found.text if found.text.endswith("\n") or not found.text else found.text + "\n"
    if not found.whole:
        said = f"lines {found.start + 1}-{found.end} of {found.total} are shown"
        return f"[The content is truncated: {said}; to read all of it, use read_file.]\n{text}"
    return text
