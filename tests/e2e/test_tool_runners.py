"""The agent loop and the tool runners of the SDKs make the same calls, results and last answer for the same task.

Anthropic, OpenAI (Responses) and Google have runners in their SDKs. Ollama and Chat Completions have none. For them the
tests use the loop of their documentation, with the SDK's client.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.runtime import Agent, tool
from dragoman.runtime.loop import Limits
from dragoman.transport.upstream_record_and_environment import Upstream
from tests.e2e.scripted_upstream import MODELS, ScriptedUpstream
from tests.e2e.sdk_clients import TOOLS, _anthropic, _google, _ollama, _openai

Json = Any
PROMPT = "Is Paris warmer than Rome?"
NAMES = {**MODELS, "anthropic": "claude-opus-5"}
"""The SDK warns about models that will be removed soon."""
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
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as server:
        yield server


def _tool_runner(base: str, model: str, task: Task) -> str:
    from anthropic import beta_tool

    tools = [beta_tool(task.weather), beta_tool(task.compare)]
    messages = [{"role": "user", "content": PROMPT}]
    parameters = {"max_tokens": 1000, "model": model, "tools": tools, "messages": messages}
    runner = _anthropic(base).beta.messages.tool_runner(
        **parameters, thread=False
    )  # The runner sends the whole history with each request.
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
    """The results in a request: the id of the call and the text. Without an id: the name of the tool and the text."""
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
def test_the_loop_and_the_sdks_runner_send_the_same_requests(
    upstream: ScriptedUpstream, tmp_path: Path, dialect: str
) -> None:
    base, requests = f"http://127.0.0.1:{upstream.port}", upstream.requests[dialect]
    requests.clear()
    their_task, our_task = Task(), Task()
    their_answer = RUNNERS[dialect](base, NAMES[dialect], their_task)
    their_requests = [*requests]
    requests.clear()
    assert _agent(base, dialect, tmp_path, our_task) == their_answer == "Paris is warmer."
    assert our_task.calls == their_task.calls and len(our_task.calls) >= 3
    assert len(requests) == len(their_requests) == 3
    for our_request, their_request in zip(requests, their_requests, strict=True):
        assert _results(dialect, our_request) == _results(dialect, their_request)
    assert len(_results(dialect, requests[-1])) == len(our_task.calls)


def _failures(dialect: str, request: Json) -> list[bool]:
    """Whether each result in a request has the dialect's mark of a failed call."""
    if dialect == "anthropic":
        turns = [turn["content"] for turn in request["messages"] if isinstance(turn["content"], list)]
        found = [block for blocks in turns for block in blocks if block["type"] == "tool_result"]
        return [bool(one.get("is_error")) for one in found]
    parts = [part for turn in request["contents"] for part in turn["parts"] if "functionResponse" in part]
    return ["error" in part["functionResponse"]["response"] for part in parts]


@pytest.mark.parametrize("dialect", ["anthropic", "gemini"])
def test_a_failed_tool_has_the_same_effect_in_both(upstream: ScriptedUpstream, tmp_path: Path, dialect: str) -> None:
    """The run continues. The model gets the reason, and the result has the dialect's mark of a failure."""
    base, requests = f"http://127.0.0.1:{upstream.port}", upstream.requests[dialect]
    requests.clear()
    their_task, our_task = Task("Rome"), Task("Rome")
    their_answer = RUNNERS[dialect](base, NAMES[dialect], their_task)
    their_requests = [*requests]
    requests.clear()
    assert _agent(base, dialect, tmp_path, our_task) == their_answer == "Paris is warmer."
    assert our_task.calls == their_task.calls and len(requests) == len(their_requests) == 3
    for our_request, their_request in zip(requests, their_requests, strict=True):
        our_results, their_results = _results(dialect, our_request), _results(dialect, their_request)
        assert [name for name, _ in our_results] == [name for name, _ in their_results]
        failed = [FAILURE in text for _, text in our_results]
        assert [FAILURE in text for _, text in their_results] == failed
        assert [text for _, text in our_results if FAILURE not in text] == [
            text for _, text in their_results if FAILURE not in text
        ]
        assert _failures(dialect, our_request) == _failures(dialect, their_request) == failed
    assert [FAILURE in text for _, text in _results(dialect, requests[-1])].count(True) == 1


def test_openais_runner_stops_at_a_failed_tool_and_the_loop_continues(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """This difference is intended: a model that reads the failure can try another call."""
    from openai.lib.responses_tool_runner import ToolRunnerError

    dialect = "openai-responses"
    base, requests = f"http://127.0.0.1:{upstream.port}", upstream.requests[dialect]
    their_task, our_task = Task("Rome"), Task("Rome")
    with pytest.raises(ToolRunnerError):
        RUNNERS[dialect](base, NAMES[dialect], their_task)
    requests.clear()
    assert _agent(base, dialect, tmp_path, our_task) == "Paris is warmer."
    assert their_task.calls == our_task.calls[: len(their_task.calls)] and len(requests) == 3
    assert [FAILURE in text for _, text in _results(dialect, requests[-1])].count(True) == 1
