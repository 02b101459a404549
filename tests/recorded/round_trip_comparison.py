"""Owns the comparison of a document with itself after a journey to another dialect and back.

Everything must have come back but for what a loss of either leg accounts for: its code must be one that explains this
kind of difference, and its place must be the place of the thing. What stands where is flattened into atoms first, so
that turns of one role in a row and texts cut in several pieces are no difference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from dragoman import Loss
from dragoman.canon import (
    HostedCall,
    HostedResult,
    Media,
    Opaque,
    Part,
    Path,
    Reasoning,
    Request,
    Response,
    Seal,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    pointer,
)
from dragoman.canon.parts import is_stored_elsewhere
from dragoman.codec.answer_ids import original
from dragoman.codec.call_ids import from_chat_client
from dragoman.codec.failed_answer_endings import GAP, failure
from dragoman.context import Context
from dragoman.dialects.openai_responses import wire as responses_wire
from dragoman.dialects.openai_responses.client_tools import KINDS as CLIENT_ITEMS
from dragoman.dialects.openai_responses.client_tools import ClientItems
from dragoman.facts import profiles
from tests.oracles.code_assist import inside
from tests.recorded.normal_form import made
from tests.recorded.tree_comparison import differences, placeless

Json = Any
Step = tuple[str, str, Part]

# Which kinds of difference a loss explains. "insert" is something that was not there before.
EXPLAINS: dict[str, frozenset[str]] = {
    code: frozenset(kinds.split())
    for code, kinds in {
        "reasoning.dropped": "reasoning seal cache",
        "seal.dropped": "seal reasoning",
        "seal.dummy": "seal",
        "part.dropped": "opaque text media reasoning call result",
        "hosted.dropped": "opaque",
        "hosted.mapped": "opaque",
        "tool.hosted.as_function": "opaque insert",
        "media.dropped": "media insert media.detail result",
        "media.summarised": "media insert result",
        "media.reference": "media",
        "media.moved": "media text insert",
        "media.detail.dropped": "media.detail",
        "media.retyped": "media media.detail text insert result",
        "citation.dropped": "citations opaque",
        "citation.approximated": "citations",
        "refusal.as_text": "refusal text insert",
        "order.approximated": "order",
        "system.demoted": "role text insert media",
        "system.media.dropped": "media",
        "name.dropped": "author",
        "turn.dropped": "opaque text media reasoning call result",
        "turn.invented": "insert",
        "call.id.rewritten": "call.id",
        "call.id.invented": "call.id",
        "call.name.invented": "call.name",
        "call.custom.wrapped": "call custom",
        "arguments.invalid": "call",
        "call.truncated": "call",
        "result.error.as_text": "result is_error",
        "result.structured.as_text": "result structured",
        "result.media.moved": "result media insert",
        "result.duplicate": "result",
        "result.orphaned": "result insert",
        "result.invented": "insert",
        "result.moved": "order",
        "tool.renamed": "name call",
        "tool.namespace.prefixed": "name namespace call",
        "cache.dropped": "cache",
        "cache.approximated": "cache",
        "choice.weakened": "insert choice",
        "format.as_text": "insert format",
        "tool.merged": "opaque",
        "part.as_text": "opaque reasoning text insert",
        "state.dropped": "opaque",
    }.items()
}

SETTINGS: dict[str, tuple[str, ...]] = {
    "max_tokens": ("limit.",),
    "temperature": ("sampling.",),
    "top_p": ("sampling.",),
    "top_k": ("sampling.",),
    "stop": ("stop.",),
    "seed": ("sampling.",),
    "presence_penalty": ("sampling.",),
    "frequency_penalty": ("sampling.",),
    "n": ("n.",),
    "logprobs": ("logprobs.",),
    "top_logprobs": ("logprobs.",),
    "parallel": ("parallel.", "choice."),
    "effort": ("effort.",),
    "budget": ("effort.",),
    "thoughts": ("thoughts.",),
    "verbosity": ("verbosity.",),
    "format": ("format.", "schema."),
    "user": ("user.",),
    "metadata": ("metadata.",),
    "tier": ("tier.",),
    "cache_key": ("cache.",),
    "cache": ("cache.",),
}


class Atom(NamedTuple):
    """One thing said: its kind, who said it, what makes it itself, its other sides, and where it stood."""

    kind: str
    role: str
    key: str
    sides: dict[str, Json]
    ats: list[Path]
    texts: list[str]


class Journey(NamedTuple):
    """Both legs' losses, and the atoms as they stood in the middle."""

    out: tuple[Loss, ...]
    back: tuple[Loss, ...]
    middle: list[Atom]

    def said(self, code: str) -> bool:
        """Whether either leg reported a loss whose code begins so."""
        return any(loss.code.startswith(code) for loss in (*self.out, *self.back))

    def renamed(self, name: str) -> bool:
        """Whether either leg reported, at its first place, that a tool goes by another name."""
        codes = ("tool.renamed", "tool.namespace.prefixed")
        return any(loss.code in codes and f"{name} is sent as" in loss.detail for loss in (*self.out, *self.back))

    def renamed_call(self, key: str) -> bool:
        """The same of a call, of which the key is known: its tool's name, a blank and its arguments."""
        codes = ("tool.renamed", "tool.namespace.prefixed")
        names = [loss.detail.partition(" is sent as ")[0] for loss in (*self.out, *self.back) if loss.code in codes]
        return any(key.startswith((f"{name} ", f"{name.rpartition('/')[2]} ")) for name in names)

    def inserts(self) -> bool:
        """Whether either leg reported that it put words of its own in."""
        return any("insert" in EXPLAINS.get(loss.code, ()) for loss in (*self.out, *self.back))


