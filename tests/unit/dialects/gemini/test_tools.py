"""Gemini tool declarations: both notations of schemas, hosted tools, and tools of other dialects."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon import HostedTool, Tool
from dragoman.canon.tools import Grammar
from dragoman.context import Context
from dragoman.dialects.gemini import DIALECT
from tests.unit.dialects.documents_and_losses import losses

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
TEXT = '{"type":"object","properties":{"a":{"type":"string"}}}'


def read(tools: Any) -> tuple[tuple[Tool | HostedTool, ...], list[tuple[str, str]]]:
    context = Context("gemini", "openai-chat")
    return DIALECT.read_tools(msgspec.json.encode(tools), context), losses(context)


def write(*tools: Tool | HostedTool, source: str = "openai-chat") -> tuple[Any, list[tuple[str, str]]]:
    context = Context(source, "gemini")
    return msgspec.json.decode(DIALECT.write_tools(tools, context)), losses(context)


def round_trip(tools: Any) -> Any:
    context = Context("gemini", "gemini")
    found = DIALECT.read_tools(msgspec.json.encode(tools), context)
    return msgspec.json.decode(DIALECT.write_tools(found, context))


def test_declarations_in_every_spelling() -> None:
    at = ("tools", 0, "functionDeclarations")
    tools, lost = read(
        [
            {
                "functionDeclarations": [
                    {"name": "a", "description": "A", "parametersJsonSchema": SCHEMA, "responseJsonSchema": SCHEMA},
                    {"name": "b", "parameters_json_schema": SCHEMA},
                    {"name": "c", "parametersJsonSchema": None, "parameters": None},
                ]
            }
        ]
    )
    assert tools == (
        Tool("a", "A", TEXT, output_schema=TEXT, at=(*at, 0), schema_at=("parametersJsonSchema",)),
        Tool("b", "", TEXT, at=(*at, 1), schema_at=("parameters_json_schema",)),
        Tool("c", at=(*at, 2)),
    )
    assert lost == []


def test_the_older_notation_is_read_as_json_schema_and_written_back_unchanged() -> None:
    older = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
    body = [{"functionDeclarations": [{"name": "a", "parameters": older, "response": older, "description": ""}]}]
    (tool,), lost = read(body)
    assert isinstance(tool, Tool)
    assert (tool.schema, tool.output_schema, tool.schema_at) == (TEXT, TEXT, ("parameters",))
    assert lost == []
    assert round_trip(body) == body


def test_schemas_of_results_survive_a_round_trip() -> None:
    body = [{"functionDeclarations": [{"name": "a", "parametersJsonSchema": SCHEMA, "responseJsonSchema": {}}]}]
    assert round_trip(body) == body


def test_keywords_that_the_older_notation_lacks_are_reported() -> None:
    body = [{"functionDeclarations": [{"name": "a", "parameters": {"type": "OBJECT", "propertyOrdering": ["x"]}}]}]
    assert read(body)[1] == [("schema.keyword.dropped", "/tools/0/functionDeclarations/0/parameters/propertyOrdering")]


def test_two_schemas_at_once_lose_nothing() -> None:
    both = {"name": "a", "parameters": {"type": "OBJECT"}, "parametersJsonSchema": SCHEMA}
    assert read([{"functionDeclarations": [both]}])[1] == [
        ("field.dropped", "/tools/0/functionDeclarations/0/parameters")
    ]
    assert round_trip([{"functionDeclarations": [both]}]) == [{"functionDeclarations": [both]}]
    twins = {"name": "a", "parametersJsonSchema": SCHEMA, "parameters_json_schema": {}}
    assert read([{"functionDeclarations": [twins]}])[1] == [
        ("field.dropped", "/tools/0/functionDeclarations/0/parameters_json_schema")
    ]


def test_every_other_key_is_a_hosted_tool() -> None:
    tools, lost = read(
        [
            {"google_search": {}, "codeExecution": None},
            {"function_declarations": [{"name": "f"}], "urlContext": {}, "tomorrow": {"x": 1}},
        ]
    )
    assert tools == (
        HostedTool("gemini", "googleSearch", Raw(b'{"googleSearch":{}}'), ("tools", 0, "google_search")),
        Tool("f", at=("tools", 1, "function_declarations", 0)),
        HostedTool("gemini", "urlContext", Raw(b'{"urlContext":{}}'), ("tools", 1, "urlContext")),
        HostedTool("gemini", "tomorrow", Raw(b'{"tomorrow":{"x":1}}'), ("tools", 1, "tomorrow")),
    )
    assert lost == []


def test_one_object_for_all_functions_and_one_for_each_hosted_tool() -> None:
    body = [
        {"googleSearch": {}},
        {"functionDeclarations": [{"name": "f", "behavior": "BLOCKING"}]},
        {"functionDeclarations": [{"name": "g", "newer": 1}]},
        {"urlContext": {}},
    ]
    assert round_trip(body) == [
        {"googleSearch": {}},
        {"functionDeclarations": [{"name": "f", "behavior": "BLOCKING"}, {"name": "g", "newer": 1}]},
        {"urlContext": {}},
    ]
    assert read(body)[1] == [
        ("field.dropped", "/tools/1/functionDeclarations/0/behavior"),
        ("field.dropped", "/tools/2/functionDeclarations/0/newer"),
    ]


def test_tools_of_other_dialects() -> None:
    written, lost = write(
        Tool("f", "F", '{"type":"object","properties":{"a":{"const":"x"}}}', True, at=("tools", 0), schema_at=("p",)),
        HostedTool("anthropic", "web_search_20250305", Raw(b"{}"), ("tools", 1)),
        Tool("g", deferred=True, cache="", output_schema='{"not":{}}', at=("tools", 2)),
    )
    assert written == [
        {
            "functionDeclarations": [
                {
                    "name": "f",
                    "description": "F",
                    "parametersJsonSchema": {"type": "object", "properties": {"a": {"enum": ["x"]}}},
                },
                {"name": "g", "responseJsonSchema": written[0]["functionDeclarations"][1]["responseJsonSchema"]},
            ]
        }
    ]
    assert lost == [
        ("tool.strict.dropped", "/tools/0"),
        ("schema.rewritten", "/tools/0/p/properties/a/const"),
        ("tool.hosted.dropped", "/tools/1"),
        ("tool.deferred.expanded", "/tools/2"),
        ("cache.dropped", "/tools/2"),
        ("schema.keyword.dropped", "/tools/2/output_schema/not"),
    ]


@pytest.mark.parametrize(
    "schema",
    ['{"type":"object","properties":{}}', "{}", '{"type":"object","additionalProperties":false,"required":[]}'],
)
def test_a_tool_without_arguments_has_no_schema(schema: str) -> None:
    assert write(Tool("f", schema=schema)) == ([{"functionDeclarations": [{"name": "f"}]}], [])


def test_a_tool_that_takes_any_object_keeps_its_schema() -> None:
    written, _ = write(Tool("f", schema='{"type":"object","additionalProperties":true}'))
    assert written[0]["functionDeclarations"][0]["parametersJsonSchema"] == {
        "type": "object",
        "additionalProperties": True,
    }


def test_a_schema_without_arguments_keeps_its_title() -> None:
    written, _ = write(Tool("f", schema='{"type":"object","properties":{},"title":"Nothing"}'))
    assert written[0]["functionDeclarations"][0]["parametersJsonSchema"]["title"] == "Nothing"


def test_free_text_tools_are_wrapped() -> None:
    written, lost = write(Tool("patch", "P", custom=True, grammar=Grammar("lark", "start: x"), at=("tools", 0)))
    declared = written[0]["functionDeclarations"][0]
    assert declared["parametersJsonSchema"]["properties"] == {"input": {"type": "string"}}
    assert "start: x" in declared["description"]
    assert lost == [("tool.custom.wrapped", "/tools/0")]
