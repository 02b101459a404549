"""Owns the table of facts in openai-chat and openrouter documents."""

from __future__ import annotations

from typing import Any

from .fields import (
    Facts,
    Json,
    Path,
    Reader,
    Table,
    arguments,
    budget,
    cache_mark,
    detail,
    effort,
    excluded,
    format_schema,
    hosted,
    hosted_item,
    leaves,
    meaningless,
    media,
    modality,
    model,
    plugin,
    result,
    schema,
    searched,
    shown,
    tier,
    unless,
)

_FINISH = {"function_call": "tool_calls", "eos": "stop", "model_length": "length", "max_tokens": "length"}


def word(facts: Facts, value: Json, path: Path) -> None:
    """A tool choice as one word. `auto` is the default, and no fact."""
    if value != "auto":
        facts.put("choice", value, path)


def choice(value: Json, path: Path, facts: Facts) -> None:
    """A tool choice: a word, one tool, or a subset."""
    if isinstance(value, str):
        word(facts, {"any": "required"}.get(value, value), path)
        return
    if not isinstance(value, dict):
        return
    allowed = value.get("allowed_tools")
    if isinstance(allowed, dict):
        word(facts, allowed.get("mode"), path)
        for tool in allowed.get("tools") or ():
            facts.put("choice.tool", (tool.get("function") or tool).get("name"), path)
        return
    named = value.get("function") or value.get("custom") or value
    facts.put("choice.tool", named.get("name") or value.get("type"), path)


def shape(value: Json, path: Path, facts: Facts) -> None:
    """The requested form of the answer."""
    if not isinstance(value, dict):
        return
    held = value.get("json_schema")
    if isinstance(held, dict):
        at = (*path, "json_schema")
        format_schema(held.get("schema"), (*at, "schema"), facts)
        for key in ("name", "description", "strict"):
            if held.get(key) is not False:
                facts.put(f"format.{key}", held.get(key), (*at, key))
    elif value.get("type") != "text":
        facts.put("format", "json", path)


def finish(value: Json, path: Path, facts: Facts) -> None:
    """The finish reason. An answer with calls has the reason "calls", whatever reason its host writes."""
    reason = _FINISH.get(value, value)
    called = any(fact.kind == "call.name" and fact.path[:2] == path[:2] for fact in facts)
    refused = any(fact.kind == "refusal" and fact.path[:2] == path[:2] for fact in facts)
    if reason == "stop" and (called or refused):
        reason = "tool_calls" if called else "content_filter"
    facts.put("finish", reason, path)


def usage(value: Json, path: Path, facts: Facts) -> None:
    """The figures of an answer. The total is a fact only where the others do not add up to it."""
    if not isinstance(value, dict):
        return
    before, after = value.get("prompt_tokens") or 0, value.get("completion_tokens") or 0
    prompt, answered = value.get("prompt_tokens_details") or {}, value.get("completion_tokens_details") or {}
    total, thoughts = value.get("total_tokens") or 0, answered.get("reasoning_tokens") or 0
    if thoughts and total == before + after + thoughts:
        after += thoughts  # xAI and others count thoughts separately
    figure(facts, "usage.input", before, (*path, "prompt_tokens"))
    figure(facts, "usage.output", after, (*path, "completion_tokens"))
    figure(facts, "usage.cached", prompt.get("cached_tokens"), (*path, "prompt_tokens_details", "cached_tokens"))
    at = (*path, "prompt_tokens_details", "cache_write_tokens")
    figure(facts, "usage.cache_write", prompt.get("cache_write_tokens"), at)
    at = (*path, "completion_tokens_details", "reasoning_tokens")
    figure(facts, "usage.reasoning", answered.get("reasoning_tokens"), at)
    for key in _CACHED:
        figure(facts, "usage.cached", value.get(key), (*path, key))
    for key, inner in value.items():
        if key not in _FIGURES:
            other_figures(facts, inner, (*path, key))


_CACHED = ("cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
_FIGURES = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "prompt_tokens_details",
    "completion_tokens_details",
    *_CACHED,
    "prompt_cache_miss_tokens",  # the rest of the prompt, which the cache did not have
)


def other_figures(facts: Facts, value: Json, path: Path) -> None:
    """Figures of one provider only: cost, times, the use of its own tools. They are not part of the shares."""
    for leaf, at in leaves(value, path):
        if leaf not in (0, False, None, "", "standard", "default", "not_available") and not meaningless(at):
            facts.put("other", leaf, at)


def figure(facts: Facts, kind: str, value: Json, path: Path) -> None:
    """A count. Zero is no fact."""
    if value:
        facts.put(kind, value, path)


def tool(value: Json, path: Path, facts: Facts) -> None:
    """A tool: a function, a free-text tool, or one that the upstream runs."""
    held = value.get("function") or value.get("custom") if isinstance(value, dict) else None
    if not isinstance(held, dict):
        hosted(value, path, facts)
        return
    at = (*path, "function" if "function" in value else "custom")
    function(held, at, facts)
    for key, inner in value.items():
        if key == "cache_control":
            cache_mark(inner, (*path, key), facts)
        elif key not in ("type", "function", "custom"):
            facts.leaves("tool.option", inner or None, (*path, key))


