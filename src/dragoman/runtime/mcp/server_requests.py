"""Owns the answers to requests of an MCP server: questions to the user (elicitation), and to the model (sampling).

A question to the user is declined where no person can be asked. A request to the model is answered only if the
configuration gives the server tokens for it, after approval, and within these tokens.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import jsonschema_rs
import mcp_types as wire
from msgspec import Struct

from ...canon.parts import Media, Part, Text
from ...canon.request import Request, Settings
from ...canon.response import Response, Usage
from ...canon.turns import Turn
from ...codec.media import kind_of
from ...errors import DragomanError
from ..tool_interface import Confirmation

SAMPLING = "sampling"
"""The name under which the policy knows requests to the model: `server/sampling`."""
# A form with more fields is not a question to a person.
_MOST_FIELDS = 50
# The stop reasons of MCP's sampling (MCP 2025-11-25).
_STOPS = {"length": "maxTokens", "stop_sequence": "stopSequence"}


class Field(Struct, frozen=True):
    """One field of a form."""

    name: str
    kind: Literal["text", "integer", "number", "boolean", "choice", "choices"]
    title: str = ""
    description: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    default: Any = None

    def read(self, typed: str) -> Any:
        """The value of a typed answer. ValueError: the answer does not fit."""
        if self.kind in ("integer", "number"):
            try:
                return int(typed) if self.kind == "integer" else float(typed)
            except ValueError:
                raise ValueError(
                    "a whole number is needed" if self.kind == "integer" else "a number is needed"
                ) from None
        if self.kind == "boolean":
            word = typed.lower()
            if word not in ("y", "yes", "true", "n", "no", "false"):
                raise ValueError("answer yes or no")
            return word in ("y", "yes", "true")
        if self.kind == "text":
            return typed
        chosen = [one.strip() for one in typed.split(",")] if self.kind == "choices" else [typed]
        for one in chosen:
            if one not in self.choices:
                raise ValueError(f"choose from {', '.join(self.choices)}")
        return chosen if self.kind == "choices" else typed


class Question(Struct, frozen=True):
    """A question of a server to the user: a form, or (with `url`) a page to open."""

    server: str
    message: str
    fields: tuple[Field, ...] = ()
    url: str = ""


Elicit = Callable[[Question], Awaitable[Mapping[str, Any] | None]]
"""Asks the user. Gives the values of the fields (for a page: an empty mapping); None: the user declines."""
Sample = Callable[[Request], Awaitable[Response]]
"""Asks the model of the session. DragomanError: there is no answer."""
Permit = Callable[[str, Confirmation], Awaitable[bool]]
"""Whether the policy or the user permits a request, under the name of a tool."""


class ServerRequests(Struct, frozen=True):
    """The functions that answer requests of servers. A request without its function is refused."""

    elicit: Elicit | None = None
    permit: Permit | None = None


async def answer_elicitation(server: str, params: wire.ElicitRequestParams, elicit: Elicit | None) -> wire.ElicitResult:
    """The answer to a question of a server."""
    declined = wire.ElicitResult(action="decline")
    if elicit is None:
        return declined
    if isinstance(params, wire.ElicitRequestURLParams):
        # Another scheme could open a program on the person's machine.
        if not params.url.lower().startswith(("https://", "http://")):
            return declined
        found = await elicit(Question(server, params.message, url=params.url))
        return declined if found is None else wire.ElicitResult(action="accept")
    fields = _fields(params.requested_schema)
    if fields is None:
        return declined
    found = await elicit(Question(server, params.message, fields))
    # The person's client may have bugs; the server's schema decides.
    if found is None or not _fits_schema(dict(found), params.requested_schema):
        return declined
    return wire.ElicitResult(action="accept", content=dict(found))


def _fits_schema(values: dict[str, Any], schema: Mapping[str, Any]) -> bool:
    def retrieve(uri: str) -> Any:
        raise ValueError(f"{uri} is not in the schema itself")  # a schema must not cause a fetch

    try:
        return bool(jsonschema_rs.validator_for(dict(schema), retriever=retrieve).is_valid(values))
    except ValueError:
        return False


class Sampling:
    """Requests of one server to the model, within its tokens."""

    def __init__(self, server: str, limit: int, requests: ServerRequests) -> None:
        self._server, self._left, self._permit = server, limit, requests.permit
        self.sample: Sample | None = None
        """Asks the model, during a call of a tool of the server."""
        self.spend: Callable[[Usage], None] = lambda usage: None
        """Counts the tokens for the session, during a call."""

    async def answer(self, params: wire.CreateMessageRequestParams) -> wire.CreateMessageResult | wire.ErrorData:
        """The model's answer, or why there is none."""
        sample, permit = self.sample, self._permit
        if sample is None or permit is None:
            return _refusal("requests to the model are answered only during a call of a tool")
        turns = _turns(params)
        if turns is None:
            return _refusal("only texts, images and sounds can be sent to the model")
        # A server never gets more tokens than in the configuration.
        limit = min(params.max_tokens, self._left)
        if limit <= 0:
            return _refusal("the tokens for requests of this server are used up (samplingTokens)")
        title = f"The MCP server {self._server} sends a request to your model, for up to {limit} tokens:\n"
        confirmation = Confirmation(title + _request_text(turns), "other", server=self._server, tool=SAMPLING)
        if not await permit(SAMPLING, confirmation):
            return _refusal("the user refused the request")
        stop = tuple(params.stop_sequences or ())
        settings = Settings(max_tokens=limit, temperature=params.temperature, stop=stop)
        try:
            response = await sample(Request(turns, settings=settings, stream=True))
        except DragomanError as error:
            return wire.ErrorData(code=wire.INTERNAL_ERROR, message=f"the model gave no answer: {error}")
        # The tokens are counted even if the server cannot use the answer.
        self._count(response.usage, limit)
        text = "".join([part.text for part in response.parts if isinstance(part, Text)])
        return wire.CreateMessageResult(
            role="assistant",
            content=wire.TextContent(text=text),
            model=response.model,
            stop_reason=_STOPS.get(response.stop.reason, "endTurn"),
        )

    def _count(self, usage: Usage | None, limit: int) -> None:
        """Count the tokens of an answer. An answer without figures counts as the whole limit."""
        known = usage is not None and (usage.input is not None or usage.output is not None)
        if usage is not None:
            self.spend(usage)
        self._left -= (usage.input or 0) + (usage.output or 0) if known and usage is not None else limit


