"""Owns what counts as the same document in two spellings: a normal form of requests and answers, dialect by dialect.

Two bodies are equal up to spelling when their normal forms are equal. Every rule says why nothing is lost by it; what
no rule names must come back exactly. Values a user owns (schemas, arguments, results, metadata) are never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Json = Any
Rule = Callable[[Json], Json]

# Keys whose values belong to the user: an empty list or a null in there means something.
_OWNED = {
    "openai-chat": {"parameters", "schema", "metadata", "arguments", "logit_bias"},
}


# A time that no clock gave: what the tests pass in for answers that have none.
CREATED = 1_700_000_000

_MADE = re.compile(r"[a-z]+_[0-9a-f]{20}")


def normal(dialect: str, kind: str, body: Json) -> Json:
    """The normal form of one body."""
    return SPELLINGS[dialect, kind](body)


def canonical(tree: Json) -> Json:
    """The normal form of a canon value (as a plain tree): what a writer must say that a reader found unsaid."""
    if isinstance(tree, list):
        return [canonical(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    tree = {name: canonical(item) for name, item in tree.items()}
    if tree.get("is") == "ToolCall" and not tree["custom"] and not tree["arguments"].strip():
        tree["arguments"] = "{}"
    if tree.get("is") == "Stop" and tree["reason"] == "unknown":
        # No dialect has a word for an end without a reason; each writes its plain one.
        tree["reason"] = "stop"
    if tree.get("is") == "Response":
        if _MADE.fullmatch(tree["id"]):
            tree["id"] = ""
        if tree["created"] == CREATED:
            tree["created"] = None
    return tree


def gathered(tree: Json) -> Json:
    """The normal form of an answer that came as a stream: without `extra`, which a stream reports as it goes."""
    return _without(canonical(tree), "extra")


def _without(tree: Json, name: str) -> Json:
    if isinstance(tree, list):
        return [_without(item, name) for item in tree]
    if isinstance(tree, dict):
        return {key: _without(item, name) for key, item in tree.items() if key != name}
    return tree


def _without_nulls(value: Json, owned: set[str]) -> Json:
    """null says the same as leaving the field out, in every dialect here: SDKs differ in which of the two they do."""
    if isinstance(value, list):
        return [_without_nulls(item, owned) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: item if key in owned else _without_nulls(item, owned) for key, item in value.items() if item is not None
    }


def _drop_empty(holder: Json, *names: str) -> None:
    """An empty list or text of these fields says the same as leaving it out."""
    for name in names:
        if name in holder and holder[name] in ("", [], {}):
            del holder[name]


def _drop_made(holder: Json) -> None:
    """An id that the source left out or empty, and the one that we made in its place."""
    if not holder.get("id") or _MADE.fullmatch(holder["id"]):
        holder.pop("id", None)


# openai-chat


def _chat_request(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["openai-chat"])
    # One limit under two names; the old one is read, never written.
    if "max_tokens" in body and "max_completion_tokens" not in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    _drop_empty(body, "tools", "stop")
    if isinstance(body.get("stop"), str):
        body["stop"] = [body["stop"]]
    _chat_legacy(body)
    for tool in body.get("tools", ()):
        # `type` is taken for granted by hosts that accept its absence.
        tool.setdefault("type", "function")
        _drop_empty(tool.get("function", {}), "description")
    choice = body.get("tool_choice")
    if choice == "any":  # Mistral's word for required
        body["tool_choice"] = "required"
    elif isinstance(choice, dict):
        choice.setdefault("type", "function")
    for message in body["messages"]:
        _chat_message(message)
    return body


def _chat_legacy(body: Json) -> None:
    """`functions` and its kin are the old names of tools, calls and results: read, never written."""
    if "functions" in body:
        body["tools"] = [{"type": "function", "function": one} for one in body.pop("functions")]
    choice = body.pop("function_call", None)
    if choice is not None:
        body["tool_choice"] = choice if isinstance(choice, str) else {"type": "function", "function": choice}
    number = 0
    for message in body["messages"]:
        if "function_call" in message:
            number += 1
            call = {"id": f"call_legacy_{number}", "type": "function", "function": message.pop("function_call")}
            message.setdefault("tool_calls", []).append(call)
        if message["role"] == "function":
            message["role"] = "tool"
            message["tool_call_id"] = f"call_legacy_{number}"


def _chat_message(message: Json) -> None:
    content = message.get("content")
    if message.get("role") == "assistant":
        # Absent, null and empty text all mean: the assistant said nothing in words.
        _drop_empty(message, "content", "refusal", "reasoning_content", "reasoning", "annotations", "tool_calls")
    if isinstance(content, list):
        # Hosts' short forms of two parts.
        for part in content:
            for field, inner in (("image_url", "url"), ("input_audio", "data")):
                if isinstance(part.get(field), str):
                    part[field] = {inner: part[field]}
            if part.get("type") == "input_audio":
                part["input_audio"].setdefault("format", "wav")
        # A text alone may stand as a string or as a list of one part.
        if len(content) == 1 and set(content[0]) == {"type", "text"}:
            message["content"] = content[0]["text"]
    for call in message.get("tool_calls", ()):
        # The position in the list, said twice by some hosts; and a type that is taken for granted.
        call.pop("index", None)
        call.setdefault("type", "function")
        # No arguments: an empty text and an empty object are the same call.
        if call["type"] == "function" and not call["function"].get("arguments"):
            call["function"]["arguments"] = "{}"


def _chat_response(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["openai-chat"])
    # What every answer of the dialect has, and some hosts leave out.
    body.setdefault("object", "chat.completion")
    body.setdefault("created", CREATED)
    _drop_made(body)
    for choice in body["choices"]:
        message = choice["message"]
        message["role"] = "assistant"
        # The old form of a call; hosts written in Go send it empty beside the new one, and `custom` likewise.
        legacy = message.pop("function_call", None)
        if legacy is not None and legacy["name"]:
            message["tool_calls"] = [{"type": "function", "function": legacy}]
        _chat_message(message)
        for call in message.get("tool_calls", ()):
            _drop_made(call)
            if call.get("custom") == {"input": "", "name": ""}:
                del call["custom"]
        # A host that does not say why it ended: the content tells.
        if not choice.get("finish_reason"):
            choice["finish_reason"] = "tool_calls" if message.get("tool_calls") else "stop"
    for details in ("prompt_tokens_details", "completion_tokens_details"):
        figures = body.get("usage", {}).get(details, {})
        # A count of nothing for a modality nobody used.
        for name in [name for name, count in figures.items() if not count and name not in _CHAT_FIGURES]:
            del figures[name]
        _drop_empty(body.get("usage", {}), details)
    return body


_CHAT_FIGURES = {"cached_tokens", "cache_write_tokens", "reasoning_tokens"}


SPELLINGS: dict[tuple[str, str], Rule] = {
    ("openai-chat", "request"): _chat_request,
    ("openai-chat", "response"): _chat_response,
}
