"""Incremental operators: state and a tick's changes in, signed rows out; they know neither Spark nor files.

shard.py ─► stream.py, for each stream: readings/ ─► where/ inside/ nearest/ window/ ─► signed rows
tree.py, above the rows of several shards: sql/ trigger/

A folder an SQL word, with kernels of the same name in kernels/.
"""
