"""Rule and Finding: what a dialect's `rules.py` is made of, so that dialect folders never import the linter.

A rule is a generator function over one decoded document, marked with `@rule`. Its docstring is its page: the first
paragraph says what, then come `Why:`, `Good:`, `Bad:` and `Source:` paragraphs; `dragoman rule ID` shows it.
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
    """One breach of a rule. `path` is a JSON pointer; `fix` says what to do, "" when there is no one thing to do."""

    rule: str
    severity: Level
    path: str
    message: str
    fix: str = ""


class Breach(Struct, frozen=True):
    """What a rule yields: where, what is wrong, what to do; `severity` where it differs from the rule's own."""

    at: Path
    message: str
    fix: str = ""
    severity: Level | None = None


class Subject(Struct):
    """What is linted: the decoded document, and what is known around it."""

    document: Any
    """A mapping (request, response), a list of decoded frames (stream), or the list of declarations (tools).

    A frame may be any JSON value; `[DONE]` is the text "[DONE]", and what is no JSON at all is None.
    """
    kind: Kind
    model: str = ""
    profile: Profile = DEFAULT_PROFILE
    headers: Mapping[str, str] = {}
    """Lower-case names; empty when unknown: rules about headers then say nothing."""
    request: Any = None
    """For responses and streams: the decoded request they answer, if it is known."""
    before: Any = None
    """For requests of a conversation: the decoded response that came before, if it is known."""


Check = Callable[[Subject], Iterator[Breach]]


class Rule(Struct, frozen=True):
    """One rule of a dialect."""

    id: str
    severity: Level
    kinds: tuple[Kind, ...]
    check: Check
    rule_set: str = ""
    """The rule set that a caller has to ask for; "": the rule always holds."""

    @property
    def text(self) -> str:
        """The rule's page: what, why, good, bad, source."""
        return self.check.__doc__ or ""


def rule(id: str, severity: Level, *kinds: Kind, rule_set: str = "") -> Callable[[Check], Rule]:
    """Make a rule of a check; without `kinds` it looks at requests. A rule of a `rule_set` is off by default."""
    return lambda check: Rule(id, severity, kinds or ("request",), check, rule_set)


def rules_of(module: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules among a module's globals, in the order of their ids."""
    return tuple(sorted([value for value in module.values() if isinstance(value, Rule)], key=lambda one: one.id))
