"""Owns the class Agent: a model with tools in a folder, for synchronous and asynchronous Python.

agent = Agent("anthropic/claude-opus-5", tools=[weather, *builtin("read_file")])
print(agent.ask("Do I need a coat in Paris?").text)

async with Agent() as agent:
    async for happening in agent.stream("And its tests?"):
        ...
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import secrets
import time
import warnings
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, aclosing
from copy import copy
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import msgspec
from msgspec import Struct

from ..canon.losses import Loss
from ..canon.parts import Media, Part, Text, ToolResult
from ..canon.request import Format, Settings
from ..canon.response import Usage
from ..canon.turns import Turn
from ..errors import ConfigError
from ..facts.windows_and_prices import WindowAndPrices
from ..store import Store
from ..store.mcp_logins import Logins
from ..store.sqlite_entry_store import SqliteStore, usual_file
from ..store.user_files import config_folder
from ..transport.http_client_interface import ConnectionLimits
from ..transport.proxy_and_client_choice import client
from ..transport.search_service_config import SearchService
from ..transport.upstream_record_and_environment import REHEARSAL, Upstream, from_environment
from . import system_prompt_and_first_turns
from .builtin_tools import endpoint_of, works_in_folder
from .builtin_tools import tools as builtin_tools
from .builtin_tools.read_many_files import ReadManyFiles
from .builtin_tools.run_shell_command import RunShellCommand
from .builtin_tools.save_memory import read_memories
from .call_runner import AfterCall, BeforeCall
from .conversation_store import ConversationStore, find
from .diff_viewer_interface import DiffViewer
from .edit_journal import EditJournal
from .events import Content, Finished, Lost, ProjectInstructions, Reason, RunEvent, ToolCallRequest
from .function_tools import as_tools
from .history import append_turns
from .loop import Limits, Loop, save_nothing
from .models_of_upstreams import Binary, NetworkAccess, Upstreams, usual_model
from .open_telemetry import OpenTelemetry
from .policy import Mode, Policy
from .project_instructions import as_text, found_instructions
from .resumable_conversation import Session
from .sandbox_interface import Sandbox
from .sandboxes import AUTO, SandboxChoice, choose_sandbox
from .structured_output import OutputError, output_format, read_output
from .telemetry_events import Telemetry
from .tool_interface import Confirmation, FileEdit, Kind, Outcome, Tool, ToolEnvironment, ToolError
from .toolbox import Approve, Toolbox

if TYPE_CHECKING:
    from .mcp.config import ServerConfig
    from .mcp.server_requests import Elicit
    from .mcp.servers import Servers


T = TypeVar("T")

_TRIES = 2
"""Maximum number of requests for an answer that fits a type."""


class Reply(Struct, Generic[T], frozen=True):
    """The outcome of a question."""

    text: str
    """The model's text after its last call."""
    reason: Reason
    usage: Usage = Usage()
    losses: tuple[Loss, ...] = ()
    detail: str = ""
    value: T | None = None
    """The answer as a value of the type in `output=`."""
    cost: float | None = None
    """US dollars for the whole run. None: a price is unknown."""


