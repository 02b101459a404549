"""The fast paths of Responses: plain answers without parts (`fast.plain_answer.PlainAnswer`), repeated frames,
continued requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import compress
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Path
from ...canon.request import Request
from ...codec import answer_service_tiers
from ...codec.answer_ids import RESPONSES, id_with_prefix
from ...codec.call_ids import hashed_id
from ...codec.packed_seals import origin
from ...dialect import Fast
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
    is_unknown_field,
    joined,
    members,
    names_of,
    unknown_fields,
)
from ...fast.repeated_frames import OBFUSCATED, RepeatedFrame
from . import wire
from .assistant_items import MADE_HERE
from .client_tool_search import NAME as SEARCH
from .client_tools import called_tool
from .request import RequestReader, RequestWriter
from .response import completed, filled, names_around

_CUT = {"reason": "max_output_tokens"}
_MANY = 64
"""The largest number of items of a plain answer. Longer answers take the full path."""


# Fields are in the order in which OpenAI sends them (recorded 2026), so that decoding finds them fastest.


class _Cut(Exact):
    reason: Literal["max_output_tokens"]


class _Words(Exact, kw_only=True):
    type: Literal["output_text"]
    annotations: tuple[()] | None = None
    logprobs: tuple[()] | None = None
    text: Raw


class _Message(Exact, tag_field="type", tag="message", kw_only=True):
    id: str | None = None
    status: Literal["completed", "incomplete"] | None = None
    content: tuple[_Words]
    phase: str | None = None
    role: Literal["assistant"]


class _Call(Exact, tag_field="type", tag="function_call", kw_only=True):
    id: str | None = None
    status: Literal["completed"] | None = None
    arguments: str
    call_id: CallId
    name: str


class _Summary(Exact, kw_only=True):
    type: Literal["summary_text", "reasoning_text"]
    text: Raw


class _Thought(Exact, tag_field="type", tag="reasoning", kw_only=True):
    id: str | None = None
    summary: list[_Summary] | None = None
    content: list[_Summary] | None = None
    encrypted_content: str | None = None
    status: Literal["completed"] | None = None


class _WrittenText(Struct, gc=False):
    """A text as written."""

    type: str
    text: Raw
    annotations: tuple[()]
    logprobs: tuple[()]


class _WrittenMessage(Struct, gc=False):
    id: str
    type: str
    status: str
    role: str
    content: tuple[_WrittenText]


class _Called(Struct, tag_field="type", tag="function_call", gc=False):
    """A call as written."""

    call_id: str
    name: str
    arguments: str
    id: str
    status: str = "completed"


class _InputDetails(Exact):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(Exact):
    reasoning_tokens: int | None = None


class _Usage(Exact, kw_only=True):
    input_tokens: int
    input_tokens_details: _InputDetails | None = None
    output_tokens: int
    output_tokens_details: _OutputDetails | None = None
    total_tokens: int


class _Sealed(Struct, gc=False):
    """A thought that carries a seal, as written."""

    id: str
    type: str
    summary: tuple[()] | tuple[_Summary]
    encrypted_content: str


class _Written(Struct, gc=False):
    """An answer as written, without the fields that fill it up."""

    id: str
    object: str
    created_at: int
    status: str
    model: str
    output: list[Any]
    usage: _Usage


_answer: Any = msgspec.defstruct(
    "Answer",
    [
        ("output", list[_Message | _Call | _Thought]),
        ("usage", _Usage),
        ("id", Word),
        ("model", Word),
        ("status", Literal["completed", "incomplete"]),
        ("error", None, None),
        ("incomplete_details", _Cut | None, None),
    ],
    bases=(wire.Answer,),
    kw_only=True,
)
_decode: Any = msgspec.json.Decoder(_answer).decode


class _LooseUsage(_Usage, forbid_unknown_fields=False, kw_only=True):
    pass


_loose_answer: Any = msgspec.defstruct(
    "LooseAnswer", [("usage", _LooseUsage)], bases=(_answer,), kw_only=True, forbid_unknown_fields=False
)
"""An answer with fields of a host's own, in itself and in its usage."""
_decode_loose: Any = msgspec.json.Decoder(_loose_answer).decode
_Unknown = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of unknown fields of the usage, and of the answer."""
_USAGE_FIELDS, _ANSWER_FIELDS = frozenset(_Usage.__struct_fields__), frozenset(_answer.__struct_fields__)
_NO_INPUT_DETAILS, _NO_OUTPUT_DETAILS = _InputDetails(), _OutputDetails()
_PLACES = tuple([f"{place:03x}" for place in range(2 * _MANY + 1)])
_OWN_IDS = tuple([(("output", i), ("id",)) for i in range(_MANY)])


def read_plain(body: bytes, created: int = 0, answers: Request | None = None) -> PlainAnswer | None:
    """A plain answer; None if the answer needs the full reader."""
    unknown: _Unknown | None = None
    try:
        answer = _decode(body)
    except NOT_PLAIN as refusal:
        loose = _read_loose(body) if is_unknown_field(refusal) else None
        if loose is None:
            return None
        answer, unknown = loose
    text = thinking = NO_TEXT
    seals: PlainSeals | None = None
    calls: dict[str, PlainCall] = {}
    items = answer.output
    if len(items) > _MANY:
        return None
    for item in items:
        if type(item) is _Call:
            if item.call_id in calls:
                return None
            calls[item.call_id] = PlainCall(item.name, item.arguments)
        elif type(item) is _Thought:
            found = joined([piece.text for piece in (*(item.summary or ()), *(item.content or ()))], "\n\n")
            if item is not items[0] or found is None:
                return None
            thinking = found
            if item.encrypted_content:
                seals = PlainSeals(thought=origin(item.encrypted_content, wire.NAME))
        elif not text and not calls:
            spelled = as_spelled(item.content[0].text)
            if not spelled:
                return None
            text = spelled
        else:
            return None
    usage = answer.usage
    prompt, output = usage.input_tokens, usage.output_tokens
    cut = answer.status == "incomplete"
    if not (text or calls or cut) or usage.total_tokens != prompt + output:
        return None
    if cut != (answer.incomplete_details is not None) or (cut and calls):
        return None
    input_details = usage.input_tokens_details or _NO_INPUT_DETAILS
    tier = answer_service_tiers.read(answer.service_tier) if answer.service_tier else None
    if tier is not None:
        answer.service_tier = wire.NONE
    return PlainAnswer(
        answer.id,
        answer.model,
        text,
        calls,
        "tool_calls" if calls else "length" if cut else "stop",
        prompt,
        output,
        input_details.cached_tokens,
        input_details.cache_write_tokens,
        (usage.output_tokens_details or _NO_OUTPUT_DETAILS).reasoning_tokens,
        int(answer.created_at) if answer.created_at is not None else None,
        tier,
        False,
        partial(_kept, answer, unknown),
        (),
        thinking,
        seals,
    )


def _read_loose(body: bytes) -> tuple[Any, _Unknown] | None:
    """An answer, and the fields that only its host has."""
    try:
        answer = _decode_loose(body)
        around = members(body)
        usage = members(around["usage"])
    except NOT_PLAIN:
        return None
    return answer, (names_of(unknown_fields(usage, _USAGE_FIELDS)), names_of(unknown_fields(around, _ANSWER_FIELDS)))


def _kept(answer: Any, unknown: _Unknown | None) -> Named:
    items = answer.output
    own: Iterable[tuple[Path, tuple[str, ...]]] = compress(_OWN_IDS, _ids(items))
    at = 1 if items and type(items[0]) is _Thought else 0
    first = items[at] if len(items) > at else None
    if type(first) is _Message and (first.phase or first.status == "incomplete"):
        # Only the first item, or the item after a thought, can be a message.
        sent = first.phase, first.id, first.status == "incomplete"
        own = (
            *compress(_OWN_IDS[:at], _ids(items[:at])),
            (("output", at), tuple(compress(("phase", "id", "status"), sent))),
            *compress(_OWN_IDS[at + 1 :], _ids(items[at + 1 :])),
        )
    if unknown is None:
        return (*own, ((), names_around(answer)))
    in_usage, beside = unknown
    return (*own, (("usage",), in_usage), ((), names_around(answer) + beside))


def _ids(items: list[Any]) -> list[str | None]:
    return [item.id for item in items]


def write_plain(plain: PlainAnswer, model: str, created: int, answers: Request | None) -> bytes | None:
    """The bytes of a plain answer; None if the answer needs the full writer."""
    status = "incomplete" if plain.stop == "length" else "completed"
    if plain.tier is not None and plain.tier != "standard":  # the default of every filled answer
        return None
    shown = id_with_prefix(plain.id, RESPONSES)
    stem = hashed_id(shown, "")
    packed = plain.packed
    output: list[Any] = _thoughts(plain, packed, stem) if packed is not None else []
    if plain.text:
        text = _WrittenText("output_text", plain.text, (), ())
        output.append(_WrittenMessage(f"msg_{stem}{_PLACES[len(output)]}", "message", status, "assistant", (text,)))
    if plain.calls:
        if len(plain.calls) > _MANY or (packed is not None and packed.on_calls is not None):
            return None
        thoughts = packed.before_calls if packed is not None else None
        for call_id, call in plain.calls.items():
            name = call.name
            if name == SEARCH or called_tool(name, answers) is not None:
                return None
            if thoughts is not None and call_id in thoughts:
                output.append(_Sealed(f"{MADE_HERE}{stem}{_PLACES[len(output)]}", "reasoning", (), thoughts[call_id]))
            output.append(_Called(call_id, name, call.arguments, f"fc_{stem}{_PLACES[len(output)]}"))
    usage = _Usage(
        input_tokens=plain.input,
        input_tokens_details=_InputDetails(plain.cache_read or 0, plain.cache_write or 0),
        output_tokens=plain.output,
        output_tokens_details=_OutputDetails(plain.reasoning or 0),
        total_tokens=plain.input + plain.output,
    )
    created = created if plain.created is None else plain.created
    out = _Written(shown, "response", created, status, model or plain.model, output, usage)
    if plain.stop == "length":
        return filled({**msgspec.structs.asdict(out), "incomplete_details": _CUT}, answers)
    return completed(out, answers)


def _thoughts(plain: PlainAnswer, packed: PackedSeals, stem: str) -> list[Any]:
    """The thought of an answer, and the thought that carries the seal of the text."""
    output: list[Any] = []
    if packed.on_thought is not None:
        summary: tuple[()] | tuple[_Summary] = ()
        if plain.thinking:
            summary = (_Summary(type="summary_text", text=plain.thinking),)
        output.append(_Sealed(f"{MADE_HERE}{stem}000", "reasoning", summary, packed.on_thought))
    if packed.before_text is not None:
        output.append(_Sealed(f"{MADE_HERE}{stem}{_PLACES[len(output)]}", "reasoning", (), packed.before_text))
    return output


repeated = RepeatedFrame((b'"delta":',), counter=b'"sequence_number":', **OBFUSCATED)

FAST = Fast(
    skimmer(wire.ResponsesRequest, "input"),
    msgspec.json.Decoder(wire.Item).decode,
    RequestReader,
    RequestWriter,
    read_plain=read_plain,
    write_plain=write_plain,
    repeated=repeated,
)
