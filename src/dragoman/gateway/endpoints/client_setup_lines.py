"""Owns the lines that set up clients for a gateway: agents and SDKs, as the dialects declare them.

The lines were tried with Claude Code 2.1, Codex 0.166 and Gemini CLI 0.61. Gemini CLI accepts another address for the
Gemini API only after an interactive choice. As a client of Vertex or of Code Assist, Gemini CLI accepts another address
at once.
"""

from __future__ import annotations

from ...dialect.endpoints_record import SetupLine
from ...dialects import endpoints, installed
from ..config import Config
from ..exchange.routes import Routes


def client_lines(config: Config, base: str) -> list[tuple[str, str]]:
    """The name of each client, and the line that points the client at `base`. $KEY stands for a key where clients need
    a key."""
    key = "$KEY" if config.listen.key_env else "any"
    routes = Routes(config)
    lines = sorted([line for name in installed() for line in endpoints(name).setup], key=lambda line: line.order)
    return [(line.name, line.line(base, key, _model_option(line, routes))) for line in lines]


def _model_option(line: SetupLine, routes: Routes) -> str:
    """The option that names a model, where the client's default model is not served."""
    if not line.model_option or routes.find(line.usual_model, lambda weights: 0)[1]:
        return ""
    return f" {line.model_option} UPSTREAM/MODEL"
