"""Owns MCP in both directions: MCP servers as tools of the runtime (`servers`, `client`), and our tools as an MCP
server (`server`).

The official SDK handles the protocol. Its import takes most of a second, so only `client` and `server` import it.
"""
