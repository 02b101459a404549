"""Sans-I/O helpers that know no dialect."""
