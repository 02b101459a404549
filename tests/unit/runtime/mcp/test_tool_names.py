"""Names of the tools of MCP servers: legal, short, unique."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from dragoman.runtime.mcp.tool_names import LONGEST, choose_name, legal_name, qualified_name

LEGAL = re.compile(r"[A-Za-z0-9_.-]*")


def test_illegal_characters_become_underscores() -> None:
    assert legal_name("read file!/ä") == "read_file___"
    assert legal_name("a.b-c_D9") == "a.b-c_D9"


def test_a_name_that_is_too_long_loses_its_middle() -> None:
    name = "a" * 28 + "b" * 4 + "c" * 32
    assert len(name) == 64
    assert legal_name(name) == "a" * 28 + "___" + "c" * 32
    assert legal_name(name[1:]) == name[1:]


def test_a_tool_has_its_own_name_unless_the_name_is_taken() -> None:
    assert choose_name("pythonTools", "validTool", ()) == "validTool"
    assert choose_name("pythonTools", "validTool", {"validTool"}) == "pythonTools__validTool"


def test_two_names_that_become_equal_differ_by_a_hash() -> None:
    taken = {"a_b", "s__a_b"}
    first, second = choose_name("s", "a b", taken), choose_name("s", "a!b", taken)
    assert first != second
    assert first.startswith("s__a_b_") and second.startswith("s__a_b_")
    assert choose_name("s", "a b", taken) == first


@given(st.text(max_size=90), st.text(max_size=90))
def test_every_name_is_legal_and_short(server: str, tool: str) -> None:
    names = [legal_name(tool), qualified_name(server, tool)]
    names.append(choose_name(server, tool, set(names)))
    for name in names:
        assert LEGAL.fullmatch(name) and len(name) <= LONGEST
    assert names[2] not in names[:2]


@given(st.lists(st.tuples(st.text("ab! .", max_size=4), st.text("ab! .", min_size=1, max_size=4)), unique=True))
def test_tools_of_any_servers_have_different_names(keys: list[tuple[str, str]]) -> None:
    taken: set[str] = set()
    for server, tool in keys:
        name = choose_name(server, tool, taken)
        assert name not in taken
        taken.add(name)
