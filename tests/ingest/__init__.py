"""Ingest: every row becomes a reading or a letter, whatever is thrown at it."""