_HOSTED = frozenset({"tool.hosted.dropped", "tool.hosted.mapped", "tool.hosted.as_function"})
"""A hosted tool does not come back as it was: it is gone, the target's own, or a function."""


def request_differences(
    first: Request, middle: Request, last: Request, out: Iterable[Loss], back: Iterable[Loss]
) -> list[str]:
    """What differs between a request and itself after the journey, and no loss explains."""
    journey = Journey(_inside(out), _inside(back), _atoms(_said_in(middle)))
    found = list(_compared(_said_in(first), _said_in(last), journey))
    found += _tools(first, middle, last, journey)
    found += _choice(first, last, journey)
    found += _settings(first, middle, last, journey)
    if first.model and last.model not in ("", first.model):  # "": it stands in the address
        found.append(f"model: {first.model} became {last.model}")
    return found


def response_differences(
    first: Response, middle: Response, last: Response, out: Iterable[Loss], back: Iterable[Loss]
) -> list[str]:
    """The same for answers."""
    journey = Journey(_inside(out), _inside(back), _atoms(_answered_in(middle)))
    if journey.said("stop.approximated"):
        last = _without_words(first, last)
    found = list(_compared(_answered_in(first, journey), _answered_in(last, journey), journey))
    if first.stop.reason != last.stop.reason and not journey.said("stop.approximated"):
        found.append(f"stop: {first.stop.reason} became {last.stop.reason}")
    if first.stop.sequence != last.stop.sequence and not journey.said("stop.approximated"):
        found.append(f"stop sequence: {first.stop.sequence} became {last.stop.sequence}")
    for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
        one, other = getattr(first.usage, name, None) or 0, getattr(last.usage, name, None) or 0
        if one != other and not journey.said("usage."):
            found.append(f"usage {name}: {one} became {other}")
    if first.id and original(first.id) != original(last.id) and not made(first.id) and not journey.said("id."):
        found.append(f"id: {first.id} became {last.id}")
    if first.model and first.model != last.model:
        found.append(f"model: {first.model} became {last.model}")
    if len(first.alternatives) != len(last.alternatives) and not journey.said("answer.dropped"):
        found.append(f"{len(first.alternatives)} alternatives became {len(last.alternatives)}")
    return found


def _without_words(first: Response, last: Response) -> Response:
    """An answer that failed says so in words at its end, where the dialect between has no word for it."""
    words, end = failure(first.stop), last.parts[-1] if last.parts else None
    if not words or not isinstance(end, Text) or not end.text.endswith(words):
        return last
    text = end.text.removesuffix(words).removesuffix(GAP)
    kept = (msgspec.structs.replace(end, text=text),) if text else ()
    return msgspec.structs.replace(last, parts=(*last.parts[:-1], *kept))


