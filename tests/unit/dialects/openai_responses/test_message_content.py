"""The content of Responses messages is read and written: media, cache marks and parts of unknown kinds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon import Citation, Media, Opaque, Part, Reasoning, Request, Seal, Text, Turn
from tests.unit.dialects.openai_responses.helpers import (
    NAME,
    extra_fields,
    losses_of,
    new_context,
    read,
    round_trip,
    written,
)

PNG = "data:image/png;base64,QUJD"


def content(*parts: Any) -> dict[str, Any]:
    return {"model": "m", "input": [{"type": "message", "role": "user", "content": list(parts)}]}


def sent_content(*parts: Part, source: str = "anthropic", role: Any = "user") -> tuple[Any, list[tuple[str, str]]]:
    """The content of a turn as it is sent, and the losses."""
    context = new_context(source)
    out = written(Request((Turn("user", (Text("q"),)), Turn(role, parts, at=("turn",))), "m"), context)["input"]
    return out[1]["content"] if len(out) > 1 else None, losses_of(context)


@pytest.mark.parametrize(
    ("part", "media"),
    [
        (
            {"type": "input_image", "image_url": PNG, "detail": "high"},
            Media("image", "image/png", "QUJD", detail="high"),
        ),
        (
            {"type": "input_image", "image_url": "https://e.com/a.png"},
            Media("image", "image/png", url="https://e.com/a.png"),
        ),
        ({"type": "input_image", "file_id": "f"}, Media("image", file="f")),
        (
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,QUJD"},
            Media("document", "application/pdf", "QUJD", name="a.pdf"),
        ),
        (
            {"type": "input_file", "filename": "a.png", "file_data": "QUJD"},
            Media("image", "image/png", "QUJD", name="a.png"),
        ),
        (
            {"type": "input_file", "file_url": "https://e.com/a.pdf"},
            Media("document", "application/pdf", url="https://e.com/a.pdf"),
        ),
        (
            {"type": "input_file", "file_id": "f", "filename": "a.pdf"},
            Media("document", "application/pdf", "", "", "f", "a.pdf"),
        ),
        ({"type": "input_audio", "input_audio": {"data": "QUJD"}}, Media("audio", "audio/wav", "QUJD")),
    ],
)
def test_media_are_read(part: Any, media: Media) -> None:
    (found,) = read(content(part)).turns[0].parts
    assert found == msgspec.structs.replace(media, at=("input", 0, "content", 0))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_image"},
        {"type": "input_file", "filename": "a.pdf"},
        {"type": "input_file", "file_id": "f"},
        {"type": "input_image", "image_url": "data:image/png;charset=x;base64,QUJD"},
        {"type": "input_text"},
    ],
)
def test_odd_parts_survive_a_round_trip(part: Any) -> None:
    body = content({"type": "input_text", "text": "x"}, part)
    assert round_trip(body) == body


@pytest.mark.parametrize(
    ("media", "part", "losses"),
    [
        (
            Media("image", url="https://e.com/a"),
            {"type": "input_image", "image_url": "https://e.com/a", "detail": "auto"},
            [],
        ),
        (
            Media("image", file="file-1", detail="ultra", name="n"),
            {"type": "input_image", "file_id": "file-1", "detail": "auto"},
            ["media.reference", "media.detail.dropped", "media.name.dropped"],
        ),
        (
            Media("document", "text/plain", "QUJD", detail="low"),
            {"type": "input_file", "filename": "document.txt", "file_data": "data:text/plain;base64,QUJD"},
            ["media.detail.dropped"],
        ),
        (
            Media("document", url="gs://b/a.pdf"),
            {"type": "input_text", "text": "[document attached here could not be sent: gs://b/a.pdf]"},
            ["media.dropped"],
        ),
        (Media("document", file="file-1"), {"type": "input_file", "file_id": "file-1"}, ["media.reference"]),
        (
            Media("document", "application/pdf", file="file_011"),
            {"type": "input_text", "text": "[application/pdf attached here could not be sent]"},
            ["media.dropped"],
        ),
        (
            Media("video", "video/mp4", "QUJD"),
            {"type": "input_text", "text": "[video/mp4 attached here could not be sent]"},
            ["media.dropped"],
        ),
        (
            Media("image"),
            {"type": "input_text", "text": "[image attached here could not be sent]"},
            ["media.dropped"],
        ),
        (
            Media("document"),
            {"type": "input_text", "text": "[document attached here could not be sent]"},
            ["media.dropped"],
        ),
    ],
)
def test_media_are_written(media: Media, part: Any, losses: list[str]) -> None:
    out, lost = sent_content(media)
    assert out == [part]
    assert [code for code, _ in lost] == losses


def test_file_ids_of_chat_are_the_same_files() -> None:
    assert sent_content(Media("document", file="f"), source="openai-chat") == (
        [{"type": "input_file", "file_id": "f"}],
        [],
    )


def test_marks_that_a_text_of_the_user_cannot_have() -> None:
    parts = (
        Text("", at=("a",)),
        Text("no", True, (Citation("https://e.com"),), seal=Seal("gemini", "s"), cache="5m", at=("b",)),
        Reasoning("hm", at=("c",)),
        Opaque("gemini", "videoMetadata", Raw(b"{}"), at=("d",)),
    )
    out, losses = sent_content(*parts)
    assert out == [{"type": "input_text", "text": "no"}]
    assert losses == [
        ("seal.dropped", "/b"),
        ("refusal.as_text", "/b"),
        ("citation.dropped", "/b"),
        ("cache.dropped", "/b"),
        ("part.dropped", "/c"),
        ("part.dropped", "/d"),
    ]


def test_a_turn_that_becomes_empty() -> None:
    assert sent_content(Opaque("gemini", "x", Raw(b"{}"), at=("d",))) == (
        None,
        [("part.dropped", "/d"), ("turn.dropped", "/turn")],
    )
    assert sent_content(Text(""), Text("")) == (None, [])
    assert sent_content(Text(""), role="assistant")[0] is None


def test_parts_of_an_assistant_turn() -> None:
    parts = (
        Text("see", citations=(Citation("https://e.com", "E", "", 0, 3),), seal=Seal("gemini", "s"), at=("a",)),
        Text("no", True, (Citation("https://e.com"),), at=("b",)),
    )
    note = {"type": "url_citation", "start_index": 0, "end_index": 3, "url": "https://e.com", "title": "E"}
    assert sent_content(*parts, role="assistant") == (
        [
            {"type": "output_text", "text": "see", "annotations": [note]},
            {"type": "refusal", "refusal": "no"},
        ],
        [("seal.dropped", "/a"), ("citation.dropped", "/b")],
    )


def test_odd_items_of_the_assistant_survive_a_round_trip() -> None:
    text = {"type": "output_text", "text": "x", "annotations": []}
    for item in (
        {"type": "message", "role": "assistant", "id": "msg_1", "content": [{"type": "output_hologram", "x": 1}, text]},
        {"type": "message", "role": "assistant", "id": "msg_1", "content": [text, {"type": "output_hologram", "x": 1}]},
        {
            "type": "message",
            "role": "assistant",
            "id": "m",
            "content": [{"type": "input_image", "image_url": PNG}, text],
        },
        {"type": "reasoning", "summary": [], "content": "plain"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": ""}]},
        {"type": "message", "role": "critic", "content": "x"},
    ):
        body = {"model": "m", "input": [item]}
        if item.get("id") == "m":
            # The content of the assistant cannot have an image; only the id of the message is kept.
            assert round_trip(body)["input"][0]["id"] == "m"
        else:
            assert round_trip(body) == body


def test_unknown_parts_of_thinking_are_reported() -> None:
    context = new_context(target="gemini")
    item = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_image", "x": 1}]}
    (turn,) = read({"model": "m", "input": [item]}, context).turns
    assert turn.parts == (Reasoning("a", at=("input", 0)),)
    assert losses_of(context) == [("part.dropped", "/input/0/summary/1")]


def test_a_cache_mark_survives_a_round_trip() -> None:
    mark = {"mode": "explicit", "ttl": "12h"}
    body = content({"type": "input_text", "text": "x", "prompt_cache_breakpoint": mark})
    assert read(body).turns[0].parts == (Text("x", cache="12h", at=("input", 0, "content", 0)),)
    assert round_trip(body) == body


def test_citations_of_files_are_reported_by_their_ids() -> None:
    context = new_context(target="gemini")
    note = {"type": "file_citation", "file_id": "f", "filename": "a.txt", "index": 3}
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "x", "annotations": [note]}],
    }
    (turn,) = read({"model": "m", "input": [item]}, context).turns
    expected = Citation("", "a.txt", extra=extra_fields(type="file_citation", filename="a.txt", file_id="f", index=3))
    assert turn.parts == (Text("x", citations=(expected,), at=("input", 0, "content", 0)),)
    assert context.kept == [(("input", 0, "content", 0, "annotations", 0), {"file_id": Raw(b'"f"')})]
    assert NAME in (expected.extra or {})
