"""Owns the translation of hosted calls and results (of tools that the upstream runs itself) between dialects.

`codec/hosted_tools.py` owns the declarations of such tools; this module owns their uses in histories, answers and
streams.

A reader makes a HostedCall and a HostedResult of every use, even if its wire has one item for both (the result's value
is then `ELSEWHERE`). `family` names the kind of tool, in the words of `codec/hosted_tools.py`. A dialect that can write
uses of other dialects offers `Dialect.write_hosted`. This function gets a call with its result. It returns the parts
to write (`Opaque` parts, which every writer writes unchanged), or it reports a loss and returns none. It never gets
uses of the target's own dialect. If a dialect has no `write_hosted`, its writer reports the parts as dropped.

Members of `HostedCall.arguments`, and fields of the `HostedResult`, by family:

    family          arguments                    result
    web_search      query, queries               sources: the pages that were found
    web_fetch       url, pattern (words that     sources: the page; parts: its content, a Text or a Media
                    were searched in the page)
    code_execution  code, language (python,      parts: the output of the program; stderr; exit_code; is_error
                    bash, text_editor)
    mcp             those of the tool            parts: the result of the tool; is_error
    tool_search     query, queries, paths        tools: the names of the tools that were found

A page in `sources` is a Citation without a position: address, title, and `quote` for the shown words of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ..canon.events import Event, Finish, PartEnd, PartStart
from ..canon.losses import Severity
from ..canon.parts import ELSEWHERE, Citation, HostedCall, HostedResult, Opaque, Part, Path, Seal, is_stored_elsewhere
from ..canon.response import Alternative, Response
from ..canon.turns import Turn
from ..context import Context
from . import json_text
from .packed_seals import MARK, MARK_BYTES

WriteHosted = Callable[[HostedCall, HostedResult | None, Context, bool], tuple[Part, ...]]
"""Makes the target's own parts of a use. The last argument is True in a request, whose upstream must accept the parts,
and False in an answer, which a client reads.
"""

Own = frozenset[str]
"""The dialects whose hosted parts the target's writer writes unchanged."""


# for readers and writers


def members(text: str | bytes) -> dict[str, Any]:
    """The members of a JSON object. Empty for any other value."""
    try:
        value = json_text.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def word(value: Any, name: str) -> str:
    """The text at `name` of an object; "" for anything else."""
    found = value.get(name) if type(value) is dict else None
    return found if type(found) is str else ""


