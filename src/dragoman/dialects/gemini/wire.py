"""Gemini generateContent as sent and received: requests, answers, chunks. Shapes only, no meaning.

Fields typed `Raw` are carried, never looked into. The API reads camelCase and snake_case alike. Every Struct knows the
snake_case spelling of its fields by `__alias__`, which costs a tolerant decode; the spellings that google-genai 3.1 and
the recorded clients really send are fields of their own beside their camelCase twin, so that such a body is not taken
apart. Readers look at the twin only where the camelCase field is absent.

Parts are most of what is read, so there are two kinds: `Part` has the fields that nearly all parts are made of, and is
tried first; `WidePart` has all. A reader that meets a plain `Part` knows that nothing else was there.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import msgspec
from msgspec import Raw, Struct

from ...codec.admit import Admitted, Admitter
from ...codec.dialect_extras import Fields
from ...errors import WireError
from . import NAME as NAME

KIN = frozenset({NAME, "code-assist"})
"""The dialects that hold this document, bare or in an envelope: what stays behind for others goes back to these."""
NONE = Raw()


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Base of all shapes here."""

    __alias__: ClassVar[dict[str, str]] = {}


class Blob(Wire):
    data: str = ""
    mimeType: str | None = None
    displayName: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class FileRef(Wire):
    fileUri: str | None = None
    mimeType: str | None = None
    displayName: str | None = None
    file_uri: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class PartialArg(Wire):
    jsonPath: str = ""
    stringValue: str | None = None
    numberValue: Raw = NONE
    boolValue: bool | None = None
    nullValue: Raw = NONE
    willContinue: bool | None = None


class Call(Wire):
    id: str | None = None
    name: str | None = None
    args: Raw = NONE
    partialArgs: list[PartialArg] | None = None
    willContinue: bool | None = None


class ResultPart(Wire):
    """Media inside a function's response."""

    inlineData: Blob | None = None
    fileData: FileRef | None = None
    inline_data: Blob | None = None
    file_data: FileRef | None = None
    mediaProcessing: Raw = NONE


class Result(Wire):
    id: str | None = None
    name: str | None = None
    response: Raw = NONE
    parts: list[ResultPart] | None = None
    willContinue: Raw = NONE
    scheduling: Raw = NONE


class Part(Wire):
    """Any part: told apart by which data field is there."""

    text: str | None = None
    thought: bool | None = None
    thoughtSignature: str | None = None
    functionCall: Call | None = None
    functionResponse: Result | None = None
    inlineData: Blob | None = None
    fileData: FileRef | None = None


class WidePart(Part):
    """A part with every field there is."""

    inline_data: Blob | None = None
    file_data: FileRef | None = None
    function_call: Call | None = None
    function_response: Result | None = None
    thought_signature: str | None = None
    executableCode: Raw = NONE
    codeExecutionResult: Raw = NONE
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
    parts: list[Part] | Part | None = None
    role: str | None = None


class WideContent(Content):
    parts: list[WidePart] | WidePart | None = None  # type: ignore[assignment]  # a list of parts, only wider ones


class Declaration(Wire):
    name: str
    description: str | None = None
    parameters: Raw = NONE
    parametersJsonSchema: Raw = NONE
    response: Raw = NONE
    responseJsonSchema: Raw = NONE
    behavior: Raw = NONE
    parameters_json_schema: Raw = NONE
    response_json_schema: Raw = NONE


class ToolDef(Wire):
    """Declared functions, and under every other key a tool that the upstream runs."""

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
    fileSearch: Raw = NONE
    mcpServers: Raw = NONE
    retrieval: Raw = NONE
    enterpriseWebSearch: Raw = NONE
    parallelAiSearch: Raw = NONE
    exaAiSearch: Raw = NONE


class CallingConfig(Wire):
    mode: str | int | None = None
    allowedFunctionNames: list[str] | None = None
    allowed_function_names: list[str] | None = None
    streamFunctionCallArguments: Raw = NONE


_MODES = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")


def mode_word(mode: object) -> str:
    """A mode in its own word: clients made from Google's own definitions (google-generativeai) send its number."""
    if isinstance(mode, int) and 0 <= mode < len(_MODES):
        return _MODES[mode]
    return mode.upper() if isinstance(mode, str) else ""


class ToolConfig(Wire):
    functionCallingConfig: CallingConfig | None = None
    retrievalConfig: Raw = NONE
    includeServerSideToolInvocations: Raw = NONE


class Thinking(Wire):
    includeThoughts: bool | None = None
    thinkingBudget: int | None = None
    thinkingLevel: str | None = None
    include_thoughts: bool | None = None
    thinking_budget: int | None = None
    thinking_level: str | None = None


class GenerationConfig(Wire):
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
    routingConfig: Raw = NONE
    modelConfig: Raw = NONE
    audioTimestamp: Raw = NONE
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
    contents: list[Content] | Content | str
    systemInstruction: Content | str | None = None
    tools: Raw = NONE
    toolConfig: ToolConfig | None = None
    generationConfig: GenerationConfig | None = None
    model: str | None = None
    labels: dict[str, Any] | None = None
    serviceTier: str | None = None
    cachedContent: str | None = None
    continuationToken: str | None = None
    safetySettings: Raw = NONE
    store: Raw = NONE
    modelArmorConfig: Raw = NONE
    outputConfig: Raw = NONE


class WideRequest(GenerateRequest):
    contents: list[WideContent] | WideContent | str  # type: ignore[assignment]
    systemInstruction: WideContent | str | None = None


REQUEST_EXTRAS = Fields("safetySettings", "store", "modelArmorConfig", "outputConfig")


class Candidate(Wire):
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
    promptTokenCount: int | None = None
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
    promptFeedback: Raw = NONE
    modelStatus: Raw = NONE
    error: Raw = NONE


class WideAnswer(Answer):
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
    """Carried values are not looked into when decoded, so that what is not UTF-8 in them must be found here."""
    if not body.isascii():
        try:
            body.decode()
        except UnicodeDecodeError as error:
            raise WireError(NAME, "", "UTF-8", f"byte {body[error.start]:#x} at {error.start}") from None


def admit_request(body: bytes) -> Admitted[GenerateRequest]:
    check_text(body)
    try:
        return Admitted(_request(body), {}, {})
    except _REFUSED:
        return _wide_request.admit(body)


def admit_answer(body: bytes) -> Admitted[Answer]:
    """A whole answer or one chunk."""
    check_text(body)
    try:
        return Admitted(_answer(body), {}, {})
    except _REFUSED:
        return _wide_answer.admit(body)
