"""Owns the rules for tools and settings of Chat Completions, and the list `RULES` of all rules of the dialect
(OAC-...)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...canon.parts import Path
from ...facts.profile import DEFAULT_PROFILE, Profile
from ...rules.helpers import (
    MANY_TOOLS,
    OPENAI_NAME,
    Place,
    beyond,
    beyond_most,
    declarations,
    given,
    items,
    listed,
    loose_subset,
    metadata_limits,
    misnamed,
    quoted,
    strict_subset,
    sub,
    texts,
    twice,
    whole,
    word,
)
from ...rules.rule import Breach, Level, Subject, rule, rules_of
from . import lint_rules_history, lint_rules_stream
from .lint_rules_history import calls, messages

_STOPS = 4
_MARKS = 4
_RANGES = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "frequency_penalty": (-2.0, 2.0),
    "presence_penalty": (-2.0, 2.0),
    "top_logprobs": (0.0, 20.0),
}
_WHILE_REASONING = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "logprobs", "stop")


def _tools(subject: Subject) -> list[Place]:
    """The inner object of every function tool, custom tool and legacy function, with its path."""
    found = [((*at, key), sub(tool, key)) for at, tool in declarations(subject) for key in ("function", "custom")]
    legacy = items(subject.document, "functions") if subject.kind == "request" else []
    return [(at, inner) for at, inner in found if inner] + legacy


def _formats(subject: Subject) -> list[Place]:
    schema = sub(sub(subject.document, "response_format"), "json_schema")
    return [(("response_format", "json_schema"), schema)] if schema else []


@rule("OAC-002", "error", "request", "tools")
def names_are_legal(subject: Subject) -> Iterator[Breach]:
    """Names of tools, functions and response schemas match `^[a-zA-Z0-9_-]{1,64}$`.

    Why: anything else is refused with 400.

    Good: `"name": "get_weather"`

    Bad: `"name": "get weather"`

    Source: Types of the openai SDK 3.49.0 for limits (2026-11).
    """
    named: list[tuple[Path, Any]] = [((*at, "name"), tool.get("name")) for at, tool in _tools(subject)]
    yield from misnamed(named, OPENAI_NAME)
    if subject.kind == "request":
        own = [((*at, "name"), schema.get("name")) for at, schema in _formats(subject)]
        yield from misnamed(own, OPENAI_NAME, "schema name")


@rule("OAC-003", "error", "request", "tools")
def names_are_unique(subject: Subject) -> Iterator[Breach]:
    """No two tools have the same name.

    Why: a call names its tool by nothing else; the later declaration shadows the earlier one or is refused.

    Good: tools `read`, `write`

    Bad: tools `read`, `read`

    Source: Types of the openai SDK 3.49.0 for messages and tools (2026-11).
    """
    yield from twice([((*at, "name"), tool.get("name")) for at, tool in _tools(subject)], "tool name")


@rule("OAC-010", "error")
def choice_names_declared_tools(subject: Subject) -> Iterator[Breach]:
    """`tool_choice` is allowed only beside `tools`, and a named or allowed tool is declared there.

    Why: the server refuses both ("'tool_choice' is only allowed when 'tools' are specified").

    Good: `"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "auto"`

    Bad: `"tool_choice": {"type": "function", "function": {"name": "g"}}` without a tool g

    Source: Types of the openai SDK 3.49.0 for tools (2026-11).
    """
    choice = subject.document.get("tool_choice")
    if choice is None:
        return
    declared = {word(tool, "name") for _, tool in _tools(subject)}
    if not listed(subject.document, "tools"):
        yield Breach(("tool_choice",), "there is a tool_choice, but no tool", "leave it out")
        return
    allowed = sub(choice, "allowed_tools")
    entries = items(allowed, "tools", ("tool_choice", "allowed_tools")) if allowed else [(("tool_choice",), choice)]
    for at, entry in entries:
        name = word(sub(entry, "function"), "name") or word(sub(entry, "custom"), "name")
        if name and name not in declared:
            yield Breach(at, f"tool_choice names {quoted(name)}, which is not declared")


@rule("OAC-011", "error", "request", "tools")
def strict_schemas_fit(subject: Subject) -> Iterator[Breach]:
    """A schema with `strict: true` obeys the strict subset: object root, closed objects, all properties required.

    Why: with strict the server compiles the schema and refuses keywords that the compiler does not support
    ("'additionalProperties' is required to be supplied and to be false").

    Good: `{"type": "object", "properties": {}, "required": [], "additionalProperties": false}`

    Bad: `{"type": "object", "properties": {"a": {"type": "string"}}}`

    Source: OpenAI's documentation for tools (2026-11); recorded 400 of gpt-4o-mini.
    """
    for at, tool in _tools(subject):
        if tool.get("strict") is True:
            yield from strict_subset(tool.get("parameters"), (*at, "parameters"))
    for at, schema in _formats(subject) if subject.kind == "request" else ():
        if schema.get("strict") is True:
            yield from strict_subset(schema.get("schema"), (*at, "schema"))


@rule("OAC-012", "error")
def stops_and_logprobs(subject: Subject) -> Iterator[Breach]:
    """There are at most four `stop` strings, and `top_logprobs` goes with `logprobs: true`.

    Why: both are refused with 400.

    Good: `"logprobs": true, "top_logprobs": 3`

    Bad: `"stop": ["a", "b", "c", "d", "e"]`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11).
    """
    stops = listed(subject.document, "stop")
    if len(stops) > _STOPS:
        yield Breach(("stop",), f"there are {len(stops)} stop strings; {_STOPS} are taken")
    if given(subject.document, "top_logprobs") and subject.document.get("logprobs") is not True:
        yield Breach(("top_logprobs",), "top_logprobs needs logprobs: true", "set logprobs to true")


@rule("OAC-013", "error")
def one_token_limit(subject: Subject) -> Iterator[Breach]:
    """Only one of `max_tokens` and `max_completion_tokens` is set.

    `max_tokens` on a reasoning model is a warning. A limit above the model's maximum is a warning.

    Why: the server refuses a request with both fields. Reasoning models accept only `max_completion_tokens`. The server
    refuses a limit above the model's maximum.

    Good: `"max_completion_tokens": 500`

    Bad: `"max_tokens": 500, "max_completion_tokens": 500`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11); recorded 400: "'max_tokens' is not supported
    with this model. Use 'max_completion_tokens' instead."
    """
    both = given(subject.document, "max_tokens", "max_completion_tokens")
    if len(both) == 2:
        yield Breach(("max_tokens",), "both max_tokens and max_completion_tokens are set", "drop max_tokens")
    elif both == ["max_tokens"] and subject.profile.reasoning:
        problem = f"{subject.model} takes max_completion_tokens, not max_tokens"
        yield Breach(("max_tokens",), problem, "rename it to max_completion_tokens", "warning")
    for name in both:
        yield from beyond_most(subject, whole(subject.document, name), (name,))


@rule("OAC-014", "error")
def tools_beside_reasoning(subject: Subject) -> Iterator[Breach]:
    """From gpt-5.4 on, function tools on this endpoint need `reasoning_effort: "none"`.

    Why: the server refuses the tools and names Responses. An absent field is a warning: users report that the server
    then reasons, but gpt-5.4-mini accepted such a request. Two models are reported to accept no tools on this endpoint;
    tools for these models are a warning.

    Good: `{"model": "gpt-5.4", "reasoning_effort": "none", "tools": [...]}`

    Bad: `{"model": "gpt-5.4", "reasoning_effort": "low", "tools": [...]}`

    Source: Error texts that several users reported (2026-11); one user's report (2026-11); a recorded
    answer 200 of gpt-5.4-mini without the field.
    """
    if subject.profile.chat_tools == "ok" or not declarations(subject):
        return
    if subject.document.get("reasoning_effort") != "none":
        problem = f"{subject.model} takes function tools here only with reasoning_effort none"
        severity: Level | None = None if given(subject.document, "reasoning_effort") else "warning"
        yield Breach(("tools",), problem, "send it through openai-responses, or set reasoning_effort to none", severity)
    elif subject.profile.chat_tools == "refused":
        problem = f"{subject.model} is reported to take no tools on this endpoint"
        yield Breach(("tools",), problem, "send it through openai-responses", "warning")


@rule("OAC-015", "warning")
def no_sampling_while_reasoning(subject: Subject) -> Iterator[Breach]:
    """Reasoning models take no `temperature`, `top_p`, penalties, `logprobs` or `stop` while they reason; some other
    models always refuse some of these fields.

    Why: they are refused ("Unsupported parameter: 'stop' is not supported with this model"); with effort none some
    models take them. The neutral value 1 of temperature and top_p passes, as 0 does for penalties.

    Good: `{"model": "o3", "reasoning_effort": "low"}`

    Bad: `{"model": "o3", "temperature": 0.2}`

    Source: Error texts that several users reported (2026-11); recorded 400 of gpt-5-mini and o1-mini for `stop`.
    """
    effort = subject.document.get("reasoning_effort") or subject.profile.effort_default
    reasons = subject.profile.reasoning and effort != "none"
    refused = dict.fromkeys((*(_WHILE_REASONING if reasons else ()), *subject.profile.refuses))
    for key in given(subject.document, *refused):
        neutral: tuple[Any, ...] = (1,) if key in ("temperature", "top_p", "n") else (0, False, [])
        if subject.document[key] not in neutral:
            yield Breach((key,), f"{subject.model} refuses {key}{' while it reasons' * reasons}", "leave it out")


@rule("OAC-016", "error")
def stream_options_need_stream(subject: Subject) -> Iterator[Breach]:
    """`stream_options` is allowed only beside `stream: true`.

    Why: it is refused otherwise ("The 'stream_options' parameter is only allowed when 'stream' is enabled").

    Good: `"stream": true, "stream_options": {"include_usage": true}`

    Bad: `"stream_options": {"include_usage": true}`

    Source: Types of the openai SDK 3.49.0 for messages and tools (2026-11).
    """
    if given(subject.document, "stream_options") and subject.document.get("stream") is not True:
        yield Breach(("stream_options",), "stream_options needs stream: true", "leave it out")


@rule("OAC-017", "error")
def json_mode_says_json(subject: Subject) -> Iterator[Breach]:
    """`response_format: json_object` needs the word JSON in some message.

    Why: without it the model may write blanks until the limit, so the server refuses ("'messages' must contain the
    word 'json' in some form").

    Good: `{"role": "system", "content": "Answer in JSON."}`

    Bad: json_object beside `{"role": "user", "content": "List three cities."}`

    Source: OpenAI's documentation for limits (2026-11).
    """
    if word(sub(subject.document, "response_format"), "type") != "json_object":
        return
    words = [text for _, message in messages(subject) for text in texts(message.get("content"), "text")]
    if not any("json" in text.lower() for text in words):
        yield Breach(("response_format",), "json_object needs the word JSON in a message", "ask for JSON in words")


@rule("OAC-019", "error")
def counts_within_limits(subject: Subject) -> Iterator[Breach]:
    """Metadata has at most 16 pairs (keys of 64, values of 512 characters), there are at most 128 tools and 128 calls.

    Why: more is refused. The limit on calls of one message is known from one report, so it is a warning.

    Good: `"metadata": {"team": "search"}`

    Bad: `"metadata": {"count": 3}`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11), which do not have the limit on tools; one
    user's report of the limit on calls (2026-11).
    """
    yield from metadata_limits(subject.document)
    count = len(listed(subject.document, "tools"))
    if count > MANY_TOOLS:
        yield Breach(("tools",), f"there are {count} tools; {MANY_TOOLS} are taken")
    for at, own in calls(subject):
        if len(own) > MANY_TOOLS:
            yield Breach(at, f"one message has {len(own)} calls", severity="warning")


@rule("OAC-020", "warning")
def few_breakpoints(subject: Subject) -> Iterator[Breach]:
    """At most four parts carry an explicit `prompt_cache_breakpoint`.

    Why: only the last four are written; the others cost nothing and do nothing.

    Good: one breakpoint at the end of the system message

    Bad: a breakpoint on each of five parts

    Source: Types of the openai SDK 3.49.0 for messages (2026-11).
    """
    marks = [
        at
        for here, message in messages(subject)
        for at, part in items(message, "content", here)
        if word(sub(part, "prompt_cache_breakpoint"), "mode") == "explicit"
    ]
    for at in marks[:-_MARKS]:
        yield Breach(at, f"{len(marks)} cache breakpoints: only the last {_MARKS} are written", "drop this one")


@rule("OAC-021", "error")
def numbers_within_range(subject: Subject) -> Iterator[Breach]:
    """Sampling numbers stay in their range: temperature 0 to 2, top_p 0 to 1, penalties -2 to 2, top_logprobs 0 to 20.

    Why: the server refuses others ("decimal above maximum value").

    Good: `"temperature": 0.7`

    Bad: `"temperature": 99`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11); recorded 400 of gpt-4o.
    """
    yield from beyond(subject.document, _RANGES)


def _is_unknown(profile: Profile) -> bool:
    """Whether the profile has no fact about the model, except that its hosts may take cache marks."""
    return profile in (DEFAULT_PROFILE, _MARKED)


_MARKED = Profile(cache_control=True)


@rule("OAC-025", "error", "request", "tools")
def parameters_are_an_object(subject: Subject) -> Iterator[Breach]:
    """The `parameters` of a function are an object schema, and every array in it has `items`; strict or not.

    Why: the server refuses others ("schema must be a JSON Schema of 'type: \"object\"'", "array schema missing items").
    Some compatible hosts take them, so the finding is a warning if the model is unknown.

    Good: `{"type": "object", "properties": {"paths": {"type": "array", "items": {"type": "string"}}}}`

    Bad: `{"type": "object", "properties": {"paths": {"type": "array"}}}`

    Source: Error texts that users reported: sigoden/aichat pull 1049 (2024-12), langgenius/dify issue 32894 (2026-03).
    """
    severity: Level | None = "warning" if _is_unknown(subject.profile) else None
    for at, tool in _tools(subject):
        for breach in loose_subset(tool.get("parameters"), (*at, "parameters")):
            yield Breach(breach.at, breach.message, breach.fix, severity)


@rule("OAC-027", "warning")
def search_needs_a_search_model(subject: Subject) -> Iterator[Breach]:
    """`web_search_options` goes to the models made for searching.

    Why: other models refuse the field ("Web search options not supported with this model").

    Good: `{"model": "gpt-4o-search-preview", "web_search_options": {}}`

    Bad: `{"model": "gpt-4o", "web_search_options": {}}`

    Source: recorded 400 of gpt-4o. One model was recorded, so the finding is a warning. The models are rows of
    `profiles.json`.
    """
    known = not _is_unknown(subject.profile) and not subject.profile.web_search_options
    if known and given(subject.document, "web_search_options"):
        yield Breach(("web_search_options",), f"{subject.model} does not search", "ask a search model, or leave it out")


RULES = rules_of(globals() | vars(lint_rules_history) | vars(lint_rules_stream))
