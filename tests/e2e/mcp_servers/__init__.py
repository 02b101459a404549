"""MCP servers for tests, written with the official SDK; each runs in a process of its own."""
