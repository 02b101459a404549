"""Connections to upstreams: the only folder below the gateway that opens any."""
