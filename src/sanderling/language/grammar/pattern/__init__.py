"""REGISTER PATTERN in both forms, and what stands in it: PERSISTENCY, SYNCHRONIZE."""
