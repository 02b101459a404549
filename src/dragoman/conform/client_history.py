"""The client in a conversation: what a client of each dialect appends to its next request, no more and no less.

A client keeps the assistant's turn of the answer as its dialect documents it, runs the tools and appends their results.
`strict` is a client that keeps only fields which its dialect's own documentation knows.
"""

from __future__ import annotations

import re
from typing import Any

from .json_paths import look

_DECLARED = {
    "anthropic": "/tools/*/name",
    "code-assist": "/request/tools/*/functionDeclarations/*/name",
    "gemini": "/tools/*/functionDeclarations/*/name",
    "openai-responses": "/tools/*/name",
}
_PLACEHOLDER = re.compile(r"\{\{tool (\d+)\}\}")


def named(value: Any, upstream: str, request: Any) -> Any:
    """What an upstream says, with the names that it was told: {{tool 0}} is the first declared function's."""
    names = look(request, _DECLARED.get(upstream, "/tools/*/function/name"))

    def filled(inner: Any) -> Any:
        if isinstance(inner, str):
            return _PLACEHOLDER.sub(lambda match: _name(names, int(match[1])), inner)
        if isinstance(inner, dict):
            return {key: filled(one) for key, one in inner.items()}
        return [filled(one) for one in inner] if isinstance(inner, list) else inner

    return filled(value)


def _name(names: list[Any], at: int) -> str:
    return str(names[at]) if at < len(names) else "undeclared"


def continued(dialect: str, request: dict[str, Any], answer: Any, step: dict[str, Any], strict: bool) -> dict[str, Any]:
    """The client's next request after a step: with the answer, the `outputs` of its calls, and what it has to `say`."""
    if "outputs" in step or "say" in step:
        request = answered(dialect, request, answer, step.get("outputs", []), strict)
    return said(dialect, request, step["say"]) if "say" in step else request


def said(dialect: str, request: dict[str, Any], text: str) -> dict[str, Any]:
    """The request with one more turn of the user."""
    if dialect == "code-assist":
        return {**request, "request": said("gemini", request["request"], text)}
    if dialect == "gemini":
        return {**request, "contents": [*request["contents"], {"role": "user", "parts": [{"text": text}]}]}
    place = "input" if dialect == "openai-responses" else "messages"
    return {**request, place: [*request[place], {"role": "user", "content": text}]}


def answered(dialect: str, request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    """The client's next request: the one before, the answer it got, and one output for each call in it."""
    if dialect == "code-assist":
        inner = _gemini(request["request"], answer["response"], outputs, strict)
        return {**request, "request": inner}
    if dialect == "gemini":
        return _gemini(request, answer, outputs, strict)
    if dialect == "anthropic":
        return _anthropic(request, answer, outputs)
    if dialect == "openai-responses":
        return _responses(request, answer, outputs)
    if dialect == "ollama":
        return _ollama(request, answer, outputs, strict)
    return _chat(request, answer, outputs, strict, dialect)


def _matched(calls: list[Any], outputs: list[Any]) -> list[tuple[Any, Any]]:
    """The calls, each with its output; outputs that are left over have no call and are not sent."""
    return list(zip(calls, outputs, strict=False))


def _anthropic(request: dict[str, Any], answer: Any, outputs: list[Any]) -> dict[str, Any]:
    calls = look(answer, "/content/[type=tool_use]")
    results = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": output}
        for call, output in _matched(calls, outputs)
    ]
    turns = [{"role": "assistant", "content": answer["content"]}]
    turns += [{"role": "user", "content": results}] if results else []
    return {**request, "messages": [*request["messages"], *turns]}


_CHAT_FIELDS = ("role", "content", "refusal", "tool_calls")
_ROUTER_FIELDS = (*_CHAT_FIELDS, "reasoning", "reasoning_details")
_CALL_FIELDS = ("id", "type", "function")


def _chat(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool, dialect: str) -> dict[str, Any]:
    message = answer["choices"][0]["message"]
    calls = message.get("tool_calls") or []
    if strict:
        kept = _ROUTER_FIELDS if dialect == "openrouter" else _CHAT_FIELDS
        message = {key: value for key, value in message.items() if key in kept}
        if calls:
            message["tool_calls"] = [{key: call[key] for key in _CALL_FIELDS if key in call} for call in calls]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": output} for call, output in _matched(calls, outputs)
    ]
    return {**request, "messages": [*request["messages"], message, *results]}


def _responses(request: dict[str, Any], answer: Any, outputs: list[Any]) -> dict[str, Any]:
    items = answer["output"]
    calls = [item for item in items if item.get("type") in ("function_call", "custom_tool_call")]
    results = [
        {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": output}
        for call, output in _matched(calls, outputs)
    ]
    before = request["input"]
    if isinstance(before, str):
        before = [{"role": "user", "content": before}]
    return {**request, "input": [*before, *items, *results]}


def _gemini(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    content = answer["candidates"][0]["content"]
    if strict:
        # Google's own command line leaves thoughts out of its history.
        content = {**content, "parts": [part for part in content["parts"] if not part.get("thought")]}
    results = []
    for call, output in _matched(look(content, "/parts/*/functionCall"), outputs):
        told = {"id": call["id"]} if "id" in call else {}
        results.append({"functionResponse": {**told, "name": call["name"], "response": {"output": output}}})
    turns = [content, {"role": "user", "parts": results}] if results else [content]
    return {**request, "contents": [*request["contents"], *turns]}


def _ollama(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    message = answer["message"]
    results = []
    for call, output in _matched(message.get("tool_calls") or [], outputs):
        told = {"tool_call_id": call["id"]} if "id" in call and not strict else {}
        results.append({"role": "tool", "content": output, "tool_name": call["function"]["name"], **told})
    if strict:
        # The official Python client knows no call ids.
        calls = [{"function": call["function"]} for call in message.get("tool_calls") or []]
        message = {**message, "tool_calls": calls}
    return {**request, "messages": [*request["messages"], message, *results]}
