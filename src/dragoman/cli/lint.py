"""`dragoman lint`: checks documents, streams and files of documents against the rules of their dialect."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from .. import lint as library
from ..dialects import get
from ..errors import WireError
from ..lint.runner import MCP, RULE_SETS
from ..repair import repair
from ..rules.rule import Finding, Kind
from ..translate.detect import detect
from .dialect_option import DialectType, mistake_in_json
from .finding_formats import FORMATS, LocatedFinding
from .json_line_numbers import lines_of
from .loss_and_error_output import count_with_noun, fail
from .translate import kind_of_body

UNREADABLE = "ALL-000"
"""The id for a document that cannot be read at all, in place of a rule."""


class LintRun(Struct):
    """The options of one run, and its results."""

    dialect: str | None
    kind: Kind | None
    model: str | None
    fix: bool
    rule_sets: tuple[str, ...] = ()
    found: list[LocatedFinding] = []
    documents: int = 0
    repaired: int = 0
    unusable: int = 0
    """Files and documents that cannot be read, or whose dialect is not known."""


@click.command(epilog="Example: dragoman lint --format github requests/*.json")
@click.option(
    "--dialect",
    type=DialectType(MCP),
    metavar="DIALECT",
    help="Dialect of the documents, or mcp. Default: detected for each document.",
)
@click.option(
    "--kind",
    type=click.Choice(["request", "response", "stream", "tools"]),
    help="Kind of the documents. Default: detected for each document.",
)
@click.option("--model", metavar="NAME", help="The model, if the document does not name one.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Format of the report.",
)
@click.option(
    "--rule-set",
    "rule_sets",
    multiple=True,
    type=click.Choice(list(RULE_SETS)),
    help="Also check these rules, which are off by default. seeds: built-in tool names (read_file, "
    "write_file ...) must have dragoman's parameter names.",
)
@click.option("--fix", is_flag=True, help="Repair the history of requests in place; for - write to standard output.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def lint(
    dialect: str | None,
    kind: Kind | None,
    model: str | None,
    form: str,
    rule_sets: tuple[str, ...],
    fix: bool,
    files: tuple[str, ...],
) -> None:
    """Check FILE... against the rules of its dialect. - is standard input; a .jsonl file has one document per line.

    Exit 0: no findings. 1: findings. 2: a file or a document that cannot be used; all others are checked.
    """
    if dialect == MCP and kind == "stream":
        fail("mcp has no streams. Use --kind request, response or tools.", 2)
    job = LintRun(dialect, kind, model, fix, rule_sets)
    for file in files:
        _file(job, file)
    if job.documents or form != "text":
        # With `--fix -` standard output gets the document.
        click.echo(FORMATS[form](job.found, job.documents), err=fix and "-" in files)
    if job.repaired:
        click.echo(f"Repaired {count_with_noun(job.repaired, 'document')}.", err=True)
    raise SystemExit(2 if job.unusable else 1 if job.found else 0)


def _file(job: LintRun, file: str) -> None:
    try:
        body = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        _report_unusable(job, f"{file}: {error.strerror}")
        return
    if file.endswith(".jsonl") and job.kind != "stream":
        lines = body.split(b"\n")
        out = [_document(job, file, number, line) if line.strip() else line for number, line in enumerate(lines, 1)]
        mended = b"\n".join(out)
    else:
        mended = _document(job, file, 0, body)
    if not job.fix:
        return
    if file == "-":
        sys.stdout.buffer.write(mended)
        sys.stdout.buffer.flush()
    # A file without repairs keeps its modification time.
    elif mended != body:
        Path(file).write_bytes(mended)


def _report_unusable(job: LintRun, message: str) -> None:
    """Report a file or a document that cannot be checked. All others are still checked."""
    job.unusable += 1
    click.echo(f"dragoman: {message}", err=True)


def _document(job: LintRun, file: str, line: int, body: bytes) -> bytes:
    """Lint one document. Returns the document, repaired where that was demanded."""
    dialect = job.dialect or detect(body)[0]
    if not dialect:
        where = file + (f":{line}" if line else "")
        reason = mistake_in_json(body) or "the dialect could not be detected. Name it with --dialect."
        _report_unusable(job, f"{where}: {reason}")
        return body
    job.documents += 1
    kind = job.kind or _kind(body, dialect)
    try:
        if job.fix and kind == "request" and dialect != MCP:
            body = _repaired_document(job, body, dialect)
        findings = library(body, dialect=dialect, kind=kind, model=job.model, rule_sets=job.rule_sets)
    except WireError as error:
        findings = [Finding(UNREADABLE, "error", error.path, str(error))]
    rows = {} if line or kind == "stream" else lines_of(body, {one.path for one in findings})
    job.found += [LocatedFinding(file, line, rows.get(one.path, line or 1), dialect, kind, one) for one in findings]
    return body


def _repaired_document(job: LintRun, body: bytes, dialect: str) -> bytes:
    done = repair(body, dialect=dialect, model=job.model)
    if not done.repairs:
        return body
    job.repaired += 1
    for one in done.repairs:
        click.echo(f"repaired {one.path or '/'}: {one.name}", err=True)
    # An indented document stays indented.
    inner = body.strip()
    spread = b"\n" in inner
    out = msgspec.json.format(done.body, indent=2) if spread else done.body
    return out + body[len(body.rstrip()) :]


def _mcp_kind(body: bytes) -> Kind:
    """The kind of an MCP document. A request has a method; tools are a list, or an object with `tools`; anything else
    is a response."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return "request"  # the linter reports the mistake
    if isinstance(document, list):
        return "tools"
    keys = document if isinstance(document, dict) else {}
    return "request" if "method" in keys else "tools" if "tools" in keys else "response"


def _kind(body: bytes, dialect: str) -> Kind:
    if dialect == MCP:
        return _mcp_kind(body)
    start = body.lstrip()[:6]
    if start.startswith((b"event:", b"data:", b":")):
        return "stream"
    if get(dialect).framing == "ndjson" and b"}\n{" in body.strip():
        return "stream"
    kind = kind_of_body(body)
    return "response" if kind == "fault" else kind
