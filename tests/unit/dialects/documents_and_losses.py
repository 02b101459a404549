"""Owns DocumentsOf: reads and writes documents of one dialect with a new context each, and returns the losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.canon.request import Request
from dragoman.canon.response import Response
from dragoman.context import Context
from dragoman.dialect import Dialect
from dragoman.dialects import get
from dragoman.facts.profile import DEFAULT_PROFILE, Profile

Losses = list[tuple[str, str]]


def losses(context: Context) -> Losses:
    """(code, path) of every loss, as a translation reports it."""
    if context.source not in (context.target, *get(context.target).related):
        context.settle(get(context.source).minor_fields)
    return [(loss.code, loss.path) for loss in context.losses.all()]


class DocumentsOf:
    """The readers and writers of `dialect`. `other`: the usual other dialect. `model`: the usual model in writing."""

    def __init__(self, dialect: Dialect, other: str, model: str = "") -> None:
        self._dialect, self._other, self._model = dialect, other, model

    def read(self, body: Any, target: str = "") -> tuple[Request, Losses]:
        context = Context(self._dialect.name, target or self._other)
        return self._dialect.read_request(msgspec.json.encode(body), context), losses(context)

    def write(
        self, request: Request, source: str = "", profile: Profile | None = None, **options: Any
    ) -> tuple[Any, Losses]:
        options = {"model": self._model, **options}
        context = Context(source or self._other, self._dialect.name, profile=profile or DEFAULT_PROFILE, **options)
        return msgspec.json.decode(self._dialect.write_request(request, context)), losses(context)

    def round_trip(self, body: Any) -> tuple[Any, Losses]:
        """A request that is read and written in the same dialect."""
        context = Context(self._dialect.name, self._dialect.name)
        request = self._dialect.read_request(msgspec.json.encode(body), context)
        return msgspec.json.decode(self._dialect.write_request(request, context)), losses(context)

    def lossless_round_trip(self, body: Any) -> Any:
        """A request that is read and written in the same dialect. The round trip must have no loss."""
        written, found = self.round_trip(body)
        assert found == []
        return written

    def read_answer(self, body: Any, target: str = "", **options: Any) -> tuple[Response, Losses]:
        context = Context(self._dialect.name, target or self._other, **options)
        return self._dialect.read_response(msgspec.json.encode(body), context), losses(context)

    def write_answer(self, response: Response, source: str = "", **options: Any) -> tuple[Any, Losses]:
        context = Context(source or self._other, self._dialect.name, **options)
        return msgspec.json.decode(self._dialect.write_response(response, context)), losses(context)

    def lossless_answer_round_trip(self, body: Any) -> Any:
        """An answer that is read and written in the same dialect. The round trip must have no loss."""
        context = Context(self._dialect.name, self._dialect.name)
        response = self._dialect.read_response(msgspec.json.encode(body), context)
        written = self._dialect.write_response(response, context)
        assert losses(context) == []
        return msgspec.json.decode(written)

    def written_for(self, events: Iterable[Event], source: str = "", **options: Any) -> tuple[bytes, Losses]:
        """The bytes of a stream with these events."""
        context = Context(source or self._other, self._dialect.name, **options)
        writer = self._dialect.writer(context)
        return b"".join([writer.send(event) for event in events]) + writer.close(), losses(context)

    def events_of(self, stream: bytes, step: int = 0, target: str = "") -> tuple[list[Event], Losses]:
        """The events of a stream, fed whole or in pieces of `step` bytes."""
        context = Context(self._dialect.name, target or self._other)
        reader = self._dialect.reader(context)
        found: list[Event] = []
        for i in range(0, len(stream), step or len(stream) or 1):
            found += reader.feed(stream[i : i + (step or len(stream))])
        return [*found, *reader.close()], losses(context)
