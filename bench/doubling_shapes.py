"""Documents that grow in one place: every list and every nesting of a request, an answer or a stream.

A conversation is written once, independent of dialects, and then in the form of each family of dialects.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

SOURCES = ("anthropic", "code-assist", "gemini", "ollama", "openai-chat", "openai-responses", "openrouter")
OBJECT = {"type": "object", "properties": {"q": {"type": "string"}}}


class Turn(NamedTuple):
    """A step of a conversation: texts, then calls (id, name, arguments), or results (id, name, text)."""

    role: str
    texts: tuple[str, ...] = ()
    calls: tuple[tuple[str, str, Any], ...] = ()
    results: tuple[tuple[str, str, str], ...] = ()


class Story(NamedTuple):
    """A request that is independent of dialects."""

    steps: list[Turn]
    tools: list[tuple[str, Any]] = []
    system: tuple[str, ...] = ()
    more: dict[str, Any] = {}


def _anthropic(story: Story) -> dict[str, Any]:
    messages: list[Any] = []
    for step in story.steps:
        content: list[Any] = [{"type": "text", "text": text} for text in step.texts]
        content += [{"type": "tool_use", "id": i, "name": name, "input": given} for i, name, given in step.calls]
        content += [{"type": "tool_result", "tool_use_id": i, "content": text} for i, _, text in step.results]
        messages.append({"role": "user" if step.role == "tool" else step.role, "content": content})
    out: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": messages, **story.more}
    if story.system:
        out["system"] = [{"type": "text", "text": text} for text in story.system]
    if story.tools:
        out["tools"] = [{"name": name, "input_schema": schema} for name, schema in story.tools]
    return out


def _chat(story: Story) -> dict[str, Any]:
    messages: list[Any] = [{"role": "system", "content": text} for text in story.system]
    for step in story.steps:
        if step.results:
            messages += [{"role": "tool", "tool_call_id": i, "content": text} for i, _, text in step.results]
            continue
        message: dict[str, Any] = {"role": step.role, "content": [{"type": "text", "text": t} for t in step.texts]}
        if step.calls:
            message["content"] = "\n".join(step.texts) or None
            message["tool_calls"] = [
                {"id": i, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
                for i, name, given in step.calls
            ]
        messages.append(message)
    out: dict[str, Any] = {"model": "m", "messages": messages, **story.more}
    if story.tools:
        out["tools"] = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in story.tools]
    return out


def _ollama(story: Story) -> dict[str, Any]:
    out = _chat(story)
    for message in out["messages"]:
        if isinstance(message["content"], list):
            message["content"] = "\n".join([part["text"] for part in message["content"]])
        message["content"] = message["content"] or ""
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return out


def _responses(story: Story) -> dict[str, Any]:
    items: list[Any] = []
    for step in story.steps:
        kind = "output_text" if step.role == "assistant" else "input_text"
        if step.texts:
            content = [{"type": kind, "text": text} for text in step.texts]
            items.append({"type": "message", "role": step.role, "content": content})
        items += [
            {"type": "function_call", "call_id": i, "name": name, "arguments": json.dumps(given)}
            for i, name, given in step.calls
        ]
        items += [{"type": "function_call_output", "call_id": i, "output": text} for i, _, text in step.results]
    out: dict[str, Any] = {"model": "m", "input": items, "store": False, **story.more}
    if story.system:
        out["instructions"] = "\n".join(story.system)
    if story.tools:
        out["tools"] = [{"type": "function", "name": n, "parameters": s} for n, s in story.tools]
    return out


def _gemini(story: Story) -> dict[str, Any]:
    contents: list[Any] = []
    for step in story.steps:
        parts: list[Any] = [{"text": text} for text in step.texts]
        parts += [{"functionCall": {"id": i, "name": name, "args": given}} for i, name, given in step.calls]
        parts += [
            {"functionResponse": {"id": i, "name": name, "response": {"output": text}}}
            for i, name, text in step.results
        ]
        contents.append({"role": "model" if step.role == "assistant" else "user", "parts": parts})
    out: dict[str, Any] = {"contents": contents, **story.more}
    if story.system:
        out["systemInstruction"] = {"parts": [{"text": text} for text in story.system]}
    if story.tools:
        declared = [{"name": n, "parametersJsonSchema": s} for n, s in story.tools]
        out["tools"] = [{"functionDeclarations": declared}]
    return out


def _code_assist(story: Story) -> dict[str, Any]:
    return {"model": "m", "project": "p", "request": _gemini(story)}


WRITERS: dict[str, Callable[[Story], dict[str, Any]]] = {
    "anthropic": _anthropic,
    "code-assist": _code_assist,
    "gemini": _gemini,
    "ollama": _ollama,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "openrouter": _chat,
}

# Conversations


def _user(text: str = "go") -> Turn:
    return Turn("user", (text,))


def _calls(n: int, ids: Callable[[int], str] = lambda i: f"call_{i}") -> tuple[tuple[str, str, Any], ...]:
    return tuple([(ids(i), "f", {"n": i}) for i in range(n)])


def _results(n: int, ids: Callable[[int], str] = lambda i: f"call_{i}") -> list[tuple[str, str, str]]:
    return [(ids(i), "f", f"done {i}") for i in range(n)]


def _step(n: int, results: list[tuple[str, str, str]], **given: Any) -> Story:
    steps = [_user(), Turn("assistant", (), _calls(n, **given)), Turn("tool", (), (), tuple(results)), _user("and?")]
    return Story(steps, [("f", OBJECT)])


def messages(n: int) -> Story:
    return Story([Turn("assistant" if i % 2 else "user", (f"text {i}",)) for i in range(n)])


def messages_of_one_role(n: int) -> Story:
    return Story([_user(f"text {i}") for i in range(n)])


def parts(n: int) -> Story:
    return Story([Turn("user", tuple([f"text {i}" for i in range(n)]))])


def steps_of_one_call(n: int) -> Story:
    steps = [_user()]
    for i in range(n // 2):
        steps.append(Turn("assistant", (f"step {i}",), ((f"c{i}", "f", {"n": i}),)))
        steps.append(Turn("tool", (), (), ((f"c{i}", "f", "done"),)))
    return Story(steps, [("f", OBJECT)])


def results_in_order(n: int) -> Story:
    return _step(n, _results(n))


def results_reversed(n: int) -> Story:
    return _step(n, _results(n)[::-1])


def results_shuffled(n: int) -> Story:
    results = _results(n)
    random.Random(1).shuffle(results)
    return _step(n, results)


def results_missing(n: int) -> Story:
    return _step(n, _results(n)[::2])


def results_none(n: int) -> Story:
    return Story([_user(), Turn("assistant", (), _calls(n)), _user("and?")], [("f", OBJECT)])


def results_twice(n: int) -> Story:
    return _step(n // 2, [*_results(n // 2), *_results(n // 2)])


def results_orphaned(n: int) -> Story:
    return Story([_user(), Turn("tool", (), (), tuple(_results(n))), _user("and?")])


def results_before_their_calls(n: int) -> Story:
    steps = [_user(), Turn("tool", (), (), tuple(_results(n))), Turn("assistant", (), _calls(n)), _user("and?")]
    return Story(steps)


def results_between_texts(n: int) -> Story:
    steps = [_user(), Turn("assistant", (), _calls(n // 2))]
    for result in _results(n // 2)[::-1]:
        steps += [Turn("tool", (), (), (result,)), _user("wait")]
    return Story(steps, [("f", OBJECT)])


def calls_of_one_id(n: int) -> Story:
    return _step(n, _results(n, lambda i: "same"), ids=lambda i: "same")


def calls_without_id(n: int) -> Story:
    return _step(n, _results(n, lambda i: ""), ids=lambda i: "")


def calls_of_illegal_ids(n: int) -> Story:
    return _step(n, _results(n, lambda i: f"id: {i}!"), ids=lambda i: f"id: {i}!")


def steps_of_one_id(n: int) -> Story:
    steps = [_user()]
    for i in range(n // 2):
        steps += [Turn("assistant", (), (("same", "f", {"n": i}),)), Turn("tool", (), (), (("same", "f", "done"),))]
    return Story(steps, [("f", OBJECT)])


def system_texts(n: int) -> Story:
    return Story([_user()], [], tuple([f"rule {i}" for i in range(n)]))


def one_long_text(n: int) -> Story:
    return Story([_user("word " * n * 20)])


def wide_arguments(n: int) -> Story:
    steps = [_user(), Turn("assistant", (), (("c", "f", {f"k{i}": i for i in range(n)}),))]
    return Story([*steps, Turn("tool", (), (), (("c", "f", "done"),))], [("f", OBJECT)])


def unknown_fields(n: int) -> Story:
    return Story([_user()], [], (), {f"x_{i}": i for i in range(n)})


def tools(n: int) -> Story:
    return Story([_user()], [(f"f{i}", OBJECT) for i in range(n // 4)])


def tools_of_one_name(n: int) -> Story:
    return Story([_user()], [("f", OBJECT) for _ in range(n // 4)])


def tools_of_illegal_names(n: int) -> Story:
    return Story([_user()], [(f"f {i}!", OBJECT) for i in range(n // 4)])


# Schemas


def _schema(schema: Any) -> Story:
    return Story([_user()], [("f", {"type": "object", "properties": {"p": schema}})])


def properties(n: int) -> Story:
    return Story([_user()], [("f", {"type": "object", "properties": {f"p{i}": {"const": i} for i in range(n)}})])


def required_names(n: int) -> Story:
    names = [f"p{i}" for i in range(n)]
    return _schema({"type": "object", "properties": {name: {"const": 1} for name in names}, "required": names * 2})


def enum_values(n: int) -> Story:
    return _schema({"enum": [f"v{i}" for i in range(n)] + [None]})


def one_type_more(n: int) -> Story:
    return _schema({"type": ["string", "number", "object"], "enum": [f"v{i}" for i in range(n)]})


def _members(word: str) -> Callable[[int], Story]:
    def shape(n: int) -> Story:
        return _schema({word: [{"type": "object", "properties": {f"p{i}": {"const": i}}} for i in range(n // 2)]})

    shape.__name__ = f"members_of_{word}"
    return shape


def _same_members(word: str) -> Callable[[int], Story]:
    def shape(n: int) -> Story:
        members = [
            {"description": f"d{i}", "properties": {"a": {"minLength": i}}, "required": [f"r{i}"]} for i in range(n)
        ]
        return _schema({"type": "object", word: members[: n // 2]})

    shape.__name__ = f"members_of_{word}_on_one_name"
    return shape


def _root_members(word: str) -> Callable[[int], Story]:
    def shape(n: int) -> Story:
        members = [
            {"type": "object", "properties": {"a": {"const": i}, f"p{i}": {}}, "required": [f"p{i}"]} for i in range(n)
        ]
        return Story([_user()], [("f", {"type": "object", word: members[: n // 2]})])

    shape.__name__ = f"members_of_{word}_at_the_root"
    return shape


def members_beside_properties(n: int) -> Story:
    half = n // 4
    union = [{"required": [f"p{i}"]} for i in range(half)]
    return _schema({"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(half)}, "anyOf": union})


def references_to_one(n: int) -> Story:
    named = {"e": {"type": "string", "enum": [f"v{i}" for i in range(n // 2)]}}
    uses = {f"p{i}": {"$ref": "#/$defs/e"} for i in range(n // 2)}
    return Story([_user()], [("f", {"type": "object", "properties": uses, "$defs": named})])


def references_in_a_chain(n: int) -> Story:
    named: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n // 2)}
    named[f"d{n // 2}"] = {"type": "string"}
    return Story([_user()], [("f", {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": named})])


def references_in_circles(n: int) -> Story:
    count = n // 8
    named = {
        f"d{i}": {"properties": {f"p{j}": {"$ref": f"#/$defs/d{(i * 7 + j) % count}"} for j in range(4)}}
        for i in range(count)
    }
    return Story([_user()], [("f", {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": named})])


def tools_with_circles(n: int) -> Story:
    named = {f"d{i}": {"properties": {f"p{j}": {"$ref": f"#/$defs/d{j}"} for j in range(4)}} for i in range(4)}
    schema = {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": named}
    return Story([_user()], [(f"f{i}", {**schema, "title": f"t{i}"}) for i in range(n // 32)])


REQUESTS: tuple[Callable[[int], Story], ...] = (
    *(messages, messages_of_one_role, parts, steps_of_one_call, results_in_order, results_reversed, results_shuffled),
    *(results_missing, results_none, results_twice, results_orphaned, results_before_their_calls),
    *(results_between_texts, calls_of_one_id, calls_without_id, calls_of_illegal_ids, steps_of_one_id, system_texts),
    *(one_long_text, wide_arguments, unknown_fields, tools, tools_of_one_name, tools_of_illegal_names, properties),
    *(required_names, enum_values, one_type_more, *map(_members, ("anyOf", "oneOf", "allOf"))),
    *(*map(_same_members, ("anyOf", "allOf")), *map(_root_members, ("anyOf", "oneOf", "allOf"))),
    *(members_beside_properties, references_to_one, references_in_a_chain, references_in_circles, tools_with_circles),
)


# Answers and streams of Chat. Those of other dialects are translated from them.


def answer_of_calls(n: int) -> bytes:
    calls = [{"id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in range(n)]
    return _answer([{"role": "assistant", "content": None, "tool_calls": calls}])


def answer_of_choices(n: int) -> bytes:
    return _answer([{"role": "assistant", "content": f"text {i}"} for i in range(n)])


def answer_of_logprobs(n: int) -> bytes:
    messages_of_choices = json.loads(_answer([{"role": "assistant", "content": "word " * n}]))
    tokens: list[dict[str, Any]] = [
        {"token": "word ", "logprob": -0.5, "bytes": None, "top_logprobs": []} for _ in range(n)
    ]
    messages_of_choices["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    return json.dumps(messages_of_choices).encode()


def _answer(messages_of_choices: list[Any]) -> bytes:
    choices = [{"index": i, "message": one, "finish_reason": "stop"} for i, one in enumerate(messages_of_choices)]
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
    return json.dumps({**body, "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()


ANSWERS = (answer_of_calls, answer_of_choices, answer_of_logprobs)


def _frame(delta: Any, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: %b\n\n" % json.dumps(chunk).encode()


_END = _frame({}, "stop") + b"data: [DONE]\n\n"


def stream_of_texts(n: int) -> list[bytes]:
    return [*[_frame({"content": f"word {i} "}) for i in range(n)], _END]


def stream_of_calls(n: int) -> list[bytes]:
    function = {"name": "f", "arguments": "{}"}
    calls = [{"index": i, "id": f"c{i}", "type": "function", "function": function} for i in range(n)]
    return [*[_frame({"tool_calls": [call]}) for call in calls], _END]


def stream_of_calls_in_turns(n: int) -> list[bytes]:
    """Few parallel calls, whose arguments come in turns."""
    begin = [
        {"index": i, "id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": ""}} for i in range(8)
    ]
    out = [_frame({"tool_calls": [call]}) for call in begin]
    out += [_frame({"tool_calls": [{"index": i % 8, "function": {"arguments": f'"{i}"'}}]}) for i in range(n)]
    return [*out, _END]


def stream_of_arguments(n: int) -> list[bytes]:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":"'}}
    more = [_frame({"tool_calls": [{"index": 0, "function": {"arguments": "word "}}]}) for _ in range(n)]
    return [
        _frame({"tool_calls": [call]}),
        *more,
        _frame({"tool_calls": [{"index": 0, "function": {"arguments": '"}'}}]}),
        _END,
    ]


def stream_of_tiny_chunks(n: int) -> list[bytes]:
    whole = b"".join(stream_of_texts(n // 16))
    return [whole[i : i + 8] for i in range(0, len(whole), 8)]


def stream_of_one_frame(n: int) -> list[bytes]:
    whole = _frame({"content": "word " * n * 8}) + _END
    return [whole[i : i + 64] for i in range(0, len(whole), 64)]


STREAMS = (
    *(stream_of_texts, stream_of_calls, stream_of_calls_in_turns, stream_of_arguments, stream_of_tiny_chunks),
    stream_of_one_frame,
)


def fault_of_fields(count: int) -> bytes:
    """An error object with many fields, numbers and texts."""
    fields: dict[str, Any] = {f"field{number}": number for number in range(count)}
    fields |= {f"word{number}": f"w{number}" for number in range(count)}
    return json.dumps({"error": {"message": "no", "code": 400, "type": "t", **fields}}).encode()


def fault_of_neighbours(count: int) -> bytes:
    """Many fields beside the error object."""
    fields: dict[str, Any] = {f"field{number}": f"w{number}" for number in range(count)}
    return json.dumps({"error": {"message": "no", "code": 400, "type": "t"}, **fields}).encode()


def fault_of_details(count: int) -> bytes:
    """An error object with a long list of details."""
    details = [{"@type": "d", "reason": f"r{number}"} for number in range(count)]
    return json.dumps({"error": {"message": "no", "code": 400, "type": "t", "details": details}}).encode()


FAULTS = (fault_of_fields, fault_of_neighbours, fault_of_details)
