"""TESSELLATE: the last readings of each tile.

latest.py   the operator      rings.py   rows of each tile, in order of time
"""
