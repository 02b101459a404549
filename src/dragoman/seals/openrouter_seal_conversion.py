"""Owns the exchange of Google's and OpenAI's seals between OpenRouter and the provider's own API, for callers with one
account on both.

OpenRouter passes these seals on in `reasoning_details` (formats `google-gemini-v1` and `openai-responses-v1`, and one
for each other host of Responses) and accepts them there. Google and OpenAI refuse a seal of another account or endpoint
with 400, so such a seal normally goes back only to the upstream that sent it. A caller that gave its
provider key to OpenRouter uses one account on both ways. Then, and only for the model that made the seal:

    an entry of Google's      becomes the signature of the call that the entry names. An entry that names no call
                              becomes the signature of the first call without a signature, or of the text if there is
                              no call (both kinds of entries are recorded)
    an entry of OpenAI's      becomes the encrypted content of a reasoning item; the summaries before the entry belong
                              to the same item

and in the other direction. This pass over a turn runs after `request_seals_to_upstream.py` has placed every seal.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from ..canon.parts import Part, Path, Reasoning, Seal, Text, ToolCall
from ..codec import json_text
from ..codec.packed_seals import GOOGLE_DUMMY, MARK, Origin, family
from ..context import Context

GEMINI, RESPONSES, OPENROUTER = "gemini", "openai-responses", "openrouter"
DIALECTS = frozenset({GEMINI, RESPONSES, OPENROUTER})
"""The dialects between which these seals are converted. Code Assist uses another account."""
_LISTS = frozenset({OPENROUTER, "openai-chat"})
"""Dialects whose seals are whole entries of `reasoning_details`."""
_TEXT, _SUMMARY, _ENCRYPTED = "reasoning.text", "reasoning.summary", "reasoning.encrypted"
_GOOGLE = "google-gemini-v1"
_OPENAI = "openai-responses-v1"
_OF_HOSTS = {"azure": "azure-openai-responses-v1", "xai": "xai-responses-v1"}
"""Formats of hosts of Responses other than OpenAI."""
_CROSSED = frozenset({"type", "text", "summary", "signature", "data", "format", "index"})
_NO_PLACE = "no call and no text is left that the seal belongs to"


class _Entry(Struct):
    type: str = ""
    text: str | None = None
    summary: str | None = None
    signature: str | None = None
    data: str | None = None
    format: str | None = None
    id: str | None = None


_read_entry = msgspec.json.Decoder(_Entry).decode


def accepts_seal(seal: Seal, upstream: Origin, client_model: str = "") -> bool:
    """Whether this upstream accepts the seal, if the account is the same. `client_model`: the model that the client
    names. A seal without a model counts as made by this model.
    """
    # Seals are bound to the model that made them (Gemini's docs "Thought signatures", 2026-10).
    if not seal.data or not _same_model(seal.model or client_model, upstream.model, seal.dialect):
        return False
    if upstream.dialect == OPENROUTER:
        if seal.dialect == GEMINI:
            # Google's dummy proves nothing to OpenRouter.
            return seal.data != GOOGLE_DUMMY and not seal.data.startswith(MARK)
        return seal.dialect == RESPONSES and not seal.kind and not seal.data.startswith(MARK)
    if seal.dialect not in _LISTS:
        return False
    entry = _entry(seal.data)
    # `format` names the provider that made an entry (openrouter 1.3.84).
    return entry is not None and entry.format == _format(upstream.dialect, upstream.host)


def convert_for_upstream(parts: Iterable[Part], upstream: Origin, client_model: str, context: Context) -> list[Part]:
    """The parts of a turn, with these seals in the form of this upstream."""
    given = list(parts)
    if not any(part.seal is not None and accepts_seal(part.seal, upstream, client_model) for part in given):
        return given
    if upstream.dialect == OPENROUTER:
        return [new for part in given for new in _as_entries(part, upstream, client_model)]
    if upstream.dialect == RESPONSES:
        return _as_reasoning_items(given, upstream, client_model, context)
    return _as_signatures(given, upstream, client_model, context)


def _same_model(made_by: str, model: str, dialect: str) -> bool:
    if not made_by:  # a Gemini request names its model in the URL only
        # A Gemini seal may lack its model; any model of the family is then possible.
        return dialect == GEMINI and family(model).startswith("gemini")
    return family(made_by) == family(model)


def _format(dialect: str, host: str) -> str:
    return _GOOGLE if dialect == GEMINI else _OF_HOSTS.get(host, _OPENAI)


def _entry(data: str) -> _Entry | None:
    try:
        return _read_entry(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


# to OpenRouter


def _as_entries(part: Part, upstream: Origin, client_model: str) -> list[Part]:
    """The part with its seal as an entry. The entry of a call or a text stays on that part, because the writer knows
    the id with which the call is sent.
    """
    seal = part.seal
    if seal is None or not accepts_seal(seal, upstream, client_model):
        return [part]
    form = _format(seal.dialect, seal.host)
    if type(part) is not Reasoning:
        # OpenRouter's entry of a call has the type reasoning.encrypted (recorded).
        return [msgspec.structs.replace(part, seal=_sealed(upstream, type=_ENCRYPTED, data=seal.data, format=form))]
    if seal.dialect == GEMINI:
        # A signature is on a text entry, or alone as encrypted data (openrouter 1.3.84).
        made = {"text": part.text, "signature": seal.data} if part.text else {"data": seal.data}
        kind = _TEXT if part.text else _ENCRYPTED
        return [Reasoning(part.text, seal=_sealed(upstream, type=kind, **made, format=form), at=part.at)]
    out: list[Part] = []
    if part.text:
        summary = _sealed(upstream, type=_SUMMARY, summary=part.text, format=form)
        out.append(Reasoning(part.text, seal=summary, at=part.at))
    # An entry has an `id` of its own (openrouter 1.3.84, 2026-11), which can hold the id of the item.
    name = json_text.plain(part.extra[RESPONSES]["id"]) if part.extra and "id" in part.extra.get(RESPONSES, {}) else ""
    named = {"id": name} if isinstance(name, str) and name else {}
    out.append(Reasoning("", seal=_sealed(upstream, type=_ENCRYPTED, data=seal.data, **named, format=form), at=part.at))
    return out


def _sealed(upstream: Origin, **entry: str) -> Seal:
    return Seal(OPENROUTER, json_text.encode(entry).decode(), entry["type"], upstream.model)


# to Responses


def _as_reasoning_items(parts: list[Part], upstream: Origin, client_model: str, context: Context) -> list[Part]:
    out: list[Part] = []
    summaries: list[str] = []
    at: Path = ()
    for part in parts:
        seal = part.seal
        entry = _entry(seal.data) if seal is not None and accepts_seal(seal, upstream, client_model) else None
        if entry is None or seal is None:
            if summaries:
                # Summaries without encrypted content stay thoughts: the text alone is not proof, but may be shown.
                out.append(Reasoning("\n\n".join(summaries), at=at))
                summaries = []
            out.append(part)
            continue
        at = at if summaries else part.at
        words = entry.summary or entry.text
        if words:
            summaries.append(words)
        if entry.data:
            _report_left(seal.data, part.at, context)
            own = Seal(RESPONSES, entry.data, "", upstream.model)
            out.append(Reasoning("\n\n".join(summaries), seal=own, at=at))
            summaries = []
    if summaries:
        out.append(Reasoning("\n\n".join(summaries), at=at))
    return out


def _report_left(entry: str, at: Path, context: Context) -> None:
    """Report the fields of an entry that the upstream's own form cannot hold. The id belongs to OpenRouter's request;
    the provider did not store it.
    """
    for name, value in json_text.fields(entry).items():
        if name not in _CROSSED and bytes(value) != b"null":
            context.lose("field.dropped", (*at, name), severity="info")


# to Gemini


def _as_signatures(parts: list[Part], upstream: Origin, client_model: str, context: Context) -> list[Part]:
    out: list[Part] = []
    found: list[tuple[_Entry, Path]] = []
    for part in parts:
        seal = part.seal
        entry = _entry(seal.data) if seal is not None and accepts_seal(seal, upstream, client_model) else None
        if entry is None:
            out.append(part)
            continue
        if entry.text:
            out.append(Reasoning(entry.text, at=part.at))
        if entry.data or entry.signature:
            found.append((entry, part.at))
    # Gemini's signatures are on calls and texts (docs "Thought signatures", 2026-10).
    for entry, at in found:
        place = _place(out, entry.id or "")
        if place is None:
            context.lose("seal.dropped", at, _NO_PLACE)
            continue
        own = Seal(GEMINI, entry.data or entry.signature or "", "", upstream.model)
        out[place] = msgspec.structs.replace(out[place], seal=own)
    return out


def _place(parts: list[Part], call_id: str) -> int | None:
    """The index of the part that a signature belongs to."""
    calls = [i for i, part in enumerate(parts) if type(part) is ToolCall]
    named = [i for i in calls if call_id and getattr(parts[i], "id", "") == call_id]
    texts = [i for i, part in enumerate(parts) if type(part) is Text and not part.refusal]
    # A call has one signature. The next entry belongs to the next call.
    free = [i for i in (named or calls or texts[-1:]) if parts[i].seal is None or not parts[i].seal.data]  # type: ignore[union-attr]
    return free[0] if free else None
