"""Reads and writes OpenRouter answers: OpenRouter's own fields. Chat's code reads and writes the rest."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Part, Path, ToolCall
from ...canon.request import Request
from ...canon.response import Alternative, Response, Stop, StopReason, Usage
from ...codec import json_text
from ...codec.dialect_extras import sent_fields
from ...codec.failure_sentence_in_answer import GAP, failure, with_failure
from ...codec.fault_kinds_statuses_and_error_object import is_empty_field
from ...context import Context
from ...errors import WireError
from ..openai_chat import response as chat
from ..openai_chat.message_content import write_assistant
from ..openai_chat.tool_result_writer import write_results_messages
from ..openai_chat.wire import check_message
from . import wire
from .part_fields import fitted_turn, marks_homed
from .reasoning_details import split_turn
from .request import Taken, own_parts, take_message

_ERROR = Raw(b'"error"')
_LIMITS = frozenset({"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"})
"""The providers' words for the token limit in `native_finish_reason`."""
_WORDS = frozenset({"tool_calls", "stop", "length", "content_filter", "error"})
_NULL = Raw(b"null")


def read_response(body: bytes, context: Context) -> Response:
    """Read an answer into canon."""
    if b'"choices"' not in body:
        message, unknown, _ = wire.MESSAGE.admit(body)
        if message.role == "assistant" or message.tool_calls:
            taken = take_message(message, (), context)
            unknown = wire.lost_to_chat(context, unknown)
            context.source = wire.CHAT
            try:
                response = chat.read_message(message, context, unknown)
            finally:
                context.source = wire.NAME
            extra = wire.with_own(response.extra, _below(taken.fields, "choices/0/message/"))
            return msgspec.structs.replace(response, parts=own_parts(response.parts, taken), extra=extra)
        _refuse_fault(body)
    answer, unknown, spelled = wire.COMPLETION.admit(body)
    if not answer.choices:
        _refuse_fault(body)
    whole = sent_fields(answer, wire.COMPLETION_EXTRAS) or {}
    wire.report(context, (), whole)
    found = [_take_choice(choice, i, context) for i, choice in enumerate(answer.choices)]
    usage_fields = sent_fields(answer.usage, wire.USAGE_EXTRAS) if answer.usage is not None else None
    wire.report(context, ("usage",), usage_fields)
    unknown = wire.lost_to_chat(context, unknown)
    if context.target == wire.CHAT:
        _not_chats(answer, context)
    context.source = wire.CHAT
    try:
        response = chat.read_admitted((answer, unknown, spelled), context)
    finally:
        context.source = wire.NAME
    return _owned(response, found, whole, usage_fields)


# The tiers of Chat's answers (openai 3.49.0, 2026-11).
_TIERS = frozenset({b"null", b'"auto"', b'"default"', b'"flex"', b'"scale"', b'"priority"', b'"fast"'})


def _not_chats(answer: wire.Completion, context: Context) -> None:
    """Remove values that Chat's types do not allow, although Chat's reader reads them."""
    if answer.service_tier and bytes(answer.service_tier) not in _TIERS:
        wire.report(context, (), {"service_tier": answer.service_tier})
        answer.service_tier = wire.NONE
    figures = answer.usage.prompt_tokens_details if answer.usage is not None else None
    if figures is not None and figures.video_tokens:
        context.lose("field.dropped", ("usage", "prompt_tokens_details", "video_tokens"), severity="info")
        figures.video_tokens = None
    for i, choice in enumerate(answer.choices):
        notes = choice.message.annotations
        at: Path = ("choices", i, "message", "annotations")
        if notes and any(note.strange for note in notes):
            wire.report(context, at, {str(j): note.strange for j, note in enumerate(notes) if note.strange})
            choice.message.annotations = [note for note in notes if not note.strange]


class _Choice(msgspec.Struct, gc=False):
    """The fields that were removed from a choice before Chat's reader reads it."""

    fields: dict[str, Raw]
    taken: Taken
    error: str
    cut: bool


def _take_choice(choice: wire.AnswerChoice, number: int, context: Context) -> _Choice:
    at = ("choices", number)
    fields = sent_fields(choice, wire.CHOICE_EXTRAS) or {}
    wire.report(context, at, {name: value for name, value in fields.items() if name != "error"})
    # A failed choice may lack its message; any other choice without one is not an answer.
    if not choice.error:
        check_message(choice, f"/choices/{number}", wire.NAME)
    choice.message.role = "assistant"  # an answer has no other role
    taken = take_message(choice.message, (*at, "message"), context)
    error = ""
    if choice.error and not is_empty_field(choice.error):
        error_value = json_text.plain(choice.error)
        message = error_value.get("message") if isinstance(error_value, dict) else error_value
        error = message if isinstance(message, str) else ""
        if context.target != wire.NAME and not error:
            wire.report(context, at, {"error": choice.error})
        # `error` is a finish reason of OpenRouter only (openrouter 1.3.84, 2026-11).
        choice.finish_reason = choice.finish_reason or "error"
    native = choice.native_finish_reason
    cut = was_cut(choice.finish_reason, json_text.plain(native) if native else None)
    return _Choice({**fields, **_below(taken.fields, "message/")}, taken, error, cut)


