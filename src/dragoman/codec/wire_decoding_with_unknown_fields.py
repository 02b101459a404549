"""Decodes bytes into a wire Struct. Unknown content is never lost without its path.

Wire Structs forbid unknown fields, so the common case is one typed decode. If that fails, the body is walked along the
type as raw JSON. Unknown fields are cut out and kept with their path and exact text. Objects of an unknown variant are
wrapped whole. Known fields keep their exact bytes. The rest is then decoded strictly again. Three conventions for wire
Structs:

  - a Struct that covers several variants, distinguished by `type`, lists the known ones in `__kinds__`. Its field
    `strange: Raw` receives an unknown variant, and an object without `type` if `type` has no default;
  - `__alias__` maps other spellings of a field (such as snake_case keys) to its name;
  - in an answer (`lenient`), a known field with a value of the wrong type is kept like an unknown field, and not
    refused: a client cannot correct an upstream.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Raw, Struct

from ..canon.parts import Path, pointer
from ..errors import VALID_JSON, WireError

T = TypeVar("T")
V = TypeVar("V")

Unknown = dict[Path, dict[str, Raw]]
"""Path of an object -> its unknown fields."""
Spelled = dict[Path, str | int]
"""Path of a field -> its key in the document, if that is spelled differently."""


class Indexed(dict[Path, V]):
    """Values by path, with an index of the paths below each path. A hostile document has an unknown field or another
    spelling in every object, so a search through all paths would be too slow.
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

    def __setitem__(self, path: Path, value: V) -> None:
        if path not in self:
            self._note(path)
        super().__setitem__(path, value)

    def setdefault(self, path: Path, value: V) -> V:
        """As `dict.setdefault`, with the index kept up to date."""
        if path not in self:
            self[path] = value
        return self[path]

    def update(self, other: Mapping[Path, V]) -> None:  # type: ignore[override]
        """As `dict.update`, with the index kept up to date."""
        for path, value in other.items():
            self[path] = value


STRANGE = "\x00strange"
# A refused body is taken apart in memory, so a bound is needed. Anthropic's own limit is 32 MB for a request and 256 MB
# for a batch (docs "Errors", 2026-10).
MAX_BODY = 256 * 1024 * 1024
# Each misfit costs one more decoding of the whole body. An answer with more of them is not an answer of its dialect.
_MAX_MISFITS = 64
# Most refused bodies have one new field. A few cuts are cheaper than taking the body apart.
_FEW_CUTS = 3
# The beginning of msgspec's message (0.22); it has no exception of its own.
_UNKNOWN_FIELD = "Object contains unknown field"

_object = msgspec.json.Decoder(dict[str, Raw]).decode
_array = msgspec.json.Decoder(list[Raw]).decode
_value = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_NULL = Raw(b"null")
_OBJECT, _ARRAY = b"{["
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


Admitted = tuple[T, Unknown, Spelled]
"""A wire Struct, the fields that it cannot hold, and the keys with another spelling."""


