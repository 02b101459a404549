"""MCP both ways: tool servers as tools of ours (`servers`, `client`), and our tools as a tool server (`server`).

The official SDK does the protocol. It takes most of a second to import, so only `client` and `server` import it.
"""
