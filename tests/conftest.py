"""Hypothesis profiles: `house` gives the same bounded examples on every machine; `again` gives fewer, for a second run
of the same laws; `long` looks for new ones and shrinks.

Shrinking a failure can take minutes, so `house` shows it as it was found. HYPOTHESIS_PROFILE=long for the small one.
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
    "house",
    derandomize=True,
    max_examples=60,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=SLOW,
)
settings.register_profile("again", settings.get_profile("house"), max_examples=20)
settings.register_profile("long", max_examples=2000, deadline=None, suppress_health_check=SLOW)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "house")
settings.load_profile(PROFILE)
if PROFILE in ("house", "again") and hasattr(providers, "_get_local_constants"):
    # Hypothesis mixes constants into its examples that it finds in the modules loaded so far: which tests ran before in
    # the same process would decide what is tried.
    providers._get_local_constants = lambda: providers._local_constants

# Tests stop programs by signals. A runner in the background (`nohup`, a shell without job control) ignores some of
# them, and every program that it starts inherits that.
for _number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

RequestMemory.smallest = 0
"""The memory is tried on the short requests of the tests, too. `tests/unit/fast` tries the usual size."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, and hide from it what was collected: modules and tests live until the end,
    and each pass over them costs time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
