"""Owns the connection to one MCP server: connect, list tools, call, notice the end, connect again.

Each connection has a task of its own, because the SDK demands that the same task opens and closes it. A caller always
gets an answer or a ToolError.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import mcp_types as wire
from mcp import Client, InputRequiredRoundsExceededError, MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.inbound import find_invalid_x_mcp_header
from msgspec import Struct
from pydantic import ValidationError

from ... import __version__
from ...canon.response import Usage
from ..tool_interface import ToolError
from .config import ServerConfig
from .connection_transports import StreamNotes, transport
from .server_requests import Sample, Sampling, ServerRequests, answer_elicitation

T = TypeVar("T")

CONNECT_SECONDS = 60.0
"""Seconds until a server must be ready. Some servers are downloaded before they start."""
_CLOSE_SECONDS = 10.0
_PAGES = 100
"""Most pages of a tool list. A broken server may return a next page without end."""
_PAUSES = (1.0, 5.0, 30.0)
"""Pauses in seconds before the client listens for changes again."""

# The SDKs report a lost session in these words; the status itself does not reach the caller.
_FORGOTTEN = re.compile(r"(Not Found: )?Session (not found|terminated|has been terminated)", re.IGNORECASE)

_UNAUTHORIZED = 401

# The first revision without session and handshake (MCP 2026-07-28).
MODERN = "2026-07-28"


class OfferedTool(Struct, frozen=True):
    """A tool as its server describes it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    title: str = ""


class SkippedTool(Struct, frozen=True):
    """A tool that is not offered, or only under conditions, with the reason."""

    name: str
    why: str
    by_choice: bool = False
    """True if the user's configuration excludes the tool."""


