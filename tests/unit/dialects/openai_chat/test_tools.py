"""Chat tools and choices: function and custom tools, legacy functions, names, schemas, and every tool choice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon.parts import Path, Text
from dragoman.canon.request import Request
from dragoman.canon.tools import Choice, Grammar, HostedTool, Tool
from dragoman.canon.turns import Turn
from dragoman.context import Context
from dragoman.dialects.openai_chat import DIALECT
from tests.unit.dialects.documents_and_losses import losses
from tests.unit.dialects.openai_chat.helpers import CHAT, read, write

SCHEMA = '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'
AT: Path = ("function", "parameters")


def _read(tools: Any) -> tuple[tuple[Tool | HostedTool, ...], list[tuple[str, str]]]:
    context = Context(CHAT, "anthropic")
    body = tools if isinstance(tools, bytes) else msgspec.json.encode(tools)
    return DIALECT.read_tools(body, context), losses(context)


def _write(*tools: Tool | HostedTool, source: str = "anthropic") -> tuple[Any, list[tuple[str, str]], Context]:
    context = Context(source, CHAT)
    body = DIALECT.write_tools(tools, context)
    return msgspec.json.decode(body), losses(context), context


def test_a_function_is_read_with_its_exact_schema() -> None:
    schema = b'{"type": "object",  "properties": {"n": {"type":"integer","maximum":1.50}}}'
    body = b'[{"type":"function","function":{"name":"f","description":"d","parameters":' + schema + b',"strict":true}}]'
    assert _read(body) == ((Tool("f", "d", schema.decode(), True, at=("tools", 0), schema_at=AT),), [])


@pytest.mark.parametrize("parameters", [{}, {"parameters": None}])
def test_no_parameters_are_no_schema(parameters: dict[str, Any]) -> None:
    tools = [{"type": "function", "function": {"name": "f", **parameters}}]
    assert _read(tools) == ((Tool("f", at=("tools", 0), schema_at=AT),), [])


@pytest.mark.parametrize(
    ("format_", "grammar"),
    [
        ({}, None),
        ({"format": {"type": "text"}}, None),
        (
            {"format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: x"}}},
            Grammar("lark", "start: x"),
        ),
        ({"format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "a+"}}}, Grammar("regex", "a+")),
    ],
)
def test_a_custom_tool_is_read_with_its_grammar(format_: dict[str, Any], grammar: Grammar | None) -> None:
    tools = [{"type": "custom", "custom": {"name": "p", "description": "d", **format_}}]
    assert _read(tools) == ((Tool("p", "d", custom=True, grammar=grammar, at=("tools", 0)),), [])


def test_a_tool_without_a_type_is_a_function() -> None:
    assert _read([{"function": {"name": "f"}}])[0] == (Tool("f", at=("tools", 0), schema_at=AT),)


def test_an_unknown_tool_is_kept_whole() -> None:
    tools, lost = _read(b'[{"type":"mcp", "server": {"a":1.0}},{"type":"function"}]')
    assert tools == (
        HostedTool(CHAT, "mcp", Raw(b'{"type":"mcp", "server": {"a":1.0}}'), ("tools", 0)),
        HostedTool(CHAT, "function", Raw(b'{"type":"function"}'), ("tools", 1)),
    )
    assert lost == []


def test_a_declaration_that_is_no_tool_is_kept_whole() -> None:
    body = [{"functionDeclarations": [{"name": "f"}]}, {"type": "function", "x": 1}]
    tools, lost = _read(body)
    assert [tool.dialect for tool in tools if isinstance(tool, HostedTool)] == [CHAT, CHAT]
    assert lost == [("field.dropped", "/tools/0/functionDeclarations"), ("field.dropped", "/tools/1/x")]
    assert _write(*tools, source=CHAT)[0] == body


def test_unknown_fields_are_kept_with_their_place() -> None:
    tools, lost = _read([{"type": "function", "x": 1, "function": {"name": "f", "y": 2}}])
    extra = {CHAT: {"x": Raw(b"1"), "function/y": Raw(b"2")}}
    assert tools == (Tool("f", extra=extra, at=("tools", 0), schema_at=AT),)
    assert lost == [("field.dropped", "/tools/0/function/y"), ("field.dropped", "/tools/0/x")]
    assert _write(*tools, source=CHAT)[0] == [{"type": "function", "function": {"name": "f", "y": 2}, "x": 1}]


@pytest.mark.parametrize("kind", ["function", "custom"])
@pytest.mark.parametrize(
    ("mark", "cache"), [({"type": "ephemeral"}, ""), ({"type": "ephemeral", "ttl": "1h"}, "1h"), ("odd", "")]
)
def test_a_cache_mark_on_a_tool_is_read(kind: str, mark: Any, cache: str) -> None:
    body = [{"type": kind, kind: {"name": "f"}, "cache_control": mark}]
    (tool,), lost = _read(body)
    assert isinstance(tool, Tool)
    assert (tool.cache, lost) == (cache, [])
    assert _write(tool, source=CHAT)[:2] == (body, [])


@pytest.mark.parametrize("body", [b"null", b"[]"])
def test_no_tools_are_none(body: bytes) -> None:
    assert _read(body) == ((), [])


def test_legacy_functions_are_read() -> None:
    functions = [{"name": "f", "description": "d", "parameters": {"type": "object"}}, {"name": "g", "parameters": None}]
    request, lost = read({"model": "m", "messages": [], "functions": functions, "function_call": {"name": "g"}})
    assert request.tools == (
        Tool("f", "d", '{"type":"object"}', at=("functions", 0), schema_at=("parameters",)),
        Tool("g", at=("functions", 1), schema_at=("parameters",)),
    )
    assert request.choice == Choice("one", ("g",), at=("function_call",))
    assert lost == []


def test_functions_are_written_in_their_wrapper() -> None:
    tools = (Tool("f", "d", SCHEMA, True), Tool("g", schema=SCHEMA, strict=False), Tool("h"))
    written, lost, _ = _write(*tools, source="openai-responses")
    assert written == [
        {
            "type": "function",
            "function": {"name": "f", "description": "d", "parameters": msgspec.json.decode(SCHEMA), "strict": True},
        },
        {"type": "function", "function": {"name": "g", "parameters": msgspec.json.decode(SCHEMA), "strict": False}},
        {"type": "function", "function": {"name": "h"}},
    ]
    assert lost == []


def test_custom_tools_are_written() -> None:
    tools = (Tool("p", "d", custom=True, grammar=Grammar("lark", "start: x")), Tool("q", custom=True))
    assert _write(*tools)[:2] == (
        [
            {
                "type": "custom",
                "custom": {
                    "name": "p",
                    "description": "d",
                    "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: x"}},
                },
            },
            {"type": "custom", "custom": {"name": "q"}},
        ],
        [],
    )


def test_fields_without_a_place_on_a_tool_are_losses() -> None:
    tool = Tool("f", deferred=True, output_schema="{}", cache="1h", at=("tools", 3))
    written, lost, _ = _write(tool)
    assert written == [{"type": "function", "function": {"name": "f"}}]
    assert lost == [
        ("tool.deferred.expanded", "/tools/3"),
        ("tool.output_schema.dropped", "/tools/3"),
        ("cache.dropped", "/tools/3"),
    ]


def test_hosted_tools_are_written_only_in_their_own_dialect() -> None:
    own = HostedTool(CHAT, "mcp", Raw(b'{"type":"mcp"}'), ("tools", 0))
    other = HostedTool("anthropic", "web_search_20250305", Raw(b"{}"), ("tools", 1))
    assert _write(own, other)[:2] == ([{"type": "mcp"}], [("tool.hosted.dropped", "/tools/1")])


def test_without_functions_no_tools_are_written() -> None:
    hosted = HostedTool("anthropic", "web_search_20250305", Raw(b"{}"), ("tools", 0))
    written, lost = write(Request(USER_TURNS, tools=(hosted,)))
    assert (sorted(written), lost) == (["messages", "model"], [("tool.hosted.dropped", "/tools/0")])


def test_illegal_names_are_replaced() -> None:
    written, lost, context = _write(
        Tool("get", namespace="crm"), Tool("a.b", at=("tools", 1)), Tool("p.q", custom=True)
    )
    assert [tool.get("function", tool.get("custom"))["name"] for tool in written] == [
        "crm__get",
        "a_b_2e7336dc8e",
        "p_q_803bf4d6df",
    ]
    assert context.renamed == {
        "crm__get": ("crm", "get"),
        "a_b_2e7336dc8e": ("", "a.b"),
        "p_q_803bf4d6df": ("", "p.q"),
    }
    assert [code for code, _ in lost] == ["tool.namespace.prefixed", "tool.renamed", "tool.renamed"]


def test_a_loose_schema_must_have_an_object_at_its_root() -> None:
    written, lost, _ = _write(Tool("f", schema='{"type":"string"}', at=("tools", 0), schema_at=("input_schema",)))
    assert written[0]["function"]["parameters"]["type"] == "object"
    assert lost == [("schema.invalid", "/tools/0/input_schema")]


def test_a_loose_schema_is_unchanged_below_its_root() -> None:
    schema = '{"type":"object","properties":{"a":{"oneOf":[{"const":1}],"x-new":true}}}'
    written, lost, _ = _write(Tool("f", schema=schema, strict=False))
    assert written[0]["function"]["parameters"] == msgspec.json.decode(schema)
    assert lost == []


def test_a_strict_schema_of_another_dialect_is_made_to_fit() -> None:
    schema = '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["b"]}'
    tool = Tool("f", schema=schema, strict=True, at=("tools", 0), schema_at=("input_schema",))
    written, lost, context = _write(tool)
    parameters = written[0]["function"]["parameters"]
    assert written[0]["function"]["strict"] is True
    assert parameters["additionalProperties"] is False
    assert sorted(parameters["required"]) == ["a", "b"]
    assert parameters["properties"]["a"] == {"type": ["string", "null"]}
    assert ("schema.rewritten", "/tools/0/input_schema/properties/a") in lost
    assert list(context.absent) == ["f"]
    longer = schema.replace('"string"', '"string","minLength":2')
    written, lost, context = _write(msgspec.structs.replace(tool, schema=longer))
    assert written[0]["function"] == {"name": "f", "parameters": msgspec.json.decode(longer)}
    assert lost == [("tool.strict.dropped", "/tools/0")] and not context.absent
    for source in (CHAT, "openai-responses"):
        assert _write(tool, source=source)[0][0]["function"]["parameters"] == msgspec.json.decode(schema)


# choices

CHOICES: list[tuple[Any, Choice]] = [
    ("auto", Choice("auto")),
    ("none", Choice("none")),
    ("required", Choice("required")),
    ({"type": "function", "function": {"name": "f"}}, Choice("one", ("f",))),
    ({"type": "custom", "custom": {"name": "p"}}, Choice("one", ("p",))),
    (
        {
            "type": "allowed_tools",
            "allowed_tools": {
                "mode": "auto",
                "tools": [
                    {"type": "function", "function": {"name": "f"}},
                    {"type": "custom", "custom": {"name": "p"}},
                ],
            },
        },
        Choice("auto", ("f", "p")),
    ),
    (
        {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "f"}}]},
        },
        Choice("required", ("f",)),
    ),
]
USER_TURNS = (Turn("user", (Text("hi"),)),)
TOOLS = (Tool("f"), Tool("p", custom=True), Tool("get", namespace="crm"))


def _choice(value: Any) -> tuple[Choice | None, list[tuple[str, str]]]:
    request, lost = read({"model": "m", "messages": [], "tool_choice": value})
    return request.choice, lost


@pytest.mark.parametrize(("wire", "choice"), CHOICES)
def test_a_choice_is_read(wire: Any, choice: Choice) -> None:
    assert _choice(wire) == (msgspec.structs.replace(choice, at=("tool_choice",)), [])


@pytest.mark.parametrize(("wire", "choice"), CHOICES)
def test_a_choice_is_written(wire: Any, choice: Choice) -> None:
    written, lost = write(Request(USER_TURNS, tools=TOOLS, choice=choice))
    assert written["tool_choice"] == wire
    assert ("choice.dropped", "") not in lost


def test_the_choice_any_of_mistral_is_required() -> None:
    assert _choice("any") == (Choice("required", at=("tool_choice",)), [])


@pytest.mark.parametrize("wire", ["validated", {"type": "mcp", "server": "s"}, {"type": "function"}])
def test_an_unknown_choice_is_kept(wire: Any) -> None:
    choice, lost = _choice(wire)
    assert choice is not None
    assert (choice.mode, lost) == ("auto", [("field.dropped", "/tool_choice")])
    written, _ = write(Request(USER_TURNS, tools=TOOLS, choice=choice), source=CHAT)
    assert written["tool_choice"] == wire


def test_a_choice_in_the_legacy_field_is_read() -> None:
    for mode_word in ("auto", "none"):
        request, _ = read({"model": "m", "messages": [], "function_call": mode_word})
        assert request.choice == Choice(mode_word, at=("function_call",))  # type: ignore[arg-type]


def test_a_tool_in_a_namespace_is_chosen_by_the_name_that_is_sent() -> None:
    written, _ = write(Request(USER_TURNS, tools=TOOLS, choice=Choice("one", ("get",))), source="openai-responses")
    assert written["tool_choice"] == {"type": "function", "function": {"name": "crm__get"}}


@pytest.mark.parametrize("mode", ["one", "required"])
def test_a_choice_of_an_undeclared_tool_is_a_loss(mode: Any) -> None:
    written, lost = write(Request(USER_TURNS, tools=TOOLS, choice=Choice(mode, ("web_search",), at=("tool_choice",))))
    assert "tool_choice" not in written
    assert ("choice.dropped", "/tool_choice") in lost


def test_a_subset_loses_only_undeclared_tools() -> None:
    written, lost = write(Request(USER_TURNS, tools=TOOLS, choice=Choice("auto", ("f", "gone"), at=("c",))))
    assert written["tool_choice"] == {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
    }
    assert ("choice.dropped", "/c") in lost


@pytest.mark.parametrize(
    ("mode", "lost"),
    [
        ("auto", []),
        ("none", [("choice.dropped", "/tool_choice")]),
        ("required", [("choice.dropped", "/tool_choice")]),
    ],
)
def test_a_choice_without_tools_is_not_written(mode: Any, lost: list[tuple[str, str]]) -> None:
    written, found = write(Request(USER_TURNS, choice=Choice(mode, at=("tool_choice",))))
    assert "tool_choice" not in written
    assert found == lost


def test_within_the_dialect_a_choice_is_unchanged() -> None:
    for wire in ("none", {"type": "function", "function": {"name": "gone"}}):
        request, _ = read({"model": "m", "messages": [], "tool_choice": wire})
        assert write(request, source=CHAT)[0]["tool_choice"] == wire
