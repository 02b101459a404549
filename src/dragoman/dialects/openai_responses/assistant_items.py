"""Reads and writes the assistant's items, for requests and answers: messages, reasoning, calls, hosted tools.

An assistant turn is a run of items. Each part holds the path of its item in `at`. The fields of a message item are kept
on its first part under `item/`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec import Raw

from ...canon.parts import Extra, Media, Opaque, Part, Path, Reasoning, Text, ToolCall, is_stored_elsewhere, plain_text
from ...codec import json_text
from ...codec.cache_memory_budget import small_cache
from ...codec.call_ids import hashed_id, id_from_path
from ...codec.call_ids import send as send_id
from ...codec.dialect_extras import gather, restore
from ...codec.failure_sentence_in_answer import decoded_once
from ...codec.hosted_calls import made_elsewhere
from ...codec.media import missing_media_text
from ...codec.packed_seals import MARK, origin, pack
from ...codec.surrogates.documents import sound_arguments
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .client_tools import has_own_item, own_item, read_answer_call
from .compaction import KIND as COMPACTION
from .compaction import write_compaction
from .generated_images import fits_item, image_item, is_picture, sent_item
from .hosted_calls import SEARCH, sent
from .image_compaction_and_hosted_item_reader import read_other
from .message_content import read_content, write_output_text
from .tools import IDS, NAMES, own_fields, with_fields
from .unknown_items_as_messages import as_message

MADE_HERE = "rs_" + MARK
"""The prefix of the ids of reasoning items that no upstream of this dialect made. They are never sent to one."""

_CONTENT: Path = ("content",)
_COMPLETED = Raw(b'"completed"')
_STRAY_IN_MESSAGE = (
    "phase",
    "call_id",
    "name",
    "namespace",
    "arguments",
    "input",
    "output",
    "summary",
    "encrypted_content",
    "action",
)
_STRAY_IN_CALL = ("caller", "role", "content", "phase", "output", "summary", "encrypted_content", "action")
_STRAY_IN_REASONING = ("role", "phase", "call_id", "name", "namespace", "arguments", "input", "output", "action")


def read_item(item: wire.Item, at: Path, parts: list[Part], context: Context, unknown: Unknown, salt: str = "") -> None:
    """Append the parts of one item of the assistant.

    `salt` distinguishes answers if a call has no id: paths are the same in all answers.
    """
    kind = item.type
    if kind == "function_call" or kind == "custom_tool_call":
        parts.append(read_call(item, at, context, unknown, salt))
    elif kind == "message" and item.role == "assistant":
        _read_message(item, at, parts, context, unknown)
    elif kind == "reasoning":
        thought = _read_reasoning(item, at, context, unknown)
        if thought is not None:
            parts.append(thought)
    elif (call := read_answer_call(item, at, context)) is not None:
        parts.append(call)
    elif (message := as_message(item, at, context)) is not None:
        _read_message(message[0], at, parts, context, message[1])
    else:
        parts.extend(read_other(item, at, context))


def stray_fields(item: wire.Item, names: tuple[str, ...]) -> dict[str, Raw]:
    """The fields of another kind of item that this item has."""
    out: dict[str, Raw] = {}
    for name in names:
        value = getattr(item, name)
        if value is not None and value != wire.NONE:
            out[name] = value if isinstance(value, Raw) else json_text.raw(value)
    return out


def read_call(item: wire.Item, at: Path, context: Context, unknown: Unknown, salt: str = "") -> ToolCall:
    """One call. An absent call_id is computed from its path."""
    custom = item.type == "custom_tool_call"
    text = item.input if custom else item.arguments
    if isinstance(text, dict):  # an object in place of a text, of a host that differs
        text = json_text.encode(text).decode()
    # `arguments` is a JSON text (openai 3.49.0, 2026-11); some hosts encode it twice.
    elif text and text[0] == '"' and not custom:
        text = decoded_once(text, at, context)
    if text and "\\u" in text and not custom:
        text = sound_arguments(text, (*at, "arguments"), context)
    if not (
        unknown
        or item.id
        or item.status
        or item.namespace
        or item.caller
        or item.async_
        or item.role
        or item.content
        or item.phase
        or item.output
        or item.summary
        or item.encrypted_content
        or item.action
        or (item.arguments if custom else item.input)
    ):
        return ToolCall(item.call_id or id_from_path(at, context, salt), item.name or "", text or "", custom, at=at)
    namespace = item.namespace or ""
    if namespace and namespace == item.name:
        # Tool search reports a tool without a namespace as if it had one of its own name (recorded).
        namespace = ""
    more = stray_fields(item, (*_STRAY_IN_CALL, "arguments" if custom else "input"))
    # `async`: the model continues without waiting for the result (OpenAI's documentation, 2026).
    if item.async_:
        more["async"] = item.async_
    extra = item_extra(item, at, context, unknown, more)
    if item.namespace and not namespace:
        extra = with_fields(extra, {"namespace": json_text.raw(item.namespace)})
    # call_id joins call and result; the item id (fc_...) is another value (openai 3.49.0, 2026-11).
    call_id = item.call_id or id_from_path(at, context, salt)
    return ToolCall(call_id, item.name or "", text or "", custom, namespace, extra=extra, at=at)


def item_extra(item: wire.Item, at: Path, context: Context, unknown: Unknown, more: dict[str, Raw]) -> Extra | None:
    """`more`, the unknown fields, and the id and status that a server writes on every item."""
    if item.id:
        more["id"] = item.id
    quiet = item.status == _COMPLETED
    if item.status and not quiet:
        more["status"] = item.status
    if context.target != wire.NAME and not unknown:
        if more:
            context.keep(at, more)
        return None
    extra = gather(context, at, unknown, more) if more or unknown else None
    return with_fields(extra, {"status": _COMPLETED}) if quiet else extra


def _read_message(item: wire.Item, at: Path, parts: list[Part], context: Context, unknown: Unknown) -> None:
    found = read_content(item.content, at + _CONTENT, context, unknown)
    extra = message_extra(item, at, context, unknown)
    if extra is not None:
        fields = {f"item/{name}": value for name, value in own_fields(extra).items()}
        if not found:
            if context.target != wire.NAME:
                return
            found = (Text("", at=at + _CONTENT),)
        found = (_with_extra(found[0], with_fields(found[0].extra, fields)), *found[1:])
    parts.extend(found)


def message_extra(item: wire.Item, at: Path, context: Context, unknown: Unknown) -> Extra | None:
    """The fields of a message item beside its role and content."""
    if not (
        unknown
        or item.id
        or item.status
        or item.phase
        or item.call_id
        or item.name
        or item.namespace
        or item.arguments
        or item.input
        or item.output
        or item.summary
        or item.encrypted_content
        or item.action
    ):
        return None
    more = stray_fields(item, _STRAY_IN_MESSAGE)
    if item.role != "assistant":
        more.pop("name", None)  # the turn has it
    return item_extra(item, at, context, unknown, more)


def _with_extra(part: Part, extra: Extra | None) -> Part:
    if type(part) is Text:
        return Text(part.text, part.refusal, part.citations, cache=part.cache, extra=extra, at=part.at)
    if type(part) is Media:
        fields = (part.kind, part.mime, part.data, part.url, part.file, part.name, part.detail)
        return Media(*fields, cache=part.cache, extra=extra, at=part.at)
    if isinstance(part, Opaque):
        return Opaque(part.dialect, part.kind, part.value, extra=extra, at=part.at)
    return part


def _read_reasoning(item: wire.Item, at: Path, context: Context, unknown: Unknown) -> Reasoning | None:
    seal = None
    # encrypted_content is tied to provider and organisation (openai 3.49.0, 2026-11), so it becomes a seal.
    if item.encrypted_content:
        seal = origin(item.encrypted_content, wire.NAME)
    text = reasoning_text(item)
    more = stray_fields(item, _STRAY_IN_REASONING)
    if isinstance(item.content, str):
        more["content"] = json_text.raw(item.content)
    extra = item_extra(item, at, context, unknown, more)
    if context.target == wire.NAME:
        return Reasoning(text, seal=seal, extra=with_fields(extra, _exact_texts(item)), at=at)
    _lose_strangers(item, at, context)
    return Reasoning(text, seal=seal, extra=extra, at=at) if text or seal is not None else None


def item_id(raw: Raw) -> str:
    """The id of an item as text, or ""."""
    name = json_text.plain(raw) if raw else ""
    return name if isinstance(name, str) else ""


def reasoning_text(item: wire.Item) -> str:
    """All visible thoughts of an item, its summary first."""
    # `summary` is shown text; `content` has the raw reasoning text of some models (openai 3.49.0, 2026-11).
    pieces = [*(item.summary or ()), *(item.content if isinstance(item.content, list) else ())]
    if len(pieces) == 1:
        return pieces[0].text or ""
    return "\n\n".join([piece.text for piece in pieces if piece.text])


def _lose_strangers(item: wire.Item, at: Path, context: Context) -> None:
    """Report pieces of an unknown kind, and keep the other fields of known pieces."""
    for name, pieces in (("summary", item.summary), ("content", item.content)):
        for i, piece in enumerate(pieces if isinstance(pieces, list) else ()):
            if piece.strange:
                context.lose("part.dropped", at + (name, i), json_text.kind(piece.strange))
                continue
            rest = {
                key: value
                for key, value in json_text.fields(json_text.raw(piece)).items()
                if key not in ("type", "text") and bytes(value) not in (b"null", b"[]", b'""')
            }
            if rest:
                context.keep(at + (name, i), rest)


def _exact_texts(item: wire.Item) -> dict[str, Raw]:
    """The exact texts of a reasoning item, unless they are the one summary that is written anyway."""
    out: dict[str, Raw] = {}
    if item.summary and (len(item.summary) > 1 or not item.summary[0].text):
        out["summary"] = _exact(item.summary)
    if isinstance(item.content, list):
        out["content"] = _exact(item.content)
        out["summary"] = _exact(item.summary or [])
    return out


def _exact(pieces: list[wire.ContentPart]) -> Raw:
    return json_text.raw([piece.strange or piece for piece in pieces])


def write_items(
    parts: tuple[Part, ...], items: list[Any], context: Context, again: dict[str, str] | None = None
) -> bool:
    """Append an assistant turn to `items` of a request. False: nothing is left of it.

    `again`: the ids to send in place of ids that an earlier step used. If a reasoning item is left out, the ids of
    later items are left out too: the server refuses a function_call whose reasoning item is missing (400 "was provided
    without its required 'reasoning' item", reported by users, 2026).
    """
    before = len(items)
    own = context.source == wire.NAME
    orphaned = False
    message: dict[str, Any] | None = None
    place: Path = ()
    for part in parts:
        if type(part) is ToolCall:
            message = None
            call = write_call(part, context, orphaned=orphaned)
            if again and part.id in again:
                context.lose("call.id.rewritten", part.at)
                call["call_id"] = again[part.id]
            items.append(call)
        elif type(part) is Media and not own and fits_item(part):
            message = None
            if part.cache is not None:
                context.lose("cache.dropped", part.at)
            items.append(sent_item(part, context))
        elif type(part) is Text or type(part) is Media or _is_content(part):
            if not own and type(part) is Text and not part.text:
                _skip(part, context)
                continue
            if message is None or (own and part.at[:2] != place):
                message, place = _open_message(part, orphaned), part.at[:2]
                items.append(message)
            _add_content(message, part, context)
        elif type(part) is Reasoning:
            message = None
            written = _write_reasoning(part, context)
            if written is None:
                # A call that keeps its item id without its reasoning item is refused (400, reported by users, 2026).
                orphaned = True
            else:
                items.append(written)
        elif isinstance(part, Opaque) and part.dialect == wire.NAME:
            message = None
            # The items of a hosted tool must come from OpenAI's server.
            if made_elsewhere(part) and part.kind != SEARCH:
                context.lose("hosted.dropped", part.at, f"{part.kind}: no upstream of this dialect made it")
            elif not is_stored_elsewhere(part):
                items.append(sent(part))
        else:
            context.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
    return len(items) > before


def _skip(text: Text, context: Context) -> None:
    """Report the seal, the citations and the cache mark of an empty text."""
    if text.seal is not None:
        context.lose("seal.dropped", text.at)
    if text.citations:
        context.lose("citation.dropped", text.at)
    if text.cache is not None:
        context.lose("cache.dropped", text.at, "on an empty text")


def _is_content(part: Part) -> bool:
    """Whether a part is a piece of a message, of a kind that only this dialect has."""
    if type(part) is not Opaque or part.dialect != wire.NAME or part.at[2:3] != _CONTENT:
        return False
    return part.at[0] in ("input", "output")  # else it is an item that was made from another dialect


def _open_message(part: Part, orphaned: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"type": "message", "role": "assistant", "content": None}
    if part.extra is not None:
        for name, value in own_fields(part.extra).items():
            if name.startswith("item/") and not (orphaned and name == "item/id"):
                message[name[5:]] = value
    return message


def _add_content(message: dict[str, Any], part: Part, context: Context) -> None:
    """Add a piece to a message. One plain text without an id is a string: the types demand no id in that form (openai
    3.49.0, 2026-11).
    """
    content = message["content"]
    if content is None and "id" not in message:
        text = plain_text((part,))
        if text is not None:
            message["content"] = text
            return
    if content is None:
        content = message["content"] = []
    elif isinstance(content, str):
        # Replayed assistant texts are output_text with annotations (openai 3.49.0, 2026-11).
        content = message["content"] = [{"type": "output_text", "text": content, "annotations": []}]
    if type(part) is Text:
        content.append(write_output_text(part, context, request=True))
    elif type(part) is Media:
        context.lose("media.dropped", part.at, part.mime or part.kind)
        content.append({"type": "output_text", "text": missing_media_text(part), "annotations": []})
    elif isinstance(part, Opaque):
        content.append(part.value)


def write_call(call: ToolCall, context: Context, *, orphaned: bool = False) -> dict[str, Any]:
    """A call as an item. `orphaned`: its reasoning item was left out."""
    text = call.arguments
    call_id, name = call.id, call.name
    if context.source != wire.NAME:
        call_id = send_id(call_id, IDS, context, call.at)
        name = NAMES.send(name, "", context, call.at)
        # `arguments` must be a JSON text.
        if not call.custom and (not text or text == "null" or text.isspace()):
            text = "{}"
    out: dict[str, Any]
    if call.custom:
        out = {"type": "custom_tool_call", "call_id": call_id, "name": name, "input": text}
    else:
        out = {"type": "function_call", "call_id": call_id, "name": name, "arguments": text}
    if call.namespace:
        out["namespace"] = call.namespace
    if call.seal is not None:
        context.lose("seal.dropped", call.at)
    if call.cache is not None:
        context.lose("cache.dropped", call.at)
    if call.extra is not None:
        restore(out, call.extra, wire.NAME)
        if orphaned:
            # The item id refers to the dropped reasoning item.
            out.pop("id", None)
    return out


def _write_reasoning(part: Reasoning, context: Context) -> dict[str, Any] | None:
    """A reasoning item for the upstream that made it; None for thoughts of any other origin."""
    own = own_fields(part.extra)
    seal = part.seal
    name: Any = own.get("id")
    if name and item_id(name).startswith(MADE_HERE):
        name = None
        is_own = False
    else:
        is_own = seal is None and context.source == wire.NAME
    # Encrypted content is tied to provider and organisation (openai 3.49.0, 2026-11): only its own upstream gets it.
    if seal is not None and seal.dialect == wire.NAME:
        if seal.kind == COMPACTION:
            return write_compaction(seal)
        is_own = True
    if not is_own:
        if seal is not None and seal.data:
            # A foreign seal is not an encrypted_content of OpenAI.
            context.lose("seal.dropped", part.at)
        if part.text:
            context.lose("reasoning.dropped", part.at)
        return None
    out: dict[str, Any] = {"type": "reasoning"}
    if name:
        out["id"] = name
    out["summary"] = _summary(part, own)
    if "content" in own:
        out["content"] = json_text.plain(own["content"])
    if seal is not None and seal.data:
        # Stateless clients return encrypted_content unchanged (openai 3.49.0, 2026-11).
        out["encrypted_content"] = seal.data
    return restore(out, part.extra, wire.NAME)


def _summary(part: Reasoning, own: dict[str, Raw]) -> Any:
    if "summary" in own:
        return json_text.plain(own["summary"])
    return [{"type": "summary_text", "text": part.text}] if part.text else []


def answer_id(response_id: str, place: int, prefix: str) -> str:
    """The id for an item without one: the same for the same place in the same answer."""
    return f"{prefix}{_of_answer(response_id)}{place:03x}"


@small_cache(256)
def _of_answer(response_id: str) -> str:
    return hashed_id(response_id, "")


def answer_reasoning(part: Reasoning, name: Any) -> dict[str, Any]:
    """A reasoning item for a client: thoughts in the summary, a foreign seal packed into `encrypted_content`, which
    clients return.

    The seal of a compaction is packed too, because it is not the encrypted content of a thought.
    """
    own = own_fields(part.extra)
    out: dict[str, Any] = {"id": own.get("id") or name, "type": "reasoning", "summary": _summary(part, own)}
    if "content" in own:
        out["content"] = json_text.plain(own["content"])
    if part.seal is not None:
        own_seal = part.seal.dialect == wire.NAME and part.seal.kind != COMPACTION
        out["encrypted_content"] = part.seal.data if own_seal else pack(part.seal)
    return restore(out, part.extra, wire.NAME)


def answer_items(parts: tuple[Part, ...], response_id: str, context: Context, *, cut: bool) -> list[Any]:
    """The `output` of an answer. `cut`: the answer was broken off, so its last item is incomplete."""
    items: list[Any] = []
    message: dict[str, Any] | None = None
    place: Path = ()
    for part in parts:
        if type(part) is Media and is_picture(part):
            message = None
            items.append(image_item(part, answer_id(response_id, len(items), "ig_"), context))
            continue
        if type(part) is Text or type(part) is Media or _is_content(part):
            if type(part) is Text and not part.text and context.source != wire.NAME:
                _skip(part, context)
                continue
            if message is None or (context.source == wire.NAME and part.at[:2] != place):
                message = answer_message(part, answer_id(response_id, len(items), "msg_"))
                place = part.at[:2]
                items.append(message)
            message["content"].append(answer_part(part, context))
            continue
        message = None
        if type(part) is ToolCall and has_own_item(part, context):
            name_item = partial(answer_id, response_id, len(items))
            items.append(own_item(part, part.arguments, name_item, context))
        elif type(part) is ToolCall:
            call = answer_call(part, answer_id(response_id, len(items), call_prefix(part)), context)
            # A cut call has the status incomplete (openai 3.49.0, 2026-11).
            if cut and call.get("status") == "completed" and json_text.breaks_off(part.arguments):
                call["status"] = "incomplete"
            items.append(call)
        elif type(part) is Reasoning:
            if part.text or part.seal is not None or context.source == wire.NAME:
                items.append(answer_reasoning(part, answer_id(response_id, len(items), MADE_HERE)))
        elif isinstance(part, Opaque) and part.dialect == wire.NAME:
            if not is_stored_elsewhere(part):
                items.append(part.value)
        else:
            context.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
    # A client may run a call whose status is completed, so the last item of a cut answer must not have that status.
    if cut and items and isinstance(items[-1], dict) and items[-1].get("status") == "completed":
        items[-1]["status"] = "incomplete"
    return items


def call_prefix(call: ToolCall) -> str:
    """The prefix of the id of a call item."""
    # OpenAI's prefixes of item ids.
    return "ctc_" if call.custom else "fc_"


def answer_message(part: Part, name: Any) -> dict[str, Any]:
    """An empty message item of an answer."""
    own = own_fields(part.extra)
    message: dict[str, Any] = {
        "id": own.get("item/id") or name,
        "type": "message",
        "status": own.get("item/status") or "completed",
        "role": "assistant",
        "content": [],
    }
    for field, value in own.items():
        if field.startswith("item/"):
            message.setdefault(field[5:], value)
    return message


def answer_part(part: Part, context: Context) -> Any:
    """A piece of a message in an answer."""
    if type(part) is Text:
        written = write_output_text(part, context, request=False)
        if not part.refusal and context.source != wire.NAME:
            # Typed clients expect `logprobs` on every output_text (openai 3.49.0, 2026-11).
            written.setdefault("logprobs", [])
        return written
    if type(part) is Media:
        context.lose("media.dropped", part.at, part.mime or part.kind)
        return {"type": "output_text", "text": missing_media_text(part), "annotations": [], "logprobs": []}
    return part.value if isinstance(part, Opaque) else None


def answer_call(call: ToolCall, name: str, context: Context) -> dict[str, Any]:
    """A call item of an answer."""
    own = own_fields(call.extra)
    out = write_call(call, context)
    out["id"] = own.get("id") or name
    out.setdefault("status", "completed")
    return out
