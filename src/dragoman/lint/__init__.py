"""Owns the public functions `dragoman.lint` and `lint_conversation`. The linter is imported at the first call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..codec.caller_document_to_bytes import Body
    from ..dialects import DialectName
    from ..rules.rule import Finding, Kind


def lint(
    body: Body,
    *,
    dialect: DialectName,
    kind: Kind = "request",
    model: str | None = None,
    headers: Mapping[str, str] | None = None,
    request: Body | None = None,
    rule_sets: Collection[str] = (),
) -> list[Finding]:
    """The breaches of the dialect's rules, in the order of the document.

    `document` of a stream is its bytes, or the list of its decoded frames. `model` is needed if the document does not
    name a model. `headers` are the request's headers. `request` is the request that a response or a stream answers.
    `rule_sets` switches on rules that are off by default (`seeds`). WireError: the bytes are not a document.
    """
    from . import runner

    return runner.lint(
        body, dialect=dialect, kind=kind, model=model, headers=headers, request=request, rule_sets=rule_sets
    )


def lint_conversation(
    documents: Iterable[tuple[Kind, Body]],
    *,
    dialect: DialectName,
    model: str | None = None,
    headers: Mapping[str, str] | None = None,
    rule_sets: Collection[str] = (),
) -> list[Finding]:
    """The breaches in a conversation: its requests, responses and streams in order, each with its kind.

    In a conversation a rule also sees the response before a request, so it finds parts that the request leaves out.
    Paths begin with the document's number.
    """
    from . import runner

    return runner.lint_conversation(documents, dialect=dialect, model=model, headers=headers, rule_sets=rule_sets)
