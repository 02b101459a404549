"""Streams, read without the library's own readers: frames, how a stream ends, and the answer it amounts to.

Kept apart from the dialect folders on purpose: whoever judges a writer must not use its own reader.
"""

from __future__ import annotations

from typing import Any, Literal

from ..dialects import get
from .json_paths import decode, dump

DONE = "[DONE]"
Ending = Literal["well", "fault", "both", "open"]


def framed(dialect: str, frames: list[Any]) -> bytes:
    """Frames as the bytes of a stream. A text that begins with a colon is a comment, [DONE] is itself."""
    if get(dialect).framing == "ndjson":
        return "".join([dump(frame) + "\n" for frame in frames]).encode()
    return "".join([_event(frame) for frame in frames]).encode()


def _event(frame: Any) -> str:
    if isinstance(frame, str):
        return f"{frame}\n\n" if frame.startswith(":") else f"data: {frame}\n\n"
    name = frame.get("type") if isinstance(frame, dict) else None
    return (f"event: {name}\n" if isinstance(name, str) else "") + f"data: {dump(frame)}\n\n"


def frames_of(dialect: str, data: bytes) -> list[Any]:
    """The frames in the bytes of a stream, decoded; None stands for one that is no JSON."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if get(dialect).framing == "ndjson":
        return [_frame(line) for line in text.split("\n") if line.strip()]
    out: list[Any] = []
    for block in text.split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        if lines:
            out.append(_frame("\n".join(lines)))
    return out


def _frame(text: str) -> Any:
    if text.strip() == DONE:
        return DONE
    try:
        return decode(text)
    except ValueError:
        return None


def ending(dialect: str, frames: list[Any]) -> Ending:
    """How a stream ends: as the dialect ends well, with a fault, with both (which no client understands), or not."""
    objects = [frame for frame in frames if isinstance(frame, dict)]
    faults = any(_is_fault(frame) for frame in objects)
    if dialect == "anthropic":
        well = any(frame.get("type") == "message_stop" for frame in objects)
    elif dialect == "openai-responses":
        well = any(frame.get("type") in ("response.completed", "response.incomplete") for frame in objects)
    elif dialect in ("gemini", "code-assist"):
        well = any(
            candidate.get("finishReason")
            for frame in objects
            for candidate in frame.get("response", frame).get("candidates") or ()
        ) or any(frame.get("response", frame).get("promptFeedback") for frame in objects)
    elif dialect == "ollama":
        well = any(frame.get("done") is True for frame in objects)
    else:
        reasons = [choice.get("finish_reason") for frame in objects for choice in frame.get("choices") or ()]
        finished = any(reason not in (None, "error") for reason in reasons)
        # A fault may end the stream before [DONE]; without one both are needed.
        well = finished and (faults or DONE in frames)
    if faults:
        return "both" if well else "fault"
    return "well" if well else "open"


def _is_fault(frame: dict[str, Any]) -> bool:
    inner = frame.get("response")
    return (
        bool(frame.get("error"))
        or frame.get("type") in ("error", "response.failed")
        or (isinstance(inner, dict) and bool(inner.get("error")))
    )


def fold(dialect: str, frames: list[Any]) -> Any:
    """The answer in the dialect's own shape, as its clients put it together from the frames."""
    objects = [frame for frame in frames if isinstance(frame, dict)]
    if dialect == "anthropic":
        return _messages(objects)
    if dialect == "openai-responses":
        return _responses(objects)
    if dialect == "gemini":
        return _gemini(objects)
    if dialect == "code-assist":
        return {"response": _gemini([frame["response"] for frame in objects if "response" in frame])}
    if dialect == "ollama":
        return _ollama(objects)
    return _chat(objects)


