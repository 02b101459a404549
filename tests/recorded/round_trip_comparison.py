"""Owns the comparison of a document with itself after a round trip to another dialect and back.

Every value must come back, except where a loss of either direction explains the difference. The code of the loss must
explain this kind of difference, and the place of the loss must be the place of the value. The document is first
flattened into atoms. So consecutive turns of one role, and texts in several pieces, make no difference.
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
from dragoman.codec.answer_ids import original_id
from dragoman.codec.call_ids import from_chat_client
from dragoman.codec.failure_sentence_in_answer import GAP, failure
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

# Which kinds of difference a loss explains. "insert" is a value that was not in the document before.
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
    """One unit of content: its kind, its role, its identity (`key`), its other properties (`sides`), and its places."""

    kind: str
    role: str
    key: str
    sides: dict[str, Json]
    ats: list[Path]
    texts: list[str]


class Journey(NamedTuple):
    """The losses of both directions, and the atoms in the dialect between."""

    out: tuple[Loss, ...]
    back: tuple[Loss, ...]
    middle: list[Atom]

    def reports_loss(self, code: str) -> bool:
        """Whether either direction reported a loss whose code begins with `code`."""
        return any(loss.code.startswith(code) for loss in (*self.out, *self.back))

    def renamed(self, name: str) -> bool:
        """Whether either direction reported a new name for this tool."""
        codes = ("tool.renamed", "tool.namespace.prefixed")
        return any(loss.code in codes and f"{name} is sent as" in loss.detail for loss in (*self.out, *self.back))

    def renamed_call(self, key: str) -> bool:
        """Whether either direction renamed the tool of a call. `key`: the tool's name, a blank and the arguments."""
        codes = ("tool.renamed", "tool.namespace.prefixed")
        names = [loss.detail.partition(" is sent as ")[0] for loss in (*self.out, *self.back) if loss.code in codes]
        return any(key.startswith((f"{name} ", f"{name.rpartition('/')[2]} ")) for name in names)

    def inserts(self) -> bool:
        """Whether either direction reported that it added text of the library."""
        return any("insert" in EXPLAINS.get(loss.code, ()) for loss in (*self.out, *self.back))


_HOSTED = frozenset({"tool.hosted.dropped", "tool.hosted.mapped", "tool.hosted.as_function"})
"""Losses after which a hosted tool comes back changed: dropped, replaced by a tool of the target, or a function."""


def request_differences(
    first: Request, middle: Request, last: Request, out: Iterable[Loss], back: Iterable[Loss]
) -> list[str]:
    """Yield the differences between a request and the same request after the round trip that no loss explains."""
    journey = Journey(_inside(out), _inside(back), _atoms(_request_steps(middle)))
    found = list(_compared(_request_steps(first), _request_steps(last), journey))
    found += _tools(first, middle, last, journey)
    found += _choice(first, last, journey)
    found += _settings(first, middle, last, journey)
    if first.model and last.model not in ("", first.model):  # "": the model is in the URL
        found.append(f"model: {first.model} became {last.model}")
    return found


def response_differences(
    first: Response, middle: Response, last: Response, out: Iterable[Loss], back: Iterable[Loss]
) -> list[str]:
    """Yield the differences between an answer and the same answer after the round trip that no loss explains."""
    journey = Journey(_inside(out), _inside(back), _atoms(_answer_steps(middle)))
    if journey.reports_loss("stop.approximated"):
        last = _without_words(first, last)
    found = list(_compared(_answer_steps(first, journey), _answer_steps(last, journey), journey))
    if first.stop.reason != last.stop.reason and not journey.reports_loss("stop.approximated"):
        found.append(f"stop: {first.stop.reason} became {last.stop.reason}")
    if first.stop.sequence != last.stop.sequence and not journey.reports_loss("stop.approximated"):
        found.append(f"stop sequence: {first.stop.sequence} became {last.stop.sequence}")
    for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
        one, other = getattr(first.usage, name, None) or 0, getattr(last.usage, name, None) or 0
        if one != other and not journey.reports_loss("usage."):
            found.append(f"usage {name}: {one} became {other}")
    if (
        first.id
        and original_id(first.id) != original_id(last.id)
        and not made(first.id)
        and not journey.reports_loss("id.")
    ):
        found.append(f"id: {first.id} became {last.id}")
    if first.model and first.model != last.model:
        found.append(f"model: {first.model} became {last.model}")
    if len(first.alternatives) != len(last.alternatives) and not journey.reports_loss("answer.dropped"):
        found.append(f"{len(first.alternatives)} alternatives became {len(last.alternatives)}")
    return found


