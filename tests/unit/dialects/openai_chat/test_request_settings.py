"""Chat requests are written: settings, the model and the stream field."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.canon.parts import Text
from dragoman.canon.request import Format, Request, Settings
from dragoman.canon.tools import Tool
from dragoman.canon.turns import Turn
from dragoman.facts.profile import Profile
from tests.unit.dialects.openai_chat.helpers import CHAT, write

USER_TURNS = (Turn("user", (Text("hi"),)),)

# settings, written


def _written(settings: Settings, **options: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    tools = options.pop("tools", ())
    written, lost = write(Request(USER_TURNS, tools=tools, settings=settings), **options)
    return {name: value for name, value in written.items() if name not in ("model", "messages", "tools")}, lost


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        (Settings(max_tokens=5), {"max_completion_tokens": 5}),
        (Settings(temperature=0.5, top_p=0.4), {"temperature": 0.5, "top_p": 0.4}),
        (Settings(stop=("a", "b")), {"stop": ["a", "b"]}),
        (Settings(seed=1, n=2), {"seed": 1, "n": 2}),
        (Settings(presence_penalty=0.1, frequency_penalty=0.2), {"presence_penalty": 0.1, "frequency_penalty": 0.2}),
        (Settings(logprobs=True, top_logprobs=3), {"logprobs": True, "top_logprobs": 3}),
        (Settings(effort="high"), {"reasoning_effort": "high"}),
        (Settings(verbosity="low"), {"verbosity": "low"}),
        (Settings(metadata={"a": "b"}), {"metadata": {"a": "b"}}),
        (Settings(tier="flex"), {"service_tier": "flex"}),
        (Settings(cache_key="k"), {"prompt_cache_key": "k"}),
        (Settings(user="u"), {"safety_identifier": "u"}),
        (Settings(user="u", at={"user": ("user",)}), {"user": "u"}),
        (Settings(stream_usage=True), {"stream_options": {"include_usage": True}}),
        (
            Settings(format=Format("schema", '{"type":"object","properties":{}}', "n", "d", False)),
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {
                        "name": "n",
                        "description": "d",
                        "schema": {"type": "object", "properties": {}},
                        "strict": False,
                    },
                }
            },
        ),
        (
            Settings(format=Format("schema")),
            {"response_format": {"type": "json_schema", "json_schema": {"name": "answer"}}},
        ),
    ],
)
def test_a_setting_is_written(settings: Settings, fields: dict[str, Any]) -> None:
    assert _written(settings) == (fields, [])


@pytest.mark.parametrize(
    ("source", "prompt", "first"),
    [
        ("gemini", "List three cities.", "Answer with one valid JSON object and nothing else."),
        ("gemini", "List three cities as json.", "List three cities as json."),
        ("openai-responses", "List three cities.", "List three cities."),
    ],
)
def test_json_mode_has_the_word_json_in_its_messages(source: str, prompt: str, first: str) -> None:
    turns = (Turn("user", (Text(prompt),)), Turn("user", (Text("JSON, please."),)))
    written, lost = write(Request(turns, settings=Settings(format=Format("json"))), source)
    assert written["response_format"] == {"type": "json_object"}
    assert written["messages"][0]["content"] == first
    assert ("turn.invented" in dict(lost)) is (first != prompt)


def test_parallel_calls_are_written_only_with_tools() -> None:
    assert _written(Settings(parallel=False), tools=(Tool("f"),)) == ({"parallel_tool_calls": False}, [])
    assert _written(Settings(parallel=True)) == ({}, [])
    assert _written(Settings(parallel=False)) == ({}, [("parallel.unenforced", "")])


AT = {name: (name,) for name in Settings.__struct_fields__}


@pytest.mark.parametrize(
    ("settings", "code", "path"),
    [
        (Settings(top_k=40, at=AT), "sampling.dropped", "/top_k"),
        (Settings(thoughts=True, at=AT), "thoughts.dropped", "/thoughts"),
        (Settings(cache="5m", at=AT), "cache.dropped", "/cache"),
        (Settings(user="u" * 129, at=AT | {"user": ("metadata", "user_id")}), "user.dropped", "/metadata/user_id"),
        (Settings(tier="standard_only", at=AT), "tier.dropped", "/tier"),
    ],
)
def test_a_setting_without_a_place_is_a_loss(settings: Settings, code: str, path: str) -> None:
    assert _written(settings) == ({}, [(code, path)])


def test_more_stops_than_four_are_cut() -> None:
    assert _written(Settings(stop=tuple("abcde"), at=AT)) == ({"stop": list("abcd")}, [("stop.truncated", "/stop")])


def test_a_budget_becomes_an_effort() -> None:
    assert _written(Settings(budget=8192, at=AT)) == (
        {"reasoning_effort": "medium"},
        [("effort.approximated", "/budget")],
    )


def test_a_strict_format_of_another_dialect_is_made_to_fit() -> None:
    shape = Format(
        "schema", '{"type":"object","properties":{"a":{"type":"string"}}}', strict=True, schema_at=("schema",)
    )
    written, lost = _written(Settings(format=shape, at=AT))
    assert written["response_format"]["json_schema"]["schema"]["required"] == ["a"]
    assert {code for code, _ in lost} == {"schema.rewritten"}
    assert all(path.startswith("/format/schema") for _, path in lost)


SAMPLING = Settings(
    temperature=0.1,
    top_p=0.2,
    presence_penalty=0.3,
    frequency_penalty=0.4,
    logprobs=True,
    top_logprobs=2,
    seed=1,
    at=AT,
)


def test_a_reasoning_model_gets_no_sampling() -> None:
    names = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
    probabilities = ("logprobs", "top_logprobs")
    assert _written(SAMPLING, profile=Profile(reasoning=True)) == (
        {"seed": 1},
        [
            *[("sampling.dropped", f"/{name}") for name in names],
            *[("logprobs.dropped", f"/{name}") for name in probabilities],
        ],
    )


@pytest.mark.parametrize(
    ("settings", "effort", "lost"),
    [
        (Settings(effort="none", at=AT), "none", []),
        (Settings(effort="high", at=AT), "none", [("effort.approximated", "/effort")]),
        (Settings(budget=-1, at=AT), "none", [("effort.approximated", "/budget")]),
        (Settings(at=AT), "none", [("effort.approximated", "")]),
    ],
)
def test_tools_on_newer_models_need_effort_none(settings: Settings, effort: str, lost: list[tuple[str, str]]) -> None:
    profile = Profile(chat_tools="effort_none")
    assert _written(settings, profile=profile, tools=(Tool("f"),)) == ({"reasoning_effort": effort}, lost)


def test_without_tools_any_effort_is_sent() -> None:
    assert _written(Settings(effort="high"), profile=Profile(chat_tools="effort_none")) == (
        {"reasoning_effort": "high"},
        [],
    )


def test_a_model_that_refuses_tools_in_chat_is_reported() -> None:
    found = _written(Settings(effort="high"), profile=Profile(chat_tools="refused"), tools=(Tool("f"),))
    assert found == ({"reasoning_effort": "high"}, [("tool.refused", "")])


def test_the_requested_model_is_written() -> None:
    assert write(Request(USER_TURNS, "old"), model="new")[0]["model"] == "new"
    assert write(Request(USER_TURNS, "old"), model="")[0]["model"] == "old"
    messages = [{"role": "user", "content": "hi"}]
    assert write(Request(USER_TURNS), model="") == (
        {"model": "unspecified", "messages": messages},
        [("model.invented", "")],
    )
    assert write(Request(()), model="", source=CHAT) == ({"messages": []}, [])


@pytest.mark.parametrize(
    ("stream", "usage", "fields"),
    [
        (True, None, {"stream": True, "stream_options": {"include_usage": True}}),
        (True, False, {"stream": True, "stream_options": {"include_usage": False}}),
        (False, None, {"stream": False}),
        (None, None, {}),
    ],
)
def test_usage_is_requested_for_clients_of_other_dialects(
    stream: bool | None, usage: bool | None, fields: dict[str, Any]
) -> None:
    written, _ = write(Request(USER_TURNS, stream=stream, settings=Settings(stream_usage=usage)))
    assert {name: value for name, value in written.items() if name not in ("model", "messages")} == fields


def test_within_the_dialect_usage_is_not_requested() -> None:
    assert "stream_options" not in write(Request(USER_TURNS, stream=True), source=CHAT)[0]


def test_an_empty_conversation_gets_a_turn() -> None:
    written, lost = write(Request(()))
    assert written["messages"] == [{"role": "user", "content": "(nothing was said)"}]
    assert lost == [("turn.invented", "")]
