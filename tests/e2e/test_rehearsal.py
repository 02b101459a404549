"""The rehearsal, tested through a gateway in a separate process with requests for every documented option.

The SDKs' types and the published schemas (`tests/oracles`) check every answer and every stream. The same facts must be
true of both. Every wrong request must be refused with the right status, in the format of the dialect.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from dragoman.conform.judging import independent_stream_reader
from dragoman.conform.judging.case_outcome_checks import CaseOutcome, judge
from dragoman.dialects import get
from tests.e2e.documented_options import Doc, Mistake, Question, chat, gemini, messages, ollama, responses
from tests.e2e.gateway_process import served
from tests.oracles import body_verdict, grammar

ASKED: dict[str, list[Question]] = {
    "openai-chat": [*chat.QUESTIONS, *chat.OPENAI_ONLY],
    "openrouter": [*chat.QUESTIONS, *chat.ROUTER_ONLY],
    "openai-responses": responses.QUESTIONS,
    "anthropic": messages.QUESTIONS,
    "gemini": gemini.QUESTIONS,
    "code-assist": gemini.QUESTIONS,
    "ollama": ollama.QUESTIONS,
}
WRONG: dict[str, list[Mistake]] = {
    "openai-chat": [*chat.MISTAKES, *chat.OPENAI_MISTAKES],
    "openrouter": chat.MISTAKES,
    "openai-responses": responses.MISTAKES,
    "anthropic": messages.MISTAKES,
    "gemini": gemini.MISTAKES,
    "code-assist": gemini.MISTAKES,
    "ollama": ollama.MISTAKES,
}
QUESTIONS = [pytest.param(name, one, id=f"{name}-{one.name}") for name, ones in ASKED.items() for one in ones]
MISTAKES = [pytest.param(name, one, id=f"{name}-{one.name}") for name, ones in WRONG.items() for one in ones]


class Received(NamedTuple):
    """The answer of the gateway."""

    status: int
    headers: dict[str, str]
    body: bytes


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served("", tmp_path_factory.mktemp("gateway")) as address:
        yield address.removeprefix("http://")


def post(base: str, dialect: str, body: Any, *, stream: bool = False, model: str = "rehearsal/rules") -> Received:
    """Send one request as clients of the dialect send it."""
    paths = get(dialect).upstream_paths
    path = (paths.stream_path if stream else paths.path).replace("{model}", model.replace("/", "%2F"))
    if isinstance(body, dict) and dialect == "code-assist":
        body = {"model": model, "project": "p", "request": body}
    elif isinstance(body, dict) and path == paths.stream_path and (stream or dialect == "ollama"):
        body = {**body, "stream": stream}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(base, timeout=30)
    try:
        connection.request("POST", path, data, {"content-type": "application/json", **paths.headers})
        answer = connection.getresponse()
        return Received(answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def _wrong(dialect: str, document: Any, facts: tuple[Doc, ...]) -> list[str]:
    if dialect == "code-assist":
        document = document["response"]
    return [wrong for fact in facts if (wrong := judge(fact, CaseOutcome(dialect, document, [])))]


@pytest.mark.parametrize(("dialect", "question"), QUESTIONS)
def test_a_question_is_answered(base: str, dialect: str, question: Question) -> None:
    whole = post(base, dialect, question.body)
    assert whole.status == 200, whole.body
    assert body_verdict.check_response(dialect, whole.body, extensions=True) == []
    assert _wrong(dialect, json.loads(whole.body), question.facts) == []


@pytest.mark.parametrize(("dialect", "question"), [one for one in QUESTIONS if one.values[1].streams])
def test_a_question_is_answered_in_a_stream(base: str, dialect: str, question: Question) -> None:
    body = question.body
    if dialect in ("openai-chat", "openrouter"):
        body = {**body, "stream_options": {"include_usage": True}}
    streamed = post(base, dialect, body, stream=True)
    assert streamed.status == 200, streamed.body
    assert grammar.check_stream(dialect, streamed.body, extensions=True) == []
    folded = independent_stream_reader.fold(dialect, independent_stream_reader.frames_of(dialect, streamed.body))
    assert _wrong(dialect, folded, question.facts) == []


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("dialect", "mistake"), MISTAKES)
def test_a_mistake_is_refused(base: str, dialect: str, mistake: Mistake, stream: bool) -> None:
    received = post(base, dialect, mistake.body, stream=stream)
    assert received.status == mistake.status, received.body
    assert body_verdict.check_fault(dialect, received.body) == []


@pytest.mark.parametrize(
    "path",
    [
        "/v1beta/rehearsal/rules:generateContent",  # The AI SDK uses a model name with a slash as a complete path.
        "/v1beta/models/rehearsal/rules:generateContent",
        "/v1beta/models/rehearsal%2Frules:generateContent",
        "/v1/publishers/google/models/rehearsal/rules:generateContent",
    ],
)
def test_a_model_name_in_the_path_may_contain_a_slash(base: str, path: str) -> None:
    connection = http.client.HTTPConnection(base, timeout=30)
    try:
        connection.request("POST", path, json.dumps({"contents": [gemini.user("Say banana")]}).encode())
        answer = connection.getresponse()
        received = json.loads(answer.read())
    finally:
        connection.close()
    assert (answer.status, received["modelVersion"]) == (200, "rehearsal/rules")