def numbered_objects(value: Any) -> list[tuple[int, dict[str, Any]]]:
    """The objects of a list, with their numbers in it; [] for another value."""
    return [(i, one) for i, one in enumerate(value) if isinstance(one, dict)] if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list."""
    return [one for one in value if type(one) is dict] if type(value) is list else []


def arguments(**named: Any) -> str:
    """Arguments in the form that all dialects share, without empty ones."""
    return json_text.encode({name: value for name, value in named.items() if value}).decode()


def queries(call: HostedCall) -> list[str]:
    """The search queries, each once."""
    found = members(call.arguments)
    listed = found.get("queries")
    several = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    first = word(found, "query")
    return list(dict.fromkeys([first, *several] if first else several))


def pages(result: HostedResult | None) -> list[Citation]:
    """The pages of a result that have an address."""
    return [page for page in result.sources if page.url] if result is not None else []


def drop_use(
    call: HostedCall,
    result: HostedResult | None,
    context: Context,
    why: str = "",
    *,
    severity: Severity | None = None,
) -> tuple[Part, ...]:
    """Report that a use is dropped. The severity is info if only the metadata of an answer mentioned the use."""
    for part in (call, result):
        if part is not None:
            words = f"{part.kind}: {why}" if why else part.kind
            # No dialect sends such a use to a client as an item, so no client depends on the item.
            context.lose("hosted.dropped", part.at, words, "info" if is_stored_elsewhere(call) else severity)
    return ()


def report_mapped_use(
    call: HostedCall, result: HostedResult | None, context: Context, kind: str, left: str = "", *, request: bool
) -> None:
    """Report that a use is written as `kind`. `left`: the part of the result that `kind` cannot hold. In a history the
    model does not get this part, so the loss is a warning. In an answer the model has already used it.
    """
    detail = f"{call.kind} is written as {kind}"
    severity: Severity | None = "warning" if left and request else None
    # Two losses at one path would count one item twice.
    if result is None or result.at == call.at:  # one item for both, and one loss at its place
        left = left if result is not None else ""
        context.lose("hosted.mapped", call.at, f"{detail}: {left}" if left else detail, severity if left else None)
        return
    context.lose("hosted.mapped", call.at, detail)
    context.lose("hosted.mapped", result.at, left or f"written in {kind}", severity)


def use_id(call: HostedCall) -> str:
    """The id of a use, or one computed from its path: several uses of an answer may have no id."""
    return call.id or "_".join(["call", *[str(step) for step in call.at if isinstance(step, int)]])


def foreign_id(prefix: str, call_id: str) -> str:
    """The id that a client gets for a use of another dialect's upstream. A mark identifies the id when the client
    returns it."""
    plain = call_id.removeprefix(prefix)
    # A client returned an id that dragoman wrote. The mark is already there.
    if plain.startswith(MARK):
        return call_id
    return f"{prefix}{MARK}{_safe(call_id)}"


def _safe(call_id: str) -> str:
    # Letters, digits and _ are legal in the ids of all dialects, so everything else is replaced.
    return _UNSAFE.sub("_", call_id)


_UNSAFE = re.compile(r"[^0-9A-Za-z]")


def legal_id(prefix: str, call_id: str) -> str:
    """The id of a use for an upstream that also accepts uses of other upstreams. The upstream's own id is restored."""
    return f"{prefix}{_safe(call_id.removeprefix(prefix)) or 'call'}"


def own_id(prefix: str, call_id: str) -> str:
    """The id without the mark of `foreign_id`."""
    return call_id.removeprefix(prefix + MARK)


OTHER = "use_"
"""Precedes the mark in the id of a use whose tool only its own dialect has. Such a use is written in the form for tools
of MCP servers."""


def generic_id(prefix: str, call: HostedCall) -> str:
    """The id of a use that is written in the form for tools of MCP servers. The id shows whether an MCP server really
    has the tool."""
    return foreign_id(prefix if call.family == "mcp" else prefix + OTHER, use_id(call))


def is_other(prefix: str, call_id: str) -> bool:
    """Whether the id belongs to a use of a tool that only another dialect has."""
    return call_id.startswith(prefix + OTHER + MARK)


def arguments_object(call: HostedCall) -> dict[str, Any]:
    """The arguments of a use as an object. If a tool exists in one dialect only, its arguments may be a text, which
    becomes the member `input`."""
    return members(call.arguments) or ({"input": call.arguments} if call.arguments.strip(" {}") else {})


def full_name(call: HostedCall) -> str:
    """The name of a used tool, with the name of its MCP server in front if it has one."""
    name = call.name or call.family or call.kind
    return f"{call.server}/{name}" if call.server else name


def split_name(name: str) -> tuple[str, str]:
    """The server and the tool in a name that `full_name` made."""
    # A name with several slashes is not split, because names of tools may have slashes of their own.
    server, _, tool = name.rpartition("/") if name.count("/") == 1 else ("", "", name)
    return server, tool


def made_elsewhere(part: Opaque) -> bool:
    """Whether dragoman made a hosted part of the target's dialect from a part of another dialect. The target's upstream
    never made such a part.
    """
    return (type(part) is HostedCall or type(part) is HostedResult) and MARK_BYTES in bytes(part.value)


# uses that must return to their own upstream unchanged

USE = "use"
"""The kind of a seal that holds the parts of a use."""


def _is_sealed(value: bytes) -> bool:
    """Whether a part has a member that only its upstream can read: a page of Messages, a signature of Gemini."""
    return b'"encrypted_' in value or b'"thoughtSignature"' in value


