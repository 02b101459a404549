"""How a dialect is served, asked and judged: the records that `dialects/<name>/endpoints.py` fills in."""
