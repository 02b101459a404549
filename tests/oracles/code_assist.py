"""Owns the Code Assist envelope: wraps recorded Gemini exchanges, and judges wrapped documents.

There are no recordings of Code Assist. Its documents are Gemini's in an envelope. So recorded documents are wrapped as
Gemini CLI (0.56) does, and written documents are unwrapped and judged as Gemini's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

Json = Any
NAME = "code-assist"

_DATA = re.compile(rb"^data: (\{.*\})(\r?)$", re.MULTILINE)
_CREDITS = [{"creditType": "GOOGLE_ONE_AI", "creditAmount": "3"}]
_REQUEST = frozenset({"model", "project", "user_prompt_id", "request", "enabled_credit_types"})
_INNER = frozenset(
    {
        "contents",
        "systemInstruction",
        "cachedContent",
        "tools",
        "toolConfig",
        "labels",
        "safetySettings",
        "generationConfig",
        "session_id",
    }
)
_CONFIG = frozenset(
    {
        "temperature",
        "topP",
        "topK",
        "candidateCount",
        "maxOutputTokens",
        "stopSequences",
        "responseLogprobs",
        "logprobs",
        "presencePenalty",
        "frequencyPenalty",
        "seed",
        "responseMimeType",
        "responseSchema",
        "responseJsonSchema",
        "routingConfig",
        "modelSelectionConfig",
        "responseModalities",
        "mediaResolution",
        "speechConfig",
        "audioTimestamp",
        "thinkingConfig",
    }
)
_ANSWER = frozenset({"response", "traceId", "consumedCredits", "remainingCredits"})


def wrap_request(body: Json, model: str, number: int) -> Json:
    """A Gemini request as a client of Code Assist sends it. Every second one has no project."""
    out = {"model": model, "project": f"project-{number}"} if number % 2 else {"model": model}
    return {**out, "user_prompt_id": f"prompt-{number}", "request": {**body, "session_id": f"session-{number}"}}


def wrap_answer(body: Json, number: int) -> Json:
    """A Gemini answer, or one chunk, as Code Assist sends it. Faults have no envelope."""
    if isinstance(body, list):
        return [wrap_answer(chunk, number) for chunk in body]
    if not isinstance(body, dict) or "error" in body:
        return body
    out = {"response": body, "traceId": f"trace-{number}"}
    return {**out, "consumedCredits": _CREDITS, "remainingCredits": _CREDITS} if number % 2 else out


def wrap_stream(raw: bytes, number: int) -> bytes:
    """A Gemini stream with every chunk wrapped. Framing and line ends stay."""

    def wrapped(line: re.Match[bytes]) -> bytes:
        try:
            chunk = msgspec.json.decode(line[1])
        except msgspec.DecodeError:
            return line[0]
        return b"data: " + msgspec.json.encode(wrap_answer(chunk, number)) + line[2]

    return _DATA.sub(wrapped, raw)


def unwrap_stream(raw: bytes) -> bytes:
    """The Gemini stream inside. A chunk without its own id gets the id of the trace, as clients read it."""

    def unwrapped(line: re.Match[bytes]) -> bytes:
        chunk = msgspec.json.decode(line[1])
        return b"data: " + msgspec.json.encode(unwrap_answer(chunk)) + line[2]

    return _DATA.sub(unwrapped, raw)


def unwrap_answer(body: Json) -> Json:
    inner = body.get("response", body)
    if inner is not body and "traceId" in body:
        inner = {**inner, "responseId": inner.get("responseId", body["traceId"])}
    return inner


def inside(path: str) -> str:
    """The place in the inner document for a place in the envelope."""
    for key in ("/request", "/response"):
        if path == key or path.startswith(key + "/"):
            return path[len(key) :]
    return path


def check_request(body: Json, inner: Callable[[Json], list[str]]) -> list[str]:
    """Rules GCA-001 to GCA-006, and Gemini's judge for the inner document."""
    if not isinstance(body, dict):
        return ["(root): GCA-001, not an object"]
    found = [f"/{key}: GCA-001, not a field of the envelope" for key in body if key not in _REQUEST]
    model, request = body.get("model"), body.get("request")
    if not isinstance(model, str) or not model or model.startswith("models/"):
        found.append("/model: GCA-003, a name without models/ is required")
    if not isinstance(request, dict):
        return [*found, "/request: GCA-001, required"]
    found += [f"/request/{key}: GCA-002, not copied by clients" for key in request if key not in _INNER]
    for key in request.get("generationConfig") or {}:
        if key not in _CONFIG:
            found.append(f"/request/generationConfig/{key}: GCA-005, not copied by clients")
    if "systemInstruction" in request and not (request["systemInstruction"] or {}).get("parts"):
        found.append("/request/systemInstruction: GCA-004, a content with parts")
    for i, content in enumerate(request.get("contents") or ()):
        for j, part in enumerate(content.get("parts") or ()):
            if part.get("thought"):
                found.append(f"/request/contents/{i}/parts/{j}: GCA-006, a thought in the history")
    bare = {key: value for key, value in request.items() if key != "session_id"}
    return found + [f"/request{text}" if text.startswith("/") else text for text in inner(bare)]


def check_answer(body: Json, inner: Callable[[Json], list[str]]) -> list[str]:
    """Rule GCA-S01, and Gemini's judge for the inner document: a whole answer, or one chunk."""
    if not isinstance(body, dict):
        return ["(root): GCA-S01, not an object"]
    found = [f"/{key}: not a field of the envelope" for key in body if key not in _ANSWER]
    if not isinstance(body.get("response"), dict):
        return [*found, "/response: GCA-S01, required"]
    if not isinstance(body.get("traceId", ""), str):
        found.append("/traceId: a text")
    return found + [f"/response{text}" if text.startswith("/") else text for text in inner(body["response"])]
