"""Whole conversions: files in, files out. Order, bad lines, compression, folders, checkpoints."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from dragoman.convert import LineConverter, input_files_and_chunks
from dragoman.convert.checkpoint import SUFFIX
from dragoman.convert.lines.summary import Summary
from dragoman.convert.run import Conversion, ConversionOptions, StrictError
from dragoman.convert.workers import WorkerError
from dragoman.errors import ConfigError

JOB: dict[str, Any] = {"target": "openai-chat", "jobs": 1, "chunk": 700, "seconds": 0.0}


def request(number: int, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"question {number}"}]
    return {"model": "claude-opus-5", "max_tokens": 100, "messages": messages, **more}


def lines(*values: Any) -> bytes:
    return b"".join(
        [(json.dumps(value).encode() if not isinstance(value, bytes) else value) + b"\n" for value in values]
    )


def convert(*paths: Path, out: Path | str, **more: Any) -> Summary:
    return Conversion(ConversionOptions(tuple([str(path) for path in paths]), str(out), **{**JOB, **more})).run()


def questions(path: Path) -> list[str]:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return [json.loads(line)["messages"][0]["content"] for line in data.splitlines()]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(lines(*[request(number) for number in range(50)]))
    return path


EXPECTED = [f"question {number}" for number in range(50)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_order_is_kept_with_any_number_of_processes(source: Path, tmp_path: Path, jobs: int) -> None:
    summary = convert(source, out=tmp_path / "out.jsonl", jobs=jobs)
    assert questions(tmp_path / "out.jsonl") == EXPECTED
    assert (summary.read, summary.written, summary.bad) == (50, 50, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".jsonl.zst"])
def test_compressed_files_have_a_member_for_each_chunk_and_can_be_read_back(
    source: Path, tmp_path: Path, suffix: str
) -> None:
    convert(source, out=tmp_path / f"out{suffix}")
    assert questions(tmp_path / f"out{suffix}") == EXPECTED
    convert(tmp_path / f"out{suffix}", out=tmp_path / "back.jsonl", target="anthropic")
    assert questions(tmp_path / "back.jsonl") == EXPECTED


def test_a_file_without_lines_gives_a_file_without_lines(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"\n  \n")
    for name in ("out.jsonl", "out.jsonl.gz", "out.jsonl.zst"):
        assert convert(empty, out=tmp_path / name, source="anthropic").read == 0
        assert questions(tmp_path / name) == []
    convert(empty, out=tmp_path / "out.parquet", source="anthropic")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_bad_lines_go_to_the_side_file_with_reasons(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    deep = b"[" * 100_000
    broken = [b'{"messages": \xff}', b"no JSON", b'{"messages": [], "max_tokens": "many"}', deep, b"[1]"]
    source.write_bytes(lines(request(0), broken[0], broken[1], b"", request(1), broken[2], broken[3], broken[4]))
    out = tmp_path / "out.jsonl"
    summary = convert(source, out=out, source="anthropic")
    assert questions(out) == ["question 0", "question 1"]
    bad = [json.loads(line) for line in Path(f"{out}.bad.jsonl").read_bytes().splitlines()]
    assert [(one["file"], one["line"]) for one in bad] == [(str(source), number) for number in (2, 3, 6, 7, 8)]
    assert "UTF-8" in bad[0]["error"]
    assert bad[0]["text"] == '{"messages": \\xff}'
    assert bad[2]["path"] == "/max_tokens"
    assert bad[3]["cut"] is True
    assert len(bad[3]["text"]) < 20_000
    assert (summary.read, summary.written, summary.bad) == (7, 2, 5)


@pytest.mark.parametrize("at_end", [False, True])
def test_a_line_that_is_too_long_is_never_in_memory_as_a_whole(tmp_path: Path, at_end: bool) -> None:
    source = tmp_path / "in.jsonl"
    long = json.dumps(request(9, system="x" * 3_000_000)).encode()
    rest = b"" if at_end else b"\n" + lines(request(2), request(3))
    source.write_bytes(lines(request(0), request(1)) + long + rest)
    out = tmp_path / "out.jsonl"
    convert(source, out=out, max_line=100_000)
    assert questions(out) == ["question 0", "question 1"] + ([] if at_end else ["question 2", "question 3"])
    bad = [json.loads(line) for line in Path(f"{out}.bad.jsonl").read_bytes().splitlines()]
    assert [(one["line"], one["text"]) for one in bad] == [(3, "")]
    assert "--max-line" in bad[0]["error"]


@pytest.mark.parametrize("length", [699, 700, 701, 5_000])
def test_pieces_begin_and_end_at_lines_from_any_start(tmp_path: Path, length: int) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\n".join([b"%0*d" % (1 + number * 37 % length, number) for number in range(60)]))
    item = input_files_and_chunks.find_inputs((str(source),))[0]
    whole = list(input_files_and_chunks.pieces(item, 0, 1, 700, 4_000))
    for number, piece in enumerate(whole):
        place, line = (0, 1) if number == 0 else (whole[number - 1].after, piece.first)
        assert next(input_files_and_chunks.pieces(item, place, line, 700, 4_000)) == piece
    assert sum(piece.lines for piece in whole) == 60
    assert whole[-1].after == source.stat().st_size


def test_losses_are_counted_by_code_and_severity(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    more = {"wish": 3, "metadata": {"user_id": "u"}}
    source.write_bytes(lines(request(0), *[request(number, **more) for number in range(1, 20)]))
    summary = convert(source, out=tmp_path / "out.jsonl", jobs=2)
    assert summary.lossy == 19
    row = next(row for row in summary.rows() if row.path == "/wish")
    assert (row.code, row.severity, row.lines, row.losses) == ("field.dropped", "warning", 19, 19)
    assert (row.file, row.line) == (str(source), 2)
    assert [row.severity for row in summary.rows()] == sorted([row.severity for row in summary.rows()], reverse=True)


def test_lines_beyond_the_tolerance_are_bad(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines(request(0), request(1, wish=3), request(2)))
    out = tmp_path / "out.jsonl"
    convert(source, out=out, tolerance="info")
    assert questions(out) == ["question 0", "question 2"]
    bad = json.loads(Path(f"{out}.bad.jsonl").read_bytes())
    assert (bad["line"], bad["path"], bad["losses"][0]["code"]) == (2, "/wish", "field.dropped")


def test_strict_stops_at_the_first_bad_line_and_leaves_no_file(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines(*[request(number) for number in range(30)], b"broken", request(31)))
    with pytest.raises(StrictError, match="line 31"):
        convert(source, out=tmp_path / "out.jsonl", strict=True, tolerance="info")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_dry_run_counts_and_writes_nothing(source: Path, tmp_path: Path) -> None:
    assert convert(source, out=tmp_path / "out.jsonl", dry_run=True).written == 50
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_existing_output_is_kept_unless_forced(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    with pytest.raises(ConfigError, match="--force"):
        convert(source, out=out)
    assert out.read_text() == "mine"
    convert(source, out=out, force=True)
    assert questions(out) == EXPECTED
    with pytest.raises(ConfigError, match="also an input"):
        convert(source, out=source, force=True)
    assert source.exists()


def test_a_folder_keeps_its_files_apart_and_each_has_its_own_format(tmp_path: Path) -> None:
    folder, out = tmp_path / "logs", tmp_path / "out"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(lines(request(1)))
    chat = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "question 2"}], "max_completion_tokens": 9}
    (folder / "deep" / "b.jsonl.gz").write_bytes(gzip.compress(lines(chat)))
    (folder / "notes.txt").write_text("no data")
    (folder / ".hidden.jsonl").write_text("no data")
    convert(folder, out=f"{out}/", target="anthropic")
    assert questions(out / "a.jsonl") == ["question 1"]
    assert questions(out / "deep" / "b.jsonl.gz") == ["question 2"]
    assert [path.name for path in sorted(out.rglob("*")) if path.is_file()] == ["a.jsonl", "b.jsonl.gz"]


def test_output_inside_the_input_folder_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(request(1)))
    for _ in range(2):
        assert convert(tmp_path, out=f"{tmp_path / 'out'}/", force=True).read == 1


def test_the_input_folder_as_the_output_is_refused(source: Path) -> None:
    with pytest.raises(ConfigError, match="belong to the output"):
        convert(source.parent, out=f"{source.parent}/", force=True)
    assert source.exists()


def test_a_pattern_of_folders_selects_their_files(tmp_path: Path) -> None:
    for day in (1, 2):
        (tmp_path / f"day{day}").mkdir()
        (tmp_path / f"day{day}" / "a.jsonl").write_bytes(lines(request(day)))
    convert(tmp_path / "day*", out=tmp_path / "out.jsonl")
    assert questions(tmp_path / "out.jsonl") == ["question 1", "question 2"]


def test_force_removes_no_folder_with_other_files(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    convert(source, out=out)
    convert(source, out=out, force=True)
    (out / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="other files"):
        convert(source, out=out, force=True)
    assert (out / "mine.txt").read_text() == "mine"


def test_patterns_and_several_files_become_one_file_in_the_order_of_names(tmp_path: Path) -> None:
    for number in (2, 1, 3):
        (tmp_path / f"part{number}.jsonl").write_bytes(lines(request(number)))
    convert(tmp_path / "part*.jsonl", out=tmp_path / "all.jsonl")
    assert questions(tmp_path / "all.jsonl") == ["question 1", "question 2", "question 3"]
    with pytest.raises(ConfigError, match="no such file"):
        convert(tmp_path / "other*.jsonl", out=tmp_path / "x.jsonl")


def test_json_arrays_and_single_documents_are_read(tmp_path: Path) -> None:
    array = tmp_path / "array.json"
    array.write_text(json.dumps([request(number) for number in range(50)], indent=2))
    convert(array, out=tmp_path / "out.jsonl")
    assert questions(tmp_path / "out.jsonl") == EXPECTED
    single = tmp_path / "single.json"
    single.write_text(json.dumps(request(7), indent=2))
    convert(single, out=tmp_path / "one.jsonl")
    assert questions(tmp_path / "one.jsonl") == ["question 7"]
    batch = tmp_path / "batch.json"
    batch.write_text(json.dumps({"requests": [{"custom_id": "a", "params": request(8)}]}, indent=1))
    convert(batch, out=tmp_path / "batch.jsonl")
    assert questions(tmp_path / "batch.jsonl") == ["question 8"]
    single.write_text(json.dumps([request(7)])[:-9])
    with pytest.raises(ConfigError, match="ends inside object 1"):
        convert(single, out=tmp_path / "two.jsonl", source="anthropic")


def test_parquet_columns_become_members_and_nulls_are_left_out(tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    rows = [
        {"messages": [{"role": "user", "content": f"question {number}", "name": None}], "tools": None}
        for number in range(50)
    ]
    pq.write_table(pa.Table.from_pylist(rows), source, row_group_size=20)
    convert(source, out=tmp_path / "out.jsonl", source="huggingface", model="m")
    assert questions(tmp_path / "out.jsonl") == EXPECTED


def test_parquet_is_written_in_parts(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.convert.parquet.PART_CHUNKS", 3)
    out = tmp_path / "out.parquet"
    convert(source, out=out)
    assert len(list(out.iterdir())) > 2
    table = pq.read_table(out)
    assert [json.loads(text)["messages"][0]["content"] for text in table.column("json").to_pylist()] == EXPECTED


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.parquet", "out/"])
def test_a_stopped_conversion_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("dragoman.convert.parquet.PART_CHUNKS", 2)
    folder = tmp_path / "in"
    folder.mkdir()
    for part in range(3):
        (folder / f"{part}.jsonl").write_bytes(lines(*[request(part * 20 + one) for one in range(20)], b"broken"))
    whole, broken = tmp_path / "whole" / name, tmp_path / "broken" / name
    suffix = "/" if name.endswith("/") else ""
    convert(folder, out=f"{whole}{suffix}")
    stops = 0
    for stop_after in range(1, 40):
        conversion = Conversion(ConversionOptions((str(folder),), f"{broken}{suffix}", **JOB))
        seen = 0

        def count(progress: Any, limit: int = stop_after) -> None:
            nonlocal seen
            seen += 1
            if seen == limit:
                raise KeyboardInterrupt

        try:
            summary = conversion.run(count)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops > 2
    assert (summary.read, summary.written, summary.bad) == (63, 60, 3)
    assert _tree(broken.parent) == _tree(whole.parent)


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_changed_input_does_not_continue(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"

    def stop(progress: Any) -> None:
        if progress.summary.read > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Conversion(ConversionOptions((str(source),), str(out), **JOB)).run(stop)
    assert Path(f"{out}{SUFFIX}").exists()
    os.utime(source, (1, 1))
    with pytest.raises(ConfigError, match="--force"):
        convert(source, out=out)
    convert(source, out=out, force=True)
    assert questions(out) == EXPECTED


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
@pytest.mark.parametrize("force", [False, True])
def test_two_conversions_do_not_write_one_output(source: Path, tmp_path: Path, name: str, force: bool) -> None:
    job = ConversionOptions((str(source),), str(tmp_path / name), **{**JOB, "seconds": 60.0})
    seen = 0

    def begin_another(progress: Any) -> None:
        nonlocal seen
        seen += 1
        with pytest.raises(ConfigError, match="another conversion"):
            Conversion(
                ConversionOptions((str(source),), str(tmp_path / name), **{**JOB, "seconds": 60.0, "force": force})
            ).run()

    assert Conversion(job).run(begin_another).written == 50
    assert seen > 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", name]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    for name, data in (("a.jsonl", lines(request(1))), ("b.json", json.dumps([request(2)]).encode())):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + data)
    assert convert(tmp_path, out=tmp_path / "out.jsonl").bad == 0
    assert questions(tmp_path / "out.jsonl") == ["question 1", "question 2"]


def test_an_empty_file_among_others_is_no_error(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(b"\n")
    (folder / "b.jsonl").write_bytes(lines(request(1)))
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(b""))
    convert(folder, out=f"{tmp_path / 'out'}/")
    assert questions(tmp_path / "out" / "a.jsonl") == []
    assert questions(tmp_path / "out" / "b.jsonl") == ["question 1"]
    assert questions(tmp_path / "out" / "c.jsonl.gz") == []


def test_a_file_is_converted_once(source: Path, tmp_path: Path) -> None:
    for names in ((source, source), (tmp_path, source), (tmp_path / "*.jsonl", source)):
        with pytest.raises(ConfigError, match="Name every file once"):
            convert(*names, out=tmp_path / "out.jsonl")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(b"{}", mtime=0), "Give it a name that ends with .gz"),
        (zstandard.compress(b"{}"), "Give it a name that ends with .zst"),
        (b"PAR1", "Give it a name that ends with .parquet"),
        ('{"messages": []}'.encode("utf-16"), "UTF-16"),
        (b"[\n{}\n]", "Give it a name that ends with .json"),
        (b'{\n"messages": []\n}', "Give the file a name that ends with .json"),
    ],
    ids=["gzip", "zstd", "parquet", "utf-16", "array", "pretty"],
)
def test_a_wrong_name_or_encoding_is_an_error_with_a_hint(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "in.jsonl").write_bytes(data)
    with pytest.raises(ConfigError, match=message):
        convert(tmp_path / "in.jsonl", out=tmp_path / "out.jsonl")


def test_all_files_of_unknown_format_are_named_at_once(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.jsonl").write_text('{"a": 1}\n' if name != "b" else json.dumps(request(1)))
    with pytest.raises(ConfigError, match=r"2 of 3 inputs: .*a\.jsonl.*c\.jsonl"):
        convert(tmp_path, out=tmp_path / "out.jsonl")


def test_a_file_of_unknown_format_is_an_error_with_a_hint(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"a": 1}\n')
    with pytest.raises(ConfigError, match="--from"):
        convert(source, out=tmp_path / "out.jsonl")


def test_a_broken_compressed_file_is_named(tmp_path: Path) -> None:
    for name, data in (("a.jsonl.gz", b"no gzip"), ("b.jsonl.zst", b"no zstd"), ("c.parquet", b"no parquet")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ConfigError, match=name):
            convert(tmp_path / name, out=tmp_path / "out.jsonl")


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.json", "a.parquet"])
def test_a_damaged_file_loses_only_its_damaged_part(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    values = [request(number, stop_sequences=[os.urandom(400).hex()]) for number in range(50)]
    whole = {"a.jsonl.gz": gzip.compress(lines(*values)), "a.jsonl.zst": b""}
    for value in values:
        whole["a.jsonl.zst"] += zstandard.compress(lines(value))
    if name == "a.parquet":
        pq.write_table(pa.Table.from_pylist(values), folder / name, row_group_size=10, compression="zstd")
        data = bytearray((folder / name).read_bytes())
        data[len(data) // 2 : len(data) // 2 + 3000] = bytes(3000)
        (folder / name).write_bytes(data)
    else:
        data = bytearray(whole.get(name) or json.dumps(values).encode())
        (folder / name).write_bytes(data[: len(data) * 3 // 4])
    (folder / "b.jsonl").write_bytes(lines(request(50)))
    out = tmp_path / "out.jsonl"
    summary = convert(folder, out=out, source="anthropic", chunk=5_000)
    found = questions(out)
    assert found == [*EXPECTED[: len(found) - 1], "question 50"]
    bad = [json.loads(line) for line in Path(f"{out}.bad.jsonl").read_bytes().splitlines()]
    assert bad[-1]["file"] == str(folder / name)
    assert bad[-1]["line"] in (len(found), len(found) + 1)
    assert len(found) > 5
    assert summary.bad == len(bad)
    with pytest.raises(StrictError):
        convert(folder, out=tmp_path / "strict.jsonl", source="anthropic", chunk=5_000, strict=True)


def test_a_broken_file_is_reported_once_by_a_conversion_that_continues(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a", "b"):
        data = gzip.compress(lines(*[request(number, stop_sequences=[os.urandom(400).hex()]) for number in range(20)]))
        (folder / f"{name}.jsonl.gz").write_bytes(data[:-500])
    convert(folder, out=f"{tmp_path / 'whole'}/", source="anthropic")
    stops, limit = 0, 0
    while True:
        limit += 1
        seen = 0

        def stop(progress: Any, limit: int = limit) -> None:
            nonlocal seen
            seen += 1
            if seen == limit:
                raise KeyboardInterrupt

        try:
            Conversion(ConversionOptions((str(folder),), f"{tmp_path / 'broken'}/", source="anthropic", **JOB)).run(
                stop
            )
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops > 3
    assert _tree(tmp_path / "broken").keys() == _tree(tmp_path / "whole").keys()
    assert _tree(tmp_path / "broken") == _tree(tmp_path / "whole")
    assert len(_tree(tmp_path / "whole")["lines.bad.jsonl"].splitlines()) >= 2


def test_a_fault_of_the_disk_stops_the_work(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conversion = Conversion(ConversionOptions((str(source),), str(tmp_path / "out.jsonl"), **JOB))
    source.unlink()
    with pytest.raises(FileNotFoundError):
        conversion.run()


def test_a_worker_that_dies_is_reported(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.convert.workers.COMMAND", ("-c", "raise SystemExit(3)"))
    with pytest.raises(WorkerError, match=r"code 3 at .*in\.jsonl, lines 1 to"):
        convert(source, out=tmp_path / "out.jsonl", jobs=2)


@pytest.mark.parametrize(("name", "package"), [("out.parquet", "pyarrow"), ("out.jsonl.zst", "zstandard")])
def test_a_missing_package_is_named_before_anything_is_written(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(ConfigError, match=r"pip install 'dragoman\[convert\]'"):
        convert(source, out=tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_answers_are_detected_and_converted(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    choice = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
    source.write_bytes(lines({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}))
    convert(source, out=tmp_path / "out.jsonl", target="anthropic")
    assert json.loads((tmp_path / "out.jsonl").read_bytes())["content"][0]["text"] == "ok"


def test_a_line_converter_can_be_pickled() -> None:
    convert_line = LineConverter(
        source="anthropic", target="openai-chat", model="other", tolerance="info", models={"claude-opus-5": "m"}
    )
    read_back = pickle.loads(pickle.dumps(convert_line))
    line = json.dumps(request(1))
    assert read_back.row(line) == convert_line.row(line)
    assert json.loads(read_back.row(line)["line"])["model"] == "m"
    assert "/wish" in read_back.row(json.dumps(request(1, wish=3)))["error"]


def test_the_same_dialect_passes_its_lines_and_refuses_others(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines(request(1, unknown=[1.0]), b"broken"))
    out = tmp_path / "out.jsonl"
    convert(source, out=out, target="anthropic")
    assert out.read_bytes() == lines(request(1, unknown=[1.0]))
    assert Path(f"{out}.bad.jsonl").exists()
