"""Adds the earlier turns to a Responses request that continues a stored response, and stores the answer.

A request that names an earlier response or a conversation gets the earlier turns from the store, whichever upstream
serves it. An answer is stored before its last byte is sent, so that the next request finds it at once.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from ...canon.events import Fault
from ...codec import json_text
from ...codec.json_text import contains
from ...codec.surrogates.documents import fields_tolerant, without_surrogates
from ..config import REHEARSAL
from ..http.reply_wrapper import ReplyWrapper
from ..http.server import ReplyWriter
from .child_process import LARGE, ChildProcesses
from .exchange_work_in_child_process import run_in_child_if_large
from .fault_for_unserved_exchange import Refused
from .recent_exchanges import Exchange
from .routes import UpstreamChoice
from .stored_item_ids_in_request import ids, item_fields, reference
from .stored_responses import ClientStored, StoredConversation, StoredResponse
from .upstream_headers_and_key import auth_of_upstream

_END = re.compile(rb"(?:\A|\n)event: response\.(?:completed|incomplete)\n(.*?)\n\n", re.DOTALL)
_NATIVE = "openai-responses"
_NAMED = b'"response":{"id":"'
_ESCAPED_ASCII = re.compile(rb"\\u00[2-7]")
_FORGOTTEN = "requests with store false are never stored, and old entries are dropped"


class References(NamedTuple):
    """The references of a request, and whether its answer is to be stored."""

    items: tuple[Raw, ...]
    """The request's own input."""
    previous: str
    """The id of the response that the request continues."""
    talk: str
    """The id of the conversation that the request belongs to."""
    store: bool
    unreadable: str = ""
    """The name of the field whose value has a wrong type; BODY where the whole request is not a JSON object."""


class _Body(Struct):
    """The fields undecoded, because a value of a wrong type must not hide the other fields."""

    input: Raw = Raw()
    previous_response_id: Raw = Raw()
    conversation: Raw = Raw()
    store: Raw = Raw()


BODY = "body"
_NONE = (b"", b"null")
_body = msgspec.json.Decoder(_Body).decode
_items = msgspec.json.Decoder(list[Raw]).decode
_string_or_null = msgspec.json.Decoder(str | None).decode


class _Named(Struct):
    id: str


_conversation = msgspec.json.Decoder(str | _Named | None).decode


def references(body: bytes) -> References:
    """The references of a request, as far as they can be read."""
    known = _read_references(body)
    mended = without_surrogates(body) if known.unreadable == BODY else None
    return known if mended is None else _read_references(mended)


def _read_references(body: bytes) -> References:
    field = BODY
    previous, talk, store = "", "", False
    items: list[Raw] = []
    try:
        found = _body(body)
        written = memoryview(found.input)  # a copy may be large
        field = "input"
        if bytes(written[:1]) == b'"':
            items = [json_text.raw({"type": "message", "role": "user", "content": found.input})]
        else:
            items = _items(written) if written not in _NONE else []
        field = "previous_response_id"
        if bytes(found.previous_response_id) not in _NONE:
            previous = _string_or_null(found.previous_response_id) or ""
        field = "conversation"
        if bytes(found.conversation) not in _NONE:
            named = _conversation(found.conversation)
            talk = named.id if isinstance(named, _Named) else named or ""
        store = bytes(found.store) != b"false"
        field = ""
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass  # `field` holds the name of the field that failed.
    return References(tuple(items), previous, talk, store, field)


