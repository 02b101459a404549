"""Chat requests are read: every message, part and setting."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon.parts import Citation, Media, Opaque, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Format, Request, Settings
from dragoman.canon.tools import HostedTool
from dragoman.canon.turns import Turn
from dragoman.errors import WireError
from tests.unit.dialects.openai_chat.helpers import CHAT, read, read_messages, write


def _text(text: str, *at: str | int) -> Text:
    return Text(text, at=("messages", *at))


def _parts(*parts: Any) -> tuple[tuple[Part, ...], list[tuple[str, str]]]:
    """The parts of a user message with this content."""
    request, lost = read_messages({"role": "user", "content": list(parts)})
    return request.turns[0].parts, lost


# messages, read


@pytest.mark.parametrize("role", ["system", "developer", "user"])
def test_text_messages_are_turns(role: Any) -> None:
    request, lost = read_messages({"role": role, "content": "hi", "name": "ann"})
    assert request.turns == (Turn(role, (_text("hi", 0, "content"),), "ann", at=("messages", 0)),)
    assert lost == []


def test_system_messages_keep_their_place() -> None:
    request, _ = read_messages(
        {"role": "system", "content": "a"}, {"role": "user", "content": "b"}, {"role": "developer", "content": "c"}
    )
    assert [turn.role for turn in request.turns] == ["system", "user", "developer"]


def test_an_assistant_message_has_thinking_text_refusal_and_calls() -> None:
    request, lost = read_messages(
        {
            "role": "assistant",
            "reasoning_content": "hm",
            "content": "ok",
            "refusal": "no",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.0}'}},
                {"id": "c2", "type": "custom", "custom": {"name": "p", "input": "+x"}},
            ],
        }
    )
    at = ("messages", 0)
    thought = Reasoning(
        "hm", extra={CHAT: {"dragoman.field": Raw(b'"reasoning_content"')}}, at=(*at, "reasoning_content")
    )
    assert request.turns == (
        Turn(
            "assistant",
            (
                thought,
                Text("ok", at=(*at, "content")),
                Text("no", True, at=(*at, "refusal")),
                ToolCall("c1", "f", '{"a": 1.0}', at=(*at, "tool_calls", 0)),
                ToolCall("c2", "p", "+x", True, at=(*at, "tool_calls", 1)),
            ),
            at=at,
        ),
    )
    assert lost == []


@pytest.mark.parametrize("content", [{"content": None}, {}, {"content": ""}, {"content": []}])
def test_calls_need_no_content(content: dict[str, Any]) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    request, lost = read_messages({"role": "assistant", **content, "tool_calls": [call]})
    assert request.turns[0].parts == (ToolCall("c", "f", "{}", at=("messages", 0, "tool_calls", 0)),)
    assert lost == []


def test_the_content_of_the_assistant_may_be_parts() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}]
    request, _ = read_messages({"role": "assistant", "content": content})
    assert request.turns[0].parts == (
        _text("a", 0, "content", 0),
        Text("b", True, at=("messages", 0, "content", 1)),
    )


def test_results_of_one_step_are_one_turn() -> None:
    request, lost = read_messages(
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "two"}]},
        {"role": "user", "content": "go on"},
        {"role": "tool", "tool_call_id": "c3", "content": None},
    )
    assert request.turns == (
        Turn(
            "tool",
            (
                ToolResult("c1", (_text("one", 0, "content"),), at=("messages", 0)),
                ToolResult("c2", (_text("two", 1, "content", 0),), at=("messages", 1)),
            ),
            at=("messages", 0),
        ),
        Turn("user", (_text("go on", 2, "content"),), at=("messages", 2)),
        Turn("tool", (ToolResult("c3", at=("messages", 3)),), at=("messages", 3)),
    )
    assert lost == []


def test_a_result_may_have_the_name_of_the_tool() -> None:
    request, lost = read_messages({"role": "tool", "tool_call_id": "c1", "name": "f", "content": "one", "x": 1})
    extra = {CHAT: {"x": Raw(b"1"), "name": Raw(b'"f"')}}
    assert request.turns[0].parts == (
        ToolResult("c1", (_text("one", 0, "content"),), "f", extra=extra, at=("messages", 0)),
    )
    assert lost == [("field.dropped", "/messages/0/x")]
    assert write(request, source=CHAT)[0]["messages"] == [
        {"role": "tool", "tool_call_id": "c1", "content": "one", "x": 1, "name": "f"}
    ]


def test_calls_without_ids_are_paired_by_order_and_name() -> None:
    calls = [{"type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("f", "g", "f")]
    request, lost = read_messages(
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "name": "g", "content": "1"},
        {"role": "tool", "content": "2"},
        {"role": "tool", "content": "3"},
        {"role": "tool", "content": "4"},
    )
    minted = [part.id for part in request.turns[0].parts if isinstance(part, ToolCall)]
    assert len(set(minted)) == 3
    answered = [part.call_id for part in request.turns[1].parts if isinstance(part, ToolResult)]
    assert answered == [minted[1], minted[0], minted[2], ""]
    assert lost == [("call.id.invented", f"/messages/0/tool_calls/{i}") for i in range(3)]


def test_a_result_without_an_id_or_a_call_has_none() -> None:
    request, _ = read_messages({"role": "tool", "content": "1"})
    assert request.turns[0].parts == (ToolResult("", (_text("1", 0, "content"),), at=("messages", 0)),)


def test_legacy_calls_and_results_are_paired() -> None:
    request, lost = read_messages(
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}},
        {"role": "function", "name": "f", "content": "one"},
        {"role": "assistant", "content": "", "function_call": {"name": "g", "arguments": "{}"}},
        {"role": "function", "name": "g", "content": "two"},
        {"role": "assistant", "content": "done", "function_call": {"arguments": ""}},
    )
    calls = [part for turn in request.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert calls == [
        ToolCall("call_legacy_1", "f", '{"a":1}', at=("messages", 0, "function_call")),
        ToolCall("call_legacy_2", "g", "{}", at=("messages", 2, "function_call")),
    ]
    results = [part.call_id for turn in request.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert results == ["call_legacy_1", "call_legacy_2"]
    assert lost == []
    assert write(request)[0]["messages"][:2] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_legacy_1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_legacy_1", "content": "one", "name": "f"},
    ]


def test_unknown_fields_of_a_legacy_call_are_kept() -> None:
    request, lost = read_messages({"role": "assistant", "function_call": {"name": "f", "arguments": "{}", "x": 1}})
    assert lost == [("field.dropped", "/messages/0/function_call/x")]
    (call,) = write(request, source=CHAT)[0]["messages"][0]["tool_calls"]
    assert call["function"] == {"name": "f", "arguments": "{}", "x": 1}


def test_a_message_of_an_unknown_role_is_kept_whole() -> None:
    message = {"role": "critic", "content": "meh"}
    request, _ = read_messages(message)
    assert request.turns == (
        Turn(
            "user",
            (Opaque(CHAT, "critic", Raw(b'{"role":"critic","content":"meh"}'), at=("messages", 0)),),
            at=("messages", 0),
        ),
    )
    assert write(request, source=CHAT)[0]["messages"] == [message]


def test_arguments_may_be_an_object() -> None:
    request, _ = read_messages(
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"b": 1, "a": 2}}}]}
    )
    assert request.turns[0].parts == (ToolCall("c", "f", '{"b":1,"a":2}', at=("messages", 0, "tool_calls", 0)),)


def test_a_call_of_an_unknown_kind_is_kept_whole() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "mcp", "mcp": {"a": 1}}]}
    request, lost = read_messages(message)
    call = Opaque(CHAT, "mcp", Raw(b'{"id":"c","type":"mcp","mcp":{"a":1}}'), at=("messages", 0, "tool_calls", 0))
    assert (request.turns[0].parts, lost) == ((call,), [])
    assert write(request, source=CHAT)[0]["messages"] == [message]


# thinking, read


@pytest.mark.parametrize(
    ("fields", "text", "field"),
    [
        ({"reasoning_content": "a"}, "a", "reasoning_content"),
        ({"reasoning": "a"}, "a", "reasoning"),
        ({"reasoning_content": "", "reasoning": "a"}, "a", "reasoning"),
        ({"reasoning_content": None, "reasoning": "a"}, "a", "reasoning"),
    ],
)
def test_thinking_is_read_from_the_field_of_each_host(fields: dict[str, Any], text: str, field: str) -> None:
    request, lost = read_messages({"role": "assistant", "content": "ok", **fields})
    thought = request.turns[0].parts[0]
    assert isinstance(thought, Reasoning)
    assert (thought.text, thought.at, lost) == (text, ("messages", 0, field), [])
    assert write(request, source=CHAT)[0]["messages"] == [{"role": "assistant", "content": "ok", field: text}]


@pytest.mark.parametrize(("second", "lost"), [("a", []), ("b", [("field.dropped", "/messages/0/reasoning")])])
def test_both_fields_at_once_are_one_thought(second: str, lost: list[tuple[str, str]]) -> None:
    message = {"role": "assistant", "reasoning_content": "a", "reasoning": second, "content": "ok"}
    request, found = read_messages(message)
    assert [type(part) for part in request.turns[0].parts] == [Reasoning, Text]
    assert found == lost
    assert write(request, source=CHAT)[0]["messages"] == [message]


@pytest.mark.parametrize("thinking", ["ab", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]])
def test_thinking_of_mistral_is_read_from_the_content(thinking: Any) -> None:
    content = [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "ok"}]
    message = {"role": "assistant", "content": content}
    request, lost = read_messages(message)
    thought = request.turns[0].parts[0]
    assert isinstance(thought, Reasoning)
    assert (thought.text, lost) == ("ab", [])
    assert write(request, source=CHAT)[0]["messages"] == [message]


def test_other_parts_in_thinking_of_mistral_are_losses_for_other_dialects() -> None:
    pieces = [{"type": "text", "text": "a", "x": 1}, {"type": "reference", "reference_ids": [1]}, 7]
    message = {"role": "assistant", "content": [{"type": "thinking", "thinking": pieces}]}
    request, lost = read_messages(message)
    assert [part.text for part in request.turns[0].parts if isinstance(part, Reasoning)] == ["a"]
    assert lost == [("field.dropped", f"/messages/0/content/0/thinking/{where}") for where in ("0/x", 1, 2)]
    assert write(request, source=CHAT)[0]["messages"] == [message]


def test_a_seal_of_google_on_a_call_is_recognised() -> None:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "c2VhbA=="}},
    }
    request, lost = read_messages({"role": "assistant", "tool_calls": [call]})
    seal = Seal("gemini", "c2VhbA==")
    assert request.turns[0].parts == (ToolCall("c", "f", "{}", seal=seal, at=("messages", 0, "tool_calls", 0)),)
    assert lost == []
    assert write(request, source=CHAT)[0]["messages"][0]["tool_calls"] == [call]


@pytest.mark.parametrize(
    "content", [{"google": {}}, {"google": 1}, {"other": 1}, [1], {"google": {"thought_signature": 1}}]
)
def test_other_extra_content_is_kept_as_an_extra(content: Any) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": content}
    request, lost = read_messages({"role": "assistant", "tool_calls": [call]})
    (part,) = request.turns[0].parts
    assert part.seal is None
    assert lost == [("field.dropped", "/messages/0/tool_calls/0/extra_content")]
    assert write(request, source=CHAT)[0]["messages"][0]["tool_calls"] == [call]


# parts, read


@pytest.mark.parametrize(
    ("wire", "part"),
    [
        ({"type": "text", "text": "a"}, Text("a")),
        (
            {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
            Media("image", "image/png", url="https://a.example/b.png"),
        ),
        ({"type": "image_url", "image_url": "https://a.example/b"}, Media("image", url="https://a.example/b")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/webp;base64,aGk=", "detail": "low"}},
            Media("image", "image/webp", "aGk=", detail="low"),
        ),
        (
            {"type": "video_url", "video_url": {"url": "https://a.example/b.mp4"}},
            Media("video", "video/mp4", url="https://a.example/b.mp4"),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            Media("audio", "audio/mp3", "aGk="),
        ),
        ({"type": "input_audio", "input_audio": {"data": "aGk="}}, Media("audio", "audio/wav", "aGk=")),
        ({"type": "input_audio", "input_audio": "aGk="}, Media("audio", "audio/wav", "aGk=")),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGk=", "filename": "a.pdf"}},
            Media("document", "application/pdf", "aGk=", name="a.pdf"),
        ),
        (
            {"type": "file", "file": {"file_data": "aGk=", "filename": "a.txt"}},
            Media("document", "text/plain", "aGk=", name="a.txt"),
        ),
        ({"type": "file", "file": {"file_id": "file-1"}}, Media("document", file="file-1")),
        (
            {"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}},
            Media("document", "application/pdf", file="file-1", name="a.pdf"),
        ),
        (
            {"type": "file", "file": {"file_data": "https://a.example/b.pdf"}},
            Media("document", "application/pdf", url="https://a.example/b.pdf"),
        ),
    ],
)
def test_a_part_is_read(wire: dict[str, Any], part: Part) -> None:
    (found,), lost = _parts(wire)
    assert found == type(part)(
        **{name: getattr(part, name) for name in part.__struct_fields__ if name != "at"},
        at=("messages", 0, "content", 0),
    )
    assert lost == []


@pytest.mark.parametrize(
    "wire",
    [
        {"type": "hologram", "beam": {"a": 1.5}},
        {"type": "text"},
        {"type": "refusal"},
        {"type": "image_url"},
        {"type": "video_url"},
        {"type": "input_audio"},
        {"type": "file"},
        {"type": "thinking"},
    ],
)
def test_an_unknown_or_empty_part_is_kept_whole(wire: dict[str, Any]) -> None:
    (part,), _ = _parts(wire)
    assert isinstance(part, Opaque)
    assert (part.dialect, part.kind) == (CHAT, wire["type"])
    request, _ = read_messages({"role": "user", "content": [wire]})
    assert write(request, source=CHAT)[0]["messages"] == [{"role": "user", "content": [wire]}]


@pytest.mark.parametrize(
    ("mark", "cache"),
    [
        ({"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}, "12h"),
        ({"prompt_cache_breakpoint": {"mode": "explicit"}}, ""),
        ({"prompt_cache_breakpoint": True}, ""),
        ({"cache_control": {"type": "ephemeral", "ttl": "1h"}}, "1h"),
        ({"cache_control": {"type": "ephemeral"}}, ""),
    ],
)
def test_cache_marks_are_read(mark: dict[str, Any], cache: str) -> None:
    request, lost = read_messages({"role": "user", "content": [{"type": "text", "text": "a", **mark}]})
    assert [part.cache for part in request.turns[0].parts] == [cache]
    assert lost == []


@pytest.mark.parametrize(
    "mark", [{"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}, {"cache_control": {"type": "ephemeral"}}]
)
def test_a_cache_mark_is_written_unchanged(mark: dict[str, Any]) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "a", **mark}]}
    assert write(read_messages(message)[0], source=CHAT)[0]["messages"] == [message]


def test_unknown_fields_of_messages_and_parts_are_kept_with_their_place() -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "a", "x": 1}], "y": 2},
        {"role": "assistant", "content": "b", "audio": {"id": "au"}, "reasoning_details": [], "z": {"w": 3}},
    ]
    request, lost = read_messages(*messages)
    assert sorted(lost) == [
        ("field.dropped", "/messages/0/content/0/x"),
        ("field.dropped", "/messages/0/y"),
        ("field.dropped", "/messages/1/audio"),
        ("field.dropped", "/messages/1/reasoning_details"),
        ("field.dropped", "/messages/1/z"),
    ]
    assert write(request, source=CHAT)[0]["messages"] == messages


CITED = {"type": "url_citation", "url_citation": {"url": "https://a", "title": "A", "start_index": 0, "end_index": 2}}


def test_annotations_in_the_history_are_citations() -> None:
    message = {"role": "assistant", "content": "ok", "annotations": [CITED, {"type": "file", "file": {"a": 1}}, CITED]}
    request, lost = read_messages(message)
    (text,) = request.turns[0].parts
    citation = Citation("https://a", "A", "", 0, 2)
    assert text == Text("ok", citations=(citation, citation), at=("messages", 0, "content"))
    assert lost == [("field.dropped", "/messages/0/annotations/1")]
    assert write(request, source=CHAT) == ({"model": "m", "messages": [message]}, [])


@pytest.mark.parametrize("content", [None, "", [{"type": "text", "text": "a"}]])
def test_annotations_without_their_text_are_kept(content: Any) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": content or None, "annotations": [CITED], "tool_calls": [call]}
    request, lost = read_messages({**message, "content": content})
    assert lost == [("field.dropped", "/messages/0/annotations/0")]
    written = write(request, source=CHAT)[0]["messages"][0]
    assert written["annotations"] == [CITED]


# settings, read


def _settings(**fields: Any) -> tuple[Settings, list[tuple[str, str]]]:
    request, lost = read({"model": "m", "messages": [], **fields})
    return request.settings, lost


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"max_completion_tokens": 5}, "max_tokens", 5),
        ({"max_tokens": 6}, "max_tokens", 6),
        ({"temperature": 0.5}, "temperature", 0.5),
        ({"top_p": 0.5}, "top_p", 0.5),
        ({"top_k": 40}, "top_k", 40.0),
        ({"stop": "###"}, "stop", ("###",)),
        ({"stop": ["a", "b"]}, "stop", ("a", "b")),
        ({"seed": 3}, "seed", 3),
        ({"presence_penalty": 0.5}, "presence_penalty", 0.5),
        ({"frequency_penalty": -0.5}, "frequency_penalty", -0.5),
        ({"n": 2}, "n", 2),
        ({"logprobs": True}, "logprobs", True),
        ({"top_logprobs": 3}, "top_logprobs", 3),
        ({"parallel_tool_calls": False}, "parallel", False),
        ({"reasoning_effort": "high"}, "effort", "high"),
        ({"verbosity": "low"}, "verbosity", "low"),
        ({"user": "u"}, "user", "u"),
        ({"safety_identifier": "s"}, "user", "s"),
        ({"metadata": {"a": "b"}}, "metadata", {"a": "b"}),
        ({"service_tier": "flex"}, "tier", "flex"),
        ({"prompt_cache_key": "k"}, "cache_key", "k"),
        ({"stream_options": {"include_usage": True}}, "stream_usage", True),
        ({"response_format": {"type": "text"}}, "format", None),
        ({"response_format": {"type": "json_object"}}, "format", Format("json")),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": True, "description": "d"},
                }
            },
            "format",
            Format("schema", '{"type":"object"}', "n", "d", True, schema_at=("json_schema", "schema")),
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}},
            "format",
            Format("schema", None, "n", schema_at=("json_schema", "schema")),
        ),
        ({"response_format": {"type": "json_schema"}}, "format", Format("json")),
    ],
)
def test_a_setting_is_read(fields: dict[str, Any], name: str, value: object) -> None:
    settings, lost = _settings(**fields)
    assert getattr(settings, name) == value
    assert lost == []
    others = {other: getattr(settings, other) for other in settings.__struct_fields__ if other not in (name, "at")}
    assert {other: value for other, value in others.items() if value not in (None, ())} == {}


@pytest.mark.parametrize(
    ("fields", "setting", "path"),
    [
        ({"max_completion_tokens": 5}, "max_tokens", ("max_completion_tokens",)),
        ({"max_tokens": 5}, "max_tokens", ("max_tokens",)),
        ({"user": "u"}, "user", ("user",)),
        ({"safety_identifier": "u"}, "user", ("safety_identifier",)),
        ({"reasoning_effort": "low"}, "effort", ("reasoning_effort",)),
        ({"stream_options": {"include_usage": True}}, "stream_usage", ("stream_options", "include_usage")),
    ],
)
def test_a_setting_has_its_path(fields: dict[str, Any], setting: str, path: tuple[str, ...]) -> None:
    assert _settings(**fields)[0].at[setting] == path


def test_two_fields_for_one_setting_leave_the_older_one_as_an_extra() -> None:
    fields = {"max_tokens": 5, "max_completion_tokens": 6, "user": "u", "safety_identifier": "s"}
    settings, lost = _settings(**fields)
    assert (settings.max_tokens, settings.user) == (6, "s")
    assert lost == [("field.dropped", "/user"), ("field.dropped", "/max_tokens")]


def test_fields_that_only_chat_has_are_kept() -> None:
    fields: dict[str, Any] = {
        "prompt_cache_options": {"mode": "explicit"},
        "prompt_cache_retention": "24h",
        "modalities": ["text"],
        "audio": {"voice": "a"},
        "prediction": {"type": "content", "content": "x"},
        "logit_bias": {"1": 1},
        "store": True,
        "moderation": {"model": "m"},
        "stream": True,
        "stream_options": {"include_usage": True, "include_obfuscation": False},
        "response_format": {"type": "grammar"},
        "brand_new": [1],
    }
    request, lost = read({"model": "m", "messages": [], **fields})
    paths = {f"/{name}" for name in fields if name not in ("stream", "stream_options")}
    assert {path for code, path in lost if code == "field.dropped"} == paths | {"/stream_options/include_obfuscation"}
    assert write(request, source=CHAT)[0] == {"model": "m", "messages": [], **fields}


def test_search_options_are_a_hosted_tool_for_others_and_a_field_for_chat() -> None:
    options = {"search_context_size": "high"}
    request, lost = read({"model": "m", "messages": [], "web_search_options": options})
    assert [(tool.kind, tool.at) for tool in request.tools if isinstance(tool, HostedTool)] == [
        ("web_search_options", ("web_search_options",))
    ]
    assert lost == []
    assert write(request)[0]["web_search_options"] == options
    kept = read({"model": "m", "messages": [], "web_search_options": options}, target=CHAT)[0]
    assert kept.tools == ()
    assert write(kept, source=CHAT)[0]["web_search_options"] == options


def test_model_and_stream_are_read() -> None:
    assert read({"model": "m", "messages": [], "stream": True})[0] == Request(
        (), "m", stream=True, settings=_settings()[0]
    )
    assert read({"messages": []})[0].model == ""


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"model": "m"}, ""),
        ({"messages": "hi"}, "/messages"),
        ({"messages": [{"role": 7}]}, "/messages/0/role"),
        ({"messages": [], "temperature": "hot"}, "/temperature"),
        ({"messages": [], "tools": [{"type": "function", "function": {}}]}, "/tools/0/function"),
    ],
)
def test_a_request_of_another_shape_is_refused_with_its_path(body: dict[str, Any], path: str) -> None:
    with pytest.raises(WireError) as caught:
        read(body)
    assert (caught.value.dialect, caught.value.path) == (CHAT, path)
