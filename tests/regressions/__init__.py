"""What users reported as broken in other translators and clients, tried on ours: the facts, not the words."""
