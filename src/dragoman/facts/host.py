"""Owns Host: where an upstream differs from its dialect. The rows are in `hosts.json`, the lookup is in `hosts.py`."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Host(Struct, frozen=True):
    """Where an upstream differs from the provider whose dialect it uses. The defaults are that provider's values."""

    name: str = ""
    """The name in the loss report and in the origin of seals."""
    fields: dict[str, bool | str] = {}
    """Fields of a request. False: refused or without effect. A word: the field's name on this host. True: accepted
    after all. `messages[].name` is a field of every message, `tools[].custom` a kind of tool, `content[].image_url` a
    kind of part, `response_format.json_schema` a kind of format, `response_format.json_schema.strict` a field of that
    format, and `include[].reasoning.encrypted_content` a word in a list of words.
    """
    roles: dict[str, str] = {}
    """Roles of messages that have another name on this host."""
    id_pattern: str = ""
    """The pattern of call ids. An id that does not match is replaced by `id_length` characters of its hash."""
    id_length: int = 20
    reasoning: str = ""
    """The field of a message that holds thinking. `thinking`: thinking is in parts of the content."""
    echo: bool = False
    """The host accepts that field in requests. Else thoughts are never sent to the host."""
    demanded: bool = False
    """The host demands the field on every assistant message of a conversation with calls, as long as the model thinks.
    """
    blank: str = ""
    """The value of the field for a message without thinking."""
    forced_choice: Literal["ok", "refused", "without_thinking"] = "ok"
    switch: dict[str, dict[str, Any]] = {}
    """Fields that turn thinking `off` and `on`, in place of an effort."""
    null_content: bool = True
    """A message that holds only calls may omit its content. Else the content is an empty text."""
    empty_content: bool = True
    """The content of such a message may be an empty text. Else the content is omitted."""
    late_system: bool = True
    """System text is accepted in any message, and in several messages. Else in the first message only."""
    prefix: str = ""
    """The field of a last assistant message that asks the model to continue this message."""
    text_lists: bool = True
    """Several texts may be a list of parts. Else they are joined into one string."""
