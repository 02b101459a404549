"""Owns the paths at which the answers of a dialect hold the stop reason, the usage and the log probabilities."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .parts import Path

Form = Literal["tokens", "content", "chosen"]


class AnswerPaths(Struct, frozen=True):
    """Where the answers of a dialect hold the stop reason and the usage. Losses name these places. For a stream, the
    places are those in the whole answer with the same content.
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


class LogprobsPlace(Struct, frozen=True):
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
