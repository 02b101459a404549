"""Images that a model made: `image_generation_call` items of Responses, pictures in the answers of other dialects."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman

PNG = "iVBORw0KGgo="
JPEG = "/9j/4AAQSkZJRg=="
PARTS = [{"text": "Here:"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}, {"text": "Done."}]
ITEM = {"id": "ig_1", "type": "image_generation_call", "status": "completed", "result": PNG, "output_format": "png"}


def _gemini(parts: list[dict[str, Any]]) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "modelVersion": "gemini-3-pro-image", "responseId": "r1"}


def _answer(*items: dict[str, Any]) -> dict[str, Any]:
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed"}
    return {**head, "output": list(items)}


def test_an_image_is_an_item_between_messages() -> None:
    done = dragoman.translate_response(_gemini(PARTS), source="gemini", target="openai-responses")
    first, image, last = done.json()["output"]
    assert first["content"][0]["text"] == "Here:" and last["content"][0]["text"] == "Done."
    assert image["id"].startswith("ig_")
    assert {**image, "id": "ig_1"} == ITEM
    assert "media.dropped" not in {loss.code for loss in done.losses}


def test_an_image_is_streamed_as_an_item() -> None:
    stream = dragoman.StreamTranslator(source="gemini", target="openai-responses")
    out = stream.feed(b"data: " + msgspec.json.encode(_gemini(PARTS)) + b"\r\n\r\n") + stream.close()
    events = [msgspec.json.decode(line[6:]) for line in out.splitlines() if line.startswith(b"data: ")]
    about = [event["type"] for event in events if event.get("output_index") == 1]
    assert about == [
        "response.output_item.added",
        "response.image_generation_call.in_progress",
        "response.image_generation_call.generating",
        "response.image_generation_call.completed",
        "response.output_item.done",
    ]
    whole = dragoman.translate_response(_gemini(PARTS), source="gemini", target="openai-responses")
    assert events[-1]["response"]["output"] == whole.json()["output"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


@pytest.mark.parametrize("target", ["gemini", "openrouter", "ollama"])
def test_an_item_becomes_an_image_in_other_dialects(target: str) -> None:
    item = {**ITEM, "revised_prompt": "A fox.", "quality": "low"}
    done = dragoman.translate_response(_answer(item), source="openai-responses", target=target)
    assert PNG.encode() in done.body
    lost = {(loss.code, loss.path, loss.severity) for loss in done.losses}
    # The item also contains the use of a tool. Ollama has no field for this use.
    assert ("hosted.dropped" if target == "ollama" else "hosted.mapped", "/output/0", "info") in lost


def test_a_missing_type_is_read_from_the_bytes() -> None:
    item = {"id": "ig_1", "type": "image_generation_call", "status": "completed", "result": JPEG}
    done = dragoman.translate_response(_answer(item), source="openai-responses", target="gemini")
    parts = done.json()["candidates"][0]["content"]["parts"]
    assert parts == [{"inlineData": {"mimeType": "image/jpeg", "data": JPEG}}]


def test_a_streamed_item_becomes_an_image_in_other_dialects() -> None:
    started = {"type": "image_generation_call", "id": "ig_1", "status": "in_progress"}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1", "model": "gpt-5", "created_at": 1}},
        {"type": "response.output_item.added", "output_index": 0, "item": started},
        {"type": "response.image_generation_call.generating", "output_index": 0, "item_id": "ig_1"},
        {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
        {"type": "response.completed", "response": _answer(ITEM)},
    ]
    wire = b"".join(
        [b"data: " + msgspec.json.encode({**event, "sequence_number": i}) + b"\n\n" for i, event in enumerate(events)]
    )
    stream = dragoman.StreamTranslator(source="openai-responses", target="gemini")
    out = stream.feed(wire) + stream.close()
    assert out.count(PNG.encode()) == 1
    assert not {"hosted.dropped", "event.dropped"} & {loss.code for loss in stream.losses}


def test_images_of_a_history_are_translated_but_ids_alone_are_not() -> None:
    def sent(item: dict[str, Any]) -> dragoman.Translation:
        input_items = [{"role": "user", "content": "Draw."}, item, {"role": "user", "content": "Again."}]
        return dragoman.translate_request(
            {"model": "gpt-5", "input": input_items},
            source="openai-responses",
            target="gemini",
            model="gemini-2.5-flash",
        )

    model = sent(ITEM).json()["contents"][1]
    assert model == {"role": "model", "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}]}
    named = sent({"type": "image_generation_call", "id": "ig_1"})
    assert ("state.dropped", "/input/1") in {(loss.code, loss.path) for loss in named.losses}


def test_an_upstream_gets_only_four_fields_of_an_item() -> None:
    contents = [{"role": "user", "parts": [{"text": "Draw."}]}, {"role": "model", "parts": PARTS}]
    contents.append({"role": "user", "parts": [{"text": "Again."}]})
    done = dragoman.translate_request({"contents": contents}, source="gemini", target="openai-responses", model="gpt-5")
    item = next(item for item in done.json()["input"] if item["type"] == "image_generation_call")
    assert sorted(item) == ["id", "result", "status", "type"]
    assert not [loss for loss in done.losses if loss.code.startswith("media.")]


def test_fields_without_a_place_in_an_item_are_reported() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": "fox"}}
    parts = [{**picture, "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"}}]
    done = dragoman.translate_response(_gemini(parts), source="gemini", target="openai-responses")
    place = "/candidates/0/content/parts/0"
    assert {("media.name.dropped", place), ("media.detail.dropped", place)} <= {
        (loss.code, loss.path) for loss in done.losses
    }


def test_the_state_of_an_image_that_is_not_completed_is_reported() -> None:
    done = dragoman.translate_response(
        _answer({**ITEM, "status": "generating"}), source="openai-responses", target="gemini"
    )
    assert ("field.dropped", "/output/0/status") in {(loss.code, loss.path) for loss in done.losses}


def test_an_image_beside_a_search_is_sent_to_openrouter() -> None:
    """The search becomes a text."""
    search = {"id": "fs_1", "type": "file_search_call", "status": "completed", "queries": ["fox"], "results": None}
    request = {"model": "m", "input": [{"role": "user", "content": "Draw."}, ITEM, search]}
    done = dragoman.translate_request(request, source="openai-responses", target="openrouter", model="m")
    assert PNG.encode() in done.body
    assert ("part.as_text", "/input/2") in {(loss.code, loss.path) for loss in done.losses}
