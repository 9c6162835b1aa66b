"""A registered SELECT, checked: read once into a tree of logical nodes (logical.py).

compose ──► blocks: FROM and WHERE ──► joining: scans, and what joins them ──► grouping: what stands above
selects: conditions and select lists          relations: names of FROM, INSIDE and kNN
"""
