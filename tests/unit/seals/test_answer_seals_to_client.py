"""Seals to the client and back, part by part: the parts that carry seals, and the effect of changes by the client."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.canon import Fault, Finish, PartDelta, PartEnd, PartStart, Request, Response, Start, Stop, Turn
from dragoman.canon.events import Event
from dragoman.canon.fold_and_unfold import fold
from dragoman.canon.parts import Citation, Media, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.codec import packed_seals
from dragoman.codec.packed_seals import Origin
from dragoman.context import Context
from dragoman.seals.answer_seals_to_client import SealPlan, place_seals
from dragoman.seals.conversation_digest import ConversationDigest
from dragoman.seals.request_seals_to_upstream import SealTarget, restore_seals
from dragoman.seals.stream_seals_to_client import SealStream
from dragoman.seals.vault import MemoryVault

USER_TURNS = (Turn("user", (Text("q"),)),)
WAYS = ("thoughts", "parts", "id", "vault", "list")
ORIGIN = Origin("up", "m-1")
MINE = Seal("up", "c2VhbA==")


def s(name: str) -> Seal:
    return Seal("up", f"seal of {name}", model="m-1")


def _plan(way: Any, **more: Any) -> SealPlan:
    vault = MemoryVault() if way == "vault" else None
    return SealPlan(
        way, ORIGIN, "up", vault=vault, counts=way != "thoughts", history=ConversationDigest(USER_TURNS), **more
    )


def _carried(parts: tuple[Part, ...], plan: SealPlan, context: Context | None = None) -> tuple[Part, ...]:
    under = context or Context("up", "client")
    return place_seals(Response(parts, Stop("stop")), plan, under).parts


def _back(
    parts: tuple[Part, ...], plan: SealPlan, origin: Origin = ORIGIN, *, skip: bool = False
) -> tuple[tuple[Part, ...], list[str]]:
    context = Context("client", "up")
    request = Request((*USER_TURNS, Turn("assistant", parts)))
    out = restore_seals(request, SealTarget(origin, "up", plan.vault, skip), context)
    return out.turns[1].parts, [loss.code for loss in context.losses.all()]


def _joined(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts as a client of Chat or Ollama stores them: no thoughts, one text, then the calls."""
    text = "".join([part.text for part in parts if isinstance(part, Text)])
    calls = [part for part in parts if isinstance(part, ToolCall)]
    return (*([Text(text)] if text else []), *calls)


