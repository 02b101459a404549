"""Losses: one log for each translation. Each loss is listed once, with its registered effect and severity."""

from __future__ import annotations

import pytest

from dragoman.canon.losses import Loss, Losses, losses_above


def test_a_loss_takes_effect_and_severity_from_its_code() -> None:
    losses = Losses()
    losses.add("media.dropped", ("messages", 2, "content", 0), "audio/wav")
    assert losses.all() == (Loss("media.dropped", "dropped", "error", "/messages/2/content/0", "audio/wav"),)


def test_the_severity_can_be_overridden() -> None:
    losses = Losses()
    losses.add("field.dropped", ("store",), severity="info")
    assert losses.all() == (Loss("field.dropped", "dropped", "info", "/store"),)


def test_the_same_code_at_the_same_place_is_listed_once() -> None:
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


def test_replayed_losses_are_listed_once() -> None:
    first = Losses()
    first.add("field.dropped", ("store",), "yes", "info")
    first.add("seal.dropped", ("a", 0))
    noted = first.noted()
    second = Losses()
    second.add("seal.dropped", ("a", 0), "before")
    second.replay(noted)
    second.replay(noted)
    assert [(loss.code, loss.path, loss.severity, loss.detail) for loss in second.all()] == [
        ("seal.dropped", "/a/0", "warning", "before"),
        ("field.dropped", "/store", "info", "yes"),
    ]
    assert first.all()[0] is second.all()[1]


def test_losses_added_after_a_read_are_in_the_next_read() -> None:
    losses = Losses()
    losses.add("seal.dropped", ("a",))
    assert len(losses.all()) == 1
    losses.add("seal.dropped", ("b",))
    assert [loss.path for loss in losses.all()] == ["/a", "/b"]


def test_an_unregistered_code_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"no\.such\.code"):
        Losses().add("no.such.code")


def test_beyond_returns_the_losses_that_are_worse_than_the_tolerance() -> None:
    losses = Losses()
    for code in ("cache.dropped", "reasoning.dropped", "state.dropped"):
        losses.add(code)
    assert [loss.code for loss in losses_above(losses.all(), "info")] == ["reasoning.dropped", "state.dropped"]
    assert [loss.code for loss in losses_above(losses.all(), "warning")] == ["state.dropped"]
    assert losses_above(losses.all(), "error") == ()


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (Loss("n.dropped", "dropped", "warning", "/n", "3"), "warning: n.dropped at /n: 3"),
        (Loss("id.invented", "invented", "info", ""), "info: id.invented at /"),
    ],
)
def test_a_loss_in_words(loss: Loss, words: str) -> None:
    assert str(loss) == words
