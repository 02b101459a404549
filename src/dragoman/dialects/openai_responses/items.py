"""Items of the assistant's side, shared by requests and answers: messages, reasoning, calls, and all it runs itself.

An assistant's turn is a run of items; its parts know by `at` which item they stood in, and the fields of a message item
hang on its first part under `item/`.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Raw

from ...canon.parts import Extra, Media, Opaque, Part, Path, Reasoning, Text, ToolCall
from ...codec import jsontext
from ...codec.admit import Unknown
from ...codec.extras import gather, restore
from ...codec.ids import hashed, minted
from ...codec.ids import send as send_id
from ...codec.media import note
from ...codec.names import send
from ...codec.seals import MARK, origin, pack
from ...crossing import Crossing
from . import wire
from .message import own_fields, read_content, with_fields, write_output_text
from .tools import NAMES

IDS = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
"""Legal call ids."""

MADE_HERE = "rs_" + MARK
"""How the ids of reasoning items begin that no upstream of this dialect made: they are never sent to one."""

_COMPLETED = Raw(b'"completed"')
_SEAL_KIND = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_STRAY_IN_MESSAGE = ("call_id", "name", "namespace", "arguments", "input", "output", "summary", "encrypted_content")
_STRAY_IN_CALL = ("role", "content", "phase", "output", "summary", "encrypted_content", "action")
_STRAY_IN_REASONING = ("role", "phase", "call_id", "name", "namespace", "arguments", "input", "output", "action")


def read_item(item: wire.Item, at: Path, parts: list[Part], crossing: Crossing, unknown: Unknown) -> None:
    """Append the parts of one item of the assistant's side."""
    kind = item.type
    if kind == "function_call" or kind == "custom_tool_call":
        parts.append(_read_call(item, at, crossing, unknown))
    elif kind == "message" and item.role == "assistant":
        _read_message(item, at, parts, crossing, unknown)
    elif kind == "reasoning":
        thought = _read_reasoning(item, at, crossing, unknown)
        if thought is not None:
            parts.append(thought)
    else:
        parts.append(read_opaque(item, at))


def read_opaque(item: wire.Item, at: Path) -> Opaque:
    """An item of another kind, whole."""
    value = item.strange or jsontext.raw(item)
    kind = jsontext.kind(value) or ("item_reference" if item.role is None else "message")
    return Opaque(wire.NAME, kind, value, at=at)


def stray_fields(item: wire.Item, names: tuple[str, ...]) -> dict[str, Raw]:
    """Fields that belong to another kind of item: what is known of items in general is not known of this one."""
    out: dict[str, Raw] = {}
    for name in names:
        value = getattr(item, name)
        if value is not None and value != wire.NONE:
            out[name] = value if isinstance(value, Raw) else jsontext.raw(value)
    return out


