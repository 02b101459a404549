"""Owns the check whether a fact of a case is true of its outcome. conformance/README.md describes the language of
facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from ...canon.losses import SEVERITIES, Loss
from ...errors import ConfigError, WireError
from ...lint.runner import lint
from ...rules.rule import Kind
from . import independent_stream_reader
from .json_paths_and_exact_numbers import all_keys, all_strings, dump, find_values, same_text

Fact = Mapping[str, Any]


class LintedDocument(Struct, frozen=True):
    """A document for the linter."""

    dialect: str
    kind: Kind
    model: str
    body: Any


class CaseOutcome(Struct):
    """The outcome of a case, as facts see it."""

    dialect: str
    """The dialect of the outcome."""
    document: Any
    """The document that the paths of facts search."""
    checked: list[LintedDocument]
    losses: tuple[Loss, ...] | None = None
    """The reported losses. None: the gateway under test reports no losses."""
    raw: bytes | None = None
    """The output as bytes, if there is one."""
    given: bytes | None = None
    """The input as bytes."""
    refused: bool = False
    """The gateway answered with a fault and its status instead of a stream. The fault is the only frame."""


def about_losses(fact: Fact) -> bool:
    """Whether a fact needs reported losses."""
    return bool({"loss", "no_loss", "no_loss_worse_than"} & fact.keys())


def judge(fact: Fact, outcome: CaseOutcome) -> str:
    """ "" if the fact is true, else the difference in words."""
    for key, check in _WHOLE.items():
        if key in fact:
            return check(fact, outcome)
    if "path" not in fact:
        raise ConfigError("fact", dump(dict(fact)), (*_WHOLE, "path"))
    found = find_values(outcome.document, fact["path"])
    if not found and fact.get("optional"):
        return ""
    for key, at in _AT.items():
        if key in fact:
            wrong = at(found, fact[key])
            return f"{fact['path']}: {wrong}" if wrong else ""
    raise ConfigError("fact", dump(dict(fact)), tuple(_AT))


def _short(value: Any) -> str:
    text = dump(value)
    return text if len(text) <= 160 else f"{text[:160]}…"


def _all_hold(test: Callable[[Any, Any], bool], word: str) -> Callable[[list[Any], Any], str]:
    """A check that the path finds something, and that the test holds for everything found."""

    def check(found: list[Any], wanted: Any) -> str:
        if not found:
            return "nothing is there"
        bad = [value for value in found if not test(value, wanted)]
        return f"expected {word} {_short(wanted)}, found {_short(bad[0])}" if bad else ""

    return check


def _equal(value: Any, wanted: Any) -> bool:
    # In Python True equals 1. In JSON true is not a number.
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _absent(found: list[Any], wanted: Any) -> str:
    return f"expected nothing, found {_short(found[0])}" if found else ""


def _present(found: list[Any], wanted: Any) -> str:
    return "" if found else "nothing is there"


def _count(found: list[Any], wanted: int) -> str:
    return "" if len(found) == wanted else f"expected {wanted}, found {len(found)}"


def _distinct(found: list[Any], wanted: Any) -> str:
    texts = [dump(value) for value in found]
    return "" if texts and len(set(texts)) == len(texts) else f"expected all different, found {_short(found)}"


_AT: dict[str, Callable[[list[Any], Any], str]] = {
    "equals": _all_hold(_equal, "exactly"),
    "one_of": _all_hold(lambda value, wanted: any(_equal(value, one) for one in wanted), "one of"),
    "matches": _all_hold(lambda value, wanted: isinstance(value, str) and bool(re.search(wanted, value)), "a match of"),
    "contains": _all_hold(lambda value, wanted: isinstance(value, str) and wanted in value, "a text with"),
    "same_json_text_as": _all_hold(same_text, "the JSON text"),
    "at_least": _all_hold(lambda value, wanted: _is_number(value) and value >= wanted, "at least"),
    "absent": _absent,
    "present": _present,
    "count": _count,
    "distinct": _distinct,
}


def _nowhere(fact: Fact, outcome: CaseOutcome) -> str:
    places = find_values(outcome.document, fact.get("path", ""))
    held = [text for place in places for text in all_strings(place) if fact["nowhere"] in text]
    return f"must be nowhere: {_short(fact['nowhere'])} is in {_short(held[0])}" if held else ""


def _no_key(fact: Fact, outcome: CaseOutcome) -> str:
    places = find_values(outcome.document, fact.get("path", ""))
    held = any(fact["no_key"] in all_keys(place) for place in places)
    return f"the key {fact['no_key']!r} is in it" if held else ""


def _somewhere(fact: Fact, outcome: CaseOutcome) -> str:
    places = find_values(outcome.document, fact.get("path", ""))
    held = any(fact["somewhere"] in text for place in places for text in all_strings(place))
    return "" if held else f"is nowhere: {_short(fact['somewhere'])}"


def _same(fact: Fact, outcome: CaseOutcome) -> str:
    paths = fact["same"]
    texts = [[dump(value) for value in find_values(outcome.document, path)] for path in paths]
    if not texts[0]:
        return f"{paths[0]}: nothing is there"
    different = [path for path, found in zip(paths, texts, strict=True) if found != texts[0]]
    return f"{different[0]} differs from {paths[0]}" if different else ""


def _prefix(fact: Fact, outcome: CaseOutcome) -> str:
    first, second = [[dump(value) for value in find_values(outcome.document, path)] for path in fact["prefix"]]
    if not first:
        return f"{fact['prefix'][0]}: nothing is there"
    for i, text in enumerate(first):
        if i >= len(second) or second[i] != text:
            return f"member {i} of {fact['prefix'][0]} is not the same in {fact['prefix'][1]}: {_short(text)}"
    return ""


def _loss(fact: Fact, outcome: CaseOutcome) -> str:
    wanted = {key: value for key, value in fact.items() if key in ("path", "severity", "effect")}
    for loss in outcome.losses or ():
        if loss.code == fact["loss"] and all(getattr(loss, key) == value for key, value in wanted.items()):
            return ""
    reported = ", ".join(f"{loss.code} at {loss.path or '/'}" for loss in outcome.losses or ()) or "none"
    return f"no loss {dump(dict(fact))}; reported: {reported}"


def _no_loss(fact: Fact, outcome: CaseOutcome) -> str:
    found = [loss for loss in outcome.losses or () if loss.code == fact["no_loss"]]
    return f"unexpected loss {found[0]}" if found else ""


def _no_loss_worse(fact: Fact, outcome: CaseOutcome) -> str:
    limit = SEVERITIES.index(fact["no_loss_worse_than"])
    found = [loss for loss in outcome.losses or () if SEVERITIES.index(loss.severity) > limit]
    return f"unexpected loss {found[0]}" if found else ""


def _lint(fact: Fact, outcome: CaseOutcome) -> str:
    return _finds_no_error([document for document in outcome.checked if document.kind != "stream"])


def _grammar(fact: Fact, outcome: CaseOutcome) -> str:
    if outcome.refused:
        return ""  # rules of streams do not apply to a stream that never began
    return _finds_no_error([document for document in outcome.checked if document.kind == "stream"])


def _finds_no_error(documents: list[LintedDocument]) -> str:
    """A check that the dialect's rules find no error, and that the outcome has a document for them."""
    if not documents:
        return "there is no such document"
    for document in documents:
        kind = document.kind
        try:
            # In Gemini the address names the model, not the body.
            model = document.model or None
            found = lint(dump(document.body), dialect=document.dialect, kind=kind, model=model)
        except WireError as error:
            return f"the {kind} cannot be read: {error}"
        errors = [one for one in found if one.severity == "error"]
        if errors:
            return f"the {kind} breaks {errors[0].rule} at {errors[0].path or '/'}: {errors[0].message}"
    return ""


