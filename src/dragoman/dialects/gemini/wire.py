"""The wire shapes of Gemini generateContent: requests, answers, chunks. No meaning.

Fields of type `Raw` are carried unchanged. The API reads camelCase and snake_case alike. Every Struct lists the
snake_case spelling of its fields in `__alias__`, which costs a tolerant decode. Some snake_case spellings are really
sent by google-genai 3.1 and the recorded clients. These are separate fields beside their camelCase twins, so that such
a body decodes strictly. Readers use the twin only if the camelCase field is absent.

Parts are most of a document, so there are two shapes: `Part` has the fields of nearly all parts, and is tried first;
`WidePart` has all fields. A plain `Part` therefore has no other field.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import msgspec
from msgspec import Raw, Struct

from ...codec.dialect_extras import Fields
from ...codec.wire_decoding_with_unknown_fields import Admitted, Admitter
from ...errors import WireError
from . import NAME as NAME

KIN = frozenset({NAME, "code-assist"})
"""The dialects that hold this document, bare or in an envelope. Values that other dialects cannot hold are restored for
these.
"""
NONE = Raw()


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Base of all shapes in this module."""

    __alias__: ClassVar[dict[str, str]] = {}


class Blob(Wire):
    """Inline bytes in base64."""

    data: str = ""
    mimeType: str | None = None
    displayName: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class FileRef(Wire):
    """A reference to a file."""

    fileUri: str | None = None
    mimeType: str | None = None
    displayName: str | None = None
    file_uri: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class PartialArg(Wire):
    """One piece of a call's arguments that Vertex streams."""

    # Begins with `$`, such as $.a.b[0] (google-genai 3.1.0, 2026-11).
    jsonPath: str = ""
    stringValue: str | None = None
    numberValue: Raw = NONE
    boolValue: bool | None = None
    nullValue: Raw = NONE
    willContinue: bool | None = None


class Call(Wire):
    """A function call. Gemini 2.5 and older omit the id."""

    # Absent on Gemini 2.5 and older.
    id: str | None = None
    name: str | None = None
    args: Raw = NONE
    # Vertex only (google-genai 3.1.0, 2026-11).
    partialArgs: list[PartialArg] | None = None
    willContinue: bool | None = None


class ResultPart(Wire):
    """Media inside a function response."""

    inlineData: Blob | None = None
    fileData: FileRef | None = None
    inline_data: Blob | None = None
    file_data: FileRef | None = None
    mediaProcessing: Raw = NONE


class Result(Wire):
    """A function response, paired by id and name."""

    id: str | None = None
    name: str | None = None
    # An object: `output` on success, `error` on failure (google-genai 3.1.0, 2026-11).
    response: Raw = NONE
    # Media inside a result, from Gemini 3 on (docs "Function calling", 2026-10).
    parts: list[ResultPart] | None = None
    willContinue: Raw = NONE
    scheduling: Raw = NONE


class Part(Wire):
    """Any part; its data field decides the kind."""

    text: str | None = None
    thought: bool | None = None
    # Base64; it must return on the same part (docs "Thought signatures", 2026-10).
    thoughtSignature: str | None = None
    functionCall: Call | None = None
    functionResponse: Result | None = None
    inlineData: Blob | None = None
    fileData: FileRef | None = None


class WidePart(Part):
    """A part with all possible fields."""

    inline_data: Blob | None = None
    file_data: FileRef | None = None
    function_call: Call | None = None
    function_response: Result | None = None
    thought_signature: str | None = None
    executableCode: Raw = NONE
    codeExecutionResult: Raw = NONE
    # Developer API only (google-genai 3.1.0, 2026-11).
    toolCall: Raw = NONE
    toolResponse: Raw = NONE
    videoMetadata: Raw = NONE
    mediaResolution: Raw = NONE
    mediaProcessing: Raw = NONE
    partMetadata: Raw = NONE
    audioTranscription: Raw = NONE
    speechMetadata: Raw = NONE


HOSTED_PARTS = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
PART_EXTRAS = Fields("videoMetadata", "mediaProcessing", "partMetadata", "audioTranscription", "speechMetadata")


class Content(Wire):
    """One content: role user or model, and its parts."""

    parts: list[Part] | Part | None = None
    # user or model; function and tool in old samples.
    role: str | None = None


class WideContent(Content):
    """A content with parts of any field."""

    parts: list[WidePart] | WidePart | None = None  # type: ignore[assignment]  # a list of parts, only wider ones


class Declaration(Wire):
    """The declaration of a function."""

    name: str
    description: str | None = None
    # Google's OpenAPI notation; it excludes parametersJsonSchema (google-genai 3.1.0, 2026-11).
    parameters: Raw = NONE
    parametersJsonSchema: Raw = NONE
    response: Raw = NONE
    responseJsonSchema: Raw = NONE
    # Live API only (google-genai 3.1.0, 2026-11).
    behavior: Raw = NONE
    parameters_json_schema: Raw = NONE
    response_json_schema: Raw = NONE


