"""Relational work on signed rows: the operators of a tree, and what they stand on.

select  union  set_operation  distinct  first   the operators, a file each
aggregate/  join/                               those that need more than a file
signed  consolidate  constants                  rows on their way, equal ones put together; constants by query
rows/                                           values as numbers; rows and how often they are there
"""
