"""Owns the table of facts in gemini and code-assist documents. Requests may be in camelCase or in snake_case."""

from __future__ import annotations

from typing import Any

from .chat import figure, other_figures
from .fields import (
    Facts,
    Json,
    Path,
    Reader,
    Table,
    arguments,
    budget,
    camel,
    detail,
    effort,
    enforced_schema,
    hosted_item,
    hosted_name,
    hosted_options,
    leaves,
    media,
    modality,
    model,
    result,
    schema,
    shown,
    tier,
    unless,
)

_FINISH = {
    "MAX_TOKENS": "length",
    "MALFORMED_FUNCTION_CALL": "bad_call",
    "UNEXPECTED_TOOL_CALL": "bad_call",
    "CONTINUATION": "pause_turn",
}
_NUMBERS: dict[Json, str] = {1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION", 5: "OTHER"}
"""Reasons as numbers, which protobuf's JSON form has too."""
_CALLS_MADE = "Model generated function call(s)."
"""A message that repeats the parts."""
_FILTERS = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "IMAGE_OTHER",
        "MODEL_ARMOR",
    }
)


def _result(value: Json, path: Path, facts: Facts) -> None:
    """A result is an object. Its leaves may be JSON texts, like a text result of another dialect."""
    for leaf, at in leaves(value, path):
        result(leaf, at, facts)
    if isinstance(value, dict) and "error" in value:
        facts.implied.add(("result.error", "true"))


def _choice(value: Json, path: Path, facts: Facts) -> None:
    if not isinstance(value, dict):
        return
    held = {camel(key): inner for key, inner in value.items()}
    words = {"ANY": "required", "NONE": "none", "VALIDATED": "validated"}
    names = held.get("allowedFunctionNames") or ()
    mode = str(held.get("mode") or "").upper()
    if mode in ("VALIDATED", "ANY"):  # both enforce the schemas of the tools
        facts.implied.add(("tool.strict", "true"))
    if not (mode == "ANY" and len(names) == 1):
        facts.put("choice", words.get(mode), (*path, "mode"))
    for name in names:
        facts.put("choice.tool", name, path)


def _mime(value: Json, path: Path, facts: Facts) -> None:
    if value == "application/json":
        facts.put("format", "json", path)
    elif value != "text/plain":
        facts.put("format", value, path)


def _function(value: Json, path: Path, facts: Facts) -> None:
    facts.put("tool.name", value.get("name"), (*path, "name"))
    facts.put("tool.description", value.get("description"), (*path, "description"))
    for key, inner in value.items():
        if camel(key) in ("parameters", "parametersJsonSchema"):
            schema("tool.schema")(inner, (*path, key), facts)
        elif camel(key) in ("response", "responseJsonSchema"):
            facts.leaves("tool.option", inner, (*path, key))
        elif key not in ("name", "description"):
            facts.leaves("tool.option", inner or None, (*path, key))


def _tool(value: Json, path: Path, facts: Facts) -> None:
    for key, inner in value.items():
        if inner is None:
            continue
        if camel(key) == "functionDeclarations":
            for i, one in enumerate(inner or ()):
                _function(one, (*path, key, str(i)), facts)
        else:
            facts.put("tool.hosted", hosted_name(camel(key)), (*path, key))
            hosted_options(inner, (*path, key), facts)


def _tools(value: Json, path: Path, facts: Facts) -> None:
    """A list of tools; protobuf's JSON form accepts one object in place of a list of one."""
    if isinstance(value, dict):
        _tool(value, path, facts)
    for i, one in enumerate(value) if isinstance(value, list) else ():
        _tool(one, (*path, str(i)), facts)


