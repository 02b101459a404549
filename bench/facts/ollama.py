"""Owns the table of facts in ollama documents."""

from __future__ import annotations

from typing import Any

from .chat import figure, tool
from .fields import Facts, Json, Path, Reader, Table, arguments, effort, enforced_schema, media, model, result, unless

_MESSAGE: Table = {
    "role": "-",
    "content": "text",
    "thinking": "thought",
    "images/*": media,
    "tool_calls/*/id": "call.id",
    "tool_calls/*/type": "-",
    "tool_calls/*/function/index": "-",
    "tool_calls/*/function/name": "call.name",
    "tool_calls/*/function/arguments": arguments,
    "tool_name": "-",
}


def _format(value: Json, path: Path, facts: Facts) -> None:
    if isinstance(value, dict):
        enforced_schema(value, path, facts)
    elif value:
        facts.put("format", "json", path)


def _think(value: Json, path: Path, facts: Facts) -> None:
    effort(value, path, facts)
    if value is not False:
        facts.implied.add(("setting.thoughts", "shown"))


def _usage(value: Json, path: Path, facts: Facts) -> None:
    figure(facts, "usage.input" if path[-1].startswith("prompt") else "usage.output", value, path)


def _finish(value: Json, path: Path, facts: Facts) -> None:
    called = any(fact.kind == "call.name" for fact in facts)
    facts.put("finish", "tool_calls" if value == "stop" and called else value, path)


REQUEST = Reader(
    {f"messages/*/{pattern}": rule for pattern, rule in _MESSAGE.items()},
    {
        "messages/*:tool/content": result,
        "messages/*:tool/tool_call_id": "result.call",
        "model": model,
        "stream": "-",
        "format": _format,
        "think": _think,
        "options/temperature": unless(1, kind="setting.temperature"),
        "options/top_p": unless(1, kind="setting.top_p"),
        "options/top_k": "setting.top_k",
        "options/min_p": "setting.min_p",
        "options/seed": "setting.seed",
        "options/stop": "setting.stop",
        "options/num_predict": "setting.limit",
        "options/presence_penalty": "setting.presence_penalty",
        "options/frequency_penalty": "setting.frequency_penalty",
        "logprobs": unless(False, kind="setting.logprobs"),
        "top_logprobs": unless(0, kind="setting.top_logprobs"),
        "tools/*": tool,
    },
)


class _Answer(Reader):
    def read(self, document: Json, base: Path = ()) -> Facts:
        # The calls decide the meaning of the reason, so the reason is read after them.
        reason = document.pop("done_reason", None)
        return super().read({**document, "done_reason": reason}, base)


ANSWER = _Answer(
    {f"message/{pattern}": rule for pattern, rule in _MESSAGE.items()},
    {
        "model": model,
        "created_at": "-",
        "done": "-",
        "done_reason": _finish,
        "prompt_eval_count": _usage,
        "eval_count": _usage,
        "total_duration": "-",
        "load_duration": "-",
        "prompt_eval_duration": "-",
        "eval_duration": "-",
        "logprobs/*/token": "logprob",
        "logprobs/*/logprob": "logprob",
        "logprobs/*/bytes": "-",
        "logprobs/*/top_logprobs/*/token": "logprob",
        "logprobs/*/top_logprobs/*/logprob": "logprob",
        "logprobs/*/top_logprobs/*/bytes": "-",
    },
)


def fold(frames: list[Json]) -> Json:
    """The answer in the lines of a stream."""
    answer: dict[str, Any] = {}
    message: dict[str, Any] = {}
    logprobs: list[Json] = []
    for frame in frames:
        for key, value in (frame.pop("message", None) or {}).items():
            if key in ("content", "thinking"):
                message[key] = message.get(key, "") + (value or "")
            elif isinstance(value, list):
                message[key] = [*(message.get(key) or []), *value]
            elif value is not None:
                message[key] = value
        logprobs += frame.pop("logprobs", None) or []
        answer.update(frame)
    return {**answer, "message": message, "logprobs": logprobs}
