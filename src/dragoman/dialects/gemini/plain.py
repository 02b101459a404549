"""Plain Gemini answers, read and written without the way through parts (see `canon.response.Plain`)."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Literal

import msgspec
from msgspec import Raw

from ...canon.parts import Path, Seal
from ...canon.request import Request
from ...canon.response import Named, Plain, PlainCall
from ...codec import jsontext
from ...codec.extras import NULL, Fields, said
from ...codec.plain import NOT_PLAIN, CallId, Exact, Word, decodable
from ...codec.seals import MARK
from . import wire
from .message import DUMMIES, read_seal
from .response import read_time, write_time


class _Call(Exact):
    id: CallId
    name: str
    args: Raw


class _Part(Exact):
    text: Word | None = None
    functionCall: _Call | None = None
    thoughtSignature: str | None = None


class _Called(Exact):
    """A call as it is written."""

    functionCall: _Call


class _Content(Exact):
    parts: list[_Part]
    role: str | None = None


class _Candidate(Exact):
    content: _Content
    finishReason: Literal["STOP", "MAX_TOKENS"]
    index: int | None = None
    safetyRatings: Raw = NULL
    avgLogprobs: Raw = NULL


class _Usage(Exact):
    promptTokenCount: int
    candidatesTokenCount: int
    thoughtsTokenCount: int | None = None
    cachedContentTokenCount: int | None = None
    totalTokenCount: int | None = None
    toolUsePromptTokenCount: None = None
    promptTokensDetails: Raw = NULL
    candidatesTokensDetails: Raw = NULL
    cacheTokensDetails: Raw = NULL
    toolUsePromptTokensDetails: Raw = NULL
    responseTokenCount: Raw = NULL
    responseTokensDetails: Raw = NULL
    trafficType: Raw = NULL
    serviceTier: Raw = NULL


class _Answer(Exact):
    candidates: tuple[_Candidate]
    usageMetadata: _Usage
    modelVersion: Word
    responseId: Word
    createTime: str | None = None


_decode = msgspec.json.Decoder(_Answer).decode
_WORDS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}
_CANDIDATE: Path = ("candidates", 0)
_USAGE: Path = ("usageMetadata",)
_CANDIDATE_EXTRAS = Fields("safetyRatings", "avgLogprobs")
_written_time = lru_cache(maxsize=64)(write_time)


def read_plain(body: bytes) -> Plain | None:
    try:
        answer = _decode(body)
    except NOT_PLAIN:
        return None
    candidate, usage = answer.candidates[0], answer.usageMetadata
    text = ""
    calls: dict[str, PlainCall] = {}
    seals: dict[str, Seal] | None = None
    for part in candidate.content.parts:
        call, signature = part.functionCall, part.thoughtSignature
        if call is not None and part.text is None:
            arguments = str(call.args, "utf-8")
            call_id = call.id
            if call_id in calls or arguments[0] != "{" or '"__raw"' in arguments[:16]:
                return None
            calls[call_id] = PlainCall(call.name, arguments)
            if signature is not None:
                if signature in DUMMIES:
                    return None
                seal = read_seal(signature) if signature.startswith(MARK) else Seal(wire.NAME, signature)
                if seals is None:
                    seals = {call_id: seal}
                else:
                    seals[call_id] = seal
        elif not text and not calls and part.text is not None and call is None and signature is None:
            text = part.text
        else:
            return None
    cut = candidate.finishReason == "MAX_TOKENS"
    if cut if calls else not text:
        return None
    thought = usage.thoughtsTokenCount
    return Plain(
        answer.responseId,
        answer.modelVersion,
        text,
        calls,
        "tool_calls" if calls else "length" if cut else "stop",
        usage.promptTokenCount,
        usage.candidatesTokenCount + (thought or 0),
        usage.cachedContentTokenCount,
        None,
        thought,
        read_time(answer.createTime) if answer.createTime is not None else None,
        True,
        partial(_kept, candidate, usage),
        seals,
    )


def _kept(candidate: _Candidate, usage: _Usage) -> Named:
    return (_CANDIDATE, said(candidate, _CANDIDATE_EXTRAS)), (_USAGE, said(usage, wire.USAGE_EXTRAS))


def write_plain(plain: Plain, model: str, created: int, answers: Request | None) -> bytes | None:
    if plain.cache_write or plain.slots is not None or plain.thoughts is not None:
        return None
    parts: list[Any] = [{"text": plain.text}] if plain.text else []
    if plain.calls:
        if plain.parsed and not decodable(plain):
            return None
        parts += [_Called(_Call(call_id, call.name, Raw(call.arguments))) for call_id, call in plain.calls.items()]
    thought = plain.reasoning
    out: dict[str, Any] = {
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": _WORDS[plain.stop], "index": 0}],
        "usageMetadata": _Usage(
            plain.input,
            max(plain.output - (thought or 0), 0),
            thought,
            plain.cache_read,
            plain.input + plain.output,
        ),
        "modelVersion": model or plain.model,
        "responseId": plain.id,
    }
    if plain.created is not None:
        time = _written_time(plain.created)
        if time is not None:
            out["createTime"] = time
    return jsontext.encode(out)
