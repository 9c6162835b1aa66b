"""The brute-force oracle: slow, obvious, and sharing no code with what it judges."""

from .held import PREVIOUS, Window
from .oracle import Nearest, Query, Reading, Result, Row, Update, run, run_fast
from .shapes import Area, Box, Disc, Everywhere, MovingBox, MovingDisc, Shape

__all__ = [
    "PREVIOUS",
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
    "Window",
    "run",
    "run_fast",
]
