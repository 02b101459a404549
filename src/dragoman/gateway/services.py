"""The services that every exchange uses, in one record. Each configuration has a record of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..transport.account_projects import AccountProjects
from ..transport.google_credentials import Tokens
from ..transport.http_client_interface import UpstreamClient
from ..transport.secret_redaction import Redactor
from .config import Config
from .endpoints.endpoint_table import EndpointTable
from .exchange.cached_upstream_plans import UpstreamPlans
from .exchange.child_process import ChildProcesses
from .exchange.circuit_breakers import Breakers
from .exchange.memory_seal_vault import BoundedVault
from .exchange.recent_exchanges import Exchanges
from .exchange.routes import Routes


class Services(Struct, frozen=True):
    """The services that every exchange uses."""

    config: Config
    routes: Routes
    pool: UpstreamClient
    """The HTTP client, with its pool of connections to upstreams."""
    vault: BoundedVault
    """The seals that wait for the next request of their client."""
    environment: Mapping[str, str]
    draw: Callable[[list[int]], int]
    """Draws an index by weights."""
    now: Callable[[], float]
    """The clock, in seconds since 1970."""
    tokens: Tokens
    """Google's access tokens."""
    breakers: Breakers
    """Upstreams that are skipped for a while after faults."""
    projects: AccountProjects
    """The projects that upstreams have given to Google accounts."""
    plans: UpstreamPlans
    """The plans, each prepared once for one upstream and one kind of client."""
    exchanges: Exchanges
    """The recent exchanges."""
    redactor: Redactor
    """Removes the secrets of the configuration from texts."""
    children: ChildProcesses
    """Processes for large documents."""
    table: EndpointTable
    """The table of endpoints."""