def _order(fact: Fact, outcome: CaseOutcome) -> str:
    seen: list[str] = []
    for frame in find_values(outcome.document, "/frames/*"):
        name = frame.get("type") if isinstance(frame, dict) else None
        # A ping may be anywhere, and a part may come in any number of frames.
        if isinstance(name, str) and name != "ping" and (not seen or seen[-1] != name):
            seen.append(name)
    return "" if seen == list(fact["event_order"]) else f"expected {fact['event_order']}, found {seen}"


def _ends(fact: Fact, outcome: CaseOutcome) -> str:
    found = independent_stream_reader.stream_ending(outcome.dialect, find_values(outcome.document, "/frames/*"))
    return "" if found == fact["ends"] else f"the stream ends {found!r}, expected {fact['ends']!r}"


def _untouched(fact: Fact, outcome: CaseOutcome) -> str:
    if outcome.raw is None or outcome.given is None:
        return "there are no bytes to compare"
    return "" if outcome.raw == outcome.given else "the bytes were changed"


_WHOLE: dict[str, Callable[[Fact, CaseOutcome], str]] = {
    "nowhere": _nowhere,
    "no_key": _no_key,
    "somewhere": _somewhere,
    "same": _same,
    "prefix": _prefix,
    "loss": _loss,
    "no_loss": _no_loss,
    "no_loss_worse_than": _no_loss_worse,
    "lint": _lint,
    "stream_grammar": _grammar,
    "event_order": _order,
    "ends": _ends,
    "untouched": _untouched,
}
