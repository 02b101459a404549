"""Reads and writes Responses answers: their status, usage, and echo of the request."""

from __future__ import annotations

from itertools import compress
from operator import attrgetter, contains, not_
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Extra, Part, Path, Text, ToolCall
from ...canon.request import Request, Settings
from ...canon.response import Response, Stop, StopReason, Usage
from ...canon.turns import Turn
from ...codec import answer_ids, answer_service_tiers, json_text
from ...codec.cache_memory_budget import DocumentMemory, lookup_cache, remembered
from ...codec.dialect_extras import NULL, gather, restore, sent_fields
from ...codec.failure_sentence_in_answer import is_exact, lose_missing_call, lose_stop, report_later_answers
from ...codec.tool_declaration_cache import IdentityKey
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ...errors import WireError
from ...facts.loss_severity_by_place_and_value import EMPTY_VALUES
from . import wire
from .assistant_items import answer_items, read_item, write_items
from .history_writer import Calls, write_outputs
from .tools import own_fields, tools_to, with_fields, write_choice

_INCOMPLETE: dict[str, StopReason] = {
    # incomplete_details.reason (openai 3.49.0, 2026-11).
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
    "steered": "pause",
}
_ENDS: dict[StopReason, tuple[str, str]] = {
    "stop": ("completed", ""),
    # There is no status for a stop sequence, calls or a refusal: the items show them (openai 3.49.0, 2026-11).
    "stop_sequence": ("completed", ""),
    "tool_calls": ("completed", ""),
    "refusal": ("completed", ""),
    "pause": ("completed", ""),
    "unknown": ("completed", ""),
    "length": ("incomplete", "max_output_tokens"),
    "context_full": ("incomplete", "max_output_tokens"),
    "content_filter": ("incomplete", "content_filter"),
    "bad_tool_call": ("failed", ""),
    "error": ("failed", ""),
}
_EXACT: frozenset[StopReason] = frozenset({"stop", "tool_calls", "refusal", "length", "content_filter"})
_STATUS = ("status",)
_ECHO_NAMES = tuple(wire.ANSWER_ECHO)
_ECHO_NOTHING = tuple(wire.ANSWER_ECHO.values())
_SHORT = 120
"""No object without meaning is longer than this."""
_echo_values = attrgetter(*_ECHO_NAMES)
_wishes = attrgetter(*wire.ANSWER_WISHES)
_AROUND_NAMES = (*wire.ANSWER_EXTRAS, *_ECHO_NAMES)
_EMPTY_RAW = (wire.NONE, *EMPTY_VALUES)  # an absent field is found by identity, which is quicker than by its bytes
_AROUND_NOTHING = (
    *[_EMPTY_RAW for _ in wire.ANSWER_EXTRAS],
    *[_EMPTY_RAW if wire.NONE in nothing else (*nothing, "", {}) for nothing in _ECHO_NOTHING],
)
_around_values = attrgetter(*_AROUND_NAMES)


def read_response(body: bytes, context: Context) -> Response:
    """Read an answer into canon, or a list of items."""
    # Clients keep `output` alone in their history, or the last event of each item.
    if b'"output":' not in body or body[:1] != b"{":
        body = _whole(body)
    answer, unknown, context.spelled = wire.admit_answer(body)
    if answer.output is None and answer.status is None and not answer.error:
        raise WireError(wire.NAME, "/output", "an array of items")
    parts: list[Part] = []
    for i, item in enumerate(answer.output or ()):
        read_item(item, ("output", i), parts, context, unknown, answer.id or "")
    usage = read_figures(answer, context, unknown)
    return Response(
        tuple(parts),
        read_stop(answer, parts, context),
        answer.id or "",
        answer.model or "",
        int(answer.created_at) if answer.created_at is not None else None,
        usage,
        (),
        answer_extra(answer, context, unknown),
    )


def _whole(body: bytes) -> bytes:
    """A response made of the values that clients keep: a list of items, or the event that ends an item."""
    body = body.strip()
    if body[:1] == b"[":
        return b'{"output":%b}' % body
    if b"response.output_item." in body:
        fields = json_text.fields(body) if json_text.is_object(body) else {}
        if "item" in fields:
            return b'{"output":[%b]}' % bytes(fields["item"])
    return body


