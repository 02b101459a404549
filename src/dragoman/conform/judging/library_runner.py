"""Owns the run of cases against this library. It opens no socket and reads no clock."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ...canon.losses import Loss
from ...dialects import is_known
from ...errors import ConfigError, DragomanError, FaultError
from ...rules.rule import Kind
from ...translate import (
    StreamTranslator,
    Translation,
    translate_fault,
    translate_request,
    translate_response,
    translate_tools,
)
from . import independent_stream_reader
from .case_outcome_checks import CaseOutcome, LintedDocument, about_losses, judge
from .client_history import next_request, with_tool_names
from .json_paths_and_exact_numbers import decode, dump
from .suite_reader import Case


class CaseResult(Struct):
    """The result of a case: its failures (none if the case passed), or the reason why the case could not be tested. A
    case that could not be tested has not passed."""

    case: Case
    failures: list[str] = []
    untested: str = ""
    unseen: int = 0
    """Number of facts about losses that were not checked, because the gateway under test reports no losses."""

    @property
    def passed(self) -> bool:
        """Whether the case was tested and has no failure."""
        return not self.failures and not self.untested


def run(case: Case) -> CaseResult:
    """Run one case against the library."""
    missing = [name for name in (case.source_dialect, case.target) if not is_known(name)]
    if missing:
        return CaseResult(case, untested=f"there is no dialect {missing[0]}")
    if case.kind == "count":
        return CaseResult(case, untested="the library counts no tokens; ask a gateway with --base-url")
    try:
        return judge_case(case, observe_case(case))
    except DragomanError as error:
        return CaseResult(case, failures=[f"{type(error).__name__}: {error}"])


def judge_case(case: Case, outcome: CaseOutcome) -> CaseResult:
    """Check each fact of a case against the outcome."""
    seen = [fact for fact in case.expect if outcome.losses is not None or not about_losses(fact)]
    failures = [wrong for fact in seen if (wrong := judge(fact, outcome))]
    return CaseResult(case, failures=failures, unseen=len(case.expect) - len(seen))


def observe_case(case: Case) -> CaseOutcome:
    """The library's outcome of a case."""
    if case.kind == "conversation":
        return _conversation(case)
    given = dump(case.input).encode()
    if case.kind == "request":
        done = translate_request(given, source=case.source_dialect, target=case.target, model=case.model)
        document = decode(done.body)
        return _outcome(case, document, "request", done.losses, done.body, given)
    if case.kind == "tools":
        done = translate_tools(given, source=case.source_dialect, target=case.target, model=case.model)
        document = decode(done.body)
        return _outcome(case, document, "tools", done.losses, done.body, given)
    if case.kind == "fault":
        return _fault(case)
    translation = _request_translation(case)
    if case.kind == "stream":
        return _stream(case, translation)
    done = translate_response(given, source=case.source_dialect, target=case.target, answers=translation)
    document = decode(done.body)
    return _outcome(case, document, "response", done.losses, done.body, given)


def _outcome(
    case: Case,
    document: Any,
    kind: Kind | None,
    losses: tuple[Loss, ...],
    raw: bytes | None = None,
    given: bytes | None = None,
) -> CaseOutcome:
    checked = [LintedDocument(case.target, kind, case.model, document)] if kind else []
    return CaseOutcome(case.target, document, checked, losses, raw, given)


def _request_translation(case: Case) -> Translation | None:
    """The translation of the client's request, which the upstream's response needs."""
    if case.request is None:
        return None
    return translate_request(dump(case.request), source=case.client, target=case.upstream, model=case.model)


