"""Log probabilities of an answer's tokens: carried as extras by their own dialect, moved to the target's place here.

Three forms are known. `tokens` is a list of `{token, logprob, bytes, top_logprobs}`; `content` is that list in an
object that parts it from the refusal's; `chosen` is Google's, a list of what was chosen beside one of what else was
likely. A list hangs on the whole answer, or on each text of it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..canon.demands import Place
from ..canon.parts import Extra, Part, Path, Text
from ..canon.response import Alternative, Response
from ..crossing import Crossing
from . import jsontext


class Token(Struct, forbid_unknown_fields=True):
    """A token in the form `tokens`."""

    token: str
    logprob: float
    bytes: list[int] | None = None
    top_logprobs: list[Token] = []


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


class _Content(Struct, forbid_unknown_fields=True):
    content: list[Token] | None = None
    refusal: None = None


def cross(response: Response, source: Place | None, target: Place | None, crossing: Crossing) -> Response:
    """The response with its log probabilities where the target has them. Where it has none, they stay a loss."""
    if source is None or target is None or source == target:
        return response
    if response.extra is None and not (source.on_texts and any(part.extra is not None for part in response.parts)):
        return response
    first = _moved(response.parts, response.extra, 0, source, target, crossing)
    others = [
        _moved(other.parts, other.extra, i + 1, source, target, crossing)
        for i, other in enumerate(response.alternatives)
    ]
    alternatives = tuple(
        [Alternative(moved[0], old.stop, moved[1]) for moved, old in zip(others, response.alternatives, strict=True)]
    )
    return msgspec.structs.replace(response, parts=first[0], extra=first[1], alternatives=alternatives)


def _moved(
    parts: tuple[Part, ...], extra: Extra | None, number: int, source: Place, target: Place, crossing: Crossing
) -> tuple[tuple[Part, ...], Extra | None]:
    tokens: list[Token] = []
    places: list[Path] = []
    if source.on_texts:
        for part in parts:
            found = _read((part.extra or {}).get(source.dialect, {}).get(source.name), source)
            if found is not None:
                tokens += found
                places.append((*part.at, source.name))
    else:
        found = _read((extra or {}).get(source.dialect, {}).get(_name(source, number)), source)
        if found is not None:
            tokens, places = found, [(source.answers, number, source.name) if source.answers else (source.name,)]
    if not tokens or (target.on_texts and not any(type(part) is Text for part in parts)):
        return parts, extra
    _unkeep(crossing, places)
    if source.form == "chosen":
        crossing.lose("field.dropped", places[0], "the numbers of the tokens", "info")
    if target.on_texts:
        return _hung(parts, tokens, target), extra
    return parts, _with(extra, target.dialect, _name(target, number), _write(tokens, target))


def _name(place: Place, number: int) -> str:
    """The name among the extras: those of the first answer hang on the response."""
    return f"{place.answers}/0/{place.name}" if place.answers and number == 0 else place.name


def _with(extra: Extra | None, dialect: str, name: str, value: Raw) -> Extra:
    return {**(extra or {}), dialect: {**(extra or {}).get(dialect, {}), name: value}}


def _unkeep(crossing: Crossing, places: list[Path]) -> None:
    """They have crossed: they are not among the fields that only the source knows."""
    for i, (at, fields) in enumerate(crossing.kept):
        left = {name: value for name, value in fields.items() if (*at, name) not in places}
        if len(left) < len(fields):
            crossing.kept[i] = (at, left)


def _hung(parts: tuple[Part, ...], tokens: list[Token], place: Place) -> tuple[Part, ...]:
    """Each text with its own tokens; the last one gets the rest."""
    texts = [i for i, part in enumerate(parts) if type(part) is Text]
    out = list(parts)
    begin = 0
    for i in texts:
        part = parts[i]
        end, length = begin, 0
        while end < len(tokens) and (i == texts[-1] or length < len(part.text)):  # type: ignore[attr-defined]
            length += len(tokens[end].token)
            end += 1
        if end > begin:
            extra = _with(part.extra, place.dialect, place.name, _write(tokens[begin:end], place))
            out[i] = msgspec.structs.replace(part, extra=extra)
        begin = end
    return tuple(out)


def _read(value: Raw | None, place: Place) -> list[Token] | None:
    """The tokens, None for nothing and for what does not have the form."""
    if value is None:
        return None
    try:
        if place.form == "content":
            return msgspec.json.decode(value, type=_Content).content
        if place.form == "tokens":
            return msgspec.json.decode(value, type=list[Token])
        found = msgspec.json.decode(value, type=_Chosen)
    except msgspec.DecodeError:
        return None
    tops = [[_token(one) for one in top.candidates] for top in found.topCandidates]
    tops += [[] for _ in range(len(found.chosenCandidates) - len(tops))]
    return [
        Token(one.token, one.logProbability, None, top)
        for one, top in zip(found.chosenCandidates, tops[: len(found.chosenCandidates)], strict=True)
    ]


def _token(candidate: _Candidate) -> Token:
    return Token(candidate.token, candidate.logProbability)


def _write(tokens: list[Token], place: Place) -> Raw:
    if place.form == "chosen":
        chosen = [{"token": one.token, "logProbability": one.logprob} for one in tokens]
        tops = [
            {"candidates": [{"token": top.token, "logProbability": top.logprob} for top in one.top_logprobs]}
            for one in tokens
        ]
        return jsontext.raw({"topCandidates": tops, "chosenCandidates": chosen})
    written = [
        {**_spelled(one, place), "top_logprobs": [_spelled(top, place) for top in one.top_logprobs]} for one in tokens
    ]
    return jsontext.raw({"content": written, "refusal": None} if place.form == "content" else written)


def _spelled(token: Token, place: Place) -> dict[str, Any]:
    if not place.spelled:
        return {"token": token.token, "logprob": token.logprob}
    spelled = token.bytes if token.bytes is not None else list(token.token.encode("utf-8", "replace"))
    return {"token": token.token, "logprob": token.logprob, "bytes": spelled}
