"""Owns the verdict on every fact of a source document: kept, approximated, declared or silent."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from dragoman import Loss
from dragoman.codec import packed_seals
from dragoman.codec.reasoning_effort import THINKS_BY_DEFAULT

from .fields import Fact, Facts, Path, camel

Verdict = Literal["kept", "approximated", "declared", "silent"]
VERDICTS: tuple[Verdict, ...] = ("kept", "approximated", "declared", "silent")

TEXTS = (
    "text",
    "refusal",
    "thought",
    "result",
    "hosted",
    "tool.description",
    "citation.quote",
    "tool.grammar",
)
"""Kinds whose value may be part of a longer one: texts are joined, and notes are put in front of them."""

_NO_MEANING = re.compile(r"\s+")


_REPEATED = ("tool.", "format", "setting", "choice", "model", "citation", "usage", "hosted.tool")
"""Kinds whose value the target need not repeat as often as the source: a use and its result both name the tool."""


class Judged(NamedTuple):
    """A fact, its verdict, and the loss that reports it."""

    fact: Fact
    verdict: Verdict
    loss: Loss | None = None


# Losses about one aspect of an object: the kinds of facts that they report, by the beginning of the kind.
CONCERNS: dict[str, tuple[str, ...]] = {
    "seal.dropped": ("seal",),
    "cache.dropped": ("cache", "setting.cache_key"),
    "cache.approximated": ("cache",),
    "citation.dropped": ("citation",),
    "citation.approximated": ("citation",),
    "call.id.rewritten": ("call.id", "result.call"),
    "call.custom.wrapped": ("argument",),
    "tool.custom.wrapped": ("tool.grammar", "tool.description"),
    "tool.renamed": ("tool.name", "call.name", "choice.tool"),
    "tool.namespace.prefixed": ("tool.name", "tool.description", "call.name", "choice.tool", "other"),
    "tool.deferred.expanded": ("tool.option",),
    "tool.strict.dropped": ("tool.strict",),
    "tool.strict.approximated": ("tool.strict",),
    "tool.merged": (),
    "name.dropped": ("author",),
    "media.detail.dropped": ("media.detail",),
    "media.name.dropped": ("media.name",),
    "media.reference": ("media",),
    "media.retyped": ("media",),
    "order.approximated": (),
    "result.error.as_text": ("result.error",),
    "result.structured.as_text": (),
    "result.texts.joined": (),
    "result.moved": (),
    "refusal.as_text": ("finish", "refusal"),
    "system.demoted": (),
    "turn.dropped": (),
    "stop.approximated": ("finish",),
    "usage.dropped": ("usage",),
    "id.dropped": ("id",),
    "format.detail.dropped": ("format.name", "format.description", "format.strict"),
    "limit.raised": ("setting.limit",),
    "limit.lowered": ("setting.limit",),
    "fault.approximated": ("error",),
}


class Target:
    """The facts of a translation, ready for lookups."""

    def __init__(self, facts: Facts, body: bytes) -> None:
        self._left = Counter([(fact.kind, _own_id(fact)) for fact in facts])
        self._implied = facts.implied
        self._joined = {kind: bare(" ".join([fact.value for fact in facts if fact.kind == kind])) for kind in TEXTS}
        self._arguments = bare(" ".join([fact.value for fact in facts if fact.kind == "argument"]))
        self._all = "".join(self._joined.values())
        self._whole = body.decode("utf-8", "replace")
        packed = unpacked(self._whole)
        self._seals = " ".join([fact.value for fact in facts if fact.kind == "seal"]) + packed
        self._whole += packed

    def holds(self, fact: Fact) -> bool:
        """Whether the fact arrived. Each value of the target counts once, except for texts, which may be joined."""
        key = (fact.kind, fact.value)
        if self._left[key] > 0:
            self._left[key] -= not fact.kind.startswith(_REPEATED)
            return True
        if key in self._implied:
            return True
        if fact.kind == "media":
            return bool(words := _words_of(fact.value)) and bare(words) in self._all
        if fact.kind == "hosted" and bare(fact.value) in self._arguments:
            return True  # a client tool of the source's dialect is a function in other dialects
        if fact.kind in TEXTS:
            return bare(fact.value) in self._joined[fact.kind]
        if fact.kind.startswith("seal") or fact.kind.endswith(".seal"):  # also for found pages and for citations
            return fact.value in self._seals
        return False

    def reads(self, fact: Fact) -> bool:
        """Whether the value of the fact is in a text."""
        return bare(fact.value) in self._all

    def names(self, kind: str, name: str) -> bool:
        """Whether the target has a name, with or without the namespace that the library puts in front."""
        known = [value for found, value in self._left if found == kind]
        return any(value == name or value.endswith(f"__{name}") for value in known)

    def mentions(self, fact: Fact) -> bool:
        """Whether the value of the fact is at another place in the target."""
        if fact.kind in TEXTS and bare(fact.value) in self._all:
            return True
        if fact.kind == "other" and " " in fact.value:  # the name of the field, and its value
            return any(self._contains(value) for value in (fact.value, fact.value.partition(" ")[2]))
        return self._contains(fact.value)

    def _contains(self, value: str) -> bool:
        return len(value) >= 8 and value in self._whole


_PREFIXES = {"call.id": ("call__",), "id": ("chatcmpl--", "msg__", "resp__", "gen--")}
"""The prefix that the library adds to ids of another dialect, and removes on the way back."""


def _own_id(fact: Fact) -> str:
    """The value of a fact; an id without such a prefix."""
    prefix = next((one for one in _PREFIXES.get(fact.kind, ()) if fact.value.startswith(one)), "")
    return fact.value.removeprefix(prefix)


def _words_of(data: str) -> str:
    """The text of a document that is sent as base64; "" for other bytes."""
    try:
        return base64.b64decode(data + "=" * (-len(data) % 4), validate=True).decode()
    except ValueError:
        return ""


def bare(text: str) -> str:
    """A text without white space, because pieces are joined with or without it."""
    return _NO_MEANING.sub("", text)


_PACKED = re.compile(packed_seals.MARK + r"[A-Za-z0-9+/]*=*")


def unpacked(text: str) -> str:
    """The content that is packed in a text: a seal of another origin is base64 with the library's own mark."""
    found = [packed_seals.unpack(slot) for slot in _PACKED.findall(text)]
    return " ".join([seal.data for seal in found if seal is not None])


