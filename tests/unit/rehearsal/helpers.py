"""Owns what the tests of the rehearsal share: tools, requests, and how an answer is asked for and written."""

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
    """A function tool; every property is required unless it is said which."""
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
    said = tuple([user(turn) if isinstance(turn, str) else turn for turn in turns])
    return Request(said, model, tools, choice, Settings(**settings))


def respond(asked: Request, **options: Any) -> Response:
    """The answer as a whole, which must not be a fault."""
    found = rehearsal.answer(asked, **options).response()
    assert isinstance(found, Response), found
    return found


def fault(asked: Request, **options: Any) -> Fault:
    found = rehearsal.answer(asked, **options).response()
    assert isinstance(found, Fault), found
    return found


def text(response: Response) -> str:
    return "".join([part.text for part in response.parts if isinstance(part, Text)])


def calls(response: Response) -> list[tuple[str, Any]]:
    return [(part.name, part.input) for part in response.parts if isinstance(part, ToolCall)]


def called(asked: Request, **options: Any) -> list[tuple[str, Any]]:
    return calls(respond(asked, **options))


def said(asked: Request, **options: Any) -> str:
    return text(respond(asked, **options))


def after(asked: Request, response: Response, *outputs: str, is_error: bool = False) -> Request:
    """The next request: the answer, and a result for each call in it."""
    made = [part for part in response.parts if isinstance(part, ToolCall)]
    results = tuple(
        [
            ToolResult(call.id, (Text(output),), call.name, is_error, custom=call.custom)
            for call, output in zip(made, outputs, strict=True)
        ]
    )
    turns = (*asked.turns, Turn("assistant", response.parts), Turn("tool", results))
    return Request(turns, asked.model, asked.tools, asked.choice, asked.settings)


def events(asked: Request, **options: Any) -> list[Event]:
    return [event for _, event in rehearsal.answer(asked, **options).events()]


def written(dialect: str, response: Response, asked: Request) -> bytes:
    """The whole answer as a client of the dialect gets it."""
    return get(dialect).write_response(response, Context(ORIGIN, dialect, created=5, answers=asked))


def streamed(dialect: str, steps: list[Event], asked: Request) -> bytes:
    """The stream as a client of the dialect gets it."""
    writer = get(dialect).writer(Context(ORIGIN, dialect, created=5, answers=asked))
    return b"".join([writer.send(event) for event in steps]) + writer.close()
