"""Owns the tool search_file_content: lines that match a regular expression, found by ripgrep or by `line_search.py`."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from .. import file_walk, globs, line_search, processes, text_file_and_diff, workspace_file_access
from ..program_search import program_outside
from ..tool_interface import Kind, Outcome, Tool, ToolEnvironment, ToolError
from ..workspace_file_access import WorkspacePath

MAX_MATCHES = 20_000
MAX_LINE = 2000
SECONDS = 60.0
_PIECE = 1 << 26
"""Most bytes of one match in the output of the search program."""


class Match(NamedTuple):
    """A matching line, with its file and number."""

    path: Path
    line: int
    text: str


class SearchFileContent(Tool):
    """The tool `search_file_content`. Searches lines of files by a regular expression."""

    name = "search_file_content"
    description = (
        "Searches the files of the workspace for a regular expression, without regard to case. Returns the lines that "
        f"match with their numbers, file by file; {MAX_MATCHES} at most."
    )
    kind: Kind = "read"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The regular expression."},
            "path": {"type": "string", "description": "The folder to search; the whole workspace by default."},
            "include": {"type": "string", "description": "A glob pattern of the files to search, such as *.py."},
            "max_matches": {"type": "number", "minimum": 1, "description": "How many matches to return at most."},
        },
        "required": ["pattern"],
    }

    def __init__(self, ripgrep: str | None = None) -> None:
        self.ripgrep = ripgrep
        """The path of ripgrep. "": search without ripgrep. None: search with ripgrep if it is installed."""

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        if not arguments["pattern"]:
            return "The pattern is empty."
        if arguments.get("include"):
            globs.compile_pattern(arguments["include"])
        where = workspace_file_access.path_in_workspace(arguments.get("path") or ".", around.workspace)
        if not os.path.isdir(where.path):
            return f"Path is not a directory: {where.path}"
        return None

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        pattern, given = arguments["pattern"], arguments.get("path")
        limit = min(int(arguments.get("max_matches", MAX_MATCHES)), MAX_MATCHES)
        include = (arguments.get("include") or "").removeprefix("./")
        folders = [given] if given else [str(root) for root in around.workspace]
        matches: list[Match] = []
        for folder in folders:
            where = workspace_file_access.path_in_workspace(folder, around.workspace)
            # One match more than the limit is searched, to find out whether the list is complete.
            matches += await self._search(where, pattern, include, limit + 1 - len(matches), around)
        head = f"for pattern '{pattern}' in path \"{given or '.'}\"" + (f' (filter: "{include}")' if include else "")
        if not matches:
            return Outcome(f"No matches found {head}.", "No matches found")
        cut = len(matches) > limit
        matches = sorted(matches[:limit])
        noun = "match" if len(matches) == 1 else "matches"
        heading = f"Found {len(matches)} {noun} {head}" + (f" (results limited to {limit} matches)" if cut else "")
        base = workspace_file_access.path_in_workspace(folders[0], around.workspace).path
        return Outcome(
            "\n".join([f"{heading}:", "---", *_lines_by_file(matches, base)]),
            f"Found {len(matches)} {noun}" + (" (limited)" if cut else ""),
        )

    async def _search(
        self, where: WorkspacePath, pattern: str, include: str, limit: int, around: ToolEnvironment
    ) -> list[Match]:
        """At most `limit` matches below a place."""
        if limit <= 0:
            return []
        file_filter = _FileFilter(where, around.workspace)
        ripgrep = program_outside("rg", around.workspace) if self.ripgrep is None else self.ripgrep
        if ripgrep:
            # `--regexp`, so that a pattern that begins with "-" is not read as an option.
            command = [ripgrep, *_OPTIONS, *(("--glob", include) if include else ()), "--regexp", pattern, "."]
            return await _read_matches(command, where.path, b"", limit, file_filter, around)
        found = await _files(where, include, around.workspace)
        paths = b"".join([os.fsencode(path.relative_to(where.root)) + b"\0" for path in found])
        # `-I`, so that no module of the workspace is imported in place of a standard module.
        command = [sys.executable, "-I", str(Path(line_search.__file__)), pattern]
        return await _read_matches(command, where.root, paths, limit, file_filter, around)


# The result must depend on the workspace only, not on the user's settings of ripgrep and git.
_OPTIONS = ("--json", "--no-config", "--ignore-case", "--hidden", "--no-require-git", "--no-ignore-dot",
            "--no-ignore-global", "--no-ignore-parent", "--no-messages", "--glob", "!.git")  # fmt: skip


async def _files(where: WorkspacePath, include: str, workspace: Sequence[Path]) -> list[Path]:
    """The files to search. Links are skipped, because the walk finds their targets in the workspace itself."""
    form = include.removeprefix("!")
    wanted = globs.compile_pattern((form.removeprefix("/") if "/" in form else f"**/{form}") if form else "**")
    found = [
        entry.path
        for entry in await file_walk.collect_entries(
            file_walk.walk_files(where, file_walk.ignore_rules(where), workspace)
        )
    ]
    return [
        path
        for path in found
        if not path.is_symlink()
        and (wanted.fullmatch(path.relative_to(where.path).as_posix()) is None) == include.startswith("!")
    ]


class _FileFilter:
    """Selects ripgrep's matches: only matches in files that our own walk through the workspace would find."""

    def __init__(self, where: WorkspacePath, workspace: Sequence[Path]) -> None:
        self._where = where
        self._workspace = workspace
        self._found = file_walk.ignore_rules(where)
        self._known: dict[Path, bool] = {}

    def __call__(self, path: Path) -> bool:
        known = self._known.get(path)
        if known is None:
            steps = path.relative_to(self._where.root).parts
            known = not file_walk.ignore_reason(
                WorkspacePath(self._where.root, steps), self._found, len(self._where.steps)
            )
            self._known[path] = known = known and workspace_file_access.is_inside(path, self._workspace)
        return known


