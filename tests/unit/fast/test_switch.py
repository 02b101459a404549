"""The switch of `dragoman.fast`: while it is off, no cache of the process holds the content of a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from bench import payloads

from dragoman import fast, translate_request, translate_response
from dragoman.codec import cache_memory_budget
from dragoman.dialects import names
from dragoman.fast.repeated_request_heads import KnownHeads
from dragoman.transport.response_head_reader import HeadReader

SECRET = "xyzzy"
HEAD = b"HTTP/1.1 200 OK\r\nx-id: a\r\n\r\n"


@pytest.fixture
def switched_off() -> Iterator[None]:
    fast.off()
    yield
    fast.on()
    fast.forget()


def values(value: Any) -> Iterator[str]:
    """All texts in a value of a cache."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes | msgspec.Raw):
        yield bytes(value).decode("utf-8", "replace")
    elif isinstance(value, msgspec.Struct):
        yield from (text for name in value.__struct_fields__ for text in values(getattr(value, name)))
    elif isinstance(value, dict):
        yield from (text for item in value.items() for text in values(item))
    elif isinstance(value, tuple | list | set | frozenset):
        yield from (text for item in value for text in values(item))


def held() -> list[str]:
    """All texts in the caches of documents and tables of the process."""
    found: list[str] = []
    for cache in cache_memory_budget._registered():
        for half in (cache, getattr(cache, "young", None), getattr(cache, "old", None)):
            found.extend(values(half))
    return found


def request(dialect: str) -> bytes:
    """A request whose texts, all of them, hold the secret word."""
    return (
        payloads.request(dialect)
        .replace(b'"text":"', b'"text":"' + SECRET.encode())
        .replace(b'"content":"', b'"content":"' + SECRET.encode())
        .replace(b'"instructions":"', b'"instructions":"' + SECRET.encode())
    )


def translate_all() -> None:
    """Translate each dialect to each other one, twice, also to another model within the dialect, and back."""
    for source in names():
        if source not in payloads.MODELS:
            continue
        document = request(source)
        for target in payloads.MODELS:
            for model in ("m1", "gpt-5", "claude-sonnet-4-5"):
                sent = [translate_request(document, source=source, target=target, model=model) for _ in "12"][-1]
                translate_response(payloads.response(target), source=target, target=source, answers=sent)


def test_no_cache_holds_the_content_of_a_document_while_the_switch_is_off(switched_off: None) -> None:
    assert SECRET in request("openai-responses").decode()
    translate_all()
    assert not [text for text in held() if SECRET in text]


def test_the_check_finds_the_content_while_the_switch_is_on() -> None:
    fast.forget()
    translate_all()
    assert [text for text in held() if SECRET in text]
    fast.off()
    fast.on()
    assert not [text for text in held() if SECRET in text]


def test_heads_are_kept_only_while_the_switch_is_on(switched_off: None) -> None:
    lines = [(b"content-length", b"1")]
    head = b"POST / HTTP/1.1\r\ncontent-length: 1"
    answers, heads = HeadReader(), KnownHeads()
    assert dict(answers.read(HEAD)) == {"x-id": "a"}
    assert (len(answers.repeated), heads.learn(head, b"/", lines, {"content-length": "1"}, "/", "")) == (0, None)
    fast.on()
    answers.read(HEAD)
    assert heads.learn(head, b"/", lines, {"content-length": "1"}, "/", "") is not None
    assert (len(answers.repeated), len(heads.known)) == (1, 1)
    fast.forget()
    assert (len(answers.repeated), len(heads.known)) == (0, 0)
    assert dict(answers.read(HEAD)) == {"x-id": "a"}
