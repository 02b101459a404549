"""Owns the marking of values in canon: every text gets a unique marker, as in `marked_documents.py`."""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.canon import Citation, Media, Part, Path, Reasoning, Request, Response, Text, Tool, ToolCall, ToolResult
from tests.laws.marked_documents import Marker


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


def request(value: Request) -> tuple[Request, dict[str, list[Path]]]:
    """The request with a marker in every text, and the places of each marker."""
    marker = CanonMarker()
    turns = []
    for i, turn in enumerate(value.turns):
        parts = [marker.part(part, ("turns", i, "parts", j)) for j, part in enumerate(turn.parts)]
        name = marker.new(("turns", i, "name")) if turn.name else ""
        turns.append(msgspec.structs.replace(turn, parts=tuple(parts), name=name))
    settings = value.settings
    settings = msgspec.structs.replace(
        settings,
        stop=tuple([marker.new(settings.at["stop"]) for _ in settings.stop]),
        user=settings.user and marker.new(settings.at["user"]),
        metadata=settings.metadata and {"a": marker.new(settings.at["metadata"])},
        cache_key=settings.cache_key and marker.new(settings.at["cache_key"]),
    )
    tools = tuple([marker.tool(tool) for tool in value.tools if isinstance(tool, Tool)])
    changed = msgspec.structs.replace(value, turns=tuple(turns), tools=tools, settings=settings)
    return changed, marker.places


def response(value: Response) -> tuple[Response, dict[str, list[Path]]]:
    """The answer with a marker in every text, and the places of each marker."""
    marker = CanonMarker()
    parts = [marker.part(part, ("parts", i)) for i, part in enumerate(value.parts)]
    return msgspec.structs.replace(value, parts=tuple(parts)), marker.places
