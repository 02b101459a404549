"""Ollama requests are read: turns, calls with and without ids, settings, and unknown fields."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon import Format, Media, Opaque, Reasoning, Request, Text, ToolCall, ToolResult, Turn
from dragoman.codec.call_ids import hashed_id
from dragoman.context import Context
from dragoman.dialects.ollama import DIALECT
from dragoman.errors import WireError
from tests.unit.dialects.ollama.helpers import read, read_messages, round_trip

USER = {"role": "user", "content": "Hi"}


def call(name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


def assistant_message(*calls: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(calls), **fields}


def test_turns_of_every_role() -> None:
    request, lost = read_messages(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is this?", "images": ["iVBORw0KGgo=", "/9j/AA=="]},
        {"role": "assistant", "content": "A dot.", "thinking": "I look."},
    )
    at = ("messages", 1)
    assert request == Request(
        (
            Turn("system", (Text("Be brief.", at=("messages", 0, "content")),), at=("messages", 0)),
            Turn(
                "user",
                (
                    Text("What is this?", at=(*at, "content")),
                    Media("image", "image/png", "iVBORw0KGgo=", at=(*at, "images", 0)),
                    Media("image", "image/jpeg", "/9j/AA==", at=(*at, "images", 1)),
                ),
                at=at,
            ),
            Turn(
                "assistant",
                (
                    Reasoning("I look.", at=("messages", 2, "thinking")),
                    Text("A dot.", at=("messages", 2, "content")),
                ),
                at=("messages", 2),
            ),
        ),
        "m",
        settings=request.settings,
        stream=False,
    )
    assert lost == []


def test_calls_and_results_with_ids() -> None:
    request, lost = read_messages(
        USER,
        assistant_message(call("f", {"x": 1}, id="call_a"), call("g", {}, id="call_b")),
        {"role": "tool", "content": "2", "tool_name": "g", "tool_call_id": "call_b"},
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "call_a"},
    )
    at = ("messages", 1, "tool_calls")
    assert request.turns[1].parts == (
        ToolCall("call_a", "f", '{"x":1}', at=(*at, 0)),
        ToolCall("call_b", "g", "{}", at=(*at, 1)),
    )
    assert request.turns[2] == Turn(
        "tool",
        (
            ToolResult("call_b", (Text("2", at=("messages", 2, "content")),), "g", at=("messages", 2)),
            ToolResult("call_a", (Text("1", at=("messages", 3, "content")),), "f", at=("messages", 3)),
        ),
        at=("messages", 2),
    )
    assert lost == []


def test_without_ids_results_are_paired_by_name_and_order() -> None:
    request, lost = read_messages(
        USER,
        assistant_message(call("f", {"n": 1}), call("g", {}), call("f", {"n": 2})),
        {"role": "tool", "content": "of g", "tool_name": "g"},
        {"role": "tool", "content": "of the first f", "tool_name": "f"},
        {"role": "tool", "content": "of the second f", "tool_name": "f"},
    )
    ids = [part.id for part in request.turns[1].parts if isinstance(part, ToolCall)]
    assert ids == [hashed_id(f"messages\x1f1\x1ftool_calls\x1f{i}") for i in range(3)]
    answered = [part.call_id for part in request.turns[2].parts if isinstance(part, ToolResult)]
    assert answered == [ids[1], ids[0], ids[2]]
    assert lost == [("call.id.invented", f"/messages/1/tool_calls/{i}") for i in range(3)]


def test_results_without_ids_and_names_are_matched_by_order() -> None:
    request, _ = read_messages(
        USER,
        assistant_message(call("f", {}), call("g", {})),
        {"role": "tool", "content": "1"},
        {"role": "tool", "content": "2"},
    )
    ids = [part.id for part in request.turns[1].parts if isinstance(part, ToolCall)]
    assert [part.call_id for part in request.turns[2].parts if isinstance(part, ToolResult)] == ids


def test_a_result_of_no_call_keeps_its_id_or_gets_one() -> None:
    request, lost = read_messages(
        USER,
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "call_z"},
        {"role": "tool", "content": "2", "tool_name": "f"},
    )
    assert [part.call_id for part in request.turns[1].parts if isinstance(part, ToolResult)] == [
        "call_z",
        hashed_id("messages\x1f2"),
    ]
    assert lost == [("call.id.invented", "/messages/2")]


def test_the_exact_text_of_arguments_is_kept() -> None:
    body = (
        b'{"model":"m","messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f",'
        b'"arguments":{ "n": 1.0, "big": 123456789012345678901234567890, "a":"\\u00e9" }}}]}]}'
    )
    request = DIALECT.read_request(body, Context("ollama", "openai-chat"))
    (part,) = request.turns[0].parts
    assert isinstance(part, ToolCall)
    assert part.arguments == '{ "n": 1.0, "big": 123456789012345678901234567890, "a":"\\u00e9" }'


@pytest.mark.parametrize(
    ("wire", "arguments"),
    [
        ('{"x": 1}', '{"x": 1}'),
        ('{"x": ', '{"x": '),
        (None, ""),
        ([1], "[1]"),
        ({"__raw": '{"x": '}, '{"x": '),
        ({"__raw": "a", "b": 1}, '{"__raw":"a","b":1}'),
    ],
)
def test_arguments_that_are_no_object(wire: Any, arguments: str) -> None:
    request, _ = read_messages(assistant_message(call("f", wire, id="call_a")))
    (part,) = request.turns[0].parts
    assert isinstance(part, ToolCall)
    assert part.arguments == arguments


def test_settings() -> None:
    request, lost = read(
        {
            "model": "m",
            "messages": [USER],
            "stream": True,
            "think": "high",
            "format": {"type": "object"},
            "logprobs": True,
            "top_logprobs": 3,
            "options": {
                "num_predict": 9,
                "temperature": 0.5,
                "top_p": 0.25,
                "top_k": 40,
                "stop": "END",
                "seed": 7,
                "presence_penalty": 0.5,
                "frequency_penalty": 1.5,
            },
        }
    )
    settings = request.settings
    assert (settings.max_tokens, settings.temperature, settings.top_p, settings.top_k) == (9, 0.5, 0.25, 40)
    assert (settings.stop, settings.seed, settings.presence_penalty, settings.frequency_penalty) == (
        ("END",),
        7,
        0.5,
        1.5,
    )
    assert (settings.logprobs, settings.top_logprobs) == (True, 3)
    assert (settings.effort, settings.budget, settings.thoughts) == ("high", None, True)
    assert settings.format == Format("schema", '{"type":"object"}', enforced=True)
    assert (request.stream, lost) == (True, [])


@pytest.mark.parametrize(
    ("think", "found"),
    [(None, (None, None, None)), (False, ("none", None, None)), (True, (None, -1, True)), ("max", ("max", None, True))],
)
def test_thinking(think: Any, found: Any) -> None:
    request, lost = read({"model": "m", "messages": [USER], "think": think})
    settings = request.settings
    assert (settings.effort, settings.budget, settings.thoughts) == found
    assert lost == []


def test_a_stream_is_the_default() -> None:
    assert read({"model": "m", "messages": [USER]})[0].stream is True
    assert read({"model": "m", "messages": [USER], "stream": False})[0].stream is False


def test_fields_that_only_ollama_has_are_reported() -> None:
    request, lost = read(
        {
            "model": "m",
            "messages": [{**USER, "x": 1}],
            "keep_alive": "5m",
            "truncate": False,
            "think": "odd",
            "format": "xml",
            "options": {"num_ctx": 4096, "mirostat": 1, "num_predict": -1},
        }
    )
    assert request.settings.max_tokens is None
    assert request.settings.format is None
    assert sorted(lost) == [
        ("field.dropped", "/format"),
        ("field.dropped", "/keep_alive"),
        ("field.dropped", "/messages/0/x"),
        ("field.dropped", "/options/mirostat"),
        ("field.dropped", "/options/num_ctx"),
        ("field.dropped", "/think"),
        ("field.dropped", "/truncate"),
    ]


def test_fields_in_the_wrong_kind_of_message_are_kept() -> None:
    request, lost = read_messages(
        {**USER, "tool_name": "f", "thinking": "x"},
        {"role": "assistant", "content": "a", "tool_call_id": "c"},
        {"role": "tool", "content": "b", "tool_name": "f", "tool_call_id": "c", "thinking": "y"},
    )
    assert sorted(lost) == [
        ("field.dropped", "/messages/0/thinking"),
        ("field.dropped", "/messages/0/tool_name"),
        ("field.dropped", "/messages/1/tool_call_id"),
        ("field.dropped", "/messages/2/thinking"),
    ]
    assert len(request.turns) == 3


def test_roles() -> None:
    request, _ = read_messages({"role": "User", "content": "Hi"}, {"role": "control", "content": "c", "x": 1})
    assert [turn.role for turn in request.turns] == ["user", "user"]
    (part,) = request.turns[1].parts
    assert part == Opaque("ollama", "control", Raw(b'{"role":"control","content":"c","x":1}'), at=("messages", 1))


def test_a_data_url_is_read_as_an_image_of_its_type() -> None:
    request, _ = read_messages({**USER, "images": ["data:image/webp;base64,AAAA", "AAAA"]})
    assert [(part.mime, part.data) for part in request.turns[0].parts if isinstance(part, Media)] == [
        ("image/webp", "AAAA"),
        ("image/png", "AAAA"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"model": "m"},
        {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]},
        {"model": "m", "messages": [USER], "options": {"temperature": "hot"}},
    ],
)
def test_a_request_that_the_server_refuses_is_refused(body: Any) -> None:
    with pytest.raises(WireError):
        read(body)


SAME: list[Any] = [
    {"model": "m", "messages": [USER], "stream": False},
    {"model": "m", "messages": [USER]},
    {"model": "m", "messages": [USER], "stream": True, "think": True, "format": "json", "keep_alive": 0},
    {"model": "m", "messages": [USER], "stream": True, "think": "low", "format": {"type": "object"}},
    {"model": "m", "messages": [USER], "think": False, "options": {"num_ctx": 1, "mirostat": 2, "num_predict": -2}},
    {"model": "m", "messages": [USER], "format": "", "options": {"top_k": 40, "stop": ["a"]}, "shift": True},
    {"messages": [{"role": "User", "content": "Hi"}, {"role": "control", "content": "c", "x": 1}]},
    {"messages": [{**USER, "images": ["data:image/webp;base64,AAAA", "AAAA"], "x": {"y": 1}}]},
    {
        "messages": [
            USER,
            assistant_message(
                call("f", {"x": 1}), {"type": "function", "function": {"index": 1, "name": "g", "arguments": {}}}
            ),
            {"role": "tool", "content": "1", "tool_name": "f"},
            {"role": "Tool", "content": "2", "images": ["AAAA"]},
        ]
    },
    {
        "messages": [
            assistant_message(call("f", '{"x": ', id="call_a"), call("g", [1], id="call_b"), {"type": "odd", "x": 1}),
            {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "call_z", "y": 1},
        ]
    },
    {
        "messages": [USER],
        "tools": [
            {"type": "function", "function": {"name": "any name!", "parameters": {"$ref": "#"}, "x": 1}, "y": 2},
            {"type": "odd", "z": 3},
        ],
    },
]


@pytest.mark.parametrize("body", SAME)
def test_within_the_dialect_a_request_is_unchanged(body: Any) -> None:
    assert round_trip(body) == body
    assert msgspec.json.decode(msgspec.json.encode(body)) == body
