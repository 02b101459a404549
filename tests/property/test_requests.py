"""A usual request passes all stages at once. The result is the same as with each stage separately."""

from __future__ import annotations

import copy
import itertools
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import DragomanError, MemoryVault
from dragoman.canon import Request
from dragoman.fast import off, on
from dragoman.translate.request import Options, make_options
from dragoman.translate.with_fast_paths import known_beginning, translate_with
from tests.oracles.exchanges import DIALECTS
from tests.property.broken_conversations import WAYS, Step, Words, broken, legal
from tests.property.law_for_each_dialect import each
from tests.property.strategies import requests
from tests.property.test_laws import write
from tests.property.test_repair import spelled

PAIRS = list(itertools.permutations(DIALECTS, 2))


def became(body: bytes, chosen: Options, *, sighted: bool = False) -> object:
    try:
        known = known_beginning(body, chosen.source) if sighted else None
        found = translate_with(body, chosen, known=known)
    except DragomanError as error:
        return type(error), str(error)
    called = None if found.called is None else frozenset[str]().union(*found.called)
    return found.body, found.losses, found.repairs, called, found.request


def check(body: bytes, source: str, target: str, repair: str | None) -> None:
    chosen = make_options(source=source, target=target, model="m", repair=repair, vault=MemoryVault())  # type: ignore[arg-type]
    off()
    first = became(body, chosen)
    on()
    for known in (False, False, True, True):  # new, learned, remembered, and passed on
        assert became(body, chosen, sighted=known) == first
        with patch("dragoman.translate.request._is_whole", return_value=False):
            assert became(body, chosen, sighted=known) == first


@given(request=requests(), repair=st.sampled_from([None, "report"]))
@each("source, target", PAIRS)
def test_any_request(source: str, target: str, request: Request, repair: str | None) -> None:
    check(write(source, request)[0], source, target, repair)


@given(
    steps=st.one_of(st.builds(Words).flatmap(legal), st.sampled_from(sorted(WAYS)).flatmap(broken)),
    repair=st.sampled_from([None, "report"]),
)
@each("source, target", PAIRS)
def test_a_history_that_is_broken_or_not(source: str, target: str, steps: list[Step], repair: str | None) -> None:
    check(spelled(source, copy.deepcopy(steps), ids=True), source, target, repair)


@pytest.mark.parametrize("changes", [{"repair": "refuse"}, {"binary": "summarise"}])
def test_changed_options_are_used(changes: dict[str, Any]) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    talk = [
        {"role": "user", "content": "Look, please. " * 30},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [image]}]},
        {"role": "user", "content": "What?"},
    ]
    body = msgspec.json.encode({"model": "m", "max_tokens": 9, "messages": talk})
    usual = make_options(source="anthropic", target="openai-chat", repair="report")
    made: Any = make_options(**({"source": "anthropic", "target": "openai-chat", "repair": "report"} | changes))
    for _ in range(3):
        became(body, usual)
        assert became(body, msgspec.structs.replace(usual, **changes)) == became(body, made)


@pytest.mark.parametrize("source", ["openai-chat", "anthropic"])
def test_results_without_text_can_be_summarised(source: str) -> None:
    said: list[Any] = [{"role": "user", "content": "hi"}]
    if source == "anthropic":
        said += [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]},
        ]
    else:
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        said += [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c"}]
    body = msgspec.json.encode({"model": "m", "max_tokens": 9, "messages": said})
    done = translate_with(body, make_options(source=source, target="gemini", binary="summarise"))
    assert done.request is not None
    assert [turn.role for turn in done.request.turns] == ["user", "assistant", "tool"]
