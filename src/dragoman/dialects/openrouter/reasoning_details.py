"""Translates `reasoning_details`, the thoughts of a model with their signatures, to parts with seals and back.

Each detail is one part, and its seal is the whole detail. So text, signature, format, id and index return unchanged and
in order, through a client of any dialect: OpenRouter's docs demand this in tool loops (2026-11). A seal of another
origin is packed in a detail for clients of this dialect. A seal on a call becomes a detail with the id of the call,
as OpenRouter carries Gemini's signatures.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Media, Opaque, Part, Path, Reasoning, Seal, Text, ToolCall, is_stored_elsewhere
from ...codec import json_text, packed_seals
from ...codec.call_ids import hashed_id, short_for_chat_client
from ...codec.custom_tools import wrap_input
from ...codec.hosted_calls import made_elsewhere
from ...codec.media import data_url, split_data_url
from ...context import Context
from ..openai_chat.message_content import marked_field
from ..openai_chat.reasoning_details import ENCRYPTED, TEXT, Detail, listed, look, words
from .hosted_calls import DETAIL, read_hosted
from .wire import CHAT, NAME, own

_FORMAT = "unknown"
_OURS_ID = "dragoman-"
_IMAGES = "images"
_OURS = "dragoman."


_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def shown_id(index: int) -> str:
    """The id of a detail with the text of another upstream's thought. Without a signature such a detail proves
    nothing.
    """
    return f"{_OURS_ID}{index}"


def has_no_proof(detail: Detail) -> bool:
    """Whether a detail is a text that dragoman wrote without a signature."""
    return detail.type == TEXT and not detail.signature and detail.id is not None and detail.id.startswith(_OURS_ID)


def read_detail(value: Raw, at: Path) -> tuple[Part, str]:
    """A thought, and the id of the call that its seal belongs to, if the seal was packed for a call."""
    found = look(value)
    if found is None:
        return Opaque(NAME, json_text.kind(value), value, at=at), ""
    slot = found.data if found.type == ENCRYPTED else found.signature
    foreign = packed_seals.packed_seal_in(slot) if slot else None
    # Only a seal on a call is packed with an id that has a meaning: the id of that call.
    if foreign is not None and foreign.dialect != NAME:
        return Reasoning(words(found), seal=foreign, at=at), (found.id or "") if found.type == ENCRYPTED else ""
    seal = None if has_no_proof(found) else Seal(NAME, json_text.text(value), found.type)
    return Reasoning(words(found), seal=seal, at=at), ""


def read_details(raw: Raw, at: Path) -> tuple[list[Part], dict[str, Seal]] | None:
    """The parts of a message's details, and the seals of its calls by id; None if the value is not a list."""
    values = listed(raw)
    if values is None:
        return None
    parts: list[Part] = []
    for_calls: dict[str, Seal] = {}
    for i, value in enumerate(values):
        if look(value) is None:
            parts += read_hosted(value, (*at, "reasoning_details", i))
            continue
        part, call_id = read_detail(value, (*at, "reasoning_details", i))
        # Gemini's signatures are on calls, and OpenRouter carries them as a detail with the id of the call (recorded
        # 2026).
        if call_id and part.seal is not None:
            for_calls[call_id] = part.seal
        else:
            parts.append(part)
    return parts, for_calls


def thought_text(parts: list[Part]) -> str:
    """The text of all thoughts, which the field `reasoning` repeats."""
    return "".join([part.text for part in parts if type(part) is Reasoning])


def detail_id(call_id: str) -> str:
    """The id of the detail with a call's seal: the id of the call as the client gets it."""
    return short_for_chat_client(call_id) or hashed_id(call_id)


def sealed_calls(parts: tuple[Part, ...], for_calls: dict[str, Seal]) -> tuple[Part, ...]:
    """The parts with these seals on their calls. A seal without a call becomes a thought of its own."""
    if not for_calls:
        return parts
    left = dict(for_calls)
    out = []
    for part in parts:
        if type(part) is ToolCall:
            named = part.id if part.id in left else detail_id(part.id)
            if named in left:
                part = msgspec.structs.replace(part, seal=left.pop(named))
        out.append(part)
    return (*[Reasoning("", seal=seal) for seal in left.values()], *out)


def own_thought(part: Reasoning) -> Reasoning:
    """A thought from the field `reasoning` alone. It is restored for this dialect only."""
    # Text in `reasoning` alone proves nothing to OpenRouter: proofs are in the details (openrouter 1.3.84, 2026-11).
    if part.seal is not None and part.seal.dialect == CHAT:
        part = msgspec.structs.replace(part, seal=None)
    extra = part.extra or {}
    mark = extra.get(CHAT, {})
    rest = {name: value for name, value in extra.items() if name != CHAT}
    return msgspec.structs.replace(part, extra={**rest, NAME: mark} if mark else part.extra)


class SplitTurn(NamedTuple):
    """A turn of the assistant, by the fields of this dialect."""

    parts: tuple[Part, ...]
    """The parts for Chat's writer."""
    details: list[Any]
    images: list[Any]
    thought: str
    """The text of the details."""
    reasoning: str = ""
    """In a request: the text of other dialects' thoughts, for the field `reasoning`."""


