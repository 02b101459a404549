"""The command line: one thin file for each command. The work is done in the packages below."""
