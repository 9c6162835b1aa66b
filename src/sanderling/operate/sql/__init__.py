"""Relational work on signed rows: one file an operator of the tree, and what they stand on.

select  union  set_operation  distinct  first      the operators
aggregate  join
signed                                             rows on their way: whose, when, how often, what
codes  numbered  multiset  ranking  steps  order   values as numbers; rows and how often they are there
side  cells                                        of a join: one side, and who may be near
measures  measured  exact                          of aggregates: what is kept of a group
"""
