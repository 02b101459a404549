"""Hypothesis profiles, chosen by `HYPOTHESIS_PROFILE`.

`bounded` (the default) gives the same examples on every machine. It reports the first failing example: shrinking
can take minutes. `fewer` gives fewer examples, for a second run of the same laws. `long` tries new ones and shrinks.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers

from dragoman.fast.continued_requests import RequestMemory

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "bounded",
    derandomize=True,
    max_examples=60,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=SLOW,
)
settings.register_profile("fewer", settings.get_profile("bounded"), max_examples=20)
settings.register_profile("long", max_examples=2000, deadline=None, suppress_health_check=SLOW)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "bounded")
settings.load_profile(PROFILE)
if PROFILE in ("bounded", "fewer") and hasattr(providers, "_get_local_constants"):
    # Hypothesis takes constants for its examples from the loaded modules. The examples would depend on the tests that
    # ran before in the same process.
    providers._get_local_constants = lambda: providers._local_constants

# Tests stop programs by signals. A runner in the background (`nohup`, a shell without job control) ignores some of
# them, and every program that it starts inherits that.
for _number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

RequestMemory.smallest = 0
"""The short requests of the tests use the memory too. `tests/unit/fast` tests the usual size."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, and freeze the collected objects: modules and tests live until the end,
    and each pass over them costs time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
