"""Code Assist tool declarations without a request."""

from __future__ import annotations

import pytest

import dragoman
from dragoman import WireError

from .helpers import NAME

TOOLS = [
    {"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": {"type": "object"}, "x": 1}]},
    {"googleSearch": {}},
    {"fileSearch": {"fileSearchStoreNames": ["s"]}},
]


def test_declarations_are_the_same_in_gemini() -> None:
    done = dragoman.translate_tools(TOOLS, source=NAME, target="gemini")
    assert (done.json(), done.losses) == (TOOLS, ())


def test_tools_that_only_the_developer_api_runs_are_dropped() -> None:
    done = dragoman.translate_tools(TOOLS, source="gemini", target=NAME)
    assert done.json() == TOOLS[:2]
    assert [(loss.code, loss.path) for loss in done.losses] == [("tool.hosted.dropped", "/tools/2/fileSearch")]


def test_foreign_declarations_are_written_in_gemini_form() -> None:
    tools = [{"name": "f", "input_schema": {"type": "object", "properties": {"a": {"const": 1}}}}]
    done = dragoman.translate_tools(tools, source="anthropic", target=NAME)
    assert done.body == dragoman.translate_tools(tools, source="anthropic", target="gemini").body


def test_a_body_without_a_list_of_tools_is_refused_with_the_dialect_name() -> None:
    with pytest.raises(WireError, match="not code-assist at /tools/0/functionDeclarations"):
        dragoman.translate_tools([{"functionDeclarations": 7}], source=NAME, target="anthropic")
