"""The settings of requests that options of the command line name: `-o NAME=VALUE`, `--effort`, `--max-tokens`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, get_type_hints

import msgspec

from ..canon.request import Settings
from ..errors import ConfigError

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_HINTS = get_type_hints(Settings)
_OTHERWISE = frozenset({"format", "at", "stream_usage", "open_effort", "images"})
"""Fields that `-o` does not set: `--schema` sets the format, and the others state facts about a source request."""

NAMES = tuple([name for name in Settings.__struct_fields__ if name not in _OTHERWISE])
"""The settings that `-o` may name."""


def settings_of(named: Mapping[str, Any], **given: Any) -> Settings:
    """The settings of an agent. `named`: the settings of `-o` and of a template. `given`: the settings with their own
    options (`--effort`), None where an option is absent."""
    values: dict[str, Any] = {"thoughts": True}
    for name, value in named.items():
        if name not in NAMES:
            raise ConfigError("option", name, NAMES)
        values[name] = _converted(name, value)
    values.update({name: value for name, value in given.items() if value is not None})
    return Settings(**values)


def own_options(texts: Iterable[str], **given: Any) -> dict[str, str]:
    """The settings in `-o`. ConfigError where another option (`--effort`) sets the same setting."""
    found = read_pairs(texts, "option")
    for name, value in given.items():
        if value is not None and name in found:
            raise ConfigError("option", name, problem=f"it is given twice: by -o and by --{name.replace('_', '-')}")
    return found


def read_pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """The names and values in texts of the form NAME=VALUE. `option` is the name of the option with these texts."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ConfigError(option, text, problem="write NAME=VALUE")
        if name.strip() in found:
            raise ConfigError(option, name.strip(), problem="it is given twice")
        found[name.strip()] = value
    return found


def _converted(name: str, value: Any) -> Any:
    """The value in the type of the field. A text may be JSON: `stop=["a", "b"]`."""
    kind = _HINTS[name]
    # A field for a text takes the text itself, even if the text is JSON.
    if isinstance(value, str) and kind != (str | None):
        decoded: Any = value
        with suppress(msgspec.DecodeError):  # a text that is not JSON is the value itself
            decoded = msgspec.json.decode(value)
        value = [value] if name == "stop" and not isinstance(decoded, list) else decoded
    try:
        found = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ConfigError("option", name, problem=f"{error}".replace(" | null", "")) from None
    if name == "effort" and found not in EFFORTS:
        raise ConfigError("option", name, EFFORTS, problem=f"{found!r} is not an effort")
    return found
