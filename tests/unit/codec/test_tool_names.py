"""Tool names: legal names are kept; illegal names are replaced by safe names, and restored in the answer."""

from __future__ import annotations

import re

import pytest
from msgspec import Raw

from dragoman.canon.losses import Loss
from dragoman.canon.request import Request
from dragoman.canon.tools import HostedTool, Tool
from dragoman.codec import tool_names
from dragoman.codec.tool_names import Names
from dragoman.context import Context

SAFE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,62}\Z")


def _names() -> Names:
    return Names(r"[a-zA-Z0-9_-]{1,64}")


@pytest.mark.parametrize("name", ["f", "read_file", "mcp__server-1__tool", "x" * 64, "9lives"])
def test_a_legal_name_is_kept(name: str) -> None:
    context = Context("anthropic", "openai-chat")
    kept = _names()
    assert [kept.send(name, "", context, ("tools", i)) for i in range(2)] == [name, name]
    assert context.losses.all() == ()
    assert context.renamed == {}


@pytest.mark.parametrize("name", ["", "a.b", "x" * 65, "grün", "öäü", "a b", "a\nb", "1.2", "___.", "日本", "-x.y"])
def test_an_illegal_name_becomes_a_safe_name(name: str) -> None:
    assert SAFE.match(_names().legal(name))


def test_invented_names_are_deterministic_and_different() -> None:
    assert _names().legal("a.b") == "a_b_2e7336dc8e"
    assert len({_names().legal(name) for name in ("a.b", "a b", "a_b", "a/b", "a..b")}) == 5
    assert _names().legal("x" * 70 + "1") != _names().legal("x" * 70 + "2")


def test_a_renamed_tool_is_a_loss_and_its_name_is_restored() -> None:
    context = Context("anthropic", "openai-chat")
    kept = _names()
    sent = kept.send("a.b", "", context, ("tools", 0))
    assert sent == "a_b_2e7336dc8e"
    assert kept.send("a.b", "", context, ("messages", 3)) == sent
    assert context.renamed == {sent: ("", "a.b")}
    assert context.losses.all() == (
        Loss("tool.renamed", "approximated", "info", "/tools/0", "a.b is sent as a_b_2e7336dc8e"),
    )


def test_a_namespace_is_written_before_the_name() -> None:
    context = Context("openai-responses", "openai-chat")
    assert _names().send("get", "crm", context, ("tools", 0)) == "crm__get"
    assert context.renamed == {"crm__get": ("crm", "get")}
    assert context.losses.all() == (
        Loss("tool.namespace.prefixed", "approximated", "info", "/tools/0", "crm/get is sent as crm__get"),
    )


def test_a_namespace_that_makes_the_name_illegal_is_a_renaming() -> None:
    context = Context("openai-responses", "openai-chat")
    sent = _names().send("get", "c.r.m", context, ())
    assert context.renamed == {sent: ("c.r.m", "get")}
    assert [loss.code for loss in context.losses.all()] == ["tool.renamed"]


def test_the_number_of_cached_names_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_names, "_REMEMBERED", 3)
    kept = _names()
    assert [kept.legal(f"n{i}") for i in range(10)] == [f"n{i}" for i in range(10)]


def test_the_name_of_the_client_is_always_legal_in_its_answer() -> None:
    context = Context("anthropic", "openai-chat", answers=Request(()))
    assert _names().send("a.b", "", context, ()) == "a.b"
    assert _names().send("b", "a", context, ()) == "a__b"
    assert context.renamed == {"a__b": ("a", "b")}


# Conflicts between the names of declared tools


def _reserved(*tools: tuple[str, str]) -> Context:
    context = Context("openai-responses", "openai-chat")
    declared = [Tool(name, namespace=namespace) for namespace, name in tools]
    tool_names.reserve([HostedTool("openai-responses", "web_search", Raw(b"{}")), *declared], context)
    return context


def test_a_tool_of_a_namespace_is_renamed_if_another_tool_has_its_name() -> None:
    context = _reserved(("a", "b"), ("", "a__b"))
    kept = _names()
    assert kept.send("a__b", "", context, ("tools", 1)) == "a__b"
    other = kept.send("b", "a", context, ("tools", 0))
    assert other == "a__b_f04cdced97"
    assert kept.send("b", "a", context, ("input", 3)) == other
    assert context.renamed == {"a__b": ("", "a__b"), other: ("a", "b")}
    assert [(loss.code, loss.path) for loss in context.losses.all()] == [("tool.renamed", "/tools/0")]


def test_two_tools_of_namespaces_with_the_same_spelling_are_both_renamed() -> None:
    context = _reserved(("a__b", "c"), ("a", "b__c"))
    kept = _names()
    sent = [kept.send("c", "a__b", context, ()), kept.send("b__c", "a", context, ())]
    assert sent == [kept.send("c", "a__b", context, ()), kept.send("b__c", "a", context, ())]
    assert len({*sent, "a__b__c"}) == 3
    assert all(SAFE.match(name) for name in sent)


def test_an_illegal_name_does_not_take_the_name_of_another_tool() -> None:
    context = _reserved(("", "a.b"), ("", "a_b_2e7336dc8e"))
    sent = _names().send("a.b", "", context, ())
    assert sent not in ("a.b", "a_b_2e7336dc8e")
    assert context.renamed[sent] == ("", "a.b")


@pytest.mark.parametrize("tools", [[("", "a"), ("", "b")], [("a", "b"), ("", "b")], [("", "a.b"), ("x", "a.b")], []])
def test_nothing_is_reserved_if_no_names_conflict(tools: list[tuple[str, str]]) -> None:
    assert _reserved(*tools).renamed == {}


def test_names_known_to_be_safe_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_names, "_REMEMBERED", 3)
    assert _reserved(*[("", f"n{i}") for i in range(10)]).renamed == {}


def test_a_choice_prefers_the_tool_without_a_namespace() -> None:
    first, plain, second = Tool("get", namespace="a"), Tool("get"), Tool("get", namespace="b")
    hosted = HostedTool("gemini", "googleSearch", Raw(b"{}"))
    assert tool_names.by_name((hosted, first, plain, second)) == {"get": plain}
    assert tool_names.by_name((hosted, first, second)) == {"get": first}
