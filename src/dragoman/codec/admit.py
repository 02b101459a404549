"""Decodes bytes into a wire Struct. Unknown content is never lost without its path.

Wire Structs forbid unknown fields, so the common case is one typed decode. If that fails, the body is walked along the
type as raw JSON: unknown fields are cut out and kept with their path and exact text, objects of an unknown variant are
wrapped whole, known fields keep their exact bytes. The rest is then decoded strictly again. Three conventions for wire
Structs:

  - a Struct that covers several variants, distinguished by `type`, lists the known ones in `__kinds__`. Its field
    `strange: Raw` receives an unknown variant, and an object without `type` if `type` has no default;
  - `__alias__` maps other spellings of a field (such as snake_case keys) to its name;
  - in an answer (`lenient`), a known field with a value of the wrong type is kept like an unknown field, and not
    refused: a client cannot correct an upstream.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Raw, Struct

from ..canon.parts import Path, pointer
from ..errors import WireError

T = TypeVar("T")

Unknown = dict[Path, dict[str, Raw]]
"""Path of an object -> its unknown fields."""


class Indexed(Unknown):
    """Unknown fields by path, with an index of the paths below each path. A hostile document has an unknown field in
    every object, so a search through all paths would be too slow.
    """

    __slots__ = ("_index",)

    def __init__(self) -> None:
        super().__init__()
        self._index: dict[Path, list[Path]] | None = None

    def below(self, at: Path) -> list[Path]:
        """The paths at and below `at`."""
        if self._index is None:
            self._index = {}
            for path in self:
                self._note(path)
        return [path for path in self._index.pop(at, ()) if path in self]

    def _note(self, path: Path) -> None:
        if self._index is not None:
            for depth in range(len(path) + 1):
                self._index.setdefault(path[:depth], []).append(path)

    def __setitem__(self, path: Path, fields: dict[str, Raw]) -> None:
        if path not in self:
            self._note(path)
        super().__setitem__(path, fields)

    def setdefault(self, path: Path, fields: dict[str, Raw]) -> dict[str, Raw]:
        """As `dict.setdefault`, with the index kept up to date."""
        if path not in self:
            self[path] = fields
        return self[path]

    def update(self, other: Unknown) -> None:  # type: ignore[override]
        """As `dict.update`, with the index kept up to date."""
        for path, fields in other.items():
            self[path] = fields


STRANGE = "\x00strange"
MAX_BODY = 256 * 1024 * 1024
_MAX_MISFITS = 64

_object = msgspec.json.Decoder(dict[str, Raw]).decode
_array = msgspec.json.Decoder(list[Raw]).decode
_encode = msgspec.json.Encoder().encode
_NULL = Raw(b"null")
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


class Admitted(NamedTuple, Generic[T]):
    """A wire Struct, the fields that it cannot hold, and the keys with another spelling."""

    value: T
    unknown: Unknown
    spelled: dict[Path, str | int]


class Admitter(Generic[T]):
    """Decodes one type of document of one dialect. Make one for each type and keep it."""

    __slots__ = ("_decode", "_dialect", "_lenient", "_type")

    def __init__(self, dialect: str, type_: Any, *, lenient: bool = False) -> None:
        self._dialect = dialect
        self._type = type_
        self._lenient = lenient
        self._decode: Callable[[bytes | Raw], T] = msgspec.json.Decoder(type_).decode

    def admit(self, body: bytes | Raw, base: Path = ()) -> Admitted[T]:
        """Decode a body. `base`: the path of the value in its document, if it is a part of one."""
        try:
            return Admitted(self._decode(body), {}, {})
        except _REFUSED as refusal:
            return self._tolerant(bytes(body), refusal, base)

    def _tolerant(self, body: bytes, refusal: Exception, base: Path) -> Admitted[T]:
        if isinstance(refusal, RecursionError):
            raise WireError(self._dialect, "", "JSON nested less deeply", "too many levels") from None
        if len(body) > MAX_BODY:
            raise WireError(self._dialect, "", f"at most {MAX_BODY} bytes", f"{len(body)}") from None
        unknown = Indexed()
        spelled: dict[Path, str | int] = {}
        try:
            body = _strip(body, self._type, base, unknown, spelled)
            before: msgspec.ValidationError | None = None
            for _ in range(_MAX_MISFITS):
                try:
                    return Admitted(self._decode(body), unknown, spelled)
                except msgspec.ValidationError as misfit:
                    cut = _cut_misfit(body, misfit, unknown, base) if self._lenient else None
                    if cut is None:
                        # If the removed field is required, the error about its value is more helpful than "missing".
                        cause = before if before is not None and "missing required" in str(misfit) else misfit
                        raise self._error(cause, base) from None
                    body, before = cut, misfit
        except _REFUSED as refused:
            raise self._error(refused, base) from None
        raise WireError(self._dialect, "", f"at most {_MAX_MISFITS} fields of a wrong type")

    def _error(self, refusal: Exception, base: Path) -> WireError:
        message = str(refusal)
        if isinstance(refusal, RecursionError):
            return WireError(self._dialect, "", "JSON nested less deeply", "too many levels")
        if not isinstance(refusal, msgspec.ValidationError):
            return WireError(self._dialect, "", "valid JSON", message)
        said = _SAID.match(message)
        path = pointer(base + _steps(message))
        if said:
            return WireError(self._dialect, path, said[1].replace("`", ""), (said[2] or "").replace("`", ""))
        return WireError(self._dialect, path, message.partition(" - at ")[0])


_SAID = re.compile(r"Expected (.*?)(?:, got (.*?))?(?: - at .*)?$", re.S)
_AT = re.compile(r" - at `(?:key in )?\$(.*)`$", re.S)
_STEP = re.compile(r"\[(\d+|\.\.\.)\]|\.([^.\[]+)")


def _steps(message: str) -> Path:
    """The path in a msgspec message such as "... - at `$.messages[0].role`"."""
    found = _AT.search(message)
    if not found:
        return ()
    return tuple([int(i) if i and i != "..." else (key or i) for i, key in _STEP.findall(found[1])])


def _strip(body: bytes | Raw, type_: Any, path: Path, unknown: Unknown, spelled: dict[Path, str | int]) -> bytes:
    """`body` without the fields that `type_` does not know."""
    shape = _shape(type_)
    first = bytes(body[:1]) if isinstance(body, bytes) else bytes(memoryview(body)[:1])
    if first in b" \t\r\n":
        body = bytes(body).lstrip()
        first = body[:1]
    if first == b"{" and shape.struct is not None:
        return _strip_struct(body, shape.struct, path, unknown, spelled)
    if first == b"{" and shape.values is not None:
        members = _object(body)
        for key, value in members.items():
            members[key] = Raw(_strip(value, shape.values, (*path, key), unknown, spelled))
        return _encode(members)
    if first == b"[" and shape.items is not None:
        pieces = [_strip(item, shape.items, (*path, i), unknown, spelled) for i, item in enumerate(_array(body))]
        return b"[%b]" % b",".join(pieces)
    return bytes(body)


def _strip_struct(
    body: bytes | Raw, struct: type[Struct], path: Path, unknown: Unknown, spelled: dict[Path, str | int]
) -> bytes:
    known = _fields(struct)
    kinds: frozenset[str] | None = getattr(struct, "__kinds__", None)
    members = _object(body)
    if kinds is not None:
        kind = _plain_string(members.get("type"))
        if kind is None and members.get("type") == _NULL and known["type"] is str and "type" in _defaults(struct):
            # `"type": null` has no more meaning than an absent type.
            unknown.setdefault(path, {})["type"] = members.pop("type")
        if kind not in kinds and not (kind is None and "type" in _defaults(struct)):
            return _encode({"type": STRANGE, "strange": Raw(bytes(body))})
    alias: Mapping[str, str] = getattr(struct, "__alias__", {})
    left: dict[str, Raw] = {}
    cut: dict[str, Raw] = {}
    for key, value in members.items():
        name = key
        if name not in known and alias.get(key, "") in known and alias[key] not in members:
            name = alias[key]
            spelled[(*path, name)] = key
        if name in known and name != "strange":
            left[name] = Raw(_strip(value, known[name], (*path, name), unknown, spelled))
        else:
            cut[key] = value
    if cut:
        unknown.setdefault(path, {}).update(cut)
    return _encode(left)


def _plain_string(raw: Raw | None) -> str | None:
    if raw is None:
        return None
    value = msgspec.json.decode(raw)
    return value if isinstance(value, str) else None


def _cut_misfit(body: bytes, misfit: msgspec.ValidationError, unknown: Unknown, base: Path) -> bytes | None:
    """`body` without the field whose value has the wrong type; None if the field cannot be cut out."""
    steps = _steps(str(misfit))
    while steps and not isinstance(steps[-1], str):
        steps = steps[:-1]
    if not steps or "..." in steps:
        return None
    path = steps[:-1]
    key = str(steps[-1])
    unknown.setdefault(base + path, {})[key] = _at(body, steps)
    return _without(body, path, key)


def _at(body: bytes | Raw, path: Path) -> Raw:
    value = Raw(body)
    for step in path:
        value = _array(value)[step] if isinstance(step, int) else _object(value)[step]
    return value


def _without(body: bytes | Raw, path: Path, key: str) -> bytes:
    if not path:
        members = _object(body)
        del members[key]
        return _encode(members)
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = _array(body)
        items[step] = Raw(_without(items[step], rest, key))
        return _encode(items)
    members = _object(body)
    members[step] = Raw(_without(members[step], rest, key))
    return _encode(members)


class _Shape(NamedTuple):
    """The inside of a JSON value by its type: the Struct of an object, the items of an array, the values of a
    mapping.
    """

    struct: type[Struct] | None = None
    items: Any = None
    values: Any = None


@cache
def _shape(type_: Any) -> _Shape:
    origin = typing.get_origin(type_)
    if origin in (typing.Union, types.UnionType):
        shapes = [_shape(member) for member in typing.get_args(type_)]
        return _Shape(
            next((s.struct for s in shapes if s.struct), None),
            next((s.items for s in shapes if s.items is not None), None),
            next((s.values for s in shapes if s.values is not None), None),
        )
    if origin in (list, tuple):
        return _Shape(items=typing.get_args(type_)[0])
    if origin is dict:
        return _Shape(values=typing.get_args(type_)[1])
    if isinstance(type_, type) and issubclass(type_, Struct):
        return _Shape(struct=type_)
    return _Shape()


@cache
def _fields(struct: type[Struct]) -> dict[str, Any]:
    """Encoded field name -> type."""
    hints = typing.get_type_hints(struct)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(struct)}


@cache
def _defaults(struct: type[Struct]) -> frozenset[str]:
    """Encoded names of the optional fields."""
    return frozenset([field.encode_name for field in msgspec.structs.fields(struct) if not field.required])
