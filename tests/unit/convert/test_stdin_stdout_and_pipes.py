"""Standard input and output, and pipes: read once, written once, with everything else on standard error."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import zstandard

REQUEST = {"model": "claude-opus-5", "max_tokens": 9, "messages": [{"role": "user", "content": "question 0"}]}


def request(number: int) -> dict[str, Any]:
    return {**REQUEST, "messages": [{"role": "user", "content": f"question {number}"}]}


LINES = b"".join([json.dumps(request(number)).encode() + b"\n" for number in range(20)])


def convert(folder: Path, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dragoman", "convert", *words]
    return subprocess.run(command, input=data, capture_output=True, cwd=folder, timeout=60)


def questions(data: bytes) -> list[str]:
    return [json.loads(line)["messages"][0]["content"] for line in data.splitlines()]


EXPECTED = [f"question {number}" for number in range(20)]


@pytest.mark.parametrize(
    "data",
    [
        LINES,
        gzip.compress(LINES),
        zstandard.compress(LINES),
        json.dumps([json.loads(line) for line in LINES.splitlines()], indent=1).encode(),
    ],
    ids=["lines", "gzip", "zstd", "array"],
)
def test_standard_input_becomes_standard_output(tmp_path: Path, data: bytes) -> None:
    done = convert(tmp_path, "-", "--to", "openai-chat", "-o", "-", data=data)
    assert done.returncode == 0, done.stderr
    assert questions(done.stdout) == EXPECTED
    assert b"20 of 20 lines written to standard output" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_large_stream_is_converted_by_several_processes_in_order(tmp_path: Path) -> None:
    data = LINES * 40
    options = ("--jobs", "2", "--chunk-size", "8K")
    done = convert(tmp_path, "-", "--to", "openai-chat", "-o", "out.jsonl", *options, data=data)
    assert done.returncode == 0, done.stderr
    assert questions((tmp_path / "out.jsonl").read_bytes()) == EXPECTED * 40
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_bad_lines_of_a_stream_are_printed_or_kept(tmp_path: Path) -> None:
    data = b"broken\n" * 30 + LINES
    done = convert(tmp_path, "-", "--to", "openai-chat", "-o", "-", "--from", "anthropic", data=data)
    assert done.returncode == 1
    assert questions(done.stdout) == EXPECTED
    assert done.stderr.count(b"bad line: standard input, line") == 20
    assert b"--bad-lines FILE keeps all of them" in done.stderr
    words = ("-", "--to", "openai-chat", "-o", "-", "--from", "anthropic", "--bad-lines", "bad.jsonl")
    done = convert(tmp_path, *words, data=data)
    assert b"30 lines are bad; see bad.jsonl" in done.stderr
    assert len((tmp_path / "bad.jsonl").read_bytes().splitlines()) == 30


def test_strict_stops_a_stream_and_names_the_line(tmp_path: Path) -> None:
    done = convert(tmp_path, "-", "--to", "openai-chat", "-o", "-", "--strict", data=LINES + b"broken\n")
    assert done.returncode == 1
    assert b"standard input, line 21" in done.stderr
    assert b"Earlier lines were written" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(LINES,))
    writer.start()
    done = convert(tmp_path, str(pipe), "--to", "openai-chat", "-o", "-")
    writer.join(timeout=60)
    assert done.returncode == 0, done.stderr
    assert questions(done.stdout) == EXPECTED


def test_a_closed_pipe_ends_the_work_without_a_traceback(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(LINES * 500)
    words = ("--to", "openai-chat", "-o", "-", "--jobs", "2", "--chunk-size", "64K")
    command = [sys.executable, "-m", "dragoman", "convert", str(source), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert errors.splitlines()[-1] == b"dragoman: standard output was closed before the end"
    assert b"Traceback" not in errors


@pytest.mark.parametrize(
    ("words", "data", "message"),
    [
        (("-",), b"", b"it is empty"),
        (("-",), b"PAR1", b"Parquet cannot be read from a pipe"),
        (("-",), gzip.compress(LINES, mtime=0)[:60], b"cannot be read"),
        (("-", "-"), LINES, b"named twice"),
        (("-", "--engine", "ray"), LINES, b"cannot read standard input"),
    ],
    ids=["empty", "parquet", "cut", "twice", "ray"],
)
def test_a_stream_that_cannot_be_read_gets_the_reason(
    tmp_path: Path, words: tuple[str, ...], data: bytes, message: bytes
) -> None:
    done = convert(tmp_path, *words, "--to", "openai-chat", "-o", "-", data=data)
    assert done.returncode in (1, 2)
    assert message in done.stderr, done.stderr
    assert b"Traceback" not in done.stderr
