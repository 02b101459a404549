"""Responses requests are written from requests of other dialects."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman.canon import (
    Choice,
    Format,
    Media,
    Opaque,
    Reasoning,
    Request,
    Seal,
    Settings,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from dragoman.codec.packed_seals import pack
from dragoman.dialects.openai_responses.assistant_items import MADE_HERE
from dragoman.facts.profile import Profile
from tests.unit.dialects.openai_responses.helpers import NAME, losses_of, new_context, round_trip, written

REASONER = Profile(reasoning=True, efforts=("low", "medium", "high"))


def test_a_foreign_request() -> None:
    context = new_context("anthropic")
    request = Request(
        (
            Turn("system", (Text("Be brief."),)),
            Turn("user", (Text("look"), Media("image", "image/png", "QUJD"))),
            Turn("assistant", (Text("one"), Text("two"), ToolCall("c1", "f", ""), ToolCall("c2", "p", "x", True))),
            Turn("tool", (ToolResult("c1", (Text("ok"),)), ToolResult("c2", (Text("bad"),), is_error=True))),
            Turn("system", (Text("new rule"),), name="n"),
            Turn("assistant", (Text("done"),)),
        ),
        "m",
        (Tool("f", "does", '{"type":"object","properties":{}}'), Tool("p", custom=True)),
        Choice("one", ("p",)),
        Settings(77, parallel=False),
    )
    assert written(request, context) == {
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
                ],
            },
            {
                "type": "message",
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": "one", "annotations": []},
                    {"type": "output_text", "text": "two", "annotations": []},
                ],
            },
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "p", "input": "x"},
            {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "Error: bad"},
            {"type": "message", "role": "system", "content": "new rule"},
            {"type": "message", "role": "assistant", "content": "done"},
        ],
        "tools": [
            {
                "type": "function",
                "name": "f",
                "description": "does",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            },
            {"type": "custom", "name": "p"},
        ],
        "tool_choice": {"type": "custom", "name": "p"},
        "max_output_tokens": 77,
        "parallel_tool_calls": False,
        "store": False,
    }
    assert losses_of(context) == [("result.error.as_text", ""), ("name.dropped", "")]


def test_system_text_alone_is_input() -> None:
    assert written(Request((Turn("developer", (Text("rule"),)),), "m"))["input"] == [
        {"type": "message", "role": "developer", "content": "rule"}
    ]
    context = new_context("gemini")
    assert written(Request((), "m"), context)["input"][0]["role"] == "user"
    assert losses_of(context) == [("turn.invented", "")]


def test_a_reasoning_model_gets_no_sampling_and_gives_encrypted_reasoning() -> None:
    context = new_context("gemini", profile=REASONER)
    settings = Settings(
        temperature=0.1, top_p=0.2, top_k=3, seed=1, stop=("x",), n=2, logprobs=True, effort="xhigh", thoughts=True
    )
    out = written(Request((Turn("user", (Text("hi"),)),), "m", settings=settings), context)
    assert out == {
        "model": "m",
        "input": [{"type": "message", "role": "user", "content": "hi"}],
        "reasoning": {"effort": "high", "summary": "auto"},
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    assert {loss.code for loss in context.losses.all()} == {
        "effort.approximated",
        "sampling.dropped",
        "stop.dropped",
        "n.dropped",
        "logprobs.dropped",
    }


def test_other_models_keep_sampling_and_log_probabilities() -> None:
    settings = Settings(temperature=0.1, logprobs=True, top_logprobs=2, thoughts=True, verbosity="low", tier="odd")
    context = new_context("openai-chat")
    out = written(Request((Turn("user", (Text("hi"),)),), "m", settings=settings), context)
    assert out["temperature"] == 0.1
    assert (out["include"], out["top_logprobs"]) == (["message.output_text.logprobs"], 2)
    assert out["text"] == {"verbosity": "low"}
    assert [loss.code for loss in context.losses.all()] == ["thoughts.dropped", "tier.dropped"]


def test_foreign_thinking_is_never_sent_and_own_thinking_is_unchanged() -> None:
    mine, theirs = Seal(NAME, "gAAA"), Seal("anthropic", "sig")
    context = new_context("anthropic")
    parts = (Reasoning("a", seal=mine), Reasoning("b", seal=theirs, at=("x",)), ToolCall("c", "f", "{}"))
    turns = (Turn("assistant", parts), Turn("tool", (ToolResult("c", (Text("ok"),)),)))
    assert written(Request(turns, "m"), context)["input"][:2] == [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}], "encrypted_content": "gAAA"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    ]
    assert losses_of(context) == [("seal.dropped", "/x"), ("reasoning.dropped", "/x")]


def test_an_item_without_its_reasoning_is_sent_without_its_id() -> None:
    """The client returns thinking of another upstream. The thinking and the ids after it must not be sent to OpenAI."""
    foreign = {"type": "reasoning", "id": MADE_HERE + "0", "summary": [{"type": "summary_text", "text": "hm"}]}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "t"}]}
    sealed = {**foreign, "encrypted_content": pack(Seal("anthropic", "sig"))}
    for thought in (foreign, sealed):
        assert round_trip({"model": "m", "input": [thought, call, message]})["input"] == [
            {name: value for name, value in call.items() if name != "id"},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "t", "annotations": []}],
            },
        ]


def test_calls_without_results_results_without_calls_and_repeated_ids() -> None:
    context = new_context("openai-chat")
    request = Request(
        (
            Turn("tool", (ToolResult("lost", (Text("r"),), "g"),)),
            Turn("assistant", (ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}"))),
            Turn("tool", (ToolResult("a", (Text("1"),)), ToolResult("a", (Text("2"),)))),
            Turn("assistant", (ToolCall("a", "f", "{}"),)),
            Turn("tool", (ToolResult("a", (Text("3"),)),)),
        ),
        "m",
    )
    out = written(request, context)["input"]
    second = out[5]["call_id"]
    assert second != "a"
    assert out == [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "[result of g, call lost]"},
                {"type": "input_text", "text": "r"},
            ],
        },
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "b", "output": "Error: no result was recorded for this call."},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call", "call_id": second, "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": second, "output": "3"},
    ]
    assert [loss.code for loss in context.losses.all()] == [
        "result.orphaned",
        "result.invented",
        "result.duplicate",
        "call.id.rewritten",
    ]


def test_media_of_a_result_are_kept_or_summarised() -> None:
    result = ToolResult("c", (Text("see"), Media("image", "image/png", "QUJD"), Media("audio", "audio/wav", "QUJD")))
    turns = (Turn("assistant", (ToolCall("c", "f"),)), Turn("tool", (result,)))
    context = new_context("anthropic")
    assert written(Request(turns, "m"), context)["input"][1]["output"] == [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
        {"type": "input_text", "text": "Binary content of type audio/wav was processed."},
    ]
    assert [loss.code for loss in context.losses.all()] == ["media.dropped"]
    context = new_context("anthropic", binary="summarise")
    assert written(Request(turns, "m"), context)["input"][1]["output"][1] == {
        "type": "input_text",
        "text": "Binary content of type image/png was processed.",
    }
    assert {loss.code for loss in context.losses.all()} == {"media.summarised"}


def test_parts_without_a_counterpart_in_responses() -> None:
    context = new_context("gemini")
    parts = (
        Opaque("gemini", "executableCode", Raw(b"{}"), at=("a",)),
        Media("image", "image/bmp", "QUJD", at=("b",)),
        Text("cached", cache="5m", at=("c",)),
        ToolCall("x y", "bad name", "null", seal=Seal("gemini", "s"), at=("d",)),
    )
    out = written(Request((Turn("user", (Text("q"),)), Turn("assistant", parts)), "m"), context)["input"]
    assert out[1]["content"] == [
        {"type": "output_text", "text": "[image/bmp attached here could not be sent]", "annotations": []},
        {"type": "output_text", "text": "cached", "annotations": []},
    ]
    assert out[2]["arguments"] == "{}"
    assert out[2]["call_id"] == out[3]["call_id"] != "x y"
    assert out[2]["name"] != "bad name"
    assert losses_of(context) == [
        ("hosted.dropped", "/a"),
        ("media.dropped", "/b"),
        ("cache.dropped", "/c"),
        ("call.id.rewritten", "/d"),
        ("tool.renamed", "/d"),
        ("seal.dropped", "/d"),
        ("result.invented", "/d"),
    ]


def test_settings_of_other_dialects() -> None:
    context = new_context("anthropic")
    settings = Settings(
        user="u" * 65,
        cache="5m",
        effort="high",
        thoughts=True,
        metadata={"k": "v"},
        cache_key="c",
        format=Format("schema", '{"type":"object"}', description="d", strict=True),
        at={"user": ("metadata", "user_id")},
    )
    out = written(Request((Turn("user", (Text("q"),)),), settings=settings), context)
    schema = out["text"]["format"].pop("schema")
    assert schema["type"] == "object"
    assert out == {
        "model": "unspecified",
        "input": [{"type": "message", "role": "user", "content": "q"}],
        "reasoning": {"effort": "high", "summary": "auto"},
        "text": {"format": {"type": "json_schema", "name": "answer", "description": "d"}},
        "metadata": {"k": "v"},
        "prompt_cache_key": "c",
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    assert {code for code, _ in losses_of(context)} >= {
        "model.invented",
        "cache.dropped",
        "user.dropped",
        "format.strict.dropped",
    }


def test_plain_json_and_a_missing_schema() -> None:
    for wish, expected in (
        (Format("json"), {"type": "json_object"}),
        (Format("schema", name="n"), {"type": "json_schema", "name": "n", "schema": {}}),
    ):
        request = Request((Turn("user", (Text("q"),)),), "m", settings=Settings(format=wish, user="u", tier="flex"))
        out = written(request, new_context("openai-chat"))
        assert (out["text"], out["safety_identifier"], out["service_tier"]) == ({"format": expected}, "u", "flex")


def test_a_choice_without_tools_is_none() -> None:
    for mode, losses in (
        ("auto", []),
        ("none", [("choice.dropped", "")]),
        ("required", [("choice.dropped", "")]),
    ):
        context = new_context("anthropic")
        out = written(Request((Turn("user", (Text("q"),)),), "m", choice=Choice(mode)), context)  # type: ignore[arg-type]
        assert "tool_choice" not in out
        assert losses_of(context) == losses


def test_results_with_flags() -> None:
    context = new_context("anthropic")
    image = Media("image", "image/png", "QUJD")
    results = (
        ToolResult("a", (image,), is_error=True, at=("a",)),
        ToolResult("b", (Text('{"n":1}'),), structured=True, cache="5m", at=("b",)),
        ToolResult("c", (Text("Error: x"),), is_error=True, at=("c",)),
        Text("stray", at=("d",)),
    )
    calls = tuple([ToolCall(name, "f", "{}") for name in "abc"])
    out = written(Request((Turn("assistant", calls), Turn("tool", results)), "m"), context)["input"]
    assert [item["output"] for item in out[3:]] == [
        [
            {"type": "input_text", "text": "Error:"},
            {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
        ],
        '{"n":1}',
        "Error: x",
    ]
    assert losses_of(context) == [
        ("result.error.as_text", "/a"),
        ("result.structured.as_text", "/b"),
        ("cache.dropped", "/b"),
        ("result.error.as_text", "/c"),
        ("part.dropped", "/d"),
    ]


@pytest.mark.parametrize(("limit", "sent", "losses"), [(1, 16, [("limit.raised", "")]), (16, 16, []), (17, 17, [])])
def test_a_limit_below_the_minimum_is_raised(limit: int, sent: int, losses: list[tuple[str, str]]) -> None:
    context = new_context("anthropic")
    request = Request((Turn("user", (Text("Hi."),)),), "m", settings=Settings(limit))
    assert written(request, context)["max_output_tokens"] == sent
    assert [one for one in losses_of(context) if one[0] == "limit.raised"] == losses
