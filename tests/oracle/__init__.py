"""The brute-force oracle: slow, obvious, and sharing no code with what it judges."""

from .oracle import Nearest, Query, Reading, Result, Row, Update, run, run_fast
from .shapes import Area, Box, Disc, Everywhere, MovingBox, MovingDisc, Shape

__all__ = [
    "Area",
    "Box",
    "Disc",
    "Everywhere",
    "MovingBox",
    "MovingDisc",
    "Nearest",
    "Query",
    "Reading",
    "Result",
    "Row",
    "Shape",
    "Update",
    "run",
    "run_fast",
]
