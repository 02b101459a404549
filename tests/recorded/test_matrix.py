"""Every recorded body is legal in every other dialect: for the official types, the stream grammar and the conversation
rules."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

import dragoman
from tests.laws.legal_output import judged, passes_with_its_faults, unlawful
from tests.oracles import body_verdict
from tests.recorded.recorded_bodies import CREATED, PAIRS, Case, cases, settle

# Models whose profiles allow different requests; "" stands for the model name of the source.
MODELS: dict[str, tuple[str, ...]] = {
    "openai-chat": ("", "gpt-4o", "gpt-5.2", "gpt-6-luna", "o3"),
    "openai-responses": ("", "gpt-4o", "gpt-5.2", "gpt-6-luna", "o3"),
    "anthropic": ("", "claude-sonnet-4-5", "claude-opus-5-5", "claude-3-5-haiku", "claude-opus-5"),
    "gemini": ("", "gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-pro-preview", "gemini-3.8-flash"),
    "ollama": ("", "qwen3:8b", "gpt-oss:20b", "llama3.2", "deepseek-r1:14b"),
    "openrouter": ("", "openai/gpt-5.2", "anthropic/claude-sonnet-4.5", "google/gemini-3-pro-preview", "x-ai/grok-4"),
    "code-assist": ("", "gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-pro-preview", "gemini-3.8-flash"),
}


def models_for(case: Case, target: str) -> list[str]:
    """Return the model name of the source and one model of the target. The choice depends only on the record."""
    own = MODELS[target]
    pick = int(hashlib.sha256(case.id.encode()).hexdigest(), 16) % (len(own) - 1)
    return ["", own[1 + pick]]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_request_is_legal_in_every_other_dialect(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "request"):
        if passes_with_its_faults(case, target):
            continue
        wrong: list[str] = []
        for model in models_for(case, target):
            model = model or case.model or "some-model"
            out = dragoman.translate_request(case.body, source=source, target=target, model=model)
            wrong += [f"{model}: {text}" for text in unlawful(case, out, target, model)]
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"request {source} to {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_response_is_legal_in_every_other_dialect(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "response"):
        if passes_with_its_faults(case, target):
            continue
        out = dragoman.translate_response(case.body, source=source, target=target, created=CREATED)
        wrong = unlawful(case, out, target, case.model)
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"response {source} to {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_stream_is_legal_in_every_other_dialect(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "stream"):
        if passes_with_its_faults(case, target):
            continue
        stream = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
        wrong = judged(target, "stream", stream.feed(case.body) + stream.close())
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"stream {source} to {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_fault_is_legal_in_every_other_dialect_and_keeps_its_message(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "fault"):
        headers = {"Retry-After": "7"}
        out = dragoman.translate_fault(case.body, status=case.status, source=source, target=target, headers=headers)
        wrong = body_verdict.check_fault(target, out.body)
        back = dragoman.translate_fault(out.body, status=out.status, source=target, target=source, headers=out.headers)
        for text in _messages(msgspec.json.decode(case.body)):
            if text not in str(back.json()) or text not in str(out.json()):
                wrong.append(f"the message is gone: {text[:80]}")
        if not 400 <= out.status < 600:
            wrong.append(f"status {out.status}")
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"fault {source} to {target}", failures)


def _messages(body: object) -> list[str]:
    """Return the texts of a recorded fault that are written for people."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, str):
        return [error]
    return [error["message"]] if isinstance(error, dict) and isinstance(error.get("message"), str) else []
