"""Tool calls and tool results by themselves: what a client needs that runs tools and speaks one dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from .canon.parts import Part, Text, ToolCall, ToolResult
from .canon.request import Request
from .canon.response import Response, Stop
from .canon.turns import Turn
from .codec import jsontext
from .codec.surrogates import without_surrogates
from .crossing import Crossing
from .dialects import get
from .errors import ConfigError, WireError
from .sealing import marked
from .translate import Body, as_bytes

_OUTPUT_KEYS = frozenset({"id", "output", "outputText", "is_error", "isError"})


def tool_calls(response: Body, *, dialect: str) -> list[ToolCall]:
    """The calls a client has to run, in order: id, name, arguments (exact JSON text), `.input` (decoded)."""
    found = _read_response(response, dialect, Crossing(dialect, dialect))
    return [_blank_filled(part) for part in found.parts if isinstance(part, ToolCall)]


def _read_response(response: Any, dialect: str, crossing: Crossing) -> Response:
    document = as_bytes(response, dialect)
    try:
        return get(dialect).read_response(document, crossing)
    except WireError:
        mended = without_surrogates(document)
        if mended is None:
            raise
    return get(dialect).read_response(mended, crossing)


def _blank_filled(call: ToolCall) -> ToolCall:
    """Blank arguments mean an empty object."""
    if call.custom or call.arguments.strip():
        return call
    return msgspec.structs.replace(call, arguments="{}")


def tool_results(
    calls: list[ToolCall] | tuple[ToolCall, ...] | Body,
    outputs: Mapping[str, Any] | Sequence[Any],
    *,
    dialect: str,
    model: str = "",
) -> list[Any]:
    """The continuation of a tool turn, complete: what to append to the next request's messages, contents or input.

    `calls` is the answer that holds them (then everything in it that must go back goes back: text, thinking, seals), or
    a list of ToolCall. `outputs` gives one output for each call: a mapping by call id, or a sequence whose members all
    name their call or else stand in call order. An output is text, a ToolResult, any JSON value, or
    `{"id": ..., "output": ..., "is_error": true}`.
    """
    crossing = Crossing(dialect, dialect, model=model)
    speaker = get(dialect)
    if isinstance(calls, tuple) or (isinstance(calls, list) and not any(isinstance(call, Mapping) for call in calls)):
        answer = Response(tuple([_checked(call) for call in calls]), Stop("tool_calls"))
    else:
        answer = _read_response(calls, dialect, crossing)
        answer = msgspec.structs.replace(answer, parts=marked(answer.parts, speaker))
    asked = [part for part in answer.parts if isinstance(part, ToolCall)]
    results: list[Part] = [_result(call, output) for call, output in zip(asked, _matched(asked, outputs), strict=True)]
    written = speaker.write_results(answer, Request((Turn("tool", tuple(results)),)), crossing)
    continuation: list[Any] = jsontext.decode(written)
    return continuation


def _checked(call: Any) -> ToolCall:
    if isinstance(call, ToolCall):
        return call
    raise ConfigError("kind of call", type(call).__name__, ("ToolCall",))


def _matched(calls: list[ToolCall], outputs: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
    """One output for each call, in the order of the calls; none is left over."""
    ids = [call.id for call in calls]
    if isinstance(outputs, Mapping):
        by_id = dict(outputs)
    else:
        by_id = {name: output for output in outputs if (name := _call_id(output)) is not None}
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
    """The call an output in a sequence names, if it names one; else its place says which."""
    if isinstance(output, ToolResult):
        return output.call_id or None
    return str(output["id"]) if _is_output(output) and "id" in output else None


def _is_output(output: Any) -> bool:
    """Whether it is an output with its flags around it, not a JSON value that a tool gave."""
    return (
        isinstance(output, Mapping)
        and ("output" in output or "outputText" in output)
        and _OUTPUT_KEYS.issuperset(output)
    )


def _result(call: ToolCall, output: Any) -> ToolResult:
    if isinstance(output, ToolResult):
        return msgspec.structs.replace(output, call_id=call.id, name=output.name or call.name, custom=call.custom)
    is_error = False
    if _is_output(output):
        is_error = bool(output.get("is_error") or output.get("isError"))
        output = output["output"] if "output" in output else output["outputText"]
    text = output if isinstance(output, str) else jsontext.encode(output).decode()
    return ToolResult(call.id, (Text(text),), call.name, is_error, custom=call.custom)
