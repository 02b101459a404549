"""The fast paths of Chat Completions: plain answers without parts (`fast.plain_answer.PlainAnswer`), repeated
frames, continued requests.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ...canon.parts import Path, Seal
from ...canon.request import Request
from ...codec import answer_service_tiers, json_text
from ...codec.answer_ids import CHAT, id_with_prefix
from ...codec.call_ids import short_for_chat_client
from ...codec.dialect_extras import NULL
from ...dialect import Fast
from ...fast.continued_requests import skimmer
from ...fast.plain_answer import (
    NO_TEXT,
    NOT_PLAIN,
    CallId,
    Exact,
    Named,
    PlainAnswer,
    PlainCall,
    PlainSeals,
    Word,
    as_spelled,
    is_unknown_field,
    joined,
    kept_in,
    members,
    names_of,
    unknown_fields,
)
from ...fast.repeated_frames import OBFUSCATED, RepeatedFrame
from . import wire
from .answer_images import FIELD as IMAGES
from .reasoning_details import written_entry
from .request import RequestReader, RequestWriter
from .response import COMPLETION_EXTRAS, PROMPT_EXTRAS, is_apart, take_figures
from .search_result_reader import ADDRESSES, RESULTS

# Fields are in the order in which OpenAI sends them (recorded 2026), so that decoding finds them fastest.


class _Function(PlainCall, forbid_unknown_fields=True, gc=False):
    pass


class _Call(Exact, kw_only=True):
    id: CallId
    type: Literal["function"] = "function"
    function: _Function
    index: int | None = None


class _Repeated(Exact, kw_only=True):
    """An entry of `reasoning_details` with a text alone."""

    type: Literal["reasoning.text"]
    text: Raw
    format: Literal["unknown", ""] | None = None
    index: int | None = None


class _Message(Exact):
    role: Literal["assistant"] = "assistant"
    content: Raw = NULL
    tool_calls: list[_Call] | None = None
    refusal: None = None
    annotations: tuple[()] | None = None
    audio: None = None
    function_call: None = None
    reasoning_content: Raw = NULL
    reasoning: Raw = NULL
    reasoning_details: list[_Repeated] | None = None
    name: None = None


class _Choice(Exact, kw_only=True):
    index: int = 0
    message: _Message
    logprobs: None = None
    finish_reason: Literal["stop", "tool_calls", "length"]
    content_filter_results: Raw = wire.NONE
    stop_reason: Raw = wire.NONE


class _PromptDetails(Exact):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    audio_tokens: int | None = None
    image_tokens: int | None = None
    text_tokens: int | None = None
    video_tokens: int | None = None


class _CompletionDetails(Exact):
    reasoning_tokens: int | None = None
    audio_tokens: int | None = None
    image_tokens: int | None = None
    text_tokens: int | None = None
    accepted_prediction_tokens: int | None = None
    rejected_prediction_tokens: int | None = None


class _Usage(Exact, kw_only=True):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Answer(Exact, kw_only=True):
    id: Word
    object: str | None = None
    created: int | None = None
    model: Word
    choices: tuple[_Choice]
    usage: _Usage
    service_tier: str | None = None
    system_fingerprint: Raw = wire.NONE
    prompt_filter_results: Raw = wire.NONE
    timings: Raw = wire.NONE

    def kept(self) -> Named:
        """The fields with a meaning that only this dialect has."""
        usage = self.usage
        prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
        return (
            *kept_in(_IN_CHOICE, self.choices[0], wire.CHOICE_EXTRAS),
            *kept_in(_IN_PROMPT_DETAILS, prompt or _NO_PROMPT_DETAILS, PROMPT_EXTRAS),
            *kept_in(_IN_COMPLETION_DETAILS, completion or _NO_COMPLETION_DETAILS, COMPLETION_EXTRAS),
            *kept_in((), self, wire.COMPLETION_EXTRAS),
        )


class _Cost(Struct, gc=False):
    """Usage as written."""

    prompt_tokens: int
    completion_tokens: int
    prompt_tokens_details: _PromptDetails | UnsetType
    completion_tokens_details: _CompletionDetails | UnsetType
    total_tokens: int


class _Called(Struct, gc=False):
    """A call as written."""

    id: str
    type: str
    function: PlainCall
    extra_content: dict[str, Any] | UnsetType = UNSET


class _WrittenMessage(Struct, gc=False):
    """A message as written."""

    role: str
    reasoning_content: Raw | UnsetType
    content: Raw | None
    refusal: None
    tool_calls: list[_Called] | UnsetType
    reasoning_details: list[dict[str, Any]] | UnsetType = UNSET


class _Chosen(Struct, gc=False):
    index: int
    message: _WrittenMessage
    finish_reason: str
    logprobs: None


class _Written(Struct, gc=False):
    id: str
    object: str
    created: int
    model: str
    choices: tuple[_Chosen]
    usage: _Cost
    service_tier: str | UnsetType


class _LooseUsage(_Usage, forbid_unknown_fields=False, kw_only=True):
    pass


class _LooseMessage(_Message, forbid_unknown_fields=False):
    pass


class _LooseChoice(_Choice, forbid_unknown_fields=False, kw_only=True):
    message: _LooseMessage


class _LooseAnswer(_Answer, forbid_unknown_fields=False, kw_only=True):
    """An answer with fields of a host's own, which `_unknown` finds."""

    choices: tuple[_LooseChoice]
    usage: _LooseUsage


