"""Signatures and encrypted reasoning (seals): how they are sent to the client, and back to the upstream that made
them."""
