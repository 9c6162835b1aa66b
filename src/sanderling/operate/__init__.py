"""Incremental operators: state and a tick's changes in, signed rows out; they know neither Spark nor files.

operator.py    the contract: new_state and apply, and what only some can do
operators.py   which operators work for a stream, and which for a node of a tree

shard/, its streams: readings/ ─► where/ inside/ nearest/ window/ trigger/
   └──► tree/, above their rows, in merge partitions those of several shards: sql/ persistency/
            trajectory/ trigger/ pattern/
takers.py      whoever takes batches of some kinds, and is walked: trees, and what merge/ has

A folder an SQL word, with kernels of the same name in kernels/.
"""
