"""Owns helpers for the tests of the rehearsal: tools and requests, and functions that get and write an answer."""

from __future__ import annotations

import json
from typing import Any

from dragoman import rehearsal
from dragoman.canon import (
    Choice,
    Event,
    Fault,
    Part,
    Request,
    Response,
    Settings,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.rehearsal.thinking import ORIGIN


def tool(name: str, description: str = "", /, required: tuple[str, ...] | None = None, **properties: Any) -> Tool:
    """A function tool. By default every property is required."""
    names = list(properties) if required is None else list(required)
    schema = {"type": "object", "properties": properties, "required": names}
    return Tool(name, description, json.dumps(schema))


STRING = {"type": "string"}
NUMBER = {"type": "number"}
WEATHER = tool(
    "get_weather",
    "Get the current weather for a place",
    ("location",),
    location={"type": "string", "description": "The city"},
    unit={"type": "string", "enum": ["celsius", "fahrenheit"]},
)
READ = tool("read_file", "Reads a file", ("path",), path=STRING, limit={"type": "integer"})
WRITE = tool("write_file", "Writes a file", path=STRING, content=STRING)
ADD = tool("add", "Adds two numbers", a=NUMBER, b=NUMBER)
LIST = tool("list_files", "Lists the files of the folder")
PATCH = Tool("apply_patch", "Applies a patch", custom=True)
TOOLS = (WEATHER, READ, WRITE, ADD, LIST, PATCH)


def user(*parts: str | Part) -> Turn:
    return Turn("user", tuple([Text(part) if isinstance(part, str) else part for part in parts]))


def request(
    *turns: str | Turn,
    tools: tuple[Any, ...] = (),
    choice: Choice | None = None,
    model: str = "rehearsal/rules",
    **settings: Any,
) -> Request:
    all_turns = tuple([user(turn) if isinstance(turn, str) else turn for turn in turns])
    return Request(all_turns, model, tools, choice, Settings(**settings))


def respond(question: Request, **options: Any) -> Response:
    """The whole answer. It must not be a fault."""
    found = rehearsal.answer(question, **options).response()
    assert isinstance(found, Response), found
    return found


def fault(question: Request, **options: Any) -> Fault:
    found = rehearsal.answer(question, **options).response()
    assert isinstance(found, Fault), found
    return found


def text(response: Response) -> str:
    return "".join([part.text for part in response.parts if isinstance(part, Text)])


def calls(response: Response) -> list[tuple[str, Any]]:
    return [(part.name, part.input) for part in response.parts if isinstance(part, ToolCall)]


def calls_for(question: Request, **options: Any) -> list[tuple[str, Any]]:
    return calls(respond(question, **options))


def reply_text(question: Request, **options: Any) -> str:
    return text(respond(question, **options))


def next_request(question: Request, response: Response, *outputs: str, is_error: bool = False) -> Request:
    """The next request, with the answer and a result for each of its calls."""
    calls_made = [part for part in response.parts if isinstance(part, ToolCall)]
    results = tuple(
        [
            ToolResult(call.id, (Text(output),), call.name, is_error, custom=call.custom)
            for call, output in zip(calls_made, outputs, strict=True)
        ]
    )
    turns = (*question.turns, Turn("assistant", response.parts), Turn("tool", results))
    return Request(turns, question.model, question.tools, question.choice, question.settings)


def events(question: Request, **options: Any) -> list[Event]:
    return [event for _, event in rehearsal.answer(question, **options).events()]


def written(dialect: str, response: Response, question: Request) -> bytes:
    """The whole answer, written in the dialect of a client."""
    return get(dialect).write_response(response, Context(ORIGIN, dialect, created=5, answers=question))


def streamed(dialect: str, steps: list[Event], question: Request) -> bytes:
    """The stream, written in the dialect of a client."""
    writer = get(dialect).writer(Context(ORIGIN, dialect, created=5, answers=question))
    return b"".join([writer.send(event) for event in steps]) + writer.close()
