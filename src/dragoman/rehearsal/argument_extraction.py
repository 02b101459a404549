"""Owns the search for arguments in the user's words: by a parameter's name, its type, its format and its enum.

Every value that is found is in the words. This module makes no value up: `schema_instances.py` does that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from ..codec import json_text
from ..codec.cache_memory_budget import remembered
from ..codec.schema.source_document import SchemaDocument
from . import schema_check
from .schema_check import Json

_QUOTED = re.compile(
    r"```[\w+-]*\n(.*?)\n?```|`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)", re.DOTALL
)
# "1,000" is one number, and "3rd" is 3.
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?=(?:st|nd|rd|th)?(?!\w))")
_URL = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://[^\s<>\"'`)\]]*[^\s<>\"'`)\].,;:!?]", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
# A path with slashes, or the name of a file with an ending.
_PATH = re.compile(
    r"(?<![\w:/.~@+-])(?:~|\.{1,2})?(?:[\w.@+-]*/)+[\w.@+-]*[\w@+-]|(?<![\w/.-])[\w-][\w.-]*\.[A-Za-z]\w{0,7}\b"
)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?")
_TIME = re.compile(r"\b\d{1,2}:\d\d(?::\d\d)?\b")
_CAPPED = r"[A-Z\u00c0-\u00de][\w.'’-]*"
# "Rio de Janeiro" is one name, and so is "Paris, TX".
_NAME = rf"{_CAPPED}(?: (?:(?:de|la|le|of|am|an|der|do|dos|upon) )?{_CAPPED}){{0,6}}(?:, [A-Z]{{2}}\b)?"
_PLACES = re.compile(
    rf"\b(?i:in|at|for|from|to|of|near|around)\s+({_NAME}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s+or\s+)(?:in\s+)?{_NAME})*)"
)
_PLACE = re.compile(_NAME)
_SPLIT_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_TRUE = re.compile(r"\s*(?:is|=|:|to|as)?\s*(true|yes|on|enabled|1)\b", re.IGNORECASE)
_FALSE = re.compile(r"\s*(?:is|=|:|to|as)?\s*(false|no|off|disabled|0)\b", re.IGNORECASE)
_BARE = re.compile(r"[^\s,;\"'`{}\[\]()]*[^\s,;.:!?\"'`{}\[\]()]")
_LINE = re.compile(r"[^\n\"`{}\[\]]{1,400}?(?=\n|$|,?\s+(?:and\s+)?[\w-]{1,40}\s*[:=]|[\"`{}\[\]])")
_TOPIC = re.compile(r"\b(?:for|about)\s+(?:the\s+)?([^\n]{1,400})")
_LINK = re.compile(r"\s*(?:\bis\b|\bas\b|\bof\b|\bto\b|=|:)?\s*")

_BRACKET = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder()
_MAX_BRACKETS = 20
"""Opening brackets at which JSON is looked for."""
_MAX_MENTIONS = 20
"""Mentions of a parameter's name that are read."""
_LOOKS = {"url": _URL, "email": _EMAIL, "date": _DATE, "time": _TIME, "path": _PATH}
_FORMATS = {"uri": "url", "url": "url", "email": "email", "date": "date", "date-time": "date", "time": "time"}
_HINTS: dict[str, str] = {
    word: hint
    for hint, words in (
        ("url", "url uri link href website endpoint"),
        ("email", "email mail recipient"),
        ("path", "path file filename filepath directory dir folder paths files"),
        ("place", "city location place country region town state cities locations destination origin where capital"),
        ("date", "date day when deadline datetime"),
        ("time", "time hour"),
        ("query", "query q search question keyword keywords topic"),
    )
    for word in words.split()
}
"""The kind of text that a word of a parameter's name stands for."""


def words_of(name: str) -> list[str]:
    """The words in a name: get_weather, getWeather and get-weather alike."""
    return [word.lower() for word in _SPLIT_NAME.findall(name)]


def quoted_texts(text: str) -> list[str]:
    """The contents of quotes, backticks and fenced blocks."""
    return [next(group for group in match.groups() if group is not None) for match in _QUOTED.finditer(text)]


def mask_quotes(text: str) -> str:
    """The text in its full length, with quotes, blocks and JSON replaced by underscores."""
    for start, end, _ in json_values(text):
        text = text[:start] + "_" * (end - start) + text[end:]
    return _QUOTED.sub(lambda match: "_" * len(match[0]), text)


def json_values(text: str) -> tuple[tuple[int, int, Json], ...]:
    """The JSON objects and arrays in the text with their bounds, outermost first. Callers must not change them."""
    return _cached(text)


def _json_values(text: str) -> tuple[tuple[int, int, Json], ...]:
    found: list[tuple[int, int, Json]] = []
    at = 0
    for _ in range(_MAX_BRACKETS):
        opening = _BRACKET.search(text, at)
        if opening is None:
            break
        at = opening.end()
        try:
            _, end = _DECODER.raw_decode(text, opening.start())
            found.append((opening.start(), end, json_text.decode(text[opening.start() : end].encode("utf-8"))))
            at = end
        except (ValueError, RecursionError):  # no JSON, NaN, a lone surrogate, too deep
            continue
    return tuple(found)


