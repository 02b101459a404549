"""Reads and writes the content of one message, in requests and in answers: thinking, text, images, calls."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Media, Opaque, Part, Path, Reasoning, Text, ToolCall, plain_text
from ...codec import json_text
from ...codec.call_ids import send as send_id
from ...codec.custom_tools import wrap_input
from ...codec.dialect_extras import gather
from ...codec.media import as_text, missing_media_text
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .call_pairing import Ids
from .media import read_image, write_image
from .original_values import ID, NULL, OTHER_ARGUMENTS, TEXT, TRUE, own, put_back
from .tools import ANY_NAMES, IDS, NAMES


class _RawArguments(Struct, forbid_unknown_fields=True):
    text: str = msgspec.field(name="__raw")


_raw_arguments = msgspec.json.Decoder(_RawArguments).decode
_string = msgspec.json.Decoder(str).decode
_FUNCTION = Raw(b'"function"')


def read_content(message: wire.Message, at: Path) -> list[Part]:
    """The text, then the images: the wire has no order between the two."""
    parts: list[Part] = []
    if message.content:
        parts.append(Text(message.content, at=at + ("content",)))
    if message.images:
        for i, image in enumerate(message.images):
            parts.append(read_image(image, at + ("images", i)))
    return parts


def read_assistant(message: wire.Message, at: Path, ids: Ids, unknown: Unknown) -> list[Part]:
    """The parts of an assistant message in the fixed order thinking, text, images, calls."""
    parts: list[Part] = []
    if message.thinking:
        parts.append(Reasoning(message.thinking, at=at + ("thinking",)))
    if message.content or message.images:
        parts.extend(read_content(message, at))
    if message.tool_calls:
        for i, call in enumerate(message.tool_calls):
            parts.append(read_call(call, at + ("tool_calls", i), ids, unknown))
    return parts


def read_call(call: wire.Call, at: Path, ids: Ids, unknown: Unknown) -> ToolCall | Opaque:
    """One call; Opaque if it has no function."""
    function = call.function
    if function is None:
        fields = json_text.fields(json_text.raw(call)) | unknown.pop(at, {})
        return Opaque(wire.NAME, call.type or "", json_text.raw(fields), at=at)
    arguments = str(function.arguments, "utf-8") if function.arguments else ""
    marks: dict[str, Raw] = {}
    # Arguments are an object (server sources, 2026-08); some compatible servers send a text.
    if not arguments.startswith("{") or arguments.startswith('{"__raw"'):
        if arguments.startswith('"'):
            marks[TEXT] = TRUE
        elif arguments and arguments != "null" and not arguments.startswith("{"):
            marks[OTHER_ARGUMENTS] = TRUE
        arguments = read_arguments(arguments)
    if call.type is not None:
        marks["type"] = _FUNCTION if call.type == "function" else json_text.raw(call.type)
    if function.index is not None:
        marks["function/index"] = json_text.raw(function.index)
    # Servers send `call_` and eight random characters today; older ones send no id (server sources, 2026-08).
    if not call.id:
        marks[ID] = NULL
    extra = gather(ids.context, at, unknown) if unknown else None
    if marks:
        extra = {wire.NAME: marks if extra is None else {**extra[wire.NAME], **marks}}
    out = ToolCall(call.id or ids.mint(at), function.name or "", arguments, extra=extra, at=at)
    ids.waiting.add(out)
    return out


def read_arguments(text: str) -> str:
    """The value of `arguments` as the arguments of a call: an object unchanged, a text decoded (some servers send the
    object as a text), nothing for null. Arguments that an earlier translation wrapped in `__raw` are unwrapped.
    """
    if text == "null":
        return ""
    if text.startswith('"'):
        return _string(text)
    if text.startswith('{"__raw"'):
        try:
            return _raw_arguments(text).text
        except msgspec.DecodeError:
            return text
    return text


class MessageFields:
    """The content of one turn, collected by the fields of a message."""

    __slots__ = ("calls", "ends", "images", "moved", "thoughts", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.images: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[Any] = []
        self.moved = False
        self.ends = False  # an image follows text

    def move(self, at: Path, context: Context) -> None:
        """Report, once per turn, that a part follows a part with a later field."""
        if not self.moved:
            self.moved = True
            context.lose("order.approximated", at)


def write_content(role: str, parts: tuple[Part, ...], context: Context) -> list[dict[str, Any]]:
    """The messages of a user or system turn. An image between two texts ends its message, so that it stays between the
    texts.
    """
    text = plain_text(parts)
    if text is not None:
        return [{"role": role, "content": text}]
    messages: list[dict[str, Any]] = []
    fields = MessageFields()
    for part in parts:
        if isinstance(part, Text | Media):
            # A message has no order between its text and its images, so only a new message keeps an image between two
            # texts.
            if fields.ends and type(part) is Text and part.text:
                messages.append(_message(role, fields))
                fields = MessageFields()
            _write_part(part, fields, context)
        elif isinstance(part, Opaque):
            context.lose("part.dropped", part.at, part.kind)
        else:
            context.lose("part.dropped", part.at, type(part).__name__)
    messages.append(_message(role, fields))
    return messages


def _message(role: str, fields: MessageFields) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": "\n".join(fields.words)}
    if fields.images:
        message["images"] = fields.images
    return message


def _write_part(part: Text | Media, fields: MessageFields, context: Context) -> None:
    if part.cache is not None:
        context.lose("cache.dropped", part.at)
    if part.seal is not None:
        context.lose("seal.dropped", part.at)
    if type(part) is Media:
        image = write_image(part, context)
        if image is not None:
            fields.images.append(image)
            fields.ends = bool(fields.words)
            return
        words = as_text(part, context)
        if words is not None:
            fields.words.append(words)
            return
        context.lose("media.dropped", part.at, part.url or part.mime or part.kind)
        fields.words.append(missing_media_text(part))
        return
    if part.citations:
        context.lose("citation.dropped", cited_at(part.at))
    if not part.text:
        return
    if part.refusal:
        context.lose("refusal.as_text", part.at)
    # A message has one text, one list of images and one list of calls, without an order between them (server sources,
    # 2026-08).
    if fields.images or fields.calls:
        fields.move(part.at, context)
    fields.words.append(part.text)


def cited_at(at: Path) -> Path:
    """The place of a text's citations: in the text, or beside it in dialects with one text per answer."""
    if at[:1] == ("candidates",):
        return at[:2]
    return at[:-1] if at[-1:] == ("content",) else at


