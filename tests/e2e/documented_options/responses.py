"""Requests of Responses, from the documentation of OpenAI and the Open Responses specification."""

from __future__ import annotations

from typing import Any

from tests.e2e.documented_options import (
    ADA,
    LONG,
    MINE,
    ONE_CITY,
    PDF,
    PERSON,
    PNG,
    TWO_CITIES,
    WEATHER,
    Doc,
    Mistake,
    Question,
    absent,
    at_least,
    count,
    equals,
    has,
    matches,
    there,
)

MODEL = "rehearsal/rules"
TEXT = "/output/[type=message]/#0/content/0/text"
CALLS = "/output/[type=function_call]"
TOOL: Doc = {"type": "function", "name": "get_weather", "description": "Get the current weather", "parameters": WEATHER}
OTHER: Doc = {**TOOL, "name": "other"}


def message(role: str, content: Any) -> Doc:
    return {"type": "message", "role": role, "content": content}


def ask(name: str, given: Any, *facts: Doc, status: str = "completed", **more: Any) -> Question:
    always = (
        matches("/id", "."),
        equals("/object", "response"),
        equals("/status", status),
        equals("/error", None),
        there("/usage/total_tokens"),
        equals("/model", MODEL),
    )
    return Question(name, {"model": MODEL, "input": given, **more}, (*always, *facts))


