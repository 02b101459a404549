"""Read with one dialect, write with another, gather the losses: requests, answers, streams, faults, tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Raw, Struct

from . import hosts, profiles
from .canon.events import Event, Fault, PartDelta, PartEnd, PartStart
from .canon.losses import SEVERITIES, Loss, Losses, Severity
from .canon.parts import Part, ToolCall
from .canon.repairs import Repair
from .canon.request import Request
from .canon.response import Alternative, Kept, Plain, Response
from .codec import jsontext
from .codec.carriage import Plan, carry, carry_plain
from .codec.convoy import Convoy
from .codec.custom import Unwrapper, unwrap_input
from .codec.endings import ended
from .codec.faults import unsaid
from .codec.hosted import aim, cross
from .codec.ids import Apart, apart, distinct
from .codec.names import declared_once, reserve
from .codec.seals import MARK_BYTES
from .codec.vault import Vault
from .crossing import Crossing, Resolver
from .dialect import Dialect
from .dialects import get
from .errors import ConfigError, FaultError, LossError, WireError
from .sealing import Strategy, check_strategy, homeward, outward

if TYPE_CHECKING:
    from .mending import Policy

Body = bytes | bytearray | memoryview | str | Mapping[str, Any] | list[Any]
"""A document: JSON text, or the decoded value."""

Binary = Literal["native", "summarise"]

_Found = Callable[[], tuple[Loss, ...]]
"""The losses, counted when someone asks for them."""


class Translation:
    """A document in the target's dialect, and what was lost on the way."""

    __slots__ = (
        "_losses",
        "asked",
        "body",
        "headers",
        "host",
        "model",
        "renamed",
        "repairs",
        "request",
        "source",
        "stand_ins",
        "stream",
        "target",
        "wrapped",
    )

    def __init__(self, body: bytes, crossing: Crossing, losses: _Found) -> None:
        self.body = body
        """JSON of the target dialect; the same bytes for the same input."""
        self._losses = losses
        self.repairs: tuple[Repair, ...] = ()
        """What was mended in the history of the source, with `repair="report"`."""
        self.headers = crossing.headers
        """Headers to send it with, beside those of every request: what the upstream wants for something in it."""
        self.source = crossing.source
        self.target = crossing.target
        self.model = ""
        """The model asked of the upstream. Dialects that name it in the address do not have it in the body."""
        self.asked = ""
        """The model's name as the client wrote it."""
        self.host: str | None = None
        """The upstream's host, as it was given."""
        self.stream: bool | None = None
        self.request: Request | None = None
        """The request in canon, for the way back; None when the bytes passed untouched."""
        self.renamed = crossing.renamed
        self.wrapped = crossing.custom
        self.stand_ins = crossing.stand_ins
        """Functions offered in place of tools that the source's upstream runs itself: name -> what it stands for. Their
        calls come to a client that never declared them, and are reported as `call.stand_in`: whoever stands between
        must run them, or the client answers them as it answers any tool it does not know."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What was dropped, approximated or invented on the way."""
        return self._losses()

    def json(self) -> Any:
        """The body, decoded. WireError if it carries, untouched, what no decoder takes (a number such as 1e999)."""
        return jsontext.plain(Raw(self.body))

    def __repr__(self) -> str:
        return f"<Translation {self.source} to {self.target}: {len(self.body)} bytes, {len(self.losses)} losses>"


class FaultTranslation(Translation):
    """A fault in the target's dialect, with the status and the headers to send it with."""

    __slots__ = ("status",)

    def __init__(self, body: bytes, crossing: Crossing, losses: _Found, status: int, headers: dict[str, str]) -> None:
        super().__init__(body, crossing, losses)
        self.status = status
        self.headers = headers


class _Head(Struct):
    """What a same-dialect pass needs to know of a body."""

    model: str | None = None
    stream: bool | None = None


_head = msgspec.json.Decoder(_Head).decode


