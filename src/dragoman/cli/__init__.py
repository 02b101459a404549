"""The command line: one short file for each command. The library packages do the work."""
