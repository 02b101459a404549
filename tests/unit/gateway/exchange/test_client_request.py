"""The request of a client: which translations are remembered."""

from __future__ import annotations

from dragoman import MemoryVault
from dragoman.fast.identical_requests import IdenticalRequest
from dragoman.gateway.exchange.client_request import keep_translation
from dragoman.translate.request import Options, Peek, make_options
from dragoman.translate.result import Translation
from dragoman.translate.with_fast_shortcuts import translate_with

BODY = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
OPTIONS = make_options("anthropic", "openai-chat", "gpt-4.1")


def kept(body: bytes, options: Options = OPTIONS) -> tuple[IdenticalRequest[Peek, Translation], Translation]:
    found: IdenticalRequest[Peek, Translation] = IdenticalRequest(body)
    made = translate_with(body, options)
    keep_translation(found, options, "m", made)
    return found, made


def test_a_translation_belongs_to_its_options() -> None:
    (found, _), other = kept(BODY), make_options("anthropic", "openai-chat", "gpt-4.1")
    assert found.get((OPTIONS, "m")) is not None
    assert found.get((OPTIONS, "n")) is None
    assert found.get((other, "m")) is None


def test_the_caller_may_change_a_translation() -> None:
    found, made = kept(BODY)
    body, losses = made.body, made.losses
    made.body, made.asked = b"changed", "changed"
    again = found.get((OPTIONS, "m"))
    assert again is not None
    assert (again.body, again.asked, again.losses) == (body, "m", losses)
    again.body = b"changed"
    third = found.get((OPTIONS, "m"))
    assert third is not None and third.body == body


def test_a_translation_that_depends_on_more_than_its_bytes_is_not_kept() -> None:
    options = make_options("anthropic", "gemini", vault=MemoryVault())
    found, _ = kept(BODY, options)
    assert found.get((options, "m")) is None


def test_a_request_with_packed_seals_is_not_kept() -> None:
    marked = BODY.replace(b"hi", b"hi ZHJhZ29tYW46")
    found, _ = kept(marked)
    assert found.get((OPTIONS, "m")) is None
