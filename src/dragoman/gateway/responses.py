"""The Responses endpoints beside `create`: what is kept under an id, conversations, and what only an upstream can do.

What is kept here is answered here, over whatever upstream it was made. What is not may be kept by an upstream that
speaks the dialect itself: then it is asked, and its answer goes to the client as it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import msgspec
from msgspec import Raw

from ..canon.events import Fault
from ..codec import jsontext
from ..transport.http import Headers
from .asides import ask
from .config import Upstream
from .desk import Desk
from .earlier import asked, chain, with_id
from .headers import homeward
from .paths import Call
from .refusal import Refused
from .server import Incoming
from .stored import Conversation, Kept, Stored

_NATIVE = "openai-responses"
_JSON: Headers = [("content-type", "application/json")]
PAGE = 20
LARGEST_PAGE = 100
COMPACTING = 600.0
"""Seconds for a compaction, which is an answer of a model."""

Answer = tuple[int, Headers, bytes]


async def responses(desk: Desk, stored: Stored, call: Call, request: Incoming) -> Answer:
    """`/v1/responses/ID`, with GET, DELETE, `cancel` and `input_items`."""
    name, _, rest = call.rest.partition("/")
    kept = await stored.get(name)
    what = (request.method, rest)
    if not name:
        raise Refused(Fault("not_found", "a response is named by its id: /v1/responses/ID", 404))
    if not isinstance(kept, Kept):
        return await _elsewhere(desk, request, _native(desk.config.upstreams), f"no response {name!r} is kept")
    owner = desk.config.upstreams.get(kept.upstream)
    if owner is not None and owner.dialect == _NATIVE:  # it may have gone on there, in the background
        if request.method == "DELETE":
            await stored.drop(name)
        return await _elsewhere(desk, request, owner, "")
    if what == ("GET", ""):
        if parse_qs(request.query).get("stream") == ["true"]:
            raise Refused(Fault("invalid_request", "only a response in the background can be streamed again", 400))
        return 200, _JSON, kept.response
    if what == ("DELETE", ""):
        await stored.drop(name)
        return _answer({"id": name, "object": "response", "deleted": True})
    if what == ("POST", "cancel"):
        why = f"the response {name!r} was not asked for in the background: there is nothing to cancel"
        raise Refused(Fault("invalid_request", why, 400))
    if what == ("GET", "input_items"):
        before, _ = await chain(stored, kept.previous) if kept.previous else ((), "")
        items = [*(before or ()), *kept.input]
        return _answer(_page([with_id(item, f"{name}_{i}") for i, item in enumerate(items)], request.query))
    raise Refused(Fault("not_found", f"there is nothing at {request.method} {request.path}", 404))


async def compact(desk: Desk, request: Incoming) -> Answer:
    """`/v1/responses/compact`: sealed by whoever compacts, so only an upstream of the dialect can."""
    fields = _fields(request.body)
    model = jsontext.plain(fields["model"]) if "model" in fields else ""
    _, choices = desk.routes.find(model, desk.draw) if isinstance(model, str) and model else (None, [])
    for choice in choices:
        if choice.upstream.dialect == _NATIVE:
            request.body = jsontext.encode({**fields, "model": choice.model})
            return await _elsewhere(desk, request, choice.upstream, "", "/v1/responses/compact", COMPACTING)
    why = f"the upstream of {model!r} does not compact conversations; only those that speak {_NATIVE} do"
    raise Refused(Fault("not_found", why, 404, "unsupported_value", "model"))


async def conversations(desk: Desk, stored: Stored, call: Call, request: Incoming, now: int) -> Answer:
    """`/v1/conversations`, one of them, and its items."""
    name, _, rest = call.rest.partition("/")
    method = request.method
    if not name:
        if method != "POST":
            raise Refused(Fault("not_found", "a conversation is named by its id: /v1/conversations/ID", 404))
        fields = _fields(request.body) if request.body else {}
        name = f"conv_{os.urandom(16).hex()}"
        talk = Conversation(name, now, fields.get("metadata", jsontext.raw({})).copy(), _new(name, fields, "items"))
        await stored.put(talk)
        return _answer(_shown(talk))
    found = await stored.get(name)
    if not isinstance(found, Conversation):
        return await _elsewhere(desk, request, _native(desk.config.upstreams), f"no conversation {name!r} is kept")
    if rest == "items" or rest.startswith("items/"):
        return await _items(stored, found, request, rest.partition("/")[2])
    if rest:
        raise Refused(Fault("not_found", f"there is nothing at {request.path}", 404))
    if method == "DELETE":
        await stored.drop(name)
        return _answer({"id": name, "object": "conversation.deleted", "deleted": True})
    if method == "POST":
        fields = _fields(request.body)
        found = msgspec.structs.replace(found, metadata=fields.get("metadata", found.metadata).copy())
        await stored.put(found)
    return _answer(_shown(found))


async def _items(stored: Stored, talk: Conversation, request: Incoming, name: str) -> Answer:
    if not name and request.method == "POST":
        more = _new(talk.id, _fields(request.body), "items")
        await stored.put(msgspec.structs.replace(talk, items=(*talk.items, *more)))
        return _answer(_page(list(more), f"order=asc&limit={LARGEST_PAGE}"))
    if not name:
        return _answer(_page(list(talk.items), request.query))
    found = next((item for item in talk.items if _id(item) == name), None)
    if found is None:
        raise Refused(Fault("not_found", f"there is no item {name!r} in {talk.id}", 404))
    if request.method == "DELETE":
        talk = msgspec.structs.replace(talk, items=tuple([item for item in talk.items if _id(item) != name]))
        await stored.put(talk)
        return _answer(_shown(talk))
    return 200, _JSON, bytes(found)


def _new(name: str, fields: Mapping[str, Raw], key: str) -> tuple[Raw, ...]:
    """The items that a request brings, each with an id."""
    known = asked(jsontext.encode({"input": fields.get(key)}))
    if known is None or not all(jsontext.is_object(item) for item in known.items):
        raise Refused(Fault("invalid_request", f"{key} is not a list of items", 400, param=key))
    return tuple([with_id(item, f"x_{os.urandom(12).hex()}").copy() for item in known.items])


def _id(item: Raw) -> Any:
    return jsontext.plain(jsontext.fields(item)["id"])


def _shown(talk: Conversation) -> dict[str, Any]:
    return {"id": talk.id, "object": "conversation", "created_at": talk.created, "metadata": talk.metadata}


def _page(items: list[Raw], query: str) -> dict[str, Any]:
    """A page of items as the query wants it: newest first unless it says otherwise."""
    wanted = {name: values[-1] for name, values in parse_qs(query).items()}
    if wanted.get("order", "desc") == "desc":
        items = items[::-1]
    names = [_id(item) for item in items]
    start = names.index(wanted["after"]) + 1 if wanted.get("after") in names else 0
    limit = wanted.get("limit", "")
    size = min(max(int(limit), 1), LARGEST_PAGE) if limit.isascii() and limit.isdigit() else PAGE
    page = items[start : start + size]
    return {
        "object": "list",
        "data": page,
        "first_id": _id(page[0]) if page else None,
        "last_id": _id(page[-1]) if page else None,
        "has_more": start + size < len(items),
    }


def _fields(body: bytes) -> dict[str, Raw]:
    try:
        return jsontext.fields(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(Fault("invalid_request", f"the body is not a JSON object: {error}", 400)) from None


def _answer(value: Any) -> Answer:
    return 200, _JSON, jsontext.encode(value)


def _native(upstreams: Mapping[str, Upstream]) -> Upstream | None:
    return next((upstream for upstream in upstreams.values() if upstream.dialect == _NATIVE), None)


async def _elsewhere(
    desk: Desk, request: Incoming, upstream: Upstream | None, missing: str, path: str = "", seconds: float = 30.0
) -> Answer:
    """The answer of an upstream that speaks the dialect; when there is none, that the thing is missing."""
    if upstream is None:
        raise Refused(Fault("not_found", f"{missing}; what was asked with store false is not", 404))
    place = path or "/v1/" + request.path[max(request.path.find(word) for word in ("responses/", "conversations/")) :]
    place += f"?{request.query}" if request.query else ""
    told = await ask(desk, upstream, request.method, place, request.headers, _NATIVE, request.body, seconds)
    if isinstance(told, Fault):
        raise Refused(told)
    called, own = request.headers.get("x-request-id", ""), [("content-type", "application/json")]
    headers = homeward(_NATIVE, _NATIVE, told.headers, called, own)
    return told.status, [(name, value) for name, value in headers if value], told.body