async def _read_matches(
    command: Sequence[str], folder: Path, given: bytes, limit: int, file_filter: _FileFilter, around: ToolEnvironment
) -> list[Match]:
    """The matches in the output of a search program, up to the limit."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**around.environment, "LC_ALL": "C.UTF-8"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_PIECE,
        # A session of its own, so that `processes.end` reaches every process of the search.
        start_new_session=True,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    matches: list[Match] = []
    # Input and output run at the same time. A program whose output nobody reads stops reading its input.
    feeding = asyncio.ensure_future(_write_input(process.stdin, given))
    complaining = asyncio.ensure_future(process.stderr.read(4096))
    try:
        async with asyncio.timeout(SECONDS):
            async for line in _lines(process.stdout):
                found = _match(line, folder)
                if found is not None and file_filter(found.path):
                    matches.append(found)
                    if len(matches) >= limit:
                        return matches
            code = await process.wait()
            complaint = (await complaining).decode("utf-8", "replace").strip()
    except TimeoutError:
        raise ToolError("search_timeout", f"The search took longer than {SECONDS:g} seconds.") from None
    finally:
        feeding.cancel()
        complaining.cancel()
        if process.returncode is None:
            await processes.end_group(process.pid)
        await process.wait()
    # Exit code 1 means that no line matched.
    if code > 1 and not matches:
        raise ToolError("search_failed", f"Error during the search: {complaint or f'exit code {code}'}")
    return matches


async def _write_input(stdin: asyncio.StreamWriter, given: bytes) -> None:
    try:
        stdin.write(given)
        await stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        return  # the limit is reached, or the program has ended
    finally:
        stdin.close()


async def _lines(stdout: asyncio.StreamReader) -> Any:
    """The lines of the output, without lines that are too long for a match."""
    while True:
        try:
            line = await stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError as rest:
            if rest.partial:
                yield rest.partial
            return
        except asyncio.LimitOverrunError as over:
            await stdout.readexactly(over.consumed)
            continue
        yield line


def _match(line: bytes, folder: Path) -> Match | None:
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None  # the rest of a too long line
    if not isinstance(record, dict) or record.get("type") != "match":
        return None
    data = record["data"]
    text = text_file_and_diff.without_invalid_bytes(_text(data["lines"])).strip()
    if len(text) > MAX_LINE:
        text = f"{text[:MAX_LINE]}... [truncated]"
    return Match(Path(os.path.normpath(folder / _text(data["path"]))), data["line_number"], text)


def _text(given: Mapping[str, str]) -> str:
    """A path or a line. ripgrep writes base64 for bytes that are not text."""
    return given["text"] if "text" in given else os.fsdecode(base64.b64decode(given["bytes"]))


def _lines_by_file(matches: list[Match], base: Path) -> list[str]:
    """The matches as lines of text, file by file."""
    out: list[str] = []
    last: Path | None = None
    for match in matches:
        if match.path != last:
            if last is not None:
                out.append("---")
            last = match.path
            shown = match.path.relative_to(base) if base in match.path.parents else match.path
            out.append(f"File: {shown.as_posix()}")
        out.append(f"L{match.line}: {match.text}")
    return [*out, "---"]
