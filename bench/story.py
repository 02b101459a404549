"""Owns the conversation of all payloads, independent of dialects: system text, ten tools, twelve steps, the answer.

This file must not depend on a dialect. All payloads are made only from this text, so they are the same on each run.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]

SYSTEM = (
    "You keep the tide service running: gauges along the coast, levels in PostgreSQL, forecasts over HTTP. Look before "
    "you change anything, change one thing at a time, check the outcome with a tool. Independent lookups go out "
    "together. Heights are metres above chart datum, times UTC. Never restart a worker between :55 and :05."
)

# Every tool schema contains the stamp. `payloads.restamp` replaces it, so that no cache has seen the schema.
STAMP = "r0000000"


@dataclass(frozen=True)
class ToolSpec:
    name: str
    description: str
    properties: Json
    required: tuple[str, ...]

    def schema(self) -> Json:
        """JSON Schema as a schema generator in an agent writes it: closed object, stamp as its title."""
        return {
            "type": "object",
            "title": STAMP,
            "properties": self.properties,
            "required": list(self.required),
            "additionalProperties": False,
        }


@dataclass(frozen=True)
class Call:
    key: str
    name: str
    arguments: Json


@dataclass(frozen=True)
class Result:
    key: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Step:
    """One turn: the user writes, the model writes or calls, or the results of one step come back together."""

    who: Literal["user", "model", "results"]
    text: str = ""
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = field(default=())


def _text(description: str, **more: Any) -> Json:
    return {"type": "string", "description": description, **more}


TOOLS = (
    ToolSpec(
        "read_gauge",
        "Latest levels of one gauge.",
        {"station": _text("code"), "hours": {"type": "integer", "minimum": 1, "maximum": 72}},
        ("station",),
    ),
    ToolSpec(
        "list_stations",
        "Stations in a region with their state.",
        {"region": {"type": "string", "enum": ["north", "west"]}, "active": {"type": "boolean"}},
        ("region",),
    ),
    ToolSpec(
        "run_sql",
        "Run one read-only statement.",
        {
            "statement": _text("SELECT only"),
            "values": {"type": "array", "items": {"type": ["string", "number", "null"]}},
        },
        ("statement",),
    ),
    ToolSpec(
        "read_log",
        "Lines of a service log that match.",
        {"service": _text("unit"), "match": _text("regex"), "lines": {"type": "integer"}},
        ("service",),
    ),
    ToolSpec(
        "show_config",
        "One deployed configuration file.",
        {"path": _text("path")},
        ("path",),
    ),
    ToolSpec(
        "edit_config",
        "Replace one exact piece of a file.",
        {"path": _text("path"), "before": _text("exact text"), "after": _text("replacement")},
        ("path", "before", "after"),
    ),
    ToolSpec(
        "restart",
        "Restart one unit, wait for its health.",
        {"service": _text("unit"), "grace_s": {"type": "number", "default": 10}},
        ("service",),
    ),
    ToolSpec(
        "fetch_forecast",
        "Forecast as the public API serves it.",
        {"station": _text("code"), "at": _text("instant", format="date-time")},
        ("station",),
    ),
    ToolSpec(
        "annotate",
        "Mark a span of levels as doubtful.",
        {
            "station": _text("code"),
            "span": {
                "type": "object",
                "properties": {"start": {"type": "string"}, "end": {"type": "string"}},
                "required": ["start", "end"],
            },
            "reason": _text("why"),
        },
        ("station", "span"),
    ),
    ToolSpec(
        "page_oncall",
        "Send a note to the person on call.",
        {"urgency": {"type": "string", "enum": ["low", "high"]}, "note": _text("one sentence")},
        ("note",),
    ),
)

STEPS = (
    Step("user", "The forecast for Brèhec is flat since 04:00. Find out why and put it right."),
    Step(
        "model",
        "I will look at the gauge and at the API, side by side.",
        calls=(
            Call("gauge", "read_gauge", {"station": "BREH", "hours": 6}),
            Call("served", "fetch_forecast", {"station": "BREH", "at": "2026-10-02T06:30:00Z"}),
        ),
    ),
    Step(
        "results",
        results=(
            Result("gauge", "read_gauge", "06:20 4.11\n06:10 3.87\n06:00 3.62\n(36 of 36)"),
            Result("served", "fetch_forecast", '{"station":"BREH","height":2.95,"model":"harmonic-37","age_s":9120}'),
        ),
    ),
    Step(
        "model",
        "The gauge moves, the forecast is 2½ hours old.",
        calls=(Call("log", "read_log", {"service": "tide-forecast", "match": "BREH|ERROR", "lines": 20}),),
    ),
    Step(
        "results",
        results=(
            Result(
                "log",
                "read_log",
                "03:58:02 INFO BREH written in 41 ms\n"
                '04:00:01 ERROR BREH: "M2" has phase 361.2, expected 0 ≤ phase < 360; skipped (16 more)',
            ),
        ),
    ),
    Step(
        "model",
        "I will read the constants and see which other stations were skipped.",
        calls=(
            Call("file", "show_config", {"path": "constants/BREH.toml"}),
            Call(
                "rows",
                "run_sql",
                {
                    "statement": "SELECT station FROM forecast GROUP BY 1 HAVING max(written) < $1",
                    "values": ["2026-10-02T04:00:00Z"],
                },
            ),
        ),
    ),
    Step(
        "results",
        results=(
            Result(
                "file",
                "show_config",
                '[M2]\namplitude = 3.74\nphase = 361.2\n[S2]\namplitude = 1.41\nphase = 204.9 # "by hand"\n',
            ),
            Result("rows", "run_sql", "station\nBREH\n(1 row)"),
        ),
    ),
    Step(
        "model",
        "Only this one. 361.2 is 1.2 after a full turn.",
        calls=(
            Call(
                "edit",
                "edit_config",
                {"path": "constants/BREH.toml", "before": "phase = 361.2\n", "after": "phase = 1.2\n"},
            ),
        ),
    ),
    Step("results", results=(Result("edit", "edit_config", "1 replacement"),)),
    Step("model", "", calls=(Call("again", "restart", {"service": "tide-forecast", "grace_s": 15}),)),
    Step(
        "results",
        results=(Result("again", "restart", "refused: between :55 and :05, 4 min left", is_error=True),),
    ),
    Step("user", "It is 07:05 now, go on. Mark 04:00 to 07:00 as doubtful too."),
)

ANSWER_TEXT = (
    "The window is over, so I restart the forecaster now. The cause was one constant: the M2 phase of Brèhec was "
    "written as 361.2 degrees, the reload at 04:00 refused it, and the station was skipped from then on. After the "
    "restart I will mark the span, compare the first forecast with the gauge, and leave a note for the person on call."
)
ANSWER_CALLS = (
    Call(
        "mark",
        "annotate",
        {
            "station": "BREH",
            "span": {"start": "2026-10-02T04:00:00Z", "end": "2026-10-02T07:00:00Z"},
            "reason": (
                'Constituent M2 carried phase 361.2 ("a full turn and 1.2"), the forecaster skipped the station and '
                "the API kept serving the value of 03:58.\nCorrected to 1.2 in constants/BREH.toml at 06:52; restart "
                "had to wait for the window :55 to :05.\nGauge itself was healthy all the time: 36 of 36 readings, "
                "quality good, nothing to interpolate. No other station was older than 04:00 in the table."
            ),
        },
    ),
    Call("go", "restart", {"service": "tide-forecast", "grace_s": 15}),
)


def compact(value: Any) -> str:
    """JSON as the SDKs send it: no blanks, UTF-8 kept."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def token(
    key: str, length: int, alphabet: str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
) -> str:
    """An invented identifier for a key: it looks random, and never changes."""
    number = int.from_bytes(hashlib.sha512(key.encode()).digest(), "big")
    out = []
    for _ in range(length):
        number, rest = divmod(number, len(alphabet))
        out.append(alphabet[rest])
    return "".join(out)


