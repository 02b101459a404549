"""Owns the interface of a model: it takes a canon request and gives canon events. The loop does not depend on the
upstream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from ..canon.events import Event
from ..canon.losses import Loss
from ..canon.request import Request
from ..facts.windows_and_prices import WindowAndPrices

Report = Callable[[tuple[Loss, ...]], None]
"""Takes the losses of a request."""


class Model(Protocol):
    """A model of an upstream."""

    name: str
    """As `upstream/model`."""
    hosted: frozenset[str]
    """Families of hosted tools of the upstream, such as `web_search`."""

    async def known(self) -> WindowAndPrices:
        """The model's window and prices, as far as they are known."""
        ...

    def ask(self, request: Request, lost: Report) -> AsyncGenerator[Event, None]:
        """The events of the answer, as they arrive. A fault is an event, not an exception."""
        ...

    async def check(self) -> None:
        """Find out whether the model can be asked. ConfigError where the key is missing or refused."""
        ...

    async def close(self) -> None:
        """Free the model's resources."""
        ...


Models = Callable[[str], Model]
"""Finds a model by its name. ConfigError: there is no such model."""
