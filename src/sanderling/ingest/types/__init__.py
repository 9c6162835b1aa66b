"""Untyped values to declared types: what fits, and what does not."""
