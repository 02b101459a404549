"""Owns two rows of data for each dialect: the conditions that its upstreams put on a history, and the places of the
stop reason and the usage in its answers.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .parts import Path


class HistoryRequirements(Struct, frozen=True):
    """The conditions that a history must meet for the upstreams of a dialect. `repair` brings a history into this
    state. Three conditions hold in every dialect: a call has one result, a result has a call, and the call ids of one
    step differ.
    """

    history: str = "messages"
    """The field that holds the history."""
    adjacent: bool = True
    """True: the results of a step must stand directly after the step. False: anywhere after the step."""
    unique_ids: bool = False
    """True: call ids must be unique in the conversation. False: unique in their step."""
    alternate: bool = False
    """User and assistant must alternate, and the results of a step must stand in one turn."""
    kinds: bool = False
    """The result of a custom tool must be marked as such."""
    empty_texts: bool = True
    """A text of zero characters is accepted."""
    empty_last: bool = False
    """The last turn may be an empty assistant turn."""
    sealed_thoughts: bool = False
    """Thinking without a seal is refused."""
    thoughts_lead: bool = True
    """Thinking must stand before the text or call that followed from it, and never alone."""
    held: frozenset[str] = frozenset()
    """Fields and parts that refer to a history on the server. If one is present, a result may answer a call of that
    history.
    """
    later: str = ""
    """The field with which a call allows its result to come later than the next turn."""


Form = Literal["tokens", "content", "chosen"]


class AnswerPlaces(Struct, frozen=True):
    """Where the answers of a dialect hold the stop reason and the usage. Losses name these places. For a stream, the
    places are those in the whole answer that the stream amounts to.
    """

    stop: Path = ()
    """Inside one answer."""
    usage: Path = ()
    """In the document."""
    answers: Path = ()
    """The list of answers, in dialects that can have several answers in one document."""
    calls: frozenset[str] = frozenset()
    """Words at `stop` which mean that the model ended with calls. Empty: the dialect has no such word."""

    def answer(self, number: int) -> Path:
        """The path of the answer with this number."""
        return (*self.answers, number) if self.answers else ()


class Place(Struct, frozen=True):
    """Where a dialect holds the log probabilities of an answer, and in which form (`codec/logprobs.py`)."""

    dialect: str
    """The dialect whose extra fields hold them."""
    form: Form
    name: str
    """The field of the answer, or of a text."""
    answers: str = ""
    """The list of answers in a document."""
    on_texts: bool = False
    spelled: bool = True
    """Each token also has its bytes."""