def _usage(value: Json, path: Path, facts: Facts) -> None:
    if not isinstance(value, dict):
        return
    prompt = (value.get("promptTokenCount") or 0) + (value.get("toolUsePromptTokenCount") or 0)
    thoughts = value.get("thoughtsTokenCount") or 0
    figure(facts, "usage.input", prompt, (*path, "promptTokenCount"))
    # Output tokens do not include thoughts.
    figure(facts, "usage.output", (value.get("candidatesTokenCount") or 0) + thoughts, (*path, "candidatesTokenCount"))
    figure(facts, "usage.cached", value.get("cachedContentTokenCount"), (*path, "cachedContentTokenCount"))
    figure(facts, "usage.reasoning", thoughts, (*path, "thoughtsTokenCount"))
    known = "promptTokenCount candidatesTokenCount totalTokenCount thoughtsTokenCount cachedContentTokenCount"
    for key, inner in value.items():
        if key not in (*known.split(), "toolUsePromptTokenCount"):
            other_figures(facts, inner, (*path, key))


def _finish(document: Json, base: Path, facts: Facts) -> None:
    """The finish reason. STOP is the same for an answer in text and for calls."""
    for i, candidate in enumerate(document.get("candidates") or ()):
        if not isinstance(candidate, dict):
            continue
        reason, at = candidate.get("finishReason"), (*base, "candidates", str(i), "finishReason")
        reason = _NUMBERS.get(reason, reason)
        if reason != "STOP" and candidate.get("finishMessage") != _CALLS_MADE:
            facts.put("finish.message", candidate.get("finishMessage"), (*at[:-1], "finishMessage"))
        parts = (candidate.get("content") or {}).get("parts") or ()
        if reason == "STOP":
            facts.put(
                "finish",
                "tool_calls" if any((part or {}).get("functionCall") is not None for part in parts) else "stop",
                at,
            )
        elif reason:
            facts.put(
                "finish", "content_filter" if reason in _FILTERS else _FINISH.get(reason, str(reason).lower()), at
            )
    if (document.get("promptFeedback") or {}).get("blockReason"):
        facts.put("finish", "content_filter", (*base, "promptFeedback", "blockReason"))


_DUMMIES = (
    "skip_thought_signature_validator",
    "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
    "context_engineering_is_the_way_to_go",
    "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv",
)


def _seal(value: Json, path: Path, facts: Facts) -> None:
    """A seal. Google's documented dummy seals nothing."""
    if value not in _DUMMIES:
        facts.put("seal", value, path)


def _run(value: Json, path: Path, facts: Facts) -> None:
    """A program that the upstream ran, or its result."""
    facts.implied.add(("hosted.tool", "code"))
    hosted_item(value, path, facts)


def _queries(value: Json, path: Path, facts: Facts) -> None:
    """The queries of a search. The field implies that a search was made."""
    facts.implied.add(("hosted.tool", "web_search"))
    facts.put("hosted", value, path)


def _fetched(value: Json, path: Path, facts: Facts) -> None:
    """Pages that were fetched."""
    facts.implied.add(("hosted.tool", "fetch"))
    hosted_item(value, path, facts)


_PART: Table = {
    "text": "text",
    "thought": "-",
    "thoughtSignature": _seal,
    "inlineData/data": media,
    "inlineData/mimeType": "-",
    "fileData/fileUri": media,
    "fileData/mimeType": "-",
    "inlineData/displayName": "media.name",
    "fileData/displayName": "media.name",
    "mediaResolution": detail,
    "functionCall/id": "call.id",
    "functionCall/name": "call.name",
    "functionCall/args": arguments,
    "functionResponse/id": "result.call",
    "functionResponse/name": "-",
    "functionResponse/response": _result,
    "functionResponse/parts/*/inlineData/data": media,
    "functionResponse/parts/*/inlineData/mimeType": "-",
    "functionResponse/parts/*/inlineData/displayName": "media.name",
    "functionResponse/parts/*/fileData/fileUri": media,
    "functionResponse/parts/*/fileData/mimeType": "-",
    "executableCode": _run,
    "codeExecutionResult": _run,
    "toolCall": hosted_item,
    "toolResponse": hosted_item,
}


def _parts(prefix: str) -> dict[str, Any]:
    table = {f"{prefix}/*/{pattern}": rule for pattern, rule in _PART.items()}
    return {**table, f"{prefix}/*:thought/text": "thought"}


