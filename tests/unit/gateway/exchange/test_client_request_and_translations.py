"""The translations that are cached for a client's request."""

from __future__ import annotations

from dragoman import MemoryVault
from dragoman.fast.identical_requests import IdenticalRequest
from dragoman.gateway.exchange.client_request_and_translations import keep_translation
from dragoman.translate.request import Options, Peek, make_options
from dragoman.translate.result import Translation
from dragoman.translate.with_fast_paths import translate_with

BODY = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
OPTIONS = make_options("anthropic", "openai-chat", "gpt-4.1")


def request_with_translation(
    body: bytes, options: Options = OPTIONS
) -> tuple[IdenticalRequest[Peek, Translation], Translation]:
    found: IdenticalRequest[Peek, Translation] = IdenticalRequest(body)
    made = translate_with(body, options)
    keep_translation(found, options, "m", made)
    return found, made


def test_a_translation_is_found_only_with_its_options_and_model() -> None:
    (found, _), other = request_with_translation(BODY), make_options("anthropic", "openai-chat", "gpt-4.1")
    assert found.get((OPTIONS, "m")) is not None
    assert found.get((OPTIONS, "n")) is None
    assert found.get((other, "m")) is None


def test_a_change_by_the_caller_does_not_reach_the_cached_translation() -> None:
    found, made = request_with_translation(BODY)
    body, losses = made.body, made.losses
    made.body, made.requested_model = b"changed", "changed"
    second = found.get((OPTIONS, "m"))
    assert second is not None
    assert (second.body, second.requested_model, second.losses) == (body, "m", losses)
    second.body = b"changed"
    third = found.get((OPTIONS, "m"))
    assert third is not None and third.body == body


def test_a_translation_with_a_vault_is_not_cached() -> None:
    options = make_options("anthropic", "gemini", vault=MemoryVault())
    found, _ = request_with_translation(BODY, options)
    assert found.get((options, "m")) is None


def test_the_translation_of_a_request_with_packed_seals_is_not_cached() -> None:
    marked = BODY.replace(b"hi", b"hi ZHJhZ29tYW46")
    found, _ = request_with_translation(marked)
    assert found.get((OPTIONS, "m")) is None
