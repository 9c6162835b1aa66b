"""SQL text to statements: a dialect on sqlglot; it knows no data.

script.py: plain statements are rows ─┬─► shapes.py: read once ──► parse.py ──► grammar/ ──► statements.py
parameters.py: a SELECT for many rows ┘                           forms.py: how each is written, for hints
"""

from sanderling.language.parse import parse_script, parse_statement
from sanderling.language.script import read_script

__all__ = ["parse_script", "parse_statement", "read_script"]
