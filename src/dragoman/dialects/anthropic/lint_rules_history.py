"""Owns the rules for Anthropic conversations: roles, blocks, calls and their results, replayed thinking."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from ...codec import packed_seals
from ...rules.helpers import Place, declarations, items, listed, quoted, sub, twice, word
from ...rules.rule import Breach, Subject, rule, rules_of
from .lint_rules_helpers import NEW_VERSION, JoinedTurn, blocks, every_block, messages, turns, version

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_ROLES = ("user", "assistant", "system")
_THINKING = ("thinking", "redacted_thinking")


@rule("ANT-005", "error")
def calls_answered(subject: Subject) -> Iterator[Breach]:
    """Every `tool_use` is answered in the very next user message, once, with nothing in between.

    Why: the API answers 400 ("tool_use ids were found without tool_result blocks immediately after").

    Good: assistant: [{"type": "tool_use", "id": "a", ...}], user: [{"type": "tool_result", "tool_use_id": "a"}]

    Bad: assistant: [{"type": "tool_use", "id": "a", ...}], user: "never mind"

    Source: Anthropic's documentation for tools (2026-10).
    """
    messages = turns(subject)
    for i, turn in enumerate(messages):
        if turn.role != "assistant":
            continue
        after = messages[i + 1] if i + 1 < len(messages) else None
        answers = after.of("tool_result") if after is not None and after.role == "user" else []
        answered = {word(block, "tool_use_id") for _, block in answers}
        for at, call in turn.of("tool_use"):
            name = word(call, "id")
            if name and name not in answered:
                fix = "answer it in the next user message, if only with an error"
                yield Breach(at, f"call {quoted(name)} is not answered in the next message", fix)
        yield from twice(
            [((*at, "tool_use_id"), block.get("tool_use_id")) for at, block in answers], "the result of call"
        )


@rule("ANT-006", "error")
def results_first(subject: Subject) -> Iterator[Breach]:
    """In the message that answers calls all `tool_result` blocks come before anything else.

    Why: text in front of a result is a 400, as if the result were missing.

    Good: [{"type": "tool_result", "tool_use_id": "a"}, {"type": "text", "text": "And hurry."}]

    Bad: [{"type": "text", "text": "Here:"}, {"type": "tool_result", "tool_use_id": "a"}]

    Source: Anthropic's documentation for messages (2026-10).
    """
    for turn in turns(subject):
        if turn.role != "user":
            continue
        other = False
        for at, block in turn.blocks:
            if block.get("type") != "tool_result":
                other = True
            elif other:
                yield Breach(at, "a result comes after another block", "put the results first")


@rule("ANT-007", "error")
def results_known(subject: Subject) -> Iterator[Breach]:
    """Every `tool_result` is in a user message and names a call of the assistant's turn before it.

    Why: a result without its call ("unexpected tool_use_id found in tool_result blocks") is a 400.

    Good: assistant: [{"type": "tool_use", "id": "a", ...}], user: [{"type": "tool_result", "tool_use_id": "a"}]

    Bad: user: [{"type": "tool_result", "tool_use_id": "a"}] as the first message

    Source: Anthropic's documentation for tools (2026-10).
    """
    messages = turns(subject)
    continues = word(sub(subject.document, "thread"), "type") == "continue"  # the server holds the earlier calls
    for i, turn in enumerate(messages):
        before = messages[i - 1] if i and messages[i - 1].role == "assistant" else None
        calls = {word(block, "id") for _, block in before.of("tool_use")} if before else set()
        for at, block in turn.of("tool_result"):
            name = block.get("tool_use_id")
            if turn.role != "user":
                yield Breach(
                    at, f"a result is in a message of the role {quoted(turn.role)}", "put it into a user message"
                )
            elif not isinstance(name, str):
                yield Breach(at, "a result has no tool_use_id", "name the call it answers")
            elif name not in calls and not (continues and not i):
                yield Breach(
                    (*at, "tool_use_id"), f"{quoted(name)} is not a call of the message before", "write it as text"
                )


@rule("ANT-008", "error", "request", "response")
def call_ids(subject: Subject) -> Iterator[Breach]:
    """Ids of calls are letters, digits, `_` and `-`, and no id is used twice.

    Why: ids of other dialects hold dots, colons or spaces and are refused; a repeated id makes results ambiguous.

    Good: {"type": "tool_use", "id": "toolu_01A", "name": "f", "input": {}}

    Bad: {"type": "tool_use", "id": "call:1.a", "name": "f", "input": {}}

    Source: Anthropic's specification for the characters (2026-08); for repeated ids a user's report:
    anthropics/claude-code issue 28515 (2026-02).
    """
    found: list[tuple[Any, str]] = []
    for at, block in every_block(subject):
        if block.get("type") != "tool_use":
            continue
        name = word(block, "id")
        found.append(((*at, "id"), name))
        if not _ID.fullmatch(name):
            yield Breach((*at, "id"), f"call id {quoted(block.get('id'))} is not of [a-zA-Z0-9_-]", "rewrite the id")
    yield from twice(found, "call id")


@rule("ANT-009", "error", "request", "response")
def input_object(subject: Subject) -> Iterator[Breach]:
    """The `input` of a call is an object.

    Why: JSON text is the shape of Chat Completions; here it is a 400.

    Good: {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}

    Bad: {"type": "tool_use", "id": "a", "name": "f", "input": "{\\"x\\": 1}"}

    Source: Types of the anthropic SDK 2.8.0 for messages and blocks (2026-11).
    """
    for at, block in every_block(subject):
        if block.get("type") in ("tool_use", "server_tool_use") and not isinstance(block.get("input"), dict):
            yield Breach(at, "the input of a call is not an object", "decode the arguments")


@rule("ANT-012", "error")
def thinking_sealed(subject: Subject) -> Iterator[Breach]:
    """Thinking that goes back is the assistant's own: signed by this upstream, unchanged, in order.

    Why: a missing, foreign or edited block is a 400 ("thinking blocks in the latest assistant message cannot be
    modified"). If the previous answer is known, the blocks are compared with it.

    Good: {"type": "thinking", "thinking": "...", "signature": "EqQB..."}

    Bad: {"type": "thinking", "thinking": "...", "signature": ""}

    Source: Anthropic's documentation for thinking (2026-10).
    """
    for turn in turns(subject):
        for at, block in turn.of(*_THINKING):
            slot = "signature" if block.get("type") == "thinking" else "data"
            seal = word(block, slot)
            if turn.role != "assistant":
                yield Breach(
                    at, f"thinking is in a message of the role {quoted(turn.role)}", "only the assistant thinks"
                )
            elif not seal:
                yield Breach(at, f"a {block['type']} block without {slot}", "leave the block out")
            elif seal.startswith(packed_seals.MARK):
                yield Breach((*at, slot), "the seal is another upstream's", "leave the block out")
    yield from _dropped_thinking(subject)


def _dropped_thinking(subject: Subject) -> Iterator[Breach]:
    """Findings for thinking of the previous response that this request drops while it answers the response's calls."""
    answer = blocks(subject.before, ()) if isinstance(subject.before, dict) else []
    calls = {word(block, "id") for _, block in answer if block.get("type") == "tool_use"} - {""}
    thought = [_thought(block) for _, block in answer if block.get("type") in _THINKING]
    for turn in turns(subject):
        if turn.role == "assistant" and calls & {word(block, "id") for _, block in turn.of("tool_use")}:
            if thought and not _contains([_thought(block) for _, block in turn.of(*_THINKING)], thought):
                yield Breach(turn.at, "the thinking of the answer before was changed", "send its blocks as they came")


def _thought(block: dict[str, Any]) -> tuple[object, ...]:
    return tuple([block.get(key) for key in ("type", "thinking", "signature", "data")])


def _contains(whole: list[tuple[object, ...]], piece: list[tuple[object, ...]]) -> bool:
    return any(whole[i : i + len(piece)] == piece for i in range(len(whole) - len(piece) + 1))


@rule("ANT-017", "error")
def not_empty(subject: Subject) -> Iterator[Breach]:
    """There are messages, and no text block, no message and no result of a failed call is empty.

    Why: each is a 400; only the last message, if it is the assistant's, may have no content. Texts of white space alone
    are refused as well.

    Good: {"role": "user", "content": [{"type": "text", "text": "Hi"}]}

    Bad: {"role": "user", "content": [{"type": "text", "text": ""}]}

    Source: Anthropic's specification for texts (2026-08); error text in BiFangKNT/mtga pull 68 (2026-02). No page of
    the provider documents the other cases (2026-11).
    """
    document = subject.document
    if not listed(document, "messages"):
        yield Breach(
            ("messages",) if "messages" in document else (), "there are no messages", "begin with a user message"
        )
    places = list(messages(subject))
    for i, (at, message) in enumerate(places):
        content = message.get("content")
        last = i == len(places) - 1 and message.get("role") == "assistant"
        if content in ("", [], None) and not last:
            yield Breach(at, "a message has no content", "leave the message out")
    for at, block in every_block(subject):
        words = block.get("text")
        if block.get("type") == "tool_result" and block.get("is_error") and not _has_content(block.get("content")):
            yield Breach(at, "a failed result has no text", "write what failed")
        if block.get("type") != "text" or at[-1] == "content":
            continue
        if words == "" or not isinstance(words, str):
            yield Breach(at, "a text block is empty", "leave the block out")
        elif not words.strip():
            yield Breach(at, "a text block has only white space", "leave the block out")


def _has_content(content: object) -> bool:
    return bool(content.strip() if isinstance(content, str) else content)


@rule("ANT-018", "error")
def newer_version(subject: Subject) -> Iterator[Breach]:
    """Under version 2026-10-21 an assistant message has no document, and the user's text has no citations.

    Why: that version answers both with 400; the older one takes them.

    Good: {"role": "user", "content": [{"type": "document", ...}]}

    Bad: {"role": "assistant", "content": [{"type": "document", ...}]} with anthropic-version: 2026-10-21

    Source: Anthropic's documentation for versions and headers (2026-10).
    """
    if version(subject) != NEW_VERSION:
        return
    for turn in turns(subject):
        for at, block in turn.blocks:
            if turn.role == "assistant" and block.get("type") == "document":
                yield Breach(
                    at, f"a document is in an assistant message, under {NEW_VERSION}", "move it to a user message"
                )
            elif turn.role == "user" and block.get("type") == "text" and block.get("citations"):
                yield Breach((*at, "citations"), f"a user text has citations, under {NEW_VERSION}", "leave them out")


@rule("ANT-021", "error")
def server_calls(subject: Subject) -> Iterator[Breach]:
    """No `tool_result` answers a call the upstream runs itself.

    Why: server tools have their own result block, which is sent back unchanged; a `tool_result` for one is a 400.

    Good: assistant: [{"type": "server_tool_use", "id": "srvtoolu_1", ...}, {"type": "web_search_tool_result", ...}]

    Bad: user: [{"type": "tool_result", "tool_use_id": "srvtoolu_1"}]

    Source: Anthropic's documentation for messages and blocks (2026-10).
    """
    run = ("server_tool_use", "mcp_tool_use")
    upstream = {word(block, "id") for _, block in every_block(subject) if block.get("type") in run}
    client = {word(block, "id") for _, block in every_block(subject) if block.get("type") == "tool_use"}
    for at, block in every_block(subject):
        name = word(block, "tool_use_id")
        if block.get("type") != "tool_result" or not name or name in client:
            continue
        if name.startswith("srvtoolu_") or name in upstream:
            yield Breach((*at, "tool_use_id"), f"{quoted(name)} is run by the upstream", "leave the result out")


@rule("ANT-022", "error")
def programmatic_answers(subject: Subject) -> Iterator[Breach]:
    """A message that answers calls made by code holds `tool_result` blocks only, each with text only.

    Why: the result of a call whose `caller` is code execution goes into a running program; anything else is a 400.

    Good: user: [{"type": "tool_result", "tool_use_id": "a", "content": "42"}]

    Bad: user: [{"type": "tool_result", "tool_use_id": "a", "content": "42"}, {"type": "text", "text": "Go on."}]

    Source: Anthropic's documentation for tools (2026-10).
    """
    messages = turns(subject)
    for before, turn in itertools.pairwise(messages):
        if turn.role != "user" or not _by_code(before) & {word(b, "tool_use_id") for _, b in turn.of("tool_result")}:
            continue
        for at, block in turn.blocks:
            if block.get("type") != "tool_result":
                yield Breach(at, "something is beside the answers to a program's calls", "write it in a later message")
                continue
            for place, inner in blocks(block, at):
                if inner.get("type") != "text":
                    yield Breach(place, "a program's call is answered with text only", "write it as text")


def _by_code(turn: JoinedTurn) -> set[str]:
    calls = turn.of("tool_use")
    return {word(call, "id") for _, call in calls if sub(call, "caller").get("type") not in (None, "direct")}


@rule("ANT-025", "error")
def roles(subject: Subject) -> Iterator[Breach]:
    """Every message is an object whose role is user, assistant or system.

    Why: results are blocks of a user message here; roles `tool` and `function` belong to Chat Completions.

    Good: {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "42"}]}

    Bad: {"role": "tool", "tool_call_id": "a", "content": "42"}

    Source: Types of the anthropic SDK 2.8.0 for messages and blocks (2026-11); recorded 400 for a message that is a
    string.
    """
    for i, message in enumerate(listed(subject.document, "messages")):
        if not isinstance(message, dict):
            yield Breach(("messages", i), "a message is not an object", "write {role, content}")
            continue
        role = message.get("role")
        if role not in _ROLES:
            fix = "send a tool_result block in a user message" if role in ("tool", "function") else ""
            yield Breach(("messages", i), f"role {quoted(role)} is not user, assistant or system", fix)


@rule("ANT-020", "error", "request", "tools")
def deferred_tools(subject: Subject) -> Iterator[Breach]:
    """At least one tool is loaded at once, and `tool_reference` blocks name declared tools.

    Why: with every tool deferred the model sees none; a reference to an unknown tool is a 400.

    Good: [{"type": "tool_search_tool_bm25_20251119", ...}, {"name": "f", "defer_loading": true, ...}]

    Bad: [{"name": "f", "defer_loading": true, ...}]

    Source: Anthropic's documentation for tools and errors (2026-10).
    """
    declared = declarations(subject)
    if declared and all(tool.get("defer_loading") is True for _, tool in declared):
        yield Breach(
            () if subject.kind == "tools" else ("tools",),
            "every tool is deferred",
            "load one tool at once, such as a tool search tool",
        )
    if subject.kind == "tools" or any(word(tool, "type").endswith("_toolset") for _, tool in declared):
        return
    names = {word(tool, "name") for _, tool in declared}
    for at, reference in _references(subject):
        if word(reference, "tool_name") not in names:
            name = quoted(reference.get("tool_name"))
            yield Breach((*at, "tool_name"), f"a reference names {name}, which is not declared", "declare the tool")


def _references(subject: Subject) -> Iterator[Place]:
    for at, block in every_block(subject):
        if block.get("type") == "tool_reference":
            yield at, block
        elif block.get("type") == "tool_search_tool_result":
            yield from items(sub(block, "content"), "tool_references", (*at, "content"))


RULES = rules_of(globals())
