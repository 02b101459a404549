"""Host: where an upstream differs from its dialect. The rows are in `hosts.json`, the lookup is in `hosts.py`."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Host(Struct, frozen=True):
    """Where an upstream differs from the one whose dialect it speaks. The defaults are those of that one."""

    name: str = ""
    """What it is called in the loss report and in the origin of seals."""
    fields: dict[str, bool | str] = {}
    """Fields of a request: False: refused or without effect; a word: what it is called here; True: taken after all.
    `messages[].name` stands for a field of every message, `tools[].custom` for a kind of tool, `content[].image_url`
    for a kind of part, `response_format.json_schema` for a kind of format, `response_format.json_schema.strict` for a
    field of that, `include[].reasoning.encrypted_content` for a word in a list of words."""
    roles: dict[str, str] = {}
    """Roles of messages that go by another name."""
    id_pattern: str = ""
    """What call ids must be like; others are replaced by `id_length` characters of their hash."""
    id_length: int = 20
    reasoning: str = ""
    """The field of a message in which it thinks; `thinking`: parts of the content."""
    echo: bool = False
    """It takes that field back. Else thoughts never go to it."""
    demanded: bool = False
    """It wants the field on every message of the assistant's where there are calls, as long as the model thinks."""
    blank: str = ""
    """What the field holds there where nothing was thought."""
    forced_choice: Literal["ok", "refused", "without_thinking"] = "ok"
    switch: dict[str, dict[str, Any]] = {}
    """Fields by which thinking is turned `off` and `on` in place of an effort."""
    null_content: bool = True
    """A message with nothing but calls may have no content; else it is an empty text."""
    empty_content: bool = True
    """Its content may be an empty text; else it has none."""
    late_system: bool = True
    """System text is taken in any message, and in several; else in the first only."""
    prefix: str = ""
    """The field that says of a last message of the assistant's that the answer goes on from it."""
    text_lists: bool = True
    """Several texts may be a list of parts; else they are one string."""
