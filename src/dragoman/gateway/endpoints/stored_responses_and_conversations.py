"""The Responses endpoints except `create`: stored responses, conversations, and compaction.

The gateway answers requests for the responses in its own store, whichever upstream made the response. Any other id may
be stored by an upstream of the same dialect. Then the request goes to that upstream, and the answer goes to the client
unchanged. Where clients have identities of their own, an id that is not stored for the client is never sent to an
upstream: the upstream knows only the gateway's key, and would show the responses of every client.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote

import msgspec
from msgspec import Raw

from ...canon.events import Fault
from ...codec import json_text
from ...transport.http_client import Headers
from ..config import Config, Upstream
from ..exchange.client_ownership import has_client_identities
from ..exchange.fault_for_unserved_exchange import Refused
from ..exchange.forwarded_headers import to_client
from ..exchange.non_generation_upstream_calls import ask_upstream
from ..exchange.previous_responses_and_stored_answers import (
    find_previous_responses,
    items_up_to,
    references,
    with_answer,
    with_id,
)
from ..exchange.stored_responses import ClientStored, StoredConversation, StoredResponse
from ..exchange.upstream_headers_and_key import auth_of_upstream
from ..http.server import IncomingRequest
from ..services import Services
from .endpoint_table import EndpointCall

_NATIVE = "openai-responses"
_JSON: Headers = [("content-type", "application/json")]
_RESPONSE = frozenset({("GET", ""), ("DELETE", ""), ("POST", "cancel"), ("GET", "input_items")})
"""Method and sub-path of each operation on a response."""
PAGE = 20
"""Items on a page, unless the client names a number."""
LARGEST_PAGE = 100
COMPACTING = 600.0
"""Seconds for a compaction, which takes as long as an answer of a model."""

Answer = tuple[int, Headers, bytes]


async def responses(services: Services, stored: ClientStored, call: EndpointCall, request: IncomingRequest) -> Answer:
    """`/v1/responses/ID`, with GET, DELETE, `cancel` and `input_items`."""
    name, _, rest = call.rest.partition("/")
    kept = await stored.get(name)
    what = (request.method, rest)
    if not name:
        raise Refused(Fault("not_found", "the path has no id of a response. Use /v1/responses/ID.", 404))
    if what not in _RESPONSE:
        raise Refused(Fault("not_found", f"no endpoint has {request.method} {request.path}", 404))
    if not isinstance(kept, StoredResponse):
        missing = f"no response {name!r} is stored here"
        return await _ask_upstream_instead(
            services,
            request,
            _upstream_for_unknown_id(services.config, request),
            missing,
            f"/v1/responses/{_path(call)}",
        )
    holder = services.config.upstreams.get(kept.upstream)
    # The upstream may have continued the response in the background.
    if holder is not None and holder.dialect == _NATIVE:
        if what == ("DELETE", ""):
            await stored.drop(kept)
        found = await _ask_upstream_instead(services, request, holder, "", f"/v1/responses/{_path(call)}")
        if what == ("GET", "") and found[0] == 200:
            await stored.put(with_answer(kept, found[2]))
        return found
    if what == ("GET", ""):
        if parse_qs(request.query).get("stream") == ["true"]:
            raise Refused(Fault("invalid_request", "only a background response can be streamed again", 400))
        return 200, _JSON, kept.response
    if what == ("DELETE", ""):
        await stored.drop(kept)
        return _answer({"id": name, "object": "response", "deleted": True})
    if what == ("POST", "cancel"):
        why = f"the response {name!r} is not a background response: there is nothing to cancel"
        raise Refused(Fault("invalid_request", why, 400))
    before, _ = await items_up_to(stored, kept.previous) if kept.previous else ((), "")
    items = [*(before or ()), *kept.input]
    return _answer(_page([with_id(item, f"{name}_{i}") for i, item in enumerate(items)], request.query))


async def compact(services: Services, stored: ClientStored, request: IncomingRequest) -> Answer:
    """`/v1/responses/compact`. The result is sealed by the upstream that compacts, so only an upstream of this dialect
    can serve it."""
    fields = _fields(request.body)
    model = json_text.plain(fields["model"]) if "model" in fields else ""
    _, choices = services.routes.find(model, services.draw) if isinstance(model, str) and model else (None, [])
    for choice in choices:
        if choice.upstream.dialect == _NATIVE:
            earlier = await find_previous_responses(
                stored,
                request.body,
                references(request.body),
                services.children,
                apart=has_client_identities(services.config),
            )
            body = _fields(earlier.body_for(choice)) if earlier is not None else fields
            request.body = json_text.encode({**body, "model": choice.model})
            return await _ask_upstream_instead(
                services, request, choice.upstream, "", "/v1/responses/compact", COMPACTING
            )
    why = f"no upstream of {model!r} can compact conversations. Only upstreams of the dialect {_NATIVE} can."
    raise Refused(Fault("not_found", why, 404, "unsupported_value", "model"))


async def conversations(
    services: Services, stored: ClientStored, call: EndpointCall, request: IncomingRequest, now: int
) -> Answer:
    """`/v1/conversations`, one conversation, and its items."""
    name, _, rest = call.rest.partition("/")
    method = request.method
    if not name:
        if method != "POST":
            raise Refused(Fault("not_found", "the path has no id of a conversation. Use /v1/conversations/ID.", 404))
        fields = _fields(request.body) if request.body else {}
        name = f"conv_{os.urandom(16).hex()}"
        metadata = fields.get("metadata", json_text.raw({})).copy()
        talk = StoredConversation(name, stored.owner, now, metadata, _items_with_ids(name, fields, "items"))
        await stored.put(talk)
        return _answer(_conversation_object(talk))
    part, _, item = rest.partition("/")
    if part not in ("", "items") or "/" in item:
        raise Refused(Fault("not_found", f"no endpoint has the path {request.path}", 404))
    found = await stored.get(name)
    if not isinstance(found, StoredConversation):
        missing, place = f"no conversation {name!r} is stored here", f"/v1/conversations/{_path(call)}"
        return await _ask_upstream_instead(
            services, request, _upstream_for_unknown_id(services.config, request), missing, place
        )
    if part:
        return await _items(stored, found, request, item)
    if method == "DELETE":
        await stored.drop(found)
        return _answer({"id": name, "object": "conversation.deleted", "deleted": True})
    if method == "POST":
        fields = _fields(request.body)
        found = msgspec.structs.replace(found, metadata=fields.get("metadata", found.metadata).copy())
        await stored.put(found)
    return _answer(_conversation_object(found))


async def _items(stored: ClientStored, talk: StoredConversation, request: IncomingRequest, name: str) -> Answer:
    if not name and request.method == "POST":
        more = _items_with_ids(talk.id, _fields(request.body), "items")
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
        return _answer(_conversation_object(talk))
    return 200, _JSON, bytes(found)


def _items_with_ids(name: str, fields: Mapping[str, Raw], key: str) -> tuple[Raw, ...]:
    """The items of a request, each with an id."""
    known = references(json_text.encode({"input": fields.get(key)}))
    if known.unreadable or not all(json_text.is_object(item) for item in known.items):
        raise Refused(Fault("invalid_request", f"{key} is not a list of items", 400, param=key))
    # Copies, because each item is a view of the whole body.
    return tuple([with_id(item, f"x_{os.urandom(16).hex()}").copy() for item in known.items])


def _id(item: Raw) -> Any:
    return json_text.plain(json_text.fields(item)["id"])


def _conversation_object(talk: StoredConversation) -> dict[str, Any]:
    return {"id": talk.id, "object": "conversation", "created_at": talk.created, "metadata": talk.metadata}


def _page(items: list[Raw], query: str) -> dict[str, Any]:
    """A page of items as the query demands: newest first by default."""
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
        return json_text.fields(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(Fault("invalid_request", f"the body is not a JSON object: {error}", 400)) from None


def _answer(value: Any) -> Answer:
    return 200, _JSON, json_text.encode(value)


def _upstream_for_unknown_id(config: Config, request: IncomingRequest) -> Upstream | None:
    """The upstream for an id that is not stored for the client; None where the id may belong to another client."""
    native = [upstream for upstream in config.upstreams.values() if upstream.dialect == _NATIVE]
    if has_client_identities(config) and not request.admin:
        native = [upstream for upstream in native if auth_of_upstream(upstream) == "client"]
    return native[0] if native else None


def _path(call: EndpointCall) -> str:
    """The part of the path behind `responses/` or `conversations/`, quoted for the upstream's address."""
    names = call.rest.split("/")
    # An upstream resolves "..", which would lead to another path.
    if any(name in ("", ".", "..") for name in names):
        raise Refused(Fault("not_found", "an id in the path is empty, or is . or ..", 404))
    return "/".join([quote(name, safe="") for name in names])


async def _ask_upstream_instead(
    services: Services,
    request: IncomingRequest,
    upstream: Upstream | None,
    missing: str,
    path: str,
    seconds: float = 30.0,
) -> Answer:
    """The answer of an upstream of the same dialect. Without such an upstream the fault has the text `missing`."""
    if upstream is None:
        raise Refused(Fault("not_found", f"{missing}. A request with store false is never stored.", 404))
    place = f"{path}?{request.query}" if request.query else path
    answer = await ask_upstream(
        services, upstream, request.method, place, request.headers, _NATIVE, request.body, seconds
    )
    if isinstance(answer, Fault):
        raise Refused(answer)
    called, own = request.headers.get("x-request-id", ""), [("content-type", "application/json")]
    headers = to_client(_NATIVE, _NATIVE, answer.headers, called, own, services.redactor)
    return answer.status, [(name, value) for name, value in headers if value], answer.body