class McpConnection:
    """A server with its name and configuration. It connects at first use."""

    def __init__(
        self,
        name: str,
        config: ServerConfig,
        workspace: tuple[Path, ...] = (),
        requests: ServerRequests | None = None,
        login: Callable[[], httpx2.Auth | None] = lambda: None,
    ) -> None:
        """`requests` answers requests of the server. `login` gives the authentication of each new connection."""
        self.name = name
        self.config = config
        self.workspace = workspace
        self.requests = requests or ServerRequests()
        self.sampling = Sampling(name, config.sampling_tokens, self.requests)
        self.login = login
        self.connect_seconds = CONNECT_SECONDS
        self.login_hint = f"sign in with: dragoman mcp login {name}"
        self.tools: tuple[OfferedTool, ...] = ()
        self.refused: tuple[SkippedTool, ...] = ()
        """Tools with declarations that break the protocol."""
        self.version = ""
        """The agreed protocol version."""
        self.failure = ""
        """Why the server is not connected. "": it is connected, or was never tried."""
        self.changed: Callable[[], None] = lambda: None
        """Called after a change of the tools."""
        self._life: _LiveConnection | None = None
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def connected(self) -> bool:
        """Whether the connection is usable now."""
        return self._life is not None and self._life.client is not None

    async def connect(self) -> None:
        """Connect if needed, and list the tools. ToolError: the server cannot be reached."""
        await self._usable_connection()

    async def _usable_connection(self) -> _LiveConnection:
        async with self._lock:
            if self._life is not None and self._life.client is not None:
                return self._life
            if self._closed:
                raise ToolError("mcp_unreachable", f"The session with the MCP server {self.name!r} has ended.")
            await self._end()
            # After an earlier connection the tools may have changed meanwhile.
            again = bool(self.version)
            self._life = life = _LiveConnection(self)
            limit = min(self.connect_seconds, self.config.seconds)
            await asyncio.wait({life.task, life.ready}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if life.client is not None:
                self.failure = ""
                if again:
                    self.changed()
                return life
            late = not life.task.done()
            await self._end()
            why = f"it was not ready after {limit:g} s" if late else _failure_reason(life.task)
            hint = self.login_hint if life.notes.status == _UNAUTHORIZED else ""
            details = "; ".join([part for part in (self.config.url, str(life.notes), hint) if part])
            self.failure = f"{why} ({details})" if details else why
            raise ToolError("mcp_unreachable", f"The MCP server {self.name!r} cannot be reached: {self.failure}")

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        report: Callable[[str], None] = lambda text: None,
        sample: Sample | None = None,
        spend: Callable[[Usage], None] = lambda usage: None,
    ) -> wire.CallToolResult:
        """Call a tool. `sample` answers the server's requests to the model, and `spend` counts their tokens. ToolError:
        the connection, the protocol or the server failed."""

        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            report(message or (f"{progress:g} of {total:g}" if total else f"{progress:g}"))

        async def once(client: Client) -> wire.CallToolResult:
            return await client.call_tool(tool, dict(arguments), progress_callback=report_progress)

        self.sampling.sample, self.sampling.spend = sample, spend
        try:
            return await self._request(tool, once)
        finally:
            # Outside of a call the server has no reason to ask the model.
            self.sampling.sample = None

    async def resources(self) -> tuple[wire.Resource, ...]:
        """The resources of the server. ToolError as for a call."""

        async def once(client: Client) -> tuple[wire.Resource, ...]:
            # A server without the capability answers -32601, method not found.
            if client.server_capabilities.resources is None:
                return ()
            return tuple(await _pages(lambda cursor: client.list_resources(cursor=cursor), "resources"))

        return await self._request("resources", once)

    async def read_resource(self, uri: str) -> wire.ReadResourceResult:
        """The content of a resource. ToolError as for a call."""
        return await self._request(uri, lambda client: client.read_resource(uri))

    async def prompts(self) -> tuple[wire.Prompt, ...]:
        """The prompts of the server. ToolError as for a call."""

        async def once(client: Client) -> tuple[wire.Prompt, ...]:
            if client.server_capabilities.prompts is None:
                return ()
            return tuple(await _pages(lambda cursor: client.list_prompts(cursor=cursor), "prompts"))

        return await self._request("prompts", once)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> wire.GetPromptResult:
        """A prompt with its arguments filled in. ToolError as for a call."""
        return await self._request(name, lambda client: client.get_prompt(name, dict(arguments)))

    async def _request(self, what: str, once: Callable[[Client], Awaitable[T]]) -> T:
        """Send a request, and once more if the server has lost our session. `what` names the request in errors."""
        life = await self._usable_connection()
        try:
            # One time limit for both attempts, so that the second attempt does not prolong the wait of the caller.
            async with asyncio.timeout(self.config.seconds):
                assert life.client is not None
                try:
                    return await once(life.client)
                except MCPError as error:
                    life.session_lost = life.session_lost or self._is_session_lost(error)
                    if not life.session_lost:
                        raise
                    async with self._lock:
                        if self._life is life:  # otherwise another call has connected already
                            await self._end()
                    again = (await self._usable_connection()).client
                    assert again is not None
                    return await once(again)
        except TimeoutError:
            message = f"{what!r} of the MCP server {self.name!r} took longer than {self.config.seconds:g} s."
            raise ToolError("mcp_timeout", message) from None
        except MCPError as error:
            raise self._call_error(what, error) from error
        except (ValidationError, InputRequiredRoundsExceededError, RuntimeError, ValueError) as error:
            # The SDK refuses answers that break the protocol, or the tool's own output schema.
            message = f"The MCP server {self.name!r} gave no valid answer for {what!r}: {_first_line(error)}"
            raise ToolError("mcp_invalid", message) from error

    async def close(self) -> None:
        """Close the connection for good, and end the server's process."""
        self._closed = True
        async with self._lock:
            await self._end()

    async def _end(self) -> None:
        if self._life is not None:
            life, self._life = self._life, None
            await life.end()

    def _is_session_lost(self, error: MCPError) -> bool:
        """Whether the server has lost our session, for example after a restart. By the specification (2025-11-25,
        Streamable HTTP) the status is 404 then. The pattern matches the messages of the SDKs."""
        # Sessions exist over Streamable HTTP only, and only before MCP 2026-07-28.
        return bool(self.config.url) and self.version < MODERN and _FORGOTTEN.match(error.message) is not None

    def _call_error(self, tool: str, error: MCPError) -> ToolError:
        life = self._life
        # The call may have run. So it is not sent again, and the result names the reason.
        if error.code == wire.CONNECTION_CLOSED and (life is None or life.ended or life.task.done()):
            message = (
                f"The MCP server {self.name!r} ended during the call of {tool!r}. The call may have changed something. "
                "The next call connects to the server again."
            )
            last_output = f" Its last output: {life.notes}" if life is not None and str(life.notes) else ""
            return ToolError("mcp_lost", f"{message}{last_output}")
        message = f"The MCP server {self.name!r} refused the call of {tool!r}: {error.message} ({error.code})"
        return ToolError("mcp_error", message)


