"""Laws of all file formats: every line gives a line or an error of dragoman, and no text is lost without a report."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.convert import LineConverter
from dragoman.convert.lines.formats import names
from dragoman.errors import DragomanError, WireError
from tests.corpus.corpus_files import DATA

FORMATS = names()
TARGETS = [name for name in FORMATS if name != "exchange"]
_KEYS = st.sampled_from(
    ["custom_id", "key", "params", "body", "url", "method", "request", "response", "error", "result", "type", "code"]
    + [
        "message",
        "messages",
        "conversations",
        "from",
        "value",
        "system",
        "tools",
        "role",
        "content",
        "contents",
        "parts",
    ]
    + ["text", "tool_calls", "function", "name", "arguments", "status_code", "id", "model"]
)
_WORDS = st.sampled_from(
    [
        "human",
        "gpt",
        "function_call",
        "observation",
        "user",
        "assistant",
        "tool",
        "system",
        "model",
        "succeeded",
        "errored",
    ]
    + ["expired", "POST", "/v1/responses", "{}", "[]", '{"name": "f"}', "\\ud800", ""]
)
_VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 700) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("source", FORMATS)
@settings(max_examples=60)
@given(line=st.dictionaries(_KEYS, _VALUES, max_size=5), target=st.sampled_from([*TARGETS, "anthropic", "gemini"]))
def test_any_object_gives_a_line_or_an_error(source: str, line: Any, target: str) -> None:
    convert = LineConverter(source=source, target=target, model="m")
    try:
        done = convert(json.dumps(line).encode())
    except DragomanError:
        return
    assert b"\n" not in done.line
    assert isinstance(json.loads(done.line), dict)


@pytest.mark.parametrize("source", FORMATS)
@settings(max_examples=20)
@given(line=st.binary(max_size=60))
def test_any_bytes_give_a_line_or_an_error(source: str, line: bytes) -> None:
    with pytest.raises(DragomanError):
        LineConverter(source=source, target="ollama")(b"!" + line)


def _texts(value: Any, at: str = "") -> list[tuple[str, str]]:
    """The texts of the turns of a Messages request, with their places."""
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in _texts(inner, f"{at}/{key}")]
    if isinstance(value, list):
        return [found for number, inner in enumerate(value) for found in _texts(inner, f"{at}/{number}")]
    last = at.rpartition("/")[2]
    return [(value, at)] if isinstance(value, str) and value.strip() and last in ("text", "content", "thinking") else []


@pytest.mark.parametrize(
    "target", [name for name in TARGETS if name.endswith("finetune")] + ["huggingface", "sharegpt"]
)
def test_every_text_arrives_or_is_reported(target: str) -> None:
    convert = LineConverter(source="anthropic", target=target)
    checked = 0
    for record in (DATA / "anthropic.jsonl").read_bytes().splitlines()[:150]:
        request = json.loads(record)["request"]
        if not isinstance(request, dict) or "messages" not in request:
            continue
        try:
            done = convert(json.dumps(request).encode())
        except WireError:  # some recorded requests are broken
            continue
        arrived = done.line.decode().replace("\\\\", "\\")
        reported = [loss.path for loss in done.losses]
        for text, at in _texts(request["messages"], "/messages"):
            checked += 1
            spelled = json.dumps(text, ensure_ascii=False)[1:-1]
            there = spelled in arrived or spelled.replace("\\", "") in arrived.replace("\\", "")
            assert there or any(at.startswith(f"{path}/") or at == path for path in reported if path), (at, reported)
    assert checked > 50