_CONFIG: Table = {
    "temperature": unless(1, kind="setting.temperature"),
    "topP": unless(1, kind="setting.top_p"),
    "topK": "setting.top_k",
    "seed": "setting.seed",
    "stopSequences": "setting.stop",
    "candidateCount": unless(1, kind="setting.n"),
    "maxOutputTokens": "setting.limit",
    "presencePenalty": "setting.presence_penalty",
    "frequencyPenalty": "setting.frequency_penalty",
    "responseLogprobs": unless(False, kind="setting.logprobs"),
    "logprobs": "setting.top_logprobs",
    "mediaResolution": detail,
    "responseMimeType": _mime,
    "responseSchema": enforced_schema,
    "responseJsonSchema": enforced_schema,
    "responseFormat/text/schema": enforced_schema,
    "responseFormat/text/mimeType": "-",
    "responseModalities/*": modality,
    "thinkingConfig/thinkingLevel": effort,
    "thinkingConfig/thinkingBudget": budget,
    "thinkingConfig/includeThoughts": shown,
}


class _Request(Reader):
    def __init__(self, *tables: Table, envelope: bool) -> None:
        super().__init__(*tables, camel=True)
        self._envelope = envelope

    def read(self, document: Json, base: Path = ()) -> Facts:
        if not self._envelope:
            return super().read(document, base)
        facts = super().read(document.get("request") or {}, ("request",))
        model(document.get("model"), ("model",), facts)
        for key, inner in document.items():
            if key not in ("model", "request"):
                facts.leaves("other", inner, (key,))
        return facts


_REQUEST: tuple[Table, ...] = (
    _parts("contents/*/parts"),
    _parts("systemInstruction/parts"),
    {f"generationConfig/{pattern}": rule for pattern, rule in _CONFIG.items()},
    {
        "contents/*/role": "-",
        "systemInstruction": "text",
        "systemInstruction/text": "text",
        "systemInstruction/parts/text": "text",
        "systemInstruction/role": "-",
        "model": model,
        "toolConfig/functionCallingConfig": _choice,
        "tools": _tools,
        "serviceTier": tier,
        "labels": "setting.metadata",
        "cachedContent": "state",
    },
)
REQUEST = _Request(*_REQUEST, envelope=False)
ENVELOPED_REQUEST = _Request(*_REQUEST, envelope=True)


class _Answer(Reader):
    def __init__(self, *tables: Table, envelope: bool) -> None:
        super().__init__(*tables)
        self._envelope = envelope

    def read(self, document: Json, base: Path = ()) -> Facts:
        if not self._envelope:
            facts = super().read(document, base)
            _finish(document, base, facts)
            return facts
        inner = document.get("response") or {}
        facts = super().read(inner, ("response",))
        _finish(inner, ("response",), facts)
        # The id of the answer is the inner one. The outer one belongs to the transport, like a header elsewhere.
        kind = "other" if inner.get("responseId") else "id"
        facts.put(kind, document.get("traceId"), ("traceId",))
        for key, value in document.items():
            if key not in ("response", "traceId"):
                facts.leaves("other", value, (key,))
        return facts


