"""A new dialect needs only one folder. An eighth dialect from another package is found by its entry point.

The new dialect works everywhere without a change in the library.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import dragoman
from dragoman.dialects import get, names
from dragoman.errors import ConfigError

from .toy_dialect_installation import QUESTION, as_package


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with as_package(tmp_path_factory.mktemp("site")):
        yield


def test_a_dialect_is_found_by_its_entry_point() -> None:
    assert "toy" not in names()
    assert get("toy").title == "Toy"
    with pytest.raises(ConfigError):
        get("toys")


@pytest.mark.parametrize("other", names())
def test_requests_are_translated_in_both_directions(other: str) -> None:
    translated = dragoman.translate_request(QUESTION, source="toy", target=other, model="some-model")
    back = dragoman.translate_request(translated.body, source=other, target="toy", model="toy-1")
    assert [line for line in back.json()["lines"] if "call" in line] == [QUESTION["lines"][3]]
    assert [line["text"] for line in back.json()["lines"] if line["from"] == "tool"] == ["rain"]
    assert back.json()["tools"][0]["name"] == "weather"


@pytest.mark.parametrize("other", names())
def test_answers_and_streams_are_translated_in_both_directions(other: str) -> None:
    answer = {
        "lines": [{"from": "model", "text": "I look."}, QUESTION["lines"][3]],
        "end": "tools",
        "tokens": [10, 5],
    }
    translated = dragoman.translate_response(answer, source="toy", target=other)
    back = dragoman.translate_response(translated.body, source=other, target="toy").json()
    assert (back["end"], back["tokens"]) == ("tools", [10, 5])
    assert back["lines"][-1]["call"]["input"] == {"city": "Oslo"}

    pieces = [{"text": "I "}, {"text": "look."}, {"call": QUESTION["lines"][3]["call"]}, {"end": "tools"}]
    stream = b"".join(json.dumps(piece).encode() + b"\n" for piece in pieces)
    whole = dragoman.StreamTranslator(source="toy", target=other)
    out = whole.feed(stream) + whole.close()
    second = dragoman.StreamTranslator(source=other, target="toy")
    lines = [json.loads(line) for line in (second.feed(out) + second.close()).splitlines()]
    assert "".join(line.get("text", "") for line in lines) == "I look."
    assert [line["call"]["name"] for line in lines if "call" in line] == ["weather"]
    assert lines[-1]["end"] == "tools"


def test_a_cut_stream_ends_with_its_fault_and_an_image_is_a_loss() -> None:
    cut = dragoman.StreamTranslator(source="openai-chat", target="toy")
    assert json.loads(cut.close()) == {"problem": "the upstream's stream ended before the answer did"}
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    body = {"model": "m", "messages": [{"role": "user", "content": [image]}]}
    found = dragoman.translate_request(body, source="openai-chat", target="toy").losses
    assert [(loss.code, loss.path) for loss in found] == [("part.dropped", "/messages/0/content/0")]


def test_calls_results_tools_and_faults_are_translated() -> None:
    answer = {"lines": [QUESTION["lines"][3]], "end": "tools"}
    (call,) = dragoman.tool_calls(answer, dialect="toy")
    assert (call.id, call.name, call.input) == ("c1", "weather", {"city": "Oslo"})
    assert dragoman.tool_results(answer, {"c1": "rain"}, dialect="toy")[-1] == QUESTION["lines"][4]
    tools = dragoman.translate_tools(QUESTION["tools"], source="toy", target="anthropic")
    assert tools.json()[0]["name"] == "weather"
    fault = dragoman.translate_fault({"problem": "slow down"}, status=429, source="toy", target="anthropic")
    assert (fault.status, fault.json()["error"]["message"]) == (429, "slow down")
    assert fault.json()["error"]["type"] == "rate_limit_error"
