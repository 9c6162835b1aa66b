"""The brute-force oracle: slow, obvious, and sharing no code with what it judges."""

from .held import PREVIOUS, Window
from .oracle import Nearest, Query, Reading, Result, Row, Update, run, run_fast
from .shapes import (
    Area,
    Around,
    Both,
    Box,
    Changing,
    Corridor,
    Disc,
    Everywhere,
    Exterior,
    MovingBox,
    MovingDisc,
    Shape,
    Side,
    Spots,
    Still,
)

__all__ = [
    "PREVIOUS",
    "Area",
    "Around",
    "Both",
    "Box",
    "Changing",
    "Corridor",
    "Disc",
    "Everywhere",
    "Exterior",
    "MovingBox",
    "MovingDisc",
    "Nearest",
    "Query",
    "Reading",
    "Result",
    "Row",
    "Shape",
    "Side",
    "Spots",
    "Still",
    "Update",
    "Window",
    "run",
    "run_fast",
]
