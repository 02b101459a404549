"""The facts about a history are the same, whatever number of its turns was known before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.canon.parts import Opaque, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.turns import Turn
from dragoman.codec.history_facts import history_facts
from dragoman.codec.json_text import raw

_IDS = st.sampled_from(["", "a", "b", "c", "d", "x" * 65])
_PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, st.sampled_from(["", "hi"]), seal=st.sampled_from([None, None, Seal("d", "s")])),
    st.builds(ToolCall, _IDS, st.just("f"), custom=st.booleans()),
    st.builds(ToolResult, _IDS, custom=st.booleans()),
    st.builds(Reasoning),
    st.just(Opaque("d", "k", raw({}))),
)
_TURNS = st.lists(
    st.builds(
        Turn,
        st.sampled_from(["system", "user", "assistant", "tool"]),
        st.lists(_PARTS, max_size=3).map(tuple),
        at=st.integers(0, 3).map(lambda i: ("messages", i)),
    ),
    max_size=6,
).map(tuple)


@given(_TURNS, st.integers(0, 6))
def test_facts_grow_with_the_history(turns: tuple[Turn, ...], known: int) -> None:
    known = min(known, len(turns))
    past = history_facts(turns[:known])
    whole, grown = history_facts(turns), history_facts(turns, known, past)
    for name in ("turns", "foreign_seals", "has_opaque", "arranged", "open_calls", "alternates"):
        if name == "open_calls" and past.calls is None:
            continue  # If two calls share an id, later facts are unknown.
        assert getattr(grown, name) == getattr(whole, name), name
    if past.calls is not None:
        assert (grown.calls is None) == (whole.calls is None)
        assert frozenset[str]().union(*grown.calls or ()) == frozenset[str]().union(*whole.calls or ())


def test_the_facts_of_a_sound_history_include_its_open_calls() -> None:
    asked = Turn("assistant", (Text("look"), ToolCall("a", "f"), ToolCall("b", "f")), at=("messages", 1))
    told = Turn("tool", (ToolResult("a", (Text("1"),)), ToolResult("b", (Text("2"),))), at=("messages", 2))
    user = Turn("user", (Text("hi"),), at=("messages", 0))
    found = history_facts((user, asked))
    assert (found.open_calls, found.calls, found.arranged, found.alternates) == (
        ("a", "b"),
        (frozenset("ab"),),
        True,
        True,
    )
    assert history_facts((user, asked, told)).open_calls == ()
    assert history_facts((user, told)).open_calls is None
    assert not history_facts((user, told)).arranged
    assert history_facts((user, asked, asked)).calls is None
    assert history_facts((user, user)).alternates  # one message, in two turns
    assert not history_facts((user, Turn("user", user.parts, at=("messages", 1)))).alternates
