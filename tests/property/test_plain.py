"""The fast path for plain answers (`fast.plain_answer.PlainAnswer`) gives the output of the full path."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice, permutations
from typing import Any

import msgspec
import pytest
from bench import payloads
from bench.translate import request_translation

import dragoman
from dragoman import fast, translate
from dragoman.canon.parts import Seal
from dragoman.codec.packed_seals import pack
from dragoman.dialects import get, names
from dragoman.seals.strategy import STRATEGIES, Strategy
from dragoman.seals.vault import MemoryVault
from tests.recorded.recorded_bodies import cases

SHORT = [
    (source, target)
    for source, target in permutations(names(), 2)
    if get(source).fast.read_plain is not None and get(target).fast.write_plain is not None  # type: ignore[union-attr]
]
Outcome = tuple[Any, tuple[dragoman.Loss, ...], object] | str


def outcome(body: bytes, source: str, target: str, seals: Strategy, answers: translate.Translation | None) -> Any:
    """Return the outcome with a vault, and the outcome without a vault if the strategy needs none."""
    kept = outcome_with(MemoryVault(), body, source, target, seals, answers)
    return kept, outcome_with(None, body, source, target, seals, answers) if seals != "vault" else None


def outcome_with(
    vault: MemoryVault | None,
    body: bytes,
    source: str,
    target: str,
    seals: Strategy,
    answers: translate.Translation | None,
) -> Outcome:
    try:
        made = dragoman.translate_response(
            body, source=source, target=target, seals=seals, vault=vault, answers=answers, created=1_790_000_000
        )
    except dragoman.DragomanError as error:
        return f"{type(error).__name__}: {error}"
    return made.body, tuple(sorted(made.losses, key=repr)), dict(vault) if vault is not None else None


@pytest.fixture
def both() -> Iterator[Callable[..., tuple[Outcome, Outcome]]]:
    """Return a function that gives the outcome of an answer on the fast path and on the full path."""

    enabled = fast.enabled()

    def run(*arguments: Any) -> tuple[Outcome, Outcome]:
        fast.on()
        short = outcome(*arguments)
        fast.off()
        return short, outcome(*arguments)

    yield run
    if enabled:
        fast.on()
    else:
        fast.off()


@pytest.mark.parametrize(("source", "target"), SHORT)
def test_recorded_answers_are_the_same_on_both_paths(
    source: str, target: str, both: Callable[..., tuple[Outcome, Outcome]]
) -> None:
    answers = request_translation(target, source, stream=False)
    taken = 0
    for case in cases(source, "response"):
        reader = get(source).fast.read_plain  # type: ignore[union-attr]
        taken += reader is not None and reader(case.body, 0, None) is not None
        for way, request in (("auto", None), ("auto", answers), ("vault", answers), ("id", None)):
            short, long = both(case.body, source, target, way, request)
            assert short == long, (case.id, way)
    assert taken, "no recorded answer takes the fast path"


_WORDS = "Bergen/Norway: 6 °C, \U0001f327."


def _chat_thought(whole: Any) -> None:
    whole["choices"][0]["message"]["reasoning_content"] = _WORDS


def _chat_other_thought(whole: Any) -> None:
    whole["choices"][0]["message"]["reasoning"] = _WORDS


def _chat_two_thoughts(whole: Any) -> None:
    _chat_thought(whole)
    _chat_other_thought(whole)


def _responses_thought(whole: Any) -> None:
    summary = [{"type": "summary_text", "text": words} for words in (_WORDS, "", "Now.")]
    content = [{"type": "reasoning_text", "text": _WORDS}]
    thought = {
        "id": "rs_1",
        "type": "reasoning",
        "summary": summary,
        "content": content,
        "encrypted_content": "c2Vh" * 9,
    }
    whole["output"].insert(0, thought)


def _responses_unsealed_thought(whole: Any) -> None:
    summary = [{"type": "summary_text", "text": _WORDS}]
    whole["output"].insert(0, {"id": "rs_1", "type": "reasoning", "summary": summary})


def _responses_silent_thought(whole: Any) -> None:
    whole["output"].insert(0, {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "c2Vh" * 9})
    whole["output"][1]["phase"] = "commentary"


def _messages_thought(whole: Any) -> None:
    whole["content"].insert(0, {"type": "thinking", "thinking": _WORDS, "signature": "c2Vh" * 9})


def _messages_unsealed_thought(whole: Any) -> None:
    whole["content"].insert(0, {"type": "thinking", "thinking": _WORDS})


def _messages_silent_thought(whole: Any) -> None:
    whole["content"].insert(0, {"type": "thinking", "thinking": "", "signature": "c2Vh" * 9})


def _messages_foreign_thought(whole: Any) -> None:
    packed = pack(Seal("gemini", "c2Vh" * 9, "", "gemini-3"))
    whole["content"].insert(0, {"type": "thinking", "thinking": _WORDS, "signature": packed})


def _gemini_thought(whole: Any) -> None:
    whole["candidates"][0]["content"]["parts"].insert(0, {"text": _WORDS, "thought": True})


def _gemini_sealed_thought(whole: Any) -> None:
    part = {"text": _WORDS, "thought": True, "thoughtSignature": "c2Vh" * 9}
    whole["candidates"][0]["content"]["parts"].insert(0, part)


def _gemini_thought_and_calls(whole: Any) -> None:
    parts = whole["candidates"][0]["content"]["parts"]
    calls = [part | {"thoughtSignature": "c2Vh" * 9} for part in parts if "functionCall" in part]
    parts[:] = [{"text": _WORDS, "thought": True}, *calls]


def _gemini_thought_and_text(whole: Any) -> None:
    sealed = {"text": "It is 6 °C.", "thoughtSignature": "c2Vh" * 9}
    whole["candidates"][0]["content"]["parts"] = [{"text": _WORDS, "thought": True}, sealed]


def _gemini_two_seals(whole: Any) -> None:
    _gemini_thought_and_text(whole)
    whole["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = "dGhv" * 9


def _without_calls(change: Callable[[Any], None]) -> Callable[[Any], None]:
    def changed(whole: Any) -> None:
        change(whole)
        if "choices" in whole:
            del whole["choices"][0]["message"]["tool_calls"]
            whole["choices"][0]["finish_reason"] = "stop"
            whole["choices"][0]["message"]["content"] = "It is 6 °C."
        elif "output" in whole:
            whole["output"] = [item for item in whole["output"] if item["type"] != "function_call"]
        elif "content" in whole:
            whole["content"] = [block for block in whole["content"] if block["type"] != "tool_use"]
            whole["stop_reason"] = "end_turn"
        else:
            content = whole["candidates"][0]["content"]
            content["parts"] = [part for part in content["parts"] if "functionCall" not in part]

    changed.__name__ = f"{change.__name__}_without_calls"
    return changed


THOUGHTS: dict[str, Callable[[Any], None]] = {
    "openai-chat": _chat_thought,
    "openai-responses": _responses_thought,
    "anthropic": _messages_thought,
    "gemini": _gemini_thought_and_calls,
}
_WITH_CALLS = [
    ("openai-chat", _chat_thought),
    ("openai-chat", _chat_other_thought),
    ("openai-chat", _chat_two_thoughts),
    ("openai-responses", _responses_thought),
    ("openai-responses", _responses_unsealed_thought),
    ("openai-responses", _responses_silent_thought),
    ("anthropic", _messages_thought),
    ("anthropic", _messages_unsealed_thought),
    ("anthropic", _messages_silent_thought),
    ("anthropic", _messages_foreign_thought),
    ("gemini", _gemini_thought),
    ("gemini", _gemini_sealed_thought),
]
_THOUGHTFUL = [
    *_WITH_CALLS,
    *[(source, _without_calls(change)) for source, change in _WITH_CALLS],
    ("gemini", _gemini_thought_and_calls),
    ("gemini", _gemini_thought_and_text),
    ("gemini", _gemini_two_seals),
]

_ODD: tuple[Any, ...] = (None, "", " ", 0, 1, 1.5, -1, True, [], {}, [None], {"a": 1}, "STOP", "toolu_1", "x" * 65, "é")


def spoiled(value: Any) -> Iterator[Any]:
    """Yield variants of the value: each part replaced by an odd value, left out, repeated, or with an unknown
    neighbour."""
    if isinstance(value, dict):
        yield value | {"unheard_of": 1}
        for name, inner in value.items():
            yield {key: other for key, other in value.items() if key != name}
            for odd in spoiled(inner):
                yield value | {name: odd}
    elif isinstance(value, list):
        yield []
        yield value + value[-1:]
        yield value[::-1]
        for i, inner in enumerate(value):
            for odd in spoiled(inner):
                yield [*value[:i], odd, *value[i + 1 :]]
    for odd in _ODD:
        yield odd


@pytest.mark.parametrize(("source", "target"), SHORT)
def test_odd_answers_are_the_same_on_both_paths(
    source: str, target: str, both: Callable[..., tuple[Outcome, Outcome]]
) -> None:
    whole = payloads.response(source)
    answers = request_translation(target, source, stream=False)
    for way in STRATEGIES:
        short, long = both(whole, source, target, way, answers)
        assert short == long, way
    thoughtful = msgspec.json.decode(whole)
    THOUGHTS[source](thoughtful)
    # The answer with thoughts has every field of the plain answer, so every fourth change of the plain one is enough.
    plain = islice(spoiled(msgspec.json.decode(whole)), len(target) % 4, None, 4)
    for odd in (*plain, *spoiled(thoughtful)):
        body = msgspec.json.encode(odd)
        short, long = both(body, source, target, "auto", answers)
        assert short == long, body.decode()


@pytest.mark.parametrize(("source", "target"), SHORT)
def test_texts_with_escaped_characters_are_the_same_on_both_paths(
    source: str, target: str, both: Callable[..., tuple[Outcome, Outcome]]
) -> None:
    whole = msgspec.json.decode(payloads.response(source))
    THOUGHTS[source](whole)
    body = json.dumps(whole, ensure_ascii=True).replace("/", "\\/").encode()
    short, long = both(body, source, target, "auto", request_translation(target, source, stream=False))
    assert short == long


def _gemini_without_ids(whole: Any) -> None:
    for part in whole["candidates"][0]["content"]["parts"]:
        part.get("functionCall", {}).pop("id", None)
    whole["candidates"][0]["finishMessage"] = "Model generated function call(s)."


def _gemini_sealed_text(whole: Any) -> None:
    whole["candidates"][0]["content"]["parts"] = [{"text": "It is 6 °C.", "thoughtSignature": "c2lnbmF0dXJl" * 8}]


def _messages_place(whole: Any) -> None:
    whole["usage"]["inference_geo"] = "global"
    whole["usage"]["cache_creation"] = {"ephemeral_5m_input_tokens": 7, "ephemeral_1h_input_tokens": 0}


def _chat_numbered(whole: Any) -> None:
    for number, call in enumerate(whole["choices"][0]["message"]["tool_calls"]):
        call["index"] = number
    whole["choices"][0]["content_filter_results"] = {"hate": {"filtered": False}}


def _chat_host_fields(whole: Any) -> None:
    whole["x_groq"] = {"id": "req_1"}
    whole["choices"][0]["seed"] = 7
    whole["choices"][0]["message"]["padding"] = "abc"
    whole["usage"] |= {
        "prompt_cache_hit_tokens": 12,
        "prompt_cache_miss_tokens": 3,
        "reasoning_tokens": 4,
        "queue_time": 0.1,
        "service_tier": "flex",
        "nothing": None,
        "cost": 0.5,
    }
    whole["usage"]["prompt_tokens_details"] = {"text_tokens": 3}
    del whole["service_tier"]


def _responses_phase(whole: Any) -> None:
    next(item for item in whole["output"] if item["type"] == "message")["phase"] = "commentary"


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("gemini", _gemini_without_ids),
        ("gemini", _gemini_sealed_text),
        ("anthropic", _messages_place),
        ("openai-chat", _chat_numbered),
        ("openai-chat", _chat_host_fields),
        ("openai-responses", _responses_phase),
        *_THOUGHTFUL,
    ],
)
def test_usual_shapes_take_the_short_path_and_are_the_same_on_both_paths(
    source: str, change: Callable[[Any], None], both: Callable[..., tuple[Outcome, Outcome]]
) -> None:
    whole = msgspec.json.decode(payloads.response(source))
    change(whole)
    body = msgspec.json.encode(whole)
    reader = get(source).fast.read_plain  # type: ignore[union-attr]
    assert reader is not None
    assert reader(body, 0, None) is not None
    for target in [target for one, target in SHORT if one == source]:
        answers = request_translation(target, source, stream=False)
        for way in STRATEGIES:
            for request in (None, answers):
                short, long = both(body, source, target, way, request)
                assert short == long, (target, way)
