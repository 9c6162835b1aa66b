"""What planning gives and running takes: the contract between the two. It knows neither SQL text nor rows.

columns.py       what columns are called where expressions are evaluated
plan.py          a plan: streams with their templates, regions and queries, tables, trees
window.py        which readings of the past a query looks at, a class a kind
expression.py    what is computed of a row: its SQL, what it reads, its type, its plain comparisons
operator_ids.py  what operators are called where their rows are counted
nodes.py         what a tree does, node by node
growth.py        how one version of a plan becomes the next
tables.py        tables as signed rows, each from a time on
selection.py     whether WHERE or INSIDE comes first
trigger_…        a trigger's constraint graph, and how far its events reach
"""
