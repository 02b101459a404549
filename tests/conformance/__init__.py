"""Tests of the conformance kit: its cases against the library, its runner against good and broken gateways."""
