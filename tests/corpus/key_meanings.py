"""Owns the meaning of the keys of a body: which keys hold user names, schemas, free values, enumerations, ids or seals.

The facts of a body (key_paths_and_values.py) and its synthetic copy (synthetic_exchanges.py) both use this module. So
both agree on which values belong to the protocol and which to the user.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

Json = Any


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Region(Enum):
    """The region of a body that a value is in."""

    WIRE = "the protocol's own keys"
    SCHEMA = "the keywords of a JSON Schema"
    NAMES = "an object whose keys are names of the user and whose values are schemas"
    FREE = "values of the user: arguments, results, defaults"


_SCHEMAS = _words(
    "parameters input_schema parametersJsonSchema parameters_json_schema responseSchema response_schema schema "
    "responseJsonSchema response_json_schema _responseJsonSchema output_schema"
)
_NAMED_SCHEMAS = _words("properties $defs definitions patternProperties dependentSchemas")
_SCHEMA_VALUES = _words("enum const default examples example mapping")
NAME_LISTS = _words("required propertyOrdering property_ordering")

ENUMS = _words(
    "type role object service_tier serviceTier status modality finish_reason format tool_choice finishReason "
    "stop_reason truncation verbosity effort inference_geo native_finish_reason category severity probability "
    "search_context_size mode prompt_cache_retention payer trafficType responseModalities response_modalities "
    "include context channel media_type execution mimeType ttl phase responseMimeType response_mime_type "
    "mime_type reasoning_effort threshold detail urlRetrievalStatus quality output_format size require_approval "
    "language background outcome @type code param reason token_type return_token_budget thinkingLevel "
    "thinking_level search_content_types moderation allowed_callers ranker toolType error_code syntax "
    "source_type display credentialType file_type provider order only source done_reason model models "
    "modelVersion model_version blockReason event memory_limit $schema function_call modalities audio voice "
    "method behavior aspectRatio imageSize aspect_ratio image_size keep_alive environment approximate "
    "connector_id sort tool_type transforms finalProvider resolvedProvider weight_version data_collection "
    "provider_name"
)
"""Keys whose short values the protocol enumerates, model names included."""

MODELS = _words("model models modelVersion model_version")
"""Keys whose values name a model. The values are kept because they select a profile. They are not an enumeration."""

IDS = _words(
    "id call_id tool_call_id tool_use_id item_id responseId response_id previous_response_id file_id "
    "container_id request_id tool_id caller_id generationId user_id system_fingerprint prompt_cache_key "
    "safety_identifier conversation container vector_store_ids user session_id approval_request_id placeId "
    "providerResponseId providerRequestId obfuscation p"
)
SEALS = _words("signature thoughtSignature thought_signature encrypted_content encrypted_index fingerprint")
TIMES = _words("created created_at completed_at expires_at createTime retrieved_at last_updated date")
USER_NAMES = _words(
    "name tool_name allowedFunctionNames allowed_function_names namespace server_label server_name "
    "allowed_tools authorization paths"
)
QUOTES = frozenset(["cited_text", "quote"])
"""Keys whose text is part of another text of the same exchange."""

PLACED = _words("annotations citations groundingSupports citationSources")
"""Keys that point into a text by its characters: such texts keep their length."""

HOSTED = _words(
    "web_search web_fetch code_execution bash_code_execution text_editor_code_execution bash computer memory "
    "advisor str_replace_editor str_replace_based_edit_tool tool_search_tool_bm25 tool_search_tool_regex "
    "web_search_preview file_search code_interpreter image_generation local_shell shell apply_patch tool_search"
)
"""Names of tools that providers own."""

_ENUM_VALUE = re.compile(r"[\w@.:/+\-\[\]#]{0,80}")
_WITH_BLANKS = _words("provider order only provider_name")
_FEW: dict[str, frozenset[str]] = {
    "summary": frozenset(("auto", "concise", "detailed")),
    "command": frozenset(("view", "create", "str_replace", "insert", "delete", "rename")),
    "name": HOSTED,
}
"""Keys that hold texts of the user too: their enumerated values."""
_RESULT_KEYS = _words("output error result")


def is_enum(key: str, value: str) -> bool:
    """True if the value belongs to the vocabulary of the protocol."""
    if key in _FEW:
        return value in _FEW[key]
    if key == "code" and len(value) < 3 and value:  # a program, not an error
        return False
    return key in ENUMS and _ENUM_VALUE.fullmatch(value.replace(" ", "") if key in _WITH_BLANKS else value) is not None


def inside(region: Region, dialect: str, holder: dict[str, Json], key: str) -> Region:
    """The region of the value under `key`."""
    if region is Region.FREE:
        return Region.FREE
    if region is Region.NAMES:
        return Region.SCHEMA
    if region is Region.SCHEMA:
        if key in _NAMED_SCHEMAS and isinstance(holder[key], dict):
            return Region.NAMES
        return Region.FREE if key in _SCHEMA_VALUES else Region.SCHEMA
    return _inside_wire(dialect, holder, key)


def _inside_wire(dialect: str, holder: dict[str, Json], key: str) -> Region:
    value = holder[key]
    if not isinstance(value, dict | list):
        return Region.WIRE
    if key in _SCHEMAS or (key == "format" and dialect == "ollama") or (key == "response" and "parameters" in holder):
        return Region.SCHEMA if isinstance(value, dict) else Region.WIRE
    if key in ("args", "arguments") or (key == "input" and holder.get("type") in ("tool_use", "mcp_tool_use")):
        return Region.FREE
    if key == "response" and ("name" in holder or "id" in holder) and "object" not in holder and "type" not in holder:
        return Region.FREE  # Gemini's functionResponse
    return Region.WIRE


def is_name(region: Region, key: str) -> bool:
    """True if the key itself belongs to the user."""
    return region is Region.NAMES or (region is Region.FREE and key not in _RESULT_KEYS)