def read_stop(answer: wire.Answer, parts: list[Part], context: Context) -> Stop:
    """The stop of an answer. Responses has no word for a tool turn: the calls decide (openai 3.49.0, 2026-11)."""
    status = answer.status or "completed"
    if status == "completed":
        # No status means that tools are called. Only call items in `output` show this (openai 3.49.0, 2026-11).
        if any(type(part) is ToolCall for part in parts):
            return Stop("tool_calls")
        if any(type(part) is Text and part.refusal for part in parts):
            return Stop("refusal")
        return Stop("stop" if answer.status else "unknown")
    if status == "incomplete":
        word = (answer.incomplete_details.reason if answer.incomplete_details is not None else None) or ""
        reason = _INCOMPLETE.get(word, "unknown")
        if reason not in ("length", "content_filter") and any(type(part) is ToolCall for part in parts):
            reason = "tool_calls"
        extra = None
        if (status, word) != _ENDS[reason]:
            details = {"reason": word} if word else None
            own = {"status": json_text.raw(status), "incomplete_details": json_text.raw(details)}
            extra = context.keep((), own)
        at = _STATUS if reason == "unknown" else ()
        return Stop(reason, detail=word if reason not in ("length", "content_filter") else "", extra=extra, at=at)
    # A failed response has `error` with code and message (openai 3.49.0, 2026-11).
    if status == "failed":
        error = json_text.plain(answer.error) if answer.error else None
        message = error.get("message") if isinstance(error, dict) else None
        return Stop("error", detail=message if isinstance(message, str) else "")
    # `queued`, `in_progress` and `cancelled` are states of a background response (openai 3.49.0, 2026-11).
    extra = context.keep((), {"status": json_text.raw(status)})
    return Stop("error" if status == "cancelled" else "unknown", detail=status, extra=extra, at=_STATUS)


def read_figures(answer: wire.Answer, context: Context, unknown: Unknown) -> Usage | None:
    """The usage of an answer. For another dialect also the service tier, which is removed from the answer."""
    if answer.usage is None:
        return None
    usage = read_usage(answer.usage, context, unknown)
    tier = (
        answer_service_tiers.read(answer.service_tier) if answer.service_tier and context.target != wire.NAME else None
    )
    if tier is None:
        return usage
    answer.service_tier = wire.NONE
    return answer_service_tiers.with_tier(usage, tier, _TIER_AT)


_TIER_AT: Path = ("service_tier",)


def read_usage(usage: wire.Usage, context: Context, unknown: Unknown) -> Usage:
    """Token counts. Cached and reasoning tokens are included in the totals (openai 3.49.0, 2026-11)."""
    input_details, output_details = usage.input_tokens_details, usage.output_tokens_details
    more: dict[str, Raw] = {}
    if (
        input_details is not None
        and input_details.cache_write_tokens_details
        and input_details.cache_write_tokens_details != NULL
    ):
        more["input_tokens_details/cache_write_tokens_details"] = input_details.cache_write_tokens_details
    # Cached and reasoning tokens are included in the totals (openai 3.49.0, 2026-11).
    sums_up = usage.total_tokens == (usage.input_tokens or 0) + (usage.output_tokens or 0)
    return Usage(
        usage.input_tokens,
        usage.output_tokens,
        input_details.cached_tokens if input_details is not None else None,
        input_details.cache_write_tokens if input_details is not None else None,
        output_details.reasoning_tokens if output_details is not None else None,
        gather(context, ("usage",), unknown, more or None),
        None if sums_up else usage.total_tokens,
    )


def answer_extra(answer: wire.Answer, context: Context, unknown: Unknown) -> Extra | None:
    """The fields around the output that the canon cannot hold."""
    own = context.target == wire.NAME
    more, silent = around(answer, own=own)
    if not own and not unknown:
        if more:
            context.keep((), more)
        return None
    return with_fields(gather(context, (), unknown, more or None), silent)


