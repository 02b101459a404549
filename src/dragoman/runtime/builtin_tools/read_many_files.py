"""Owns the tool read_many_files: the contents of all files that match the patterns, one after another."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...canon.parts import Media, Text
from .. import file_content, file_walk, globs, ignore_options, workspace_file_access
from ..file_content import FileLines
from ..tool_interface import Kind, Outcome, Tool, ToolEnvironment, ToolError
from ..workspace_file_access import WorkspacePath

MAX_FILES = 1000
MAX_CHARACTERS = 4_000_000
END = "--- End of content ---"

# A wildcard must not send the secrets in .env to the model.
DEFAULT_EXCLUDES = (
    "node_modules/", ".git/", "bower_components/", ".vscode/", ".idea/", "dist/", "build/", "coverage/", "__pycache__/",
    ".venv/", "venv/", ".mypy_cache/", ".ruff_cache/", ".pytest_cache/", "*.pyc", "*.pyo", "*.class", "*.jar", "*.war",
    "*.zip", "*.tar", "*.gz", "*.bz2", "*.xz", "*.rar", "*.7z", "*.exe", "*.dll", "*.so", "*.dylib", "*.o", "*.a",
    "*.bin", "*.dat", "*.db", "*.sqlite", "*.DS_Store", ".env",
)  # fmt: skip


class _File(NamedTuple):
    where: WorkspacePath
    shown: str
    named: bool
    """True if a pattern contains the file's name or ending, and not only a wildcard."""


class ReadManyFiles(Tool):
    """The tool `read_many_files`. Reads all files that patterns name."""

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
                "description": "Whether to read folders with everything below them. Default: true.",
            },
            "useDefaultExcludes": {
                "type": "boolean",
                "description": "Leave out files that are seldom meant, such as node_modules. Default: true.",
            },
            "file_filtering_options": ignore_options.OPTIONS,
        },
        "required": ["paths"],
    }

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        for pattern in [*arguments["paths"], *arguments.get("include", ()), *arguments.get("exclude", ())]:
            globs.compile_pattern(pattern)
        for pattern in [*arguments["paths"], *arguments.get("include", ())]:
            workspace_file_access.path_in_workspace(
                _split_pattern(pattern, around.workspace)[0] or ".", around.workspace
            )
        return None

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        files, missed = await _files(arguments, around)
        if not files:
            return Outcome(f"No files matching the criteria were found: {'; '.join(missed)}", "No files were read.")
        parts, skipped = await asyncio.to_thread(_read_contents, files)
        if not parts:
            raise ToolError("read_many_files_search_error", f"None of the files could be read: {'; '.join(skipped)}")
        count = len(files) - len(skipped)
        skipped += missed
        display = f"Read {count} file(s)." + (f" Skipped: {'; '.join(skipped)}" if skipped else "")
        note = f"\n[Skipped: {'; '.join(skipped)}]" if skipped else ""
        if all(isinstance(part, Text) for part in parts):
            text = "".join([part.text for part in parts if isinstance(part, Text)])
            return Outcome(f"{text}{END}{note}", display)
        return Outcome((*parts, Text(END + note)), display)


def _split_pattern(pattern: str, workspace: Sequence[Path]) -> tuple[str, str]:
    """The constant folder at the beginning of a pattern, and the rest. An existing path is not a pattern
    (`[id].tsx`)."""
    if any(os.path.lexists(root / pattern) for root in workspace):
        return pattern, ""
    steps = pattern.split("/")
    for i, step in enumerate(steps):
        if any(sign in step for sign in "*?[{"):
            base = "/".join(steps[:i])
            return base or ("/" if pattern.startswith("/") else ""), "/".join(steps[i:])
    return pattern, ""


