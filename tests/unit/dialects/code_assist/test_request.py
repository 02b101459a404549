"""Code Assist requests: the envelope, the request inside, and fields that Code Assist does not accept."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

import dragoman
from dragoman import WireError
from dragoman.canon.parts import Opaque, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Request, Settings
from dragoman.canon.turns import Turn
from dragoman.codec import packed_seals
from dragoman.context import Context
from dragoman.dialects.code_assist import DIALECT
from dragoman.dialects.code_assist.endpoints import with_project
from dragoman.facts.profile import Profile

from .helpers import NAME, SEAL, content, read, round_trip, wrapped, write

FULL = {
    "model": "gemini-3-pro",
    "project": "p-1",
    "user_prompt_id": "s#1",
    "request": {
        "contents": [content("Hi"), {"role": "model", "parts": [{"text": "Hm", "thought": True}]}, content("Go on")],
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "generationConfig": {"temperature": 0.5, "imageConfig": {"aspectRatio": "1:1"}},
        "labels": {"team": "a"},
        "session_id": "s",
        "somethingNew": 1,
    },
    "enabled_credit_types": ["GOOGLE_ONE_AI"],
    "newer": {"a": 1},
}


def test_the_envelope_is_read_around_a_gemini_request() -> None:
    request, lost = read(FULL)
    assert request.model == "gemini-3-pro"
    assert [turn.role for turn in request.turns] == ["system", "user", "assistant", "user"]
    assert request.turns[1] == Turn("user", (Text("Hi", at=("contents", 0, "parts", 0)),), "", None, ("contents", 0))
    assert request.settings.temperature == 0.5
    assert request.extra is not None
    assert {name: bytes(value) for name, value in request.extra[NAME].items()} == {
        "project": b'"p-1"',
        "user_prompt_id": b'"s#1"',
        "enabled_credit_types": b'["GOOGLE_ONE_AI"]',
        "request/session_id": b'"s"',
        "newer": b'{"a":1}',
    }
    assert sorted(lost) == [
        ("field.dropped", "/enabled_credit_types"),
        ("field.dropped", "/newer"),
        ("field.dropped", "/project"),
        ("field.dropped", "/request/generationConfig/imageConfig"),
        ("field.dropped", "/request/session_id"),
        ("field.dropped", "/request/somethingNew"),
        ("field.dropped", "/user_prompt_id"),
    ]


def test_within_the_dialect_everything_survives_a_round_trip() -> None:
    assert round_trip(FULL) == FULL
    assert round_trip(wrapped(content("Hi"))) == wrapped(content("Hi"))


def test_lost_account_fields_are_info() -> None:
    done = dragoman.translate_request(FULL, source=NAME, target="anthropic", model="m")
    assert {loss.path: loss.severity for loss in done.losses if loss.code == "field.dropped"} == {
        "/project": "info",
        "/user_prompt_id": "info",
        "/request/session_id": "info",
        "/enabled_credit_types": "warning",
        "/newer": "warning",
        "/request/somethingNew": "warning",
        "/request/generationConfig/imageConfig": "warning",
    }
    assert (done.source, done.target, done.requested_model) == (NAME, "anthropic", "gemini-3-pro")


def test_losses_of_the_writer_have_paths_in_the_envelope() -> None:
    body = wrapped(content("Hi"), generationConfig={"seed": 7})
    done = dragoman.translate_request(body, source=NAME, target="anthropic", model="m")
    assert ("sampling.dropped", "/request/generationConfig/seed") in [(loss.code, loss.path) for loss in done.losses]


def test_losses_spell_keys_as_the_client_did() -> None:
    body = wrapped(content("Hi"), generation_config={"image_config": {}})
    _, lost = read(body)
    assert lost == [("field.dropped", "/request/generation_config/image_config")]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"model": "m"}, ""),
        ({"model": "m", "request": {}}, "/request"),
        ({"model": 7, "request": {"contents": []}}, "/model"),
        ({"model": "m", "request": {"contents": [{"parts": 7}]}}, "/request/contents/0/parts"),
        (wrapped(content("Hi"), tools=[{"functionDeclarations": [{}]}]), "/request/tools/0/functionDeclarations/0"),
        ({"contents": [content("Hi")]}, ""),
    ],
)
def test_a_body_of_another_shape_is_refused_with_its_path(body: object, path: str) -> None:
    with pytest.raises(WireError) as caught:
        DIALECT.read_request(msgspec.json.encode(body), Context(NAME, "anthropic"))
    assert (caught.value.dialect, caught.value.path) == (NAME, path)


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(WireError, match="not code-assist: expected UTF-8"):
        DIALECT.read_request(b'{"model":"m","request":{"contents":[],"labels":{"a":"\xff"}}}', Context(NAME, NAME))


def test_a_request_to_count_tokens_has_its_model_inside() -> None:
    body = {"request": {"model": "models/gemini-3-pro", "contents": [content("Hi")]}}
    request, lost = read(body)
    assert (request.model, lost) == ("gemini-3-pro", [])
    assert round_trip(body) == body
    context = Context(NAME, NAME, model="gemini-2.5-pro")
    written = DIALECT.write_request(DIALECT.read_request(msgspec.json.encode(body), context), context)
    assert msgspec.json.decode(written) == {"request": {"contents": [content("Hi")], "model": "models/gemini-2.5-pro"}}


TURN = Request((Turn("system", (Text("Be brief."),)), Turn("user", (Text("Hi"),))), "models/gemini-3-pro")


def test_an_envelope_is_written_around_a_foreign_request() -> None:
    body, lost = write(TURN, model="")
    assert body == {
        "model": "gemini-3-pro",
        "user_prompt_id": body["user_prompt_id"],
        "request": {
            "contents": [content("Hi")],
            "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        },
    }
    assert body["user_prompt_id"].startswith("prompt_")
    assert lost == [("id.invented", "")]


def test_a_model_must_be_named() -> None:
    body, lost = write(Request((Turn("user", (Text("Hi"),)),)), model="")
    assert body["model"] == "unspecified"
    assert ("model.invented", "") in lost


def test_all_steps_of_a_tool_loop_have_one_prompt_id() -> None:
    call, result = ToolCall("c1", "f", "{}"), ToolResult("c1", (Text("ok"),))
    steps = (*TURN.turns, Turn("assistant", (call,)), Turn("tool", (result,)))
    first, later = write(TURN)[0], write(Request(steps))[0]
    other = write(Request((*steps, Turn("assistant", (Text("Done."),)), Turn("user", (Text("Hi"),)))))[0]
    assert first["user_prompt_id"] == later["user_prompt_id"] != other["user_prompt_id"]


def test_the_project_is_given_by_the_caller() -> None:
    body = msgspec.json.encode(write(TURN)[0])
    put = with_project(body, "p-2")
    assert list(msgspec.json.decode(put)) == ["model", "project", "user_prompt_id", "request"]
    assert msgspec.json.decode(put)["project"] == "p-2"
    assert msgspec.json.decode(with_project(put, None)) == msgspec.json.decode(body)


def test_a_gemini_request_loses_only_fields_that_code_assist_refuses() -> None:
    inner = {
        "contents": [
            content("Hi"),
            {
                "role": "model",
                "parts": [
                    {"text": "Hm", "thought": True},
                    {"text": "So", "thought": True, "thoughtSignature": SEAL},
                    {"toolCall": {"id": "1", "toolType": "X"}},
                    {"text": "Yes", "partMetadata": {"a": 1}},
                    {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": SEAL},
                ],
            },
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}, {"fileSearch": {"x": 1}}],
        "toolConfig": {"includeServerSideToolInvocations": True, "retrievalConfig": {"languageCode": "de"}},
        "generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_LOW", "imageConfig": {}, "topK": 5},
        "safetySettings": [{"category": "C"}],
        "cachedContent": "c/1",
        "labels": {"a": "b"},
        "serviceTier": "flex",
        "store": True,
    }
    done = dragoman.translate_request(inner, source="gemini", target=NAME, model="gemini-3-flash")
    assert done.json() == {
        "model": "gemini-3-flash",
        "user_prompt_id": done.json()["user_prompt_id"],
        "request": {
            "contents": [
                content("Hi"),
                {
                    "role": "model",
                    "parts": [
                        {"text": "So", "thoughtSignature": SEAL},
                        {"text": "Yes"},
                        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": SEAL},
                    ],
                },
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]},
            ],
            "tools": [{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}],
            "toolConfig": {"retrievalConfig": {"languageCode": "de"}},
            "generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_LOW", "topK": 5},
            "safetySettings": [{"category": "C"}],
            "cachedContent": "c/1",
            "labels": {"a": "b"},
        },
    }
    assert sorted([(loss.code, loss.path) for loss in done.losses]) == [
        ("field.dropped", "/contents/1/parts/3/partMetadata"),
        ("field.dropped", "/generationConfig/imageConfig"),
        ("field.dropped", "/store"),
        ("field.dropped", "/toolConfig/includeServerSideToolInvocations"),
        ("hosted.dropped", "/contents/1/parts/2"),
        ("id.invented", ""),
        ("part.as_text", "/contents/1/parts/1"),
        ("reasoning.dropped", "/contents/1/parts/0"),
        ("tier.dropped", "/serviceTier"),
        ("tool.hosted.dropped", "/tools/2/fileSearch"),
    ]


def test_a_code_assist_request_becomes_gemini_without_its_envelope() -> None:
    done = dragoman.translate_request(FULL, source=NAME, target="gemini")
    inner = {name: value for name, value in FULL["request"].items() if name != "session_id"}  # type: ignore[attr-defined]
    assert done.json() == inner
    assert sorted([loss.path for loss in done.losses]) == [
        "/enabled_credit_types",
        "/newer",
        "/project",
        "/request/session_id",
        "/user_prompt_id",
    ]


def test_a_lower_case_level_is_not_written_beside_a_budget() -> None:
    thinking = {"thinkingConfig": {"thinkingLevel": "low"}}
    body = wrapped(content("Hi"), generationConfig=thinking)
    assert round_trip(body) == body
    for source, document in ((NAME, body), ("gemini", body["request"])):
        target = "gemini" if source == NAME else NAME
        done = dragoman.translate_request(document, source=source, target=target, model="gemini-2.5-pro").json()
        assert done.get("request", done)["generationConfig"] == {"thinkingConfig": {"thinkingBudget": 1024}}


def test_thoughts_and_seals_of_other_dialects_are_dropped() -> None:
    said_ = (
        Reasoning("Own", seal=Seal("anthropic", SEAL), at=("a",)),
        Opaque("anthropic", "x", Raw(b"{}"), at=("b",)),
        Text("Yes"),
    )
    request = Request((Turn("user", (Text("Hi"),)), Turn("assistant", said_), Turn("user", (Text("Go"),))))
    body, lost = write(request, "anthropic")
    assert body["request"]["contents"][1] == content("Yes", "model")
    assert lost == [("reasoning.dropped", "/a"), ("seal.dropped", "/a"), ("hosted.dropped", "/b"), ("id.invented", "")]


def test_gemini_seals_in_a_foreign_history_are_sent_back_unchanged() -> None:
    steps = (
        Turn("user", (Text("Hi"),)),
        Turn("assistant", (ToolCall("c1", "f", "{}", seal=Seal("gemini", SEAL)),)),
        Turn("tool", (ToolResult("c1", (Text("ok"),)),)),
    )
    body, _ = write(Request(steps), "anthropic", Profile(seals=True))
    assert body["request"]["contents"][1]["parts"][0]["thoughtSignature"] == SEAL


@pytest.mark.parametrize(("tier", "lost"), [("flex", True), ("default", True), ("auto", False), (None, False)])
def test_service_tiers_are_not_written(tier: str | None, lost: bool) -> None:
    request = Request((Turn("user", (Text("Hi"),)),), settings=Settings(tier=tier, at={"tier": ("t",)}))
    body, found = write(request)
    assert "serviceTier" not in body["request"]
    assert (("tier.dropped", "/t") in found) is lost


def test_another_model_is_spliced_into_the_envelope() -> None:
    done = dragoman.translate_request(FULL, source=NAME, target=NAME, model="gemini-2.5-pro")
    assert done.json() == {**FULL, "model": "gemini-2.5-pro"}


def test_seals_packed_for_code_assist_are_written_into_the_gemini_slot() -> None:
    foreign = packed_seals.pack(Seal("anthropic", SEAL))
    thoughts = (
        Reasoning("a", seal=Seal(NAME, packed_seals.pack(Seal("gemini", SEAL)))),
        Reasoning("b", seal=Seal(NAME, foreign)),
    )
    context = Context(NAME, NAME)
    out = DIALECT.write_request(Request((Turn("assistant", thoughts),), "m"), context)
    assert msgspec.json.decode(out)["request"]["contents"][0]["parts"] == [
        {"text": "a", "thought": True, "thoughtSignature": SEAL},
        {"text": "b", "thought": True, "thoughtSignature": foreign},
    ]
    assert context.losses.all() == ()
