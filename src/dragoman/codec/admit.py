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
from collections.abc import Callable, Mapping, Set
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
            body = bytes(_strip(body, _shape(self._type), base, unknown, spelled))
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


def _strip(
    body: bytes | Raw, shape: _Shape, path: Path, unknown: Unknown, spelled: dict[Path, str | int]
) -> bytes | Raw:
    """`body` without the fields that its type does not know; `body` itself if nothing has to change."""
    first = bytes(memoryview(body)[:1])
    if first in b" \t\r\n":
        body = bytes(body).lstrip()
        first = body[:1]
    if first == b"{" and shape.struct is not None:
        return _strip_struct(body, _known(shape.struct), path, unknown, spelled)
    if first == b"{" and shape.values is not None:
        return _strip_values(body, shape.values, path, unknown, spelled)
    if first == b"[" and shape.items is not None:
        return _strip_items(body, shape.items, path, unknown, spelled)
    return body


def _strip_values(
    body: bytes | Raw, shape: _Shape, path: Path, unknown: Unknown, spelled: dict[Path, str | int]
) -> bytes | Raw:
    members = _object(body)
    changed = False
    for key, value in members.items():
        stripped = _strip(value, shape, (*path, key), unknown, spelled)
        if stripped is not value:
            members[key] = Raw(stripped)
            changed = True
    return _encode(members) if changed else body


def _strip_items(
    body: bytes | Raw, shape: _Shape, path: Path, unknown: Unknown, spelled: dict[Path, str | int]
) -> bytes | Raw:
    items = _array(body)
    changed = False
    for i, item in enumerate(items):
        stripped = _strip(item, shape, (*path, i), unknown, spelled)
        if stripped is not item:
            items[i] = Raw(stripped)
            changed = True
    return _encode(items) if changed else body


def _strip_struct(
    body: bytes | Raw, known: _Known, path: Path, unknown: Unknown, spelled: dict[Path, str | int]
) -> bytes | Raw:
    members = _object(body)
    changed = False
    if known.kinds is not None:
        kind = _plain_string(members.get("type"))
        if kind is None and known.null_type and members.get("type") == _NULL:
            # `"type": null` has no more meaning than an absent type.
            unknown.setdefault(path, {})["type"] = members.pop("type")
            changed = True
        if kind not in known.kinds and not (kind is None and known.may_lack_type):
            return _encode({"type": STRANGE, "strange": Raw(bytes(body))})
    strange = members.keys() - known.names
    if strange:
        return _cut(members, strange, known, path, unknown, spelled)
    for name, value in members.items():
        shape = known.fields.get(name)
        if shape is not None:
            stripped = _strip(value, shape, (*path, name), unknown, spelled)
            if stripped is not value:
                members[name] = Raw(stripped)
                changed = True
    return _encode(members) if changed else body


def _cut(
    members: dict[str, Raw],
    strange: Set[str],
    known: _Known,
    path: Path,
    unknown: Unknown,
    spelled: dict[Path, str | int],
) -> bytes:
    """An object of which some keys are not known: they are other spellings, or are cut out."""
    left: dict[str, Raw] = {}
    cut: dict[str, Raw] = {}
    for key, value in members.items():
        name = key
        if key in strange:
            name = known.alias.get(key, "")
            if name not in known.names or name in members:
                cut[key] = value
                continue
            spelled[(*path, name)] = key
        shape = known.fields.get(name)
        stripped = value if shape is None else _strip(value, shape, (*path, name), unknown, spelled)
        left[name] = value if stripped is value else Raw(stripped)
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
    items: _Shape | None = None
    values: _Shape | None = None


_LEAF = _Shape()


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
        return _Shape(items=_inside(typing.get_args(type_)[0]))
    if origin is dict:
        return _Shape(values=_inside(typing.get_args(type_)[1]))
    if isinstance(type_, type) and issubclass(type_, Struct):
        return _Shape(struct=type_)
    return _LEAF


def _inside(type_: Any) -> _Shape | None:
    """The shape of items or values; None where nothing in them can be unknown."""
    shape = _shape(type_)
    return None if shape == _LEAF else shape


class _Known(NamedTuple):
    """What a Struct knows, by encoded names."""

    names: frozenset[str]
    """All fields but `strange`."""
    fields: dict[str, _Shape]
    """Those of them that have an inside."""
    alias: Mapping[str, str]
    kinds: frozenset[str] | None
    may_lack_type: bool
    null_type: bool
    """A null in place of the type says nothing."""


@cache
def _known(struct: type[Struct]) -> _Known:
    encoded = dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))
    given = struct.__struct_defaults__
    optional = dict(zip(struct.__struct_encode_fields__[-len(given) :], given, strict=True)) if given else {}
    may_lack_type = optional.get("type", msgspec.NODEFAULT) is not msgspec.NODEFAULT
    return _Known(
        frozenset(encoded.values()) - {"strange"},
        {
            encoded[name]: shape
            for name, type_ in _inner_types(struct).items()
            if name in encoded and encoded[name] != "strange" and (shape := _shape(type_)) != _LEAF
        },
        getattr(struct, "__alias__", {}),
        getattr(struct, "__kinds__", None),
        may_lack_type,
        may_lack_type and _annotation(struct, "type") in (str, "str"),
    )


_PLAIN: frozenset[Any] = frozenset(
    [
        word + end
        for word in ("str", "int", "float", "bool", "Raw", "Any", "list[str]", "dict[str, Any]")
        for end in ("", " | None")
    ]
)
"""Annotations of values in which no field can be unknown."""


def _inner_types(struct: type[Struct]) -> dict[str, Any]:
    """The types of fields that may have an inside, by name. To evaluate all annotations would take milliseconds, and a
    translation would wait for that."""
    found: dict[str, Any] = {}
    for owner in reversed(struct.__mro__):
        annotations = _annotations(owner)
        for name in annotations:
            found.pop(name, None)
        rich = {name: word for name, word in annotations.items() if word not in _PLAIN}
        if rich:
            holder = type(owner.__name__, (), {"__annotations__": rich, "__module__": owner.__module__})
            found |= typing.get_type_hints(holder)
    return found


def _annotation(struct: type[Struct], name: str) -> Any:
    return next((_annotations(owner)[name] for owner in struct.__mro__ if name in _annotations(owner)), None)


def _annotations(owner: type) -> Mapping[str, Any]:
    found: Mapping[str, Any] = vars(owner).get("__annotations__", {})
    return found