class SealedUse(msgspec.Struct, array_like=True):
    """The data of a seal of the kind `USE`: the id by which the client's copy is recognised, and the parts with their
    kinds."""

    id: str
    parts: list[tuple[str, Raw]]


_read_use = msgspec.json.Decoder(SealedUse).decode


def sealed_use(call: HostedCall, result: HostedResult) -> Seal | None:
    """The seal of a use; None if nothing in the use is sealed. With the seal, the upstream continues as if the client
    spoke the upstream's dialect. Messages documents that `encrypted_content` "must be passed back" for citations in
    later turns, and Gemini that `toolCall` and `toolResponse` go back with their signatures (2026-11)."""
    parts = [(part.kind, part.value) for part in (call, result) if part.value != ELSEWHERE]
    # The upstream needs the call and the result to continue from the use.
    if len(parts) < 2 or not (_is_sealed(bytes(result.value)) or _is_sealed(bytes(call.value))):
        return None
    return Seal(call.dialect, json_text.encode(SealedUse(_safe(use_id(call)), parts)).decode(), USE)


def unsealed_use(data: str, dialect: str, at: Path) -> tuple[str, list[Part]]:
    """The id and the parts in the data of such a seal; an empty id and no parts if the data cannot be read."""
    try:
        use = _read_use(data)
    except (msgspec.DecodeError, RecursionError):
        # A client may change a seal. A seal that cannot be read is treated as absent.
        return "", []
    return use.id, [Opaque(dialect, kind, value, at=at) for kind, value in use.parts]


# the stage between reader and writer


class Uses:
    """Pairs calls with their results, and lets the target write them. A call waits for its result; the written parts
    are at the place of the result.
    """

    def __init__(self, write: WriteHosted, own: Own, context: Context, *, request: bool) -> None:
        self._write = write
        self._own = own
        self._context = context
        self._request = request
        self._waiting: list[HostedCall] = []
        self._names: dict[str, int] = {}  # ids of uses -> number of occurrences

    def takes(self, part: Part) -> bool:
        """Whether this stage rewrites the part."""
        return (type(part) is HostedCall or type(part) is HostedResult) and part.dialect not in self._own

    def feed(self, part: Part) -> tuple[Part, ...]:
        """The parts to write after this part. Empty for a call, which waits."""
        if type(part) is HostedCall:
            self._waiting.append(part)
            return ()
        assert type(part) is HostedResult
        call = self._named_once(self._call_of(part))
        written = self._write(call, part, self._context, self._request)
        # Only a client gets a seal, to return it later. In a request the use goes to an upstream.
        seal = sealed_use(call, part) if written and not self._request else None
        if seal is None:
            return written
        # The first part gets the seal, so that the carrier of the seal comes before all parts.
        return (msgspec.structs.replace(written[0], seal=seal), *written[1:])

    def rest(self) -> tuple[Part, ...]:
        """The parts to write for calls without a result."""
        calls, self._waiting = self._waiting, []
        named = [self._named_once(call) for call in calls]
        return tuple([part for call in named for part in self._write(call, None, self._context, self._request)])

    def _named_once(self, call: HostedCall) -> HostedCall:
        """The call with an id that is unique in the answer: streams repeat events, and metadata in chunks."""
        count = self._names[call.id] = self._names.get(call.id, 0) + 1
        # In a request the ids are the client's own, and its history refers to them.
        if count == 1 or not call.id or self._request:
            return call
        return msgspec.structs.replace(call, id=f"{call.id}_{count}")

    def _call_of(self, result: HostedResult) -> HostedCall:
        """The call of a result: by id; else the first waiting call of the same family, because some recorders and
        proxies replace one of the two ids; else an empty call.
        """
        waiting = self._waiting
        found = next((call for call in waiting if call.id and call.id == result.call_id), None)
        if found is None:
            found = next((call for call in waiting if call.family == result.family), None)
        if found is None:
            known = {"family": result.family, "id": result.call_id, "at": result.at}
            return HostedCall(result.dialect, result.kind, ELSEWHERE, **known)  # type: ignore[arg-type]
        waiting.remove(found)
        return found


