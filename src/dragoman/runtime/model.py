"""What the loop asks: a model, whoever serves it. It is asked in canon and tells its answer in events of canon."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from ..canon.events import Event
from ..canon.losses import Loss
from ..canon.request import Request

Report = Callable[[tuple[Loss, ...]], None]
"""Told what did not cross."""


class Model(Protocol):
    """A model of an upstream."""

    name: str
    """As `upstream/model`."""
    hosted: frozenset[str]
    """Families of tools that its upstream runs itself, such as `web_search`."""
    window: int
    """Tokens that it takes in all; 0: unknown."""

    def ask(self, request: Request, lost: Report) -> AsyncGenerator[Event, None]:
        """The events of its answer, as they come. A Fault is an event too; nothing is raised for it."""
        ...

    async def check(self) -> None:
        """Find out whether the model can be asked. ConfigError where the key is missing or refused."""
        ...

    async def close(self) -> None:
        """Nobody will ask it any more."""
        ...


Models = Callable[[str], Model]
"""Finds a model by its name. ConfigError where there is none."""
