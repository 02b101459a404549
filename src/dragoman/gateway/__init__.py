"""The gateway: an HTTP server for clients of every dialect, in front of upstreams of every dialect.

The gateway owns sockets, clocks and configuration. The library translates, and does not depend on the gateway.
"""
