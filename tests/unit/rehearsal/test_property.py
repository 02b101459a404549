"""Any request gets a legal answer: no exception, valid arguments and formats, the request's choices and limits."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dragoman import rehearsal
from dragoman.canon import Choice, Fault, Format, Request, Response, Text, Tool, ToolCall, Turn
from dragoman.canon.fold_and_unfold import fold
from dragoman.dialects import names
from dragoman.rehearsal import pattern_samples, schema_check
from dragoman.rehearsal.argument_extraction import (
    Extraction,
    json_values,
    mask_quotes,
    numbers_in,
    place_names,
    quoted_texts,
)
from dragoman.rehearsal.schema_instances import NOTHING, InstanceMaker
from dragoman.rehearsal.text_replies import reply
from tests.oracles import body_verdict, grammar
from tests.property.law_for_each_dialect import each
from tests.property.strategies import requests
from tests.recorded.event_grammar import findings
from tests.unit.rehearsal.helpers import events, streamed, tool, user, written

house = settings(
    derandomize=True,
    max_examples=120,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

WORDS = [
    "weather in Paris",
    "and",
    "2",
    "3.5",
    '"a b"',
    "{",
    '{"a": 1}',
    "[1, 2]",
    "read",
    "in",
    "Rome",
    ",",
    "a=4",
    "\n",
    "`x`",
]
sentences = st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=8).map(" ".join)


@st.composite
def leaves(draw: st.DrawFn) -> Any:
    """Satisfiable schemas, with most keywords of JSON Schema."""
    kind = draw(st.sampled_from(["string", "integer", "number", "boolean", "null", "enum", "const", "pattern", "any"]))
    low = draw(st.integers(-20, 20))
    wide = draw(st.integers(0, 9))
    if kind == "string":
        least = draw(st.integers(0, 30))
        return {"type": "string", "minLength": least, "maxLength": least + wide}
    if kind == "integer":
        return {"type": "integer", "minimum": low, "maximum": low + wide}
    if kind == "number":
        return {"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": low + wide + 1}
    if kind == "enum":
        return {"enum": draw(st.lists(st.none() | st.integers(-9, 9) | st.text(max_size=4), min_size=1, max_size=3))}
    if kind == "const":
        return {"const": draw(st.none() | st.booleans() | st.text(max_size=5))}
    if kind == "pattern":
        return {
            "type": "string",
            "pattern": draw(st.sampled_from(["^[a-f]{4}$", r"^\d+-\w+$", "^(?:on|off)$", "^x*$"])),
        }
    return {} if kind == "any" else {"type": kind}


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["a", "b", "city", "path", "count", "name"])
    objects = st.dictionaries(keys, inner, max_size=3).flatmap(
        lambda found: st.builds(
            lambda required, closed: {
                "type": "object",
                "properties": found,
                "required": sorted(required),
                "additionalProperties": not closed,
            },
            st.sets(st.sampled_from(sorted(found))) if found else st.just(set()),
            st.booleans(),
        )
    )
    arrays = st.builds(
        lambda items, least: {"type": "array", "items": items, "minItems": least}, inner, st.integers(0, 3)
    )
    some = st.lists(inner, min_size=1, max_size=3).map(lambda found: {"anyOf": found})
    every = inner.map(lambda found: {"allOf": [found, {}]})
    return objects | arrays | some | every


schemas = st.recursive(leaves(), nested, max_leaves=8)


@house
@given(schema=schemas, full=st.booleans())
def test_a_value_made_for_a_schema_is_valid(schema: Any, full: bool) -> None:
    made = InstanceMaker(schema_check.read(json.dumps(schema)), full=full).make()
    assert made is not NOTHING
    assert jsonschema_rs.validator_for(schema).is_valid(made), made


values = st.recursive(
    st.none() | st.booleans() | st.integers(-30, 30) | st.floats(-30, 30) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "city"]), inner, max_size=3),
    max_leaves=5,
)


@house
@given(schema=schemas, value=values)
def test_the_fit_agrees_with_an_independent_validator(schema: Any, value: Any) -> None:
    document = schema_check.read(json.dumps(schema))
    assert schema_check.FitCheck(document)(value, document.root) == jsonschema_rs.validator_for(schema).is_valid(value)


@house
@given(schema=schemas.filter(lambda one: one.get("type") == "object"), words=sentences)
def test_arguments_of_a_demanded_call_are_valid(schema: Any, words: str) -> None:
    tool = Tool("read_weather", "Reads the weather", json.dumps(schema))
    asked = Request((user(words + " ."),), "m", (tool,), Choice("required"))
    for choice in (Choice("required"), Choice("auto")):
        found = rehearsal.answer(msgspec.structs.replace(asked, choice=choice)).response()
        assert isinstance(found, Response)
        made = [part for part in found.parts if isinstance(part, ToolCall)]
        assert made or choice.mode == "auto"
        for call in made:
            assert jsonschema_rs.validator_for(schema).is_valid(json.loads(call.arguments)), call.arguments


@house
@given(schema=schemas, words=sentences)
def test_structured_output_is_valid(schema: Any, words: str) -> None:
    wanted = Format("schema", json.dumps(schema))
    asked = Request((user(words + " ."),), "m")
    asked = msgspec.structs.replace(asked, settings=msgspec.structs.replace(asked.settings, format=wanted))
    found = rehearsal.answer(asked).response()
    assert isinstance(found, Response)
    (text,) = found.parts
    assert isinstance(text, Text)
    assert jsonschema_rs.validator_for(schema).is_valid(json.loads(text.text)), text.text


@house
@given(asked=requests(), model=st.sampled_from([*rehearsal.models(), "some-model"]))
def test_any_request_is_answered(asked: Request, model: str) -> None:
    asked = msgspec.structs.replace(asked, model=model)
    rehearsed = rehearsal.answer(asked, seals="ignored")
    found = rehearsed.response()
    steps = events(asked, seals="ignored")
    assert steps == events(asked, seals="ignored")
    assert rehearsal.estimate(asked) > 0
    if isinstance(found, Fault):
        return
    assert findings(steps) == [] and fold(steps) == found
    if model in ("some-model", "rehearsal/rules"):
        _honoured(asked, found)


def _honoured(asked: Request, found: Response) -> None:
    made = [part for part in found.parts if isinstance(part, ToolCall)]
    choice = asked.choice
    mode = choice.mode if choice is not None else "auto"
    assert mode != "none" or not made
    assert mode not in ("required", "one") or made or found.stop.reason == "length"
    assert asked.settings.parallel is not False or len(made) <= 1
    for call in made:
        assert choice is None or not choice.names or call.name in choice.names
        (tool,) = [tool for tool in asked.tools if isinstance(tool, Tool) and tool.name == call.name]
        if not tool.custom:
            assert jsonschema_rs.validator_for(json.loads(tool.schema or "{}")).is_valid(json.loads(call.arguments))
    limit = asked.settings.max_tokens
    usage = found.usage
    assert usage is not None and usage.output is not None
    assert limit is None or usage.output <= limit * (1 + len(found.alternatives))
    assert len(found.alternatives) == (asked.settings.n or 1) - 1
    for part in found.parts:
        assert not isinstance(part, Text) or not any(stop in part.text for stop in asked.settings.stop)


@settings(house, max_examples=25)
@given(asked=requests(), model=st.sampled_from([*rehearsal.models(), "some-model"]))
@each("dialect", names())
def test_any_answer_is_legal_in_any_dialect(dialect: str, asked: Request, model: str) -> None:
    asked = msgspec.structs.replace(asked, model=model)
    rehearsed = rehearsal.answer(asked, seals="ignored")
    found, steps = rehearsed.response(), events(asked, seals="ignored")
    if isinstance(found, Fault):
        return
    wrong = body_verdict.check_response(dialect, written(dialect, found, asked), extensions=True)
    wrong += grammar.check_stream(dialect, streamed(dialect, steps, asked), extensions=True)
    assert [text for text in wrong if "arguments" not in text and "ANT-S03" not in text] == []


@house
@given(text=sentences | st.text(max_size=200))
def test_no_words_are_too_strange(text: str) -> None:
    for found in (quoted_texts(text), list(json_values(text)), numbers_in(text), place_names(text)):
        assert isinstance(found, list)
    assert len(mask_quotes(text)) == len(text)
    assert isinstance(reply(text, []), str)
    extraction = Extraction(schema_check.read("{}"), text, ["read"])
    for name in ("city", "path", "url", "count", "on", "q", "command", "x", ""):
        for kind in ("string", "integer", "boolean", "array", "object"):
            assert isinstance(extraction.find(name, {"type": kind}, required=True), list)


@house
@given(pattern=st.text("ab01[](){}|*+?^$.\\d-,:P<>=", max_size=20))
def test_no_pattern_is_too_strange(pattern: str) -> None:
    found = pattern_samples.sample(pattern)
    assert found is None or pattern_samples.matches(pattern, found)


LONG = [
    "(",
    "```",
    "a/",
    '"',
    "{[",
    "A. ",
    "1 ",
    "@",
    "a.",
    " ",
    "a ",
    "a: b ",
    "\n",
    "and ",
    "-",
    "<a-b>",
    "</a-b>",
    "A, ",
    "say ",
    "9-",
]


@pytest.mark.parametrize("piece", LONG)
def test_long_words_are_answered_in_a_short_time(piece: str) -> None:
    names = ("a", "path", "city", "url", "email", "query", "expression", "order_id", "name", "command")
    tools = tuple([tool(f"read_{name}", "Reads", **{name: {"type": "string"}}) for name in names])
    text = "read " + piece * (200_000 // len(piece)) + " x"
    asked = Request((Turn("system", (Text(text),)), user(text)), "m", tools)
    assert isinstance(rehearsal.answer(asked).response(), Response)
