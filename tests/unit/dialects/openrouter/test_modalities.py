"""The wish for images that the model makes: `modalities` of OpenRouter, `responseModalities` of Gemini."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

IMAGES = ["image", "text"]
MAKER = "google/gemini-2.5-flash-image"


def _asked(modalities: list[str], target: str, model: str = MAKER) -> dragoman.Translation:
    request = {"model": MAKER, "messages": [{"role": "user", "content": "Draw"}], "modalities": modalities}
    return dragoman.translate_request(request, source="openrouter", target=target, model=model)


def _asked_gemini(words: list[str], target: str, model: str = MAKER) -> dragoman.Translation:
    contents = [{"role": "user", "parts": [{"text": "Draw"}]}]
    request = {"contents": contents, "generationConfig": {"responseModalities": words}}
    return dragoman.translate_request(request, source="gemini", target=target, model=model)


def _lost(done: dragoman.Translation) -> list[tuple[str, str]]:
    return [(loss.code, loss.path) for loss in done.losses if loss.code == "field.dropped"]


@pytest.mark.parametrize("modalities", [IMAGES, ["image"]])
def test_gemini_is_asked_for_images(modalities: list[str]) -> None:
    done = _asked(modalities, "gemini")
    assert done.json()["generationConfig"] == {"responseModalities": ["TEXT", "IMAGE"]}
    assert _lost(done) == []


@pytest.mark.parametrize("model", [MAKER, "openai/gpt-5-image-mini"])
@pytest.mark.parametrize("words", [["TEXT", "IMAGE"], ["IMAGE"]])
def test_openrouter_is_asked_for_images(words: list[str], model: str) -> None:
    done = _asked_gemini(words, "openrouter", model)
    assert done.json()["modalities"] == IMAGES
    assert _lost(done) == []


@pytest.mark.parametrize(
    ("done", "path"),
    [
        (_asked(IMAGES, "gemini", "gemini-2.5-flash"), "/modalities"),
        (_asked_gemini(["TEXT", "IMAGE"], "openrouter", "openai/gpt-5"), "/generationConfig/responseModalities"),
        (_asked_gemini(["AUDIO"], "openrouter"), "/generationConfig/responseModalities"),
        (_asked(IMAGES, "anthropic"), "/modalities"),
        (_asked(IMAGES, "code-assist"), "/modalities"),
    ],
)
def test_a_model_that_would_refuse_the_wish_is_not_asked(done: dragoman.Translation, path: str) -> None:
    body: dict[str, Any] = done.json()
    assert "modalities" not in body and "generationConfig" not in body.get("request", body)
    assert _lost(done) == [("field.dropped", path)]


def test_chat_has_no_word_for_images() -> None:
    done = _asked(["text", "image"], "openai-chat")
    assert "modalities" not in done.json()
    assert _lost(done) == [("field.dropped", "/modalities/1")]
    spoken = _asked(["text", "image", "audio"], "openai-chat")
    assert spoken.json()["modalities"] == ["text", "audio"]


@pytest.mark.parametrize("done", [_asked(IMAGES, "openrouter"), _asked_gemini(["TEXT", "IMAGE"], "code-assist")])
def test_the_same_dialect_keeps_the_words(done: dragoman.Translation) -> None:
    body = done.json()
    kept = body["modalities"] if "modalities" in body else body["request"]["generationConfig"]["responseModalities"]
    assert kept in (IMAGES, ["TEXT", "IMAGE"])
    assert _lost(done) == []