_cached = remembered(
    _json_values, lambda values, text: 500 + 2 * len(text) + 8 * sum([end - start for start, end, _ in values])
)


def numbers_in(text: str) -> list[int | float]:
    """The numbers in the text, without the digits of dates, times and addresses."""
    for other in (_URL, _DATE, _TIME):
        text = other.sub(lambda match: " " * len(match[0]), text)
    return [_number(match[0]) for match in _NUMBER.finditer(text)]


def _number(text: str) -> int | float:
    plain = text.replace(",", "")
    return int(plain) if plain.lstrip("+-").isdigit() and len(plain) < 16 else float(plain)


def place_names(text: str) -> list[str]:
    """Capitalised names after in, at, for, from, to, of; each name of a list."""
    found: list[str] = []
    for match in _PLACES.finditer(text):
        found += [place[0].rstrip(".'’") for place in _PLACE.finditer(match[1])]
    return list(dict.fromkeys([one for one in found if one]))


def hint_of(name: str, schema: dict[str, Json]) -> str | None:
    """The kind of text that a parameter takes, by its format, its name or its description."""
    description = words_of(str(schema.get("description", ""))[:200])
    known = [_HINTS[word] for word in (*reversed(words_of(name)), *description) if word in _HINTS]
    return _FORMATS.get(str(schema.get("format", ""))) or next(iter(known), None)


