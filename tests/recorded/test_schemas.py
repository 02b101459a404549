"""The tools of every recorded request, sent to every target: no schema has a keyword that the target refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import dragoman
from dragoman.dialects import names as dialects
from tests.corpus import corpus_files
from tests.oracles import exchanges
from tests.oracles.refused_schema_keywords import LAWS, breaches

TARGETS = [name for name in dialects() if name in LAWS]

# Hosts of these dialects accept the same schemas: the library passes a schema between them unchanged.
SAME = ({"openai-chat", "openai-responses", "openrouter"}, {"gemini", "code-assist"})


def tool_lists() -> list[tuple[str, bytes]]:
    """Return every different list of tools in the records, each with its dialect."""
    found: dict[tuple[str, bytes], None] = {}
    for dialect in corpus_files.DIALECTS:
        for record in exchanges.records(dialect):
            request = record.request or {}
            tools = request.get("tools") or (request.get("config") or {}).get("tools")
            if isinstance(tools, list) and tools:
                found.setdefault((dialect, json.dumps(tools).encode()))
    return list(found)


def schemas(target: str, tools: Any) -> Iterator[tuple[str, bool, Any]]:
    """Yield for each declared function its name, whether it is strict, and its schema."""
    for tool in tools:
        for declared in tool.get("functionDeclarations", ()):
            yield declared["name"], False, declared.get("parametersJsonSchema")
        for inner in tool.get("tools", ()):
            yield inner["name"], bool(inner.get("strict")), inner.get("parameters")
        if str(tool.get("type")).startswith("openrouter:"):
            continue  # its `parameters` are the options of a tool that OpenRouter runs
        function = tool.get("function", tool)
        if "parameters" in function or "input_schema" in function:
            schema = function.get("parameters", function.get("input_schema"))
            yield function["name"], bool(function.get("strict")), schema


@pytest.mark.parametrize("target", TARGETS)
def test_no_translated_tool_has_a_keyword_that_its_target_refuses(target: str) -> None:
    lists = tool_lists()
    assert len(lists) > exchanges.least(200, 50)
    bad = []
    count = 0
    for source, tools in lists:
        if source == target or any({source, target} <= group for group in SAME):
            continue
        out = dragoman.translate_tools(tools, source=source, target=target)
        for name, strict, schema in schemas(target, out.json()):
            if schema is not None:
                count += 1
                bad += [(source, name, text) for text in breaches(schema, LAWS[target][strict])]
    assert bad == []
    assert count > exchanges.least(100, 50)
