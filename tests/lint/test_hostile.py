"""Any input gives findings or a WireError, in the same order every time, and never another exception."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragoman
from dragoman import WireError, lint, lint_conversation
from dragoman.dialects import names
from dragoman.lint.runner import KINDS
from tests.lint.test_rules import RULES, fixture

ODD: tuple[Any, ...] = (None, 7, "", "x", [], {}, [[]], [None], {"x": None}, True, -1.5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


def _nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a document: its parent and the key or index."""
    todo = [value]
    while todo:
        holder = todo.pop()
        steps = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for step in steps:
            yield holder, step
            todo.append(holder[step])


def _mutated(document: Any) -> Iterator[Any]:
    """Yield copies of the document with one of its values replaced by an odd value."""
    copy = msgspec.json.decode(msgspec.json.encode(document))
    for number, (holder, step) in enumerate(list(_nodes(copy))):
        kept = holder[step]
        for odd in (ODD[number % len(ODD)], ODD[(number * 5 + 3) % len(ODD)]):
            holder[step] = odd
            yield copy
        holder[step] = kept


def _linted(document: Any, dialect: str, kind: Any) -> None:
    try:
        found = lint(document, dialect=dialect, kind=kind)
    except WireError:
        return
    for one in found:
        assert isinstance(one, dragoman.Finding)
        assert one.path == "" or one.path.startswith("/")


@pytest.mark.parametrize("rule", list(RULES))
def test_no_odd_value_anywhere_raises(rule: str) -> None:
    known, dialects = RULES[rule]
    count = 0
    for case in [*fixture(rule).bad[:3], *fixture(rule).good[:1]]:
        small = len(msgspec.json.encode(case.document)) < 20_000
        for document in _mutated(case.document) if small else ():
            _linted(document, case.dialect or dialects[0], case.kind)
            count += 1
    assert count > 0, known.id


@pytest.mark.parametrize("rule", [rule for rule in RULES if "stream" in RULES[rule][0].kinds])
def test_no_odd_stream_breaks_a_conversation(rule: str) -> None:
    for case in [*fixture(rule).bad[:3], *fixture(rule).good[:1]]:
        dialect = case.dialect or RULES[rule][1][0]
        if case.kind == "stream" and isinstance(case.document, list):
            for document in _mutated(case.document):
                found = lint_conversation([("stream", document), ("request", {})], dialect=dialect)
                assert any(one.path.startswith("/1") for one in found)


@pytest.mark.parametrize("dialect", names())
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(value=JSON)
def test_any_json_gives_findings_or_a_wire_error(dialect: str, kind: str, value: Any) -> None:
    _linted(msgspec.json.encode(value), dialect, kind)


@pytest.mark.parametrize("dialect", names())
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=st.binary(max_size=60))
def test_any_bytes_give_findings_or_a_wire_error(dialect: str, data: bytes) -> None:
    for kind in KINDS:
        _linted(data, dialect, kind)
        _linted(b"data: " + data, dialect, kind)


@pytest.mark.parametrize("dialect", names())
def test_deep_documents_do_not_exhaust_the_stack(dialect: str) -> None:
    for depth in (300, 900, 5000):
        schema = b'{"type":"object","properties":{"a":' * depth + b"{}" + b"}}" * depth
        tool = b'{"name":"f","strict":true,"parameters":%b,"input_schema":%b,"parametersJsonSchema":%b}' % (
            (schema,) * 3
        )
        nested = b'{"type":"function","function":%b,"functionDeclarations":[%b],"tools":[%b],%b' % (
            (tool,) * 3 + (tool[1:],)
        )
        _linted(b"[%b]" % nested, dialect, "tools")
        _linted(b'{"model":"m","tools":[%b],"messages":[%b]}' % (nested, schema), dialect, "request")
        _linted(b"[" * depth + b"]" * depth, dialect, "stream")


@pytest.mark.parametrize("dialect", names())
def test_findings_have_the_same_order_every_time(dialect: str) -> None:
    body = {
        "tools": [{"x": 1}, {"y": 2}],
        "messages": [7, {}, {"role": 3}],
        "contents": [{}],
        "input": [{}],
        "model": 1,
    }
    first = lint(body, dialect=dialect)
    assert first
    assert first == lint(msgspec.json.encode(body), dialect=dialect)


def test_findings_of_a_conversation_have_the_number_of_their_document() -> None:
    ask = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}], "temperature": 9}
    found = lint_conversation(
        [("request", ask), ("response", {"choices": []}), ("request", ask)], dialect="openai-chat"
    )
    assert [(one.rule, one.path) for one in found] == [("OAC-021", "/0/temperature"), ("OAC-021", "/2/temperature")]
