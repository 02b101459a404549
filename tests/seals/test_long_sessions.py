"""Long sessions keep every seal, whatever an agent changes between two requests.

The agent adds and removes reminders, clears results, moves cache marks, rewrites arguments and changes the system text.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import dialects
from tests.seals.gateway_with_changing_seals import KEYS, MODELS, Person, SealingUpstream, run

Json = Any

REMINDER = "<system-reminder>\nStep {}: mind the list of tasks.\n</system-reminder>"
DETAILS = "<environment_details>\nopen files at step {}\n</environment_details>"
QUESTIONS = 8
CLEARED = "[Old tool result content cleared]"


def as_an_agent_sends(turns: list[Json], step: int) -> list[Json]:
    """The history as an agent sends it at this step."""
    out = [_changed_turn(turn, step) for turn in json.loads(json.dumps(turns))]
    last_request = [turn for turn in out if turn.get("role") == "user" and _texts(turn)]
    _remind(last_request[-1], DETAILS.format(step))
    if step % 3:
        _remind(last_request[0], REMINDER.format(step))
    return out


def _changed_turn(turn: Json, step: int) -> Json:
    for call in turn.get("tool_calls") or ():
        call["function"]["arguments"] = _rewritten_arguments(call["function"]["arguments"], step)
    if "arguments" in turn:
        turn["arguments"] = _rewritten_arguments(turn["arguments"], step)
    blocks = turn["content"] if isinstance(turn.get("content"), list) else turn.get("parts", [])
    for block in blocks:
        if block.get("type") == "tool_use":
            block["input"] = dict(reversed(block["input"].items()))
        elif block.get("type") == "tool_result":
            block["content"] = CLEARED
        elif "functionResponse" in block:
            block["functionResponse"]["response"] = {"output": CLEARED}
        if block.get("type") in ("text", "tool_result"):
            block.pop("cache_control", None)
            if step % 2:
                block["cache_control"] = {"type": "ephemeral"}
    if turn.get("role") == "tool":
        turn["content"] = CLEARED
    if turn.get("type") == "function_call_output":
        turn["output"] = CLEARED
    return turn


def _rewritten_arguments(arguments: Json, step: int) -> Json:
    if not isinstance(arguments, str):
        return dict(reversed(arguments.items()))
    value = dict(reversed(json.loads(arguments).items())) if step % 2 else json.loads(arguments)
    return json.dumps(value, indent=step % 3 or None).replace('"day": 1', '"day": 1.0' if step % 2 else '"day": 1')


def _texts(turn: Json) -> bool:
    blocks = turn.get("parts") or turn.get("content")
    return isinstance(blocks, str) or any("text" in block for block in blocks)


def _remind(turn: Json, text: str) -> None:
    if "parts" in turn:
        turn["parts"].append({"text": text})
    elif isinstance(turn["content"], list):
        turn["content"].append({"type": "text", "text": text})
    else:
        turn["content"] += f"\n\n{text}"


class Agent(Person):
    """A person with an agent that changes the history before each request."""

    steps = 0

    def ask(self, kind: str) -> str:
        self.steps += 1
        kept = self.client.turns
        self.client.turns = as_an_agent_sends(kept, self.steps)
        count = len(self.client.turns)
        last_request = super().ask(kind)
        self.client.turns = [*kept, *self.client.turns[count:]]
        return last_request

    def send(self, body: Json) -> bytes:
        if self.client.dialect in ("openai-chat", "ollama"):
            body["messages"].insert(0, {"role": "system", "content": f"It is step {self.steps}."})
        return super().send(body)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("upstream", MODELS)
@pytest.mark.parametrize("client", dialects.names())
def test_the_last_request_of_a_long_session_has_every_seal(client: str, upstream: str, streamed: bool) -> None:
    server = SealingUpstream(upstream)
    server.arguments = '{"city":"Paris","day":1,"of":{"a":1,"b":[2]}}'

    def use(base: str) -> None:
        agent = Agent(base, client, server, KEYS[0], streamed=streamed)
        calls: list[str] = []
        for question in range(QUESTIONS):
            agent.client.say("Go on, please." if question % 2 else f"Question {question}?")
            for kind in ("call", "call", "text"):
                last_request = agent.ask(kind)
                if kind == "call":
                    calls.append(agent.tokens[-1])
        # A host without seals wants only the thoughts before calls.
        wanted = calls if upstream == "openai-chat" else agent.tokens[:-1]
        assert [token for token in wanted if token not in last_request] == []

    run(use, server)
