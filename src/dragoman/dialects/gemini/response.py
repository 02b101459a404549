"""Reads and writes Gemini answers, with stop reasons and usage."""

from __future__ import annotations

from datetime import UTC, datetime
from operator import is_
from typing import Any

from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Text, ToolCall
from ...canon.request import Request
from ...canon.response import Alternative, Response, Stop, StopReason, Usage
from ...canon.turns import Turn
from ...codec import answer_service_tiers, json_text
from ...codec.answer_ids import original_id
from ...codec.dialect_extras import Fields, gather, sent_fields
from ...codec.failure_sentence_in_answer import in_order, lose_missing_call, lose_stop, stop_detail
from ...codec.google_model_path_removal import model_without_path
from ...codec.wire_decoding_with_unknown_fields import Admitted, Unknown
from ...context import Context
from ...errors import WireError
from . import wire
from .call_pairing import Ids
from .grounding import METADATA, CharacterOffsets, Grounding, citations_of, place, report, write_grounding
from .history_writer import write_contents
from .hosted_calls import FETCHED, GROUNDING, before_text, is_metadata, uses_in, write_metadata
from .message_content import read_parts, write_part
from .original_values import ABSENT, own, peek, put_back, with_field

_REASONS: dict[str, StopReason] = {
    "FINISH_REASON_UNSPECIFIED": "unknown",
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "IMAGE_OTHER": "content_filter",
    # The model wrote a call that the API could not parse (google-genai 3.1.0, 2026-11).
    "MALFORMED_FUNCTION_CALL": "bad_tool_call",
    "UNEXPECTED_TOOL_CALL": "bad_tool_call",
    "TOO_MANY_TOOL_CALLS": "bad_tool_call",
    "MALFORMED_RESPONSE": "bad_tool_call",
    "MISSING_THOUGHT_SIGNATURE": "bad_tool_call",
    "CONTINUATION": "pause",
    "NO_IMAGE": "error",
    "OTHER": "error",
}
_NUMBERS = ("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")
"""The enum as numbers, as far as the Developer API and Vertex number it alike."""

_WORDS: dict[StopReason, str] = {
    "stop": "STOP",
    "stop_sequence": "STOP",
    "length": "MAX_TOKENS",
    "context_full": "MAX_TOKENS",
    # A turn with calls also ends with STOP (google-genai 3.1.0, 2026-11).
    "tool_calls": "STOP",
    "content_filter": "SAFETY",
    "refusal": "SAFETY",
    # CONTINUATION: a long answer of Gemini 4 continues with a continuationToken (docs, 2026-10).
    "pause": "CONTINUATION",
    "bad_tool_call": "MALFORMED_FUNCTION_CALL",
    "error": "OTHER",
    # STOP keeps the answer usable for the client; the loss of the reason is reported.
    "unknown": "STOP",
}
_EXACT: frozenset[StopReason] = frozenset({"stop", "length", "tool_calls", "content_filter", "pause", "bad_tool_call"})


_NO_CANDIDATE = Stop("unknown")
_ABSENT = {
    (True, True): Raw(b'["index","content"]'),
    (True, False): Raw(b'["index"]'),
    (False, True): Raw(b'["content"]'),
}
_FEEDBACK = ("promptFeedback",)
_BLOCK = frozenset({"blockReason", "blockReasonMessage"})


def read_response(body: bytes, context: Context) -> Response:
    """Read an answer into canon, or a model content alone."""
    if b'"candidates"' not in body and b'"parts"' in body and body.lstrip()[:1] == b"{":
        body = b'{"candidates":[{"content":%b}]}' % body  # a model content alone, as clients keep it
    admitted = wire.admit_answer(body)
    answer = admitted[0]
    # `{}` has the form of an answer, because all fields are optional. It is not an answer that a client can use.
    if answer == type(answer)():
        raise WireError(wire.NAME, "/candidates", "an array of candidates")
    return read_admitted(admitted, context)


