"""Owns the list of dialects: how each one's requests, answers and streams are read into facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from . import anthropic, chat, gemini, ollama, responses
from .fields import Facts, Json, Reader


class Dialect(NamedTuple):
    """The readers of one dialect."""

    request: Reader
    answer: Reader
    fold: Callable[[list[Json]], Json]


DIALECTS: dict[str, Dialect] = {
    "openai-chat": Dialect(chat.REQUEST, chat.ANSWER, chat.fold),
    "openai-responses": Dialect(responses.REQUEST, responses.ANSWER, responses.fold),
    "anthropic": Dialect(anthropic.REQUEST, anthropic.ANSWER, anthropic.fold),
    "gemini": Dialect(gemini.REQUEST, gemini.ANSWER, gemini.fold),
    "code-assist": Dialect(gemini.ENVELOPED_REQUEST, gemini.ENVELOPED_ANSWER, gemini.fold_enveloped),
    "ollama": Dialect(ollama.REQUEST, ollama.ANSWER, ollama.fold),
    "openrouter": Dialect(chat.REQUEST, chat.ANSWER, chat.fold),
}
MAIN = ("openai-chat", "openai-responses", "anthropic", "gemini")
"""The dialects whose pairs have a separate sum."""


def read(dialect: str, kind: str, body: bytes) -> Facts:
    """The facts of a request, an answer or a stream."""
    readers = DIALECTS[dialect]
    if kind == "request":
        return readers.request.read(json.loads(body))
    if kind == "answer":
        return readers.answer.read(json.loads(body))
    return readers.answer.read(readers.fold(frames(body)))


def frames(stream: bytes) -> list[Json]:
    """The JSON objects of a stream, framed as SSE or one in each line."""
    text = stream.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    found: list[Json] = []
    data: list[str] = []
    for line in (*text.split("\n"), ""):
        if line.startswith("data:"):
            data.append(line[5:])
        elif line.startswith("{"):
            data = [line]
        if data and (not line or line.startswith("{")):
            with suppress(ValueError):  # [DONE], or a broken recorded frame
                found.append(json.loads("\n".join(data)))
            data = []
    return [frame for frame in found if isinstance(frame, dict)]