def _turns(params: wire.CreateMessageRequestParams) -> tuple[Turn, ...] | None:
    """The turns of a request; None where the turns cannot hold a part."""
    turns = [Turn("system", (Text(params.system_prompt),))] if params.system_prompt else []
    for message in params.messages:
        parts: list[Part] = []
        for block in message.content_as_list:
            if isinstance(block, wire.TextContent):
                parts.append(Text(block.text))
            elif isinstance(block, wire.ImageContent | wire.AudioContent):
                parts.append(Media(kind_of(block.mime_type), block.mime_type, block.data))
            else:
                return None
        turns.append(Turn("assistant" if message.role == "assistant" else "user", tuple(parts)))
    return tuple(turns)


def _request_text(turns: tuple[Turn, ...]) -> str:
    """The whole request, because the person approves exactly the sent text."""
    lines: list[str] = []
    for turn in turns:
        for part in turn.parts:
            lines.append(f"{turn.role}: {part.text if isinstance(part, Text) else '[media]'}")
    return "\n".join(lines)


def _refusal(why: str) -> wire.ErrorData:
    return wire.ErrorData(code=-1, message=why)  # -1: the user rejected the request (MCP 2025-11-25, Sampling)


def _fields(schema: Mapping[str, Any]) -> tuple[Field, ...] | None:
    """The fields of a form (MCP 2025-11-25, Elicitation: one level of simple properties). None: the schema describes no
    form."""
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or len(properties) > _MOST_FIELDS:
        return None
    required = schema.get("required") or ()
    found = [_field(name, value, name in required) for name, value in properties.items()]
    return None if None in found else tuple([one for one in found if one is not None])


def _field(name: str, value: Any, required: bool) -> Field | None:
    if not isinstance(value, dict):
        return None
    kind = value.get("type")
    source: Any = value.get("items") if kind == "array" else value
    choices = _choices(source) if isinstance(source, dict) else ()
    if kind == "array":
        kind = "choices"
    elif kind == "string":
        kind = "choice" if choices else "text"
    if kind not in ("text", "integer", "number", "boolean", "choice", "choices") or (kind == "choices" and not choices):
        return None
    title, description = str(value.get("title") or ""), str(value.get("description") or "")
    return Field(name, kind, title, description, choices, required, value.get("default"))


def _choices(value: Mapping[str, Any]) -> tuple[str, ...]:
    listed = value.get("enum")
    if isinstance(listed, list):
        return tuple([one for one in listed if isinstance(one, str)])
    # A titled choice is a `const` with a title (MCP 2025-11-25, Elicitation).
    titled = value.get("oneOf") or value.get("anyOf")
    if isinstance(titled, list):
        return tuple([one["const"] for one in titled if isinstance(one, dict) and isinstance(one.get("const"), str)])
    return ()
