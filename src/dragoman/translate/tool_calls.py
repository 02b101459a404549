"""Owns tool calls and results on their own, for clients that run tools and use one dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from ..canon.parts import IncompleteCall, Media, Part, Path, Text, ToolCall, ToolResult, pointer
from ..canon.request import Request
from ..canon.response import Response, Stop, StopReason
from ..canon.turns import Turn
from ..codec import json_text
from ..codec.caller_document_to_bytes import Body, as_bytes
from ..codec.surrogates.documents import without_surrogates
from ..context import Context
from ..dialect import Dialect
from ..dialects import DialectName, get
from ..errors import ConfigError, WireError
from ..facts import profiles
from ..seals.strategy import marked

_OUTPUT_KEYS = frozenset({"id", "output", "outputText", "is_error", "isError"})


_CUT: frozenset[StopReason] = frozenset(
    {"length", "context_full", "content_filter", "refusal", "error", "bad_tool_call"}
)
"""Stop reasons of an answer that ends early: a call at its end may be incomplete."""
_UNFINISHED_ITEMS = (b'"incomplete"', b'"in_progress"')


def tool_calls(response: Body, *, dialect: DialectName, strict: bool = False) -> list[ToolCall]:
    """The calls that a client has to run, in order: id, name, arguments (exact JSON text), `.input` (decoded).

    A call at which the answer was cut has `complete` False, and its `.input` raises ArgumentsError: it must not be run.
    With `strict`, the finish reason must agree with the calls in dialects that have a reason for calls (`tool_calls` in
    Chat and OpenRouter, `tool_use` in Messages), and every call must be complete; else WireError is raised.
    """
    document, found = _read_response(response, dialect, Context(dialect, dialect))
    calls = [_handed_out(part, found, dialect) for part in found.parts if isinstance(part, ToolCall)]
    if strict:
        _check_ending(document, calls, get(dialect))
    return calls


def _read_response(response: Any, dialect: str, context: Context) -> tuple[bytes, Response]:
    """The document that was read, and the answer."""
    document = as_bytes(response, dialect)
    try:
        return document, get(dialect).read_response(document, context)
    except WireError:
        cleaned = without_surrogates(document)
        if cleaned is None:
            raise
    return cleaned, get(dialect).read_response(cleaned, context)


def _handed_out(call: ToolCall, answer: Response, dialect: str) -> ToolCall:
    """A call for a client that runs it: blank arguments become an empty object, and a call that was cut is marked."""
    # After a token limit the last call may be incomplete (Anthropic's docs "Handling stop reasons", 2026-10).
    cut = answer.stop.reason in _CUT and call is answer.parts[-1]
    if cut or _is_unfinished(call, dialect) or (not call.custom and json_text.breaks_off(call.arguments)):
        return IncompleteCall(**{name: getattr(call, name) for name in call.__struct_fields__})
    if call.custom or call.arguments.strip():
        return call
    return msgspec.structs.replace(call, arguments="{}")


def _is_unfinished(call: ToolCall, dialect: str) -> bool:
    """Whether the item of the call has the status incomplete, as in Responses."""
    # Responses marks each item with a status (openai 3.49.0, 2026-11).
    status = call.extra.get(dialect, {}).get("status") if call.extra is not None else None
    return status is not None and bytes(status) in _UNFINISHED_ITEMS


def _check_ending(document: bytes, calls: list[ToolCall], speaker: Dialect) -> None:
    """Raise WireError if the finish reason and the calls do not agree, or if a call is incomplete."""
    ends = speaker.ends
    if ends.calls:
        path = (*ends.answer(0), *ends.stop)
        word = _value_at(json_text.decode(document), path)
        ended = isinstance(word, str) and word in ends.calls
        if ended != bool(calls):
            wanted = " or ".join([repr(one) for one in sorted(ends.calls)])
            expected = f"{wanted} beside tool calls" if calls else "tool calls beside this reason"
            raise WireError(speaker.name, pointer(path), expected, "no reason" if word is None else repr(word))
    for call in calls:
        if not call.complete:
            raise WireError(speaker.name, pointer(call.at), "a complete call", f"a call of {call.name} that was cut")


def _value_at(document: json_text.JsonValue, path: Path) -> json_text.JsonValue:
    for step in path:
        if isinstance(step, int):
            document = document[step] if isinstance(document, list) and step < len(document) else None
        else:
            document = document.get(step) if isinstance(document, dict) else None
    return document


def tool_results(
    calls: list[ToolCall] | tuple[ToolCall, ...] | Body,
    outputs: Mapping[str, Any] | Sequence[Any],
    *,
    dialect: DialectName,
    model: str = "",
) -> list[Any]:
    """The complete continuation of a tool turn: the list to append to the next request's messages, contents or input.

    `calls` is the answer that holds the calls (then everything that must go back is included: text, thinking, seals),
    or a list of ToolCall. `outputs` has one output for each call: a mapping by call id, or a sequence whose members all
    name their call or are in call order. An output is text, a Text, a Media, a list of them, a ToolResult, any JSON
    value, or `{"id": ..., "output": ..., "is_error": true}`. `model` is the model of the next request; by default the
    model that the answer names. If a model takes no media inside a result, the media follow the result.
    """
    context = Context(dialect, dialect, model=model)
    speaker = get(dialect)
    if isinstance(calls, tuple) or (isinstance(calls, list) and not any(isinstance(call, Mapping) for call in calls)):
        answer = Response(tuple([_checked(call) for call in calls]), Stop("tool_calls"))
    else:
        _, answer = _read_response(calls, dialect, context)
        answer = msgspec.structs.replace(answer, parts=marked(answer.parts, speaker))
    context.profile = profiles.lookup(dialect, model or answer.model)
    requested = [part for part in answer.parts if isinstance(part, ToolCall)]
    results: list[Part] = [
        _result(call, output) for call, output in zip(requested, _matched(requested, outputs), strict=True)
    ]
    written = speaker.write_results(answer, Request((Turn("tool", tuple(results)),)), context)
    continuation: list[Any] = json_text.decode(written)
    return continuation


def _checked(call: Any) -> ToolCall:
    if isinstance(call, IncompleteCall):
        # The caller has chosen to answer an incomplete call, for example with an error.
        return ToolCall(**{name: getattr(call, name) for name in call.__struct_fields__})
    if isinstance(call, ToolCall):
        return call
    raise ConfigError("kind of call", type(call).__name__, ("ToolCall",))


def _matched(calls: list[ToolCall], outputs: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
    """One output for each call, in the order of the calls. Raises ConfigError for a missing or a surplus output."""
    ids = [call.id for call in calls]
    if isinstance(outputs, Mapping):
        by_id = dict(outputs)
    else:
        by_id = {name: output for output in outputs if (name := _call_id(output)) is not None}
        # Outputs without ids are matched by their order. A mixture would be ambiguous.
        if not by_id or len(by_id) != len(outputs):
            if len(outputs) != len(ids):
                raise ConfigError("number of outputs", str(len(outputs)), (str(len(ids)),))
            return list(outputs)
    for call_id in ids:
        if call_id not in by_id:
            raise ConfigError("call", call_id, tuple(map(str, by_id)), "there is no output for it")
    for call_id in by_id:
        if call_id not in ids:
            raise ConfigError("output", str(call_id), tuple(ids), "there is no such call")
    return [by_id[call_id] for call_id in ids]


def _call_id(output: Any) -> str | None:
    """The call id in an output of a sequence; None if the position decides."""
    if isinstance(output, ToolResult):
        return output.call_id or None
    return str(output["id"]) if _is_output(output) and "id" in output else None


def _is_output(output: Any) -> bool:
    """Whether the value is an output with flags, and not a JSON value of a tool."""
    return (
        isinstance(output, Mapping)
        and ("output" in output or "outputText" in output)
        # A tool's own JSON may have a key `output`, too. Only an object without further keys is an output with flags.
        and _OUTPUT_KEYS.issuperset(cast("Mapping[str, Any]", output))
    )


def _result(call: ToolCall, output: Any) -> ToolResult:
    if isinstance(output, ToolResult):
        return msgspec.structs.replace(output, call_id=call.id, name=output.name or call.name, custom=call.custom)
    is_error = False
    if _is_output(output):
        is_error = bool(output.get("is_error") or output.get("isError"))
        output = output["output"] if "output" in output else output["outputText"]
    return ToolResult(call.id, _parts(output), call.name, is_error, custom=call.custom)


def _parts(output: Any) -> tuple[Part, ...]:
    """The parts of a result: text and media unchanged, any other value as its JSON text."""
    if isinstance(output, str):
        return (Text(output),)
    if isinstance(output, (Text, Media)):
        return (output,)
    members = _members(output)
    if any(isinstance(one, Part) for one in members):
        parts: list[Part] = []
        for one in members:
            if not isinstance(one, (str, Text, Media)):
                raise ConfigError("kind of output", type(one).__name__, _KINDS_IN_A_LIST)
            parts.append(Text(one) if isinstance(one, str) else one)
        return tuple(parts)
    _json_only(output)
    try:
        return (Text(json_text.encode(output).decode()),)
    except TypeError as error:
        raise ConfigError("output", type(output).__name__, (), str(error)) from None


_KINDS_IN_A_LIST = ("str", "Text", "Media")


def _json_only(value: Any) -> None:
    """Raises ConfigError if the value holds a part of a conversation, which a JSON value cannot hold."""
    if isinstance(value, Part):
        raise ConfigError("kind of output", type(value).__name__, ("ToolResult", *_KINDS_IN_A_LIST))
    for one in cast("Mapping[str, Any]", value).values() if isinstance(value, Mapping) else _members(value):
        _json_only(one)


def _members(value: Any) -> Sequence[Any]:
    """The members of a list or tuple. Any other value has none."""
    return cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else ()
