"""Connections to upstreams: addresses, keys, HTTP clients, retries.

Below the gateway and the runtime, only this package opens sockets. It knows no client and no route.
"""
