"""Owns the verdict on Ollama bodies: the SDK's own types with corrections from the server and the recordings, what a
client folds from a stream, and the rules of a conversation.

The SDK's types are open, and narrower than the server: `messages` takes any mapping, calls have no id, a property has
neither `properties` nor `anyOf`. So the schema of the types is closed, and fields of the server's own sources are added
by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.oracles.json_schema import BadJson, Judge, closed, extra, load
from tests.oracles.sdk_types import stated

Json = Any
_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}


def _messages(names: Json) -> None:
    # An Image is a class in Python, and a string on the wire.
    names["Image"] = _TEXT
    # The server has ids of calls (Go sources, August 2026); the SDK 0.6.3 has no field for them.
    extra(names, "Message", tool_call_id=_TEXT)
    extra(names, "ToolCall", id=_TEXT, type={"const": "function"})
    call = next(name for name in names if name.endswith("Function") and "arguments" in names[name]["properties"])
    extra(names, call, index=_WHOLE)
    names[call]["properties"]["name"] = {"type": "string", "minLength": 1}


def request_schema() -> Json:
    """The schema of a request, open against unknown fields."""
    from ollama._types import ChatRequest

    schema = stated(ChatRequest)
    names = schema["$defs"]
    _messages(names)
    # The SDK's type takes any mapping for messages and options. These are the precise types.
    schema["properties"]["messages"] = {"type": "array", "items": {"$ref": "#/$defs/Message"}}
    schema["properties"]["options"] = {"$ref": "#/$defs/Options"}
    extra(names, "Options", min_p={"type": "number"}, draft_num_predict=_WHOLE)
    # The fields of a property that the server keeps (Go sources, August 2026).
    nested = {"type": "object", "additionalProperties": {"$ref": "#/$defs/Property"}}
    union = {"type": "array", "items": {"$ref": "#/$defs/Property"}}
    extra(names, "Property", properties=nested, anyOf=union, required={"type": "array", "items": _TEXT})
    names["Property"]["properties"]["items"] = {"$ref": "#/$defs/Property"}
    schema["required"] = ["model", "messages"]
    extra({"Request": schema}, "Request", truncate={"type": "boolean"}, shift={"type": "boolean"})
    return schema


@cache
def _request() -> Judge:
    return Judge(closed(request_schema()))


def answer_schema() -> Json:
    """The schema of an answer and of a stream's line, open against unknown fields."""
    from ollama import ChatResponse

    schema = stated(ChatResponse)
    _messages(schema["$defs"])
    schema["required"] = ["model", "created_at", "message", "done"]
    schema["$defs"]["Message"]["properties"]["role"] = {"const": "assistant"}
    schema["$defs"]["Message"]["required"] = ["role", "content"]
    return schema


@cache
def _answer() -> Judge:
    return Judge(closed(answer_schema()))


@cache
def fault() -> Judge:
    """The form of a fault: `error`, and `status` in a stream only (Go sources, August 2026)."""
    fields = {"error": _TEXT, "status": _WHOLE, "signin_url": _TEXT}
    return Judge({"type": "object", "properties": fields, "required": ["error"], "additionalProperties": False})


def check_request(value: Json) -> list[str]:
    return _request().findings(value)


def check_answer(value: Json) -> list[str]:
    return _answer().findings(value)


def lines(raw: bytes) -> list[bytes]:
    """The lines of a stream that are not blank."""
    return [line for line in raw.split(b"\n") if line.strip()]


def gathered(raw: bytes) -> Json:
    """What a client has after the last line. The SDK must accept each line, and no line may be an error."""
    from ollama import ChatResponse

    whole: dict[str, Json] = {}
    message: dict[str, Json] = {"role": "assistant", "content": ""}
    done = False
    for line in lines(raw):
        value = load(line)
        if not isinstance(value, dict) or value.get("error"):
            raise BadJson(f"no line of an answer: {value}")
        ChatResponse.model_validate(value)
        piece = value["message"]
        for name in ("content", "thinking"):
            if piece.get(name):
                message[name] = message.get(name, "") + piece[name]
        for name in ("tool_calls", "images"):
            if piece.get(name):
                message.setdefault(name, []).extend(piece[name])
        # The first line has the time at which the answer began.
        whole = {**value, "created_at": whole.get("created_at", value.get("created_at")), "message": message}
        done = done or bool(value.get("done"))
    if not done:
        raise BadJson("no line has done")
    return whole


# The breaches of a conversation: rule, topic, place and text.

Found = tuple[str, str, str, str]
_LEVELS = (True, False, None, "low", "medium", "high", "max")
_SAMPLING = ("temperature", "top_p", "top_k", "seed", "stop", "num_predict", "max_tokens", "presence_penalty")


def check_conversation(body: Json) -> Iterator[Found]:
    if not body.get("model"):
        yield "OLL-001", "empty", "", "model is required"
    messages = body.get("messages") or []
    for i, message in enumerate(messages):
        where = f"/messages/{i}"
        if not isinstance(message.get("content"), str):
            yield "OLL-001", "empty", where, "content is no text"
        for call in message.get("tool_calls") or ():
            if not isinstance((call.get("function") or {}).get("arguments"), dict):
                yield "OLL-002", "ids", where, "arguments are no object"
        if message.get("role") == "tool" and not message.get("tool_name"):
            yield "OLL-003", "names", where, "a result without tool_name"
        if any(image.startswith("data:") for image in message.get("images") or ()):
            yield "OLL-008", "roles", where, "an image as a data URL"
    yield from _order(messages)
    if messages and messages[-1].get("role") == "assistant":
        yield "-", "end", f"/messages/{len(messages) - 1}", "ends with the assistant (legal here)"
    functions = [tool["function"] for tool in body.get("tools") or () if "function" in tool]
    names = [function.get("name") for function in functions]
    if len(set(names)) != len(names):
        yield "-", "names", "/tools", "two tools of one name"
    for i, function in enumerate(functions):
        if any(_refers(inner) for inner in (function.get("parameters") or {}).get("properties", {}).values()):
            yield "OLL-005", "names", f"/tools/{i}", "a $ref in a property"
    for name in _SAMPLING:
        if name in body:
            yield "OLL-006", "limits", f"/{name}", "outside options"
    if body.get("think") not in _LEVELS:
        yield "OLL-009", "limits", "/think", f"{body['think']!r}"
    if not 0 <= (body.get("top_logprobs") or 0) <= 20:
        yield "OLL-010", "limits", "/top_logprobs", "not 0 to 20"


def _order(messages: Json) -> Iterator[Found]:
    """Results come in the order of the calls. A result names its call by the id, else by the name."""
    open_calls: list[Json] = []
    last = -1
    for i, message in enumerate(messages):
        if message.get("role") != "tool":
            open_calls = list(message.get("tool_calls") or ())
            last = -1
            continue
        given, name = message.get("tool_call_id"), message.get("tool_name")
        known = [call.get("id") for call in open_calls]
        places = [known.index(given)] if given in known else []
        if given is None:
            places = [j for j, call in enumerate(open_calls) if call["function"]["name"] == name and j > last][:1]
        if places and places[0] < last:
            yield "OLL-011", "order", f"/messages/{i}", "a result before that of an earlier call"
        last = places[0] if places else last


def _refers(schema: Json) -> bool:
    if isinstance(schema, list):
        return any(_refers(item) for item in schema)
    if not isinstance(schema, dict):
        return False
    return "$ref" in schema or any(_refers(value) for value in schema.values())
