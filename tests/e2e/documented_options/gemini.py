"""Requests of generateContent, from Google's documentation of the Developer API. Code Assist wraps them."""

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
PARTS = "/candidates/0/content/parts"
TEXT = f"{PARTS}/[text]/#-1/text"
CALLS = f"{PARTS}/[functionCall]/functionCall"
END = "/candidates/0/finishReason"
SCHEMA = {"type": "OBJECT", "properties": {"location": {"type": "STRING"}}, "required": ["location"]}
DECLARED: Doc = {"name": "get_weather", "description": "Get the current weather", "parameters": SCHEMA}
TOOLS = [{"functionDeclarations": [DECLARED]}]
TWO = [{"functionDeclarations": [DECLARED, {**DECLARED, "name": "other"}]}]


def user(*parts: Doc | str) -> Doc:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def ask(name: str, contents: Any, *facts: Doc, config: Doc | None = None, **more: Any) -> Question:
    turns = contents if isinstance(contents, list) else [user(contents)]
    always = (
        equals("/candidates/0/content/role", "model"),
        at_least("/usageMetadata/promptTokenCount", 1),
        at_least("/usageMetadata/totalTokenCount", 1),
        there("/modelVersion"),
    )
    body: Doc = {"contents": turns, **({"generationConfig": config} if config else {}), **more}
    return Question(name, body, (*always, *facts), streams=name != "several")


def mode(word: str, *names: str) -> Doc:
    config: Doc = {"mode": word, **({"allowedFunctionNames": list(names)} if names else {})}
    return {"functionCallingConfig": config}


CALL = {"functionCall": {"name": "get_weather", "args": {"location": "Paris"}}}
RESULT = {"functionResponse": {"name": "get_weather", "response": {"output": "18 degrees, sunny"}}}
IMAGE = {"inlineData": {"mimeType": "image/png", "data": PNG}}
MODEL_CALLED = {"role": "model", "parts": [CALL]}
CALLED = (equals(f"{CALLS}/#0/name", "get_weather"), equals(END, "STOP"))
PARIS = equals(f"{CALLS}/#0/args", {"location": "Paris"})
PERSON_GOOGLE = {"type": "OBJECT", "properties": {"name": {"type": "STRING"}, "age": {"type": "INTEGER"}},
                 "required": ["name", "age"], "propertyOrdering": ["name", "age"]}  # fmt: skip
JSON = "application/json"
MADE = {"path": TEXT, "same_json_text_as": '{"name":"Ada","age":36}'}

