"""MCP servers for tests, written with the official SDK. Each runs in a separate process."""
