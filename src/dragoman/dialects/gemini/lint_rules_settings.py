"""Owns the rules for the settings of a Gemini request: thinking, output, sampling, limits, fields of one service."""

from __future__ import annotations

from collections.abc import Iterator

from ...rules.helpers import (
    beyond,
    beyond_most,
    declarations,
    quoted,
    whole,
)
from ...rules.rule import Breach, Subject, rule, rules_of
from .lint_rules_helpers import at_key, contents, flavour, functions, inner, key, parts

# Arguments of the SDK that logs and examples often show as if they were sent (google-genai 3.1.0, 2026-11).
_SDK_ONLY = ("config", "httpOptions", "automaticFunctionCalling")
_SAMPLING = ("temperature", "topP", "topK")
_RANGES = {"temperature": (0.0, 2.0), "topP": (0.0, 1.0), "top_p": (0.0, 1.0)}
# The SDK's converters raise an error for these fields with the other service (google-genai 3.1.0, 2026-11).
_VERTEX_ONLY = {
    (): ("modelArmorConfig", "outputConfig"),
    ("generationConfig",): ("routingConfig", "modelConfig", "audioTimestamp"),
    ("toolConfig", "functionCallingConfig"): ("streamFunctionCallArguments",),
}
_DEVELOPER_ONLY: dict[tuple[str, ...], tuple[str, ...]] = {
    (): ("store",),
    ("generationConfig",): ("enableEnhancedCivicAnswers",),
}
_VERTEX_TOOLS = ("retrieval", "enterpriseWebSearch", "parallelAiSearch", "exaAiSearch")
_DEVELOPER_TOOLS = ("fileSearch",)
_DEVELOPER_PARTS = ("toolCall", "toolResponse", "partMetadata")


@rule("GEM-013", "error")
def thinking(subject: Subject) -> Iterator[Breach]:
    """Thinking is steered by a budget (2.5) or by a level (3 and later), never by both, in the model's range.

    Why: both together are refused; the control of the other generation is deprecated or ignored (warning); a level or
    budget that the model does not have is refused.

    Good: {"thinkingConfig": {"thinkingLevel": "LOW"}} for gemini-3-flash

    Bad: {"thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 1024}}

    Source: The google-genai SDK 3.1.0, source code for request fields (2026-11).
    """
    profile = subject.profile
    at, config = inner(subject.document, "generationConfig", "thinkingConfig")
    level, budget = at_key(config, "thinkingLevel"), at_key(config, "thinkingBudget")
    level_at, budget_at = (*at, key(config, "thinkingLevel")), (*at, key(config, "thinkingBudget"))
    if level is not None and budget is not None:
        yield Breach(at, "thinkingLevel and thinkingBudget are set at once", "keep the one of this model")
        return
    if budget is not None and profile.thinking_levels:
        yield Breach(budget_at, "this model takes thinkingLevel, not thinkingBudget", "write a level", "warning")
    elif budget is not None and profile.thinking_budget:
        low, high = profile.thinking_budget
        value = whole(config, key(config, "thinkingBudget"))
        off = profile.thinking_off and value == 0
        # -1 lets the model decide, 0 turns thinking off where the model allows it (google-genai 3.1.0, 2026-11).
        if value is None or not (low <= value <= high or value == -1 or off):
            yield Breach(budget_at, f"a budget of {quoted(budget)} is not in {low} to {high}", "or -1: as it needs")
    if level is not None and profile.thinking_budget:
        yield Breach(level_at, "this model takes thinkingBudget, not thinkingLevel", "write a budget", "warning")
    elif level is not None and profile.thinking_levels:
        if not isinstance(level, str) or level.upper() not in profile.thinking_levels:
            words = ", ".join(profile.thinking_levels)
            yield Breach(level_at, f"level {quoted(level)} is none of this model's: {words}", "use one of these")


@rule("GEM-015", "error", "request", "tools")
def services(subject: Subject) -> Iterator[Breach]:
    """Fields of Vertex are not sent to the Developer API, nor the reverse.

    Why: the other service answers 400 for an unknown field. Only the host shows which service gets the request.

    Good: {"contents": [...], "labels": {...}} to Vertex

    Bad: {"contents": [...], "modelArmorConfig": {...}} to generativelanguage.googleapis.com

    Source: The google-genai SDK 3.1.0, source code for request fields, contents and parts and function calling
    (2026-11).
    """
    service = flavour(subject)
    if not service:
        return
    fields, tools = (_VERTEX_ONLY, _VERTEX_TOOLS) if service == "developer" else (_DEVELOPER_ONLY, _DEVELOPER_TOOLS)
    fix = f"leave it out; only {'Vertex' if service == 'developer' else 'the Developer API'} knows it"
    if subject.kind == "request":
        for names_down, wanted in fields.items():
            at, holder = inner(subject.document, *names_down)
            for name in wanted:
                if at_key(holder, name) is not None:
                    yield Breach((*at, key(holder, name)), f"{name} is refused here", fix)
    for at, tool in declarations(subject):
        for name in tools:
            if at_key(tool, name) is not None:
                yield Breach((*at, key(tool, name)), f"{name} is refused here", fix)
    if service == "vertex" and subject.kind == "request":
        for at, content in contents(subject):
            for place, part in parts(content, at):
                for name in _DEVELOPER_PARTS:
                    if at_key(part, name) is not None:
                        yield Breach((*place, key(part, name)), f"{name} is refused here", fix)


