"""Prompt caching: a longer conversation begins with the bytes of the shorter one, tools and settings unchanged."""

from __future__ import annotations

from typing import Any

import hypothesis
import msgspec
import pytest
from hypothesis import strategies as st

import dragoman
from dragoman.canon import (
    Grammar,
    Media,
    Part,
    Reasoning,
    Request,
    Seal,
    Settings,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from dragoman.fast import forget
from tests.pairs.helpers import MODELS, PAIRS, written

HISTORY = {"openai-responses": "input", "gemini": "contents", "code-assist": "contents"}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

TOOLS = (
    Tool("read.file", "Reads.", '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'),
    Tool("apply_patch", "Patches.", custom=True, grammar=Grammar("lark", "start: /.+/")),
    Tool("get", "Gets.", '{"type":"object","properties":{}}', namespace="crm"),
)

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip())
)


@st.composite
def steps(draw: st.DrawFn, source: str, number: int) -> list[Turn]:
    """Draw one step of a conversation: a question, maybe with an image, and the answer."""
    asked: list[Part] = [Text(draw(words))]
    if draw(st.booleans()) and source != "ollama":
        asked.append(Media("image", "image/png", PIXEL))
    turns = [Turn("user", tuple(asked))]
    for loop in range(draw(st.integers(0, 2))):
        said: list[Part] = []
        if draw(st.booleans()):
            said.append(Reasoning(draw(words), seal=Seal(source, "c2VhbA==") if source == "anthropic" else None))
        if draw(st.booleans()):
            said.append(Text(draw(words)))
        results: list[Part] = []
        for i in range(draw(st.integers(1, 2))):
            call_id = f"call_{number}_{loop}_{i}"
            custom = source in ("openai-chat", "openai-responses") and draw(st.booleans())
            namespace = "crm" if source == "openai-responses" and not custom and draw(st.booleans()) else ""
            name = "apply_patch" if custom else "get" if namespace else "read.file"
            said.append(ToolCall(call_id, name, draw(words) if custom else '{"path":"a"}', custom, namespace))
            results.append(ToolResult(call_id, (Text(draw(words)),), name, custom=custom))
        turns += [Turn("assistant", tuple(said)), Turn("tool", tuple(results))]
    turns.append(Turn("assistant", (Text(draw(words)),)))
    return turns


@st.composite
def conversations(draw: st.DrawFn, source: str) -> list[Turn]:
    turns = [Turn("system", (Text(draw(words)),))]
    for number in range(draw(st.integers(1, 3))):
        turns += draw(steps(source, number))
    return [*turns, Turn("user", (Text(draw(words)),))]


def _sent(turns: list[Turn], source: str, target: str, model: str) -> tuple[list[bytes], dict[str, Any]]:
    """Return the messages as written, each with its exact bytes, and the other fields."""
    tools = TOOLS if source == "openai-responses" else TOOLS[:2] if source == "openai-chat" else TOOLS[:1]
    request = Request(tuple(turns), "m", tools, settings=Settings(max_tokens=4096))
    done = dragoman.translate_request(written(request, source), source=source, target=target, model=model)
    fields = msgspec.json.decode(done.body, type=dict[str, msgspec.Raw])
    if target == "code-assist":
        fields = msgspec.json.decode(fields["request"], type=dict[str, msgspec.Raw])
    history = msgspec.json.decode(fields.pop(HISTORY.get(target, "messages")), type=list[msgspec.Raw])
    return [bytes(message) for message in history], {name: bytes(value) for name, value in fields.items()}


@pytest.mark.parametrize(("source", "target"), PAIRS)
@hypothesis.settings(max_examples=15, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(data=st.data())
def test_adding_a_turn_never_changes_what_stands_before_it(source: str, target: str, data: st.DataObject) -> None:
    turns = data.draw(conversations(source))
    # Every place where a client asks: after its own words, and after results.
    asked = [i + 1 for i, turn in enumerate(turns) if turn.role in ("user", "tool")]
    before: list[bytes] = []
    others: dict[str, Any] | None = None
    for end in asked:
        messages, rest = _sent(turns[:end], source, target, MODELS[target])
        assert others is None or rest == others
        # The last message may grow, since some dialects join neighbours; it begins as it did.
        if before:
            last = len(before) - 1
            assert messages[:last] == before[:last]
            assert messages[last].startswith(before[last].rstrip(b"]}"))
        before, others = messages, rest


@pytest.mark.parametrize("target", ["gemini", "code-assist"])
def test_a_request_for_another_model_changes_nothing(target: str) -> None:
    """The library remembers written turns. But the model decides whether calls need seals, and where media are
    placed."""
    call, result = ToolCall("call_1", "f", '{"path":"a"}'), ToolResult("call_1", (Text("ok"),), "f")
    seen = ToolCall("call_2", "f", '{"path":"b"}')
    picture = ToolResult("call_2", (Text("see"), Media("image", "image/png", PIXEL)), "f")
    turns = (
        Turn("user", (Text("Go."),)),
        Turn("assistant", (call,)),
        Turn("tool", (result,)),
        Turn("assistant", (seen,)),
        Turn("tool", (picture,)),
        Turn("user", (Text("And?"),)),
    )
    body = written(Request(turns, "m", (Tool("f", "F.", '{"type":"object","properties":{}}'),)), "anthropic")
    models = ("gemini-3-flash", "gemini-2.5-flash")

    def sent(model: str) -> tuple[bytes, list[str]]:
        done = dragoman.translate_request(body, source="anthropic", target=target, model=model)
        return done.body, [str(loss) for loss in done.losses]

    alone: dict[str, Any] = {}
    for model in models:
        forget()
        alone[model] = sent(model)
    for model in models * 3:
        assert sent(model) == alone[model]
    assert alone[models[0]][0].count(b"skip_thought_signature_validator") == 2
    assert b"skip_thought_signature_validator" not in alone[models[1]][0]
