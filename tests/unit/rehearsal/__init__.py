"""Tests of the rehearsal, the embedded upstream without a model."""
