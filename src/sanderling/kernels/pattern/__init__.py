"""Patterns: who is in a step, since when."""