def split_turn(parts: tuple[Part, ...], context: Context, *, request: bool, is_own: bool) -> SplitTurn:
    """Take thoughts, seals and images out of a turn. In an answer all thoughts are written. In a request the details of
    this dialect return, and of other thoughts only the text.
    """
    split = SplitTurn((), [], [], "")
    rest: list[Part] = []
    thoughts: list[str] = []
    unproved_thoughts: list[Reasoning] = []
    for part in parts:
        if type(part) is Reasoning:
            marked = _marked(part) if is_own and part.seal is None else None
            if marked is not None:
                rest.append(marked)
                continue
            if not is_own:
                _report_more(part, context)
            detail = (
                _request_detail(part, len(split.details), context, is_own)
                if request
                else _answer_detail(part, len(split.details))
            )
            if detail is not None:
                if rest and (part.text or part.at):  # else it only carries seals, and is not part of the source
                    context.lose("order.approximated", part.at)
                split.details.append(detail)
                thoughts.append(part.text)
            elif request and not is_own and part.text:
                if rest:
                    context.lose("order.approximated", part.at)
                unproved_thoughts.append(part)
        elif isinstance(part, Opaque) and part.dialect == NAME:
            if is_stored_elsewhere(part):
                continue
            # No recording shows that OpenRouter takes a detail that it did not make (2026-11).
            if request and made_elsewhere(part):
                context.lose("hosted.dropped", part.at, f"{part.kind}: OpenRouter did not make it")
                continue
            if part.kind == DETAIL and rest and not is_own:
                context.lose("order.approximated", part.at)
            (split.images if _IMAGES in part.at else split.details).append(part.value)
        elif type(part) is ToolCall:
            rest.append(_call(part, split.details, context, request))
        elif type(part) is Media and _beside(part, is_own):
            split.images.append(write_image(part, context))
        else:
            if type(part) is Text:
                if request and part.seal is not None and _is_entry(part.seal):
                    split.details.append(_named_entry(part.seal, len(split.details)))
                    part = msgspec.structs.replace(part, seal=None)
                part = _text(part, context, joined=not request and not is_own)
            rest.append(part)
        if split.images and rest and rest[-1] is part and not is_own:
            context.lose("order.approximated", part.at)  # images come after all other parts
    if unproved_thoughts and (split.details or not rest or _wants_proofs(context)):
        # If there are details, the field must repeat them. A message with no other content than this text is useless.
        for part in unproved_thoughts:
            context.lose("reasoning.dropped", part.at)
        unproved_thoughts = []
    reasoning = "\n\n".join([part.text for part in unproved_thoughts])
    return split._replace(parts=tuple(rest), thought="".join(thoughts), reasoning=reasoning)


def _wants_proofs(context: Context) -> bool:
    """Whether the model may refuse a thought without its signature. Anthropic's models do ("Invalid signature in
    thinking block" through OpenRouter: linanwx/nagobot issue 21, 2026-03).
    """
    return any(word.startswith("anthropic") for word in context.profile.seal_formats)


def _beside(media: Media, is_own: bool) -> bool:
    """Whether an image of the assistant is in `images`: always, unless a client of this dialect put it
    elsewhere.
    """
    if media.kind != "image" or not (media.data or media.url):
        return False
    return not is_own or _IMAGES in media.at


def _marked(part: Reasoning) -> Reasoning | None:
    """A thought from the field `reasoning` alone, marked so that Chat's writer writes it there again."""
    own_fields = own(part.extra)
    if not own_fields:
        return None
    homed = msgspec.structs.replace(part, extra={CHAT: own_fields})
    return homed if marked_field(homed) else None


def _request_detail(part: Reasoning, index: int, context: Context, is_own: bool) -> Any:
    """The detail to send back; None if there is none."""
    seal = part.seal
    if seal is not None and seal.dialect == NAME and seal.data.startswith(packed_seals.MARK):
        return new_detail(part.text, seal, index)  # packed for another upstream
    if seal is not None and seal.dialect == NAME and seal.data:
        detail = look(Raw(seal.data)) if json_text.is_object(seal.data) else None
        formats = context.profile.seal_formats
        if detail is None:
            context.lose("seal.dropped", part.at, "the seal is not a detail")
        # `format` names the family that made the proof, such as anthropic-claude-v1 (openrouter 1.3.84, 2026-11). A
        # model of another family cannot check it.
        elif (not is_own or context.gated) and formats and detail.format and not detail.format.startswith(formats):
            context.lose("seal.dropped", part.at, f"of format {detail.format}, which this model does not know")
        else:
            # Details must return unchanged and in order (OpenRouter's docs, 2026-11), so the original bytes are
            # written.
            return Raw(seal.data)
        if part.text and is_own:
            context.lose("reasoning.dropped", part.at)
        return None
    if part.text and is_own:
        context.lose("reasoning.dropped", part.at)
    if seal is not None and seal.data:
        context.lose("seal.dropped", part.at)
    return None