def _owned(
    response: Response, found: list[_Choice], whole: dict[str, Raw], usage_fields: dict[str, Raw] | None
) -> Response:
    parts, stop, usage = response.parts, response.stop, response.usage
    if found:
        parts, stop = own_parts(parts, found[0].taken), _own_stop(stop, found[0])
        whole |= _below(found[0].fields, "choices/0/")
    if usage is not None and usage_fields:
        usage = msgspec.structs.replace(usage, extra=wire.with_own(usage.extra, usage_fields))
    others = [
        Alternative(
            own_parts(one.parts, choice.taken), _own_stop(one.stop, choice), wire.with_own(one.extra, choice.fields)
        )
        for one, choice in zip(response.alternatives, found[1:], strict=True)
    ]
    return Response(
        parts,
        stop,
        response.id,
        response.model,
        response.created,
        usage,
        tuple(others),
        wire.with_own(response.extra, whole),
    )


def _own_stop(stop: Stop, choice: _Choice) -> Stop:
    if choice.error:
        return msgspec.structs.replace(stop, reason="error", detail=choice.error)
    return cut_stop(stop) if choice.cut else stop


def was_cut(word: str | None, native: object) -> bool:
    """Whether an answer with the finish reason tool_calls ended at the token limit, so that its last call is incomplete
    (recorded 2026 with gpt-4.1-mini).
    """
    return word == "tool_calls" and isinstance(native, str) and native in _LIMITS


def cut_stop(stop: Stop) -> Stop:
    """The stop at the token limit, with the original word."""
    return Stop("length", extra={**(stop.extra or {}), wire.NAME: {"finish_reason": Raw(b'"tool_calls"')}})


def _below(fields: dict[str, Raw], path: str) -> dict[str, Raw]:
    return {path + name: value for name, value in fields.items()}


def _refuse_fault(body: bytes) -> None:
    """Refuse a fault with status 200, which must not look like an answer. `read_fault` reads it."""
    try:
        value = json_text.fields(body).get("error")
        error = json_text.decode(value) if value is not None else None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        raise WireError(wire.NAME, "/choices", "an answer", f"the fault {str(message)!r}")


def write_response(response: Response, context: Context) -> bytes:
    """Write an answer from canon."""
    is_own = context.source == wire.NAME
    came_from = context.source
    first = _parts_and_fields(with_failure(response.parts, failed(response.stop), GAP), context, is_own)
    extra = _without_null_audio(wire.with_fields_of_chat(response.extra))
    if first[1]:
        extra = _beside(extra, _below(first[1], "choices/0/message/"))
    if not is_own:
        fingerprint = (extra or {}).get(wire.CHAT, {}).get(_PRINT, _NULL)
        # `provider` names the host that answered. Pydantic AI 2.62 refuses an answer without it.
        extra = wire.with_chat(extra, {_PRINT: fingerprint, "provider": json_text.raw(came_from)})
    stop, native = written_stop(response.stop, context)
    if native:
        extra = wire.with_chat(extra, {f"choices/0/{_NATIVE}": json_text.raw(native)})
    others = []
    for i, one in enumerate(response.alternatives):
        parts, fields = _parts_and_fields(with_failure(one.parts, failed(one.stop), GAP), context, is_own)
        own = _without_null_audio(wire.with_fields_of_chat(one.extra))
        own = _beside(own, _below(fields, "message/")) if fields else own
        ended, native = written_stop(one.stop, context, i + 1)
        if native:
            own = wire.with_chat(own, {_NATIVE: json_text.raw(native)})
        others.append(Alternative(parts, ended, own))
    out = Response(
        first[0],
        stop,
        response.id,
        response.model,
        response.created,
        homed_usage(response.usage, context),
        tuple(others),
        extra,
    )
    target = context.target
    # Between documents of the same dialect Chat's writer changes nothing.
    if is_own:  # Chat's values, such as call ids, stay unchanged
        context.source = context.target = wire.CHAT
    try:
        return chat.write_response(out, context)
    finally:
        context.source, context.target = came_from, target


_PRINT = "system_fingerprint"
_NATIVE = "native_finish_reason"


def _without_null_audio(extra: Extra | None) -> Extra | None:
    """`extra` without a null `audio`: OpenRouter's schema (2026-08-22) has an object or nothing, but vLLM
    writes null.
    """
    fields = (extra or {}).get(wire.CHAT, {})
    null = [name for name, value in fields.items() if name.endswith("message/audio") and bytes(value) == b"null"]
    return {**(extra or {}), wire.CHAT: {k: v for k, v in fields.items() if k not in null}} if null else extra


