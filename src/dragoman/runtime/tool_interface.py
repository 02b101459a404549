"""Owns the interface of a tool: declaration, check, confirmation, run, outcome. A tool must not depend on other
tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from ..canon.parts import Media, Text, ToolResult
from ..canon.request import Request
from ..canon.response import Response, Usage
from ..errors import DragomanError

Kind = Literal["read", "edit", "run", "fetch", "remember", "other"]
"""The effect of a tool on the world. Policies decide by the kind."""


class DiffStat(Struct, frozen=True):
    """Numbers of lines that an edit adds and removes: by the model, and by the user's changes to the model's
    proposal."""

    ai_added_lines: int = 0
    ai_removed_lines: int = 0
    user_added_lines: int = 0
    user_removed_lines: int = 0


class FileDiff(
    Struct,
    frozen=True,
    rename={
        "file_name": "fileName",
        "file_path": "filePath",
        "diff": "fileDiff",
        "original": "originalContent",
        "new": "newContent",
        "stat": "diffStat",
    },
):
    """An edit to show to a person. Its names in JSON are those of gemini-cli."""

    file_name: str
    file_path: str
    diff: str
    """The unified diff."""
    original: str | None
    """The old text. None: the file is new."""
    new: str
    stat: DiffStat = DiffStat()


class Failure(Struct, frozen=True):
    """Why a tool failed. `kind` is a stable word (`file_not_found`, `edit_no_occurrence_found`, ...)."""

    message: str
    kind: str


class Outcome(Struct, frozen=True):
    """The outcome of a tool: for the model, and for a person who watches."""

    content: str | tuple[Text | Media, ...] | ToolResult
    """Content for the model: a string or parts. Several parts get a line of status before them. A ToolResult is passed
    through, under the id and the name of the call."""
    display: str | FileDiff = ""
    failure: Failure | None = None


class ToolError(DragomanError):
    """A tool cannot do its work. The error becomes an outcome with a failure, and then a result with the error flag."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(message)

    def outcome(self, display: str = "") -> Outcome:
        """The error as an outcome."""
        return Outcome(self.message, display or self.message, Failure(self.message, self.kind))


class Confirmation(Struct, frozen=True):
    """The question to a person before a tool runs."""

    title: str
    kind: Kind
    diff: FileDiff | None = None
    command: str = ""
    roots: tuple[str, ...] = ()
    """For a command: the programs that it runs. A person can allow them always."""
    folder: str = ""
    """For a command: its folder, if the folder is not the root of the workspace."""
    hidden: bool = False
    """True if the call may run programs that are not visible. Then allowed entries do not cover a command, and an edit
    needs a person even in the mode `edits`."""
    sandbox: str = ""
    """For a command: the sandbox that it runs in. "": none."""
    network: bool = False
    """For a command in a sandbox: it wants to use the network."""
    urls: tuple[str, ...] = ()
    """The addresses that the tool will fetch."""
    server: str = ""
    """For an MCP tool: its server, its name on the server, and its name for the model."""
    tool: str = ""
    display: str = ""
    trusted: bool = False
    """For an MCP tool: the user trusts its server. Then only denied calls are not run."""


class ModelAsker(Protocol):
    """Asks a model a question for a tool, with families of hosted tools (`web_search`, `web_fetch`). DragomanError:
    there is no answer."""

    def __call__(self, prompt: str, /, *, hosted: tuple[str, ...] = ()) -> Awaitable[Response]: ...


class TokenCounter(Protocol):
    """Counts tokens, and their cost in US dollars (None: unknown)."""

    def __call__(self, usage: Usage, cost: float | None = None, /) -> None: ...


class FetchedPage(Struct, frozen=True):
    """A fetched page."""

    url: str
    """The address after redirects."""
    status: int
    mime: str
    body: bytes
    charset: str = ""


Fetcher = Callable[[str], Awaitable[FetchedPage]]
"""Fetches the page at an address. DragomanError: no page, or the address must not be fetched."""


class FileEdit(Struct, frozen=True):
    """An edit that was made: the bytes of the file before and after. `before` is None for a new file."""

    path: str
    before: bytes | None
    after: bytes


class ToolEnvironment(Struct):
    """The environment of a tool's run."""

    workspace: tuple[Path, ...]
    """The folders that tools may read and write. Everything outside is closed to them."""
    environment: Mapping[str, str] = {}
    """Environment variables for commands: only those that the policy allows, no secrets."""
    report: Callable[[str], None] = lambda text: None
    """Takes the output so far, for a person who watches; at most once a second."""
    ask: ModelAsker | None = None
    answer: Callable[[Request], Awaitable[Response]] | None = None
    """Asks the session's model a whole request, outside the conversation. DragomanError: there is no answer."""
    hosted: frozenset[str] = frozenset()
    """Families of hosted tools of the model behind `ask`."""
    spend: TokenCounter = lambda usage, cost=None: None
    """Counts tokens that a tool used with models of its own."""
    edited: Callable[[FileEdit], None] = lambda edit: None
    """Called after a file was written, so that the edit can be taken back."""
    fetch: Fetcher | None = None
    """Fetches pages. None: tools fetch pages themselves, from public addresses only."""
    config: Path | None = None
    """The user's folder for remembered facts."""
    memory: Path | None = None
    """The file for remembered facts, if the user chose another one."""
    shown: FileDiff | None = None
    """The edit that the policy or a person approved. If the tool would now make another edit, the tool makes no
    edit."""
    wanted: str | None = None
    """The new text after the person's changes. The tool writes this text instead."""


class Tool(Protocol):
    """A tool that the runtime runs itself."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the arguments, with an object at its root."""
    kind: Kind

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        """The error in arguments that fit the schema. None: they are good."""
        return None

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        """The question to a person before the run. None: no question is needed."""
        return None

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        """Run the tool. A failure is in the outcome, or a ToolError. A cancelled tool raises CancelledError and leaves
        no process behind."""
        ...


@runtime_checkable
class NeedsHosted(Protocol):
    """A tool that works only where the model's upstream has a family of hosted tools."""

    needs_hosted: str
    """The family. "": the tool works with every upstream."""


@runtime_checkable
class ToolWithProcesses(Protocol):
    """A tool that may keep processes running between its calls."""

    async def close(self) -> None:
        """End everything that the tool started."""
        ...
