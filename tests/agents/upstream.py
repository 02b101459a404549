"""Owns an upstream that acts as a model: it calls the tools of an agent, step by step, in any dialect.

The steps are data (stories.toml). The upstream is strict where real upstreams are strict. It records a request that
breaks a rule of the dialect. It refuses a history with missing calls, results or seals.
"""

from __future__ import annotations

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from dragoman import rehearsal
from dragoman.canon.events import Fault
from dragoman.canon.parts import Media, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Request
from dragoman.canon.response import Response, Stop, Usage
from dragoman.canon.tools import Tool
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.errors import WireError
from dragoman.lint import lint
from dragoman.rehearsal.answer_composition import events_of
from dragoman.rehearsal.thinking import thinks

CREATED = 1_760_000_000
_FORMATS = {"anthropic": "anthropic-claude-v1", "openai": "openai-responses-v1", "google": "google-gemini-v1"}
"""OpenRouter's names for the seal formats of the providers."""


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call of a tool. Arguments are an object, or the text of a tool that takes free text."""

    name: str
    arguments: dict[str, Any] | str


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One answer that calls tools."""

    calls: tuple[Call, ...]
    thought: str = ""
    text: str = ""


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The steps of the model in one session."""

    steps: tuple[Step, ...]
    ending: str


class ArrivedRequest(NamedTuple):
    """One request that arrived."""

    path: str
    headers: dict[str, str]
    body: bytes
    request: Request
    side: bool
    """True: a request outside of the session, for a title, a summary or a guess."""
    broken: tuple[str, ...]
    """The rules of the dialect that the request breaks."""


class Upstream:
    """A server on loopback. `requests` are the arrived requests, `refused` the reasons of refusals."""

    def __init__(self, dialect: str, story: Story, prompt: str) -> None:
        self.dialect = dialect
        self.story = story
        self.prompt = prompt
        """The user's prompt in the session."""
        self.requests: list[ArrivedRequest] = []
        self.refused: list[str] = []
        self._issued: dict[str, str] = {}
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Upstream:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def results(self) -> list[ToolResult]:
        """The results of the agent's tools in the last request of the session."""
        last = [one for one in self.requests if not one.side][-1:]
        return [part for one in last for part in _parts(one.request) if isinstance(part, ToolResult)]

    @property
    def media(self) -> list[Media]:
        """The media in the last request of the session."""
        last = [one for one in self.requests if not one.side][-1:]
        shown = [part for one in last for part in _parts(one.request)]
        return [one for part in shown for one in _with_nested_parts(part) if isinstance(one, Media)]

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[Request, Response | Fault]:
        """Read a request. Returns the request and its answer."""
        dialect = get(self.dialect)
        request = dialect.read_request(body, Context(self.dialect, rehearsal.PREFIX))
        model = request.model or unquote(path.rpartition("/models/")[2].rpartition(":")[0])
        request = msgspec.structs.replace(request, model=model)
        broken = [f"{one.rule} {one.path}: {one.message}" for one in self._findings(body, headers, model)]
        offered = all(_declared(request, call.name) for step in self.story.steps for call in step.calls)
        side = not offered or self.prompt not in _last_words(request)
        self.requests.append(ArrivedRequest(path, headers, body, request, side, tuple(broken)))
        answer = self._answer_outside_session(request) if side else self._next(request)
        if isinstance(answer, Fault):
            self.refused.append(answer.message)
        return request, answer

    def _findings(self, body: bytes, headers: dict[str, str], model: str) -> list[Any]:
        found = lint(body, dialect=self.dialect, model=model, headers=headers)
        return [one for one in found if one.severity == "error"]

    def _answer_outside_session(self, request: Request) -> Response | Fault:
        """The rehearsal answers requests outside of the session."""
        return rehearsal.answer(msgspec.structs.replace(request, model="rehearsal/rules"), seals="ignored").response()

    def _next(self, request: Request) -> Response | Fault:
        """The next answer after this history."""
        calls = [part for part in _parts(request) if isinstance(part, ToolCall)]
        answered_ids = {part.call_id for part in _parts(request) if isinstance(part, ToolResult)}
        steps = self.story.steps
        if request.settings.parallel is False:
            steps = tuple([Step((call,), step.thought, step.text) for step in steps for call in step.calls])
        wanted = [call for step in steps for call in step.calls]
        names = [call.name for call in calls]
        if names != [_declared(request, call.name).name for call in wanted[: len(calls)]]:  # type: ignore[union-attr]
            return Fault("invalid_request", f"these calls were not made so: {names}", 400)
        if unanswered := [call.id for call in calls if call.id not in answered_ids]:
            return Fault("invalid_request", f"calls without a result: {unanswered}", 400)
        seals = {part.seal.data for part in _parts(request) if part.seal is not None}
        if missing := [where for data, where in self._issued.items() if data not in seals]:
            return Fault("invalid_request", f"seals did not come back: {missing}", 400)
        done = 0
        for number, step in enumerate(steps):
            if done == len(calls):
                return self._response(request, number, step)
            done += len(step.calls)
        usage = Usage(1000, 20)
        return Response((Text(self.story.ending),), Stop("stop"), "r_end", request.model, CREATED, usage)

    def _response(self, request: Request, number: int, step: Step) -> Response:
        dialect = get(self.dialect)
        origin = dialect.origin or dialect.name
        parts: list[Part] = []
        if step.thought and thinks(request.settings):
            seal = None
            if "reasoning" in dialect.sealed and origin != "gemini":
                seal = self._seal(origin, request.model, f"thought {number}", step.thought)
            parts.append(Reasoning(step.thought, seal=seal))
        if step.text:
            parts.append(Text(step.text))
        for place, call in enumerate(step.calls):
            tool = _declared(request, call.name)
            assert tool is not None
            seal = self._seal(origin, request.model, f"call {number}") if origin == "gemini" and not place else None
            call_id = f"call_{number}{place}" if origin != "anthropic" else f"toolu_{number}{place}"
            parts.append(ToolCall(call_id, tool.name, _arguments(tool, call), tool.custom, tool.namespace, seal=seal))
        return Response(tuple(parts), Stop("tool_calls"), f"r_{number}", request.model, CREATED, Usage(1000, 50))

    def _seal(self, origin: str, model: str, where: str, thought: str = "") -> Seal:
        """The seal of a step. A repeated request gets the same seal."""
        data = base64.b64encode(f"sealed: {where}".encode()).decode()
        if origin == "openrouter":  # OpenRouter needs the whole detail back.
            kind = _FORMATS.get(model.partition("/")[0], "unknown")
            detail = {"type": "reasoning.text", "text": thought, "signature": data, "format": kind, "index": 0}
            data = json.dumps(detail, separators=(",", ":"))
        self._issued[data] = where
        return Seal(origin, data, "", model)


