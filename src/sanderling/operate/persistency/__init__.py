"""PERSISTENCY: rows of keys that have been there for long enough, told when that is so.

persisting   the operator; it speaks because time passes      stays       what is remembered of each key
numbers      numbers of rows that come and go                 durations   what queries ask for
"""