def read_admitted(admitted: Admitted[wire.Answer], context: Context) -> Response:
    """Read a decoded answer: from a body, or from an envelope."""
    answer, unknown, spelled = admitted
    context.spelled = spelled
    ids = Ids(context, seed(answer.responseId, context))
    answers = [_read_candidate(candidate, i, ids, unknown) for i, candidate in enumerate(answer.candidates or ())]
    # Candidates may come in any order; `index` numbers them, and may be absent for the first.
    answers = in_order(answers, [candidate.index or 0 for candidate in answer.candidates or ()])
    usage = read_usage(answer.usageMetadata, context, unknown) if answer.usageMetadata is not None else None
    # A blocked prompt has promptFeedback and no candidates (google-genai 3.1.0, 2026-11).
    first = answers[0] if answers else Alternative((), read_block(answer.promptFeedback, context) or _NO_CANDIDATE)
    fields: dict[str, Raw] = {}
    created = None
    if answer.createTime is not None:
        created = read_time(answer.createTime)
        fields["createTime"] = json_text.raw(answer.createTime)
    if unknown or answer.promptFeedback or answer.modelStatus or answer.error:
        extras = sent_fields(
            answer, ("promptFeedback", "modelStatus", "error") if answers else ("modelStatus", "error")
        )
        fields |= (gather(context, (), unknown, extras) or {}).get(context.source, {})
    if first.extra is not None:
        for name, value in first.extra[wire.NAME].items():
            fields["candidates/0/" + name] = value
    return Response(
        first.parts,
        first.stop,
        answer.responseId or "",
        version(answer.modelVersion, context),
        created,
        usage,
        tuple(answers[1:]),
        {wire.NAME: fields} if fields else None,
    )


def version(name: str | None, context: Context) -> str:
    """The model that answered; without Google's path for a client of another dialect."""
    return name or "" if context.target in _GOOGLES else model_without_path(name or "")


_GOOGLES = (wire.NAME, "code-assist")


def seed(response_id: str | None, context: Context) -> str:
    """The seed that distinguishes the calls of this answer from those of any other answer in the conversation."""
    return answer_seed(response_id, context.created, context.answers)


def answer_seed(response_id: str | None, created: int, answers: Request | None) -> str:
    """The seed, computed without a Context."""
    # `responseId` is optional. If it is absent, the number of turns and the
    # time distinguish the answers of one conversation.
    turns = len(answers.turns) if answers is not None else 0
    return f"{response_id or ''}\x1f{turns}\x1f{created}\x1f"


def _read_candidate(candidate: wire.Candidate, place_: int, ids: Ids, unknown: Unknown) -> Alternative:
    at: Path = ("candidates", place_)
    context = ids.context
    content = candidate.content
    parts = read_parts(content, ("candidates", place_, "content"), ids, unknown) if content is not None else []
    fields: dict[str, Raw] = {}
    grounding = Grounding(candidate.groundingMetadata) if candidate.groundingMetadata else None
    uses = uses_in(grounding, candidate.urlContextMetadata, parts, at, ids)
    if grounding is not None or candidate.citationMetadata:
        texts = [part for part in parts if type(part) is Text]
        places = CharacterOffsets([text.text for text in texts])
        found = citations_of(grounding, candidate.citationMetadata, places)
        if texts and found:
            hung = iter(place(texts, found, context))
            parts = [next(hung) if type(part) is Text else part for part in parts]
        searched = any(part.kind == GROUNDING for part in uses)
        report(candidate, places, at, context, searched=searched, grounding=grounding)
        fields |= sent_fields(candidate, METADATA) or {}
    extras = sent_fields(candidate, wire.CANDIDATE_EXTRAS)
    if uses:
        parts = before_text(parts, uses)
        # The metadata of fetches became hosted calls. It stays an extra, but not one that is reported as lost.
        if extras and any(part.kind == FETCHED for part in uses):
            fields[FETCHED] = extras.pop(FETCHED)
    if unknown or extras:
        fields |= (gather(context, at, unknown, extras) or {}).get(context.source, {})
    if (candidate.index is None or content is None) and context.target in wire.KIN:
        fields[ABSENT] = _ABSENT[candidate.index is None, content is None]
    stop = read_stop(candidate.finishReason, candidate.finishMessage, parts, at, context)
    return Alternative(tuple(parts), stop, {wire.NAME: fields} if fields else None)


