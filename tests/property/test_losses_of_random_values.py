"""No silent loss in generated conversations: every part, tool and setting is written or reported."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import msgspec
from hypothesis import given

from dragoman.canon import Citation, Media, Part, Path, Reasoning, Request, Response, Text, Tool, ToolCall, ToolResult
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.dialects import names as dialects
from tests.laws.marked_documents import Marked, Marker, silent
from tests.property.law_for_each_dialect import each
from tests.property.strategies import requests, responses

DIALECTS = dialects()


class CanonMarker(Marker):
    """Puts a marker into every text field of a canon value."""

    def part(self, part: Part, at: Path) -> Part:
        changes: dict[str, Any] = {"at": at}
        if part.seal is not None:
            changes["seal"] = msgspec.structs.replace(part.seal, data=self.new((*at, "signature")))
        if isinstance(part, Text):
            changes["text"] = self.new(at)
            changes["citations"] = tuple([self.citation(one, (*at, "citations")) for one in part.citations])
        elif isinstance(part, Reasoning):
            changes["text"] = self.new(at)
        elif isinstance(part, Media):
            changes |= {"data": part.data and self.new(at), "name": part.name and self.new((*at, "name")) + part.name}
        elif isinstance(part, ToolCall):
            text = self.new(at)
            changes["arguments"] = text if part.custom else f'{{"a":"{text}"}}'
        elif isinstance(part, ToolResult):
            if part.structured:
                inner: list[Part] = [Text(f'{{"a":"{self.new(at)}"}}', at=at)]
            else:
                inner = [self.part(piece, (*at, "parts", i)) for i, piece in enumerate(part.parts)]
            changes["parts"] = tuple(inner)
        return msgspec.structs.replace(part, **changes)

    def citation(self, cited: Citation, at: Path) -> Citation:
        return msgspec.structs.replace(cited, title=self.new(at), quote=cited.quote and self.new(at))

    def tool(self, tool: Tool) -> Tool:
        if tool.custom:
            return msgspec.structs.replace(tool, description=self.new(tool.at))
        described = {"type": "string", "description": self.new((*tool.at, "schema"))}
        schema = msgspec.json.encode({"type": "object", "properties": {"a": described}}).decode()
        return msgspec.structs.replace(tool, description=self.new(tool.at), schema=schema)


def marked(request: Request) -> tuple[Request, dict[str, list[Path]]]:
    marker = CanonMarker()
    turns = []
    for i, turn in enumerate(request.turns):
        parts = [marker.part(part, ("turns", i, "parts", j)) for j, part in enumerate(turn.parts)]
        name = marker.new(("turns", i, "name")) if turn.name else ""
        turns.append(msgspec.structs.replace(turn, parts=tuple(parts), name=name))
    settings = request.settings
    settings = msgspec.structs.replace(
        settings,
        stop=tuple([marker.new(settings.at["stop"]) for _ in settings.stop]),
        user=settings.user and marker.new(settings.at["user"]),
        metadata=settings.metadata and {"a": marker.new(settings.at["metadata"])},
        cache_key=settings.cache_key and marker.new(settings.at["cache_key"]),
    )
    tools = tuple([marker.tool(tool) for tool in request.tools if isinstance(tool, Tool)])
    changed = msgspec.structs.replace(request, turns=tuple(turns), tools=tools, settings=settings)
    return changed, marker.places


def missing(places: dict[str, list[Path]], body: bytes, context: Context) -> list[str]:
    return silent(Marked(body, places), body, context.losses.all())


@given(request=requests())
@each("dialect", DIALECTS)
def test_requests_lose_nothing_silently(dialect: str, request: Request) -> None:
    request, places = marked(request)
    context = Context("elsewhere", dialect)
    body = get(dialect).write_request(request, context)
    lost = missing(places, body, context)
    assert not lost, "; ".join(lost[:3])


@given(response=responses())
@each("dialect", DIALECTS)
def test_responses_lose_nothing_silently(dialect: str, response: Response) -> None:
    marker = CanonMarker()
    parts = [marker.part(part, ("parts", i)) for i, part in enumerate(response.parts)]
    context = Context("elsewhere", dialect, created=5)
    body = get(dialect).write_response(msgspec.structs.replace(response, parts=tuple(parts)), context)
    lost = missing(marker.places, body, context)
    assert not lost, "; ".join(lost[:3])


def _pieces(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        yield type(part).__name__


def test_the_marker_reaches_every_kind_of_part() -> None:
    marker = CanonMarker()
    whole = ToolResult("c", (Text("a"), Media("image", "image/png", "aaaa")))
    found = marker.part(whole, ("turns", 0, "parts", 0))
    assert isinstance(found, ToolResult)
    assert list(_pieces(found.parts)) == ["Text", "Media"]
    assert len(marker.places) == 2
    assert all(len(base64.b64decode(mark)) == 9 for mark in marker.places)