def _answer_detail(part: Reasoning, index: int) -> Any:
    seal = part.seal
    if seal is not None and seal.dialect == NAME and json_text.is_object(seal.data):
        return Raw(seal.data)
    return new_detail(part.text, seal, index)


def new_detail(text: str, seal: Seal | None, index: int, call_id: str = "") -> dict[str, Any] | None:
    """A detail for a thought of another origin."""
    out: dict[str, Any]
    if seal is not None and seal.dialect == NAME:
        seal = packed_seals.packed_seal_in(seal.data)  # already packed
    if text:
        out = {"type": TEXT, "text": text, "id": shown_id(index)}
        if seal is not None:
            out["signature"] = packed_seals.pack(seal)
    elif seal is not None:
        out = {"type": ENCRYPTED, "data": packed_seals.pack(seal)}
    else:
        return None
    if call_id:
        out["id"] = call_id
    # A known format would be wrong, because the proof is of another origin. `unknown` is a value of the enumeration
    # (openrouter 1.3.84, 2026-11).
    return {**out, "format": _FORMAT, "index": index}


def _is_entry(seal: Seal) -> bool:
    """Whether the seal of a call or a text is an entry of this dialect (`seals/openrouter_seal_conversion.py`)."""
    return seal.dialect == NAME and json_text.is_object(seal.data)


def _named_entry(seal: Seal, index: int, call_id: str = "") -> dict[str, Any]:
    """The entry with its index in the list and the id of its call."""
    named = {"id": call_id} if call_id else {}
    return {**json_text.fields(seal.data), **named, "index": index}


def _call(call: ToolCall, details: list[Any], context: Context, request: bool) -> ToolCall:
    """The call for Chat's writer: a function call, with its seal among the details. OpenRouter has no custom tools
    (openrouter 1.3.84).
    """
    seal = call.seal
    changes: dict[str, Any] = {}
    if seal is not None:
        changes["seal"] = None
        if request and _is_entry(seal):
            details.append(_named_entry(seal, len(details), call.id))
        elif request:
            context.lose("seal.dropped", call.at)
        else:
            details.append(new_detail("", seal, len(details), detail_id(call.id)))
    if call.custom:
        context.lose("call.custom.wrapped", call.at)
        changes |= {"custom": False, "arguments": wrap_input(call.arguments)}
    return msgspec.structs.replace(call, **changes) if changes else call


def _text(text: Text, context: Context, *, joined: bool) -> Text:
    """A text without its seal. If Chat's writer joins the texts, their extra fields are lost."""
    if joined and text.extra is not None:
        for name, value in text.extra.get(CHAT, {}).items():
            if bytes(value) != b"null" and not name.startswith(_OURS):
                context.lose("field.dropped", (*text.at, *name.split("/")))
    if text.seal is None:
        return text
    context.lose("seal.dropped", text.at)
    return msgspec.structs.replace(text, seal=None)


def _report_more(thought: Reasoning, context: Context) -> None:
    """Report the fields that a host of Chat sent with a thought, other than its text."""
    fields = thought.extra.get(CHAT, {}) if thought.extra is not None else {}
    for name, value in fields.items():
        if name.startswith(_OURS) or bytes(value) == b"null":
            continue
        if name == "reasoning" and thought.at[-1:] == ("reasoning_content",):
            if json_text.plain(value) != thought.text:
                context.lose("field.dropped", (*thought.at[:-1], name))
        elif name != "thinking" or not _only_words(value):
            context.lose("field.dropped", (*thought.at, *name.split("/")))


def _only_words(thinking: Raw) -> bool:
    found = json_text.plain(thinking)
    return isinstance(found, str) or all(isinstance(one, dict) and one.keys() <= {"type", "text"} for one in found)


class _Url(Struct):
    url: str


class _Image(Struct, forbid_unknown_fields=True):
    type: str
    image_url: _Url
    index: int | None = None
    """The place in the list, for clients that join the entries of a stream by `index`."""


_image = msgspec.json.Decoder(_Image).decode


def read_images(raw: Raw, at: Path) -> list[Part] | None:
    """The images of an answer, which are beside its text; None if the value is not a list."""
    values = listed(raw)
    if values is None:
        return None
    return [read_image(value, (*at, _IMAGES, i)) for i, value in enumerate(values)]


def read_image(value: Raw, at: Path) -> Part:
    """One image; Opaque if its form is unknown."""
    try:
        url = _image(value).image_url.url
    except _REFUSED:
        return Opaque(NAME, json_text.kind(value), value, at=at)
    inline = split_data_url(url)
    if inline is not None:
        return Media("image", inline[0], inline[1], at=at)
    return Media("image", url=url, at=at)


def write_image(image: Media, context: Context) -> dict[str, Any]:
    """The entry of `images` for an image."""
    if image.seal is not None:
        context.lose("seal.dropped", image.at)
    if image.name:
        context.lose("media.name.dropped", image.at, image.name)
    if image.detail:
        context.lose("media.detail.dropped", image.at, image.detail)
    return {"type": "image_url", "image_url": {"url": image.url or data_url(image.mime, image.data)}}
