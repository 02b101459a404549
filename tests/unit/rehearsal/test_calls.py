"""Which tools the rules call and with what: only when every required argument stands in the words, or when forced."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from msgspec import Raw

from dragoman.canon import Choice, Grammar, HostedTool, Tool, ToolCall, Turn
from dragoman.rehearsal.tool_decision import MAX_CALLS
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
    called,
    fault,
    request,
    respond,
    said,
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
    # Several things.
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
def test_what_is_called(words: str, tools: tuple[Tool, ...], expected: list[tuple[str, Any]]) -> None:
    asked = request(words, tools=tools)
    assert called(asked) == expected
    assert respond(asked).stop.reason == ("tool_calls" if expected else "stop")


def test_without_parallel_there_is_one_call() -> None:
    assert len(called(request("Weather in Paris and Rome", tools=(WEATHER,), parallel=False))) == 1


def test_there_is_an_end_to_parallel_calls() -> None:
    places = ", ".join(["A" + chr(97 + number) for number in range(20)])
    assert len(called(request(f"Weather in {places}", tools=(WEATHER,)))) == MAX_CALLS


def test_no_tool_when_none_may_be_called() -> None:
    assert called(request("Weather in Paris", tools=(WEATHER,), choice=Choice("none"))) == []


def test_a_subset_is_honoured() -> None:
    choice = Choice("auto", ("read_file",))
    assert called(request("Weather in Paris", tools=TOOLS, choice=choice)) == []
    assert called(request("Read a.txt", tools=TOOLS, choice=choice)) == [("read_file", {"path": "a.txt"})]


@pytest.mark.parametrize("name", [one.name for one in TOOLS])
def test_a_demanded_tool_is_called_with_legal_arguments(name: str) -> None:
    response = respond(request("Hello", tools=TOOLS, choice=Choice("one", (name,))))
    (call,) = response.parts
    assert isinstance(call, ToolCall) and call.name == name
    (wanted,) = [one for one in TOOLS if one.name == name]
    if wanted.custom:
        assert call.custom and call.arguments == "Hello"
    else:
        assert jsonschema_rs.validator_for(json.loads(wanted.schema or "{}")).is_valid(call.input)


def test_a_demanded_call_takes_what_the_words_hold() -> None:
    choice = Choice("one", ("search_flights",))
    assert called(request("to Rome on 2026-12-01", tools=(FLIGHTS,), choice=choice)) == [
        ("search_flights", {"origin": "Rome", "destination": "Rome", "date": "2026-12-01"})
    ]


def test_of_several_the_likeliest_is_called() -> None:
    assert called(request("some file", tools=TOOLS, choice=Choice("required")))[0][0] in (
        "list_files",
        "read_file",
        "write_file",
    )
    assert called(request("hi", tools=TOOLS, choice=Choice("required", ("add", "list_files")))) == [
        ("add", {"a": 1, "b": 1})
    ]


@pytest.mark.parametrize(
    ("choice", "tools"),
    [(Choice("required"), ()), (Choice("one", ("gone",)), TOOLS), (Choice("required", ("gone",)), TOOLS)],
)
def test_a_demand_that_cannot_be_met_is_a_fault(choice: Choice, tools: tuple[Tool, ...]) -> None:
    found = fault(request("hi", tools=tools, choice=choice))
    assert (found.kind, found.status) == ("invalid_request", 400)


def test_hosted_tools_are_not_run() -> None:
    hosted = HostedTool("openai-responses", "web_search", Raw(b'{"type":"web_search"}'))
    assert said(request("Search the web for cats", tools=(hosted,))).startswith("Rehearsal")


def test_a_tool_without_a_schema() -> None:
    assert called(request("ping the server", tools=(Tool("ping"),))) == [("ping", {})]


def test_a_tool_in_a_namespace() -> None:
    (call,) = respond(request("ping it", tools=(Tool("ping", namespace="net"),))).parts
    assert isinstance(call, ToolCall) and call.namespace == "net"


def test_a_deferred_tool_is_called_only_on_demand_or_by_its_name() -> None:
    later = Tool("ping_server", deferred=True)
    assert called(request("ping the server", tools=(later,))) == []
    assert called(request("call ping_server", tools=(later,))) == [("ping_server", {})]
    assert called(request("ping", tools=(later,), choice=Choice("required"))) == [("ping_server", {})]


def test_a_grammar_of_regular_expressions_is_kept() -> None:
    strict = Tool("pick_code", "Picks a code", custom=True, grammar=Grammar("regex", "[A-Z]{3}-[0-9]+"))
    assert called(request('pick_code "abc"', tools=(strict,))) == []
    assert called(request('pick_code "ABC-12"', tools=(strict,))) == [("pick_code", "ABC-12")]
    assert called(request("hi", tools=(strict,), choice=Choice("required"))) == [("pick_code", "AAA-0")]


def test_strange_schemas_are_no_reason_to_fail() -> None:
    for schema in ("{", "[]", "true", "false", '{"type": "string"}', '{"$ref": "#/nowhere"}', '{"properties": 3}'):
        assert called(request("hi", tools=(Tool("odd", schema=schema),), choice=Choice("required")))[0][0] == "odd"


def test_references_are_followed() -> None:
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
    assert called(request("Travel to Oslo, slow", tools=(travel,))) == [("travel", {"where": "Oslo", "how": "slow"})]


def test_calls_that_were_made_are_not_made_again() -> None:
    made = ToolCall("call_x", "list_files", "")
    asked = request("List the files", Turn("assistant", (made,)), tools=(LIST, ADD, READ, WRITE, PATCH))
    assert called(asked) == []


def test_a_broken_call_is_not_the_same_call() -> None:
    made = ToolCall("call_x", "list_files", '{"a')
    assert called(request("List the files", Turn("assistant", (made,)), tools=(LIST,))) == [("list_files", {})]


def test_arguments_that_do_not_fit_together_are_no_call() -> None:
    schema = {"type": "object", "properties": {"a": NUMBER, "b": True}, "required": ["a"], "not": {"required": ["a"]}}
    assert called(request("try 4", tools=(Tool("try", schema=json.dumps(schema)),))) == []
    schema = {"type": "object", "properties": {"a": True}, "required": ["a"]}
    assert called(request("try 4", tools=(Tool("try", schema=json.dumps(schema)),))) == []


def test_a_demanded_custom_tool_gets_what_is_quoted() -> None:
    asked = request("with `+x`", tools=(PATCH,), choice=Choice("required"))
    assert called(asked) == [("apply_patch", "+x")]
