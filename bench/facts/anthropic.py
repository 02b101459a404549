"""Owns the table of facts in anthropic documents."""

from __future__ import annotations

import base64
from typing import Any

from .chat import figure, other_figures, strict, word
from .fields import (
    Facts,
    Json,
    Path,
    Reader,
    Table,
    arguments,
    budget,
    cache_mark,
    compaction,
    decoded,
    effort,
    enforced_schema,
    hosted,
    hosted_item,
    hosted_options,
    media,
    model,
    result,
    schema,
    shown,
    tier,
    unless,
)

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def _finish(value: Json, path: Path, facts: Facts) -> None:
    """The finish reason. An answer with calls has the reason "calls", whatever reason a proxy writes."""
    reason = _FINISH.get(value, value)
    called = any(fact.kind == "call.name" for fact in facts)
    facts.put("finish", "tool_calls" if called and reason == "stop" else reason, path)


def _choice(value: Json, path: Path, facts: Facts) -> None:
    if not isinstance(value, dict):
        return
    if value.get("type") == "tool":
        facts.put("choice.tool", value.get("name"), path)
    else:
        word(facts, {"any": "required"}.get(value.get("type", ""), value.get("type")), path)
    if value.get("disable_parallel_tool_use"):
        facts.put("setting.parallel", False, (*path, "disable_parallel_tool_use"))


def _thinking(value: Json, path: Path, facts: Facts) -> None:
    if not isinstance(value, dict):
        return
    budget(value.get("budget_tokens"), (*path, "budget_tokens"), facts)
    shown(value.get("display"), (*path, "display"), facts)
    if value.get("type") in ("enabled", "adaptive") and value.get("display") != "omitted":
        facts.implied.add(("setting.thoughts", "shown"))
    if value.get("budget_tokens") is None:
        effort(value.get("type"), (*path, "type"), facts)


def _format(value: Json, path: Path, facts: Facts) -> None:
    if isinstance(value, dict):
        enforced_schema(value.get("schema"), (*path, "schema"), facts)


def _tool(value: Json, path: Path, facts: Facts) -> None:
    if not isinstance(value, dict) or "input_schema" not in value:
        hosted(value, path, facts)
        return
    facts.put("tool.name", value.get("name"), (*path, "name"))
    facts.put("tool.description", value.get("description"), (*path, "description"))
    schema("tool.schema")(value["input_schema"], (*path, "input_schema"), facts)
    if value.get("strict"):
        strict(facts, (*path, "strict"))
    for key, inner in value.items():
        if key == "cache_control":
            cache_mark(inner, (*path, key), facts)
        elif key not in ("type", "name", "description", "input_schema", "strict"):
            facts.leaves("tool.option", inner or None, (*path, key))


def _usage(value: Json, path: Path, facts: Facts) -> None:
    if not isinstance(value, dict):
        return
    read, written = value.get("cache_read_input_tokens") or 0, value.get("cache_creation_input_tokens") or 0
    # Input tokens do not include the tokens of the cache.
    figure(facts, "usage.input", (value.get("input_tokens") or 0) + read + written, (*path, "input_tokens"))
    figure(facts, "usage.output", value.get("output_tokens"), (*path, "output_tokens"))
    figure(facts, "usage.cached", read, (*path, "cache_read_input_tokens"))
    figure(facts, "usage.cache_write", written, (*path, "cache_creation_input_tokens"))
    thinking = (value.get("output_tokens_details") or {}).get("thinking_tokens")
    figure(facts, "usage.reasoning", thinking, (*path, "output_tokens_details", "thinking_tokens"))
    known = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    for key, inner in value.items():
        if key not in (*known, "output_tokens_details"):
            other_figures(facts, inner, (*path, key))


def _source(value: Json, path: Path, facts: Facts) -> None:
    """Media: bytes, an address or the id of a file; a text document holds its text."""
    if not isinstance(value, dict):
        facts.put("citation.url", value, path)  # the source of a search result
        return
    for key in ("data", "url", "file_id"):
        held = value.get(key)
        if key == "data" and value.get("type") == "text" and isinstance(held, str):
            held = base64.b64encode(held.encode()).decode()
        media(held, (*path, key), facts)
    facts.leaves("text", value.get("content"), (*path, "content"))


