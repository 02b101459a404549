"""Owns the laws for generated documents. Each function takes one document and returns what breaks the law in it."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Iterator
from typing import Any, cast

import msgspec

import dragoman
from dragoman import FaultError, Loss, Translation, WireError
from dragoman.canon import Fault, Request, Response
from dragoman.canon.fold_and_unfold import fold
from dragoman.dialects import get, names
from tests.generated.generated_documents import Drawn, marked
from tests.generated.values_from_schema import MARK
from tests.laws import no_silent_loss, round_trip
from tests.laws.legal_output import passes_with_its_faults, unlawful
from tests.laws.round_trip import answer, broken, request_there_and_back, stream, streamed_back
from tests.recorded.normal_form import canonical, normal
from tests.recorded.recorded_bodies import CREATED, Case, Kind, context, events, written_again
from tests.recorded.tree_comparison import differences, placeless

Json = Any
MODEL = "some-model"


def translated(one: Drawn, target: str, body: bytes | None = None) -> Translation:
    body = one.body if body is None else body
    if one.kind == "request":
        return dragoman.translate_request(body, source=one.dialect, target=target, model=MODEL)
    return dragoman.translate_response(body, source=one.dialect, target=target, created=CREATED)


def identity(one: Drawn) -> list[str]:
    """The document can be read. Written in its own dialect it has the same JSON value up to spelling. Read again, it
    has the same canon value."""
    dialect, under = get(one.dialect), context(one.dialect, one.dialect)
    first: Request | Response
    second: Request | Response
    if one.kind == "request":
        first = dialect.read_request(one.body, under)
        out = written_again(dialect, first, under)
        second = dialect.read_request(out, context(one.dialect, one.dialect))
    else:
        first = dialect.read_response(one.body, under)
        out = dialect.write_response(first, under)
        second = dialect.read_response(out, context(one.dialect, one.dialect))
    before = _plain(one.dialect, normal(one.dialect, one.kind, msgspec.json.decode(one.body)))
    after = _plain(one.dialect, normal(one.dialect, one.kind, msgspec.json.decode(out)))
    found = differences(before, after)
    return found or [f"canon {text}" for text in differences(_settled(first), _settled(second))]


def _plain(dialect: str, value: Json) -> Json:
    """Drop values without a meaning, such as empty objects, and give each hosted tool of Gemini a separate object."""
    if isinstance(value, list):
        return [_plain(dialect, item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {name: _plain(dialect, item) for name, item in value.items()}
    out = {name: item for name, item in out.items() if item != {} or name in _MEANT or "input" in name}
    if dialect in ("gemini", "code-assist") and isinstance(out.get("tools"), list):
        # One object may have several hosted tools; functions come first, as one list.
        single = [{name: item} for tool in out["tools"] for name, item in tool.items() if name != _FUNCTIONS]
        functions = [one for tool in out["tools"] for one in tool.get(_FUNCTIONS) or ()]
        out["tools"] = [*functions, *sorted(single, key=str)]
    if isinstance(out.get("include"), list):
        out["include"] = sorted(out["include"])  # a set
    return out


_FUNCTIONS = "functionDeclarations"
_MEANT = frozenset(
    ["args", "response", "arguments", "parameters", "googleSearch", "codeExecution", "urlContext", "googleMaps"]
)


def _settled(value: Request | Response) -> Json:
    tree = canonical(placeless(value))
    if isinstance(tree.get("tools"), list):
        tree["tools"].sort(key=lambda tool: str(tool.get("kind", "")))
    return tree


def silent(one: Drawn, out: Translation) -> list[str]:
    """Every mark is in the output, or a loss names its place."""
    return [text for text in no_silent_loss.silent(marked(one), out.body, out.losses) if not excused(text, out.losses)]


def excused(leaf: str, losses: tuple[Loss, ...]) -> bool:
    """Whether a loss with a place next to the leaf explains the leaf: citations belong to texts, names to turns."""
    for loss in losses:
        if loss.code.startswith("citation.") and any(name in leaf for name in _CITATIONS):
            return True
        if loss.code == "turn.dropped" and leaf == f"{loss.path}/name":
            return True
        if loss.code == "choice.by_filter" and leaf == loss.path.rpartition("/tools/")[0] + "/name":
            return True
    return False


_CITATIONS = ("citationMetadata", "groundingMetadata", "/annotations/")


def without_effect(one: Drawn, target: str, seen: set[tuple[str, ...]]) -> Iterator[str]:
    """Remove each leaf without a mark: the translation or its losses must change, or a loss must name the place. A leaf
    with the same name and value is removed only once."""
    try:
        whole = _outcome(translated(one, target))
    except FaultError:
        return
    for at in _leaves(one.value, ()):
        value = one.value
        for step in at:
            value = value[step]
        key = tuple(["-" if isinstance(step, int) or MARK.search(step) else step for step in at])
        key = (*key, str(value) if isinstance(value, str | bool) else "")
        if key in seen or not _turn(key, one.dialect, target):
            continue
        seen.add(key)
        less = copy.deepcopy(one.value)
        holder = less
        for step in at[:-1]:
            holder = holder[step]
        del holder[at[-1]]
        try:
            other = _outcome(translated(one, target, msgspec.json.encode(less)))
        except (WireError, FaultError):
            continue
        if other == whole and not _named(at, whole[1]):
            yield f"/{'/'.join(map(str, at))} = {value!r}"


def _turn(key: tuple[str, ...], source: str, target: str) -> bool:
    """Whether this target tests the leaf: each leaf is removed for two of the targets only."""
    others = [name for name in names() if name != source]
    return (zlib.crc32("/".join(key).encode()) + others.index(target)) % len(others) < 2


def _outcome(out: Translation) -> tuple[bytes, frozenset[Loss]]:
    return out.body, frozenset(out.losses)


def _leaves(value: Json, at: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the places of numbers, flags and protocol words. Nulls have no meaning, and `silent` searches for marks."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name not in ("type", "role", "model"):
                yield from _leaves(item, (*at, name))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _leaves(item, (*at, i))
    elif value is not None and not (isinstance(value, str) and MARK.search(value)):
        yield at


def _named(at: tuple[str | int, ...], losses: frozenset[Loss]) -> bool:
    leaf = tuple([str(step) for step in at])
    for loss in losses:
        path = no_silent_loss.path_of(loss.path)
        if (
            loss.effect != "invented"
            and path
            and leaf[: len(path)] == path
            and path not in (("request",), ("response",))
        ):
            if no_silent_loss.excuses(loss.code, path, leaf) or path[-1] in no_silent_loss.NARROW.get(loss.code, ()):
                return True
        if loss.code == "answer.dropped" and no_silent_loss.excuses(loss.code, path, leaf):
            return True
    return excused("/" + "/".join(leaf), tuple(losses))


def as_case(one: Drawn) -> Case:
    """Return the generated document in the form that the laws take."""
    return Case(one.id, one.dialect, cast(Kind, one.kind), one.body, MODEL)


def legal(one: Drawn, out: Translation, target: str) -> list[str]:
    """In another dialect the document is legal by the official types of that dialect and by its conversation rules."""
    case = as_case(one)
    return [] if passes_with_its_faults(case, target) else unlawful(case, out, target, MODEL)


def came_back(one: Drawn, target: str) -> list[str]:
    """A to B to A equals A minus the reported losses."""
    case = as_case(one)
    if one.kind == "request":
        return round_trip.request(case, target, request_there_and_back(case, target))
    return [] if broken(answer(one.dialect, one.body, target)) else round_trip.response(case, target)


def stream_came_back(one: Drawn, target: str) -> list[str]:
    first = fold(events(one.dialect, one.value, target=target))
    if isinstance(first, Fault) or broken(first):
        return []
    there, losses = stream(one.dialect, target, one.value)
    return streamed_back(first, one.dialect, target, there, losses)
