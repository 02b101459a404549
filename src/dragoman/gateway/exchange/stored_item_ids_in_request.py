"""Finds the items of a Responses request that the upstream completes from its own store, by their id.

Where several clients share the gateway's key, such an id gives access to everything that the upstream stores under that
key. So the gateway finds these items, and forwards only ids that the client itself has received
(`previous_responses_and_stored_answers.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Raw

from ...codec import json_text

_AROUND = frozenset({"id", "type", "status", "role", "phase", "summary"})
"""Fields that are not the content of an item. A summary does not count as content: OpenAI reads the stored reasoning by
its id."""
_EMPTY = frozenset({b"null", b'""', b"[]", b"{}"})
_SPACE = b" \t\r\n"


def item_fields(item: Raw) -> dict[str, Raw] | None:
    """The fields of an item; None for a value that is not a JSON object."""
    try:
        return json_text.fields(item)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def reference(fields: dict[str, Raw]) -> str:
    """The id of an item without content of its own; "" for any other item.

    The references of the Responses API (2026-03): `item_reference`, whose type may be left out; reasoning without
    `encrypted_content`; and calls such as `image_generation_call`, of which an id alone may be sent.
    """
    if "id" not in fields or _is_empty(fields["id"]):
        return ""
    kind = _text(fields["type"]) if "type" in fields else ""
    if kind == "reasoning":
        complete = not _is_empty(fields.get("encrypted_content", Raw(b"null")))
    else:
        complete = kind != "item_reference" and any(
            name not in _AROUND and not _is_empty(value) for name, value in fields.items()
        )
    return "" if complete else _text(fields["id"])


def ids(items: Iterable[Raw]) -> tuple[str, ...]:
    """The ids of items."""
    found = [fields["id"] for item in items if (fields := item_fields(item)) and "id" in fields]
    return tuple([_text(value) for value in found if not _is_empty(value)])


def _is_empty(value: Raw) -> bool:
    return bytes(value).translate(None, _SPACE) in _EMPTY


def _text(value: Raw) -> str:
    """The value of a string. Any other value is returned undecoded, and so matches no id."""
    try:
        found = json_text.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        found = None
    return found if isinstance(found, str) else bytes(value).decode("utf-8", "replace")
