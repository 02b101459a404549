"""Converts single lines: from one file format to another, with the losses. Bytes in, bytes out.

    convert = LineConverter(source="anthropic-batch", target="openai-batch")
    convert(b'{"custom_id": "1", "params": {...}}').line

A LineConverter can be pickled, so that Spark, Ray and `datasets.map` can send it to their workers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from ...canon.losses import SEVERITIES, Loss, Severity, losses_above
from ...codec import json_text
from ...codec.caller_document_to_bytes import check_text
from ...context import Context
from ...dialect import Dialect
from ...errors import ConfigError, DragomanError, FaultError, LossError, WireError
from ...translate import translate_fault, translate_response
from ...translate.request import Options
from ...translate.result import Translation
from ...translate.with_fast_paths import translate_with
from .file_format_record import FileFormat, Kind, LineRecord
from .formats import get, get_target
from .formats.exchange import conversation_reader, join_documents

BOM = b"\xef\xbb\xbf"
"""A mark that some programs write before the first line (RFC 8259, section 8.1: readers may ignore it)."""


class Converted(Struct, frozen=True):
    """A converted line, without its line end, and its losses. The path of a loss begins at the source line."""

    line: bytes
    losses: tuple[Loss, ...]
    model: str = ""
    """The model that a request names, if it is the name of another dialect that was kept."""


class _Model(Struct):
    model: Any = None


_model_of = msgspec.json.Decoder(_Model).decode


class LineConverter:
    """Converts lines of one file format to another.

    `source` and `target` are names of dialects or of file formats. `kind`: what a line of a dialect holds ("request" or
    "response"). `model` replaces the model name; `models` replaces some names by others, and wins. `tolerance` is the
    worst accepted severity; a worse loss raises LossError.
    """

    def __init__(
        self,
        *,
        source: str,
        target: str,
        kind: Kind | None = None,
        model: str | None = None,
        tolerance: Severity | None = None,
        models: Mapping[str, str] | None = None,
    ) -> None:
        self.source = source
        self.target = target
        self.kind: Kind | None = kind
        self.model = model
        self.models = dict(models or {})
        self.tolerance: Severity | None = tolerance
        if tolerance is not None and tolerance not in SEVERITIES:
            raise ConfigError("tolerance", str(tolerance), SEVERITIES)
        self._from: FileFormat = get(source, kind)
        self._to: FileFormat = get_target(target)
        self._options: dict[tuple[int, str | None], Options] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.source, self.target, self.kind, self.model, self.tolerance, self.models)

    def __call__(self, line: bytes, name: str = "1") -> Converted:
        """The line in the target's format. `name`: an id for a line without one, if the target needs ids. Raises
        WireError for a line that does not fit the source's format, and LossError.
        """
        check_text(line, self.source)
        record = self._from.read(line)
        if record.kind == "exchange":
            record = self._exchange(record)
        if self.source == self.target and self.model is None and not self.models:
            if not json_text.is_document(line):
                raise WireError(self.source, "", "a JSON object")
            return Converted(line, ())
        if record.kind not in self._to.kinds:
            raise ConfigError(
                "target",
                self.target,
                problem=f"the format holds {_kinds_text(self._to.kinds)}; the line holds {_WORDS[record.kind]}",
            )
        written, losses, kept = self._convert_record(record, name)
        if losses and self.tolerance is not None:
            worse = losses_above(losses, self.tolerance)
            if worse:
                raise LossError(self.tolerance, worse)
        return Converted(self._to.write(written), losses, kept)

    def _exchange(self, record: LineRecord) -> LineRecord:
        """An exchange as the target wants it: as a conversation, as a request or as an answer."""
        if self._to.trains:
            reader = conversation_reader(record.dialect.name)
            return LineRecord(
                "request", join_documents(record), reader, at=record.at, unread=record.unread, joined=True
            )
        if self.kind == "response":
            more = (*record.unread, "/request")
            return LineRecord("response", record.answer, record.dialect, at="/response", unread=more)
        return LineRecord("request", record.body, record.dialect, at=record.at, unread=(*record.unread, "/response"))

    def row(self, text: str) -> dict[str, str]:
        """For `datasets.map` and Spark: the converted line, the losses as JSON, and the error. One of line and error is
        empty.
        """
        try:
            # A Python text may hold half characters. The reader reports them.
            done = self(text.encode("utf-8", "surrogatepass"))
        except (DragomanError, RecursionError) as error:
            return {"line": "", "losses": "[]", "error": str(error)}
        return {"line": done.line.decode(), "losses": msgspec.json.encode(done.losses).decode(), "error": ""}

    def _convert_record(self, record: LineRecord, name: str) -> tuple[LineRecord, tuple[Loss, ...], str]:
        target = self._to
        notes = Context(self.source, self.target)
        for place in record.unread:
            notes.lose("field.dropped", _steps(place), severity="info")
        identity = record.id
        if target.named:
            identity = self._line_id(identity, name, notes)
        elif identity is not None:
            notes.lose("field.dropped", (self._from.id_member,), "the target's lines have no id", severity="info")
        done = LineRecord(
            record.kind, record.body, target.dialect, identity, status=record.status, ending=record.ending
        )
        if record.kind == "ended":
            return done, notes.losses.all(), ""
        if record.kind == "fault":
            fault = translate_fault(
                record.body, status=record.status, source=record.dialect.name, target=target.dialect.name
            )
            done.body, done.status = fault.body, fault.status
            return done, (*_with_line_paths(fault.losses, record.at), *notes.losses.all()), ""
        if record.kind == "response":
            return *self._answer(record, done, notes), ""
        chosen = self._chosen_model(record)
        translation = translate_with(record.body, self._options_for(record.dialect, chosen))
        done.body = translation.body
        losses = translation.losses
        if record.joined:
            losses = tuple([loss if _in_answer(loss) else _with_path(loss, record.at) for loss in losses])
        else:
            losses = _with_line_paths(losses, record.at)
        if translation.model and not target.has_model and chosen is None and not target.trains:
            notes.lose(
                "field.dropped", (*_steps(record.at), "model"), "name the model where the file is used", severity="info"
            )
        foreign = target.has_model and chosen is None and record.dialect.name != target.dialect.name
        return done, (*losses, *notes.losses.all()), translation.model if foreign else ""

    def _chosen_model(self, record: LineRecord) -> str | None:
        """The model name that the caller wants in this request; None: the name of the source."""
        if self.models:
            try:
                found = self.models.get(_model_of(record.body).model)
            except (msgspec.DecodeError, RecursionError, UnicodeError, TypeError):
                found = None  # the reader reports what is wrong
            if found is not None:
                return found
        return self.model

    def _line_id(self, identity: str | None, name: str, notes: Context) -> str:
        """The id of a line whose format needs one."""
        if identity is None:
            notes.lose("record.id.invented", (), name)
            return name
        if self._to.legal_id is None or self._to.legal_id(identity):
            return identity
        # Two ids that differ in illegal letters only must not become equal.
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        legal = "".join([letter if letter.isascii() and letter.isalnum() else "-" for letter in identity[:40]])
        notes.lose("record.id.rewritten", (self._from.id_member,), f"{legal}-{digest}")
        return f"{legal}-{digest}"

    def _answer(self, record: LineRecord, done: LineRecord, notes: Context) -> tuple[LineRecord, tuple[Loss, ...]]:
        source, target = record.dialect.name, self._to.dialect.name
        answer: Translation
        try:
            answer = translate_response(record.body, source=source, target=target)
        except FaultError:
            answer = fault = translate_fault(record.body, status=record.status, source=source, target=target)
            done.kind, done.status = "fault", fault.status
        done.body = answer.body
        return done, (*_with_line_paths(answer.losses, record.at), *notes.losses.all())

    def _options_for(self, reader: Dialect, model: str | None) -> Options:
        known = self._options.get((id(reader), model))
        if known is None:
            writer = self._to.dialect
            known = self._options[id(reader), model] = Options(
                reader.name,
                writer.name,
                reader,
                writer,
                model,
                None,  # the tolerance holds for the losses of the envelope too
                "native",
                None,
                "auto",
                None,
                False,
                None,
                None,
                False,
            )
        return known


def _rebuild(
    source: str,
    target: str,
    kind: Kind | None,
    model: str | None,
    tolerance: Severity | None,
    models: Mapping[str, str],
) -> LineConverter:
    return LineConverter(source=source, target=target, kind=kind, model=model, tolerance=tolerance, models=models)


_WORDS = {
    "request": "a request or a conversation",
    "response": "an answer",
    "fault": "an error",
    "ended": "a request that never ran",
    "exchange": "a request with its answer",
}


def _kinds_text(kinds: frozenset[str]) -> str:
    return " or ".join([words for kind, words in _WORDS.items() if kind in kinds])


def _steps(pointer: str) -> tuple[str, ...]:
    return tuple(pointer[1:].split("/")) if pointer else ()


def _with_line_paths(losses: tuple[Loss, ...], at: str) -> tuple[Loss, ...]:
    """The losses with paths that begin at the line."""
    if not at or not losses:
        return losses
    return tuple([_with_path(loss, at) for loss in losses])


def _in_answer(loss: Loss) -> bool:
    return loss.path == "/response" or loss.path.startswith("/response/")


def _with_path(loss: Loss, at: str) -> Loss:
    return Loss(loss.code, loss.effect, loss.severity, at + loss.path, loss.detail)


def decode_line(line: bytes) -> dict[str, Any] | None:
    """The decode_line line, for the detection of its format; None if the line is not a JSON object."""
    try:
        found = json_text.decode(line.removeprefix(BOM))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
