"""A registered SELECT, checked: a template for the shards, and a tree above it where one is needed.

selects      one stream, plain: what shards do alone           relations    FROM, INSIDE and kNN
compose      all else: blocks ──► joining ──► grouping ──► a tree of nodes (compositions)
"""
