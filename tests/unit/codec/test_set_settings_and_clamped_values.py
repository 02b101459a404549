"""Sampling values stay within the limits of the target."""

from __future__ import annotations

import pytest

from dragoman.codec.set_settings_and_clamped_values import clamp
from dragoman.context import Context


@pytest.mark.parametrize(("value", "sent", "lost"), [(0.7, 0.7, []), (2, 2, []), (2.5, 2, ["/t"]), (-1, 0, ["/t"])])
def test_a_value_outside_the_limits_is_moved_and_reported(value: float, sent: float, lost: list[str]) -> None:
    context = Context("a", "b")
    assert clamp(value, 0, 2, ("t",), context) == sent
    assert [loss.path for loss in context.losses.all() if loss.code == "sampling.clamped"] == lost
