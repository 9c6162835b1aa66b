"""Many queries of one shape: read once, planned as columns.

repeats       statements of a script that repeat      ─┬─► recipes: which literal becomes what ──► cohorts
query_table   rows of a table, REGISTER QUERIES       ─┘
"""
