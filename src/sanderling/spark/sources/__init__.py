"""What Spark reads, a source a file; whoever has `blobs` is one.

source.py     what a source is, and how readings are packed      find.py       which stream comes from where
files.py      files, cut into slices                             frames.py     DataFrames of a user
simulator.py  a live feed                                        control.py    what a session tells its shards
updates.py    the other way round: what was said, for whoever likes to read it
"""
