"""Plain Gemini answers, read and written without the way through parts (see `canon.response.Plain`)."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Path
from ...canon.request import Request
from ...canon.response import Plain, PlainCall
from ...codec import jsontext
from ...codec.extras import Fields, carried
from ...codec.ids import plain_calls
from . import wire
from .message import DUMMIES, read_seal
from .response import read_time, write_time


class _Exact(Struct, forbid_unknown_fields=True, gc=False):
    """What is null or of one value in a plain answer is of that type, so that decoding checks it."""


class _Call(_Exact):
    id: str
    name: str
    args: Raw


class _Part(_Exact):
    text: str | None = None
    functionCall: _Call | None = None
    thoughtSignature: str | None = None


class _Content(_Exact):
    parts: list[_Part]
    role: str | None = None


class _Candidate(_Exact):
    content: _Content
    finishReason: Literal["STOP", "MAX_TOKENS"]
    index: int | None = None
    safetyRatings: Raw = wire.NONE
    avgLogprobs: Raw = wire.NONE


class _Answer(_Exact):
    candidates: tuple[_Candidate]
    usageMetadata: wire.UsageMetadata
    modelVersion: str
    responseId: str
    createTime: str | None = None


_decode = msgspec.json.Decoder(_Answer).decode
_WORDS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}
_CANDIDATE_EXTRAS = Fields("safetyRatings", "avgLogprobs")
_written_time = lru_cache(maxsize=64)(write_time)


def read_plain(body: bytes) -> Plain | None:
    try:
        answer = _decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    candidate, usage = answer.candidates[0], answer.usageMetadata
    text = ""
    calls: list[PlainCall] = []
    sealed = False
    for part in candidate.content.parts:
        call = part.functionCall
        if call is not None and part.text is None:
            arguments, signature = str(call.args, "utf-8"), part.thoughtSignature
            if arguments[:1] != "{" or '"__raw"' in arguments[:16] or signature in DUMMIES:
                return None
            if signature is not None:
                sealed = True
                calls.append(PlainCall(call.id, call.name, arguments, read_seal(signature)))
            else:
                calls.append(PlainCall(call.id, call.name, arguments))
        elif not text and not calls and part.text and call is None and part.thoughtSignature is None:
            text = part.text
        else:
            return None
    cut = candidate.finishReason == "MAX_TOKENS"
    if (
        not (text or calls)
        or (cut and calls)
        or not (answer.responseId and answer.modelVersion)
        or not plain_calls(calls)
    ):
        return None
    prompt, output, thought = usage.promptTokenCount, usage.candidatesTokenCount, usage.thoughtsTokenCount
    if prompt is None or output is None or usage.toolUsePromptTokenCount is not None:
        return None
    return Plain(
        answer.responseId,
        answer.modelVersion,
        text,
        calls,
        "tool_calls" if calls else "length" if cut else "stop",
        prompt,
        output + (thought or 0),
        usage.cachedContentTokenCount,
        None,
        thought,
        read_time(answer.createTime) if answer.createTime is not None else None,
        True,
        sealed,
        partial(_kept, answer),
    )


def _kept(answer: _Answer) -> list[tuple[Path, dict[str, Raw]]]:
    return [
        (("candidates", 0), carried(answer.candidates[0], _CANDIDATE_EXTRAS) or {}),
        (("usageMetadata",), carried(answer.usageMetadata, wire.USAGE_EXTRAS) or {}),
    ]


def write_plain(plain: Plain, model: str, created: int, answers: Request | None) -> bytes | None:
    parts: list[Any] = [{"text": plain.text}] if plain.text else []
    for call in plain.calls:
        if call.slot or call.before or not jsontext.is_object(call.arguments):
            return None
        parts.append({"functionCall": {"id": call.id, "name": call.name, "args": Raw(call.arguments)}})
    usage: dict[str, Any] = {
        "promptTokenCount": plain.input,
        "candidatesTokenCount": max(plain.output - (plain.reasoning or 0), 0),
    }
    if plain.reasoning is not None:
        usage["thoughtsTokenCount"] = plain.reasoning
    if plain.cache_read is not None:
        usage["cachedContentTokenCount"] = plain.cache_read
    if plain.cache_write:
        return None
    usage["totalTokenCount"] = plain.input + plain.output
    out: dict[str, Any] = {
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": _WORDS[plain.stop], "index": 0}],
        "usageMetadata": usage,
        "modelVersion": model or plain.model,
        "responseId": plain.id,
    }
    if plain.created is not None:
        time = _written_time(plain.created)
        if time is not None:
            out["createTime"] = time
    return jsontext.encode(out)