def around(answer: wire.Answer, *, own: bool) -> tuple[dict[str, Raw], dict[str, Raw]]:
    """The fields around the output that have a meaning, and for this dialect (`own`) also the other fields."""
    more = sent_fields(answer, wire.ANSWER_EXTRAS) or {}
    if answer.error and answer.error != NULL:
        more["error"] = answer.error
    silent: dict[str, Raw] = {}
    values = _echo_values(answer)
    echoed = tuple(zip(_ECHO_NAMES, values, strict=True))
    # Few of the fields have a meaning. The others are left out without a step for each.
    for name, value in compress(echoed, map(not_, map(contains, _ECHO_NOTHING, values))):
        more[name] = value if type(value) is Raw else json_text.raw(value)
    if own:
        for name, value in echoed:
            if name not in more and value is not None and value != wire.NONE:
                silent[name] = value if type(value) is Raw else json_text.raw(value)
    wishes = _wishes(answer)
    for name, raw in compress(zip(wire.ANSWER_WISHES, wishes, strict=True), wishes):
        (silent if len(raw) <= _SHORT and _is_silent(name, bytes(raw)) else more)[name] = raw
    return more, silent


def names_around(answer: wire.Answer) -> tuple[str, ...]:
    """The names of the fields with a meaning around the output of an answer without an error."""
    names = tuple(compress(_AROUND_NAMES, map(not_, map(contains, _AROUND_NOTHING, _around_values(answer)))))
    for name in wire.ANSWER_WISHES:
        raw: Raw = getattr(answer, name)
        if raw not in EMPTY_VALUES and not (len(raw) <= _SHORT and _is_silent(name, bytes(raw))):
            names += (name,)
    return names


@lookup_cache(64)  # answers of one host repeat the same values
def _is_silent(name: str, value: bytes) -> bool:
    try:
        return json_text.plain(Raw(value)) in wire.ANSWER_WISHES[name]
    except WireError:
        return False  # not decodable


def write_response(response: Response, context: Context) -> bytes:
    """Write an answer from canon."""
    response_id = answer_ids.for_response(response.id, response.parts, answer_ids.RESPONSES, context)
    if response.alternatives:
        report_later_answers(response, context)
    end = write_stop(response.stop, response.parts, context)
    out = head(response_id, response.created, response.model, end["status"], context)
    out["output"] = answer_items(response.parts, response_id, context, cut=end["status"] == "incomplete")
    if context.source == wire.NAME:
        out["usage"] = write_usage(response.usage, context) if response.usage is not None else None
    else:
        out["usage"] = counted(response.usage, context)
        write_tier(response.usage, out, context)
    out |= end
    if response.extra is not None:
        restore(out, response.extra, wire.NAME)
    if context.source == wire.NAME:
        return json_text.encode(_as_it_was(out, response.usage))
    return filled(out, context.answers)


def _as_it_was(out: dict[str, Any], usage: Usage | None) -> dict[str, Any]:
    """Remove the fields that an answer of this dialect did not have."""
    if usage is not None and usage.cache_write is None:
        del out["usage"]["input_tokens_details"]["cache_write_tokens"]
        if usage.cache_read is None:
            del out["usage"]["input_tokens_details"]
    if usage is not None and usage.reasoning is None:
        del out["usage"]["output_tokens_details"]
    return out


def head(response_id: str, created: int | None, model: str, status: str, context: Context) -> dict[str, Any]:
    """The fields that every event of a stream repeats."""
    return {
        "id": response_id,
        "object": "response",
        "created_at": context.created if created is None else created,
        "status": status,
        "model": context.model or model,
    }


def filled(out: dict[str, Any], answers: Request | None) -> bytes:
    """The response object with the fields that the types demand: an echo of the client's request, or else the
    defaults.
    """
    rest = _rest(answers) if answers is not None else _DEFAULT_REST
    if rest.fields.keys().isdisjoint(out):
        return completed(out, answers)
    # Existing fields keep their place and their value.
    return json_text.encode({**out, **rest.fields, **out})


def completed(out: dict[str, Any] | Struct, answers: Request | None) -> bytes:
    """The same for an answer that has none of the filling fields."""
    rest = _rest(answers) if answers is not None else _DEFAULT_REST
    return b"".join((json_text.encode(out)[:-1], rest.text))


