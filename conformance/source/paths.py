"""The place of the same value in each dialect, as paths of the kit."""

from __future__ import annotations

from typing import Any

from .documents import GEMINIS

Fact = dict[str, Any]

_REQUEST_CALLS = {
    "anthropic": "/messages/*/content/[type=tool_use]",
    "gemini": "/contents/*/parts/*/functionCall",
    "code-assist": "/request/contents/*/parts/*/functionCall",
    "ollama": "/messages/*/tool_calls/*",
    "openai-chat": "/messages/*/tool_calls/*",
    "openai-responses": "/input/[type=function_call]",
    "openrouter": "/messages/*/tool_calls/*",
}
_REQUEST_RESULTS = {
    "anthropic": "/messages/*/content/[type=tool_result]",
    "gemini": "/contents/*/parts/*/functionResponse",
    "code-assist": "/request/contents/*/parts/*/functionResponse",
    "ollama": "/messages/[role=tool]",
    "openai-chat": "/messages/[role=tool]",
    "openai-responses": "/input/[type=function_call_output]",
    "openrouter": "/messages/[role=tool]",
}
_ANSWER_CALLS = {
    "anthropic": "/content/[type=tool_use]",
    "gemini": "/candidates/0/content/parts/*/functionCall",
    "code-assist": "/response/candidates/0/content/parts/*/functionCall",
    "ollama": "/message/tool_calls/*",
    "openai-chat": "/choices/0/message/tool_calls/*",
    "openai-responses": "/output/[type=function_call]",
    "openrouter": "/choices/0/message/tool_calls/*",
}
_CALL_FIELDS = {
    "anthropic": ("id", "name", "input"),
    "gemini": ("id", "name", "args"),
    "code-assist": ("id", "name", "args"),
    "ollama": ("id", "function/name", "function/arguments"),
    "openai-chat": ("id", "function/name", "function/arguments"),
    "openai-responses": ("call_id", "name", "arguments"),
    "openrouter": ("id", "function/name", "function/arguments"),
}
_RESULT_IDS = {
    "anthropic": "tool_use_id",
    "gemini": "id",
    "code-assist": "id",
    "ollama": "tool_call_id",
    "openai-chat": "tool_call_id",
    "openai-responses": "call_id",
    "openrouter": "tool_call_id",
}
_TEXTS = {
    "anthropic": "/content/[type=text]/#0/text",
    "gemini": "/candidates/0/content/parts/#0/*/#0/text",
    "code-assist": "/response/candidates/0/content/parts/#0/*/#0/text",
    "ollama": "/message/content",
    "openai-chat": "/choices/0/message/content",
    "openai-responses": "/output/[type=message]/#0/content/0/text",
    "openrouter": "/choices/0/message/content",
}
_DECLARED = {
    "anthropic": ("/tools/*", "name", "input_schema"),
    "gemini": ("/tools/*/functionDeclarations/*", "name", "parametersJsonSchema"),
    "code-assist": ("/request/tools/*/functionDeclarations/*", "name", "parametersJsonSchema"),
    "ollama": ("/tools/*", "function/name", "function/parameters"),
    "openai-chat": ("/tools/*", "function/name", "function/parameters"),
    "openai-responses": ("/tools/*", "name", "parameters"),
    "openrouter": ("/tools/*", "function/name", "function/parameters"),
}
_STOPS: dict[str, tuple[str, dict[str, str]]] = {
    "anthropic": (
        "/stop_reason",
        {"tools": "tool_use", "stop": "end_turn", "length": "max_tokens", "filter": "refusal"},
    ),
    "openai-responses": (
        "/status",
        {"tools": "completed", "stop": "completed", "length": "incomplete", "filter": "incomplete"},
    ),
    "gemini": (
        "/candidates/0/finishReason",
        {"tools": "STOP", "stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"},
    ),
    "ollama": ("/done_reason", {"tools": "stop", "stop": "stop", "length": "length", "filter": "stop"}),
    "openai-chat": (
        "/choices/0/finish_reason",
        {"tools": "tool_calls", "stop": "stop", "length": "length", "filter": "content_filter"},
    ),
}
_USAGES = {
    "anthropic": ("/usage/input_tokens", "/usage/output_tokens"),
    "gemini": ("/usageMetadata/promptTokenCount", "/usageMetadata/candidatesTokenCount"),
    "code-assist": ("/response/usageMetadata/promptTokenCount", "/response/usageMetadata/candidatesTokenCount"),
    "ollama": ("/prompt_eval_count", "/eval_count"),
    "openai-chat": ("/usage/prompt_tokens", "/usage/completion_tokens"),
    "openai-responses": ("/usage/input_tokens", "/usage/output_tokens"),
    "openrouter": ("/usage/prompt_tokens", "/usage/completion_tokens"),
}


def calls(dialect: str, *, before: str = "") -> str:
    """Every call in the history of a request."""
    return before + _REQUEST_CALLS[dialect]


def call(dialect: str, i: int, field: str, *, before: str = "") -> str:
    """`id`, `name` or `args` of a call in the history of a request."""
    return f"{calls(dialect, before=before)}/#{i}/{_field(dialect, field)}"


def results(dialect: str, *, before: str = "") -> str:
    return before + _REQUEST_RESULTS[dialect]


def result_id(dialect: str, i: int, *, before: str = "") -> str:
    return f"{results(dialect, before=before)}/#{i}/{_RESULT_IDS[dialect]}"


def result_ids(dialect: str) -> str:
    return f"{results(dialect)}/{_RESULT_IDS[dialect]}"


def answered(dialect: str, *, before: str = "") -> str:
    """Every call in an answer."""
    return before + _ANSWER_CALLS[dialect]


def answered_call(dialect: str, i: int, field: str, *, before: str = "") -> str:
    return f"{answered(dialect, before=before)}/#{i}/{_field(dialect, field)}"


def _field(dialect: str, field: str) -> str:
    return _CALL_FIELDS[dialect][("id", "name", "args").index(field)]


def text(dialect: str, *, before: str = "") -> str:
    """The first text of an answer."""
    path = _TEXTS[dialect].replace("/parts/#0/*/#0/", "/parts/*/#0/")
    return before + path


def declared(dialect: str, field: str = "") -> str:
    """Every declared function of a request, or its `name` or `schema`."""
    path, name, schema = _DECLARED[dialect]
    return f"{path}/{name if field == 'name' else schema}" if field else path


def stop(dialect: str, reason: str, *, before: str = "") -> Fact:
    """The fact that an answer ended for a reason (tools, stop, length, filter)."""
    if dialect == "code-assist":
        return stop("gemini", reason, before=f"{before}/response")
    path, words = _STOPS["openai-chat" if dialect == "openrouter" else dialect]
    return {"path": before + path, "equals": words[reason]}


def usage(dialect: str, given: int, made: int, *, before: str = "") -> list[Fact]:
    first, second = _USAGES[dialect]
    return [{"path": before + first, "equals": given}, {"path": before + second, "equals": made}]


def history(dialect: str) -> str:
    """Every turn of a request."""
    if dialect in GEMINIS:
        return "/request/contents/*" if dialect == "code-assist" else "/contents/*"
    return "/input/*" if dialect == "openai-responses" else "/messages/*"
