"""Owns FileFormat, the record that each module under `formats/` fills in, and LineRecord, one line of a file without
its envelope.

A file format is an envelope around documents of a dialect (a batch file), or a form of conversations (a fine-tuning
set). The module knows no format by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NoReturn, TypeAlias, Union

import msgspec
from msgspec import Raw, Struct

from ...canon.request import Request
from ...codec import json_text
from ...context import Context
from ...dialect import Dialect, UpstreamPaths
from ...errors import ConfigError, WireError

_NULL = Raw(b"null")

Kind = Literal["request", "response", "fault", "ended", "exchange"]
"""What a line holds. `ended`: the batch ended before the request ran, and there is no answer. `exchange`: a request and
its answer."""

Ending = Literal["canceled", "expired"]
"""Why a request of a batch has no answer."""


Column: TypeAlias = Union[str, list["Column"], dict[str, "Column"]]
"""The type of a column of a Parquet file: "text", "bool", "int"; "json" for a text with JSON; a list with the type of
its elements; a mapping of member names to types."""

Columns: TypeAlias = dict[str, Column]


class LineRecord(Struct):
    """One line of a file, without its envelope."""

    kind: Kind
    body: bytes
    """The document, in the dialect of the record."""
    dialect: Dialect
    id: str | None = None
    """The name by which a batch pairs requests with results."""
    at: str = ""
    """The JSON pointer of the document in the line."""
    status: int = 200
    """The HTTP status of an answer or a fault."""
    ending: Ending = "expired"
    unread: tuple[str, ...] = ()
    """JSON pointers of fields of the envelope that other formats have no place for."""
    answer: bytes = b""
    """The answer of an exchange."""
    joined: bool = False
    """The document is an exchange, and paths that begin with `response` lie in its answer."""


class FileFormat(Struct, frozen=True, eq=False):
    """A form of lines in files."""

    name: str
    title: str
    source: str
    """The page that publishes the format."""
    date: str
    """The day on which the page was read."""
    dialect: Dialect
    """The dialect of the documents that are written in this format."""
    read: Callable[[bytes], LineRecord]
    """Opens the envelope of a line. Raises WireError."""
    write: Callable[[LineRecord], bytes]
    """Closes the envelope around a document in `dialect`."""
    evidence: Callable[[Mapping[str, Any]], str]
    """The reason to believe that a decoded line is in this format; "" if there is none."""
    kinds: frozenset[str] = frozenset({"request", "response", "fault", "ended"})
    """The kinds of lines that can be written."""
    named: bool = False
    """Every line needs an id."""
    id_member: str = "custom_id"
    """The member that holds the id."""
    legal_id: Callable[[str], bool] | None = None
    """Whether an id may be in a line of the format. None: every id may."""
    has_model: bool = True
    """A line names the model of its request, if the dialect does."""
    trains: bool = False
    """The lines are examples of whole conversations. An exchange becomes the conversation with its answer."""
    columns: Columns | None = None
    """The columns of a Parquet file in this format. None: one column of JSON texts."""


def members(line: bytes, name: str) -> dict[str, Raw]:
    """The members of a line, each with its exact text. Raises WireError."""
    try:
        return json_text.fields(line)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise WireError(name, "", "a JSON object", str(error)) from None


def text_of(found: Mapping[str, Raw], key: str, name: str) -> str | None:
    """The text at a key; None if the key is absent or null."""
    value = found.get(key)
    if value is None or value == _NULL:
        return None
    decoded = json_text.plain(value)
    if not isinstance(decoded, str):
        raise WireError(name, f"/{key}", "a text", type(decoded).__name__)
    return decoded


def unknown_members(found: Iterable[str], known: frozenset[str]) -> tuple[str, ...]:
    """The JSON pointers of the members that a format does not know."""
    return tuple([f"/{key}" for key in found if key not in known])


def conversation_dialect(
    name: str,
    title: str,
    read: Callable[[bytes, Context], Request],
    write: Callable[[Request, Context], bytes],
    kin: tuple[str, ...] = (),
) -> Dialect:
    """The dialect of a file format that holds conversations and no answers. It has no endpoint, and no list of dialects
    contains it.
    """

    def refuse(*_: Any) -> NoReturn:
        raise ConfigError("format", name, problem="the format holds conversations only, no answers and no streams")

    return Dialect(
        name=name,
        title=title,
        framing="ndjson",
        read_request=read,
        write_request=write,
        read_response=refuse,
        write_response=refuse,
        reader=refuse,
        writer=refuse,
        read_tools=refuse,
        write_tools=refuse,
        read_fault=refuse,
        write_fault=refuse,
        write_results=refuse,
        evidence=lambda document: [],
        upstream_paths=UpstreamPaths("", ""),
        related=kin,
    )
