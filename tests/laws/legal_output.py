"""Owns the law of legal output: the judges of the target dialect accept the translation."""

from __future__ import annotations

import msgspec

from dragoman import Translation
from dragoman.dialects import get
from tests.oracles import body_verdict, conversation_rules, grammar
from tests.recorded.recorded_bodies import Case


def is_similar(source: str, target: str) -> bool:
    """Whether the target gets fields of the source unchanged. Then it also gets values that its own judge refuses."""
    return source in get(target).related


def judged(dialect: str, kind: str, body: bytes) -> list[str]:
    """Return the findings of a dialect's judge in a request, an answer or a stream."""
    if kind == "stream":
        return grammar.check_stream(dialect, body, extensions=True)
    check = body_verdict.check_request if kind == "request" else body_verdict.check_response
    return check(dialect, body, extensions=True)


def passes_with_its_faults(case: Case, target: str) -> bool:
    """Whether the document has findings of its own judge, and passes unchanged to a similar dialect."""
    return is_similar(case.dialect, target) and bool(judged(case.dialect, case.kind, case.body))


def unlawful(case: Case, out: Translation, target: str, model: str) -> list[str]:
    """Return the findings of the target's judge. A request must also obey the conversation rules of the target, except
    for topics on which the source breaks its own rules."""
    found = judged(target, case.kind, out.body)
    if case.kind == "request":
        own = conversation_rules.check_conversation(case.dialect, msgspec.json.decode(case.body), model=case.model)
        topics = {finding.topic for finding in own}
        broken = conversation_rules.check_conversation(target, out.json(), model=model)
        found += [str(finding) for finding in broken if finding.rule != "-" and finding.topic not in topics]
    return found
