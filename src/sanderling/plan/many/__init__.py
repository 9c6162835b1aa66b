"""Many queries of one shape: planned once, then columns.

rows of a script ──────────────┬─► runs, by shape ──► shapes: planned once, literals as columns ──► cohorts
rows of a table, query_table ──┘
"""
