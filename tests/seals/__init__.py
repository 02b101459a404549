"""Tests of seals over whole conversations, for every client dialect and every upstream that seals."""