_GROUNDING: Table = {
    "groundingChunks/*/web/uri": "citation.url",
    "groundingChunks/*/web/title": "citation.title",
    "groundingChunks/*/maps/uri": "citation.url",
    "groundingChunks/*/maps/title": "citation.title",
    "groundingChunks/*/retrievedContext/uri": "citation.url",
    "groundingChunks/*/retrievedContext/title": "citation.title",
    "groundingChunks/*/retrievedContext/text": "citation.quote",
    "groundingSupports/*/segment": "-",
    "groundingSupports/*/groundingChunkIndices": "-",
    "groundingSupports/*/confidenceScores": "-",
    "webSearchQueries/*": _queries,
    "searchEntryPoint": "-",
}
_CITED = {"uri": "citation.url", "title": "citation.title", "startIndex": "-", "endIndex": "-"}
_ANSWER: tuple[Table, ...] = (
    _parts("candidates/*/content/parts"),
    {f"candidates/*/groundingMetadata/{pattern}": rule for pattern, rule in _GROUNDING.items()},
    {
        "candidates/*/content/role": "-",
        "candidates/*/index": "-",
        "candidates/*/finishReason": "-",
        "candidates/*/safetyRatings": "-",
        "candidates/*/avgLogprobs": "-",
        **{
            f"candidates/*/citationMetadata/{name}/*/{field}": rule
            for name in ("citations", "citationSources")  # the second is the older name
            for field, rule in _CITED.items()
        },
        "candidates/*/urlContextMetadata/urlMetadata/*": _fetched,
        "candidates/*/finishMessage": "-",
        "promptFeedback/blockReasonMessage": "finish.message",
        "promptFeedback/safetyRatings": "-",
        "candidates/*/logprobsResult/chosenCandidates/*/token": "logprob",
        "candidates/*/logprobsResult/chosenCandidates/*/logProbability": "logprob",
        "candidates/*/logprobsResult/chosenCandidates/*/tokenId": "-",
        "candidates/*/logprobsResult/topCandidates/*/candidates/*/token": "logprob",
        "candidates/*/logprobsResult/topCandidates/*/candidates/*/logProbability": "logprob",
        "candidates/*/logprobsResult/topCandidates/*/candidates/*/tokenId": "-",
        "promptFeedback/blockReason": "-",
        "responseId": "id",
        "modelVersion": model,
        "createTime": "-",
        "usageMetadata": _usage,
        "error/message": "error",
    },
)
ANSWER = _Answer(*_ANSWER, envelope=False)
ENVELOPED_ANSWER = _Answer(*_ANSWER, envelope=True)


def fold(frames: list[Json]) -> Json:
    """The answer in the chunks of a stream."""
    answer: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    for frame in frames:
        for candidate in frame.pop("candidates", None) or ():
            if not isinstance(candidate, dict):
                continue
            held = candidates.setdefault(candidate.get("index") or 0, {"content": {"parts": []}})
            content = candidate.pop("content", None) or {}
            parts = content.pop("parts", None) or []
            _add_parts(held["content"]["parts"], parts if isinstance(parts, list) else [parts])
            held["content"].update(content)
            for key in ("groundingMetadata", "citationMetadata", "logprobsResult", "urlContextMetadata"):
                if isinstance(candidate.get(key), dict):
                    _gather(held.setdefault(key, {}), candidate.pop(key))
            held.update(candidate)
        answer.update(frame)
    return {**answer, "candidates": [candidates[at] for at in sorted(candidates)]}


def fold_enveloped(frames: list[Json]) -> Json:
    """The answer in chunks that are in their envelope."""
    outside: dict[str, Any] = {}
    for frame in frames:
        outside.update({key: value for key, value in frame.items() if key != "response"})
    return {**outside, "response": fold([frame["response"] for frame in frames if frame.get("response")])}


def _add_parts(parts: list[Any], more: list[Any]) -> None:
    """Add parts; neighbouring texts of one kind are joined."""
    for part in more:
        if not isinstance(part, dict):
            continue
        last = parts[-1] if parts else {}
        if part.get("text") is not None and last.get("text") is not None and last.get("thought") == part.get("thought"):
            parts[-1] = {**last, **part, "text": last["text"] + part["text"]}
            if "thoughtSignature" in last and "thoughtSignature" in part:
                parts[-1:] = [last, part]
        else:
            parts.append(part)


def _gather(held: dict[str, Any], more: dict[str, Any]) -> None:
    """Merge lists that later chunks repeat or continue."""
    for key, value in more.items():
        if key == "citationSources":
            key = "citations"  # the field's old name
        if isinstance(value, list):
            known = held.setdefault(key, [])
            known += [item for item in value if item not in known or key.endswith("Candidates")]
        else:
            held[key] = value
