"""Any names and ids over every pair of dialects: legal, distinct, equal in all places, and mapped back in answers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dragoman
from dragoman.canon.events import Event
from dragoman.canon.fold_and_unfold import fold, unfold
from dragoman.canon.parts import Text, ToolCall, ToolResult
from dragoman.canon.request import Request
from dragoman.canon.response import Response, Stop
from dragoman.canon.tools import Choice, Tool
from dragoman.canon.turns import Turn
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.dialects import names as dialects
from dragoman.translate import Translation

DIALECTS = dialects()
PAIRS = [(source, target) for source in DIALECTS for target in DIALECTS if source != target]

# The names that each upstream accepts, from its documentation. A dialect that is not listed gets names that are legal
# everywhere.
_CHAT = r"[a-zA-Z0-9_-]{1,64}"
NAME_LAWS = {
    "openai-chat": _CHAT,
    "openai-responses": _CHAT,
    "openrouter": _CHAT,
    "anthropic": _CHAT,
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    "code-assist": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    "ollama": r"(?s).+",
}
ID_LAWS = {
    "openai-chat": r"[!-~]{1,40}",
    "openai-responses": r"[a-zA-Z0-9_-]{1,64}",
    "openrouter": r"[!-~]{1,40}",
    "anthropic": r"[a-zA-Z0-9_-]+",
    "gemini": r"(?s).+",
    "code-assist": r"(?s).+",
    "ollama": r"(?s).+",
}
SAFE_NAME = r"[a-zA-Z_][a-zA-Z0-9_-]{0,62}"
SAFE_ID = r"[a-zA-Z0-9_-]{1,40}"

# Characters that JSON can carry; a lone surrogate is not valid text.
_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
_pieces = st.text("ab_-./ :é日🙂\n", min_size=1, max_size=8)
ODD = _texts | _pieces | st.sampled_from(["x" * n for n in (40, 41, 63, 64, 65, 128, 129, 200)]) | st.just("a__b")
TOOL_NAMES = st.lists(ODD, min_size=1, max_size=4, unique=True)
IDS = st.lists(ODD | st.just(""), min_size=3, max_size=3)

_MARK = "placeholder"


def _conversation(count: int, in_order: bool, choice: bool) -> Request:
    """Return a step of two calls and a step of one call, each with its tool; every name and id is a placeholder."""
    tools = tuple(
        Tool(f"{_MARK}_name_{i}", "D", '{"type":"object","properties":{}}', at=("tools", i)) for i in range(count)
    )
    called = [tools[i % count].name for i in range(3)]
    ids = [f"{_MARK}_id_{i}" for i in range(3)]
    calls = [ToolCall(ids[i], called[i], f'{{"n":{i}}}') for i in range(3)]
    results = [ToolResult(ids[i], (Text(f"result {i}"),), called[i]) for i in range(3)]
    first = results[:2] if in_order else results[1::-1]
    return Request(
        (
            Turn("user", (Text("go"),)),
            Turn("assistant", (calls[0], calls[1])),
            Turn("tool", tuple(first)),
            Turn("assistant", (calls[2],)),
            Turn("tool", (results[2],)),
            Turn("user", (Text("more"),)),
        ),
        "m",
        tools,
        Choice("one", (called[0],)) if choice else None,
    )


def _filled(value: Any, words: dict[str, str]) -> Any:
    """Replace all placeholders of a document."""
    if isinstance(value, str):
        return words.get(value, value)
    if isinstance(value, list):
        return [_filled(item, words) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, words) for key, item in value.items()}
    return value


def document(dialect: str, names: Sequence[str], ids: Sequence[str], choice: bool = False) -> Any:
    """Return a request with these names and ids, even if the rules of the dialect forbid them."""
    # Results without an id are in the order of the calls.
    request = _conversation(len(names), len({*ids[:2]} - {""}) < 2, choice)
    body = get(dialect).write_request(request, Context(dialect, dialect))
    words = {f"{_MARK}_name_{i}": name for i, name in enumerate(names)}
    words |= {f"{_MARK}_id_{i}": call_id for i, call_id in enumerate(ids)}
    return _filled(json.loads(body), words)


def asked(request: Request) -> list[tuple[str, str, str, str]]:
    """Return the calls of a request: id, name, arguments, and the text of the result with this id in its step."""
    out = []
    for i, turn in enumerate(request.turns):
        for part in turn.parts:
            if isinstance(part, ToolCall):
                answers = [
                    "".join(text.text for text in result.parts if isinstance(text, Text))
                    for result in request.turns[i + 1].parts
                    if isinstance(result, ToolResult) and result.call_id == part.id
                ]
                assert len(answers) == 1, (part.id, answers)
                out.append((part.id, part.name, part.arguments, answers[0]))
    return out


def sent(target: str, translation: Translation) -> Request:
    return get(target).read_request(translation.body, Context(target, target))


def written_stream(dialect: str, response: Response) -> bytes:
    writer = get(dialect).writer(Context(dialect, dialect, created=5))
    return b"".join([writer.send(event) for event in unfold(response)]) + writer.close()


def heard(dialect: str, raw: bytes) -> Response:
    reader = get(dialect).reader(Context(dialect, dialect))
    events: list[Event] = [*reader.feed(raw), *reader.close()]
    found = fold(events)
    assert isinstance(found, Response), found
    return found


def names_back(source: str, target: str, names: list[str], request: Translation) -> None:
    """Check that calls to the sent names reach the client with its declared names, in answers and in streams."""
    assert request.request is not None
    declared = [(tool.namespace, tool.name) for tool in request.request.tools if isinstance(tool, Tool)]
    calls = tuple([ToolCall(f"call_{i}", name, "{}") for i, name in enumerate(names)])
    answer = Response(calls, Stop("tool_calls"), "id", "m")
    body = get(target).write_response(answer, Context(target, target, created=5))
    whole = dragoman.translate_response(body, source=target, target=source, answers=request, created=5)
    stream = dragoman.StreamTranslator(source=target, target=source, answers=request, created=5)
    raw = stream.feed(written_stream(target, answer)) + stream.close()
    for found in (get(source).read_response(whole.body, Context(source, source)), heard(source, raw)):
        called = [(part.namespace, part.name) for part in found.parts if isinstance(part, ToolCall)]
        assert called == declared


def request_names(request: Translation) -> list[str]:
    assert request.request is not None
    return [tool.name for tool in request.request.tools if isinstance(tool, Tool)]


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=15)
@given(names=TOOL_NAMES)
@example(names=["a.b", "a/b", "a b", "a_b"])
@example(names=["x" * 200 + "1", "x" * 200 + "2", "x" * 64, "x" * 65])
@example(names=["a.b", "a_b_2e7336dc8e"])
@example(names=["🙂", "日本語", "-", "1"])
def test_names_are_legal_apart_and_found_again(source: str, target: str, names: list[str]) -> None:
    body = document(source, names, ["call_0", "call_1", "call_2"])
    request = dragoman.translate_request(body, source=source, target=target)
    assert request_names(request) == names
    out = sent(target, request)
    offered = [tool.name for tool in out.tools if isinstance(tool, Tool)]
    assert len(set(offered)) == len(names)
    for name in offered:
        # Between two dialects of one upstream a client's own names are left alone.
        assert re.fullmatch(NAME_LAWS.get(target, SAFE_NAME), name) or source in get(target).related, name
    spelled = dict(zip(names, offered, strict=True))
    assert [name for _, name, _, _ in asked(out)] == [spelled[names[i % len(names)]] for i in range(3)]
    for turn in out.turns:
        for part in turn.parts:
            if isinstance(part, ToolResult) and part.name:
                assert part.name in offered
    chosen = document(source, names, ["call_0", "call_1", "call_2"], choice=True)
    request_forced = dragoman.translate_request(chosen, source=source, target=target)
    forced = sent(target, request_forced)
    if forced.choice is not None and forced.choice.names:
        assert forced.choice.names == (spelled[names[0]],)
    elif len(request_names(request_forced)) == len(names):
        # There is no word for a choice: the tool is the only one offered.
        assert [tool.name for tool in forced.tools if isinstance(tool, Tool)] == [spelled[names[0]]]
    names_back(source, target, offered, request)
    again = dragoman.translate_request(body, source=source, target=target)
    assert again.body == request.body
    # A name is sent as the same name when it is the only one, unless another tool stands in its way.
    for name in names:
        alone = dragoman.translate_request(document(source, [name], ["1", "2", "3"]), source=source, target=target)
        (only,) = [tool.name for tool in sent(target, alone).tools if isinstance(tool, Tool)]
        assert only == spelled[name] or only in names


# A call in a namespace of the tool's own name is one to a tool outside of any: so does tool search report it.
SPACED = st.lists(
    st.tuples(st.sampled_from(["", "a", "a__b", "b", "a.", "x" * 60]), ODD).filter(lambda pair: pair[0] != pair[1]),
    min_size=1,
    max_size=5,
    unique=True,
)


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openai-responses"])
@settings(max_examples=30)
@given(spaced=SPACED)
@example(spaced=[("a", "b"), ("", "a__b")])
@example(spaced=[("", "a__b"), ("a", "b"), ("", "b"), ("c", "b")])
@example(spaced=[("a__b", "c"), ("a", "b__c"), ("", "a__b__c")])
@example(spaced=[("a.", "b"), ("", "a.__b"), ("", "a.__b".replace(".", "_"))])
def test_tools_of_namespaces_meet_no_other(target: str, spaced: list[tuple[str, str]]) -> None:
    tools: list[Any] = []
    items: list[Any] = [{"role": "user", "content": "go"}]
    for i, (namespace, name) in enumerate(spaced):
        tool = {"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}}
        tools.append({"type": "namespace", "name": namespace, "tools": [tool]} if namespace else tool)
        call = {"type": "function_call", "call_id": f"call_{i}", "name": name, "arguments": "{}"}
        items.append({**call, "namespace": namespace} if namespace else call)
    items += [{"type": "function_call_output", "call_id": f"call_{i}", "output": "x"} for i in range(len(spaced))]
    body = {"model": "m", "tools": tools, "input": items, "tool_choice": {"type": "function", "name": spaced[-1][1]}}
    request = dragoman.translate_request(body, source="openai-responses", target=target)
    out = sent(target, request)
    offered = [tool.name for tool in out.tools if isinstance(tool, Tool)]
    if len(offered) == len(spaced):  # else the choice became a shorter list
        assert len(set(offered)) == len(spaced)
        assert [name for _, name, _, _ in asked(out)] == offered
        names_back("openai-responses", target, offered, request)
    for name in offered:
        assert re.fullmatch(NAME_LAWS.get(target, SAFE_NAME), name), name
    if out.choice is not None and out.choice.names:
        # A choice has no namespace: the plain tool of that name is meant, if there is one.
        wanted = ("", spaced[-1][1])
        wanted = wanted if wanted in spaced else next(one for one in spaced if one[1] == wanted[1])
        assert out.choice.names == (offered[spaced.index(wanted)],)


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=15)
@given(ids=IDS)
@example(ids=["", "", ""])
@example(ids=["same", "same", "same"])
@example(ids=["same", "other", "same"])
@example(ids=["a.b:c", "a.b:c", "x" * 41])
@example(ids=["x" * 64, "x" * 65, "x" * 39 + "y" * 30])
def test_ids_are_legal_apart_and_pair_their_results(source: str, target: str, ids: list[str]) -> None:
    body = document(source, ["f", "g"], ids)
    request = dragoman.translate_request(body, source=source, target=target)
    out = sent(target, request)
    calls = asked(out)
    assert [(name, arguments.replace(" ", "")) for _, name, arguments, _ in calls] == [
        ("f", '{"n":0}'),
        ("g", '{"n":1}'),
        ("f", '{"n":2}'),
    ]
    assert [answer for _, _, _, answer in calls] == ["result 0", "result 1", "result 2"]
    assert len({call_id for call_id, _, _, _ in calls}) == 3
    for call_id, _, _, _ in calls:
        assert re.fullmatch(ID_LAWS.get(target, SAFE_ID), call_id), call_id
    assert dragoman.translate_request(body, source=source, target=target).body == request.body
    for given_id, (call_id, _, _, _) in zip(ids, calls, strict=True):
        if ids.count(given_id) == 1 and re.fullmatch(SAFE_ID, given_id):
            assert call_id == given_id


def answer_in(dialect: str, ids: Sequence[str]) -> tuple[bytes, bytes]:
    """Return an answer of two calls with these ids, whole and as a stream."""
    calls = tuple([ToolCall(f"{_MARK}_id_{i}", name, f'{{"n":{i}}}') for i, name in enumerate("fg")])
    answer = Response(calls, Stop("tool_calls"), "answer-1", "m")
    out = []
    for raw in (
        get(dialect).write_response(answer, Context(dialect, dialect, created=5)),
        written_stream(dialect, answer),
    ):
        for i, call_id in enumerate(ids):
            raw = raw.replace(f"{_MARK}_id_{i}".encode(), json.dumps(call_id)[1:-1].encode())
        out.append(raw)
    return out[0], out[1]


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=15)
@given(ids=st.lists(ODD | st.just(""), min_size=2, max_size=2))
@example(ids=["", ""])
@example(ids=["same", "same"])
@example(ids=["a.b:c", "a.b:c"])
@example(ids=["x" * 65, "x" * 41])
def test_ids_of_an_answer_are_legal_and_apart(source: str, target: str, ids: list[str]) -> None:
    whole, raw = answer_in(source, ids)
    answer = dragoman.translate_response(whole, source=source, target=target, created=5)
    stream = dragoman.StreamTranslator(source=source, target=target, created=5)
    streamed = stream.feed(raw) + stream.close()
    found = []
    for response in (get(target).read_response(answer.body, Context(target, target)), heard(target, streamed)):
        calls = [part for part in response.parts if isinstance(part, ToolCall)]
        assert [(call.name, call.input) for call in calls] == [("f", {"n": 0}), ("g", {"n": 1})]
        found.append([call.id for call in calls])
        assert len(set(found[-1])) == 2
        for call_id in found[-1]:
            assert re.fullmatch(ID_LAWS.get(target, SAFE_ID), call_id), call_id
    if all(ids):
        assert found[0] == found[1]
