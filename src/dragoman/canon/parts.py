"""Owns the parts of a turn: Text, Reasoning, Media, ToolCall, ToolResult, HostedCall, HostedResult, Opaque.

Every part holds its place in the source document (`at`), so that a writer can name the place of a loss. `at` is a tuple
and not a JSON pointer, because most paths are never printed; `pointer` makes the text when needed. Canon values are
frozen trees and cannot form a cycle, so the garbage collector need not track them (`gc=False`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, final

import msgspec
from msgspec import Raw, Struct

from .base_and_tool_call_errors import ArgumentsError

Path = tuple[str | int, ...]
"""Steps from the root of the source document to a value."""

Extra = dict[str, dict[str, Raw]]
"""Fields that only one dialect has: dialect name -> field -> exact JSON text."""

MediaKind = Literal["image", "audio", "video", "document"]


def pointer(path: Path) -> str:
    """The JSON pointer (RFC 6901) of a path."""
    # Most steps have no tilde and no slash, and need no escape (RFC 6901, 3, April 2013).
    plain = "/".join(map(str, path))
    if "~" in plain or plain.count("/") >= max(len(path), 1):
        return "".join(["/" + str(step).replace("~", "~0").replace("/", "~1") for step in path])
    return "/" + plain if path else ""


class Seal(Struct, frozen=True, gc=False):
    """A signature or an encrypted blob. Its origin wants the seal back unchanged; no other upstream may read it."""

    dialect: str
    data: str
    kind: str = ""
    """The origin's own word for the seal, if the origin has several kinds (such as a redacted block)."""
    model: str = ""
    host: str = ""
    """The host name of the origin, if several hosts of one dialect must be distinguished."""


class Citation(Struct, frozen=True, gc=False):
    """The source of a piece of text. `start` and `end` count characters of the text that the citation belongs to."""

    url: str
    title: str = ""
    quote: str = ""
    start: int | None = None
    end: int | None = None
    extra: Extra | None = None
    age: str = ""
    """For a page that a search found: the date of publication or change, as the search wrote it."""


class Part(Struct, frozen=True, gc=False, kw_only=True, tag_field="part", tag=str.lower):
    """The fields that all parts have."""

    seal: Seal | None = None
    cache: str | None = None
    """A cache breakpoint after this part. The value is the time to live as the source wrote it; "" is the default time.
    """
    extra: Extra | None = None
    at: Path = ()


@final
class Text(Part, frozen=True, gc=False):
    """Plain text. `refusal`: the model declines in this text."""

    text: str
    refusal: bool = False
    citations: tuple[Citation, ...] = ()


class Token(Struct, frozen=True, forbid_unknown_fields=True):
    """A token that the model chose, its log probability, and the most likely other tokens."""

    token: str
    logprob: float
    bytes: list[int] | None = None
    top_logprobs: list[Token] = []


def plain_text(parts: Sequence[Part]) -> str | None:
    """The text, if `parts` is one text without refusal, citations, seal, cache mark and extra. Most turns are
    such a text, so writers try this first.
    """
    if len(parts) == 1:
        only = parts[0]
        if type(only) is Text and only.extra is None and only.cache is None and only.seal is None:
            return None if only.refusal or only.citations else only.text
    return None


@final
class Reasoning(Part, frozen=True, gc=False):
    """The visible thinking of the model, and the seal that proves it."""

    text: str = ""


@final
class Media(Part, frozen=True, gc=False):
    """An image, audio, video or document. One of `data` (base64 text, unchanged), `url` and `file` (an id) is set."""

    kind: MediaKind
    mime: str = ""
    data: str = ""
    url: str = ""
    file: str = ""
    name: str = ""
    detail: str = ""


