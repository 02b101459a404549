"""Owns the law of the round trip: A to B to A equals A minus the reported losses, and the next trip changes nothing.

Each function takes one document and another dialect, and returns what breaks the law. The documents come from
`tests/recorded` and `tests/generated`.
"""

from __future__ import annotations

import msgspec

import dragoman
from dragoman import Loss, Translation
from dragoman.canon import Fault, Part, Request, Response, ToolCall, Turn
from dragoman.canon.fold_and_unfold import fold, unfold
from dragoman.codec.call_ids import from_chat_client
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.dialects.openai_chat.wire import SWITCHES
from dragoman.seals.strategy import plan_for_answer, restore_in_request
from tests.recorded.recorded_bodies import CREATED, Case, context, events
from tests.recorded.round_trip_comparison import request_differences, response_differences

BROKEN = ("bad_tool_call", "error")


Trip = tuple[Translation, Translation]
"""Translations of a request: to another dialect, and back to its own."""


def request(case: Case, target: str, trip: Trip) -> list[str]:
    """Return the differences in a request that came back."""
    there, back = trip
    source, lost = case.dialect, [msgspec.structs.replace(loss, path=_marked_place(loss)) for loss in there.losses]
    return request_differences(
        read(source, case.body), read(target, there.body), read(source, back.body), lost, back.losses
    )


def request_again(case: Case, target: str, trip: Trip) -> list[str]:
    """Return the changes of the next trip in a request that came back.

    The thinking setting may get lost too if the first trip lost the thoughts: a budget of Claude requires thoughts.
    """
    source, (there, back) = case.dialect, trip
    again, last = _there_and_back(back.body, source, target, there.model)
    thoughtless = any(loss.code == "reasoning.dropped" for loss in back.losses)
    lost = [loss for loss in again.losses if thoughtless and loss.code == "effort.dropped"]
    return request_differences(read(source, back.body), read(target, again.body), read(source, last.body), lost, ())


def response(case: Case, target: str) -> list[str]:
    """Return the differences in a whole answer."""
    source = case.dialect
    first = answer(source, case.body, target)
    there = dragoman.translate_response(case.body, source=source, target=target, created=CREATED)
    under = context(target, source)
    came = get(target).read_response(there.body, under)
    last = sent_back(came, target, source, under)
    middle = unloaded(came, source, context(target, source))
    return response_differences(first, middle, last, there.losses, under.losses.all())


def answer_in_pieces(case: Case, target: str) -> list[str]:
    """Return the differences in a streamed answer."""
    source = case.dialect
    there, losses = stream(source, target, case.body)
    first = fold(events(source, case.body, target=target))
    if isinstance(first, Fault):
        last = fold(events(source, stream(target, source, there)[0]))
        same = isinstance(last, Fault) and last.message == first.message
        return [] if same else [f"{first} became {last}"]
    return streamed_back(first, source, target, there, losses)


def broken(response: Response) -> bool:
    """Whether the answer, or one of its alternatives, failed: its translation has text in place of the failure."""
    stops = (response.stop, *[one.stop for one in response.alternatives])
    return any(stop.reason in BROKEN for stop in stops)


def request_there_and_back(case: Case, other: str) -> Trip:
    return _there_and_back(case.body, case.dialect, other, case.model or "some-model")


def _there_and_back(body: bytes, source: str, other: str, model: str) -> Trip:
    there = dragoman.translate_request(body, source=source, target=other, model=model)
    return there, dragoman.translate_request(there.body, source=other, target=source, model=there.model)


def read(dialect: str, body: bytes) -> Request:
    return get(dialect).read_request(
        body, context(dialect, "anthropic" if _has_host_fields(dialect, body) else dialect)
    )


def _has_host_fields(dialect: str, body: bytes) -> bool:
    """Whether a request has fields that Chat's reader reads only for other dialects: Mistral's document_url, cache
    marks on whole messages and on calls, and the thinking switches of hosts. Within the dialect they are passed
    unchanged."""
    if b'"document_url"' in body or (dialect in ("openai-chat", "openrouter") and _has_marked_messages(body)):
        return True
    return dialect == "openai-chat" and not frozenset(SWITCHES).isdisjoint(
        msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    )


def _has_marked_messages(body: bytes) -> bool:
    said = msgspec.json.decode(body)["messages"] if b'"cache_control"' in body else ()
    return any("cache_control" in one for message in said for one in (message, *(message.get("tool_calls") or ())))


def _marked_place(loss: Loss) -> str:
    """Return the place of a loss. For a cache mark this is the place of the marked object, which may be a message."""
    return loss.path.removesuffix("/cache_control") if loss.code.startswith("cache.") else loss.path


def answer(dialect: str, body: bytes, target: str = "") -> Response:
    """Read an answer. With `target` it is read for that dialect, without values that only hosts use."""
    return get(dialect).read_response(body, context(dialect, target or dialect))


def own_ids(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the parts with the ids of the upstream, as a request reader restores them from Chat clients. A translation
    through two dialects of the Chat family marks an id twice."""
    out = list(parts)
    for i, part in enumerate(out):
        while isinstance(part, ToolCall) and (own := from_chat_client(part.id)) != part.id:
            out[i] = part = msgspec.structs.replace(part, id=own)
    return tuple(out)


def unloaded(response: Response, origin: str, under: Context) -> Response:
    """Return an answer as its upstream gets it back from the client, with the seals restored to their places."""
    turns = tuple(
        [Turn("assistant", own_ids(parts)) for parts in (response.parts, *[one.parts for one in response.alternatives])]
    )
    first, *others = restore_in_request(Request(turns), "auto", None, get(origin), get(origin), "", under).turns
    alternatives = [
        msgspec.structs.replace(old, parts=new.parts) for old, new in zip(response.alternatives, others, strict=True)
    ]
    return msgspec.structs.replace(response, parts=first.parts, alternatives=tuple(alternatives))


def sent_back(response: Response, source: str, target: str, under: Context) -> Response:
    """Write and read the answer in the dialect of its source. The losses are in `under`."""
    last = answer(target, get(target).write_response(unloaded(response, target, under), under), source)
    if source not in get(target).related:
        under.settle(get(source).minor_fields)
    return last


def stream(source: str, target: str, raw: bytes) -> tuple[bytes, tuple[Loss, ...]]:
    translator = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
    out = translator.feed(raw) + translator.close()
    return out, translator.losses


def streamed_back(first: Response, source: str, target: str, there: bytes, losses: tuple[Loss, ...]) -> list[str]:
    """Return the differences in a streamed answer that the client got as `there` and sent back to its upstream."""
    under = context(target, source)
    reader, writer = get(target).reader(under), get(source).writer(under)
    middle = fold([*reader.feed(there), *reader.close()])
    if plan_for_answer("auto", None, get(source), get(target), "") is None or isinstance(middle, Fault):
        back, back_losses = stream(target, source, there)  # no seal was packed
    else:
        middle = unloaded(middle, source, under)
        back = b"".join([*[writer.send(event) for event in unfold(middle)], writer.close()])
        if target not in get(source).related:
            under.settle(get(target).minor_fields)
        back_losses = under.losses.all()
    last = fold(events(source, back, target=target))
    if isinstance(middle, Fault) or isinstance(last, Fault):
        # An answer that failed in the middle is a fault in dialects without a field for the failure.
        return [] if first.stop.reason in BROKEN else [f"became a fault: {middle}, {last}"]
    return response_differences(first, middle, last, losses, back_losses)
