"""Seals over whole conversations, for every client dialect and every upstream that seals."""
