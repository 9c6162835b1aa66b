"""Space: what regions look like, how they move, and how far apart places are.

metric.py      distances, and boxes around whatever is within one; nobody else has any
sphere.py      the measures of the globe
coverages.py   all coverages: their kinds, and which file answers for each
shapes/        those that four numbers say, a file each
outlines/      those that they cannot say, as bytes: polygons, lines, bands, spots, exteriors
geometry.py    regions as columns: kind, and four numbers that the coverage's file explains
sizes.py       how large they are
moving/        where they are at a tick: still, with focal objects, shifting, growing

A coverage's file says what its numbers mean, which box is around it, which places it holds (for kernels,
and the plain twin), how large it is, and what EXPLAIN calls it.
"""
