"""Rules about the repository itself: docs, links, sizes, names, types, data files, change fragments."""
