"""Finds the arguments of a tool in what the user said: by the parameters' names, types, formats and hints.

Nothing is made up here: every value stands in the words, spelled as the schema wants it. What stands nowhere is not
found, and then the rehearsal does not call the tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec

from ..codec import json_text
from ..codec.schema.source_document import Document
from . import schema_check
from .schema_check import Json

_QUOTED = re.compile(
    r"```[\w+-]*\n(.*?)\n?```|`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)", re.DOTALL
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?=(?:st|nd|rd|th)?(?!\w))")
_URL = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://[^\s<>\"'`)\]]*[^\s<>\"'`)\].,;:!?]", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_PATH = re.compile(
    r"(?<![\w:/.~@+-])(?:~|\.{1,2})?(?:[\w.@+-]*/)+[\w.@+-]*[\w@+-]|(?<![\w/.-])[\w-][\w.-]*\.[A-Za-z]\w{0,7}\b"
)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?")
_DAY = re.compile(
    r"\b(today|tomorrow|yesterday|(?:next |last )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", re.IGNORECASE
)
_TIME = re.compile(r"\b\d{1,2}:\d\d(?::\d\d)?\b")
_CAPPED = r"[A-Z\u00c0-\u00de][\w.'’-]*"
_NAME = rf"{_CAPPED}(?: (?:(?:de|la|le|of|am|an|der|do|dos|upon) )?{_CAPPED}){{0,6}}(?:, [A-Z]{{2}}\b)?"
_PLACES = re.compile(
    rf"\b(?i:in|at|for|from|to|of|near|around)\s+({_NAME}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s+or\s+)(?:in\s+)?{_NAME})*)"
)
_PLACE = re.compile(_NAME)
_NAMED = re.compile(rf"\b(?:named|called|by|for|name is|user|person|customer|company)[:,]?\s+({_NAME})")
_ABOUT = re.compile(rf"({_NAME}),?\s+(?:who|is|was|has|works|lives)\b")
_ASKING = frozenset({"what", "who", "where", "when", "which", "how", "why", "it", "this", "that", "there", "he", "she"})
_CAPITAL = re.compile(r"\b[A-Z][A-Z0-9.-]{1,9}\b")
_MARKED = re.compile(r"(?<![\w-])(?=[\w-]{0,60}\d)(?!\d{4}-\d\d-\d\d)\w[\w-]{1,60}\w(?![\w-])")
_AFTER = re.compile(r"\b(?:for|about|of|on|named|called|titled|named as)\s+(?:the\s+)?(.+)|:\s*(.+)", re.DOTALL)
_RUN = re.compile(
    r"\b(?:run|execute|exec)\s+(?:the\s+)?(?:(?:shell\s+)?command\s+)?(?:of\s+)?[:]?\s*(.+)", re.IGNORECASE | re.DOTALL
)
_SUM = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|\()[\d\s.()+*/^%×÷-]{0,200}[\d)]")
_SPLIT_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_TRUE = re.compile(r"\s*(?:is|=|:|to|as)?\s*(true|yes|on|enabled|1)\b", re.IGNORECASE)
_FALSE = re.compile(r"\s*(?:is|=|:|to|as)?\s*(false|no|off|disabled|0)\b", re.IGNORECASE)
_BARE = re.compile(r"[^\s,;\"'`{}\[\]()]*[^\s,;.:!?\"'`{}\[\]()]")
_LINE = re.compile(r"[^\n\"`{}\[\]]+?(?=\n|$|,?\s+(?:and\s+)?[\w-]{1,40}\s*[:=]|[\"`{}\[\]])")
_LINK = r"\s*(?:\bis\b|\bas\b|\bof\b|\bto\b|=|:)?\s*"

_HINTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"url", "uri", "link", "href", "website", "endpoint"}), "url"),
    (frozenset({"email", "mail", "recipient"}), "email"),
    (frozenset({"path", "file", "filename", "filepath", "directory", "dir", "folder", "paths", "files"}), "path"),
    (
        frozenset(
            {
                "city",
                "location",
                "place",
                "country",
                "region",
                "town",
                "state",
                "cities",
                "locations",
                "destination",
                "origin",
                "where",
                "area",
                "capital",
            }
        ),
        "place",
    ),
    (frozenset({"date", "day", "when", "deadline", "datetime"}), "date"),
    (frozenset({"time", "hour"}), "time"),
    (frozenset({"command", "cmd", "shell", "bash"}), "command"),
    (frozenset({"expression", "formula", "calculation", "equation", "math"}), "sum"),
    (
        frozenset({"query", "q", "search", "question", "term", "keyword", "keywords", "topic", "subject", "pattern"}),
        "query",
    ),
    (frozenset({"symbol", "ticker", "currency", "stock", "code"}), "capitals"),
    (frozenset({"id", "identifier", "key", "number", "sku"}), "marked"),
    (frozenset({"name", "person", "user", "username", "author", "title", "customer", "company"}), "name"),
)


_OFTEN = 20
"""How many places where a parameter is named are looked at."""
_LONG = 400
"""The longest text without quotes, in characters."""
_FORMAT_HINTS = {"uri": "url", "url": "url", "email": "email", "date": "date", "date-time": "date", "time": "time"}
_FANNING = frozenset({"url", "email", "path", "place", "date", "capitals"})


def words_of(name: str) -> list[str]:
    """The words in a name: get_weather, getWeather and get-weather alike."""
    return [word.lower() for word in _SPLIT_NAME.findall(name)]


def quoted(text: str) -> list[str]:
    """What stands in quotes, in backticks and in fenced blocks."""
    return [next(group for group in match.groups() if group is not None) for match in _QUOTED.finditer(text)]


def masked(text: str) -> str:
    """The text, as long as it was, without what stands in quotes, in blocks and in JSON."""
    text = _QUOTED.sub(lambda match: "_" * len(match[0]), text)
    at = text.find("{")
    for _ in range(50):
        end = _balanced(text, at) if at >= 0 else None
        if end is None:
            break
        text = text[:at] + "_" * (end - at) + text[end:]
        at = text.find("{", end)
    return text


@lru_cache(maxsize=16)
def documents(text: str) -> tuple[Json, ...]:
    """The JSON objects and arrays that stand in the text, outermost first; not to be changed."""
    found: list[Json] = []
    at = 0
    tries = 0
    while tries < 20:
        starts = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
        if not starts:
            break
        start = min(starts)
        end = _balanced(text, start)
        tries += 1
        at = start + 1
        if end is None:
            continue
        try:
            found.append(json_text.decode(text[start:end].encode("utf-8", "replace")))
            at = end
        except (msgspec.DecodeError, RecursionError):
            continue
    return tuple(found)


def _balanced(text: str, start: int) -> int | None:
    """Where the bracket that opens at `start` is closed."""
    depth = 0
    inside = False
    at = start
    while at < len(text):
        sign = text[at]
        if inside:
            if sign == "\\":
                at += 1
            elif sign == '"':
                inside = False
        elif sign == '"':
            inside = True
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def numbers(text: str) -> list[int | float]:
    """The numbers in the text, but for those inside dates, times and addresses."""
    for other in (_URL, _DATE, _TIME):
        text = other.sub(lambda match: " " * len(match[0]), text)
    return [_number(match[0]) for match in _NUMBER.finditer(text)]


def _number(text: str) -> int | float:
    plain = text.replace(",", "")
    value = float(plain)
    return int(plain) if plain.lstrip("+-").isdigit() and len(plain) < 16 else value


def places(text: str) -> list[str]:
    """Names after in, at, for, from, to, of; each of a list."""
    found: list[str] = []
    for match in _PLACES.finditer(text):
        found += [place[0].rstrip(".'’") for place in _PLACE.finditer(match[1])]
    return list(dict.fromkeys([one for one in found if one]))


class Extraction:
    """The arguments that one tool finds in a text."""

    def __init__(self, document: Document, text: str, own: Iterable[str] = ()) -> None:
        """`own`: the words of the tool's name."""
        self._document = document
        self._text = text
        self._own = frozenset(own)
        self._fits = schema_check.Fit(document)
        self._json = documents(text)
        self._quoted = quoted(text)
        self._numbers = numbers(text)
        self._used = 0  # numbers that have found their parameter
        self._taken = _members_of(document.root)

    def whole(self) -> dict[str, Json] | None:
        """An object in the text that fits as it is."""
        schema = self._document.root
        declared = set(schema_check.properties(schema)) if isinstance(schema, dict) else set()
        for value in self._json:
            if isinstance(value, dict) and self._fits(value, schema) and (not declared or declared & value.keys()):
                return value
        return None

    def fans(self, name: str, schema: Json) -> bool:
        """Whether several values for this parameter mean several calls."""
        plain = self.plain(schema)
        if _kind(plain) != "string":
            return False
        hint = _FORMAT_HINTS.get(str(plain.get("format", ""))) or hint_of(name)
        return (hint or hint_of(str(plain.get("description", ""))[:200], last=True)) in _FANNING

    def find(self, name: str, schema: Json, *, required: bool) -> list[Json]:
        """What the text says for a parameter, best first; several where it names several. `required` ones are also
        found without being named."""
        schema = self.plain(schema)
        found = [value for value in self._explicit(name, schema) if self._fits(value, schema)]
        if found:
            return found[:1]
        guesses = self._guesses(name, schema, required)
        out: list[Json] = []
        for value in guesses:
            if self._fits(value, schema) and not any(schema_check.same(value, one) for one in out):
                out.append(value)
        return out

    def plain(self, schema: Json) -> dict[str, Json]:
        """A schema without references, and the first branch that is not null."""
        for _ in range(8):
            if not isinstance(schema, dict):
                return {}
            if self._document.reference(schema) is not None:
                named = schema_check.target(self._document, schema)
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

    def _explicit(self, name: str, schema: dict[str, Json]) -> Iterator[Json]:
        """Values that stand behind the parameter's name."""
        kind = _kind(schema)
        spoken = {re.escape(name), r"[\s_-]?".join([re.escape(word) for word in words_of(name)])} - {""}
        pattern = rf"(?<!\w)(?:{'|'.join(sorted(spoken))})\b\"?"
        for match in islice(re.finditer(pattern, self._text, re.IGNORECASE), _OFTEN):
            rest = self._text[match.end() : match.end() + 4000]
            if kind == "boolean":
                yield from [value for value, sign in ((True, _TRUE), (False, _FALSE)) if sign.match(rest)]
                continue
            link = re.match(_LINK, rest)
            rest = rest[link.end() :] if link is not None else rest
            before = self._text[: match.start()].rstrip().lower()
            linked = (link is not None and bool(link[0].strip())) or before.endswith(("with", "and", ",", "("))
            if kind in ("integer", "number"):
                number = _NUMBER.match(rest)
                if number is not None:
                    yield _number(number[0])
            elif kind in ("object", "array"):
                end = _balanced(rest, 0) if rest[:1] in ("{", "[") else None
                yield from documents(rest[:end]) if end is not None else ()
            else:
                quote = _QUOTED.match(rest)
                if quote is not None:
                    yield next(group for group in quote.groups() if group is not None)
                else:
                    colon = link is not None and ":" in link[0]
                    for bare in _bare(rest, hint_of(name), colon=colon):
                        if linked or not bare.islower():
                            yield from _member(schema, bare)
                            yield bare

    def _guesses(self, name: str, schema: dict[str, Json], required: bool) -> Iterator[Json]:
        if "const" in schema:
            if required:
                yield schema["const"]
            return
        members = schema.get("enum")
        if isinstance(members, list):
            yield from self._members(members)
            return
        kind = _kind(schema)
        if kind == "boolean":
            yield from self._flag(name)
        elif kind in ("object", "array") and required:
            yield from [value for value in self._json if schema_check.is_type(value, kind)]
            if kind == "array":
                yield from self._array(name, schema)
        elif kind in ("integer", "number") and required:
            left = self._numbers[self._used :]
            self._used += 1
            yield from left[:1]
        elif kind == "string" and required:
            yield from self._string(name, schema)

    def _members(self, members: list[Json]) -> Iterator[Json]:
        """Members of an enum that the text names, in the order it names them."""
        found: list[tuple[int, Json]] = []
        for member in members:
            if isinstance(member, str) and member:
                spelled = r"[\s_-]?".join([re.escape(word) for word in re.split(r"[\s_-]+", member)])
                match = re.search(rf"(?<!\w){spelled}(?!\w)", self._text, re.IGNORECASE)
                if match is not None:
                    found.append((match.start(), member))
            elif schema_check.is_number(member) and any(schema_check.same(member, one) for one in self._numbers):
                found.append((len(self._text), member))
        yield from [member for _, member in sorted(found, key=lambda pair: pair[0])][:1]

    def _flag(self, name: str) -> Iterator[bool]:
        spoken = r"[\s_-]?".join([re.escape(word) for word in words_of(name)])
        if not spoken or frozenset(words_of(name)) <= self._own:
            return
        match = re.search(rf"(\b(?:no|not|without|non)[\s-]+(?:\w+\s+)?)?\b{spoken}\b", self._text, re.IGNORECASE)
        if match is not None:
            yield match[1] is None

    def _array(self, name: str, schema: dict[str, Json]) -> Iterator[Json]:
        items = self.plain(schema.get("items", {}))
        kind = _kind(items)
        if kind in ("integer", "number"):
            yield [one for one in self._numbers if kind == "number" or isinstance(one, int)]
        elif kind == "string":
            members = items.get("enum")
            found = list(self._string(name, items)) if not isinstance(members, list) else []
            if isinstance(members, list):
                found = [one for one in members if isinstance(one, str) and list(self._members([one]))]
            if found:
                yield found

    def _string(self, name: str, schema: dict[str, Json]) -> Iterator[str]:
        form = str(schema.get("format", ""))
        hint = _FORMAT_HINTS.get(form) or hint_of(name) or hint_of(str(schema.get("description", ""))[:200], last=True)
        text = self._text
        simple = {"url": _URL, "email": _EMAIL, "date": _DATE, "time": _TIME}
        if hint in simple:
            yield from [match[0] for match in simple[hint].finditer(text)]
            if hint == "date" and not form:
                yield from [match[0].lower() for match in _DAY.finditer(text)]
            return
        if hint == "place":
            # "in Celsius" names a unit, if there is a parameter for it.
            yield from [one for one in places(text) if one.lower() not in self._taken] or self._quoted
            return
        if hint == "path":
            yield from self._paths()
            return
        yield from self._free(hint, name)

    def _paths(self) -> Iterator[str]:
        named = [one for one in self._quoted if " " not in one and ("/" in one or "." in one)]
        bare = _URL.sub(" ", _QUOTED.sub(" ", self._text))
        yield from [*named, *[match[0] for match in _PATH.finditer(bare)]]

    def _free(self, hint: str | None, name: str) -> Iterator[str]:
        """Texts without a form of their own."""
        text = self._text
        if hint == "sum":
            yield from [match[0].strip() for match in _SUM.finditer(text) if re.search(r"\d\s*[-+*/^%×÷]", match[0])]
        if self._quoted:
            yield from self._quoted
            return
        if hint == "command":
            found = _RUN.search(text)
            yield from [found[1].strip().rstrip(".?!")] if found is not None else []
        elif hint == "marked":
            yield from [match[0] for match in _MARKED.finditer(text)][:1]
        elif hint in ("capitals", "name"):
            names = [match[0] for match in _CAPITAL.finditer(text)] if hint == "capitals" else _called(text, name)
            yield from names or self._rest(query=False)
        elif hint in (None, "query"):
            yield from self._rest(query=hint == "query")

    def _rest(self, *, query: bool) -> Iterator[str]:
        """What stands behind `for`, `about` and the like, after the tool was named."""
        ends = [
            match.end()
            for word in self._own
            for match in re.finditer(rf"\b{re.escape(word)}\w*", self._text, re.IGNORECASE)
        ]
        if not ends and not query:
            return
        found = _AFTER.search(self._text, max(ends, default=0))
        said = next((group for group in found.groups() if group), "") if found is not None else ""
        if not said and query and ends:
            said = self._text[max(ends) :]
        said = said.strip().rstrip(".?!").strip()
        if said and len(said) <= _LONG:
            yield said


