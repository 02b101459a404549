"""The law of legal output: what is written in another dialect, that dialect's own judges accept."""

from __future__ import annotations

import msgspec

from dragoman import Translation
from dragoman.dialects import get
from tests.oracles import body_verdict, conversation_rules, grammar
from tests.recorded.recorded_bodies import Case


def kin(source: str, target: str) -> bool:
    """Whether the target takes what only the source knows as it is: then also what its own judge refuses."""
    return source in get(target).kin


def judged(dialect: str, kind: str, body: bytes) -> list[str]:
    """What the official judge of a dialect finds in a request, an answer or a stream."""
    if kind == "stream":
        return grammar.check_stream(dialect, body, extensions=True)
    check = body_verdict.check_request if kind == "request" else body_verdict.check_response
    return check(dialect, body, extensions=True)


def passes_with_its_faults(case: Case, target: str) -> bool:
    """Whether the document goes to a sister dialect as it came, with what its own judge finds in it."""
    return kin(case.dialect, target) and bool(judged(case.dialect, case.kind, case.body))


def unlawful(case: Case, out: Translation, target: str, model: str) -> list[str]:
    """What the judge of the other dialect finds. A request is also a conversation by the rules of that dialect, but for
    rules on topics where the source breaks its own."""
    found = judged(target, case.kind, out.body)
    if case.kind == "request":
        own = conversation_rules.check_conversation(case.dialect, msgspec.json.decode(case.body), model=case.model)
        topics = {finding.topic for finding in own}
        broken = conversation_rules.check_conversation(target, out.json(), model=model)
        found += [str(finding) for finding in broken if finding.rule != "-" and finding.topic not in topics]
    return found
