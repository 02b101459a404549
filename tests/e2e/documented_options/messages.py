"""Requests of Messages, from Anthropic's documentation."""

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
TEXT = "/content/[type=text]/#0/text"
CALLS = "/content/[type=tool_use]"
END = "/stop_reason"
TOOL: Doc = {"name": "get_weather", "description": "Get the current weather", "input_schema": WEATHER}
OTHER: Doc = {**TOOL, "name": "other"}


def user(content: Any) -> Doc:
    return {"role": "user", "content": content}


def ask(name: str, content: Any, *facts: Doc, **more: Any) -> Question:
    messages = more.pop("messages", [user(content)])
    always = (
        matches("/id", "."),
        equals("/type", "message"),
        equals("/role", "assistant"),
        equals("/model", MODEL),
        at_least("/usage/input_tokens", 1),
        at_least("/usage/output_tokens", 0),
    )
    body = {"model": MODEL, "max_tokens": 4000, "messages": messages, **more}
    return Question(name, body, (*always, *facts))


CALL = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"location": "Paris"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 degrees, sunny"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
CALLED = (equals(END, "tool_use"), equals(f"{CALLS}/#0/name", "get_weather"))
PARIS = equals(f"{CALLS}/#0/input", {"location": "Paris"})
CACHED = {"cache_control": {"type": "ephemeral"}}
THINKING = {"type": "enabled", "budget_tokens": 1024}