def _without_words(first: Response, last: Response) -> Response:
    """Drop the text at the end of a failed answer that stands for the failure in a dialect without a field for it."""
    words, end = failure(first.stop), last.parts[-1] if last.parts else None
    if not words or not isinstance(end, Text) or not end.text.endswith(words):
        return last
    text = end.text.removesuffix(words).removesuffix(GAP)
    kept = (msgspec.structs.replace(end, text=text),) if text else ()
    return msgspec.structs.replace(last, parts=(*last.parts[:-1], *kept))


def _inside(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """Remove the envelope from the places of losses: the places of parts do not have it."""
    return tuple([msgspec.structs.replace(loss, path=inside(loss.path)) for loss in losses])


# atoms


def _request_steps(request: Request) -> list[Step]:
    steps: list[Step] = []
    for turn in request.turns:
        role = "system" if turn.role == "developer" else turn.role
        steps += [(role, turn.name, _shown(part)) for part in turn.parts]
    return _with_client_items(steps)


def _with_client_items(steps: list[Step]) -> list[Step]:
    """Turn items of tools that OpenAI defines and the client runs into calls and results, as in other dialects."""
    items = ClientItems(Context(responses_wire.NAME, "elsewhere"))
    out: list[Step] = []
    for role, author, part in steps:
        if isinstance(part, Opaque) and part.dialect == responses_wire.NAME and part.kind in CLIENT_ITEMS:
            part = items.read(responses_wire.Item(part.kind, strange=part.value), part.at) or part
        out.append(("tool" if isinstance(part, ToolResult) else role, author, part))
    return out


def _answer_steps(response: Response, journey: Journey | None = None) -> list[Step]:
    steps: list[Step] = [("assistant", "", _shown(part)) for part in response.parts]
    if journey is None or not journey.reports_loss("answer.dropped"):
        for number, other in enumerate(response.alternatives):
            steps += [(f"answer {number + 2}", "", _shown(part)) for part in other.parts]
    return steps


def _shown(part: Part) -> Part:
    """Return an image that the model made as an image. Only Responses has a separate item for it."""
    if type(part) is Opaque and part.kind == "image_generation_call":
        item = msgspec.json.decode(part.value)
        data = item.get("result") if isinstance(item, dict) else None  # how the image was made: a separate part
        if data:
            return Media("image", data=data, at=part.at)
    return part


def _atoms(steps: list[Step]) -> list[Atom]:
    """Return parts as atoms; consecutive texts (and consecutive thoughts) of one role are one atom."""
    out: list[Atom] = []
    for role, author, part in steps:
        if not isinstance(part, Text | Reasoning):
            out.append(_atom(role, author, part))
            continue
        if not part.text and part.seal is None:
            continue  # an empty text has no meaning
        kind = type(part).__name__.lower()
        refusal = isinstance(part, Text) and part.refusal
        last = out[-1] if out else None
        if last is None or (last.kind, last.role, last.sides.get("refusal")) != (kind, role, refusal):
            last = Atom(kind, role, "", {"refusal": refusal, "author": author}, [], [])
            out.append(last)
        _grow(last, part)
    # Pieces are joined with or without white space between them, so the key has no white space.
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
        # Without a position the whole text is cited.
        start, end = cited.start or 0, len(part.text) if cited.end is None else cited.end
        run.sides.setdefault("citations", []).append(
            [cited.url, cited.title, cited.quote, before + start, before + end]
        )


def _side(value: Any) -> Json:
    """Return a property without fields of one dialect only, and without the model, which a seal may get on the way."""
    tree = placeless(value)
    if isinstance(value, Seal) and '"anthropic-claude-v1"' in value.data:
        # Anthropic's signature in the form of OpenRouter: it is translated between these two dialects.
        entry = json.loads(value.data)
        return {"dialect": "anthropic", "data": entry.get("signature") or entry.get("data")}
    if isinstance(value, Seal):
        return {"dialect": value.dialect, "data": value.data} if value.data else None
    return tree


def _atom(role: str, author: str, part: Part) -> Atom:
    sides: dict[str, Json] = {"author": author, "cache": part.cache, "seal": _side(part.seal)}
    if isinstance(part, Media):
        # The library may derive a file's name from its type and its type from its name, but never its bytes.
        data = part.data.replace("-", "+").replace("_", "/")  # base64 has two alphabets
        key = f"{part.kind} {data or part.url or part.file}"
        detail = "" if part.detail == "auto" else part.detail
        return Atom("media", role, key, {**sides, "media.detail": detail}, [part.at], [])
    if isinstance(part, ToolCall):
        key = f"{part.name} {part.arguments if part.custom else _json(part.arguments)}"
        more = {"call.id": _own_id(part.id), "custom": part.custom, "namespace": part.namespace}
        return Atom("call", role, key, {**sides, **more}, [part.at], [])
    if isinstance(part, ToolResult):
        # In some dialects the text and the media of a result are in separate fields, so their order is not sent.
        inner = _atoms([("tool", "", piece) for piece in sorted(part.parts, key=lambda one: isinstance(one, Media))])
        if part.is_error and [atom.key for atom in inner] == ["Error"]:
            inner = []  # some dialects require a text in an error
        if [atom.kind for atom in inner[:2]] == ["text", "media"] and _ANNOUNCED.fullmatch(inner[0].texts[0]):
            inner = inner[1:]  # Gemini requires a text in a result of media only
        key = " ".join([f"{atom.kind} {_json(atom.key)}" for atom in inner])
        more = {"call.id": _own_id(part.call_id), "is_error": part.is_error, "structured": part.structured}
        # A cache mark may be on the result or on its content.
        marks = [part.cache, *[mark for atom in inner for mark in atom.sides.get("cache") or ()]]
        more["cache"] = next((mark for mark in marks if mark is not None), None)
        places = [part.at, *[at for atom in inner for at in atom.ats]]
        return Atom("result", "tool", key, {**sides, **more}, places, [])
    if isinstance(part, HostedResult) and is_stored_elsewhere(part):
        # The part belongs to its call, or to the metadata of the answer.
        return Atom("opaque", role, f"{part.dialect} of {part.family}", sides, [part.at], [])
    if isinstance(part, Opaque):
        return Atom("opaque", role, f"{part.dialect} {_json(str(part.value, 'utf-8'))}", sides, [part.at], [])
    raise TypeError(type(part).__name__)


_ANNOUNCED = re.compile(r"Binary content of type \S+ was processed\.( \(.*\))?")


def _own_id(call_id: str) -> str:
    """Return the upstream's id. A translation through two dialects of the Chat family marks an id twice."""
    own = from_chat_client(call_id)
    return own if own == call_id else _own_id(own)


def _json(text: str) -> str:
    """Return JSON text in one spelling. Blank arguments and null become an empty object: no arguments."""
    if not text.strip() or text.strip() == "null":
        return "{}"
    try:
        return msgspec.json.encode(msgspec.json.decode(text), order="sorted").decode()
    except msgspec.DecodeError:
        return _bare(text)


# comparing


def _compared(first_steps: list[Step], last_steps: list[Step], journey: Journey) -> list[str]:
    """Return the differences. An atom that became text or another item may be gone after the round trip, or may still
    separate the texts around it: one of both comparisons must hold."""
    found = list(_compared_once(first_steps, last_steps, journey, parting=False))
    return found and min(found, list(_compared_once(first_steps, last_steps, journey, parting=True)), key=len)


def _compared_once(
    first_steps: list[Step], last_steps: list[Step], journey: Journey, *, parting: bool
) -> Iterator[str]:
    if journey.reports_loss("order.approximated") or journey.reports_loss("result.moved"):
        first_steps, last_steps = _ordered(first_steps), _ordered(last_steps)
    first, last = _atoms(first_steps), _atoms(last_steps)
    middle = {i: journey.middle[j] for i, j in _matches(first, journey.middle)}
    there = dict(_matches(first, last))
    lost = [i for i in range(len(first)) if i not in there and first[i].kind in ("opaque", "reasoning", "media")]
    excused = [i for i in lost if _explained(first[i].kind, i, first, middle, journey)]
    if parting:
        excused = [i for i in excused if not _became_another(first[i], journey)]
    if excused:
        # An atom that is gone with a reported loss no longer separates two texts.
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
    # A changed atom is gone in one form and new in another. More new atoms than that need a loss that explains them.
    if len(new) > len(gone) + len(excused) and not journey.inserts():
        for j in new:
            yield f"a new {last[j].kind} by {last[j].role}: {last[j].key[:100]!r}"


def _became_another(atom: Atom, journey: Journey) -> bool:
    """Whether a text or an item replaced the atom: it separates the texts around it, as the atom did."""
    codes = ("part.as_text", "hosted.mapped")
    return any(loss.code in codes and _covers(loss, atom.ats) for loss in journey.out)


def _kind(part: Part) -> str:
    return "opaque" if isinstance(part, Opaque) else type(part).__name__.lower()


def _closed_up(atoms: list[Atom]) -> list[Atom]:
    """Return the atoms without hosted parts; texts of one role on both sides of a hosted part become one atom."""
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
    """Whether a text came back with text of the library before it, after it or between its pieces."""
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
    """Order the content of each run of steps. For the assistant: thoughts first, calls last. For others: results first.
    Media after the text."""
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
    """Return pairs of positions with equal atoms."""
    one = [f"{atom.kind} {atom.role} {atom.key}" for atom in first]
    other = [f"{atom.kind} {atom.role} {atom.key}" for atom in second]
    if len(one) * len(other) <= _TABLE:
        ids = [[atom.sides.get("call.id") for atom in atoms] for atoms in (first, second)]
        return _longest(list(zip(one, ids[0], strict=True)), list(zip(other, ids[1], strict=True)))
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]


