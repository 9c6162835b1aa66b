"""The globe: a sphere, on which places are longitude and latitude in degrees, and distances metres."""

from __future__ import annotations

import math

RADIUS = 6_371_008.8  # metres: the mean radius of the earth
DEGREE = math.pi / 180
METRES_A_DEGREE = RADIUS * DEGREE  # of latitude
HALF_WAY_ROUND = math.pi * RADIUS  # nothing is farther
FARTHEST_EAST, POLE = 180.0, 90.0
# On the flat map (metric.py) nothing is farther, along either axis, than this many times its distance.
FOLD_STRETCH = math.sqrt(2.0) * (1 + 1e-9)
# Far more than rounding moves a place on it, in metres.
MAP_SLACK = 1e-5
