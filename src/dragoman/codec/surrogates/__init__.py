"""Handles halves of characters (lone surrogates) in JSON text: in documents, in streams, in streamed arguments."""
