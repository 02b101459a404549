"""An agent sends its whole history again with every turn: what was read and written before need not be done again.

Recall remembers what single messages said, by their exact bytes and place, and how whole conversations begin (Run).
Along keeps what was found out about such beginnings from step to step, Written how a target writes them. Only what is
plain is remembered: nothing hangs on it, and it reads the same whatever stands around it. So a step costs the same late
in a conversation as early in it. All are bounded in bytes, and count to the budget of `dragoman.codec.caches`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count as counting
from operator import is_
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import Raw, Struct

from ..canon.parts import Part, Path
from ..canon.turns import Looked, Role, Run, Turn
from ..codec import caches
from ..codec.caches import Memory
from ..codec.history_facts import survey
from ..context import Context

V = TypeVar("V")
T = TypeVar("T")

MAX_BYTES = 4 * 1024 * 1024
"""What one memory holds before it begins to forget what it has not seen lately."""
MAX_ENTRY = 16 * 1024
"""Longer messages are read anew: finding them again takes about as long."""

MAX_STEPS = 4096
MAX_RUNS = 8 * 1024 * 1024
"""What the beginnings of conversations hold before those that did not go on are forgotten."""
MAX_RUN = 2 * 1024 * 1024
MIN_RUN = 256
"""A shorter one is not worth it."""
PIECE = 128
"""By so many bytes beginnings are looked up, at the largest power of two that leaves room for them: agents begin all
their conversations with the same words, but do not go on so."""
MAX_ALIKE = 32
"""Conversations that have the same bytes there."""
_ENTRY_BYTES = 600
"""What an entry takes besides its text: turns, parts, their places and the tables they stand in."""
_TURN_BYTES = 100
"""What a turn takes where only its name and the ids in it are held."""

_numbers = counting(1)


def skimmer(shape: type[Struct], field: str) -> Callable[[bytes], Any]:
    """A decoder that leaves the messages in `field` as they are. It gives None for what has to be admitted."""
    made = msgspec.defstruct(f"Skimmed{shape.__name__}", [(field, Raw)], bases=(shape,), kw_only=True)
    decode = msgspec.json.Decoder(made).decode

    def skim(body: bytes) -> Any:
        try:
            return decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None

    return skim


_array = msgspec.json.Decoder(list[Raw]).decode
_encode = msgspec.json.Encoder().encode


class Recall(Generic[T]):
    """What the messages of one dialect said. Make one for each dialect and keep it.

    `read` reads one message at its place, and gives None for one that is not plain; `group` adds what messages said to
    the turns before them. Whole beginnings are remembered too (Run): of a conversation that goes on, only what is new
    is looked at.
    """

    def __init__(self, read: Callable[[Raw, int], T | None], group: Callable[[list[T], list[Turn]], None]) -> None:
        self._read = read
        self._group = group
        self._messages: Memory[bytes, tuple[int, T]] = Memory()
        self._steps: Memory[int, Turn] = Memory()
        self._runs: Memory[bytes, list[Run]] = Memory()

    def look(self, text: bytes) -> Looked | None:
        """What is known of an array of messages; None if it is none."""
        run = self._begun(text) if len(text) > MIN_RUN else None
        left = text if run is None else b"[" + text[len(run.text) :]
        try:
            if not left.isascii():
                left.decode()  # decoding checks no text that is merely carried
            return Looked(text, run, _array(left))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None

    def turns(self, array: Raw, context: Context, turns: list[Turn]) -> bool:
        """Add the turns of all messages; False, with nothing added, if they are no array, or one is not plain."""
        return self.add(self.look(bytes(array)), context, turns)

    def add(self, looked: Looked | None, context: Context, turns: list[Turn]) -> bool:
        """The same for messages that were looked at."""
        if looked is None:
            return False
        text, run, messages = looked.text, looked.run, looked.messages
        begin = run.count if run is not None else 0
        said = self._all(messages, begin, len(text))
        if said is None:
            return False
        first = len(turns)
        if run is not None:
            turns += run.turns
            context.run = run
        self._group(said, turns)
        if len(text) > MIN_RUN and turns and _begins(turns[-1]) > begin:
            longer = self._remember(text, messages, begin, turns[first:], run)
            if run is not None and longer is not None:
                context.run = longer
        return True

    def _all(self, messages: list[Raw], begin: int, size: int) -> list[T] | None:
        """What the messages say, the first of which is number `begin`; None if one of them is not plain."""
        out: list[T] = []
        if (
            size > MAX_BYTES or size > caches.largest()
        ):  # the memory cannot hold them: it would forget the first before it has seen the last
            for i, raw in enumerate(messages, begin):
                said = self._read(raw, i)
                if said is None:
                    return None
                out.append(said)
            return out
        known = self._messages
        young = known.young
        for i, raw in enumerate(messages, begin):
            key = bytes(raw)
            found = young.get(key)
            if found is not None and found[0] == i:
                out.append(found[1])
            else:
                found = known.old.get(key)
                if found is None or found[0] != i:
                    said = self._read(raw, i)
                    if said is None:
                        return None
                    found = (i, said)
                if len(key) <= MAX_ENTRY:
                    known.put(key, found, 2 * len(key) + _ENTRY_BYTES, MAX_BYTES)
                    young = known.young
                out.append(found[1])
        return out

    def _begun(self, text: bytes) -> Run | None:
        """The longest beginning of the conversation that is known."""
        at, longest = _place(len(text)), None
        while at >= PIECE:
            for run in self._runs.get(text[at : at + PIECE]) or ():
                if text.startswith(run.text) and (longest is None or len(run.text) > len(longest.text)):
                    longest = run
            if longest is not None:
                return longest
            at >>= 1
        return None

    def _remember(self, text: bytes, messages: list[Raw], begin: int, turns: list[Turn], run: Run | None) -> Run | None:
        """Keep the conversation up to its last turn, which may still grow, in place of what the one that it went on
        from went on from: more than one may go on from there."""
        kept = len(turns) - 1
        count = _begins(turns[kept]) if turns else 0
        while count > begin and kept and _ends(turns[kept - 1]) >= count:
            kept -= 1  # one message holds the end of this turn and the beginning of the next
            count = min(count, _begins(turns[kept]))
        if count <= begin:
            return None
        end = len(text)
        for raw in reversed(messages[count - begin :]):
            end = text.rindex(bytes(raw), 0, end)
        if not MIN_RUN < end <= MAX_RUN or not caches.largest():
            return None
        at = _place(end)
        key = text[at : at + PIECE]
        known = self._runs.get(key) or ()
        found = _run(text[:end], count, tuple(turns[:kept]), run)
        runs = [found]
        if run is not None and run in known:
            runs.append(run)
        gone = run.before if run is not None else 0
        runs += [one for one in known if one is not run and one.number != gone]
        del runs[MAX_ALIKE:]
        most = min(MAX_RUNS, caches.largest())
        while (size := sum(map(_run_size, runs))) > most and runs:
            runs.pop()
        self._runs.put(key, runs, size, MAX_RUNS)
        return found

    def step(self, role: Role, parts: list[Part], at: Path) -> Turn:
        """Parts that came in messages of their own as one turn: the same one for the same parts."""
        found = self._steps.get(id(parts[0]))
        if found is not None and len(found.parts) == len(parts) and all(map(is_, found.parts, parts)):
            return found
        turn = Turn(role, tuple(parts), "", None, at)
        self._steps.put(id(parts[0]), turn, _ENTRY_BYTES, MAX_STEPS * _ENTRY_BYTES)
        return turn


def _run_size(run: Run) -> int:
    """About how many bytes a beginning holds: its text, and the same in turns."""
    return 2 * len(run.text) + _ENTRY_BYTES * len(run.turns)


def _place(size: int) -> int:
    """Where a text of that size is looked up."""
    return 1 << ((size - PIECE).bit_length() - 1)


def _run(text: bytes, count: int, turns: tuple[Turn, ...], before: Run | None) -> Run:
    """What is known of these turns; of those that they go on from, it is known already."""
    past = before.past(turns) if before is not None and before.calls is not None else 0
    found = survey(turns, past, before) if before is not None and past else survey(turns)
    calls = found.calls
    if calls is not None and len(calls) > 1:
        calls = (frozenset[str]().union(*calls),)
    return Run(
        turns,
        found.laden,
        found.strange,
        calls,
        found.arranged,
        found.waiting,
        found.alternates,
        found.usual,
        found.shows_media,
        text=text,
        count=count,
        number=next(_numbers),
        before=before.number if before is not None else 0,
    )


def _begins(turn: Turn) -> int:
    """Which message a turn begins with."""
    place = turn.at[1] if len(turn.at) > 1 else 0
    return place if isinstance(place, int) else 0


def _ends(turn: Turn) -> int:
    """Which message its last part stands in."""
    at = turn.parts[-1].at if turn.parts else turn.at
    place = at[1] if len(at) > 1 else None
    return place if isinstance(place, int) else MAX_BYTES  # unknown: it may reach into any


class Along(Generic[V]):
    """What was found out about the beginnings of conversations: about this one, or else the one that it went on from.
    Make one for each thing there is to know and keep it."""

    def __init__(self) -> None:
        self._kept: Memory[int, tuple[V, int]] = Memory()

    def get(self, run: Run) -> V | None:
        found = self._kept.get(run.number) or self._kept.get(run.before)
        return found[0] if found is not None else None

    def keep(self, run: Run, value: V, size: int) -> None:
        """In place of what was known of the beginning before the one it went on from: whoever goes on in another way
        will do so from there."""
        size += _ENTRY_BYTES
        before = self._kept.get(run.before)
        if before is not None:
            self._kept.drop(before[1])
        self._kept.put(run.number, (value, run.before), size, MAX_RUNS)

    def __len__(self) -> int:
        return len(self._kept)


class Begun(Struct, frozen=True, gc=False, eq=False):
    """How the turns that a conversation begins with were written by one target, as far as they are plain."""

    turns: tuple[Turn, ...]
    text: Raw
    """Their messages, with commas between."""
    state: Any
    """Where the writer stood after them."""


class Writer(Protocol):
    """Who writes the messages of one target."""

    def plain(self, turn: Turn) -> bool:
        """Write a turn that will be written so whenever it stands here; False, with nothing written, for any other."""
        ...

    def stands(self) -> tuple[list[Any], Any, Any]:
        """The messages of a beginning that will stay as they are, the one to which more may be added, and where the
        writer stands behind them."""
        ...

    def resume(self, known: Begun) -> bool:
        """Stand behind a beginning as before; False, with nothing done, where it would be written otherwise now."""
        ...


class Written:
    """How one target writes the beginnings of conversations. Make one for each dialect and keep it."""

    def __init__(self) -> None:
        self._begun: Along[Begun] = Along()

    def begin(self, writer: Writer, run: Run, turns: tuple[Turn, ...], begin: int) -> int:
        """Have the writer write what stays of a conversation that goes on: as before what it wrote before, and what is
        new so that it is remembered. `begin`: where the system's turns end. Gives where the rest begins."""
        at, known = begin, self._begun.get(run)
        if known is not None:
            at += len(known.turns)
            # Turns that are the same object are equal at once: usually that is all the comparison there is.
            if turns[begin:at] != known.turns or not writer.resume(known):
                at = begin
        if at == begin + len(run.turns):
            return at
        done, end = at, min(begin + len(run.turns), len(turns) - 1)
        if at < end and turns[begin].role != "assistant":  # before whom some targets want somebody to speak
            while at < end and writer.plain(turns[at]):
                at += 1
            if at > done:
                messages, more, state = writer.stands()
                text = Raw(_encode(messages)[1:-1])
                size = len(text) + len(_encode(more)) + _TURN_BYTES * (at - begin)
                if size <= MAX_RUN:
                    self._begun.keep(run, Begun(turns[begin:at], text, (more, *state)), size)
        return at


forget_all = caches.forget
