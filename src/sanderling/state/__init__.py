"""State to bytes and back, with a format version: a snapshot now and then, deltas in between.

frame.py     tables by name, and the frames of parts
saved.py     the state of a shard, or of a merge partition: whole, or what came since
plans.py     plans, which classes are in them
encoding.py  descriptions as data: JSON and Arrow
sealed.py    files of a checkpoint: what they are, and a checksum
crash.py     named points at which tests kill the process
"""
