"""`repair_history`: each repair alone, histories that need no repair, and several repairs together."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman import Repair
from dragoman.canon import Media, Opaque, Part, Reasoning, Seal, Text, ToolCall, ToolResult, Turn
from dragoman.canon.history_requirements import HistoryRequirements
from dragoman.codec.call_ids import hashed_id
from dragoman.codec.history_facts import needs_no_repair
from dragoman.context import Context
from dragoman.dialects import get, names
from dragoman.repair.history import is_cut, repair_history, with_path_of_first_turn
from dragoman.repair.pairing import NO_RESULT

STRICT = HistoryRequirements(unique_ids=True, empty_texts=False, sealed_thoughts=True)
LOOSE = HistoryRequirements("input", adjacent=False, kinds=True, later="async")
TURNS = HistoryRequirements("contents", alternate=True, thoughts_lead=False)


def user(text: str, at: int = 0) -> Turn:
    return Turn("user", (Text(text, at=("messages", at, "content")),), at=("messages", at))


def assistant(*parts: Part | str, at: int = 0) -> Turn:
    whole = [Text(part, at=("messages", at)) if isinstance(part, str) else part for part in parts]
    return Turn("assistant", tuple(whole), at=("messages", at))


def call(call_id: str, arguments: str = "{}", at: int = 0, **more: object) -> ToolCall:
    return ToolCall(call_id, "tool", arguments, at=("messages", at, call_id), **more)  # type: ignore[arg-type]


def result(call_id: str, text: str = "done", at: int = 0) -> ToolResult:
    return ToolResult(
        call_id, (Text(text, at=("messages", at, call_id, "content")),), "tool", at=("messages", at, call_id)
    )


def results_turn(*results: Part, at: int = 0) -> Turn:
    return Turn("tool", results, at=("messages", at))


def missing(call_id: str, at: int) -> ToolResult:
    place = ("messages", at, call_id)
    return ToolResult(call_id, (Text(NO_RESULT, at=place),), "tool", True, at=place)


def thought(text: str, at: int = 0) -> Reasoning:
    return Reasoning(text, seal=Seal("anthropic", "seal"), at=("messages", at, text))


A, B = user("a", 0), user("b", 9)


@pytest.mark.parametrize("requirements", [STRICT, LOOSE, TURNS, HistoryRequirements()])
def test_a_history_in_order_is_returned_unchanged(requirements: HistoryRequirements) -> None:
    step = assistant(thought("t"), "x", call("1"), call("2"), at=1)
    turns = (A, step, results_turn(result("2", at=2), result("1", at=2), at=2), assistant("y", at=3))
    assert repair_history(turns, requirements) == (turns, ())
    assert repair_history(turns, requirements)[0] is turns


def test_calls_at_the_end_are_open_not_broken() -> None:
    turns = (A, assistant(call("1"), call("2")))
    assert repair_history(turns, STRICT)[0] is turns


def test_an_orphan_call_gets_an_error_result() -> None:
    turns = (A, assistant(call("1", at=1), at=1), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[1], Turn("tool", (missing("1", 1),), at=("messages", 1, "1")), B)
    assert repairs == (Repair("orphan-call", "/messages/1/1", "call 1 of tool was not answered"),)


def test_a_partly_answered_last_step_gets_the_missing_results_in_call_order() -> None:
    turns = (A, assistant(call("1", at=1), call("2", at=1), at=1), results_turn(result("2", at=2), at=2))
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[1], results_turn(missing("1", 1), result("2", at=2), at=2))
    assert [one.name for one in repairs] == ["orphan-call"]


def test_a_call_whose_result_may_come_later_is_no_orphan() -> None:
    later = call("1", extra={"openai-responses": {"async": Raw(b"true")}})
    turns = (A, assistant(later), B)
    assert repair_history(turns, LOOSE)[0] is turns
    assert [one.name for one in repair_history(turns, STRICT)[1]] == ["orphan-call"]


def test_an_orphan_result_becomes_a_user_text_that_names_the_call() -> None:
    picture = Media("image", "image/png", "aaaa")
    orphan = ToolResult("9", (Text("found"), picture), "look", True, at=("messages", 1, 0))
    turns = (A, results_turn(orphan, at=1), assistant("y", at=2))
    done, repairs = repair_history(turns, STRICT)
    words = Text("[error of look, call 9]\nfound", at=("messages", 1, 0))
    assert done == (A, Turn("user", (words, picture), at=("messages", 1)), turns[2])
    assert repairs == (Repair("orphan-result", "/messages/1/0", "call 9 is not in the history"),)


def test_orphans_among_results_become_texts_after_the_results() -> None:
    turns = (
        assistant(call("1")),
        results_turn(result("9", "lost", at=1), result("1", at=1), at=1),
        results_turn(result("8", at=2), at=2),
        B,
    )
    done, _ = repair_history(turns, STRICT)
    first = Turn("user", (Text("[result of tool, call 9]\nlost", at=("messages", 1, "9")),), at=("messages", 1))
    second = Turn("user", (Text("[result of tool, call 8]\ndone", at=("messages", 2, "8")),), at=("messages", 2))
    assert done == (turns[0], results_turn(result("1", at=1), at=1), first, second, B)


@pytest.mark.parametrize("value", [b'["call_id"]', b'{"call_id":9}', b'{"x":"call_id"}', b'{"x":{"call_id":"9"}}'])
def test_an_opaque_part_that_is_no_call_accepts_no_result(value: bytes) -> None:
    turns = (assistant(Opaque("openai-responses", "x", Raw(value))), results_turn(result("9"), at=1), B)
    assert [one.name for one in repair_history(turns, LOOSE)[1]] == ["orphan-result"]


def test_an_opaque_part_of_an_orphan_is_written_as_json() -> None:
    odd = ToolResult("9", (Opaque("anthropic", "tool_reference", Raw(b'{"type":"tool_reference"}')),))
    done, _ = repair_history((results_turn(odd), assistant("y")), STRICT)
    assert done[0] == Turn("user", (Text('[result, call 9]\n{"type":"tool_reference"}'),), at=("messages", 0))


def test_an_orphan_result_is_kept_if_the_server_holds_the_history() -> None:
    turns = (results_turn(result("9")), B)
    assert repair_history(turns, STRICT, held=True)[0] is turns


def test_a_result_may_answer_an_opaque_call() -> None:
    search = Opaque("openai-responses", "tool_search_call", Raw(b'{"type":"tool_search_call","call_id":"s"}'))
    turns = (A, assistant(search), results_turn(result("s")), B)
    assert repair_history(turns, LOOSE)[0] is turns


def test_the_first_of_two_results_is_kept() -> None:
    turns = (
        A,
        assistant(call("1")),
        results_turn(result("1", "one", at=2), result("1", "two", at=2), at=2),
        B,
        results_turn(result("1", at=4)),
    )
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[1], results_turn(result("1", "one", at=2), at=2), B)
    assert repairs == (
        Repair("duplicate-result", "/messages/2/1", "call 1 has one already"),
        Repair("duplicate-result", "/messages/4/1", "call 1 has one already"),
    )


def test_a_result_after_a_later_step_or_before_its_call_moves_to_its_step() -> None:
    late, early = result("1", "late", at=4), result("2", "early", at=0)
    turns = (
        results_turn(early, at=0),
        assistant(call("1"), at=1),
        assistant(call("2"), at=3),
        results_turn(late, at=4),
        B,
    )
    done, repairs = repair_history(turns, STRICT)
    assert done == (turns[1], results_turn(late, at=4), turns[2], results_turn(early, at=0), B)
    assert repairs == (
        Repair("result-out-of-order", "/messages/4/1", "moved to its call 1"),
        Repair("result-out-of-order", "/messages/0/2", "moved to its call 2"),
    )


def test_the_first_of_two_results_before_their_call_is_kept() -> None:
    first, second = result("1", "one", at=0), result("1", "two", at=0)
    turns = (results_turn(first, second, at=0), A, assistant(call("1"), at=2), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[2], results_turn(first, at=0), B)
    assert [one.name for one in repairs] == ["duplicate-result", "result-out-of-order"]


def test_text_between_calls_and_results_moves_behind_the_results() -> None:
    turns = (
        assistant(call("1"), call("2")),
        results_turn(result("1", at=1), at=1),
        B,
        user("c", 8),
        results_turn(result("2", at=3), at=3),
    )
    done, repairs = repair_history(turns, STRICT)
    assert done == (turns[0], results_turn(result("1", at=1), result("2", at=3), at=1), B, turns[3])
    assert repairs == (
        Repair("interleaved-text", "/messages/9", "moved behind the results"),
        Repair("interleaved-text", "/messages/8", "moved behind the results"),
    )


def test_an_opaque_part_among_results_keeps_its_place() -> None:
    odd = Opaque("gemini", "odd", Raw(b"{}"))
    turns = (
        assistant(call("1"), call("2")),
        results_turn(result("1", at=1), at=1),
        B,
        results_turn(odd, at=3),
        A,
        results_turn(result("2", at=5), at=5),
    )
    done, repairs = repair_history(turns, STRICT)
    assert done == (turns[0], results_turn(result("1", at=1), result("2", at=5), at=1), B, results_turn(odd, at=3), A)
    assert [one.path for one in repairs] == ["/messages/9", "/messages/0"]


def test_nothing_moves_if_results_need_not_follow_their_call_directly() -> None:
    turns = (assistant(call("1")), B, results_turn(result("1")))
    assert repair_history(turns, LOOSE)[0] is turns


def test_extra_fields_of_a_turn_move_with_its_results() -> None:
    extra = {"anthropic": {"odd": Raw(b"1")}}
    turns = (assistant(call("1")), B, Turn("tool", (result("1", at=3),), extra=extra, at=("messages", 3)))
    done, _ = repair_history(turns, STRICT)
    assert done == (turns[0], turns[2], B)


def test_results_of_one_step_are_joined_if_roles_must_alternate() -> None:
    joined = results_turn(result("1", at=1), result("2", at=2), at=1)
    turns = (A, assistant(call("1", at=1), call("2", at=1), at=1), joined)
    done, repairs = repair_history(turns, TURNS)
    assert done == turns
    assert repairs == (Repair("split-results", "/messages/2", "joined with the turn before"),)
    assert [part.at[:2] for part in with_path_of_first_turn(done)[2].parts] == [("messages", 1), ("messages", 1)]
    assert repair_history(turns, STRICT)[0] is turns


def test_adjacent_turns_of_one_role_are_joined_if_roles_must_alternate() -> None:
    turns = (
        A,
        user("b", 1),
        assistant("x", at=2),
        assistant(call("1", at=3), at=3),
        results_turn(result("1", at=4), at=4),
        user("c", 5),
    )
    done, repairs = repair_history(turns, TURNS)
    assert [one.path for one in repairs] == ["/messages/1", "/messages/3", "/messages/5"]
    assert {one.name for one in repairs} == {"wrong-alternation"}
    assert done[2] == Turn("assistant", (*turns[2].parts, *turns[3].parts), at=("messages", 2))
    homes = [turn.at for turn in with_path_of_first_turn(done)]
    assert homes == [("messages", 0), ("messages", 0), ("messages", 2), ("messages", 4), ("messages", 4)]
    assert repair_history(turns, STRICT)[0] is turns


def test_extra_fields_of_joined_turns_are_joined_too() -> None:
    first = {"gemini": {"a": Raw(b"1"), "b": Raw(b"2")}}
    second = {"gemini": {"b": Raw(b"3"), "c": Raw(b"4")}}
    turns = (
        A,
        Turn("assistant", (Text("x"),), extra=first, at=("messages", 1)),
        Turn("assistant", (Text("y"),), extra=second, at=("messages", 2)),
    )
    done, repairs = repair_history(turns, TURNS)
    joined = {"gemini": {"a": Raw(b"1"), "b": Raw(b"2"), "c": Raw(b"4")}}
    assert done == (A, Turn("assistant", (Text("x"), Text("y")), extra=joined, at=("messages", 1)))
    detail = "joined with the turn before, of whose b one is left"
    assert repairs == (Repair("wrong-alternation", "/messages/2", detail),)


def test_a_turn_of_an_unknown_role_is_not_joined() -> None:
    whole = Opaque("gemini", "robot", Raw(b"{}"), at=("messages", 1))
    turns = (A, Turn("user", (whole,), at=("messages", 1)), user("c", 2))
    assert repair_history(turns, TURNS)[0] is turns
    assert with_path_of_first_turn(turns) == turns


def test_empty_texts_and_turns_are_left_out() -> None:
    extra = {"anthropic": {"odd": Raw(b"1")}}
    empty = Text("", extra=extra, at=("messages", 1, 0))
    turns = (A, assistant(empty, "x", at=1), user("", 2), Turn("assistant", (), at=("messages", 3)), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, assistant("x", at=1), B)
    assert repairs == (
        Repair("empty-part", "/messages/1/0", "a text, and with it odd"),
        Repair("empty-turn", "/messages/2", "of the user"),
        Repair("empty-turn", "/messages/3", "of the assistant"),
    )


def test_if_empty_texts_are_allowed_only_turns_without_parts_are_dropped() -> None:
    turns = (A, user("", 2), Turn("assistant", (), at=("messages", 3)), B)
    done, repairs = repair_history(turns, HistoryRequirements())
    assert done == (A, turns[1], B)
    assert repairs == (Repair("empty-turn", "/messages/3", "of the assistant"),)


def test_an_empty_turn_with_extra_fields_is_kept() -> None:
    turns = (A, Turn("assistant", (), extra={"openai-chat": {"audio": Raw(b"{}")}}), B)
    assert repair_history(turns, HistoryRequirements())[0] is turns


def test_an_empty_last_turn_of_the_assistant_is_kept_if_it_is_allowed() -> None:
    turns = (A, Turn("assistant", ()))
    assert repair_history(turns, HistoryRequirements(empty_last=True))[0] is turns
    assert repair_history(turns, HistoryRequirements())[0] == (A,)


def test_an_empty_text_in_a_list_is_left_out_and_an_empty_result_is_kept() -> None:
    inner = Text("", at=("messages", 2, "content", 0, "content", 0))
    listed = ToolResult("1", (inner,), at=("messages", 2, "content", 0))
    plain = ToolResult("2", (Text("", at=("messages", 2, "content", 1, "content")),), at=("messages", 2, "content", 1))
    turns = (A, assistant(call("1"), call("2")), results_turn(listed, plain, at=2))
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[1], results_turn(ToolResult("1", (), at=listed.at), plain, at=2))
    assert repairs == (Repair("empty-part", "/messages/2/content/0/content/0", "a text"),)
    assert repair_history(turns, HistoryRequirements())[0] is turns


def test_thinking_without_a_seal_is_left_out_if_seals_are_required() -> None:
    bare = Reasoning("hm", at=("messages", 1, 0))
    turns = (A, assistant(bare, "x", at=1), assistant(bare, at=2), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, assistant("x", at=1), B)
    assert repairs == (Repair("unsealed-thinking", "/messages/1/0", "2 characters"),)
    assert repair_history((A, assistant(bare, "x", at=1)), HistoryRequirements())[1] == ()


def test_a_seal_of_another_dialect_is_a_seal() -> None:
    turns = (A, assistant(Reasoning("hm", seal=Seal("openai-chat", "")), "x"), B)
    assert repair_history(turns, STRICT)[0] is turns


def test_thinking_without_a_following_part_is_left_out() -> None:
    turns = (A, assistant(thought("alone", 1), at=1), B, assistant("x", thought("last", 3), at=3), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, B, assistant("x", at=3), B)
    assert repairs == (
        Repair("stranded-thinking", "/messages/1/alone", "it leads to nothing"),
        Repair("stranded-thinking", "/messages/3/last", "it leads to nothing"),
    )
    assert repair_history(turns, TURNS)[0] is turns


def test_thinking_after_the_calls_moves_before_the_calls() -> None:
    turns = (
        A,
        assistant(thought("1"), call("1"), "x", call("2"), thought("2", 1), at=1),
        results_turn(result("1"), result("2")),
    )
    done, repairs = repair_history(turns, STRICT)
    assert done[1] == assistant(thought("1"), thought("2", 1), call("1"), "x", call("2"), at=1)
    assert repairs == (Repair("thinking-out-of-place", "/messages/1/2", "moved before the calls it led to"),)


def test_thinking_between_calls_is_kept() -> None:
    turns = (A, assistant(thought("1"), call("1"), thought("2"), call("2")), results_turn(result("1"), result("2")))
    assert repair_history(turns, STRICT)[0] is turns


def test_only_the_call_with_cut_arguments_is_left_out() -> None:
    turns = (A, assistant("x", call("1", at=1), call("2", '{"path": "/et', at=1), at=1))
    assert repair_history((turns[0], assistant(call("3", "{"), at=3), turns[1]), STRICT)[0] == (
        A,
        assistant("x", call("1", at=1), at=1),
    )
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, assistant("x", call("1", at=1), at=1))
    assert repairs == (Repair("truncated-call", "/messages/1/2", "call 2 of tool: its arguments break off"),)


def test_a_call_with_cut_arguments_is_kept_if_it_was_answered_or_is_free_text() -> None:
    turns = (
        A,
        assistant(call("1", '{"path": "/et')),
        results_turn(result("1", "bad arguments")),
        assistant(call("2", "{", custom=True)),
    )
    assert repair_history(turns, STRICT)[0] is turns


@pytest.mark.parametrize(
    "text", ["{", '{"a', '{"a":', '{"a": "b\\', '{"a": "b\\"', '{"a":1.', '{"a":[1,{"b":2}', ' {"a":1']
)
def test_arguments_that_are_cut(text: str) -> None:
    assert is_cut(text)


@pytest.mark.parametrize("text", ["", " ", "{}", '{"a":1}', '{"a":1}}', "nonsense", "[1", '"a', "null", '{"a" "b"}'])
def test_arguments_that_are_not_cut(text: str) -> None:
    assert not is_cut(text)


def test_calls_with_equal_ids_and_their_results_get_different_ids() -> None:
    turns = (
        A,
        assistant(call("1", '{"n":1}', at=1), call("1", '{"n":2}', at=2), at=1),
        results_turn(result("1", "one", at=3), result("1", "two", at=3), at=3),
        assistant(call("1", '{"n":3}', at=4), at=4),
        results_turn(result("1", "three", at=5), at=5),
    )
    done, repairs = repair_history(turns, STRICT)
    ids = [part.id for turn in done for part in turn.parts if isinstance(part, ToolCall)]
    assert ids == ["1", hashed_id("1\x1f1"), hashed_id("1\x1f2")]
    answers = [(part.call_id, part.parts[0]) for turn in done for part in turn.parts if isinstance(part, ToolResult)]
    assert [one[0] for one in answers] == ids
    assert [text.text for _, text in answers if isinstance(text, Text)] == ["one", "two", "three"]
    assert repairs == (
        Repair("duplicate-id", "/messages/2/1", f"1 is {ids[1]} now"),
        Repair("duplicate-id", "/messages/4/1", f"1 is {ids[2]} now"),
    )
    assert repair_history(done, STRICT)[0] is done
    assert [one.path for one in repair_history(turns, HistoryRequirements())[1]] == ["/messages/2/1"]


def test_an_invented_id_differs_from_all_used_ids() -> None:
    taken = hashed_id("1\x1f1")
    turns = (A, assistant(call("1"), call("1", at=1), call(taken)))
    done, _ = repair_history(turns, STRICT)
    assert [part.id for part in done[1].parts if isinstance(part, ToolCall)] == ["1", hashed_id(taken), taken]


def test_a_result_gets_the_kind_of_its_call_if_kinds_are_distinguished() -> None:
    turns = (A, assistant(call("1", custom=True)), results_turn(result("1", at=2), at=2))
    done, repairs = repair_history(turns, LOOSE)
    fitted = ToolResult("1", result("1", at=2).parts, "tool", custom=True, at=("messages", 2, "1"))
    assert done == (A, turns[1], results_turn(fitted, at=2))
    assert repairs == (Repair("result-kind", "/messages/2/1", "call 1 is one of a custom tool"),)
    assert repair_history(turns, STRICT)[0] is turns


def test_paths_are_spelled_as_in_the_source_and_losses_reported_on_request() -> None:
    context = Context("gemini", "anthropic")
    context.spelled = {("messages", 1, "1"): "one"}
    context.within = ("request",)
    turns = (A, assistant(call("1", at=1), at=1), user("", 2), B)
    _, repairs = repair_history(turns, STRICT, context=context, losing=True)
    assert [one.path for one in repairs] == ["/request/messages/2", "/request/messages/1/one"]
    assert [(loss.code, loss.path) for loss in context.losses.all()] == [("result.invented", "/request/messages/1/one")]


def test_a_sound_history_needs_no_repair_in_any_dialect() -> None:
    call, result = ToolCall("c1", "f", "{}"), ToolResult("c1", (Text("done"),))
    talk = (Turn("user", (Text("a"),)), Turn("assistant", (Text("b"), call)), Turn("tool", (result,)))
    for name in names():
        assert needs_no_repair(talk, get(name).requirements, Context("a", "b"))
        assert repair_history(talk, get(name).requirements) == (talk, ())


@pytest.mark.parametrize(
    "turns",
    [
        (Turn("user", ()),),
        (Turn("user", (Text(""),)),),
        (Turn("user", (Text("a"),)), Turn("user", (Text("b"),))),
        (Turn("assistant", (ToolCall("c", "f"),)),),
        (Turn("tool", (ToolResult("c"),)),),
        (Turn("assistant", (ToolCall("c", "f"), Text("late"))), Turn("tool", (ToolResult("c"),))),
        (Turn("assistant", (Reasoning("hm"),)),),
        (Turn("assistant", (ToolCall("c", "f"),)), Turn("user", (Text("a"),)), Turn("tool", (ToolResult("c"),))),
        (Turn("assistant", (ToolCall("c", "f"),)), Turn("tool", (ToolResult("c"), ToolResult("c")))),
        (Turn("assistant", (ToolCall("c", "f"), ToolCall("c", "f"))), Turn("tool", (ToolResult("c"), ToolResult("c")))),
    ],
)
def test_a_history_that_may_be_broken_is_not_sound(turns: tuple[Turn, ...]) -> None:
    assert not needs_no_repair(turns, HistoryRequirements(alternate=True), Context("a", "b"))
