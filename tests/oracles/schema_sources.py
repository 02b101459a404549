"""Owns the schemas for the judges and for generated documents.

The providers' published documents are in the shared folder beside the repository. Where they are absent, the types of
the official SDKs replace them, under the same schema names. OpenRouter has no SDK here, so its schemas are ours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from tests.oracles import exchanges, ollama, openrouter_schema
from tests.oracles.json_schema import extra, from_openapi

Json = Any
Schemas = dict[str, Json]
_PLACE = "#/components/schemas/"
_TEXT: Json = {"type": "string"}


def are_published() -> bool:
    """True when the published documents exist. Where they are required and absent, the test fails."""
    if os.environ.get("DRAGOMAN_SHARED") == exchanges.REQUIRED:
        return exchanges.require_shared("specs").is_dir()
    return (exchanges.shared() / "specs").is_dir()


def document(name: str) -> Json:
    """A fresh copy of one document, as OpenAPI: anthropic, gemini, ollama, openai or openrouter."""
    if are_published():
        return from_openapi(json.loads((exchanges.shared() / "specs" / f"{name}.json").read_bytes()))
    return {"components": {"schemas": from_openapi(json.loads(_stated(name)), mapping=True)}}


@cache
def _stated(name: str) -> str:
    makers: dict[str, Callable[[], Schemas]] = {
        "anthropic": _anthropic,
        "gemini": _gemini,
        "ollama": _ollama,
        "openai": _openai,
        "openrouter": _openrouter,
    }
    return json.dumps(makers[name]())


def _schemas(**types: Json) -> Schemas:
    """The schemas of types, each under the given name, with the schemas that they refer to."""
    adapters: list[Any] = [(name, "validation", TypeAdapter(kind)) for name, kind in types.items()]
    roots, inner = TypeAdapter.json_schemas(adapters, by_alias=True, ref_template=_PLACE + "{model}")
    out: Schemas = {name: _bare(schema) for name, schema in inner.get("$defs", {}).items()}
    for (name, _), schema in roots.items():
        target = schema.get("$ref", "").removeprefix(_PLACE)
        out[name] = out[target] if target in out else _bare(schema)
    return out


def _bare(node: Json, *, mapping: bool = False) -> Json:
    """A schema without descriptions and defaults, open against unknown fields as published ones are."""
    if isinstance(node, list):
        return [_bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    if mapping:
        return {key: _bare(value) for key, value in node.items()}
    return {
        key: value if key in ("enum", "const", "required") else _bare(value, mapping=key in ("properties", "$defs"))
        for key, value in node.items()
        if key not in ("title", "description", "default", "examples")
        and (key, value) != ("additionalProperties", False)
    }


def _list_of(items: Json, **fields: Json) -> Json:
    properties = {"data": {"type": "array", "items": items}, **fields}
    return {"type": "object", "properties": properties, "required": ["data"]}


def _anthropic() -> Schemas:
    from anthropic import types
    from anthropic.types import beta

    out = _schemas(
        CreateMessageParams=types.message_create_params.MessageCreateParams,
        BetaCreateMessageParams=beta.message_create_params.MessageCreateParams,
        Message=types.Message,
        BetaMessage=beta.BetaMessage,
        MessageStreamEvent=types.RawMessageStreamEvent,
        BetaMessageStreamEvent=beta.BetaRawMessageStreamEvent,
        ErrorResponse=types.ErrorResponse,
        ModelInfo=types.ModelInfo,
        CountMessageTokensResponse=types.MessageTokensCount,
    )
    for name, schema in out.items():
        fields = schema.get("properties", {})
        if "MessageCreateParams" in name:
            fields.pop("betas", None)  # a header, not a field
            # These fields are older than the types. The API still takes them, and recorded requests have them.
            for field in ("temperature", "top_p"):
                fields[field] = {"type": "number"}
            fields |= {"top_k": {"type": "integer"}, "output_format": {"type": ["object", "null"]}}
        # Limits of the API that a Python type cannot state.
        if name.endswith("ToolUseBlockParam"):
            fields["id"] = {"type": "string", "pattern": "^[a-zA-Z0-9_-]+$"}
        elif name.endswith("TextBlockParam") and "text" in fields:
            fields["text"] = {"type": "string", "minLength": 1}
        elif name.endswith("MessageParam"):
            fields["content"] = _params_only(fields["content"])
        elif name in ("ToolParam", "BetaToolParam"):
            kind = {"type": "object", "properties": {"type": {"const": "object"}}, "required": ["type"]}
            fields["input_schema"] = {**kind, "additionalProperties": {}}
    ends = {"first_id": {"type": ["string", "null"]}, "last_id": {"type": ["string", "null"]}}
    out["ListResponse_ModelInfo_"] = _list_of({"$ref": _PLACE + "ModelInfo"}, has_more={"type": "boolean"}, **ends)
    ping = {"type": "object", "properties": {"type": {"const": "ping"}}, "required": ["type"]}
    for name in ("MessageStreamEvent", "BetaMessageStreamEvent"):
        out[name] = {"anyOf": [out[name], ping]}
    return out


def _params_only(node: Json) -> Json:
    """A union without the types of answers, which the SDK accepts in requests too."""
    if isinstance(node, list):
        return [_params_only(item) for item in node if "$ref" not in item or item["$ref"].endswith("Param")]
    return {key: _params_only(value) for key, value in node.items()} if isinstance(node, dict) else node


def _openai() -> Schemas:
    from openai.types import Model, chat, responses
    from openai.types.shared import ErrorObject

    out = _schemas(
        CreateChatCompletionRequest=chat.completion_create_params.CompletionCreateParams,
        CreateChatCompletionResponse=chat.ChatCompletion,
        CreateChatCompletionStreamResponse=chat.ChatCompletionChunk,
        CreateResponse=responses.response_create_params.ResponseCreateParams,
        Response=responses.Response,
        ResponseStreamEvent=responses.ResponseStreamEvent,
        TokenCountsResource=responses.InputTokenCountResponse,
        Model=Model,
        Error=ErrorObject,
    )
    # A streamed custom call has the shape of a whole one, in pieces. The type has functions only.
    out["ChoiceDeltaToolCall"]["properties"]["type"] = {"enum": ["function", "custom", None]}
    error = {"error": {"$ref": _PLACE + "Error"}}
    out["ErrorResponse"] = {"type": "object", "properties": error, "required": ["error"]}
    out["ListModelsResponse"] = _list_of({"$ref": _PLACE + "Model"}, object={"const": "list"})
    return out


def _gemini() -> Schemas:
    from google.genai import types

    wanted = ("Content", "Tool", "ToolConfig", "SafetySetting", "GenerationConfig", "GenerateContentResponse")
    names = (*wanted, "CountTokensResponse", "ImageConfig")
    found = _schemas(**{name: getattr(types, name) for name in names})
    out = {name: _without_nulls(schema) for name, schema in found.items()}
    for field in ("sdkHttpResponse", "parsed", "automaticFunctionCallingHistory"):  # fields of the SDK itself
        out["GenerateContentResponse"]["properties"].pop(field, None)
    out["CountTokensResponse"]["properties"].pop("sdkHttpResponse", None)
    # Vertex and its recorded bodies have these fields.
    extra(out, "GenerateContentResponseUsageMetadata", serviceTier=_TEXT)
    extra(out, "GenerationConfig", imageConfig={"$ref": _PLACE + "ImageConfig"})
    out["FinishReason"]["enum"].append("MODEL_ARMOR")
    # Google's published schema (2026-08) names the tool that a server ran. The types of google-genai 3.3 have no name.
    extra(out, "ToolCall", toolName=_TEXT)
    refs: Json = {name: {"$ref": _PLACE + name} for name in names}
    # The SDK has no type for the whole request. These are the fields that it sends.
    out["GenerateContentRequest"] = {
        "type": "object",
        "properties": {
            "contents": {"type": "array", "items": refs["Content"]},
            "tools": {"type": "array", "items": refs["Tool"]},
            "safetySettings": {"type": "array", "items": refs["SafetySetting"]},
            "toolConfig": refs["ToolConfig"],
            "systemInstruction": refs["Content"],
            "generationConfig": refs["GenerationConfig"],
            "labels": {"type": "object", "additionalProperties": _TEXT},
            "modelArmorConfig": {"type": "object"},
            "cachedContent": _TEXT,
            "serviceTier": _TEXT,
            "model": _TEXT,
            "store": {"type": "boolean"},
        },
    }
    return out


def _without_nulls(node: Json, *, mapping: bool = False) -> Json:
    """Optional fields may be absent, not null."""
    if isinstance(node, list):
        return [_without_nulls(item) for item in node]
    if not isinstance(node, dict):
        return node
    if mapping:
        return {key: _without_nulls(value) for key, value in node.items()}
    kinds = [kind for kind in node.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        return _without_nulls(kinds[0])
    return {key: _without_nulls(value, mapping=key == "properties") for key, value in node.items()}


def _ollama() -> Schemas:
    from ollama import ListResponse

    out = _schemas(ListResponse=ListResponse)
    for name, schema in (("ChatRequest", ollama.request_schema()), ("ChatResponse", ollama.answer_schema())):
        # Both have a schema `Message`, and the two differ.
        moved = json.loads(json.dumps(_bare(schema)).replace('"#/$defs/', f'"{_PLACE}{name}.'))
        out |= {f"{name}.{inner}": value for inner, value in moved.pop("$defs").items()} | {name: moved}
    for name in [name for name in out if name.startswith("ChatResponse")]:
        out[name] = _without_nulls(out[name])
    # Every answer has its time, which is optional in the type.
    out["ChatResponse"]["properties"]["created_at"] = {"type": "string", "format": "date-time"}
    out["ChatResponse"]["required"] = sorted({*out["ChatResponse"].get("required", ()), "created_at"})
    out["ChatStreamEvent"] = out["ChatResponse"]
    return out


def _openrouter() -> Schemas:
    return openrouter_schema.schemas()