CALL = {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": '{"location":"Paris"}'}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "18 degrees, sunny"}
CALLED = (equals(f"{CALLS}/#0/name", "get_weather"), equals(f"{CALLS}/#0/status", "completed"))
PARIS = {"path": f"{CALLS}/#0/arguments", "same_json_text_as": '{"location":"Paris"}'}
FORMAT = {"type": "json_schema", "name": "person", "strict": True, "schema": PERSON}
CODE = {"type": "custom", "name": "print", "format": {"type": "text"}}

QUESTIONS = [
    ask("text", "Hello", matches(TEXT, "."), equals("/output/0/role", "assistant"),
        equals("/output/0/status", "completed")),
    ask("items", [message("user", "Say hello in exactly 3 words.")], matches(TEXT, ".")),
    ask("bare-items", [{"role": "user", "content": "Say banana"}], has(TEXT, "banana")),
    ask("instructions", "Say hello", has(TEXT, "HELLO"), equals("/instructions", "Answer in capitals."),
        instructions="Answer in capitals."),
    ask("system", [message("system", "Answer in capitals."), message("user", "Say hello")], has(TEXT, "HELLO")),
    ask("developer", [message("developer", [{"type": "input_text", "text": "Answer in capitals."}]),
        message("user", "Say hello")], has(TEXT, "HELLO")),
    ask("turns", [message("user", "My name is Alice."), message("assistant", "Hello Alice."), message("user", MINE)],
        has(TEXT, "Alice")),
    ask("turns-in-parts", [message("user", [{"type": "input_text", "text": "My name is Alice."}]),
        {**message("assistant", [{"type": "output_text", "text": "Hello.", "annotations": []}]), "id": "msg_1",
         "status": "completed"}, message("user", MINE)], has(TEXT, "Alice")),
    ask("auto", [message("user", ONE_CITY)], *CALLED, PARIS, count(CALLS, 1), tools=[TOOL]),
    ask("auto-not-needed", "Hello", absent(CALLS), tools=[TOOL], tool_choice="auto"),
    ask("required", "Hello", *CALLED, equals("/tool_choice", "required"), tools=[TOOL], tool_choice="required"),
    ask("named", "Hello", *CALLED, tools=[TOOL, OTHER], tool_choice={"type": "function", "name": "get_weather"}),
    ask("none", ONE_CITY, absent(CALLS), equals("/tool_choice", "none"), tools=[TOOL], tool_choice="none"),
    ask("allowed", "Hello", *CALLED, tools=[TOOL, OTHER], tool_choice={
        "type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]}),
    ask("parallel", TWO_CITIES, count(CALLS, 2), {"path": f"{CALLS}/call_id", "distinct": True}, tools=[TOOL]),
    ask("parallel-off", TWO_CITIES, count(CALLS, 1), equals("/parallel_tool_calls", False), tools=[TOOL],
        parallel_tool_calls=False),
    ask("strict", ONE_CITY, *CALLED, PARIS, equals("/tools/0/strict", True), tools=[{**TOOL, "strict": True}]),
    ask("custom", "print: `1 + 1`", equals("/output/[type=custom_tool_call]/#0/input", "1 + 1"), tools=[CODE],
        tool_choice={"type": "custom", "name": "print"}),
    ask("results", [message("user", ONE_CITY), CALL, RESULT], has(TEXT, "18 degrees"), tools=[TOOL]),
    ask("result-in-parts", [message("user", ONE_CITY), CALL, {**RESULT, "output": [
        {"type": "input_text", "text": "18 degrees"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}]}],
        has(TEXT, "18 degrees"), has(TEXT, "640 x 480")),
    ask("image", [message("user", [{"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}])],
        has(TEXT, "image/png"), has(TEXT, "640 x 480")),
    ask("document", [message("user", [{"type": "input_text", "text": "What is this?"}, {"type": "input_file",
        "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}])], has(TEXT, "application/pdf")),
    ask("json", "Say hello as JSON", matches(TEXT, r"^\{.*\}$"), equals("/text/format/type", "json_object"),
        text={"format": {"type": "json_object"}}),
    ask("schema", ADA, {"path": TEXT, "same_json_text_as": '{"name":"Ada","age":36}'},
        equals("/text/format/name", "person"), text={"format": FORMAT}),
    ask("limit", LONG, equals("/incomplete_details/reason", "max_output_tokens"), equals("/usage/output_tokens", 16),
        equals("/max_output_tokens", 16), status="incomplete", max_output_tokens=16),
    ask("reasoning", "Hello", matches("/output/[type=reasoning]/#0/summary/0/text", "."), matches(TEXT, "."),
        at_least("/usage/output_tokens_details/reasoning_tokens", 1), equals("/reasoning/effort", "low"),
        reasoning={"effort": "low", "summary": "auto"}),
    ask("reasoning-sealed", "Hello", matches("/output/[type=reasoning]/#0/encrypted_content", "."),
        equals("/store", False), absent("/output/[type=reasoning]/#0/summary/*"),
        reasoning={"effort": "medium"}, include=["reasoning.encrypted_content"], store=False),
    ask("no-reasoning", "Hello", absent("/output/[type=reasoning]"), reasoning={"effort": "none"}),
    ask("options", "Hello", equals("/temperature", 0.5), equals("/top_p", 0.9), equals("/metadata/a", "b"),
        equals("/truncation", "auto"), equals("/max_tool_calls", 3), equals("/safety_identifier", "s"),
        equals("/prompt_cache_key", "k"), equals("/text/verbosity", "low"), temperature=0.5, top_p=0.9,
        metadata={"a": "b"}, truncation="auto", max_tool_calls=3, safety_identifier="s", prompt_cache_key="k",
        service_tier="auto", text={"verbosity": "low"}, stream_options={"include_obfuscation": False}),
    ask("refusal", "Please rehearse a refusal", there("/output/0/content/[type=refusal]")),
]  # fmt: skip

MISTAKES = [
    Mistake("no-json", b"{"),
    Mistake("no-object", []),
    Mistake("no-model", {"input": "Hello"}),
    Mistake("no-input", {"model": MODEL}),
    Mistake("empty-input", {"model": MODEL, "input": []}),
    Mistake("input-a-number", {"model": MODEL, "input": 7}),
    Mistake("role-unknown", {"model": MODEL, "input": [message("wizard", "Hello")]}),
    Mistake("item-unknown", {"model": MODEL, "input": [{"type": "smell"}]}),
    Mistake("model-unknown", {"model": "rehearsal/nobody", "input": "Hello"}, 404),
    Mistake("limit-zero", {"model": MODEL, "input": "Hello", "max_output_tokens": 0}),
    Mistake("temperature-too-high", {"model": MODEL, "input": "Hello", "temperature": 3}),
    Mistake("required-without-tools", {"model": MODEL, "input": "Hello", "tool_choice": "required"}),
    Mistake("named-not-declared", {"model": MODEL, "input": "Hello", "tools": [TOOL],
            "tool_choice": {"type": "function", "name": "other"}}),
    Mistake("earlier-unknown", {"model": MODEL, "input": "Hello", "previous_response_id": "resp_nothing"}),
    Mistake("result-without-call", {"model": MODEL, "input": [message("user", "Hello"), RESULT]}),
]  # fmt: skip
