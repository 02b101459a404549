"""Owns broken conversations: legal conversations as plain steps, the ways to break them, and their form in each
dialect.

This module must not use the library: the bodies are those of a careless client.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import strategies as st

Json = Any


class Call(msgspec.Struct):
    id: str
    name: str
    arguments: str


class Result(msgspec.Struct):
    id: str
    name: str
    text: str


class User(msgspec.Struct):
    text: str


class AssistantText(msgspec.Struct):
    """Text of the assistant. A `thought` without text is thinking without a result."""

    text: str
    thought: str = ""


class AssistantCalls(msgspec.Struct):
    calls: list[Call]
    text: str = ""
    thought: str = ""
    sealed: bool = True
    behind: bool = False
    """The thinking is after the calls."""


class ToolResults(msgspec.Struct):
    results: list[Result]


Step = User | AssistantText | AssistantCalls | ToolResults


class Words:
    """Unique texts, so that a test finds a text that was dropped."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, kind: str) -> str:
        self._count += 1
        return f"{kind}-{self._count:03}"


@st.composite
def legal(draw: st.DrawFn, words: Words) -> list[Step]:
    """Draw a conversation that every dialect accepts: user text first and last, a result directly after each call,
    alternating roles."""
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, 3))):
        steps.append(User(words.new("user")))
        for _ in range(draw(st.integers(0, 2))):
            calls = [
                Call(
                    words.new("call"), draw(st.sampled_from(["look", "find"])), json.dumps({"q": words.new("argument")})
                )
                for _ in range(draw(st.integers(1, 3)))
            ]
            text = words.new("said") if draw(st.booleans()) else ""
            thought = words.new("thought") if draw(st.booleans()) else ""
            steps.append(AssistantCalls(calls, text, thought))
            steps.append(ToolResults([Result(call.id, call.name, words.new("result")) for call in calls]))
        steps.append(AssistantText(words.new("said")))
    steps.append(User(words.new("user")))
    return steps


# Ways to break a conversation. Each returns False if it cannot break this one.


def _steps(steps: list[Step], kind: type[Step]) -> list[int]:
    return [i for i, step in enumerate(steps) if type(step) is kind]


