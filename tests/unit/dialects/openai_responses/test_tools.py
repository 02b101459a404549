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
from tests.unit.dialects.openai_responses.helpers import NAME, context, lost, own

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def took(tools: Any, under: Context | None = None) -> tuple[Tool | HostedTool, ...]:
    return read_tools(msgspec.json.encode(tools), under or context(target="anthropic"))


def gave(*tools: Tool | HostedTool, under: Context | None = None) -> Any:
    return msgspec.json.decode(write_tools(tools, under or context("anthropic")))


def again(tools: Any) -> Any:
    return gave(*took(tools, context()), under=context())


def test_functions_customs_and_hosted_tools() -> None:
    tools = [
        {"type": "function", "name": "f", "description": "does", "parameters": SCHEMA, "strict": True},
        {"type": "function", "name": "g", "parameters": None, "defer_loading": True, "output_schema": {"a": 1}},
        {"type": "custom", "name": "p", "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
        {"type": "web_search", "search_context_size": "low"},
        {"type": "local_shell"},
    ]
    at = ("parameters",)
    assert took(tools) == (
        Tool("f", "does", msgspec.json.encode(SCHEMA).decode(), True, at=("tools", 0), schema_at=at),
        Tool(
            "g",
            deferred=True,
            output_schema='{"a":1}',
            extra=own(parameters=None),
            at=("tools", 1),
            schema_at=at,
        ),
        Tool("p", custom=True, grammar=Grammar("lark", "start: x"), at=("tools", 2)),
        HostedTool(NAME, "web_search", Raw(msgspec.json.encode(tools[3])), at=("tools", 3)),
        HostedTool(NAME, "local_shell", Raw(b'{"type":"local_shell"}'), at=("tools", 4)),
    )
    assert again(tools) == tools


@pytest.mark.parametrize("strict", [{}, {"strict": None}, {"strict": False}, {"strict": True}])
def test_strict_comes_back_as_it_was(strict: dict[str, Any]) -> None:
    tools = [{"type": "function", "name": "f", "parameters": SCHEMA, **strict}]
    assert again(tools) == tools


def test_namespaces_are_taken_apart_and_put_together() -> None:
    inner = [{"type": "function", "name": "get", "parameters": SCHEMA}, {"type": "custom", "name": "note", "x": 1}]
    tools = [
        {"type": "namespace", "name": "crm", "description": "customers", "y": 2, "tools": inner},
        {"type": "namespace", "name": "crm", "description": "", "tools": inner[:1]},
        {"type": "namespace", "name": "none", "description": "", "tools": []},
        {"type": "function", "name": "f", "parameters": SCHEMA},
    ]
    under = context(target="gemini")
    found = took(tools, under)
    assert [(tool.namespace, tool.name) for tool in found if isinstance(tool, Tool)] == [
        ("crm", "get"),
        ("crm", "note"),
        ("crm", "get"),
        ("", "f"),
    ]
    under.settle(frozenset())
    assert [tool.description for tool in found if isinstance(tool, Tool)] == [
        "(About all tools of crm: customers)",
        "",
        "",
        "",
    ]
    assert lost(under) == [
        ("tool.namespace.prefixed", "/tools/0/description"),
        ("field.dropped", "/tools/0/tools/1/x"),
        ("field.dropped", "/tools/0/y"),
    ]
    assert again(tools) == tools


def test_fields_nobody_knows_come_back() -> None:
    tools = [
        {"type": "function", "name": "f", "async": True, "allowed_callers": ["direct"], "new": {"a": None}},
        {"type": "custom", "name": "p", "async": False, "strict": True, "defer_loading": True},
        {"type": "function"},
        {"type": "mcp", "server_label": "s", "server_url": "https://e.com"},
    ]
    assert again(tools) == tools


def test_foreign_tools_are_loose_unless_they_ask() -> None:
    under = context("anthropic")
    tools = (
        Tool("f", "does", '{"properties":{"a":{"type":"string"}}}', at=("tools", 0), schema_at=("input_schema",)),
        Tool("s", schema='{"type":"object","properties":{"a":{"type":"string"}}}', strict=True, at=("tools", 1)),
        Tool("n", deferred=True, cache="5m", at=("tools", 2)),
        Tool("bad name", output_schema='{"a":1}', at=("tools", 3)),
        HostedTool("anthropic", "web_search_20250305", Raw(b"{}"), at=("tools", 4)),
    )
    out = gave(*tools, under=under)
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
    assert {code for code, _ in lost(under)} >= {
        "tool.deferred.expanded",
        "cache.dropped",
        "tool.renamed",
        "tool.hosted.dropped",
    }


def test_schemas_of_the_sister_dialect_are_left_alone_where_they_are_legal() -> None:
    under = context("openai-chat")
    schema = {"type": "object", "properties": {"a": {"allOf": [{"type": "string"}]}}}
    (out,) = gave(Tool("f", schema=msgspec.json.encode(schema).decode(), strict=True), under=under)
    assert (out["parameters"], lost(under)) == (schema, [])


@pytest.mark.parametrize("schema", ["true", '{"properties":{}}'])
def test_schemas_of_the_sister_dialect_become_objects_that_say_so(schema: str) -> None:
    under = context("openai-chat")
    (out,) = gave(Tool("f", schema=schema), under=under)
    assert out["parameters"] == {"type": "object", "properties": {}}
    assert {code for code, _ in lost(under)} == {"schema.rewritten"}


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
    under = context(target="anthropic")
    assert read_choice(wished, under) == choice
    assert lost(under) == []
    request = Request((), tools=(Tool("f"), Tool("p", custom=True)))
    assert write_choice(request, choice, context("anthropic")) == value


@pytest.mark.parametrize(
    "value",
    [
        {"type": "mcp", "server_label": "s"},
        {"type": "web_search_preview"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp", "server_label": "s"}]},
        "wild",
    ],
)
def test_choices_of_hosted_tools_are_this_dialects_alone(value: Any) -> None:
    body = msgspec.json.encode({"input": "x", "tool_choice": value})
    for target, losses in ((NAME, []), ("gemini", [("choice.dropped", "/tool_choice")])):
        under = context(target=target)
        wished = wire.REQUEST.admit(body)[0].tool_choice
        assert wished is not None
        choice = read_choice(wished, under)
        assert lost(under) == losses
        assert write_choice(Request(()), choice, context()) == value


def test_a_choice_of_a_hosted_tool_that_others_have_is_kept_for_them() -> None:
    body = msgspec.json.encode({"input": "x", "tool_choice": {"type": "web_search_preview"}})
    under = context(target="anthropic")
    choice = read_request(body, under).choice
    assert choice is not None and lost(under) == []
    assert (choice.mode, choice.names, choice.hosted) == ("one", ("web_search_preview",), True)
    own = read_request(body, context(target=NAME)).choice
    assert own is not None and not own.hosted and own.names == ()


def test_a_choice_of_a_tool_that_is_not_there_is_none() -> None:
    under = context("anthropic")
    assert write_choice(Request(()), Choice("one", ("gone",), at=("tool_choice",)), under) is None
    assert lost(under) == [("choice.dropped", "/tool_choice")]