def _inside(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """Losses with the place in the document, as parts know it, where the document stands in an envelope."""
    return tuple([msgspec.structs.replace(loss, path=inside(loss.path)) for loss in losses])


# atoms


def _said_in(request: Request) -> list[Step]:
    steps: list[Step] = []
    for turn in request.turns:
        role = "system" if turn.role == "developer" else turn.role
        steps += [(role, turn.name, _shown(part)) for part in turn.parts]
    return _with_client_items(steps)


def _with_client_items(steps: list[Step]) -> list[Step]:
    """Items of tools that OpenAI defines and the client runs as calls and results, which they are to other dialects."""
    items = ClientItems(Context(responses_wire.NAME, "elsewhere"))
    out: list[Step] = []
    for role, author, part in steps:
        if isinstance(part, Opaque) and part.dialect == responses_wire.NAME and part.kind in CLIENT_ITEMS:
            part = items.read(responses_wire.Item(part.kind, strange=part.value), part.at) or part
        out.append(("tool" if isinstance(part, ToolResult) else role, author, part))
    return out


def _answered_in(response: Response, journey: Journey | None = None) -> list[Step]:
    steps: list[Step] = [("assistant", "", _shown(part)) for part in response.parts]
    if journey is None or not journey.said("answer.dropped"):
        for number, other in enumerate(response.alternatives):
            steps += [(f"answer {number + 2}", "", _shown(part)) for part in other.parts]
    return steps


def _shown(part: Part) -> Part:
    """An image that the model made is an image everywhere, though Responses has an item of its own for it."""
    if type(part) is Opaque and part.kind == "image_generation_call":
        item = msgspec.json.decode(part.value)
        data = item.get("result") if isinstance(item, dict) else None  # how the image was made is a part of its own
        if data:
            return Media("image", data=data, at=part.at)
    return part


def _atoms(steps: list[Step]) -> list[Atom]:
    """Parts as atoms; texts in a row (and thoughts in a row) of one role are one atom."""
    out: list[Atom] = []
    for role, author, part in steps:
        if not isinstance(part, Text | Reasoning):
            out.append(_atom(role, author, part))
            continue
        if not part.text and part.seal is None:
            continue  # an empty text says nothing
        kind = type(part).__name__.lower()
        refusal = isinstance(part, Text) and part.refusal
        last = out[-1] if out else None
        if last is None or (last.kind, last.role, last.sides.get("refusal")) != (kind, role, refusal):
            last = Atom(kind, role, "", {"refusal": refusal, "author": author}, [], [])
            out.append(last)
        _grow(last, part)
    # Pieces are joined with or without white space between them, so the key has none.
    return [atom._replace(key=_bare("".join(atom.texts))) if atom.texts else atom for atom in out]


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _grow(run: Atom, part: Text | Reasoning) -> None:
    before = sum(map(len, run.texts))
    run.texts.append(part.text)
    run.ats.append(part.at)
    for side, value in (("cache", part.cache), ("seal", part.seal)):
        if _side(value) is not None:
            run.sides.setdefault(side, []).append(_side(value))
    for cited in part.citations if isinstance(part, Text) else ():
        # Without a position it is the whole text that is cited.
        start, end = cited.start or 0, len(part.text) if cited.end is None else cited.end
        run.sides.setdefault("citations", []).append(
            [cited.url, cited.title, cited.quote, before + start, before + end]
        )


def _side(value: Any) -> Json:
    """A side without what only one dialect knows, and without the model, which a seal may learn on the way."""
    tree = placeless(value)
    if isinstance(value, Seal) and '"anthropic-claude-v1"' in value.data:
        # Anthropic's signature, as OpenRouter spells it: it crosses between the two.
        entry = json.loads(value.data)
        return {"dialect": "anthropic", "data": entry.get("signature") or entry.get("data")}
    if isinstance(value, Seal):
        return {"dialect": value.dialect, "data": value.data} if value.data else None
    return tree


def _atom(role: str, author: str, part: Part) -> Atom:
    sides: dict[str, Json] = {"author": author, "cache": part.cache, "seal": _side(part.seal)}
    if isinstance(part, Media):
        # A file's name and its type may be guessed from each other, its bytes may not.
        data = part.data.replace("-", "+").replace("_", "/")  # base64 has two alphabets
        key = f"{part.kind} {data or part.url or part.file}"
        detail = "" if part.detail == "auto" else part.detail
        return Atom("media", role, key, {**sides, "media.detail": detail}, [part.at], [])
    if isinstance(part, ToolCall):
        key = f"{part.name} {part.arguments if part.custom else _json(part.arguments)}"
        more = {"call.id": _own_id(part.id), "custom": part.custom, "namespace": part.namespace}
        return Atom("call", role, key, {**sides, **more}, [part.at], [])
    if isinstance(part, ToolResult):
        # Text and media of a result stand in separate fields in some dialects: their order is not told.
        inner = _atoms([("tool", "", piece) for piece in sorted(part.parts, key=lambda one: isinstance(one, Media))])
        if part.is_error and [atom.key for atom in inner] == ["Error"]:
            inner = []  # an error must say something in some dialects
        if [atom.kind for atom in inner[:2]] == ["text", "media"] and _ANNOUNCED.fullmatch(inner[0].texts[0]):
            inner = inner[1:]  # so must a result that is media alone, in Gemini
        key = " ".join([f"{atom.kind} {_json(atom.key)}" for atom in inner])
        more = {"call.id": _own_id(part.call_id), "is_error": part.is_error, "structured": part.structured}
        # A cache mark may stand on the result or on what is in it.
        marks = [part.cache, *[mark for atom in inner for mark in atom.sides.get("cache") or ()]]
        more["cache"] = next((mark for mark in marks if mark is not None), None)
        places = [part.at, *[at for atom in inner for at in atom.ats]]
        return Atom("result", "tool", key, {**sides, **more}, places, [])
    if isinstance(part, HostedResult) and is_stored_elsewhere(part):
        # It is a part of its call, or of the answer's metadata.
        return Atom("opaque", role, f"{part.dialect} of {part.family}", sides, [part.at], [])
    if isinstance(part, Opaque):
        return Atom("opaque", role, f"{part.dialect} {_json(str(part.value, 'utf-8'))}", sides, [part.at], [])
    raise TypeError(type(part).__name__)


_ANNOUNCED = re.compile(r"Binary content of type \S+ was processed\.( \(.*\))?")


def _own_id(call_id: str) -> str:
    """The upstream's id. A way by two dialects of the Chat family marks an id twice."""
    own = from_chat_client(call_id)
    return own if own == call_id else _own_id(own)


def _json(text: str) -> str:
    """The text in one spelling if it is JSON. Blank arguments and null are an empty object: no arguments."""
    if not text.strip() or text.strip() == "null":
        return "{}"
    try:
        return msgspec.json.encode(msgspec.json.decode(text), order="sorted").decode()
    except msgspec.DecodeError:
        return _bare(text)


# comparing


def _compared(first_steps: list[Step], last_steps: list[Step], journey: Journey) -> list[str]:
    """What differs. Where something became text or another item, that may have come back as nothing, or still part the
    texts around it: one of the two must hold."""
    found = list(_compared_once(first_steps, last_steps, journey, parting=False))
    return found and min(found, list(_compared_once(first_steps, last_steps, journey, parting=True)), key=len)


def _compared_once(
    first_steps: list[Step], last_steps: list[Step], journey: Journey, *, parting: bool
) -> Iterator[str]:
    if journey.said("order.approximated") or journey.said("result.moved"):
        first_steps, last_steps = _ordered(first_steps), _ordered(last_steps)
    first, last = _atoms(first_steps), _atoms(last_steps)
    middle = {i: journey.middle[j] for i, j in _matches(first, journey.middle)}
    there = dict(_matches(first, last))
    lost = [i for i in range(len(first)) if i not in there and first[i].kind in ("opaque", "reasoning", "media")]
    excused = [i for i in lost if _explained(first[i].kind, i, first, middle, journey)]
    if parting:
        excused = [i for i in excused if not _became_another(first[i], journey)]
    if excused:
        # What is gone for a reason no longer stands between two texts.
        gone_at = [(first[i].kind, at) for i in excused for at in first[i].ats]  # parts of streams have no place
        first = _atoms([step for step in first_steps if (_kind(step[2]), step[2].at) not in gone_at])
        closed = _closed_up(journey.middle)
        middle = {i: closed[j] for i, j in _matches(first, closed)}
        middle |= {i: journey.middle[j] for i, j in _matches(first, journey.middle)}
    come_back = _matches(first, last)
    for i, j in come_back:
        yield from _sides(i, first, last[j], middle, journey)
    gone = [i for i in range(len(first)) if i not in {one for one, _ in come_back}]
    new = [j for j in range(len(last)) if j not in {other for _, other in come_back}]
    for i in gone:
        if first[i].kind == "call" and journey.renamed_call(first[i].key):
            continue
        if _explained(first[i].kind, i, first, middle, journey) or _within(first[i], [last[j] for j in new], journey):
            continue
        yield f"{_where(first[i])}: {first[i].kind} did not come back: {first[i].key[:100]!r}"
    # What changed is gone in one form and new in another; more new things than that need a reason of their own.
    if len(new) > len(gone) + len(excused) and not journey.inserts():
        for j in new:
            yield f"a new {last[j].kind} by {last[j].role}: {last[j].key[:100]!r}"


def _became_another(atom: Atom, journey: Journey) -> bool:
    """Whether words or an item stand now where the atom stood: they part the texts around them, as the atom did."""
    codes = ("part.as_text", "hosted.mapped")
    return any(loss.code in codes and _covers(loss, atom.ats) for loss in journey.out)


def _kind(part: Part) -> str:
    return "opaque" if isinstance(part, Opaque) else type(part).__name__.lower()


def _closed_up(atoms: list[Atom]) -> list[Atom]:
    """The atoms without hosted parts; texts of one role that stood at both sides of one are one atom."""
    out: list[Atom] = []
    for atom in atoms:
        last = out[-1] if out else None
        if atom.kind == "opaque":
            continue
        if last is None or not atom.texts or (last.kind, last.role) != (atom.kind, atom.role):
            out.append(atom)
        else:
            out[-1] = last._replace(key=last.key + atom.key, ats=last.ats + atom.ats, texts=last.texts + atom.texts)
    return out


def _within(atom: Atom, new: list[Atom], journey: Journey) -> bool:
    """Whether a text came back with words of ours in front of it, behind it or between its pieces."""
    if not atom.texts or not journey.inserts():
        return False
    for other in new:
        if (other.kind, other.role) != (atom.kind, atom.role):
            continue
        place = 0
        for text in atom.texts:
            place = other.key.find(_bare(text), place)
            if place < 0:
                break
        else:
            return True
    return False


def _ordered(steps: list[Step]) -> list[Step]:
    """Within what the assistant says between two others: thoughts first, calls last; of the rest: results first. Media
    behind the words."""
    out: list[Step] = []
    for _, run in groupby(steps, key=lambda step: step[0] in ("user", "tool", "system")):
        out += sorted(run, key=_rank)
    return out


def _rank(step: Step) -> int:
    part = step[2]
    if isinstance(part, Reasoning | ToolResult | HostedCall | HostedResult):
        return 0
    return 3 if isinstance(part, ToolCall) else 2 if isinstance(part, Media) else 1


def _matches(first: list[Atom], second: list[Atom]) -> list[tuple[int, int]]:
    """Pairs of places whose atoms are the same."""
    one = [f"{atom.kind} {atom.role} {atom.key}" for atom in first]
    other = [f"{atom.kind} {atom.role} {atom.key}" for atom in second]
    if len(one) * len(other) <= _TABLE:
        return _longest(one, other)
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]


