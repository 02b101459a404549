"""What users reported as broken in other translators and clients, tried on ours; the reports are named, nothing is copied."""
