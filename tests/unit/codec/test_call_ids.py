"""Call ids: a legal id is kept, an illegal id is hashed, and an absent id is made from its place."""

from __future__ import annotations

import re
from typing import Literal

import pytest

from dragoman.canon.losses import Loss
from dragoman.canon.parts import Text, ToolCall, ToolResult
from dragoman.canon.request import Request
from dragoman.canon.turns import Turn
from dragoman.codec import call_ids
from dragoman.context import Context

STRICT = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


@pytest.mark.parametrize("call_id", ["call_1", "toolu_01ABC", "rf-1", "x" * 64, "7"])
def test_a_legal_id_is_kept(call_id: str) -> None:
    context = Context("a", "b")
    assert call_ids.send(call_id, STRICT, context, ()) == call_id
    assert context.losses.all() == ()


@pytest.mark.parametrize("call_id", ["", "fc.1:2", "x" * 65, "call\n", "größe", "a b"])
def test_an_illegal_id_is_replaced_in_call_and_result_alike(call_id: str) -> None:
    context = Context("a", "b")
    sent = call_ids.send(call_id, STRICT, context, ("messages", 1))
    assert call_ids.SAFE.match(sent)
    assert sent == call_ids.send(call_id, STRICT, context, ("messages", 2)) == call_ids.hashed_id(call_id)
    assert context.losses.all() == (
        Loss("call.id.rewritten", "approximated", "info", "/messages/1"),
        Loss("call.id.rewritten", "approximated", "info", "/messages/2"),
    )


def test_a_hash_depends_only_on_the_original_id() -> None:
    assert call_ids.hashed_id("fc.1:2") == "call_7a1f8b421706411440f4"
    assert call_ids.hashed_id("fc.1:2", "id_") == "id_7a1f8b421706411440f4"
    assert call_ids.hashed_id("\ud800") != call_ids.hashed_id("\ud801")


def test_a_minted_id_comes_from_its_place() -> None:
    context = Context("gemini", "b")
    first = call_ids.id_from_path(("contents", 1, "parts", 0), context)
    assert first == call_ids.id_from_path(("contents", 1, "parts", 0), Context("gemini", "c"))
    assert call_ids.SAFE.match(first)
    assert first != call_ids.id_from_path(("contents", 1, "parts", 1), context)
    assert context.losses.all() == (
        Loss("call.id.invented", "invented", "info", "/contents/1/parts/0"),
        Loss("call.id.invented", "invented", "info", "/contents/1/parts/1"),
    )


def test_a_salt_makes_the_ids_of_two_answers_different() -> None:
    place = ("choices", 0, "message", "tool_calls", 0)
    made = [call_ids.id_from_path(place, Context("a", "b"), salt) for salt in ("", "r1", "r2", "r1")]
    assert made[1] == made[3]
    assert len(set(made)) == 3


# calls with equal ids


def _step(*pairs: tuple[str, str], role: Literal["assistant", "tool"] = "assistant") -> Turn:
    """A turn of calls or results. Each pair is an id, and the name of the call or the text of the result."""
    if role == "assistant":
        return Turn(role, tuple([ToolCall(call_id, name, at=("calls", i)) for i, (call_id, name) in enumerate(pairs)]))
    return Turn(role, tuple([ToolResult(call_id, (Text(text),), at=("results",)) for call_id, text in pairs]))


def _results(*pairs: tuple[str, str]) -> Turn:
    return _step(*pairs, role="tool")


def _ids(turns: tuple[Turn, ...]) -> list[str]:
    return [part.id if isinstance(part, ToolCall) else part.call_id for turn in turns for part in turn.parts]  # type: ignore[attr-defined]


def test_calls_with_unique_ids_are_left_alone() -> None:
    turns = (
        Turn("user", (Text("x"),)),
        _step(("a", "f"), ("b", "g")),
        _results(("b", "2"), ("a", "1")),
        _step(("c", "f")),
    )
    context = Context("a", "b")
    assert call_ids.with_unique_ids(turns, context) is turns
    assert context.losses.all() == ()


def test_an_id_that_is_reused_in_every_step_is_numbered() -> None:
    turns = (_step(("a", "f")), _results(("a", "1")), _step(("a", "f")), _results(("a", "2")), _step(("a", "f")))
    context = Context("a", "b")
    second, third = call_ids.hashed_id("a\x1f1"), call_ids.hashed_id("a\x1f2")
    assert _ids(call_ids.with_unique_ids(turns, context)) == ["a", "a", second, second, third]
    assert _ids(call_ids.with_unique_ids(turns[:4], context)) == ["a", "a", second, second]
    assert {loss.code for loss in context.losses.all()} == {"call.id.rewritten"}


def test_parallel_calls_with_one_id_are_answered_in_their_order() -> None:
    turns = (_step(("a", "f"), ("a", "g")), _results(("a", "1"), ("a", "2"), ("a", "3")), Turn("user", ()))
    other = call_ids.hashed_id("a\x1f1")
    # There is no third call: the third result is a second result for the last call.
    assert _ids(call_ids.with_unique_ids(turns, Context("a", "b"))) == ["a", other, "a", other, other]


