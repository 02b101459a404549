"""Dialect: what a folder under `dialects/` must offer, and the two state machines of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Raw, Struct

from .canon.events import Event, Fault
from .canon.history_requirements import AnswerPlaces as AnswerPlaces
from .canon.history_requirements import HistoryRequirements as HistoryRequirements
from .canon.history_requirements import Place as Place
from .canon.parts import Media
from .canon.request import Request
from .canon.response import Response
from .canon.tools import HostedTool, Tool
from .codec.failed_answers import BrokenCalls
from .codec.frames import FrameMatcher, Template
from .codec.hosted_tools import Row
from .codec.request_steps import RequestReader, RequestWriter
from .context import Context
from .rules.rule import Rule

if TYPE_CHECKING:
    from .codec.hosted_calls import WriteHosted
    from .endpoints.records import Endpoints

Slot = Literal["reasoning", "call", "text"]
"""A kind of part that may carry a seal."""


def listed(document: Mapping[str, Any], key: str) -> list[Any]:
    """The list at `key` of a decoded document, which may hold anything there; an empty one if it is none."""
    found = document.get(key)
    return found if isinstance(found, list) else []


class StreamReader(Protocol):
    """Bytes of an upstream's stream in, events out; the same events however the bytes are cut."""

    def feed(self, chunk: bytes) -> list[Event]: ...

    def close(self) -> list[Event]:
        """The bytes are over. Gives what was held back, and a Fault when the stream was cut."""
        ...


class StreamWriter(Protocol):
    """Events in, bytes of the client's dialect out: always its full legal grammar."""

    def send(self, event: Event) -> bytes: ...

    def close(self) -> bytes:
        """No event will follow. Ends the stream as the dialect demands if that has not happened."""
        ...


class TemplateWriter(StreamWriter, Protocol):
    """A writer that knows the short way, too."""

    def template(self, index: int) -> Template | None:
        """How more words of that part are written, if nothing else has to be done for them. They are told by `told`."""
        ...

    def told(self, index: int, texts: list[str]) -> None:
        """More words of that part went out by its template."""
        ...


class StreamEnd(Protocol):
    """Finds the end of a stream whose frames pass as they are, without decoding them all."""

    arrays: bool
    """The dialect's streams also come as the elements of one JSON array."""

    @property
    def ended(self) -> bool:
        """The answer is whole, or an error ended it. Asked when the bytes are over."""
        ...

    @property
    def error(self) -> bytes:
        """The frame with the error that ended the answer; b"" for none."""
        ...

    def passed(self, frames: bytes) -> None:
        """Some whole frames went by, and others followed."""
        ...

    def look(self, frames: bytes) -> None:
        """Some whole frames went by, which may have the end among them."""
        ...

    def last(self, chunks: list[bytes]) -> None:
        """The last whole frames of the stream, in the order in which they came."""
        ...

    def frame(self, name: bytes, data: bytes) -> None:
        """One frame went by: the name of its event, and its data."""
        ...


class Endpoint(Struct, frozen=True):
    """Where an upstream of this dialect listens."""

    path: str
    stream_path: str
    headers: Mapping[str, str] = {}


def _library_only() -> Endpoints:
    from .endpoints.records import Endpoints

    return Endpoints()


class Fast(Struct, frozen=True, eq=False):
    """What a dialect offers only for speed, to `dragoman.fast`. Translations are the same without it."""

    skim: Callable[[bytes], tuple[Any, Raw]]
    """A request decoded but for its messages, which are given as they are. Raises what decoding raises."""
    message: Callable[[Raw], Any]
    """One message, decoded strictly."""
    reader: Callable[[Context], RequestReader]
    writer: Callable[[Request, Context], RequestWriter]
    simple: bool = False
    """Its writer looks through all turns before it writes, and finds nothing to do in simple ones
    (`fast.prefix.is_simple`)."""
    read_plain: Callable[[bytes, int, Request | None], Any] | None = None
    """A short way for answers that are plain (`fast.plain_answers.Plain`): the body, the time, the request; None for
    any other, which then goes through parts."""
    write_plain: Callable[[Any, str, int, Request | None], bytes | None] | None = None
    """The same for writing: the answer, the model's name ("" for its own), the time, the request; None where writing it
    takes more than that."""
    repeated: Callable[[], FrameMatcher] | None = None
    """Knows frames of its streams that differ in their text only."""


class Dialect(Struct, frozen=True, eq=False):
    """One wire protocol. All functions are pure but for what they write into the Context."""

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
    """The continuation of a tool turn: what to append to the next request (the assistant's turn and the results)."""
    evidence: Callable[[Mapping[str, Any]], list[tuple[int, str]]]
    """Reasons to believe that a decoded document is in this dialect, each with a weight."""
    endpoint: Endpoint
    endpoints: Callable[[], Endpoints] = _library_only
    """How it is served, asked and judged; a function, because translation never needs that. Without one the gateway
    serves no client of the dialect, and asks its upstreams as most are asked."""
    broken_calls: BrokenCalls = "text"
    """What its answers have for a call whose arguments never became a JSON object."""
    is_answer: Callable[[Mapping[str, Raw]], bool] | None = None
    """Whether the fields of a body are those of an answer: errors come with good statuses, too."""
    stream_end: Callable[[], StreamEnd] | None = None
    """Finds the end of a stream that passes as it is. Without it the reader has to read every frame."""
    fast: Fast | None = None
    """What it offers only for speed."""
    rules: Callable[[], tuple[Rule, ...]] = tuple
    """What the linter checks documents of this dialect for; a function, because translation never needs them."""
    requirements: HistoryRequirements = HistoryRequirements()
    hosted: tuple[Row, ...] = ()
    """The tools that its upstreams run themselves."""
    write_hosted: WriteHosted | None = None
    """Makes its own parts of other dialects' calls and results of such tools (`codec/hosted_calls.py`)."""
    moves_images: Callable[[Media], bool] | None = None
    """Which images of an assistant's turn its requests cannot hold there, so that they move to the next user turn
    (`codec/assistant_images.py`). None: none of them."""
    logprobs: Place | None = None
    """Where its answers have log probabilities."""
    ends: AnswerPlaces = AnswerPlaces()
    turns: str = ""
    """The field of a request that has the list of turns; "" where it does not stand at the top."""
    splice_model: bool = True
    """The model's name stands in the body (else in the address)."""
    kin: tuple[str, ...] = ()
    """Dialects whose extra fields this one understands as well."""
    noise: frozenset[str] = frozenset()
    """Fields that say nothing a reader acts on: their loss is info."""
    sealed: frozenset[Slot] = frozenset()
    """On which parts its upstreams put seals."""
    echoes: frozenset[Slot] = frozenset()
    """On which parts its clients send back a seal that they do not know: where seals of other upstreams travel."""
    interleaves: bool = True
    """Its clients send thoughts back where they stood among texts and calls."""
    call_slots: frozenset[str] = frozenset()
    """Dialects whose seals on calls have a place here that some clients send back, and many do not."""
    seal_list: bool = False
    """Its answers have a list beside their parts (`reasoning_details`) for seals of other upstreams. Some clients send
    the list back, and many do not."""
    unsealed_thoughts: bool = False
    """Some of its hosts take back the thoughts that they have sent, and demand them, though they have no seal."""
    origin: str = ""
    """In which dialect's name its seals are, if not in its own."""
