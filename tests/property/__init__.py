"""Tests of laws that hold for every value, not only for recorded values."""
