"""Faults: exactly the fields that the target cannot carry are reported, in an answer and in a stream."""

from __future__ import annotations

import pytest

import dragoman
from dragoman.dialects import names

OPENAI = b'{"error":{"message":"bad","type":"invalid_request_error","param":"tools[0]","code":"odd_code"}}'
ANTHROPIC = b'{"type":"error","error":{"type":"overloaded_error","message":"busy"},"request_id":"req_1"}'
OPENROUTER = b'{"error":{"code":429,"message":"slow","metadata":{"provider_name":"P"}},"user_id":"u1"}'
GOOGLE = b'{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT","details":[{"@type":"a"}]}}'
BOTH = ["/error/code", "/error/param"]
WITHOUT_CODES = {"anthropic", "gemini", "code-assist", "ollama"}


def losses_of(body: bytes, status: int, source: str, target: str) -> list[str]:
    found = dragoman.translate_fault(body, status=status, source=source, target=target).losses
    dropped = [loss for loss in found if loss.code == "field.dropped"]
    assert {loss.severity for loss in dropped} <= {"info"}
    return [loss.path for loss in dropped]


def losses_of_stream(body: bytes, source: str, target: str) -> list[str]:
    stream = dragoman.StreamTranslator(source=source, target=target)
    assert stream.feed(b"data: " + body + b"\n\n") + stream.close()
    return [loss.path for loss in stream.losses if loss.code == "field.dropped"]


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("target", names())
def test_codes_and_params(source: str, target: str) -> None:
    wanted = BOTH if target in WITHOUT_CODES else ["/error/param"] if target == "openrouter" else []
    assert losses_of(OPENAI, 400, source, target) == wanted
    if source == "openai-chat":
        assert losses_of_stream(OPENAI, source, target) == wanted


@pytest.mark.parametrize("target", [name for name in names() if name != "anthropic"])
def test_request_ids_are_sent_in_a_header_or_reported(target: str) -> None:
    done = dragoman.translate_fault(ANTHROPIC, status=529, source="anthropic", target=target)
    said = "req_1" in done.headers.values()
    assert said == (target in ("openai-chat", "openai-responses", "openrouter"))
    assert losses_of(ANTHROPIC, 529, "anthropic", target) == ([] if said else ["/request_id"])
    assert losses_of_stream(ANTHROPIC, "anthropic", target) == ["/request_id"]


@pytest.mark.parametrize("target", [name for name in names() if name != "openrouter"])
def test_metadata_and_user_of_openrouter(target: str) -> None:
    assert losses_of(OPENROUTER, 429, "openrouter", target) == ["/error/metadata", "/user_id"]
    assert losses_of_stream(OPENROUTER, "openrouter", target) == ["/error/metadata"]


@pytest.mark.parametrize("target", [name for name in names() if name != "gemini"])
def test_details_of_google_are_sent_to_google_dialects_only(target: str) -> None:
    wanted = [] if target == "code-assist" else ["/error/status", "/error/details"]
    assert losses_of(GOOGLE, 400, "gemini", target) == wanted


@pytest.mark.parametrize(
    ("source", "body", "wanted"),
    [
        ("ollama", b'{"error":"no","ref":"x"}', ["/ref"]),
        ("openai-chat", b'{"error":"no","code":"odd_code"}', ["/code"]),
        ("openai-chat", b'{"error":{"message":"no","code":400}}', []),
        ("openai-chat", b"<html>", []),
        ("gemini", b"[1]", []),
    ],
)
def test_losses_name_the_places_of_fields(source: str, body: bytes, wanted: list[str]) -> None:
    assert losses_of(body, 400, source, "anthropic") == wanted


@pytest.mark.parametrize("target", names())
def test_arguments_that_no_decoder_accepts_are_wrapped(target: str) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"n":1e999}'}}
    turns = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "done"},
    ]
    done = dragoman.translate_request({"model": "m", "messages": turns}, source="openai-chat", target=target)
    assert done.json()
    assert dragoman.lint(done.body, dialect=target) is not None
    assert ("arguments.invalid" in [loss.code for loss in done.losses]) == (target in WITHOUT_CODES)
