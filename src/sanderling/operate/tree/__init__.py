"""Trees of operators above branches, in shards and in merge partitions alike.

composed.py    the queries of one tree: rows wait until their tick has closed in all streams
  came.py        what a turn brings
  turns.py       when queries begin and end
  table_rows.py  what happens to tables
tree.py        the operators, from branches to the root; changes.py is what each is given
pieces.py      how many ticks they take at once
"""
