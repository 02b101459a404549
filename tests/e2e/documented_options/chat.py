"""Requests of Chat Completions, from the documentation of OpenAI and OpenRouter."""

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
TEXT = "/choices/0/message/content"
CALLS = "/choices/0/message/tool_calls"
END = "/choices/0/finish_reason"


def tool(name: str = "get_weather", **more: Any) -> Doc:
    function = {"name": name, "description": "Get the current weather", "parameters": WEATHER, **more}
    return {"type": "function", "function": function}


def user(content: Any) -> Doc:
    return {"role": "user", "content": content}


def ask(name: str, content: Any, *facts: Doc, streams: bool = True, **more: Any) -> Question:
    messages = more.pop("messages", [user(content)])
    always = (there("/id"), there("/usage/total_tokens"), equals("/model", MODEL))
    return Question(name, {"model": MODEL, "messages": messages, **more}, (*always, *facts), streams)


CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"location":"Paris"}'}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees, sunny"}
CALLED = (equals(END, "tool_calls"), equals(f"{CALLS}/*/function/name", "get_weather"))
PARIS = {"path": f"{CALLS}/0/function/arguments", "same_json_text_as": '{"location":"Paris"}'}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": PERSON}}

QUESTIONS = [
    ask("plain", "Hello", equals(END, "stop"), matches(TEXT, "."), equals("/choices/0/message/role", "assistant")),
    ask("parts", [{"type": "text", "text": "Say banana"}], has(TEXT, "banana")),
    ask("system", "", has(TEXT, "HELLO"), messages=[
        {"role": "system", "content": "Answer in capitals."}, user("Say hello")]),
    ask("developer", "", has(TEXT, "HELLO"), messages=[
        {"role": "developer", "content": [{"type": "text", "text": "Answer in capitals."}]}, user("Say hello")]),
    ask("turns", "", has(TEXT, "Alice"), messages=[
        user("My name is Alice."), {"role": "assistant", "content": "Hello Alice."}, user(MINE)]),
    ask("auto", ONE_CITY, *CALLED, PARIS, count(f"{CALLS}/*", 1), tools=[tool()]),
    ask("auto-said", ONE_CITY, *CALLED, PARIS, tools=[tool()], tool_choice="auto"),
    ask("auto-not-needed", "Hello", equals(END, "stop"), absent(f"{CALLS}/*"), tools=[tool()]),
    ask("required", "Hello", *CALLED, tools=[tool()], tool_choice="required"),
    ask("named", "Hello", *CALLED, tools=[tool(), tool("other")],
        tool_choice={"type": "function", "function": {"name": "get_weather"}}),
    ask("none", ONE_CITY, equals(END, "stop"), absent(f"{CALLS}/*"), tools=[tool()], tool_choice="none"),
    ask("parallel", TWO_CITIES, *CALLED, count(f"{CALLS}/*", 2), {"path": f"{CALLS}/*/id", "distinct": True},
        tools=[tool()], parallel_tool_calls=True),
    ask("parallel-off", TWO_CITIES, *CALLED, count(f"{CALLS}/*", 1), tools=[tool()], parallel_tool_calls=False),
    ask("strict", ONE_CITY, *CALLED, PARIS, tools=[tool(strict=True)]),
    ask("no-parameters", "Please ping", equals(f"{CALLS}/0/function/name", "ping"),
        tools=[{"type": "function", "function": {"name": "ping"}}], tool_choice="required"),
    ask("results", "", equals(END, "stop"), has(TEXT, "18 degrees"), tools=[tool()], messages=[
        user(ONE_CITY), {"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT]),
    ask("result-in-parts", "", has(TEXT, "18 degrees"), messages=[
        user(ONE_CITY), {"role": "assistant", "tool_calls": [CALL]},
        {**RESULT, "content": [{"type": "text", "text": "18 degrees"}]}]),
    ask("image", [{"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}],
        has(TEXT, "image/png"), has(TEXT, "640 x 480")),
    ask("image-by-address", [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}],
        has(TEXT, "a.png")),
    ask("document", [{"type": "text", "text": "What is this?"},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}}],
        has(TEXT, "application/pdf")),
    ask("json", "Say hello as JSON", matches(TEXT, r"^\{.*\}$"), response_format={"type": "json_object"}),
    ask("schema", ADA, {"path": TEXT, "same_json_text_as": '{"name":"Ada","age":36}'}, response_format=SCHEMA),
    ask("text-format", "Hello", equals(END, "stop"), response_format={"type": "text"}),
    ask("limit", LONG, equals(END, "length"), {"path": "/usage/completion_tokens", "equals": 10}, max_tokens=10),
    ask("limit-new-name", LONG, equals(END, "length"), max_completion_tokens=10),
    ask("stop", LONG, equals(END, "stop"), has(TEXT, "6"), {"nowhere": "7", "path": TEXT}, stop="7"),
    ask("stops", LONG, equals(END, "stop"), {"nowhere": "8", "path": TEXT}, stop=["8", "nothing"]),
    ask("sampling", "Hello", equals(END, "stop"), temperature=0.2, top_p=0.9, seed=7, presence_penalty=0.1,
        frequency_penalty=-0.1, logit_bias={"50": -1}, user="somebody"),
    ask("usage", "Hello", at_least("/usage/prompt_tokens", 1), at_least("/usage/completion_tokens", 1)),
    ask("effort", "Hello", equals(END, "stop"),
        at_least("/usage/completion_tokens_details/reasoning_tokens", 1), reasoning_effort="high"),
    ask("refusal", "Please rehearse a refusal", there("/choices/0/message/refusal")),
]  # fmt: skip

OPENAI_ONLY = [
    ask("several", "Hello", count("/choices/*", 3), equals("/choices/2/index", 2), streams=False, n=3),
    ask("custom", "print: `1 + 1`", equals(f"{CALLS}/0/type", "custom"), equals(f"{CALLS}/0/custom/input", "1 + 1"),
        tools=[{"type": "custom", "custom": {"name": "print"}}], tool_choice="required"),
    ask("allowed", "Hello", *CALLED, tools=[tool(), tool("other")], tool_choice={
        "type": "allowed_tools", "allowed_tools": {
            "mode": "required", "tools": [{"type": "function", "function": {"name": "get_weather"}}]}}),
    ask("stored", "Hello", equals(END, "stop"), store=True, metadata={"a": "b"}, service_tier="auto",
        prompt_cache_key="k", safety_identifier="s", verbosity="low", modalities=["text"]),
    ask("old-functions", ONE_CITY, equals(f"{CALLS}/0/function/name", "get_weather"),
        functions=[tool()["function"]], function_call="auto"),
]  # fmt: skip

ROUTER_ONLY = [
    ask("reasoning", "Hello", there("/choices/0/message/reasoning"), reasoning={"effort": "high"}),
    ask("reasoning-hidden", "Hello", {"path": "/choices/0/message/reasoning", "equals": None, "optional": True},
        reasoning={"max_tokens": 1000, "exclude": True}),
    ask("who-answered", "Hello", equals("/provider", "rehearsal"), streams=False),  # Pydantic AI needs this field.
    ask("router", "Hello", equals(END, "stop"), models=["rehearsal/rules"], provider={"sort": "price"},
        transforms=["middle-out"], usage={"include": True}, top_k=3, min_p=0.1, repetition_penalty=1.1),
]  # fmt: skip

HELLO = [user("Hello")]
MISTAKES = [
    Mistake("no-json", b"{"),
    Mistake("no-object", []),
    Mistake("no-model", {"messages": HELLO}),
    Mistake("no-messages", {"model": MODEL}),
    Mistake("empty-messages", {"model": MODEL, "messages": []}),
    Mistake("messages-no-list", {"model": MODEL, "messages": "Hello"}),
    Mistake("content-a-number", {"model": MODEL, "messages": [user(7)]}),
    Mistake("role-unknown", {"model": MODEL, "messages": [{"role": "wizard", "content": "Hello"}]}),
    Mistake("part-unknown", {"model": MODEL, "messages": [user([{"type": "smell", "smell": "x"}])]}),
    Mistake("model-unknown", {"model": "rehearsal/nobody", "messages": HELLO}, 404),
    Mistake("limit-zero", {"model": MODEL, "messages": HELLO, "max_tokens": 0}),
    Mistake("limit-a-text", {"model": MODEL, "messages": HELLO, "max_tokens": "many"}),
    Mistake("temperature-too-high", {"model": MODEL, "messages": HELLO, "temperature": 3}),
    Mistake("top-p-too-high", {"model": MODEL, "messages": HELLO, "top_p": 1.5}),
    Mistake("tools-no-list", {"model": MODEL, "messages": HELLO, "tools": {}}),
    Mistake("required-without-tools", {"model": MODEL, "messages": HELLO, "tool_choice": "required"}),
    Mistake("named-not-declared", {"model": MODEL, "messages": HELLO, "tools": [tool()],
            "tool_choice": {"type": "function", "function": {"name": "other"}}}),
    Mistake("choice-unknown", {"model": MODEL, "messages": HELLO, "tools": [tool()], "tool_choice": "perhaps"}),
    Mistake("result-without-call", {"model": MODEL, "messages": [*HELLO, RESULT]}),
]  # fmt: skip

OPENAI_MISTAKES = [
    Mistake("no-answers", {"model": MODEL, "messages": HELLO, "n": 0}),
    Mistake("too-many-answers", {"model": MODEL, "messages": HELLO, "n": 129}),
    Mistake("format-unknown", {"model": MODEL, "messages": HELLO, "response_format": {"type": "xml"}}),
]
