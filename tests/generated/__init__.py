"""Traffic generated from the providers' own schemas: what no recording showed."""