class ToolDef(Wire):
    """Declared functions, and under every other key a hosted tool."""

    functionDeclarations: list[Declaration] | Declaration | None = None
    function_declarations: list[Declaration] | Declaration | None = None
    googleSearch: Raw = NONE
    google_search: Raw = NONE
    googleSearchRetrieval: Raw = NONE
    codeExecution: Raw = NONE
    code_execution: Raw = NONE
    urlContext: Raw = NONE
    url_context: Raw = NONE
    computerUse: Raw = NONE
    googleMaps: Raw = NONE
    # Developer API only (google-genai 3.1.0, 2026-11).
    fileSearch: Raw = NONE
    mcpServers: Raw = NONE
    # Vertex only, down to exaAiSearch (google-genai 3.1.0, 2026-11).
    retrieval: Raw = NONE
    enterpriseWebSearch: Raw = NONE
    parallelAiSearch: Raw = NONE
    exaAiSearch: Raw = NONE


class CallingConfig(Wire):
    """The calling mode, and the allowed functions."""

    mode: str | int | None = None
    allowedFunctionNames: list[str] | None = None
    allowed_function_names: list[str] | None = None
    streamFunctionCallArguments: Raw = NONE


_MODES = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")


def mode_word(mode: object) -> str:
    """The word of a mode: clients generated from Google's own definitions (google-generativeai) send its number."""
    if isinstance(mode, int) and 0 <= mode < len(_MODES):
        return _MODES[mode]
    return mode.upper() if isinstance(mode, str) else ""


class ToolConfig(Wire):
    """Settings for tools."""

    functionCallingConfig: CallingConfig | None = None
    retrievalConfig: Raw = NONE
    # Developer API only (google-genai 3.1.0, 2026-11).
    includeServerSideToolInvocations: Raw = NONE


class Thinking(Wire):
    """Thinking settings: a budget (2.5) or a level (3 and later)."""

    includeThoughts: bool | None = None
    # 0 is off, -1 leaves the amount to the model (google-genai 3.1.0, 2026-11).
    thinkingBudget: int | None = None
    thinkingLevel: str | None = None
    include_thoughts: bool | None = None
    thinking_budget: int | None = None
    thinking_level: str | None = None


class GenerationConfig(Wire):
    """Sampling, limits and output settings."""

    temperature: float | None = None
    topP: float | None = None
    topK: float | None = None
    maxOutputTokens: int | None = None
    stopSequences: list[str] | None = None
    candidateCount: int | None = None
    seed: int | None = None
    presencePenalty: float | None = None
    frequencyPenalty: float | None = None
    responseMimeType: str | None = None
    responseSchema: Raw = NONE
    responseJsonSchema: Raw = NONE
    thinkingConfig: Thinking | None = None
    responseLogprobs: bool | None = None
    logprobs: int | None = None
    responseModalities: Raw = NONE
    mediaResolution: Raw = NONE
    speechConfig: Raw = NONE
    imageConfig: Raw = NONE
    audioTranscriptionConfig: Raw = NONE
    # Vertex only, down to audioTimestamp (google-genai 3.1.0, 2026-11).
    routingConfig: Raw = NONE
    modelConfig: Raw = NONE
    audioTimestamp: Raw = NONE
    # Developer API only (google-genai 3.1.0, 2026-11).
    enableEnhancedCivicAnswers: Raw = NONE
    enableAffectiveDialog: Raw = NONE
    responseFormat: Raw = NONE
    translationConfig: Raw = NONE


CONFIG_EXTRAS = Fields(
    "mediaResolution",
    "speechConfig",
    "imageConfig",
    "audioTranscriptionConfig",
    "routingConfig",
    "modelConfig",
    "audioTimestamp",
    "enableEnhancedCivicAnswers",
    "enableAffectiveDialog",
    "responseFormat",
    "translationConfig",
)


class GenerateRequest(Wire):
    """The body of a request."""

    contents: list[Content] | Content | str
    systemInstruction: Content | str | None = None
    tools: Raw = NONE
    toolConfig: ToolConfig | None = None
    generationConfig: GenerationConfig | None = None
    model: str | None = None
    labels: dict[str, Any] | None = None
    serviceTier: str | None = None
    # Not available for Gemini 4 (reported by one user, 2026).
    cachedContent: str | None = None
    continuationToken: str | None = None
    safetySettings: Raw = NONE
    # Developer API only (google-genai 3.1.0, 2026-11).
    store: Raw = NONE
    # Vertex only (google-genai 3.1.0, 2026-11).
    modelArmorConfig: Raw = NONE
    outputConfig: Raw = NONE


