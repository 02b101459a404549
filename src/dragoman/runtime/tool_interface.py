"""What a tool is to the runtime: declared, checked, confirmed, run; and what comes of it. One tool knows no other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from ..canon.parts import Media, Text
from ..canon.response import Response, Usage
from ..errors import DragomanError

Kind = Literal["read", "edit", "run", "fetch", "remember", "other"]
"""What a tool does to the world; policies go by it."""


class DiffStat(Struct, frozen=True):
    """Lines that an edit adds and removes, by the model and by the user who changed its proposal."""

    ai_added_lines: int = 0
    ai_removed_lines: int = 0
    user_added_lines: int = 0
    user_removed_lines: int = 0


class FileDiff(Struct, frozen=True):
    """An edit as a person is shown it."""

    file_name: str
    file_path: str
    diff: str
    """Unified."""
    original: str | None
    """None: the file is new."""
    new: str
    stat: DiffStat = DiffStat()


class Failure(Struct, frozen=True):
    """Why a tool failed. `kind` is a stable word (`file_not_found`, `edit_no_occurrence_found`, ...)."""

    message: str
    kind: str


class Outcome(Struct, frozen=True):
    """What a tool gave: for the model, and for the person who watches."""

    content: str | tuple[Text | Media, ...]
    """For the model. A string, or parts: one alone, or several with a line of status before them."""
    display: str | FileDiff = ""
    failure: Failure | None = None


class ToolError(DragomanError):
    """A tool cannot do what it was asked; becomes an outcome with a failure, and so a result with the error flag."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(message)

    def outcome(self, display: str = "") -> Outcome:
        return Outcome(self.message, display or self.message, Failure(self.message, self.kind))


class Confirmation(Struct, frozen=True):
    """What a person is asked before a tool runs."""

    title: str
    kind: Kind
    diff: FileDiff | None = None
    command: str = ""
    roots: tuple[str, ...] = ()
    """Of a command: the programs it runs, by which it can be allowed for good."""
    folder: str = ""
    """Of a command: the folder that it is started in, where that is another one than the root of the workspace."""
    hidden: bool = False
    """It may have programs run that cannot be told: then a list of allowed ones does not let a command pass, and an
    edit is asked about although edits are not."""
    urls: tuple[str, ...] = ()
    """Addresses that will be fetched."""
    server: str = ""
    """Of an MCP tool: who runs it, and its name there."""
    tool: str = ""
    trusted: bool = False
    """Of an MCP tool: the user trusts its server, so only what is denied is not run."""


class Asker(Protocol):
    """A model that tools may ask: a question, and the families of hosted tools that it shall use (`web_search`,
    `web_fetch`). Raises a DragomanError where no answer comes."""

    def __call__(self, prompt: str, /, *, hosted: tuple[str, ...] = ()) -> Awaitable[Response]: ...


class Page(Struct, frozen=True):
    """What was found at an address."""

    url: str
    """Where it was in the end, after redirects."""
    status: int
    mime: str
    body: bytes
    charset: str = ""


Fetcher = Callable[[str], Awaitable[Page]]
"""Gets what is at an address. Raises a DragomanError where nothing comes, or where the address is none to go to."""


class FileEdit(Struct, frozen=True):
    """An edit that was made: the bytes of the file before and after. `before` is None for a new file."""

    path: str
    before: bytes | None
    after: bytes


class ToolEnvironment(Struct):
    """What a tool may use while it works."""

    workspace: tuple[Path, ...]
    """Folders it may touch; nothing outside of them."""
    environment: Mapping[str, str] = {}
    """Variables for commands: what the policy lets through, no secrets."""
    report: Callable[[str], None] = lambda text: None
    """Output so far, for who watches: at most once a second."""
    ask: Asker | None = None
    hosted: frozenset[str] = frozenset()
    """Families of hosted tools that the model behind `ask` has."""
    spend: Callable[[Usage], None] = lambda usage: None
    """Counts tokens that a tool used with models of its own."""
    edited: Callable[[FileEdit], None] = lambda edit: None
    """Called after a file was written, so that the edit can be taken back."""
    fetch: Fetcher | None = None
    """None: tools fetch by themselves, and from public addresses only."""
    config: Path | None = None
    """The user's folder for what is to be remembered."""
    shown: FileDiff | None = None
    """The edit that was judged, and shown to a person where that was needed: if it would be another one now, it is not
    made."""
    wanted: str | None = None
    """What the person made of the shown edit's new text: this is to be written instead."""


class Tool(Protocol):
    """A tool that the runtime runs itself."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of its arguments, an object."""
    kind: Kind

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        """What is wrong with arguments that fit the schema; None if nothing is."""
        return None

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        """What to ask a person before; None if it needs no asking."""
        return None

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        """Do it. A tool that fails says so in its outcome, or raises a ToolError; being cancelled it raises
        CancelledError, and leaves nothing."""
        ...


@runtime_checkable
class Lasting(Protocol):
    """A tool that may have something going on between its calls."""

    async def close(self) -> None:
        """The session ends, and with it all that the tool started."""
        ...