class Admitter(Generic[T]):
    """Decodes one type of document of one dialect. Make one for each type and keep it."""

    __slots__ = ("_decode", "_dialect", "_lenient", "_simple", "_type")

    def __init__(
        self, dialect: str, type_: Any, *, lenient: bool = False, simple: Callable[[T], bool] | None = None
    ) -> None:
        """`simple`: a check of a decoded value. True: the value holds no object that may be of an unknown variant. Then
        unknown fields are cut out where the decoder found them, and the rest of the body is not taken apart."""
        self._dialect = dialect
        self._type = type_
        self._lenient = lenient
        self._simple = simple
        self._decode: Callable[[bytes | Raw], T] = msgspec.json.Decoder(type_).decode

    def admit(self, body: bytes | Raw, base: Path = ()) -> Admitted[T]:
        """Decode a body. `base`: the path of the value in its document, if it is a part of one."""
        try:
            # Nearly all bodies fit, so the tolerant way costs nothing here.
            return self._decode(body), {}, {}
        except _REFUSED as refusal:
            return self.admit_refused(bytes(body), refusal, base)

    def admit_refused(self, body: bytes, refusal: Exception, base: Path = ()) -> Admitted[T]:
        """Decode a body that a strict decoder of the same type has refused."""
        if isinstance(refusal, RecursionError):
            raise WireError(self._dialect, "", "JSON nested less deeply", "too many levels") from None
        # A body that fits is not limited here: the gateway and the caller limit it before.
        if len(body) > MAX_BODY:
            raise WireError(self._dialect, "", f"at most {MAX_BODY} bytes", f"{len(body)}") from None
        whole = body
        if body[:1] in b" \t\r\n":
            body = body.lstrip()
        shape = _shape(self._type)
        try:
            if self._simple is not None:
                quick = self._with_few_cuts(body, shape, str(refusal), base, self._simple)
                if quick is not None:
                    return quick
            unknown: Indexed[dict[str, Raw]] = Indexed()
            spelled: Indexed[str | int] = Indexed()
            try:
                return self._decode(_strip(body, shape, base, unknown, spelled)), unknown, spelled
            except msgspec.ValidationError:
                # A value has a wrong type. It may be the first of two members with the same name, of which only the
                # last counts. A second pass writes every object anew, so that each name occurs once.
                unknown, spelled = Indexed(), Indexed()
                body = bytes(_strip(body, shape, base, unknown, spelled, anew=True))
            before: msgspec.ValidationError | None = None
            for _ in range(_MAX_MISFITS):
                try:
                    return self._decode(body), unknown, spelled
                except msgspec.ValidationError as misfit:
                    cut = _cut_misfit(body, misfit, unknown, spelled, base) if self._lenient else None
                    if cut is None:
                        # If the removed field is required, the error about its value is more helpful than "missing".
                        cause = before if before is not None and "missing required" in str(misfit) else misfit
                        raise self._error(cause, base, whole) from None
                    body, before = cut, misfit
        except _REFUSED as refused:
            raise self._error(refused, base, whole) from None
        raise WireError(self._dialect, "", f"at most {_MAX_MISFITS} fields of a wrong type")

    def _with_few_cuts(
        self, body: bytes, shape: _Shape, message: str, base: Path, simple: Callable[[T], bool]
    ) -> Admitted[T] | None:
        """Decode a body that has unknown fields in a few objects. None: the body has to be taken apart."""
        cuts: list[tuple[Path, dict[str, Raw]]] = []
        for _ in range(_FEW_CUTS):
            if not message.startswith(_UNKNOWN_FIELD):
                return None
            found: list[tuple[Path, dict[str, Raw]]] = []
            try:
                body = _cut_along(body, shape, (), _steps(message), found)
            except msgspec.ValidationError:
                return None  # the name occurs twice: the decoder refused the first member, but the last counts
            if not found:
                return None
            # Inner objects come first, because readers gather their fields first.
            for at, cut in found if cuts else ():
                # The fields of an inner object are inserted before the fields of the object around it.
                outer = [i for i, (path, _) in enumerate(cuts) if at[: len(path)] == path]
                cuts.insert(outer[0] if outer else len(cuts), (at, cut))
            cuts = cuts or found
            try:
                value = self._decode(body)
            except msgspec.ValidationError as again:
                message = str(again)
                continue
            if not simple(value):
                return None
            return value, {base + path: cut for path, cut in cuts}, {}
        return None

    def _error(self, refusal: Exception, base: Path, body: bytes) -> WireError:
        message = str(refusal)
        # msgspec nests one C call for each level, and stops before the stack overflows.
        if isinstance(refusal, RecursionError):
            return WireError(self._dialect, "", "JSON nested less deeply", "too many levels")
        if not isinstance(refusal, msgspec.ValidationError):
            from .json_error_location import json_mistake  # late: only for messages

            return WireError(self._dialect, "", VALID_JSON, json_mistake(body, message))
        parsed = _EXPECTED_GOT.match(message)
        path = pointer(base + _steps(message))
        if parsed:
            return WireError(self._dialect, path, parsed[1].replace("`", ""), (parsed[2] or "").replace("`", ""))
        return WireError(self._dialect, path, message.partition(" - at ")[0])


_EXPECTED_GOT = re.compile(r"Expected (.*?)(?:, got (.*?))?(?: - at .*)?$", re.S)
_AT = re.compile(r" - at `(?:key in )?\$(.*)`$", re.S)
_STEP = re.compile(r"\[(\d+|\.\.\.)\]|\.([^.\[]+)")


def _steps(message: str) -> Path:
    """The path in a msgspec message such as "... - at `$.messages[0].role`"."""
    found = _AT.search(message)
    if not found:
        return ()
    return tuple([int(i) if i and i != "..." else (key or i) for i, key in _STEP.findall(found[1])])


def _strip(
    body: bytes | Raw, shape: _Shape, path: Path, unknown: Unknown, spelled: Spelled, anew: bool = False
) -> bytes | Raw:
    """`body` without the fields that a type of this shape does not have; `body` itself if nothing has to change.
    `anew`: every object is written anew.
    """
    first = memoryview(body)[0] if body else 0
    if first == _OBJECT:
        if shape.struct is not None:
            return _strip_struct(body, shape.struct, path, unknown, spelled, anew)
        if shape.values is not None:
            members = _object(body)
            changed = anew
            for key, value in members.items():
                left = _strip(value, shape.values, (*path, key), unknown, spelled, anew)
                if left is not value:
                    members[key] = Raw(left)
                    changed = True
            return _encode(members) if changed else body
    elif first == _ARRAY and shape.items is not None:
        items = _array(body)
        changed = anew
        for i, item in enumerate(items):
            left = _strip(item, shape.items, (*path, i), unknown, spelled, anew)
            if left is not item:
                items[i] = Raw(left)
                changed = True
        return _encode(items) if changed else body
    return body


