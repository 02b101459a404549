"""Owns Rule, Breach and Finding. Dialect folders build their rules from these and never import the linter.

A rule is a generator function over one decoded document, marked with `@rule`. Its docstring is its page: first the
requirement, then the paragraphs `Why:`, `Good:`, `Bad:` and `Source:`. `dragoman rule ID` shows the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from ..canon.parts import Path
from ..facts.profile import DEFAULT_PROFILE, Profile

Kind = Literal["request", "response", "stream", "tools"]
Level = Literal["error", "warning"]


class Finding(Struct, frozen=True):
    """One breach of a rule, for the caller. `path` is a JSON pointer. `fix` is the way to mend the breach; "" if there
    is no single way."""

    rule: str
    severity: Level
    path: str
    message: str
    fix: str = ""

    def __str__(self) -> str:
        fix = f" Fix: {self.fix}" if self.fix else ""
        return f"{self.severity}: {self.rule} at {self.path or '/'}: {self.message}{fix}"


class Breach(Struct, frozen=True):
    """One breach, yielded by a rule: path, problem, fix. `severity` is set if it differs from the rule's severity."""

    at: Path
    message: str
    fix: str = ""
    severity: Level | None = None


class Subject(Struct):
    """The document under check, decoded, and the facts about its context."""

    document: Any
    """A mapping (request, response), a list of decoded frames (stream), or the list of declarations (tools).

    A frame may be any JSON value. `[DONE]` is the text "[DONE]". A frame that is not JSON is None.
    """
    kind: Kind
    model: str = ""
    profile: Profile = DEFAULT_PROFILE
    headers: Mapping[str, str] = {}
    """The request's headers with lower-case names. Empty if unknown. Then rules about headers find no breach."""
    request: Any = None
    """For responses and streams: the decoded request that the document answers, if known."""
    before: Any = None
    """For requests of a conversation: the decoded response before the request, if known."""


Check = Callable[[Subject], Iterator[Breach]]


class Rule(Struct, frozen=True):
    """One rule of a dialect."""

    id: str
    severity: Level
    kinds: tuple[Kind, ...]
    check: Check
    rule_set: str = ""
    """The rule set of the rule. Rules of a rule set are off by default. "": the rule is always on."""

    @property
    def text(self) -> str:
        """The rule's page: requirement, why, good, bad, source."""
        return self.check.__doc__ or ""


def rule(id: str, severity: Level, *kinds: Kind, rule_set: str = "") -> Callable[[Check], Rule]:
    """Make a rule from a check function. Without `kinds` the rule checks requests. A rule of a `rule_set` is off by
    default."""
    return lambda check: Rule(id, severity, kinds or ("request",), check, rule_set)


def rules_of(module: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules among a module's globals, in the order of their ids."""
    return tuple(sorted([value for value in module.values() if isinstance(value, Rule)], key=lambda one: one.id))
