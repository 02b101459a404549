"""Coding agents through the gateway: whole sessions on upstreams of every dialect. Needs the agents (`make agents`)."""
