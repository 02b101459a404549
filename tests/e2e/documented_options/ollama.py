"""Requests of /api/chat, from Ollama's documentation."""

from __future__ import annotations

from typing import Any

from tests.e2e.documented_options import (
    ADA,
    LONG,
    MINE,
    ONE_CITY,
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
TEXT = "/message/content"
CALLS = "/message/tool_calls"
TOOL: Doc = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Get the current weather", "parameters": WEATHER},
}


def user(content: str, **more: Any) -> Doc:
    return {"role": "user", "content": content, **more}


def ask(name: str, content: Any, *facts: Doc, end: str = "stop", **more: Any) -> Question:
    messages = content if isinstance(content, list) else [user(content)]
    always = (
        equals("/model", MODEL),
        equals("/message/role", "assistant"),
        equals("/done", True),
        equals("/done_reason", end),
        there("/created_at"),
        at_least("/prompt_eval_count", 1),
        at_least("/eval_count", 1),
    )
    return Question(name, {"model": MODEL, "messages": messages, **more}, (*always, *facts))


CALL = {"function": {"name": "get_weather", "arguments": {"location": "Paris"}}}
RESULT = {"role": "tool", "tool_name": "get_weather", "content": "18 degrees, sunny"}
PARIS = equals(f"{CALLS}/0/function/arguments", {"location": "Paris"})
MADE = {"path": TEXT, "same_json_text_as": '{"name":"Ada","age":36}'}

QUESTIONS = [
    ask("plain", "Hello", matches(TEXT, ".")),
    ask("system", [{"role": "system", "content": "Answer in capitals."}, user("Say hello")], has(TEXT, "HELLO")),
    ask("turns", [user("My name is Alice."), {"role": "assistant", "content": "Hello."}, user(MINE)],
        has(TEXT, "Alice")),
    ask("tool", ONE_CITY, PARIS, count(f"{CALLS}/*", 1), tools=[TOOL]),
    ask("tool-not-needed", "Hello", absent(f"{CALLS}/*"), tools=[TOOL]),
    ask("choice-passed-over", ONE_CITY, PARIS, tools=[TOOL], tool_choice="auto"),  # The AI SDK's provider sends this.
    ask("parallel", TWO_CITIES, count(f"{CALLS}/*", 2), tools=[TOOL]),
    ask("results", [user(ONE_CITY), {"role": "assistant", "content": "", "tool_calls": [CALL]}, RESULT],
        has(TEXT, "18 degrees"), tools=[TOOL]),
    ask("image", [user("What is this?", images=[PNG])], has(TEXT, "640 x 480")),
    ask("json", "Say hello as JSON", matches(TEXT, r"^\{.*\}$"), format="json"),
    ask("schema", ADA, MADE, format=PERSON),
    ask("limit", LONG, equals("/eval_count", 10), end="length", options={"num_predict": 10}),
    ask("stop", LONG, has(TEXT, "6"), {"nowhere": "7", "path": TEXT}, options={"stop": ["7"]}),
    ask("options", "Hello", matches(TEXT, "."), keep_alive="5m", options={
        "temperature": 0.2, "top_k": 3, "top_p": 0.9, "seed": 7, "num_ctx": 4096, "repeat_penalty": 1.1}),
    ask("thinking", "Hello", matches("/message/thinking", "."), matches(TEXT, "."), think=True),
    ask("thinking-level", "Hello", matches("/message/thinking", "."), think="high"),
    ask("thinking-off", "Hello", absent("/message/thinking"), think=False),
]  # fmt: skip

HELLO = [user("Hello")]
MISTAKES = [
    Mistake("no-json", b"{"),
    Mistake("no-object", []),
    Mistake("no-model", {"messages": HELLO}),
    Mistake("messages-a-text", {"model": MODEL, "messages": "Hello"}),
    Mistake("content-a-number", {"model": MODEL, "messages": [{"role": "user", "content": 7}]}),
    Mistake("role-unknown", {"model": MODEL, "messages": [{"role": "wizard", "content": "Hello"}]}),
    Mistake("model-unknown", {"model": "rehearsal/nobody", "messages": HELLO}, 404),
    Mistake("option-a-text", {"model": MODEL, "messages": HELLO, "options": {"num_predict": "many"}}),
    Mistake("thinking-unknown", {"model": MODEL, "messages": HELLO, "think": "deeply"}),
    Mistake("image-no-base64", {"model": MODEL, "messages": [user("What?", images=["???"])]}),
]
