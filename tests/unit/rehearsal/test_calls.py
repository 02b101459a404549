"""The calls of the rules: a tool is called only if the words have every required argument, or if a call is forced."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from msgspec import Raw

from dragoman.canon import Choice, Grammar, HostedTool, Tool, ToolCall, Turn
from dragoman.rehearsal.planned_tool_calls import MAX_CALLS
from tests.unit.rehearsal.helpers import (
    ADD,
    LIST,
    NUMBER,
    PATCH,
    READ,
    STRING,
    TOOLS,
    WEATHER,
    WRITE,
    calls_for,
    fault,
    reply_text,
    request,
    respond,
    tool,
)

DATE = {"type": "string", "format": "date"}
FLIGHTS = tool("search_flights", "Finds flights", origin=STRING, destination=STRING, date=DATE)
FETCH = tool("fetch_page", url={"type": "string", "format": "uri"})
MAIL = tool("send_email", to={"type": "string", "format": "email"}, subject=STRING, urgent={"type": "boolean"})
SEARCH = tool("web_search", "Searches the web", query=STRING)
SHELL = tool("bash", "A shell", command=STRING)
MANY = tool("read_many_files", paths={"type": "array", "items": STRING})
MODE = tool("set_mode", mode={"type": "string", "enum": ["dark_mode", "light"]})
POINT = tool("plot_point", point={"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]})
TIME = tool("get_time", timezone=STRING)
TIMER = tool("start_timer", minutes={"type": "integer", "minimum": 1}, loud={"type": "boolean"})

AB = (tool("alpha", value=STRING), tool("beta", value=STRING))
CLOCK = tool("get_time", city=STRING)

FIBONACCI = tool("fibonacci", n={"type": "integer"})
DOCS = tool("search_docs", required=(), query=STRING)
UNITS = tool("get_weather", city=STRING, unit={"enum": ["C", "F"], "default": "C"}, day={"type": ["string", "null"]})
LABELS = (Tool("lookup_harbor"), Tool("lookup_orchard"))

CASES: list[tuple[str, tuple[Tool, ...], list[tuple[str, Any]]]] = [
    ("What's the weather like in San Francisco?", TOOLS, [("get_weather", {"location": "San Francisco"})]),
    ("weather in Rome in Celsius", TOOLS, [("get_weather", {"location": "Rome", "unit": "celsius"})]),
    ("weather with location = 'São Paulo'", TOOLS, [("get_weather", {"location": "São Paulo"})]),
    ("What's the weather like?", TOOLS, []),
    ("Hello in Paris", TOOLS, []),
    ("Read the file src/main.py", TOOLS, [("read_file", {"path": "src/main.py"})]),
    ("Read `notes.md` with limit 20", TOOLS, [("read_file", {"path": "notes.md", "limit": 20})]),
    ("read_file please", TOOLS, []),
    (
        'Write the file a.txt with content "read me and list files"',
        TOOLS,
        [("write_file", {"path": "a.txt", "content": "read me and list files"})],
    ),
    ("Add 2 and 3.5", TOOLS, [("add", {"a": 2, "b": 3.5})]),
    ("Use add: a is 7, b is -1", TOOLS, [("add", {"a": 7, "b": -1})]),
    ("Add 2", TOOLS, []),
    ('Call add with {"b": 1, "a": 5}', TOOLS, [("add", {"b": 1, "a": 5})]),
    ("List the files", TOOLS, [("list_files", {})]),
    ("List three colours", TOOLS, []),
    (
        "Find flights from Paris to Rome on 2026-12-01",
        (FLIGHTS,),
        [("search_flights", {"origin": "Paris", "destination": "Rome", "date": "2026-12-01"})],
    ),
    ("Find flights from Paris to Rome", (FLIGHTS,), []),
    ("Fetch the page https://example.com/a?b=c.", (FETCH,), [("fetch_page", {"url": "https://example.com/a?b=c"})]),
    (
        "Send an email to ada@example.com, subject: 'Hello', urgent: yes",
        (MAIL,),
        [("send_email", {"to": "ada@example.com", "subject": "Hello", "urgent": True})],
    ),
    ("Search the web for the history of dragomans.", (SEARCH,), [("web_search", {"query": "history of dragomans"})]),
    ("run the command `ls -la`", (SHELL,), [("bash", {"command": "ls -la"})]),
    ("Read many files: a/b.txt and c.md", (MANY,), [("read_many_files", {"paths": ["a/b.txt", "c.md"]})]),
    ('Read many files ["x", "y"]', (MANY,), [("read_many_files", {"paths": ["x", "y"]})]),
    ("Set the mode to dark mode", (MODE,), [("set_mode", {"mode": "dark_mode"})]),
    ("Set the mode to blue", (MODE,), []),
    ('Plot the point {"x": 3}', (POINT,), [("plot_point", {"point": {"x": 3}})]),
    ("Plot the point three", (POINT,), []),
    ("What time is it in the timezone Europe/Paris?", (TIME,), [("get_time", {"timezone": "Europe/Paris"})]),
    ("Start a timer of 5 minutes, not loud", (TIMER,), [("start_timer", {"minutes": 5, "loud": False})]),
    ("Start a timer of 0 minutes, loud", (TIMER,), []),
    ("apply_patch: *** Begin Patch", TOOLS, [("apply_patch", "*** Begin Patch")]),
    ("Apply this patch:\n```\n*** Begin\n+x\n```", TOOLS, [("apply_patch", "*** Begin\n+x")]),
    ("This is file 99631f:", (LIST, Tool("get_file")), []),
    ("What is the current file?", (Tool("get_file"),), [("get_file", {})]),
    ("Read a.txt, but do not call any tools", TOOLS, []),
    ("What is the 12th fibonacci number?", (FIBONACCI,), [("fibonacci", {"n": 12})]),
    ("Look into the docs about revenue", (DOCS,), [("search_docs", {"query": "revenue"})]),
    ("Search!", (DOCS,), []),
    ("Show the docs", (DOCS,), [("search_docs", {})]),
    ("Weather in Oslo?", (UNITS,), [("get_weather", {"city": "Oslo", "unit": "C", "day": None})]),
    ("Call `lookup_harbor` and `lookup_orchard` now", LABELS, [("lookup_harbor", {}), ("lookup_orchard", {})]),
    # Several calls.
    (
        "Call alpha with value red and beta with value blue",
        AB,
        [("alpha", {"value": "red"}), ("beta", {"value": "blue"})],
    ),
    (
        "The weather and the time in Paris?",
        (WEATHER, CLOCK),
        [("get_weather", {"location": "Paris"}), ("get_time", {"city": "Paris"})],
    ),
    (
        "What is the weather in Paris and in Rome?",
        TOOLS,
        [("get_weather", {"location": "Paris"}), ("get_weather", {"location": "Rome"})],
    ),
    (
        "Weather in Paris, Rome and New York, NY",
        TOOLS,
        [
            ("get_weather", {"location": "Paris"}),
            ("get_weather", {"location": "Rome"}),
            ("get_weather", {"location": "New York, NY"}),
        ],
    ),
    ("Read a.txt and then list the files", TOOLS, [("read_file", {"path": "a.txt"}), ("list_files", {})]),
    (
        "Get the weather in Oslo. Also add 1 and 2.",
        TOOLS,
        [("get_weather", {"location": "Oslo"}), ("add", {"a": 1, "b": 2})],
    ),
]


@pytest.mark.parametrize(("words", "tools", "expected"), CASES, ids=[case[0][:40] for case in CASES])
def test_the_words_select_the_calls(words: str, tools: tuple[Tool, ...], expected: list[tuple[str, Any]]) -> None:
    question = request(words, tools=tools)
    assert calls_for(question) == expected
    assert respond(question).stop.reason == ("tool_calls" if expected else "stop")


def test_without_parallel_there_is_one_call() -> None:
    assert len(calls_for(request("Weather in Paris and Rome", tools=(WEATHER,), parallel=False))) == 1


def test_the_number_of_parallel_calls_is_limited() -> None:
    places = ", ".join(["A" + chr(97 + number) for number in range(20)])
    assert len(calls_for(request(f"Weather in {places}", tools=(WEATHER,)))) == MAX_CALLS


def test_no_tool_when_none_may_be_called() -> None:
    assert calls_for(request("Weather in Paris", tools=(WEATHER,), choice=Choice("none"))) == []


def test_only_allowed_tools_are_called() -> None:
    choice = Choice("auto", ("read_file",))
    assert calls_for(request("Weather in Paris", tools=TOOLS, choice=choice)) == []
    assert calls_for(request("Read a.txt", tools=TOOLS, choice=choice)) == [("read_file", {"path": "a.txt"})]


@pytest.mark.parametrize("name", [one.name for one in TOOLS])
def test_a_forced_tool_is_called_with_valid_arguments(name: str) -> None:
    response = respond(request("Hello", tools=TOOLS, choice=Choice("one", (name,))))
    (call,) = response.parts
    assert isinstance(call, ToolCall) and call.name == name
    (wanted,) = [one for one in TOOLS if one.name == name]
    if wanted.custom:
        assert call.custom and call.arguments == "Hello"
    else:
        assert jsonschema_rs.validator_for(json.loads(wanted.schema or "{}")).is_valid(call.input)


def test_a_forced_call_uses_values_in_the_words() -> None:
    choice = Choice("one", ("search_flights",))
    assert calls_for(request("to Rome on 2026-12-01", tools=(FLIGHTS,), choice=choice)) == [
        ("search_flights", {"origin": "Rome", "destination": "Rome", "date": "2026-12-01"})
    ]


def test_a_forced_call_uses_the_tool_that_fits_best() -> None:
    assert calls_for(request("some file", tools=TOOLS, choice=Choice("required")))[0][0] in (
        "list_files",
        "read_file",
        "write_file",
    )
    assert calls_for(request("hi", tools=TOOLS, choice=Choice("required", ("add", "list_files")))) == [
        ("add", {"a": 1, "b": 1})
    ]


@pytest.mark.parametrize(
    ("choice", "tools"),
    [(Choice("required"), ()), (Choice("one", ("gone",)), TOOLS), (Choice("required", ("gone",)), TOOLS)],
)
def test_an_impossible_forced_call_is_a_fault(choice: Choice, tools: tuple[Tool, ...]) -> None:
    found = fault(request("hi", tools=tools, choice=choice))
    assert (found.kind, found.status) == ("invalid_request", 400)


def test_hosted_tools_are_not_run() -> None:
    hosted = HostedTool("openai-responses", "web_search", Raw(b'{"type":"web_search"}'))
    assert reply_text(request("Search the web for cats", tools=(hosted,))).startswith("Rehearsal")


def test_a_tool_without_a_schema_can_be_called() -> None:
    assert calls_for(request("ping the server", tools=(Tool("ping"),))) == [("ping", {})]


def test_a_tool_in_a_namespace_can_be_called() -> None:
    (call,) = respond(request("ping it", tools=(Tool("ping", namespace="net"),))).parts
    assert isinstance(call, ToolCall) and call.namespace == "net"


def test_a_deferred_tool_is_called_only_if_forced_or_named() -> None:
    later = Tool("ping_server", deferred=True)
    assert calls_for(request("ping the server", tools=(later,))) == []
    assert calls_for(request("call ping_server", tools=(later,))) == [("ping_server", {})]
    assert calls_for(request("ping", tools=(later,), choice=Choice("required"))) == [("ping_server", {})]


def test_the_text_for_a_custom_tool_matches_its_grammar() -> None:
    strict = Tool("pick_code", "Picks a code", custom=True, grammar=Grammar("regex", "[A-Z]{3}-[0-9]+"))
    assert calls_for(request('pick_code "abc"', tools=(strict,))) == []
    assert calls_for(request('pick_code "ABC-12"', tools=(strict,))) == [("pick_code", "ABC-12")]
    assert calls_for(request("hi", tools=(strict,), choice=Choice("required"))) == [("pick_code", "AAA-0")]


def test_invalid_schemas_cause_no_exception() -> None:
    for schema in ("{", "[]", "true", "false", '{"type": "string"}', '{"$ref": "#/nowhere"}', '{"properties": 3}'):
        assert calls_for(request("hi", tools=(Tool("odd", schema=schema),), choice=Choice("required")))[0][0] == "odd"


def test_references_in_schemas_are_followed() -> None:
    schema = {
        "type": "object",
        "properties": {
            "where": {"$ref": "#/$defs/place"},
            "how": {"anyOf": [{"enum": ["fast", "slow"]}, {"type": "null"}]},
        },
        "required": ["where"],
        "$defs": {"place": {"type": "string", "description": "a city"}},
    }
    travel = Tool("travel", "Goes somewhere", json.dumps(schema))
    assert calls_for(request("Travel to Oslo, slow", tools=(travel,))) == [("travel", {"where": "Oslo", "how": "slow"})]


def test_earlier_calls_are_not_repeated() -> None:
    earlier_call = ToolCall("call_x", "list_files", "")
    question = request("List the files", Turn("assistant", (earlier_call,)), tools=(LIST, ADD, READ, WRITE, PATCH))
    assert calls_for(question) == []


def test_an_earlier_call_with_broken_arguments_is_repeated() -> None:
    broken_call = ToolCall("call_x", "list_files", '{"a')
    assert calls_for(request("List the files", Turn("assistant", (broken_call,)), tools=(LIST,))) == [
        ("list_files", {})
    ]


def test_without_arguments_that_fit_together_there_is_no_call() -> None:
    schema = {"type": "object", "properties": {"a": NUMBER, "b": True}, "required": ["a"], "not": {"required": ["a"]}}
    assert calls_for(request("try 4", tools=(Tool("try", schema=json.dumps(schema)),))) == []
    schema = {"type": "object", "properties": {"a": True}, "required": ["a"]}
    assert calls_for(request("try 4", tools=(Tool("try", schema=json.dumps(schema)),))) == []


def test_a_forced_custom_tool_gets_the_quoted_text() -> None:
    question = request("with `+x`", tools=(PATCH,), choice=Choice("required"))
    assert calls_for(question) == [("apply_patch", "+x")]