_BLOCKS: Table = {
    "type": "-",
    "caller/type": unless("direct", kind="other"),
    "text": "text",
    "thinking": "thought",
    "signature": "seal",
    "tool/type": "-",
    "source": _source,
    "title": "media.name",
    "citations/*/type": "-",
    "citations/*/url": "citation.url",
    "citations/*/source": "citation.url",
    "citations/*/title": "citation.title",
    "citations/*/document_title": "citation.title",
    "citations/*/cited_text": "citation.quote",
    "citations/*/encrypted_index": "citation.seal",
    "citations/*/file_id": "citation.file",
    "citations/*/document_index": "-",
    "citations/*/search_result_index": "-",
    "citations/*/start_char_index": "-",
    "citations/*/end_char_index": "-",
    "citations/*/start_block_index": "-",
    "citations/*/end_block_index": "-",
    "citations/*/start_page_number": "-",
    "citations/*/end_page_number": "-",
}
_KINDS: Table = {
    "*:redacted_thinking/data": "seal",
    "*:tool_use/id": "call.id",
    "*:tool_use/name": "call.name",
    "*:tool_use/input": arguments,
    "*:tool_result/tool_use_id": "result.call",
    "*:tool_result/content": result,
    "*:tool_result/content/*/type": "-",
    "*:tool_result/content/*/text": result,
    "*:tool_result/content/*/source": _source,
    "*:tool_result/is_error": unless(False, kind="result.error"),
    "*:hosted": hosted_item,
    "*:compaction/content": "hosted",
    "*:compaction/encrypted_content": "seal",
}


def _blocks(prefix: str) -> dict[str, Any]:
    table = {f"{prefix}/*/{pattern}": rule for pattern, rule in _BLOCKS.items()}
    return {**table, **{f"{prefix}/{pattern}": rule for pattern, rule in _KINDS.items()}}


REQUEST = Reader(
    {"messages/*/content": "text", "messages/*/role": "-"},
    _blocks("messages/*/content"),
    {
        "system": "text",
        "system/*/text": "text",
        "system/*/type": "-",
        "model": model,
        "max_tokens": "setting.limit",
        "temperature": unless(1, kind="setting.temperature"),
        "top_p": unless(1, kind="setting.top_p"),
        "top_k": "setting.top_k",
        "stop_sequences": "setting.stop",
        "stream": "-",
        "thinking": _thinking,
        "output_config/effort": effort,
        "output_config/format": _format,
        "output_format": _format,
        "metadata/user_id": "setting.user",
        "service_tier": tier,
        "mcp_servers/*": hosted_options,
        "context_management/edits/*/type": compaction,
        "context_management/edits/*/trigger/type": "-",
        "context_management/edits/*:compact_20260112/trigger/value": "setting.compaction",
        "tool_choice": _choice,
        "tools/*": _tool,
        "**/cache_control": cache_mark,
    },
)


class _Answer(Reader):
    def read(self, document: Json, base: Path = ()) -> Facts:
        if "stop_reason" in document:  # The calls decide the meaning of the reason, so the reason is read after them.
            document["stop_reason"] = document.pop("stop_reason")
        return super().read(document, base)


ANSWER = _Answer(
    _blocks("content"),
    {
        "id": "id",
        "type": "-",
        "role": "-",
        "model": model,
        "stop_reason": _finish,
        "stop_sequence": "finish.sequence",
        "stop_details/type": "-",
        "stop_details": "finish.message",
        "usage": _usage,
        "error/message": "error",
        "error/type": "error",
    },
)


def fold(frames: list[Json]) -> Json:
    """The answer in the events of a stream."""
    answer: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    pieces: dict[int, str] = {}
    for frame in frames:
        kind, at = frame.get("type"), frame.get("index")
        if at is None:  # the block that began last
            at = max(blocks, default=0) + (kind == "content_block_start" and bool(blocks))
        if kind == "message_stop":
            break  # The recording has several streams; only the first is translated.
        if kind == "message_start" and answer:
            answer["error"] = {"message": "a second message begins inside the first"}
            break
        if kind == "message_start":
            answer = dict(frame.get("message") or {})
            begun = answer.get("content") or []
            blocks.update({i - len(begun): block for i, block in enumerate(begun)})
        elif kind == "content_block_start":
            blocks[at] = dict(frame.get("content_block") or {})
        elif kind == "message_delta" or (frame.get("delta") or {}).get("stop_reason"):
            usage = {**(answer.get("usage") or {}), **(frame.get("usage") or {})}
            more = {key: value for key, value in frame.items() if key not in ("type", "delta", "usage")}
            answer = {**answer, **(frame.get("delta") or {}), **more, "usage": usage}
        elif kind == "error":
            answer["error"] = frame.get("error")
        elif at in blocks and "delta" in frame:  # also with an unknown type
            _grow(blocks[at], frame["delta"] or {}, pieces, at)
    for at, text in pieces.items():
        blocks[at]["input"] = decoded(text) if text.strip() else {}
    return {**answer, "content": [blocks[at] for at in sorted(blocks)]}


def _grow(block: dict[str, Any], delta: Json, pieces: dict[int, str], at: int) -> None:
    for key, value in delta.items():
        if key == "partial_json":
            pieces[at] = pieces.get(at, "") + (value or "")
        elif key == "citation":
            block["citations"] = [*(block.get("citations") or []), value]
        elif key in ("text", "thinking", "signature", "content") and isinstance(value, str):
            block[key] = (block.get(key) or "") + value
        elif key != "type":
            block[key] = value
