"""The records that `dialects/<name>/endpoints.py` fills in: how a dialect is served, requested and judged."""
