"""Owns Dialect, the record that each folder under `dialects/` fills in, and the interfaces of stream readers and
writers.

`endpoints_record` is the second record of a folder: how clients are served, upstreams asked and errors judged.
This module knows no dialect by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Raw, Struct

from ..canon.events import Event, Fault
from ..canon.history_requirements import HistoryRequirements as HistoryRequirements
from ..canon.parts import Media
from ..canon.request import Request
from ..canon.response import Response
from ..canon.stop_usage_and_logprobs_paths import AnswerPaths as AnswerPaths
from ..canon.stop_usage_and_logprobs_paths import LogprobsPlace as LogprobsPlace
from ..canon.tools import HostedTool, Tool
from ..codec.failure_sentence_in_answer import BrokenCalls
from ..codec.hosted_tools import HostedToolRow
from ..codec.json_text import JsonValue
from ..codec.repeated_frame_interface import FrameMatcher, FrameTemplate
from ..codec.request_read_and_write_steps import RequestReader, RequestWriter
from ..context import Context
from ..rules.rule import Rule

if TYPE_CHECKING:
    from ..codec.hosted_calls import WriteHosted
    from .endpoints_record import Endpoints

Slot = Literal["reasoning", "call", "text"]
"""A kind of part that may carry a seal."""


def listed(document: Mapping[str, Any], key: str) -> list[Any]:
    """The list at `key` of a decoded document. The result is an empty list if the value is not a list."""
    found: JsonValue = document.get(key)
    return found if isinstance(found, list) else []


class StreamReader(Protocol):
    """Turns the bytes of an upstream's stream into events. The events do not depend on how the bytes are cut into
    chunks.
    """

    def feed(self, chunk: bytes) -> list[Event]:
        """The events of a chunk of bytes, which may end anywhere."""
        ...

    def close(self) -> list[Event]:
        """The stream is over. Returns the events that were held back, and a Fault if the stream was cut."""
        ...


class StreamWriter(Protocol):
    """Turns events into bytes of the client's dialect. The bytes always follow the full grammar of the dialect."""

    def send(self, event: Event) -> bytes:
        """The bytes of one event, possibly none."""
        ...

    def close(self) -> bytes:
        """No event will follow. Returns the end of the stream that the dialect demands, unless the end was already
        written.
        """
        ...


class TemplateWriter(StreamWriter, Protocol):
    """A StreamWriter that also offers templates for more text of a part (`dragoman.fast`)."""

    def template(self, index: int) -> FrameTemplate | None:
        """The template with which more text of that part is written; None if writing the text needs anything else.
        After each use the caller reports the text with `add_texts`.
        """
        ...

    def add_texts(self, index: int, texts: list[str]) -> None:
        """Take note of text of that part that was written with its template."""
        ...


class StreamEnd(Protocol):
    """Finds the end of a stream whose frames pass unchanged, without decoding all frames."""

    arrays: bool
    """Streams of the dialect may also come as the elements of one JSON array."""

    @property
    def ended(self) -> bool:
        """Whether the answer is whole, or ended by an error. Valid after the last byte."""
        ...

    @property
    def error(self) -> bytes:
        """The frame with the error that ended the answer; b"" if there is none."""
        ...

    def passed(self, frames: bytes) -> None:
        """Take note of whole frames that are not the last ones."""
        ...

    def look(self, frames: bytes) -> None:
        """Search whole frames that may contain the end."""
        ...

    def last(self, chunks: list[bytes]) -> None:
        """Search the last whole frames of the stream, in the order of arrival."""
        ...

    def frame(self, name: bytes, data: bytes) -> None:
        """Take note of one frame: the name of its event and its data."""
        ...


class UpstreamPaths(Struct, frozen=True):
    """The paths of an upstream of this dialect below its base address, and the headers of every request."""

    path: str
    stream_path: str
    headers: Mapping[str, str] = {}


def _library_only() -> Endpoints:
    from .endpoints_record import Endpoints

    return Endpoints()


class Fast(Struct, frozen=True, eq=False):
    """The functions of a dialect that only save time (`dragoman.fast`). Translations are the same without them."""

    skim: Callable[[bytes], tuple[Any, Raw]]
    """Decodes a request without its messages; the messages are returned as bytes. Raises the exceptions of decoding."""
    message: Callable[[Raw], Any]
    """Decodes one message strictly."""
    reader: Callable[[Context], RequestReader]
    writer: Callable[[Request, Context], RequestWriter]
    simple: bool = False
    """The writer examines all turns before it writes, and has no work for simple turns
    (`fast.prefix_memory.is_simple`).
    """
    read_plain: Callable[[bytes, int, Request | None], Any] | None = None
    """Reads a plain answer (`fast.plain_answer.PlainAnswer`) without parts, from the body, the time and the
    request. Returns None for any other answer.
    """
    write_plain: Callable[[Any, str, int, Request | None], bytes | None] | None = None
    """Writes a plain answer: the answer, the model name ("" for its own), the time, the request. Returns None if the
    answer needs the full writer.
    """
    repeated: FrameMatcher | None = None
    """Recognises frames that differ from an earlier frame only in their text."""


