"""Finds file formats by name: one module here for each format. The name of a dialect is a format too: one document of
the dialect on each line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from ....dialects import get as dialect_of
from ....dialects import installed, is_known
from ....errors import ConfigError
from ....translate.detect import detect
from ..file_format_record import FileFormat, Kind, LineRecord

_ANSWER_KEYS = frozenset({"choices", "candidates", "output", "stop_reason", "promptFeedback", "done_reason"})


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The names of the file formats that are not dialects."""
    import pkgutil  # late: keeps imports short

    found = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    return tuple(sorted([name.replace("_", "-") for name in found]))


@lru_cache(maxsize=64)
def get(name: str, kind: Kind | None = None) -> FileFormat:
    """The format called `name`; ConfigError if there is none. `kind`: what the lines of a dialect hold."""
    if name in names():
        found: FileFormat = import_module(f"{__name__}.{name.replace('-', '_')}").FORMAT
        return found
    if not is_known(name):
        raise ConfigError("format", name, (*installed(), *names()))
    return _lines_of(name, kind or "request")


def get_target(name: str) -> FileFormat:
    """The format called `name`; ConfigError if there is none, or if it cannot be written."""
    found = get(name)
    if not found.kinds:
        raise ConfigError("target", name, problem="the format can be read, but not written")
    return found


def _lines_of(name: str, kind: Kind) -> FileFormat:
    """Lines of documents of one dialect, without an envelope."""
    dialect = dialect_of(name)
    return FileFormat(
        name,
        f"{dialect.title}: one document on each line",
        "https://jsonlines.org",
        "2026-11-18",
        dialect,
        read=lambda line: LineRecord(kind, line, dialect),
        write=lambda record: record.body,
        evidence=lambda document: "",
        kinds=frozenset({"request", "response", "fault"}),
        has_model=dialect.splice_model,
    )


def detect_format(documents: Sequence[Mapping[str, Any]]) -> tuple[str, Kind, str]:
    """(format, kind, reason) of a file, judged by its first decoded lines. The format is "" if none fits."""
    votes: dict[tuple[str, Kind], tuple[int, str]] = {}
    for document in documents:
        name, kind, reason = _detect_one(document)
        if name:
            count, first = votes.get((name, kind), (0, reason))
            votes[name, kind] = count + 1, first
    if not votes:
        return "", "request", ""
    (name, kind), (_, reason) = max(votes.items(), key=lambda item: item[1][0])
    return name, kind, reason


def _detect_one(document: Mapping[str, Any]) -> tuple[str, Kind, str]:
    # A fine-tuning set also looks like a request of its dialect, so the file formats are asked first.
    for name in names():
        reason = get(name).evidence(document)
        if reason:
            return name, "request", reason
    found, reasons = detect(document)
    kind: Kind = "response" if _ANSWER_KEYS & document.keys() and "messages" not in document else "request"
    return found, kind, ", ".join(reasons)