_STOPPED, _CALLED = Stop("stop"), Stop("tool_calls")
_CALLS_MADE = "Model generated function call(s)."
"""The message that Gemini writes beside STOP if an answer has calls (recorded, 2026). It has no meaning of its own."""


def read_stop(word: str | int | None, message: str | None, parts: list[Part], at: Path, context: Context) -> Stop:
    """The stop of an answer. A tool turn also ends with STOP, so the calls decide (google-genai 3.1.0, 2026-11). The
    word itself is restored.
    """
    if message is None and word == "STOP":
        for part in parts:
            if type(part) is ToolCall:
                return _CALLED
        return _STOPPED
    # An enumeration value may come as its number (recorded 2025-12): google-generativeai has the numbers of Google's
    # definitions.
    known = _NUMBERS[word] if isinstance(word, int) and 0 <= word < len(_NUMBERS) else word
    reason: StopReason = "unknown"
    extra: Extra | None = None
    if isinstance(known, str) and known in _REASONS:
        reason = _REASONS[known]
    # STOP also ends a turn with calls, so the parts decide (google-genai 3.1.0, 2026-11).
    # After MAX_TOKENS or SAFETY the calls may be incomplete, so the client must not run them.
    if reason not in ("length", "content_filter") and any(type(part) is ToolCall for part in parts):
        if reason == "bad_tool_call" and context.target not in wire.KIN:
            context.lose("stop.approximated", (*at, "finishReason"), f"{known}, beside usable calls", "warning")
        reason = "tool_calls"
    if extra is None and word != _WORDS[reason]:
        extra = {wire.NAME: {"finishReason": json_text.raw(word)}}
    if message is not None and reason in ("stop", "tool_calls"):
        if message != _CALLS_MADE:
            context.keep(at, {"finishMessage": json_text.raw(message)})
        extra = with_field(extra, "finishMessage", json_text.raw(message))
        message = None
    own = str(known) if known is not None and (known != _WORDS[reason] or reason == "error") else ""
    where = (*at, "finishReason") if own else ()
    if message:
        return Stop(reason, None, message, extra, where, own, (*at, "finishMessage"))
    beyond = own and known != _WORDS[reason] and context.target not in wire.KIN
    return Stop(reason, None, stop_detail(own, reason) if beyond else "", extra, where, own)


def read_block(feedback: Raw, context: Context) -> Stop | None:
    """The stop of a refused prompt: no candidates, but a reason."""
    if not feedback:
        return None
    value = peek(feedback)
    blocked = isinstance(value, dict) and bool(value.get("blockReason") or value.get("blockReasonMessage"))
    if isinstance(value, dict):
        rest = {name: json_text.raw(inner) for name, inner in value.items() if not (blocked and name in _BLOCK)}
        context.keep(_FEEDBACK, rest)
    if not blocked:
        return Stop("unknown", extra={wire.NAME: {"promptFeedback": feedback}}, at=_FEEDBACK)
    message = value.get("blockReasonMessage")
    has_message = isinstance(message, str)
    word = str(value.get("blockReason") or "")
    return Stop(
        "content_filter",
        None,
        message if has_message else f"the prompt was blocked: {word}",
        {wire.NAME: {"promptFeedback": feedback}},
        (*_FEEDBACK, "blockReason" if word else "blockReasonMessage"),
        word,
        (*_FEEDBACK, "blockReasonMessage") if has_message else (),
    )


def read_time(text: str) -> int | None:
    """The Unix time of an RFC 3339 time."""
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError):
        return None


