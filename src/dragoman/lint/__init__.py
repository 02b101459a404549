"""`dragoman.lint`: what an upstream of a dialect would refuse. The linter itself is loaded when it is first used."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..codec.json_body import Body
    from ..rules.rule import Finding, Kind


def lint(
    body: Body,
    *,
    dialect: str,
    kind: Kind = "request",
    model: str | None = None,
    headers: Mapping[str, str] | None = None,
    request: Body | None = None,
    rule_sets: Collection[str] = (),
) -> list[Finding]:
    """What breaks a rule of the dialect, in the order of the document.

    A stream is given as its bytes, or as the list of its decoded frames. `model` is needed where the document does not
    name it, `headers` are those of the request; `request` is what a response or a stream answers. `rule_sets` names
    rules that are off by default (`seeds`). Bytes that are no document at all raise WireError.
    """
    from . import runner

    return runner.lint(
        body, dialect=dialect, kind=kind, model=model, headers=headers, request=request, rule_sets=rule_sets
    )


def lint_conversation(
    documents: Iterable[tuple[Kind, Body]],
    *,
    dialect: str,
    model: str | None = None,
    headers: Mapping[str, str] | None = None,
    rule_sets: Collection[str] = (),
) -> list[Finding]:
    """What breaks a rule in a conversation: its requests, responses and streams in order, each with its kind.

    Here rules can also see what a request leaves out of the response before it. Paths begin with the document's number.
    """
    from . import runner

    return runner.lint_conversation(documents, dialect=dialect, model=model, headers=headers, rule_sets=rule_sets)
