"""Parquet: nested columns and JSON texts are read; fine-tuning sets are written with typed columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dragoman.convert.lines.formats import get, names
from dragoman.convert.lines.summary import Summary
from dragoman.convert.parquet_columns import RowReader, row_of, schema_of
from dragoman.convert.run import Conversion, ConversionOptions
from tests.unit.convert.lines.test_training_formats import CONVERSATION, PLAIN, SETS

TYPED = [name for name in names() if get(name).columns]


def convert(path: Path, out: Path, target: str, **more: Any) -> Summary:
    return Conversion(ConversionOptions((str(path),), str(out), target, **more)).run()


def records(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def through_parquet(record: Any, name: str) -> Any:
    """The record, written to a Parquet file with the columns of a format, and read again."""
    columns = get(name).columns
    table = pa.Table.from_pylist([row_of(json.dumps(record).encode(), columns)], schema=schema_of(pa, columns))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    file = pq.ParquetFile(pa.BufferReader(sink.getvalue()))
    (line,) = RowReader(pa, file.schema_arrow).lines(next(file.iter_batches()))
    return json.loads(line)


def test_every_fine_tuning_set_has_typed_columns() -> None:
    assert tuple(TYPED) == SETS


@pytest.mark.parametrize("name", SETS)
def test_a_set_with_typed_columns_can_be_read_back(tmp_path: Path, name: str) -> None:
    source, lines, read_back = tmp_path / "in.jsonl", tmp_path / "lines.jsonl", tmp_path / "again.jsonl"
    source.write_text(f"{json.dumps(PLAIN)}\n{json.dumps(CONVERSATION)}\n")
    convert(source, lines, name, source="huggingface")
    convert(source, tmp_path / "typed.parquet", name, source="huggingface")
    table = pq.read_table(tmp_path / "typed.parquet")
    assert table.column_names == [*(get(name).columns or {}), "json"]
    assert table.column("json").null_count == 2
    assert any(pa.types.is_list(field.type) for field in table.schema)
    convert(tmp_path / "typed.parquet", read_back, name, source=name)
    assert records(read_back) == [without_nulls(record) for record in records(lines)]


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]},
        {"messages": [{"role": "user", "content": "hi", "unknown": 1}]},
        {"messages": [None, {"role": "user", "content": "hi"}]},
        {"messages": "none"},
        {"other": {}},
        [1],
    ],
)
def test_a_record_that_does_not_fit_the_columns_stays_whole(record: Any) -> None:
    row = row_of(json.dumps(record).encode(), get("huggingface").columns)
    assert row == {"json": json.dumps(record)}
    assert through_parquet(record, "huggingface") == record


def test_numbers_in_arguments_keep_every_digit() -> None:
    call = b'{"function":{"name":"f","arguments":{"x":0.1000000000000000000001,"n":123456789012345678901234567890}}}'
    row = row_of(b'{"messages":[{"tool_calls":[' + call + b"]}]}", get("huggingface").columns)
    arguments = row["messages"][0]["tool_calls"][0]["function"]["arguments"]
    assert arguments == '{"x":0.1000000000000000000001,"n":123456789012345678901234567890}'


def test_empty_lists_and_objects_are_no_nulls() -> None:
    record = {"messages": [{"role": "assistant", "content": "", "tool_calls": []}, {}], "tools": []}
    assert through_parquet(record, "huggingface") == record


def test_members_that_are_lists_may_be_json_texts(tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    rows = [{"id": number, "messages": json.dumps(CONVERSATION["messages"])} for number in range(3)]
    pq.write_table(pa.Table.from_pylist(rows), source)
    convert(source, tmp_path / "out.jsonl", "openai-finetune", source="huggingface")
    assert [len(one["messages"]) for one in records(tmp_path / "out.jsonl")] == [5, 5, 5]


def test_maps_and_dates_become_json() -> None:
    schema = pa.schema([("args", pa.map_(pa.string(), pa.int64())), ("day", pa.date32()), ("none", pa.string())])
    batch = pa.RecordBatch.from_pylist([{"args": [("a", 1)], "day": 0, "none": None}], schema=schema)
    (line,) = RowReader(pa, schema).lines(batch)
    assert json.loads(line) == {"args": {"a": 1}, "day": "1970-01-01"}


def test_requests_have_one_column_of_json(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}) + "\n")
    convert(source, tmp_path / "out.parquet", "anthropic", source="openai-chat")
    assert pq.read_table(tmp_path / "out.parquet").column_names == ["json"]
