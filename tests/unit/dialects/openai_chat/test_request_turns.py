"""Chat requests are written: turns, parts and results."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

import dragoman
from dragoman.canon.parts import Citation, Media, Opaque, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Request
from dragoman.canon.turns import Turn
from dragoman.codec.call_ids import hashed_id
from dragoman.facts.profile import Profile
from tests.unit.dialects.openai_chat.helpers import CHAT, read_messages, write

# turns, written


def _user(*parts: Part) -> Turn:
    return Turn("user", parts, at=("m", 0))


def _messages(*turns: Turn, **options: Any) -> tuple[list[Any], list[tuple[str, str]]]:
    written, lost = write(Request(turns), **options)
    assert set(written) <= {"model", "messages"}
    return written["messages"], lost


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize(("reasoning", "sent"), [(False, "system"), (True, "developer")])
def test_the_system_role_depends_on_the_model(role: Any, reasoning: bool, sent: str) -> None:
    turn = Turn(role, (Text("s"),))
    assert _messages(turn, profile=Profile(reasoning=reasoning)) == ([{"role": sent, "content": "s"}], [])
    assert _messages(turn, source=CHAT, profile=Profile(reasoning=reasoning)) == ([{"role": role, "content": "s"}], [])


def test_a_system_turn_has_only_text() -> None:
    turn = Turn("system", (Text("s"), Media("image", "image/png", "aGk=", at=("m", 1))))
    assert _messages(turn) == ([{"role": "system", "content": "s"}], [("system.media.dropped", "/m/1")])


def test_the_name_of_the_author_is_written() -> None:
    assert _messages(Turn("user", (Text("a"),), "ann")) == ([{"role": "user", "content": "a", "name": "ann"}], [])


@pytest.mark.parametrize(
    ("part", "wire", "lost"),
    [
        (
            Media("image", "image/png", "aGk="),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            [],
        ),
        (
            Media("image", url="https://a", detail="high"),
            {"type": "image_url", "image_url": {"url": "https://a", "detail": "high"}},
            [],
        ),
        (
            Media("image", url="https://a", detail="MEDIUM", at=("p",)),
            {"type": "image_url", "image_url": {"url": "https://a"}},
            [("media.detail.dropped", "/p")],
        ),
        (
            Media("audio", "audio/mpeg", "aGk="),
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            [],
        ),
        (
            Media("audio", "audio/x-wav", "aGk="),
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
            [],
        ),
        (
            Media("audio", "audio/mp3", "aGk=", name="a.mp3", at=("p",)),
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            [("media.name.dropped", "/p")],
        ),
        (
            Media("document", "application/pdf", "aGk="),
            {"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,aGk="}},
            [],
        ),
        (
            Media("document", "text/csv", "aGk=", name="t.csv", at=("p",)),
            {"type": "text", "text": "[document: t.csv]\nhi"},
            [("media.retyped", "/p")],
        ),
        (
            Media("document", "application/msword", "aGk=", name="t.doc", at=("p",)),
            {"type": "text", "text": "[application/msword attached here could not be sent: t.doc]"},
            [("media.dropped", "/p")],
        ),
        (
            Media("document", file="file-1", name="a.pdf", at=("p",)),
            {"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}},
            [("media.reference", "/p")],
        ),
        (
            Media("document", file="https://generativelanguage.googleapis.com/v1beta/files/1", at=("p",)),
            {"type": "text", "text": "[document attached here could not be sent]"},
            [("media.dropped", "/p")],
        ),
        (
            Text("a", cache="5m", at=("p",)),
            {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}},
            [("cache.approximated", "/p")],
        ),
        (
            Text("a", cache="1h", at=("p",)),
            {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}},
            [("cache.approximated", "/p")],
        ),
        (Text("a", cache=""), {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}, []),
        (Text("a", seal=Seal("gemini", "s"), at=("p",)), {"type": "text", "text": "a"}, [("seal.dropped", "/p")]),
        (Text("a", True, at=("p",)), {"type": "text", "text": "a"}, [("refusal.as_text", "/p")]),
        (
            Text("a", citations=(Citation("https://a"),), at=("p",)),
            {"type": "text", "text": "a"},
            [("citation.dropped", "/p")],
        ),
    ],
)
def test_a_part_is_written(part: Part, wire: dict[str, Any], lost: list[tuple[str, str]]) -> None:
    takes_marks = Profile(cache_marks=True)
    assert _messages(_user(part), profile=takes_marks) == ([{"role": "user", "content": [wire]}], lost)


def test_models_without_cache_marks_get_none() -> None:
    one = Text("a", cache="5m", at=("p",))
    assert _messages(_user(one)) == ([{"role": "user", "content": "a"}], [("cache.dropped", "/p")])
    content = [{"type": "text", "text": "z"}, {"type": "text", "text": "a"}]
    assert _messages(_user(Text("z"), one)) == ([{"role": "user", "content": content}], [("cache.dropped", "/p")])
    assert _result(Text("a"), cache="") == ([_tool("a")], [("cache.dropped", "/r")])


@pytest.mark.parametrize(
    "part",
    [
        Media("image", file="file_1", at=("p",)),
        Media("audio", "audio/flac", "aGk=", at=("p",)),
        Media("audio", "audio/wav", url="https://a", at=("p",)),
        Media("video", "video/mp4", "aGk=", at=("p",)),
        Media("document", "application/pdf", url="https://a", at=("p",)),
    ],
)
def test_media_without_a_place_are_a_loss_and_a_note(part: Media) -> None:
    (message,), lost = _messages(_user(part))
    assert message["content"][0]["text"].startswith(f"[{part.mime or part.kind} attached here could not be sent")
    assert lost == [("media.dropped", "/p")]


@pytest.mark.parametrize(
    "wire",
    [
        {"type": "video_url", "video_url": {"url": "https://a/b.mp4"}},
        {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "flac"}},
        {"type": "file", "file": {"file_data": "https://a/b.pdf", "filename": "b.pdf"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "image_url", "image_url": {"url": "https://a", "detail": "ultra"}},
    ],
)
def test_parts_that_chat_hosts_accept_are_written_back(wire: dict[str, Any]) -> None:
    message = {"role": "user", "content": [wire]}
    request, _ = read_messages(message)
    assert write(request, source=CHAT) == ({"model": "m", "messages": [message]}, [])


def test_a_file_id_of_responses_is_kept() -> None:
    assert _messages(_user(Media("document", file="file-1")), source="openai-responses")[1] == []


def test_parts_of_other_dialects_are_left_out_with_a_loss() -> None:
    strange = Opaque("gemini", "executableCode", Raw(b"{}"), at=("p",))
    assert _messages(_user(Text("a"), strange)) == (
        [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
        [("part.dropped", "/p")],
    )
    assert _messages(_user(strange)) == (
        [{"role": "user", "content": "(nothing was said)"}],
        [("part.dropped", "/p"), ("turn.dropped", "/m/0"), ("turn.invented", "/m/0")],
    )


def test_empty_texts_and_empty_turns_are_kept() -> None:
    assert _messages(_user(Text(""))) == ([{"role": "user", "content": ""}], [])
    assert _messages(_user(Text(""), Text("a"))) == ([{"role": "user", "content": [{"type": "text", "text": "a"}]}], [])
    assert _messages(_user()) == ([{"role": "user", "content": ""}], [])


def test_an_assistant_turn_is_one_message() -> None:
    turn = Turn(
        "assistant",
        (
            Text("a"),
            ToolCall("c1", "f", '{"x": 1.0}'),
            ToolCall("c2", "g", "  "),
            ToolCall("c3", "p", "+x", True),
            Text("no", True),
        ),
    )
    answered = Turn("tool", tuple(ToolResult(f"c{i}", (Text("r"),)) for i in (1, 2, 3)))
    messages, lost = _messages(turn, answered)
    assert messages[0] == {
        "role": "assistant",
        "content": "a",
        "refusal": "no",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1.0}'}},
            {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            {"id": "c3", "type": "custom", "custom": {"name": "p", "input": "+x"}},
        ],
    }
    assert lost == []


def test_text_after_a_call_moves_before_the_call() -> None:
    call, text = ToolCall("c", "f", "{}"), Text("b", at=("p",))
    messages, lost = _messages(Turn("assistant", (call, text)), Turn("tool", (ToolResult("c"),)))
    assert messages[0]["content"] == "b"
    assert lost == [("order.approximated", "/p")]


def test_foreign_thinking_and_seals_are_not_sent() -> None:
    thought = Reasoning("hm", seal=Seal("anthropic", "s"), at=("p", 0))
    call = ToolCall("c", "f", "{}", seal=Seal("gemini", "s"), cache="5m", at=("p", 1))
    hosted = Opaque("anthropic", "server_tool_use", Raw(b"{}"), at=("p", 2))
    messages, lost = _messages(Turn("assistant", (thought, call, hosted)), Turn("tool", (ToolResult("c"),)))
    assert messages[0] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    assert lost == [
        ("seal.dropped", "/p/0"),
        ("reasoning.dropped", "/p/0"),
        ("cache.dropped", "/p/1"),
        ("seal.dropped", "/p/1"),
        ("hosted.dropped", "/p/2"),
    ]


def test_a_turn_with_only_thoughts_is_dropped() -> None:
    turn = Turn("assistant", (Reasoning("hm", at=("p",)),), at=("m", 3))
    assert _messages(turn, _user(Text("a"))) == (
        [{"role": "user", "content": "a"}],
        [("reasoning.dropped", "/p"), ("turn.dropped", "/m/3")],
    )


def test_illegal_ids_and_names_are_replaced_in_calls_and_results() -> None:
    long = "toolu_" + "x" * 60
    turns = (
        Turn("assistant", (ToolCall(long, "a.b", "{}", at=("p", 0)),)),
        Turn("tool", (ToolResult(long, at=("p", 1)),)),
    )
    messages, lost = _messages(*turns)
    assert messages == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": hashed_id(long), "type": "function", "function": {"name": "a_b_2e7336dc8e", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": hashed_id(long), "content": ""},
    ]
    assert lost == [("tool.renamed", "/p/0"), ("call.id.rewritten", "/p/0"), ("call.id.rewritten", "/p/1")]


# results, written

CALL = Turn("assistant", (ToolCall("c", "f", "{}", at=("call",)),))


def _result(*parts: Part, **fields: Any) -> tuple[list[Any], list[tuple[str, str]]]:
    options = {name: fields.pop(name) for name in ("binary", "source", "profile") if name in fields}
    messages, lost = _messages(CALL, Turn("tool", (ToolResult("c", parts, at=("r",), **fields),)), **options)
    return messages[1:], lost


def _tool(content: Any, call_id: str = "c") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@pytest.mark.parametrize(
    ("parts", "content"),
    [
        ((Text("a"),), "a"),
        ((), ""),
        ((Text("a"), Text("b")), [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    ],
)
def test_a_result_is_a_string_or_texts(parts: tuple[Part, ...], content: Any) -> None:
    assert _result(*parts) == ([_tool(content)], [])


@pytest.mark.parametrize(
    ("parts", "content"),
    [
        ((Text("bad"),), "Error: bad"),
        ((Text("Error 404"),), "Error 404"),
        ((), "Error: "),
        (
            (Text("a"), Text("b")),
            [{"type": "text", "text": "Error:"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        ),
    ],
)
def test_an_error_is_written_in_the_text(parts: tuple[Part, ...], content: Any) -> None:
    assert _result(*parts, is_error=True) == ([_tool(content)], [("result.error.as_text", "/r")])


def test_a_structured_result_is_its_json_text() -> None:
    assert _result(Text('{"n":1}'), structured=True) == ([_tool('{"n":1}')], [("result.structured.as_text", "/r")])


@pytest.mark.parametrize("parts", [(Text("a"),), (Text("z"), Text("a"))])
def test_a_cache_mark_on_a_result_is_written_on_its_last_part(parts: tuple[Part, ...]) -> None:
    (message,), lost = _result(*parts, cache="", profile=Profile(cache_marks=True))
    assert message["content"][-1] == {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    assert len(message["content"]) == len(parts)
    assert lost == []


def test_media_move_after_the_last_result_of_the_step() -> None:
    step = Turn("assistant", (ToolCall("c1", "f", "{}"), ToolCall("c2", "g", "{}")))
    image = Media("image", "image/png", "aGk=", at=("i",))
    results = Turn("tool", (ToolResult("c1", (Text("see"), image)), ToolResult("c2", (Text("b"),))))
    messages, lost = _messages(step, results, _user(Text("go on")))
    assert messages[1:] == [
        _tool(
            [
                {"type": "text", "text": "see"},
                {"type": "text", "text": "[tool call c1 returned image/png, attached below]"},
            ],
            "c1",
        ),
        _tool("b", "c2"),
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "[returned by tool call c1]"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            ],
        },
        {"role": "user", "content": "go on"},
    ]
    assert lost == [("result.media.moved", "/i")]


def test_media_can_be_summarised() -> None:
    found = _result(Media("image", "image/png", "aGk=", at=("i",)), binary="summarise")
    assert found == ([_tool("Binary content of type image/png was processed.")], [("media.summarised", "/i")])


def test_within_the_dialect_media_stay_in_results() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://a/b.png"}}
    message = {"role": "tool", "tool_call_id": "c", "content": [image]}
    assert write(read_messages(message)[0], source=CHAT) == ({"model": "m", "messages": [message]}, [])


def test_a_results_turn_has_only_results() -> None:
    messages, lost = _messages(CALL, Turn("tool", (ToolResult("c", (Text("a"),)), Text("b", at=("p",)))))
    assert messages[1:] == [_tool("a")]
    assert lost == [("part.dropped", "/p")]


@pytest.mark.parametrize("after", [(), (_user(Text("b")),), (Turn("assistant", (Text("b"),)),)])
def test_a_call_without_a_result_gets_one(after: tuple[Turn, ...]) -> None:
    messages, lost = _messages(CALL, *after)
    assert messages[1] == _tool("Error: no result was recorded for this call.")
    assert len(messages) == 2 + len(after)
    assert lost == [("result.invented", "/call")]


def test_a_step_with_some_results_gets_the_missing_results() -> None:
    step = Turn("assistant", (ToolCall("c1", "f", "{}", at=("p", 0)), ToolCall("c2", "g", "{}", at=("p", 1))))
    messages, lost = _messages(step, Turn("tool", (ToolResult("c2", (Text("b"),)),)))
    assert messages[1:] == [_tool("b", "c2"), _tool("Error: no result was recorded for this call.", "c1")]
    assert lost == [("result.invented", "/p/0")]


def test_a_second_result_for_a_call_is_left_out() -> None:
    turn = Turn("tool", (ToolResult("c", (Text("a"),)), ToolResult("c", (Text("b"),), at=("r", 1))))
    messages, lost = _messages(CALL, turn)
    assert messages[1:] == [_tool("a")]
    assert lost == [("result.duplicate", "/r/1")]


@pytest.mark.parametrize(
    ("result", "head"),
    [
        (ToolResult("x", (Text("b"),), at=("r",)), "[result, call x]"),
        (ToolResult("x", (Text("b"),), "f", at=("r",)), "[result of f, call x]"),
        (ToolResult("", (Text("b"),), "f", True, at=("r",)), "[result of f, failed]"),
    ],
)
def test_a_result_without_its_call_becomes_a_text_of_the_user(result: ToolResult, head: str) -> None:
    texts = [{"type": "text", "text": head}, {"type": "text", "text": "b"}]
    assert _messages(Turn("tool", (result,))) == ([{"role": "user", "content": texts}], [("result.orphaned", "/r")])


def test_results_are_moved_next_to_their_calls() -> None:
    late = Turn("tool", (ToolResult("c", (Text("a"),)),), at=("m", 2))
    messages, lost = _messages(CALL, _user(Text("b")), late)
    assert messages[1:] == [_tool("a"), {"role": "user", "content": "b"}]
    assert lost == [("result.moved", "/m/2")]


@pytest.mark.parametrize("target", ["openai-chat", "openrouter"])
def test_a_thought_outside_assistant_turns_is_dropped_and_reported(target: str) -> None:
    thought = {"parts": [{"text": "Be kind.", "thought": True}]}
    body = {"systemInstruction": thought, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    sent = dragoman.translate_request(body, source="gemini", target=target, model="m")
    assert sent.json()["messages"] == [{"role": "user", "content": "hi"}]
    assert ("reasoning.dropped", "/systemInstruction/parts/0") in [(loss.code, loss.path) for loss in sent.losses]