def write_time(created: int) -> str | None:
    """The RFC 3339 time of a Unix time; None if it is out of range."""
    # 253402300800 is the first second of the year 10000, which RFC 3339 cannot write.
    if not 0 < created < 253402300800:
        return None
    return datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_usage(usage: wire.UsageMetadata, context: Context, unknown: Unknown) -> Usage:
    """Token counts. candidatesTokenCount excludes thoughts (google-genai 3.1.0, 2026-11); the canon includes them."""
    prompt, candidates, thoughts = usage.promptTokenCount, usage.candidatesTokenCount, usage.thoughtsTokenCount
    used = usage.toolUsePromptTokenCount
    # toolUsePromptTokenCount is not part of promptTokenCount (google-genai 3.1.0, 2026-11).
    total_in = prompt if used is None else (prompt or 0) + used
    # candidatesTokenCount excludes thoughts; the canon's output includes them (google-genai 3.1.0, 2026-11).
    total_out = candidates if thoughts is None else (candidates or 0) + thoughts
    tier = (
        answer_service_tiers.read(usage.serviceTier) if usage.serviceTier and context.target not in wire.KIN else None
    )
    if tier is not None:
        usage.serviceTier = wire.NONE
    more = sent_fields(usage, wire.USAGE_EXTRAS)
    if used is not None:
        more = {**(more or {}), "toolUsePromptTokenCount": json_text.raw(used)}
    extra = gather(context, ("usageMetadata",), unknown, more) if unknown or more else None
    total = usage.totalTokenCount
    # A client may check the sum. A total that the counts do not explain is kept as it came.
    sums_up = total == (total_in or 0) + (total_out or 0)
    if total is None or candidates is None:
        absent = [name for name in ("totalTokenCount", "candidatesTokenCount") if getattr(usage, name) is None]
        extra = with_field(extra, ABSENT, json_text.raw(absent))
    found = Usage(total_in, total_out, usage.cachedContentTokenCount, None, thoughts, extra, None if sums_up else total)
    return found if tier is None else answer_service_tiers.with_tier(found, tier, ("usageMetadata", "serviceTier"))


_SUMMANDS = Fields("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount")
_COUNTS = Fields(*_SUMMANDS, "cachedContentTokenCount", *wire.USAGE_EXTRAS)
_UNSENT = _COUNTS.values(wire.UsageMetadata())
"""The values of counts that a chunk does not have."""


def absent_counts(earlier: wire.UsageMetadata, later: wire.UsageMetadata) -> dict[str, Any]:
    """The counts of an earlier chunk of a stream that are absent in a later chunk."""
    there, here = _COUNTS.values(earlier), _COUNTS.values(later)
    absent = list(map(is_, here, _UNSENT))
    # The chunks of a stream mostly have the same counts.
    if absent == list(map(is_, there, _UNSENT)):
        return {}
    return {
        name: value
        for name, value, unsent, gone in zip(_COUNTS, there, _UNSENT, absent, strict=True)
        if gone and value is not unsent
    }


def add_earlier_counts(usage: wire.UsageMetadata, earlier: dict[str, Any], context: Context) -> None:
    """Add the counts of earlier chunks that the last chunk of a stream does not have. A count that does not fit the
    last total is reported: the final chunk of a refused call has neither its thoughts nor its candidates.
    """
    for name, value in earlier.items():
        if getattr(usage, name) not in (None, wire.NONE):
            continue
        counted = sum([count or 0 for count in _SUMMANDS.values(usage)])
        if name in _SUMMANDS and usage.totalTokenCount is not None and counted + value > usage.totalTokenCount:
            context.lose("usage.dropped", ("usageMetadata", name), f"{value}: the last chunk has a smaller total")
        else:
            setattr(usage, name, value)


def write_response(response: Response, context: Context) -> bytes:
    """Write an answer from canon."""
    out: dict[str, Any] = {}
    feedback = own(response.stop.extra, "promptFeedback")
    if feedback is not None and not response.parts:
        out["promptFeedback"] = feedback
    # An answer without candidates stays one within this dialect. Clients of other dialects always get one answer.
    elif response.parts or response.stop != _NO_CANDIDATE or context.source != wire.NAME:
        cited = response.extra is not None and any(
            own(response.extra, f"candidates/0/{name}") is not None for name in METADATA
        )
        candidates = [_write_candidate(response.parts, response.stop, 0, cited, context)]
        for i, other in enumerate(response.alternatives):
            cited = any(own(other.extra, name) is not None for name in METADATA)
            # Extras of the first candidate are restored with the answer: in a stream they come with the last event.
            candidates.append(put_back(_write_candidate(other.parts, other.stop, i + 1, cited, context), other.extra))
        out["candidates"] = candidates
    if response.usage is not None:
        out["usageMetadata"] = write_usage(response.usage, context)
    model = context.model or response.model
    if model:
        out["modelVersion"] = model
    if response.id:
        out["responseId"] = original_id(response.id)
    if response.extra is not None:
        put_back(out, response.extra)
    if response.created is not None and "createTime" not in out:
        created = write_time(response.created)
        if created is not None:
            out["createTime"] = created
    return json_text.encode(out)


