"""Items of the assistant's side that are neither messages nor thoughts nor calls: images, compactions, hosted tools."""

from __future__ import annotations

from collections.abc import Sequence

from ...canon.parts import Part, Path
from ...codec import jsontext
from ...crossing import Crossing
from . import wire
from .compaction import KIND as COMPACTION
from .compaction import read_compaction
from .hosted_calls import read_hosted
from .hosted_runs import LISTING
from .images import KIND as IMAGE
from .images import read_image


def read_other(item: wire.Item, at: Path, crossing: Crossing) -> Sequence[Part]:
    """The parts of an item: within this dialect the item whole; for another dialect what that dialect can use.

    Two parts where one item holds the call of a hosted tool and its result. No part where nobody else can use the item.
    """
    value = item.strange or jsontext.raw(item)
    kind = jsontext.kind(value) or ("item_reference" if item.role is None else "message")
    if crossing.target != wire.NAME:
        if kind == IMAGE:
            image = read_image(value, at, crossing)
            if image is not None:
                return (image,)
        elif kind == COMPACTION:
            compacted = read_compaction(value, at, crossing)
            return (compacted,) if compacted is not None else ()
        elif kind == LISTING:
            crossing.lose("hosted.dropped", at, f"{LISTING}: the tools of an MCP server", "info")
            return ()
    return read_hosted(kind, value, at)
