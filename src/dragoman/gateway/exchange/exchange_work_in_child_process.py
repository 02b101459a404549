"""Runs the long functions of an exchange in a child process, and makes their results small enough to return.

A request of many megabytes returns as the bytes to send, and the facts that the answer needs: the ids of its calls, the
digest of its conversation, its tools and settings. Its results and media, which are most of the bytes, do not return.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import msgspec

from ...canon.events import Fault
from ...canon.losses import Loss
from ...canon.parts import ToolCall
from ...canon.turns import Turn
from ...codec.request_read_and_write_steps import leading
from ...dialects import endpoints, get
from ...seals.conversation_digest import ConversationDigest, ConversationState, RunningDigest, conversation_state
from ...translate.result import Translation
from .child_process import ChildDied, ChildProcesses, OutOfMemory, takes_long
from .fault_for_unserved_exchange import Refused

T = TypeVar("T")

MAX_LOSSES = 2000
"""Losses of one translation that are returned individually. Further losses are only counted, by code."""


async def in_child(children: ChildProcesses, work: Callable[[], T]) -> T:
    """The result of work in a child process. Raises Refused where the work failed."""
    try:
        return await children.run(work)
    except (OutOfMemory, ChildDied) as error:
        raise _refused(error, children.memory) from None


async def done(children: ChildProcesses, document: bytes, work: Callable[[], T]) -> T:
    """The result of work on a document: in a child, if the work would hold up other exchanges."""
    return await in_child(children, work) if takes_long(document) else work()


def _refused(error: OutOfMemory | ChildDied, memory: int) -> Refused:
    """The fault for work that failed."""
    if isinstance(error, OutOfMemory):
        why = f"the translation needs more than {memory} bytes of memory. "
        why += "Send less at once, or raise bounds.translation_memory."
        return Refused(Fault("too_large", why, 413))
    why = "the process that translates large documents ended without a result. Send the request again."
    return Refused(Fault("overloaded", why, 503, retry_after=1.0))


class Light(NamedTuple):
    """A translated request on its way back from the child: few objects, however many turns the request has."""

    translation: Translation
    """The translation, with the leading system turns of the request, and without its history."""
    turns: int
    ids: list[str]
    """The ids of all calls in the request."""
    conversation: ConversationState | None
    """The digest of the conversation; None where no seals will be stored. The child makes the digest: the digest of a
    long history would hold up the event loop when the answer comes."""


def lightened(translation: Translation) -> Light:
    """A translated request with only the facts that its answer needs."""
    translation.losses = fewer(translation.losses)
    request, history, translation.history = translation.request, translation.history, None
    if request is None:
        return Light(translation, 0, [], None)
    turns = request.turns
    tools = request.tools if endpoints(translation.source).served.repeats_tools else ()
    translation.request = msgspec.structs.replace(request, turns=leading(turns), tools=tools)
    ids = [part.id for turn in turns for part in turn.parts if type(part) is ToolCall]
    conversation = None
    if history is not None and get(translation.target).sealed:
        conversation = conversation_state(history.turns)
    return Light(translation, len(turns), ids, conversation)


def restored(light: Light) -> Translation:
    """The translated request again, in the gateway: with the same number of turns, and all calls in one of them."""
    translation, count, ids, conversation = light
    request = translation.request
    if request is not None:
        calls = Turn("assistant", tuple([ToolCall(call_id, "", "{}") for call_id in ids]))
        empty = Turn("user", ())
        turns = [*request.turns, calls, *[empty] * (count - len(request.turns) - 1)][:count]
        translation.request = msgspec.structs.replace(request, turns=tuple(turns))
        if conversation is not None:
            translation.history = ConversationDigest(())
            translation.history.reached(RunningDigest.of(conversation), 0)
    return translation


def fewer(losses: tuple[Loss, ...]) -> tuple[Loss, ...]:
    """Losses, of which those beyond MAX_LOSSES are only counted by their codes."""
    if len(losses) <= MAX_LOSSES:
        return losses
    more = Counter([loss.code for loss in losses[MAX_LOSSES:]])
    first = {loss.code: loss for loss in reversed(losses[MAX_LOSSES:])}
    counted = [
        Loss(code, first[code].effect, first[code].severity, "", f"and {count} more like it")
        for code, count in more.items()
    ]
    return (*losses[:MAX_LOSSES], *counted)