def _fault(case: Case) -> CaseOutcome:
    status, headers = case.input["status"], case.input.get("headers", {})
    body = case.input["body"] if isinstance(case.input["body"], str) else dump(case.input["body"])
    if status == 200:
        # a fault with a good status: the reader must notice the fault
        try:
            request = _request_translation(case)
            answer = translate_response(body, source=case.source_dialect, target=case.target, answers=request)
            document = {"status": 200, "headers": {}, "body": decode(answer.body)}
            return _outcome(case, document, None, answer.losses)
        except FaultError as error:
            status = error.fault.status
    done = translate_fault(body, status=status, headers=headers, source=case.source_dialect, target=case.target)
    document = {"status": done.status, "headers": done.headers, "body": decode(done.body)}
    return _outcome(case, document, None, done.losses)


def _stream(case: Case, translation: Translation | None) -> CaseOutcome:
    sent = independent_stream_reader.frame_stream(case.source_dialect, case.input)
    whole, losses = _translated(case, translation, [sent])
    pieces, _ = _translated(case, translation, [sent[at : at + 1] for at in range(len(sent))])
    document = stream_document(case.target, whole)
    same = stream_document(case.target, pieces)["response"] == document["response"]
    # A client must get the same answer for any cut of the bytes.
    document["cut_anywhere"] = same
    checked = [LintedDocument(case.target, "stream", case.model, document["frames"])]
    return CaseOutcome(case.target, document, checked, losses, whole, sent)


def _translated(case: Case, translation: Translation | None, chunks: list[bytes]) -> tuple[bytes, tuple[Loss, ...]]:
    translator = StreamTranslator(source=case.source_dialect, target=case.target, answers=translation)
    out = [translator.feed(chunk) for chunk in chunks]
    out.append(translator.close())
    return b"".join(out), translator.losses


def stream_document(dialect: str, data: bytes) -> dict[str, Any]:
    """A stream as facts see it: its frames, and the response that the frames fold to."""
    frames = independent_stream_reader.frames_of(dialect, data)
    return {"frames": frames, "response": independent_stream_reader.fold(dialect, frames)}


def _conversation(case: Case) -> CaseOutcome:
    """A conversation: the requests that the upstream gets, and the responses that the client gets."""
    request: dict[str, Any] = case.input["request"]
    checked: list[LintedDocument] = []
    answers: list[Any] = []
    losses: list[Loss] = []
    for step in case.input["steps"]:
        upstream, model = step.get("to", case.upstream), step.get("model", case.model)
        host = case.host or None
        translation = translate_request(dump(request), source=case.client, target=upstream, model=model, host=host)
        losses += translation.losses
        checked.append(LintedDocument(upstream, "request", model, decode(translation.body)))
        step = with_tool_names(step, upstream, checked[-1].body)
        if "reply" in step:
            done = translate_response(dump(step["reply"]), source=upstream, target=case.client, answers=translation)
            losses += done.losses
            answers.append(decode(done.body))
        elif "frames" in step:
            translator = StreamTranslator(source=upstream, target=case.client, answers=translation)
            data = (
                translator.feed(independent_stream_reader.frame_stream(upstream, step["frames"])) + translator.close()
            )
            losses += translator.losses
            answers.append(
                independent_stream_reader.fold(case.client, independent_stream_reader.frames_of(case.client, data))
            )
        if answers:
            request = next_request(case.client, request, answers[-1], step, bool(case.input.get("strict")))
    document = {"requests": [one.body for one in checked], "answers": answers}
    return CaseOutcome(case.target, document, checked, tuple(losses))


def choose_cases(
    cases: tuple[Case, ...], words: tuple[str, ...], client: str | None = None, upstreams: tuple[str, ...] = ()
) -> tuple[Case, ...]:
    """The cases with a named id or topic (all if none is named), for one client's dialect and some upstreams'
    dialects."""
    for word in words:
        if not any(_named(case, word) for case in cases):
            raise ConfigError("case", word, tuple(sorted({case.topic for case in cases})))
    return tuple(
        [
            case
            for case in cases
            if (not words or any(_named(case, word) for word in words))
            and (client is None or case.client == client)
            and (not upstreams or case.upstream in upstreams)
        ]
    )


def _named(case: Case, word: str) -> bool:
    return case.id == word or case.id.startswith(f"{word}.")
