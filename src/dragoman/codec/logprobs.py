"""Moves the log probabilities of an answer's tokens from the source's field to the target's field.

Three forms are known. `tokens` is a list of `{token, logprob, bytes, top_logprobs}`. `content` is an object with such a
list for the text and one for the refusal. `chosen` is Google's form: a list of chosen tokens beside a list of likely
ones. A list belongs to the whole answer, or to each text. In streams they come with the text: stream readers and
writers use `read`, `write` and `remove_translated_fields` if both sides have log probabilities (`Context.scored`).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..canon.parts import Extra, Part, Path, Text, Token
from ..canon.response import Alternative, Response
from ..canon.stop_usage_and_logprobs_paths import Form, LogprobsPlace
from ..context import Context
from . import json_text


# Unknown fields are refused, so that a new field of Google is reported as lost, not silently dropped.
class _Candidate(Struct, forbid_unknown_fields=True):
    token: str = ""
    logProbability: float = 0.0
    tokenId: int | None = None


class _Top(Struct, forbid_unknown_fields=True):
    candidates: list[_Candidate] = []


class _Chosen(Struct, forbid_unknown_fields=True):
    chosenCandidates: list[_Candidate] = []
    topCandidates: list[_Top] = []
    logProbabilitySum: float | None = None


class _Content(Struct):
    content: list[Token] | None = None


def translate_logprobs(
    response: Response, source: LogprobsPlace | None, target: LogprobsPlace | None, context: Context
) -> Response:
    """The response with its log probabilities in the target's field. If the target has none, they stay a loss."""
    if source is None or target is None or source == target:
        # Equal places mean the same dialect, or one with the same form: the field passes as an extra.
        return response
    if response.extra is None and not (source.on_texts and any(part.extra is not None for part in response.parts)):
        return response
    first = _moved_to_target(response.parts, response.extra, 0, source, target, context)
    others = [
        _moved_to_target(other.parts, other.extra, i + 1, source, target, context)
        for i, other in enumerate(response.alternatives)
    ]
    alternatives = tuple(
        [Alternative(moved[0], old.stop, moved[1]) for moved, old in zip(others, response.alternatives, strict=True)]
    )
    return msgspec.structs.replace(response, parts=first[0], extra=first[1], alternatives=alternatives)


def _moved_to_target(
    parts: tuple[Part, ...],
    extra: Extra | None,
    number: int,
    source: LogprobsPlace,
    target: LogprobsPlace,
    context: Context,
) -> tuple[tuple[Part, ...], Extra | None]:
    tokens: list[Token] = []
    places: list[Path] = []
    if source.on_texts:
        for part in parts:
            found = read((part.extra or {}).get(source.dialect, {}).get(source.name), source.form)
            if found is not None:
                tokens += found
                places.append((*part.at, source.name))
    else:
        found = read((extra or {}).get(source.dialect, {}).get(_name(source, number)), source.form)
        if found is not None:
            tokens, places = found, [(source.answers, number, source.name) if source.answers else (source.name,)]
    # A list without a place stays where it is and is reported by the writer.
    if not tokens or (target.on_texts and not any(map(_takes_tokens, parts))):
        return parts, extra
    remove_translated_fields(context, places)
    if source.form == "content":
        # Lists beside that of the text: for the refusal, or for the thoughts (DeepSeek).
        rest = json_text.fields((extra or {})[source.dialect][_name(source, number)])
        context.keep(places[0], {name: value for name, value in rest.items() if name != "content"})
    # Gemini also numbers the tokens (google-genai 3.1.0, 2026-11).
    if source.form == "chosen":
        context.lose("field.dropped", places[0], "the numbers of the tokens", "info")
    if target.on_texts:
        return _put_on_texts(parts, tokens, target), extra
    return parts, _with(extra, target.dialect, _name(target, number), write(tokens, target.form, target.spelled))


def _name(place: LogprobsPlace, number: int) -> str:
    """The name among the extras. The log probabilities of the first answer belong to the response."""
    return f"{place.answers}/0/{place.name}" if place.answers and number == 0 else place.name


def _with(extra: Extra | None, dialect: str, name: str, value: Raw) -> Extra:
    return {**(extra or {}), dialect: {**(extra or {}).get(dialect, {}), name: value}}