_TABLE = 40_000
"""Up to so many cells the most matches are looked for. SequenceMatcher takes the longest block first, which may match
the empty result of one call with that of another call."""


def _longest(one: list[str], other: list[str]) -> list[tuple[int, int]]:
    """The most pairs of equal words, in order."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        row, below = table[i], table[i + 1]
        for j in range(len(other) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if one[i] == other[j] else max(below[j], row[j + 1])
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _sides(i: int, atoms: list[Atom], last: Atom, middle: dict[int, Atom], journey: Journey) -> Iterator[str]:
    first = atoms[i]
    texts, others = [list(filter(None, atom.texts)) for atom in (first, last)]  # sealed thoughts may have no words
    if len(texts) == len(others) and texts != others:
        if not _explained("text", i, atoms, middle, journey):
            yield f"{_where(first)}: the text changed: {differences(texts, others)[0]}"
    for side in {**first.sides, **last.sides}:
        one, other = first.sides.get(side), last.sides.get(side)
        if side == "call.id" and one and other and made(one) and made(other):
            continue  # there was none on either wire
        if one != other and not _explained(side, i, atoms, middle, journey):
            yield f"{_where(first)}: {side} of a {first.kind}: {one!r} became {other!r}"


def _explained(kind: str, i: int, atoms: list[Atom], middle: dict[int, Atom], journey: Journey) -> bool:
    """Whether a loss of the first leg at the atom's place, or one of the second at its place in the middle, says so."""
    group = [i]
    if kind == "call.id":
        # A rewritten id is reported where it stands first: at the call, for its result too.
        group = [j for j, other in enumerate(atoms) if other.sides.get(kind) == atoms[i].sides[kind]]
    places = [at for j in group for at in atoms[j].ats]
    if any(kind in EXPLAINS.get(loss.code, ()) and _covers(loss, places) for loss in journey.out):
        return True
    places = [at for j in group if j in middle for at in middle[j].ats]
    # What did not get as far as the second leg is no matter of the second leg.
    return bool(places) and any(kind in EXPLAINS.get(loss.code, ()) and _covers(loss, places) for loss in journey.back)