def _read_call(item: wire.Item, at: Path, crossing: Crossing, unknown: Unknown) -> ToolCall:
    extra = None
    custom = item.type == "custom_tool_call"
    text = (item.input if custom else item.arguments) or ""
    namespace = item.namespace or ""
    more: dict[str, Raw] | None = None
    if (
        item.caller
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
        more = stray_fields(item, (*_STRAY_IN_CALL, "caller", "arguments" if custom else "input"))
        if item.async_:
            more["async"] = item.async_
    if more or unknown:
        extra = gather(crossing, at, unknown, more)
    if namespace and namespace == item.name:
        # Tool search reports a tool outside of any namespace as if it stood in one of its own name.
        namespace = ""
    if crossing.target == wire.NAME:
        handles = _handles(item)
        if item.namespace and not namespace:
            handles["namespace"] = jsontext.raw(item.namespace)
        extra = with_fields(extra, handles)
    return ToolCall(
        item.call_id or minted(at, crossing), item.name or "", text, custom, namespace, extra=extra, at=at
    )


def _handles(item: wire.Item) -> dict[str, Raw]:
    """What a server writes on items for its own book-keeping: nobody else can use it, so it is no loss elsewhere."""
    out: dict[str, Raw] = {}
    if item.id:
        out["id"] = item.id
    if item.status:
        out["status"] = item.status
    return out


def _read_message(item: wire.Item, at: Path, parts: list[Part], crossing: Crossing, unknown: Unknown) -> None:
    content = item.content
    if isinstance(content, str):
        found: list[Part] = [Text(content, at=(*at, "content"))]
    else:
        found = read_content(content, (*at, "content"), crossing, unknown)
    extra = message_extra(item, at, crossing, unknown)
    if extra is not None:
        fields = {f"item/{name}": value for name, value in own_fields(extra).items()}
        if not found:
            found = [Text("", at=(*at, "content"))]
        found[0] = _with_extra(found[0], with_fields(found[0].extra, fields))
    parts.extend(found)


def message_extra(item: wire.Item, at: Path, crossing: Crossing, unknown: Unknown) -> Extra | None:
    """Fields of a message item beside its role and content."""
    more: dict[str, Raw] | None = None
    if (
        item.phase
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
        more = stray_fields(item, ("phase", *_STRAY_IN_MESSAGE, "action"))
        if item.role != "assistant":
            more.pop("name", None)  # the turn's own
    extra = gather(crossing, at, unknown, more) if more or unknown else None
    if crossing.target == wire.NAME and (item.id or item.status):
        extra = with_fields(extra, _handles(item))
    return extra


def _with_extra(part: Part, extra: Extra | None) -> Part:
    if isinstance(part, Text):
        return Text(part.text, part.refusal, part.citations, cache=part.cache, extra=extra, at=part.at)
    if isinstance(part, Media):
        fields = (part.kind, part.mime, part.data, part.url, part.file, part.name, part.detail)
        return Media(*fields, cache=part.cache, extra=extra, at=part.at)
    if isinstance(part, Opaque):
        return Opaque(part.dialect, part.kind, part.value, extra=extra, at=part.at)
    return part


def _read_reasoning(item: wire.Item, at: Path, crossing: Crossing, unknown: Unknown) -> Reasoning | None:
    seal = None
    if item.encrypted_content:
        # The item's id travels with the seal, so that it is there again when another dialect's client brings it back.
        name = item_id(item.id)
        seal = origin(item.encrypted_content, wire.NAME, name if _SEAL_KIND.match(name) else "")
    text = reasoning_text(item)
    more = None
    if item.role or item.phase or item.call_id or item.name or item.arguments or item.input or item.output:
        more = stray_fields(item, _STRAY_IN_REASONING)
    elif isinstance(item.content, str):
        more = {"content": jsontext.raw(item.content)}
    extra = gather(crossing, at, unknown, more) if more or unknown else None
    if crossing.target == wire.NAME:
        return Reasoning(text, seal=seal, extra=with_fields(extra, reasoning_fields(item)), at=at)
    return Reasoning(text, seal=seal, extra=extra, at=at) if text or seal is not None else None


def item_id(raw: Raw) -> str:
    name = jsontext.plain(raw) if raw else ""
    return name if isinstance(name, str) else ""


def reasoning_text(item: wire.Item) -> str:
    """All the thoughts an item shows, its summary first."""
    pieces = [*(item.summary or ()), *(item.content if isinstance(item.content, list) else ())]
    if len(pieces) == 1:
        return pieces[0].text or ""
    return "\n\n".join([piece.text for piece in pieces if piece.text])


def reasoning_fields(item: wire.Item) -> dict[str, Raw]:
    """What this dialect needs to say a reasoning item again exactly: its id, and its texts unless they are one summary."""
    out = _handles(item)
    if item.summary and len(item.summary) > 1:
        out["summary"] = jsontext.raw(item.summary)
    if isinstance(item.content, list):
        out["content"] = jsontext.raw(item.content)
        out["summary"] = jsontext.raw(item.summary or [])
    return out


def write_items(parts: tuple[Part, ...], items: list[Any], crossing: Crossing, customs: set[str]) -> bool:
    """Append an assistant's turn to `items` of a request; False when nothing is left of it.

    When a reasoning item cannot go along, the ids of the items after it stay behind too: the server would miss it.
    """
    before = len(items)
    orphaned = False
    message: dict[str, Any] | None = None
    place: Path = ()
    for part in parts:
        if isinstance(part, Text):
            if not part.text and crossing.source != wire.NAME:
                continue
            if message is None or (crossing.source == wire.NAME and part.at[:2] != place):
                message, place = _open_message(part, orphaned), part.at[:2]
                items.append(message)
            message["content"].append(write_output_text(part, crossing, request=True))
            continue
        if isinstance(part, Media):
            crossing.lose("media.dropped", part.at, part.mime or part.kind)
            if message is None:
                message, place = _open_message(part, orphaned), part.at[:2]
                items.append(message)
            message["content"].append({"type": "output_text", "text": note(part), "annotations": []})
            continue
        if isinstance(part, Opaque) and part.dialect == wire.NAME and part.at[2:3] == ("content",) and message:
            message["content"].append(part.value)
            continue
        message = None
        if isinstance(part, ToolCall):
            if part.custom:
                customs.add(part.id)
            items.append(write_call(part, crossing, orphaned=orphaned))
        elif isinstance(part, Reasoning):
            written = _write_reasoning(part, crossing)
            if written is None:
                orphaned = True
            else:
                items.append(written)
        elif isinstance(part, Opaque) and part.dialect == wire.NAME:
            items.append(part.value)
        else:
            crossing.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
    for item in items[before:]:
        if isinstance(item, dict) and "content" in item:
            _simplify(item)
    return len(items) > before


def _open_message(part: Part, orphaned: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"type": "message", "role": "assistant", "content": []}
    for name, value in own_fields(part.extra).items():
        if name.startswith("item/") and not (orphaned and name == "item/id"):
            message[name[5:]] = value
    return message


def _simplify(message: dict[str, Any]) -> None:
    """One plain text without an id is said as a string: in this form the types ask for no id."""
    content = message.get("content")
    if type(content) is not list or message.get("type") != "message" or "id" in message or len(content) != 1:
        return
    only = content[0]
    if isinstance(only, dict) and only.get("type") == "output_text" and not only["annotations"] and len(only) == 3:
        message["content"] = only["text"]


def write_call(call: ToolCall, crossing: Crossing, *, orphaned: bool = False) -> dict[str, Any]:
    """A call as an item; `orphaned` when the reasoning item before it was left out."""
    own = crossing.source == wire.NAME
    out: dict[str, Any] = {"type": "custom_tool_call" if call.custom else "function_call"}
    out["call_id"] = call.id if own else send_id(call.id, IDS, crossing, call.at)
    out["name"] = call.name if own else send(call.name, "", NAMES, crossing, call.at)
    if call.namespace:
        out["namespace"] = call.namespace
    if call.custom:
        out["input"] = call.arguments
    else:
        out["arguments"] = call.arguments if own else call.arguments or "{}"
    if call.seal is not None:
        crossing.lose("seal.dropped", call.at)
    if call.cache is not None:
        crossing.lose("cache.dropped", call.at)
    if call.extra is not None:
        restore(out, call.extra, wire.NAME)
        if orphaned:
            out.pop("id", None)
    return out


def _write_reasoning(part: Reasoning, crossing: Crossing) -> dict[str, Any] | None:
    """A reasoning item for the upstream that made it; None for thoughts of any other origin."""
    own = own_fields(part.extra)
    seal = part.seal
    name: Any = own.get("id")
    if name and item_id(name).startswith(MADE_HERE):
        name = None
        mine = False
    else:
        mine = seal is None and crossing.source == wire.NAME
    if seal is not None and seal.dialect == wire.NAME:
        mine = True
        name = name or seal.kind
    if not mine:
        if seal is not None:
            crossing.lose("seal.dropped", part.at)
        if part.text:
            crossing.lose("reasoning.dropped", part.at)
        return None
    out: dict[str, Any] = {"type": "reasoning"}
    if name:
        out["id"] = name
    out["summary"] = own.get("summary") or ([{"type": "summary_text", "text": part.text}] if part.text else [])
    if seal is not None:
        out["encrypted_content"] = seal.data
    return restore(out, part.extra, wire.NAME)


def answer_id(response_id: str, place: int, prefix: str) -> str:
    """The id of an item that came without one: the same for the same place in the same answer."""
    return hashed(f"{response_id}:{place}", prefix)


def answer_reasoning(part: Reasoning, name: Any) -> dict[str, Any]:
    """A reasoning item for a client: thoughts in the summary, a foreign seal packed into the slot clients echo."""
    own = own_fields(part.extra)
    summary = own.get("summary") or ([{"type": "summary_text", "text": part.text}] if part.text else [])
    out: dict[str, Any] = {"id": own.get("id") or name, "type": "reasoning", "summary": summary}
    if part.seal is not None:
        out["encrypted_content"] = part.seal.data if part.seal.dialect == wire.NAME else pack(part.seal)
    return restore(out, part.extra, wire.NAME)


def answer_items(parts: tuple[Part, ...], response_id: str, crossing: Crossing, *, cut: bool) -> list[Any]:
    """The `output` of an answer. `cut`: the answer was broken off, so its last item is incomplete."""
    items: list[Any] = []
    message: dict[str, Any] | None = None
    place: Path = ()
    for part in parts:
        if isinstance(part, Text | Media):
            if isinstance(part, Text) and not part.text and crossing.source != wire.NAME:
                continue
            if message is None or (crossing.source == wire.NAME and part.at[:2] != place):
                message = answer_message(part, answer_id(response_id, len(items), "msg_"))
                place = part.at[:2]
                items.append(message)
            message["content"].append(answer_part(part, crossing))
            continue
        if isinstance(part, Opaque) and part.dialect == wire.NAME and part.at[2:3] == ("content",) and message:
            message["content"].append(part.value)
            continue
        message = None
        if isinstance(part, ToolCall):
            items.append(answer_call(part, answer_id(response_id, len(items), call_prefix(part)), crossing))
        elif isinstance(part, Reasoning):
            if part.text or part.seal is not None or own_fields(part.extra):
                items.append(answer_reasoning(part, answer_id(response_id, len(items), MADE_HERE)))
        elif isinstance(part, Opaque) and part.dialect == wire.NAME:
            items.append(part.value)
        else:
            crossing.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
    if cut and items and isinstance(items[-1], dict) and items[-1].get("status") == "completed":
        items[-1]["status"] = "incomplete"
    return items


def call_prefix(call: ToolCall) -> str:
    return "ctc_" if call.custom else "fc_"


def answer_message(part: Part, name: Any) -> dict[str, Any]:
    """A message item of an answer, still empty."""
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


def answer_part(part: Text | Media, crossing: Crossing) -> dict[str, Any]:
    if isinstance(part, Media):
        crossing.lose("media.dropped", part.at, part.mime or part.kind)
        return {"type": "output_text", "text": note(part), "annotations": [], "logprobs": []}
    written = write_output_text(part, crossing, request=False)
    if not part.refusal and crossing.source != wire.NAME:
        written["logprobs"] = []
    return written


def answer_call(call: ToolCall, name: str, crossing: Crossing) -> dict[str, Any]:
    """A call item of an answer."""
    own = own_fields(call.extra)
    out = write_call(call, crossing)
    out["id"] = own.get("id") or name
    out.setdefault("status", "completed")
    return out
