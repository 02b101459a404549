"""The fast paths of Gemini: plain answers without parts (`fast.plain_answer.PlainAnswer`), repeated frames,
continued requests.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ...canon.parts import Path, Seal
from ...canon.request import Request
from ...codec import answer_service_tiers, json_text
from ...codec.answer_ids import original_id
from ...codec.cache_memory_budget import lookup_cache
from ...codec.dialect_extras import NULL, Fields
from ...codec.google_model_path_removal import model_without_path
from ...codec.packed_seals import MARK
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
    has_decodable_arguments,
    kept_in,
)
from ...fast.repeated_frames import RepeatedFrame
from . import wire
from .call_pairing import made_id
from .message_content import DUMMIES, read_seal
from .request import RequestReader, RequestWriter
from .response import answer_seed, read_time, write_time


class _Call(Exact, kw_only=True):
    id: CallId | None = None
    name: str
    args: Raw


class _Part(Exact):
    text: Raw = NULL
    thought: bool | None = None
    functionCall: _Call | None = None
    thoughtSignature: str | None = None


class _Content(Exact):
    parts: list[_Part]
    role: str | None = None


class _Candidate(Exact):
    content: _Content
    finishReason: Literal["STOP", "MAX_TOKENS", 1, 2]
    """A reason is a word, or the number of an enumeration value (recorded 2025-12)."""
    finishMessage: Literal["Model generated function call(s)."] | None = None
    index: int | None = None
    safetyRatings: Raw = wire.NONE
    avgLogprobs: Raw = wire.NONE


class _Usage(Exact, kw_only=True):
    """Fields in the order in which Google sends them (recorded 2026), so that decoding finds them fastest."""

    promptTokenCount: int
    cachedContentTokenCount: int | None = None
    candidatesTokenCount: int
    totalTokenCount: int | None = None
    cacheTokensDetails: Raw = wire.NONE
    promptTokensDetails: Raw = wire.NONE
    candidatesTokensDetails: Raw = wire.NONE
    thoughtsTokenCount: int | None = None
    toolUsePromptTokenCount: None = None
    toolUsePromptTokensDetails: Raw = wire.NONE
    responseTokenCount: Raw = wire.NONE
    responseTokensDetails: Raw = wire.NONE
    trafficType: Raw = wire.NONE
    serviceTier: str | None = None


class _Cost(Struct, gc=False):
    """Usage as written."""

    promptTokenCount: int
    candidatesTokenCount: int
    thoughtsTokenCount: int | UnsetType
    cachedContentTokenCount: int | UnsetType
    totalTokenCount: int
    serviceTier: str | UnsetType


class _Written(Struct, gc=False):
    """An answer as written."""

    candidates: tuple[_Candidate]
    usageMetadata: _Cost
    modelVersion: str
    responseId: str
    createTime: str | UnsetType


class _Answer(Exact):
    candidates: tuple[_Candidate]
    usageMetadata: _Usage
    modelVersion: Word
    responseId: Word
    createTime: str | None = None

    def kept(self) -> Named:
        """The fields with a meaning that only this dialect has."""
        return (
            *kept_in(_IN_CANDIDATE, self.candidates[0], _CANDIDATE_EXTRAS),
            *kept_in(_IN_USAGE, self.usageMetadata, wire.USAGE_EXTRAS),
        )


_decode = msgspec.json.Decoder(_Answer).decode
_WORDS: dict[str, Literal["STOP", "MAX_TOKENS"]] = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}
_IN_CANDIDATE: Path = ("candidates", 0)
_IN_USAGE: Path = ("usageMetadata",)
_CANDIDATE_EXTRAS = Fields("safetyRatings", "avgLogprobs")
_CUT = ("MAX_TOKENS", 2)
_NO_WORDS = Raw(b'""')
_NO_SLOTS: dict[str, str] = {}
_DUMMY_LENGTH = max(map(len, DUMMIES))
_written_time = lookup_cache(64)(write_time)


def read_plain(body: bytes, created: int = 0, answers: Request | None = None) -> PlainAnswer | None:
    """A plain answer; None if the answer needs the full reader."""
    try:
        answer = _decode(body)
    except NOT_PLAIN:
        return None
    candidate, usage = answer.candidates[0], answer.usageMetadata
    text = thinking = NO_TEXT
    calls: dict[str, PlainCall] = {}
    seals: PlainSeals | None = None
    invented: tuple[Path, ...] = ()
    for place, part in enumerate(candidate.content.parts):
        call, signature = part.functionCall, part.thoughtSignature
        seal = None
        if signature is not None:
            seal = _seal(signature)
            if seal is None:
                return None
            seals = seals or PlainSeals()
        if part.thought:
            spelled = as_spelled(part.text)
            if place or call is not None or not spelled:
                return None
            thinking = spelled
            if seals is not None:
                seals.thought = seal
        elif call is not None and part.text is NULL:
            arguments = str(call.args, "utf-8")
            call_id = call.id
            if call_id is None:
                invented += (("candidates", 0, "content", "parts", place),)
                call_id = made_id(answer_seed(answer.responseId, created, answers), 0, len(invented))
            if call_id in calls or arguments[0] != "{" or arguments.find('"__raw"', 0, 16) >= 0:
                return None
            calls[call_id] = PlainCall(call.name, arguments)
            if seals is not None and seal is not None:
                seals.calls[call_id] = seal
        elif not text and not calls and call is None:
            spelled = as_spelled(part.text)
            if not spelled:
                return None
            text = spelled
            if seals is not None:
                seals.text = seal
        else:
            return None
    cut = candidate.finishReason in _CUT
    if calls and (cut or (seals is not None and seals.text is not None)):
        return None
    if not (calls or text or cut) or (cut and candidate.finishMessage is not None):
        return None
    thought = usage.thoughtsTokenCount
    # candidatesTokenCount excludes thoughts (google-genai 3.1.0, 2026-11); the canon includes them.
    prompt, output, total = usage.promptTokenCount, usage.candidatesTokenCount + (thought or 0), usage.totalTokenCount
    if total is not None and total != prompt + output:
        return None
    tier = _take_tier(usage) if usage.serviceTier is not None else None
    return PlainAnswer(
        answer.responseId,
        model_without_path(answer.modelVersion),
        text,
        calls,
        "tool_calls" if calls else "length" if cut else "stop",
        prompt,
        output,
        usage.cachedContentTokenCount,
        None,
        thought,
        read_time(answer.createTime) if answer.createTime is not None else None,
        tier,
        True,
        answer.kept,
        invented,
        thinking,
        seals,
    )


def _seal(signature: str) -> Seal | None:
    """The seal in a signature; None for a dummy."""
    # The length comes first: a lookup would hash the whole signature, and signatures are long.
    if len(signature) <= _DUMMY_LENGTH and signature in DUMMIES:
        return None
    return read_seal(signature) if signature.startswith(MARK) else Seal(wire.NAME, signature)


def _take_tier(usage: _Usage) -> str | None:
    """The service tier in the canon's word. A known tier is removed from the usage, so that it is not kept as a
    field."""
    tier = answer_service_tiers.read(usage.serviceTier)
    if tier is not None:
        usage.serviceTier = None
    return tier


def write_plain(plain: PlainAnswer, model: str, created: int, answers: Request | None) -> bytes | None:
    """The bytes of a plain answer; None if the answer needs the full writer."""
    packed = plain.packed
    if plain.cache_write:
        return None
    if packed is not None and (packed.before_calls is not None or packed.before_text is not None):
        return None
    parts = [_Part(plain.thinking, True)] if plain.thinking else []
    if plain.text:
        parts.append(_Part(plain.text))
    if plain.calls:
        if plain.parsed and not has_decodable_arguments(plain):
            return None
        slots = packed.on_calls or _NO_SLOTS if packed is not None else _NO_SLOTS
        for call_id, call in plain.calls.items():
            called = _Call(id=call_id, name=call.name, args=Raw(call.arguments))
            parts.append(_Part(NULL, None, called, slots.get(call_id)))
    elif packed is not None and packed.on_last_text is not None:
        parts.append(_Part(_NO_WORDS, thoughtSignature=packed.on_last_text))
    thought, read = plain.reasoning, plain.cache_read
    answer_tokens = plain.output - (thought or 0)
    if answer_tokens < 0:
        return None
    tier = UNSET if plain.tier is None else answer_service_tiers.GEMINI.get(plain.tier)
    if tier is None:
        return None
    usage = _Cost(
        plain.input,
        answer_tokens,
        UNSET if thought is None else thought,
        UNSET if read is None else read,
        plain.input + plain.output,
        tier,
    )
    time = _written_time(plain.created) if plain.created is not None else None
    candidate = _Candidate(_Content(parts, "model"), _WORDS[plain.stop], index=0)
    return json_text.encode(
        _Written((candidate,), usage, model or plain.model, original_id(plain.id), UNSET if time is None else time)
    )


_USAGE = b'"usageMetadata":'
"""Figures come with every chunk; only the last ones count."""
repeated = RepeatedFrame((b'"text":',), marks=(_USAGE,), figures=b"0123456789")

FAST = Fast(
    skimmer(wire.GenerateRequest, "contents"),
    msgspec.json.Decoder(wire.Content).decode,
    RequestReader,
    RequestWriter,
    read_plain=read_plain,
    write_plain=write_plain,
    repeated=repeated,
)