def _covers(loss: Loss, places: list[Path]) -> bool:
    """Whether the loss stands at one of the places, above it or below it. Parts of streams have no place."""
    return not loss.path or any(not at or _near(loss.path, pointer(at)) for at in places)


def _near(one: str, other: str) -> bool:
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")


def _where(atom: Atom) -> str:
    return pointer(atom.ats[0]) if atom.ats and atom.ats[0] else atom.role


# tools, choice, settings


def _tools(first: Request, middle: Request, last: Request, journey: Journey) -> Iterator[str]:
    back = {tool.name: tool for tool in last.tools if isinstance(tool, Tool)}
    between = {tool.name: tool for tool in middle.tools if isinstance(tool, Tool)}
    for tool in first.tools:
        if not isinstance(tool, Tool):
            if any(not isinstance(one, Tool) and placeless(one) == placeless(tool) for one in last.tools):
                continue
            lost = [loss for loss in journey.out if loss.code in _HOSTED and _covers(loss, [tool.at])]
            lost += [loss for loss in journey.back if loss.code == "tool.hosted.dropped" and loss.detail == tool.kind]
            if not lost:
                yield f"{pointer(tool.at)}: the hosted tool {tool.kind} is gone"
            continue
        other = back.get(tool.name)
        said = {loss.code for loss in journey.out if _covers(loss, [tool.at])}
        place = between.get(tool.name)
        said |= {loss.code for loss in journey.back if place is not None and _covers(loss, [place.at])}
        if other is None:
            left_out = journey.said("choice.by_filter") or journey.said("choice.none.by_omission")
            if not journey.renamed(tool.name) and not left_out:
                yield f"{pointer(tool.at)}: the tool {tool.name} is gone"
            continue
        yield from _tool(_with_mode(tool, first), _with_mode(other, last), said)