def judge(source: Iterable[Fact], target: Target, losses: Iterable[Loss], *, kind: str = "request") -> list[Judged]:
    """The verdict on each fact. A loss reports a fact when its path is the fact's path or a parent of it."""
    stream = kind == "stream"
    reported = [(loss, _steps(loss.path, stream)) for loss in losses if loss.effect != "invented"]
    found = [(fact, _covering(fact, reported, stream)) for fact in source]
    # Facts without a loss are matched first: of two equal values, the reported one is the lost one.
    found.sort(key=lambda one: one[1] is not None)
    judged = [_verdict(fact, loss, target, kind) for fact, loss in found]
    # Some hosts send one thought under two names, and a loss names one of them.
    known = {one.fact.value for one in judged if one.fact.kind == "thought" and one.verdict != "silent"}
    repeated = [one for one in judged if one.verdict == "silent" and one.fact.kind == "thought"]
    dropped = {one.fact.path for one in repeated if one.fact.value in known}
    return [one for one in judged if one.fact.path not in dropped]


READ_BY_MODEL = ("hosted", "hosted.tool", "citation.url", "citation.title", "citation.quote")
"""Kinds of facts of a hosted use. In a history only the model reads them: the same words in a text count as kept."""


def _covering(fact: Fact, reported: list[tuple[Loss, Path]], stream: bool) -> Loss | None:
    """The loss that reports a fact, the nearest one of several."""
    at = _normal(fact.path, stream)
    covering = [(len(path), loss) for loss, path in reported if _covers(loss, path, fact, at)]
    return max(covering, key=lambda one: one[0])[1] if covering else None


def _verdict(fact: Fact, loss: Loss | None, target: Target, kind: str) -> Judged:
    if target.holds(fact) or (kind == "request" and fact.kind in READ_BY_MODEL and target.reads(fact)):
        return Judged(fact, "kept")
    if loss is not None and _arrived_otherwise(fact, loss, target):
        return Judged(fact, "kept")
    moved = target.mentions(fact)
    if loss is not None:
        approximated = loss.effect == "approximated" or moved
        return Judged(fact, "approximated" if approximated else "declared", loss)
    return Judged(fact, "kept" if moved else "silent")


def _arrived_otherwise(fact: Fact, loss: Loss, target: Target) -> bool:
    """Whether the meaning of a fact arrived whole in another form. The loss reports the form."""
    if loss.code == "choice.by_filter" and fact.kind == "choice.tool":
        return target.names("tool.name", fact.value)  # no other tool is declared
    if loss.code == "tool.namespace.prefixed" and fact.kind in ("tool.name", "call.name", "choice.tool"):
        return target.names(fact.kind, fact.value)  # the answer removes the namespace again
    if loss.code == "effort.approximated" and fact[:2] == ("setting.thinking", "on"):
        return loss.detail == THINKS_BY_DEFAULT  # the model has this behaviour by default
    # The title of a document that is sent as text is above the text.
    return loss.code == "media.retyped" and fact.kind == "media.name" and target.reads(fact)


def _covers(loss: Loss, path: Path, fact: Fact, at: Path) -> bool:
    if fact[:2] == ("choice", "validated") and loss.code == "tool.strict.dropped":
        return True  # Gemini's mode replaces the flag of every tool
    if loss.code == "seal.dropped" and fact.kind == "other" and "reasoningDetails" in path:
        return at[: len(path)] == path  # the seal is the whole entry, with its unknown fields
    kinds = CONCERNS.get(loss.code)
    if kinds is not None and not any(fact.kind == kind or fact.kind.startswith(f"{kind}.") for kind in kinds):
        return False
    if loss.code in ("stop.approximated", "id.dropped"):
        return True  # a document has only one, and the path names the field from which it was made
    if path in ((), ("request",), ("response",)):
        return kinds is not None  # a loss of the whole document reports only the kinds that it concerns
    if loss.code.startswith("citation.") and path[-1] in ("content", "text"):
        path = path[:-1]  # the cited text: its citations are beside it
    return at[: len(path)] == path


def _steps(pointer: str, stream: bool) -> Path:
    return _normal(tuple([step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]), stream)


def _normal(path: Path, stream: bool) -> Path:
    """A path in one spelling. The members of a stream's lists have other numbers in its chunks than in its answer."""
    if stream:
        path = tuple(["*" if step.isdigit() else step for step in path if step not in ("delta", "message")])
    return tuple([camel(step) for step in path])
