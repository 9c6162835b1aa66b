"""EXPLAIN: a plan in its author's words, as a tree: what shards do, and what is above them."""
