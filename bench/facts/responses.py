"""Owns the table of facts in openai-responses documents."""

from __future__ import annotations

from typing import Any

from .chat import figure, other_figures, strict, word
from .fields import (
    Facts,
    Json,
    Path,
    Reader,
    Table,
    arguments,
    cache_mark,
    compaction,
    detail,
    effort,
    format_schema,
    hosted,
    hosted_item,
    media,
    model,
    result,
    schema,
    shown,
    tier,
    unless,
)


def _choice(value: Json, path: Path, facts: Facts) -> None:
    if isinstance(value, str):
        word(facts, value, path)
    elif isinstance(value, dict) and value.get("type") == "allowed_tools":
        word(facts, value.get("mode"), path)
        for tool in value.get("tools") or ():
            facts.put("choice.tool", tool.get("name"), path)
    elif isinstance(value, dict):
        facts.put("choice.tool", value.get("name") or value.get("type"), path)


def _format(value: Json, path: Path, facts: Facts) -> None:
    if not isinstance(value, dict) or value.get("type") == "text":
        return
    if value.get("type") != "json_schema":
        facts.put("format", "json", path)
        return
    format_schema(value.get("schema"), (*path, "schema"), facts)
    for key in ("name", "description", "strict"):
        if value.get(key) is not False:
            facts.put(f"format.{key}", value.get(key), (*path, key))


def _tool(value: Json, path: Path, facts: Facts) -> None:
    if not isinstance(value, dict) or value.get("type", "function") not in ("function", "custom", "namespace"):
        hosted(value, path, facts)
        return
    if value.get("type") != "namespace":  # the name of a namespace is a prefix of its tools' names
        facts.put("tool.name", value.get("name"), (*path, "name"))
    facts.put("tool.description", value.get("description"), (*path, "description"))
    schema("tool.schema")(value.get("parameters") or {}, (*path, "parameters"), facts)
    if value.get("strict"):
        strict(facts, (*path, "strict"))
    facts.put("tool.grammar", (value.get("format") or {}).get("definition"), (*path, "format", "definition"))
    for i, inner in enumerate(value.get("tools") or ()):
        _tool(inner, (*path, "tools", str(i)), facts)
    known = ("type", "name", "description", "parameters", "strict", "format", "tools")
    for key, inner in value.items():
        if key not in known:
            facts.leaves("tool.option", inner or None, (*path, key))


def _include(value: Json, path: Path, facts: Facts) -> None:
    """Requests for more fields in the answer. One of them is a setting in other dialects, the others exist only
    here."""
    if "message.output_text.logprobs" in (value or ()):
        facts.put("setting.logprobs", True, path)


def _usage(value: Json, path: Path, facts: Facts) -> None:
    if not isinstance(value, dict):
        return
    input_details, answered = value.get("input_tokens_details") or {}, value.get("output_tokens_details") or {}
    figure(facts, "usage.input", value.get("input_tokens"), (*path, "input_tokens"))
    figure(facts, "usage.output", value.get("output_tokens"), (*path, "output_tokens"))
    figure(facts, "usage.cached", input_details.get("cached_tokens"), (*path, "input_tokens_details", "cached_tokens"))
    at = (*path, "input_tokens_details", "cache_write_tokens")
    figure(facts, "usage.cache_write", input_details.get("cache_write_tokens"), at)
    at = (*path, "output_tokens_details", "reasoning_tokens")
    figure(facts, "usage.reasoning", answered.get("reasoning_tokens"), at)
    known = ("input_tokens", "output_tokens", "total_tokens", "input_tokens_details", "output_tokens_details")
    for key, inner in value.items():
        if key not in known:
            other_figures(facts, inner, (*path, key))


_CALLS_OF_CLIENT = ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call")


def _for_client(item: dict[str, Any]) -> bool:
    """Whether an item is a call for the client. The upstream runs a shell in a container."""
    place = (item.get("environment") or {}).get("type", "local")
    return item.get("type") in _CALLS_OF_CLIENT and place == "local"