def orphan_call(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    told = _steps(steps, ToolResults)
    if not told:
        return False
    place = draw(st.sampled_from(told))
    results = steps[place].results  # type: ignore[union-attr]
    results.pop(draw(st.integers(0, len(results) - 1)))
    if not results:
        del steps[place]
    return True


def orphan_result(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    result = Result(words.new("call"), "find", words.new("result"))
    told = _steps(steps, ToolResults)
    if bool(told) and draw(st.booleans()):
        results = steps[draw(st.sampled_from(told))].results  # type: ignore[union-attr]
        results.insert(draw(st.integers(0, len(results))), result)
    else:
        steps.insert(draw(st.integers(0, len(steps) - 1)), ToolResults([result]))
    return True


def lost_call(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    """Cut the start of the history."""
    del steps[: draw(st.integers(1, max(1, len(steps) - 2)))]
    return True


def duplicate_result(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    told = _steps(steps, ToolResults)
    if not told:
        return False
    results = steps[draw(st.sampled_from(told))].results  # type: ignore[union-attr]
    first = draw(st.sampled_from(results))
    again = Result(first.id, first.name, words.new("again"))
    if draw(st.booleans()):
        results.append(again)
    else:
        steps.insert(draw(st.integers(1, len(steps) - 1)), ToolResults([again]))
    return True


def out_of_order(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    told = _steps(steps, ToolResults)
    if not told:
        return False
    place = draw(st.sampled_from(told))
    results = steps[place].results  # type: ignore[union-attr]
    result = results.pop(draw(st.integers(0, len(results) - 1)))
    if not results:
        del steps[place]
    steps.insert(draw(st.integers(1, len(steps) - 1)), ToolResults([result]))
    return True


def interleaved_text(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    told = _steps(steps, ToolResults)
    if not told:
        return False
    word = User(words.new("user")) if draw(st.booleans()) else AssistantText(words.new("said"))
    steps.insert(draw(st.sampled_from(told)), word)
    return True


def split_results(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    wide = [i for i in _steps(steps, ToolResults) if len(steps[i].results) > 1]  # type: ignore[union-attr]
    if not wide:
        return False
    place = draw(st.sampled_from(wide))
    results = steps[place].results  # type: ignore[union-attr]
    cut = draw(st.integers(1, len(results) - 1))
    steps[place : place + 1] = [ToolResults(results[:cut]), ToolResults(results[cut:])]
    return True


def empty_turn(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    steps.insert(draw(st.integers(1, len(steps) - 1)), User("") if draw(st.booleans()) else AssistantText(""))
    return True


def wrong_alternation(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    place = draw(st.sampled_from([i for i, step in enumerate(steps) if type(step) in (User, AssistantText)]))
    kind = type(steps[place])
    steps.insert(place, User(words.new("user")) if kind is User else AssistantText(words.new("said")))
    return True


def odd_thinking(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    asked = _steps(steps, AssistantCalls)
    if not asked or draw(st.booleans()):
        steps.insert(draw(st.integers(1, len(steps) - 1)), AssistantText("", words.new("thought")))
        return True
    step = steps[draw(st.sampled_from(asked))]
    assert isinstance(step, AssistantCalls)
    step.thought = step.thought or words.new("thought")
    step.behind = draw(st.booleans())
    step.sealed = not step.behind and draw(st.booleans())
    return True


def truncated_call(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    asked = _steps(steps, AssistantCalls)
    if not asked:
        return False
    place = draw(st.sampled_from(asked))
    step = steps[place]
    assert isinstance(step, AssistantCalls)
    call = step.calls[-1]
    call.arguments = call.arguments[: draw(st.integers(1, max(1, len(call.arguments) - 1)))]
    for other in [one for one in steps if isinstance(one, ToolResults)]:
        other.results = [result for result in other.results if result.id != call.id]
    steps[:] = [one for one in steps if not (isinstance(one, ToolResults) and not one.results)]
    return True


def duplicate_id(draw: st.DrawFn, steps: list[Step], words: Words) -> bool:
    calls = [call for step in steps if isinstance(step, AssistantCalls) for call in step.calls]
    if len(calls) < 2:
        return False
    first, second = draw(st.permutations(calls))[:2]
    for step in steps:
        for result in step.results if isinstance(step, ToolResults) else ():
            if result.id == second.id:
                result.id = first.id
    second.id = first.id
    return True


WAYS: dict[str, Callable[[st.DrawFn, list[Step], Words], bool]] = {
    way.__name__: way
    for way in (
        orphan_call,
        orphan_result,
        lost_call,
        duplicate_result,
        out_of_order,
        interleaved_text,
        split_results,
        empty_turn,
        wrong_alternation,
        odd_thinking,
        truncated_call,
        duplicate_id,
    )
}


@st.composite
def broken(draw: st.DrawFn, way: str) -> list[Step]:
    """Draw a conversation that is broken in this way, and sometimes in a second way."""
    words = Words()
    steps = draw(legal(words))
    WAYS[way](draw, steps, words)
    if draw(st.booleans()):
        WAYS[draw(st.sampled_from(sorted(WAYS)))](draw, steps, words)
    return steps


# the form in each dialect


def spell(dialect: str, steps: list[Step], *, ids: bool = True) -> dict[str, Json]:
    """Write the steps unchanged as a body of the dialect. `ids=False`: without ids in dialects with calls without
    ids."""
    if dialect == "openai-chat":
        return {"model": "m", "messages": [one for step in steps for one in _chat(step)], "x_unknown": {"kept": True}}
    if dialect == "openai-responses":
        return {"model": "m", "input": [one for step in steps for one in _responses(step)]}
    if dialect == "anthropic":
        return {"model": "m", "max_tokens": 64, "messages": [_anthropic(step) for step in steps]}
    return {"contents": [_gemini(step, ids) for step in steps]}


def _chat(step: Step) -> list[Json]:
    if isinstance(step, User):
        return [{"role": "user", "content": step.text}]
    if isinstance(step, ToolResults):
        return [{"role": "tool", "tool_call_id": one.id, "content": one.text} for one in step.results]
    message: Json = {"role": "assistant", "content": step.text or (None if isinstance(step, AssistantCalls) else "")}
    if step.thought:
        message["reasoning_content"] = step.thought
    if isinstance(step, AssistantCalls):
        message["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in step.calls
        ]
    return [message]


def _responses(step: Step) -> list[Json]:
    if isinstance(step, User):
        content = [{"type": "input_text", "text": step.text}] if step.text else []
        return [{"type": "message", "role": "user", "content": content}]
    if isinstance(step, ToolResults):
        return [{"type": "function_call_output", "call_id": one.id, "output": one.text} for one in step.results]
    items: list[Json] = []
    if step.text:
        items.append({"type": "message", "role": "assistant", "content": step.text})
    if isinstance(step, AssistantCalls):
        items += [
            {"type": "function_call", "call_id": one.id, "name": one.name, "arguments": one.arguments}
            for one in step.calls
        ]
    if step.thought:
        summary = [{"type": "summary_text", "text": step.thought}]
        thought = {"type": "reasoning", "id": f"rs_{step.thought}", "summary": summary}
        items.insert(len(items) if isinstance(step, AssistantCalls) and step.behind else 0, thought)
    return items


def _anthropic(step: Step) -> Json:
    if isinstance(step, User):
        return {"role": "user", "content": step.text}
    if isinstance(step, ToolResults):
        blocks = [{"type": "tool_result", "tool_use_id": one.id, "content": one.text} for one in step.results]
        return {"role": "user", "content": blocks}
    content: list[Json] = [{"type": "text", "text": step.text}] if step.text or not step.thought else []
    if isinstance(step, AssistantCalls):
        content = content if step.text else []
        content += [
            {"type": "tool_use", "id": one.id, "name": one.name, "input": json.loads(one.arguments)}
            for one in step.calls
        ]
    if step.thought:
        thought = {"type": "thinking", "thinking": step.thought}
        if isinstance(step, AssistantText) or step.sealed:
            thought["signature"] = "c2VhbA=="
        content.insert(len(content) if isinstance(step, AssistantCalls) and step.behind else 0, thought)
    return {"role": "assistant", "content": content}


def _gemini(step: Step, ids: bool) -> Json:
    if isinstance(step, User):
        return {"role": "user", "parts": [{"text": step.text}] if step.text else []}
    parts: list[Json] = []
    if isinstance(step, ToolResults):
        for result in step.results:
            inner = {"name": result.name, "response": {"output": result.text}}
            parts.append({"functionResponse": {**inner, "id": result.id} if ids else inner})
        return {"role": "user", "parts": parts}
    if step.text:
        parts.append({"text": step.text})
    for call in step.calls if isinstance(step, AssistantCalls) else ():
        asked = {"name": call.name, "args": json.loads(call.arguments)}
        parts.append({"functionCall": {**asked, "id": call.id} if ids else asked})
    if step.thought:
        thought = {"text": step.thought, "thought": True}
        parts.insert(len(parts) if isinstance(step, AssistantCalls) and step.behind else 0, thought)
    return {"role": "model", "parts": parts}
