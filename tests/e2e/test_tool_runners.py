"""The agent loop and the SDKs' own tool runners on the same scripted task: the same calls, results and last answer.

Anthropic, OpenAI (Responses) and Google have runners in their SDKs. Ollama and Chat Completions have none: there the
peer is the loop of their documentation, with the SDK's client.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.runtime import Agent, tool
from dragoman.runtime.loop import Limits
from dragoman.transport.upstream_config import Upstream
from tests.e2e.scripted_upstream import MODELS, Scripted
from tests.e2e.sdk_clients import TOOLS, _anthropic, _google, _ollama, _openai

Json = Any
PROMPT = "Is Paris warmer than Rome?"
NAMES = {**MODELS, "anthropic": "claude-opus-5"}
"""The SDK warns about models that will end soon."""
DEGREES = {"Paris": "18 degrees", "Rome": "16 degrees"}


FAILURE = "the thermometer is broken"


class Task:
    """The two tools of the task, and the calls in the order in which they ran."""

    def __init__(self, failing: str = "") -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.failing = failing
        """The city whose weather cannot be found."""

    def weather(self, city: str) -> str:
        """The weather in a city."""
        self.calls.append(("weather", {"city": city}))
        if city == self.failing:
            raise RuntimeError(FAILURE)
        return DEGREES[city]

    def compare(self, a: float = 0, b: float = 0) -> str:
        """Compare two numbers."""
        self.calls.append(("compare", {"a": a, "b": b}))
        return "less" if a < b else "not less"

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        return str(getattr(self, name)(**arguments))


@pytest.fixture(scope="module")
def upstream() -> Iterator[Scripted]:
    with Scripted() as server:
        yield server


def _tool_runner(base: str, model: str, task: Task) -> str:
    from anthropic import beta_tool

    tools = [beta_tool(task.weather), beta_tool(task.compare)]
    messages = [{"role": "user", "content": PROMPT}]
    given = {"max_tokens": 1000, "model": model, "tools": tools, "messages": messages}
    runner = _anthropic(base).beta.messages.tool_runner(**given, thread=False)  # send the whole history each time
    return "".join([block.text for block in runner.until_done().content if block.type == "text"])


def _responses_runner(base: str, model: str, task: Task) -> str:
    from openai.lib.responses_tool_runner import RegisteredFunction, ResponsesToolRunner

    functions = [
        RegisteredFunction(
            {"type": "function", "name": name, "parameters": schema, "strict": False},
            lambda arguments, name=name: task.run(name, arguments),
        )
        for name, schema in TOOLS.items()
    ]
    done = ResponsesToolRunner(functions=functions).run(_openai(base), {"model": model, "input": PROMPT})
    return str(done.output_text)


def _automatic_function_calling(base: str, model: str, task: Task) -> str:
    from google.genai import types

    config = types.GenerateContentConfig(tools=[task.weather, task.compare])
    return str(_google(base).models.generate_content(model=model, contents=PROMPT, config=config).text)


def _chat_loop(base: str, model: str, task: Task) -> str:
    tools = [{"type": "function", "function": {"name": name, "parameters": TOOLS[name]}} for name in TOOLS]
    messages: list[Json] = [{"role": "user", "content": PROMPT}]
    while True:
        message = _openai(base).chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message)
        for call in message.tool_calls:
            found = task.run(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": found})


def _ollama_loop(base: str, model: str, task: Task) -> str:
    messages: list[Json] = [{"role": "user", "content": PROMPT}]
    while True:
        message = _ollama(base).chat(model, messages=messages, tools=[task.weather, task.compare]).message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message)
        for call in message.tool_calls:
            found = task.run(call.function.name, dict(call.function.arguments))
            messages.append({"role": "tool", "content": found, "tool_name": call.function.name})


RUNNERS: dict[str, Callable[[str, str, Task], str]] = {
    "anthropic": _tool_runner,
    "openai-responses": _responses_runner,
    "gemini": _automatic_function_calling,
    "openai-chat": _chat_loop,
    "ollama": _ollama_loop,
}


def _agent(base: str, dialect: str, folder: Path, task: Task) -> str:
    agent = Agent(
        f"it/{NAMES[dialect]}",
        folder=folder,
        tools=[tool(task.weather), tool(task.compare)],
        upstreams={"it": Upstream(dialect, base, auth="none", stream="never")},
        environment={"HOME": str(folder)},
        limits=Limits(retries=0),
    )
    return agent.ask(PROMPT).text


def _results(dialect: str, request: Json) -> list[tuple[str, str]]:
    """The results in a request: the call's id (where the dialect has none: the tool's name), and the text."""
    if dialect == "anthropic":
        blocks = [
            block for turn in request["messages"] if isinstance(turn["content"], list) for block in turn["content"]
        ]
        return [(one["tool_use_id"], _text(one["content"])) for one in blocks if one["type"] == "tool_result"]
    if dialect == "openai-responses":
        items = [one for one in request["input"] if one.get("type") == "function_call_output"]
        return [(one["call_id"], _text(one["output"])) for one in items]
    if dialect == "gemini":
        parts = [part for turn in request["contents"] for part in turn["parts"]]
        found = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return [(one["name"], *one["response"].values()) for one in found]
    name = "tool_name" if dialect == "ollama" else "tool_call_id"
    return [(one[name], _text(one["content"])) for one in request["messages"] if one["role"] == "tool"]


def _text(content: Json) -> str:
    return content if isinstance(content, str) else "".join([block["text"] for block in content])


@pytest.mark.parametrize("dialect", RUNNERS)
def test_the_loop_and_the_sdks_runner_do_the_same(upstream: Scripted, tmp_path: Path, dialect: str) -> None:
    base, requests = f"http://127.0.0.1:{upstream.port}", upstream.asked[dialect]
    requests.clear()
    theirs, ours = Task(), Task()
    said = RUNNERS[dialect](base, NAMES[dialect], theirs)
    their_requests = [*requests]
    requests.clear()
    assert _agent(base, dialect, tmp_path, ours) == said == "Paris is warmer."
    assert ours.calls == theirs.calls and len(ours.calls) >= 3
    assert len(requests) == len(their_requests) == 3
    for mine, other in zip(requests, their_requests, strict=True):
        assert _results(dialect, mine) == _results(dialect, other)
    assert len(_results(dialect, requests[-1])) == len(ours.calls)


def _failures(dialect: str, request: Json) -> list[bool]:
    """For each result in a request, whether the dialect's own mark says that the call failed."""
    if dialect == "anthropic":
        turns = [turn["content"] for turn in request["messages"] if isinstance(turn["content"], list)]
        found = [block for blocks in turns for block in blocks if block["type"] == "tool_result"]
        return [bool(one.get("is_error")) for one in found]
    parts = [part for turn in request["contents"] for part in turn["parts"] if "functionResponse" in part]
    return ["error" in part["functionResponse"]["response"] for part in parts]


