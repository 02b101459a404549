"""The tool runtime: built-in tools, MCP servers, policies and the agent loop, for any upstream in any dialect."""
