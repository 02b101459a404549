"""Owns the generators of canon values: conversations, tools, settings, answers. Each value has a unique place."""

from __future__ import annotations

import base64
import json
from typing import Any, Literal

import msgspec
from hypothesis import strategies as st

from dragoman.canon import (
    Alternative,
    Choice,
    Citation,
    Format,
    Grammar,
    Media,
    Part,
    Path,
    Reasoning,
    Request,
    Response,
    Seal,
    Settings,
    Stop,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)

Json = Any
MODES: tuple[Literal["auto", "none", "required", "one"], ...] = ("auto", "none", "required", "one")

# Every character JSON can hold: no lone surrogates.
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(lambda text: text.strip())
names = st.from_regex(r"[a-z][a-zA-Z0-9_]{0,20}", fullmatch=True)
odd_names = st.sampled_from(["a.b", "get weather", "x" * 80, "naïve", "1st", "crm/find", "_"])
ids = st.from_regex(r"call_[a-zA-Z0-9]{1,20}", fullmatch=True)
odd_ids = st.sampled_from(["fc.1:2", "id with space", "y" * 70, "ü"])

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9).map(lambda x: x + 0.0) | words
values: st.SearchStrategy[Json] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)
objects = st.dictionaries(names, values, max_size=3)
arguments = objects.map(json.dumps) | objects.map(lambda value: json.dumps(value, separators=(",", ":")))
odd_arguments = st.sampled_from(["", " ", "null", "[1]", '{"a": ', "text", '"text"', '{"a":1}{"b":2}', "12"])

base64s = st.binary(min_size=1, max_size=12).map(lambda raw: base64.b64encode(raw).decode())


@st.composite
def media(draw: st.DrawFn) -> Media:
    kind, mime = draw(
        st.sampled_from(
            [
                ("image", "image/png"),
                ("image", "image/jpeg"),
                ("document", "application/pdf"),
                ("document", "text/plain"),
                ("audio", "audio/wav"),
                ("video", "video/mp4"),
                ("image", "image/bmp"),
            ]
        )
    )
    if draw(st.booleans()):
        ending = {"image": "png", "document": "pdf", "audio": "wav", "video": "mp4"}[kind]
        return Media(kind, mime, url=f"https://example.com/{draw(names)}.{ending}")  # type: ignore[arg-type]
    name = draw(st.sampled_from(["", "a.pdf", "report"])) if kind == "document" else ""
    detail = draw(st.sampled_from(["", "low", "high"])) if kind == "image" else ""
    return Media(kind, mime, draw(base64s), name=name, detail=detail)  # type: ignore[arg-type]


@st.composite
def schemas(draw: st.DrawFn) -> str | None:
    """Draw JSON Schemas of tools, with keywords that some targets refuse."""
    leaf: st.SearchStrategy[Json] = st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "enum": ["a", "b"]},
            {"type": "string", "pattern": "^a+$", "minLength": 1},
            {"type": "integer", "minimum": 0, "exclusiveMaximum": 9},
            {"type": "number", "multipleOf": 2, "default": 4},
            {"type": ["string", "null"], "title": "T"},
            {"const": "x"},
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            {"allOf": [{"type": "object", "properties": {"p": {"type": "string"}}}]},
            {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 3},
            {"type": "object", "additionalProperties": False, "properties": {}},
            {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
            {"$ref": "#/$defs/node"},
            {},
            True,
        ]
    )
    if draw(st.integers(0, 9)) == 0:
        return None
    properties = draw(st.dictionaries(names, leaf, max_size=4))
    schema: Json = {"type": "object", "properties": properties}
    if "$ref" in json.dumps(properties):
        node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "word": {"type": "string"}}}
        schema["$defs"] = {"node": node}
    if bool(properties) and draw(st.booleans()):
        schema["required"] = sorted(properties)[:1]
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans())
    return json.dumps(schema)