def _with_mode(tool: Tool, request: Request) -> Tool:
    """A tool of a request, strict where Gemini's mode VALIDATED says so for all functions."""
    own = (request.choice.extra or {}).get("gemini", {}) if request.choice is not None else {}
    validated = bytes(own.get("mode", b"")).upper() == b'"VALIDATED"'
    return msgspec.structs.replace(tool, strict=True) if validated else tool


_TOOL_SIDES: dict[str, tuple[str, ...]] = {
    "description": ("tool.custom.wrapped", "schema.", "tool.examples.as_text"),
    "schema": ("schema.", "tool.custom.wrapped"),
    "strict": ("tool.strict.", "schema."),
    "custom": ("tool.custom.wrapped",),
    "grammar": ("tool.custom.wrapped",),
    "namespace": ("tool.namespace.prefixed",),
    "deferred": ("tool.deferred.expanded",),
    "output_schema": ("tool.output_schema.dropped", "schema."),
    "cache": ("cache.",),
}


def _tool(tool: Tool, other: Tool, said: set[str]) -> Iterator[str]:
    for side, codes in _TOOL_SIDES.items():
        one, two = getattr(tool, side), getattr(other, side)
        if side in ("schema", "output_schema"):
            one, two = _schema(one), _schema(two)
        if side == "strict":
            one, two = bool(one), bool(two)  # leaving it out means loose
        if one != two and not any(code.startswith(codes) for code in said):
            yield f"{pointer(tool.at)}: {side} of tool {tool.name}: {str(one)[:80]} became {str(two)[:80]}"