def test_a_step_without_results_takes_none_from_the_next_step() -> None:
    turns = (_step(("a", "f")), Turn("user", (Text("x"),)), _step(("a", "f")), _results(("a", "1")))
    found = [part for turn in call_ids.with_unique_ids(turns, Context("a", "b")) for part in turn.parts]
    assert isinstance(found[2], ToolCall)
    assert isinstance(found[3], ToolResult)
    assert found[2].id == found[3].call_id == call_ids.hashed_id("a\x1f1")


def test_results_without_an_id_are_matched_by_name_and_order() -> None:
    calls = _step(("a", "f"), ("", "g"), ("", "h"))
    results = Turn("tool", (ToolResult("", name="h"), ToolResult("", name="g"), ToolResult("a"), ToolResult("")))
    context = Context("a", "b")
    made = _ids(call_ids.with_unique_ids((calls, results), context))
    assert made[0] == made[5] == "a"
    assert made[1] == made[4]
    assert made[2] == made[3]
    assert len({*made[:3]}) == 3
    assert made[6] == made[2]  # one result too many: a second result for the last call without an id
    assert all(loss.code == "call.id.invented" for loss in context.losses.all())


def test_an_invented_id_differs_from_all_earlier_ids() -> None:
    taken = call_ids.hashed_id("a\x1f1")
    made = _ids(call_ids.with_unique_ids((_step((taken, "f"), ("a", "f"), ("a", "f")),), Context("a", "b")))
    assert made[:2] == [taken, "a"]
    assert made[2] == call_ids.hashed_id("a\x1f2")


def test_a_result_of_no_call_keeps_its_id() -> None:
    turns = (_step(("", "f")), _results(("other", "1")))
    assert _ids(call_ids.with_unique_ids(turns, Context("a", "b")))[1] == "other"


@pytest.mark.parametrize("earlier_id", ["call_0", call_ids.hashed_id("call:0")])
def test_a_call_of_an_answer_has_another_id_than_earlier_calls(earlier_id: str) -> None:
    """Hosts number the calls of each answer from 0. An id that is illegal in the client's dialect is hashed."""
    request = Request((Turn("assistant", (ToolCall(earlier_id, "f"),)),))
    context = Context("a", "b", answers=request)
    own = "call_0" if earlier_id == "call_0" else "call:0"
    (found,) = call_ids.with_distinct_ids((ToolCall(own, "f"),), context)
    assert isinstance(found, ToolCall)
    assert found.id not in (own, earlier_id)
    assert [loss.code for loss in context.losses.all()] == ["call.id.rewritten"]
    assert call_ids.ids_of_earlier_turns(context) == {earlier_id}
    parts = (ToolCall("new", "f"),)
    assert call_ids.with_distinct_ids(parts, context) is parts


def test_two_calls_of_an_answer_with_one_id_get_different_ids() -> None:
    context = Context("a", "b")
    parts = (Text("x"), ToolCall("a", "f"), ToolCall("a", "g"), ToolCall("b", "h"))
    assert call_ids.with_distinct_ids(parts[:2] + parts[3:], context) == parts[:2] + parts[3:]
    assert context.losses.all() == ()
    found = call_ids.with_distinct_ids(parts, context)
    assert found == (*parts[:2], ToolCall(call_ids.hashed_id("a\x1f1"), "g"), parts[3])
    assert [loss.code for loss in context.losses.all()] == ["call.id.rewritten"]


CHAT = re.compile(r"[!-~]{1,40}\Z")


@pytest.mark.parametrize(
    ("call_id", "shown"),
    [
        ("toolu_01A09q90qw90lq917835lq9", "call__toolu_01A09q90qw90lq917835lq9"),
        ("functions.get_weather:0", "call__functions.get_weather:0"),
        ("D681PevKs", "call__D681PevKs"),
        ("call_abc", "call_abc"),
        ("call__abc", "call__call__abc"),
        ("call_", "call_"),
        ("x" * 34, "call__" + "x" * 34),
    ],
)
def test_an_id_for_a_chat_client_begins_with_call_and_is_restored_for_the_upstream(call_id: str, shown: str) -> None:
    context = Context("anthropic", "openai-chat")
    assert call_ids.to_chat_client(call_id, CHAT, context, ()) == shown
    assert (len(shown) <= 40, context.losses.all()) == (True, ())
    assert call_ids.from_chat_client(shown) == call_id
    assert call_ids.short_for_chat_client(call_id) == shown


@pytest.mark.parametrize("call_id", ["x" * 35, "call_" + "x" * 36, "an id", "a0b1c2d3-0000-4000-8000-a0b1c2d3e4f5"])
def test_an_id_that_is_too_long_for_the_prefix_is_hashed(call_id: str) -> None:
    context = Context("anthropic", "openai-chat")
    shown = call_ids.to_chat_client(call_id, CHAT, context, ())
    assert shown == call_ids.hashed_id(call_id) == call_ids.from_chat_client(shown)
    assert [loss.code for loss in context.losses.all()] == ["call.id.rewritten"]
    # The original id and its hash count as the same id.
    request = Request((Turn("assistant", (ToolCall(shown, "f"),)),))
    (found,) = call_ids.with_distinct_ids((ToolCall(call_id, "f"),), Context("a", "b", answers=request))
    assert isinstance(found, ToolCall)
    assert found.id not in (call_id, shown)


def test_within_one_dialect_an_id_stays() -> None:
    context = Context("openai-chat", "openai-chat")
    assert call_ids.to_chat_client("toolu_1", CHAT, context, ()) == "toolu_1"
