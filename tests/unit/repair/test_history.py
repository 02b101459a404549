"""mend: each repair alone, what is left alone, and how repairs go together."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman import Repair
from dragoman.canon import Media, Opaque, Part, Reasoning, Seal, Text, ToolCall, ToolResult, Turn
from dragoman.canon.history_requirements import HistoryRequirements
from dragoman.codec.call_ids import hashed
from dragoman.codec.history_facts import sound
from dragoman.context import Context
from dragoman.dialects import get, names
from dragoman.repair.history import is_cut, rehomed, repair_history
from dragoman.repair.pairing import NO_RESULT

STRICT = HistoryRequirements(unique_ids=True, empty_texts=False, sealed_thoughts=True)
LOOSE = HistoryRequirements("input", adjacent=False, kinds=True, later="async")
TURNS = HistoryRequirements("contents", alternate=True, thoughts_lead=False)


def user(text: str, at: int = 0) -> Turn:
    return Turn("user", (Text(text, at=("messages", at, "content")),), at=("messages", at))


def said(*parts: Part | str, at: int = 0) -> Turn:
    whole = [Text(part, at=("messages", at)) if isinstance(part, str) else part for part in parts]
    return Turn("assistant", tuple(whole), at=("messages", at))


def call(call_id: str, arguments: str = "{}", at: int = 0, **more: object) -> ToolCall:
    return ToolCall(call_id, "tool", arguments, at=("messages", at, call_id), **more)  # type: ignore[arg-type]


def result(call_id: str, text: str = "done", at: int = 0) -> ToolResult:
    return ToolResult(
        call_id, (Text(text, at=("messages", at, call_id, "content")),), "tool", at=("messages", at, call_id)
    )


def told(*results: Part, at: int = 0) -> Turn:
    return Turn("tool", results, at=("messages", at))


def missing(call_id: str, at: int) -> ToolResult:
    place = ("messages", at, call_id)
    return ToolResult(call_id, (Text(NO_RESULT, at=place),), "tool", True, at=place)


def thought(text: str, at: int = 0) -> Reasoning:
    return Reasoning(text, seal=Seal("anthropic", "seal"), at=("messages", at, text))


A, B = user("a", 0), user("b", 9)


@pytest.mark.parametrize("requirements", [STRICT, LOOSE, TURNS, HistoryRequirements()])
def test_a_history_in_order_is_returned_itself(requirements: HistoryRequirements) -> None:
    step = said(thought("t"), "x", call("1"), call("2"), at=1)
    turns = (A, step, told(result("2", at=2), result("1", at=2), at=2), said("y", at=3))
    assert repair_history(turns, requirements) == (turns, ())
    assert repair_history(turns, requirements)[0] is turns


def test_calls_at_the_end_are_open_not_broken() -> None:
    turns = (A, said(call("1"), call("2")))
    assert repair_history(turns, STRICT)[0] is turns


def test_an_orphan_call_gets_a_result_that_says_so() -> None:
    turns = (A, said(call("1", at=1), at=1), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[1], Turn("tool", (missing("1", 1),), at=("messages", 1, "1")), B)
    assert repairs == (Repair("orphan-call", "/messages/1/1", "call 1 of tool was not answered"),)


def test_a_last_step_that_is_answered_in_part_gets_the_rest_in_the_order_of_the_calls() -> None:
    turns = (A, said(call("1", at=1), call("2", at=1), at=1), told(result("2", at=2), at=2))
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[1], told(missing("1", 1), result("2", at=2), at=2))
    assert [one.name for one in repairs] == ["orphan-call"]


def test_a_call_whose_result_may_come_later_is_no_orphan() -> None:
    later = call("1", extra={"openai-responses": {"async": Raw(b"true")}})
    turns = (A, said(later), B)
    assert repair_history(turns, LOOSE)[0] is turns
    assert [one.name for one in repair_history(turns, STRICT)[1]] == ["orphan-call"]


def test_an_orphan_result_becomes_a_text_of_the_user_that_names_it() -> None:
    picture = Media("image", "image/png", "aaaa")
    lonely = ToolResult("9", (Text("found"), picture), "look", True, at=("messages", 1, 0))
    turns = (A, told(lonely, at=1), said("y", at=2))
    done, repairs = repair_history(turns, STRICT)
    words = Text("[error of look, call 9]\nfound", at=("messages", 1, 0))
    assert done == (A, Turn("user", (words, picture), at=("messages", 1)), turns[2])
    assert repairs == (Repair("orphan-result", "/messages/1/0", "call 9 is not in the history"),)


def test_orphans_among_results_are_said_behind_them() -> None:
    turns = (
        said(call("1")),
        told(result("9", "lost", at=1), result("1", at=1), at=1),
        told(result("8", at=2), at=2),
        B,
    )
    done, _ = repair_history(turns, STRICT)
    first = Turn("user", (Text("[result of tool, call 9]\nlost", at=("messages", 1, "9")),), at=("messages", 1))
    second = Turn("user", (Text("[result of tool, call 8]\ndone", at=("messages", 2, "8")),), at=("messages", 2))
    assert done == (turns[0], told(result("1", at=1), at=1), first, second, B)


@pytest.mark.parametrize("value", [b'["call_id"]', b'{"call_id":9}', b'{"x":"call_id"}', b'{"x":{"call_id":"9"}}'])
def test_what_is_no_call_does_not_ask_for_a_result(value: bytes) -> None:
    turns = (said(Opaque("openai-responses", "x", Raw(value))), told(result("9"), at=1), B)
    assert [one.name for one in repair_history(turns, LOOSE)[1]] == ["orphan-result"]


def test_what_only_its_dialect_knows_in_an_orphan_is_said_as_json() -> None:
    odd = ToolResult("9", (Opaque("anthropic", "tool_reference", Raw(b'{"type":"tool_reference"}')),))
    done, _ = repair_history((told(odd), said("y")), STRICT)
    assert done[0] == Turn("user", (Text('[result, call 9]\n{"type":"tool_reference"}'),), at=("messages", 0))


def test_a_result_without_its_call_is_left_alone_where_a_server_holds_the_history() -> None:
    turns = (told(result("9")), B)
    assert repair_history(turns, STRICT, held=True)[0] is turns


def test_a_result_may_answer_a_call_that_only_its_dialect_knows() -> None:
    search = Opaque("openai-responses", "tool_search_call", Raw(b'{"type":"tool_search_call","call_id":"s"}'))
    turns = (A, said(search), told(result("s")), B)
    assert repair_history(turns, LOOSE)[0] is turns


def test_of_two_results_the_first_stays() -> None:
    turns = (
        A,
        said(call("1")),
        told(result("1", "one", at=2), result("1", "two", at=2), at=2),
        B,
        told(result("1", at=4)),
    )
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[1], told(result("1", "one", at=2), at=2), B)
    assert repairs == (
        Repair("duplicate-result", "/messages/2/1", "call 1 has one already"),
        Repair("duplicate-result", "/messages/4/1", "call 1 has one already"),
    )


def test_a_result_behind_a_later_step_or_before_its_call_moves_to_its_step() -> None:
    late, early = result("1", "late", at=4), result("2", "early", at=0)
    turns = (told(early, at=0), said(call("1"), at=1), said(call("2"), at=3), told(late, at=4), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (turns[1], told(late, at=4), turns[2], told(early, at=0), B)
    assert repairs == (
        Repair("result-out-of-order", "/messages/4/1", "moved to its call 1"),
        Repair("result-out-of-order", "/messages/0/2", "moved to its call 2"),
    )


def test_of_two_results_before_their_call_the_first_stays() -> None:
    first, second = result("1", "one", at=0), result("1", "two", at=0)
    turns = (told(first, second, at=0), A, said(call("1"), at=2), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[2], told(first, at=0), B)
    assert [one.name for one in repairs] == ["duplicate-result", "result-out-of-order"]


def test_text_between_calls_and_results_moves_behind_them() -> None:
    turns = (said(call("1"), call("2")), told(result("1", at=1), at=1), B, user("c", 8), told(result("2", at=3), at=3))
    done, repairs = repair_history(turns, STRICT)
    assert done == (turns[0], told(result("1", at=1), result("2", at=3), at=1), B, turns[3])
    assert repairs == (
        Repair("interleaved-text", "/messages/9", "moved behind the results"),
        Repair("interleaved-text", "/messages/8", "moved behind the results"),
    )


def test_what_is_no_result_among_results_stays_where_it_is() -> None:
    odd = Opaque("gemini", "odd", Raw(b"{}"))
    turns = (
        said(call("1"), call("2")),
        told(result("1", at=1), at=1),
        B,
        told(odd, at=3),
        A,
        told(result("2", at=5), at=5),
    )
    done, repairs = repair_history(turns, STRICT)
    assert done == (turns[0], told(result("1", at=1), result("2", at=5), at=1), B, told(odd, at=3), A)
    assert [one.path for one in repairs] == ["/messages/9", "/messages/0"]


def test_where_results_may_stand_anywhere_behind_the_call_nothing_moves() -> None:
    turns = (said(call("1")), B, told(result("1")))
    assert repair_history(turns, LOOSE)[0] is turns


def test_fields_of_a_turn_whose_results_move_go_along() -> None:
    extra = {"anthropic": {"odd": Raw(b"1")}}
    turns = (said(call("1")), B, Turn("tool", (result("1", at=3),), extra=extra, at=("messages", 3)))
    done, _ = repair_history(turns, STRICT)
    assert done == (turns[0], turns[2], B)


def test_results_of_one_step_in_several_turns_are_joined_where_sides_alternate() -> None:
    results = told(result("1", at=1), result("2", at=2), at=1)
    turns = (A, said(call("1", at=1), call("2", at=1), at=1), results)
    done, repairs = repair_history(turns, TURNS)
    assert done == turns
    assert repairs == (Repair("split-results", "/messages/2", "joined with the turn before"),)
    assert [part.at[:2] for part in rehomed(done)[2].parts] == [("messages", 1), ("messages", 1)]
    assert repair_history(turns, STRICT)[0] is turns


def test_neighbours_of_one_side_are_joined_where_sides_alternate() -> None:
    turns = (A, user("b", 1), said("x", at=2), said(call("1", at=3), at=3), told(result("1", at=4), at=4), user("c", 5))
    done, repairs = repair_history(turns, TURNS)
    assert [one.path for one in repairs] == ["/messages/1", "/messages/3", "/messages/5"]
    assert {one.name for one in repairs} == {"wrong-alternation"}
    assert done[2] == Turn("assistant", (*turns[2].parts, *turns[3].parts), at=("messages", 2))
    homes = [turn.at for turn in rehomed(done)]
    assert homes == [("messages", 0), ("messages", 0), ("messages", 2), ("messages", 4), ("messages", 4)]
    assert repair_history(turns, STRICT)[0] is turns


def test_fields_of_joined_turns_are_joined_too() -> None:
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
    said_of_b = "joined with the turn before, of whose b one is left"
    assert repairs == (Repair("wrong-alternation", "/messages/2", said_of_b),)


def test_a_turn_of_a_role_nobody_knows_belongs_to_no_side() -> None:
    whole = Opaque("gemini", "robot", Raw(b"{}"), at=("messages", 1))
    turns = (A, Turn("user", (whole,), at=("messages", 1)), user("c", 2))
    assert repair_history(turns, TURNS)[0] is turns
    assert rehomed(turns) == turns


def test_empty_texts_and_turns_are_left_out() -> None:
    extra = {"anthropic": {"odd": Raw(b"1")}}
    empty = Text("", extra=extra, at=("messages", 1, 0))
    turns = (A, said(empty, "x", at=1), user("", 2), Turn("assistant", (), at=("messages", 3)), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, said("x", at=1), B)
    assert repairs == (
        Repair("empty-part", "/messages/1/0", "a text, and with it odd"),
        Repair("empty-turn", "/messages/2", "of the user"),
        Repair("empty-turn", "/messages/3", "of the assistant"),
    )


def test_where_empty_texts_are_taken_only_turns_without_anything_go() -> None:
    turns = (A, user("", 2), Turn("assistant", (), at=("messages", 3)), B)
    done, repairs = repair_history(turns, HistoryRequirements())
    assert done == (A, turns[1], B)
    assert repairs == (Repair("empty-turn", "/messages/3", "of the assistant"),)


def test_an_empty_turn_with_fields_of_its_own_stays() -> None:
    turns = (A, Turn("assistant", (), extra={"openai-chat": {"audio": Raw(b"{}")}}), B)
    assert repair_history(turns, HistoryRequirements())[0] is turns


def test_an_empty_last_turn_of_the_assistant_stays_where_it_is_taken() -> None:
    turns = (A, Turn("assistant", ()))
    assert repair_history(turns, HistoryRequirements(empty_last=True))[0] is turns
    assert repair_history(turns, HistoryRequirements())[0] == (A,)


def test_an_empty_text_in_the_list_of_a_result_is_left_out_but_not_an_empty_result() -> None:
    inner = Text("", at=("messages", 2, "content", 0, "content", 0))
    listed = ToolResult("1", (inner,), at=("messages", 2, "content", 0))
    plain = ToolResult("2", (Text("", at=("messages", 2, "content", 1, "content")),), at=("messages", 2, "content", 1))
    turns = (A, said(call("1"), call("2")), told(listed, plain, at=2))
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, turns[1], told(ToolResult("1", (), at=listed.at), plain, at=2))
    assert repairs == (Repair("empty-part", "/messages/2/content/0/content/0", "a text"),)
    assert repair_history(turns, HistoryRequirements())[0] is turns


def test_thinking_without_its_seal_is_left_out_where_it_is_demanded() -> None:
    bare = Reasoning("hm", at=("messages", 1, 0))
    turns = (A, said(bare, "x", at=1), said(bare, at=2), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, said("x", at=1), B)
    assert repairs == (Repair("unsealed-thinking", "/messages/1/0", "2 characters"),)
    assert repair_history((A, said(bare, "x", at=1)), HistoryRequirements())[1] == ()


def test_a_seal_of_somebody_else_is_a_seal() -> None:
    turns = (A, said(Reasoning("hm", seal=Seal("openai-chat", "")), "x"), B)
    assert repair_history(turns, STRICT)[0] is turns


def test_thinking_that_leads_to_nothing_is_left_out() -> None:
    turns = (A, said(thought("alone", 1), at=1), B, said("x", thought("last", 3), at=3), B)
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, B, said("x", at=3), B)
    assert repairs == (
        Repair("stranded-thinking", "/messages/1/alone", "it leads to nothing"),
        Repair("stranded-thinking", "/messages/3/last", "it leads to nothing"),
    )
    assert repair_history(turns, TURNS)[0] is turns


def test_thinking_behind_the_calls_it_led_to_moves_before_them() -> None:
    turns = (A, said(thought("1"), call("1"), "x", call("2"), thought("2", 1), at=1), told(result("1"), result("2")))
    done, repairs = repair_history(turns, STRICT)
    assert done[1] == said(thought("1"), thought("2", 1), call("1"), "x", call("2"), at=1)
    assert repairs == (Repair("thinking-out-of-place", "/messages/1/2", "moved before the calls it led to"),)


def test_thinking_between_calls_stays() -> None:
    turns = (A, said(thought("1"), call("1"), thought("2"), call("2")), told(result("1"), result("2")))
    assert repair_history(turns, STRICT)[0] is turns


def test_a_call_that_breaks_off_is_left_out_and_nothing_else() -> None:
    turns = (A, said("x", call("1", at=1), call("2", '{"path": "/et', at=1), at=1))
    assert repair_history((turns[0], said(call("3", "{"), at=3), turns[1]), STRICT)[0] == (
        A,
        said("x", call("1", at=1), at=1),
    )
    done, repairs = repair_history(turns, STRICT)
    assert done == (A, said("x", call("1", at=1), at=1))
    assert repairs == (Repair("truncated-call", "/messages/1/2", "call 2 of tool: its arguments break off"),)


def test_a_call_that_breaks_off_stays_if_it_was_answered_or_is_free_text() -> None:
    turns = (A, said(call("1", '{"path": "/et')), told(result("1", "bad arguments")), said(call("2", "{", custom=True)))
    assert repair_history(turns, STRICT)[0] is turns


@pytest.mark.parametrize(
    "text", ["{", '{"a', '{"a":', '{"a": "b\\', '{"a": "b\\"', '{"a":1.', '{"a":[1,{"b":2}', ' {"a":1']
)
def test_what_breaks_off(text: str) -> None:
    assert is_cut(text)


@pytest.mark.parametrize("text", ["", " ", "{}", '{"a":1}', '{"a":1}}', "nonsense", "[1", '"a', "null", '{"a" "b"}'])
def test_what_does_not_break_off(text: str) -> None:
    assert not is_cut(text)


def test_calls_with_one_id_are_told_apart_and_their_results_with_them() -> None:
    turns = (
        A,
        said(call("1", '{"n":1}', at=1), call("1", '{"n":2}', at=2), at=1),
        told(result("1", "one", at=3), result("1", "two", at=3), at=3),
        said(call("1", '{"n":3}', at=4), at=4),
        told(result("1", "three", at=5), at=5),
    )
    done, repairs = repair_history(turns, STRICT)
    ids = [part.id for turn in done for part in turn.parts if isinstance(part, ToolCall)]
    assert ids == ["1", hashed("1\x1f1"), hashed("1\x1f2")]
    answers = [(part.call_id, part.parts[0]) for turn in done for part in turn.parts if isinstance(part, ToolResult)]
    assert [one[0] for one in answers] == ids
    assert [text.text for _, text in answers if isinstance(text, Text)] == ["one", "two", "three"]
    assert repairs == (
        Repair("duplicate-id", "/messages/2/1", f"1 is {ids[1]} now"),
        Repair("duplicate-id", "/messages/4/1", f"1 is {ids[2]} now"),
    )
    assert repair_history(done, STRICT)[0] is done
    assert [one.path for one in repair_history(turns, HistoryRequirements())[1]] == ["/messages/2/1"]


def test_a_made_id_is_not_one_that_is_taken() -> None:
    taken = hashed("1\x1f1")
    turns = (A, said(call("1"), call("1", at=1), call(taken)))
    done, _ = repair_history(turns, STRICT)
    assert [part.id for part in done[1].parts if isinstance(part, ToolCall)] == ["1", hashed(taken), taken]


def test_a_result_has_the_kind_of_its_call_where_kinds_are_told_apart() -> None:
    turns = (A, said(call("1", custom=True)), told(result("1", at=2), at=2))
    done, repairs = repair_history(turns, LOOSE)
    fitted = ToolResult("1", result("1", at=2).parts, "tool", custom=True, at=("messages", 2, "1"))
    assert done == (A, turns[1], told(fitted, at=2))
    assert repairs == (Repair("result-kind", "/messages/2/1", "call 1 is one of a custom tool"),)
    assert repair_history(turns, STRICT)[0] is turns


def test_paths_are_spelled_as_in_the_source_and_losses_reported_on_request() -> None:
    context = Context("gemini", "anthropic")
    context.spelled = {("messages", 1, "1"): "one"}
    context.within = ("request",)
    turns = (A, said(call("1", at=1), at=1), user("", 2), B)
    _, repairs = repair_history(turns, STRICT, context=context, losing=True)
    assert [one.path for one in repairs] == ["/request/messages/2", "/request/messages/1/one"]
    assert [(loss.code, loss.path) for loss in context.losses.all()] == [("result.invented", "/request/messages/1/one")]


def test_a_history_that_is_sound_needs_no_repair_in_any_dialect() -> None:
    call, result = ToolCall("c1", "f", "{}"), ToolResult("c1", (Text("done"),))
    talk = (Turn("user", (Text("a"),)), Turn("assistant", (Text("b"), call)), Turn("tool", (result,)))
    for name in names():
        assert sound(talk, get(name).requirements, Context("a", "b"))
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
def test_what_may_be_broken_is_not_called_sound(turns: tuple[Turn, ...]) -> None:
    assert not sound(turns, HistoryRequirements(alternate=True), Context("a", "b"))