def _strip_struct(
    body: bytes | Raw, struct: type[Struct], path: Path, unknown: Unknown, spelled: Spelled, anew: bool
) -> bytes | Raw:
    known, kinds, type_optional, alias = _plan(struct)
    members = _object(body)
    if kinds is not None:
        kind = _plain_string(members.get("type"))
        if kind is None and type_optional and members.get("type") == _NULL and _hint(struct, "type") is str:
            # `"type": null` has no more meaning than an absent type.
            unknown.setdefault(path, {})["type"] = members.pop("type")
            anew = True
        if kind not in kinds and not (kind is None and type_optional):
            return _encode({"type": STRANGE, "strange": Raw(bytes(body))})
    cut: dict[str, Raw] | None = None
    changed = anew
    if not members.keys() <= known:
        members, cut = _divided(members, known, alias, path, spelled)
        changed = True
    for name, value in members.items():
        # The type of a field is looked up only where its value can hold an object: a lookup costs microseconds.
        first = memoryview(value)[0]
        if first in (_OBJECT, _ARRAY):
            left = _strip(value, _inside(struct, name), (*path, name), unknown, spelled, anew)
            if left is not value:
                members[name] = Raw(left)
                changed = True
    if cut:
        unknown.setdefault(path, {}).update(cut)
    return _encode(members) if changed else body


def _divided(
    members: dict[str, Raw], known: frozenset[str], alias: Mapping[str, str], path: Path, spelled: Spelled
) -> tuple[dict[str, Raw], dict[str, Raw]]:
    """The members that a Struct has, under its own names, and the other members."""
    if not alias:
        return members, {key: members.pop(key) for key in [key for key in members if key not in known]}
    left: dict[str, Raw] = {}
    cut: dict[str, Raw] = {}
    for key, value in members.items():
        if key in known:
            left[key] = value
        # A field that is there in both spellings keeps the wire's own. The other one is reported.
        elif alias.get(key, "") in known and alias[key] not in members:
            left[alias[key]] = value
            spelled[(*path, alias[key])] = key
        else:
            cut[key] = value
    return left, cut


def _cut_along(
    body: bytes | Raw, shape: _Shape, at: Path, steps: Path, cuts: list[tuple[Path, dict[str, Raw]]]
) -> bytes:
    """`body` without the unknown fields of the object at `steps` and of all objects around it. These fields are added
    to `cuts`, inner objects first. Objects whose keys may have another spelling stay unchanged. `at`: the path of
    `body`."""
    step = steps[0] if steps else None
    if isinstance(step, int):
        items = _array(body) if shape.items is not None else []
        if shape.items is None or step >= len(items):
            return bytes(body)
        items[step] = Raw(_cut_along(items[step], shape.items, (*at, step), steps[1:], cuts))
        return _encode(items)
    members = _object(body)
    if step is not None:
        inside = _inside(shape.struct, step) if shape.struct is not None else shape.values
        if inside is None or step not in members:
            return bytes(body)
        members[step] = Raw(_cut_along(members[step], inside, (*at, step), steps[1:], cuts))
    plan = _plan(shape.struct) if shape.struct is not None else None
    if plan is not None and not plan.alias and not members.keys() <= plan.known:
        members, cut = _divided(members, plan.known, {}, (), {})
        cuts.append((at, cut))
    return _encode(members)


def _plain_string(raw: Raw | None) -> str | None:
    if raw is None:
        return None
    value = _value(raw)
    return value if isinstance(value, str) else None


def _cut_misfit(
    body: bytes,
    misfit: msgspec.ValidationError,
    unknown: Indexed[dict[str, Raw]],
    spelled: Indexed[str | int],
    base: Path,
) -> bytes | None:
    """`body` without the field whose value has the wrong type; None if the field cannot be cut out. From a list only
    nulls are removed, because a null has no meaning."""
    steps = _steps(str(misfit))
    # To drop a null is better than to refuse the answer.
    if len(steps) > 1 and isinstance(steps[-1], int) and "..." not in steps and _at(body, steps) == _NULL:
        items = _array(_at(body, steps[:-1]))
        _renumber(unknown, spelled, base + steps[:-1], [i for i, item in enumerate(items) if item != _NULL])
        return _changed(body, steps[:-1], _without_nulls)
    while steps and not isinstance(steps[-1], str):
        steps = steps[:-1]
    # `...` stands for any key of a mapping, so the path is not known.
    if not steps or "..." in steps:
        return None
    path = steps[:-1]
    key = str(steps[-1])
    unknown.setdefault(base + path, {})[key] = _at(body, steps)
    return _without(body, path, key)