class _Rest(Struct, frozen=True, eq=False):
    """The fields that fill up an answer, their text with a comma in place of the bracket, and their source."""

    fields: dict[str, Any]
    text: bytes
    request: Request | None = None
    first: Turn | None = None


def _rest(request: Request) -> _Rest:
    """The filling fields: the same for all answers of a conversation whose requests differ only in the history."""
    turns, settings = request.turns, request.settings
    first = turns[0] if turns and turns[0].at == _INSTRUCTIONS else None
    known = _RESTS.get(id(settings))
    if known is not None and known.first is first and known.request is not None:
        earlier = known.request
        same = earlier.settings is settings and earlier.tools is request.tools
        if same and earlier.choice is request.choice and earlier.extra is request.extra:
            return known
    fields = _DEFAULTS | echo(request)
    alone = msgspec.structs.replace(request, turns=())
    known = _Rest(fields, b"," + json_text.encode(fields)[1:], alone, first)
    _RESTS.put(id(settings), known, 3 * len(known.text) + 1000)
    return known


_RESTS: DocumentMemory[int, _Rest] = DocumentMemory()
_INSTRUCTIONS: Path = ("instructions",)


_DEFAULTS: dict[str, Any] = {
    # OpenAI writes all settings into an answer; these are the values of absent ones (openai 3.49.0, 2026-11).
    "background": False,
    "completed_at": None,
    "error": None,
    "frequency_penalty": 0.0,
    "incomplete_details": None,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
"""The values of OpenAI's own answers for absent settings (recorded 2026). The Open Responses schema requires all of
these fields."""
_DEFAULT_REST = _Rest(_DEFAULTS, b"," + json_text.encode(_DEFAULTS)[1:])
_CACHE_OPTIONS = "prompt_cache_options"
_ECHOED = (
    "background",
    "max_tool_calls",
    "previous_response_id",
    _CACHE_OPTIONS,
    "prompt_cache_retention",
    "store",
    "truncation",
    "user",
)


def echo(request: Request) -> dict[str, Any]:
    """The settings of the client's request, in its own words."""
    settings = request.settings
    out: dict[str, Any] = {}
    first = request.turns[0] if request.turns else None
    if first is not None and first.at == _INSTRUCTIONS and type(first.parts[0]) is Text:
        out["instructions"] = first.parts[0].text
    if request.tools:
        out["tools"] = _echoed(IdentityKey(request.tools))
    if request.choice is not None:
        out["tool_choice"] = write_choice(request, request.choice, Context(wire.NAME, wire.NAME))
    for value, name in (
        (settings.parallel, "parallel_tool_calls"),
        (settings.max_tokens, "max_output_tokens"),
        (settings.temperature, "temperature"),
        (settings.top_p, "top_p"),
        (settings.top_logprobs, "top_logprobs"),
        (settings.metadata, "metadata"),
        (settings.cache_key, "prompt_cache_key"),
        (settings.user, "user" if settings.at.get("user") == ("user",) else "safety_identifier"),
    ):
        if value is not None:
            out[name] = value
    _echo_wishes(settings, out)
    fields = own_fields(request.extra)
    for name in _ECHOED:
        if name in fields:
            out.setdefault(name, fields[name])
    if _CACHE_OPTIONS in out:
        options = json_text.plain(out[_CACHE_OPTIONS])
        if not isinstance(options, dict) or not {"mode", "ttl"} <= options.keys():
            del out[_CACHE_OPTIONS]  # an answer requires both; a request may omit one
    return out


def _tools_echo(same: IdentityKey) -> Raw:
    """The tools as declared: the same for every answer of a conversation."""
    tools = [tool for tool in same.tools if tool.at[:1] == ("tools",)]
    return json_text.raw([_declared(tool) for tool in tools_to(tools, Context(wire.NAME, wire.NAME))])


_echoed = remembered(_tools_echo, lambda raw, same: 2 * len(raw) + 500)


def _declared(tool: Any) -> Any:
    """A tool with all fields that the answer's type requires."""
    if isinstance(tool, dict) and tool["type"] == "function":
        # `parameters` and `strict` are required, and may be null (openai 3.49.0, 2026-11).
        tool.setdefault("parameters", None)
        tool.setdefault("strict", None)
    return tool


def _echo_wishes(settings: Settings, out: dict[str, Any]) -> None:
    if settings.effort is not None or settings.thoughts:
        out["reasoning"] = {"effort": settings.effort, "summary": "auto" if settings.thoughts else None}
    text: dict[str, Any] = {}
    shape = settings.format
    if shape is not None and shape.kind == "json":
        text["format"] = {"type": "json_object"}
    elif shape is not None:
        schema = Raw(shape.schema) if shape.schema is not None else {}
        json_schema = {"type": "json_schema", "name": shape.name, "schema": schema, "strict": shape.strict}
        text["format"] = {**json_schema, "description": shape.description} if shape.description else json_schema
    if settings.verbosity is not None:
        text["verbosity"] = settings.verbosity
    if text:
        out["text"] = {"format": {"type": "text"}, **text}


def write_stop(stop: Stop, parts: tuple[Part, ...] | list[Part], context: Context) -> dict[str, Any]:
    """`status`, with `incomplete_details` or `error` if the status demands it."""
    own = own_fields(stop.extra)
    if own:
        return {name: json_text.plain(value) for name, value in own.items()}
    status, reason = _ENDS[stop.reason]
    exact = is_exact(stop, _EXACT)
    if stop.reason == "refusal" and not any(type(part) is Text and part.refusal for part in parts):
        # A refusal is a part here. Without one, an empty completed answer would look like success.
        status, reason, exact = "incomplete", "content_filter", False
    if stop.reason == "tool_calls":
        lose_missing_call(stop, any(type(part) is ToolCall for part in parts), status, context)
    lose_stop(stop, reason or status, context, exact=exact, written=status == "failed")
    out: dict[str, Any] = {"status": status}
    if reason:
        # incomplete_details names the reason (openai 3.49.0, 2026-11).
        out["incomplete_details"] = {"reason": reason}
    if status == "failed" and context.source != wire.NAME:
        out["error"] = {
            "code": "server_error",
            "message": stop.detail or f"the upstream ended with {stop.word or stop.reason}",
        }
    return out


def write_usage(usage: Usage, context: Context) -> dict[str, Any]:
    """The usage object."""
    input_tokens, output_tokens = usage.input or 0, usage.output or 0
    if usage.input is None or usage.output is None:
        context.lose("usage.invented", context.answer_paths.usage)
    out: dict[str, Any] = {
        "input_tokens": input_tokens,
        # Both details are required in an answer (openai 3.49.0, 2026-11).
        "input_tokens_details": {"cached_tokens": usage.cache_read or 0, "cache_write_tokens": usage.cache_write or 0},
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
    }
    out["total_tokens"] = input_tokens + output_tokens if usage.total is None else usage.total
    return restore(out, usage.extra, wire.NAME) if usage.extra is not None else out


def counted(usage: Usage | None, context: Context) -> dict[str, Any]:
    """The usage of an answer, with zeros for unknown figures: OpenAI's schema allows no null (2026-08), and the Open
    Responses schema requires the field.
    """
    if usage is None:
        context.lose("usage.invented")
    return write_usage(usage or _NOTHING_COUNTED, context)


_NOTHING_COUNTED = Usage(0, 0)


def write_tier(usage: Usage | None, out: dict[str, Any], context: Context) -> None:
    """Write the service tier, unless it is the default."""
    tier = answer_service_tiers.write(usage, answer_service_tiers.OPENAI, context)
    if tier is not None and tier != _DEFAULTS["service_tier"]:
        out["service_tier"] = tier


def write_results(response: Response, results: Request, context: Context) -> bytes:
    """The items to append: the answer's items as they must be returned, then one item for each output."""
    items: list[Any] = []
    calls = Calls(results.turns)
    write_items(response.parts, items, context, calls.note_calls(response.parts))
    calls.answer(response.parts, items, context)
    for turn in results.turns:
        write_outputs(turn, calls, items, context)
    return json_text.encode(items)
