"""The formats of findings: text, JSON, GitHub's workflow commands, SARIF 2.1.0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import click
import msgspec
from msgspec import Struct

from .. import __version__
from ..lint.runner import all_rules
from ..rules.rule import Finding
from .loss_and_error_output import COLOURS, count_with_noun
from .rule import page

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


class LocatedFinding(Struct, frozen=True):
    """A finding and its place. `document` is the line of its document in a file of several documents, else 0."""

    file: str
    document: int
    line: int
    """The line in the file; for a stream, the line of its beginning."""
    dialect: str
    kind: str
    finding: Finding


def text(found: list[LocatedFinding], documents: int) -> str:
    """One line for each finding, and a summary."""
    lines: list[str] = []
    for one in found:
        finding = one.finding
        place = one.file + (f":{one.document}" if one.document else "") + f":{finding.path or '/'}"
        mark = click.style(finding.rule, fg=COLOURS[finding.severity], bold=True)
        fix = f" ({finding.fix})" if finding.fix else ""
        lines.append(f"{place}: {mark} {finding.severity}: {finding.message}{fix}")
    errors = sum(1 for one in found if one.finding.severity == "error")
    if not found:
        lines.append(f"Nothing found in {count_with_noun(documents, 'document')}.")
    else:
        rest = count_with_noun(len(found) - errors, "warning")
        lines.append(
            f"Found {count_with_noun(errors, 'error')} and {rest} in {count_with_noun(documents, 'document')}."
        )
    return "\n".join(lines)


def json(found: list[LocatedFinding], documents: int) -> str:
    """A list of JSON objects."""
    rows = [
        {"file": one.file, "line": one.line, "dialect": one.dialect, "kind": one.kind}
        | msgspec.structs.asdict(one.finding)
        for one in found
    ]
    return msgspec.json.format(msgspec.json.encode(rows), indent=2).decode()


def github(found: list[LocatedFinding], documents: int) -> str:
    """Workflow commands, which GitHub shows as annotations."""
    lines: list[str] = []
    for one in found:
        finding = one.finding
        where = f"file={_property(one.file)},line={one.line},title={_property(finding.rule)}"
        message = _data(f"{finding.path or '/'}: {finding.message}" + (f" ({finding.fix})" if finding.fix else ""))
        lines.append(f"::{finding.severity} {where}::{message}")
    return "\n".join(lines)


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    # A colon or a comma would end the property (GitHub's documentation of workflow commands).
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def sarif(found: list[LocatedFinding], documents: int) -> str:
    """A SARIF log of one run, with the pages of the broken rules."""
    known = all_rules()
    used = sorted({one.finding.rule for one in found} & set(known))
    driver = {"name": "dragoman", "version": __version__, "rules": [_sarif_rule(name) for name in used]}
    results = [_sarif_result(one, used) for one in found]
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode()


def _sarif_rule(name: str) -> dict[str, Any]:
    rule, dialects = all_rules()[name]
    paragraphs = page(rule.text)
    return {
        "id": name,
        "shortDescription": {"text": " ".join(paragraphs[0].split())},
        "help": {"text": "\n\n".join(paragraphs)},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": list(dialects)},
    }


def _sarif_result(one: LocatedFinding, used: list[str]) -> dict[str, Any]:
    finding = one.finding
    uri = "stdin" if one.file == "-" else quote(one.file.replace("\\", "/"))
    place: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": one.line}},
        "logicalLocations": [{"fullyQualifiedName": finding.path or "/", "kind": "member"}],
    }
    message = finding.message + (f" ({finding.fix})" if finding.fix else "")
    result: dict[str, Any] = {"ruleId": finding.rule, "level": finding.severity, "message": {"text": message}}
    if finding.rule in used:
        result["ruleIndex"] = used.index(finding.rule)
    return result | {"locations": [place]}


FORMATS: dict[str, Callable[[list[LocatedFinding], int], str]] = {
    "text": text,
    "json": json,
    "github": github,
    "sarif": sarif,
}
