"""`dragoman translate`: translates one document or one stream from standard input to standard output, with the losses
on standard error."""

from __future__ import annotations

import sys
from io import BufferedReader
from typing import Literal

import click
import msgspec

from ..canon.losses import Loss, Severity
from ..errors import DragomanError, FaultError, LossError, RepairError
from ..translate import StreamTranslator, translate_fault, translate_request, translate_response, translate_tools
from .dialect_option import DIALECT, detected_dialect
from .loss_and_error_output import count_with_noun, fail, print_losses, print_repairs

CHUNK = 64 * 1024
"""Bytes of a stream that are read at once. `read1` returns fewer when fewer have arrived."""


@click.command(epilog="Example: dragoman translate --from anthropic --to gemini < request.json > out.json")
@click.option("--from", "source", type=DIALECT, metavar="DIALECT", help="Dialect of the input. Default: detected.")
@click.option("--to", "target", type=DIALECT, metavar="DIALECT", required=True, help="Dialect of the output.")
@click.option(
    "--kind",
    type=click.Choice(["request", "response", "tools", "fault"]),
    help="Kind of the input. Default: detected.",
)
@click.option(
    "--stream", is_flag=True, help="The input is a stream (SSE or lines of JSON). It is translated as it arrives."
)
@click.option(
    "--model", metavar="NAME", help="The model's name in the output (Gemini requests have none in their body)."
)
@click.option("--status", type=int, default=500, show_default=True, help="HTTP status of a fault.")
@click.option(
    "--losses",
    "form",
    type=click.Choice(["text", "json", "none"]),
    default="text",
    show_default=True,
    help="Format of the loss report on standard error.",
)
@click.option("--strict", is_flag=True, help="Exit 1, and write nothing, if there is a loss worse than info.")
@click.option(
    "--binary",
    type=click.Choice(["native", "summarise"]),
    default="native",
    show_default=True,
    help="Media in tool results: in the target's own form, or as a line of text.",
)
@click.option(
    "--repair",
    type=click.Choice(["off", "report", "refuse"]),
    default="off",
    show_default=True,
    help="What to do with a request whose history breaks the rules of its own dialect. off: do nothing; "
    "report: repair the history, and list the repairs on standard error; refuse: exit 1.",
)
@click.option(
    "--host",
    metavar="NAME",
    help="The upstream's host name or short name (mistral, deepseek). A request is written for this host. An "
    "answer or a stream is read as an answer of this host.",
)
@click.option(
    "--stand-ins",
    is_flag=True,
    help="Offer a function in place of a web search or a URL fetch that the target does not have. Default: such a "
    "tool is dropped, because the client may be unable to run the function.",
)
@click.argument("file", type=click.File("rb"), default="-")
def translate(
    source: str | None,
    target: str,
    kind: str | None,
    stream: bool,
    model: str | None,
    status: int,
    form: str,
    strict: bool,
    binary: str,
    repair: str,
    host: str | None,
    stand_ins: bool,
    file: BufferedReader,
) -> None:
    """Translate FILE (or standard input) into another dialect."""
    body = b""
    try:
        if stream:
            _stream(file, source, target, host, form, strict)
            return
        body = file.read()
        source = source or detected_dialect(body, "--from")
        kind = kind or kind_of_body(body)
        tolerance: Severity | None = "info" if strict else None
        if kind == "request":
            done = translate_request(
                body,
                source=source,
                target=target,
                model=model,
                tolerance=tolerance,
                binary=binary,  # type: ignore[arg-type]
                repair=None if repair == "off" else repair,  # type: ignore[arg-type]
                host=host,
                stand_ins=stand_ins,
            )
        elif kind == "response":
            try:
                done = translate_response(body, source=source, target=target, tolerance=tolerance, host=host)
            except FaultError:  # the document is an error in place of an answer
                done = translate_fault(body, status=200, source=source, target=target)
        elif kind == "tools":
            done = translate_tools(body, source=source, target=target, tolerance=tolerance, stand_ins=stand_ins)
        else:
            done = translate_fault(body, status=status, source=source, target=target)
    except RepairError as error:
        print_repairs(error.repairs, form)
        fail(str(error), 1)
    except LossError as error:
        print_losses(error.losses, form)
        fail(str(error), 1)
    except DragomanError as error:
        many = " `dragoman convert` takes files with many documents." if b"}\n{" in body else ""
        fail(f"{error}{'.' if many else ''}{many}", 1)
    _write(done.body + b"\n")
    if repair != "off" and kind == "request":
        print_repairs(done.repairs, form)
    print_losses(done.losses, form)


def _stream(file: BufferedReader, source: str | None, target: str, host: str | None, form: str, strict: bool) -> None:
    # `read1` returns the bytes that have arrived, while `read` would wait for more.
    first = file.read1(CHUNK)
    translator = StreamTranslator(source=source or detected_dialect(first, "--from"), target=target, host=host)
    chunk = first
    held: list[bytes] = []
    while chunk:
        held.append(translator.feed(chunk))
        # With --strict nothing is written before all losses are known.
        if not strict:
            _write(b"".join(held))
            held.clear()
        chunk = file.read1(CHUNK)
    held.append(translator.close())
    grave: tuple[Loss, ...] = tuple([loss for loss in translator.losses if loss.severity != "info"])
    print_losses(translator.losses, form)
    if strict and grave:
        fail(f"{count_with_noun(len(grave), 'loss', 'losses')} worse than info, so nothing was written", 1)
    _write(b"".join(held))


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


_ANSWER_KEYS = frozenset({"choices", "candidates", "output", "stop_reason", "promptFeedback"})


def kind_of_body(body: bytes) -> Literal["request", "response", "tools", "fault"]:
    """The kind of a document, judged by its fields."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return "request"
    if isinstance(document, list):
        return "tools"
    if isinstance(document, dict) and isinstance(document.get("error"), dict) and "choices" not in document:
        # A failed answer of Responses has an `error`, too, and an id.
        return "fault" if "id" not in document else "response"
    return "response" if isinstance(document, dict) and _ANSWER_KEYS & document.keys() else "request"
