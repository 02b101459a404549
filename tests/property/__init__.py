"""Laws that hold for every value, not only for recorded ones."""
