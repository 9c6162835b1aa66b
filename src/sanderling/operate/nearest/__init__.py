"""kNN: a shard's own nearest of each query; merge/nearest.py chooses among those of all shards.

moves ──► neighbourhood (kernels/nearest) ──► nearest ──► candidates: rows of those that are told
             └─► judged: where no kernel can tell who counts (judges)
"""
