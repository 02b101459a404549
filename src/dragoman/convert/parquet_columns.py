"""Typed columns of Parquet files: which Arrow type a format's columns have, and how records become rows and back.

A fine-tuning set declares its columns (`FileFormat.columns`). A member that may hold anything (the arguments of a call,
the schema of a tool) becomes a text column with JSON. A record that does not fit the columns is written whole, as JSON
text, in the column `json`; its other columns are null. So no record changes because of the columns.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from .lines.file_format_record import Column, Columns

WHOLE = "json"
"""The column that holds whole records."""
_MARK = b"dragoman"
_JSON, _RECORD = b"json", b"record"
STRUCTURED = frozenset({"messages", "conversations", "contents", "request", "response", "body", "params", "result"})
"""Members that hold a list or an object in all formats. A text there can only be the JSON of one."""


def schema_of(pa: Any, columns: Columns | None) -> Any:
    """The Arrow schema of a format's columns, and of the column `json`."""
    fields = [_field(pa, name, kind) for name, kind in (columns or {}).items()]
    return pa.schema([*fields, pa.field(WHOLE, pa.string(), metadata={_MARK: _RECORD} if fields else None)])


def _field(pa: Any, name: str, kind: Column) -> Any:
    return pa.field(name, _type(pa, kind), metadata={_MARK: _JSON} if kind == "json" else None)


def _type(pa: Any, kind: Column) -> Any:
    if isinstance(kind, dict):
        return pa.struct([_field(pa, name, inner) for name, inner in kind.items()])
    if isinstance(kind, list):
        return pa.list_(_field(pa, "element", kind[0]))
    return {"text": pa.string(), "json": pa.string(), "bool": pa.bool_(), "int": pa.int64()}[kind]


class _Misfit(Exception):
    """A value does not fit its column."""


_members = msgspec.json.Decoder(dict[str, Raw]).decode
_elements = msgspec.json.Decoder(list[Raw]).decode
_SCALARS = {
    "text": msgspec.json.Decoder(str).decode,
    "bool": msgspec.json.Decoder(bool).decode,
    "int": msgspec.json.Decoder(Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]).decode,
}
_NULL = Raw(b"null")


def row_of(line: bytes, columns: Columns | None) -> dict[str, Any]:
    """The row of a record."""
    if columns:
        try:
            return _struct(line, columns)
        except (_Misfit, msgspec.DecodeError, RecursionError, UnicodeError):
            pass  # the record is written whole into its column
    return {WHOLE: line.decode()}


def _struct(value: bytes | Raw, kinds: Columns) -> dict[str, Any]:
    found = _members(value)
    if not found.keys() <= kinds.keys():
        raise _Misfit
    return {name: _value(inner, kinds[name]) for name, inner in found.items()}


def _value(value: Raw, kind: Column) -> Any:
    if value == _NULL:
        return None
    if kind == "json":
        return bytes(value).decode()
    if isinstance(kind, dict):
        return _struct(value, kind)
    if isinstance(kind, list):
        elements = _elements(value)
        if _NULL in elements:  # reading leaves out nulls, and would count the others differently
            raise _Misfit
        return [_value(inner, kind[0]) for inner in elements]
    return _SCALARS[kind](value)


class RowReader:
    """Makes lines of JSON of the rows of one file."""

    def __init__(self, pa: Any, schema: Any) -> None:
        self._pa = pa
        self._schema = schema
        kind = schema.field(0).type if len(schema) == 1 else None
        self._texts = kind is not None and _is_text(pa, kind)
        self._records = WHOLE in schema.names and _json_mark(schema.field(WHOLE)) == _RECORD
        self._kinds = {field.name: field for field in schema}

    def lines(self, batch: Any) -> list[bytes]:
        """The records of some rows."""
        if self._texts:
            return [(value or "").encode("utf-8", "surrogatepass") for value in batch.column(0).to_pylist()]
        return [self._line(row) for row in batch.to_pylist()]

    def _line(self, row: dict[str, Any]) -> bytes:
        if self._records:
            whole = row.pop(WHOLE)
            if whole is not None:
                return str(whole).encode("utf-8", "surrogatepass")
        record = {str(key): self._read(value, self._kinds[key]) for key, value in row.items() if value is not None}
        for name in STRUCTURED & record.keys():
            record[name] = _parse_or_text(record[name])
        return msgspec.json.encode(record, enc_hook=str)

    def _read(self, value: Any, field: Any) -> Any:
        """The value without nulls: the type of a column has the members of all rows, and null where a row has none."""
        types, kind = self._pa.types, field.type
        if value is None:
            return None
        if types.is_struct(kind):
            return {
                str(name): self._read(inner, kind.field(name)) for name, inner in value.items() if inner is not None
            }
        if types.is_list(kind) or types.is_large_list(kind):
            return [self._read(inner, kind.value_field) for inner in value]
        if types.is_map(kind):
            return {str(name): self._read(inner, kind.item_field) for name, inner in value if inner is not None}
        return _parse_or_text(value) if _json_mark(field) == _JSON else value


def _is_text(pa: Any, kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _json_mark(field: Any) -> bytes:
    return bytes((field.metadata or {}).get(_MARK, b""))


def _parse_or_text(value: Any) -> Any:
    """The JSON in a text; the text itself if it holds none."""
    if not isinstance(value, str):
        return value
    try:
        return Raw(value.encode()) if msgspec.json.decode(value) is not None else value
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value