_decode = msgspec.json.Decoder(_Answer).decode
_decode_loose = msgspec.json.Decoder(_LooseAnswer).decode
_elements = msgspec.json.Decoder(list[Raw]).decode
_NO_PROMPT_DETAILS, _NO_COMPLETION_DETAILS = _PromptDetails(), _CompletionDetails()


def read_plain(body: bytes, created: int = 0, answers: Request | None = None) -> PlainAnswer | None:
    """A plain answer; None if the answer needs the full reader."""
    unknown: _Unknown = ()
    try:
        answer = _decode(body)
    except NOT_PLAIN as refusal:
        loose = _read_loose(body) if is_unknown_field(refusal) else None
        if loose is None:
            return None
        answer, unknown = loose
    choice, usage = answer.choices[0], answer.usage
    message, stop = choice.message, choice.finish_reason
    text, tool_calls = as_spelled(message.content), message.tool_calls
    calls: dict[str, PlainCall] = {}
    thinking, seals = NO_TEXT, None
    if message.reasoning_content is not NULL or message.reasoning is not NULL:
        found, seals = _thinking(message.reasoning_content, message.reasoning)
        if found is None:
            return None
        thinking = found
    if text is None or (message.reasoning_details and not _repeats(message.reasoning_details, thinking)):
        return None
    if tool_calls:
        for call in tool_calls:
            calls[call.id] = call.function
        if stop == "length" or len(calls) < len(tool_calls):
            return None
        stop = "tool_calls"  # with a forced choice OpenAI sends `stop` (recorded 2025-10)
    elif stop == "tool_calls" or not (text or stop == "length"):
        return None
    prompt, output = usage.prompt_tokens, usage.completion_tokens
    prompt_details = usage.prompt_tokens_details or _NO_PROMPT_DETAILS
    completion_details = usage.completion_tokens_details or _NO_COMPLETION_DETAILS
    thought, total = completion_details.reasoning_tokens, usage.total_tokens
    if thought and is_apart(thought, prompt, output, total):
        output += thought
    if total != prompt + output or (thought is not None and thought > output):
        return None
    tier = answer_service_tiers.read(answer.service_tier) if answer.service_tier is not None else None
    if tier is not None:
        answer.service_tier = None
    plain = PlainAnswer(
        answer.id,
        answer.model,
        text,
        calls,
        stop,
        prompt,
        output,
        prompt_details.cached_tokens,
        prompt_details.cache_write_tokens,
        thought,
        answer.created,
        tier,
        False,
        partial(_with_unknown, answer, unknown) if unknown else answer.kept,
        (),
        thinking,
        seals,
    )
    return plain if not unknown or _take_known(unknown, plain) else None


_Unknown = tuple[tuple[Path, dict[str, Raw]], ...]
_IN_CHOICE: Path = ("choices", 0)
_IN_MESSAGE: Path = ("choices", 0, "message")
_IN_USAGE: Path = ("usage",)
_IN_PROMPT_DETAILS: Path = ("usage", "prompt_tokens_details")
_IN_COMPLETION_DETAILS: Path = ("usage", "completion_tokens_details")
_READ_ELSEWHERE = frozenset({"error", IMAGES, RESULTS, ADDRESSES, *wire.Message.__struct_fields__})
"""Fields that the full reader understands."""


def _read_loose(body: bytes) -> tuple[_Answer, _Unknown] | None:
    """An answer, and the fields that only its host has, in the order of the full reader. None if the full reader
    understands one of these fields.
    """
    try:
        answer = _decode_loose(body)
        top = members(body)
        choice = members(_elements(top["choices"])[0])
        objects = (
            (_IN_MESSAGE, members(choice["message"]), _MESSAGE_FIELDS),
            (_IN_CHOICE, choice, _CHOICE_FIELDS),
            (_IN_USAGE, members(top["usage"]), _USAGE_FIELDS),
            ((), top, _ANSWER_FIELDS),
        )
    except NOT_PLAIN:
        return None
    unknown: list[tuple[Path, dict[str, Raw]]] = []
    for at, found, known in objects:
        if not found.keys() <= known:
            left = unknown_fields(found, known)
            if not _READ_ELSEWHERE.isdisjoint(left):
                return None
            unknown.append((at, left))
    return answer, tuple(unknown)