def _messages(frames: list[dict[str, Any]]) -> Any:
    message: dict[str, Any] = {"content": []}
    blocks: dict[int, dict[str, Any]] = {}
    pieces: dict[int, str] = {}
    for frame in frames:
        kind, at = frame.get("type"), frame.get("index", -1)
        if kind == "message_start":
            message = {**frame["message"], "content": []}
        elif kind == "content_block_start":
            blocks[at] = dict(frame["content_block"])
        elif kind == "content_block_delta" and at in blocks:
            delta = frame["delta"]
            if "partial_json" in delta:
                pieces[at] = pieces.get(at, "") + delta["partial_json"]
            for key in ("text", "thinking", "signature"):
                if key in delta:
                    blocks[at][key] = blocks[at].get(key, "") + delta[key]
        elif kind == "message_delta":
            usage = {**message.get("usage", {}), **frame.get("usage", {})}
            message = {**message, **frame["delta"], "usage": usage}
    for at, text in pieces.items():
        blocks[at]["input"] = _arguments(text)
    message["content"] = [blocks[at] for at in sorted(blocks)]
    return message


def _arguments(text: str) -> Any:
    """Joined pieces of arguments: blank means an empty object; what is no JSON stays text."""
    if not text.strip():
        return {}
    try:
        return decode(text)
    except ValueError:
        return text


def _responses(frames: list[dict[str, Any]]) -> Any:
    items = {
        frame["output_index"]: frame["item"] for frame in frames if frame.get("type") == "response.output_item.done"
    }
    last: dict[str, Any] = {}
    for frame in frames:
        if isinstance(frame.get("response"), dict):
            last = frame["response"]
    return {**last, "output": [items[at] for at in sorted(items)], "terminal_output": last.get("output", [])}


def _gemini(frames: list[dict[str, Any]]) -> Any:
    out: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    parts: list[Any] = []
    for frame in frames:
        out.update({key: value for key, value in frame.items() if key != "candidates"})
        for found in frame.get("candidates") or ():
            if found.get("index", 0) == 0:
                candidate.update(found)
                _add_parts(parts, found.get("content", {}).get("parts") or [])
    candidate["content"] = {"role": "model", "parts": parts}
    return {**out, "candidates": [candidate]}


def _add_parts(parts: list[Any], more: list[Any]) -> None:
    """Texts of one kind run on; a sealed part stays by itself."""
    for part in more:
        last = parts[-1] if parts else {}
        plain = part.keys() <= {"text", "thought"} and last.keys() <= {"text", "thought"} and "text" in part
        if plain and "text" in last and last.get("thought") == part.get("thought"):
            parts[-1] = {**last, "text": last["text"] + part["text"]}
        else:
            parts.append(part)


def _ollama(frames: list[dict[str, Any]]) -> Any:
    out: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    for frame in frames:
        out.update(frame)
        said = frame.get("message") or {}
        for key in ("content", "thinking"):
            if said.get(key):
                message[key] = message.get(key, "") + said[key]
        if said.get("tool_calls"):
            message["tool_calls"] = message.get("tool_calls", []) + said["tool_calls"]
    return {**out, "message": message}


def _chat(frames: list[dict[str, Any]]) -> Any:
    out: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    details: dict[Any, dict[str, Any]] = {}
    reason: Any = None
    for frame in frames:
        out.update({key: value for key, value in frame.items() if key != "choices" and value is not None})
        for choice in frame.get("choices") or ():
            if choice.get("index", 0) != 0:
                continue
            reason = choice.get("finish_reason") or reason
            delta = choice.get("delta") or {}
            for key in ("content", "refusal", "reasoning", "reasoning_content"):
                if delta.get(key):
                    message[key] = (message.get(key) or "") + delta[key]
            for piece in delta.get("tool_calls") or ():
                _add_call(calls.setdefault(piece.get("index", 0), {"function": {"name": "", "arguments": ""}}), piece)
            for piece in delta.get("reasoning_details") or ():
                _add_detail(details.setdefault((piece.get("index"), piece.get("type")), {}), piece)
    if calls:
        message["tool_calls"] = [calls[at] for at in sorted(calls)]
    if details:
        message["reasoning_details"] = list(details.values())
    return {**out, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def _add_call(call: dict[str, Any], piece: dict[str, Any]) -> None:
    # What is said twice is joined, as clients do it: a call whose id is repeated in every piece is broken for them.
    function = piece.get("function") or {}
    call.update({key: value for key, value in piece.items() if key not in ("index", "function")})
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""


def _add_detail(detail: dict[str, Any], piece: dict[str, Any]) -> None:
    for key, value in piece.items():
        joined = key in ("text", "summary") and isinstance(detail.get(key), str) and isinstance(value, str)
        detail[key] = detail[key] + value if joined else value
