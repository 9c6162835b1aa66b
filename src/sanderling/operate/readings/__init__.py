"""What is known of objects: last readings, those of ticks that have not closed, and moves between them.

waiting: focal objects that a new version is the first to follow; their readings wait for older ones.
"""
