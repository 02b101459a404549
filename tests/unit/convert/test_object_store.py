"""Addresses of object stores as input and output. The store is a folder here; `make ray` has an S3 server."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from dragoman.convert import object_store
from dragoman.convert.lines.summary import Summary
from dragoman.convert.run import Conversion, ConversionOptions
from dragoman.errors import ConfigError
from tests.unit.convert.test_run import EXPECTED, lines, questions, request

TARGET = "openai-chat"


class Bucket:
    """A folder that behaves as a store: a file can be written before its folder exists."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._system = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())

    def open_output_stream(self, path: str, compression: None) -> Any:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        return self._system.open_output_stream(path, compression=compression)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bucket with the name `data`, as a folder."""
    folder = tmp_path / "store"
    (folder / "data").mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    system = Bucket(folder)
    monkeypatch.setattr(object_store, "_store", lambda scheme, container: (system, container))
    (folder / "data" / "in.jsonl").write_bytes(lines(*[request(number) for number in range(50)]))
    return folder / "data"


def convert(*names: str, out: str, **more: Any) -> Summary:
    return Conversion(
        ConversionOptions(names, out, **{"target": TARGET, "jobs": 1, "chunk": 700, "seconds": 0.0, **more})
    ).run()


def tree(folder: Path) -> list[str]:
    return sorted([str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()])


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_a_stored_file_becomes_a_stored_file_with_the_same_bytes(store: Path, tmp_path: Path, suffix: str) -> None:
    convert("s3://data/in.jsonl", out=f"s3://data/deep/out{suffix}")
    assert questions(store / f"deep/out{suffix}") == EXPECTED
    convert(str(store / "in.jsonl"), out=str(tmp_path / f"local{suffix}"))
    assert (store / f"deep/out{suffix}").read_bytes() == (tmp_path / f"local{suffix}").read_bytes()
    assert tree(tmp_path / "cache") == []


def test_parquet_is_read_and_written_in_a_store(store: Path) -> None:
    pq.write_table(pa.Table.from_pylist([request(number) for number in range(50)]), store / "in.parquet")
    convert("s3://data/in.parquet", out="s3://data/out.parquet", source="anthropic")
    assert tree(store / "out.parquet") == ["part-00000.parquet"]
    convert("s3://data/out.parquet/", out="s3://data/back.jsonl", target="anthropic", source=TARGET)
    assert questions(store / "back.jsonl") == EXPECTED
    with pytest.raises(ConfigError, match="--force"):
        convert("s3://data/in.parquet", out="s3://data/out.parquet", source="anthropic")
    convert("s3://data/in.parquet", out="s3://data/out.parquet", source="anthropic", force=True)
    (store / "out.parquet" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="other files"):
        convert("s3://data/in.parquet", out="s3://data/out.parquet", source="anthropic", force=True)


def test_folders_and_patterns_of_a_store(store: Path) -> None:
    (store / "logs" / "deep").mkdir(parents=True)
    (store / "logs" / "a.jsonl").write_bytes(lines(request(1)))
    (store / "logs" / "deep" / "b.jsonl.gz").write_bytes(gzip.compress(lines(request(2), b"broken")))
    (store / "logs" / "notes.txt").write_text("no data")
    for _ in range(2):  # the output lies inside the input folder, and is no input
        convert("s3://data/logs", out="s3://data/logs/out/", force=True)
        assert tree(store / "logs" / "out") == ["a.jsonl", "deep/b.jsonl.gz", "lines.bad.jsonl"]
    bad = json.loads((store / "logs/out/lines.bad.jsonl").read_bytes())
    assert (bad["file"], bad["line"]) == ("s3://data/logs/deep/b.jsonl.gz", 2)
    assert convert("s3://data/logs/*.jsonl", out="s3://data/one.jsonl").read == 1
    assert convert("s3://data/l?gs/[a-b].jsonl", out="s3://data/one.jsonl", force=True).read == 1
    assert convert("s3://data/logs/deep/**", out="s3://data/two.jsonl").read == 2
    with pytest.raises(ConfigError, match="there is no such file"):
        convert("s3://data/logs/*.parquet", out="s3://data/three.jsonl")


def test_a_stopped_conversion_into_a_store_continues(store: Path, tmp_path: Path) -> None:
    convert("s3://data/in.jsonl", out="s3://data/whole.jsonl.gz")
    stops = 0
    for limit in range(1, 30):
        conversion = Conversion(
            ConversionOptions(
                ("s3://data/in.jsonl",), "s3://data/broken.jsonl.gz", TARGET, jobs=1, chunk=700, seconds=0.0
            )
        )
        seen = 0

        def count(progress: Any, limit: int = limit) -> None:
            nonlocal seen
            seen += 1
            if seen == limit:
                raise KeyboardInterrupt

        try:
            conversion.run(count)
            break
        except KeyboardInterrupt:
            stops += 1
            assert not (store / "broken.jsonl.gz").exists()
    assert stops > 2
    assert (store / "broken.jsonl.gz").read_bytes() == (store / "whole.jsonl.gz").read_bytes()
    assert tree(tmp_path / "cache") == []


def test_a_failed_upload_is_repeated(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = object_store.upload

    def fail(local: str, address: str) -> None:
        raise ConfigError("address", address, problem="the network is gone")

    monkeypatch.setattr(object_store, "upload", fail)
    with pytest.raises(ConfigError, match="the network is gone"):
        convert("s3://data/in.jsonl", out="s3://data/out.jsonl")
    monkeypatch.setattr(object_store, "upload", upload)
    assert convert("s3://data/in.jsonl", out="s3://data/out.jsonl").read == 50
    assert questions(store / "out.jsonl") == EXPECTED


def test_an_upload_that_is_stopped_leaves_no_half_file(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped:
        def __init__(self, stream: Any) -> None:
            self._stream = stream
            self._blocks = 0

        def write(self, block: bytes) -> None:
            self._blocks += 1
            if self._blocks == 2:
                raise KeyboardInterrupt
            self._stream.write(block)

        def close(self) -> None:
            self._stream.close()

    opened = Bucket.open_output_stream
    monkeypatch.setattr(object_store, "_BUFFER", 4)
    monkeypatch.setattr(
        Bucket, "open_output_stream", lambda self, path, compression: Stopped(opened(self, path, compression))
    )
    local = tmp_path / "local.jsonl"
    local.write_bytes(b"three blocks")
    with pytest.raises(KeyboardInterrupt):
        object_store.upload(str(local), "s3://data/up.jsonl")
    assert tree(store) == ["in.jsonl"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("http://example.org/a.jsonl", "valid: s3://"),
        ("file:///a.jsonl", "write the path alone"),
        ("s3://key:secret@data/a.jsonl", "no credentials here"),
        ("s3:///a.jsonl", "names no bucket"),
        ("s3://d*/a.jsonl", "name of the bucket"),
        ("s3://data/absent.jsonl", "there is no such file"),
    ],
)
def test_wrong_addresses_get_the_reason_and_no_secret_is_shown(store: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        convert(name, out="out.jsonl")
    assert "secret" not in str(raised.value)


def test_output_must_not_be_an_input_and_is_replaced_only_by_force(store: Path) -> None:
    with pytest.raises(ConfigError, match="also an input"):
        convert("s3://data/in.jsonl", out="s3://data/in.jsonl", force=True)
    (store / "out.jsonl").write_text("mine")
    with pytest.raises(ConfigError, match="--force"):
        convert("s3://data/in.jsonl", out="s3://data/out.jsonl")
    convert("s3://data/in.jsonl", out="s3://data/out.jsonl", force=True)
    assert questions(store / "out.jsonl") == EXPECTED