class PreviousResponses:
    """The turns before a request's own turns. This is the resolver for the library. It refuses unknown ids."""

    def __init__(
        self,
        body: bytes,
        known: References,
        named: dict[str, tuple[Raw, ...]],
        holder: str,
        *,
        apart: bool,
        holders: dict[str, str] | None = None,
    ) -> None:
        """`holder` is the upstream of the response that the request continues, if that response is stored for this
        client. `apart`: clients have identities of their own, so no upstream is asked for an unknown id. `holders` are
        the upstreams of the items that the request refers to by their ids."""
        self._body = body
        self._known = known
        self._named = named
        self._holder = holder
        self._apart = apart
        self._holders = holders or {}

    def __call__(self, name: str, /) -> Sequence[Mapping[str, Any]]:
        return [json_text.plain(item) for item in self._items(name)]

    def _items(self, name: str) -> tuple[Raw, ...]:
        found = self._named.get(name)
        if found is not None:
            return found
        why = f"{name!r} is not stored here: {_FORGOTTEN}"
        if name == self._known.talk:
            raise Refused(Fault("not_found", why, 404, "conversation_not_found", "conversation"))
        raise Refused(Fault("invalid_request", why, 400, "previous_response_not_found", "previous_response_id"))

    def body_for(self, choice: UpstreamChoice) -> bytes:
        """The request for a place, with the earlier turns inserted where the upstream does not do that itself.

        An upstream of the same dialect that gave the last answer has the turns before it. An upstream may also know an
        id that was never stored here. If clients have identities, such an id is sent only to an upstream that gets the
        client's own key: under the gateway's key the id could belong to any client.
        """
        native = choice.upstream.dialect == _NATIVE
        if not native:
            return self.whole() if choice.upstream.dialect == REHEARSAL else self._body
        shared = self._apart and not (choice.route.client_key or auth_of_upstream(choice.upstream) == "client")
        if shared and self._known.unreadable:
            raise Refused(_unreadable(self._known.unreadable))
        own = {self._known.previous, *self._named} if self._holder else self._named.keys()
        names = self._names()
        kept = all(name in own for name in names)
        if not shared and not (names and kept):
            return self._body
        goes_on = kept and choice.name == self._holder
        body = _unambiguous(self._body, self._known) if goes_on else self.whole()
        return self._with_own_items(body, choice.name) if shared else body

    def _with_own_items(self, body: bytes, upstream: str) -> bytes:
        """The body with only those items that are complete, or that the upstream gave to this client. Every field is
        written once: if a field is repeated, an upstream might read the other value."""
        fields = fields_tolerant(body)
        written = bytes(fields.get("input", b""))
        if not written.startswith(b"["):
            return json_text.encode(fields)
        out: list[Any] = []
        for item in _items(written):
            found = item_fields(item)
            name = reference(found) if found is not None else ""
            holder = self._holders.get(name, "") if name else upstream
            if not holder:
                why = f"the item {name!r} is not stored here: {_FORGOTTEN}"
                raise Refused(Fault("invalid_request", why, 400, "item_not_found", "input"))
            if holder == upstream:
                out.append(item if found is None else found)
            elif _is_meaningful_alone(item):  # Reasoning without its seal is left out, as in the turns before.
                why = f"the item {name!r} belongs to another upstream, {holder!r}. Send the whole item, not its id."
                raise Refused(Fault("invalid_request", why, 400, "item_not_found", "input"))
        return json_text.encode({**fields, "input": out})

    def _names(self) -> list[str]:
        return [name for name in (self._known.talk, self._known.previous) if name]

    def whole(self) -> bytes:
        """The request with the earlier turns in it."""
        if self._known.unreadable:
            raise Refused(_unreadable(self._known.unreadable))
        fields = fields_tolerant(self._body)
        fields.pop("previous_response_id", None)
        fields.pop("conversation", None)
        before = [item for name in self._names() for item in self._items(name) if _is_meaningful_alone(item)]
        fields["input"] = json_text.raw([*before, *self._known.items])
        return json_text.encode(fields)


def _unambiguous(body: bytes, known: References) -> bytes:
    """The body with each reference written once, with the value that was read here. Of a repeated field an upstream
    might use the other value, which the gateway has not checked."""
    if not known.talk and not is_ambiguous(body):
        return body
    fields = fields_tolerant(body)
    if known.talk:
        fields["conversation"] = json_text.raw(known.talk)
    return json_text.encode(fields)


def is_ambiguous(body: bytes) -> bool:
    """Whether a reference may occur twice in a body, or with escaped letters in its name."""
    count = body.count
    return count(b'"previous_response_id"') > 1 or count(b'"conversation"') > 1 or may_escape_letters(body)


def may_escape_letters(body: bytes) -> bool:
    """Whether ASCII letters are written as escapes somewhere, as in `previous\\u005fresponse_id`."""
    return contains(body, b"\\u00") and _ESCAPED_ASCII.search(body) is not None


def _may_hide_reference(body: bytes) -> bool:
    """Whether a body without references, as it is read here, may contain a reference for an upstream."""
    doubtful = is_ambiguous(body)
    if not doubtful and not any(name in body for name in (b'"previous_response_id"', b'"conversation"')):
        return False
    fields = fields_tolerant(body)
    found = [bytes(fields[name]) for name in ("previous_response_id", "conversation") if name in fields]
    return bool(found) and (doubtful or found != [b"null"] * len(found))


