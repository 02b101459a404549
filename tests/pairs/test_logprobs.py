"""Log probabilities in answers, over all pairs: moved to the target's place, or reported."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.canon import (
    Alternative,
    Event,
    Finish,
    PartDelta,
    PartEnd,
    PartStart,
    Response,
    Start,
    Stop,
    Text,
    ToolCall,
    Usage,
)
from dragoman.canon.parts import Token
from dragoman.context import Context
from dragoman.dialects import get
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream
from tests.pairs.helpers import DIALECTS, PAIRS

YO = {"token": "Yo", "logprob": -2.5, "bytes": [89, 111]}
TOKENS = [
    {"token": "Hi", "logprob": -0.25, "bytes": [72, 105], "top_logprobs": [YO]},
    {"token": " ü", "logprob": -0.5, "bytes": [32, 195, 188], "top_logprobs": []},
]
SOURCES = [name for name in DIALECTS if name != "anthropic"]


def _plain(tokens: Any) -> list[tuple[str, float, list[tuple[str, float]]]]:
    return [
        (one["token"], one["logprob"], [(top["token"], top["logprob"]) for top in one["top_logprobs"]])
        for one in tokens
    ]


def _answer(dialect: str, *parts: Any, tokens: Any = TOKENS) -> bytes:
    """Return an answer of this dialect with its log probabilities."""
    others = (Alternative((Text("Yo"),), Stop("stop")),) if dialect in ("openai-chat", "gemini") else ()
    response = Response(parts or (Text("Hi ü"),), Stop("stop"), "resp_1", "m", 1, alternatives=others)
    body: dict[str, Any] = msgspec.json.decode(get(dialect).write_response(response, Context(dialect, dialect)))
    if dialect in ("openai-chat", "openrouter"):
        body["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    elif dialect == "openai-responses":
        body["output"][0]["content"][0]["logprobs"] = tokens
    elif dialect == "ollama":
        body["logprobs"] = [{name: value for name, value in one.items() if name != "bytes"} for one in tokens]
        for one in body["logprobs"]:
            one["top_logprobs"] = [{"token": top["token"], "logprob": top["logprob"]} for top in one["top_logprobs"]]
    else:
        candidate = body.get("response", body)["candidates"][0]
        candidate["logprobsResult"] = {
            "topCandidates": [
                {"candidates": [{"token": t["token"], "logProbability": t["logprob"]} for t in one["top_logprobs"]]}
                for one in tokens
            ],
            "chosenCandidates": [
                {"token": one["token"], "logProbability": one["logprob"], "tokenId": 7} for one in tokens
            ],
        }
    return msgspec.json.encode(body)


def _found(body: Any, dialect: str) -> Any:
    if dialect in ("openai-chat", "openrouter"):
        return _plain(body["choices"][0]["logprobs"]["content"])
    if dialect == "openai-responses":
        texts = [part for item in body["output"] if item["type"] == "message" for part in item["content"]]
        return _plain([one for part in texts for one in part["logprobs"]])
    if dialect == "ollama":
        return _plain(body["logprobs"])
    found = body.get("response", body)["candidates"][0]["logprobsResult"]
    return [
        (one["token"], one["logProbability"], [(top["token"], top["logProbability"]) for top in tops["candidates"]])
        for one, tops in zip(found["chosenCandidates"], found["topCandidates"], strict=True)
    ]


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[0] in SOURCES])
def test_tokens_are_translated_or_reported(source: str, target: str) -> None:
    done = dragoman.translate_response(_answer(source), source=source, target=target)
    assert check_response(target, done.body, extensions=True) == []
    losses = [loss for loss in done.losses if "ogprobs" in loss.path and loss.severity != "info"]
    if target == "anthropic":
        assert losses
    else:
        assert _found(done.json(), target) == _plain(TOKENS)
        assert losses == []


@pytest.mark.parametrize("target", [name for name in SOURCES if name != "openai-responses"])
def test_each_text_has_its_own_tokens_and_other_dialects_get_one_list(target: str) -> None:
    body = msgspec.json.decode(_answer("openai-responses", Text("Hi"), ToolCall("call_1", "f", "{}"), Text(" ü")))
    texts = [part for item in body["output"] if item["type"] == "message" for part in item["content"]]
    for part, token in zip(texts, TOKENS, strict=True):
        part["logprobs"] = [token]
    done = dragoman.translate_response(body, source="openai-responses", target=target)
    assert _found(done.json(), target) == _plain(TOKENS)
    if target in ("gemini", "code-assist"):
        back = dragoman.translate_response(done.body, source=target, target="openai-responses").json()
        texts = [part for item in back["output"] if item["type"] == "message" for part in item["content"]]
        assert [[one["token"] for one in part["logprobs"]] for part in texts] == [["Hi"], [" ü"]]


@pytest.mark.parametrize("target", [name for name in DIALECTS if name not in ("openai-chat", "openrouter")])
def test_unknown_log_probabilities_are_reported(target: str) -> None:
    odd = [{**TOKENS[0], "brand_new": 1}]
    done = dragoman.translate_response(_answer("openai-chat", tokens=odd), source="openai-chat", target=target)
    assert ("field.dropped", "/choices/0/logprobs") in [(loss.code, loss.path) for loss in done.losses]


SAID = tuple(msgspec.convert(TOKENS, list[Token]))
TOLD: list[Event] = [
    Start("resp_1", "m", 1),
    PartStart(0, Text("")),
    PartDelta(0, "Hi"),
    PartDelta(0, "", None, (), SAID[:1]),
    PartDelta(0, " ü"),
    PartDelta(0, "", None, (), SAID[1:]),
    PartEnd(0),
    PartStart(1, ToolCall("call_1", "f")),
    PartDelta(1, "{}"),
    PartEnd(1),
    Finish(Stop("tool_calls"), Usage(3, 4)),
]


def _stream(dialect: str) -> bytes:
    """Return a stream of this dialect with its log probabilities."""
    writer = get(dialect).writer(Context(dialect, dialect, created=1))
    return b"".join([writer.send(event) for event in TOLD])


def _frames(raw: bytes) -> list[Any]:
    lines = [line.removeprefix(b"data: ") for line in raw.split(b"\n")]
    return [msgspec.json.decode(line) for line in lines if line.startswith(b"{")]


def _tokens_of_stream(raw: bytes, dialect: str) -> Any:
    """Return the tokens of a stream in the form of `_plain`."""
    frames = _frames(raw)
    if dialect in ("openai-chat", "openrouter"):
        choices = [choice for frame in frames for choice in frame["choices"]]
        return _plain([one for choice in choices for one in (choice.get("logprobs") or {}).get("content") or ()])
    if dialect == "openai-responses":
        (done,) = [frame for frame in frames if frame["type"] == "response.output_text.done"]
        last = [frame["response"] for frame in frames if frame["type"] == "response.completed"]
        assert _found(last[0], dialect) == _plain(done["logprobs"])
        return _plain(done["logprobs"])
    if dialect == "ollama":
        return _plain([one for frame in frames for one in frame.get("logprobs") or ()])
    scored = [frame for frame in frames if "logprobsResult" in frame.get("response", frame)["candidates"][0]]
    return [one for frame in scored for one in _found(frame, dialect)]


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[0] in SOURCES])
def test_tokens_in_streams_are_translated_or_reported(source: str, target: str) -> None:
    raw = _stream(source)
    assert _tokens_of_stream(raw, source) == _plain(TOKENS)
    stream = dragoman.StreamTranslator(source=source, target=target)
    out = b"".join([stream.feed(raw[i : i + 50]) for i in range(0, len(raw), 50)]) + stream.close()
    assert check_stream(target, out, extensions=True) == []
    losses = [loss for loss in stream.losses if "ogprobs" in loss.path and loss.severity != "info"]
    if target == "anthropic":
        assert losses
    else:
        assert _tokens_of_stream(out, target) == _plain(TOKENS)
        assert losses == []


def test_tokens_of_a_refusal_are_translated_within_the_chat_family() -> None:
    refused = [msgspec.structs.replace(TOLD[1], part=Text("", True)), *TOLD[2:7], Finish(Stop("refusal"))]
    writer = get("openai-chat").writer(Context("openai-chat", "openai-chat", created=1))
    raw = b"".join([writer.send(event) for event in [TOLD[0], *refused]])
    stream = dragoman.StreamTranslator(source="openai-chat", target="openrouter")
    choices = [choice for frame in _frames(stream.feed(raw) + stream.close()) for choice in frame["choices"]]
    found = [one for choice in choices for one in (choice.get("logprobs") or {}).get("refusal") or ()]
    assert _plain(found) == _plain(TOKENS)
    assert [loss for loss in stream.losses if "ogprobs" in loss.path] == []


@pytest.mark.parametrize("target", ["openai-responses", "openrouter", "gemini"])
def test_unknown_log_probabilities_in_streams_are_reported(target: str) -> None:
    raw = _stream("openai-chat").replace(b'"logprob":', b'"brand_new":1,"logprob":')
    stream = dragoman.StreamTranslator(source="openai-chat", target=target)
    stream.feed(raw)
    assert ("field.dropped", "/choices/0/logprobs") in [(loss.code, loss.path) for loss in stream.losses]


def test_google_dialects_get_the_tokens_of_every_chunk() -> None:
    result = {"chosenCandidates": [{"token": "a", "tokenId": 1, "logProbability": -0.5}], "topCandidates": []}
    frames = [
        {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "logprobsResult": result}]}
        for text in ("a", "b")
    ]
    frames[-1]["candidates"][0]["finishReason"] = "STOP"  # type: ignore[assignment]
    stream = dragoman.StreamTranslator(source="gemini", target="code-assist")
    raw = b"".join([b"data: " + msgspec.json.encode(frame) + b"\n\n" for frame in frames])
    last = _frames(stream.feed(raw) + stream.close())[-1]["response"]["candidates"][0]
    assert last["logprobsResult"]["chosenCandidates"] == result["chosenCandidates"] * 2
