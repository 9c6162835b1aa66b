"""Statements to a plan, and what is shared; it knows no rows.

planner.py     statements in, a plan out: keeps the catalog, hands each statement to its room
logical.py     what a query is: a tree over scans          rules/         what is rewritten in it
declarations   CREATE STREAM, CREATE TABLE

names/         what names mean                 expressions/   scalar expressions
query/         REGISTER QUERY                  trigger/       CREATE TRIGGER
pattern/       REGISTER PATTERN
many/          many queries of one shape       build/         all that is checked, put into one plan
grow/          versions while a stream runs    explain/       EXPLAIN
"""