def _is_meaningful_alone(item: Raw) -> bool:
    """Whether an item has a meaning for an upstream that did not write it. Reasoning without its seal has none."""
    return json_text.kind(item) != "reasoning" or "encrypted_content" in json_text.fields(item)


def _unreadable(field: str) -> Fault:
    if field == BODY:
        return Fault("invalid_request", "the request body is not a JSON object", 400, "invalid_json")
    kinds = {"input": "a string or a list of items", "conversation": "a string or an object with an id"}
    why = f"{field} is not {kinds.get(field, 'a string')}. Correct the field, or leave it out."
    return Fault("invalid_request", why, 400, "invalid_type", field)


def may_name_items(body: bytes) -> bool:
    """Whether a body may have items with ids, judged by a search of its bytes."""
    return contains(body, b'"id"') or may_escape_letters(body)


async def find_previous_responses(
    stored: ClientStored, body: bytes, known: References, children: ChildProcesses, *, apart: bool
) -> PreviousResponses | None:
    """The earlier turns that a request refers to; None for a request without references, as most are. `apart`: clients
    have identities of their own."""
    if not known.talk and not known.previous:
        if not apart:
            return None
        if len(body) > LARGE:
            await asyncio.sleep(0)  # The body has just been read, so let other exchanges have their turn.
        if not await run_in_child_if_large(children, body, partial(_is_doubtful, body, known)):
            return None
    named: dict[str, tuple[Raw, ...]] = {}
    holder = ""
    talk = await stored.get(known.talk) if known.talk else None
    if isinstance(talk, StoredConversation):
        named[talk.id] = talk.items
    if known.previous:
        items, holder = await items_up_to(stored, known.previous)
        if items is not None:
            named[known.previous] = items
    holders: dict[str, str] = {}
    if apart:
        for item in (*known.items, *[one for some in named.values() for one in some]):
            found = item_fields(item)
            name = reference(found) if found is not None else ""
            if name:
                holders[name] = await stored.holder(name)
    return PreviousResponses(body, known, named, holder, apart=apart, holders=holders)


def _is_doubtful(body: bytes, known: References) -> bool:
    """Whether a body without references, as it is read here, may refer to something at an upstream."""
    return bool(known.unreadable) or may_name_items(body) or _may_hide_reference(body)


async def items_up_to(stored: ClientStored, name: str) -> tuple[tuple[Raw, ...] | None, str]:
    """All items up to and including a response, and the upstream that answered; None when one of them is no longer
    stored."""
    pieces: list[tuple[Raw, ...]] = []
    seen: set[str] = set()
    holder = ""
    while name and name not in seen:  # An upstream may give one id twice.
        seen.add(name)
        found = await stored.get(name)
        if not isinstance(found, StoredResponse):
            return None, holder
        holder = holder or found.upstream
        pieces.append(found.input + output_items(found.response))
        name = found.previous
    return tuple([item for piece in reversed(pieces) for item in piece]), holder


class _Output(Struct):
    id: str = ""
    output: list[Raw] = []


def with_answer(kept: StoredResponse, response: bytes) -> StoredResponse:
    """A stored response, updated with the upstream's current answer. A background response gets its output later."""
    try:
        found = msgspec.json.decode(response, type=_Output)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return kept
    if found.id != kept.id:
        return kept
    return msgspec.structs.replace(kept, response=response, item_ids=ids(found.output))


def output_items(response: bytes) -> tuple[Raw, ...]:
    """The items of an answer."""
    return tuple(msgspec.json.decode(response, type=_Output).output)


