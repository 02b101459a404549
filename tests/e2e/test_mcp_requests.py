"""Requests of MCP servers to the person and to the model, and their resources and prompts.

The servers are real. They use the older and the newer protocol.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.canon.parts import Text, ToolCall
from dragoman.canon.request import Request
from dragoman.canon.response import Response, Stop, Usage
from dragoman.errors import ConfigError
from dragoman.runtime.mcp.config import ServerConfig
from dragoman.runtime.mcp.server_requests import Field, Question, ServerRequests
from dragoman.runtime.mcp.servers import Servers
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import Confirmation, ToolEnvironment
from dragoman.runtime.toolbox import Toolbox
from tests.e2e.mcp_servers.processes import ROOT
from tests.e2e.mcp_servers.server_with_many_tools import PDF

ERAS = [(), ("--handshake",)]
Work = Callable[[Servers, Toolbox], Awaitable[Any]]


def session(flags: tuple[str, ...], work: Work, requests: ServerRequests | None = None, tokens: int = 0) -> Any:
    """Connect to the server and run `work` with its tools. Returns the result of `work`."""
    config = ServerConfig(
        command=sys.executable,
        args=("-m", "tests.e2e.mcp_servers.server_with_resources_and_prompts", *flags),
        cwd=str(ROOT),
        sampling_tokens=tokens,
    )

    async def whole() -> Any:
        toolbox = Toolbox()
        async with asyncio.timeout(120), Servers({"library": config}, requests=requests) as servers:
            servers.join(toolbox)
            return await work(servers, toolbox)

    return asyncio.run(whole())


async def called(toolbox: Toolbox, name: str, **more: Any) -> tuple[Any, bool]:
    """Call a tool. Returns the answer that the tool got or the text of its error, and whether the call failed."""
    done = await toolbox.run(ToolCall("call_1", name, "{}"), ToolEnvironment((), **more), Policy(mode="all"))
    (part,) = done.result.parts
    assert isinstance(part, Text)
    return part.text if done.result.is_error else json.loads(part.text), done.result.is_error


@pytest.mark.parametrize("flags", ERAS)
def test_a_question_is_declined_without_a_person(flags: tuple[str, ...]) -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        assert await called(toolbox, "form") == ({"action": "decline"}, False)
        assert await called(toolbox, "page") == ({"action": "decline"}, False)

    session(flags, work)


@pytest.mark.parametrize("flags", ERAS)
def test_the_person_answers_a_form(flags: tuple[str, ...]) -> None:
    questions: list[Question] = []
    answers: list[dict[str, Any] | None] = [{"name": "Ada", "age": 36}, {"name": "Ada", "age": -1}, None, {}]

    async def elicit(question: Question) -> dict[str, Any] | None:
        questions.append(question)
        return answers.pop(0)

    async def work(servers: Servers, toolbox: Toolbox) -> None:
        given = {"action": "accept", "content": {"name": "Ada", "age": 36}}
        assert await called(toolbox, "form") == (given, False)
        assert await called(toolbox, "form") == ({"action": "decline"}, False), "the form refuses a negative age"
        assert await called(toolbox, "form") == ({"action": "decline"}, False)
        assert await called(toolbox, "page") == ({"action": "accept"}, False)
        assert await called(toolbox, "script") == ({"action": "decline"}, False), "the address is not one of a web page"

    session(flags, work, ServerRequests(elicit=elicit))
    fields = (
        Field("name", "text", "Your name", required=True),
        Field("age", "integer"),
        Field("colour", "choice", choices=("red", "green"), default="red"),
        Field("member", "boolean"),
    )
    assert questions[0] == Question("library", "Who are you?", fields)
    assert questions[3:] == [Question("library", "Pay.", url="https://pay.example/1")]


class Model:
    """A model that answers requests of a server and counts its tokens."""

    def __init__(self, tokens: int = 30, *answers: bool) -> None:
        self.requests: list[Request] = []
        self.confirmations: list[Confirmation] = []
        self.spent: list[Usage] = []
        self._tokens, self._answers = tokens, [*answers]

    async def sample(self, request: Request) -> Response:
        self.requests.append(request)
        return Response((Text("abc"),), Stop("stop"), model="m-1", usage=Usage(self._tokens, 0))

    async def permit(self, name: str, confirmation: Confirmation) -> bool:
        self.confirmations.append(confirmation)
        return self._answers.pop(0) if self._answers else True

    async def called(self, toolbox: Toolbox) -> tuple[Any, bool]:
        return await called(toolbox, "sample", answer=self.sample, spend=self.spent.append)


@pytest.mark.parametrize("flags", ERAS)
def test_a_server_uses_the_model_after_approval_and_within_its_limit(flags: tuple[str, ...]) -> None:
    model = Model(30, True, False, True)

    async def work(servers: Servers, toolbox: Toolbox) -> None:
        answer, failed = await model.called(toolbox)
        assert not failed and answer["content"]["text"] == "abc" and answer["model"] == "m-1"
        answer, failed = await model.called(toolbox)
        assert failed and "the user refused the request" in answer
        assert (await model.called(toolbox))[1] is False
        answer, failed = await model.called(toolbox)
        assert failed and "used up" in answer, "60 tokens are used, 50 are allowed"

    session(flags, work, ServerRequests(permit=model.permit), tokens=50)
    assert [request.settings.max_tokens for request in model.requests] == [50, 20]
    assert [turn.role for turn in model.requests[0].turns] == ["system", "user"]
    assert len(model.confirmations) == 3 and "system: Be short.\nuser: Sum up: a b c" in model.confirmations[0].title
    assert (model.confirmations[0].server, model.confirmations[0].tool) == ("library", "sampling")
    assert model.spent == [Usage(30, 0), Usage(30, 0)]


@pytest.mark.parametrize("flags", ERAS)
def test_without_configured_tokens_no_server_uses_the_model(flags: tuple[str, ...]) -> None:
    model = Model()

    async def work(servers: Servers, toolbox: Toolbox) -> None:
        answer, failed = await model.called(toolbox)
        assert failed and "not supported" in answer

    session(flags, work, ServerRequests(permit=model.permit))
    assert model.requests == [] and model.confirmations == []


@pytest.mark.parametrize("flags", ERAS)
def test_resources_and_prompts_are_listed_and_read(flags: tuple[str, ...]) -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        library = servers["library"]
        assert [str(one.uri) for one in await library.resources()] == ["book://one", "book://cover"]
        (content,) = (await library.read_resource("book://one")).contents
        assert content.text == "Once upon a time.\n"  # type: ignore[union-attr]
        (one,) = await library.prompts()
        assert one.name == "review"
        messages = (await library.prompt("review", {"title": "Emma"})).messages
        assert [message.role for message in messages] == ["user", "assistant"]
        with pytest.raises(ConfigError):
            servers["archive"]

    session(flags, work)


def test_the_command_line_shows_resources_and_prompts(tmp_path: Path) -> None:
    command = {
        "command": sys.executable,
        "args": ["-m", "tests.e2e.mcp_servers.server_with_resources_and_prompts"],
        "cwd": str(ROOT),
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"library": command}}))

    def run(*words: str) -> bytes:
        main = "from dragoman.cli.main import main; main()"
        whole = [sys.executable, "-c", main, "mcp", *words, "--config", str(tmp_path / "mcp.json")]
        done = subprocess.run(whole, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("resources").decode().splitlines() == [
        "library  book://one  The first book  text/plain",
        "library  book://cover  cover  application/pdf",
    ]
    assert run("read", "library", "book://one") == b"Once upon a time.\n"
    assert run("read", "library", "book://cover") == base64.b64decode(PDF)
    assert run("prompts") == b"library  review title [tone]  Review a book\n"
    assert run("prompt", "library", "review", "title=Emma") == b"Review Emma.\n\n(assistant) Gladly.\n"
    assert json.loads(run("resources", "--json"))[0]["uri"] == "book://one"


def test_the_chat_adds_resources_and_prompts_to_the_next_message(tmp_path: Path) -> None:
    command = {
        "command": sys.executable,
        "args": ["-m", "tests.e2e.mcp_servers.server_with_resources_and_prompts"],
        "cwd": str(ROOT),
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"library": command}}))
    typed = [
        "/mcp",
        "/mcp resources",
        "/mcp prompts",
        "/mcp read library book://one",
        "/mcp prompt library review title=Emma",
        "/mcp throw",
        "Go.",
        "/wire openai-chat",
    ]
    main = "from dragoman.cli.main import main; main()"
    whole = [
        sys.executable,
        "-c",
        main,
        "chat",
        "--model",
        "rehearsal/rules",
        "--no-store",
        "--mcp",
        str(tmp_path / "mcp.json"),
    ]
    environment = {**os.environ, "HOME": str(tmp_path)}
    lines = "\n".join(typed)
    done = subprocess.run(whole, input=lines, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "4 tools" in done.stdout and "library  book://cover  cover" in done.stdout
    assert "library  review title [tone]  Review a book" in done.stdout
    assert "write /mcp resources, /mcp read SERVER URI" in done.stderr
    sent = done.stdout.partition('"messages"')[2]
    places = [sent.find(text) for text in ("Once upon a time.", "Review Emma.", "(assistant) Gladly.", "Go.")]
    assert -1 not in places and places == sorted(places)
