"""Owns the synthetic copy of one exchange: the same keys, types and enumerations; all other values are synthetic."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.corpus import synthetic_streams
from tests.corpus.corpus_files import OWN
from tests.corpus.frames import frames
from tests.corpus.key_meanings import (
    IDS,
    NAME_LISTS,
    PLACED,
    QUOTES,
    SEALS,
    TIMES,
    USER_NAMES,
    Region,
    inside,
    is_enum,
    is_name,
)
from tests.corpus.synthetic_values import SECONDS, Words

Json = Any
MOST_TOKENS = 2
"""Number of tokens that keep their probabilities: each token repeats the same keys."""
MOST_ITEMS, MOST_CUT = 3, 100
_TOKENS = frozenset(["top_logprobs", "bytes", "chosenCandidates", "topCandidates"])


def exchange(original: dict[str, Json]) -> dict[str, Json]:
    """Return the synthetic copy. Its id is the original id with the suffix OWN."""
    # Mistral accepts only ids of nine letters and digits. The recorder has replaced some ids by longer ones.
    words = Words(original["id"], 9 if (original["provider"] or "").startswith(("mistral", "api.mistral")) else 24)
    stream = frames(original["stream"] or "")
    bodies = [original["request"], original["response"], *[frame.payload for frame in stream]]
    copy = Copy(original["dialect"], words, any(map(_has_places, bodies)))
    out = {
        **original,
        "id": original["id"] + OWN,
        "repo": "dragoman",
        "path": "tests/corpus",
        "index": 0,
        "origin": "synthetic",
    }
    out["request"] = copy.body(original["request"])
    if original["stream"] is not None:
        out["stream"] = "".join(
            frame.text() for frame in synthetic_streams.rewritten(original["dialect"], stream, copy)
        )
    out["response"] = copy.body(original["response"])
    out["shape"] = hashlib.sha256(repr(out["request"]).encode()).hexdigest()[:12]
    return out


def _has_places(value: Json) -> bool:
    """True if a value in the exchange is a position in a text."""
    if isinstance(value, dict):
        placed = any(value.get(key) and isinstance(value[key], list) for key in PLACED)
        return placed or "groundingMetadata" in value or any(_has_places(item) for item in value.values())
    return isinstance(value, list) and any(map(_has_places, value))


class Copy:
    """The synthetic values of one exchange, by key and region."""

    def __init__(self, dialect: str, words: Words, places: bool) -> None:
        self.words = words
        self._dialect, self._places = dialect, places

    def body(self, value: Json) -> Json:
        return self._value(value, Region.WIRE, "", {})

    def _value(self, value: Json, region: Region, key: str, holder: dict[str, Json]) -> Json:
        if isinstance(value, dict):
            return {
                self.words.name(name) if is_name(region, name) else name: self._value(
                    item, inside(region, self._dialect, value, name), "" if is_name(region, name) else name, value
                )
                for name, item in value.items()
            }
        if isinstance(value, list):
            kept = value[:MOST_TOKENS] if key in _TOKENS or (key == "content" and _tokens(value)) else value
            return [self._value(item, region, key, holder) for item in kept]
        if isinstance(value, str):
            return self.leaf(value, region, key, holder)
        if key in TIMES and isinstance(value, int | float) and not isinstance(value, bool) and value > SECONDS // 2:
            return SECONDS
        return value

    def leaf(self, value: str, region: Region, key: str, holder: dict[str, Json]) -> str:
        """Return the synthetic form of one text, which depends on the meaning of its key."""
        words = self.words
        if isinstance(value, synthetic_streams.Piece):
            return str(value)
        if region is not Region.FREE and is_enum(key, value):
            return value
        if region is Region.SCHEMA:
            return self._in_schema(value, key)
        if value.startswith(("{", "[")):
            return self.embedded(value)
        found = words.media(value)
        if found is not None:
            return found
        if key in SEALS or (key == "data" and (" " not in value)):
            return words.seal(value)
        if "://" in value[:8]:
            return words.address(value)
        if key in IDS:
            return words.id(value)
        if key in USER_NAMES:
            return words.name(value)
        if words.is_time(value):
            return words.time(value)
        if key in QUOTES or ((key == "text" and "startIndex" in holder) or "endIndex" in holder):
            return words.quoted(value)
        return words.text(value, whole=self._places and region is Region.WIRE)

    def _in_schema(self, value: str, key: str) -> str:
        if key in ("type", "format"):
            return value
        if key in NAME_LISTS:
            return self.words.name(value)
        if key == "$ref":
            head, _, name = value.rpartition("/")
            return f"{head}/{self.words.name(name)}" if head.startswith("#") else self.words.address(value)
        if key == "pattern":
            return "^[a-z ]+$"
        return self.words.text(value)

    def embedded(self, value: str) -> str:
        """A text that may hold JSON: arguments, results, structured answers."""
        try:
            decoded = json.loads(value)
        except ValueError:
            # Arguments that a limit cut stay incomplete JSON.
            return self.words.name(value[:MOST_CUT]) if value.startswith('{"') else self.words.text(value)
        return json.dumps(self._value(_shortened(decoded), Region.FREE, "", {}), ensure_ascii=False)


def _shortened(value: Json) -> Json:
    """Return a value of the user with at most MOST_ITEMS items in each list."""
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return [_shortened(item) for item in value[:MOST_ITEMS]] if isinstance(value, list) else value


def _tokens(value: list[Json]) -> bool:
    return bool(value) and isinstance(value[0], dict) and "logprob" in value[0]