QUESTIONS = [
    ask("plain", "Hello", equals(END, "end_turn"), matches(TEXT, "."), equals("/stop_sequence", None)),
    ask("blocks", [{"type": "text", "text": "Say banana", **CACHED}], has(TEXT, "banana")),
    ask("system", "Say hello", has(TEXT, "HELLO"), system="Answer in capitals."),
    ask("system-blocks", "Say hello", has(TEXT, "HELLO"), system=[
        {"type": "text", "text": "Answer in capitals.", **CACHED}]),
    ask("turns", "", has(TEXT, "Alice"), messages=[
        user("My name is Alice."), {"role": "assistant", "content": "Hello Alice."}, user(MINE)]),
    ask("auto", ONE_CITY, *CALLED, PARIS, count(CALLS, 1), tools=[TOOL]),
    ask("auto-said", ONE_CITY, *CALLED, PARIS, tools=[{**TOOL, **CACHED}], tool_choice={"type": "auto"}),
    ask("auto-not-needed", "Hello", equals(END, "end_turn"), absent(CALLS), tools=[TOOL]),
    ask("any", "Hello", *CALLED, tools=[TOOL], tool_choice={"type": "any"}),
    ask("named", "Hello", *CALLED, tools=[TOOL, OTHER], tool_choice={"type": "tool", "name": "get_weather"}),
    ask("none", ONE_CITY, equals(END, "end_turn"), absent(CALLS), tools=[TOOL], tool_choice={"type": "none"}),
    ask("parallel", TWO_CITIES, *CALLED, count(CALLS, 2), {"path": f"{CALLS}/id", "distinct": True}, tools=[TOOL]),
    ask("parallel-off", TWO_CITIES, *CALLED, count(CALLS, 1), tools=[TOOL],
        tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
    ask("strict", ONE_CITY, *CALLED, PARIS, tools=[{**TOOL, "strict": True}]),
    ask("results", "", equals(END, "end_turn"), has(TEXT, "18 degrees"), tools=[TOOL], messages=[
        user(ONE_CITY), {"role": "assistant", "content": [{"type": "text", "text": "I look."}, CALL]}, user([RESULT])]),
    ask("failed-result", "", has(TEXT, "failed"), tools=[TOOL], messages=[
        user(ONE_CITY), {"role": "assistant", "content": [CALL]}, user([{**RESULT, "is_error": True}])]),
    ask("image-in-result", "", has(TEXT, "640 x 480"), tools=[TOOL], messages=[
        user(ONE_CITY), {"role": "assistant", "content": [CALL]},
        user([{**RESULT, "content": [{"type": "text", "text": "18 degrees"}, IMAGE]}])]),
    ask("image", [IMAGE, {"type": "text", "text": "What is this?"}], has(TEXT, "image/png"), has(TEXT, "640 x 480")),
    ask("image-by-address", [{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}],
        has(TEXT, "a.png")),
    ask("document", [{"type": "document", "title": "A", "source": {
        "type": "base64", "media_type": "application/pdf", "data": PDF}}], has(TEXT, "application/pdf")),
    ask("text-document", [{"type": "document", "source": {
        "type": "text", "media_type": "text/plain", "data": "Words."}}], matches(TEXT, ".")),
    ask("schema", ADA, {"path": TEXT, "same_json_text_as": '{"name":"Ada","age":36}'},
        output_config={"format": {"type": "json_schema", "schema": PERSON}}),
    ask("limit", LONG, equals(END, "max_tokens"), equals("/usage/output_tokens", 10), max_tokens=10),
    ask("warming", LONG, equals(END, "max_tokens"), absent("/content/*"), max_tokens=0),
    ask("stop", LONG, equals(END, "stop_sequence"), equals("/stop_sequence", "7"), has(TEXT, "6"),
        {"nowhere": "7", "path": TEXT}, stop_sequences=["7"]),
    ask("sampling", "Hello", equals(END, "end_turn"), temperature=0.2, top_k=5, metadata={"user_id": "u"},
        service_tier="auto"),
    ask("thinking", "Hello", equals("/content/0/type", "thinking"), matches("/content/0/signature", "."),
        matches("/content/0/thinking", "."), matches(TEXT, "."), thinking=THINKING),
    ask("thinking-adaptive", "Hello", matches("/content/[type=thinking]/#0/signature", "."),
        thinking={"type": "adaptive"}, output_config={"effort": "high"}),
    ask("thinking-call", ONE_CITY, *CALLED, equals("/content/0/type", "thinking"), tools=[TOOL], thinking=THINKING),
    ask("thinking-off", "Hello", absent("/content/[type=thinking]"), thinking={"type": "disabled"}),
    ask("prefill", "", equals(END, "end_turn"), messages=[
        user("Say banana"), {"role": "assistant", "content": "I say"}]),
    ask("two-in-a-row", "", has(TEXT, "banana"), messages=[user("Hello."), user("Say banana")]),
    ask("system-turn", "", has(TEXT, "HELLO"), messages=[
        user("Say hello"), {"role": "system", "content": "Answer in capitals."}]),
    ask("refusal", "Please rehearse a refusal", equals(END, "refusal"), there("/content")),
]  # fmt: skip

HELLO = [user("Hello")]


def wrong(name: str, status: int = 400, **more: Any) -> Mistake:
    body = {"model": MODEL, "max_tokens": 100, "messages": HELLO, **more}
    return Mistake(name, {key: value for key, value in body.items() if value is not None}, status)


MISTAKES = [
    Mistake("no-json", b"{"),
    Mistake("no-object", []),
    wrong("no-model", model=None),
    wrong("no-messages", messages=None),
    wrong("no-limit", max_tokens=None),
    wrong("empty-messages", messages=[]),
    wrong("messages-no-list", messages="Hello"),
    wrong("content-a-number", messages=[user(7)]),
    wrong("content-empty", messages=[user("")]),
    wrong("role-unknown", messages=[{"role": "wizard", "content": "Hello"}]),
    wrong("block-unknown", messages=[user([{"type": "smell"}])]),
    wrong("model-unknown", 404, model="rehearsal/nobody"),
    wrong("limit-below-zero", max_tokens=-1),
    wrong("limit-a-text", max_tokens="many"),
    wrong("temperature-too-high", temperature=2),
    wrong("tools-no-list", tools={}),
    wrong("tool-without-schema", tools=[{"name": "get_weather"}]),
    wrong("named-not-declared", tools=[TOOL], tool_choice={"type": "tool", "name": "other"}),
    wrong("choice-unknown", tools=[TOOL], tool_choice={"type": "perhaps"}),
    wrong("result-without-call", messages=[user([RESULT])]),
    wrong("call-without-result", messages=[*HELLO, {"role": "assistant", "content": [CALL]}, user("And?")]),
    wrong("budget-too-small", thinking={"type": "enabled", "budget_tokens": 10}, max_tokens=4000),
    wrong("budget-over-limit", thinking={"type": "enabled", "budget_tokens": 2000}),
]
