"""Images that a model made, in histories for upstreams that accept images from users only."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from tests.oracles import body_verdict

PNG = "iVBORw0KGgoAAAANSUhEUg=="
IMAGE = {"inlineData": {"mimeType": "image/png", "data": PNG}}
DRAW_REQUEST = {"role": "user", "parts": [{"text": "Draw a cat"}]}
DRAWN_ANSWER = {"role": "model", "parts": [{"text": "Here:"}, IMAGE]}
CHANGE = {"role": "user", "parts": [{"text": "Make it black"}]}
HERE = "[image/png, attached to the next message]"
WHOSE = "[image/png of the assistant's last message]"


def _sent(target: str, *contents: Any, model: str = "m") -> tuple[Any, list[tuple[str, str]]]:
    done = dragoman.translate_request({"contents": list(contents)}, source="gemini", target=target, model=model)
    return done.json(), [(loss.code, loss.path) for loss in done.losses if loss.code.startswith("media.")]


def test_chat_has_the_image_in_the_next_user_message() -> None:
    body, lost = _sent("openai-chat", DRAW_REQUEST, DRAWN_ANSWER, CHANGE)
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    assert body["messages"][1:] == [
        {"role": "assistant", "content": [{"type": "text", "text": "Here:"}, {"type": "text", "text": HERE}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": WHOSE}, image, {"type": "text", "text": "Make it black"}],
        },
    ]
    assert lost == [("media.moved", "/contents/1/parts/1")]


def test_anthropic_has_the_image_in_the_next_user_message() -> None:
    body, lost = _sent("anthropic", DRAW_REQUEST, DRAWN_ANSWER, CHANGE)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    texts = [{"type": "text", "text": text} for text in ("Here:", HERE, WHOSE, "Make it black")]
    assert body["messages"][1:] == [
        {"role": "assistant", "content": texts[:2]},
        {"role": "user", "content": [texts[2], image, texts[3]]},
    ]
    assert lost == [("media.moved", "/contents/1/parts/1")]


def test_responses_has_the_image_as_an_item_of_the_assistant() -> None:
    body, lost = _sent("openai-responses", DRAW_REQUEST, DRAWN_ANSWER, CHANGE)
    item = body["input"][2]
    assert item.pop("id").startswith("ig_")
    assert item == {"type": "image_generation_call", "status": "completed", "result": PNG}
    assert [one["content"] for one in body["input"] if one["type"] == "message"] == [
        "Draw a cat",
        "Here:",
        "Make it black",
    ]
    assert lost == []


def test_the_item_has_the_same_id_in_every_later_request() -> None:
    first, _ = _sent("openai-responses", DRAW_REQUEST, DRAWN_ANSWER, CHANGE)
    later, _ = _sent(
        "openai-responses", DRAW_REQUEST, DRAWN_ANSWER, CHANGE, {"role": "model", "parts": [{"text": "ok"}]}, CHANGE
    )
    assert first["input"][2] == later["input"][2]


def test_openrouter_has_a_field_for_the_image() -> None:
    body, lost = _sent("openrouter", DRAW_REQUEST, DRAWN_ANSWER, CHANGE)
    assert body["messages"][1]["images"] == [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    ]
    assert lost == []


def test_an_image_from_responses_moves_to_the_next_user_message() -> None:
    item = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": PNG}
    request = {"model": "m", "input": [{"role": "user", "content": "Draw"}, item, {"role": "user", "content": "Again"}]}
    done = dragoman.translate_request(request, source="openai-responses", target="anthropic", model="m")
    assert [message["role"] for message in done.json()["messages"]] == ["user", "assistant", "user"]
    assert done.json()["messages"][2]["content"][1]["source"]["data"] == PNG
    back = dragoman.translate_request(request, source="openai-responses", target="gemini", model="m")
    assert back.json()["contents"][1] == {"role": "model", "parts": [IMAGE]}


def test_an_image_url_moves_if_the_item_of_the_target_takes_only_bytes() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
    messages = [
        {"role": "user", "content": "Draw"},
        {"role": "assistant", "content": "Here:", "images": [image]},
        {"role": "user", "content": "Again"},
    ]
    request = {"model": "m", "messages": messages}
    done = dragoman.translate_request(request, source="openrouter", target="openai-responses", model="m")
    assert done.json()["input"][2]["content"][1]["image_url"] == "https://example.com/cat.png"
    assert "media.moved" in {loss.code for loss in done.losses}


CALL = {"functionCall": {"id": "c1", "name": "f", "args": {}}}
RESULT = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "ok"}}}


@pytest.mark.parametrize(
    "contents",
    [
        pytest.param([DRAW_REQUEST, DRAWN_ANSWER], id="nothing follows"),
        pytest.param(
            [DRAW_REQUEST, {"role": "model", "parts": [IMAGE, CALL]}, {"role": "user", "parts": [RESULT]}],
            id="a result follows",
        ),
        pytest.param(
            [
                DRAW_REQUEST,
                {"role": "model", "parts": [{"inlineData": {"mimeType": "image/bmp", "data": "Qk0="}}]},
                CHANGE,
            ],
            id="a type that upstreams refuse",
        ),
    ],
)
@pytest.mark.parametrize("target", ["openai-chat", "anthropic"])
def test_other_images_are_dropped(target: str, contents: list[Any]) -> None:
    _, lost = _sent(target, *contents)
    assert [code for code, _ in lost] == ["media.dropped"]


def test_a_model_that_takes_no_images_gets_none() -> None:
    _, lost = _sent("openai-chat", DRAW_REQUEST, DRAWN_ANSWER, CHANGE, model="deepseek-chat")
    assert [code for code, _ in lost] == ["media.dropped"]


def test_a_later_request_keeps_the_place_of_the_image() -> None:
    """The second request begins with the turns of the first request, which are in the cache."""
    first, _ = _sent("anthropic", DRAW_REQUEST, DRAWN_ANSWER, CHANGE)
    more = [{"role": "model", "parts": [{"text": "Done"}]}, {"role": "user", "parts": [{"text": "Thanks"}]}]
    second, lost = _sent("anthropic", DRAW_REQUEST, DRAWN_ANSWER, CHANGE, *more)
    assert second["messages"][:3] == first["messages"]
    assert [code for code, _ in lost] == ["media.moved"]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic", "openrouter"])
def test_the_written_request_is_legal(target: str) -> None:
    request = {"contents": [DRAW_REQUEST, DRAWN_ANSWER, CHANGE]}
    done = dragoman.translate_request(request, source="gemini", target=target, model="m")
    assert not body_verdict.check_request(target, done.body)
