"""Log probabilities in answers, over all pairs: moved to the target's place, or reported."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.canon import Alternative, Response, Stop, Text, ToolCall
from dragoman.crossing import Crossing
from dragoman.dialects import get
from tests.crossings.desk import DIALECTS, PAIRS
from tests.judges.official import check_response

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
    """An answer of this dialect with log probabilities where it has them."""
    others = (Alternative((Text("Yo"),), Stop("stop")),) if dialect in ("openai-chat", "gemini") else ()
    response = Response(parts or (Text("Hi ü"),), Stop("stop"), "resp_1", "m", 1, alternatives=others)
    body: dict[str, Any] = msgspec.json.decode(get(dialect).write_response(response, Crossing(dialect, dialect)))
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
def test_tokens_cross_or_are_reported(source: str, target: str) -> None:
    done = dragoman.translate_response(_answer(source), source=source, target=target)
    assert check_response(target, done.body, extensions=True) == []
    lost = [loss for loss in done.losses if "ogprobs" in loss.path and loss.severity != "info"]
    if target == "anthropic":
        assert lost
    else:
        assert _found(done.json(), target) == _plain(TOKENS)
        assert lost == []


@pytest.mark.parametrize("target", [name for name in SOURCES if name != "openai-responses"])
def test_each_text_has_its_own_tokens_and_they_are_joined_elsewhere(target: str) -> None:
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
def test_what_is_not_understood_stays_a_loss(target: str) -> None:
    odd = [{**TOKENS[0], "brand_new": 1}]
    done = dragoman.translate_response(_answer("openai-chat", tokens=odd), source="openai-chat", target=target)
    assert ("field.dropped", "/choices/0/logprobs") in [(loss.code, loss.path) for loss in done.losses]
