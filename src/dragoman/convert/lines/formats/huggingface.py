"""Conversations for Hugging Face chat templates and TRL: `messages`, and `tools` for function calling.

The form is that of Chat Completions with three differences: the arguments of a call are an object, ids are optional,
and a result names its tool. Data sets often hold `tools` as JSON text, because their columns have one type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ....canon.request import Request
from ....codec import json_text
from ....context import Context
from ....dialects import get
from ....errors import WireError
from ..file_format_record import conversation_dialect, members, text_of
from ._training import chat_columns, keep_allowed, training_format, without_settings

NAME = "huggingface"
_CHAT = get("openai-chat")
_MEMBERS = frozenset({"messages", "tools"})
_EMPTY = (Raw(b"null"), Raw(b'""'), Raw(b"[]"))


def read_request(body: bytes, context: Context) -> Request:
    """Read a conversation. The reader of Chat also takes arguments that are objects, and calls without ids."""
    found = members(body, NAME)
    tools = found.get("tools")
    if tools is not None:
        del found["tools"]
        if tools not in _EMPTY:
            found["tools"] = Raw(_list_in_text(tools))
        body = json_text.encode(found)
    return _CHAT.read_request(body, context)


def _list_in_text(tools: Raw) -> bytes:
    if bytes(tools)[:1] != b'"':
        return bytes(tools)
    text = (text_of({"tools": tools}, "tools", NAME) or "").encode()
    if text.strip()[:1] != b"[":
        raise WireError(NAME, "/tools", "a list of tools, or the JSON text of one")
    return text


def write_request(request: Request, context: Context) -> bytes:
    """Write a conversation."""
    body = _CHAT.write_request(without_settings(request, context), context)
    kept = keep_allowed(body, _MEMBERS, context)
    named: dict[str, str] = {}
    messages = [_message(json_text.fields(raw), named) for raw in _items(kept["messages"])]
    return json_text.encode({**kept, "messages": messages})


def _items(value: Raw) -> list[Raw]:
    return msgspec.json.decode(value, type=list[Raw])


def _message(message: dict[str, Raw], named: dict[str, str]) -> dict[str, Any]:
    changed: dict[str, Any] = dict(message)
    if "tool_calls" in message:
        changed["tool_calls"] = [_call(json_text.fields(call), named) for call in _items(message["tool_calls"])]
        if message.get("content") == _EMPTY[0]:
            del changed["content"]
    identity = text_of(message, "tool_call_id", NAME)
    if identity is not None and identity in named:
        changed["name"] = named[identity]
    return changed


def _call(call: dict[str, Raw], named: dict[str, str]) -> dict[str, Any]:
    if "function" not in call:
        return dict(call)
    function = json_text.fields(call["function"])
    name, arguments = text_of(function, "name", NAME) or "", text_of(function, "arguments", NAME) or ""
    named[text_of(call, "id", NAME) or ""] = name
    value = json_text.object_raw(arguments)
    return {**call, "function": {**function, "arguments": arguments if value is None else value}}


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these: a call with an object as arguments, or tools as text."""
    messages = document.get("messages")
    if not isinstance(messages, list) or "model" in document:
        return ""
    if isinstance(document.get("tools"), str):
        return "messages, and tools as JSON text"
    for message in messages:
        for call in (message.get("tool_calls") if isinstance(message, dict) else None) or ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("arguments"), dict):
                return "messages with calls whose arguments are objects, and no model"
    return ""


_DIALECT = conversation_dialect(NAME, "Hugging Face chat", read_request, write_request, (_CHAT.name,))

FORMAT = training_format(
    NAME,
    "Hugging Face chat, with tools",
    "https://huggingface.co/docs/trl/dataset_formats",
    "2026-11-18",
    _DIALECT,
    evidence,
    chat_columns("json", {}),
)
