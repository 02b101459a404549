"""Owns the conformance kit: it runs the cases of `conformance/` against this library or any gateway.

`judging` reads cases, runs cases against this library, and makes the report. `gateway_runner` and `scripted_upstream`
run cases against a gateway over the network. They are imported late.
"""