def _beside(extra: Extra | None, fields: dict[str, Any]) -> Extra:
    """`extra`, with these fields added if it lacks them."""
    return {**(extra or {}), wire.CHAT: {**fields, **(extra or {}).get(wire.CHAT, {})}}


def homed_usage(usage: Usage | None, context: Context) -> Usage | None:
    """The usage for Chat's writer, without counts of Chat that OpenRouter does not have."""
    if usage is None or usage.extra is None:
        return usage
    extra = wire.with_fields_of_chat(usage.extra)
    if context.source == wire.CHAT:
        figures = (extra or {}).get(wire.CHAT, {})
        for name in [name for name in figures if name.endswith("/text_tokens") or _no_amount(name, figures[name])]:
            context.lose("field.dropped", ("usage", *name.split("/")), severity="info")
            figures = {key: value for key, value in figures.items() if key != name}
        extra = {wire.CHAT: figures} if figures else None
    return usage if extra is usage.extra else msgspec.structs.replace(usage, extra=extra)


def _no_amount(name: str, value: Raw) -> bool:
    """Whether the cost is not a number: Perplexity writes an object, but OpenRouter's `cost` is a number (openrouter
    1.3.84).
    """
    return name == "cost" and bytes(value)[:1] in (b"{", b"[", b'"', b"t", b"f")


def _parts_and_fields(
    parts: tuple[Part, ...], context: Context, is_own: bool
) -> tuple[tuple[Part, ...], dict[str, Any]]:
    """The parts for Chat's writer, and the message fields beside them."""
    split = split_turn(parts, context, request=False, is_own=is_own)
    fields: dict[str, Any] = {}
    if split.details:
        fields["reasoning"] = json_text.raw(split.thought or None)
        fields["reasoning_details"] = json_text.raw(split.details)
    if split.images:
        fields["images"] = json_text.raw(split.images)
    return split.parts, fields


def failed(stop: Stop) -> str:
    """The text for the client of a failed answer, if the finish reason `error` alone is not enough."""
    return "" if stop.reason == "error" and not stop.detail else failure(stop, wire.NAME, wire.CHAT)


def written_stop(stop: Stop, context: Context, number: int = 0) -> tuple[Stop, str]:
    """The stop for Chat's writer, and the upstream's own word for `native_finish_reason` if Chat's word is less exact.

    `finish_reason` also allows `error` here, for a failed answer (openrouter 1.3.84).
    """
    extra: Extra | None = wire.with_fields_of_chat(stop.extra)
    native = stop.word if not wire.own(stop.extra) else ""
    if context.source == wire.CHAT and extra is not None and wire.CHAT in extra:
        word = json_text.plain(extra[wire.CHAT]["finish_reason"])
        if word not in _WORDS:
            native = str(word) if word != "function_call" else ""
            extra = None
    if stop.reason in ("error", "bad_tool_call") and not (extra is not None and wire.CHAT in extra):
        if stop.reason != "error" or stop.detail or native:
            detail = f"{native or stop.detail or stop.reason} is sent as error"
            known = native and stop.reason == "error" and not stop.detail_at
            context.lose("stop.approximated", context.stopped(stop, number), detail, "info" if known else "warning")
        extra = wire.with_chat(extra, {"finish_reason": _ERROR})
    if not native:
        return stop if extra is stop.extra else msgspec.structs.replace(stop, extra=extra), ""
    reason: StopReason = "stop" if stop.reason == "unknown" else stop.reason
    return msgspec.structs.replace(stop, reason=reason, extra=extra, word=native), native


def write_results(response: Response, results: Request, context: Context) -> bytes:
    """The messages to append to `messages`: the assistant's message with its details, then one message per result."""
    came_from = context.source
    is_own = came_from == wire.NAME
    split = split_turn(response.parts, context, request=False, is_own=is_own)  # all shown details return, of any origin
    fields: dict[str, Any] = {}
    if split.details:
        fields["reasoning_details"] = split.details
    if split.images:
        fields["images"] = split.images
    turns = [marks_homed(turn) if is_own else fitted_turn(turn, context) for turn in results.turns]
    context.source = wire.CHAT if is_own else wire.NAME if came_from == wire.CHAT else came_from
    try:
        messages: list[Any] = []
        assistant = write_assistant(split.parts, context, request=True)
        if assistant is None and fields:
            assistant = {"role": "assistant", "content": None}
        if assistant is not None:
            messages.append({**assistant, **fields})
        calls = [part for part in response.parts if type(part) is ToolCall]
        for turn in turns:
            write_results_messages(turn, calls, messages, context)
    finally:
        context.source = came_from
    return json_text.encode(messages)
