"""What stands around a conversation: an agent sends the same tools, settings and system text with every turn.

Arounds remembers, by the exact bytes before and behind the messages, what a dialect read there; Rim is how a target
wrote it. With both a request that was seen before, but for what was said since, is neither decoded nor encoded but for
its new messages. That is sound because JSON is: whatever array stands between the same bytes, the rest reads the same.
Measured on a 6 KB agent request: two thirds of the translation.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..canon.losses import Noted
from ..canon.request import Around, Request, Sighted
from ..canon.tools import Tool
from ..canon.turns import SYSTEM_ROLES, Turn
from ..codec import json_text
from ..codec.caches import grew, largest, register
from ..codec.history_facts import bare, survey
from ..codec.tool_names import safe
from ..context import Context
from ..facts.profile import Profile
from .prefix import Recall

ENTRIES = 32
MAX_BYTES = 4 * 1024 * 1024
MAX_ENTRY = 1024 * 1024
_MAX_RIMS = 8
_AROUND_BYTES = 4000
"""What is held besides the texts."""

HERE = Raw(b"\x00")
"""Stands for the messages while everything else is written: a byte that no JSON has."""


class Arounds:
    """What stood around the conversations of one dialect, the latest first. Make one for each dialect and keep it."""

    def __init__(self, said: Recall[Any], field: str, *, unless: bytes = b"") -> None:
        """`field`: where the messages stand. `unless`: bytes that say that something else may hang on them."""
        self._said = said
        self._field = field
        self._unless = unless
        self._known: dict[str, list[Around]] = {}
        self._used: set[int] = set()  # those that were learned or used since the memories aged
        register(self)

    def read(self, body: bytes, context: Context, sighted: Sighted | None = None) -> Request | None:
        """The request, if all but its messages was read before for the same target, and they are plain. `sighted`: what
        was found in it already."""
        if context.resolver is not None:
            return None
        if sighted is None or sighted.around.target != context.target:
            sighted = self._look(body, context.target)
            if sighted is None:
                return None
        one = sighted.around
        mine = one.request
        turns = [*mine.turns]
        if not self._said.add(sighted.looked, context, turns):
            return None
        found = tuple(turns)
        run = context.run
        past = 0
        if run is not None and run.calls is not None and one.bare:
            past = len(mine.turns) + len(run.turns)
            if found[past - 1] is not run.turns[-1]:
                past = 0
        context.gist = known = survey(found, past, run) if run is not None and past else survey(found)
        if known.strange and self._unless and self._unless in body:
            return None
        context.around = one
        if one.kept:
            context.kept += one.kept
        if one.losses:
            context.losses.replay(one.losses)
        return Request(found, mine.model, mine.tools, mine.choice, mine.settings, mine.stream, mine.extra)

    def sight(self, body: bytes) -> Sighted | None:
        """What is known of a request that goes on from one that was seen, whoever that was for."""
        for target in tuple(self._known):  # another thread may learn meanwhile
            found = self._look(body, target)
            if found is not None and found.looked.run is not None and found.looked.messages:
                return found
        return None

    def _look(self, body: bytes, target: str) -> Sighted | None:
        known = self._known.get(target) or []
        for one in known:
            if body.startswith(one.before) and body.endswith(one.after):
                looked = self._said.look(body[len(one.before) : len(body) - len(one.after)])
                if looked is not None:
                    if id(one) not in self._used:
                        self._used.add(id(one))
                        grew(_size(one))
                    if known[0] is not one:
                        self._known[target] = [one, *[other for other in known if other is not one]]
                    return Sighted(one, looked)
        return None

    def learn(self, body: bytes, messages: Raw, request: Request, context: Context) -> None:
        """Remember what was just read around these messages, which are plain: all that was noted was noted there."""
        text = bytes(messages)
        begin = body.find(text)
        rest = len(body) - len(text)
        if context.source == context.target or context.resolver is not None or rest > min(MAX_ENTRY, largest() // 4):
            return
        if self._unless and self._unless in body:
            return
        if context.spelled or context.moved or context.headers or body.find(text, begin + 1) >= 0:
            return
        lead = tuple([turn for turn in request.turns if turn.at[:1] != (self._field,)])
        alone = msgspec.structs.replace(request, turns=lead)
        before, after = body[:begin], body[begin + len(text) :]
        noted, kept, target = context.losses.noted(), tuple(context.kept), context.target
        found = Around(target, before, after, self._field, alone, kept, noted, _plain(request), bare(lead), {})
        known = [found, *self._known.get(target, ())][:ENTRIES]
        while sum([len(one.before) + len(one.after) for one in known]) > MAX_BYTES:
            known.pop()
        self._known[target] = known
        self._used.add(id(found))
        grew(_size(found))
        context.around = found

    def age(self) -> None:
        """Forget what was not used lately."""
        for target, known in tuple(self._known.items()):
            self._known[target] = [one for one in known if id(one) in self._used]
        self._used = set()

    def forget(self) -> None:
        self._known, self._used = {}, set()


def _size(around: Around) -> int:
    """About how many bytes it holds: the text, the same in canon, and how targets wrote it."""
    return 3 * (len(around.before) + len(around.after)) + _AROUND_BYTES + sum(map(len, around.written.values()))


def _plain(request: Request) -> bool:
    """Whether every dialect takes the tools and the choice among them as they are, and tells them apart."""
    choice = request.choice
    if choice is not None and (choice.hosted or choice.extra is not None):
        return False
    tools = request.tools
    names = [tool.name for tool in tools if type(tool) is Tool and not tool.deferred and not tool.namespace]
    if choice is not None and choice.names and not set(names).issuperset(choice.names):
        return False
    return len(set(names)) == len(tools) and all(map(safe, names))


class Rim(Struct, frozen=True, gc=False, eq=False):
    """How one target wrote what stands around a conversation."""

    before: bytes
    after: bytes
    profile: Profile
    lead: tuple[Turn, ...]
    """The turns of the system's that the request began with. They are written into it, or into `state`."""
    early: tuple[Noted, ...]
    """What was lost before the messages were written, and"""
    late: tuple[Noted, ...]
    """behind them."""
    state: Any
    """What the writer of the messages has to know of it."""

    def __len__(self) -> int:
        """About how many bytes it holds."""
        return len(self.before) + len(self.after) + _AROUND_BYTES

    def around(self, messages: Any) -> bytes:
        """The request with these messages."""
        return b"".join((self.before, json_text.encode(messages), self.after))


