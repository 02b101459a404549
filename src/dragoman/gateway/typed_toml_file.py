"""Reads a TOML file into a typed value, and writes one.

An error names the file, the line, the key and the nearest valid word. The caller gives the type; this module names no
setting.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from ..errors import ConfigError

Place = tuple[str | int, ...]
"""The place of a value: keys, and numbers for members of lists."""

T = TypeVar("T")

_HEADER = re.compile(r"\s*\[(\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?\Z")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_WORD = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_TAIL = re.compile(r" - at `\$[^`]*`\Z")


class FileError(ConfigError):
    """A mistake in a configuration file: its place, the problem, and the nearest valid word."""

    def __init__(self, file: str, text: str, at: Place, what: str, got: str = "", valid: Sequence[str] = ()) -> None:
        self.file = file
        self.line = line_of(text, at)
        self.key = path_text(at)
        super().__init__("key", self.key, tuple(valid))
        near = difflib.get_close_matches(got, valid, 1, 0.5) if got else []
        where = f"{file}, line {self.line}" if self.line else file
        hint = f"; did you mean {near[0]}?" if near else ""
        hint += f" (valid: {', '.join(valid)})" if valid else ""
        self.args = (f"{where}: {self.key + ': ' if self.key else ''}{what}{hint}",)


def read(text: str, shape: type[T], file: str) -> T:
    """The value in the text of a file, as the type `shape`. Raises FileError for a value that does not fit the type."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(file, "", (), f"not TOML: {error}") from None
    except RecursionError:
        raise FileError(file, "", (), "not TOML that can be read: it is nested too deeply") from None
    found: T = _Reader(file, text).value(data, shape, ())
    return found


class _Reader:
    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._text = text

    def value(self, value: Any, shape: Any, at: Place) -> Any:
        inner = get_args(shape)
        if len(inner) == 2 and inner[1] is type(None):
            return self.value(value, inner[0], at)  # an optional table; TOML has no null
        if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
            return self._struct(value, shape, at)
        if get_origin(shape) is dict:
            return {key: self.value(one, inner[1], (*at, key)) for key, one in self._table(value, at).items()}
        if get_origin(shape) is tuple and hasattr(inner[0], "from_word"):
            many = value if isinstance(value, list) else [value]
            return tuple([self.value(one, inner[0], (*at, i)) for i, one in enumerate(many)])
        if get_origin(shape) is tuple and isinstance(value, list):
            return tuple([self.value(one, inner[0], (*at, i)) for i, one in enumerate(value)])
        try:
            return msgspec.convert(value, shape)
        except msgspec.ValidationError as error:
            words = _allowed_words(shape)
            problem = f"{value!r} is none of the words" if words else _TAIL.sub("", str(error)).replace("`", "")
            got = value if isinstance(value, str) else ""
            raise FileError(self._file, self._text, at, problem, got, words) from None

    def _struct(self, value: Any, shape: Any, at: Place) -> Any:
        if isinstance(value, str) and hasattr(shape, "from_word"):
            return shape.from_word(value)
        fields = {field.name: field for field in msgspec.structs.fields(shape)}
        table = self._table(value, at)
        for key in table:
            if key not in fields:
                raise FileError(self._file, self._text, (*at, key), "there is no such key", key, tuple(fields))
        for name, field in fields.items():
            if field.required and name not in table:
                raise FileError(self._file, self._text, at, f"{name} is missing")
        return shape(**{key: self.value(one, fields[key].type, (*at, key)) for key, one in table.items()})

    def _table(self, value: Any, at: Place) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise FileError(self._file, self._text, at, f"a table is expected, not {value!r}")
        return value


def _allowed_words(shape: Any) -> tuple[str, ...]:
    """The words that a field may have; none where the field takes other values too."""
    if get_origin(shape) is Literal:
        return tuple([word for word in get_args(shape) if isinstance(word, str)])
    return ()


def path_text(at: Place) -> str:
    """A place as text: `routes[0].to[1].model`."""
    return "".join([f"[{step}]" if isinstance(step, int) else f".{step}" for step in at]).lstrip(".")


def line_of(text: str, at: Place) -> int | None:
    """The line of a place, or of the nearest place around it. tomllib does not give line numbers, so the text is
    searched."""
    best, found = 0, None
    table: Place = ()
    counts: dict[Place, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header is not None:
            table = _indexed(_path(header[2]), counts)
            if header[1]:
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            place = table
        else:
            key = _KEY.match(line)
            if key is None:
                continue
            place = (*table, *_path(key[1]))
        same = _common_length(place, at)
        if same > best and (same == len(place) or same == len(at)):
            best, found = same, number
    return found


def _path(words: str) -> Place:
    return tuple([word.strip("\"'") for word in _WORD.findall(words)])


def _indexed(path: Place, counts: dict[Place, int]) -> Place:
    """The path of a table header. Each list of tables in the path is followed by the number of its last member."""
    out: Place = ()
    for step in path[:-1]:
        out = (*out, step)
        if out in counts:
            out = (*out, counts[out])
    return (*out, path[-1])


def _common_length(one: Place, other: Place) -> int:
    same = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        same += 1
    return same


def write_toml(value: Any, at: str = "") -> str:
    """A typed value as TOML: plain fields first, then tables."""
    fields, tables = [], []
    for key, one in value.items():
        name = key if re.fullmatch(r"[\w-]+", key) else _text(key)
        path = f"{at}.{name}" if at else name
        if one is None:
            continue  # TOML has no null: the setting is left out
        if isinstance(one, dict):
            inner = write_toml(one, path)
            if inner:
                tables.append(inner if inner.startswith(f"[{path}.") else f"[{path}]\n{inner}")
        elif isinstance(one, list | tuple) and one and all(isinstance(member, dict) for member in one) and not at:
            tables += [f"[[{path}]]\n{write_toml(member, path)}" for member in one]
        else:
            fields.append(f"{name} = {_inline(one)}\n")
    return "\n".join(["".join(fields), *tables] if fields else tables)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join([f"{key} = {_inline(one)}" for key, one in value.items()]) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    return msgspec.json.encode(value).decode()
