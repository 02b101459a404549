"""The fast paths of Gemini: plain answers without parts (`fast.plain_answers.Plain`), repeated frames, continued
requests.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ...canon.loss_severity import EMPTY_VALUES
from ...canon.parts import Path, Seal
from ...canon.request import Request
from ...codec import json_text, service_tiers
from ...codec.answer_ids import original
from ...codec.dialect_extras import NULL
from ...codec.google_model_path_removal import bare
from ...codec.packed_seals import MARK
from ...dialect import Fast
from ...fast.plain_answer_form import (
    NO_TEXT,
    NOT_PLAIN,
    CallId,
    Exact,
    Kinds,
    Named,
    Plain,
    PlainCall,
    Word,
    as_spelled,
    decodable,
)
from ...fast.remembered_requests import skimmer
from ...fast.repeated_frames import RepeatedFrame
from . import wire
from .call_pairing import made_id
from .message import DUMMIES, read_seal
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
    """Clients generated from Google's definitions send the number of an enumeration value."""
    finishMessage: Literal["Model generated function call(s)."] | None = None
    index: int | None = None
    safetyRatings: Raw = NULL
    avgLogprobs: Raw = NULL


class _Usage(Exact, kw_only=True):
    """Fields in the order in which Google sends them, so that decoding finds them fastest."""

    promptTokenCount: int
    cachedContentTokenCount: int | None = None
    candidatesTokenCount: int
    totalTokenCount: int | None = None
    cacheTokensDetails: Raw = NULL
    promptTokensDetails: Raw = NULL
    candidatesTokensDetails: Raw = NULL
    thoughtsTokenCount: int | None = None
    toolUsePromptTokenCount: None = None
    toolUsePromptTokensDetails: Raw = NULL
    responseTokenCount: Raw = NULL
    responseTokensDetails: Raw = NULL
    trafficType: Raw = NULL
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


_decode = msgspec.json.Decoder(_Answer).decode
_WORDS: dict[str, Literal["STOP", "MAX_TOKENS"]] = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}
_KINDS = Kinds((("candidates", 0), ("safetyRatings", "avgLogprobs")), (("usageMetadata",), wire.USAGE_EXTRAS))
_CUT = ("MAX_TOKENS", 2)
_NO_WORDS = Raw(b'""')
_DUMMY_LENGTH = max(map(len, DUMMIES))
_written_time = lru_cache(maxsize=64)(write_time)


def read_plain(body: bytes, created: int = 0, answers: Request | None = None) -> Plain | None:
    """A plain answer; None if the answer needs the full reader."""
    try:
        answer = _decode(body)
    except NOT_PLAIN:
        return None
    candidate, usage = answer.candidates[0], answer.usageMetadata
    text = thinking = NO_TEXT
    thinking_seal: Seal | None = None
    calls: dict[str, PlainCall] = {}
    seals: dict[str, Seal] | None = None
    text_seal: Seal | None = None
    invented: tuple[Path, ...] = ()
    for place, part in enumerate(candidate.content.parts):
        call, signature = part.functionCall, part.thoughtSignature
        seal = None
        if signature is not None and (seal := _seal(signature)) is None:
            return None
        if part.thought:
            spelled = as_spelled(part.text)
            if place or call is not None or not spelled:
                return None
            thinking, thinking_seal = spelled, seal
        elif call is not None and part.text is NULL:
            arguments = str(call.args, "utf-8")
            call_id = call.id
            if call_id is None:
                invented += (("candidates", 0, "content", "parts", place),)
                call_id = made_id(answer_seed(answer.responseId, created, answers), 0, len(invented))
            if call_id in calls or arguments[0] != "{" or '"__raw"' in arguments[:16]:
                return None
            calls[call_id] = PlainCall(call.name, arguments)
            if seal is not None:
                if seals is None:
                    seals = {call_id: seal}
                else:
                    seals[call_id] = seal
        elif not text and not calls and call is None:
            spelled = as_spelled(part.text)
            if not spelled:
                return None
            text, text_seal = spelled, seal
        else:
            return None
    cut = candidate.finishReason in _CUT
    if calls and (cut or text_seal is not None):
        return None
    if not (calls or text) or (cut and candidate.finishMessage is not None):
        return None
    thought = usage.thoughtsTokenCount
    # candidatesTokenCount excludes thoughts (google-genai 3.1.0, 2026-11); the canon includes them.
    prompt, output, total = usage.promptTokenCount, usage.candidatesTokenCount + (thought or 0), usage.totalTokenCount
    if total is not None and total != prompt + output:
        return None
    tier = service_tiers.read(usage.serviceTier) if usage.serviceTier is not None else None
    return Plain(
        answer.responseId,
        bare(answer.modelVersion),
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
        _names_of_extras(candidate, usage, tier),
        seals,
        text_seal=text_seal,
        invented=invented,
        thinking=thinking,
        thinking_seal=thinking_seal,
    )


def _seal(signature: str) -> Seal | None:
    """The seal in a signature; None for a dummy."""
    if len(signature) <= _DUMMY_LENGTH and signature in DUMMIES:  # others are long, and only hashed for it
        return None
    return read_seal(signature) if signature.startswith(MARK) else Seal(wire.NAME, signature)


def _names_of_extras(candidate: _Candidate, usage: _Usage, tier: str | None) -> Named:
    return _KINDS[
        candidate.safetyRatings in EMPTY_VALUES,
        candidate.avgLogprobs in EMPTY_VALUES,
        usage.promptTokensDetails in EMPTY_VALUES,
        usage.candidatesTokensDetails in EMPTY_VALUES,
        usage.cacheTokensDetails in EMPTY_VALUES,
        usage.toolUsePromptTokensDetails in EMPTY_VALUES,
        usage.responseTokenCount in EMPTY_VALUES,
        usage.responseTokensDetails in EMPTY_VALUES,
        usage.trafficType in EMPTY_VALUES,
        not usage.serviceTier or tier is not None,
    ]


def write_plain(plain: Plain, model: str, created: int, answers: Request | None) -> bytes | None:
    """The bytes of a plain answer; None if the answer needs the full writer."""
    if plain.cache_write or plain.thoughts is not None or plain.thought is not None:
        return None
    parts = [_Part(plain.thinking, True)] if plain.thinking else []
    if plain.text:
        parts.append(_Part(plain.text))
    if plain.calls:
        if plain.parsed and not decodable(plain):
            return None
        slots = plain.slots or {}
        for call_id, call in plain.calls.items():
            called = _Call(id=call_id, name=call.name, args=Raw(call.arguments))
            parts.append(_Part(NULL, None, called, slots.get(call_id)))
    elif plain.last_slot is not None:
        parts.append(_Part(_NO_WORDS, thoughtSignature=plain.last_slot))
    thought, read = plain.reasoning, plain.cache_read
    answer_tokens = plain.output - (thought or 0)
    if answer_tokens < 0:
        return None
    tier = UNSET if plain.tier is None else service_tiers.GEMINI.get(plain.tier)
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
        _Written((candidate,), usage, model or plain.model, original(plain.id), UNSET if time is None else time)
    )


_USAGE = b'"usageMetadata":'
"""Figures come with every chunk; only the last ones count."""
repeated = partial(RepeatedFrame, (b'"text":',), marks=(_USAGE,), figures=b"0123456789")

FAST = Fast(
    skimmer(wire.GenerateRequest, "contents"),
    msgspec.json.Decoder(wire.Content).decode,
    RequestReader,
    RequestWriter,
    read_plain=read_plain,
    write_plain=write_plain,
    repeated=repeated,
)
