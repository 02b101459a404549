"""Owns what counts as the same document in two spellings: a normal form of requests and answers, dialect by dialect.

Two bodies are equal up to spelling when their normal forms are equal. Every rule says why nothing is lost by it; what
no rule names must come back exactly. Values a user owns (schemas, arguments, results, metadata) are never touched.
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

# Keys whose values belong to the user: an empty list or a null in there means something.
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


# A time that no clock gave: what the tests pass in for answers that have none.
CREATED = 1_700_000_000

# What every answer of openai-responses has, and compatible servers leave out.
DEMANDED: dict[str, Json] = {"metadata": {}, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}

_MADE = re.compile(r"[a-z]+[_-][0-9a-f]{20}")


def made(name: str) -> bool:
    """Whether an id is one that we made, because the source had none."""
    return _MADE.fullmatch(name) is not None


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
    if tree.get("is") == "Usage":
        # Figures that a dialect demands: nothing was counted where they are missing.
        for name in ("cache_read", "cache_write", "reasoning"):
            tree[name] = tree[name] or 0
    if tree.get("is") == "Request" and "gemini" in (tree["extra"] or {}):
        # How the word of an enum was spelled: written is upper case, where the model's levels are known.
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
    """The normal form of an answer that came as a stream. `extra` is left out: a stream reports it as it goes."""
    if isinstance(answer, Fault):
        # Kind and status are approximated by what the dialect can say in the middle of a stream.
        return {"is": "Fault", "message": answer.message}
    tree = _without(canonical(placeless(answer)), "extra")
    # Zeros and no figures at all: some dialects must write them.
    tree["usage"] = tree["usage"] or _without(canonical(placeless(Usage(0, 0))), "extra")
    for parts in (tree["parts"], *[other["parts"] for other in tree["alternatives"]]):
        _gathered_parts(dialect, parts)
    return tree


_WHOLE = ("Opaque", "HostedCall", "HostedResult")


def _gathered_parts(dialect: str, parts: list[Json]) -> None:
    for i, part in enumerate(parts):
        if part["is"] == "ToolCall":
            # A whole answer may hold the arguments as an object: then only their value can be compared.
            part["arguments"] = part["arguments"] if part["custom"] else _decoded(part["arguments"])
            # An id that we made depends on the place, and a stream has other places.
            part["id"] = "made" if made(part["id"]) else part["id"]
        if part["is"] in _WHOLE:
            part["value"] = _without_nulls(part["value"], set())
        if part["is"] == "Text" and not part["text"] and part["seal"] is None:
            # An empty text says nothing, and a stream has no place to say it.
            part["is"] = "gone"
        if dialect == "openai-responses":
            # Encrypted anew in each event: done and completed never hold the same text.
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
            # Text parts are increments: where one part ends and the next begins is not told.
            part["text"] = parts[i - 1]["text"] + part["text"]
            part["citations"] = parts[i - 1]["citations"] + part["citations"]
            parts[i - 1] = {"is": "gone"}
    parts[:] = [part for part in parts if part["is"] != "gone"]
    if dialect == "openrouter":
        # In a whole answer thoughts stand in a list of their own, and uses of hosted tools among them.
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
    if not holder.get("id") or made(holder["id"]):
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


# openai-responses


def _responses_request(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["openai-responses"])
    _drop_empty(body, "tools", "include")
    for tool in body.get("tools", ()):
        _drop_empty(tool, "description")
    if isinstance(body.get("input"), str):
        # A text alone is one user message.
        body["input"] = [{"role": "user", "content": body["input"]}]
    for item in body.get("input", ()):
        _responses_message(item)
        if isinstance(item.get("output"), list):
            item["output"] = _alone(item["output"], "input_text")
    return body


def _responses_message(item: Json) -> None:
    if "role" in item:
        # The easy form of a message leaves its type out.
        item.setdefault("type", "message")
    content = item.get("content")
    if isinstance(content, list):
        for part in content:
            if part.get("type") == "output_text":
                # Demanded by the type, left out by some clients.
                part.setdefault("annotations", [])
        item["content"] = _alone(content, "input_text", "output_text")


def _alone(parts: Json, *kinds: str) -> Json:
    """A text alone, without anything on it, may stand as a string or as a list of one part."""
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
        # Figures the type demands; nothing was counted where they are missing.
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
    # Requests may be in camelCase or snake_case: the judge's own walk along the schema, independent of the library.
    body, _ = gemini.camel_cased(body, "GenerateContentRequest")
    body = _without_nulls(body, _OWNED["gemini"])
    # Words of enums are taken in lower case too; they are written in upper case.
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
        # Protobuf's JSON form takes one object for a list of one.
        if isinstance(content.get("parts"), dict):
            content["parts"] = [content["parts"]]
        # A part must have a data field; one that has none holds an empty text.
        for part in content.get("parts") or ():
            if not set(part) & set(gemini.DATA_FIELDS):
                part["text"] = ""
    # An empty list of stop sequences, alone in an otherwise empty object.
    _drop_empty(body.get("generationConfig", {}), "stopSequences")
    _drop_empty(body, "generationConfig")
    return body


def _gemini_response(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["gemini"])
    _drop_empty(body, "candidates")
    for candidate in body.get("candidates", ()):
        # Protobuf's JSON form leaves out numbers that are zero and lists that are empty.
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
    """The envelope as it is, around a Gemini document in its normal form."""

    def wrapped(body: Json) -> Json:
        body = _without_nulls(body, _OWNED["gemini"] | {key})
        held = dict(body[key])
        session = {"session_id": held.pop("session_id")} if "session_id" in held else {}
        return {**body, key: {**inner(held), **session}}

    return wrapped


# ollama


def _ollama_request(body: Json) -> Json:
    body = _without_nulls(body, _OWNED["ollama"])
    # The server takes an empty format for none, and streams unless told otherwise.
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
    # What the current server always says, and older ones leave out.
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
    # Left out of answers that were stored cut down; every real one has them.
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
