"""Statements to a plan, and what is shared; it knows no rows.

planner.py     statements in, a plan out: keeps the catalog, hands each statement to its room
declarations   CREATE STREAM, CREATE TABLE

names/         what names mean                 expressions/   scalar expressions
query/         REGISTER QUERY                  trigger/       CREATE TRIGGER
many/          many queries of one shape       build/         all that is checked, put into one plan
grow/          versions while a stream runs    explain/       EXPLAIN
"""