_TABLE = 40_000
"""Up to this number of cells, the exact maximum of matches is computed. SequenceMatcher takes the longest block first,
which may match the empty result of one call with that of another call."""


def _longest(one: list[tuple[str, Json]], other: list[tuple[str, Json]]) -> list[tuple[int, int]]:
    """Return the largest number of pairs with equal words, in order. Of several such sets, return the one with the most
    pairs of equal ids: two results of one turn may both be empty."""
    pair = 1 + min(len(one), len(other))  # one pair is worth more than all equal ids
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        row, below = table[i], table[i + 1]
        for j in range(len(other) - 1, -1, -1):
            row[j] = max(below[j], row[j + 1])
            if one[i][0] == other[j][0]:
                row[j] = max(row[j], below[j + 1] + pair + (one[i][1] == other[j][1]))
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if one[i][0] == other[j][0] and table[i][j] == table[i + 1][j + 1] + pair + (one[i][1] == other[j][1]):
            found.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _sides(i: int, atoms: list[Atom], last: Atom, middle: dict[int, Atom], journey: Journey) -> Iterator[str]:
    first = atoms[i]
    texts, others = [list(filter(None, atom.texts)) for atom in (first, last)]  # sealed thoughts may have no text
    if len(texts) == len(others) and texts != others:
        if not _explained("text", i, atoms, middle, journey):
            yield f"{_where(first)}: the text changed: {differences(texts, others)[0]}"
    for side in {**first.sides, **last.sides}:
        one, other = first.sides.get(side), last.sides.get(side)
        if side == "call.id" and one and other and made(one) and made(other):
            continue  # neither document had an id
        if one != other and not _explained(side, i, atoms, middle, journey):
            yield f"{_where(first)}: {side} of a {first.kind}: {one!r} became {other!r}"