class _LiveConnection:
    """A connection from its opening to its end."""

    def __init__(self, of: McpConnection) -> None:
        self._of = of
        self.notes = StreamNotes()
        self.client: Client | None = None
        """The SDK's client, while the connection is usable."""
        self.ended = False
        self.session_lost = False
        """True if the server has lost our session. Then it has not run the call."""
        self._stale = False
        self._woken = asyncio.Event()
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._run(), name=f"mcp {of.name}")
        self.task.add_done_callback(_retrieve_exception)

    async def end(self) -> None:
        """End the connection, and wait for the end. The task is cancelled only if the connection is still opening,
        or if the close takes too long: the orderly end of a process takes some seconds."""
        if self.client is None and not self.ended:
            self.task.cancel()
        self._finish()
        await asyncio.wait({self.task}, timeout=_CLOSE_SECONDS)
        if not self.task.done():
            self.task.cancel()
            await asyncio.wait({self.task})
        self.ready.cancel()

    def _finish(self) -> None:
        self.ended = True
        self.client = None
        self._woken.set()

    def _note_change(self) -> None:
        self._stale = True
        self._woken.set()

    async def _run(self) -> None:
        of = self._of
        client = Client(
            transport(of.config, self.notes, self._finish, of.login()),
            client_info=wire.Implementation(name="dragoman", version=__version__),
            message_handler=self._on_message,
            elicitation_callback=self._elicit,
            # Capabilities are announced by callbacks. A server without tokens must not see sampling as possible
            # (deprecated since MCP 2026-07-28).
            sampling_callback=self._sample if of.config.sampling_tokens else None,
            # Only a local process can use folders of this machine.
            list_roots_callback=self._roots if of.workspace and of.config.command else None,
            cache=None,  # the SDK's cache is off: the tools are kept here, and listed again after a change
        )
        try:
            async with client:
                # The tools are listed before the connection counts as ready.
                await self._list_tools(client)
                if self.ended:
                    raise MCPError(wire.CONNECTION_CLOSED, "Connection closed")
                self.client = client
                # Clear the notes: refusals are normal while the SDK finds the protocol version of a server.
                self.notes.status, self.notes.strange = 0, ""
                self.ready.set_result(None)
                listening = asyncio.create_task(self._listen_for_changes(client))
                try:
                    await self._wait_for_end(client)
                finally:
                    listening.cancel()
                    await asyncio.wait({listening})
        finally:
            self._finish()

    async def _wait_for_end(self, client: Client) -> None:
        """Wait for the end of the connection. After a change of the tools, list them again."""
        while not self.ended:
            await self._woken.wait()
            self._woken.clear()
            if self._stale and not self.ended:
                self._stale = False
                await self._list_tools(client)
                self._of.changed()

    async def _list_tools(self, client: Client) -> None:
        """List the tools. The SDK drops tools with headers that protocol 2026-07-28 forbids, and only logs that. So the
        raw list is read before the SDK checks it."""
        of, refused = self._of, []
        of.version = client.protocol_version
        if client.server_capabilities.tools is None:
            of.tools, of.refused = (), ()
            return
        if of.version >= MODERN:
            for tool in await _pages(
                lambda cursor: client.session.send_request(_listing(cursor), wire.ListToolsResult)
            ):
                why = find_invalid_x_mcp_header(tool.input_schema)
                refused += [SkippedTool(tool.name, f"x-mcp-header: {why}")] if why is not None else []
        found = await _pages(lambda cursor: client.list_tools(cursor=cursor))
        of.tools = tuple([_offered_tool(tool) for tool in found])
        of.refused = tuple(refused)

    async def _on_message(self, message: Any) -> None:
        if isinstance(message, wire.ToolListChangedNotification):
            self._note_change()

    async def _listen_for_changes(self, client: Client) -> None:
        """Listen for changes: in protocol 2026-07-28 a server sends changes only to listeners."""
        tools = client.server_capabilities.tools
        # Older revisions send notifications/tools/list_changed without a subscription (MCP 2025-11-25).
        if client.protocol_version < MODERN or tools is None or not tools.list_changed:
            return
        for pause in chain(_PAUSES, repeat(_PAUSES[-1])):
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._note_change()
            except MCPError:
                return  # the server has no subscriptions
            except (SubscriptionLost, TimeoutError):
                pass  # the list below contains the missed changes
            await asyncio.sleep(pause)
            self._note_change()

    async def _elicit(self, context: Any, params: wire.ElicitRequestParams) -> wire.ElicitResult:
        return await answer_elicitation(self._of.name, params, self._of.requests.elicit)

    async def _sample(
        self, context: Any, params: wire.CreateMessageRequestParams
    ) -> wire.CreateMessageResult | wire.ErrorData:
        return await self._of.sampling.answer(params)

    async def _roots(self, context: Any) -> wire.ListRootsResult:
        roots = [wire.Root(uri=folder.resolve().as_uri(), name=folder.name) for folder in self._of.workspace]  # type: ignore[arg-type]
        return wire.ListRootsResult(roots=roots)


def _listing(cursor: str | None) -> wire.ListToolsRequest:
    return wire.ListToolsRequest(params=wire.PaginatedRequestParams(cursor=cursor))


async def _pages(page: Callable[[str | None], Any], what: str = "tools") -> list[Any]:
    """All pages of a list: tools, resources or prompts."""
    found: list[Any] = []
    cursor = None
    for _ in range(_PAGES):
        answer = await page(cursor)
        found += getattr(answer, what)
        cursor = answer.next_cursor
        if not cursor:
            return found
    raise ValueError(f"its list of {what} has more than {_PAGES} pages")


def _offered_tool(tool: wire.Tool) -> OfferedTool:
    # The display name is the title, then the title of the annotations, then the name (MCP 2025-11-25).
    title = tool.title or (tool.annotations.title if tool.annotations is not None else None) or ""
    return OfferedTool(tool.name, tool.description or title, tool.input_schema, title)


def _retrieve_exception(task: asyncio.Task[None]) -> None:
    """Read a task's exception, so that the event loop does not log it as never retrieved."""
    if not task.cancelled():
        task.exception()


def _failure_reason(task: asyncio.Task[None]) -> str:
    error = None if task.cancelled() else task.exception()
    # The SDK's task groups wrap errors several times. The first one is the cause.
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if error is None:
        return "it ended at once"
    return _first_line(error)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
