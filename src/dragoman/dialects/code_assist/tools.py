"""Tool declarations of Code Assist: Gemini's, without what only the Developer API runs."""

from __future__ import annotations

from collections.abc import Iterable

from ...canon.tools import HostedTool, Tool
from ...context import Crossing
from ...errors import WireError
from ..gemini import tools as gemini
from . import wire
from .unsupported_fields import fitted_tools


def read_tools(body: bytes, crossing: Crossing) -> tuple[Tool | HostedTool, ...]:
    crossing.source = wire.GEMINI
    try:
        return gemini.read_tools(body, crossing)
    except WireError as error:
        raise wire.outside(error, "") from None
    finally:
        wire.settle_source(crossing)


def write_tools(tools: Iterable[Tool | HostedTool], crossing: Crossing) -> bytes:
    if wire.mine(crossing):
        crossing.source = wire.GEMINI
    else:
        tools = fitted_tools(tools, crossing)
    return gemini.write_tools(tools, crossing)
