"""Facts about models and hosts, as rows of data: which settings a model takes, and where a host differs from its
dialect.
"""
