"""Reads and writes the tools of Code Assist: Gemini's tools, without the tools that only the Developer API runs."""

from __future__ import annotations

from collections.abc import Iterable

from ...canon.tools import HostedTool, Tool
from ...context import Context
from ...errors import WireError
from ..gemini import tools as gemini
from . import wire
from .unsupported_field_removal import fitted_tools


def read_tools(body: bytes, context: Context) -> tuple[Tool | HostedTool, ...]:
    """Read the value of `tools`."""
    context.source = wire.GEMINI
    try:
        return gemini.read_tools(body, context)
    except WireError as error:
        raise wire.outside(error, "") from None
    finally:
        wire.settle_source(context)


def write_tools(tools: Iterable[Tool | HostedTool], context: Context) -> bytes:
    """Write the value of `tools`."""
    if wire.mine(context):
        context.source = wire.GEMINI
    else:
        tools = fitted_tools(tools, context)
    return gemini.write_tools(tools, context)