class ResponseKeeping(ReplyWrapper):
    """A reply whose answer is stored. The end of the reply is held back until the answer is stored (`finish`).

    The ids of other dialects may be invented or repeated, so the response gets a random id.
    """

    __slots__ = ("_end", "_exchange", "_final", "_frame", "_fresh", "_held", "_known", "_old", "_stored", "_whole")

    def __init__(self, inner: ReplyWriter, exchange: Exchange, known: References, stored: ClientStored) -> None:
        super().__init__(inner)
        self._stored = stored
        self._known = known
        self._exchange = exchange
        self._fresh = f"resp_{os.urandom(16).hex()}"
        self._old = b""
        self._final = b""  # the response, once it is complete
        self._frame = bytearray()  # bytes of a stream since the last complete frame
        self._held: list[bytes] = []
        self._whole: list[tuple[str, str]] | None = None
        self._end = False

    @property
    def _name(self) -> str:
        """The response's new id; "" where the upstream's id stays."""
        return self._fresh if self._exchange.upstream_dialect != _NATIVE else ""

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """Hold a good answer back until `finish`; send any other at once."""
        if status != 200:
            super().send(status, headers, body)
            return
        self.status = status
        if self._name:
            body = json_text.encode({**json_text.fields(body), "id": self._name})
        self._whole, self._final = list(headers), body

    def write(self, data: bytes) -> None:
        """Send a piece of a stream. The last event is held back until `finish`."""
        if self._name and _NAMED in data:
            data = self._with_own_id(data)
        if not self._final:
            # The end of a frame may be split across two pieces.
            seen = max(0, len(self._frame) - 1)
            self._frame += data.replace(b"\r\n", b"\n")
            end = self._frame.rfind(b"\n\n", seen)
            if end >= 0:  # Search only when a frame is complete, however many pieces it came in.
                self._final = _last_response(bytes(self._frame))
                del self._frame[: end + 2]
            if not self._final:
                super().write(data)
                return
        self._held.append(data)

    def _with_own_id(self, data: bytes) -> bytes:
        """Our frames with the new id. Each frame is complete, and the response in it begins with its id."""
        if not self._old:
            self._old = data.partition(_NAMED)[2].partition(b'"')[0]
        return data.replace(_NAMED + self._old + b'"', _NAMED + self._name.encode() + b'"')

    def end(self) -> None:
        """End the stream, unless its last event waits for `finish`."""
        self._open, self._end = False, True
        if not self._final:
            self.inner.end()

    async def finish(self) -> None:
        """Store the answer, then send the bytes that were held back."""
        if self._final:
            await store_answer(self._stored, self._known, self._final, self._exchange.upstream)
        if self._whole is not None:
            self.inner.send(200, self._whole, self._final)
        elif self._final:
            self.inner.write(b"".join(self._held))
            if self._end:
                self.inner.end()


def _last_response(frames: bytes) -> bytes:
    """The response in the last event of a stream; b"" as long as that event is incomplete."""
    found = _END.search(frames)
    if found is None:
        return b""
    data = b"\n".join([line[5:].strip() for line in found[1].split(b"\n") if line.startswith(b"data:")])
    try:
        return bytes(json_text.fields(data).get("response", b""))
    except msgspec.DecodeError:
        return b""


async def store_answer(stored: ClientStored, known: References, response: bytes, upstream: str) -> None:
    """Store an answer for its client, and add it to its conversation."""
    try:
        name = msgspec.json.decode(response, type=_Output).id
    except msgspec.DecodeError:
        return  # An upstream of the same dialect sent no response. The client gets the bytes unchanged.
    if not name:
        return
    if known.talk:
        talk = await stored.get(known.talk)
        if isinstance(talk, StoredConversation):
            more = known.items + output_items(response)
            added = [with_id(item, f"{name}_{i}").copy() for i, item in enumerate(more)]
            await stored.put(msgspec.structs.replace(talk, items=(*talk.items, *added)))
    if sum(map(len, known.items)) > LARGE:
        await asyncio.sleep(0)  # Let other exchanges have their turn first.
    # Copy the items, because each is a view of the whole request.
    items = tuple([item.copy() for item in known.items])
    await stored.put(
        StoredResponse(name, stored.owner, response, items, known.previous, upstream, ids(output_items(response)))
    )


def with_id(item: Raw, name: str) -> Raw:
    """An item with an id: its own, or else a new one."""
    fields = json_text.fields(item)
    if fields.get("id") and bytes(fields["id"]) != b"null":
        return item
    kind = json_text.plain(fields["type"]) if "type" in fields else "message"
    starts = {"message": "msg", "function_call": "fc", "function_call_output": "fco", "reasoning": "rs"}
    start = starts.get(kind, "item") if isinstance(kind, str) else "item"
    return json_text.raw({"id": f"{start}_{name.partition('_')[2] or name}", **fields})
