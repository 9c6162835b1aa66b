"""What our SQL adds to that of Spark, a file a clause.

dialect.py   puts them together; mixin.py: what the parser's parts may call of each other
space/       regions: coverages, lines, motion, units
window/      WINDOW, and brackets in FROM
pattern/     REGISTER PATTERN, PERSISTENCY, SYNCHRONIZE
sql/         WITH, set operations, words of other systems, refusals
nearest.py · trigger.py · times.py · changes.py · archives.py
"""
