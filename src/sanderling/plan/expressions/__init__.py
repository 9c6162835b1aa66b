"""Scalar expressions: checked, typed, and written for the engine that evaluates them.

text of an author ──► check ──► families: what goes with what ──► rewrite ──► SQL of the engine
                                                                    └─► meanings: where the two differ

functions.py   what there is          distances.py   DISTANCE(a, b), compared as squares
patterns.py    LIKE                   written.py     columns of a tree, as they are written
times.py       times in a text        comparisons.py the plain comparisons of a condition, as data
"""
