"""Tool declarations and tool choice of Responses."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon import Choice, Grammar, HostedTool, Request, Tool
from dragoman.context import Context
from dragoman.dialects.openai_responses import wire
from dragoman.dialects.openai_responses.request import read_request
from dragoman.dialects.openai_responses.tools import read_choice, read_tools, write_choice, write_tools
from tests.unit.dialects.openai_responses.helpers import NAME, extra_fields, losses_of, new_context

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def read_declarations(tools: Any, context: Context | None = None) -> tuple[Tool | HostedTool, ...]:
    return read_tools(msgspec.json.encode(tools), context or new_context(target="anthropic"))


def write_declarations(*tools: Tool | HostedTool, context: Context | None = None) -> Any:
    return msgspec.json.decode(write_tools(tools, context or new_context("anthropic")))


def round_trip(tools: Any) -> Any:
    return write_declarations(*read_declarations(tools, new_context()), context=new_context())


def test_functions_custom_tools_and_hosted_tools() -> None:
    tools = [
        {"type": "function", "name": "f", "description": "does", "parameters": SCHEMA, "strict": True},
        {"type": "function", "name": "g", "parameters": None, "defer_loading": True, "output_schema": {"a": 1}},
        {"type": "custom", "name": "p", "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
        {"type": "web_search", "search_context_size": "low"},
        {"type": "local_shell"},
    ]
    at = ("parameters",)
    assert read_declarations(tools) == (
        Tool("f", "does", msgspec.json.encode(SCHEMA).decode(), True, at=("tools", 0), schema_at=at),
        Tool(
            "g",
            deferred=True,
            output_schema='{"a":1}',
            extra=extra_fields(parameters=None),
            at=("tools", 1),
            schema_at=at,
        ),
        Tool("p", custom=True, grammar=Grammar("lark", "start: x"), at=("tools", 2)),
        HostedTool(NAME, "web_search", Raw(msgspec.json.encode(tools[3])), at=("tools", 3)),
        HostedTool(NAME, "local_shell", Raw(b'{"type":"local_shell"}'), at=("tools", 4)),
    )
    assert round_trip(tools) == tools


@pytest.mark.parametrize("strict", [{}, {"strict": None}, {"strict": False}, {"strict": True}])
def test_strict_survives_a_round_trip(strict: dict[str, Any]) -> None:
    tools = [{"type": "function", "name": "f", "parameters": SCHEMA, **strict}]
    assert round_trip(tools) == tools


def test_namespaces_are_split_and_joined() -> None:
    inner = [{"type": "function", "name": "get", "parameters": SCHEMA}, {"type": "custom", "name": "note", "x": 1}]
    tools = [
        {"type": "namespace", "name": "crm", "description": "customers", "y": 2, "tools": inner},
        {"type": "namespace", "name": "crm", "description": "", "tools": inner[:1]},
        {"type": "namespace", "name": "none", "description": "", "tools": []},
        {"type": "function", "name": "f", "parameters": SCHEMA},
    ]
    context = new_context(target="gemini")
    found = read_declarations(tools, context)
    assert [(tool.namespace, tool.name) for tool in found if isinstance(tool, Tool)] == [
        ("crm", "get"),
        ("crm", "note"),
        ("crm", "get"),
        ("", "f"),
    ]
    context.settle(frozenset())
    assert [tool.description for tool in found if isinstance(tool, Tool)] == [
        "(About all tools of crm: customers)",
        "",
        "",
        "",
    ]
    assert losses_of(context) == [
        ("tool.namespace.prefixed", "/tools/0/description"),
        ("field.dropped", "/tools/0/tools/1/x"),
        ("field.dropped", "/tools/0/y"),
    ]
    assert round_trip(tools) == tools


def test_unknown_fields_survive_a_round_trip() -> None:
    tools = [
        {"type": "function", "name": "f", "async": True, "allowed_callers": ["direct"], "new": {"a": None}},
        {"type": "custom", "name": "p", "async": False, "strict": True, "defer_loading": True},
        {"type": "function"},
        {"type": "mcp", "server_label": "s", "server_url": "https://e.com"},
    ]
    assert round_trip(tools) == tools


def test_foreign_tools_are_not_strict_by_default() -> None:
    context = new_context("anthropic")
    tools = (
        Tool("f", "does", '{"properties":{"a":{"type":"string"}}}', at=("tools", 0), schema_at=("input_schema",)),
        Tool("s", schema='{"type":"object","properties":{"a":{"type":"string"}}}', strict=True, at=("tools", 1)),
        Tool("n", deferred=True, cache="5m", at=("tools", 2)),
        Tool("bad name", output_schema='{"a":1}', at=("tools", 3)),
        HostedTool("anthropic", "web_search_20250305", Raw(b"{}"), at=("tools", 4)),
    )
    out = write_declarations(*tools, context=context)
    nothing = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert [(tool["parameters"], tool["strict"]) for tool in out] == [
        ({"type": "object", "properties": {"a": {"type": "string"}}}, False),
        (
            {
                "type": "object",
                "properties": {"a": {"type": ["string", "null"]}},
                "required": ["a"],
                "additionalProperties": False,
            },
            True,
        ),
        (nothing, False),
        (nothing, False),
    ]
    assert out[3]["output_schema"] == {"a": 1}
    assert {code for code, _ in losses_of(context)} >= {
        "tool.deferred.expanded",
        "cache.dropped",
        "tool.renamed",
        "tool.hosted.dropped",
    }


def test_legal_schemas_of_chat_are_unchanged() -> None:
    context = new_context("openai-chat")
    schema = {"type": "object", "properties": {"a": {"allOf": [{"type": "string"}]}}}
    (out,) = write_declarations(Tool("f", schema=msgspec.json.encode(schema).decode(), strict=True), context=context)
    assert (out["parameters"], losses_of(context)) == (schema, [])


@pytest.mark.parametrize("schema", ["true", '{"properties":{}}'])
def test_schemas_of_chat_without_a_type_become_objects(schema: str) -> None:
    context = new_context("openai-chat")
    (out,) = write_declarations(Tool("f", schema=schema), context=context)
    assert out["parameters"] == {"type": "object", "properties": {}}
    assert {code for code, _ in losses_of(context)} == {"schema.rewritten"}


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        ("auto", Choice("auto", at=("tool_choice",))),
        ("none", Choice("none", at=("tool_choice",))),
        ("required", Choice("required", at=("tool_choice",))),
        ({"type": "function", "name": "f"}, Choice("one", ("f",), at=("tool_choice",))),
        ({"type": "custom", "name": "p"}, Choice("one", ("p",), at=("tool_choice",))),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]},
            Choice("required", ("f",), at=("tool_choice",), hosted_at=()),
        ),
    ],
)
def test_choices(value: Any, choice: Choice) -> None:
    wished = wire.REQUEST.admit(msgspec.json.encode({"tool_choice": value}))[0].tool_choice
    assert wished is not None
    context = new_context(target="anthropic")
    assert read_choice(wished, context) == choice
    assert losses_of(context) == []
    request = Request((), tools=(Tool("f"), Tool("p", custom=True)))
    assert write_choice(request, choice, new_context("anthropic")) == value


@pytest.mark.parametrize(
    "value",
    [
        {"type": "mcp", "server_label": "s"},
        {"type": "web_search_preview"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp", "server_label": "s"}]},
        "wild",
    ],
)
def test_choices_of_hosted_tools_exist_only_in_responses(value: Any) -> None:
    body = msgspec.json.encode({"input": "x", "tool_choice": value})
    for target, losses in ((NAME, []), ("gemini", [("choice.dropped", "/tool_choice")])):
        context = new_context(target=target)
        wished = wire.REQUEST.admit(body)[0].tool_choice
        assert wished is not None
        choice = read_choice(wished, context)
        assert losses_of(context) == losses
        assert write_choice(Request(()), choice, new_context()) == value


def test_a_choice_of_a_common_hosted_tool_is_kept_for_other_dialects() -> None:
    body = msgspec.json.encode({"input": "x", "tool_choice": {"type": "web_search_preview"}})
    context = new_context(target="anthropic")
    choice = read_request(body, context).choice
    assert choice is not None and losses_of(context) == []
    assert (choice.mode, choice.names, choice.hosted) == ("one", ("web_search_preview",), True)
    kept = read_request(body, new_context(target=NAME)).choice
    assert kept is not None and not kept.hosted and kept.names == ()


def test_a_choice_of_an_undeclared_tool_is_none() -> None:
    context = new_context("anthropic")
    assert write_choice(Request(()), Choice("one", ("gone",), at=("tool_choice",)), context) is None
    assert losses_of(context) == [("choice.dropped", "/tool_choice")]