def translate_request(
    body: Body,
    *,
    source: str,
    target: str,
    model: str | None = None,
    tolerance: Severity | None = None,
    binary: Binary = "native",
    repair: Policy | None = None,
    seals: Strategy = "auto",
    vault: Vault | None = None,
    resolver: Resolver | None = None,
    host: str | None = None,
) -> Translation:
    """A request in another dialect.

    `model` replaces the model's name. `tolerance` names the worst severity that is accepted; beyond it LossError is
    raised. `binary="summarise"` turns media in tool results into a line of text. `repair` says what happens to a
    history that is broken by the rules of its own dialect: "refuse" raises RepairError, "report" mends it and says so
    in `repairs`; without it the writer makes the best of it, as of any history. `seals` and `vault` as for the answers
    that the history holds: whatever carried a seal, it goes back to its origin, and to nobody else.
    `resolver` is asked for the conversation where the source names one that only its server holds (as with
    `previous_response_id`), also within one dialect: what it knows takes the place of the name. Without it such a name
    is a loss in another dialect, and the earlier turns are missing.
    `host` is the upstream's host name, or its short name ("mistral"): where it is known to differ from its dialect, the
    request is made to suit it, also within one dialect.
    """
    reader, writer = get(source), get(target)
    _checked_binary(binary)
    check_strategy(seals, vault)
    document = as_bytes(body, source)
    facts = hosts.lookup(host, target) if host is not None else None
    repairs: tuple[Repair, ...] = ()
    if repair is not None and source == target:
        from .mending import mended_document  # most callers never repair

        document, repairs = mended_document(document, reader, model, repair)
    unmarked = source == target and MARK_BYTES not in document
    if unmarked and facts is None and (resolver is None or not _names_held(document, reader)):
        result = _pass_request(document, reader, model, tolerance)
        result.repairs = repairs
        result.host = host
        return result
    crossing = Crossing(source, target, model=model or "", binary=binary)
    crossing.resolver = resolver
    crossing.host = facts
    request = reader.read_request(document, crossing)
    request = homeward(request, seals, vault, reader, writer, model or request.model, crossing, hosts.origin(host))
    if source != target:
        if repair is not None:
            from .mending import mended_request

            request, repairs = mended_request(request, reader, crossing, repair)
        crossing.profile = profiles.lookup(target, model or request.model)
        tools = declared_once(cross(request.tools, reader.hosted, writer.hosted, crossing), crossing)
        reserve(tools, crossing)
        turns = distinct(request.turns, crossing)
        if turns is not request.turns:
            request = msgspec.structs.replace(request, turns=turns)
    else:
        crossing.profile = profiles.lookup(target, model or request.model)
        tools = request.tools
    # The client's own tools stay in the request that its answer comes back to.
    sent = aim(request, tools, reader.hosted, writer.hosted, crossing)
    out = writer.write_request(sent, crossing)
    if unmarked and not crossing.suited:
        result = _pass_request(document, reader, model, tolerance)
        result.repairs, result.host = repairs, host
        return result
    result = Translation(out, crossing, _settled(crossing, reader, writer, tolerance))
    result.source = source
    result.host = host
    result.repairs = repairs
    result.request = request
    result.asked = request.model
    result.model = model or request.model
    result.stream = request.stream
    return result


def _names_held(document: bytes, dialect: Dialect) -> bool:
    """Whether a conversation may be named that a server holds."""
    return any(name.encode() in document for name in dialect.demands.held)


def _pass_request(document: bytes, dialect: Dialect, model: str | None, tolerance: Severity | None) -> Translation:
    """Same dialect: the bytes go through as they are, but for the model's name."""
    _checked_tolerance(tolerance)
    crossing = Crossing(dialect.name, dialect.name)
    try:
        head = _head(document)
    except (msgspec.DecodeError, RecursionError):
        dialect.read_request(document, crossing)  # says what is wrong, and where
        head = _Head()
    if model is not None and model != head.model and dialect.splice_model:
        document = jsontext.respelled(document, "model", model)
    result = Translation(document, crossing, _nothing)
    result.asked = head.model or ""
    result.model = model or result.asked
    result.stream = head.stream
    return result


