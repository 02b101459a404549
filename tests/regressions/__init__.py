"""Mistakes that users reported in other translators and clients, tested on this library. The wording is new."""