class Dialect(Struct, frozen=True, eq=False):
    """One wire protocol. All functions are pure, except for the notes that they add to the Context."""

    name: str
    title: str
    framing: Literal["sse", "ndjson"]
    read_request: Callable[[bytes, Context], Request]
    write_request: Callable[[Request, Context], bytes]
    read_response: Callable[[bytes, Context], Response]
    write_response: Callable[[Response, Context], bytes]
    reader: Callable[[Context], StreamReader]
    writer: Callable[[Context], StreamWriter]
    read_tools: Callable[[bytes, Context], tuple[Tool | HostedTool, ...]]
    write_tools: Callable[[Iterable[Tool | HostedTool], Context], bytes]
    read_fault: Callable[[bytes, int, Mapping[str, str]], Fault]
    write_fault: Callable[[Fault], tuple[bytes, int, dict[str, str]]]
    write_results: Callable[[Response, Request, Context], bytes]
    """The continuation of a tool turn: the items to append to the next request (the assistant's turn and the results).
    """
    evidence: Callable[[Mapping[str, Any]], list[tuple[int, str]]]
    """Reasons to believe that a decoded document is in this dialect, each with a weight."""
    upstream_paths: UpstreamPaths
    endpoints: Callable[[], Endpoints] = _library_only
    """How clients are served, upstreams asked and errors judged. It is a function because translation never needs these
    records. A dialect without one has no endpoint in the gateway, and its upstreams are asked with the defaults of the
    record.
    """
    broken_calls: BrokenCalls = "text"
    """How its answers represent a call whose arguments are not a JSON object."""
    is_answer: Callable[[Mapping[str, Raw]], bool] | None = None
    """Whether the fields of a body are those of an answer. Some upstreams send an error with status 200."""
    stream_end: Callable[[], StreamEnd] | None = None
    """Finds the end of a stream that passes unchanged. Without this function the reader decodes every frame."""
    fast: Fast | None = None
    """The functions that only save time."""
    rules: Callable[[], tuple[Rule, ...]] = tuple
    """The lint rules. It is a function because translation never needs them."""
    requirements: HistoryRequirements = HistoryRequirements()
    hosted: tuple[HostedToolRow, ...] = ()
    """The tools that its upstreams run themselves."""
    write_hosted: WriteHosted | None = None
    """Makes parts of this dialect from other dialects' calls and results of hosted tools (`codec/hosted_calls.py`)."""
    moves_images: Callable[[Media], bool] | None = None
    """Whether an image cannot be in an assistant turn of a request. Such an image moves to the next user turn
    (`codec/assistant_images.py`). None: all images can be there.
    """
    logprobs: LogprobsPlace | None = None
    """Where its answers hold log probabilities."""
    answer_paths: AnswerPaths = AnswerPaths()
    turns: str = ""
    """The field of a request that holds the list of turns. "": the list is not at the top level."""
    splice_model: bool = True
    """The body holds the model name. False: the address holds it."""
    related: tuple[str, ...] = ()
    """Dialects whose extra fields this dialect understands."""
    minor_fields: frozenset[str] = frozenset()
    """Fields that no client acts on. The severity of their loss is info."""
    sealed: frozenset[Slot] = frozenset()
    """The kinds of parts on which its upstreams put seals."""
    returns_seals_on: frozenset[Slot] = frozenset()
    """The kinds of parts on which its clients return any seal, also a seal that they do not know. The seals of other
    upstreams are written there.
    """
    interleaves: bool = True
    """Its clients return thoughts at their place among texts and calls."""
    call_slots: frozenset[str] = frozenset()
    """Dialects whose seals on calls have a field here. Some clients return the field; many do not."""
    seal_list: bool = False
    """Its answers have a list beside their parts (`reasoning_details`) for seals of other upstreams. Some clients
    return the list; many do not.
    """
    unsealed_thoughts: bool = False
    """Some of its hosts accept, or even demand, the thoughts that they have sent, although the thoughts have no seal.
    """
    origin: str = ""
    """The dialect in whose name its seals are kept. "": its own name."""
