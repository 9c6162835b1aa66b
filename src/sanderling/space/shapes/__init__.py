"""Coverages that four numbers say, a file each; what the numbers mean stands there.

on the plane   box · centred · disc · polygon (its bounds: the rest is an outline) · everywhere
on the globe   cap · oblong · quadrangle
"""
