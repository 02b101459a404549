"""`arrange` moves the results of a step directly after the step, into one turn."""

from __future__ import annotations

from dragoman.canon.parts import Text, ToolCall, ToolResult
from dragoman.canon.turns import Turn
from dragoman.codec.results_after_calls import results_after_calls
from dragoman.context import Context


def user(text: str) -> Turn:
    return Turn("user", (Text(text),))


def step(*ids: str) -> Turn:
    return Turn("assistant", tuple(ToolCall(call_id, f"tool_{call_id}", "{}") for call_id in ids))


def results(*ids: str, at: int = 0) -> Turn:
    return Turn("tool", tuple(ToolResult(call_id) for call_id in ids), at=("messages", at))


def _arranged(*turns: Turn) -> tuple[tuple[Turn, ...], list[str]]:
    context = Context("openai-chat", "anthropic")
    done = results_after_calls(turns, context)
    assert {loss.code for loss in context.losses.all()} <= {"result.moved"}
    return done, [loss.path for loss in context.losses.all()]


def test_turns_in_order_are_returned_unchanged() -> None:
    turns = (user("a"), step("1", "2"), results("2", "1"), user("b"), step("3"), results("3"))
    assert results_after_calls(turns, Context("a", "b")) is turns


def test_results_after_other_turns_move_to_their_step() -> None:
    done, moved = _arranged(user("a"), step("1"), user("b"), results("1", at=3), user("c"))
    assert done == (user("a"), step("1"), results("1", at=3), user("b"), user("c"))
    assert moved == ["/messages/3"]


def test_separate_results_are_joined() -> None:
    done, moved = _arranged(step("1", "2", "3"), results("1", at=1), user("b"), results("3", at=3), results("2", at=4))
    assert done == (step("1", "2", "3"), results("1", "3", "2", at=1), user("b"))
    assert moved == ["/messages/3", "/messages/4"]


def test_adjacent_result_turns_are_joined_without_a_loss() -> None:
    done, moved = _arranged(step("1", "2"), results("1", at=1), results("2", at=2))
    assert done == (step("1", "2"), results("1", "2", at=1))
    assert moved == []


def test_results_without_a_call_keep_their_place() -> None:
    done, moved = _arranged(results("0", at=0), step("1"), user("b"), results("9", "1", at=3))
    assert done == (results("0", at=0), step("1"), results("1", at=3), user("b"), results("9", at=3))
    assert moved == ["/messages/3"]


def test_an_answer_without_calls_ends_the_step() -> None:
    last = Turn("assistant", (Text("done"),))
    done, moved = _arranged(step("1"), last, user("b"), results("1", at=3))
    assert done == (step("1"), last, user("b"), results("1", at=3))
    assert moved == []
