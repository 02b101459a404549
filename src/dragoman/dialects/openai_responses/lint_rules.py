"""Owns the rules for tools and settings of Responses, and the list `RULES` of all rules of the dialect (OAR-...)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...canon.parts import Path
from ...facts.profile import DEFAULT_PROFILE
from ...rules.helpers import (
    OPENAI_NAME,
    Place,
    beyond,
    declarations,
    given,
    items,
    loose_subset,
    metadata_limits,
    misnamed,
    quoted,
    strict_subset,
    sub,
    twice,
    word,
)
from ...rules.rule import Breach, Level, Subject, rule, rules_of
from . import lint_rules_history, lint_rules_stream
from .lint_rules_history import server_holds_history, tool_items

_SOURCES = ("input", "prompt", "previous_response_id", "conversation")
_CHAT_ONLY = (
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "n",
    "seed",
    "response_format",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "functions",
    "function_call",
)
_RANGES = {"temperature": (0.0, 2.0), "top_p": (0.0, 1.0), "top_logprobs": (0.0, 20.0)}
_HOSTED_CHOICES = {
    "web_search_preview": ("web_search_preview", "web_search_preview_2025_03_11", "web_search"),
    "web_search_preview_2025_03_11": ("web_search_preview_2025_03_11", "web_search_preview"),
    "computer_use_preview": ("computer_use_preview", "computer"),
}


def tools(subject: Subject) -> list[tuple[str, Path, dict[str, Any]]]:
    """Every tool declaration with its namespace and path: in `tools`, in namespaces, and in items of the input."""
    out: list[tuple[str, Path, dict[str, Any]]] = []
    for at, tool in declarations(subject) + (tool_items(subject) if subject.kind == "request" else []):
        if word(tool, "type") == "namespace":
            out += [(word(tool, "name"), here, inner) for here, inner in items(tool, "tools", at)]
        else:
            out.append(("", at, tool))
    return out


def _own(subject: Subject) -> list[tuple[str, Path, dict[str, Any]]]:
    return [entry for entry in tools(subject) if word(entry[2], "type") in ("function", "custom")]


def _formats(subject: Subject) -> list[Place]:
    if subject.kind != "request":
        return []
    found = sub(sub(subject.document, "text"), "format")
    return [(("text", "format"), found)] if word(found, "type") == "json_schema" else []


@rule("OAR-001", "error")
def needs_model_and_input(subject: Subject) -> Iterator[Breach]:
    """`model` is present, and one of `input`, `prompt`, `previous_response_id`, `conversation`.

    Why: the server needs an input and a model. A stored prompt may name the model.

    Good: `{"model": "gpt-6-sol", "input": "Hi"}`

    Bad: `{"model": "gpt-6-sol", "instructions": "Be brief."}`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11).
    """
    if not subject.model and not given(subject.document, "prompt"):
        yield Breach(("model",), "the request names no model", "add model")
    if not any(subject.document.get(key) for key in _SOURCES):
        yield Breach(("input",), f"a request needs one of {', '.join(_SOURCES)}")


@rule("OAR-002", "error", "request", "tools")
def tools_are_flat(subject: Subject) -> Iterator[Breach]:
    """Tools are flat: a nested `function` object is the shape of Chat Completions.

    Why: the server looks for `name` beside `type` and refuses ("Missing required parameter: 'tools[0].name'").

    Good: `{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}`

    Bad: `{"type": "function", "function": {"name": "f"}}`

    Source: Types of the openai SDK 3.49.0 for tools (2026-11).
    """
    for _, at, tool in tools(subject):
        for key in ("function", "custom"):
            if isinstance(tool.get(key), dict):
                yield Breach((*at, key), f"the {key} object is the shape of Chat Completions", "lift its fields up")


_TOOL_TYPES = frozenset(
    {
        "function",
        "custom",
        "namespace",
        "tool_search",
        "programmatic_tool_calling",
        "mcp",
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
        "file_search",
        "code_interpreter",
        "image_generation",
        "computer",
        "computer_use_preview",
        "shell",
        "local_shell",
        "apply_patch",
    }
)


@rule("OAR-024", "warning", "request", "tools")
def tool_types_are_known(subject: Subject) -> Iterator[Breach]:
    """The `type` of a tool is one that OpenAI has.

    Why: the server refuses any other ("Invalid value: 'x'. Supported values are: 'function', ..."). Some compatible
    hosts have types of their own.

    Good: `{"type": "web_search"}`

    Bad: `{"type": "google_search"}`

    Source: Types of the openai SDK 3.49.0 for tools (2026-11); OpenAI's specification, schema Tool, November 2026.
    """
    for _, at, tool in tools(subject):
        kind = word(tool, "type")
        if kind and kind not in _TOOL_TYPES:
            yield Breach((*at, "type"), f"{quoted(kind)} is not a type of tool that OpenAI has", "declare a function")


@rule("OAR-003", "error", "request", "tools")
def names_are_legal_and_unique(subject: Subject) -> Iterator[Breach]:
    """Names of tools and schemas match `^[a-zA-Z0-9_-]{1,64}$`; tool names are unique in their namespace.

    Why: other names are refused with 400, and a call names its tool by nothing else.

    Good: `"name": "get_weather"`

    Bad: `"name": "get.weather"`

    Source: Types of the openai SDK 3.49.0 for limits (2026-11).
    """
    own = [entry for entry in _own(subject) if not isinstance(entry[2].get("function"), dict)]
    yield from misnamed([((*at, "name"), tool.get("name")) for _, at, tool in own], OPENAI_NAME)
    for space in dict.fromkeys([namespace for namespace, _, _ in own]):
        # A later item may declare the same tool again.
        first = [(at, tool) for namespace, at, tool in own if namespace == space and at[0] != "input"]
        yield from twice([((*at, "name"), tool.get("name")) for at, tool in first], "tool name")
    named = [((*at, "name"), found.get("name")) for at, found in _formats(subject)]
    yield from misnamed(named, OPENAI_NAME, "schema name")


@rule("OAR-010", "error")
def one_kind_of_state(subject: Subject) -> Iterator[Breach]:
    """`previous_response_id` and `conversation` are not both set; the former beside `store: false` is a warning.

    Why: the server refuses two sources of history, and what was not stored cannot be continued.

    Good: `"previous_response_id": "resp_1"`

    Bad: `"previous_response_id": "resp_1", "conversation": "conv_1"`

    Source: Types of the openai SDK 3.49.0 for state and reasoning (2026-11).
    """
    if not given(subject.document, "previous_response_id"):
        return
    if given(subject.document, "conversation"):
        yield Breach(("previous_response_id",), "previous_response_id and conversation are set at once", "drop one")
    if subject.document.get("store") is False:
        message = "previous_response_id beside store: false: the next turn cannot name this one"
        yield Breach(("store",), message, severity="warning")


@rule("OAR-011", "error", "request", "tools")
def deferred_tools_can_be_found(subject: Subject) -> Iterator[Breach]:
    """`defer_loading` tools need a `tool_search` tool; programmatic-only tools need `programmatic_tool_calling`.

    Why: otherwise the model can never reach them, and the server refuses.

    Good: `[{"type": "tool_search"}, {"type": "function", "name": "f", "defer_loading": true, "parameters": {}}]`

    Bad: `[{"type": "function", "name": "f", "defer_loading": true, "parameters": {}}]`

    Source: OpenAI's documentation for tools (2026-11).
    """
    kinds = {word(tool, "type") for _, _, tool in tools(subject)}
    for _, at, tool in tools(subject):
        if tool.get("defer_loading") is True and "tool_search" not in kinds:
            yield Breach((*at, "defer_loading"), "a deferred tool needs a tool_search tool", "add tool_search")
        if tool.get("allowed_callers") == ["programmatic"] and "programmatic_tool_calling" not in kinds:
            message = "only programs may call this tool, and there is no programmatic_tool_calling"
            yield Breach((*at, "allowed_callers"), message, "add programmatic_tool_calling")


@rule("OAR-012", "warning", "request", "tools")
def async_tools_are_called_directly(subject: Subject) -> Iterator[Breach]:
    """A tool with `async: true` may not be for programs only.

    Why: programs wait for their calls; asynchronous answers reach only the model.

    Good: `{"type": "function", "name": "f", "async": true, "parameters": {}}`

    Bad: `{"type": "function", "name": "f", "async": true, "allowed_callers": ["programmatic"], "parameters": {}}`

    Source: One user's report (2026-11).
    """
    for _, at, tool in _own(subject):
        if tool.get("async") is True and tool.get("allowed_callers") == ["programmatic"]:
            yield Breach((*at, "async"), "an async tool may be called by programs only", "allow direct calls")


@rule("OAR-013", "error", "request", "tools")
def strict_schemas_fit(subject: Subject) -> Iterator[Breach]:
    """A schema with `strict: true` obeys the strict subset of OAC-011; `parameters` may be null.

    Why: with strict the server compiles the schema and refuses keywords that the compiler does not
    support.

    Good: `"strict": true, "parameters": {"type": "object", "properties": {}, "additionalProperties": false}`

    Bad: `"strict": true, "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}`

    Source: Types of the openai SDK 3.49.0 for tools (2026-11), OpenAI's documentation for tools (2026-11).
    """
    for _, at, tool in _own(subject):
        if tool.get("strict") is True:
            yield from strict_subset(tool.get("parameters"), (*at, "parameters"))
    for at, found in _formats(subject):
        if found.get("strict") is True:
            yield from strict_subset(found.get("schema"), (*at, "schema"))


@rule("OAR-017", "error")
def nothing_of_chat(subject: Subject) -> Iterator[Breach]:
    """Fields that only Chat Completions has are not sent: `messages`, `max_tokens`, `stop`, `n`, `seed` and others.

    Why: unknown parameters are refused; some of them changed their name (`max_output_tokens`, `text.format`).

    Good: `"max_output_tokens": 500`

    Bad: `"max_tokens": 500`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11).
    """
    instead = {"messages": "input", "max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
    instead |= {"response_format": "text.format", "functions": "tools", "function_call": "tool_choice"}
    for key in given(subject.document, *_CHAT_ONLY):
        yield Breach((key,), f"{key} is a field of Chat Completions", f"use {instead[key]}" if key in instead else "")


@rule("OAR-019", "error")
def choice_names_declared_tools(subject: Subject) -> Iterator[Breach]:
    """`tool_choice` refers to declared tools, whether function, custom or hosted.

    Why: the server refuses others ("Tool choice 'function' not found in 'tools' parameter").

    Good: `"tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}`

    Bad: `"tools": [], "tool_choice": {"type": "function", "name": "f"}`

    Source: Types of the openai SDK 3.49.0 for tools (2026-11).
    """
    choice = subject.document.get("tool_choice")
    declared = tools(subject)
    if choice == "required" and not declared and not server_holds_history(subject.document):
        yield Breach(("tool_choice",), "a tool is required, and none is declared", "declare one, or use auto")
    if not isinstance(choice, dict):
        return
    names = {word(tool, "name") for _, _, tool in declared}
    kinds = {word(tool, "type") for _, _, tool in declared}
    allowed = word(choice, "type") == "allowed_tools"
    for at, entry in items(choice, "tools", ("tool_choice",)) if allowed else [(("tool_choice",), choice)]:
        kind, name = word(entry, "type"), word(entry, "name")
        if kind in ("function", "custom"):
            if name not in names:
                yield Breach((*at, "name"), f"tool_choice names {quoted(name)}, which is not declared")
        elif kind and not kinds & {kind, *_HOSTED_CHOICES.get(kind, ())}:
            yield Breach((*at, "type"), f"tool_choice wants {quoted(kind)}, which is not declared")


@rule("OAR-020", "error")
def numbers_within_range(subject: Subject) -> Iterator[Breach]:
    """Numbers and metadata stay within their limits: temperature 0 to 2, top_p 0 to 1, top_logprobs 0 to 20.

    Why: the server refuses others ("decimal below minimum value").

    Good: `"temperature": 0.7`

    Bad: `"temperature": -1`

    Source: Types of the openai SDK 3.49.0 for request fields and limits (2026-11); recorded 400 of gpt-4o.
    """
    yield from beyond(subject.document, _RANGES)
    yield from metadata_limits(subject.document)


@rule("OAR-023", "error", "request", "tools")
def parameters_are_an_object(subject: Subject) -> Iterator[Breach]:
    """The `parameters` of a function are an object schema, and every array in it has `items`; strict or not.

    Why: the server refuses others ("schema must be a JSON Schema of 'type: \"object\"'", "array schema missing items").
    Some compatible hosts take them, so the finding is a warning if the model is unknown.

    Good: `{"type": "object", "properties": {"paths": {"type": "array", "items": {"type": "string"}}}}`

    Bad: `{"type": "object", "properties": {"paths": {"type": "array"}}}`

    Source: Error texts that users reported: sigoden/aichat pull 1049 (2024-12), langgenius/dify issue 32894 (2026-03).
    """
    severity: Level | None = "warning" if subject.profile == DEFAULT_PROFILE else None
    for _, at, tool in _own(subject):
        for breach in loose_subset(tool.get("parameters"), (*at, "parameters")):
            yield Breach(breach.at, breach.message, breach.fix, severity)


RULES = rules_of(globals() | vars(lint_rules_history) | vars(lint_rules_stream))