class Agent:
    """A model, its tools, and one conversation. Under `async with` connections stay open between two questions.

    - `model`: `upstream/model`. Default: the usual model of the first upstream that the environment names, else the
      rehearsal. `upstreams` and `environment` replace those of the process.
    - `tools`: functions and tools. Default: all built-in tools. `hosted`: families of tools that the upstream itself
      runs (web_search, web_fetch). `search`: a web search service for upstreams without one. `mcp`: MCP servers.
    - `policy` and `approve`: which calls run, and who is asked. `sandbox`: where commands run: `auto` (the first
      sandbox that works here), `off`, a name, or a sandbox of your own. `elicit`: asks the person the questions of MCP
      servers; without it the questions are declined.
    - `before_call` sees each call and may refuse it. `after_call` sees each result and may replace it.
    - `system` follows our own system text. `instructions`: the model gets AGENTS.md, GEMINI.md and CLAUDE.md of the
      project. `full_context`: the model gets all files of the folder. `memory`: the file for remembered facts.
    - `session` continues a conversation, by its id in the store or as the program kept it; `model` may name another
      model. `store=True` keeps the conversation in the user's store, where `dragoman log` finds it. `journal` keeps
      edits of files, so that they can be taken back. `diffs`: an editor in which the person sees edits first.
    - `models`: your own windows and prices by `upstream/model`, where * matches any characters.
    - `binary="summarise"` replaces media in results by a line that names their type.
    """

    def __init__(
        self,
        model: str = "",
        *,
        folder: str | Path | Iterable[str | Path] = ".",
        tools: Iterable[Tool | Callable[..., Any]] | None = None,
        mcp: Mapping[str, ServerConfig] | None = None,
        policy: Policy | Mode = "ask",
        approve: Approve | None = None,
        defer: bool = False,
        system: str = "",
        session: Session | str | None = None,
        store: Store | bool = False,
        settings: Settings | None = None,
        limits: Limits | None = None,
        before_call: BeforeCall | None = None,
        after_call: AfterCall | None = None,
        save: Callable[[Session], None] = save_nothing,
        journal: EditJournal | None = None,
        sandbox: Sandbox | str = AUTO,
        elicit: Elicit | None = None,
        telemetry: Telemetry | Literal["otel"] | None = None,
        upstreams: Mapping[str, Upstream] | None = None,
        models: Mapping[str, WindowAndPrices] | None = None,
        search: SearchService | None = None,
        hosted: Iterable[str] = (),
        binary: Binary = "native",
        diffs: DiffViewer | None = None,
        instructions: bool = True,
        full_context: bool = False,
        memory: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """The docstring of the class explains the parameters."""
        self._environment = os.environ if environment is None else environment
        self._upstreams = from_environment(self._environment) if upstreams is None else upstreams
        self._models, self._hosted = models or {}, tuple(hosted)
        self._binary: Binary = binary
        self._search, self._diffs = search, diffs
        self._full_context, self._memory = full_context, None if memory is None else Path(memory).expanduser()
        self._reads_instructions = instructions
        self.instructions: tuple[Path, ...] = ()
        """The files whose instructions were given to the model at the beginning of this conversation."""
        folders = (folder,) if isinstance(folder, str | Path) else tuple(folder)
        self._workspace = tuple([Path(one).resolve() for one in folders])
        self._tools, self._mcp = None if tools is None else as_tools(tools), mcp or {}
        # MCP servers may work in the folder, too.
        self._works = self._tools is None or works_in_folder(self._tools) or bool(self._mcp)
        self.policy = policy if isinstance(policy, Policy) else Policy(policy)
        self._approve, self._defer, self._system = approve, defer, system
        self._settings, self._limits = settings or Settings(thoughts=True), limits
        self._hooks = (before_call, after_call)
        self._telemetry = OpenTelemetry() if telemetry == "otel" else telemetry
        self._format: Format | None = None
        self._save, self._journal = save, journal
        self._sandbox, self._elicit = sandbox, elicit
        self.sandbox: SandboxChoice | None = None
        """The sandbox for commands. None: the agent is not open, or has no tool that runs commands."""
        found = self._stored_session(session, store)
        self.session = found or Session(id=secrets.token_hex(8))
        if model or not self.session.model:
            self.session.model = model or usual_model(self._upstreams, self._environment)
        self.servers: Servers | None = None
        self.toolbox = Toolbox()
        self._stack: AsyncExitStack | None = None
        self._loop: Loop | None = None

    def _stored_session(self, session: Session | str | None, store: Store | bool) -> Session | None:
        """The conversation to continue. With a store, the conversation is kept there after each step."""
        if store is False:
            if isinstance(session, str):
                raise ConfigError("session", session, problem="an id is searched in a store: set store=True as well")
            return session
        opened = SqliteStore(usual_file(self._environment)) if store is True else store
        keep, save = ConversationStore(opened, str(self._workspace[0]), warnings.warn), self._save

        def both(session: Session) -> None:
            keep(session)
            save(session)

        self._save, self._journal = both, self._journal or EditJournal(opened)
        if not isinstance(session, str):
            return session
        entry = find(opened, session)
        if entry is None:
            raise ConfigError(
                "session", session, problem="the store has no such conversation; `dragoman log` lists them"
            )
        return keep.read(entry)

    @property
    def model(self) -> str:
        """The model that answers. Another model can be set at any time; it gets the whole conversation."""
        return self.session.model

    @model.setter
    def model(self, name: str) -> None:
        self.session.model = name

    @property
    def dialect(self) -> str:
        """The dialect of the model's upstream; "" for the rehearsal, which has none."""
        upstream = self._upstreams.get(self.model.partition("/")[0])
        return upstream.dialect if upstream is not None and upstream.dialect != REHEARSAL else ""

    @overload
    def ask(self, prompt: str | Iterable[Part], *media: Media) -> Reply[None]: ...
    @overload
    def ask(self, prompt: str | Iterable[Part], *media: Media, output: type[T]) -> Reply[T]: ...
    def ask(self, prompt: str | Iterable[Part], *media: Media, output: type[T] | None = None) -> Reply[Any]:
        """Ask, and wait for the answer. With `output` the answer is read into that type (`Reply.value`).

        In a notebook, or wherever an event loop runs, the question is asked in a thread. Asynchronous code awaits
        `asked` instead.
        """
        return _run(self._ask_for(prompt, media, output), self._loop is not None)

    @overload
    async def asked(self, prompt: str | Iterable[Part], *media: Media) -> Reply[None]: ...
    @overload
    async def asked(self, prompt: str | Iterable[Part], *media: Media, output: type[T]) -> Reply[T]: ...
    async def asked(self, prompt: str | Iterable[Part], *media: Media, output: type[T] | None = None) -> Reply[Any]:
        """Like `ask`, asynchronously. Raises OutputError if the answer does not fit `output`, even after a second
        request."""
        return await self._ask_for(prompt, media, output)

    async def _ask_for(self, prompt: str | Iterable[Part], media: tuple[Media, ...], output: Any) -> Reply[Any]:
        if output is None:
            return await self._answer(prompt, media)
        self._format = output_format(output)
        try:
            for tries in range(_TRIES):
                reply = await self._answer(prompt, media)
                try:
                    return msgspec.structs.replace(reply, value=read_output(reply.text, output))
                except OutputError as error:
                    # An answer that was cut or refused would not fit the second time either.
                    if tries == _TRIES - 1 or reply.reason != "stop":
                        raise
                    # The media are in the conversation already.
                    prompt, media = f"This answer cannot be used: {error.why}. Answer with the JSON alone.", ()
            raise AssertionError("unreachable")
        finally:
            # The format belongs to this question only.
            self._format = None

    async def _answer(self, prompt: str | Iterable[Part], media: tuple[Media, ...]) -> Reply[Any]:
        pieces: list[str] = []
        losses: list[Loss] = []
        end = Finished("stop")
        async with aclosing(self.stream(prompt, *media)) as events:
            async for event in events:
                if isinstance(event, Content):
                    pieces.append(event.value)
                elif isinstance(event, Lost):
                    losses += event.losses
                elif isinstance(event, Finished):
                    end = event
                elif isinstance(event, ToolCallRequest):
                    # The text before a call is not part of the answer: it only announces the call.
                    pieces.clear()
        return Reply("".join(pieces), end.finish_reason, end.usage, tuple(losses), end.detail, cost=end.cost)

    async def stream(self, prompt: str | Iterable[Part], *media: Media) -> AsyncGenerator[RunEvent, None]:
        """Ask, and yield the events of the run as they happen."""
        # Without tools for the folder, the model gets no description of the folder.
        if not self.session.turns and self._works:
            self.session.turns = append_turns((), *await self._opening_turns())
            if self.instructions:
                yield ProjectInstructions(tuple([str(path) for path in self.instructions]))
        words = (Text(prompt),) if isinstance(prompt, str) else tuple(prompt)
        self.session.say((*words, *media))
        async with aclosing(self.resume()) as events:
            async for event in events:
                yield event

    async def _opening_turns(self) -> tuple[Turn, Turn]:
        """The first turns: the folder, the project's instructions, and with `full_context` its files."""
        # In a thread: the search for files would stop the event loop.
        found = await asyncio.to_thread(found_instructions, self._workspace) if self._reads_instructions else ()
        self.instructions = tuple([one.path for one in found])
        files: tuple[Text | Media, ...] = ()
        if self._full_context:
            # The tool leaves out ignored files, binary files and media.
            content = (await ReadManyFiles().run({"paths": ["**/*"]}, ToolEnvironment(self._workspace))).content
            files = (Text(content),) if isinstance(content, str) else () if isinstance(content, ToolResult) else content
        return system_prompt_and_first_turns.opening_turns(self._workspace, date.today(), as_text(found), files)

    async def resume(self) -> AsyncGenerator[RunEvent, None]:
        """Continue the run that was interrupted, paused, or waits for approvals."""
        # Without `async with`, each question opens its own connections and closes them again.
        own = self._loop is None
        if own:
            await self.__aenter__()
        assert self._loop is not None
        self._loop.settings = msgspec.structs.replace(self._settings, format=self._format or self._settings.format)
        try:
            async with aclosing(self._loop.run(self.session)) as events:
                async for event in events:
                    yield event
        finally:
            if own:
                await self.close()

    async def known(self) -> WindowAndPrices:
        """The known values of the model's window and prices. Under `async with` only."""
        return await self._open_loop().known(self.session)

    def offered(self) -> tuple[str, ...]:
        """The names of the tools that are declared to the model. Under `async with` only."""
        return tuple([tool.name for tool in self._open_loop().offered(self.session)])

    async def check(self) -> None:
        """Find out whether the model can be asked. ConfigError where the key is missing or refused. Under `async with`
        only."""
        await self._open_loop().check(self.session)

    async def compact(self) -> list[RunEvent]:
        """Put a summary in place of the earlier turns, if that makes the history shorter. Under `async with` only."""
        events = await self._open_loop().compact(self.session)
        self._save(self.session)
        return events

    def _open_loop(self) -> Loop:
        if self._loop is None:
            raise ConfigError("agent", self.model, problem="it is not open: use it under `async with`")
        return self._loop

    def _keep_edit(self, edit: FileEdit) -> None:
        if self._journal is not None:
            try:
                self._journal.record(self.session, edit)
            except ConfigError as error:  # the edit is made, so a failure of the journal must not fail the call
                warnings.warn(f"the edit of {edit.path} cannot be taken back: {error}", stacklevel=2)

    def new_conversation(self) -> None:
        """Begin a new conversation with the same model, tools and permissions. The previous conversation stays in the
        store."""
        before = self.session
        self.session = Session(id=secrets.token_hex(8), model=before.model, system=before.system)
        # The next question reads the files again.
        self.instructions = ()

    def pause(self) -> None:
        """End the run after the current step."""
        if self._loop is not None:
            self._loop.pause()

    async def __aenter__(self) -> Agent:
        # If one step fails, the stack closes everything that the earlier steps opened.
        async with AsyncExitStack() as stack:
            config = config_folder(self._environment)
            own = system_prompt_and_first_turns.own_system(self._environment) if self._works else ""
            facts = read_memories(config, self._memory)
            self.session.system = system_prompt_and_first_turns.system_prompt(
                facts, self._system, tools=self._works, text=own
            )
            net = NetworkAccess(client(ConnectionLimits(), self._environment), self._environment, time.time)
            stack.callback(net.client.close)
            search = endpoint_of(self._search, self._environment) if self._search is not None else None
            tools = builtin_tools(search=search) if self._tools is None else self._tools
            # Before the toolbox, which compiles the schemas: a sandbox adds a parameter to a schema.
            await self._set_sandbox(tools)
            self.toolbox = Toolbox(tools)
            stack.push_async_callback(self.toolbox.close)
            if self._mcp:
                from .mcp.server_requests import ServerRequests  # imported late: the SDK takes most of a second to load
                from .mcp.servers import Servers

                requests = ServerRequests(self._elicit, self._permits_sampling)
                servers = Servers(self._mcp, self._workspace, requests, Logins(self._environment))
                self.servers = await stack.enter_async_context(servers)
                self.servers.join(self.toolbox)
            # A command could send a secret away, so only harmless variables are passed.
            passed = self.policy.passed(self._environment)
            around = ToolEnvironment(
                self._workspace, passed, config=config, memory=self._memory, edited=self._keep_edit
            )
            self._loop = Loop(
                Upstreams(self._upstreams, net, self._models, self._binary),
                self.toolbox,
                around,
                self.policy,
                approve=self._approve,
                defer=self._defer,
                settings=self._settings,
                limits=self._limits,
                save=self._save,
                telemetry=self._telemetry,
                before_call=self._hooks[0],
                after_call=self._hooks[1],
                hosted=self._hosted,
                diffs=self._diffs,
            )
            # All is open, so the end of this block must not close anything. `close` does that later.
            self._stack = stack.pop_all()
        return self

    async def _permits_sampling(self, name: str, confirmation: Confirmation) -> bool:
        """Whether an MCP server may send a request to the model. Only the entry `server/sampling` counts, because
        `server/*` covers tools only."""
        exact = [entry for entry in self.policy.allow if entry == f"{confirmation.server}/{name}"]
        verdict = Policy(self.policy.mode, exact, self.policy.deny).judge(name, "other", confirmation)
        if verdict.word != "ask" or self._approve is None:
            return verdict.word == "run"
        approval = await self._approve(confirmation)
        self.policy.remember(name, confirmation, approval.answer)
        return approval.answer != "no"

    async def _set_sandbox(self, tools: Iterable[Tool]) -> None:
        """Give the tools for commands their sandbox. The probe of a sandbox runs processes, so it runs in a thread."""
        commands = [tool for tool in tools if isinstance(tool, RunShellCommand)]
        if not commands:
            return
        if isinstance(self._sandbox, str):
            self.sandbox = await asyncio.to_thread(choose_sandbox, self._sandbox)
        else:
            self.sandbox = SandboxChoice(self._sandbox)
        for tool in commands:
            if self.sandbox.sandbox is not None and tool.sandbox is None:
                tool.use_sandbox(self.sandbox.sandbox)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close connections and MCP servers, and end the processes that tools started."""
        # The fields are emptied first: a second call of `close` must find nothing to close.
        stack, self._stack, self._loop = self._stack, None, None
        if stack is not None:
            await stack.aclose()

    def as_tool(self, name: str, description: str, *, kind: Kind = "other") -> Tool:
        """This agent as a tool of another agent. Each call is a conversation of its own."""
        return _AgentTool(self, name, description, kind)

    def _with_empty_conversation(self) -> Agent:
        """The same agent with an empty conversation, which is not kept."""
        other = copy(self)
        other.session = Session(id=secrets.token_hex(8), model=self.model)
        # Nobody can resume the inner conversation later, so none of its calls may wait for an approval.
        other._defer, other._save, other._journal, other._format = False, save_nothing, None, None
        other.toolbox, other.servers, other._stack, other._loop = Toolbox(), None, None, None
        return other


class _AgentTool(Tool):
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {"prompt": {"type": "string", "description": "The task, with all that is needed to do it."}},
        "required": ["prompt"],
        "additionalProperties": False,
    }

    def __init__(self, agent: Agent, name: str, description: str, kind: Kind) -> None:
        self._agent, self.name, self.description, self.kind = agent, name, description, kind

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        """Ask the agent in a new conversation. Its tokens are added to those of the calling agent."""
        reply = await self._agent._with_empty_conversation().asked(str(arguments["prompt"]))  # pyright: ignore[reportPrivateUsage]
        around.spend(reply.usage, reply.cost)
        # The model's refusal is returned like any answer.
        if reply.reason not in ("stop", "refusal"):
            raise ToolError("execution_failed", f"{self.name} ended with {reply.reason}: {reply.detail}".rstrip(": "))
        return Outcome(reply.text, reply.text)


def _run(work: Coroutine[Any, Any, Reply[Any]], opened: bool) -> Reply[Any]:
    """Wait for asynchronous work, even where an event loop already runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # The open connections belong to the running event loop. A loop in another thread cannot use them.
    if opened:
        # Python warns about a coroutine that is neither awaited nor closed.
        work.close()
        raise ConfigError("agent", "ask", problem="inside of `async with` call `await agent.asked(...)`")
    with ThreadPoolExecutor(1) as pool:
        # The thread gets the caller's context variables.
        return pool.submit(contextvars.copy_context().run, asyncio.run, work).result()