def _parts(request: Request) -> list[Part]:
    return [part for turn in request.turns for part in turn.parts]


def _last_words(request: Request) -> str:
    """The user's last texts. The client or the gateway may have added texts behind the prompt."""
    user_turns = [turn for turn in request.turns if turn.role == "user"]
    texts = [part.text for turn in user_turns for part in turn.parts if isinstance(part, Text)]
    return "\n".join(texts[-4:])


def _with_nested_parts(part: Part) -> list[Part]:
    return [part, *part.parts] if isinstance(part, ToolResult) else [part]


def _declared(request: Request, name: str) -> Tool | None:
    """The tool with this name in the request. Another dialect may have put a namespace in front of the name."""
    tools = [tool for tool in request.tools if isinstance(tool, Tool)]
    exact = [tool for tool in tools if tool.name == name]
    return next(iter(exact or [tool for tool in tools if tool.name.endswith(f"_{name}")]), None)


def _arguments(tool: Tool, call: Call) -> str:
    """The arguments for the declared tool. The translation may have turned a free-text tool into a function."""
    if isinstance(call.arguments, dict):
        return json.dumps(call.arguments)
    if tool.custom:
        return call.arguments
    (only,) = json.loads(tool.schema or "{}")["required"]
    return json.dumps({only: call.arguments})


def _token_count(path: str) -> dict[str, Any] | None:
    """The answer to a request for a token count."""
    if path.endswith(":countTokens"):
        return {"totalTokens": 1000}
    return {"input_tokens": 1000} if path.partition("?")[0].endswith(("/count_tokens", "/input_tokens")) else None


def _code_assist_setup(path: str) -> dict[str, Any] | None:
    """The answer to the setup requests of a Code Assist client."""
    verb = path.partition("/v1internal:")[2]
    if not verb or "enerateContent" in verb:
        return None
    tier = {"id": "standard-tier", "name": "Standard"}
    return {"currentTier": tier, "cloudaicompanionProject": "p"} if verb == "loadCodeAssist" else {}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        upstream = self.server.upstream
        dialect = get(upstream.dialect)
        headers = {name.lower(): value for name, value in self.headers.items()}
        fixed_answer = _token_count(self.path) or _code_assist_setup(self.path)
        if fixed_answer is not None:
            self._send(200, "application/json", json.dumps(fixed_answer).encode(), {})
            return
        try:
            request, answer = upstream.take(self.path, headers, body)
        except WireError as error:
            upstream.refused.append(str(error))
            request, answer = Request(()), Fault("invalid_request", str(error), 400)
        if isinstance(answer, Fault):
            fault_body, status, more = dialect.write_fault(answer)
            self._send(status, "application/json", fault_body, more)
            return
        context = Context(upstream.dialect, upstream.dialect, model=request.model, answers=request, created=CREATED)
        stream = ":stream" in self.path if ":" in self.path else request.stream
        if not (stream if stream is not None else upstream.dialect == "ollama"):
            self._send(200, "application/json", dialect.write_response(answer, context), {})
            return
        writer = dialect.writer(context)
        frames = b"".join([writer.send(event) for event in events_of(answer)]) + writer.close()
        kind = "text/event-stream" if dialect.framing == "sse" else "application/x-ndjson"
        self._send(200, kind, frames, {})

    def _send(self, status: int, kind: str, body: bytes, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
