"""What is counted and timed while the engine works.

arrivals.py  what came of the rows of a stream, and a warning where most were late or ahead
figures.py   what operators have done, for EXPLAIN ANALYZE
laps.py      where the time of a batch goes
"""
