"""Gemini requests are written from other dialects: contents, steps, results, media and seals."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon import Citation, Media, Opaque, Reasoning, Request, Seal, Text, Tool, ToolCall, ToolResult, Turn
from dragoman.canon.parts import Part
from dragoman.context import Context
from dragoman.dialects.gemini import DIALECT
from tests.oracles.body_verdict import check_request
from tests.unit.dialects.gemini.helpers import GEMINI_3, GEMINI_25, read, round_trip, write

DUMMY = "skip_thought_signature_validator"


def turn(role: Any, *parts: Part | str, at: Any = ()) -> Turn:
    return Turn(role, tuple([Text(part) if isinstance(part, str) else part for part in parts]), at=at)


def call(call_id: str = "c1", name: str = "f", arguments: str = '{"a":1}', **fields: Any) -> ToolCall:
    return ToolCall(call_id, name, arguments, **fields)


def result(call_id: str = "c1", *parts: Part | str, **fields: Any) -> ToolResult:
    return ToolResult(call_id, tuple([Text(part) if isinstance(part, str) else part for part in parts]), **fields)


def contents(*turns: Turn, **options: Any) -> tuple[Any, list[tuple[str, str]]]:
    """The contents that are written for `turns`. The request must be legal."""
    body, lost = write(Request(turns), **options)
    assert check_request("gemini", msgspec.json.encode(body)) == []
    return body["contents"], lost


def test_a_conversation() -> None:
    body, lost = write(
        Request(
            (
                turn("system", "Be brief."),
                turn("developer", "Be kind."),
                turn("user", "Hi"),
                turn("assistant", "Looking.", call(), call("c2", "g", "")),
                turn("tool", result("c1", "x"), result("c2", "no", is_error=True)),
                turn("user", "Go on"),
            )
        )
    )
    assert body == {
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "Looking."},
                    {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}},
                    {"functionCall": {"id": "c2", "name": "g", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "x"}}},
                    {"functionResponse": {"id": "c2", "name": "g", "response": {"error": "no"}}},
                    {"text": "Go on"},
                ],
            },
        ],
        "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]},
    }
    assert lost == []


def test_a_later_system_text_is_a_marked_user_text() -> None:
    image = Media("image", "image/png", "AAAA")
    written, lost = contents(
        turn("user", "a"), turn("assistant", "b"), turn("system", "c", image, at=("messages", 2)), turn("user", "d")
    )
    assert written[2] == {
        "role": "user",
        "parts": [{"text": "[system]\nc"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"text": "d"}],
    }
    assert lost == [("system.demoted", "/messages/2")]


def test_media_in_the_first_system_turn_has_no_place() -> None:
    image = Media("image", "image/png", "AAAA", at=("messages", 0, "content", 0))
    body, lost = write(Request((Turn("system", (image,), "bob"), turn("user", "a"))))
    assert "systemInstruction" not in body
    assert lost == [("name.dropped", ""), ("system.media.dropped", "/messages/0/content/0")]


@pytest.mark.parametrize("turns", [(), (turn("assistant", "Hello"),), (turn("system", "s"),)])
def test_a_history_begins_with_the_user(turns: tuple[Turn, ...]) -> None:
    written, lost = contents(*turns)
    assert written[0] == {"role": "user", "parts": [{"text": "(the conversation begins)"}]}
    assert lost == [("turn.invented", "")]


def test_empty_turns_and_texts_are_dropped() -> None:
    written, lost = contents(
        turn("user", "a"), turn("assistant", "", at=("messages", 1)), Turn("user", (Text("b"), Text("")), "bob")
    )
    assert written == [{"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}]
    assert lost == [("turn.dropped", "/messages/1"), ("name.dropped", "")]


def test_thoughts_and_seals_are_sent_to_their_origin_only() -> None:
    mine, other = Seal("gemini", "c2ln"), Seal("anthropic", "sig")
    written, lost = contents(
        turn("user", "a"),
        turn(
            "assistant",
            Reasoning("nobody's", at=("m", 0)),
            Reasoning("theirs", seal=other, at=("m", 1)),
            Reasoning("", seal=other, at=("m", 2)),
            Reasoning("ours", seal=mine),
            Text("", seal=mine),
            Text("", seal=other, at=("m", 3)),
            Text("b", seal=other, at=("m", 4)),
            call(seal=mine),
        ),
        turn("tool", result("c1", "x", seal=mine), at=("t",)),
    )
    assert written[1]["parts"] == [
        {"text": "nobody's", "thought": True},
        {"text": "ours", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "", "thoughtSignature": "c2ln"},
        {"text": "b"},
        {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
    ]
    assert written[2]["parts"][0]["thoughtSignature"] == "c2ln"
    assert lost == [
        ("reasoning.dropped", "/m/1"),
        ("seal.dropped", "/m/1"),
        ("seal.dropped", "/m/2"),
        ("seal.dropped", "/m/3"),
        ("seal.dropped", "/m/4"),
    ]


def test_the_first_call_of_each_step_gets_a_dummy_if_seals_are_required() -> None:
    mine = Seal("gemini", "c2ln")
    turns = (
        turn("user", "a"),
        turn("assistant", call("c1")),
        turn("tool", result("c1", "x")),
        turn("user", "b"),
        turn("assistant", call("c2", at=("m", 4)), call("c3")),
        turn("tool", result("c2", "x"), result("c3", "x")),
        turn("assistant", call("c4", seal=mine)),
        turn("tool", result("c4", "x", seal=Seal("other", "s"), at=("m", 7))),
    )
    written, lost = contents(*turns, profile=GEMINI_3)
    seals = [part.get("thoughtSignature") for content in written for part in content["parts"] if "functionCall" in part]
    assert seals == [DUMMY, DUMMY, None, "c2ln"]
    assert lost == [("seal.dummy", ""), ("seal.dummy", "/m/4"), ("seal.dropped", "/m/7")]
    assert contents(*turns)[1] == [("seal.dropped", "/m/7")]


def test_each_call_has_one_result_in_the_order_of_the_calls() -> None:
    written, lost = contents(
        turn("user", "a"),
        turn("assistant", call("c1"), call("c2", "g", at=("m", 1, 1)), call("c3", "h")),
        turn(
            "tool",
            result("c3", "3"),
            result("c1", "1"),
            result("c1", "again", at=("m", 2, 2)),
            result("c9", "lost", name="z", at=("m", 2, 3)),
            Text("no result", at=("m", 2, 4)),
        ),
        turn("user", "b"),
    )
    assert written[2]["parts"] == [
        {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "1"}}},
        {
            "functionResponse": {
                "id": "c2",
                "name": "g",
                "response": {"error": "No result was recorded for this call."},
            }
        },
        {"functionResponse": {"id": "c3", "name": "h", "response": {"output": "3"}}},
        {"text": "[result of z, call c9]\nlost"},
        {"text": "b"},
    ]
    assert lost == [
        ("result.duplicate", "/m/2/2"),
        ("result.orphaned", "/m/2/3"),
        ("part.dropped", "/m/2/4"),
        ("result.invented", "/m/1/1"),
    ]


def test_results_in_another_order_are_sorted() -> None:
    written, lost = contents(
        turn("user", "a"),
        turn("assistant", call("c1"), call("c2", "g")),
        turn("tool", result("c2", "2"), result("c1", "1")),
    )
    assert [part["functionResponse"]["id"] for part in written[2]["parts"]] == ["c1", "c2"]
    assert lost == []


def test_calls_without_results_get_results_before_the_next_text() -> None:
    written, lost = contents(
        turn("user", "a"),
        turn("assistant", call("c1", at=("m", 1))),
        turn("user", "b"),
        turn("assistant", call("", at=("m", 3))),
    )
    missing = {"name": "f", "response": {"error": "No result was recorded for this call."}}
    assert written[2]["parts"] == [{"functionResponse": {"id": "c1", **missing}}, {"text": "b"}]
    assert written[4]["parts"] == [{"functionResponse": missing}]
    assert lost == [("result.invented", "/m/1"), ("result.invented", "/m/3")]


def test_adjacent_turns_of_the_model_are_one_step() -> None:
    written, _ = contents(
        turn("user", "a"),
        turn("assistant", call("c1")),
        turn("assistant", call("c2", "g")),
        turn("tool", result("c1", "1"), result("c2", "2")),
    )
    assert [len(content["parts"]) for content in written] == [1, 2, 2]


def test_orphan_results_with_media_and_empty_orphan_results() -> None:
    image = Media("image", "image/png", "AAAA", at=("m", 0))
    written, lost = contents(turn("user", "a"), turn("tool", result("", image), result("c9")))
    assert written[0]["parts"] == [
        {"text": "a"},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
        {"text": "[result]"},
        {"text": "[result, call c9]"},
    ]
    assert ("result.orphaned", "") in lost


def answered(*results: ToolResult, **options: Any) -> tuple[list[Any], list[tuple[str, str]]]:
    calls = tuple([call(each.call_id) for each in results])
    written, lost = contents(turn("user", "a"), Turn("assistant", calls), Turn("tool", results), **options)
    return written[2]["parts"], lost


@pytest.mark.parametrize(
    ("given", "response"),
    [
        (result("c1"), {"output": ""}),
        (result("c1", '{"n": 1}', structured=True), {"n": 1}),
        (result("c1", "[1]", structured=True), {"output": [1]}),
        (result("c1", "not JSON", structured=True), {"output": "not JSON"}),
        (result("c1", '{"n": 1}', structured=True, is_error=True), {"error": {"n": 1}}),
        (result("c1", "a", is_error=True), {"error": "a"}),
    ],
)
def test_the_response_object(given: ToolResult, response: Any) -> None:
    ((part,), lost) = answered(given)
    assert part["functionResponse"]["response"] == response
    assert lost == []


def test_several_texts_become_one() -> None:
    ((part,), lost) = answered(result("c1", "a", "b", at=("m", 2)))
    assert part["functionResponse"]["response"] == {"output": "a\nb"}
    assert lost == [("result.texts.joined", "/m/2")]


def test_media_of_a_result_are_nested_if_the_model_allows_it() -> None:
    image = Media("image", "image/png", "AAAA", detail="high", at=("m", 2, 0))
    sound = Media("audio", "audio/wav", "BBBB", at=("m", 2, 1))
    strange = Opaque("anthropic", "search_result", Raw(b"{}"), at=("m", 2, 2))
    nested = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    seen = "Binary content of type image/png was processed."
    parts, lost = answered(result("c1", "see", image, sound, strange), result("c2", image), profile=GEMINI_3)
    assert parts == [
        {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "see"}, "parts": [nested]}},
        {"functionResponse": {"id": "c2", "name": "f", "response": {"output": seen}, "parts": [nested]}},
        {"inlineData": {"mimeType": "audio/wav", "data": "BBBB"}},
    ]
    assert lost == [
        ("seal.dummy", ""),
        ("media.detail.dropped", "/m/2/0"),
        ("result.media.moved", "/m/2/1"),
        ("part.dropped", "/m/2/2"),
    ]


def test_an_error_result_of_only_media() -> None:
    image = Media("image", "image/png", "AAAA")
    ((part,), lost) = answered(result("c1", image, is_error=True))
    nested = [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]
    assert part == {"functionResponse": {"id": "c1", "name": "f", "response": {"error": ""}, "parts": nested}}
    assert lost == []
    body = {"contents": [{"role": "user", "parts": [part]}]}
    back = read(body)[0].turns[0].parts[0]
    assert isinstance(back, ToolResult)
    assert (back.is_error, len(back.parts)) == (True, 1)
    assert round_trip(body) == body


def test_media_of_a_result_follow_the_result_for_older_models() -> None:
    image = Media("image", "image/png", "AAAA", at=("m", 2, 0))
    parts, lost = answered(result("c1", image), profile=GEMINI_25)
    assert parts == [
        {
            "functionResponse": {
                "id": "c1",
                "name": "f",
                "response": {"output": "Binary content of type image/png was processed."},
            }
        },
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
    ]
    assert lost == [("result.media.moved", "/m/2/0")]


def test_media_of_a_result_are_summarised_on_request() -> None:
    image = Media("image", "image/png", "AAAA", at=("m", 2, 0))
    ((part,), lost) = answered(result("c1", image), binary="summarise")
    assert part["functionResponse"]["response"] == {"output": "Binary content of type image/png was processed."}
    assert lost == [("media.summarised", "/m/2/0")]


def test_media_of_the_user() -> None:
    written, lost = contents(
        turn(
            "user",
            Media("image", "image/png", "AAAA", detail="low", name="a.png", at=("m", 0)),
            Media("document", "", "BBBB"),
            Media("image", url="https://a.example/b", detail="auto", at=("m", 1)),
            Media("document", "application/pdf", file="file-123", at=("m", 2)),
            Media("image", "image/png", "CCCC", detail="original", at=("m", 3)),
        ),
        profile=GEMINI_3,
    )
    assert written[0]["parts"] == [
        {
            "inlineData": {"mimeType": "image/png", "data": "AAAA"},
            "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
        },
        {"inlineData": {"mimeType": "application/octet-stream", "data": "BBBB"}},
        {"fileData": {"fileUri": "https://a.example/b"}},
        {"text": "[application/pdf attached here could not be sent]"},
        {"inlineData": {"mimeType": "image/png", "data": "CCCC"}},
    ]
    assert lost == [
        ("media.name.dropped", "/m/0"),
        ("media.reference", "/m/1"),
        ("media.dropped", "/m/2"),
        ("media.detail.dropped", "/m/3"),
    ]


def test_fields_that_only_other_dialects_have_are_reported() -> None:
    cited = Text("b", citations=(Citation("https://a.example"),), cache="5m", at=("m", 1))
    written, lost = contents(
        turn("user", "a"),
        turn(
            "assistant",
            cited,
            Text("no", True, at=("m", 2)),
            Opaque("anthropic", "server_tool_use", Raw(b"{}"), at=("m", 3)),
            call("c1", cache="", at=("m", 4)),
        ),
        turn("tool", result("c1", "x", cache="", at=("m", 5))),
    )
    assert written[1]["parts"][:2] == [{"text": "b"}, {"text": "no"}]
    assert lost == [
        ("cache.dropped", "/m/1"),
        ("citation.dropped", "/m/1"),
        ("refusal.as_text", "/m/2"),
        ("hosted.dropped", "/m/3"),
        ("cache.dropped", "/m/4"),
        ("cache.dropped", "/m/5"),
    ]


def test_arguments_that_are_no_object_are_wrapped_and_unwrapped() -> None:
    body, lost = write(Request((turn("user", "a"), turn("assistant", call(arguments='{"a": ', at=("m", 1))))))
    assert body["contents"][1]["parts"][0]["functionCall"]["args"] == {"__raw": '{"a": '}
    assert lost == [("arguments.invalid", "/m/1"), ("result.invented", "/m/1")]
    assert read(body)[0].turns[1].parts[0].arguments == '{"a": '  # type: ignore[attr-defined]
    assert round_trip(body) == body


def test_custom_calls_and_names() -> None:
    tools = (Tool("patch", custom=True), Tool("a b"), Tool("get", namespace="crm"))
    turns = (
        turn("user", "a"),
        turn(
            "assistant",
            call("c1", "patch", "*** begin", custom=True, at=("m", 1)),
            call("c2", "a b", "{}"),
            call("c3", "get", "{}", namespace="crm"),
        ),
        turn("tool", result("c1", "ok"), result("c2", "ok"), result("c3", "ok")),
    )
    body, lost = write(Request(turns, tools=tools))
    names = [part["functionResponse"]["name"] for part in body["contents"][2]["parts"]]
    assert names == [part["functionCall"]["name"] for part in body["contents"][1]["parts"]]
    assert names == [tool["name"] for tool in body["tools"][0]["functionDeclarations"]]
    assert names == ["patch", "a_b_c8687a08aa", "crm__get"]
    assert body["contents"][1]["parts"][0]["functionCall"]["args"] == {"input": "*** begin"}
    assert {code for code, _ in lost} == {
        "tool.custom.wrapped",
        "tool.renamed",
        "tool.namespace.prefixed",
        "call.custom.wrapped",
    }


def test_within_the_dialect_a_result_needs_no_name() -> None:
    context = Context("gemini", "gemini")
    turns = (turn("user", "a"), turn("tool", result("c1", "x")), turn("tool", result("c2", "x", name="f")))
    body = msgspec.json.decode(DIALECT.write_request(Request(turns), context))
    names = [part["functionResponse"]["name"] for part in body["contents"][0]["parts"][1:]]
    assert names == ["unknown_tool", "f"]
    assert [loss.code for loss in context.losses.all()] == ["call.name.invented"]


def test_within_the_dialect_foreign_seals_are_dropped() -> None:
    context = Context("gemini", "gemini")
    turns = (turn("user", "a"), turn("assistant", Reasoning("hm", seal=Seal("anthropic", "s")), Reasoning("ours"), "b"))
    body = msgspec.json.decode(DIALECT.write_request(Request(turns), context))
    assert body["contents"][1]["parts"] == [{"text": "ours", "thought": True}, {"text": "b"}]
    assert [loss.code for loss in context.losses.all()] == ["reasoning.dropped", "seal.dropped"]
