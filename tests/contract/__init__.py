"""Tests of the contract of the tool interface: every example of its documents must work exactly."""
