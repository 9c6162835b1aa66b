"""NEARBY: the places that windows look around.

focal_points.py   rows of a table, or written places, as rows of each query
"""
