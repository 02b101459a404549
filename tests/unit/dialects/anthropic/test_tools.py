"""Messages tools and tool choice: reading, writing, fitting of schemas, and filtering."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon.parts import Text
from dragoman.canon.request import Request, Settings
from dragoman.canon.tools import Choice, Grammar, HostedTool, Tool
from dragoman.canon.turns import Turn
from dragoman.context import Context
from dragoman.dialects.anthropic import DIALECT
from dragoman.facts.profile import Profile
from tests.unit.dialects.anthropic.helpers import MESSAGES, read_messages, round_trip, write
from tests.unit.dialects.documents_and_losses import Losses, losses

_SCHEMA = '{"type":"object","properties":{"a":{"type":"string"}}}'
_HI = {"role": "user", "content": "hi"}
_TURNS = (Turn("user", (Text("hi"),)),)


def _read(*tools: Any) -> tuple[Any, Losses]:
    context = Context(MESSAGES, "openai-chat")
    return DIALECT.read_tools(msgspec.json.encode(tools), context), losses(context)


def _written(*tools: Tool | HostedTool, source: str = "openai-chat") -> tuple[Any, Losses]:
    context = Context(source, MESSAGES)
    return msgspec.json.decode(DIALECT.write_tools(tools, context)), losses(context)


def _written_request(
    choice: Choice | None, *tools: Tool | HostedTool, profile: Profile | None = None, **settings: Any
) -> Any:
    return write(Request(_TURNS, "m", tools, choice, Settings(max_tokens=9, **settings)), profile=profile)


def test_a_client_tool_is_read_with_its_exact_schema() -> None:
    tools, lost = _read(
        {"name": "f", "description": "d", "input_schema": Raw(_SCHEMA.encode()), "strict": True},
        {"type": "custom", "name": "g", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}},
    )
    assert tools == (
        Tool("f", "d", _SCHEMA, True, at=("tools", 0), schema_at=("input_schema",)),
        Tool(
            "g",
            "",
            '{"type":"object"}',
            cache="",
            extra={MESSAGES: {"type": Raw(b'"custom"')}},
            at=("tools", 1),
            schema_at=("input_schema",),
        ),
    )
    assert lost == []


def test_fields_of_a_tool_that_only_anthropic_has_are_kept_and_reported() -> None:
    tool = {"name": "f", "input_schema": {}, "defer_loading": True, "eager_input_streaming": True, "odd": 1}
    tools, lost = _read(tool)
    assert tools[0].deferred
    assert tools[0].extra == {MESSAGES: {"eager_input_streaming": Raw(b"true"), "odd": Raw(b"1")}}
    assert lost == [("field.dropped", "/tools/0/eager_input_streaming"), ("field.dropped", "/tools/0/odd")]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "tomorrow_20300101", "name": "t", "news": {"x": [1, 2.50]}},
    ],
)
def test_tools_with_a_known_type_are_kept_whole(tool: dict[str, Any]) -> None:
    tools, lost = _read(tool)
    assert [type(found) for found in tools] == [HostedTool]
    assert (tools[0].dialect, tools[0].kind, tools[0].at) == (MESSAGES, tool["type"], ("tools", 0))
    assert msgspec.json.decode(tools[0].value) == tool
    assert lost == []
    assert _written(*tools, source=MESSAGES) == ([tool], [])


def test_tools_are_written_flat() -> None:
    tools, lost = _written(Tool("f", "d", _SCHEMA), Tool("g"))
    assert tools == [
        {"name": "f", "description": "d", "input_schema": msgspec.json.decode(_SCHEMA)},
        {"name": "g", "input_schema": {"type": "object", "properties": {}}},
    ]
    assert lost == []


def test_fields_of_a_foreign_tool_that_anthropic_lacks_are_reported() -> None:
    tool = Tool("ns.f", output_schema="{}", deferred=True, at=("tools", 0))
    hosted = HostedTool("openai-responses", "file_search", Raw(b"{}"), at=("tools", 1))
    tools, lost = _written(tool, hosted)
    name = "ns_f_" + sha256(b"ns.f").hexdigest()[:10]
    assert tools == [{"name": name, "input_schema": {"type": "object", "properties": {}}}]
    assert lost == [
        ("tool.renamed", "/tools/0"),
        ("tool.output_schema.dropped", "/tools/0"),
        ("tool.deferred.expanded", "/tools/0"),
        ("tool.hosted.dropped", "/tools/1"),
    ]


def test_a_free_text_tool_is_wrapped() -> None:
    tools, lost = _written(Tool("patch", "edits", custom=True, grammar=Grammar("lark", "start: X"), at=("tools", 0)))
    assert tools == [
        {
            "name": "patch",
            "description": "edits\n\nThe string `input` must match this lark grammar:\nstart: X",
            "input_schema": {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]},
        }
    ]
    assert lost == [("tool.custom.wrapped", "/tools/0")]


def test_a_strict_schema_is_reduced_to_the_keywords_that_the_upstream_enforces() -> None:
    schema = '{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}'
    tools, lost = _written(Tool("f", "", schema, True, at=("tools", 0), schema_at=("function", "parameters")))
    written = tools[0]["input_schema"]
    assert tools[0]["strict"] is True
    assert written["additionalProperties"] is False
    assert "minimum" not in written["properties"]["n"]
    assert ("schema.keyword.dropped", "/tools/0/function/parameters/properties/n/minimum") in lost


def test_a_strict_tool_without_parameters_is_closed() -> None:
    tools, _ = _written(Tool("f", strict=True))
    assert tools[0]["input_schema"] == {"type": "object", "properties": {}, "additionalProperties": False}


def test_only_a_limited_number_of_tools_is_strict() -> None:
    tools, lost = _written(*[Tool(f"f{i}", strict=True, at=("tools", i)) for i in range(22)])
    assert [tool.get("strict") for tool in tools] == [True] * 20 + [None] * 2
    assert lost == [("tool.strict.dropped", "/tools/20"), ("tool.strict.dropped", "/tools/21")]


def test_a_schema_that_is_no_object_becomes_one() -> None:
    tools, lost = _written(Tool("f", "", '{"type":"string"}', at=("tools", 0)))
    assert tools[0]["input_schema"]["type"] == "object"
    assert [code for code, _ in lost] == ["schema.invalid"]


def test_explicit_defaults_survive_a_round_trip() -> None:
    body = {
        "model": "m",
        "max_tokens": 1,
        "messages": [_HI],
        "tools": [
            {
                "name": "f",
                "description": "",
                "input_schema": {"type": "object"},
                "defer_loading": False,
                "type": "custom",
            }
        ],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": False},
    }
    assert round_trip(body) == (body, [])


def test_an_empty_list_of_tools_survives_a_round_trip() -> None:
    body = {"model": "m", "max_tokens": 1, "messages": [_HI], "tools": [], "tool_choice": {"type": "none"}}
    assert round_trip(body) == (body, [])


# choice


@pytest.mark.parametrize(
    ("wire", "choice", "parallel"),
    [
        ({"type": "auto"}, Choice("auto", at=("tool_choice",)), None),
        ({"type": "any", "disable_parallel_tool_use": True}, Choice("required", at=("tool_choice",)), False),
        ({"type": "tool", "name": "f"}, Choice("one", ("f",), at=("tool_choice",)), None),
        ({"type": "none"}, Choice("none", at=("tool_choice",)), None),
    ],
)
def test_choices_are_read_and_written(wire: Any, choice: Choice, parallel: bool | None) -> None:
    request, lost = read_messages(_HI, tools=[{"name": "f", "input_schema": {"type": "object"}}], tool_choice=wire)
    assert (request.choice, request.settings.parallel, lost) == (choice, parallel, [])
    out, _ = _written_request(choice, Tool("f"), parallel=parallel)
    assert out["tool_choice"] == wire


def test_an_unknown_choice_is_kept() -> None:
    request, lost = read_messages(_HI, tool_choice={"type": "whim"})
    assert request.choice == Choice(
        "auto", extra={MESSAGES: {"tool_choice": Raw(b'{"type":"whim"}')}}, at=("tool_choice",)
    )
    assert lost == [("field.dropped", "/tool_choice")]


def test_parallel_off_without_a_choice() -> None:
    out, lost = _written_request(None, Tool("f"), parallel=False)
    assert out["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert lost == []


def test_parallel_off_is_not_written_if_no_tool_may_be_called() -> None:
    out, lost = _written_request(Choice("none"), Tool("f"), parallel=False)
    assert out["tool_choice"] == {"type": "none"}
    assert lost == [("parallel.unenforced", "")]


def test_a_choice_of_some_tools_filters_the_tools() -> None:
    out, lost = _written_request(Choice("required", ("g",), at=("tool_choice",)), Tool("f", at=("tools", 0)), Tool("g"))
    assert [tool["name"] for tool in out["tools"]] == ["g"]
    assert out["tool_choice"] == {"type": "any"}
    assert lost == [("choice.by_filter", "/tool_choice"), ("choice.by_filter", "/tools/0")]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (Choice("required", at=("c",)), "You must call at least one of the tools in your next answer."),
        (Choice("one", ("f",), at=("c",)), "You must call the tool `f` in your next answer."),
    ],
)
def test_a_choice_that_the_model_refuses_is_written_as_an_instruction(choice: Choice, words: str) -> None:
    out, lost = _written_request(choice, Tool("f"), profile=Profile(forced_choice="refused"))
    assert (out["tool_choice"], out["system"], lost) == ({"type": "auto"}, words, [("choice.weakened", "/c")])


def test_a_forced_choice_becomes_auto_with_a_thinking_budget() -> None:
    profile = Profile(thinking=("enabled", "disabled"), forced_choice="without_thinking")
    out, lost = _written_request(Choice("required", at=("c",)), Tool("f"), profile=profile, budget=2048)
    assert out["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert out["tool_choice"] == {"type": "auto"}
    assert ("choice.weakened", "/c") in lost


@pytest.mark.parametrize("choice", [Choice("required", at=("c",)), Choice("one", ("f",), at=("c",))])
def test_a_choice_without_its_tool_is_dropped(choice: Choice) -> None:
    out, lost = _written_request(choice)
    assert "tool_choice" not in out
    assert lost == [("choice.dropped", "/c")]


def test_a_choice_of_an_undeclared_tool_is_dropped() -> None:
    out, lost = _written_request(Choice("one", ("h",), at=("c",)), Tool("f"))
    assert out["tool_choice"] == {"type": "auto"}
    assert lost == [("choice.dropped", "/c")]


def test_a_choice_names_the_tool_as_declared() -> None:
    out, lost = _written_request(Choice("one", ("get",), at=("c",)), Tool("get", namespace="crm", at=("tools", 0)))
    assert [tool["name"] for tool in out["tools"]] == ["crm__get"]
    assert out["tool_choice"] == {"type": "tool", "name": "crm__get"}
    assert lost == [("tool.namespace.prefixed", "/tools/0")]


def test_fields_that_only_anthropic_has_survive_a_round_trip() -> None:
    body = {
        "model": "m",
        "max_tokens": 1,
        "messages": [_HI],
        "tools": [
            {"name": "f", "input_schema": {"type": "object"}, "defer_loading": True, "max_uses": 3},
            {"type": "web_search_20250305", "name": "web_search", "cache_control": {"type": "ephemeral"}, "odd": 1},
            {"neither": {"name": 1, "nor": "type"}},
        ],
        "tool_choice": {"type": "whim"},
    }
    assert round_trip(body) == (body, [])


def test_a_deferred_tool_has_no_cache_mark() -> None:
    tool = Tool("f", deferred=True, cache="", at=("tools", 0))
    tools, lost = _written(tool, source=MESSAGES)
    assert tools == [{"name": "f", "input_schema": {"type": "object", "properties": {}}, "defer_loading": True}]
    assert lost == [("cache.dropped", "/tools/0")]