@st.composite
def tools(draw: st.DrawFn) -> tuple[Tool, ...]:
    found = draw(st.lists(names | odd_names, max_size=4, unique=True))
    out = []
    for i, name in enumerate(found):
        at: Path = ("tools", i)
        description = draw(st.just("") | words)
        if draw(st.integers(0, 7)) == 0:
            grammar = draw(st.none() | st.just(Grammar("lark", "start: WORD")))
            out.append(Tool(name, description, custom=True, grammar=grammar, at=at))
            continue
        strict = draw(st.sampled_from([None, None, False, True]))
        cache = draw(st.sampled_from([None, None, None, "", "1h"]))
        out.append(Tool(name, description, draw(schemas()), strict, cache=cache, at=at, schema_at=("schema",)))
    return tuple(out)


@st.composite
def calls(draw: st.DrawFn, declared: tuple[Tool, ...], taken: set[str]) -> ToolCall:
    call_id = draw((ids | odd_ids).filter(lambda one: one not in taken))
    taken.add(call_id)
    custom = [tool.name for tool in declared if tool.custom]
    if bool(custom) and draw(st.booleans()):
        return ToolCall(call_id, draw(st.sampled_from(custom)), draw(words), True)
    functions = [tool.name for tool in declared if not tool.custom]
    name = draw(st.sampled_from(functions)) if functions else draw(names)
    return ToolCall(call_id, name, draw(arguments | odd_arguments))


@st.composite
def results(draw: st.DrawFn, call: ToolCall) -> ToolResult:
    if not call.custom and draw(st.integers(0, 5)) == 0:
        text = json.dumps(draw(objects))
        return ToolResult(call.id, (Text(text),), call.name, structured=True)
    inner: list[Part] = draw(st.lists(words.map(Text) | media(), max_size=3))
    return ToolResult(call.id, tuple(inner), call.name, draw(st.booleans()), custom=call.custom)


reasonings = st.builds(
    lambda text, dialect, data: Reasoning(text, seal=Seal(dialect, data) if data else None),
    words,
    st.sampled_from(["anthropic", "gemini", "openai-responses"]),
    st.just("") | base64s,
)


@st.composite
def conversations(draw: st.DrawFn, declared: tuple[Tool, ...]) -> tuple[Turn, ...]:
    """Draw legal turns: a result directly after every call, the user last."""
    turns: list[Turn] = []
    taken: set[str] = set()
    if draw(st.booleans()):
        turns.append(Turn("system", tuple([Text(text) for text in draw(st.lists(words, min_size=1, max_size=2))])))
    for _ in range(draw(st.integers(1, 3))):
        asked: list[Part] = [Text(draw(words)), *draw(st.lists(words.map(Text) | media(), max_size=2))]
        cache = draw(st.sampled_from([None, None, None, "", "5m"]))
        asked[-1] = msgspec.structs.replace(asked[-1], cache=cache)
        turns.append(Turn("user", tuple(asked), draw(st.sampled_from(["", "", "", "ada"]))))
        if draw(st.integers(0, 5)) == 0:
            turns.append(Turn(draw(st.sampled_from(["system", "developer"])), (Text(draw(words)),)))
        for _ in range(draw(st.integers(0, 2))):
            made = [draw(calls(declared, taken)) for _ in range(draw(st.integers(1, 2)))]
            said: list[Part] = [*draw(st.lists(reasonings, max_size=1)), *draw(st.lists(words.map(Text), max_size=1))]
            turns.append(Turn("assistant", (*said, *made)))
            turns.append(Turn("tool", tuple([draw(results(call)) for call in made])))
        if draw(st.booleans()):
            turns.append(Turn("assistant", (*draw(st.lists(reasonings, max_size=1)), Text(draw(words)))))
    if turns[-1].role != "tool":
        turns.append(Turn("user", (Text(draw(words)),)))
    return tuple(turns)


