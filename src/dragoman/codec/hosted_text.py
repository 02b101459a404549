"""Uses of hosted tools in a history as text.

Two families cross so to every upstream but the one that made the use: runs of a program, and calls of an MCP server's
tool. What an upstream takes of others' uses differs by dialect, and is written in the dialects' READMEs. The text says
what was asked and what came back, so that the model still knows of both.
"""

from __future__ import annotations

from ..canon.parts import HostedCall, HostedResult, Media, Part, Text
from ..crossing import Crossing
from .hosted_calls import drop, members, word


def program(call: HostedCall) -> tuple[str, str]:
    """What was run, and its language; "" where the language is not known."""
    said = members(call.arguments)
    return word(said, "code"), word(said, "language")


def output(result: HostedResult | None) -> str:
    """All that came back in words, each text on lines of its own."""
    out = ""
    for part in result.parts if result is not None else ():
        if isinstance(part, Text):
            out += part.text if not out or out.endswith("\n") else f"\n{part.text}"
    return out


def files(result: HostedResult | None) -> list[Media]:
    """The images and files that came back."""
    return [part for part in result.parts if isinstance(part, Media)] if result is not None else []


def has_text(call: HostedCall) -> bool:
    """Whether a use is of a family that crosses as text."""
    return call.family in ("code_execution", "mcp")


def as_text(call: HostedCall, result: HostedResult | None, crossing: Crossing) -> tuple[Part, ...]:
    """The use as a text of the assistant's."""
    crossing.lose("part.as_text", call.at, call.kind)
    if result is not None and result.at != call.at:
        crossing.lose("part.as_text", result.at, result.kind)
    for media in files(result):
        crossing.lose("media.dropped", media.at, media.mime or media.kind)
    said = _run(call) if call.family == "code_execution" else _call(call)
    came_back = output(result)
    if result is None:
        said += "\n[no result was recorded]"
    elif came_back:
        said += f"\n[{'it failed' if result.is_error else 'result'}]\n{came_back}\n[end of the result]"
    else:
        said += f"\n[{'it failed' if result.is_error else 'no output'}]"
    return (Text(said, at=call.at),)


def _run(call: HostedCall) -> str:
    code, language = program(call)
    return f"[{language} code was run]\n{code}" if language else f"[code was run]\n{code}"


def _call(call: HostedCall) -> str:
    server = f" of the MCP server {call.server}" if call.server else ""
    return f"[the tool {call.name}{server} was called]\n{call.arguments}"


def write_as_text(call: HostedCall, result: HostedResult | None, crossing: Crossing, request: bool) -> tuple[Part, ...]:
    """For dialects that have no hosted tools of these families: text in a history, nothing in an answer."""
    if request and has_text(call):
        return as_text(call, result, crossing)
    if call.family == "tool_search":
        return drop_search(call, result, crossing)
    return drop(call, result, crossing)


def drop_search(call: HostedCall, result: HostedResult | None, crossing: Crossing) -> tuple[Part, ...]:
    """A search for tools says nothing where all tools are declared."""
    for part in (call, result):
        if part is not None:
            crossing.lose("hosted.dropped", part.at, f"{part.kind}: the tools are declared in full", "info")
    return ()