def pieces(text: str, count: int) -> list[str]:
    """Cut a text into `count` pieces, equal to within one character."""
    marks = [len(text) * i // count for i in range(count + 1)]
    return [text[a:b] for a, b in itertools.pairwise(marks)]


def next_steps(number: int) -> tuple[Step, Step]:
    """The steps after the story: one more call and its result."""
    key = f"next{number:08d}"
    call = Call(key, "restart", {"service": "tide-forecast", "grace_s": 15, "try": number})
    result = Result(key, "restart", f"restarted, run {number:08d}")
    return Step("model", f"Try {number:08d}.", calls=(call,)), Step("results", results=(result,))


def long_history(rounds: int) -> Iterator[Step]:
    """A conversation of any length: one question, then a call and a result, repeated."""
    yield STEPS[0]
    for i in range(rounds):
        key = f"round-{i:08d}"
        span = {"station": "BREH", "hours": 6}
        yield Step("model", f"Reading {i:08d}: I go on with the next span.", calls=(Call(key, "read_gauge", span),))
        level = "\n".join(
            f"{h:02d}:{m:02d} {(h * 7 + m * 3 + i) % 90 / 10:.2f} m" for h in range(6) for m in (0, 20, 40)
        )
        yield Step("results", results=(Result(key, "read_gauge", f"{i:08d}\n{level}\n“good”, nothing missing"),))
