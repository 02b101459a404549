"""Owns the access of Anthropic's rules to a document: messages, blocks, turns, tools, headers. A document may hold any
JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...canon.parts import Path
from ...rules.helpers import Place, items, listed, word
from ...rules.rule import Subject

NEW_VERSION = "2026-10-21"


class JoinedTurn(NamedTuple):
    """Neighbouring messages of one role. The upstream joins such messages, so rules see them as one turn."""

    role: str
    at: Path
    blocks: list[Place]

    def of(self, *kinds: str) -> list[Place]:
        """The blocks of some types, each with its path."""
        return [(at, block) for at, block in self.blocks if block.get("type") in kinds]


def messages(subject: Subject) -> list[Place]:
    """The messages of a request that are objects, each with its path."""
    return items(subject.document, "messages")


def blocks(holder: dict[str, Any], at: Path, key: str = "content") -> list[Place]:
    """The content blocks of a message or a result; a string is one text block."""
    content = holder.get(key)
    if isinstance(content, str):
        return [((*at, key), {"type": "text", "text": content})]
    return items(holder, key, at)


def turns(subject: Subject) -> list[JoinedTurn]:
    """The messages of a request as turns."""
    out: list[JoinedTurn] = []
    for at, message in messages(subject):
        role = word(message, "role")
        if out and out[-1].role == role:
            out[-1].blocks.extend(blocks(message, at))
        else:
            out.append(JoinedTurn(role, at, blocks(message, at)))
    return out


def every_block(subject: Subject) -> Iterator[Place]:
    """All blocks of a request or a response, with the blocks inside results and in the system prompt."""
    document = subject.document
    if subject.kind == "response":
        yield from blocks(document, ())
        return
    if isinstance(document.get("system"), list):
        yield from blocks(document, (), "system")
    for at, message in messages(subject):
        for place, block in blocks(message, at):
            yield place, block
            if block.get("type") == "tool_result":
                yield from blocks(block, place)


def is_custom(tool: dict[str, Any]) -> bool:
    """Whether the client declared the tool with a schema of its own; a hosted tool has a dated type instead."""
    return tool.get("type") in (None, "custom")


def betas(subject: Subject) -> frozenset[str] | None:
    """The names in the request's `anthropic-beta` header. None: the headers are not known."""
    named = listed(subject.document, "anthropic_beta") + listed(subject.document, "betas")
    if not named and not any(name.startswith("anthropic-") for name in subject.headers):
        return None
    sent = subject.headers.get("anthropic-beta", "").split(",")
    return frozenset([name.strip() for name in [*named, *sent] if isinstance(name, str)])


def version(subject: Subject) -> str:
    """The API version in the request's headers. "": the headers are not known."""
    return subject.headers.get("anthropic-version", "")