def _finish(document: Json, facts: Facts) -> None:
    """The reason, which is divided between the status, its details and the kinds of items."""
    status, output = document.get("status"), document.get("output") or []
    details = document.get("incomplete_details") or {}
    reasons: dict[Any, str] = {"max_output_tokens": "length"}
    if status == "incomplete":
        reason = reasons.get(details.get("reason"), details.get("reason"))
        facts.put("finish", reason, ("incomplete_details", "reason"))
    elif status == "completed":
        called = any(isinstance(item, dict) and _for_client(item) for item in output)
        refused = any(fact.kind == "refusal" for fact in facts)
        facts.put("finish", "tool_calls" if called else "content_filter" if refused else "stop", ("status",))


def _found(value: Json, path: Path, facts: Facts) -> None:
    for i, inner in enumerate(value.get("tools") or ()):
        _found(inner, (*path, "tools", str(i)), facts)
    if not value.get("tools"):
        facts.put("hosted", value.get("name"), (*path, "name"))


_ITEMS: Table = {
    "type": "-",
    "role": "-",
    "status": "-",
    "id": "-",
    "content": "text",
    "content/*/type": "-",
    "content/*/text": "text",
    "content/*/refusal": "refusal",
    "content/*/image_url": media,
    "content/*/file_id": media,
    "content/*/file_url": media,
    "content/*/file_data": media,
    "content/*/filename": "media.name",
    "content/*/detail": detail,
    "content/*/input_audio/data": media,
    "content/*/annotations/*/type": "-",
    "content/*/annotations/*/url": "citation.url",
    "content/*/annotations/*/title": "citation.title",
    "content/*/annotations/*/start_index": "-",
    "content/*/annotations/*/end_index": "-",
    "content/*/annotations/*/index": "-",
    "content/*/annotations/*/file_id": "citation.file",
    "content/*/annotations/*/filename": "citation.title",
    "content/*/logprobs/*/token": "logprob",
    "content/*/logprobs/*/logprob": "logprob",
    "content/*/logprobs/*/bytes": "-",
    "content/*/logprobs/*/top_logprobs/*/token": "logprob",
    "content/*/logprobs/*/top_logprobs/*/logprob": "logprob",
    "content/*/logprobs/*/top_logprobs/*/bytes": "-",
}
_CALLS: Table = {
    "*:function_call/call_id": "call.id",
    "*:function_call/name": "call.name",
    "*:function_call/arguments": arguments,
    "*:custom_tool_call/call_id": "call.id",
    "*:custom_tool_call/name": "call.name",
    "*:custom_tool_call/input": "argument",
    "*:function_call_output/call_id": "result.call",
    "*:function_call_output/output": result,
    "*:function_call_output/output/*/type": "-",
    "*:function_call_output/output/*/text": result,
    "*:function_call_output/output/*/image_url": media,
    "*:function_call_output/output/*/file_id": media,
    "*:function_call_output/output/*/file_url": media,
    "*:function_call_output/output/*/file_data": media,
    "*:function_call_output/output/*/filename": "media.name",
    "*:function_call_output/output/*/detail": detail,
    "*:custom_tool_call_output/call_id": "result.call",
    "*:custom_tool_call_output/output": result,
    "*:custom_tool_call_output/output/*/type": "-",
    "*:custom_tool_call_output/output/*/text": result,
    "*:function_call_output/name": "-",
    "*:image_generation_call/output_format": "-",
    "*:reasoning/summary/*/text": "thought",
    "*:reasoning/summary/*/type": "-",
    "*:reasoning/content/*/text": "thought",
    "*:reasoning/content/*/type": "-",
    "*:reasoning/encrypted_content": "seal",
    "*:compaction/encrypted_content": "seal",
    "*:additional_tools/tools/*": _tool,
    "*:tool_search_output/tools/*": _tool,
    "*:hosted": hosted_item,
}
_MAKING = ("revised_prompt", "size", "quality", "background", "action")
_MADE: Table = {
    "*:image_generation_call/result": media,
    **{f"*:image_generation_call/{name}": "hosted" for name in _MAKING},
    "*:image_generation_call/output_format": "-",
    "*:tool_search_output/tools/*": _found,
}
"""Items that differ between an answer and a request: declarations of found tools repeat those of the request."""