def placed(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Give every part of the turns a unique place."""
    out = []
    for i, turn in enumerate(turns):
        parts = [_placed(part, ("turns", i, "parts", j)) for j, part in enumerate(turn.parts)]
        out.append(msgspec.structs.replace(turn, parts=tuple(parts), at=("turns", i)))
    return tuple(out)


def _placed(part: Part, at: Path) -> Part:
    if isinstance(part, ToolResult):
        inner = [_placed(piece, (*at, "parts", k)) for k, piece in enumerate(part.parts)]
        return msgspec.structs.replace(part, parts=tuple(inner), at=at)
    return msgspec.structs.replace(part, at=at)


SETTING_PLACES = {field: ("settings", field) for field in Settings.__struct_fields__}


@st.composite
def settings(draw: st.DrawFn) -> Settings:
    def maybe(strategy: st.SearchStrategy[Any]) -> Any:
        return draw(st.none() | strategy)

    schema = json.dumps({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    budget = maybe(st.sampled_from([0, -1, 1024, 8192, 30000]))
    return Settings(
        maybe(st.integers(1, 100_000)),
        maybe(st.sampled_from([0.0, 0.5, 1.0, 1.7])),
        maybe(st.sampled_from([0.1, 1.0])),
        maybe(st.sampled_from([1, 40])),
        draw(st.lists(names, max_size=6).map(tuple)),
        maybe(st.integers(0, 2**31)),
        maybe(st.sampled_from([-1.0, 0.5])),
        maybe(st.sampled_from([-1.0, 0.5])),
        maybe(st.sampled_from([1, 2])),
        maybe(st.just(True)),
        None,
        maybe(st.booleans()),
        None if budget is not None else maybe(st.sampled_from(["none", "minimal", "low", "medium", "high", "xhigh"])),
        budget,
        maybe(st.booleans()),
        maybe(st.sampled_from(["low", "high"])),
        maybe(st.sampled_from([Format("json"), Format("schema", schema, "shape", "A shape", True)])),
        maybe(names),
        maybe(st.dictionaries(names, words, min_size=1, max_size=2)),
        None,
        maybe(names),
        at=SETTING_PLACES,
    )


@st.composite
def requests(draw: st.DrawFn) -> Request:
    declared = draw(tools())
    choice = None
    if bool(declared) and draw(st.booleans()):
        mode = draw(st.sampled_from(MODES))
        some = draw(st.lists(st.sampled_from([tool.name for tool in declared]), unique=True, max_size=2))
        chosen = {"none": (), "one": (declared[0].name,)}.get(mode, tuple(some))
        choice = Choice(mode, chosen, at=("choice",))
    turns = placed(draw(conversations(declared)))
    return Request(turns, "some-model", declared, choice, draw(settings()), draw(st.sampled_from([None, False, True])))


citations = st.builds(
    lambda url, title, quote: Citation(f"https://example.com/{url}", title, quote), names, words, st.just("") | words
)


@st.composite
def answer_parts(draw: st.DrawFn) -> tuple[Part, ...]:
    taken: set[str] = set()
    parts: list[Part] = draw(st.lists(reasonings, max_size=1))
    if draw(st.booleans()):
        parts.append(Text(draw(words), citations=tuple(draw(st.lists(citations, max_size=2)))))
    if draw(st.booleans()):
        parts += [draw(calls((), taken)) for _ in range(draw(st.integers(1, 3)))]
    return tuple(parts)


@st.composite
def responses(draw: st.DrawFn, *, several: bool = False) -> Response:
    parts = draw(answer_parts())
    calling = any(isinstance(part, ToolCall) for part in parts)
    reasons = ["tool_calls", "length"] if calling else ["stop", "stop_sequence", "length", "content_filter", "pause"]
    stop = Stop(draw(st.sampled_from(reasons)))
    if stop.reason == "stop_sequence":
        stop = Stop("stop_sequence", draw(names))
    read, written, thought = draw(st.tuples(*[st.none() | st.integers(0, 50)] * 3))
    usage = Usage(draw(st.integers(100, 999)), draw(st.integers(100, 999)), read, written, thought)
    others = draw(st.lists(st.builds(Alternative, answer_parts(), st.just(Stop("stop"))), max_size=2 if several else 0))
    return Response(
        parts,
        stop,
        draw(st.just("") | names),
        draw(names),
        draw(st.none() | st.integers(1, 2**31)),
        draw(st.none() | st.just(usage)),
        tuple(others),
    )