def _explained(kind: str, i: int, atoms: list[Atom], middle: dict[int, Atom], journey: Journey) -> bool:
    """Whether a loss explains the difference: one of the first direction at the place of the atom, or one of the second
    direction at its place in the dialect between."""
    group = [i]
    if kind == "call.id":
        # A rewritten id is reported only once, at its first place: the report at the call also covers the result.
        group = [j for j, other in enumerate(atoms) if other.sides.get(kind) == atoms[i].sides[kind]]
    places = [at for j in group for at in atoms[j].ats]
    if any(kind in EXPLAINS.get(loss.code, ()) and _covers(loss, places) for loss in journey.out):
        return True
    places = [at for j in group if j in middle for at in middle[j].ats]
    # An atom that the first direction dropped cannot be explained by a loss of the second direction.
    return bool(places) and any(kind in EXPLAINS.get(loss.code, ()) and _covers(loss, places) for loss in journey.back)


def _covers(loss: Loss, places: list[Path]) -> bool:
    """Whether the loss is at one of the places, above it or below it. Parts of streams have no place."""
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
        loss_codes = {loss.code for loss in journey.out if _covers(loss, [tool.at])}
        place = between.get(tool.name)
        loss_codes |= {loss.code for loss in journey.back if place is not None and _covers(loss, [place.at])}
        if other is None:
            left_out = journey.reports_loss("choice.by_filter") or journey.reports_loss("choice.none.by_omission")
            if not journey.renamed(tool.name) and not left_out:
                yield f"{pointer(tool.at)}: the tool {tool.name} is gone"
            continue
        yield from _tool(_with_mode(tool, first), _with_mode(other, last), loss_codes)


