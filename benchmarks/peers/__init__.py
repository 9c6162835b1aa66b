"""Sanderling end to end beside what one would write instead, in one process: the same Parquet in, files out.

others.py     a DuckDB script, an STRtree, a k-d tree; each tells what changed in each tick
compared.py   all of them over the same readings, in turns; they have to tell the same
squares.py    10,000 squares that stand still
nearest.py    the 10 nearest to each of 10,000 objects
"""
