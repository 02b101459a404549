"""The strict wire shapes of Messages: each type of block with its own fields only.

`wire.Block` has the fields of all types, so that it can hold unusual blocks. But it also accepts a field in a block of
the wrong type, which no reader reads. Nearly all documents are usual, and are decoded here, each block by its `type`:
this takes less memory and time, and no field is misplaced. A document that is refused here is decoded with `wire`, and
misplaced fields are then sorted out.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Path
from ...codec import json_text
from ...codec.wire_decoding_with_unknown_fields import Admitted, Unknown
from . import wire

_HOSTED_RESULT = ("tool_use_id", "content", "caller", "cache_control")
FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("text", "citations", "cache_control"),
    "tool_use": ("id", "name", "input", "caller", "toolset_name", "cache_control"),
    "tool_result": ("tool_use_id", "content", "is_error", "toolset_name", "cache_control"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "image": ("source", "transformations", "cache_control"),
    "document": ("source", "title", "context", "citations", "cache_control"),
    "search_result": ("source", "title", "content", "citations", "cache_control"),
    "server_tool_use": ("id", "name", "input", "caller", "cache_control"),
    "web_search_tool_result": _HOSTED_RESULT,
    "web_fetch_tool_result": _HOSTED_RESULT,
    "code_execution_tool_result": _HOSTED_RESULT,
    "bash_code_execution_tool_result": _HOSTED_RESULT,
    "text_editor_code_execution_tool_result": _HOSTED_RESULT,
    "tool_search_tool_result": _HOSTED_RESULT,
}
"""The fields of each type of block (anthropic 2.8.0, 2026-11)."""

_ALL = wire.Block.__struct_fields__
_SORTED = {
    kind: tuple([name for name in _ALL if name not in ("type", "strange", *FIELDS[kind])])
    for kind in wire.Block.__kinds__
}
"""The fields that blocks of each type do not have, in their order."""


class _Lean(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False, tag_field="type"):
    """A block of one type."""


def _lean(kind: str, fields: Iterable[str]) -> type[Struct]:
    """The shape of one type. The fields of other types are class attributes with None."""
    types = typing.get_type_hints(wire.Block)
    defaults = {field.name: field.default for field in msgspec.structs.fields(wire.Block)}
    shape: list[Any] = [(name, types[name], defaults[name]) for name in fields]
    others = dict.fromkeys([name for name in _ALL if name not in fields]) | {"type": kind}
    made: type[Struct] = msgspec.defstruct(f"Lean_{kind}", shape, bases=(_Lean,), tag=kind, namespace=others)
    return made


_blocks: Any = typing.Union[tuple([_lean(kind, fields) for kind, fields in FIELDS.items()])]
MESSAGE: Any = msgspec.defstruct("Message", [("content", str | list[_blocks])], bases=(wire.Message,))
REQUEST: Any = msgspec.defstruct(
    "Request",
    [("messages", list[MESSAGE]), ("system", str | list[_blocks] | None, None)],
    bases=(wire.MessagesRequest,),
)
_answer: Any = msgspec.defstruct("Answer", [("content", list[_blocks])], bases=(wire.Answer,))
_event: Any = msgspec.defstruct(
    "Event", [("content_block", _blocks | None, None), ("message", _answer | None, None)], bases=(wire.StreamEvent,)
)

_exact_request: Callable[[bytes], wire.MessagesRequest] = msgspec.json.Decoder(REQUEST).decode
_exact_answer: Callable[[bytes], wire.Answer] = msgspec.json.Decoder(_answer).decode
read_event: Callable[[bytes], wire.StreamEvent] = msgspec.json.Decoder(_event).decode
_exact_content: Callable[[bytes | Raw], list[wire.Block]] = msgspec.json.Decoder(list[_blocks]).decode
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def admit_request(body: bytes) -> Admitted[wire.MessagesRequest]:
    """Decode a request, strictly if possible."""
    try:
        return _exact_request(body), {}, {}
    except _REFUSED:
        request, unknown, spelled = wire.REQUEST.admit(body)
    if isinstance(request.system, list):
        sort_out(request.system, ("system",), unknown)
    for i, message in enumerate(request.messages):
        if isinstance(message.content, list):
            sort_out(message.content, ("messages", i, "content"), unknown)
    return request, unknown, spelled


def admit_answer(body: bytes) -> Admitted[wire.Answer]:
    """Decode an answer, strictly if possible."""
    try:
        return _exact_answer(body), {}, {}
    except _REFUSED:
        answer, unknown, spelled = wire.ANSWER.admit(body)
    sort_out(answer.content, ("content",), unknown)
    return answer, unknown, spelled


def admit_content(content: Raw, at: Path) -> tuple[list[wire.Block], Unknown]:
    """Decode the blocks inside a result."""
    try:
        return _exact_content(content), {}
    except _REFUSED:
        blocks, unknown, _ = wire.CONTENT.admit(content, at)
    sort_out(blocks, at, unknown)
    return blocks, unknown


def sort_out(blocks: list[wire.Block], at: Path, unknown: Unknown) -> None:
    """Move fields of a block of the wrong type to the unknown fields."""
    for i, block in enumerate(blocks):
        sort_out_block(block, (*at, i), unknown)


def sort_out_block(block: wire.Block, at: Path, unknown: Unknown) -> None:
    """Move fields of one block of the wrong type to the unknown fields."""
    if type(block) is not wire.Block:
        return  # a strict block has no other fields
    misplaced_fields = take_misplaced_fields(block, _SORTED.get(block.type, ()))
    if misplaced_fields:
        unknown.setdefault(at, {}).update(misplaced_fields)


def take_misplaced_fields(shape: Struct, names: Iterable[str]) -> dict[str, Raw]:
    """The sent fields among `names` as raw JSON. They are removed from the Struct."""
    found: dict[str, Raw] = {}
    for name in names:
        value = getattr(shape, name)
        if value is not None and value is not wire.NONE:
            found[name] = value if isinstance(value, Raw) else json_text.raw(value)
            setattr(shape, name, wire.NONE if isinstance(value, Raw) else None)
    return found
