"""Moving objects on a road network that report like real ones; seeded: the same seed gives the same bytes.

network (read, or a made city) ──► routes ──► traffic, step by step ──► files, or a live feed
"""
