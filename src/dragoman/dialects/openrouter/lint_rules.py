"""Owns the rules for OpenRouter (ORT-...). ORT-001 runs the rules of Chat Completions that hold for OpenRouter too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from ...rules.helpers import declarations, frames, given, items, listed, quoted, sub, whole, word
from ...rules.rule import Breach, Subject, rule, rules_of
from ..openai_chat.lint_rules import RULES as CHAT

_NOT_HERE = frozenset({"OAC-008", "OAC-014", "OAC-015", "OAC-016"})
# OpenRouter differs from these rules in part, so their breaches are reported under ORT-001.
_OTHERWISE = frozenset({"OAC-001", "OAC-006", "OAC-007", "OAC-009", "OAC-011", "OAC-017", "OAC-022", "OAC-S01"})
# The upstream behind OpenRouter decides about these, so a breach is a warning.
_PASSED_ON = frozenset({"OAC-006", "OAC-009", "OAC-011", "OAC-017"})
_OWN_PARTS = ("video_url",)


@rule("ORT-001", "error", "request", "response", "stream", "tools")
def chat_rules(subject: Subject) -> Iterator[Breach]:
    """The rules of Chat Completions hold here, except OAC-008, OAC-014, OAC-015 and OAC-016.

    Why: a tool message may hold any parts. By default OpenRouter ignores settings that a model does not accept. Most of
    the other rules report under their own ids. This rule reports breaches of the rules that differ here. The upstream
    behind OpenRouter decides about the length of ids, strict subsets and the word JSON, so these breaches are warnings.
    The model may have another name. Parts may be videos. The arguments of some recorded answers are not objects, so
    such arguments are a warning. Some recorded streams repeat the finish_reason beside the usage.

    Good: `{"model": "openai/gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}`

    Bad: `{"model": "openai/gpt-5.2", "messages": []}`

    Source: Types of the openrouter SDK 1.3.84 for request fields (2026-11), recorded, 2026-11.
    """
    seen = _without_repeats(subject) if subject.kind == "stream" else subject
    for one in CHAT:
        if one.id not in _OTHERWISE or subject.kind not in one.kinds:
            continue
        weak = one.id in _PASSED_ON or (one.id == "OAC-007" and subject.kind == "response")
        for breach in one.check(seen):
            if breach.at == ("model",) or _at(subject.document, breach) in _OWN_PARTS:
                continue
            severity = "warning" if weak else breach.severity or one.severity
            yield Breach(breach.at, f"{one.id}: {breach.message}", breach.fix, severity)


def _at(document: Any, breach: Breach) -> Any:
    """The value at the path of a breach. None: the path has no value."""
    for step in breach.at:
        if isinstance(document, dict):
            document = document.get(step)
        else:
            inside = isinstance(document, list) and isinstance(step, int) and 0 <= step < len(document)
            document = document[step] if inside else None
    return document


def _without_repeats(subject: Subject) -> Subject:
    """The stream without choices that only repeat their finish reason."""
    ended: dict[int, str] = {}
    chunks = list(subject.document)
    for i, chunk in frames(subject):
        choices: list[Any] = []
        for choice in listed(chunk, "choices"):
            index, reason = whole(choice, "index") or 0, word(choice, "finish_reason")
            if not reason or ended.get(index) != reason or given(sub(choice, "delta"), "tool_calls"):
                choices.append(choice)
            if reason:
                ended.setdefault(index, reason)
        if "choices" in chunk:
            chunks[i] = {**chunk, "choices": choices}
    return replace(subject, document=chunks)


@rule("ORT-002", "error", "request", "tools")
def functions_only(subject: Subject) -> Iterator[Breach]:
    """No custom tools, and no choice of `allowed_tools`.

    Why: OpenRouter's request knows function tools and its own server tools only.

    Good: `{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}`

    Bad: `{"type": "custom", "custom": {"name": "f"}}`

    Source: Types of the openrouter SDK 1.3.84 for request fields (2026-11).
    """
    for at, tool in declarations(subject):
        if tool.get("type") == "custom":
            yield Breach(at, "the tool is a custom tool", "wrap it as a function with one text parameter")
    if sub(subject.document, "tool_choice").get("type") == "allowed_tools":
        yield Breach(("tool_choice",), "the tool choice is allowed_tools", "offer only the tools that are allowed")


@rule("ORT-003", "warning")
def details_kept(subject: Subject) -> Iterator[Breach]:
    """Assistant messages with calls have their `reasoning_details`, if the conversation has any.

    Why: they hold the signatures of thinking models; without them the upstream may refuse to go on, or thinks anew. If
    the previous answer is known, the details are compared with it.

    Good: `{"role": "assistant", "tool_calls": [...], "reasoning_details": [{"type": "reasoning.text", ...}]}`

    Bad: `{"role": "assistant", "tool_calls": [...], "reasoning": "Need f"}`

    Source: OpenRouter's documentation for messages (2026-11).
    """
    messages = items(subject.document, "messages")
    thinking = any(listed(message, "reasoning_details") for _, message in messages)
    came = {
        word(call, "id")
        for _, choice in items(subject.before, "choices")
        if listed(sub(choice, "message"), "reasoning_details")
        for _, call in items(sub(choice, "message"), "tool_calls")
    }
    for at, message in messages:
        calls = [word(call, "id") for _, call in items(message, "tool_calls")]
        if not calls or message.get("role") != "assistant" or listed(message, "reasoning_details"):
            continue
        if thinking or word(message, "reasoning") or came.intersection(calls):
            yield Breach(at, "the reasoning_details that came with the calls are missing", "send them back unchanged")


@rule("ORT-004", "error")
def one_effort(subject: Subject) -> Iterator[Breach]:
    """`reasoning.effort` and `reasoning_effort` do not differ.

    Why: the second is a shorthand for the first, and a contradiction is refused.

    Good: `{"reasoning": {"effort": "low"}}`

    Bad: `{"reasoning": {"effort": "low"}, "reasoning_effort": "high"}`

    Source: Types of the openrouter SDK 1.3.84 for request fields (2026-11).
    """
    inner, outer = sub(subject.document, "reasoning").get("effort"), subject.document.get("reasoning_effort")
    if inner is not None and outer is not None and inner != outer:
        message = f"reasoning_effort {quoted(outer)} and reasoning.effort {quoted(inner)}"
        yield Breach(("reasoning_effort",), message, "keep reasoning.effort")


@rule("ORT-005", "warning")
def own_details(subject: Subject) -> Iterator[Breach]:
    """`reasoning_details` go back to the model family whose `format` they have.

    Why: signatures and encrypted reasoning are bound to their provider; another one drops or refuses them.

    Good: format anthropic-claude-v1 sent to anthropic/claude-sonnet-4.5

    Bad: format anthropic-claude-v1 sent to openai/gpt-5.2

    Source: Types of the openrouter SDK 1.3.84 for messages (2026-11). Families are rows of `profiles.json`.
    """
    known = subject.profile.seal_formats
    for at, message in items(subject.document, "messages"):
        for place, detail in items(message, "reasoning_details", at):
            form = word(detail, "format")
            if known and form and not form.startswith(known):
                yield Breach((*place, "format"), f"reasoning of format {quoted(form)} for this model", "leave it out")


@rule("ORT-006", "error")
def model_named(subject: Subject) -> Iterator[Breach]:
    """`model` or `models` is there.

    Why: the router needs a model; `models` is a list of fallbacks, and may replace `model`.

    Good: `{"models": ["openai/gpt-5.2", "anthropic/claude-sonnet-4.5"], "messages": [...]}`

    Bad: `{"messages": [...]}`

    Source: Types of the openrouter SDK 1.3.84 for request fields (2026-11).
    """
    if not subject.model and not listed(subject.document, "models") and not given(subject.document, "model"):
        yield Breach((), "neither model nor models is set", "name a model")


@rule("ORT-S01", "error", "stream")
def error_is_last(subject: Subject) -> Iterator[Breach]:
    """An `error` chunk ends the stream; only `[DONE]` may follow.

    Why: clients stop there, and what follows is lost on them. Lines that begin with a colon are comments, no frames.

    Good: `{"choices": [...]}`, `{"error": {"code": 502, ...}, "choices": [...]}`, `[DONE]`

    Bad: `{"error": {"code": 502, ...}}`, `{"choices": [...]}`

    Source: OpenRouter's documentation for streaming (2026-11).
    """
    chunks = frames(subject)
    ends = [place for place, (_, chunk) in enumerate(chunks) if chunk.get("error") is not None]
    if ends and ends[0] != len(chunks) - 1:
        yield Breach((chunks[ends[0] + 1][0],), "a chunk comes after an error")


_CHAT_RULES = {one.id: one for one in CHAT if one.id not in _NOT_HERE | _OTHERWISE}

RULES = rules_of(globals() | _CHAT_RULES)
