"""Ollama tool declarations are read and written. Schemas use only the keywords that the server keeps."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from dragoman.canon import HostedTool, Tool
from dragoman.canon.tools import Grammar
from dragoman.context import Context
from dragoman.dialects.ollama import DIALECT
from tests.unit.dialects.documents_and_losses import Losses, losses

AT = ("tools", 0)
SCHEMA_AT = ("function", "parameters")


def read(tools: Any) -> tuple[tuple[Tool | HostedTool, ...], Losses]:
    context = Context("ollama", "openai-chat")
    return DIALECT.read_tools(msgspec.json.encode(tools), context), losses(context)


def write(*tools: Tool | HostedTool, source: str = "openai-chat") -> tuple[Any, Losses]:
    context = Context(source, "ollama")
    return msgspec.json.decode(DIALECT.write_tools(tools, context)), losses(context)


def parameters(schema: Any, **fields: Any) -> tuple[Any, Losses]:
    """The written parameters of a function with this schema, and the losses below them."""
    text = msgspec.json.encode(schema).decode()
    (tool,), lost = write(Tool("f", schema=text, at=AT, schema_at=SCHEMA_AT, **fields))
    return tool["function"], [(code, path.removeprefix("/tools/0/function/parameters")) for code, path in lost]


def test_declarations_are_read() -> None:
    tools, lost = read(
        [
            {"type": "function", "function": {"name": "f", "description": "F", "parameters": {"type": "object"}}},
            {"function": {"name": "g", "parameters": None, "x": 1}},
            {"type": "odd", "y": 1},
        ]
    )
    assert tools == (
        Tool("f", "F", '{"type":"object"}', at=("tools", 0), schema_at=SCHEMA_AT),
        Tool("g", extra={"ollama": {"function/x": Raw(b"1")}}, at=("tools", 1), schema_at=SCHEMA_AT),
        HostedTool("ollama", "odd", Raw(b'{"type":"odd","y":1}'), at=("tools", 2)),
    )
    assert lost == [("field.dropped", "/tools/1/function/x")]
    assert read(None) == ((), [])


def test_a_tool_without_parameters_has_an_empty_object() -> None:
    assert write(Tool("f", "F")) == (
        [
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "description": "F",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        [],
    )


def test_keywords_that_the_server_keeps_are_unchanged() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "description": "A", "enum": ["x", None]},
            "b": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
            "c": {"type": "object", "properties": {"d": {"type": "number"}}, "required": ["d"]},
        },
        "required": ["a"],
    }
    assert parameters(schema) == ({"name": "f", "parameters": schema}, [])


def test_constraints_are_described_with_their_place() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 1, "default": 3, "description": "A"},
            "b": {"type": "string", "format": "date"},
        },
    }
    function, lost = parameters(schema)
    assert function["parameters"]["properties"] == {
        "a": {"type": "integer", "description": "A (minimum: 1; default: 3)"},
        "b": {"type": "string", "description": "(format: date)"},
    }
    assert lost == [
        ("schema.keyword.dropped", "/properties/a/minimum"),
        ("schema.keyword.dropped", "/properties/a/default"),
        ("schema.keyword.dropped", "/properties/b/format"),
    ]


def test_dropped_annotations_are_one_loss_for_each_tool() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "F",
        "properties": {"a": {"type": "string", "title": "A"}, "b": {"type": "string", "title": "B"}},
        "additionalProperties": False,
    }
    context = Context("openai-chat", "ollama")
    text = msgspec.json.encode(schema).decode()
    DIALECT.write_tools([Tool("f", schema=text, at=AT, schema_at=SCHEMA_AT)], context)
    assert [(loss.code, loss.path, loss.detail) for loss in context.losses.all()] == [
        (
            "schema.keyword.dropped",
            "/tools/0/function/parameters",
            "$schema (1), title (3), additionalProperties (1) dropped",
        )
    ]
    only = {"type": "object", "properties": {"a": {"type": "string", "title": "A"}}}
    assert parameters(only)[1] == [("schema.keyword.dropped", "/properties/a/title")]


def test_references_are_inlined_and_unions_rewritten() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"oneOf": [{"const": "x"}, {"type": "integer"}]}},
        "$defs": {"A": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    }
    function, lost = parameters(schema)
    assert function["parameters"] == {
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "b": {"anyOf": [{"enum": ["x"]}, {"type": "integer"}]},
        },
    }
    assert {code for code, _ in lost} == {"schema.ref.inlined", "schema.rewritten"}


def test_a_description_at_the_root_moves_to_the_function() -> None:
    schema = {"type": "object", "description": "All of it.", "properties": {}, "minProperties": 1}
    function, lost = parameters(schema, description="F")
    assert function == {
        "name": "f",
        "description": "F\n\nAll of it. (minProperties: 1)",
        "parameters": {"type": "object", "properties": {}},
    }
    assert lost == [("schema.keyword.dropped", "/minProperties"), ("schema.rewritten", "/description")]
    assert parameters({"type": "object", "description": "All."})[0]["description"] == "All."


def test_an_invalid_schema_becomes_a_tool_without_arguments() -> None:
    function, lost = parameters(["odd"])
    assert function == {
        "name": "f",
        "description": '(schema: ["odd"])',
        "parameters": {"type": "object", "properties": {}},
    }
    assert lost == [("schema.invalid", "")]


def test_a_recursive_schema_is_cut() -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    function, lost = parameters(schema)
    assert "$ref" not in str(function)
    assert "schema.ref.cut" in {code for code, _ in lost}


def test_fields_without_a_place_on_a_tool() -> None:
    grammar = Grammar("lark", "start: WORD")
    tools = (
        Tool(
            "f",
            strict=True,
            deferred=True,
            output_schema="{}",
            cache="",
            at=("tools", 0),
        ),
        Tool("patch", "P", custom=True, grammar=grammar, at=("tools", 1)),
        Tool("get it!", namespace="crm", at=("tools", 2)),
        HostedTool("anthropic", "web_search", Raw(b"{}"), at=("tools", 3)),
    )
    written, lost = write(*tools)
    functions = [tool["function"] for tool in written]
    assert functions[1] == {
        "name": "patch",
        "description": "P\n\nThe string `input` must match this lark grammar:\nstart: WORD",
        "parameters": {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]},
    }
    assert functions[2]["name"].startswith("crm__get_it_")
    assert lost == [
        ("tool.deferred.expanded", "/tools/0"),
        ("tool.output_schema.dropped", "/tools/0"),
        ("cache.dropped", "/tools/0"),
        ("tool.strict.dropped", "/tools/0"),
        ("tool.custom.wrapped", "/tools/1"),
        ("tool.renamed", "/tools/2"),
        ("tool.hosted.dropped", "/tools/3"),
    ]