_MESSAGE_FIELDS, _CHOICE_FIELDS, _USAGE_FIELDS, _ANSWER_FIELDS = [
    frozenset(struct.__struct_fields__) for struct in (_Message, _Choice, _Usage, _Answer)
]


def _take_known(unknown: _Unknown, plain: PlainAnswer) -> bool:
    """Move figures and the service tier from the unknown fields to the answer. False: the answer has two tiers."""
    for at, fields in unknown:
        if at == _IN_USAGE:
            figures = plain.cache_read, plain.cache_write, plain.reasoning
            plain.cache_read, plain.cache_write, plain.reasoning = take_figures(fields, *figures)
            tier = answer_service_tiers.read(fields["service_tier"]) if "service_tier" in fields else None  # Mistral
            if tier is not None:
                if plain.tier is not None:
                    return False
                plain.tier = tier
                del fields["service_tier"]
    return True


def _with_unknown(answer: _Answer, unknown: _Unknown) -> Named:
    """The names of the kept fields of an answer, including its unknown fields."""
    found = [*answer.kept()]
    above = found.pop() if found and found[-1][0] == () else None
    for at, fields in unknown:
        if at == () and above is not None:
            found.append(above)
            above = None
        names = names_of(fields)
        if names:
            found.append((at, names))
    return (*found, above) if above is not None else tuple(found)


_IN_REASONING = PlainSeals(thought=Seal(wire.NAME, "", "reasoning"))
"""Names the field in which the host accepts the thought (`thought_origin`)."""


def _thinking(reasoning_content: Raw, other: Raw) -> tuple[Raw | None, PlainSeals | None]:
    """The thought, from the usual field or the other one, with its empty seal. None: a value is not text, or the fields
    have different texts.
    """
    text = as_spelled(reasoning_content)
    if text:
        return (text, None) if other is NULL or other == NULL or as_spelled(other) == text else (None, None)
    if text is None:
        return None, None
    text = as_spelled(other)
    return text, _IN_REASONING if text else None


def _repeats(details: list[_Repeated], thinking: Raw) -> bool:
    return joined([detail.text for detail in details], "") == thinking


def _extra_content(packed: str) -> dict[str, Any]:
    return {"google": {"thought_signature": packed}}


def write_plain(plain: PlainAnswer, model: str, created: int, answers: Request | None) -> bytes | None:
    """The bytes of a plain answer; None if the answer needs the full writer."""
    calls, packed = plain.calls, plain.packed
    if packed is not None and (packed.before_text is not None or packed.before_calls is not None):
        return None
    written_calls: list[_Called] | UnsetType = UNSET
    if calls:
        slots = packed.on_calls if packed is not None else None
        written_calls = []
        for call_id, call in calls.items():
            shown = short_for_chat_client(call_id)
            if shown is None:
                return None
            if slots is not None and call_id in slots:
                written_calls.append(_Called(shown, "function", call, _extra_content(slots[call_id])))
            else:
                written_calls.append(_Called(shown, "function", call))
    read, written, thought = plain.cache_read, plain.cache_write, plain.reasoning
    usage = _Cost(
        plain.input,
        plain.output,
        UNSET if read is None and written is None else _PromptDetails(read, written),
        UNSET if thought is None else _CompletionDetails(thought),
        plain.input + plain.output,
    )
    details: list[dict[str, Any]] | UnsetType = UNSET
    if packed is not None and packed.listed is not None:
        details = [written_entry(one, i) for i, one in enumerate(packed.listed)]
    message = _WrittenMessage("assistant", plain.thinking or UNSET, plain.text or None, None, written_calls, details)
    choice = _Chosen(0, message, plain.stop, None)
    created = created if plain.created is None else plain.created
    shown_id = id_with_prefix(plain.id, CHAT)
    tier = UNSET if plain.tier is None else answer_service_tiers.OPENAI.get(plain.tier)
    if tier is None:
        return None
    return json_text.encode(
        _Written(shown_id, "chat.completion", created, model or plain.model, (choice,), usage, tier)
    )


_KEYS = (b'"content":', b'"arguments":', b'"reasoning_content":', b'"reasoning":')
repeated = RepeatedFrame(_KEYS, **OBFUSCATED)

FAST = Fast(
    skimmer(wire.ChatRequest, "messages"),
    msgspec.json.Decoder(wire.Message).decode,
    RequestReader,
    RequestWriter,
    read_plain=read_plain,
    write_plain=write_plain,
    repeated=repeated,
)
