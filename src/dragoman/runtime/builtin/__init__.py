"""Owns the list of the built-in tools. Each tool has a file of its own."""

from __future__ import annotations

from ..tool import Tool
from .glob import Glob
from .google_web_search import Endpoint, GoogleWebSearch
from .list_directory import ListDirectory
from .read_file import ReadFile
from .read_many_files import ReadManyFiles
from .replace import Replace
from .run_shell_command import SECONDS, RunShellCommand
from .save_memory import SaveMemory
from .search_file_content import SearchFileContent
from .smart_edit import SmartEdit
from .web_fetch import WebFetch
from .write_file import WriteFile

__all__ = ["Endpoint", "tools"]


def tools(*, search: Endpoint | None = None, command_seconds: float = SECONDS) -> tuple[Tool, ...]:
    """New objects of all built-in tools. Some tools keep state for one session."""
    return (
        ReadFile(),
        ReadManyFiles(),
        ListDirectory(),
        Glob(),
        SearchFileContent(),
        Replace(),
        SmartEdit(),
        WriteFile(),
        RunShellCommand(command_seconds),
        WebFetch(),
        GoogleWebSearch(search),
        SaveMemory(),
    )
