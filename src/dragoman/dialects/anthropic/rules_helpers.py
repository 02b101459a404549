"""How rules of Messages look into a document: messages, blocks, turns, tools, headers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...canon.parts import Path
from ...rules.helpers import Place, items, listed, word
from ...rules.rule import Subject

NEW_VERSION = "2026-10-21"


class Turn(NamedTuple):
    """Neighbouring messages of one role: the upstream joins them."""

    role: str
    at: Path
    blocks: list[Place]

    def of(self, *kinds: str) -> list[Place]:
        return [(at, block) for at, block in self.blocks if block.get("type") in kinds]


def messages(subject: Subject) -> list[Place]:
    return items(subject.document, "messages")


def blocks(holder: dict[str, Any], at: Path, key: str = "content") -> list[Place]:
    """The content blocks of a message or a result; a string is one text block."""
    content = holder.get(key)
    if isinstance(content, str):
        return [((*at, key), {"type": "text", "text": content})]
    return items(holder, key, at)


def turns(subject: Subject) -> list[Turn]:
    out: list[Turn] = []
    for at, message in messages(subject):
        role = word(message, "role")
        if out and out[-1].role == role:
            out[-1].blocks.extend(blocks(message, at))
        else:
            out.append(Turn(role, at, blocks(message, at)))
    return out


def every_block(subject: Subject) -> Iterator[Place]:
    """All blocks of a request or a response, those inside results and the system prompt's too."""
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
    """A tool whose schema the client wrote."""
    return tool.get("type") in (None, "custom")


def betas(subject: Subject) -> frozenset[str] | None:
    """The beta names a request is sent with; None when its headers are not known."""
    named = listed(subject.document, "anthropic_beta") + listed(subject.document, "betas")
    if not named and not any(name.startswith("anthropic-") for name in subject.headers):
        return None
    sent = subject.headers.get("anthropic-beta", "").split(",")
    return frozenset([name.strip() for name in [*named, *sent] if isinstance(name, str)])


def version(subject: Subject) -> str:
    """The API version asked for, "" when it is not known."""
    return subject.headers.get("anthropic-version", "")