def remove_translated_fields(context: Context, places: list[Path]) -> None:
    """Remove translated fields from the fields that only the source has."""
    for i, (at, fields) in enumerate(context.kept):
        left = {name: value for name, value in fields.items() if (*at, name) not in places}
        if len(left) < len(fields):
            context.kept[i] = (at, left)


def _takes_tokens(part: Part) -> bool:
    """Refusals have no field for tokens."""
    return type(part) is Text and not part.refusal


def _put_on_texts(parts: tuple[Part, ...], tokens: list[Token], place: LogprobsPlace) -> tuple[Part, ...]:
    """Give each text its own tokens; the last text gets the rest."""
    texts = [i for i, part in enumerate(parts) if _takes_tokens(part)]
    out = list(parts)
    begin = 0
    for i in texts:
        part = parts[i]
        end, length = begin, 0
        # Tokens end at the length of their text. Bytes of one character may be spread over tokens, so the count is
        # approximate; the last text takes all that is left.
        while end < len(tokens) and (i == texts[-1] or length < len(part.text)):  # type: ignore[attr-defined]
            length += len(tokens[end].token)
            end += 1
        if end > begin:
            extra = _with(part.extra, place.dialect, place.name, write(tokens[begin:end], place.form, place.spelled))
            out[i] = msgspec.structs.replace(part, extra=extra)
        begin = end
    return tuple(out)


def read(value: Raw | None, form: Form) -> list[Token] | None:
    """The tokens; None for an absent value or another form."""
    if value is None:
        return None
    try:
        if form == "content":
            return msgspec.json.decode(value, type=_Content).content
        if form == "tokens":
            return msgspec.json.decode(value, type=list[Token])
        found = msgspec.json.decode(value, type=_Chosen)
    except msgspec.DecodeError:
        return None
    tops = [[_token(one) for one in top.candidates] for top in found.topCandidates]
    # `topCandidates` is optional, and may be shorter (google-genai 3.1.0, 2026-11).
    tops += [[] for _ in range(len(found.chosenCandidates) - len(tops))]
    return [
        Token(one.token, one.logProbability, None, top)
        for one, top in zip(found.chosenCandidates, tops[: len(found.chosenCandidates)], strict=True)
    ]


def joined(first: Raw, second: Raw) -> Raw:
    """Two results of the form `chosen`, from chunks of one stream, joined. The second alone if they have
    another form.
    """
    try:
        both = [json_text.fields(value) for value in (first, second)]
        lists = {name: [msgspec.json.decode(one.get(name, b"[]"), type=list[Raw]) for one in both] for name in _LISTS}
    except msgspec.DecodeError:
        return second
    # Of other fields the later value counts.
    return json_text.raw({**both[1], **{name: one + more for name, (one, more) in lists.items() if one or more}})


_LISTS = ("topCandidates", "chosenCandidates")


def _token(candidate: _Candidate) -> Token:
    return Token(candidate.token, candidate.logProbability)


def write(tokens: list[Token], form: Form, spelled: bool = True) -> Raw:
    """The tokens in a dialect's form. `spelled`: with the bytes of each token."""
    if form == "chosen":
        chosen = [{"token": one.token, "logProbability": one.logprob} for one in tokens]
        tops = [
            {"candidates": [{"token": top.token, "logProbability": top.logprob} for top in one.top_logprobs]}
            for one in tokens
        ]
        return json_text.raw({"topCandidates": tops, "chosenCandidates": chosen})
    written = [
        {**_token_object(one, spelled), "top_logprobs": [_token_object(top, spelled) for top in one.top_logprobs]}
        for one in tokens
    ]
    return json_text.raw({"content": written, "refusal": None} if form == "content" else written)


def _token_object(token: Token, spelled: bool) -> dict[str, Any]:
    if not spelled:
        return {"token": token.token, "logprob": token.logprob}
    # OpenAI adds the UTF-8 bytes of each token (openai 3.49.0, 2026-11).
    letters = token.bytes if token.bytes is not None else list(token.token.encode("utf-8", "replace"))
    return {"token": token.token, "logprob": token.logprob, "bytes": letters}
