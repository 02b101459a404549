"""Reads the assistant's items that are not messages, thoughts or calls: images, compactions, hosted tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...canon.parts import Opaque, Part, Path
from ...codec import json_text
from ...codec.hosted_calls import word
from ...context import Context
from . import wire
from .compaction import KIND as COMPACTION
from .compaction import read_compaction
from .generated_images import KIND as IMAGE
from .generated_images import read_image, read_making
from .hosted_calls import read_hosted
from .hosted_programs_and_mcp import LISTING

_APPROVALS = frozenset({"mcp_approval_request", "mcp_approval_response"})


def read_other(item: wire.Item, at: Path, context: Context) -> Sequence[Part]:
    """The parts of an item: the whole item within this dialect; for another dialect the parts that it can use.

    There are two parts if one item holds a hosted call and its result, and none if no other dialect can use the item.
    """
    value = item.strange or json_text.raw(item)
    kind = json_text.kind(value) or ("item_reference" if item.role is None else "message")
    if context.target != wire.NAME:
        if kind == IMAGE:
            image = read_image(value, at, context)
            if image is not None:
                # In a history another upstream has no use for the prompt of an image. In an answer the client may show
                # the prompt.
                made = read_making(value, at) if at[:1] != ("input",) else None
                return (*made, image) if made is not None else (image,)
        elif kind == COMPACTION:
            compacted = read_compaction(value, at, context)
            return (compacted,) if compacted is not None else ()
        elif kind in _APPROVALS:
            return _lose_approval(kind, json_text.plain(value), at, context)
    # Within this dialect the list stays an unchanged item. A use of a tool would be written with another id.
    elif kind == LISTING:
        return (Opaque(wire.NAME, kind, value, at=at),)
    return read_hosted(kind, value, at)


def _lose_approval(kind: str, item: Any, at: Path, context: Context) -> tuple[()]:
    """Report a request for approval, or its answer. In no other dialect does an upstream ask before it calls an MCP
    tool. In an answer the loss is an error: the upstream waits, and the client cannot approve.
    """
    tool = f"the tool {word(item, 'name')} of the MCP server {word(item, 'server_label')}"
    if kind != "mcp_approval_request":
        decided = "approved" if item.get("approve") is True else "refused"
        context.lose("hosted.dropped", at, f"{kind}: the user {decided} a call, and no other dialect has approvals")
    elif at[:1] == ("input",):
        context.lose("hosted.dropped", at, f"{kind}: {tool} needed the user's approval")
    else:
        why = "waits for an approval that no other dialect can give; declare the server with require_approval never"
        context.lose("hosted.dropped", at, f"{kind}: {tool} {why}", "error")
    return ()