def _write_candidate(parts: tuple[Part, ...], stop: Stop, index: int, cited: bool, context: Context) -> dict[str, Any]:
    written = [out for out in [write_part(part, context, request=False) for part in parts] if out is not None]
    candidate: dict[str, Any] = {"content": {"parts": written, "role": "model"}}
    write_stop(stop, any(type(part) is ToolCall for part in parts), candidate, context, index)
    candidate["index"] = index
    grounding = None
    if not cited and any(type(part) is Text and part.citations for part in parts):
        texts = [(part.text, part.citations, part.at) for part in parts if type(part) is Text]
        grounding = write_grounding(texts, context)
    uses = [part for part in parts if isinstance(part, Opaque) and is_metadata(part)]
    if grounding is not None or uses:
        candidate |= write_metadata(grounding, uses)
    return candidate


def write_stop(stop: Stop, called: bool, candidate: dict[str, Any], context: Context, number: int = 0) -> None:
    """Write the stop of an answer into its candidate. `called`: the answer has a call."""
    lose_missing_call(stop, called, "STOP", context, number)
    # The common stops need no search for a better word.
    if stop.extra is None and not stop.detail and stop.reason in _EXACT:
        candidate["finishReason"] = _WORDS[stop.reason]
        return
    word: Any = own(stop.extra, "finishReason")
    if word is None:
        word = _WORDS[stop.reason]
        exact = stop.word == word or (stop.reason in _EXACT and not stop.word)
        lose_stop(stop, word, context, number, exact=exact, written=True)
    if bytes(word) != b"null" if isinstance(word, Raw) else True:
        candidate["finishReason"] = word
    message = own(stop.extra, "finishMessage")
    if message is not None:
        candidate["finishMessage"] = message
    elif stop.detail and (stop.detail_at or type(word) is str):  # else the detail was made from this word
        candidate["finishMessage"] = stop.detail


def _count(value: Any) -> int:
    """A carried figure; 0 for another value."""
    count = json_text.plain(value)
    return count if type(count) is int else 0


def write_usage(usage: Usage, context: Context) -> dict[str, Any]:
    """The usageMetadata object."""
    out: dict[str, Any] = {}
    used = own(usage.extra, "toolUsePromptTokenCount") if usage.extra is not None else None
    if usage.input is not None:
        out["promptTokenCount"] = max(usage.input - (_count(used) if used is not None else 0), 0)
    if usage.output is not None:
        # candidatesTokenCount excludes thoughts (google-genai 3.1.0, 2026-11).
        answer_tokens = usage.output - (usage.reasoning or 0)
        if answer_tokens < 0:
            context.lose("usage.approximated", context.answer_paths.usage, "more thinking tokens than tokens of output")
        out["candidatesTokenCount"] = max(answer_tokens, 0)
    if usage.reasoning is not None:
        out["thoughtsTokenCount"] = usage.reasoning
    if usage.cache_read is not None:
        out["cachedContentTokenCount"] = usage.cache_read
    if usage.cache_write:
        # There is no count of tokens written to a cache (google-genai 3.1.0, 2026-11).
        context.lose("usage.dropped", context.answer_paths.usage, "tokens written to a cache")
    # A given total may include counts that the canon does not have, so it is not computed again.
    if usage.total is not None:
        out["totalTokenCount"] = usage.total
    elif usage.input is not None or usage.output is not None:
        out["totalTokenCount"] = (usage.input or 0) + (usage.output or 0)
    tier = answer_service_tiers.write(usage, answer_service_tiers.GEMINI, context)
    if tier is not None:
        out["serviceTier"] = tier
    return out if usage.extra is None else put_back(out, usage.extra)


def write_results(response: Response, results: Request, context: Context) -> bytes:
    """The contents to append: the model's content, then one content with all results."""
    turns = (Turn("assistant", response.parts), *results.turns)
    return json_text.encode(write_contents(turns, context))
