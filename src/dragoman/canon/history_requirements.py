"""Demands: what the upstreams of a dialect refuse in a history. Data, a row for each dialect."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .parts import Path


class HistoryRequirements(Struct, frozen=True):
    """What the upstreams of a dialect demand of a history, so what `repair` brings about. Every dialect demands that a
    call gets one result, that a result has a call, and that the ids of one step differ."""

    history: str = "messages"
    """The field the history stands in."""
    adjacent: bool = True
    """The results of a step stand directly behind it (else anywhere behind it)."""
    unique_ids: bool = False
    """No two calls of a conversation share an id (else: of a step)."""
    alternate: bool = False
    """User and assistant alternate, and the results of a step stand in one turn."""
    kinds: bool = False
    """Results of custom tools are marked as such."""
    empty_texts: bool = True
    """Texts without a character are taken."""
    empty_last: bool = False
    """A last turn of the assistant may be empty."""
    sealed_thoughts: bool = False
    """Thinking without a seal is refused."""
    thoughts_lead: bool = True
    """Thinking stands before what it led to, never alone."""
    held: frozenset[str] = frozenset()
    """Fields and parts that refer to a history on the server: results may answer calls in there."""
    later: str = ""
    """The field by which a call says that its result may come later than the next turn."""


Form = Literal["tokens", "content", "chosen"]


class AnswerPlaces(Struct, frozen=True):
    """Where the answers of a dialect say how they ended and what they cost: what is lost of that is told with its
    place. Of a stream it is the place in the answer that the stream tells."""

    stop: Path = ()
    """In an answer."""
    usage: Path = ()
    """In the document."""
    answers: Path = ()
    """The list that the answers of a document stand in, where there can be several."""
    calls: frozenset[str] = frozenset()
    """Words at `stop` that say that the model ended with calls. Empty: the dialect has no word for it."""

    def answer(self, number: int) -> Path:
        return (*self.answers, number) if self.answers else ()


class Place(Struct, frozen=True):
    """Where a dialect has the log probabilities of an answer, and in which form (`codec/logprobs.py`)."""

    dialect: str
    """Whose extra they are in."""
    form: Form
    name: str
    """The field of the answer, or of a text."""
    answers: str = ""
    """The list that the answers of a document stand in."""
    on_texts: bool = False
    spelled: bool = True
    """Tokens are told in bytes, too."""
