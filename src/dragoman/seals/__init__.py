"""Seals: signatures and encrypted reasoning, on their way to the client and back to the upstream that made them."""