def translate_response(
    body: Body,
    *,
    source: str,
    target: str,
    answers: Translation | None = None,
    tolerance: Severity | None = None,
    created: int = 0,
    seals: Strategy = "auto",
    vault: Vault | None = None,
    host: str | None = None,
) -> Translation:
    """An answer in another dialect.

    `answers` is the translation of the request: by it renamed and wrapped tools and the model's name find their way
    back. `created` is the time to write where the target wants one and the source has none. `seals` says how the seals
    of the upstream travel to the client and back (`sealing.py`), `vault` is where those wait that cannot. Raises
    FaultError when the upstream says in its answer that it failed: `translate_fault` makes the client's of it.
    `host` is the upstream's, as for the request; left out, it is the one that `answers` was made for.
    """
    reader, writer = get(source), get(target)
    document = as_bytes(body, source)
    check_strategy(seals, vault)
    if reader.read_plain is not None and writer.write_plain is not None and reader is not writer:
        if answers is None or not (answers.renamed or answers.wrapped or answers.stand_ins):
            plain = reader.read_plain(document)
            if plain is not None:
                plan = _outward(reader, writer, answers, seals, vault, host) if plain.sealed else None
                short = _plain_response(plain, reader, writer, answers, plan, tolerance, created)
                if short is not None:
                    return short
    plan = _outward(reader, writer, answers, seals, vault, host)
    crossing = _way_back(source, target, answers, created)
    if source == target and not (answers is not None and answers.wrapped):
        _checked_tolerance(tolerance)
        _check_json(document, reader)
        return Translation(document, crossing, _nothing)
    response = _told_apart(ended(_read_answer(document, reader, crossing), crossing), crossing)
    response = restored(response, answers)
    if answers is not None and answers.stand_ins:
        for part in (*response.parts, *[part for other in response.alternatives for part in other.parts]):
            _report_stand_in(part, answers.stand_ins, crossing)
    if reader.logprobs != writer.logprobs and (response.extra is not None or _has_extras(response.parts)):
        # Late: few answers have them.
        from .codec.logprobs import cross as cross_logprobs

        response = cross_logprobs(response, reader.logprobs, writer.logprobs, crossing)
    if plan is not None:
        response = carry(response, plan, crossing)
    out = writer.write_response(response, crossing)
    return Translation(out, crossing, _settled(crossing, reader, writer, tolerance))


def _plain_response(
    plain: Plain,
    reader: Dialect,
    writer: Dialect,
    answers: Translation | None,
    plan: Plan | None,
    tolerance: Severity | None,
    created: int,
) -> Translation | None:
    """The short way for what nearly all answers are; None where it takes the long one after all."""
    crossing = _bare(reader.name, writer.name)
    if plain.sealed:
        crossing = _way_back(reader.name, writer.name, answers, created)
        if plan is None or not carry_plain(plain, plan, crossing):
            return None
    write: Any = writer.write_plain
    out = write(plain, "", created, None) if answers is None else write(plain, answers.asked, created, answers.request)
    if out is None:
        return None
    if plain.kept is None:
        return Translation(out, crossing, _nothing)
    if tolerance is None:
        return Translation(out, crossing, partial(_kept_losses, plain.kept, reader, writer))
    crossing = Crossing(reader.name, writer.name)
    crossing.kept = plain.kept()
    return Translation(out, crossing, _settled(crossing, reader, writer, tolerance))


def _kept_losses(kept: Kept, reader: Dialect, writer: Dialect) -> tuple[Loss, ...]:
    crossing = Crossing(reader.name, writer.name)
    crossing.kept = kept()
    crossing.settle(reader.noise)
    return crossing.losses.all()


_bare = lru_cache(maxsize=64)(Crossing)
"""A crossing on which nothing is ever noted."""


def _report_stand_in(part: Part, stand_ins: Mapping[str, str], crossing: Crossing) -> None:
    """Say that a call is of a function which the client never declared."""
    if type(part) is ToolCall and part.name in stand_ins:
        crossing.lose("call.stand_in", part.at, f"{part.name} stands for {stand_ins[part.name]}")


def _has_extras(parts: tuple[Part, ...]) -> bool:
    return any(part.extra is not None for part in parts)


