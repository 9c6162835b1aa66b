"""Sanderling: continuous SQL over things that move, told as what changed."""

__version__ = "0.1.0"
