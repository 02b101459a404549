"""Removes the seals from the history of a request within one dialect, for an upstream that has refused a seal.

Sealed thoughts are removed whole, because no upstream accepts them without their seal. Texts and calls lose only the
seal. If the model demands a seal on a call, the writer puts the provider's documented dummy there. The request is
written twice, with and without seals, and the difference is applied to the client's own bytes.
"""

from __future__ import annotations

import msgspec

from ..canon.parts import Part, Reasoning, Seal, ToolCall
from ..canon.turns import Turn
from ..codec import json_text
from ..codec.json_edit import edit_document
from ..codec.packed_seals import GOOGLE_DUMMY
from ..context import Context
from ..dialect import Dialect
from ..facts import profiles
from ..facts.profile import DEFAULT_PROFILE

REFUSED = "the upstream refused the seal"


def without_seals(document: bytes, dialect: Dialect, model: str) -> tuple[bytes, Context]:
    """The request without seals, and the Context with the losses."""
    context = Context(dialect.name, dialect.name, model, unsealed=True)
    request = dialect.read_request(document, context)
    context.profile = profiles.lookup(dialect.name, model or request.model)
    turns = tuple([_unsealed(turn, dialect.call_slots, context) for turn in request.turns])
    sent = msgspec.structs.replace(request, turns=turns)
    # The profile of an unknown model refuses nothing, so the difference contains only the seals.
    unchanged = Context(dialect.name, dialect.name, model, profile=DEFAULT_PROFILE)
    before = dialect.write_request(request, unchanged)
    after = dialect.write_request(sent, context)
    if before == after:
        return document, context
    found = edit_document(document, json_text.decode(before), json_text.decode(after))
    return (after if found is None else found), context


def _unsealed(turn: Turn, slots: frozenset[str], context: Context) -> Turn:
    """`slots`: dialects whose seals are on calls of this dialect."""
    if all(part.seal is None for part in turn.parts):
        return turn
    parts: list[Part] = []
    for part in turn.parts:
        seal = part.seal
        if seal is None:
            parts.append(part)
            continue
        context.lose("seal.dropped", part.at, REFUSED)
        if type(part) is ToolCall and seal.dialect in slots:
            # For Google's Chat endpoint: the writer of this dialect has no list of the models that demand a seal.
            context.lose("seal.dummy", part.at)
            parts.append(msgspec.structs.replace(part, seal=Seal(seal.dialect, GOOGLE_DUMMY)))
        elif type(part) is not Reasoning:
            parts.append(msgspec.structs.replace(part, seal=None))
        # A redacted thought has no words, so nothing but its seal is lost.
        elif part.text:
            context.lose("reasoning.dropped", part.at, REFUSED)
    return msgspec.structs.replace(turn, parts=tuple(parts))