TURNS: dict[str, tuple[Part, ...]] = {
    "a call": (ToolCall("c1", "f", "{}", seal=s("c1")),),
    "parallel calls": (ToolCall("c1", "f", seal=s("c1")), ToolCall("c2", "f"), ToolCall("c3", "f", seal=s("c3"))),
    "a thought and a call": (Reasoning("hm", seal=s("t")), ToolCall("c1", "f", seal=s("c1"))),
    "thoughts between calls": (
        Reasoning("one", seal=s("t1")),
        Reasoning("", seal=Seal("up", "red", "redacted", "m-1")),
        ToolCall("c1", "f"),
        Reasoning("two", seal=s("t2")),
        ToolCall("c2", "f"),
    ),
    "a text and a call": (Text("Look.", seal=s("x")), ToolCall("c1", "f", seal=s("c1"))),
    "two texts, the second sealed": (Text("One. "), Text("Two.", seal=s("x")), ToolCall("c1", "f")),
    "two texts, the first sealed": (Text("One. ", seal=s("x")), Text("Two."), ToolCall("c1", "f")),
    "an id that is not legal everywhere": (ToolCall("f.1:x/ü", "f", seal=s("c1")),),
}
ENDS: dict[str, tuple[Part, ...]] = {
    "a text": (Text("Done.", seal=s("x")),),
    "an empty last text": (Text("Done."), Text("", seal=s("x"))),
    "a thought and a text": (Reasoning("hm", seal=s("t")), Text("Done.")),
    "a thought after a text": (Text("Well. "), Reasoning("hm", seal=s("t")), Text("Done.")),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("parts", [pytest.param(parts, id=name) for name, parts in TURNS.items()])
def test_every_seal_comes_back(parts: tuple[Part, ...], way: str) -> None:
    plan = _plan(way)
    assert _back(_carried(parts, plan), plan) == (parts, [])


@pytest.mark.parametrize("way", ["thoughts", "parts", "vault"])
@pytest.mark.parametrize("parts", [pytest.param(parts, id=name) for name, parts in ENDS.items()])
def test_seals_without_a_following_call_come_back(parts: tuple[Part, ...], way: str) -> None:
    plan = _plan(way)
    assert _back(_carried(parts, plan), plan) == (parts, [])


@pytest.mark.parametrize("way", ["id", "vault"])
@pytest.mark.parametrize("parts", [pytest.param(parts, id=name) for name, parts in TURNS.items()])
def test_seals_come_back_from_clients_that_keep_only_a_text_and_calls(parts: tuple[Part, ...], way: str) -> None:
    plan = _plan(way)
    assert _back(_joined(_carried(parts, plan)), plan) == (parts, [])


@pytest.mark.parametrize("parts", [pytest.param(parts, id=name) for name, parts in ENDS.items()])
def test_seals_in_the_vault_come_back_without_a_call(parts: tuple[Part, ...]) -> None:
    plan = _plan("vault")
    assert _back(_joined(_carried(parts, plan)), plan) == (parts, [])


@pytest.mark.parametrize("parts", [pytest.param(parts, id=name) for name, parts in ENDS.items()])
def test_an_id_carries_nothing_without_a_call(parts: tuple[Part, ...]) -> None:
    context = Context("up", "client")
    assert all(part.seal is None for part in _carried(parts, _plan("id"), context))
    assert [loss.code for loss in context.losses.all()] == ["seal.dropped"]


def test_seals_after_the_last_call_are_kept_with_the_call() -> None:
    parts = (ToolCall("c1", "f", seal=s("c1")), Text("Wait.", seal=s("x")))
    plan = _plan("vault")
    assert _back(_carried(parts, plan), plan) == (parts, [])


@pytest.mark.parametrize("way", WAYS)
def test_a_dialect_without_places_for_thoughts_between_calls_keeps_the_seals(way: str) -> None:
    parts = TURNS["thoughts between calls"]
    plan = msgspec.structs.replace(_plan(way), ordered=False, counts=True)
    shown = _carried(parts, plan)
    thoughts = [part for part in shown if isinstance(part, Reasoning)]
    first = (*thoughts, *[part for part in shown if not isinstance(part, Reasoning)])
    assert _back(first, plan) == (parts, [])


@pytest.mark.parametrize("way", ["parts", "id", "vault"])
def test_thoughts_that_were_shown_are_not_restored_twice(way: str) -> None:
    parts = (Reasoning("one", seal=s("t1")), Reasoning("two", seal=s("t2")), ToolCall("c1", "f"))
    plan = _plan(way)
    _, _, call = _carried(parts, plan)
    assert _back((Reasoning("one\n\ntwo"), call), plan) == (parts, [])


def test_an_unsealed_thought_before_a_call_carries_the_seal_of_the_call() -> None:
    parts = (Reasoning("hm"), ToolCall("c1", "f", seal=s("c1")))
    plan = _plan("thoughts")
    thought, call = _carried(parts, plan)
    assert isinstance(thought, Reasoning)
    assert thought.text == "hm"
    assert call == ToolCall("c1", "f")
    back, lost = _back((thought, call), plan)
    assert (back, lost) == ((Reasoning("hm", seal=Seal("up", "", model="m-1")), parts[1]), [])


def test_a_thought_without_a_seal_has_its_origin() -> None:
    (thought,) = _carried((Reasoning("hm"),), _plan("thoughts"))
    assert thought.seal == Seal("up", "", model="m-1")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("origin", [Origin("up", "m-2"), Origin("down", "m-1")])
@pytest.mark.parametrize("parts", [pytest.param(parts, id=name) for name, parts in TURNS.items()])
def test_another_upstream_or_model_gets_no_seal(parts: tuple[Part, ...], origin: Origin, way: str) -> None:
    plan = _plan(way)
    back, lost = _back(_carried(parts, plan), plan, origin)
    left = [part.seal for part in back if part.seal is not None]
    # A thought may keep its own seal in its own slot. A writer of another dialect refuses this seal.
    assert all(seal.dialect == "up" != origin.dialect for seal in left)
    if way == "vault":
        assert origin.model != "m-2" or not lost, "a seal under another key is not found"
    else:
        sealed = [part for part in parts if part.seal is not None]
        assert lost == (["seal.dropped"] if len(sealed) > len(left) else [])
    assert [part.id for part in back if isinstance(part, ToolCall)] == [
        part.id for part in parts if isinstance(part, ToolCall)
    ]


@pytest.mark.parametrize("way", ["thoughts", "parts", "id"])
def test_skip_restores_ids_and_nothing_else(way: str) -> None:
    plan = _plan(way)
    back, lost = _back(_carried(TURNS["parallel calls"], plan), plan, skip=True)
    assert back == (ToolCall("c1", "f"), ToolCall("c2", "f"), ToolCall("c3", "f"))
    assert lost == ["seal.dropped"]


def test_a_changed_text_has_no_seal() -> None:
    plan = _plan("thoughts")
    carrier, _ = _carried((Text("Done.", seal=s("x")),), plan)
    assert _back((carrier, Text("Done!")), plan) == ((Text("Done!"),), ["seal.dropped"])


def test_a_removed_call_has_no_seal() -> None:
    plan = _plan("thoughts")
    carrier, _ = _carried(TURNS["a call"], plan)
    assert _back((carrier, ToolCall("c2", "f")), plan) == ((ToolCall("c2", "f"),), ["seal.dropped"])


def test_a_text_with_citations_is_not_cut() -> None:
    plan = _plan("vault")
    _carried(TURNS["two texts, the second sealed"], plan)
    cited = Text("One. Two.", citations=(Citation("https://a.b"),))
    assert _back((cited, ToolCall("c1", "f")), plan) == ((cited, ToolCall("c1", "f")), ["seal.dropped"])


def test_a_cut_text_keeps_its_cache_mark_at_its_end() -> None:
    plan = _plan("vault")
    _carried(TURNS["two texts, the first sealed"], plan)
    back, lost = _back((Text("One. Two.", cache="5m"), ToolCall("c1", "f")), plan)
    assert back[:2] == (Text("One. ", seal=s("x")), Text("Two.", cache="5m"))
    assert lost == []


def test_results_get_the_ids_of_their_calls() -> None:
    packed = packed_seals.pack_id("c1", ())
    turns = (Turn("tool", (ToolResult(packed, (Text("20"),)), ToolResult("c2"))),)
    out = restore_seals(Request(turns), SealTarget(ORIGIN, "up"), Context("client", "up"))
    assert out.turns[0].parts == (ToolResult("c1", (Text("20"),)), ToolResult("c2"))


def test_other_parts_pass_without_their_seal() -> None:
    image = Media("image", "image/png", "AAAA", seal=MINE)
    context = Context("up", "client")
    response = Response((image, ToolCall("c1", "f", seal=s("c1"))), Stop("tool_calls"))
    assert place_seals(response, _plan("vault"), context).parts[0] == Media("image", "image/png", "AAAA")
    assert "seal.dropped" in [loss.code for loss in context.losses.all()]


def test_parts_without_seals_stay_the_same_object() -> None:
    parts = (Text("Look."), ToolCall("c1", "f"))
    for way in WAYS:
        assert _carried(parts, _plan(way)) is parts


def test_the_seal_slot_of_a_dialect_is_used_too() -> None:
    plan = _plan("left", call_slots=frozenset({"up"}))
    call, text = _carried((ToolCall("c1", "f", seal=s("c1")), Text("x", seal=s("x"))), plan)
    assert call.seal is not None
    assert call.seal.dialect == packed_seals.BUNDLE
    assert text.seal == s("x"), "the writer reports this seal"


# The same in streams.


def _streamed(parts: tuple[Part, ...], plan: SealPlan, *, late: bool) -> list[Event]:
    """An answer as a stream. `late`: the seals of thoughts are at the ends of the thoughts."""
    seal_stream = SealStream(plan, Context("up", "client"))
    events: list[Event] = [Start("r", "m-1")]
    for index, part in enumerate(parts):
        empty: Any = part
        text, seal = "", None
        if isinstance(part, Text | Reasoning):
            text, empty = part.text, msgspec.structs.replace(part, text="")
        elif isinstance(part, ToolCall):
            text, empty = part.arguments, msgspec.structs.replace(part, arguments="")
        if late and isinstance(part, Reasoning):
            seal, empty = part.seal, msgspec.structs.replace(empty, seal=None)
        events.append(PartStart(index, empty))
        events += [PartDelta(index, character) for character in text]
        if seal is not None:
            events.append(PartDelta(index, "", seal))
        events.append(PartEnd(index))
    events.append(Finish(Stop("stop")))
    return seal_stream.feed(events)


@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("parts", [pytest.param(parts, id=name) for name, parts in (TURNS | ENDS).items()])
def test_a_stream_carries_the_same_seals_as_the_whole_answer(parts: tuple[Part, ...], way: str, late: bool) -> None:
    plan, other = _plan(way), _plan(way)
    folded = fold(_streamed(parts, plan, late=late))
    assert isinstance(folded, Response)
    whole = _carried(parts, other)
    assert tuple([part for part in folded.parts if part != Reasoning()]) == whole
    assert plan.vault == other.vault


def test_texts_without_a_seal_are_not_held() -> None:
    for way in WAYS:
        events = _streamed((Text("Done."), ToolCall("c1", "f", "{}", seal=s("c1"))), _plan(way), late=False)
        assert [event.text for event in events if isinstance(event, PartDelta)][:5] == list("Done.")


def test_a_fault_ends_the_held_part() -> None:
    seal_stream = SealStream(_plan("thoughts"), Context("up", "client"))
    events: list[Event] = [Start(), PartStart(0, Reasoning()), PartDelta(0, "hm"), PartEnd(0)]
    assert not any(isinstance(event, PartEnd) for event in seal_stream.feed(events))
    fault = Fault("server", "broke")
    assert seal_stream.feed([fault]) == [PartDelta(0, "", Seal("up", "", model="m-1")), PartEnd(0), fault]


def test_seals_of_two_answers_do_not_mix() -> None:
    seal_stream = SealStream(_plan("parts"), Context("up", "client"))
    events: list[Event] = [Start()]
    for answer in (0, 1):
        events += [PartStart(answer, Reasoning(seal=s(f"t{answer}")), answer), PartEnd(answer)]
    for answer in (1, 0):
        events += [PartStart(2 + answer, ToolCall(f"c{answer}", "f"), answer), PartEnd(2 + answer)]
    folded = fold(
        [*seal_stream.feed(events), *seal_stream.feed([Finish(Stop("stop"), answer=n, last=n == 1) for n in (0, 1)])]
    )
    assert isinstance(folded, Response)
    for parts, name in ((folded.parts, "t0"), (folded.alternatives[0].parts, "t1")):
        (call,) = [part for part in parts if isinstance(part, ToolCall)]
        assert call.seal is not None
        assert s(name).data in call.seal.data


# Random turns.

_KINDS = st.lists(
    st.tuples(st.sampled_from(("text", "thought", "call")), st.booleans(), st.booleans()), min_size=1, max_size=9
)


def _turn(kinds: list[tuple[str, bool, bool]]) -> tuple[Part, ...]:
    """Parts with different texts, seals and ids. A part without a seal always has a text."""
    parts: list[Part] = []
    for number, (kind, sealed, wordy) in enumerate(kinds):
        seal = s(f"<{number}>") if sealed else None
        words = f"<{kind} {number}>" if wordy or not sealed else ""
        if kind == "text":
            parts.append(Text(words, seal=seal))
        elif kind == "thought":
            parts.append(Reasoning(words, seal=seal))
        else:
            parts.append(ToolCall(f"c{number}", "f", "{}", seal=seal))
    return tuple(parts)


def _lasting(parts: tuple[Part, ...]) -> list[Part]:
    """The parts without unsealed thoughts. The place of such a thought is not kept."""
    return [part for part in parts if not isinstance(part, Reasoning) or (part.seal is not None and part.seal.data)]


@given(_KINDS)
def test_a_turn_returns_whole_from_a_client_that_keeps_its_order(kinds: list[tuple[str, bool, bool]]) -> None:
    parts = _turn(kinds)
    for way in ("thoughts", "parts", "vault"):
        plan = _plan(way)
        back, lost = _back(_carried(parts, plan), plan)
        assert (_lasting(back), lost) == (_lasting(parts), []), way


@given(_KINDS)
def test_seals_return_from_a_client_that_keeps_one_text_and_the_calls(kinds: list[tuple[str, bool, bool]]) -> None:
    """Seals and their parts are restored; texts and calls stand in the client's order."""
    parts = tuple(_lasting(_turn(kinds)))
    plan = _plan("vault")
    back, lost = _back(_joined(_carried(parts, plan)), plan)
    assert lost == []
    assert {part for part in back if part.seal is not None} == {part for part in parts if part.seal is not None}
    thoughts = [part for part in parts if isinstance(part, Reasoning)]
    assert [part for part in back if isinstance(part, Reasoning)] == thoughts
    assert _joined(back) == _joined(parts)


@given(_KINDS, st.booleans())
def test_a_streamed_turn_has_the_parts_and_seals_of_a_whole_one(
    kinds: list[tuple[str, bool, bool]], late: bool
) -> None:
    parts = _turn(kinds)
    for way in WAYS:
        plan, other = _plan(way), _plan(way)
        streamed = fold(_streamed(parts, plan, late=late))
        assert isinstance(streamed, Response)
        assert tuple([part for part in streamed.parts if part != Reasoning()]) == _carried(parts, other), way
        assert plan.vault == other.vault
