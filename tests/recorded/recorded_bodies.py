"""Owns access to the recorded exchanges for the tests of this folder: bodies by kind, pairs, and names of failures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations
from typing import Literal

import msgspec

from dragoman.canon import Event, Request
from dragoman.context import Context
from dragoman.dialect import Dialect
from dragoman.dialects import get, names
from dragoman.facts import profiles
from tests.oracles import exchanges
from tests.recorded.known_failures import EXCEPTIONS, REFUSED
from tests.recorded.normal_form import CREATED as CREATED

Kind = Literal["request", "response", "stream", "fault"]
KINDS: tuple[Kind, ...] = ("request", "response", "stream", "fault")
DIALECTS = names()
PAIRS = list(permutations(DIALECTS, 2))

# How many failures one message lists.
SHOWN = 8


class Case(msgspec.Struct, frozen=True, eq=False):
    """One recorded body."""

    id: str
    dialect: str
    kind: Kind
    body: bytes
    model: str
    status: int = 200


@cache
def cases(dialect: str, kind: Kind) -> tuple[Case, ...]:
    """Every recorded body of one kind."""
    return tuple([case for record in exchanges.records(dialect) for case in _of(record) if case.kind == kind])


def _of(record: exchanges.Record) -> Iterator[Case]:
    model = exchanges.model_of(record) or ""
    if record.request is not None and exchanges.base_id(record.id) not in REFUSED:
        yield Case(record.id, record.dialect, "request", msgspec.json.encode(record.request), model)
    if record.stream is not None:
        yield Case(record.id, record.dialect, "stream", record.raw, model)
    elif isinstance(record.response, list):
        # Gemini without alt=sse sends the chunks of a stream as one array. The frames are made here: in the product the
        # transport makes them.
        frames = [b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in record.response]
        yield Case(record.id, record.dialect, "stream", b"".join(frames), model)
    elif record.ok:
        yield Case(record.id, record.dialect, "response", msgspec.json.encode(record.response), model)
    else:
        yield Case(record.id, record.dialect, "fault", msgspec.json.encode(record.response), model, _status(record))


def _status(record: exchanges.Record) -> int:
    """Return the status of a fault; for a body stored without one, the status in the body, else 400."""
    if record.status is not None and record.status >= 400:
        return record.status
    code = record.response["error"].get("code") if isinstance(record.response.get("error"), dict) else None
    return code if isinstance(code, int) and code >= 400 else 400


def context(source: str, target: str, *, model: str = "") -> Context:
    """Return a context with only the values that the library itself would set."""
    return Context(source, target, model=model, created=CREATED)


def read_request(case_dialect: str, body: bytes) -> Request:
    return get(case_dialect).read_request(body, context(case_dialect, case_dialect))


def written_again(dialect: Dialect, request: Request, under: Context) -> bytes:
    """Write a request in the dialect from which it was read, with the profile that `translate` would use."""
    under.profile = profiles.lookup(dialect.name, request.model)
    return dialect.write_request(request, under)


def events(dialect: str, raw: bytes, size: int = 0, target: str = "") -> list[Event]:
    """Return the events of a stream, fed whole or in pieces of `size` bytes. `target`: the dialect of the output."""
    return fed(dialect, [raw] if not size else [raw[i : i + size] for i in range(0, len(raw), size)], target)


def fed(dialect: str, chunks: list[bytes], target: str = "") -> list[Event]:
    reader = get(dialect).reader(context(dialect, target or dialect))
    out: list[Event] = []
    for chunk in chunks:
        out += reader.feed(chunk)
    return out + reader.close()


def settle(check: str, failures: dict[str, str], looked_at: set[str] | None = None) -> None:
    """Fail for every record that fails `check` and is no known exception, and for every exception that no longer fails.

    A synthetic exchange may fail where the recording of the same shape fails. A synthetic exchange that passes is no
    proof that an exception is obsolete, since its texts differ. Neither is a run over a part of the exchanges.
    """
    known = {entry.record: entry for entry in EXCEPTIONS if entry.check == check}
    new = {record: text for record, text in failures.items() if exchanges.base_id(record) not in known}
    if looked_at is None and not exchanges.has_recordings():
        looked_at = set()
    healed = [record for record in known if record not in failures and (looked_at is None or record in looked_at)]
    lines = [f"{record}: {text}" for record, text in new.items()]
    lines += [f"{record}: passes now, remove it from known_failures.py ({known[record].reason})" for record in healed]
    shown = "\n".join(lines[:SHOWN])
    assert not lines, f"{check}: {len(new)} failures, {len(healed)} obsolete exceptions\n{shown}"