def _bare(rest: str, hint: str | None, *, colon: bool) -> Iterator[str]:
    """What stands behind a parameter's name without quotes: a name, all of the line behind a colon, or one word."""
    if hint in ("place", "name"):
        yield from [match[0].rstrip(".'’") for match in [_PLACE.match(rest)] if match is not None]
    if colon and hint in ("command", "query", "name", "place", None):
        yield from [match[0].strip().rstrip(".") for match in [_LINE.match(rest[:_LONG])] if match is not None]
    yield from [match[0] for match in [_BARE.match(rest)] if match is not None]


def _called(text: str, name: str) -> list[str]:
    """Names after named, called, by, for; else those of which something is said. Of a name only the first or the last
    word, if the parameter wants that."""
    found = [match[1] for match in _NAMED.finditer(text)] or [match[1] for match in _ABOUT.finditer(text)]
    whole = [one.rstrip(".'’") for one in found if one.split()[0].lower() not in _ASKING][:1]
    words = set(words_of(name))
    if words & {"first", "given"}:
        return [one.split()[0] for one in whole]
    return [one.split()[-1] for one in whole] if words & {"last", "family", "surname"} else whole


def _members_of(root: Json) -> frozenset[str]:
    """The members of all enums among the parameters."""
    found = (
        [inner.get("enum") for inner in schema_check.properties(root).values() if isinstance(inner, dict)]
        if isinstance(root, dict)
        else []
    )
    return frozenset(
        [one.lower() for members in found if isinstance(members, list) for one in members if isinstance(one, str)]
    )


def _member(schema: dict[str, Json], text: str) -> list[Any]:
    members = schema.get("enum")
    return [one for one in members if str(one).lower() == text.lower()] if isinstance(members, list) else []


def hint_of(name: str, *, last: bool = False) -> str | None:
    """What a name suggests. Its last word says most: `file_name` is a name, of a file."""
    spoken = words_of(name)
    if not last and len(spoken) > 1 and {"file", "folder", "directory"} & set(spoken) and "name" in spoken:
        return "path"
    for word in spoken if last else reversed(spoken):
        for signs, hint in _HINTS:
            if word in signs and not (last and hint in ("name", "marked", "capitals", "query", "time")):
                return hint
    return None


def _kind(schema: dict[str, Json]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "string")
    if isinstance(kind, str):
        return kind.lower()
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema else "string"
