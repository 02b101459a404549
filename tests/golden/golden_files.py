"""Owns the golden files: the translations of the corpus, one file for each ordered pair, and the matrix of all
pairs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
from conformance.source.documents import MODELS

import dragoman
from dragoman.cli.matrix import Matrix, MatrixCell, as_markdown
from dragoman.conform.judging.independent_stream_reader import frame_stream, frames_of
from dragoman.conform.judging.json_paths_and_exact_numbers import decode, dump
from dragoman.dialects import names
from tests.golden.documents import KINDS, Kind, documents

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAIRS = [(source, target) for source in names() for target in names()]


def golden(source: str, target: str) -> dict[str, dict[str, Any]]:
    """Return the translations of one pair: kind -> name -> output and losses."""
    return {
        kind: {name: _translated(kind, source, target, body) for name, body in documents(source, kind).items()}
        for kind in KINDS
    }


def _translated(kind: Kind, source: str, target: str, body: Any) -> dict[str, Any]:
    done: dragoman.Translation | dragoman.StreamTranslator
    if kind == "stream":
        sent = frame_stream(source, body)
        done = dragoman.StreamTranslator(source=source, target=target)
        out = done.feed(sent) + done.close()
        output: Any = frames_of(target, out)
        same = out == sent
    elif kind == "fault":
        told = {"status": body["status"], "headers": body["headers"]}
        done = dragoman.translate_fault(body["body"], source=source, target=target, **told)
        output = {"status": done.status, "headers": done.headers, "body": decode(done.body)}
        same = done.body == dump(body["body"]).encode()
    else:
        sent = dump(body).encode()
        if kind == "request":
            done = dragoman.translate_request(sent, source=source, target=target, model=MODELS[target])
        else:
            done = dragoman.translate_response(sent, source=source, target=target)
        output, same = decode(done.body), done.body == sent
    if source == target and same:
        output = "untouched"
    return {"output": output, "losses": [str(loss) for loss in done.losses]}


def text(pair: dict[str, Any]) -> str:
    """Format a golden file with line breaks, so that a change is a small diff."""
    return json.dumps(pair, indent=1, ensure_ascii=False) + "\n"


def place(source: str, target: str) -> Path:
    return HERE / "pairs" / f"{source}--{target}.json"


def matrix() -> Matrix:
    """Return the matrix of the losses in the golden files."""
    cells: dict[str, dict[str, dict[str, MatrixCell]]] = {kind: {source: {} for source in names()} for kind in KINDS}
    for source, target in PAIRS:
        pair = json.loads(place(source, target).read_bytes())
        for kind in KINDS:
            cells[kind][source][target] = _cell([entry["losses"] for entry in pair[kind].values()])
    return Matrix(names(), cells)


def _cell(reports: list[list[str]]) -> MatrixCell:
    found: dict[str, Counter[str]] = {"warning": Counter(), "error": Counter(), "info": Counter()}
    for loss in [loss for report in reports for loss in report]:
        severity, _, rest = loss.partition(": ")
        found[severity][rest.partition(" at ")[0]] += 1
    clean = sum(1 for report in reports if all(loss.startswith("info") for loss in report))
    return MatrixCell(len(reports), clean, dict(sorted(found["warning"].items())), dict(sorted(found["error"].items())))


def made() -> dict[Path, str]:
    """Return the files that are made from the golden files."""
    found = matrix()
    data = msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"
    return {
        ROOT / "src" / "dragoman" / "cli" / "matrix.json": data,
        ROOT / "docs" / "matrix.md": as_markdown(found),
    }