def _items(prefix: str) -> dict[str, Any]:
    table = {f"{prefix}/*/{pattern}": rule for pattern, rule in _ITEMS.items()}
    return {**table, **{f"{prefix}/{pattern}": rule for pattern, rule in _CALLS.items()}}


REQUEST = Reader(
    {"input": "text"},
    _items("input"),
    {
        "instructions": "text",
        "model": model,
        "temperature": unless(1, kind="setting.temperature"),
        "top_p": unless(1, kind="setting.top_p"),
        "max_output_tokens": "setting.limit",
        "parallel_tool_calls": unless(True, kind="setting.parallel"),
        "reasoning/effort": effort,
        "reasoning/summary": shown,
        "reasoning/context": unless("all_turns", "auto", kind="other"),  # thoughts of all turns are the default
        "text/verbosity": "setting.verbosity",
        "text/format": _format,
        "top_logprobs": unless(0, kind="setting.top_logprobs"),
        "service_tier": tier,
        "user": "setting.user",
        "safety_identifier": "setting.user",
        "metadata": "setting.metadata",
        "prompt_cache_key": "setting.cache_key",
        "previous_response_id": "state",
        "conversation": "state",
        "stream": "-",
        "store": "-",
        "include": _include,
        "context_management/*/type": compaction,
        "context_management/*/compact_threshold": "setting.compaction",
        "tool_choice": _choice,
        "tools/*": _tool,
        "**/prompt_cache_breakpoint": cache_mark,
    },
)

_ECHO = (
    "tools tool_choice instructions reasoning text temperature top_p max_output_tokens parallel_tool_calls store"
    " truncation metadata user safety_identifier prompt_cache_key prompt_cache_retention previous_response_id"
    " background max_tool_calls top_logprobs presence_penalty frequency_penalty conversation moderation"
)
"""Fields in which an answer repeats its request."""


class _Answer(Reader):
    def read(self, document: Json, base: Path = ()) -> Facts:
        facts = super().read(document, base)
        _finish(document, facts)
        return facts


ANSWER = _Answer(
    _items("output"),
    {f"output/{pattern}": rule for pattern, rule in _MADE.items()},
    {
        "id": "id",
        "model": model,
        "object": "-",
        "created_at": "-",
        "completed_at": "-",
        "status": "-",
        "incomplete_details": "-",
        "output_text": "-",
        "service_tier": unless("auto", "default", "standard", kind="other"),
        "error/message": "error",
        "usage": _usage,
    },
    dict.fromkeys(_ECHO.split(), "-"),
)


def fold(frames: list[Json]) -> Json:
    """The answer in the events of a stream."""
    answer: dict[str, Any] = {}
    items: dict[int, Json] = {}
    ended: Json = None
    for frame in frames:
        if ended is not None:
            break  # The recording has several streams; only the first is translated.
        kind, held, at = frame.get("type", ""), frame.get("response"), frame.get("output_index") or 0
        if isinstance(held, dict):
            answer = held
            ended = held.get("output") if kind in ("response.completed", "response.incomplete") else ended
        elif kind in ("response.output_item.added", "response.output_item.done"):
            items[at] = frame.get("item") or {}
        elif kind in ("response.output_text.delta", "response.refusal.delta", "response.reasoning_text.delta"):
            _grow(items.setdefault(at, {}), frame, "content")
        elif kind == "response.reasoning_summary_text.delta":
            _grow(items.setdefault(at, {}), frame, "summary")
        elif kind == "response.function_call_arguments.delta":
            item = items.setdefault(at, {})
            item["arguments"] = str(item.get("arguments") or "") + (frame.get("delta") or "")
        elif kind == "error":
            answer["error"] = frame.get("error", frame)
    ordered = [items[at] for at in sorted(items)]
    return {**answer, "output": ordered or ended or answer.get("output") or []}


def _grow(item: dict[str, Any], frame: Json, place: str) -> None:
    """Add a piece of text. The finished item repeats the whole text."""
    parts = item[place] = item.get(place) or []
    number = frame.get("content_index", frame.get("summary_index", 0)) or 0
    while len(parts) <= number:
        parts.append({"text": ""})
    parts[number]["text"] = (parts[number].get("text") or "") + (frame.get("delta") or "")