def _schema(text: str | None) -> Json:
    """No schema, an empty one and an object without properties all say: no arguments."""
    value = {} if text is None else msgspec.json.decode(text)
    words = {"type", "properties", "required", "additionalProperties", "description"}
    if isinstance(value, dict) and not value.get("properties") and not set(value) - words:
        return {"description": value["description"]} if value.get("description") else {}
    return value


def _chosen(request: Request) -> tuple[str, tuple[str, ...]]:
    """Mode and names. A subset of one that must be called is the one tool: Gemini says both in the same words."""
    choice = request.choice
    if choice is None:
        return "auto", ()
    if choice.mode == "auto" and set(choice.names) >= {tool.name for tool in request.tools if isinstance(tool, Tool)}:
        return "auto", ()  # of all tools there are
    alone = choice.mode == "required" and len(choice.names) == 1
    return "one" if alone else choice.mode, choice.names


def _choice(first: Request, last: Request, journey: Journey) -> Iterator[str]:
    one, other = _chosen(first), _chosen(last)
    if one != other and not journey.said("choice.") and not journey.said("tool.renamed"):
        yield f"choice: {one} became {other}"


def _settings(first: Request, middle: Request, last: Request, journey: Journey) -> Iterator[str]:
    for name, codes in SETTINGS.items():
        if name == "thoughts" and first.settings.thoughts is None and (middle.settings.thoughts or middle is first):
            continue  # where a model that is told to think shows its thoughts, the wish to see them is said, too
        if name == "thoughts" and first.settings.effort == "none":
            continue  # there are none to be seen
        one, other = _setting(name, first), _setting(name, last)
        if name == "effort" and (one, other) == (None, "none") and _thinks_when_asked(first.model):
            continue  # with tools Chat's writer says what holds anyway
        if one != other and (one or other) and not any(journey.said(code) for code in codes):
            yield f"setting {name}: {one!r} became {other!r}"


def _thinks_when_asked(model: str) -> bool:
    """Whether an OpenAI model does not think unless it is asked to."""
    return profiles.lookup("openai-chat", model).effort_default == "none"


def _setting(name: str, request: Request) -> Json:
    """A setting, where several ways to say the same count as one."""
    value = getattr(request.settings, name)
    if name == "parallel":
        return value is not False or not request.tools  # leaving it out allows it; without tools it says nothing
    if name == "format":
        return _format(value)
    if name == "n":
        return value or 1
    if name == "tier":
        return None if value == "auto" else value
    if name in ("temperature", "top_p"):
        return None if value == 1 else value  # the default of every dialect here
    if name == "effort":
        return "none" if request.settings.budget == 0 else value
    if name == "budget":
        return None if value in (0, -1) else value  # no thinking is an effort of none; -1 leaves it to the model
    return value


def _format(shape: Json) -> Json:
    tree = placeless(shape)
    if isinstance(tree, dict):
        tree = {"kind": tree["kind"], "schema": _schema(tree["schema"])}
    return tree
