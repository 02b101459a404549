"""Free-text tools over all pairs: declared, chosen, called, answered, in history, streamed in any pieces."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from dragoman.canon import Choice, Grammar, PartDelta, Request, Text, Tool, ToolCall, ToolResult, Turn
from dragoman.codec.custom_tools import wrap_input
from tests.pairs.helpers import (
    DIALECTS,
    answer,
    calls_of,
    events_of,
    folded,
    losses_of,
    read,
    read_answer,
    streamed,
    to,
    written,
)

CLIENTS = ("openai-chat", "openai-responses")
"""Dialects that have free-text tools."""
TARGETS = [(client, target) for client in CLIENTS for target in DIALECTS if client != target]
WRAPPING = [(client, target) for client, target in TARGETS if target not in CLIENTS]

GRAMMAR = 'start: begin hunk+ end\nbegin: "*** Begin Patch" LF'
PATCH = '*** Begin Patch\n-a "quoted" \\ tab\t\n+ünï 😀 \u2028 \x07 {"input": "no"}\n*** End Patch\n'


def _tools() -> tuple[Tool, ...]:
    return (
        Tool("apply_patch", "Changes files.", custom=True, grammar=Grammar("lark", GRAMMAR)),
        Tool("say", "Says it.", custom=True),
        Tool("ls", "Lists.", '{"type":"object","properties":{"path":{"type":"string"}}}'),
    )


def _session(steps: int, choice: Choice | None = None) -> Request:
    turns: list[Turn] = [Turn("user", (Text("Go."),))]
    for i in range(steps):
        said = ToolCall(f"call_{i}", "apply_patch", f"{PATCH}{i}", custom=True)
        listed = ToolCall(f"call_ls{i}", "ls", '{"path":"."}')
        turns.append(Turn("assistant", (said, listed)))
        results = (ToolResult(said.id, (Text(f"Done {i}."),), custom=True), ToolResult(listed.id, (Text("a"),)))
        turns.append(Turn("tool", results))
        turns.append(Turn("user", (Text(f"Again {i}."),)))
    return Request(tuple(turns), "m", _tools(), choice)


@pytest.mark.parametrize(("client", "target"), TARGETS)
def test_declarations_calls_and_results_are_translated_over_several_turns(client: str, target: str) -> None:
    done = to(target, written(_session(3), client), client)
    there = read(done.body, target)
    tools = {tool.name: tool for tool in there.tools if isinstance(tool, Tool)}
    calls = [part for turn in there.turns for part in turn.parts if isinstance(part, ToolCall)]
    results = [part for turn in there.turns for part in turn.parts if isinstance(part, ToolResult)]
    patches = [call for call in calls if call.name == "apply_patch"]
    wraps = target not in CLIENTS
    assert tools.keys() == {"apply_patch", "say", "ls"}
    assert done.wrapped == ({"apply_patch", "say"} if wraps else set())
    assert [call.input for call in patches] == [{"input": f"{PATCH}{i}"} if wraps else f"{PATCH}{i}" for i in range(3)]
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert [call.custom for call in patches] == [not wraps] * 3
    if wraps:
        assert GRAMMAR in tools["apply_patch"].description and tools["apply_patch"].description.startswith("Changes")
        assert {code for code, _ in losses_of(done)} >= {"tool.custom.wrapped", "call.custom.wrapped"}
    else:
        assert tools["apply_patch"].grammar == Grammar("lark", GRAMMAR) and tools["say"].grammar is None
        assert not [code for code, _ in losses_of(done) if "custom" in code]


@pytest.mark.parametrize(("client", "target"), TARGETS)
@pytest.mark.parametrize("mode", ["one", "required", "auto"])
def test_a_choice_may_name_a_free_text_tool(client: str, target: str, mode: Any) -> None:
    names = ("apply_patch",) if mode == "one" else ("apply_patch", "ls")
    done = to(target, written(_session(1, Choice(mode, names)), client), client)
    there = read(done.body, target)
    offered = {tool.name for tool in there.tools if isinstance(tool, Tool)}
    chosen = there.choice
    if chosen is not None and chosen.names:
        assert chosen.names == names and chosen.mode == mode
    else:
        assert offered == set(names)  # a subset that the target cannot express


@pytest.mark.parametrize(("client", "target"), TARGETS)
def test_an_answer_comes_back_as_free_text(client: str, target: str) -> None:
    done = to(target, written(_session(1), client), client)
    wraps = target not in CLIENTS
    call = ToolCall("call_9", "apply_patch", wrap_input(PATCH) if wraps else PATCH, custom=not wraps)
    plain = ToolCall("call_10", "ls", '{"path":"/"}')
    back = dragoman.translate_response(answer(target, call, plain), source=target, target=client, answers=done)
    found = calls_of(read_answer(back.body, client))
    assert [(one.name, one.custom, one.arguments) for one in found] == [
        ("apply_patch", True, PATCH),
        ("ls", False, '{"path":"/"}'),
    ]
    next_turn = to(target, written(_session(1), client), client)
    assert next_turn.body == done.body


def _cuts(text: str) -> list[list[str]]:
    """Cut the same arguments in several ways: whole, by characters, inside escapes and surrogate pairs."""
    return [[text], list(text), [text[i : i + 3] for i in range(0, len(text), 3)], [text[:1], text[1:11], text[11:]]]


@pytest.mark.parametrize(("client", "target"), WRAPPING)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_stream_passes_on_free_text_piece_by_piece(client: str, target: str, ascii_only: bool) -> None:
    done = to(target, written(_session(0), client), client)
    arguments = wrap_input(PATCH)
    if ascii_only:
        arguments = arguments.encode("ascii", "backslashreplace").decode()
        arguments = arguments.replace("\\U0001f600", "\\ud83d\\ude00").replace("\\xfc", "\\u00fc")
        arguments = arguments.replace("\\xef", "\\u00ef")
    for pieces in _cuts(arguments):
        body = streamed(target, ToolCall("call_9", "apply_patch"), pieces)
        whole = _through(body, target, client, done, len(body))
        for size in (1, 7):
            assert _through(body, target, client, done, size) == whole
        (call,) = calls_of(folded(whole, client))
        assert (call.name, call.custom, call.arguments) == ("apply_patch", True, PATCH)
        deltas = [event.text for event in events_of(whole, client) if isinstance(event, PartDelta)]
        if len(pieces) > 3 and target in ("anthropic", "openrouter"):
            assert len(deltas) > 3  # not buffered until the end


def _through(body: bytes, source: str, client: str, answers: dragoman.Translation, size: int) -> bytes:
    stream = dragoman.StreamTranslator(source=source, target=client, answers=answers)
    out = [stream.feed(body[i : i + size]) for i in range(0, len(body), size)]
    return b"".join(out) + stream.close()


@pytest.mark.parametrize(("client", "target"), WRAPPING)
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{ "input" : "a" }', "a"),
        ('{"input":"a","more":1}', "a"),
        ('{"more":1,"input":"a"}', "a"),
        ('{"patch":"a"}', "a"),
        ('{"patch":"a","path":"b"}', '{"patch":"a","path":"b"}'),
        ('{"input":""}', ""),
    ],
)
def test_a_call_with_a_wrong_wrapper_loses_no_text(client: str, target: str, arguments: str, text: str) -> None:
    done = to(target, written(_session(0), client), client)
    body = streamed(target, ToolCall("call_9", "apply_patch"), [arguments])
    stream = dragoman.StreamTranslator(source=target, target=client, answers=done)
    (call,) = calls_of(folded(stream.feed(body) + stream.close(), client))
    assert call.custom and call.name == "apply_patch"
    assert call.arguments.replace(" ", "") == text


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("target", ["anthropic", "openrouter"])
def test_half_a_character_becomes_the_replacement_character(client: str, target: str) -> None:
    """Only targets that stream arguments as text are tested. In an object half a character cannot occur."""
    done = to(target, written(_session(0), client), client)
    for arguments in ('{"input":"x\\ud83d"}', '{"input":"x\\ud83dy"}', '{"input":"x\\ud83d\\n"}'):
        body = streamed(target, ToolCall("call_9", "apply_patch"), list(arguments))
        stream = dragoman.StreamTranslator(source=target, target=client, answers=done)
        (call,) = calls_of(folded(stream.feed(body) + stream.close(), client))
        assert call.arguments.rstrip("y\n") == "x\ufffd"


# grammars


def _holds(done: dragoman.Translation, words: str) -> bool:
    return words.encode() in done.body


FLAT = {"type": "grammar", "syntax": "lark", "definition": "start: /THE-RULE/"}
NESTED = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /THE-RULE/"}}


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openai-responses"])
@pytest.mark.parametrize("shape", [FLAT, NESTED])
@pytest.mark.parametrize("more", [{}, {"allowed_callers": ["programmatic"]}, {"defer_loading": True}])
def test_a_grammar_of_responses_is_translated_in_both_forms(target: str, shape: Any, more: Any) -> None:
    tool = {"type": "custom", "name": "p", "format": shape, **more}
    done = dragoman.translate_tools([tool], source="openai-responses", target=target)
    assert _holds(done, "THE-RULE")
    assert not [path for _, path in losses_of(done) if path.startswith("/tools/0/format")]


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openai-chat"])
@pytest.mark.parametrize("shape", [FLAT, NESTED])
def test_a_grammar_of_chat_is_translated_in_both_forms(target: str, shape: Any) -> None:
    tool = {"type": "custom", "custom": {"name": "p", "format": shape}}
    done = dragoman.translate_tools([tool], source="openai-chat", target=target)
    assert _holds(done, "THE-RULE")
    assert not [path for _, path in losses_of(done) if path.startswith("/tools/0/custom/format")]


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openai-responses"])
@pytest.mark.parametrize(
    ("tool", "path"),
    [
        ({"type": "custom", "name": "p", "format": {"type": "regex", "definition": "THE-RULE"}}, "/tools/0/format"),
        (
            {"type": "function", "name": "p", "parameters": None, "format": FLAT, "allowed_callers": ["programmatic"]},
            "/tools/0/format",
        ),
        (
            {
                "type": "namespace",
                "name": "n",
                "description": "N",
                "format": FLAT,
                "allowed_callers": ["programmatic"],
                "tools": [{"type": "function", "name": "p", "parameters": None}],
            },
            "/tools/0/format",
        ),
        ({"type": "programmatic_tool_calling", "format": FLAT}, "/tools/0"),
    ],
)
def test_a_grammar_without_a_place_is_reported(target: str, tool: Any, path: str) -> None:
    done = dragoman.translate_tools([tool], source="openai-responses", target=target)
    assert not _holds(done, "THE-RULE")
    assert path in {where for _, where in losses_of(done)}


@pytest.mark.parametrize("field", [{"strict": True}, {"defer_loading": True}, {"async": True}, {"later": 1}])
def test_further_fields_of_a_namespace_are_reported(field: dict[str, Any]) -> None:
    inner = {"type": "function", "name": "p", "parameters": None}
    tool = {"type": "namespace", "name": "n", "description": "N", "tools": [inner], **field}
    done = dragoman.translate_tools([tool], source="openai-responses", target="anthropic")
    assert f"/tools/0/{next(iter(field))}" in {where for _, where in losses_of(done)}
