"""Messages requests are read: turns, parts and settings. They are written unchanged in the same dialect."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon.parts import Citation, Media, Opaque, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Format, Request, Settings
from dragoman.canon.turns import Turn
from dragoman.codec.packed_seals import pack
from dragoman.errors import WireError
from tests.unit.dialects.anthropic.helpers import MESSAGES, read, read_messages, round_trip
from tests.unit.dialects.documents_and_losses import Losses

_HI = {"role": "user", "content": "hi"}


def _parts(*blocks: Any, role: str = "user") -> tuple[tuple[Part, ...], Losses]:
    """The parts of one message with this content."""
    request, lost = read_messages({"role": role, "content": list(blocks)})
    return request.turns[0].parts, lost


def _at(*steps: str | int) -> tuple[str | int, ...]:
    return ("messages", 0, "content", *steps)


# turns


def test_system_text_is_the_first_turn() -> None:
    request, lost = read_messages(_HI, system="be brief")
    assert request.turns == (
        Turn("system", (Text("be brief", at=("system",)),), at=("system",)),
        Turn("user", (Text("hi", at=_at()),), at=("messages", 0)),
    )
    assert lost == []


def test_system_blocks_keep_their_cache_marks() -> None:
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ]
    request, lost = read_messages(_HI, system=blocks)
    assert request.turns[0].parts == (Text("a", at=("system", 0)), Text("b", cache="1h", at=("system", 1)))
    assert lost == []


def test_results_are_a_separate_turn_before_the_text_of_the_user() -> None:
    request, lost = read_messages(
        _HI,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "ok"},
                {"type": "text", "text": "go on"},
            ],
        },
    )
    at = ("messages", 2)
    assert request.turns[1:] == (
        Turn(
            "assistant",
            (ToolCall("c1", "f", '{"a":1}', at=("messages", 1, "content", 0)),),
            at=("messages", 1),
        ),
        Turn(
            "tool", (ToolResult("c1", (Text("ok", at=(*at, "content", 0, "content")),), at=(*at, "content", 0)),), at=at
        ),
        Turn("user", (Text("go on", at=(*at, "content", 1)),), at=at),
    )
    assert lost == []


def test_results_in_adjacent_messages_are_one_turn() -> None:
    request, _ = read_messages(
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b"}]},
    )
    assert [(turn.role, [part.at for part in turn.parts]) for turn in request.turns] == [
        ("tool", [("messages", 0, "content", 0), ("messages", 1, "content", 0)])
    ]


def test_adjacent_assistant_messages_are_one_turn() -> None:
    request, _ = read_messages({"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"})
    assert request.turns == (
        Turn(
            "assistant",
            (Text("a", at=("messages", 0, "content")), Text("b", at=("messages", 1, "content"))),
            at=("messages", 0),
        ),
    )


def test_system_messages_keep_their_place() -> None:
    request, lost = read_messages(
        _HI, {"role": "system", "content": "in French"}, {"role": "assistant", "content": "o"}
    )
    assert [turn.role for turn in request.turns] == ["user", "system", "assistant"]
    assert lost == []


def test_a_message_of_an_unknown_role_is_kept_whole() -> None:
    request, _ = read_messages({"role": "narrator", "content": "once"})
    assert request.turns[0].parts == (
        Opaque(MESSAGES, "role:narrator", Raw(b'{"role":"narrator","content":"once"}'), at=("messages", 0)),
    )


# parts


def test_arguments_keep_their_exact_text() -> None:
    body = (
        b'{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{ "n" : 1.50}}]}]}'
    )
    request, _ = read(Raw(body))
    assert request.turns[0].parts == (ToolCall("a", "f", '{ "n" : 1.50}', at=_at(0)),)


def test_arguments_that_were_no_object_are_unwrapped() -> None:
    parts, _ = _parts(
        {"type": "tool_use", "id": "a", "name": "f", "input": {"__raw": "{oops"}},
        {"type": "tool_use", "id": "b", "name": "f", "input": {"__raw": "x", "more": 1}},
        role="assistant",
    )
    assert parts == (
        ToolCall("a", "f", "{oops", at=_at(0)),
        ToolCall("b", "f", '{"__raw":"x","more":1}', at=_at(1)),
    )


def test_a_call_without_an_id_gets_one_from_its_place() -> None:
    block = {"type": "tool_use", "name": "f", "input": {}}
    (call,), lost = _parts(block, role="assistant")
    (repeated,), _ = _parts(block, role="assistant")
    assert isinstance(call, ToolCall)
    assert call == repeated
    assert call.id.startswith("call_")
    assert lost == [("call.id.invented", "/messages/0/content/0")]


def test_the_caller_is_kept_and_its_loss_is_reported_if_it_is_not_the_model() -> None:
    direct = {"type": "tool_use", "id": "a", "name": "f", "input": {}, "caller": {"type": "direct"}}
    program = {**direct, "id": "b", "caller": {"type": "code_execution_20250825", "tool_id": "s"}}
    parts, lost = _parts(direct, program, role="assistant")
    assert parts[0].extra is None
    assert lost == [("field.dropped", "/messages/0/content/1/caller")]


def test_results_hold_texts_images_and_documents() -> None:
    parts, lost = _parts(
        {
            "type": "tool_result",
            "tool_use_id": "a",
            "is_error": True,
            "content": [
                {"type": "text", "text": "t"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                {"type": "tool_reference", "tool_name": "g"},
            ],
        },
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "only"}]},
        {"type": "tool_result", "tool_use_id": "c"},
    )
    inside = _at(0, "content")
    assert parts == (
        ToolResult(
            "a",
            (
                Text("t", at=(*inside, 0)),
                Media("image", "image/png", "AA==", at=(*inside, 1)),
                Text(
                    "The tool g is available.",
                    extra={MESSAGES: {"dragoman.block": Raw(b'{"type":"tool_reference","tool_name":"g"}')}},
                    at=(*inside, 2),
                ),
            ),
            is_error=True,
            at=_at(0),
        ),
        ToolResult("b", (Text("only", at=_at(1, "content", 0)),), at=_at(1)),
        ToolResult("c", at=_at(2)),
    )
    assert lost == [("part.as_text", "/messages/0/content/0/content/2")]


def test_unknown_fields_inside_a_result_are_kept_on_their_part() -> None:
    parts, lost = _parts(
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "t", "odd": 1}], "even": 2}
    )
    assert parts == (
        ToolResult(
            "a",
            (Text("t", extra={MESSAGES: {"odd": Raw(b"1")}}, at=_at(0, "content", 0)),),
            extra={MESSAGES: {"even": Raw(b"2")}},
            at=_at(0),
        ),
    )
    assert sorted(lost) == [
        ("field.dropped", "/messages/0/content/0/content/0/odd"),
        ("field.dropped", "/messages/0/content/0/even"),
    ]


def test_a_bad_block_inside_a_result_is_refused_with_its_path() -> None:
    with pytest.raises(WireError) as caught:
        _parts({"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": 5}]})
    assert caught.value.path == "/messages/0/content/0/content/0/text"


@pytest.mark.parametrize(
    ("block", "media"),
    [
        (
            {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}},
            Media("image", "image/png", url="https://x.test/a.png", at=_at(0)),
        ),
        ({"type": "image", "source": {"type": "file", "file_id": "f1"}}, Media("image", file="f1", at=_at(0))),
        (
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
                "title": "spec",
            },
            Media("document", "application/pdf", "JVBE", name="spec", at=_at(0)),
        ),
        (
            {"type": "document", "source": {"type": "url", "url": "https://x.test/a"}},
            Media("document", "application/pdf", url="https://x.test/a", at=_at(0)),
        ),
        (
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "né"}},
            Media("document", "text/plain", base64.b64encode("né".encode()).decode(), at=_at(0)),
        ),
    ],
)
def test_media(block: Any, media: Media) -> None:
    assert _parts(block) == ((media,), [])


def test_search_results_and_text_documents_are_translated_as_text() -> None:
    search = {
        "type": "search_result",
        "source": "https://x.test",
        "title": "X",
        "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
    }
    document = {"type": "document", "source": {"type": "content", "content": "three"}, "context": "c"}
    parts, lost = _parts(search, document)
    assert [part.text for part in parts if isinstance(part, Text)] == ["X\nhttps://x.test\none\ntwo", "c\nthree"]
    assert lost == [("part.as_text", "/messages/0/content/0"), ("part.as_text", "/messages/0/content/1")]


def test_options_of_passages_that_become_text_are_separate_losses() -> None:
    search = {"type": "search_result", "source": "s", "title": "X", "content": [{"type": "text", "text": "one"}]}
    document = {"type": "document", "source": {"type": "content", "content": "two"}}
    wish = {"citations": {"enabled": True}}
    parts, lost = _parts({**search, **wish}, {**document, **wish})
    assert [part.text for part in parts if isinstance(part, Text)] == ["X\ns\none", "two"]
    at = "/messages/0/content"
    assert [path for code, path in lost if code == "part.as_text"] == [f"{at}/0", f"{at}/1"]
    assert [path for code, path in lost if code == "field.dropped"] == [f"{at}/0/citations", f"{at}/1/citations"]
    _check_round_trip({"role": "user", "content": [{**search, **wish}]})


def test_thoughts_carry_their_seals() -> None:
    parts, _ = _parts(
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "blob"},
        {"type": "thinking", "thinking": "", "signature": pack(Seal("gemini", "g", "", "gemini-3"))},
        {"type": "thinking", "thinking": "bare", "signature": ""},
        role="assistant",
    )
    assert parts == (
        Reasoning("hm", seal=Seal(MESSAGES, "sig"), at=_at(0)),
        Reasoning("", seal=Seal(MESSAGES, "blob", "redacted"), at=_at(1)),
        Reasoning("", seal=Seal("gemini", "g", "", "gemini-3"), at=_at(2)),
        Reasoning("bare", at=_at(3)),
    )


def test_blocks_of_hosted_tools_are_kept_whole() -> None:
    use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}
    odd = {"type": "mcp_tool_use", "id": "s", "name": "x", "input": {}, "server_name": "n"}
    parts, lost = _parts(use, odd, role="assistant")
    assert [(part.kind, part.at) for part in parts if isinstance(part, Opaque)] == [
        ("server_tool_use", _at(0)),
        ("mcp_tool_use", _at(1)),
    ]
    assert lost == []


def test_citations_keep_fields_that_only_anthropic_has() -> None:
    parts, lost = _parts(
        {
            "type": "text",
            "text": "t",
            "citations": [
                {
                    "type": "web_search_result_location",
                    "cited_text": "q",
                    "url": "https://x.test",
                    "title": "X",
                    "encrypted_index": "e",
                },
                {
                    "type": "char_location",
                    "cited_text": "q2",
                    "document_index": 0,
                    "document_title": "D",
                    "start_char_index": 1,
                    "end_char_index": 2,
                },
            ],
        },
        role="assistant",
    )
    assert parts == (
        Text(
            "t",
            citations=(
                Citation(
                    "https://x.test",
                    "X",
                    "q",
                    extra={
                        MESSAGES: {"type": Raw(b'"web_search_result_location"'), "encrypted_index": Raw(b'"e"')},
                    },
                ),
                Citation(
                    "",
                    "D",
                    "q2",
                    extra={
                        MESSAGES: {
                            "type": Raw(b'"char_location"'),
                            "document_title": Raw(b'"D"'),
                            "document_index": Raw(b"0"),
                            "start_char_index": Raw(b"1"),
                            "end_char_index": Raw(b"2"),
                        }
                    },
                ),
            ),
            at=_at(0),
        ),
    )
    assert lost == [("field.dropped", "/messages/0/content/0/citations/0/encrypted_index")]


# settings


def _settings(**fields: Any) -> tuple[Settings, Request, Losses]:
    request, lost = read_messages(_HI, **fields)
    return request.settings, request, lost


def test_settings_are_read() -> None:
    settings, _, lost = _settings(
        temperature=0.5,
        top_p=0.9,
        top_k=5,
        stop_sequences=["x"],
        metadata={"user_id": "u"},
        service_tier="auto",
        cache_control={"type": "ephemeral"},
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
    )
    assert settings == Settings(
        9,
        0.5,
        0.9,
        5,
        ("x",),
        effort="low",
        format=Format("schema", '{"type":"object"}', schema_at=("schema",), enforced=True),
        user="u",
        tier="auto",
        cache="",
        at=settings.at,
    )
    assert [settings.at[name] for name in ("stop", "user", "format")] == [
        ("stop_sequences",),
        ("metadata", "user_id"),
        ("output_config", "format"),
    ]
    assert lost == []


@pytest.mark.parametrize(
    ("thinking", "effort", "budget", "thoughts"),
    [
        ({"type": "enabled", "budget_tokens": 2000, "display": "summarized"}, None, 2000, True),
        ({"type": "adaptive", "display": "omitted"}, None, -1, False),
        ({"type": "disabled"}, "none", None, None),
    ],
)
def test_thinking_is_read(thinking: Any, effort: str | None, budget: int | None, thoughts: bool | None) -> None:
    settings, _, lost = _settings(thinking=thinking)
    assert (settings.effort, settings.budget, settings.thoughts, lost) == (effort, budget, thoughts, [])


def test_thinking_that_only_anthropic_has_is_kept_whole() -> None:
    settings, request, lost = _settings(thinking={"type": "between_tools"})
    assert (settings.effort, settings.budget) == (None, None)
    assert request.extra == {MESSAGES: {"thinking": Raw(b'{"type":"between_tools"}')}}
    assert lost == [("field.dropped", "/thinking")]


def test_fields_that_only_anthropic_has_are_kept_and_reported() -> None:
    _, request, lost = _settings(speed="fast", metadata={"odd": 1}, tomorrow=[1])
    assert request.extra == {
        MESSAGES: {
            "speed": Raw(b'"fast"'),
            "metadata/odd": Raw(b"1"),
            "tomorrow": Raw(b"[1]"),
            "metadata": Raw(b"{}"),
        }
    }
    assert sorted(lost) == [
        ("field.dropped", "/metadata/odd"),
        ("field.dropped", "/speed"),
        ("field.dropped", "/tomorrow"),
    ]


def test_a_wrong_type_is_refused() -> None:
    with pytest.raises(WireError) as caught:
        read_messages(_HI, max_tokens="many")
    assert (caught.value.path, caught.value.expected) == ("/max_tokens", "int | null")


# round trips


def test_a_round_trip_changes_nothing() -> None:
    body = {
        "model": "m",
        "max_tokens": 9000,
        "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "scope": "all"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "container_upload", "file_id": "f"}]},
            {"role": "user", "content": "again"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "sig"},
                    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "toolset_name": "t"},
                ],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_2", "name": "f", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "", "is_error": False},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_2",
                        "content": [
                            {"type": "document", "source": {"type": "content", "content": "c"}, "title": "T"},
                            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
                        ],
                    },
                    {"type": "text", "text": "so?"},
                ],
            },
            {"role": "system", "content": "be brief"},
        ],
        "thinking": {"type": "disabled"},
        "output_config": {"effort": "low", "task_budget": {"n": 1}},
        "output_format": {"type": "json_schema", "schema": {"type": "object"}},
        "stop_sequences": [],
        "metadata": {},
        "betas": ["x"],
        "odd": {"deep": [1.0]},
    }
    assert round_trip(body) == (body, [])


def test_foreign_seals_are_not_sent_even_in_the_same_dialect() -> None:
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            _HI,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": pack(Seal("gemini", "g"))},
                    {"type": "text", "text": "yes"},
                ],
            },
            _HI,
        ],
    }
    out, lost = round_trip(body)
    assert out["messages"][1] == {"role": "assistant", "content": "yes"}
    assert lost == [
        ("seal.dropped", "/messages/1/content/0"),
        ("reasoning.dropped", "/messages/1/content/0"),
    ]


def _check_round_trip(*messages: Any, **fields: Any) -> None:
    """Check that the request is unchanged after it is read and written."""
    body = {"model": "m", "max_tokens": 9000, "messages": list(messages), **fields}
    assert round_trip(body) == (body, [])


def test_fields_of_another_kind_of_block_are_kept_and_reported() -> None:
    text = {"type": "text", "text": "t", "is_error": True, "id": "x"}
    image = {"type": "image", "source": {"type": "url", "url": "https://x.test/a", "file_id": "f"}, "title": "T"}
    parts, lost = _parts(text, image)
    assert parts == (
        Text("t", extra={MESSAGES: {"id": Raw(b'"x"'), "is_error": Raw(b"true")}}, at=_at(0)),
        Media(
            "image",
            url="https://x.test/a",
            extra={MESSAGES: {"title": Raw(b'"T"'), "source/file_id": Raw(b'"f"')}},
            at=_at(1),
        ),
    )
    assert sorted(lost) == [
        ("field.dropped", "/messages/0/content/0/id"),
        ("field.dropped", "/messages/0/content/0/is_error"),
        ("field.dropped", "/messages/0/content/1/source/file_id"),
        ("field.dropped", "/messages/0/content/1/title"),
    ]
    _check_round_trip({"role": "user", "content": [text, image]}, system=[{**text, "text": "s"}])
    _check_round_trip(
        _HI,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{**text, "text": "r"}]}]},
    )


def test_settings_of_another_form_survive_a_round_trip() -> None:
    _check_round_trip(
        _HI,
        system="",
        output_config={},
        thinking={"type": "adaptive", "budget_tokens": 5, "display": "updates", "block_binding": {"x": 1}},
    )
    _check_round_trip(
        _HI,
        thinking={"type": "enabled", "budget_tokens": 2000},
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        output_format={"type": "json_schema", "schema": {"type": "string"}},
    )
    _check_round_trip(_HI, output_config={"format": {"type": "rhyme"}})
    _check_round_trip(_HI, thinking={"type": "enabled"}, tool_choice={"type": "any", "name": "f"}, tools=[])
    _check_round_trip(_HI, tool_choice={"type": "none", "disable_parallel_tool_use": True}, tools=[])
    _check_round_trip(_HI, tool_choice={"type": "whim", "x": 1}, tools=[])


def test_odd_blocks_survive_a_round_trip() -> None:
    _check_round_trip(
        {
            "role": "user",
            "content": [
                {"type": "image", "source": "somewhere"},
                {"type": "document", "source": {"type": "content", "content": [{"type": "image", "source": {}}]}},
                {"type": "document", "source": {"type": "content", "content": []}},
                {"type": "document", "source": {"type": "moon", "data": "x"}},
                {
                    "type": "search_result",
                    "source": "s",
                    "title": "t",
                    "content": [{"type": "text", "text": "x"}],
                    "odd": 1,
                },
                {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}, "odd": {"x": 1}},
            ],
        },
        {"role": "narrator", "content": "once", "odd": 1},
    )


def test_marked_blocks_that_only_anthropic_has_survive_a_round_trip() -> None:
    mark = {"type": "ephemeral"}
    _check_round_trip(
        {
            "role": "user",
            "content": [
                {"type": "container_upload", "file_id": "f", "cache_control": mark},
                {
                    "type": "search_result",
                    "source": "s",
                    "title": "t",
                    "content": [{"type": "text", "text": "x"}],
                    "cache_control": mark,
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {
                    "type": "text",
                    "text": "t",
                    "citations": [
                        {
                            "type": "web_search_result_location",
                            "cited_text": "q",
                            "url": "https://x.test",
                            "title": "X",
                            "encrypted_index": "e",
                        }
                    ],
                },
                {"type": "tool_use", "id": "a", "name": "f", "input": {}, "cache_control": mark},
            ],
            "odd": 1,
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "cache_control": {**mark, "ttl": "1h"}}],
        },
    )