def _with_mode(tool: Tool, request: Request) -> Tool:
    """Return the tool, strict if the request has Gemini's mode VALIDATED, which makes all functions strict."""
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


def _tool(tool: Tool, other: Tool, loss_codes: set[str]) -> Iterator[str]:
    for side, codes in _TOOL_SIDES.items():
        one, two = getattr(tool, side), getattr(other, side)
        if side in ("schema", "output_schema"):
            one, two = _schema(one), _schema(two)
        if side == "strict":
            one, two = bool(one), bool(two)  # absent means not strict
        if one != two and not any(code.startswith(codes) for code in loss_codes):
            yield f"{pointer(tool.at)}: {side} of tool {tool.name}: {str(one)[:80]} became {str(two)[:80]}"


def _schema(text: str | None) -> Json:
    """Return one form for an absent schema, an empty schema and an object without properties: all mean no arguments."""
    value = {} if text is None else msgspec.json.decode(text)
    words = {"type", "properties", "required", "additionalProperties", "description"}
    if isinstance(value, dict) and not value.get("properties") and not set(value) - words:
        return {"description": value["description"]} if value.get("description") else {}
    return value


def _chosen(request: Request) -> tuple[str, tuple[str, ...]]:
    """Return mode and names. A required subset of one tool equals the choice of that tool: Gemini writes both alike."""
    choice = request.choice
    if choice is None:
        return "auto", ()
    if choice.mode == "auto" and set(choice.names) >= {tool.name for tool in request.tools if isinstance(tool, Tool)}:
        return "auto", ()  # a subset of all tools
    alone = choice.mode == "required" and len(choice.names) == 1
    return "one" if alone else choice.mode, choice.names


def _choice(first: Request, last: Request, journey: Journey) -> Iterator[str]:
    one, other = _chosen(first), _chosen(last)
    if one != other and not journey.reports_loss("choice.") and not journey.reports_loss("tool.renamed"):
        yield f"choice: {one} became {other}"


def _settings(first: Request, middle: Request, last: Request, journey: Journey) -> Iterator[str]:
    for name, codes in SETTINGS.items():
        if name == "thoughts" and first.settings.thoughts is None and (middle.settings.thoughts or middle is first):
            continue  # where thinking is on and the model shows its thoughts, the wish to see them is written too
        if name == "thoughts" and first.settings.effort == "none":
            continue  # there are no thoughts to show
        one, other = _setting(name, first), _setting(name, last)
        if name == "effort" and (one, other) == (None, "none") and _thinks_on_request(first.model):
            continue  # with tools the writer of Chat writes the default
        if one != other and (one or other) and not any(journey.reports_loss(code) for code in codes):
            yield f"setting {name}: {one!r} became {other!r}"


def _thinks_on_request(model: str) -> bool:
    """Whether this OpenAI model thinks only if the request turns thinking on."""
    return profiles.lookup("openai-chat", model).effort_default == "none"


def _setting(name: str, request: Request) -> Json:
    """Return a setting in one form: several spellings of the same value become equal."""
    value = getattr(request.settings, name)
    if name == "parallel":
        return value is not False or not request.tools  # absent means allowed; without tools the setting has no effect
    if name == "format":
        return _format(value)
    if name == "n":
        return value or 1
    if name == "tier":
        return None if value == "auto" else value
    if name in ("temperature", "top_p"):
        return None if value == 1 else value  # the default of every dialect in this test
    if name == "effort":
        return "none" if request.settings.budget == 0 else value
    if name == "budget":
        return None if value in (0, -1) else value  # no thinking is the effort none; with -1 the model chooses
    return value


def _format(shape: Json) -> Json:
    tree = placeless(shape)
    if isinstance(tree, dict):
        tree = {"kind": tree["kind"], "schema": _schema(tree["schema"])}
    return tree