def function(value: Json, path: Path, facts: Facts) -> None:
    """The declaration of a function."""
    facts.put("tool.name", value.get("name"), (*path, "name"))
    facts.put("tool.description", value.get("description"), (*path, "description"))
    schema("tool.schema")(value.get("parameters", {}), (*path, "parameters"), facts)
    if value.get("strict"):
        strict(facts, (*path, "strict"))
    form = value.get("format") or {}
    facts.put("tool.grammar", (form.get("grammar") or {}).get("definition"), (*path, "format", "grammar", "definition"))
    for key, inner in value.items():
        if key not in ("name", "description", "parameters", "strict", "format"):
            facts.leaves("tool.option", inner or None, (*path, key))


def deferred_search(value: Json, path: Path, facts: Facts) -> None:
    """The search of OpenRouter for deferred tools, which is a tool of other dialects."""
    if isinstance(value, dict):
        facts.put("tool.hosted", "tool_search", path)
        facts.put(
            "tool.hosted.option", (value.get("search") or {}).get("max_results"), (*path, "search", "max_results")
        )


def strict(facts: Facts, path: Path) -> None:
    """A tool whose arguments must fit its schema. Gemini sets this for all tools at once, by its mode VALIDATED."""
    facts.put("tool.strict", True, path)
    facts.implied.add(("choice", "validated"))


_MESSAGE: Table = {
    "role": "-",
    "content": "text",
    "content/*/type": "-",
    "content/*/text": "text",
    "content/*/refusal": "refusal",
    "content/*:thinking/thinking": "thought",
    "content/*:thinking/thinking/*/text": "thought",
    "content/*:thinking/thinking/*/type": "-",
    "content/*:thinking/closed": "-",
    "content/*/image_url": media,
    "content/*/image_url/url": media,
    "content/*/image_url/detail": detail,
    "content/*/video_url/url": media,
    "content/*/document_url": media,
    "content/*/document_name": "media.name",
    "content/*/file/file_data": media,
    "content/*/file/file_id": media,
    "content/*/file/filename": "media.name",
    "content/*/input_audio": media,
    "content/*/input_audio/data": media,
    "content/*/input_audio/format": "-",
    "name": "author",
    "refusal": "refusal",
    "tool_calls/*/id": "call.id",
    "tool_calls/*/type": "-",
    "tool_calls/*/index": "-",
    "tool_calls/*/function/name": "call.name",
    "tool_calls/*/function/arguments": arguments,
    "tool_calls/*/custom/name": "call.name",
    "tool_calls/*/custom/input": "argument",
    "function_call/name": "call.name",
    "function_call/arguments": arguments,
    "reasoning_content": "thought",
    "reasoning": "thought",
    "reasoning_details/*:reasoning.server_tool_call": hosted_item,
    "reasoning_details/*/text": "thought",
    "reasoning_details/*/summary": "thought",
    "reasoning_details/*/data": "seal",
    "reasoning_details/*/signature": "seal",
    "reasoning_details/*/id": "seal.id",
    "reasoning_details/*/type": "-",
    "reasoning_details/*/index": "-",
    "reasoning_details/*/format": "-",
    "annotations/*/type": "-",
    "annotations/*/url_citation/url": "citation.url",
    "annotations/*/url_citation/title": "citation.title",
    "annotations/*/url_citation/content": "citation.quote",
    "annotations/*/url_citation/start_index": "-",
    "annotations/*/url_citation/end_index": "-",
    "audio/data": media,
    "audio/transcript": "text",
    "images/*/type": "-",
    "images/*/image_url/url": media,
}


def _under(prefix: str, table: Table) -> dict[str, Any]:
    return {f"{prefix}/{pattern}": rule for pattern, rule in table.items()}


