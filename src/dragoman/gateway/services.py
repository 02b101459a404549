"""What every exchange needs, in one place: another one with each configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..transport.client_interface import Client
from ..transport.code_assist_projects import CodeAssistProjects
from ..transport.google_credentials import Tokens
from ..transport.redaction import Redactor
from .config import Config
from .endpoints.endpoint_table import EndpointTable
from .exchange.breaker import Breakers
from .exchange.child_process import ChildProcesses
from .exchange.memory_seal_vault import BoundedVault
from .exchange.prepared_upstream_calls import UpstreamPlans
from .exchange.recent_exchanges import Exchanges
from .exchange.routes import Routes


class Services(Struct, frozen=True):
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
    projects: CodeAssistProjects
    """Of Google's accounts."""
    sendings: UpstreamPlans
    exchanges: Exchanges
    """What went through lately."""
    redactor: Redactor
    """Knows the secrets of the configuration."""
    children: ChildProcesses
    """For work that takes long."""
    table: EndpointTable
    """What is served, and where."""
