"""Owns the answer that the official SDK folds from a raw stream, as plain JSON. The SDK of Gemini does not fold: this
module has its own fold for Gemini.

Nothing uses a network: the SDKs' stream classes get the bytes in a response object, and their clients have a transport
that refuses to send. Fields that the SDKs add for their own use are removed.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

import anthropic as anthropic_sdk
import httpx2
import openai as openai_sdk
from anthropic.lib.streaming import _beta_messages, _messages
from anthropic.types import RawMessageStreamEvent
from anthropic.types.beta import BetaRawMessageStreamEvent
from openai._types import omit
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.lib.streaming.responses._responses import ResponseStream
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent

from tests.oracles import ollama as judge
from tests.oracles.body_verdict import is_fault
from tests.oracles.code_assist import unwrap_stream
from tests.oracles.event_stream_reader import frames
from tests.oracles.json_schema import BadJson, load

Json = Any

# What the SDKs raise on streams that they cannot fold. AssertionError and IndexError come from unchecked input.
_SDK_ERRORS = (
    openai_sdk.OpenAIError,
    anthropic_sdk.AnthropicError,
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    RuntimeError,
    TypeError,
    ValueError,
)
_TERMINAL = ("response.completed", "response.incomplete", "response.failed")


class FoldError(Exception):
    """The SDK cannot fold this stream; the text is the reason."""


@contextmanager
def _sdk_at_work() -> Iterator[None]:
    """Turns exceptions of the SDK into a FoldError, and drops its warnings about values newer than its types."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            yield
        except _SDK_ERRORS as error:
            raise FoldError(f"{type(error).__name__}: {error}") from error


def _refuse(request: httpx2.Request) -> httpx2.Response:
    raise RuntimeError(f"the judges never send: {request.url}")


@cache
def _openai() -> openai_sdk.OpenAI:
    return openai_sdk.OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(_refuse)))


@cache
def _anthropic() -> anthropic_sdk.Anthropic:
    return anthropic_sdk.Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(_refuse)))


def _response(raw: bytes) -> httpx2.Response:
    headers = {"content-type": "text/event-stream"}
    return httpx2.Response(200, content=raw, headers=headers, request=httpx2.Request("POST", "http://judges.invalid"))


def _union(kind: Json) -> Json:
    """The event unions are no classes, though the SDKs themselves pass them as classes."""
    return kind


def openai_chat(raw: bytes) -> dict[str, Json]:
    """The completion that `ChatCompletionStreamState` folds."""
    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    stream = openai_sdk.Stream(cast_to=ChatCompletionChunk, response=_response(raw), client=_openai())
    with _sdk_at_work():
        for chunk in stream:
            state.handle_chunk(chunk)
        completion: dict[str, Json] = state.current_completion_snapshot.to_dict(mode="json")
    for choice in completion["choices"]:
        message = choice["message"]
        message.pop("parsed", None)
        for call in message.get("tool_calls") or []:
            # `index` orders the pieces of a call. A whole answer has no index.
            call.pop("index", None)
            (call.get("function") or {}).pop("parsed_arguments", None)
    return completion


