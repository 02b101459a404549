"""A complete dialect in one file: the toy protocol, one JSON object per line. It shows how a dialect is written.

    request   {"model": "m", "lines": [LINE, ...], "tools": [{"name": "f", "about": "...", "input": SCHEMA}]}
    answer    {"lines": [LINE, ...], "end": "done" | "tools" | "cut", "tokens": [input, output]}
    stream    {"text": "..."} and {"call": CALL} lines, then {"end": ..., "tokens": ...}
    fault     {"problem": "what went wrong"}
    models    {"models": [{"name": "m"}, ...]}
    count     {"tokens": 12}
    LINE      {"from": "system" | "user" | "model" | "tool", "text": "..."}, with "call": CALL or "id": "call id"
    CALL      {"id": "...", "name": "f", "input": {...}}

Requests are posted to /toy, or to /toy/stream for a stream, with the key in the header x-toy-key.

The toy has no images, no thinking and no settings. A writer drops them and reports every loss: that is the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Raw, Struct

from dragoman import WireError
from dragoman.canon import (
    Event,
    Fault,
    FaultKind,
    Finish,
    HostedTool,
    Part,
    PartDelta,
    PartEnd,
    PartStart,
    Path,
    Request,
    Response,
    Role,
    Settings,
    Start,
    Stop,
    StopReason,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from dragoman.codec import json_text
from dragoman.codec.dialect_extras import gather, restore
from dragoman.codec.ndjson_splitter import NdjsonSplitter
from dragoman.codec.results_after_calls import results_after_calls
from dragoman.codec.wire_decoding_with_unknown_fields import Admitter, Unknown
from dragoman.context import Context
from dragoman.dialect import Dialect, UpstreamPaths
from dragoman.dialect.endpoints_record import (
    Claim,
    EndpointCall,
    Endpoints,
    Environment,
    HeaderRules,
    ModelLists,
    OfferedModel,
    ReferenceClient,
    Served,
    SetupLine,
    TokenCounts,
    UpstreamForm,
)

NAME = "toy"
NONE = Raw()
ROLES: dict[str, Role] = {"system": "system", "user": "user", "model": "assistant", "tool": "tool"}
SPEAKERS = {role: speaker for speaker, role in ROLES.items()} | {"developer": "system"}
ENDS: dict[str, StopReason] = {"done": "stop", "tools": "tool_calls", "cut": "length"}
WORDS = {reason: word for word, reason in ENDS.items()}


# --- wire: Structs as sent. A strict decoder refuses unknown fields; then the Admitter lists them with their paths --


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, rename={"from_": "from"}):
    pass


class Call(Wire):
    name: str
    id: str
    input: Raw = NONE  # arguments keep their exact text


class Line(Wire):
    from_: str = "model"
    text: str = ""
    call: Call | None = None
    id: str = ""


class ToolDef(Wire):
    name: str
    about: str = ""
    input: Raw = NONE


class Question(Wire):
    lines: list[Line]
    model: str = ""
    tools: list[ToolDef] = []


class Answer(Wire):
    lines: list[Line]
    end: str = ""
    tokens: tuple[int, int] | None = None


class Piece(Wire):
    text: str = ""
    call: Call | None = None
    end: str = ""
    tokens: tuple[int, int] | None = None
    problem: str = ""


QUESTION, ANSWER = Admitter[Question](NAME, Question), Admitter[Answer](NAME, Answer, lenient=True)
TOOLS, PIECE = Admitter[list[ToolDef]](NAME, list[ToolDef]), Admitter[Piece](NAME, Piece, lenient=True)


# --- requests ----------------------------------------------------------------------------------------------------


def read_request(body: bytes, context: Context) -> Request:
    """Wire to canon. Lines of one speaker become one turn, because calls and results belong together."""
    question, unknown, _ = QUESTION.admit(body)
    turns: list[Turn] = []
    for i, line in enumerate(question.lines):
        at: Path = ("lines", i)
        role = ROLES.get(line.from_, "user")
        parts = _read_line(line, at)
        if turns and turns[-1].role == role and role in ("assistant", "tool"):
            turns[-1] = Turn(role, (*turns[-1].parts, *parts), "", turns[-1].extra, turns[-1].at)
        else:
            turns.append(Turn(role, parts, "", gather(context, at, unknown), at))
    tools = tuple([_read_tool(tool, ("tools", i), context, unknown) for i, tool in enumerate(question.tools)])
    return Request(tuple(turns), question.model, tools, extra=gather(context, (), unknown))


def _read_line(line: Line, at: Path) -> tuple[Part, ...]:
    if line.from_ == "tool":
        return (ToolResult(line.id, (Text(line.text, at=at + ("text",)),), at=at),)
    parts: list[Part] = [Text(line.text, at=at + ("text",))] if line.text else []
    if line.call is not None:
        parts.append(ToolCall(line.call.id, line.call.name, json_text.text(line.call.input), at=at + ("call",)))
    return tuple(parts)


def write_request(request: Request, context: Context) -> bytes:
    """Canon to wire. Everything that the toy cannot hold becomes a loss."""
    lines: list[Any] = []
    for turn in results_after_calls(request.turns, context):
        lines += _write_lines(turn.parts, SPEAKERS[turn.role], context)
    out: dict[str, Any] = {"model": context.model or request.model, "lines": lines}
    if request.tools:
        out["tools"] = _tools_to(request.tools, context)
    if request.choice is not None:
        context.lose("choice.dropped", request.choice.at)
    for name in Settings.__struct_fields__:
        if name != "at" and getattr(request.settings, name) not in (None, ()):
            context.lose("field.dropped", request.settings.at.get(name, ()), name)
    return json_text.encode(restore(out, request.extra, NAME))


def _write_lines(parts: Iterable[Part], speaker: str, context: Context) -> list[Any]:
    lines: list[Any] = []
    for part in parts:
        if isinstance(part, Text):
            lines.append({"from": speaker, "text": part.text})
        elif isinstance(part, ToolCall):
            lines.append({"from": speaker, "call": _write_call(part, context)})
        elif isinstance(part, ToolResult):
            words = "".join([inner.text for inner in part.parts if isinstance(inner, Text)])
            for inner in part.parts:
                if not isinstance(inner, Text):
                    context.lose("part.dropped", inner.at, type(inner).__name__)
            if part.is_error:
                context.lose("result.error.as_text", part.at)
                words = f"Error: {words}"
            lines.append({"from": "tool", "id": part.call_id, "text": words})
        else:
            context.lose("part.dropped", part.at, type(part).__name__)
        if part.seal is not None:
            context.lose("seal.dropped", part.at)
    return lines


def _write_call(call: ToolCall, context: Context) -> dict[str, Any]:
    given = json_text.object_raw(call.arguments)
    # A model may write arguments that are not a JSON object.
    if given is None:
        context.lose("arguments.invalid", call.at)
        given = json_text.raw({"__raw": call.arguments})
    return {"name": call.name, "id": call.id, "input": given}


# --- tools -------------------------------------------------------------------------------------------------------


def read_tools(document: bytes, context: Context) -> tuple[Tool | HostedTool, ...]:
    """A list of tools alone, to canon."""
    found, unknown, _ = TOOLS.admit(document)
    return tuple([_read_tool(tool, (i,), context, unknown) for i, tool in enumerate(found)])


def _read_tool(tool: ToolDef, at: Path, context: Context, unknown: Unknown) -> Tool:
    schema = json_text.text(tool.input) if tool.input else None
    return Tool(tool.name, tool.about, schema, extra=gather(context, at, unknown), at=at, schema_at=("input",))


def _tools_to(tools: Iterable[Tool | HostedTool], context: Context) -> list[Any]:
    out: list[Any] = []
    for tool in tools:
        if isinstance(tool, HostedTool):
            context.lose("tool.hosted.dropped", tool.at, tool.kind)
            continue
        written = {"name": tool.name, "about": tool.description, "input": Raw((tool.schema or "{}").encode())}
        out.append(restore(written, tool.extra, NAME))
    return out


def write_tools(tools: Iterable[Tool | HostedTool], context: Context) -> bytes:
    """A list of tools alone, to the wire."""
    return json_text.encode(_tools_to(tools, context))


# --- answers -----------------------------------------------------------------------------------------------------


def read_response(body: bytes, context: Context) -> Response:
    """A whole answer to canon."""
    answer, unknown, _ = ANSWER.admit(body)
    parts = [part for i, line in enumerate(answer.lines) for part in _read_line(line, ("lines", i))]
    usage = Usage(*answer.tokens) if answer.tokens is not None else None
    return Response(tuple(parts), _stop(answer.end), usage=usage, extra=gather(context, (), unknown))


def _stop(word: str) -> Stop:
    return Stop(ENDS.get(word, "unknown"))


def write_response(response: Response, context: Context) -> bytes:
    """A whole answer to the wire."""
    out = {
        "lines": _write_lines(response.parts, "model", context),
        **_write_end(response.stop, response.usage, context),
    }
    return json_text.encode(restore(out, response.extra, NAME))


def _write_end(stop: Stop, usage: Usage | None, context: Context) -> dict[str, Any]:
    if stop.reason not in WORDS:
        context.lose("stop.approximated", (), f"{stop.reason} is sent as done")
    out: dict[str, Any] = {"end": WORDS.get(stop.reason, "done")}
    if usage is not None:
        out["tokens"] = [usage.input or 0, usage.output or 0]
    return out


def write_results(response: Response, results: Request, context: Context) -> bytes:
    """The lines that a client appends to its next request: the answer, and the results of its calls."""
    lines = _write_lines(response.parts, "model", context)
    for turn in results.turns:
        lines += _write_lines(turn.parts, "tool", context)
    return json_text.encode(lines)


# --- streams: two small state machines ----------------------------------------------------------------------------


class StreamReader:
    """Bytes to events, wherever the bytes are cut."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lines = NdjsonSplitter(NAME)
        self._next = 0
        self._in_text = False
        self._started = False
        self._over = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events of the lines that are complete now."""
        return self._read(self._lines.feed(chunk))

    def close(self) -> list[Event]:
        """The events of the end. A stream without its last line ends with a Fault."""
        events = self._read(self._lines.close())
        if not self._over:
            events.append(Fault("upstream_bad", "the stream ended before the answer did", 502))
        return events

    def _read(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        for line in lines:
            if self._over:
                break
            piece, unknown, _ = PIECE.admit(line)
            for at, fields in unknown.items():
                self._context.keep(at, fields)
            if not self._started:
                self._started = True
                events.append(Start())
            if piece.problem:
                self._over = True
                events.append(Fault("server", piece.problem))
            if piece.text:
                if not self._in_text:
                    events.append(PartStart(self._next, Text("")))
                    self._in_text = True
                events.append(PartDelta(self._next, piece.text))
            if piece.call is not None:
                self._end_text(events)
                call = ToolCall(piece.call.id, piece.call.name)
                given = json_text.text(piece.call.input)
                events += [PartStart(self._next, call), PartDelta(self._next, given), PartEnd(self._next)]
                self._next += 1
            if piece.end:
                self._end_text(events)
                self._over = True
                events.append(Finish(_stop(piece.end), Usage(*piece.tokens) if piece.tokens is not None else None))
        return events

    def _end_text(self, events: list[Event]) -> None:
        if self._in_text:
            events.append(PartEnd(self._next))
            self._in_text = False
            self._next += 1


class StreamWriter:
    """Events to bytes. A call is written as one line, when it is complete."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._call: ToolCall | None = None
        self._given: list[str] = []
        self._hidden: set[int] = set()

    def send(self, event: Event) -> bytes:
        """The bytes for one event."""
        if isinstance(event, PartStart):
            if isinstance(event.part, ToolCall):
                self._call, self._given = event.part, []
            elif not isinstance(event.part, Text):
                self._hidden.add(event.index)
                self._context.lose("part.dropped", event.part.at, type(event.part).__name__)
        elif isinstance(event, PartDelta):
            if self._call is not None:
                self._given.append(event.text)
            elif event.text and event.index not in self._hidden:
                return _line({"text": event.text})
        elif isinstance(event, PartEnd):
            if self._call is not None:
                whole = ToolCall(self._call.id, self._call.name, "".join(self._given), at=self._call.at)
                self._call = None
                return _line({"call": _write_call(whole, self._context)})
        elif isinstance(event, Finish):
            return _line(_write_end(event.stop, event.usage, self._context)) if event.last else b""
        elif isinstance(event, Fault):
            return _line({"problem": event.message})
        return b""

    def close(self) -> bytes:
        """The bytes of the end. The toy needs none."""
        return b""


