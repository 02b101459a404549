"""The language of facts: each kind is true for a right value, and describes the difference for a wrong value."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import Loss
from dragoman.conform.judging.case_outcome_checks import CaseOutcome, LintedDocument, about_losses, judge
from dragoman.conform.judging.json_paths_and_exact_numbers import decode, dump, find_values
from dragoman.errors import ConfigError

TEXT = b"""{"a": [{"t": "x", "n": 1.50, "id": 1}, {"t": "y", "n": 2}, {"u": true}], "b": {"c~d": {"e/f": "deep"}},
"args": "{\\"z\\": 1.50, \\"a\\": []}", "cut": "{\\"z\\": ", "one": [1, {"k": 2}],
"two": [1, {"k": 2}, 3], "none": null}"""
DOCUMENT = decode(TEXT)
LOSS = Loss("seal.dropped", "dropped", "warning", "/a/0")

TRUE: list[dict[str, Any]] = [
    {"path": "/a/0/t", "equals": "x"},
    {"path": "/none", "equals": None},
    {"path": "/a/*/t", "one_of": ["x", "y"]},
    {"path": "/a/[t=y]/n", "equals": 2},
    {"path": "/a/[id=1]/t", "equals": "x"},
    {"path": "/a/[n]", "count": 2},
    {"path": "/a/[n]/#-1/t", "equals": "y"},
    {"path": "/a/*/#1/t", "equals": "y"},
    {"path": "/b/c~0d/e~1f", "equals": "deep"},
    {"path": "/b/*/*", "equals": "deep"},
    {"path": "/a/0/t", "matches": "^x$"},
    {"path": "/b/c~0d/e~1f", "contains": "ee"},
    {"path": "/a/0/n", "same_json_text_as": "1.50"},
    {"path": "/args", "same_json_text_as": '{"z":1.50,"a":[]}'},
    {"path": "/cut", "same_json_text_as": '{"z": '},
    {"path": "/a/9", "absent": True},
    {"path": "/a/x/y", "absent": True},
    {"path": "/a", "present": True},
    {"path": "/a/9", "equals": 1, "optional": True},
    {"path": "/a/*/t", "distinct": True},
    {"path": "/a/1/n", "at_least": 2},
    {"nowhere": "shallow"},
    {"nowhere": "x", "path": "/b"},
    {"somewhere": "ee"},
    {"somewhere": "c~d", "path": "/b"},
    {"no_key": "deep"},
    {"no_key": "t", "path": "/b"},
    {"same": ["/one/0", "/two/0"]},
    {"prefix": ["/one/*", "/two/*"]},
    {"loss": "seal.dropped"},
    {"loss": "seal.dropped", "path": "/a/0", "severity": "warning", "effect": "dropped"},
    {"no_loss": "seal.dummy"},
    {"no_loss_worse_than": "warning"},
]
FALSE: list[tuple[dict[str, Any], str]] = [
    ({"path": "/a/0/t", "equals": "y"}, 'expected exactly "y", found "x"'),
    ({"path": "/a/2/u", "equals": 1}, "found true"),
    ({"path": "/one/0", "equals": True}, "found 1"),
    ({"path": "/a/9", "equals": 1}, "nothing is there"),
    ({"path": "/a/*/t", "equals": "x"}, 'found "y"'),
    ({"path": "/a/*/t", "one_of": ["x"]}, 'found "y"'),
    ({"path": "/a/0/n", "matches": "1"}, "a match of"),
    ({"path": "/a/0/n", "contains": "1"}, "a text with"),
    ({"path": "/a/0/n", "same_json_text_as": "1.5"}, "the JSON text"),
    ({"path": "/args", "same_json_text_as": '{"a":[],"z":1.50}'}, "the JSON text"),
    ({"path": "/args", "same_json_text_as": "{"}, "the JSON text"),
    ({"path": "/a", "absent": True}, "expected nothing"),
    ({"path": "/z", "present": True}, "nothing is there"),
    ({"path": "/a/*", "count": 2}, "expected 2, found 3"),
    ({"path": "/one/0", "at_least": 2}, "at least"),
    ({"path": "/a/2/u", "at_least": 0}, "at least"),
    ({"path": "/z/*", "distinct": True}, "all different"),
    ({"path": "/a/9", "equals": 1, "optional": False}, "nothing is there"),
    ({"nowhere": "dee"}, 'is in "deep"'),
    ({"somewhere": "shallow"}, "is nowhere"),
    ({"no_key": "e/f"}, "is in it"),
    ({"same": ["/one/0", "/one/1"]}, "differs from"),
    ({"same": ["/z", "/y"]}, "nothing is there"),
    ({"prefix": ["/two/*", "/one/*"]}, "member 2"),
    ({"prefix": ["/z/*", "/one/*"]}, "nothing is there"),
    ({"loss": "seal.dropped", "path": "/a/1"}, "reported: seal.dropped at /a/0"),
    ({"no_loss": "seal.dropped"}, "unexpected loss"),
    ({"no_loss_worse_than": "info"}, "unexpected loss"),
    ({"lint": "clean"}, "there is no such document"),
    ({"stream_grammar": True}, "there is no such document"),
    ({"untouched": True}, "there are no bytes"),
]


def _outcome() -> CaseOutcome:
    return CaseOutcome("openai-chat", DOCUMENT, [], (LOSS,))


@pytest.mark.parametrize("fact", TRUE, ids=str)
def test_a_true_fact_has_no_message(fact: dict[str, Any]) -> None:
    assert judge(fact, _outcome()) == ""


@pytest.mark.parametrize(("fact", "words"), FALSE, ids=str)
def test_a_false_fact_describes_the_actual_value(fact: dict[str, Any], words: str) -> None:
    assert words in judge(fact, _outcome())


def test_equal_values_are_not_distinct() -> None:
    outcome = _outcome()
    outcome.document = {"ids": ["a", "a"]}
    assert "all different" in judge({"path": "/ids/*", "distinct": True}, outcome)


@pytest.mark.parametrize("fact", [{"guess": 1}, {"path": "/a"}, {"path": "a", "present": True}], ids=str)
def test_an_invalid_fact_is_refused(fact: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        judge(fact, _outcome())


def test_lint_checks_documents_and_grammar_checks_streams() -> None:
    good: dict[str, Any] = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}
    bad = {**good, "messages": [{"role": "tool", "tool_call_id": "x", "content": "?"}]}
    start = {"type": "message_start", "message": {"id": "m"}}
    outcome = CaseOutcome("openai-chat", {}, [LintedDocument("openai-chat", "request", "gpt-5.2", good)])
    assert judge({"lint": "clean"}, outcome) == ""
    outcome.checked.append(LintedDocument("openai-chat", "request", "gpt-5.2", bad))
    assert "breaks OAC-005" in judge({"lint": "clean"}, outcome)
    outcome.checked = [LintedDocument("anthropic", "stream", "", [start])]
    assert "breaks ANT-S01" in judge({"stream_grammar": True}, outcome)
    outcome.checked = [LintedDocument("openai-chat", "request", "", "text")]
    assert "cannot be read" in judge({"lint": "clean"}, outcome)


def test_the_order_of_events_ignores_pings_and_joins_repetitions() -> None:
    frames = [{"type": "a"}, {"type": "ping"}, {"type": "b"}, {"type": "b"}, {"type": "a"}, "[DONE]"]
    outcome = CaseOutcome("anthropic", {"frames": frames}, [])
    assert judge({"event_order": ["a", "b", "a"]}, outcome) == ""
    assert "found ['a', 'b', 'a']" in judge({"event_order": ["a", "b"]}, outcome)


def test_untouched_compares_bytes() -> None:
    outcome = CaseOutcome("anthropic", {}, [], None, b"{}", b"{}")
    assert judge({"untouched": True}, outcome) == ""
    outcome.raw = b"{ }"
    assert judge({"untouched": True}, outcome) == "the bytes were changed"


def test_facts_about_losses_are_recognised() -> None:
    assert [about_losses(fact) for fact in ({"loss": "a.b"}, {"no_loss": "a.b"}, {"no_loss_worse_than": "info"})] == [
        True
    ] * 3
    assert not about_losses({"path": "/a", "equals": 1})


def test_numbers_keep_their_spelling() -> None:
    assert dump(DOCUMENT["a"][0]) == '{"t":"x","n":1.50,"id":1}'
    assert find_values(DOCUMENT, "") == [DOCUMENT]
    with pytest.raises(ValueError, match="malformed"):
        decode(b"{,}")