QUESTIONS = [
    ask("plain", "Hello", equals(END, "STOP"), matches(TEXT, ".")),
    ask("no-role", [{"parts": [{"text": "Say banana"}]}], has(TEXT, "banana")),
    ask("system", "Say hello", has(TEXT, "HELLO"), systemInstruction={"parts": [{"text": "Answer in capitals."}]}),
    ask("turns", [user("My name is Alice."), {"role": "model", "parts": [{"text": "Hello Alice."}]}, user(MINE)],
        has(TEXT, "Alice")),
    ask("auto", ONE_CITY, *CALLED, PARIS, count(CALLS, 1), tools=TOOLS),
    ask("auto-said", ONE_CITY, *CALLED, tools=TOOLS, toolConfig=mode("AUTO")),
    ask("auto-not-needed", "Hello", absent(CALLS), tools=TOOLS),
    ask("any", "Hello", *CALLED, tools=TOOLS, toolConfig=mode("ANY")),
    ask("named", "Hello", *CALLED, tools=TWO, toolConfig=mode("ANY", "get_weather")),
    ask("none", ONE_CITY, absent(CALLS), tools=TOOLS, toolConfig=mode("NONE")),
    ask("validated", ONE_CITY, *CALLED, tools=TOOLS, toolConfig=mode("VALIDATED")),
    ask("parallel", TWO_CITIES, *CALLED, count(CALLS, 2), tools=TOOLS),
    ask("json-schema-tool", ONE_CITY, *CALLED, PARIS, tools=[{"functionDeclarations": [
        {"name": "get_weather", "description": "Weather", "parametersJsonSchema": {
            "type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}}]}]),
    ask("results", [user(ONE_CITY), MODEL_CALLED, user(RESULT)], has(TEXT, "18 degrees"), tools=TOOLS),
    ask("result-of-a-function", [user(ONE_CITY), MODEL_CALLED, {"role": "function", "parts": [RESULT]}],
        has(TEXT, "18 degrees"), tools=TOOLS),
    ask("image", [user("What is this?", IMAGE)], has(TEXT, "image/png"), has(TEXT, "640 x 480")),
    ask("file", [user({"fileData": {"mimeType": "image/png", "fileUri": "https://example.com/a.png"}})],
        has(TEXT, "a.png")),
    ask("document", [user({"inlineData": {"mimeType": "application/pdf", "data": PDF}})], has(TEXT, "application/pdf")),
    ask("json", "Say hello as JSON", matches(TEXT, r"^\{.*\}$"), config={"responseMimeType": JSON}),
    ask("schema", ADA, MADE, config={"responseMimeType": JSON, "responseSchema": PERSON_GOOGLE}),
    ask("json-schema", ADA, MADE, config={"responseMimeType": JSON, "responseJsonSchema": PERSON}),
    ask("limit", LONG, equals(END, "MAX_TOKENS"), equals("/usageMetadata/candidatesTokenCount", 10),
        config={"maxOutputTokens": 10}),
    ask("stop", LONG, equals(END, "STOP"), has(TEXT, "6"), {"nowhere": "7", "path": TEXT},
        config={"stopSequences": ["7"]}),
    ask("several", "Hello", count("/candidates/*", 2), equals("/candidates/1/index", 1), config={"candidateCount": 2}),
    ask("sampling", "Hello", equals(END, "STOP"), config={
        "temperature": 0.2, "topP": 0.9, "topK": 40, "seed": 7, "presencePenalty": 0.1, "frequencyPenalty": 0.1}),
    ask("thinking", "Hello", equals(f"{PARTS}/0/thought", True), matches(TEXT, "."),
        at_least("/usageMetadata/thoughtsTokenCount", 1),
        config={"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 1024}}),
    ask("thinking-level", "Hello", at_least("/usageMetadata/thoughtsTokenCount", 1),
        {"path": f"{PARTS}/[thought]/text", "equals": "", "optional": True},
        config={"thinkingConfig": {"thinkingLevel": "HIGH"}}),
    ask("thinking-call", ONE_CITY, equals(f"{CALLS}/#0/name", "get_weather"), there(f"{PARTS}/[thoughtSignature]"),
        tools=TOOLS, config={"thinkingConfig": {"includeThoughts": True, "thinkingBudget": -1}}),
    ask("thinking-off", "Hello", absent(f"{PARTS}/[thought]"), config={"thinkingConfig": {"thinkingBudget": 0}}),
    ask("safety", "Hello", equals(END, "STOP"), safetySettings=[
        {"category": "HARM_CATEGORY_HATE_SPEECH", "threshold": "BLOCK_NONE"}]),
    ask("labels", "Hello", equals(END, "STOP"), labels={"a": "b"}),
]  # fmt: skip

HELLO = [user("Hello")]
MISTAKES = [
    Mistake("no-json", b"{"),
    Mistake("no-object", []),
    Mistake("no-contents", {}),
    Mistake("empty-contents", {"contents": []}),
    Mistake("contents-a-number", {"contents": 7}),
    Mistake("text-a-number", {"contents": [{"role": "user", "parts": [{"text": 7}]}]}),
    Mistake("no-parts", {"contents": [{"role": "user", "parts": []}]}),
    Mistake("role-unknown", {"contents": [{"role": "wizard", "parts": [{"text": "Hello"}]}]}),
    Mistake("limit-zero", {"contents": HELLO, "generationConfig": {"maxOutputTokens": 0}}),
    Mistake("temperature-too-high", {"contents": HELLO, "generationConfig": {"temperature": 3}}),
    Mistake("temperature-a-text", {"contents": HELLO, "generationConfig": {"temperature": "hot"}}),
    Mistake("named-not-declared", {"contents": HELLO, "tools": TOOLS, "toolConfig": mode("ANY", "other")}),
    Mistake("too-many-answers", {"contents": HELLO, "generationConfig": {"candidateCount": 1000}}),
]
