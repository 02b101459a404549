"""ToolMemo: declarations that are translated without a loss are read and written once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon.tools import HostedTool, Tool
from dragoman.codec import tool_declaration_cache
from dragoman.codec.tool_declaration_cache import ToolMemo
from dragoman.context import Context
from dragoman.facts.profile import Profile


class Reader:
    """A reader and a writer that record every call."""

    def __init__(self) -> None:
        self.read: list[bytes] = []
        self.written: list[tuple[Tool | HostedTool, ...]] = []
        self.memo = ToolMemo("target", self.reader, self.writer)

    def reader(self, body: bytes, context: Context) -> tuple[Tool | HostedTool, ...]:
        self.read.append(body)
        if b"keep" in body:
            context.keep((), {"x": Raw(b"1")})
        return (Tool(body.decode()),)

    def writer(self, tools: Iterable[Tool | HostedTool], context: Context) -> list[Any]:
        tools = tuple(tools)
        self.written.append(tools)
        names = [tool.name for tool in tools if isinstance(tool, Tool)]
        if "lossy" in names:
            context.lose("tool.deferred.expanded")
        if "renamed" in names:
            context.renamed["r"] = ("", "renamed")
        if not context.profile.thinks:
            names.append("thoughtless")
        return names


_PROFILES = {thinks: Profile(thinks=thinks) for thinks in (True, False)}


def _context(thinks: bool = True, target: str = "target") -> Context:
    return Context("source", target, profile=_PROFILES[thinks])


def test_the_same_bytes_give_the_same_tuple() -> None:
    reader = Reader()
    first, second = (reader.memo.read(Raw(b"tool"), _context()) for _ in range(2))
    assert first == (Tool("tool"),)
    assert first is second
    assert reader.read == [b"tool"]


def test_fields_that_are_kept_aside_are_kept_aside_every_time() -> None:
    reader = Reader()
    for _ in range(2):
        context = _context()
        assert reader.memo.read(Raw(b"keep"), context) == (Tool("keep"),)
        assert context.kept == [((), {"x": Raw(b"1")})]


def test_large_declarations_are_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_declaration_cache, "MAX_BYTES", 3)
    reader = Reader()
    assert reader.memo.read(Raw(b"tool"), _context()) == reader.memo.read(Raw(b"tool"), _context())
    assert reader.read == [b"tool", b"tool"]


def test_the_same_tools_are_written_once() -> None:
    reader = Reader()
    tools = (Tool("a"),)
    assert [reader.memo.write(tools, _context()) for _ in range(2)] == [Raw(b'["a"]')] * 2
    assert reader.written == [tools]
    equal = (Tool("a"),)
    assert reader.memo.write(equal, _context()) == Raw(b'["a"]')


def test_another_profile_is_written_separately() -> None:
    reader = Reader()
    tools = (Tool("a"),)
    assert reader.memo.write(tools, _context()) == Raw(b'["a"]')
    assert reader.memo.write(tools, _context(thinks=False)) == Raw(b'["a","thoughtless"]')


@pytest.mark.parametrize("name", ["lossy", "renamed"])
def test_losses_and_renamings_are_noted_every_time(name: str) -> None:
    reader = Reader()
    tools = (Tool(name),)
    for _ in range(2):
        context = _context()
        assert reader.memo.write(tools, context) == [name]
        assert (len(context.losses), len(context.renamed)) == (name == "lossy", name == "renamed")


@pytest.mark.parametrize("name", ["lossy", "renamed"])
def test_tools_with_losses_are_written_once_by_the_first_call(name: str) -> None:
    reader = Reader()
    tools = (Tool(name),)
    assert reader.memo.write(tools, _context()) == [name]
    assert reader.written == [tools]


def test_tools_with_an_already_noted_loss_are_not_cached() -> None:
    reader = Reader()
    tools = (Tool("lossy"),)
    context = _context()
    context.lose("tool.deferred.expanded")
    assert reader.memo.write(tools, context) == ["lossy"]
    assert len(context.losses) == 1
    later = _context()
    reader.memo.write(tools, later)
    assert len(later.losses) == 1


def test_related_dialects_with_this_cache_note_their_own_losses() -> None:
    reader = Reader()
    tools = (Tool("lossy"),)
    context = _context(target="kin")
    assert reader.memo.write(tools, context) == ["lossy"]
    assert len(context.losses) == 1
