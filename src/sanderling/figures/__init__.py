"""What is counted and timed while the engine works.

figures.py   what operators have done, for EXPLAIN ANALYZE
laps.py      where the time of a batch goes
"""