class ToolCall(Part, frozen=True, gc=False):
    """A call of a tool by the model. `arguments` is the exact text: JSON for a function, any text for a custom tool."""

    id: str
    name: str
    arguments: str = ""
    custom: bool = False
    namespace: str = ""

    @property
    def complete(self) -> bool:
        """False for a call that was cut (`IncompleteCall`). Such a call must not be run."""
        return True

    @property
    def input(self) -> Any:
        """The decoded arguments; blank text gives an empty object. Raises ArgumentsError (a ValueError) for broken JSON
        and for a call that was cut.
        """
        if self.custom:
            return self.arguments
        try:
            return msgspec.json.decode(self.arguments) if self.arguments.strip() else {}
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise ArgumentsError(
                f"the arguments of the call {self.id!r} of {self.name} are not JSON: {error}. Do not run the call"
            ) from None


class IncompleteCall(ToolCall, frozen=True, gc=False, tag="toolcall"):
    """The last call of an answer that was cut. `arguments` holds the text that arrived. Only `tool_calls` makes such
    calls; a conversation holds ToolCalls. The tag is that of a ToolCall, so the JSON of both is decoded as a ToolCall.
    """

    @property
    def complete(self) -> bool:
        """Always False."""
        return False

    @property
    def input(self) -> Any:
        """Always raises ArgumentsError: the arguments are not whole."""
        raise ArgumentsError(
            f"the call {self.id!r} of {self.name} is truncated: the answer ended before the arguments were whole. "
            "Do not run the call; ask again, with a larger token limit if the limit was reached"
        )


@final
class ToolResult(Part, frozen=True, gc=False):
    """The result of the call `call_id`."""

    call_id: str
    parts: tuple[Part, ...] = ()
    name: str = ""
    is_error: bool = False
    structured: bool = False
    """True if the source sent a JSON object. `parts` is then one Text with the exact JSON text."""
    custom: bool = False


class Opaque(Part, frozen=True, gc=False):
    """A part that only `dialect` understands, kept whole: its type word and its exact JSON."""

    dialect: str
    kind: str
    value: Raw


ELSEWHERE = Raw(b"null")
"""The value of a hosted call or result without JSON of its own in the source. The facts are then in another item, such
as the item of the call, or in the metadata of the answer. No writer writes this value.
"""


@final
class HostedCall(Opaque, frozen=True, gc=False):
    """A call of a tool that the upstream ran itself. It is never a ToolCall, because no client has to run it.

    `dialect`, `kind` and `value` hold the source's own JSON, for a target of the same dialect. The fields below have
    the same meaning in all dialects. `codec/hosted_calls.py` makes the call of another dialect from these fields.
    """

    family: str = ""
    """The common name of such tools (`codec/hosted_tools.py`): web_search, web_fetch, code_execution, mcp, tool_search.
    "": only the source's dialect has such a tool.
    """
    id: str = ""
    name: str = ""
    arguments: str = ""
    """A JSON object. Its members depend on the family (`codec/hosted_calls.py`)."""
    server: str = ""
    """The MCP server that offers the tool."""


@final
class HostedResult(Opaque, frozen=True, gc=False):
    """The result of a tool that the upstream ran itself, for the HostedCall `call_id`."""

    family: str = ""
    call_id: str = ""
    sources: tuple[Citation, ...] = ()
    """The pages that the tool found or fetched."""
    parts: tuple[Part, ...] = ()
    """Texts and media of the result: the content of a page, the output of a program."""
    is_error: bool = False
    tools: tuple[str, ...] = ()
    """The names of the tools that a tool search found; `namespace__name` for a tool in a namespace."""
    stderr: str = ""
    """The standard error of a program, if the upstream separates it from the output."""
    exit_code: int | None = None
    """The exit code of a program, if the upstream reports one."""


OPAQUES: frozenset[type[Part]] = frozenset({Opaque, HostedCall, HostedResult})
"""The types of all parts that only one dialect has. A lookup in this set is faster than `isinstance`."""


def is_stored_elsewhere(part: Part) -> bool:
    """True if a hosted call or result has no JSON of its own, so that a writer has nothing to write for it."""
    return (type(part) is HostedCall or type(part) is HostedResult) and part.value == ELSEWHERE