REQUEST = Reader(
    _under("messages/*", _MESSAGE),
    {
        "messages/*:tool/content": result,
        "messages/*:tool/content/*/text": result,
        "messages/*:tool/tool_call_id": "result.call",
        "messages/*:tool/name": "-",
        "messages/*:function/content": result,
        "messages/*:function/name": "-",
        "model": model,
        "models": "other",
        "temperature": unless(1, kind="setting.temperature"),
        "top_p": unless(1, kind="setting.top_p"),
        "top_k": "setting.top_k",
        "min_p": "setting.min_p",
        "seed": "setting.seed",
        "stop": "setting.stop",
        "n": unless(1, kind="setting.n"),
        "max_tokens": "setting.limit",
        "max_completion_tokens": "setting.limit",
        "presence_penalty": unless(0, kind="setting.presence_penalty"),
        "frequency_penalty": unless(0, kind="setting.frequency_penalty"),
        "logprobs": unless(False, kind="setting.logprobs"),
        "top_logprobs": unless(0, kind="setting.top_logprobs"),
        "parallel_tool_calls": unless(True, kind="setting.parallel"),
        "include_reasoning": shown,
        "reasoning/exclude": excluded,
        "reasoning/summary": shown,
        "reasoning_effort": effort,
        "reasoning/effort": effort,
        "reasoning/enabled": effort,
        "reasoning/max_tokens": budget,
        "thinking/type": effort,
        "enable_thinking": effort,
        "verbosity": "setting.verbosity",
        "service_tier": tier,
        "modalities/*": modality,
        "web_search_options": searched,
        "plugins/*": plugin,
        "deferred_tools": deferred_search,
        "user": "setting.user",
        "safety_identifier": "setting.user",
        "metadata": "setting.metadata",
        "prompt_cache_key": "setting.cache_key",
        "stream": "-",
        "stream_options": "-",
        "usage/include": "-",
        "response_format": shape,
        "tool_choice": choice,
        "function_call": choice,
        "tools/*": tool,
        "functions/*": function,
        "**/cache_control": cache_mark,
        "**/prompt_cache_breakpoint": cache_mark,
        "**/thought_signature": "seal",
    },
)


_LIMITS = ("max_output_tokens", "max_tokens", "length", "MAX_TOKENS")


class _Answer(Reader):
    def read(self, document: Json, base: Path = ()) -> Facts:
        # The calls decide the meaning of the reason, so the reason is read after them.
        for entry in document.get("choices") or ():
            if isinstance(entry, dict) and "finish_reason" in entry:
                reason = entry.pop("finish_reason")
                # OpenRouter reports tool_calls for an answer that its host cut at the limit.
                cut = reason == "tool_calls" and entry.get("native_finish_reason") in _LIMITS
                entry["finish_reason"] = "length" if cut else reason
        return super().read(document, base)


ANSWER = _Answer(
    _under("choices/*/message", _MESSAGE),
    {
        "id": "id",
        "model": model,
        "object": "-",
        "created": "-",
        "system_fingerprint": "other",
        "service_tier": unless("auto", "default", "standard", kind="other"),
        "obfuscation": "-",
        "p": "-",
        "error": "error",
        "choices/*/index": "-",
        "choices/*/finish_reason": finish,
        "choices/*/logprobs/content/*/token": "logprob",
        "choices/*/logprobs/content/*/logprob": "logprob",
        "choices/*/logprobs/content/*/bytes": "-",
        "choices/*/logprobs/content/*/top_logprobs/*/token": "logprob",
        "choices/*/logprobs/content/*/top_logprobs/*/logprob": "logprob",
        "choices/*/logprobs/content/*/top_logprobs/*/bytes": "-",
        "usage": usage,
        "**/thought_signature": "seal",
    },
)

_JOINED = (
    "content",
    "reasoning",
    "reasoning_content",
    "refusal",
    "arguments",
    "input",
    "text",
    "summary",
    "transcript",
)


def fold(frames: list[Json]) -> Json:
    """The answer in the chunks of a stream."""
    answer: dict[str, Any] = {}
    for frame in frames:
        entries = [entry for entry in frame.pop("choices", None) or () if isinstance(entry, dict)]
        for entry in entries:
            entry["index"] = entry.get("index") or 0
            if "delta" in entry:
                entry["message"] = _one_thought(entry.pop("delta") or {})
            else:
                entry.pop("message", None)  # some hosts repeat the whole answer at the end
        frame["choices"] = entries
        if answer.get("id"):
            frame.pop("id", None)  # the first id counts
        _merge(answer, frame)
    return answer


def _one_thought(delta: dict[str, Any]) -> dict[str, Any]:
    """A delta with its thought once: some hosts send one thought under two names."""
    if delta.get("reasoning_content") and delta.get("reasoning"):
        return {key: value for key, value in delta.items() if key != "reasoning"}
    return delta


def _merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        held = into.get(key)
        if value is None:
            continue
        if isinstance(held, dict | None) and isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        elif isinstance(value, list) and isinstance(held, list | None):
            _extend(into.setdefault(key, []), value)
        elif isinstance(held, str) and isinstance(value, str) and key in _JOINED:
            into[key] = held + value
        elif value != "" or key not in into:
            into[key] = value


def _extend(held: list[Any], more: list[Any]) -> None:
    for item in more:
        index = item.get("index") if isinstance(item, dict) else None
        if index is None and isinstance(item, dict) and "function" in item and not item.get("id") and held:
            _merge(held[-1], item)  # more of the latest call
            continue
        same = [one for one in held if index is not None and isinstance(one, dict) and one.get("index") == index]
        same = [one for one in same if one.get("type") in (None, item.get("type")) or item.get("type") is None]
        if same:
            _merge(same[-1], item)
        elif isinstance(item, dict):
            held.append({})
            _merge(held[-1], item)
        else:
            held.append(item)
