"""What several shards said, put together per query: batches in, one change per query out.

partition.py   a merge partition, and which takers it walks
nearest.py     the k nearest of all shards, of the lists of each (lists.py)
last.py        the last n of all: one order (order.py), and the rows of each template (latest.py)
equal.py       equal rows of several shards cancel
"""
