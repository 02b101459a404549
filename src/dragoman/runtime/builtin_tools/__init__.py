"""Owns the list of the built-in tools. Each tool has a file of its own."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import ConfigError
from ..tool_interface import Tool
from .glob import Glob
from .google_web_search import GoogleWebSearch, SearchEndpoint, endpoint_of
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

__all__ = ["SearchEndpoint", "builtin", "endpoint_of", "tools"]


def tools(*, search: SearchEndpoint | None = None, command_seconds: float = SECONDS) -> tuple[Tool, ...]:
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


def builtin(*names: str) -> tuple[Tool, ...]:
    """The built-in tools with these names, in this order; without a name all of them. ConfigError for another name."""
    found = {tool.name: tool for tool in tools()}
    for name in names:
        if name not in found:
            raise ConfigError("built-in tool", name, tuple(found))
    return tuple([found[name] for name in names or found])


def works_in_folder(given: Iterable[Tool]) -> bool:
    """Whether one of the tools is built in. Then the model gets a description of the folder."""
    return any(isinstance(tool, _BUILT_IN) for tool in given)


_BUILT_IN = tuple([type(tool) for tool in tools()])
