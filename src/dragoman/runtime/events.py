"""Owns the events of a run: Thought, Content, ToolCallRequest, ToolCallResponse, Finished, and some more for a person
who watches. `as_line` writes an event as a line of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..canon.events import Fault
from ..canon.losses import Loss
from ..canon.parts import Part
from ..canon.response import Usage
from .gemini_cli_results_and_confirmations import confirmation_details, response_parts
from .tool_interface import Confirmation, FileDiff
from .toolbox import Decision

Reason = Literal[
    "stop",
    "length",
    "content_filter",
    "refusal",
    "empty",
    "turns",
    "seconds",
    "tokens",
    "loop",
    "fault",
    "paused",
    "approval",
    "cancelled",
]
"""Why a run ended. The first five reasons come from the model. turns, seconds and tokens are limits. After paused,
approval and fault the run can be resumed."""


# ToolCallRequest is written as `tool_call_request`.
class _TaggedEvent(
    Struct, frozen=True, tag_field="type", tag=lambda name: re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
):
    pass


class Thought(_TaggedEvent, frozen=True):
    """A thought of the model: its first line in bold as the subject, and the rest."""

    subject: str
    description: str


class Content(_TaggedEvent, frozen=True):
    """More of the model's text."""

    value: str


class ToolCallRequest(
    _TaggedEvent, frozen=True, rename={"call_id": "callId", "is_client_initiated": "isClientInitiated"}
):
    """A call that will run if the policy allows it. `args` is the plain text if the arguments are not JSON."""

    call_id: str
    name: str
    args: Any
    is_client_initiated: bool = False
    prompt_id: str = ""


class ToolCallProgress(_TaggedEvent, frozen=True, rename={"call_id": "callId"}):
    """Output of a tool that is still running."""

    call_id: str
    output: str


class ToolCallResponse(
    _TaggedEvent,
    frozen=True,
    rename={
        "call_id": "callId",
        "response_parts": "responseParts",
        "result_display": "resultDisplay",
        "error_type": "errorType",
    },
):
    """The result of a call: for the model, and for a person who watches."""

    call_id: str
    name: str
    response_parts: tuple[Part, ...]
    result_display: str | FileDiff = ""
    error: str | None = None
    error_type: str | None = None
    decision: Decision | None = None
    duration_ms: int = 0


class WebSearchBegin(_TaggedEvent, frozen=True, rename={"call_id": "callId"}):
    """The upstream itself searches the web. The program has nothing to run and sends no result."""

    call_id: str


class WebSearchEnd(_TaggedEvent, frozen=True, rename={"call_id": "callId"}):
    """The upstream has ended the web search."""

    call_id: str
    query: str = ""


class Waiting(_TaggedEvent, frozen=True, rename={"call_id": "callId"}):
    """A call waits for a person's approval. The run ends here and can be resumed after the approval."""

    call_id: str
    name: str
    asked: Confirmation


class ProjectInstructions(_TaggedEvent, frozen=True):
    """The conversation begins with the instructions in these files of the project."""

    files: tuple[str, ...]


class Lost(_TaggedEvent, frozen=True):
    """Losses on the way to the upstream or back. Each loss is reported once in a conversation."""

    losses: tuple[Loss, ...]


class Retrying(_TaggedEvent, frozen=True):
    """The upstream failed, and the request is sent again after a pause."""

    fault: Fault
    seconds: float


class Failed(_TaggedEvent, frozen=True):
    """The upstream failed, and the request is not sent again."""

    fault: Fault


class Compressed(_TaggedEvent, frozen=True):
    """A summary replaced the earlier turns."""

    tokens_before: int
    tokens_after: int


class Finished(_TaggedEvent, frozen=True, rename={"finish_reason": "finishReason"}):
    """The run is over. `usage` is the sum over the run, as far as the upstreams reported usage. `cost` is its cost in
    US dollars; None: a price is unknown."""

    finish_reason: Reason
    usage: Usage = Usage()
    detail: str = ""
    cost: float | None = None


RunEvent = (
    Thought
    | Content
    | ToolCallRequest
    | ToolCallProgress
    | ToolCallResponse
    | WebSearchBegin
    | WebSearchEnd
    | Waiting
    | ProjectInstructions
    | Lost
    | Retrying
    | Failed
    | Compressed
    | Finished
)

_BOLD = re.compile(r"^\s*\*\*(.+?)\*\*[ \t]*\n?", re.MULTILINE)


def thoughts(text: str) -> Iterator[Thought]:
    """The thoughts in a text of the model's thinking. A line in bold begins a new thought."""
    places = [*_BOLD.finditer(text)]
    before = text[: places[0].start()] if places else text
    if before.strip():
        yield Thought("", before.strip())
    for number, found in enumerate(places):
        end = places[number + 1].start() if number + 1 < len(places) else len(text)
        yield Thought(found[1].strip(), text[found.end() : end].strip())


def as_line(event: RunEvent) -> bytes:
    """The event as one line of JSON."""
    shaped: dict[str, Any] = {}
    if isinstance(event, ToolCallResponse):
        shaped["responseParts"] = response_parts(event.response_parts, event.name)
    elif isinstance(event, Waiting):
        shaped["asked"] = confirmation_details(event.asked)
    if not shaped:
        return msgspec.json.encode(event) + b"\n"
    return msgspec.json.encode({**msgspec.to_builtins(event), **shaped}) + b"\n"