class Extraction:
    """The arguments of one tool in one text."""

    def __init__(self, document: SchemaDocument, text: str, own: Iterable[str] = ()) -> None:
        """`own`: the words of the tool's name."""
        self._document = document
        self._text = text
        self._own = frozenset(own)
        self._fits = schema_check.FitCheck(document)
        self._json = [value for _, _, value in json_values(text)]
        self._quoted = quoted_texts(text)
        self._numbers = numbers_in(text)
        self._used = 0  # numbers that a parameter has taken
        self._members = _enum_members(document.root)

    def whole(self) -> dict[str, Json] | None:
        """A JSON object in the text that fits the whole schema."""
        schema = self._document.root
        declared = set(schema_check.properties(schema)) if isinstance(schema, dict) else set()
        for value in self._json:
            if isinstance(value, dict) and self._fits(value, schema) and (not declared or declared & value.keys()):
                return value
        return None

    def means_several_calls(self, name: str, schema: Json) -> bool:
        """Whether several values of this parameter mean several calls."""
        plain = self.resolve_schema(schema)
        return _kind(plain) == "string" and hint_of(name, plain) in ("url", "email", "path", "place", "date")

    def find(self, name: str, schema: Json, *, required: bool) -> list[Json]:
        """The values for a parameter, best first. Only a required parameter is found without its name."""
        schema = self.resolve_schema(schema)
        found = [value for value in self._behind_name(name, schema) if self._fits(value, schema)]
        if found:
            return found[:1]
        out: list[Json] = []
        for value in self._by_type(name, schema, required):
            if self._fits(value, schema) and not any(schema_check.is_equal(value, one) for one in out):
                out.append(value)
        return out

    def resolve_schema(self, schema: Json) -> dict[str, Json]:
        """A schema without references. Of several branches the first that is not null."""
        for _ in range(8):
            if not isinstance(schema, dict):
                return {}
            if self._document.reference(schema) is not None:
                named = schema_check.resolve_reference(self._document, schema)
                rest = {key: value for key, value in schema.items() if key not in self._document.refs}
                schema = {**named, **rest} if isinstance(named, dict) else rest
                continue
            branches = schema.get("anyOf", schema.get("oneOf"))
            if not isinstance(branches, list) or not branches or "type" in schema:
                return schema
            useful = [one for one in branches if isinstance(one, dict) and one.get("type") != "null"]
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            schema = {**(useful[0] if useful else {}), **rest}
        return schema if isinstance(schema, dict) else {}

    def _behind_name(self, name: str, schema: dict[str, Json]) -> Iterator[Json]:
        """Values behind the parameter's name."""
        kind = _kind(schema)
        spellings = {re.escape(name), _spelling(words_of(name))} - {""}
        pattern = rf"(?<!\w)(?:{'|'.join(sorted(spellings))})\b\"?"
        for match in islice(re.finditer(pattern, self._text, re.IGNORECASE), _MAX_MENTIONS):
            rest = self._text[match.end() : match.end() + 4000]
            if kind == "boolean":
                yield from [value for value, sign in ((True, _TRUE), (False, _FALSE)) if sign.match(rest)]
                continue
            link = _LINK.match(rest)
            assert link is not None  # the expression matches the empty text
            rest = rest[link.end() :]
            if kind in ("integer", "number"):
                yield from [_number(number[0]) for number in [_NUMBER.match(rest)] if number is not None]
            elif kind in ("object", "array"):
                yield from [value for start, _, value in json_values(rest) if start == 0]
            elif quote := _QUOTED.match(rest):
                yield next(group for group in quote.groups() if group is not None)
            else:
                before = self._text[: match.start()].rstrip().lower()
                linked = bool(link[0].strip()) or before.endswith(("with", "and", ",", "("))
                for bare in _unquoted_value(rest, hint_of(name, {}), colon=":" in link[0]):
                    if linked or not bare.islower():
                        yield from _member(schema, bare)
                        yield bare

    def _by_type(self, name: str, schema: dict[str, Json], required: bool) -> Iterator[Json]:
        """Values that the parameter's schema suggests."""
        kind, members = _kind(schema), schema.get("enum")
        if "const" in schema:
            yield from [schema["const"]] if required else []
        elif isinstance(members, list):
            yield from self._named_members(members)[:1]
        elif kind == "boolean":
            yield from self._flag(name)
        elif not required:
            return
        elif kind in ("object", "array"):
            yield from [value for value in self._json if schema_check.is_type(value, kind)]
            if kind == "array":
                yield from self._array(name, schema)
        elif kind in ("integer", "number"):
            left = self._numbers[self._used :]
            self._used += 1
            yield from left[:1]
        elif kind == "string":
            yield from self._string(name, schema)

    def _named_members(self, members: list[Json]) -> list[Json]:
        """The members of an enum that are in the text, in the order of the text."""
        found: list[tuple[int, Json]] = []
        for member in members:
            if isinstance(member, str) and member:
                spelled = _spelling(re.split(r"[\s_-]+", member))
                match = re.search(rf"(?<!\w){spelled}(?!\w)", self._text, re.IGNORECASE)
                if match is not None:
                    found.append((match.start(), member))
            elif schema_check.is_number(member) and any(schema_check.is_equal(member, one) for one in self._numbers):
                found.append((len(self._text), member))
        return [member for _, member in sorted(found, key=lambda pair: pair[0])]

    def _flag(self, name: str) -> Iterator[bool]:
        words = words_of(name)
        if not words or frozenset(words) <= self._own:
            return
        pattern = rf"(\b(?:no|not|without|non)[\s-]+(?:\w+\s+)?)?\b{_spelling(words)}\b"
        match = re.search(pattern, self._text, re.IGNORECASE)
        if match is not None:
            yield match[1] is None

    def _array(self, name: str, schema: dict[str, Json]) -> Iterator[Json]:
        items = self.resolve_schema(schema.get("items", {}))
        kind, members = _kind(items), items.get("enum")
        if kind in ("integer", "number"):
            yield [one for one in self._numbers if kind == "number" or isinstance(one, int)]
        elif kind == "string":
            found = self._named_members(members) if isinstance(members, list) else list(self._string(name, items))
            if found:
                yield found

    def _string(self, name: str, schema: dict[str, Json]) -> Iterator[str]:
        hint = hint_of(name, schema)
        if hint == "place":
            # "in Celsius" names a unit if an enum among the parameters has it.
            yield from [one for one in place_names(self._text) if one.lower() not in self._members] or self._quoted
        elif hint == "path":
            yield from [one for one in self._quoted if " " not in one and ("/" in one or "." in one)]
            yield from [match[0] for match in _PATH.finditer(_URL.sub(" ", _QUOTED.sub(" ", self._text)))]
        elif hint == "query":
            yield from self._quoted or [match[1].rstrip(".?! ") for match in _TOPIC.finditer(self._text)][:1]
        elif hint is not None:
            yield from [match[0] for match in _LOOKS[hint].finditer(self._text)]
        else:
            yield from self._quoted


def _spelling(words: Iterable[str]) -> str:
    """An expression for the words, written together or apart."""
    return r"[\s_-]?".join([re.escape(word) for word in words])


def _unquoted_value(rest: str, hint: str | None, *, colon: bool) -> Iterator[str]:
    """The value at the beginning of a text without quotes: a place, the line behind a colon, or one word."""
    first = (_PLACE,) if hint == "place" else (_LINE,) if colon and hint in ("query", None) else ()
    for pattern in (*first, _BARE):
        yield from [match[0].rstrip(".'’") for match in [pattern.match(rest)] if match is not None]


def _enum_members(root: Json) -> frozenset[str]:
    """The members of all enums among the parameters, in lower case."""
    declared = schema_check.properties(root).values() if isinstance(root, dict) else ()
    found = [inner.get("enum") for inner in declared if isinstance(inner, dict)]
    return frozenset(
        [one.lower() for members in found if isinstance(members, list) for one in members if isinstance(one, str)]
    )


def _member(schema: dict[str, Json], text: str) -> list[Json]:
    members = schema.get("enum")
    return [one for one in members if str(one).lower() == text.lower()] if isinstance(members, list) else []


def _kind(schema: dict[str, Json]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "string")
    if isinstance(kind, str):
        return kind.lower()
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema else "string"
