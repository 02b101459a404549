"""Owns HistoryRequirements: the conditions that the upstreams of a dialect put on a history."""

from __future__ import annotations

from msgspec import Struct


class HistoryRequirements(Struct, frozen=True):
    """The conditions that a history must meet for the upstreams of a dialect. `repair` brings a history into this
    state. Three conditions hold in every dialect: a call has one result, a result has a call, and the call ids of one
    step differ.
    """

    history: str = "messages"
    """The field that holds the history."""
    adjacent: bool = True
    """True: the results of a step must be directly after the step. False: anywhere after the step."""
    unique_ids: bool = False
    """True: call ids must be unique in the conversation. False: unique in their step."""
    alternate: bool = False
    """User and assistant must alternate, and the results of a step must be in one turn."""
    kinds: bool = False
    """The result of a custom tool must be marked as such."""
    empty_texts: bool = True
    """A text of zero characters is accepted."""
    empty_last: bool = False
    """The last turn may be an empty assistant turn."""
    sealed_thoughts: bool = False
    """Thinking without a seal is refused."""
    thoughts_lead: bool = True
    """Thinking must be before the text or call that followed from it, and never alone."""
    held: frozenset[str] = frozenset()
    """Fields and parts that refer to a history on the server. If one is present, a result may answer a call of that
    history.
    """
    later: str = ""
    """The field with which a call allows its result to come later than the next turn."""