def _read_answer(document: bytes, reader: Dialect, crossing: Crossing) -> Response:
    """The answer; FaultError when the document is a fault for all its good status."""
    try:
        response = reader.read_response(document, crossing)
    except WireError:
        if b'"error"' not in document:
            raise
        raise FaultError(reader.read_fault(document, 502, {}), document) from None
    if not response.parts and response.stop.reason in ("error", "unknown"):
        if b'"error"' in document:
            fault = reader.read_fault(document, 502, {})
            if response.stop.detail and response.stop.reason == "error":
                fault = msgspec.structs.replace(fault, message=response.stop.detail)
            raise FaultError(fault, document)
    return response


def translate_fault(
    body: Body,
    *,
    status: int,
    source: str,
    target: str,
    headers: Mapping[str, str] | None = None,
) -> FaultTranslation:
    """An error answer in another dialect: body, status and headers (retry-after crosses)."""
    reader, writer = get(source), get(target)
    crossing = Crossing(source, target)
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    document = loose_bytes(body, source)
    fault = reader.read_fault(document, status if status >= 400 else 502, lowered)
    if source == target:
        kept = {name: value for name, value in lowered.items() if name.startswith("retry-after")}
        return FaultTranslation(document, crossing, _nothing, status, kept)
    out, own_status, own_headers = writer.write_fault(fault)
    if own_status != status and status >= 400:
        crossing.lose("fault.approximated", (), f"status {status} is sent as {own_status}")
    for at in unsaid(fault, source, out + jsontext.encode(own_headers), document):
        crossing.lose("field.dropped", at, severity="info")
    return FaultTranslation(out, crossing, crossing.losses.all, own_status, own_headers)


def translate_tools(
    tools: Body, *, source: str, target: str, tolerance: Severity | None = None, model: str | None = None
) -> Translation:
    """Tool declarations alone: the value of `tools`, or an object that has it."""
    reader, writer = get(source), get(target)
    document = as_bytes(tools, source)
    if document.lstrip()[:1] == b"{":
        document = bytes(_tools_of(document, source))
    crossing = Crossing(source, target, profile=profiles.lookup(target, model or ""))
    found = reader.read_tools(document, crossing)
    if source == target:
        _checked_tolerance(tolerance)
        return Translation(document, crossing, _nothing)
    found = declared_once(cross(found, reader.hosted, writer.hosted, crossing), crossing)
    reserve(found, crossing)
    out = writer.write_tools(found, crossing)
    return Translation(out, crossing, _settled(crossing, reader, writer, tolerance))


def _tools_of(document: bytes, source: str) -> Raw:
    try:
        members = jsontext.fields(document)
        members = jsontext.fields(members["config"]) if "config" in members and "tools" not in members else members
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireError(source, "", "a list of tools", str(error)) from None
    if "tools" not in members:
        raise WireError(source, "/tools", "a list of tools")
    return members["tools"]


