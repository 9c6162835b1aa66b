"""Of STAY_WITHIN: who is in whose company, and since when.

crowd     objects in cells      partners   lists of who is near, by object      company   walks through ticks
plain     the same by looking at all pairs
"""