class WideRequest(GenerateRequest):
    """A request with parts of any field."""

    contents: list[WideContent] | WideContent | str  # type: ignore[assignment]
    systemInstruction: WideContent | str | None = None


REQUEST_EXTRAS = Fields("safetySettings", "store", "modelArmorConfig", "outputConfig")


class Candidate(Wire):
    """One candidate of an answer."""

    content: Content | None = None
    finishReason: str | int | None = None
    finishMessage: str | None = None
    index: int | None = None
    safetyRatings: Raw = NONE
    avgLogprobs: Raw = NONE
    logprobsResult: Raw = NONE
    citationMetadata: Raw = NONE
    groundingMetadata: Raw = NONE
    urlContextMetadata: Raw = NONE
    groundingAttributions: Raw = NONE
    tokenCount: Raw = NONE


class WideCandidate(Candidate):
    """A candidate with parts of any field."""

    content: WideContent | None = None


CANDIDATE_EXTRAS = Fields(
    "safetyRatings",
    "avgLogprobs",
    "logprobsResult",
    "urlContextMetadata",
    "groundingAttributions",
    "tokenCount",
)


class UsageMetadata(Wire):
    """Token counts. `candidatesTokenCount` excludes thoughts."""

    # Includes cached tokens (google-genai 3.1.0, 2026-11).
    promptTokenCount: int | None = None
    # Excludes thoughts (google-genai 3.1.0, 2026-11).
    candidatesTokenCount: int | None = None
    thoughtsTokenCount: int | None = None
    cachedContentTokenCount: int | None = None
    toolUsePromptTokenCount: int | None = None
    totalTokenCount: int | None = None
    promptTokensDetails: Raw = NONE
    candidatesTokensDetails: Raw = NONE
    cacheTokensDetails: Raw = NONE
    toolUsePromptTokensDetails: Raw = NONE
    responseTokenCount: Raw = NONE
    responseTokensDetails: Raw = NONE
    trafficType: Raw = NONE
    serviceTier: Raw = NONE


USAGE_EXTRAS = Fields(
    "promptTokensDetails",
    "candidatesTokensDetails",
    "cacheTokensDetails",
    "toolUsePromptTokensDetails",
    "responseTokenCount",
    "responseTokensDetails",
    "trafficType",
    "serviceTier",
)


class Answer(Wire):
    """A whole answer, or one chunk of a stream."""

    candidates: list[Candidate] | None = None
    usageMetadata: UsageMetadata | None = None
    modelVersion: str | None = None
    responseId: str | None = None
    createTime: str | None = None
    # Set with a blockReason if the prompt is blocked (google-genai 3.1.0, 2026-11).
    promptFeedback: Raw = NONE
    modelStatus: Raw = NONE
    error: Raw = NONE


class WideAnswer(Answer):
    """An answer with parts of any field."""

    candidates: list[WideCandidate] | None = None  # type: ignore[assignment]


_HUMP = re.compile(r"([A-Z])")


def snake(name: str) -> str:
    """The snake_case spelling of a camelCase key."""
    return _HUMP.sub(lambda hump: "_" + hump[1].lower(), name)


def _structs(base: type[Wire]) -> list[type[Wire]]:
    return [struct for child in base.__subclasses__() for struct in (child, *_structs(child))]


for _struct in _structs(Wire):
    _struct.__alias__ = {snake(field): field for field in _struct.__struct_fields__ if snake(field) != field}


TOOLS = Admitter[list[ToolDef] | None](NAME, list[ToolDef] | None)

_request = msgspec.json.Decoder(GenerateRequest).decode
_wide_request = Admitter[GenerateRequest](NAME, WideRequest)
_answer = msgspec.json.Decoder(Answer).decode
_wide_answer = Admitter[Answer](NAME, WideAnswer, lenient=True)
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def check_text(body: bytes) -> None:
    """Raise WireError for bytes that are not UTF-8. Decoding does not check carried values."""
    if not body.isascii():
        try:
            body.decode()
        except UnicodeDecodeError as error:
            raise WireError(NAME, "", "UTF-8", f"byte {body[error.start]:#x} at {error.start}") from None


def admit_request(body: bytes) -> Admitted[GenerateRequest]:
    """Decode a request, strictly if possible."""
    if not body.isascii():
        check_text(body)
    try:
        return _request(body), {}, {}
    except _REFUSED:
        return _wide_request.admit(body)


def admit_answer(body: bytes) -> Admitted[Answer]:
    """Decode a whole answer or one chunk, strictly if possible."""
    check_text(body)
    try:
        return _answer(body), {}, {}
    except _REFUSED:
        return _wide_answer.admit(body)
