"""Losses: one log a translation, each thing said once, with the registered effect and severity."""

from __future__ import annotations

import pytest

from dragoman.canon.losses import Loss, Losses


def test_a_loss_takes_effect_and_severity_from_its_code() -> None:
    losses = Losses()
    losses.add("media.dropped", ("messages", 2, "content", 0), "audio/wav")
    assert losses.all() == (Loss("media.dropped", "dropped", "error", "/messages/2/content/0", "audio/wav"),)


def test_the_severity_can_be_another_one() -> None:
    losses = Losses()
    losses.add("field.dropped", ("store",), severity="info")
    assert losses.all() == (Loss("field.dropped", "dropped", "info", "/store"),)


def test_the_same_code_at_the_same_place_is_said_once() -> None:
    losses = Losses()
    losses.add("seal.dropped", ("a",), "first")
    losses.add("seal.dropped", ("a",), "second")
    losses.add("seal.dropped", ("b",))
    losses.add("reasoning.dropped", ("a",))
    assert [(loss.code, loss.path, loss.detail) for loss in losses.all()] == [
        ("seal.dropped", "/a", "first"),
        ("seal.dropped", "/b", ""),
        ("reasoning.dropped", "/a", ""),
    ]
    assert len(losses) == 3


def test_an_unregistered_code_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"no\.such\.code"):
        Losses().add("no.such.code")


def test_beyond_gives_what_is_worse_than_the_tolerance() -> None:
    losses = Losses()
    for code in ("cache.dropped", "reasoning.dropped", "state.dropped"):
        losses.add(code)
    assert [loss.code for loss in losses.beyond("info")] == ["reasoning.dropped", "state.dropped"]
    assert [loss.code for loss in losses.beyond("warning")] == ["state.dropped"]
    assert losses.beyond("error") == ()


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (Loss("n.dropped", "dropped", "warning", "/n", "3"), "warning: n.dropped at /n: 3"),
        (Loss("id.invented", "invented", "info", ""), "info: id.invented at /"),
    ],
)
def test_a_loss_in_words(loss: Loss, words: str) -> None:
    assert str(loss) == words
