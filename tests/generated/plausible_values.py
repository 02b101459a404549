"""Owns the free values: where a schema has only "a text" or no type, the key and the place decide the form of the
value."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.generated.values_from_schema import Drawer, Texts

Json = Any
Path = tuple[str, ...]

_FORMATS = {
    "date-time": "2026-01-02T03:04:05Z",
    "google-datetime": "2026-01-02T03:04:05Z",
    "google-duration": "7s",
    "date": "2026-01-02",
}
_LINKS = frozenset(
    [
        "url",
        "uri",
        "file_url",
        "server_url",
        "fileUri",
        "sourceUri",
        "googleMapsUri",
        "imageUri",
        "retrievedUrl",
        "source_url",
    ]
)
_NAMES = frozenset(
    ["name", "tool_name", "toolName", "namespace", "server_name", "server_label", "mcp_server_name", "display_name"]
)
_FIXED = {
    "mimeType": "image/png",
    "media_type": "image/png",
    "mime_type": "image/png",
    "responseMimeType": "application/json",
    "size": "1024x1024",
    "background": "transparent",
    "quality": "high",
    "output_format": "png",
    "container": "container_1",
    "languageCode": "en-GB",
    "country": "GB",
    "timezone": "Europe/London",
    "keep_alive": "5m",
    "done_reason": "stop",
    "definition": "start: /a+/",
    "status": "completed",
    "finish_reason": "stop",
    "object": "chat.completion",
    "service_tier": "default",
    "inference_geo": "us",
    "voice": "alloy",
    "voiceName": "Kore",
}


def text(drawer: Drawer, schema: Json, path: Path) -> Json:
    """Return a text with a mark for a place, or an object where the schema is open."""
    key = next((step for step in reversed(path) if step not in ("-", "*")), "")
    mark = drawer.mark()
    if schema.get("type") != "string":
        return arguments(drawer, schema, path)
    form = schema.get("format", "")
    if form in _FORMATS:
        return _FORMATS[form]
    if form == "int64":
        return str(drawer.dice.randint(1, 9))
    prefix = schema.get("pattern", "").split("[")[0].removeprefix("^")
    if "{32}" in schema.get("pattern", ""):
        return prefix + "0123456789abcdef" * 2
    if prefix:
        return prefix + mark
    if key == "role":  # Gemini: in other dialects the role is an enum
        return drawer.dice.choice(["user", "model"])
    if key in _FIXED:
        return _FIXED[key]
    if key == "arguments":
        return msgspec.json.encode({"a": mark, "n": drawer.dice.randint(1, 99)}).decode()
    if key in ("image_url", "file_data"):
        kind = "image/png" if key == "image_url" else "application/pdf"
        link = key == "image_url" and drawer.dice.random() < 0.5
        return f"https://example.com/{mark}.png" if link else f"data:{kind};base64,{mark}"
    if key in _LINKS:
        inline = path[-2:] == ("image_url", "url") and drawer.dice.random() < 0.5
        return f"data:image/png;base64,{mark}" if inline else f"https://example.com/{mark}"
    if key == "filename":
        return f"{mark}.pdf"
    if key in _NAMES:
        return f"n_{mark}"
    if key in ("data", "thoughtSignature", "signature", "encrypted_content", "images", "partial_image_b64"):
        return mark
    if key == "id" or key.endswith("_id"):
        return f"id_{mark}"
    return mark if schema.get("maxLength", 99) < 20 else f"Say {mark}."


def arguments(drawer: Drawer, schema: Json, path: Path) -> Json:
    """Return an object that belongs to the user."""
    return {"a": f"Say {drawer.mark()}.", "n": drawer.dice.randint(1, 99)}


def _model(drawer: Drawer, schema: Json, path: Path) -> Json:
    return "some-model"


def schema(drawer: Drawer, _: Json, path: Path) -> Json:
    """Return one of a few different JSON Schemas that belong to the user."""
    field = {"type": "string", "description": f"Say {drawer.mark()}."}
    whole: Json = {"type": "object", "properties": {"a": field, "n": {"type": "integer"}}, "required": ["a"]}
    shapes: list[Json] = [
        whole,
        {**whole, "additionalProperties": False},
        {**whole, "properties": {**whole["properties"], "e": {"enum": ["x", "y"], "type": "string"}}},
        {**whole, "properties": {"a": field, "l": {"type": "array", "items": {"type": "number", "minimum": 0}}}},
        {**whole, "properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": field}},
        {**whole, "properties": {"a": {**field, "type": ["string", "null"]}, "n": {"type": "integer"}}},
        {**whole, "properties": {"a": {"anyOf": [field, {"type": "integer"}]}}},
    ]
    return drawer.dice.choice(shapes)


def _plain(drawer: Drawer, _: Json, path: Path) -> Json:
    """Return a schema with the keywords that Ollama's server keeps."""
    field = {"type": "string", "description": f"Say {drawer.mark()}."}
    return {"type": "object", "properties": {"a": field, "n": {"type": "integer"}}, "required": ["a"]}


def _upper(drawer: Drawer, _: Json, path: Path) -> Json:
    """Return a schema with keywords of Gemini's schema type: one property with some of them."""
    said = f"Say {drawer.mark()}."
    fields: list[Json] = [
        {"type": "STRING", "description": said, "format": "enum", "enum": ["x", "y"]},
        {"type": "STRING", "description": said, "minLength": "1", "maxLength": "9", "pattern": "^a+$"},
        {"type": "STRING", "description": said, "nullable": True, "example": "a", "default": "b"},
        {"type": "NUMBER", "title": said, "minimum": 1, "maximum": 9},
        {"type": "ARRAY", "description": said, "items": {"type": "STRING"}, "minItems": "1", "maxItems": "3"},
        {"anyOf": [{"type": "STRING", "description": said}, {"type": "INTEGER"}]},
        {"type": "OBJECT", "properties": {"c": {"type": "BOOLEAN", "description": said}}, "maxProperties": "2"},
    ]
    properties = {"a": drawer.dice.choice(fields), "b": {"type": "INTEGER"}}
    return {"type": "OBJECT", "properties": properties, "required": ["a"], "propertyOrdering": ["b", "a"]}


_SCHEMAS: dict[str, Texts] = dict.fromkeys(("parameters", "input_schema", "schema", "output_schema"), schema)
OWNED: dict[str, dict[str, Texts]] = {
    "openai-chat": {"model": _model, **_SCHEMAS},
    "openai-responses": {"model": _model, **_SCHEMAS},
    "anthropic": {"model": _model, **_SCHEMAS},
    "gemini": {
        **dict.fromkeys(("parametersJsonSchema", "responseJsonSchema", "_responseJsonSchema"), schema),
        **dict.fromkeys(("parameters", "responseSchema", "FunctionDeclaration/response"), _upper),
        "modelVersion": _model,
        "model": _model,
    },
    "ollama": {"model": _model, "parameters": _plain, "format": _plain},
    "openrouter": {"model": _model, "function/parameters": schema, "ChatJsonSchemaConfig/schema": schema},
}
