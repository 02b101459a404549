"""Laws over recorded exchanges: reading, identity, every pair, and no loss without a report."""