def _line(value: dict[str, Any]) -> bytes:
    return json_text.encode(value) + b"\n"


# --- faults ----------------------------------------------------------------------------------------------------------


def read_fault(body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
    """An error body to a Fault."""
    kind: FaultKind = "rate_limit" if status == 429 else "invalid_request" if 400 <= status < 500 else "server"
    try:
        return Fault(kind, PIECE.admit(body)[0].problem or "unknown", status)
    except WireError:
        return Fault(kind, body.decode("utf-8", "replace")[:1000], status)


def write_fault(fault: Fault) -> tuple[bytes, int, dict[str, str]]:
    """A Fault to body, status and headers."""
    return json_text.encode({"problem": fault.message}), fault.status, {}


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Signs of the toy in a document, with weights, for `dragoman.detect`."""
    return [(9, "lines[]")] if isinstance(document.get("lines"), list) else []


# --- endpoints: how a gateway serves the toy, how gateway and agent call it, and how the conformance kit judges it ---


def _with_user_line(request: dict[str, Any], text: str) -> dict[str, Any]:
    return {**request, "lines": [*request["lines"], {"from": "user", "text": text}]}


def _with_results(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    calls = [line["call"] for line in answer["lines"] if "call" in line]
    results = [{"from": "tool", "id": call["id"], "text": output} for call, output in zip(calls, outputs, strict=False)]
    return {**request, "lines": [*request["lines"], *answer["lines"], *results]}


def _fold(frames: list[dict[str, Any]], arguments: Callable[[str], Any]) -> Any:
    words = "".join([frame["text"] for frame in frames if "text" in frame])
    lines: list[dict[str, Any]] = [{"from": "model", "text": words}] if words else []
    lines += [{"from": "model", "call": frame["call"]} for frame in frames if "call" in frame]
    end = {key: value for frame in frames for key, value in frame.items() if key in ("end", "tokens")}
    return {"lines": lines, **end}


CLIENT = ReferenceClient(
    "/tools",
    "/tools/*/name",
    _with_user_line,
    _with_results,
    _fold,
    ends_well=lambda frames, faults, done: any("end" in frame for frame in frames),
    is_fault=lambda frame: "problem" in frame,
)


def _entry(model: OfferedModel, publisher: str) -> dict[str, Any]:
    return {"name": model.name, "by": model.upstream}


def _named(model: OfferedModel, publisher: str) -> dict[str, Any]:
    return {"name": model.name}


ENDPOINTS = Endpoints(
    served=Served(
        claims=(
            Claim(("POST",), "/toy", EndpointCall("generate", NAME, stream=False)),
            Claim(("POST",), "/toy/stream", EndpointCall("generate", NAME, stream=True)),
            Claim(("POST",), "/toy/count", EndpointCall("count", NAME)),
            Claim(("GET",), "/toy/models", EndpointCall("models", NAME)),
            # Other dialects claim this address too, so a client of the toy identifies itself by a header.
            Claim(("GET",), "/v1/models", EndpointCall("models", NAME), headers=("x-toy-client",)),
        ),
        shown=("POST /toy", "POST /toy/stream", "POST /toy/count", "GET /toy/models"),
        near=("/toy",),
    ),
    headers=HeaderRules(begins=("x-toy-",), never=("x-toy-key",), lost={"x-toy-mood": "info"}),
    models=ModelLists("/toy/models", entry=_entry, named=_named, listed=lambda entries, publisher: {"models": entries}),
    counts=TokenCounts("/toy/count", written=lambda tokens: {"tokens": tokens}, total=("tokens",)),
    upstream=UpstreamForm(
        auth="x-toy-key",
        environment=(Environment("toy", ("TOY_API_KEY",), ("TOY_BASE_URL",), ("toy-*",), "toy-1"),),
    ),
    setup=(SetupLine("toy", lambda base, key, model: f"TOY_BASE_URL={base} TOY_API_KEY={key}"),),
    example_model="toy-1",
    client=lambda: CLIENT,
)


# --- the record that names all functions -----------------------------------------------------------------------------

DIALECT = Dialect(
    name=NAME,
    title="Toy",
    framing="ndjson",
    read_request=read_request,
    write_request=write_request,
    read_response=read_response,
    write_response=write_response,
    reader=StreamReader,
    writer=StreamWriter,
    read_tools=read_tools,
    write_tools=write_tools,
    read_fault=read_fault,
    write_fault=write_fault,
    write_results=write_results,
    evidence=evidence,
    turns="lines",
    upstream_paths=UpstreamPaths("/toy", "/toy/stream"),
    endpoints=lambda: ENDPOINTS,
)
