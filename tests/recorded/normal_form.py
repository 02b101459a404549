"""Owns the normal form of requests and answers, dialect by dialect: one form for all spellings of the same document.

Two bodies are equal up to spelling when their normal forms are equal. Every rule has a comment with the reason why it
loses nothing. A field without a rule must come back exactly. Values that a user owns (schemas, arguments, results,
metadata) are never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from dragoman.canon import Fault, Response, Usage
from tests.oracles import gemini
from tests.recorded.tree_comparison import placeless

Json = Any
Rule = Callable[[Json], Json]

# Keys whose values belong to the user: an empty list or a null in these values has a meaning.
_OWNED: dict[str, set[str]] = {
    "openai-chat": {"parameters", "schema", "metadata", "arguments", "logit_bias"},
    "openai-responses": {"parameters", "schema", "output_schema", "metadata"},
    "anthropic": {"input_schema", "schema", "input"},
    "ollama": {"parameters", "format", "arguments"},
    "gemini": {
        "args",
        "response",
        "parameters",
        "parametersJsonSchema",
        "responseSchema",
        "responseJsonSchema",
        "response_schema",
        "response_json_schema",
        "parameters_json_schema",
        "labels",
    },
}


# A fixed time. The tests pass it in for answers that have no time.
CREATED = 1_700_000_000

# Fields that every answer of openai-responses has, and that compatible servers leave out.
DEMANDED: dict[str, Json] = {"metadata": {}, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}

_MADE = re.compile(r"[a-z]+[_-][0-9a-f]{20}")


def made(name: str) -> bool:
    """Whether the library made this id because the source had none."""
    return _MADE.fullmatch(name) is not None


def normal(dialect: str, kind: str, body: Json) -> Json:
    """The normal form of one body."""
    return SPELLINGS[dialect, kind](body)


def canonical(tree: Json) -> Json:
    """Return the normal form of a canon value (as a plain tree). It has the defaults that a writer must write even if
    the reader found no value."""
    if isinstance(tree, list):
        return [canonical(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    tree = {name: canonical(item) for name, item in tree.items()}
    if tree.get("is") == "ToolCall" and not tree["custom"] and not tree["arguments"].strip():
        tree["arguments"] = "{}"
    if tree.get("is") == "Stop" and tree["reason"] == "unknown":
        # No dialect has a value for an end without a reason; each writes its normal reason.
        tree["reason"] = "stop"
    if tree.get("is") == "Usage":
        # Counts that a dialect requires: a missing count means zero.
        for name in ("cache_read", "cache_write", "reasoning"):
            tree[name] = tree[name] or 0
    if tree.get("is") == "Request" and "gemini" in (tree["extra"] or {}):
        # The spelling of an enum value: the library writes upper case where the model's levels are known.
        tree["extra"]["gemini"].pop("generationConfig/thinkingConfig/thinkingLevel", None)
        tree["extra"] = {name: fields for name, fields in tree["extra"].items() if fields} or None
    if tree.get("is") == "Response":
        if made(tree["id"]):
            tree["id"] = ""
        if tree["created"] == CREATED:
            tree["created"] = None
        own = (tree["extra"] or {}).get("openai-responses", {})
        for name in [name for name, value in own.items() if value == {"json": DEMANDED.get(name, ...)}]:
            del own[name]
        if tree["extra"] == {"openai-responses": {}}:
            tree["extra"] = None
    return tree


def gathered(dialect: str, answer: Response | Fault) -> Json:
    """Return the normal form of a streamed answer. `extra` is left out: a stream reports it event by event."""
    if isinstance(answer, Fault):
        # Kind and status are approximated: the dialect has fewer values for them in the middle of a stream.
        return {"is": "Fault", "message": answer.message}
    tree = _without(canonical(placeless(answer)), "extra")
    # Zero and absent counts are equal: some dialects must write zeros.
    tree["usage"] = tree["usage"] or _without(canonical(placeless(Usage(0, 0))), "extra")
    for parts in (tree["parts"], *[other["parts"] for other in tree["alternatives"]]):
        _gathered_parts(dialect, parts)
    return tree


_WHOLE = ("Opaque", "HostedCall", "HostedResult")


def _gathered_parts(dialect: str, parts: list[Json]) -> None:
    for i, part in enumerate(parts):
        if part["is"] == "ToolCall":
            # A whole answer may have the arguments as an object: then only their value can be compared.
            part["arguments"] = part["arguments"] if part["custom"] else _decoded(part["arguments"])
            # An id that the library made depends on the place, and a stream has other places.
            part["id"] = "made" if made(part["id"]) else part["id"]
        if part["is"] in _WHOLE:
            part["value"] = _without_nulls(part["value"], set())
        if part["is"] == "Text" and not part["text"] and part["seal"] is None:
            # An empty text has no meaning, and a stream cannot carry it.
            part["is"] = "gone"
        if dialect == "openai-responses":
            # Encrypted again for each event: the events done and completed never have the same text.
            if part["seal"] is not None:
                part["seal"]["data"] = "encrypted"
            if part["is"] in _WHOLE:
                _encrypted(part["value"])
        if (
            dialect in ("gemini", "code-assist")
            and i
            and part["is"] == "Text" == parts[i - 1]["is"]
            and parts[i - 1]["seal"] is None
        ):
            # Text parts are increments: the stream does not mark where one part ends and the next begins.
            part["text"] = parts[i - 1]["text"] + part["text"]
            part["citations"] = parts[i - 1]["citations"] + part["citations"]
            parts[i - 1] = {"is": "gone"}
    parts[:] = [part for part in parts if part["is"] != "gone"]
    if dialect == "openrouter":
        # A whole answer has a separate list of thoughts, which also holds the uses of hosted tools.
        parts.sort(key=lambda part: part["is"] not in ("Reasoning", "HostedCall", "HostedResult"))


def _decoded(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _encrypted(value: Json) -> None:
    for inner in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        _encrypted(inner)
    if isinstance(value, dict):
        for name in value.keys() & {"encrypted_content", "fingerprint"}:
            value[name] = "encrypted"


def _without(tree: Json, name: str) -> Json:
    if isinstance(tree, list):
        return [_without(item, name) for item in tree]
    if isinstance(tree, dict):
        return {key: _without(item, name) for key, item in tree.items() if key != name}
    return tree


def _without_nulls(value: Json, owned: set[str]) -> Json:
    """Drop nulls: in every dialect null means the same as an absent field. SDKs differ in which one they write."""
    if isinstance(value, list):
        return [_without_nulls(item, owned) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: item if key in owned else _without_nulls(item, owned) for key, item in value.items() if item is not None
    }


def _drop_empty(holder: Json, *names: str) -> None:
    """Drop these fields if they are an empty list or text: that means the same as an absent field."""
    for name in names:
        if name in holder and holder[name] in ("", [], {}):
            del holder[name]


def _drop_made(holder: Json) -> None:
    """Drop an empty id, and an id that the library made because the source had none."""
    if not holder.get("id") or made(holder["id"]):
        holder.pop("id", None)


# openai-chat


def _chat_request(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["openai-chat"])
    # One limit with two names; the library reads the old name and never writes it.
    if "max_tokens" in body and "max_completion_tokens" not in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    _drop_empty(body, "tools", "stop")
    if isinstance(body.get("stop"), str):
        body["stop"] = [body["stop"]]
    _chat_legacy(body)
    for tool in body.get("tools", ()):
        # Some hosts accept a tool without `type`.
        tool.setdefault("type", "function")
        _drop_empty(tool.get("function", {}), "description")
    choice = body.get("tool_choice")
    if choice == "any":  # Mistral's value for required
        body["tool_choice"] = "required"
    elif isinstance(choice, dict):
        choice.setdefault("type", "function")
    for message in body["messages"]:
        _chat_message(message)
    return body


def _chat_legacy(body: Json) -> None:
    """`functions` and similar fields are the old names of tools, calls and results: read, never written."""
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
        # Absent, null and empty text all mean that the assistant wrote no text.
        _drop_empty(message, "content", "refusal", "reasoning_content", "reasoning", "annotations", "tool_calls")
    if isinstance(content, list):
        # Short forms that hosts use for two kinds of parts.
        for part in content:
            for field, inner in (("image_url", "url"), ("input_audio", "data")):
                if isinstance(part.get(field), str):
                    part[field] = {inner: part[field]}
            if part.get("type") == "input_audio":
                part["input_audio"].setdefault("format", "wav")
        # A single text may be a string or a list of one part.
        if len(content) == 1 and set(content[0]) == {"type", "text"}:
            message["content"] = content[0]["text"]
    for call in message.get("tool_calls", ()):
        # Some hosts repeat the position in the list as a field, and some leave the type out.
        call.pop("index", None)
        call.setdefault("type", "function")
        # No arguments: an empty text and an empty object make the same call.
        if call["type"] == "function" and not call["function"].get("arguments"):
            call["function"]["arguments"] = "{}"


def _chat_response(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["openai-chat"])
    # Fields that every answer of the dialect has, and that some hosts leave out.
    body.setdefault("object", "chat.completion")
    body.setdefault("created", CREATED)
    _drop_made(body)
    for choice in body["choices"]:
        message = choice["message"]
        message["role"] = "assistant"
        # The old form of a call. Hosts written in Go send it empty beside the new form, and an empty `custom` too.
        legacy = message.pop("function_call", None)
        if legacy is not None and legacy["name"]:
            message["tool_calls"] = [{"type": "function", "function": legacy}]
        _chat_message(message)
        for call in message.get("tool_calls", ()):
            _drop_made(call)
            if call.get("custom") == {"input": "", "name": ""}:
                del call["custom"]
        # A host that sends no finish reason: the content shows the reason.
        if not choice.get("finish_reason"):
            choice["finish_reason"] = "tool_calls" if message.get("tool_calls") else "stop"
    for details in ("prompt_tokens_details", "completion_tokens_details"):
        figures = body.get("usage", {}).get(details, {})
        # A count of zero for a modality that was not used.
        for name in [name for name, count in figures.items() if not count and name not in _CHAT_FIGURES]:
            del figures[name]
        _drop_empty(body.get("usage", {}), details)
    return body


_CHAT_FIGURES = {"cached_tokens", "cache_write_tokens", "reasoning_tokens"}


# openai-responses


def _responses_request(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["openai-responses"])
    _drop_empty(body, "tools", "include")
    for tool in body.get("tools", ()):
        _drop_empty(tool, "description")
    if isinstance(body.get("input"), str):
        # A single text is one user message.
        body["input"] = [{"role": "user", "content": body["input"]}]
    for item in body.get("input", ()):
        _responses_message(item)
        if isinstance(item.get("output"), list):
            item["output"] = _alone(item["output"], "input_text")
    return body


def _responses_message(item: Json) -> None:
    if "role" in item:
        # The short form of a message has no type.
        item.setdefault("type", "message")
    content = item.get("content")
    if isinstance(content, list):
        for part in content:
            if part.get("type") == "output_text":
                # Required by the type, left out by some clients.
                part.setdefault("annotations", [])
        item["content"] = _alone(content, "input_text", "output_text")


def _alone(parts: Json, *kinds: str) -> Json:
    """A single text without other fields may be a string or a list of one part."""
    if len(parts) == 1 and parts[0].get("type") in kinds:
        if {name for name, value in parts[0].items() if value != []} == {"type", "text"}:
            return parts[0]["text"]
    return parts


def _responses_response(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["openai-responses"])
    for name, value in DEMANDED.items():
        body.setdefault(name, value)
    usage = body.get("usage")
    if usage is not None:
        # Counts that the type requires: a missing count means zero.
        usage.setdefault("input_tokens_details", {}).setdefault("cached_tokens", 0)
        usage["input_tokens_details"].setdefault("cache_write_tokens", 0)
        usage.setdefault("output_tokens_details", {}).setdefault("reasoning_tokens", 0)
        usage.setdefault("total_tokens", usage["input_tokens"] + usage["output_tokens"])
    return body


# anthropic


def _anthropic_request(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["anthropic"])
    if isinstance(body.get("system"), list):
        body["system"] = _alone(body["system"], "text")
    for message in body["messages"]:
        if isinstance(message["content"], str):
            continue
        for block in message["content"]:
            if isinstance(block.get("content"), list) and block["type"] == "tool_result":
                block["content"] = _alone(block["content"], "text")
        message["content"] = _alone(message["content"], "text")
    return body


def _anthropic_response(body: Json) -> Json:
    return _without_nulls(body, _OWNED["anthropic"])


# gemini


def _gemini_request(body: Json) -> Json:
    # Requests may be in camelCase or snake_case. The oracle converts them along the schema, independent of the library.
    body, _ = gemini.camel_cased(body, "GenerateContentRequest")
    body = _without_nulls(body, _OWNED["gemini"])
    # Enum values are read in lower case too; they are written in upper case.
    thinking = body.get("generationConfig", {}).get("thinkingConfig", {})
    if isinstance(thinking.get("thinkingLevel"), str):
        thinking["thinkingLevel"] = thinking["thinkingLevel"].upper()
    calling = body.get("toolConfig", {}).get("functionCallingConfig", {})
    if isinstance(calling.get("mode"), str):
        calling["mode"] = calling["mode"].upper()
    for tool in body.get("tools", ()):
        for declared in tool.get("functionDeclarations", ()):
            _drop_empty(declared, "description")
    for content in (*body.get("contents", ()), body.get("systemInstruction") or {}):
        # The JSON form of protobuf accepts one object in place of a list of one.
        if isinstance(content.get("parts"), dict):
            content["parts"] = [content["parts"]]
        # A part must have a data field; a part without one is an empty text.
        for part in content.get("parts") or ():
            if not set(part) & set(gemini.DATA_FIELDS):
                part["text"] = ""
    # An empty list of stop sequences as the only field of its object.
    _drop_empty(body.get("generationConfig", {}), "stopSequences")
    _drop_empty(body, "generationConfig")
    return body


def _gemini_response(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["gemini"])
    _drop_empty(body, "candidates")
    for candidate in body.get("candidates", ()):
        # The JSON form of protobuf leaves out zeros and empty lists.
        candidate.setdefault("index", 0)
        content = candidate.setdefault("content", {})
        content.setdefault("role", "model")
        content["parts"] = [part for part in content.get("parts", ()) if part]
    usage = body.get("usageMetadata")
    if usage is not None:
        for name in ("candidatesTokenCount", "totalTokenCount"):
            usage.setdefault(name, 0)
    return body


# code-assist


def _in_envelope(key: str, inner: Rule) -> Rule:
    """Keep the envelope as it is, and bring the Gemini document inside into its normal form."""

    def wrapped(body: Json) -> Json:
        body = _without_nulls(body, _OWNED["gemini"] | {key})
        held = dict(body[key])
        session = {"session_id": held.pop("session_id")} if "session_id" in held else {}
        return {**body, key: {**inner(held), **session}}

    return wrapped


# ollama


def _ollama_request(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["ollama"])
    # For the server an empty format means no format, and streaming is the default.
    _drop_empty(body, "format", "options", "tools")
    body.setdefault("stream", True)
    if isinstance(body.get("options", {}).get("stop"), str):
        body["options"]["stop"] = [body["options"]["stop"]]
    for message in body["messages"]:
        _ollama_message(message)
    return body


def _ollama_message(message: Json) -> None:
    message.setdefault("content", "")
    _drop_empty(message, "thinking", "images", "tool_calls")


def _ollama_response(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["ollama"])
    _ollama_message(body["message"])
    # Fields that the current server always writes, and that older servers leave out.
    body.setdefault("done_reason", "stop")
    body.setdefault("done", True)
    return body


# openrouter


def _openrouter_request(body: Json) -> Json:
    body = _chat_request(body)
    for message in body["messages"]:
        _drop_empty(message, "reasoning_details", "images")
    return body


def _openrouter_response(body: Json) -> Json:
    body = _chat_response(body)
    # Some answers were stored without these fields; every real answer has them.
    body.setdefault("model", "")
    usage = body.get("usage", {})
    if usage:
        usage.setdefault("total_tokens", usage["prompt_tokens"] + usage["completion_tokens"])
    for number, choice in enumerate(body["choices"]):
        choice.setdefault("index", number)
        _drop_empty(choice["message"], "reasoning_details", "images")
    return body


SPELLINGS: dict[tuple[str, str], Rule] = {
    ("openai-chat", "request"): _chat_request,
    ("openai-chat", "response"): _chat_response,
    ("openai-responses", "request"): _responses_request,
    ("openai-responses", "response"): _responses_response,
    ("anthropic", "request"): _anthropic_request,
    ("anthropic", "response"): _anthropic_response,
    ("gemini", "request"): _gemini_request,
    ("gemini", "response"): _gemini_response,
    ("ollama", "request"): _ollama_request,
    ("ollama", "response"): _ollama_response,
    ("openrouter", "request"): _openrouter_request,
    ("openrouter", "response"): _openrouter_response,
    ("code-assist", "request"): _in_envelope("request", _gemini_request),
    ("code-assist", "response"): _in_envelope("response", _gemini_response),
}
