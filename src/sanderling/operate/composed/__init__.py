"""Composed queries: rows of branches wait until their tick has closed in all streams, then go through a tree.

came.py ──► composed.py ──► tree.py    what a turn brings
turns.py ──────┤                       when queries begin and end
table_rows.py ─┘                       what happens to tables
"""
