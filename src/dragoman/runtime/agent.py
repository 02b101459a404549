"""Owns the class Agent: a model with tools in a folder, for synchronous and asynchronous Python.

agent = Agent("anthropic/claude-sonnet-4-5", folder="project", policy="edits")
print(agent.ask("What does this project do?").text)

async with Agent() as agent:
    async for happening in agent.stream("And its tests?"):
        ...
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec import Struct

from ..canon.losses import Loss
from ..canon.parts import Media, Part, Text
from ..canon.request import Settings
from ..canon.response import Usage
from ..store.user_files import config_folder
from ..transport.client_interface import Limits as Waits
from ..transport.proxy_settings import client
from ..transport.upstream import Upstream, from_environment
from . import system_prompt
from .builtin import tools as builtin_tools
from .builtin.save_memory import remembered
from .events import Content, Finished, Happening, Lost, Reason, ToolCallRequest
from .history import appended
from .loop import Limits, Loop, unsaved
from .policy import Mode, Policy
from .session import Session
from .telemetry import Telemetry
from .tool import Tool, ToolEnvironment
from .toolbox import Approve, Toolbox
from .upstreams import Net, Upstreams, usual_model

if TYPE_CHECKING:
    from .mcp.config import ServerConfig
    from .mcp.servers import Servers


class Reply(Struct, frozen=True):
    """The outcome of a question."""

    text: str
    """The model's text after its last call."""
    reason: Reason
    usage: Usage = Usage()
    losses: tuple[Loss, ...] = ()
    detail: str = ""


class Agent:
    """A model, its tools, and one conversation. With `async with`, connections and servers stay open between
    questions."""

    def __init__(
        self,
        model: str = "",
        *,
        folder: str | Path | Iterable[str | Path] = ".",
        tools: Iterable[Tool] | None = None,
        mcp: Mapping[str, ServerConfig] | None = None,
        policy: Policy | Mode = "ask",
        approve: Approve | None = None,
        defer: bool = False,
        system: str = "",
        session: Session | None = None,
        settings: Settings | None = None,
        limits: Limits | None = None,
        save: Callable[[Session], None] = unsaved,
        telemetry: Telemetry | None = None,
        upstreams: Mapping[str, Upstream] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`model` is `upstream/model`. The default is the usual model of the first upstream that the environment names,
        else the rehearsal. `tools` defaults to all built-in tools. `system` is appended to our own system prompt. An
        earlier `session` is continued, by another model if `model` is given."""
        self._environment = os.environ if environment is None else environment
        self._upstreams = from_environment(self._environment) if upstreams is None else upstreams
        folders = (folder,) if isinstance(folder, str | Path) else tuple(folder)
        self._workspace = tuple([Path(one).resolve() for one in folders])
        self._tools, self._mcp = None if tools is None else tuple(tools), mcp or {}
        self._works = self._tools is None or bool(self._tools) or bool(self._mcp)
        self.policy = policy if isinstance(policy, Policy) else Policy(policy)
        self._approve, self._defer, self._system = approve, defer, system
        self._settings, self._limits, self._save, self._telemetry = settings, limits, save, telemetry
        self.session = session or Session(id=secrets.token_hex(8))
        if model or not self.session.model:
            self.session.model = model or usual_model(self._upstreams, self._environment)
        self.servers: Servers | None = None
        self.toolbox = Toolbox()
        self._stack: AsyncExitStack | None = None
        self._loop: Loop | None = None

    @property
    def model(self) -> str:
        """The model that answers. Another model can be set at any time; it gets the whole conversation."""
        return self.session.model

    @model.setter
    def model(self, name: str) -> None:
        self.session.model = name

    def ask(self, prompt: str | Iterable[Part], *media: Media) -> Reply:
        """Ask, and wait for the reply. Inside a running event loop use `await agent.asked(...)` instead."""
        return asyncio.run(self.asked(prompt, *media))

    async def asked(self, prompt: str | Iterable[Part], *media: Media) -> Reply:
        """Like `ask`, for asynchronous Python."""
        pieces: list[str] = []
        losses: list[Loss] = []
        end = Finished("stop")
        async with aclosing(self.stream(prompt, *media)) as happenings:
            async for happening in happenings:
                if isinstance(happening, Content):
                    pieces.append(happening.value)
                elif isinstance(happening, Lost):
                    losses += happening.losses
                elif isinstance(happening, Finished):
                    end = happening
                elif isinstance(happening, ToolCallRequest):
                    pieces.clear()
        return Reply("".join(pieces), end.finish_reason, end.usage, tuple(losses), end.detail)

    async def stream(self, prompt: str | Iterable[Part], *media: Media) -> AsyncGenerator[Happening, None]:
        """Ask, and yield the events of the run as they happen."""
        if not self.session.turns and self._works:
            self.session.turns = appended((), *system_prompt.opening(self._workspace, date.today()))
        words = (Text(prompt),) if isinstance(prompt, str) else tuple(prompt)
        self.session.say((*words, *media))
        async with aclosing(self.resume()) as happenings:
            async for happening in happenings:
                yield happening

    async def resume(self) -> AsyncGenerator[Happening, None]:
        """Continue the run that was interrupted, paused, or waits for approvals."""
        own = self._loop is None
        if own:
            await self.__aenter__()
        assert self._loop is not None
        try:
            async with aclosing(self._loop.run(self.session)) as happenings:
                async for happening in happenings:
                    yield happening
        finally:
            if own:
                await self.close()

    def pause(self) -> None:
        """End the run after the current step."""
        if self._loop is not None:
            self._loop.pause()

    async def __aenter__(self) -> Agent:
        async with AsyncExitStack() as stack:
            config = config_folder(self._environment)
            self.session.system = system_prompt.system(remembered(config), self._system, tools=self._works)
            net = Net(client(Waits(), self._environment), self._environment, time.time)
            stack.callback(net.client.close)
            self.toolbox = Toolbox(builtin_tools() if self._tools is None else self._tools)
            stack.push_async_callback(self.toolbox.close)
            if self._mcp:
                from .mcp.servers import Servers  # imported late: the SDK takes most of a second to load

                self.servers = await stack.enter_async_context(Servers(self._mcp, self._workspace))
                self.servers.join(self.toolbox)
            around = ToolEnvironment(self._workspace, self.policy.passed(self._environment), config=config)
            self._loop = Loop(
                Upstreams(self._upstreams, net),
                self.toolbox,
                around,
                self.policy,
                approve=self._approve,
                defer=self._defer,
                settings=self._settings,
                limits=self._limits,
                save=self._save,
                telemetry=self._telemetry,
            )
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close connections and MCP servers, and end the processes that tools started."""
        stack, self._stack, self._loop = self._stack, None, None
        if stack is not None:
            await stack.aclose()
