"""Where regions are at a tick.

motion.py       still, or with their focal objects
change.py       how they change by themselves, in three words
drift.py        what that comes to: shifting, growing, shrinking, step by step
pose.py         where outlines are that follow, or change by themselves
globe_pose.py   the same on the globe: in metres, degrees, or as chords
settled.py      where nobody notices
"""