def openrouter(raw: bytes) -> dict[str, Json]:
    """Return the completion of OpenRouter's stream. Its `reasoning_details` are folded here, by their type and index:
    the SDK would append every text to itself, the name of the format too."""
    details: dict[int, list[dict[str, Json]]] = {}
    natives: dict[int, str | None] = {}
    plain: list[bytes] = []
    for chunk in _chunks(raw.partition(b"data: [DONE]")[0]):
        if is_fault("openrouter", chunk):
            raise FoldError(f"error: {chunk['error']}")
        for choice in chunk.get("choices") or []:
            natives[choice["index"]] = choice.pop("native_finish_reason", None) or natives.get(choice["index"])
            for piece in (choice.get("delta") or {}).pop("reasoning_details", None) or []:
                _join_detail(details.setdefault(choice["index"], []), piece)
        plain.append(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    completion = openai_chat(b"".join([*plain, b"data: [DONE]\n\n"]))
    for choice in completion["choices"]:
        # Every chunk has it, and the SDK appends it to itself.
        choice["message"]["role"] = "assistant"
        choice["native_finish_reason"] = natives.get(choice["index"])
        if choice["index"] in details:
            choice["message"]["reasoning_details"] = details[choice["index"]]
    return completion


def _join_detail(details: list[dict[str, Json]], piece: dict[str, Json]) -> None:
    last = details[-1] if details else {}
    same = [last.get(key) for key in ("type", "index")] == [piece.get(key) for key in ("type", "index")]
    if not same or piece["type"] == "reasoning.encrypted":
        details.append(dict(piece))
        return
    for key, value in piece.items():
        last[key] = (last.get(key) or "") + value if key in ("text", "summary") else value


def openai_responses(raw: bytes) -> dict[str, Json]:
    """The response of the terminal event, as the SDK's stream helper returns it."""
    source: Json = openai_sdk.Stream(cast_to=_union(ResponseStreamEvent), response=_response(raw), client=_openai())
    stream: Json = ResponseStream(raw_stream=source, text_format=omit, input_tools=omit, starting_after=None)
    last: Json = None
    with _sdk_at_work():
        for event in stream:
            if event.type == "error":
                raise FoldError(f"error event: {event.message}")
            if event.type in _TERMINAL:
                last = event.response
        if last is None:
            raise FoldError("no terminal event")
        response: dict[str, Json] = last.to_dict(mode="json")
    for item in response.get("output") or []:
        item.pop("parsed_arguments", None)
        for part in item.get("content") or []:
            part.pop("parsed", None)
    return response


def anthropic(raw: bytes, *, beta: bool = True) -> dict[str, Json]:
    """The message that `accumulate_event` folds, with the beta types (a superset) or the plain ones."""
    message: Json = None
    buffers: dict[int, bytes] = {}
    kind = BetaRawMessageStreamEvent if beta else RawMessageStreamEvent
    stream: Json = anthropic_sdk.Stream(cast_to=_union(kind), response=_response(raw), client=_anthropic())
    with _sdk_at_work():
        for event in stream:
            if beta:
                message = _beta_messages.accumulate_event(
                    event=event, current_snapshot=message, json_bufs=buffers, request_headers=httpx2.Headers()
                )
            else:
                message = _messages.accumulate_event(event=event, current_snapshot=message, json_bufs=buffers)
        if message is None:
            raise FoldError("no event")
        whole: dict[str, Json] = message.to_dict(mode="json")
    for block in whole["content"]:
        block.pop("parsed_output", None)
    return whole


def gemini(raw: bytes) -> dict[str, Json]:
    """Our reference: what a client has after the last chunk.

    Neighbouring text parts are joined if their thought flags agree and neither has a signature, because a signed part
    must go back unchanged. Empty text without a signature is dropped. Calls in pieces are joined. Metadata comes in
    pieces too: new members are added to its lists. Of everything else the last value counts.
    """
    whole: dict[str, Json] = {}
    candidates: dict[int, dict[str, Json]] = {}
    for chunk in _chunks(raw):
        if is_fault("gemini", chunk):
            raise FoldError(f"error: {chunk['error']}")
        whole.update({key: value for key, value in chunk.items() if key != "candidates"})
        for piece in chunk.get("candidates") or []:
            index = piece.get("index", 0)
            candidate = candidates.setdefault(index, {"index": index, "content": {"role": "model", "parts": []}})
            for key in piece.keys() - {"index", "content"}:
                candidate[key] = _grown(candidate.get(key), piece[key]) if key in _METADATA else piece[key]
            for part in (piece.get("content") or {}).get("parts") or []:
                _append(candidate["content"]["parts"], part)
    if candidates:
        whole["candidates"] = [_settled(candidates[index]) for index in sorted(candidates)]
    return whole


_METADATA = ("citationMetadata", "groundingMetadata", "urlContextMetadata")


def _grown(held: Json, piece: Json) -> Json:
    if isinstance(held, dict) and isinstance(piece, dict):
        return held | {key: _grown(held.get(key), value) for key, value in piece.items()}
    if isinstance(held, list) and isinstance(piece, list):
        return held + [member for member in piece if member not in held]
    return piece


def code_assist(raw: bytes) -> dict[str, Json]:
    """Return the answer of a wrapped Gemini stream in one envelope."""
    return {"response": gemini(unwrap_stream(raw))}


def ollama(raw: bytes) -> dict[str, Json]:
    """The sum of the lines. The SDK folds nothing, but must accept each line as part of an answer."""
    try:
        whole: dict[str, Json] = judge.gathered(raw)
    except (BadJson, ValueError) as error:
        raise FoldError(str(error)) from error
    return whole


def _chunks(raw: bytes) -> list[dict[str, Json]]:
    try:
        if raw.lstrip().startswith(b"["):
            return list(load(raw))
        return [load(frame.data) for frame in frames(raw, [])]
    except BadJson as error:
        raise FoldError(str(error)) from error


def _append(parts: list[Json], part: Json) -> None:
    last = parts[-1] if parts else None
    call = part.get("functionCall")
    if call is not None and last is not None and (last.get("functionCall") or {}).get("willContinue"):
        _continue_call(last["functionCall"], call)
    elif call is not None:
        call = dict(call)
        pieces = call.pop("partialArgs", [])
        if call.get("willContinue"):
            call.setdefault("args", {})
        for piece in pieces:
            _set_path(call["args"], piece)
        parts.append({**part, "functionCall": call})
    elif _plain(part) and last is not None and _plain(last) and _thought(last) == _thought(part):
        last["text"] += part["text"]
    elif not (_plain(part) and part["text"] == ""):
        parts.append(dict(part))


def _plain(part: Json) -> bool:
    return "text" in part and set(part) <= {"text", "thought"}


def _thought(part: Json) -> bool:
    return bool(part.get("thought"))


def _continue_call(call: Json, piece: Json) -> None:
    for partial in piece.get("partialArgs") or []:
        _set_path(call["args"], partial)
    if not piece.get("willContinue"):
        call.pop("willContinue")


def _set_path(args: Json, partial: Json) -> None:
    """Set the value at a path such as `$.a.b[0]`; strings of one path are joined."""
    value: Json = None
    for field in ("stringValue", "numberValue", "boolValue"):
        value = partial.get(field, value)
    steps: list[str | int] = [
        int(index) if index else name for name, index in re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", partial["jsonPath"])
    ]
    holder = args
    for step, following in pairwise(steps):
        if _child(holder, step) is None:
            holder[step] = [] if isinstance(following, int) else {}
        holder = holder[step]
    before = _child(holder, steps[-1])
    holder[steps[-1]] = before + value if isinstance(before, str) and isinstance(value, str) else value


def _child(holder: Json, step: str | int) -> Json:
    """The value at one step; None when there is none. Lists grow to hold the step."""
    if isinstance(step, int):
        holder.extend([None] * (step + 1 - len(holder)))
        return holder[step]
    return holder.get(step)


def _settled(candidate: Json) -> Json:
    """An answer without content, such as one that was stopped for safety, has no content field."""
    if not candidate["content"]["parts"]:
        candidate.pop("content")
    return candidate