def _renumber(unknown: Indexed[dict[str, Raw]], spelled: Indexed[str | int], at: Path, left: Sequence[int]) -> None:
    """Adapt the paths below the list at `at` after items were removed from it. `left`: the former numbers of the
    remaining items. `spelled` gets these numbers, so that a loss names the place in the document."""
    now = {before: i for i, before in enumerate(left)}
    _move_paths(unknown, at, now)
    _move_paths(spelled, at, now)
    for i, before in enumerate(left):
        if i != before:
            spelled[(*at, i)] = spelled[(*at, str(i))] = before  # some readers name an item as a field of its list


def _move_paths(found: Indexed[V], at: Path, now: Mapping[int, int]) -> None:
    depth = len(at)
    below = [path for path in found if len(path) > depth and path[:depth] == at]
    moved = [(path, found.pop(path)) for path in below]
    for path, value in moved:
        number = path[depth]
        found[(*at, now.get(number, number) if isinstance(number, int) else number, *path[depth + 1 :])] = value


def _at(body: bytes | Raw, path: Path) -> Raw:
    value = Raw(body)
    for step in path:
        value = _array(value)[step] if isinstance(step, int) else _object(value)[step]
    return value


def _without(body: bytes | Raw, path: Path, key: str) -> bytes:
    def without_key(value: bytes | Raw) -> bytes:
        members = _object(value)
        del members[key]
        return _encode(members)

    return _changed(body, path, without_key)


def _without_nulls(body: bytes | Raw) -> bytes:
    return _encode([item for item in _array(body) if item != _NULL])


def _changed(body: bytes | Raw, path: Path, change: Callable[[bytes | Raw], bytes]) -> bytes:
    """`body` with the value at `path` replaced by the result of `change`."""
    if not path:
        return change(body)
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = _array(body)
        items[step] = Raw(_changed(items[step], rest, change))
        return _encode(items)
    members = _object(body)
    members[step] = Raw(_changed(members[step], rest, change))
    return _encode(members)


class _Shape(NamedTuple):
    """The inside of a JSON value by its type: the Struct of an object, the items of an array, the values of a
    mapping.
    """

    struct: type[Struct] | None = None
    items: _Shape | None = None
    values: _Shape | None = None


_FLAT = _Shape()
"""The shape of a value whose inside is not examined."""


class _Plan(NamedTuple):
    """Facts about the members of a Struct, by their encoded names."""

    known: frozenset[str]
    kinds: frozenset[str] | None
    type_optional: bool
    alias: Mapping[str, str]


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
        return _Shape(items=_shape(typing.get_args(type_)[0]))
    if origin is dict:
        return _Shape(values=_shape(typing.get_args(type_)[1]))
    if isinstance(type_, type) and issubclass(type_, Struct):
        return _Shape(struct=type_)
    return _FLAT


@cache
def _plan(struct: type[Struct]) -> _Plan:
    names, defaults = struct.__struct_encode_fields__, struct.__struct_defaults__
    # The defaults are those of the last fields; a field without a default among them has NODEFAULT.
    last = names[len(names) - len(defaults) :]
    optional = [name for name, value in zip(last, defaults, strict=True) if value is not msgspec.NODEFAULT]
    return _Plan(
        frozenset(names) - {"strange"},
        getattr(struct, "__kinds__", None),
        "type" in optional,
        getattr(struct, "__alias__", {}),
    )


@cache
def _inside(struct: type[Struct], name: str) -> _Shape:
    """The shape of the member with this encoded name; `_FLAT` if its inside is not examined."""
    names = struct.__struct_encode_fields__
    if name not in names:
        return _FLAT
    shape = _shape(_hint(struct, struct.__struct_fields__[names.index(name)]))
    return shape if _is_deep(shape) else _FLAT


def _hint(struct: type[Struct], field: str) -> Any:
    """The type of one field. To find the types of all fields would cost a hundred times as much as decoding a small
    body."""
    owner = next(base for base in struct.__mro__ if field in inspect.get_annotations(base))
    one = types.SimpleNamespace(__annotations__={field: inspect.get_annotations(owner)[field]})
    return typing.get_type_hints(one, vars(sys.modules[owner.__module__]))[field]


def _is_deep(shape: _Shape) -> bool:
    if shape.struct is not None:
        return True
    return any(inside is not None and _is_deep(inside) for inside in (shape.items, shape.values))