@rule("GEM-016", "error")
def output(subject: Subject) -> Iterator[Breach]:
    """One output schema at most, with `responseMimeType`, and on Gemini 2 not beside functions.

    Why: two schemas, or a schema without a JSON (or enum) type, are refused; JSON output with functions was reported as
    refused by Gemini 2 (warning).

    Good: {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}}}

    Bad: {"generationConfig": {"responseJsonSchema": {"type": "object"}}}

    Source: Types of the google-genai SDK 3.1.0 for request fields (2026-11); for functions a user's report:
    googleapis/python-genai issue 867 (2025-05).
    """
    at, config = inner(subject.document, "generationConfig")
    schema_fields = [name for name in ("responseSchema", "responseJsonSchema") if at_key(config, name) is not None]
    mime = at_key(config, "responseMimeType")
    if len(schema_fields) > 1:
        yield Breach(at, "responseSchema and responseJsonSchema are set at once", "keep one of them")
    # `text/x.enum` is the other type that takes a schema: the answer is one of its values.
    if schema_fields and mime not in ("application/json", "text/x.enum"):
        problem = f"an output schema with responseMimeType {quoted(mime)}"
        yield Breach((*at, key(config, schema_fields[0])), problem, "set it to application/json")
    if mime == "application/json" and functions(subject) and not subject.profile.format_beside_tools:
        problem = "JSON output beside functions on this model"
        yield Breach((*at, key(config, "responseMimeType")), problem, "ask for JSON in a turn without tools", "warning")


@rule("GEM-017", "error")
def sdk_keys(subject: Subject) -> Iterator[Breach]:
    """The SDK's own arguments are not on the wire.

    Why: `config`, `httpOptions` and `automaticFunctionCalling` are read by the SDK, which spreads them over the
    request; the API refuses them as unknown. A translation reads `config`; within Gemini the bytes stay as they are.

    Good: {"contents": [...], "tools": [...], "generationConfig": {"temperature": 0}}

    Bad: {"contents": [...], "config": {"tools": [...], "temperature": 0}}

    Source: The google-genai SDK 3.1.0, source code for request fields (2026-11).
    """
    for name in _SDK_ONLY:
        if at_key(subject.document, name) is not None:
            yield Breach(
                (key(subject.document, name),), f"{name} is the SDK's, not the API's", "put its fields in place"
            )


@rule("GEM-021", "error")
def system_content(subject: Subject) -> Iterator[Breach]:
    """`systemInstruction` is a Content with parts.

    Why: a text, a part such as {"text": "..."} or a list is the SDK's form, which the SDK writes as a Content; the API
    refuses it. A translation reads all of these forms; within Gemini the bytes stay as they are.

    Good: {"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": [...]}

    Bad: {"systemInstruction": {"text": "Be brief."}, "contents": [...]}

    Source: The google-genai SDK 3.1.0, source code for request fields (2026-11).
    """
    system = at_key(subject.document, "systemInstruction")
    if system is not None and not (isinstance(system, dict) and "parts" in system):
        name = key(subject.document, "systemInstruction")
        yield Breach((name,), f"{name} is not a Content with parts", 'write {"parts": [{"text": "..."}]}')


@rule("GEM-018", "warning")
def sampling(subject: Subject) -> Iterator[Breach]:
    """Sampling settings on Gemini 3 and later do little or nothing, and must be in range everywhere.

    Why: `temperature`, `topP` and `topK` are deprecated for 3 and ignored by 4 (one report each); a temperature outside
    0..2 is refused (error).

    Good: {"generationConfig": {"temperature": 0.2}} for gemini-2.5-flash

    Bad: {"generationConfig": {"temperature": 1000}}

    Source: One user's report (2026-11); recorded 400 for the range.
    """
    at, config = inner(subject.document, "generationConfig")
    if subject.profile.sampling_fades:
        for name in _SAMPLING:
            if at_key(config, name) is not None:
                yield Breach((*at, key(config, name)), f"{name} is deprecated or ignored on this model", "leave it out")
    for breach in beyond(config, _RANGES, at):
        yield Breach(breach.at, breach.message, breach.fix, "error")


@rule("GEM-020", "warning")
def room(subject: Subject) -> Iterator[Breach]:
    """The limit of an answer is no more than the model yields, and `cachedContent` goes to models that have it.

    Why: models before Gemini 4 refuse a larger `maxOutputTokens`; Gemini 4 stops at 65536 (32768 when not streaming)
    with CONTINUATION. Gemini 4 is reported to have no `cachedContent`.

    Good: {"generationConfig": {"maxOutputTokens": 8192}} for gemini-2.0-flash

    Bad: {"contents": [...], "cachedContent": "cachedContents/1"} for gemini-4-argon

    Source: Gemini's documentation for request fields (2026-10); one user's report (2026-11);
    stackblitz-labs/bolt.diy issue 955.
    """
    at, config = inner(subject.document, "generationConfig")
    limit = at_key(config, "maxOutputTokens")
    if type(limit) is int:
        yield from beyond_most(subject, limit, (*at, key(config, "maxOutputTokens")))
    if at_key(subject.document, "cachedContent") is not None and not subject.profile.cached_content:
        problem = "this model has no explicit caching"
        yield Breach((key(subject.document, "cachedContent"),), problem, "send the content itself")


RULES = rules_of(globals())
