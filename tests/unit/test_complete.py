"""`complete` and `acomplete`: a request of any dialect is sent to an upstream; the answer has the same dialect."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

import dragoman
from dragoman.dialects import endpoints, names
from dragoman.errors import ConfigError, FaultError, LossError, TransportError
from tests.unit.cli.fake_upstream import FakeUpstream, fake_upstream

REQUEST = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}


@pytest.mark.parametrize("dialect", names())
def test_the_answer_has_the_dialect_of_the_request(dialect: str) -> None:
    model = endpoints(dialect).example_model
    request = dragoman.translate_request(REQUEST, source="anthropic", target=dialect, model=model).json()
    if dialect == "ollama":
        request["stream"] = False  # Ollama streams by default
    with fake_upstream("Hello from afar.") as upstream:
        done = dragoman.complete(request, dialect=dialect, upstream="openai-chat/one", base_url=upstream.address)
    assert "Hello from afar." in json.dumps(done.json())
    assert (done.source, done.target) == ("openai-chat", dialect)
    assert [one["model"] for one in upstream.requests] == ["one"]
    assert dragoman.detect(done.body)[0] == dialect or dialect in ("openrouter", "code-assist", "ollama", "gemini")


@pytest.mark.parametrize("dialect", names())
def test_the_rehearsal_answers_without_a_key_and_without_a_network(dialect: str) -> None:
    chat_request = {"model": "any", "max_completion_tokens": 100, "messages": [{"role": "user", "content": "Say hi"}]}
    body = dragoman.translate_request(chat_request, source="openai-chat", target=dialect).body
    done = dragoman.complete(body, dialect=dialect, upstream="rehearsal/rules", environment={})
    back = dragoman.translate_response(done.body, source=dialect, target="openai-chat").json()
    assert "you said: “Say hi”" in back["choices"][0]["message"]["content"]
    with pytest.raises(FaultError) as caught:
        dragoman.complete(body, dialect=dialect, upstream="rehearsal/overloaded", environment={})
    assert caught.value.fault.kind == "overloaded" and b"overloaded" in caught.value.body


def test_the_key_of_the_environment_or_of_the_caller_is_sent() -> None:
    output = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    text = {"type": "output_text", "text": "Hello.", "annotations": []}
    answer = {"id": "r", "object": "response", "created_at": 1, "status": "completed", "model": "one"}
    with fake_upstream() as upstream:
        upstream.answer = lambda path: (  # type: ignore[method-assign]
            {**answer, "output": [{**output, "content": [text]}]}
            if path.endswith("/responses")
            else FakeUpstream.answer(upstream, path)
        )
        given = {"OPENAI_API_KEY": "k1", "OPENAI_BASE_URL": upstream.address}
        dragoman.complete(REQUEST, dialect="anthropic", upstream="openai/one", environment=given)
        dragoman.complete(REQUEST, dialect="anthropic", upstream="openai/one", environment=given, key="k2")
        asyncio.run(
            dragoman.acomplete(
                REQUEST, dialect="anthropic", upstream="openai-chat/one", base_url=upstream.address, key="k3"
            )
        )
    assert upstream.keys == ["Bearer k1", "Bearer k2", "Bearer k3"]


def test_losses_are_reported_and_a_tolerance_prevents_the_request() -> None:
    body = {**REQUEST, "unheard_of": 5}
    with fake_upstream() as upstream:
        options = {"dialect": "anthropic", "upstream": "openai-chat/one", "base_url": upstream.address}
        done = dragoman.complete(body, **options)
        assert any(loss.path == "/unheard_of" for loss in done.losses)
        before = len(upstream.requests)
        with pytest.raises(LossError):
            dragoman.complete(body, **options, tolerance="info")
        assert len(upstream.requests) == before


def test_a_fault_is_an_error_with_its_body_in_the_clients_dialect() -> None:
    with fake_upstream() as upstream:
        upstream.status = 401
        upstream.answer = lambda path: {"error": {"message": "bad key sk-very-secret", "code": "invalid_api_key"}}  # type: ignore[method-assign]
        with pytest.raises(FaultError) as raised:
            dragoman.complete(
                REQUEST,
                dialect="anthropic",
                upstream="openai-chat/one",
                base_url=upstream.address,
                key="sk-very-secret",
            )
    assert raised.value.fault.status == 401
    assert json.loads(raised.value.body)["type"] == "error"
    assert "sk-very-secret" not in str(raised.value) + raised.value.body.decode()


@pytest.mark.parametrize(
    ("upstream", "more", "words"),
    [
        ("openai", {}, "the model is missing"),
        ("openai/one", {}, "OPENAI_API_KEY"),
        ("nobody/one", {}, "nobody"),
        ("klingon/one", {"base_url": "http://127.0.0.1:9"}, "klingon"),
        ("gemini/one", {"base_url": "127.0.0.1"}, "not an address"),
    ],
)
def test_mistakes_are_named(upstream: str, more: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        dragoman.complete(REQUEST, dialect="anthropic", upstream=upstream, environment={}, **more)


def test_a_stream_request_and_an_unreachable_upstream_are_errors() -> None:
    options = {"dialect": "anthropic", "upstream": "openai-chat/one", "base_url": "http://127.0.0.1:9"}
    with pytest.raises(ConfigError, match="whole answers"):
        dragoman.complete({**REQUEST, "stream": True}, **options)
    with pytest.raises(TransportError):
        dragoman.complete(REQUEST, **options)


def test_network_modules_are_imported_by_the_first_call() -> None:
    program = "import sys, dragoman; dragoman.complete; print('asyncio' in sys.modules, 'httptools' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
