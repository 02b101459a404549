"""Tests of coding agents through the gateway: whole sessions on upstreams of every dialect. Needs `make agents`."""
