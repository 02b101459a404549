"""Requests for generated images: `modalities` of OpenRouter, and `responseModalities` of Gemini."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

IMAGES = ["image", "text"]
MAKER = "google/gemini-2.5-flash-image"


def _from_openrouter(modalities: list[str], target: str, model: str = MAKER) -> dragoman.Translation:
    request = {"model": MAKER, "messages": [{"role": "user", "content": "Draw"}], "modalities": modalities}
    return dragoman.translate_request(request, source="openrouter", target=target, model=model)


def _from_gemini(words: list[str], target: str, model: str = MAKER) -> dragoman.Translation:
    contents = [{"role": "user", "parts": [{"text": "Draw"}]}]
    request = {"contents": contents, "generationConfig": {"responseModalities": words}}
    return dragoman.translate_request(request, source="gemini", target=target, model=model)


def _dropped_fields(done: dragoman.Translation) -> list[tuple[str, str]]:
    return [(loss.code, loss.path) for loss in done.losses if loss.code == "field.dropped"]


@pytest.mark.parametrize("modalities", [IMAGES, ["image"]])
def test_images_are_requested_from_gemini(modalities: list[str]) -> None:
    done = _from_openrouter(modalities, "gemini")
    assert done.json()["generationConfig"] == {"responseModalities": ["TEXT", "IMAGE"]}
    assert _dropped_fields(done) == []


@pytest.mark.parametrize("model", [MAKER, "openai/gpt-5-image-mini"])
@pytest.mark.parametrize("words", [["TEXT", "IMAGE"], ["IMAGE"]])
def test_images_are_requested_from_openrouter(words: list[str], model: str) -> None:
    done = _from_gemini(words, "openrouter", model)
    assert done.json()["modalities"] == IMAGES
    assert _dropped_fields(done) == []


@pytest.mark.parametrize(
    ("done", "path"),
    [
        (_from_openrouter(IMAGES, "gemini", "gemini-2.5-flash"), "/modalities"),
        (_from_gemini(["TEXT", "IMAGE"], "openrouter", "openai/gpt-5"), "/generationConfig/responseModalities"),
        (_from_gemini(["AUDIO"], "openrouter"), "/generationConfig/responseModalities"),
        (_from_openrouter(IMAGES, "anthropic"), "/modalities"),
        (_from_openrouter(IMAGES, "code-assist"), "/modalities"),
    ],
)
def test_images_are_not_requested_from_a_model_without_images(done: dragoman.Translation, path: str) -> None:
    body: dict[str, Any] = done.json()
    assert "modalities" not in body and "generationConfig" not in body.get("request", body)
    assert _dropped_fields(done) == [("field.dropped", path)]


def test_chat_has_no_modality_for_images() -> None:
    done = _from_openrouter(["text", "image"], "openai-chat")
    assert "modalities" not in done.json()
    assert _dropped_fields(done) == [("field.dropped", "/modalities/1")]
    with_audio = _from_openrouter(["text", "image", "audio"], "openai-chat")
    assert with_audio.json()["modalities"] == ["text", "audio"]


@pytest.mark.parametrize(
    "done", [_from_openrouter(IMAGES, "openrouter"), _from_gemini(["TEXT", "IMAGE"], "code-assist")]
)
def test_within_a_dialect_the_modalities_are_unchanged(done: dragoman.Translation) -> None:
    body = done.json()
    kept = body["modalities"] if "modalities" in body else body["request"]["generationConfig"]["responseModalities"]
    assert kept in (IMAGES, ["TEXT", "IMAGE"])
    assert _dropped_fields(done) == []
