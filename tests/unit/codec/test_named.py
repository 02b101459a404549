"""What a request is known to say by what stands around its messages is what it says."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from dragoman import translate_request
from dragoman.fast.prefix import forget_all
from dragoman.translate.request import known_beginning, peek

TALK = [{"role": "user", "content": f"word {i} " * 20} if i % 2 == 0 else {"role": "assistant", "content": f"said {i}"}
        for i in range(5)]  # fmt: skip
FIELDS: dict[str, Any] = {
    "model": "m1",
    "messages": TALK,
    "stream": True,
    "max_tokens": 50,
    "stop": ["a", "b"],
}


def bodies() -> list[bytes]:
    out = []
    for names in itertools.permutations(FIELDS, 3):
        if "messages" in names and "model" in names:
            out.append(json.dumps({name: FIELDS[name] for name in names}).encode())
    more = [*TALK, {"role": "assistant", "content": "more"}, {"role": "user", "content": "and more"}]
    out += [json.dumps({**json.loads(body), "messages": more}).encode() for body in out]
    twice = json.dumps({"model": "m1", "messages": TALK})[:-1]
    out += [f'{twice}, "model": "m2"}}'.encode(), f'{twice}, "messages": {json.dumps(TALK)}, "model": "m2"}}'.encode()]
    return out


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_a_known_request_says_what_it_says(target: str) -> None:
    forget_all()
    found = 0
    for _ in range(2):
        for body in bodies():
            known = known_beginning(body, "openai-chat")
            said = peek(body)
            assert said is not None
            if known is not None:
                found += 1
                request = known.around.request
                assert (request.model, request.stream) == (said.model, said.stream), body
            translate_request(body, source="openai-chat", target=target)
    assert found > 20