class StreamTranslator:
    """A stream in another dialect: feed the upstream's bytes, get the client's."""

    def __init__(
        self,
        *,
        source: str,
        target: str,
        answers: Translation | None = None,
        created: int = 0,
        seals: Strategy = "auto",
        vault: Vault | None = None,
        host: str | None = None,
    ) -> None:
        self._from, self._to = get(source), get(target)
        self._crossing = _way_back(source, target, answers, created)
        self._same = source == target and not (answers is not None and answers.wrapped)
        self._crossing.scored = self._from.logprobs is not None and self._to.logprobs is not None
        self._reader = self._from.reader(self._crossing)
        self._writer = self._to.writer(self._crossing)
        self._ids: dict[int, Apart] = defaultdict(Apart)
        self._restorer = _Restorer(answers) if answers is not None and (answers.renamed or answers.wrapped) else None
        self._stand_ins = answers.stand_ins if answers is not None else {}
        plan = _outward(self._from, self._to, answers, seals, vault, host)
        self._convoy = Convoy(plan, self._crossing) if plan is not None else None
        self.fault: Fault | None = None
        """The fault that ended the stream, if one did."""

    def feed(self, chunk: bytes) -> bytes:
        """The bytes to send on for these bytes, at once; b"" when nothing is ready."""
        if self._same:
            return chunk
        events = self._reader.feed(chunk)
        if len(events) == 1 and self._restorer is None:
            event = events[0]
            if self._convoy is None:
                if type(event) is not PartStart and type(event) is not Fault:
                    return self._writer.send(event)
            elif type(event) is PartDelta and event.seal is None and self._convoy.passes(event):
                return self._writer.send(event)
        return self._written(events)

    def close(self, fault: Fault | None = None) -> bytes:
        """The upstream's bytes are over: the rest, and a fault in the client's dialect if the stream was cut. `fault`
        says why, where more is known than that it ended."""
        if self._same:
            return b""
        events = self._reader.close()
        if fault is not None and events and type(events[-1]) is Fault:
            events[-1] = fault
        return self._written(events) + self._writer.close()

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What was lost so far, by its place: in which order it was found depends on how the bytes were cut."""
        if not self._same and self._from.name not in self._to.kin:
            self._crossing.settle(self._from.noise)
        return tuple(sorted(self._crossing.losses.all(), key=_place))

    def _written(self, events: list[Event]) -> bytes:
        for i, event in enumerate(events):
            if type(event) is PartStart and type(event.part) is ToolCall:
                if self._stand_ins:
                    _report_stand_in(event.part, self._stand_ins, self._crossing)
                call = self._ids[event.answer].call(event.part, self._crossing)
                if call is not event.part:
                    events[i] = PartStart(event.index, call, event.answer)
        if self._restorer is not None:
            events = self._restorer.restore(events)
        if self._convoy is not None:
            events = self._convoy.feed(events)
        send = self._writer.send
        out = [send(event) for event in events]
        if events and type(events[-1]) is Fault:
            self.fault = events[-1]
            # Where a fault stands does not depend on the envelope of the frames before it.
            for at in unsaid(events[-1], self._from.name, out[-1]):
                self._crossing.losses.add("field.dropped", at, "", "info")
        return b"".join(out)


def _place(loss: Loss) -> tuple[str, str]:
    return loss.path, loss.code


class _Restorer:
    """Gives calls in a stream their own names back, and custom calls their free text."""

    def __init__(self, answers: Translation) -> None:
        self._answers = answers
        self._open: dict[int, Unwrapper] = {}

    def restore(self, events: list[Event]) -> list[Event]:
        out: list[Event] = []
        for event in events:
            if isinstance(event, PartStart) and isinstance(event.part, ToolCall):
                call = _restored_call(event.part, self._answers)
                if call.custom and not event.part.custom:
                    self._open[event.index] = Unwrapper()
                event = PartStart(event.index, call, event.answer)
            elif isinstance(event, PartDelta) and event.index in self._open:
                text = self._open[event.index].feed(event.text)
                if not text and event.seal is None:
                    continue
                event = PartDelta(event.index, text, event.seal)
            elif isinstance(event, PartEnd) and event.index in self._open:
                unwrapper = self._open.pop(event.index)
                rest = unwrapper.close()
                if rest:
                    out.append(PartDelta(event.index, rest))
                if unwrapper.cut:
                    event = PartEnd(event.index, event.extra, True)
            out.append(event)
        return out


def _told_apart(response: Response, crossing: Crossing) -> Response:
    """The response with an id for every call that no other call of the same answer has."""
    parts = apart(response.parts, crossing)
    if not response.alternatives:
        return response if parts is response.parts else msgspec.structs.replace(response, parts=parts)
    others = tuple([_parts_replaced(other, apart(other.parts, crossing)) for other in response.alternatives])
    return msgspec.structs.replace(response, parts=parts, alternatives=others)


def _parts_replaced(answer: Alternative, parts: tuple[Part, ...]) -> Alternative:
    return answer if parts is answer.parts else msgspec.structs.replace(answer, parts=parts)


def restored(response: Response, answers: Translation | None) -> Response:
    """The response with tool names and custom tools as the client declared them."""
    if answers is None or not (answers.renamed or answers.wrapped):
        return response
    others = [
        msgspec.structs.replace(other, parts=_restored_parts(other.parts, answers)) for other in response.alternatives
    ]
    parts = _restored_parts(response.parts, answers)
    return msgspec.structs.replace(response, parts=parts, alternatives=tuple(others))


def _restored_parts(parts: tuple[Part, ...], answers: Translation) -> tuple[Part, ...]:
    return tuple([_restored_call(part, answers) if isinstance(part, ToolCall) else part for part in parts])


def _restored_call(call: ToolCall, answers: Translation) -> ToolCall:
    namespace, name = answers.renamed.get(call.name, ("", call.name))
    if call.name in answers.wrapped and not call.custom:
        text = unwrap_input(call.arguments) if call.arguments else ""
        return msgspec.structs.replace(call, name=name, namespace=namespace, custom=True, arguments=text)
    if not namespace and name == call.name:
        return call
    return msgspec.structs.replace(call, name=name, namespace=namespace)


def _outward(
    reader: Dialect,
    writer: Dialect,
    answers: Translation | None,
    seals: Strategy,
    vault: Vault | None,
    host: str | None,
) -> Plan | None:
    if answers is None:
        return outward(seals, vault, reader, writer, "", hosts.origin(host), _wanted(host, reader))
    host = host or answers.host
    return outward(seals, vault, reader, writer, answers.model, hosts.origin(host), _wanted(host, reader))


def _wanted(host: str | None, reader: Dialect) -> bool:
    """Whether the upstream takes its thoughts back, sealed or not."""
    known = hosts.lookup(host, reader.name) if host else None
    return known is not None and known.echo


def _way_back(source: str, target: str, answers: Translation | None, created: int) -> Crossing:
    if answers is None:
        crossing = Crossing(source, target, created=created)
    else:
        crossing = Crossing(source, target, model=answers.asked, answers=answers.request, created=created)
    crossing.ends = get(source).ends
    return crossing


def as_bytes(body: Body, dialect: str) -> bytes:
    """A document as JSON bytes, which are UTF-8: decoding checks no text that is merely carried."""
    document = loose_bytes(body, dialect)
    if not document.isascii():
        try:
            document.decode()
        except UnicodeDecodeError as error:
            raise WireError(dialect, "", "UTF-8", f"byte {document[error.start]:#x} at {error.start}") from None
    return document


def loose_bytes(body: Body, dialect: str) -> bytes:
    """A document as bytes, which may be cut or broken if they came as bytes."""
    if type(body) is bytes:
        return body
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    try:
        return body.encode("utf-8") if isinstance(body, str) else _encode(body)
    except UnicodeEncodeError:
        raise WireError(dialect, "", "text that UTF-8 can hold", "a lone surrogate") from None
    except (TypeError, RecursionError) as error:
        raise WireError(dialect, "", "a JSON value", str(error)) from None


def _as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_encode = msgspec.json.Encoder(enc_hook=_as_dict).encode


def _check_json(document: bytes, dialect: Dialect) -> None:
    try:
        jsontext.fields(document)
    except (msgspec.DecodeError, RecursionError):
        dialect.read_response(document, Crossing(dialect.name, dialect.name))


def _nothing() -> tuple[Loss, ...]:
    return ()


def _settled(crossing: Crossing, reader: Dialect, writer: Dialect, tolerance: Severity | None) -> _Found:
    """The losses, the fields that only the source knows counted among them."""
    if crossing.kept and reader.name != writer.name and reader.name not in writer.kin:

        def found() -> tuple[Loss, ...]:
            crossing.settle(reader.noise)
            return crossing.losses.all()

    elif len(crossing.losses):
        found = crossing.losses.all
    else:
        found = _nothing
    if tolerance is not None:
        _checked_tolerance(tolerance)
        found()
        beyond = crossing.losses.beyond(tolerance)
        if beyond:
            raise LossError(tolerance, beyond)
    return found


def _checked_tolerance(tolerance: Severity | None) -> None:
    if tolerance is not None and tolerance not in SEVERITIES:
        raise ConfigError("tolerance", str(tolerance), SEVERITIES)


def _checked_binary(binary: Binary) -> None:
    if binary not in ("native", "summarise"):
        raise ConfigError("binary", str(binary), ("native", "summarise"))


__all__ = [
    "Body",
    "FaultTranslation",
    "Losses",
    "StreamTranslator",
    "Translation",
    "restored",
    "translate_fault",
    "translate_request",
    "translate_response",
    "translate_tools",
]
