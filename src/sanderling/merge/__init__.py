"""Signed rows of shards to one change per query."""
