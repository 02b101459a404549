"""Messages requests: read into canon, written from canon."""

from __future__ import annotations

from typing import Any

from ...canon.parts import Opaque, Part, Path, ToolResult
from ...canon.request import Request
from ...canon.turns import Turn
from ...codec import jsontext
from ...codec.admit import Unknown
from ...codec.extras import carried, gather, restore
from ...codec.steps import arrange
from ...crossing import Crossing
from . import wire
from .blocks import BlockWriter
from .history import STRANGE_ROLE, History
from .message import read_content
from .settings import make_room, read_settings, write_settings
from .tools import offered, read_choice, tools_from, tools_to, write_choice


def read_request(body: bytes, crossing: Crossing) -> Request:
    request, unknown, spelled = wire.REQUEST.admit(body)
    crossing.spelled = spelled
    turns = _read_turns(request, crossing, unknown)
    settings, extras = read_settings(request)
    extras.update(carried(request, wire.REQUEST_EXTRAS) or {})
    return Request(
        turns,
        request.model or "",
        tools_from(request.tools, crossing, unknown, ("tools",)) if request.tools else (),
        read_choice(request.tool_choice, crossing) if request.tool_choice is not None else None,
        settings,
        request.stream,
        gather(crossing, (), unknown, extras or None),
    )


def _read_turns(request: wire.MessagesRequest, crossing: Crossing, unknown: Unknown) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    at: Path = ("system",)
    if request.system:
        turns.append(Turn("system", tuple(read_content(request.system, at, crossing, unknown)), at=at))
    for i, message in enumerate(request.messages):
        at = ("messages", i)
        role = message.role
        parts = read_content(message.content, (*at, "content"), crossing, unknown)
        extra = gather(crossing, at, unknown) if unknown else None
        if role == "user":
            _read_user(parts, at, extra, turns)
        elif role == "assistant":
            before = turns[-1] if turns else None
            if before is not None and before.role == "assistant" and extra is None and before.extra is None:
                # Neighbours are one turn to the upstream, and one step in canon.
                turns[-1] = Turn("assistant", (*before.parts, *parts), at=before.at)
            else:
                turns.append(Turn("assistant", tuple(parts), extra=extra, at=at))
        elif role == "system":
            turns.append(Turn("system", tuple(parts), extra=extra, at=at))
        else:
            value = jsontext.raw(restore({"role": role, "content": message.content}, extra, wire.NAME))
            turns.append(Turn("user", (Opaque(wire.NAME, STRANGE_ROLE + role, value, at=at),), at=at))
    return tuple(turns)


def _read_user(parts: list[Part], at: Path, extra: Any, turns: list[Turn]) -> None:
    """A user's message: results become a tool turn of their own, in the order of the wire."""
    begin = 0
    while begin < len(parts):
        results = type(parts[begin]) is ToolResult
        end = begin + 1
        while end < len(parts) and (type(parts[end]) is ToolResult) == results:
            end += 1
        group = tuple(parts[begin:end])
        if results and turns and turns[-1].role == "tool" and extra is None and turns[-1].extra is None:
            turns[-1] = Turn("tool", turns[-1].parts + group, at=turns[-1].at)
        else:
            turns.append(Turn("tool" if results else "user", group, extra=extra, at=at))
        begin, extra = end, None
    if not parts:
        turns.append(Turn("user", (), extra=extra, at=at))


def write_request(request: Request, crossing: Crossing) -> bytes:
    model = crossing.model or request.model
    if not model:
        crossing.lose("model.invented")
    writer = BlockWriter(crossing)
    out: dict[str, Any] = {"model": model or "unspecified"}
    words: list[str] = []
    write_settings(request, out, words, crossing, writer.marks)
    tools = tools_to(offered(request, crossing), crossing, writer.marks) if request.tools else []
    history = History(writer)
    system = history.write(arrange(request.turns, crossing))
    if tools:
        out["tools"] = tools
    forced = crossing.profile.forced_choice == "refused" or out.get("thinking", {}).get("type") == "enabled"
    choice, order = write_choice(request, tools, forced, crossing)
    if choice is not None:
        out["tool_choice"] = choice
    if order:
        words.append(order)
    system.extend([{"type": "text", "text": text} for text in words])
    if system:
        only = system[0]
        plain = len(system) == 1 and type(only) is dict and len(only) == 2 and only["type"] == "text"
        out["system"] = only["text"] if plain else system
    out["messages"] = history.finish()
    writer.marks.cap(automatic="cache_control" in out)
    if request.stream is not None:
        out["stream"] = request.stream
    if request.extra is not None:
        make_room(out, request.extra)
        restore(out, request.extra, wire.NAME)
    return jsontext.encode(out)
