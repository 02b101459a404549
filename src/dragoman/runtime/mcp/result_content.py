"""Owns the outcome for an MCP result: blocks become text and media, for the model and for a person who watches.

It reads the SDK's types by their fields only, so the SDK need not be imported.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...canon.parts import Media, Text
from ...codec.media import kind_of
from ..tool_interface import Failure, Outcome

FAILED = "mcp_tool_error"
MOST = 200_000
"""Characters that are kept from the beginning of a text, and as many from its end. A text beyond the model's window
would make every later request fail."""
_UNKNOWN_TYPE = "application/octet-stream"


def outcome(tool: str, result: Any) -> Outcome:
    """The outcome for a CallToolResult. `tool` is the server's name of the tool."""
    parts: list[Text | Media] = []
    shown: list[str] = []
    for block in result.content:
        _add(tool, block, parts, shown)
    if result.structured_content is not None and not _is_repeated_in_texts(result.structured_content, parts):
        _add_text(msgspec.json.encode(result.structured_content).decode(), parts, shown)
    display = "\n".join(shown)
    content: str | tuple[Text | Media, ...] = tuple(parts)
    if len(parts) == 1 and isinstance(parts[0], Text):
        content = parts[0].text
    if not result.is_error:
        return Outcome(content, display)
    message = display or f"The tool {tool!r} failed without a reason."
    return Outcome(content or message, message, Failure(message, FAILED))


def _add(tool: str, block: Any, parts: list[Text | Media], shown: list[str]) -> None:
    if block.type == "text":
        _add_text(block.text, parts, shown)
    elif block.type in ("image", "audio"):
        _add_media(tool, f"{block.type} data", block.mime_type, block.data, parts)
        shown.append(f"[{block.type.capitalize()}: {block.mime_type}]")
    elif block.type == "resource_link":
        label = block.title or block.name
        parts.append(Text(f"Resource Link: {label} at {block.uri}"))
        shown.append(f"[Link to {label}: {block.uri}]")
    elif (text := getattr(block.resource, "text", None)) is not None:
        _add_text(text, parts, shown)
    else:
        mime = block.resource.mime_type or _UNKNOWN_TYPE
        _add_media(tool, "embedded resource", mime, block.resource.blob, parts)
        shown.append(f"[Embedded Resource: {mime}]")


def _add_text(text: str, parts: list[Text | Media], shown: list[str]) -> None:
    dropped = len(text) - 2 * MOST
    if dropped > 0:
        text = f"{text[:MOST]}\n[{dropped} characters left out]\n{text[-MOST:]}"
    parts.append(Text(text))
    shown.append(text)


def _add_media(tool: str, what: str, mime: str, data: str, parts: list[Text | Media]) -> None:
    parts.append(Text(f"[Tool '{tool}' provided the following {what} with mime-type: {mime}]"))
    parts.append(Media(kind_of(mime), mime, data))


def _is_repeated_in_texts(value: Any, parts: list[Text | Media]) -> bool:
    """Whether the texts repeat the structured content. By the specification (2025-06-18) servers should send both, with
    the text as JSON. Some servers wrap a value that is not an object as `result`, and send one text for each item of a
    list."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    wrapped = [value["result"]] if isinstance(value, dict) and value.keys() == {"result"} else []
    read = [_read(text) for text in texts]
    for one in (value, *wrapped):
        if one in read or one in texts or (isinstance(one, list) and one and one in (read, texts)):
            return True
    return False


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
