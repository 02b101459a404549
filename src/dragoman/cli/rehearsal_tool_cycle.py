"""Owns one tool cycle between a client and an upstream of any two dialects, without a network: the rehearsal answers.

request -> call -> result -> answer. The client is the library itself: it reads the call and writes the result.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from .. import rehearsal
from ..canon.events import Fault
from ..canon.losses import Loss
from ..canon.parts import Text
from ..context import Context
from ..dialects import endpoints, get, installed
from ..errors import FaultError
from ..translate import Translation, translate_request, translate_response
from ..translate.tool_calls import tool_calls, tool_results

SOURCE = "anthropic"
"""The dialect of the bundled documents."""
QUESTION: dict[str, Any] = {
    "model": "m",
    "max_tokens": 1024,
    "messages": [{"role": "user", "content": "What is the weather in Paris? Call get_weather with city Paris."}],
    "tools": [
        {
            "name": "get_weather",
            "description": "The weather in a city.",
            "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }
    ],
}
"""The question, as a Messages request."""
OUTPUT = "4 degrees, light rain"


class PlayedCycle(Struct, frozen=True):
    """The outcome of a cycle. `problem`: "" where call, result and answer arrived."""

    client: str
    upstream: str
    losses: tuple[Loss, ...]
    problem: str = ""


def play_cycle(client: str, upstream: str) -> PlayedCycle:
    """Play the cycle between a client's dialect and an upstream's."""
    losses: list[Loss] = []
    model = endpoints(client).example_model
    asked = translate_request(QUESTION, source=SOURCE, target=client, model=model).json()
    answer = _exchange(asked, client, upstream, losses)
    calls = tool_calls(answer, dialect=client)
    if [(call.name, call.input) for call in calls] != [("get_weather", {"city": "Paris"})]:
        return PlayedCycle(client, upstream, tuple(losses), "the call did not arrive")
    turns = tool_results(answer, {calls[0].id: OUTPUT}, dialect=client, model=model)
    _history(asked).extend(turns)
    answer = _exchange(asked, client, upstream, losses)
    response = get(client).read_response(answer, Context(client, client))
    words = "".join([part.text for part in response.parts if isinstance(part, Text)])
    return PlayedCycle(client, upstream, tuple(losses), "" if OUTPUT in words else "the result did not arrive")


def _history(request: dict[str, Any]) -> list[Any]:
    """The list of turns, at its place in any dialect."""
    fields = {get(name).turns for name in installed()}
    inner = request.get("request", request)
    found: list[Any] = next(inner[field] for field in fields if isinstance(inner.get(field), list))
    return found


def _exchange(request: dict[str, Any], client: str, upstream: str, losses: list[Loss]) -> bytes:
    """Send a request to the rehearsal behind an upstream's dialect. Returns the answer in the client's dialect."""
    sent = translate_request(request, source=client, target=upstream, model=endpoints(upstream).example_model)
    body = _rehearsal_answer(sent, upstream)
    answer = translate_response(body, source=upstream, target=client, answers=sent)
    losses += [*sent.losses, *answer.losses]
    return answer.body


def _rehearsal_answer(sent: Translation, upstream: str) -> bytes:
    speaker = get(upstream)
    request = speaker.read_request(sent.body, Context(upstream, rehearsal.PREFIX))
    request = msgspec.structs.replace(request, model="rehearsal/rules")
    answer = rehearsal.answer(request, seals="ignored").response()
    if isinstance(answer, Fault):
        raise FaultError(answer)
    # A fixed time, so that every run gives the same bytes.
    context = Context(upstream, upstream, model=request.model, answers=request, created=1_760_000_000)
    return speaker.write_response(answer, context)
