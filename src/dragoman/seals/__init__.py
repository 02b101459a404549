"""Signatures and encrypted reasoning (seals): on their way to the client, and back to the upstream that made them."""
