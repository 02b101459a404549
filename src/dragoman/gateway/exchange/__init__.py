"""Owns the exchange: a client's request to an upstream, the upstream's answer to the client, and the record of both."""
