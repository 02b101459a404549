"""The pieces of a turn: Text, Reasoning, Media, ToolCall, ToolResult, HostedCall, HostedResult, Opaque.

Every part knows where it stood in its source (`at`), so that a loss found while writing can name the place.
`at` is a tuple, not a JSON pointer, because nearly all of them are never shown: `pointer` spells one when needed.
Canon values are frozen trees, which cannot form a cycle, so the garbage collector need not watch them (`gc=False`).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

Path = tuple[str | int, ...]
"""Steps from the root of the source document to a value."""

Extra = dict[str, dict[str, Raw]]
"""Fields that one dialect alone knows: dialect name -> field -> exact JSON text."""

MediaKind = Literal["image", "audio", "video", "document"]


def pointer(path: Path) -> str:
    """Spell a path as a JSON pointer (RFC 6901)."""
    plain = "/".join(map(str, path))
    if "~" in plain or plain.count("/") >= max(len(path), 1):
        return "".join(["/" + str(step).replace("~", "~0").replace("/", "~1") for step in path])
    return "/" + plain if path else ""


class Seal(Struct, frozen=True, gc=False):
    """A signature or an encrypted blob that its origin wants back unchanged, and that nobody else may see."""

    dialect: str
    data: str
    kind: str = ""
    """What the origin calls it, where it has several kinds (such as a redacted block)."""
    model: str = ""
    host: str = ""
    """Where its origin listens, when hosts of one dialect are told apart."""


class Citation(Struct, frozen=True, gc=False):
    """Where a piece of text comes from. `start` and `end` count characters of the text it hangs on."""

    url: str
    title: str = ""
    quote: str = ""
    start: int | None = None
    end: int | None = None
    extra: Extra | None = None
    age: str = ""
    """Of a page that a search found: when the page was published or changed, in the words of the search."""


class Part(Struct, frozen=True, gc=False, kw_only=True, tag_field="part", tag=str.lower):
    """What all parts have."""

    seal: Seal | None = None
    cache: str | None = None
    """A cache breakpoint after this part: its time to live as the source spelled it, "" for the default."""
    extra: Extra | None = None
    at: Path = ()


class Text(Part, frozen=True, gc=False):
    """Plain words; `refusal` when the model says no in them."""

    text: str
    refusal: bool = False
    citations: tuple[Citation, ...] = ()


class Token(Struct, frozen=True, forbid_unknown_fields=True):
    """A token that the model chose, its log probability, and what else it might have been."""

    token: str
    logprob: float
    bytes: list[int] | None = None
    top_logprobs: list[Token] = []


def plain_text(parts: tuple[Part, ...]) -> str | None:
    """The text, when `parts` is one text with nothing hanging on it. Most turns are just that, so writers ask first."""
    if len(parts) != 1:
        return None
    only = parts[0]
    if type(only) is not Text or only.refusal or only.citations or only.seal is not None:
        return None
    return only.text if only.cache is None and only.extra is None else None


class Reasoning(Part, frozen=True, gc=False):
    """What the model thought, as far as it is shown, and the seal that proves it."""

    text: str = ""


class Media(Part, frozen=True, gc=False):
    """An image, a sound, a film or a document: one of `data` (base64 text, as it came), `url`, `file` (an id)."""

    kind: MediaKind
    mime: str = ""
    data: str = ""
    url: str = ""
    file: str = ""
    name: str = ""
    detail: str = ""


class ToolCall(Part, frozen=True, gc=False):
    """The model asks for a tool. `arguments` is the exact text: JSON for a function, anything for a custom tool."""

    id: str
    name: str
    arguments: str = ""
    custom: bool = False
    namespace: str = ""

    @property
    def complete(self) -> bool:
        """False for a call that was cut (`IncompleteCall`): it must not be run."""
        return True

    @property
    def input(self) -> Any:
        """The arguments, decoded; blank means an empty object. Raises ValueError when the model sent broken JSON, and
        for a call that was cut."""
        if self.custom:
            return self.arguments
        return msgspec.json.decode(self.arguments) if self.arguments.strip() else {}


class IncompleteCall(ToolCall, frozen=True, gc=False, tag="toolcall"):
    """A call that the answer ended in. `arguments` holds the part that came. Only `tool_calls` makes such calls; a
    conversation holds plain ones."""

    @property
    def complete(self) -> bool:
        return False

    @property
    def input(self) -> Any:
        raise ValueError(
            f"the call {self.id!r} of {self.name} is truncated: the answer ended before the arguments were whole. "
            "Do not run the call; ask again, with a larger token limit if the limit was reached"
        )


class ToolResult(Part, frozen=True, gc=False):
    """What a tool gave back for the call `call_id`."""

    call_id: str
    parts: tuple[Part, ...] = ()
    name: str = ""
    is_error: bool = False
    structured: bool = False
    """True when the source sent a JSON object: `parts` is then one Text holding its exact JSON text."""
    custom: bool = False


class Opaque(Part, frozen=True, gc=False):
    """Something only `dialect` understands, kept whole: its type word and its exact JSON."""

    dialect: str
    kind: str
    value: Raw


ELSEWHERE = Raw(b"null")
"""The value of a hosted call or result that has no JSON of its own in its source: the call's item holds its result too,
or the facts stand in the metadata of the answer. No writer writes it."""


class HostedCall(Opaque, frozen=True, gc=False):
    """The model used a tool that the upstream ran itself. Never a ToolCall: no client is asked to run it.

    `dialect`, `kind` and `value` hold the source's own JSON, for the way back to the same dialect. The fields below are
    the same in all dialects, and of them another dialect's call is made (`codec/hosted_calls.py`).
    """

    family: str = ""
    """The word that all dialects share for such tools (`codec/hosted_tools.py`): web_search, web_fetch, code_execution,
    mcp, tool_search. "": only its own dialect has such a tool."""
    id: str = ""
    name: str = ""
    arguments: str = ""
    """A JSON object. Which members it has depends on the family (`codec/hosted_calls.py`)."""
    server: str = ""
    """The MCP server whose tool was called."""


class HostedResult(Opaque, frozen=True, gc=False):
    """What a tool gave back that the upstream ran itself, for the HostedCall `call_id`."""

    family: str = ""
    call_id: str = ""
    sources: tuple[Citation, ...] = ()
    """The pages that were found or fetched."""
    parts: tuple[Part, ...] = ()
    """Texts and media that came back: the content of a page, the output of a program."""
    is_error: bool = False
    tools: tuple[str, ...] = ()
    """The names of the tools that a search for tools found; `namespace__name` for one in a namespace."""
    stderr: str = ""
    """What a program wrote to its standard error, where the upstream tells that from its output."""
    exit_code: int | None = None
    """With what a program ended, where the upstream says so."""


def held_elsewhere(part: Part) -> bool:
    """Whether a hosted call or result has no JSON of its own, so that there is nothing to write for it."""
    return isinstance(part, HostedCall | HostedResult) and part.value == ELSEWHERE
