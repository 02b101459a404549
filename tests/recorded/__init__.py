"""Tests of recorded exchanges: reading, identity, translation for every pair, and no loss without a report."""
