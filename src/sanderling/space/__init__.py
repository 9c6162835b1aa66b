"""Space: what regions look like, how they move, and how far apart places are.

metric.py      distances, and boxes around whatever is within one; nobody else has any
coverages.py   all coverages: their kinds, and which file answers for each
               box · centred · disc · polygon · everywhere: a file each
               cap · oblong · quadrangle: on the globe
sphere.py      the measures of the globe; globe.py, globe_line.py: outlines there
outline.py     what four numbers cannot say, as bytes: polygons, lines, bands, spots, exteriors
polygons.py    outlines of many regions; raster.py, laws.py and line.py settle most places without GEOS
geometry.py    regions as columns: kind, and four numbers that the coverage's file explains
sizes.py       how large they are
motion.py      where regions are: still, or with their focal objects
change.py      how they change, in three words
drift.py       how they change by themselves: shifting, growing, shrinking, step by step
pose.py        where outlines are that follow, or change by themselves; settled.py: where nobody notices

A coverage's file says what its numbers mean, which box is around it, which places it holds (for kernels,
and the plain twin), how large it is, and what EXPLAIN calls it.
"""