async def _files(arguments: Mapping[str, Any], around: ToolEnvironment) -> tuple[list[_File], list[str]]:
    """The named files, each once, in the order of the patterns; and the names that were not found."""
    found: dict[Path, _File] = {}
    missed: list[str] = []
    options = arguments.get("file_filtering_options")
    out = list(arguments.get("exclude", ()))
    out += DEFAULT_EXCLUDES if arguments.get("useDefaultExcludes", True) else ()
    for given in [*arguments["paths"], *arguments.get("include", ())]:
        base, rest = _split_pattern(given, around.workspace)
        where = workspace_file_access.path_in_workspace(base or ".", around.workspace)
        if workspace_file_access.file_status(where) is None:
            missed.append(f"{given} (not found)")
        elif rest or where.path.is_dir():
            rest = rest or ("**" if arguments.get("recursive", True) else "*")
            below = await _files_below(base, rest, (options, out), around.workspace)
            for file in below:
                found.setdefault(file.where.path, file)
            if not below:
                missed.append(f"{given} (no file matches)")
        # Ignore files also apply to a file that the pattern names exactly.
        elif left_out := file_walk.ignore_reason(
            where,
            ignore_options.ignore_rules_for_call(WorkspacePath(where.root, ()), options).with_patterns(where.root, out),
        ):
            missed.append(f"{given} ({'git-ignored' if left_out == 'git' else 'ignored or excluded'})")
        else:
            found.setdefault(where.path, _File(where, given, True))
    files = list(found.values())
    if len(files) > MAX_FILES:
        missed.append(f"{len(files) - MAX_FILES} more files (at most {MAX_FILES} are read at once)")
    return files[:MAX_FILES], missed


async def _files_below(
    base: str, pattern: str, left_out: tuple[Any, list[str]], workspace: Sequence[Path]
) -> list[_File]:
    """The files below a folder that match a pattern. A relative folder is searched in every root that has it."""
    options, out = left_out
    wanted = globs.compile_pattern(pattern)
    files: list[_File] = []
    for folder in [Path(base)] if base.startswith("/") else [root / base for root in workspace]:
        if not folder.is_dir():
            continue
        where = workspace_file_access.path_in_workspace(folder, workspace)
        known = ignore_options.ignore_rules_for_call(where, options).with_patterns(where.root, out)
        # For links: their targets may lie in an ignored folder of the workspace.
        top = ignore_options.ignore_rules_for_call(WorkspacePath(where.root, ()), options).with_patterns(
            where.root, out
        )
        for entry in await file_walk.collect_entries(file_walk.walk_files(where, known, workspace)):
            if wanted.fullmatch(entry.path.relative_to(where.path).as_posix()):
                found = workspace_file_access.path_in_workspace(entry.path, workspace)
                if found.path != entry.path and file_walk.ignore_reason(found, top):
                    continue  # a link to an ignored file
                relative = not base.startswith("/") and where.root == workspace_file_access.real_path(workspace[0])
                shown = entry.path.relative_to(where.root).as_posix() if relative else str(entry.path)
                files.append(_File(found, shown, _names_file_type(pattern, entry.path)))
    return files


def _names_file_type(pattern: str, path: Path) -> bool:
    """Whether a pattern contains a file's ending or name, and not only a wildcard."""
    last = pattern.rpartition("/")[2].lower()
    ending = path.suffix.lower()
    return bool(ending and ending.lstrip(".") in last.replace("{", " ").replace(",", " ")) or path.stem.lower() in last


def _read_contents(files: list[_File]) -> tuple[list[Text | Media], list[str]]:
    """The parts for the files, and the skipped files with reasons."""
    parts: list[Text | Media] = []
    skipped: list[str] = []
    size = 0
    for file in files:
        # A wildcard such as `**/*` would send every image of the project to the model.
        if file_content.mime_of(file.where) and not file.named:
            skipped.append(f"{file.shown} (media that was not named)")
            continue
        if size > MAX_CHARACTERS:
            skipped.append(f"{file.shown} (too much text already)")
            continue
        try:
            found = file_content.read(file.where)
        except ToolError as error:
            skipped.append(f"{file.shown} ({error.kind})")
            continue
        if isinstance(found, Media):
            parts += [Text(f"--- {file.shown} ---\n"), found]
            continue
        size += len(found.text)
        parts.append(Text(f"--- {file.shown} ---\n{_text(found)}"))
    return parts, skipped


def _text(found: FileLines) -> str:
    text = found.text if found.text.endswith("\n") or not found.text else found.text + "\n"
    if not found.whole:
        shown_lines = f"lines {found.start + 1}-{found.end} of {found.total} are shown"
        return f"[The content is truncated: {shown_lines}; to read all of it, use read_file.]\n{text}"
    return text
