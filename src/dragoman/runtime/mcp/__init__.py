"""Owns MCP in both directions: MCP servers as tools of the runtime (`servers`, `client`), and our tools as an MCP
server (`own_tools_server`).

The official SDK handles the protocol. Its import takes most of a second, so only `client` and `own_tools_server`
import it.
"""
