"""Rows by what they hold.

codes.py       values as whole numbers
numbered.py    rows of codes and their numbers, with columns beside them
multiset.py    how often each row is there
remembered.py  what operators share that remember nothing else
ranking.py     rows in an order, by owner
order.py       changes by what they change, then by time
steps.py       each group at each tick in which it changes
"""
