"""The fast paths of Messages: plain answers without parts (`fast.plain_answer.PlainAnswer`), repeated frames,
continued requests.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ...canon.parts import Path
from ...canon.request import Request
from ...codec import answer_service_tiers, json_text
from ...codec.answer_ids import MESSAGES, id_with_prefix
from ...codec.dialect_extras import NULL
from ...codec.packed_seals import origin
from ...dialect import Fast
from ...facts.loss_severity_by_place_and_value import EMPTY_VALUES
from ...fast.continued_requests import skimmer
from ...fast.plain_answer import (
    NO_TEXT,
    NOT_PLAIN,
    CallId,
    Exact,
    Named,
    PackedSeals,
    PlainAnswer,
    PlainCall,
    PlainSeals,
    Word,
    as_spelled,
    has_decodable_arguments,
)
from ...fast.repeated_frames import RepeatedFrame
from .message_content_writer import DIRECT
from .request import RequestReader, RequestWriter
from .wire import NAME
from .wire_by_block_type import MESSAGE, REQUEST


class _Text(Exact, tag_field="type", tag="text"):
    text: Raw
    citations: None = None


class _Thinking(Exact, tag_field="type", tag="thinking"):
    thinking: Raw
    signature: str = ""


class _Direct(Exact):
    type: Literal["direct"]


class _Call(Exact, tag_field="type", tag="tool_use"):
    id: CallId
    name: str
    input: Raw
    caller: _Direct | None = None


class _WrittenText(Struct, tag_field="type", tag="text", gc=False):
    """A text as written."""

    text: Raw
    citations: None = None


class _Called(Struct, tag_field="type", tag="tool_use", gc=False):
    """A call as written."""

    id: str
    name: str
    input: Raw
    caller: Raw = DIRECT


class _Sealed(Struct, tag_field="type", tag="thinking", gc=False):
    """A thought that carries a seal, as written."""

    thinking: Raw
    signature: str


class _OutputDetails(Exact):
    thinking_tokens: int | None = None


class _Cached(Exact):
    ephemeral_5m_input_tokens: int = 0
    ephemeral_1h_input_tokens: int = 0


class _NothingRun(Exact):
    web_search_requests: Literal[0] = 0
    web_fetch_requests: Literal[0] = 0


class _Usage(Exact, kw_only=True):
    input_tokens: int
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: _Cached | None = None
    output_tokens: int
    output_tokens_details: _OutputDetails | None = None
    server_tool_use: _NothingRun | None = None
    service_tier: Literal["standard"] | None = None
    inference_geo: str | None = None
    iterations: Raw = NULL


class _Answer(Exact, kw_only=True):
    """Fields in the order in which Anthropic sends them (recorded 2026), so that decoding finds them fastest."""

    model: Word
    id: Word
    type: str | None = None
    role: str | None = None
    content: list[_Text | _Call | _Thinking]
    stop_reason: Literal["end_turn", "tool_use", "max_tokens"]
    stop_sequence: None = None
    stop_details: None = None
    usage: _Usage
    container: None = None
    context_management: Raw = NULL

    def kept(self) -> Named:
        """The fields with a meaning that only this dialect has."""
        usage = self.usage
        cached = usage.cache_creation
        names: tuple[str, ...] = ()
        if cached is not None and (cached.ephemeral_5m_input_tokens or cached.ephemeral_1h_input_tokens):
            names += ("cache_creation",)
        if usage.inference_geo and usage.inference_geo not in _NO_PLACE:
            names += ("inference_geo",)
        if usage.iterations not in EMPTY_VALUES:
            names += ("iterations",)
        kept: Named = ((_IN_USAGE, names),) if names else ()
        return kept if self.context_management in EMPTY_VALUES else kept + _AROUND


class _Figures(Struct, gc=False):
    """Usage as written, with null for fields that the schema requires and no other dialect has."""

    input_tokens: int
    cache_creation_input_tokens: int | None
    cache_read_input_tokens: int | None
    output_tokens: int
    output_tokens_details: _OutputDetails | UnsetType
    cache_creation: None = None
    server_tool_use: None = None
    service_tier: str | None = None
    inference_geo: None = None


class _Written(Struct, gc=False):
    """An answer as written."""

    id: str
    type: str
    role: str
    model: str
    content: list[Any]
    stop_reason: str
    stop_sequence: None
    stop_details: None
    container: None
    usage: _Figures


_decode = msgspec.json.Decoder(_Answer).decode
_STOPS: dict[str, Literal["stop", "tool_calls", "length"]] = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
}
_WORDS = {stop: word for word, stop in _STOPS.items()}
_IN_USAGE: Path = ("usage",)
_AROUND: Named = (((), ("context_management",)),)
_NO_PLACE = ("not_available", "standard")
"""Values of `inference_geo` without a meaning. The field names the place where the upstream ran."""
_NO_WORDS = Raw(b'""')


def read_plain(body: bytes, created: int = 0, answers: Request | None = None) -> PlainAnswer | None:
    """A plain answer; None if the answer needs the full reader."""
    try:
        answer = _decode(body)
    except NOT_PLAIN:
        return None
    text = thinking = NO_TEXT
    seals: PlainSeals | None = None
    calls: dict[str, PlainCall] = {}
    blocks = answer.content
    if blocks and type(blocks[0]) is _Thinking:
        first = blocks[0]
        found = as_spelled(first.thinking)
        if found is None or first.thinking == NULL:
            return None
        thinking = found
        if first.signature:
            seals = PlainSeals(thought=origin(first.signature, NAME, "", answer.model))
        del blocks[0]
    for block in blocks:
        if type(block) is _Call:
            call_id, arguments = block.id, str(block.input, "utf-8")
            if call_id in calls or arguments[0] != "{" or arguments.find('"__raw"', 0, 16) >= 0:
                return None
            calls[call_id] = PlainCall(block.name, arguments)
        elif not text and not calls and type(block) is _Text:
            spelled = as_spelled(block.text)
            if not spelled:
                return None
            text = spelled
        else:
            return None
    stop = _STOPS[answer.stop_reason]
    if not (stop == "tool_calls" if calls else stop == "length" or (text and stop != "tool_calls")):
        return None
    usage = answer.usage
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    details = usage.output_tokens_details
    return PlainAnswer(
        answer.id,
        answer.model,
        text,
        calls,
        stop,
        # input_tokens excludes cache reads and writes (anthropic 2.8.0, 2026-11); the canon includes both.
        usage.input_tokens + (read or 0) + (written or 0),
        usage.output_tokens,
        read,
        written,
        details.thinking_tokens if details is not None else None,
        None,
        usage.service_tier,
        True,
        answer.kept,
        (),
        thinking,
        seals,
    )


def write_plain(plain: PlainAnswer, model: str, created: int, answers: Request | None) -> bytes | None:
    """The bytes of a plain answer; None if the answer needs the full writer."""
    packed = plain.packed
    if plain.parsed and plain.calls and not has_decodable_arguments(plain):
        return None
    if packed is None:
        content: list[Any] = [_WrittenText(plain.text)] if plain.text else []
        for call_id, call in plain.calls.items():
            content.append(_Called(call_id, call.name, Raw(call.arguments)))
    elif packed.on_calls is not None:
        return None
    else:
        content = _sealed_content(plain, packed)
    read, written, thought = plain.cache_read, plain.cache_write, plain.reasoning
    fresh = plain.input - (read or 0) - (written or 0)
    if fresh < 0:
        return None
    details = UNSET if thought is None else _OutputDetails(thought)
    tier = None
    if plain.tier is not None:
        tier = answer_service_tiers.MESSAGES.get(plain.tier)
        if tier is None:
            return None
    usage = _Figures(fresh, written, read, plain.output, details, None, None, tier)
    shown, word = id_with_prefix(plain.id, MESSAGES), _WORDS[plain.stop]
    return json_text.encode(
        _Written(shown, "message", "assistant", model or plain.model, content, word, None, None, None, usage)
    )


def _sealed_content(plain: PlainAnswer, packed: PackedSeals) -> list[Any]:
    """The thought, the text and the calls, each after the thought that carries its seal."""
    content: list[Any] = []
    if packed.on_thought is not None:
        content.append(_Sealed(plain.thinking or _NO_WORDS, packed.on_thought))
    if packed.before_text is not None:
        content.append(_Sealed(_NO_WORDS, packed.before_text))
    if plain.text:
        content.append(_WrittenText(plain.text))
    thoughts = packed.before_calls or {}
    for call_id, call in plain.calls.items():
        if call_id in thoughts:
            content.append(_Sealed(_NO_WORDS, thoughts[call_id]))
        content.append(_Called(call_id, call.name, Raw(call.arguments)))
    return content


_KEYS = (b'"text":', b'"partial_json":', b'"thinking":')
repeated = RepeatedFrame(_KEYS, marks=(b'"}',), noise=b" ")
"""Anthropic pads the end of an event with spaces (recorded)."""

FAST = Fast(
    skimmer(REQUEST, "messages"),
    msgspec.json.Decoder(MESSAGE).decode,
    RequestReader,
    RequestWriter,
    read_plain=read_plain,
    write_plain=write_plain,
    repeated=repeated,
)