def write_assistant(parts: tuple[Part, ...], context: Context, *, request: bool) -> dict[str, Any] | None:
    """An assistant message; None if a message of the history has no content left. The message of an answer may be
    empty.
    """
    fields = MessageFields()
    for part in parts:
        if isinstance(part, Text | Media):
            if type(part) is Media and fields.calls:
                fields.move(part.at, context)
            _write_part(part, fields, context)
        elif type(part) is ToolCall:
            fields.calls.append(write_call(part, len(fields.calls), context, request=request))
        elif type(part) is Reasoning:
            _write_thought(part, fields, context)
        elif isinstance(part, Opaque) and part.dialect == wire.NAME:
            fields.calls.append(part.value)  # a call of an unknown kind
        else:
            context.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
    if request and not (fields.words or fields.images or fields.thoughts or fields.calls):
        return None
    # The texts of an answer are pieces of one text in every dialect.
    message: dict[str, Any] = {"role": "assistant", "content": "".join(fields.words)}
    if fields.thoughts:
        message["thinking"] = "\n\n".join(fields.thoughts)
    if fields.images:
        message["images"] = fields.images
    if fields.calls:
        message["tool_calls"] = fields.calls
    return message


def _write_thought(part: Reasoning, fields: MessageFields, context: Context) -> None:
    """Thinking is plain text, which every model with thinking takes back. There is no field for a seal."""
    if part.seal is not None and part.seal.data:
        context.lose("seal.dropped", part.at)
    if part.cache is not None:
        context.lose("cache.dropped", part.at)
    if not part.text:
        return
    if fields.words or fields.images or fields.calls:
        fields.move(part.at, context)
    fields.thoughts.append(part.text)


def write_call(call: ToolCall, number: int, context: Context, *, request: bool) -> dict[str, Any]:
    """One call. An answer also has `function.index`, as current servers write it (server sources, 2026-08)."""
    mine = context.source == wire.NAME
    # The server does not validate names or ids (server sources, 2026-08); names of other dialects are limited to what
    # every template takes.
    names = NAMES if request and not mine else ANY_NAMES
    function: dict[str, Any] = {"name": names.send(call.name, call.namespace, context, call.at)}
    if not request and not mine:
        function = {"index": number, **function}
    function["arguments"] = _write_arguments(call, context)
    out: dict[str, Any] = {"id": send_id(call.id, IDS, context, call.at), "function": function}
    if call.cache is not None:
        context.lose("cache.dropped", call.at)
    if call.seal is not None:
        context.lose("seal.dropped", call.at)
    if call.extra is None:
        return out
    if own(call.extra, ID) is not None:
        del out["id"]
    return put_back(out, call.extra)


def _write_arguments(call: ToolCall, context: Context) -> Any:
    """The value of `arguments`, which must be an object. Other arguments are wrapped in `__raw`, which the reader
    unwraps.
    """
    if call.custom:
        context.lose("call.custom.wrapped", call.at)
        return Raw(wrap_input(call.arguments))
    # A client of this dialect sent the arguments as a text: its own server took them.
    if own(call.extra, TEXT) is not None:
        return call.arguments
    found = json_text.object_raw(call.arguments)
    if found is not None:
        return found
    if own(call.extra, OTHER_ARGUMENTS) is not None:
        return Raw(call.arguments)
    if context.source != wire.NAME:
        context.lose("arguments.invalid", call.at)
    return {"__raw": call.arguments}
