"""The conformance kit itself: its cases against the library, its runner against gateways good and broken."""
