"""Space: how far apart places are.

metric.py   distances, and boxes around whatever is within one; nobody else has any
"""