@pytest.mark.parametrize("dialect", ["anthropic", "gemini"])
def test_a_tool_that_fails_does_the_same_in_both(upstream: Scripted, tmp_path: Path, dialect: str) -> None:
    """The run goes on, the model reads why, and the result has the dialect's mark of a failure."""
    base, requests = f"http://127.0.0.1:{upstream.port}", upstream.asked[dialect]
    requests.clear()
    theirs, ours = Task("Rome"), Task("Rome")
    said = RUNNERS[dialect](base, NAMES[dialect], theirs)
    their_requests = [*requests]
    requests.clear()
    assert _agent(base, dialect, tmp_path, ours) == said == "Paris is warmer."
    assert ours.calls == theirs.calls and len(requests) == len(their_requests) == 3
    for mine, other in zip(requests, their_requests, strict=True):
        own, peer = _results(dialect, mine), _results(dialect, other)
        assert [name for name, _ in own] == [name for name, _ in peer]
        failed = [FAILURE in text for _, text in own]
        assert [FAILURE in text for _, text in peer] == failed
        assert [text for _, text in own if FAILURE not in text] == [text for _, text in peer if FAILURE not in text]
        assert _failures(dialect, mine) == _failures(dialect, other) == failed
    assert [FAILURE in text for _, text in _results(dialect, requests[-1])].count(True) == 1


def test_the_runner_of_openai_stops_at_a_tool_that_fails_and_the_loop_goes_on(
    upstream: Scripted, tmp_path: Path
) -> None:
    """A difference that we want: a model that reads the failure can try something else."""
    from openai.lib.responses_tool_runner import ToolRunnerError

    dialect = "openai-responses"
    base, requests = f"http://127.0.0.1:{upstream.port}", upstream.asked[dialect]
    theirs, ours = Task("Rome"), Task("Rome")
    with pytest.raises(ToolRunnerError):
        RUNNERS[dialect](base, NAMES[dialect], theirs)
    requests.clear()
    assert _agent(base, dialect, tmp_path, ours) == "Paris is warmer."
    assert theirs.calls == ours.calls[: len(theirs.calls)] and len(requests) == 3
    assert [FAILURE in text for _, text in _results(dialect, requests[-1])].count(True) == 1
