"""Owns the marking of documents: every leaf gets a unique text (a marker). A test can find it after a translation.

A marker is twelve letters and digits, so it is a legal text, name, id, base64 value and pattern in every dialect.
`no_silent_loss.py` searches for the markers after a translation.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

Json = Any
Path = tuple[str | int, ...]


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of the protocol, not of a user: they get no marker. The test of settings covers their values.
PROTOCOL_WORDS = word_set(
    "role type object status phase model finish_reason stop_reason finishReason finish_details blockReason"
    " severity mime_type mimeType media_type format detail effort reasoning_effort verbosity service_tier"
    " serviceTier mode syntax language outcome category threshold probability tool_choice function_call include"
    " modalities responseModalities response_modalities truncation ttl display summary context modality"
    " trafficType behavior scheduling threshold thinkingLevel thinking_level mediaResolution media_resolution"
    " responseMimeType response_mime_type toolType required propertyOrdering property_ordering $ref ref $schema"
    " speed inference_geo prompt_cache_retention execution dynamicThreshold urlRetrievalStatus aspectRatio"
    " imageSize voiceName voice size quality background output_format moderation input_fidelity"
    " search_context_size method tool_type @type environment createTime created_at done_reason think keep_alive"
    # Padding: to drop it is no loss.
    " obfuscation padding p"
)

# Equal words in these fields refer to the same tool or call, so equal words get the same marker.
SHARED_WORDS = word_set(
    "name namespace id call_id tool_call_id tool_use_id allowedFunctionNames allowed_function_names tool_name"
    " toolset_name server_name server_label caller_id tool_id container_id item_id"
)

SCHEMAS = word_set(
    "parameters input_schema schema parametersJsonSchema parameters_json_schema responseSchema"
    " responseJsonSchema response_schema response_json_schema output_schema"
)
# Objects whose keys are a user's names.
MAPS = word_set("properties $defs definitions defs patternProperties dependentSchemas logit_bias")


# Objects of an answer that hold durations: to drop them with their content is no loss.
TIMES = word_set("timings time_info latency_checkpoint")


class Marked(NamedTuple):
    """A document with markers, and the places of each marker."""

    body: bytes
    places: dict[str, list[Path]]


class Marker:
    """Makes markers, and keeps the places of each."""

    def __init__(self) -> None:
        self.places: dict[str, list[Path]] = {}
        self._shared: dict[str, str] = {}

    def new(self, at: Path) -> str:
        mark = f"mk{len(self.places):06d}zzzz"
        self.places[mark] = [at]
        return mark

    def shared(self, word: str, at: Path) -> str:
        """One marker for all places of one word."""
        if word in self._shared:
            self.places[self._shared[word]].append(at)
        else:
            self._shared[word] = self.new(at)
        return self._shared[word]


def mark_texts(document: Json) -> Marked:
    """The document with a marker in place of every text that belongs to a user."""
    marker = Marker()
    return Marked(msgspec.json.encode(_texts(document, (), marker, "")), marker.places)


def _texts(value: Json, at: Path, marker: Marker, key: str) -> Json:
    if isinstance(value, dict):
        return {name: _texts(item, (*at, name), marker, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_texts(item, (*at, i), marker, key) for i, item in enumerate(value)]
    if not isinstance(value, str) or not value.strip() or key in PROTOCOL_WORDS:
        return value
    if key in SHARED_WORDS:
        return marker.shared(value, at)
    if key == "arguments":
        return _arguments(value, at, marker)
    if value.startswith("data:") and "," in value:
        return value[: value.index(",") + 1] + marker.new(at)
    if re.match(r"[a-z]+://", value):
        ending = re.search(r"\.[a-z0-9]{2,4}$", value)
        return f"https://example.com/{marker.new(at)}{ending[0] if ending else ''}"
    return marker.new(at)


def _arguments(value: str, at: Path, marker: Marker) -> str:
    """Mark the texts inside arguments that are JSON text. All these markers have the place of the whole arguments."""
    try:
        decoded = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return marker.new(at)
    return msgspec.json.encode(_inside(decoded, at, marker)).decode()


def _inside(value: Json, at: Path, marker: Marker) -> Json:
    if isinstance(value, dict):
        return {name: _inside(item, at, marker) for name, item in value.items()}
    if isinstance(value, list):
        return [_inside(item, at, marker) for item in value]
    return marker.new(at) if isinstance(value, str) else value


def add_fields(document: Json) -> Marked:
    """The document with one unknown field in every object."""
    marker = Marker()
    return Marked(msgspec.json.encode(_fields(document, (), marker, "")), marker.places)


def _fields(value: Json, at: Path, marker: Marker, key: str) -> Json:
    if isinstance(value, list):
        return [_fields(item, (*at, i), marker, "") for i, item in enumerate(value)]
    if not isinstance(value, dict) or key in TIMES:
        return value
    out = {name: _fields(item, (*at, name), marker, name) for name, item in value.items()}
    if key not in MAPS:
        name = f"x_unknown_{len(marker.places)}"
        out[name] = marker.new((*at, name))
    return out


def add_variants(document: Json) -> Marked:
    """Add one item of an unknown kind at the end of every list whose items have kinds."""
    marker = Marker()
    return Marked(msgspec.json.encode(_variants(document, (), marker, "")), marker.places)


def _variants(value: Json, at: Path, marker: Marker, key: str) -> Json:
    if isinstance(value, dict):
        if key in SCHEMAS:
            return value
        return {name: _variants(item, (*at, name), marker, name) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    out = [_variants(item, (*at, i), marker, "") for i, item in enumerate(value)]
    at = (*at, len(out))
    if any(isinstance(item, dict) and "type" in item for item in value):
        out.append({"type": "x_unknown_kind", "x_field": marker.new((*at, "x_field"))})
    elif key in ("parts", "tools") and all(isinstance(item, dict) for item in value):
        out.append({"xUnknownKind": {"xField": marker.new((*at, "xUnknownKind", "xField"))}})
    return out
