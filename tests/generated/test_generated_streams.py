"""The laws for generated streams: any cut of the bytes, legal in other dialects, no silent loss, and the round trip."""

from __future__ import annotations

import pytest

import dragoman
from dragoman.canon import Fault
from dragoman.canon.fold_and_unfold import fold
from dragoman.dialects import get
from tests.generated import laws
from tests.generated.generated_documents import Drawn, drawn, marked
from tests.generated.generated_streams import progress_events, streams
from tests.generated.test_generated_documents import check, failed
from tests.laws import no_silent_loss
from tests.laws.legal_output import is_similar
from tests.laws.round_trip import broken
from tests.oracles import grammar
from tests.recorded.normal_form import gathered
from tests.recorded.recorded_bodies import CREATED, DIALECTS, PAIRS, context, events, fed
from tests.recorded.test_streams import crlf, cuts
from tests.recorded.tree_comparison import differences

# Byte by byte is slow: only every n-th stream.
_EVERY = 4


@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_cut_gives_the_same_events_with_the_content_of_the_answer(dialect: str) -> None:
    answers = {one.id: one for one in drawn(dialect, "response")}
    cut: dict[str, list[str]] = {}
    told: dict[str, list[str]] = {}
    for seed, one in enumerate(streams(dialect)):
        raw = one.value
        whole = events(dialect, raw)
        ways = [cuts(raw, seed), cuts(crlf(raw), seed + 1)]
        if seed % _EVERY == 0:
            ways.append([raw[i : i + 1] for i in range(len(raw))])
        cut[one.id] = [f"in {len(way)} pieces" for way in ways if fed(dialect, way) != whole]
        told[one.id] = _differs(answers[one.id], whole)
    check("cut", dialect, cut)
    check("fold", dialect, told)


def _differs(one: Drawn, steps: list[laws.Event]) -> list[str]:
    """Return the differences between the stream and the answer of which it was made."""
    whole = get(one.dialect).read_response(one.body, context(one.dialect, one.dialect))
    end = fold(steps)
    if isinstance(end, Fault):
        return [] if broken(whole) else [f"a fault: {end.message}"]
    return differences(gathered(one.dialect, whole), gathered(one.dialect, end))


def _some(source: str, target: str) -> tuple[Drawn, ...]:
    """Return every second stream: one target gets the first half, the next target the other half."""
    return streams(source)[DIALECTS.index(target) % 2 :: 2]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_translated_stream_is_legal_and_drops_nothing_without_a_loss(source: str, target: str) -> None:
    answers = {one.id: one for one in drawn(source, "response")}
    wrong: dict[str, list[str]] = {}
    lost: dict[str, list[str]] = {}
    for seed, one in enumerate(_some(source, target)):
        whole = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
        out = whole.feed(one.value) + whole.close()
        pieces = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
        assert out == b"".join([pieces.feed(piece) for piece in cuts(one.value, seed)]) + pieces.close(), one.id
        assert set(whole.losses) == set(pieces.losses), one.id
        if not (is_similar(source, target) and grammar.check_stream(source, one.value, extensions=True)):
            wrong[one.id] = grammar.check_stream(target, out, extensions=True)
        if not failed(answers[one.id]):
            lost[one.id] = _silent(answers[one.id], one.value, out, whole.losses)
    check("stream legal", f"{source} to {target}", wrong)
    check("stream silent", f"{source} to {target}", lost)


def _silent(answer: Drawn, raw: bytes, out: bytes, losses: tuple[dragoman.Loss, ...]) -> list[str]:
    """Return the marks that are neither in the output nor in a field that a loss names. An event has other places
    than the whole answer, so the field's name is enough."""
    rest = {step for loss in losses if loss.effect != "invented" for step in loss.path.split("/")[-2:]}
    text, told = no_silent_loss.visible(out), raw.decode()
    return [
        "/" + "/".join(map(str, at))
        for mark, places in marked(answer).places.items()
        if mark in told and mark not in text
        for at in places
        if not rest & {str(step) for step in at if isinstance(step, str)}
    ]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_stream_comes_back_except_for_the_losses(source: str, target: str) -> None:
    found = {one.id: laws.stream_came_back(one, target) for one in _some(source, target)}
    check("stream round trip", f"{source} to {target}", found)


@pytest.mark.parametrize("target", ["openai-chat", "anthropic"])
def test_events_about_the_progress_of_hosted_tools_change_nothing(target: str) -> None:
    """Every kind of event that Responses has, in the middle of a stream whose items it does not belong to."""
    source = "openai-responses" if target != "openai-responses" else "anthropic"
    one = next(one for one in streams(source) if b"response.output_text.delta" in one.value)
    plain = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
    expected = plain.feed(one.value) + plain.close()
    kinds = set()
    for name, frame in progress_events():
        head, end, tail = one.value.partition(b"\n\n")
        stream = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
        out = stream.feed(head + end + frame + tail) + stream.close()
        assert out == expected, name
        kinds.add(name)
    assert len(kinds) > 12