def cross_parts(
    parts: tuple[Part, ...], write: WriteHosted, own: Own, context: Context, *, request: bool
) -> tuple[Part, ...]:
    """The parts of one turn or answer, with hosted calls and results in the target's form."""
    # The loop avoids the rest for nearly all turns, which have no hosted parts.
    for part in parts:
        if type(part) is HostedCall or type(part) is HostedResult:
            break
    else:
        return parts
    uses = Uses(write, own, context, request=request)
    out: list[Part] = []
    for part in parts:
        out.extend(uses.feed(part) if uses.takes(part) else (part,))
    out.extend(uses.rest())
    return tuple(out)


def cross_turns(turns: tuple[Turn, ...], write: WriteHosted, own: Own, context: Context) -> tuple[Turn, ...]:
    """A history with its hosted calls and results in the target's form. A turn that becomes empty is dropped."""
    out: list[Turn] = []
    changed = False
    for turn in turns:
        # Only assistant turns hold uses: the upstream itself made them.
        parts = cross_parts(turn.parts, write, own, context, request=True) if turn.role == "assistant" else turn.parts
        if parts is turn.parts:
            out.append(turn)
            continue
        changed = True
        if parts:
            out.append(msgspec.structs.replace(turn, parts=parts))
        else:
            context.lose("turn.dropped", turn.at)
    return tuple(out) if changed else turns


def cross_answer(response: Response, write: WriteHosted, own: Own, context: Context) -> Response:
    """An answer with its hosted calls and results in the target's form."""
    parts = cross_parts(response.parts, write, own, context, request=False)
    others = tuple([_crossed(other, write, own, context) for other in response.alternatives])
    if parts is response.parts and all(one is other for one, other in zip(others, response.alternatives, strict=True)):
        return response
    return msgspec.structs.replace(response, parts=parts, alternatives=others)


def _crossed(other: Alternative, write: WriteHosted, own: Own, context: Context) -> Alternative:
    parts = cross_parts(other.parts, write, own, context, request=False)
    return other if parts is other.parts else msgspec.structs.replace(other, parts=parts)


_FIRST = 1 << 29
"""The index of the first added part. Readers never reach this number."""


class HostedEvents:
    """Rewrites the hosted calls and results in the events of a stream. Hosted parts are whole in their PartStart."""

    def __init__(self, write: WriteHosted, own: Own, context: Context) -> None:
        self._made: WriteHosted = write
        self._own = own
        self._context = context
        self._answers: dict[int, Uses] = {}
        self._taken: set[int] = set()
        self._next = _FIRST

    def take(self, event: Event) -> list[Event] | None:
        """The events to write for this event. None: the event is written unchanged."""
        if type(event) is PartStart:
            part = event.part
            if not (type(part) is HostedCall or type(part) is HostedResult) or part.dialect in self._own:
                return None
            self._taken.add(event.index)
            uses = self._answers.get(event.answer)
            if uses is None:
                uses = self._answers[event.answer] = Uses(self._made, self._own, self._context, request=False)
            return self._events(uses.feed(part), event.answer)
        if type(event) is PartEnd and event.index in self._taken:
            # The end of a part that was replaced must not be written: its start was not.
            self._taken.discard(event.index)
            return []
        if type(event) is Finish and event.answer in self._answers:
            # Calls without a result are written at the end, when no result can come any more.
            return [*self._events(self._answers.pop(event.answer).rest(), event.answer), event]
        return None

    def _events(self, parts: Iterable[Part], answer: int) -> list[Event]:
        out: list[Event] = []
        for part in parts:
            out += (PartStart(self._next, part, answer), PartEnd(self._next))
            self._next += 1
        return out