def known_rim(request: Request, turns: tuple[Turn, ...], context: Context) -> Rim | None:
    """How all but the messages was written before, if the turns begin with those of the system's that are written into
    it, and then somebody else speaks."""
    around = context.around
    if around is None or context.host is not None:
        return None
    rim: Rim | None = around.written.get(context.model)
    if rim is None or rim.profile is not context.profile or not _untouched(request, around.request):
        return None
    count = len(rim.lead)
    if turns[:count] != rim.lead or count == len(turns) or turns[count].role in SYSTEM_ROLES:
        return None
    return rim


def leading(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The turns of the system's that stand before all others."""
    count = 0
    while count < len(turns) and turns[count].role in SYSTEM_ROLES:
        count += 1
    return turns[:count]


def _untouched(request: Request, read: Request) -> bool:
    return (
        request.tools is read.tools
        and request.settings is read.settings
        and request.choice is read.choice
        and request.extra is read.extra
        and request.stream is read.stream
        and request.model == read.model
    )


class Noting:
    """Tells what is lost around the messages from what is lost in them, while a request is written anew."""

    __slots__ = ("_context", "_early", "_first", "_late")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._first = self._early = self._late = len(context.losses)

    def inside(self) -> None:
        """The messages come now."""
        self._early = self._late = len(self._context.losses)

    def behind(self) -> None:
        """They are over."""
        self._late = len(self._context.losses)

    def rim(
        self,
        out: dict[str, Any],
        field: str,
        request: Request,
        lead: tuple[Turn, ...],
        state: Any = None,
        *,
        fixed: bool = True,
    ) -> Rim:
        """What was written, with `HERE` in place of the messages in `field`. Remembered if it is `fixed`: nothing in it
        hangs on them."""
        context = self._context
        before, mark, after = json_text.encode(out).partition(b'"%b":\x00' % field.encode())
        noted = context.losses.noted()
        early, late = noted[self._first : self._early], noted[self._late :]
        rim = Rim(before + mark[:-1], after, context.profile, lead, early, late, state)
        around = context.around
        if fixed and around is not None and context.host is None and _untouched(request, around.request):
            told = noted[len(around.losses) : self._first] + noted[self._early : self._late]
            apart = all(_inside(one, around) for one in told) and not any(_inside(one, around) for one in early + late)
            back = context.renamed or context.custom or context.stand_ins or context.absent
            if apart and not (back or context.headers):
                if len(around.written) >= _MAX_RIMS:
                    around.written.clear()
                around.written[context.model] = rim
                grew(len(rim))
        return rim


def _inside(noted: Noted, around: Around) -> bool:
    return noted.path[:1] == (around.field,)
