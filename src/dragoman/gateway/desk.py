"""What every exchange needs, in one place: another one with each configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..transport.client import Client
from ..transport.google import Tokens
from ..transport.projects import Projects
from ..transport.redaction import Redactor
from .breaker import Breakers
from .child_process import ChildProcesses
from .config import Config
from .exchanges import Exchanges
from .routes import Routes
from .sending import Sendings
from .vault import BoundedVault


class Desk(Struct, frozen=True):
    """What every exchange needs."""

    config: Config
    routes: Routes
    pool: Client
    vault: BoundedVault
    """Where the seals of each client wait."""
    environment: Mapping[str, str]
    draw: Callable[[list[int]], int]
    now: Callable[[], float]
    tokens: Tokens
    """Google's access tokens."""
    breakers: Breakers
    projects: Projects
    """Of Google's accounts."""
    sendings: Sendings
    exchanges: Exchanges
    """What went through lately."""
    redactor: Redactor
    """Knows the secrets of the configuration."""
    children: ChildProcesses
    """For work that takes long."""
