"""Tool declarations alone."""

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


def test_declarations_cross_to_gemini_as_they_are() -> None:
    done = dragoman.translate_tools(TOOLS, source=NAME, target="gemini")
    assert (done.json(), done.losses) == (TOOLS, ())


def test_what_only_the_developer_api_runs_stays_behind() -> None:
    done = dragoman.translate_tools(TOOLS, source="gemini", target=NAME)
    assert done.json() == TOOLS[:2]
    assert [(loss.code, loss.path) for loss in done.losses] == [("tool.hosted.dropped", "/tools/2/fileSearch")]


def test_declarations_of_others_are_written_as_gemini_takes_them() -> None:
    tools = [{"name": "f", "input_schema": {"type": "object", "properties": {"a": {"const": 1}}}}]
    done = dragoman.translate_tools(tools, source="anthropic", target=NAME)
    assert done.body == dragoman.translate_tools(tools, source="anthropic", target="gemini").body


def test_what_is_no_list_of_tools_is_refused_in_the_dialects_name() -> None:
    with pytest.raises(WireError, match="not code-assist at /tools/0/functionDeclarations"):
        dragoman.translate_tools([{"functionDeclarations": 7}], source=NAME, target="anthropic")
